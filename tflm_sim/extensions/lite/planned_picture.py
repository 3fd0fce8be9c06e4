"""The mobile runtime's plan as a ``Picture``, so that every skin draws it: one picture a subgraph.

What the planner placed are residents; the persistent arena is drawn behind the other one, as the tail.
"""

from __future__ import annotations

from tflm_sim.errors import expect
from tflm_sim.extensions.lite.answer import Answer, LiteSettings
from tflm_sim.extensions.lite.summary import Summary, summaries
from tflm_sim.report.document import ModelFacts
from tflm_sim.report.picture import Block, LiteSize, Moment, Picture, Resident, RuntimeName, Step
from tflm_sim.report.size_answer import SizeAnswer, Tail, TailGroup
from tflm_sim.units import align_up

_CATEGORIES = {"input": "input", "output": "output", "activation": "activation", "temporary": "scratch"}
_PERSISTENT = "variable tensors"


def lite_pictures(path: str, answer: Answer, settings: LiteSettings) -> list[Picture]:
    """Return a picture of each subgraph that was planned and has operators.

    Args:
        path: What to call the model.
        answer: What ``lite_allocated()`` returned.
        settings: What it was asked with.

    Raises:
        UsageError: One of them is something else.
    """
    expect(path, str, "the name of the model")
    expect(answer, Answer, "what lite_allocated() returns")
    expect(settings, LiteSettings, "settings as LiteSettings")
    rows = [summary for summary in summaries(answer) if summary.ops]
    return [_picture(path, answer, settings, summary) for summary in rows]


def _picture(path: str, answer: Answer, settings: LiteSettings, summary: Summary) -> Picture:
    blocks = tuple(
        Block(_PERSISTENT, summary.arena_bytes + offset, size, 0, 1, len(summary.persistent) + 1, name, 0)
        for _, name, size, offset in summary.persistent
    )
    arena = summary.arena_bytes + summary.persistent_bytes
    kept = ", every tensor preserved" if settings.preserves_all_tensors else ""
    name = "main" if summary.subgraph == 0 else f"subgraph_{summary.subgraph}"
    return Picture(
        title=f"{settings.runtime}, {settings.kernels} kernels{kept}, {name}: without the XNNPACK delegate",
        size=_size(path, summary, arena, settings.runtime),
        arena_bytes=arena,
        split_at=0,
        status=answer.status if answer.status == "ok" else "error",
        failure="".join(answer.reports) if answer.status != "ok" else "",
        moments=(Moment("variables", -1, -1, 0),),
        blocks=blocks,
        steps=(Step("enter", 0), *(Step("persist", number) for number in range(len(blocks)))),
        op_names=(summary.ops,),
        subgraph_names=(name,),
        scopes=tuple((0, place) for place in range(len(summary.ops))),
        residents=_residents(summary),
        live_bytes=summary.live_bytes,
        limits=(),
        remedies=(),
    )


def _residents(summary: Summary) -> tuple[Resident, ...]:
    rows = []
    for row in summary.placed:
        others = (other for other in summary.placed if other is not row)
        sharing = sum(
            other.offset < row.offset + row.size and row.offset < other.offset + other.size for other in others
        )
        category = _CATEGORIES[row.kind]
        operator = row.first if row.kind == "temporary" else -1
        ends = (row.size, row.offset, row.first, row.last, sharing)
        rows.append(Resident(category, row.name, 0, row.index, operator, *ends))
    return tuple(rows)


def _size(path: str, summary: Summary, arena: int, runtime: str) -> LiteSize:
    used = summary.persistent_bytes
    groups = (TailGroup(_PERSISTENT, used, used, len(summary.persistent)),) if used else ()
    answer = SizeAnswer(
        status="ok",
        smallest_arena_bytes=arena,
        smallest_arena_multiple_of_16=align_up(arena, 16),
        arena_used_bytes_at_smallest=arena,
        smallest_split_arenas_bytes=None,
        arena_used_bytes=arena,
        head_bytes=summary.arena_bytes,
        tail_bytes=used,
        recorded={},
        log=(),
        failure=None,
        binding=None,
        tail=Tail(groups, ()),
        operators=(summary.ops,),
        buffers=(),
        peak=None,
        invoke_problem=None,
    )
    return LiteSize(ModelFacts(path, None, None), RuntimeName(runtime), answer)
