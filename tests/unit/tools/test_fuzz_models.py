"""The fuzz tool: cases repeat, counts add up, and a bug ends in exit code 1 with the case's number."""

import argparse
import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    path = Path(__file__).parents[3] / "tools" / "fuzz_models.py"
    spec = importlib.util.spec_from_file_location("fuzz_models", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz_models"] = module
    spec.loader.exec_module(module)
    return module


def arguments(tmp_path: Path, *more: str) -> list[str]:
    """Return arguments for a short run over the samples alone."""
    return ["--corpus", str(tmp_path), "--count", "300", "--limit", "20", *more]


@pytest.mark.parametrize("stage", ["parse", "simulate", "smallest"])
def test_a_short_run_finds_no_bug(
    fuzz: ModuleType, stage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fuzz.main(arguments(tmp_path, "--stage", stage)) == 0
    *counts, slowest, bugs = capsys.readouterr().out.splitlines()
    assert sum(int(line.split()[0]) for line in counts) == 300
    assert slowest.startswith("slowest: case ")
    assert bugs == "seed 0, 0 bugs"


def test_two_processes_do_what_one_does(fuzz: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fuzz.main(arguments(tmp_path, "--stage", "parse", "--count", "1200"))
    alone = sorted(capsys.readouterr().out.splitlines()[:-2])
    fuzz.main(arguments(tmp_path, "--stage", "parse", "--count", "1200", "--jobs", "2"))
    assert sorted(capsys.readouterr().out.splitlines()[:-2]) == alone


def test_a_case_can_be_had_again(fuzz: ModuleType, tmp_path: Path) -> None:
    kept = tmp_path / "case.bin"
    fuzz.main(arguments(tmp_path, "--stage", "parse", "--only", "17", "--seed", "5", "--keep", str(kept)))
    options = argparse.Namespace(seed=5, corpus=tmp_path, max_size=100_000)
    assert fuzz.make_case(17, options)[1] == kept.read_bytes()


def test_every_mutation_keeps_within_the_file(fuzz: ModuleType, tmp_path: Path) -> None:
    rng = random.Random(1)
    for seed in fuzz.corpus(tmp_path, 100_000):
        for mutation in fuzz.MUTATIONS:
            data = bytearray(seed.data)
            mutation(data, rng, seed)
            assert len(data) <= len(seed.data)


def test_a_bug_is_reported_with_its_number(
    fuzz: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(model: object, rng: random.Random) -> str:
        raise KeyError("planted")

    monkeypatch.setitem(fuzz.STAGES, "parse", broken)
    assert fuzz.main(arguments(tmp_path, "--stage", "parse")) == 1
    printed = capsys.readouterr().out
    assert "KeyError: 'planted'" in printed
    assert printed.splitlines()[0].startswith("case ")
    assert not printed.endswith(" 0 bugs\n")


def test_a_slow_case_is_a_bug(fuzz: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz.main(arguments(tmp_path, "--stage", "parse", "--limit", "0")) == 1
    assert "s of CPU" in capsys.readouterr().out
