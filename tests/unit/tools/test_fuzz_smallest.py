"""The fuzz tool of smallest arenas: it finds nothing today, and a byte too many at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz import smallest

from tflm_sim.arena.needs import Needs
from tflm_sim.errors import SimulatedFailure


def run(tmp_path: Path) -> int:
    """Return the exit code of a short run over the samples alone."""
    return smallest.main(["--corpus", str(tmp_path), "--count", "120", "--limit", "20"])


def test_a_short_run_finds_no_bug(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path) == 0
    *counts, _, bugs = capsys.readouterr().out.splitlines()
    assert {"plain, greedy", "plain, linear", "recording, greedy", "two arenas"} <= {
        line.split(maxsplit=1)[1] for line in counts
    }
    assert bugs.endswith(" 0 bugs")


def test_what_no_simulation_confirms_is_found_though_all_ways_to_find_it_agree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = Needs.tables

    def one_buffer_more(needs: Needs, start: int, size: int, *rest: object) -> None:
        tables(needs, start, size + 40, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Needs, "tables", one_buffer_more)
    assert run(tmp_path) == 1
    assert "bytes are said to be the smallest, and in" in capsys.readouterr().out


def test_a_size_of_a_model_that_fails_in_any_arena_is_a_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = smallest.smallest_arena

    def never_fails(*arguments: object) -> object:
        try:
            return ask(*arguments)  # type: ignore[arg-type]
        except SimulatedFailure:
            return 1000

    monkeypatch.setattr(smallest, "smallest_arena", never_fails)
    assert run(tmp_path) == 1
    assert "the events say that no arena works, and 1000 is found" in capsys.readouterr().out
