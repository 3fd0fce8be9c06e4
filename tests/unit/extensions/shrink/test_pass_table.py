"""The table of passes, and the one that people read."""

from __future__ import annotations

from pathlib import Path

from tflm_sim.extensions.shrink.pass_table import PASSES

PAGE = Path(__file__).resolve().parents[4] / "docs" / "shrink.md"


def test_the_page_has_each_pass_with_what_it_may_cost_in_the_order_in_which_they_first_run() -> None:
    table = PAGE.read_text("utf-8").split("| pass | idea | costs |\n|---|---|---|\n")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in table.splitlines()]
    assert [(name, costs) for name, _, costs in rows] == list(dict.fromkeys((row.name, row.costs) for row in PASSES))


def test_a_pass_is_an_edit_of_the_draft_or_runs_by_itself() -> None:
    assert all((row.edit is None) != (row.run is None) for row in PASSES)
