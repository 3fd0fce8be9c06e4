"""The fuzz tool: cases repeat, counts add up, and a bug ends in exit code 1 with the case's number."""

import argparse
import random
import re
from pathlib import Path

import pytest
from fuzz import models as fuzz_models


def arguments(tmp_path: Path, *more: str) -> list[str]:
    """Return arguments for a short run over the samples alone."""
    return ["--corpus", str(tmp_path), "--count", "300", "--limit", "20", *more]


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["parse", "simulate"])
def test_a_short_run_finds_no_bug(stage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz_models.main(arguments(tmp_path, "--stage", stage)) == 0
    *counts, slowest, bugs = capsys.readouterr().out.splitlines()
    assert sum(int(line.split()[0]) for line in counts) == 300
    assert slowest.startswith("slowest: case ")
    assert re.fullmatch(r"seed 0, 300 cases in \d+ s of CPU, 0 bugs", bugs)


@pytest.mark.slow
def test_two_processes_do_what_one_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fuzz_models.main(arguments(tmp_path, "--stage", "parse", "--count", "1200"))
    alone = sorted(capsys.readouterr().out.splitlines()[:-2])
    fuzz_models.main(arguments(tmp_path, "--stage", "parse", "--count", "1200", "--jobs", "2"))
    assert sorted(capsys.readouterr().out.splitlines()[:-2]) == alone


def test_a_case_can_be_had_again(tmp_path: Path) -> None:
    kept = tmp_path / "case.bin"
    fuzz_models.main(arguments(tmp_path, "--stage", "parse", "--only", "17", "--seed", "5", "--keep", str(kept)))
    options = argparse.Namespace(seed=5, corpus=tmp_path, max_size=100_000)
    assert fuzz_models.make_case(17, options)[1] == kept.read_bytes()


def test_every_mutation_keeps_within_the_file(tmp_path: Path) -> None:
    rng = random.Random(1)
    for seed in fuzz_models.corpus(tmp_path, 100_000):
        for mutation in fuzz_models.MUTATIONS:
            data = bytearray(seed.data)
            mutation(data, rng, seed)
            assert len(data) <= len(seed.data)


def test_a_bug_is_reported_with_its_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(model: object, rng: random.Random) -> str:
        raise KeyError("planted")

    monkeypatch.setitem(fuzz_models.STAGES, "parse", broken)
    assert fuzz_models.main(arguments(tmp_path, "--stage", "parse")) == 1
    printed = capsys.readouterr().out
    assert "KeyError: 'planted'" in printed
    assert printed.splitlines()[0].startswith("case ")
    assert not printed.endswith(" 0 bugs\n")


def test_a_slow_case_is_a_bug(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz_models.main(arguments(tmp_path, "--stage", "parse", "--limit", "0")) == 1
    assert "s of CPU" in capsys.readouterr().out
