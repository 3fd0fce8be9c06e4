"""What the README shows is what the commands print."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tflm_sim.cli import main

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def test_the_first_command_prints_what_the_readme_shows(capsys: pytest.CaptureFixture[str]) -> None:
    command = re.findall(r"^\$ tflm-sim (size .+)$", README, re.MULTILINE)[0]
    (shown,) = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    assert main(command.split()) == 0
    printed = capsys.readouterr().out
    assert printed == shown
    assert len(printed.splitlines()) <= 12
    assert len(README[: README.index(shown)].split()) < 40


def test_all_prints_what_the_page_about_the_output_shows(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs/read_the_output.md").read_text("utf-8")
    assert main(["size", "sample:mobilenet_v1_025", "--target", "cortex-m4", "--all"]) == 0
    assert capsys.readouterr().out == re.findall(r"```text\n(.*?)```", page, re.DOTALL)[-1]


def test_every_file_that_the_readme_links_to_is_there() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_every_verb_in_the_readme_exists() -> None:
    from tflm_sim.cli.verbs import VERBS

    assert set(re.findall(r"`tflm-sim ([a-z-]+)", README)) <= {*VERBS, "--version"}
