"""Two answers of the mobile runtime, made by hand: each figure is a sum of what stands in them."""

from __future__ import annotations

import pytest

from tflm_sim.errors import UsageError
from tflm_sim.extensions.lite.answer import LEFT_OUT, FileName, LiteDocument, SubgraphDocument
from tflm_sim.extensions.lite.answer_difference import lite_difference, lite_difference_lines, read_lite_document

# bytes: 16 and 32 of tensors, 4 and 8 of temporaries; 1000 are elsewhere, though a kernel's too
BEFORE = SubgraphDocument(
    64,
    10,
    (
        ("arena_rw", 0, 16, (16,)),
        ("arena_rw", 16, 32, (32,)),
        ("arena_rw", 48, 4, (4,)),
        ("arena_rw", 52, 8, (8,)),
        ("arena_rw_persistent", 0, 1000, (1000,)),
        ("dynamic", None, 0, ()),
    ),
    ((2, 3), (4,)),
)
AFTER = SubgraphDocument(63, 12, (("arena_rw", 0, 48, (48,)), ("arena_rw", 48, 12, (12,))), ((1,),))
SMALL = SubgraphDocument(5, 1, (), ())


def document(path: str, *graphs: SubgraphDocument, status: str = "ok", errors: tuple[str, ...] = ()) -> LiteDocument:
    return LiteDocument(FileName(path), "a release", status, errors, graphs)


def test_each_figure_is_a_sum_of_one_side_or_the_other() -> None:
    found = lite_difference(document("a", BEFORE), document("b", AFTER, SMALL))
    assert [(row.subgraph, row.figure, row.before, row.after, row.change) for row in found.figures] == [
        (0, "arena_rw_span", 64, 63, -1),
        (0, "persistent_span", 10, 12, 2),
        (0, "tensor_bytes", 48, 48, 0),
        (0, "temporary_bytes", 12, 12, 0),
        (0, "dynamic_tensors", 1, 0, -1),
        (1, "arena_rw_span", 0, 5, 5),
        (1, "persistent_span", 0, 1, 1),
        (1, "tensor_bytes", 0, 0, 0),
        (1, "temporary_bytes", 0, 0, 0),
        (1, "dynamic_tensors", 0, 0, 0),
    ]
    assert found.growth_bytes == 63 + 12 + 5 + 1 - 64 - 10


def test_what_did_not_change_is_left_out_but_for_the_arenas() -> None:
    broken = document("", AFTER, SMALL, status="error", errors=("one\n", "two\n"))
    found = lite_difference_lines(lite_difference(document("a.tflite", BEFORE, SMALL), broken))
    assert found == [
        "before  a.tflite",
        "after   model: one\\x0atwo",
        "",
        "before  after  change  figure",
        "    64     63      -1  arena",
        "    10     12      +2  persistent arena",
        "     1      0      -1  dynamic tensors (number)",
        "     5      5      +0  arena of subgraph 1",
        "",
        *LEFT_OUT,
    ]


def test_another_document_is_refused_by_its_name(tmp_path) -> None:
    (path := tmp_path / "a.json").write_text("{}")
    with pytest.raises(UsageError, match=r"a\.json is not the output of 'lite --json': "):
        read_lite_document(str(path))
