"""C structs as text that reads like a header, and the layouts that a compiler gives them.

    // tensorflow/lite/micro/kernels/svdf.h
    struct OpDataSvdf {  // :23
      int32_t effective_scale_1_a, effective_scale_2_a;
      [[svdf_state_zero_point]] int activation_state_zero_point;        only in versions with that change
      [[!no_error_reporter && compression]] void *error_reporter_;      only without that change, and in such builds
    };

Of a member's type only what decides its size is told: ``enum`` stands for any enum, ``void *`` for any pointer. C++
bases and vtable pointers are members like any other: no class that TFLM puts in an arena has a base with tail padding
to reuse, which ``tests/golden`` proves against debug information. A struct that is declared twice has a condition
of its own, before its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from tflm_sim.targets.abi import LP64, Abi
from tflm_sim.units import align_up

HasChange = Callable[[str], bool]
"""A function that returns whether a runtime has a change or a build flag of that name."""

_BEGIN = "\nstruct "


class Member(NamedTuple):
    """A member: a scalar or another struct, or an array of them.

    Attributes:
        type: A scalar type of :class:`~tflm_sim.targets.abi.Abi` or the name of a struct.
        name: The member's name; "base" for a C++ base class.
        length: Number of elements; 1 for what is not an array.
    """

    type: str
    name: str
    length: int = 1


@dataclass(frozen=True, slots=True)
class StructLayout:
    """Where a compiler puts the members of a struct.

    Attributes:
        size: Bytes, padding included.
        alignment: Bytes.
        members: Offset of each member from the struct's start, in bytes, in declaration order.
    """

    size: int
    alignment: int
    members: Mapping[str, int]


class CStruct(NamedTuple):
    """A struct or class as a version of TFLM declares it.

    Attributes:
        name: Qualified name without ``tflite::``.
        members: In declaration order; a vtable pointer is a ``void *`` named "vtable".
    """

    name: str
    members: tuple[Member, ...]

    def layout(self, abi: Abi, structs: Mapping[str, StructLayout]) -> StructLayout:
        """Return the layout under ``abi``: each member at the next multiple of its alignment, the end padded likewise.

        Args:
            abi: The compiler's rules.
            structs: Layouts of the structs that the members name.
        """
        parts = map(structs.__getitem__, _parts(self.members))
        return _laid_out(self.members, abi, tuple([(part.size, part.alignment) for part in parts]))


class Header(Mapping[str, CStruct]):
    """The structs of a text that one version of TFLM has, by name, read when they are asked for.

    Args:
        text: Declarations.
        has: Whether the version has what a condition names.
    """

    def __init__(self, text: str, has: HasChange) -> None:
        self._has = has
        self._bodies = {name: body for condition, name, *body in _declarations(text) if _applies(condition, has)}

    def __getitem__(self, name: str) -> CStruct:
        base, body = self._bodies[name]
        return _struct(name, base, body, tuple(_applies(condition, self._has) for condition in _conditions(body)))

    def __iter__(self) -> Iterator[str]:
        return iter(self._bodies)

    def __len__(self) -> int:
        return len(self._bodies)


@cache
def _declarations(text: str) -> tuple[tuple[str, str, str, str], ...]:
    """Return (condition, name, base, body) of each struct of a text."""
    return tuple([_declaration(struct) for struct in f"\n{text}".split(_BEGIN)[1:]])


def _declaration(text: str) -> tuple[str, str, str, str]:
    head, _, rest = text.partition(" {")
    condition, head = _condition(head)
    name, _, base = head.partition(" : ")
    body, ends, _ = rest.partition("};")
    assert ends, f"'struct {text}' is a struct"
    return condition, name, base, body


def _condition(text: str) -> tuple[str, str]:
    """Split what is under a condition, ``[[condition]] text``, from it."""
    if not text.startswith("[["):
        return "", text
    condition, _, rest = text[2:].partition("]] ")
    return condition, rest


@cache
def _parts(members: tuple[Member, ...]) -> tuple[str, ...]:
    """Return the struct of each member that is one."""
    return tuple([member.type for member in members if LP64.scalar(member.type) is None])


@cache
def _laid_out(members: tuple[Member, ...], abi: Abi, parts: tuple[tuple[int, int], ...]) -> StructLayout:
    """Return the layout of members, of which those that are structs have these sizes and alignments, in order."""
    rest = iter(parts)
    end, struct_alignment, offsets = 0, 1, {}
    for member in members:
        size, alignment = abi.scalar(member.type) or next(rest)
        offset = align_up(end, alignment)
        offsets[member.name] = offset
        end = offset + size * member.length
        struct_alignment = max(struct_alignment, alignment)
    return StructLayout(align_up(max(end, 1), struct_alignment), struct_alignment, offsets)


@cache
def _struct(name: str, base: str, body: str, applies: tuple[bool, ...]) -> CStruct:
    """Return a struct as all versions declare it in which the same of its :func:`_conditions` apply."""
    is_there = {"": True, **dict(zip(_conditions(body), applies, strict=True))}
    own = tuple(member for condition, member in _members(body) if is_there[condition])
    return CStruct(name, ((Member(base, "base"),) if base else ()) + own)


@cache
def _conditions(body: str) -> tuple[str, ...]:
    """Return the conditions under which a struct has some of its members."""
    return tuple(dict.fromkeys(condition for condition, _ in _members(body) if condition))


@cache
def _members(body: str) -> tuple[tuple[str, Member], ...]:
    """Return (condition, member) of each member of a struct's body."""
    members: list[tuple[str, Member]] = []
    bare = " ".join([line.partition("//")[0] for line in body.split("\n")])
    for text in bare.split(";")[:-1]:
        condition, declaration = _condition(text.strip())
        type_name, _, declarators = declaration.partition(" ")
        for declarator in declarators.split(","):
            name, _, length = declarator.strip().partition("[")
            pointed = name.removeprefix("*")
            assert pointed.isidentifier(), f"'{text}' declares a member"
            kind = type_name if pointed == name else "void *"
            members.append((condition, Member(kind, pointed, int(length.removesuffix("]") or 1))))
    return tuple(members)


def _applies(condition: str, has: HasChange) -> bool:
    """Return whether a version has what is under a condition."""
    words = condition.split(" && ") if condition else ()
    return all(has(word.lstrip("!")) != word.startswith("!") for word in words)


def in_order(structs: Mapping[str, CStruct], names: Iterable[str]) -> list[CStruct]:
    """Return the structs of these names, each behind those that it is made of."""
    done: dict[str, CStruct] = {}

    def place(name: str) -> None:
        for member in structs[name].members:
            if member.type in structs and member.type not in done:
                place(member.type)
        done[name] = structs[name]

    for name in names:
        place(name)
    return list(done.values())
