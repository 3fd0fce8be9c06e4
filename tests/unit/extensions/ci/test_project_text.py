"""The verdicts on a repository: a table, a heading, and the comment of a pull request."""

from __future__ import annotations

from typing import Any

from tflm_sim.checks.verdict import Verdict
from tflm_sim.device.configuration import configure
from tflm_sim.extensions.ci.project import Cell, ProjectFirmware
from tflm_sim.extensions.ci.project_text import (
    Review,
    assumed_of,
    exit_code,
    headline_of,
    project_lines,
    review_markdown,
)

M4 = configure("cortex-m4", kernels="reference")


def cell(needed: int | None = 1600, fits: bool | None = True, before: int | None = None, **firmware: Any) -> Cell:
    verdict = Verdict("m", "k", needed, 2048, fits, before, "" if fits else "r", smallest=needed)
    said = ProjectFirmware(**{"name": "f", "target": "cortex-m4", "kernels": "reference", "runtime": "x", **firmware})
    return Cell("m", said, ((verdict, M4),))


def test_the_worst_verdict_is_the_exit_code() -> None:
    yes, no, unknown = cell(), cell(fits=False), cell(fits=None)
    for cells, code in (((), 0), ((yes,), 0), ((yes, unknown), 3), ((unknown, no, yes), 1)):
        assert exit_code(cells) == code


def test_what_was_not_named_is_said_with_the_firmwares_of_which_that_is_so() -> None:
    whole, bare, other = cell(), cell(runtime=None, name="a"), cell(runtime=None, name="b")
    assert assumed_of(whole) == ()
    assert assumed_of(bare) == ("library",)
    assert assumed_of(cell(runtime=None, library="l")) == ()
    assert assumed_of(cell(target=None, board="b")) == ()
    assert assumed_of(cell(target=None)) == ("target",)
    several = bare._replace(judged=bare.judged * 2)
    assert assumed_of(several) == ()
    assert headline_of([whole]) == "yes: all 1 fit"
    assert headline_of([bare]) == "yes: all 1 fit; not named, so assumed: library"
    assert headline_of([whole, bare, other]) == "yes: all 3 fit; not named, so assumed: library (a, b)"
    assert headline_of([bare, other]) == "yes: all 2 fit; not named, so assumed: library"


def test_each_is_a_line_and_what_is_not_good_is_told_why() -> None:
    assert project_lines([]) == []
    cells = [cell(), cell(None, fits=None), cell(3200, fits=False, before=1600)]
    assert project_lines(cells) == [
        "fits  needs  limit  grew    model  firmware",
        "yes   1,600  2,048       -  m      f",
        "-         -  2,048       -  m      f",
        "no    3,200  2,048  +1,600  m      f",
        "m on f: cannot be told: r",
        "m on f: no: r",
        "m on f: +1,600 B since the baseline of 1,600 B",
    ]


def test_the_comment_has_a_row_each_and_says_what_moved() -> None:
    good, grown = cell(), cell(3200, fits=False)
    reviews = [Review(good, cell(1600)), Review(grown, cell(1600)), Review(good), Review(good, cell(None))]
    text = review_markdown(reviews, {"f": ["a", "b|`c"]}, has_base=True, gone=[cell(16)])
    lines = text.split("\n")
    assert lines[0] == "### ❌ Tensor arenas: no: 1 of 4 does not fit, or grew"
    assert lines[2:9] == [
        "|  | model | firmware | before | after | change | limit |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: |",
        "| ✅ | `m` | `f` | 1,600 B | 1,600 B | 0 | 2,048 B |",
        "| ❌ | `m` | `f` | 1,600 B | 3,200 B | +1,600 B | 2,048 B |",
        "| ✅ | `m` | `f` | - | 1,600 B | new | 2,048 B |",
        "| ✅ | `m` | `f` | - | 1,600 B | - | 2,048 B |",
        "| ✅ | `m` | `f` | 16 B | - | gone | - |",
    ]
    assert lines[10:13] == ["**`m` on `f`**", "", "- `no: r`"]
    assert lines[-5:] == ["", "- `f`: `a`, `b\\x7c\\x60c`", "", "</details>", ""]


def test_without_a_state_before_there_is_one_size() -> None:
    lines = review_markdown([Review(cell(None, fits=None))], {}, has_base=False).split("\n")
    assert lines[0].startswith("### ❓ Tensor arenas: 1 of 1 cannot be told")
    assert lines[2:5] == [
        "|  | model | firmware | needs | limit |",
        "| --- | --- | --- | ---: | ---: |",
        "| ❓ | `m` | `f` | - | 2,048 B |",
    ]
