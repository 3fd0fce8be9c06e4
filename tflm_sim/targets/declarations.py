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

from tflm_sim.targets.abi import Abi
from tflm_sim.units import align_up

HasChange = Callable[[str], bool]
"""A function that returns whether a runtime has a change or a build flag of that name."""

_BEGIN = "\nstruct "


@dataclass(frozen=True, slots=True)
class Member:
    """A member: a scalar or another struct, or an array of them.

    Attributes:
        type: A scalar type of :class:`~tflm_sim.targets.abi.Abi` or the name of a struct.
        name: The member's name; "base" for a C++ base class.
        count: Number of elements; 1 for what is not an array.
    """

    type: str
    name: str
    count: int = 1


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
        end, struct_alignment, members = 0, 1, {}
        for member in self.members:
            size, alignment = abi.scalar(member.type) or _extent(structs[member.type])
            offset = align_up(end, alignment)
            members[member.name] = offset
            end = offset + size * member.count
            struct_alignment = max(struct_alignment, alignment)
        return StructLayout(align_up(max(end, 1), struct_alignment), struct_alignment, members)


def _extent(layout: StructLayout) -> tuple[int, int]:
    return layout.size, layout.alignment


class Header(Mapping[str, CStruct]):
    """The structs of a text that one version of TFLM has, by name, read when they are asked for.

    Args:
        text: Declarations.
        has: Whether the version has what a condition names.
    """

    def __init__(self, text: str, has: HasChange) -> None:
        self._has = has
        self._bodies = {name: body for condition, name, *body in _declarations(text) if _applies(condition, has)}
        self._structs: dict[str, CStruct] = {}

    def __getitem__(self, name: str) -> CStruct:
        if name not in self._structs:
            base, body = self._bodies[name]
            own = tuple(member for condition, member in _members(body) if _applies(condition, self._has))
            self._structs[name] = CStruct(name, ((Member(base, "base"),) if base else ()) + own)
        return self._structs[name]

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
def _members(body: str) -> tuple[tuple[str, Member], ...]:
    """Return (condition, member) of each member of a struct's body."""
    members: list[tuple[str, Member]] = []
    bare = " ".join([line.partition("//")[0] for line in body.split("\n")])
    for text in bare.split(";")[:-1]:
        condition, declaration = _condition(text.strip())
        type_name, _, declarators = declaration.partition(" ")
        for declarator in declarators.split(","):
            name, _, count = declarator.strip().partition("[")
            pointed = name.removeprefix("*")
            assert pointed.isidentifier(), f"'{text}' declares a member"
            kind = type_name if pointed == name else "void *"
            members.append((condition, Member(kind, pointed, int(count.removesuffix("]") or 1))))
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
