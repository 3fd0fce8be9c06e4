"""Mutants are known by what they change; those that are said to change nothing are still in the code."""

from __future__ import annotations

from pathlib import Path

import mutate
import pytest


def test_a_mutant_is_known_by_its_line_without_the_number(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(mutate, "ROOT", tmp_path)
    path = tmp_path / "a.py"
    keys = ["a.py: return x [<= -> <] 7", "a.py: return x <= [7 -> 8]"]
    for above in ("", "\n\n"):
        path.write_text(f"{above}def f(x):\n    return x <= 7\n")
        assert sorted(mutate.by_key([path])) == sorted(keys)
    assert mutate.by_key([path])[keys[0]].mutated == "\n\ndef f(x):\n    return x < 7\n"


def test_of_a_results_file_the_mutants_that_the_code_still_has_are_the_sample(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(mutate, "ROOT", tmp_path)
    (tmp_path / "a.py").write_text("x = 1 + 2\n")
    answers = {"a.py: x = 1 [+ -> -] 2": "", "a.py: x = 1 [* -> +] 2": "tests/test_a.py"}
    mutate.write_answers(tmp_path / "r.jsonl", answers)
    assert mutate.read_answers(tmp_path / "r.jsonl") == answers
    assert [mutant.replacement for mutant in mutate.kept_sample(answers)] == ["-"]
    assert list(answers) == ["a.py: x = 1 [+ -> -] 2"]


def test_every_equivalent_mutant_is_in_the_code() -> None:
    keys = mutate.equivalents().keys()
    assert keys <= mutate.by_key({mutate.ROOT / key.split(":")[0] for key in keys}).keys()


def test_what_knows_most_about_a_room_is_there() -> None:
    assert mutate.NETS.keys() <= mutate.ROOMS.keys()
    named = {word for nets in mutate.NETS.values() for net in nets for word in net if word.startswith("tests/")}
    assert {path for path in named if not (mutate.ROOT / path).exists()} == set()
