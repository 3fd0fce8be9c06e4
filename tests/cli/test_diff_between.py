"""``diff --between``: its exit code, its table, and which versions it takes."""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.cli import diff_between, main
from tflm_sim.errors import UsageError
from tflm_sim.targets.kernel_library import KernelVersion


def step(before: int | None, after: int | None, **facts: Any) -> Any:
    target = SimpleNamespace(name="t", kernel_library=SimpleNamespace(name="k"))
    state = {
        "name": "c0ffee",
        "date": "2024-05-06",
        "summaries": ("s",),
        "configuration": SimpleNamespace(target=target),
    }
    return SimpleNamespace(
        before=before, after=after, message=facts.pop("message", ""), state=SimpleNamespace(**{**state, **facts})
    )


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        ((), 0),
        ((step(16, 32),), 1),
        ((step(32, 16),), 0),
        ((step(16, 16),), 0),
        ((step(16, 32), step(32, 16)), 0),
        ((step(16, 32), step(32, 17)), 1),
        ((step(32, 16), step(16, 32)), 0),
        ((step(16, None),), 1),
        ((step(16, None), step(None, 16)), 0),
        ((step(None, 1),), 1),
        ((step(None, 0),), 0),
    ],
)
def test_the_exit_code_says_whether_the_arena_grew_or_is_none_any_more(
    monkeypatch: pytest.MonkeyPatch, steps: tuple[Any, ...], code: int
) -> None:
    monkeypatch.setattr(diff_between, "bisect", lambda *_: steps)
    monkeypatch.setattr(diff_between, "_commit_states", lambda _: ())
    monkeypatch.setattr(diff_between, "show", lambda document, *_, **__: None)
    assert main(["diff", "sample:sine", "--between", "2024-01-01", "--and", "2025-01-01"]) == code


@pytest.mark.parametrize(
    ("turn", "cells"),
    [
        (step(1600, 1500), ("c0ffee", "2024-05-06", "-100", "1,500", "s")),
        (step(16, None, message="m\nn"), ("c0ffee", "2024-05-06", "fails", "", "s: m")),
        (step(None, 16, date="", summaries=("s", "t")), ("c0ffee", "-", "works", "16", "s; t")),
    ],
)
def test_a_step_is_cells(turn: Any, cells: tuple[str, ...]) -> None:
    assert diff_between._cells(turn) == cells


def lines(*steps: Any) -> list[str]:
    return diff_between._lines(diff_between.BetweenDocument("a", "b", steps, ()))


def test_in_all_is_from_the_first_to_the_last() -> None:
    assert lines() == ["nothing between a and b moved the smallest arena"]
    assert lines(step(16, 32), step(32, 1600))[-1] == "in all +1,584: from 16 B to 1,600 B"
    assert lines(step(16, 32), step(32, 1600))[0] == "smallest arena on t, k kernels"
    for steps in ((step(None, 16),), (step(16, None),)):
        assert not lines(*steps)[-1].startswith("in all")


@pytest.mark.parametrize("option", ["--runtime", "--library", "--firmware"])
def test_what_is_tried_itself_is_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "sample:sine", "--between", "2024-01-01", "--and", "2025-01-01", option, "x"]) == 2
    said = f"tflm-sim diff: --between does not go with {option}; remove one of them\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--between", "2024-01-01"], "--between A and --and B go together"),
        (["--and", "2024-01-01"], "--between A and --and B go together"),
        (
            ["sample:sine", "--between", "2024-01-01", "--and", "2025-01-01"],
            "--between is for one model, and each option is given once",
        ),
        (
            ["--between", "2024-01-01", "--and", "2025-01-01", *("--target", "esp32", "--target", "i386")],
            "--between is for one model, and each option is given once",
        ),
        (
            ["--between", "2024-01-01", "--and", "2025-01-01", "--lite"],
            "--between does not go with --lite; remove one of them",
        ),
    ],
)
def test_what_says_no_two_versions_of_one_model_is_refused(
    given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", "sample:sine", *given]) == 2
    assert capsys.readouterr().err == f"tflm-sim diff: {said}\n"


def args(between: str, until: str, **more: Any) -> argparse.Namespace:
    return argparse.Namespace(**{"between": between, "until": until, "kernels": None, **more})


def test_versions_go_from_the_older_to_the_newer(monkeypatch: pytest.MonkeyPatch) -> None:
    def configured(given: argparse.Namespace) -> Any:
        name, _, version = given.kernels.partition("@")
        return SimpleNamespace(target=SimpleNamespace(kernel_library=SimpleNamespace(name=name, version=version)))

    monkeypatch.setattr(diff_between, "VERSIONS", {"k": tuple(map(KernelVersion, "321")), "j": (KernelVersion("2"),)})
    monkeypatch.setattr(diff_between, "configuration", configured)
    monkeypatch.setattr(diff_between, "versions_between", lambda older, first, last: (first, last))
    assert diff_between._kernel_states(args("k@1", "k@3")) == ("1", "3")
    for between, until in (("k@3", "k@1"), ("k@2", "k@2"), ("k@1", "j@2")):
        with pytest.raises(UsageError, match=f"^{between} is not older than {until}$"):
            diff_between._kernel_states(args(between, until))
    with pytest.raises(UsageError, match="--between already selects the kernels; remove --kernels"):
        diff_between._kernel_states(args("k@1", "k@3", kernels="k"))


def test_commits_go_from_the_older_to_the_newer_with_reference_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(diff_between, "_runtime", lambda text: SimpleNamespace(position=lambda _: int(text)))
    monkeypatch.setattr(diff_between, "configuration", lambda given: asked.append(given.kernels))
    monkeypatch.setattr(diff_between, "commits_between", lambda _, first, last: (first, last))
    assert diff_between._commit_states(args("1", "2")) == (1, 2)
    assert diff_between._commit_states(args("1", "2", kernels="cmsis_nn")) == (1, 2)
    assert asked == ["reference", "cmsis_nn"]
    for until in ("1", "0"):
        with pytest.raises(UsageError, match="is not older than"):
            diff_between._commit_states(args("1", until))


@pytest.mark.parametrize(
    ("asked", "assumed"),
    [
        (["--between", "2024-01-01", "--and", "2025-01-01"], ("--target", "--kernels")),
        (["--between", "2024-01-01", "--and", "2025-01-01", "--target", "esp32"], ("--kernels",)),
        (["--between", "cmsis_nn@1", "--and", "cmsis_nn@2"], ("--target",)),
    ],
)
def test_what_was_not_named_is_said(
    monkeypatch: pytest.MonkeyPatch, asked: list[str], assumed: tuple[str, ...]
) -> None:
    told: list[Any] = []
    monkeypatch.setattr(diff_between, "bisect", lambda *_: ())
    monkeypatch.setattr(diff_between, "_commit_states", lambda _: ())
    monkeypatch.setattr(diff_between, "_kernel_states", lambda _: ())
    monkeypatch.setattr(diff_between, "show", lambda document, *_, **__: told.append(document.assumed))
    main(["diff", "sample:sine", *asked])
    assert told == [assumed]


def test_a_version_is_a_day_a_commit_or_a_library() -> None:
    assert diff_between._runtime("chirale").snapshot.startswith("chirale")
    assert diff_between._runtime("2024-05-06").day <= "2024-05-06"
