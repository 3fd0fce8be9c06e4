"""``tflm-sim run``: which numbers it takes, and what it exits with."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.cli import main
from tflm_sim.extensions.firmware import cli_run as module


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return what is asked of an execution that ends with the exit code 7."""
    found: list[Any] = []
    monkeypatch.setattr(module, "load_image", lambda elf: elf)
    monkeypatch.setattr(module, "examine", lambda image: image)
    monkeypatch.setattr(module, "load", lambda name: name)
    monkeypatch.setattr(
        module, "execute", lambda image, **how: found.append((image, how)) or SimpleNamespace(exit_code=7)
    )
    monkeypatch.setattr(module, "compare", lambda *_: ())
    monkeypatch.setattr(module, "verdicts", lambda document: ["yes: it works"])
    monkeypatch.setattr(module, "show", lambda document, lines, as_json: None)
    return found


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--invoke", "-1"), "--invoke -1: the number must be 0 to"),
        (("--invoke", str(module.MAX_INVOKES + 1)), f"the number must be 0 to {module.MAX_INVOKES}"),
        (("--time-limit", "999ms"), "--time-limit must be 1s to"),
        (("--time-limit", f"{module.MAX_SECONDS + 1}s"), f"--time-limit must be 1s to {module.MAX_SECONDS}s"),
        (("--into", "-1", "--model", "m.tflite"), "--into N needs --model FILE, and N starts at 1"),
        (("--into", "1"), "--into N needs --model FILE, and N starts at 1"),
    ],
)
def test_a_number_out_of_its_range_is_refused_before_anything_is_executed(
    asked: list[Any], capsys: pytest.CaptureFixture[str], options: tuple[str, ...], sentence: str
) -> None:
    assert main(["run", "app.elf", *options]) == 2
    assert sentence in capsys.readouterr().err
    assert asked == []


@pytest.mark.parametrize(
    ("options", "invokes", "seconds", "into"),
    [
        (("--invoke", "0", "--time-limit", "1s"), 0, 1, 0),
        (
            (
                "--invoke", str(module.MAX_INVOKES), "--time-limit", f"{module.MAX_SECONDS}s",
                "--model", "m", "--into", "1",
            ),
            module.MAX_INVOKES, module.MAX_SECONDS, 1,
        ),
    ],
)  # fmt: skip
def test_the_ends_of_a_range_are_in_it(
    asked: list[Any],
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    invokes: int,
    seconds: int,
    into: int,
) -> None:
    assert main(["run", "app.elf", *options]) == 7
    ((image, how),) = asked
    assert (image, how["invokes"], how["timeout"], how["interpreter"]) == ("app.elf", invokes, seconds, into)
    assert capsys.readouterr().out == "yes: it works\n"


def test_a_document_stands_alone(asked: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "app.elf", "--json"]) == 7
    assert capsys.readouterr().out == ""
