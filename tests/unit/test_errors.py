"""The exit codes that the help lists are those of the errors."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tflm_sim import errors
from tflm_sim.errors import EXIT_CODES, INTERRUPTED, UNFORESEEN, ModelError, TflmSimError, each_of, expect, not_a


def classes(base: type[TflmSimError]) -> Iterator[type[TflmSimError]]:
    yield base
    for below in base.__subclasses__():
        yield from classes(below)


def test_every_exit_code_of_an_error_is_explained() -> None:
    used = {one.exit_code for one in classes(TflmSimError)}
    assert used <= EXIT_CODES.keys()
    assert {0, 1, UNFORESEEN, INTERRUPTED} <= EXIT_CODES.keys()
    assert list(EXIT_CODES) == [0, 1, 2, 3, 4, 5, 70, 130]


def test_the_exit_codes_are_those_that_the_documentation_of_the_command_line_names() -> None:
    named = ("TflmSimError", "UsageError", "FileError", "SimulatedFailure", "BoardError")
    assert [getattr(errors, name).exit_code for name in named] == [1, 2, 3, 4, 5]
    assert (UNFORESEEN, INTERRUPTED) == (70, 128 + 2)  # EX_SOFTWARE; what a shell says of SIGINT, which is 2


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (None, "'NoneType' (None)"),
        ("x", "'str' ('x')"),
        (b"x", "'bytes' (b'x')"),
        (1.5, "'float' (1.5)"),
        ([1], "'list'"),
    ],
)
def test_what_was_given_is_told_with_its_type_and_its_value_where_it_is_short_by_nature(
    given: object, shown: str
) -> None:
    assert str(not_a("a number", given)) == f"a number was expected, not a value of type {shown}"


class Indexed:
    """Can be used as a whole number."""

    def __index__(self) -> int:
        return 1


def test_what_can_be_used_as_a_number_is_one() -> None:
    expect(Indexed(), int, "a number")
    expect(1, float, "a number")
    expect("x", (str, bytes), "a text")
    for given, kind in (("1", int), (1.5, int), ("1.5", float), (1, str)):
        with pytest.raises(errors.UsageError):
            expect(given, kind, "another")
    assert each_of((row for row in "ab"), str, "texts") == ("a", "b")
    with pytest.raises(errors.UsageError, match=r"^texts was expected, not a value of type 'int' \(1\)$"):
        each_of(["a", 1], str, "texts")


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({}, "m"),
        ({"offset": 0}, "m (at byte 0)"),
        ({"path": "p"}, "p: m"),
        ({"path": "p", "offset": 7}, "p: m (at byte 7)"),
    ],
)
def test_an_error_of_a_file_says_where(where: dict[str, object], said: str) -> None:
    assert str(ModelError("m", **where)) == said  # type: ignore[arg-type]
