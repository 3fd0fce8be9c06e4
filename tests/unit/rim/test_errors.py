"""The exit codes that the help lists are those of the errors."""

from __future__ import annotations

from collections.abc import Iterator

from tflm_sim.errors import EXIT_CODES, INTERRUPTED, UNFORESEEN, TflmSimError


def classes(base: type[TflmSimError]) -> Iterator[type[TflmSimError]]:
    yield base
    for below in base.__subclasses__():
        yield from classes(below)


def test_every_exit_code_of_an_error_is_explained() -> None:
    used = {one.exit_code for one in classes(TflmSimError)}
    assert used <= EXIT_CODES.keys()
    assert {0, 1, UNFORESEEN, INTERRUPTED} <= EXIT_CODES.keys()
    assert list(EXIT_CODES) == [0, 1, 2, 3, 4, 5, 70, 130]
