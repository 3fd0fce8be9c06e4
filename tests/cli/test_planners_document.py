"""``docs/planners.md`` names every planner, and its example gives what it shows."""

import re
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.cli.plan import ALL_PLANNERS
from tflm_sim.planners import native

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "planners.md").read_text("utf-8")


def test_every_planner_is_in_the_table_in_the_order_of_all():
    assert re.findall(r"^\| `(\w+)` \|", TEXT, re.MULTILINE) == [*ALL_PLANNERS]


@pytest.mark.skipif(not native.available(), reason="the exact planner is in C")
def test_the_example_gives_what_is_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    problem, shown = re.findall(r"^```(?:text)?\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
    (tmp_path / "problem.csv").write_text(problem)
    (command,) = re.findall(r"`tflm-sim (plan problem\.csv [^`]*)`", TEXT)
    assert main(command.split()) == 0
    assert without_times(capsys.readouterr().out) == without_times(shown)


def without_times(table):
    return re.sub(r"  +[\d.,]+ (us|ms|s)$", "", table, flags=re.MULTILINE).splitlines()
