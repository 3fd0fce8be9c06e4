"""Quickly made dataclasses and named tuples are those of the standard library in all that the package uses."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import typing
from typing import Any, ClassVar

import pytest

from tflm_sim import values


def make(dataclass: Any, field: Any) -> dict[str, type]:
    """Return classes that the package has the like of, made by one library."""

    @dataclass(frozen=True, slots=True)
    class Frozen:
        """With defaults, and fields that are not compared or shown."""

        a: int
        b: str = "b"
        c: tuple[int, ...] = ()
        d: dict[str, int] = field(default_factory=dict, repr=False)
        e: int = field(default=5, compare=False, metadata={"as": "hidden"})
        KIND: ClassVar = "frozen"

    @dataclass(slots=True)
    class Mutable:
        a: int
        b: list[int] = field(default_factory=list)
        c: int = field(init=False)

        def __post_init__(self) -> None:
            self.c = self.a + 1

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Keywords(Frozen):
        f: int
        g: int = 7

    @dataclass(frozen=True, eq=False)
    class Open:
        a: int
        b: tuple[int, ...] = field(default=(), repr=False)

    @dataclass
    class Plain:
        a: int = 1

        def __repr__(self) -> str:
            return "plain"

    @dataclass(frozen=True, slots=True)
    class Empty:
        pass

    return {made.__name__: made for made in (Frozen, Mutable, Keywords, Open, Plain, Empty)}


OURS = make(values.dataclass, values.field)
THEIRS = make(dataclasses.dataclass, dataclasses.field)
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Frozen", (1,), {}),
    ("Frozen", (1, "x"), {"e": 6}),
    ("Frozen", (2,), {"d": {"k": 1}}),
    ("Mutable", (1,), {}),
    ("Mutable", (1, [2]), {}),
    ("Keywords", (1,), {"f": 2}),
    ("Keywords", (1,), {"f": 2, "g": 3, "b": "y"}),
    ("Open", (1,), {}),
    ("Plain", (), {}),
    ("Plain", (2,), {}),
    ("Empty", (), {}),
]


def outcome(action: Any) -> object:
    """Return what an action returns, or the kind of its error."""
    try:
        return action()
    except Exception as error:
        return type(error)


def pairs() -> list[tuple[Any, Any]]:
    """Return each value as both libraries make it."""
    return [(OURS[name](*args, **kwargs), THEIRS[name](*args, **kwargs)) for name, args, kwargs in CALLS]


@pytest.mark.parametrize("position", range(len(CALLS)))
def test_a_value_is_shown_compared_and_hashed_as_one_of_the_library(position: int) -> None:
    ours, theirs = (column[position] for column in zip(*pairs(), strict=True))
    assert repr(ours) == repr(theirs)
    for own, other in pairs():
        assert (ours == own, ours != own) == (theirs == other, theirs != other)
    assert outcome(lambda: hash(ours) == hash(copy.copy(ours))) == outcome(
        lambda: hash(theirs) == hash(copy.copy(theirs))
    )
    assert copy.deepcopy(ours) is not ours
    assert (copy.deepcopy(ours) == ours) == (copy.deepcopy(theirs) == theirs)


@pytest.mark.parametrize("position", range(len(CALLS)))
def test_fields_signature_and_patterns_are_those_of_the_library(position: int) -> None:
    ours, theirs = (column[position] for column in zip(*pairs(), strict=True))
    assert dataclasses.is_dataclass(ours)
    assert [(row.name, row.type, row.metadata) for row in dataclasses.fields(ours)] == [
        (row.name, row.type, row.metadata) for row in dataclasses.fields(theirs)
    ]
    assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
    assert list(inspect.signature(type(ours)).parameters) == list(inspect.signature(type(theirs)).parameters)
    assert type(ours).__match_args__ == type(theirs).__match_args__
    assert hasattr(ours, "__dict__") == hasattr(theirs, "__dict__")


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("Frozen", (), {}),
        ("Frozen", (1, "b", (), {}, 5, 6), {}),
        ("Frozen", (1,), {"f": 2}),
        ("Mutable", (1, [], 3), {}),
        ("Keywords", (1, "b", (), {}, 5, 6), {}),
        ("Empty", (1,), {}),
    ],
)
def test_wrong_arguments_are_a_type_error(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    assert outcome(lambda: OURS[name](*args, **kwargs)) is outcome(lambda: THEIRS[name](*args, **kwargs)) is TypeError


def test_a_frozen_value_refuses_to_be_changed() -> None:
    for made in (OURS["Frozen"](1), OURS["Open"](1)):
        with pytest.raises(dataclasses.FrozenInstanceError):
            made.a = 2
        with pytest.raises(dataclasses.FrozenInstanceError):
            del made.a
    value = OURS["Mutable"](1)
    value.a = 9
    assert value.a == 9


def test_replace_changes_fields_of_both_kinds_of_values() -> None:
    for replace in (values.replace, dataclasses.replace):
        made = replace(OURS["Keywords"](1, f=2, e=9), a=3, g=8)
        assert (made.a, made.b, made.e, made.f, made.g) == (3, "b", 9, 2, 8)
        with pytest.raises(TypeError):
            replace(made, h=1)


def test_a_default_made_by_a_factory_is_each_values_own() -> None:
    first, second = OURS["Mutable"](1), OURS["Mutable"](1)
    first.b.append(1)
    assert second.b == []


@values.dataclass(frozen=True, slots=True)
class AtTop:
    """One that pickles by its name."""

    a: int
    b: tuple[int, ...] = ()


class Row(values.NamedTuple):
    """A row with a method."""

    a: int
    b: str = "b"

    @property
    def twice(self) -> int:
        """Twice its number."""
        return 2 * self.a


def test_values_and_rows_pickle() -> None:
    assert pickle.loads(pickle.dumps(AtTop(1, (2,)))) == AtTop(1, (2,))
    assert pickle.loads(pickle.dumps(Row(1))) == Row(1)


def test_a_library_dataclass_may_derive_from_a_quick_one() -> None:
    @dataclasses.dataclass(frozen=True)
    class Derived(AtTop):
        c: int = 3

    assert Derived(1) == Derived(1, (), 3)
    assert [row.name for row in dataclasses.fields(Derived)] == ["a", "b", "c"]


def test_a_named_tuple_is_one_of_the_library() -> None:
    made = Row(3)
    assert made == (3, "b")
    assert (made.a, made.b, made.twice) == (3, "b", 6)
    assert made._replace(b="c")._asdict() == {"a": 3, "b": "c"}
    assert (Row._fields, Row._field_defaults, Row.__doc__) == (("a", "b"), {"b": "b"}, "A row with a method.")
    assert typing.get_type_hints(Row) == {"a": int, "b": str}
    assert repr(made) == "Row(a=3, b='b')"
    with pytest.raises(TypeError):
        Row()  # type: ignore[call-arg]
    assert copy.copy(made) == made
    assert str(inspect.signature(Row)) == "(a, b='b')"


def test_rows_take_their_fields_in_any_order_and_may_be_derived_from() -> None:
    class Line(values.NamedTuple):
        a: int
        b: int = 2

    class Lines(Line):
        """A named tuple may be derived from."""

    assert (Line(1, 3), Line(1), Line(b=3, a=1)) == ((1, 3), (1, 2), (1, 3))
    assert type(Lines(1, 2)) is Lines
    assert [outcome(lambda: kind(1, 2, 3)) for kind in (Line, Lines)] == [TypeError, TypeError]  # noqa: B023


@pytest.mark.parametrize("kind", [AtTop, Row])
def test_making_values_changes_nothing_about_their_class(kind: type) -> None:
    before = dict(vars(kind))
    for number in range(100):
        kind(number)
    assert dict(vars(kind)) == before


def test_a_tracer_may_wrap_the_initializer_of_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, initialize = [], AtTop.__init__

    def traced(self: AtTop, *args: Any) -> None:
        seen.append(args)
        initialize(self, *args)

    monkeypatch.setattr(AtTop, "__init__", traced)
    assert [AtTop(number).a for number in range(100)] == list(range(100))
    assert seen == [(number,) for number in range(100)]


def test_a_mistake_is_said_as_the_library_says_it() -> None:
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'a'"):
        make(values.dataclass, values.field)["Frozen"]()
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'z'"):
        make(values.dataclass, values.field)["Frozen"](1, z=2)


@pytest.mark.parametrize(("value", "shown"), [(10**59, str(10**59)), (10**60, "<int>"), ("a\nb", repr("a\nb"))])
def test_a_short_repr_shows_sixty_characters_of_a_field(value: object, shown: str) -> None:
    @values.dataclass(frozen=True)
    class Answer:
        field: object
        __repr__ = values.short_repr

    assert repr(Answer(value)).endswith(f"Answer(field={shown})")


def test_what_the_library_asks_for_is_made_once() -> None:
    assert dataclasses.fields(AtTop)[0] is dataclasses.fields(AtTop(1))[0]
    assert dataclasses.fields(OURS["Frozen"])[0] is not dataclasses.fields(OURS["Open"])[0]
