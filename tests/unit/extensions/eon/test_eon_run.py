"""What the operators of an EON source get: from the arena's end down to the last tensor, and then from the heap."""

from __future__ import annotations

import pytest

from tflm_sim.errors import ModelError
from tflm_sim.extensions.eon.device import EonRequest, EonRoom, EonRun, exceeds_limit, run_eon
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.requests import FreeTempTensors, Persistent, Scratch, ScratchBuffer, Steps, TempTensors
from tflm_sim.targets.presets import preset

M4 = preset("cortex-m4")
ROOM = EonRoom(200, 64, None, None, None)


@pytest.mark.parametrize(
    ("size", "asks", "moves"),
    [(0, 0, 0), (1, 16, 0), (2, 16, 16), (15, 16, 16), (16, 16, 16), (17, 32, 16), (18, 32, 32)],
)
def test_an_aligned_buffer_of_one_byte_more_than_a_multiple_of_16_shares_its_last_byte(
    size: int, asks: int, moves: int
) -> None:
    assert (ROOM.asks(size), ROOM.moves(size)) == (asks, moves)
    loose = EonRoom(200, 64, None, None, None, aligns=False)
    assert (loose.asks(size), loose.moves(size)) == (size, size)
    # From 176, a multiple of 16, and from 175 without alignment.
    found, _ = run(ROOM, Persistent(24), Persistent(size))
    assert found.low == 176 - moves
    found, _ = run(loose, Persistent(25), Persistent(size))
    assert found.low == 175 - size


@pytest.mark.parametrize(("count", "limit", "is_past"), [(0, None, False), (2, 3, False), (3, 3, True), (0, 0, True)])
def test_one_more_is_past_a_limit(count: int, limit: int | None, is_past: bool) -> None:
    assert exceeds_limit(count, limit) is is_past


def run(room: EonRoom, *requests: object) -> tuple[EonRun, list[object]]:
    """Initialise one operator that makes requests; return the run and the answers."""
    answers: list[object] = []

    def prepare(node: Node) -> Steps[None]:
        for request in requests:
            answers.append((yield request))  # type: ignore[misc]

    builder = ModelBuilder()
    x, y = (builder.tensor((1, 16), TensorType.INT8, scale=0.5) for _ in range(2))
    builder.custom("MINE", [x], [y])
    model = parse(builder.build(inputs=[x], outputs=[y]))
    return run_eon(model, M4, {"MINE": OpModel("MINE", None, None, prepare, "mine.cc")}, room), answers


def places(found: EonRun) -> list[tuple[int | None, bool]]:
    return [(row.offset, row.shares) for row in found.requests]


def test_buffers_lie_below_each_other_at_multiples_of_16() -> None:
    found, answers = run(ROOM, Persistent(20, "a"), Persistent(16, "b"), Persistent(17, "c"), Scratch(32, "d"))
    # 200 - 20 = 180, down to 176; 160. 160 - 17 = 143: the last byte of 144 to 160 is the first of b.
    assert places(found) == [(176, False), (160, False), (144, True), (112, False)]
    assert answers == [176, 160, 144, 0]
    assert (found.low, found.free, found.failure) == (112, 112 - 64, "")
    first = found.requests[0]
    assert first == EonRequest(0, 0, "MINE", "prepare", "persistent", "a", 20, 176, False)


def test_buffers_that_are_not_aligned_lie_directly_below_each_other() -> None:
    loose = EonRoom(200, 64, None, None, None, aligns=False)
    found, _ = run(loose, Persistent(20, "a"), Persistent(116, "b"), Persistent(1, "c"))
    assert places(found) == [(180, False), (64, False), (None, False)]


def test_what_does_not_fit_above_the_tensors_lies_on_the_heap_above_the_arena() -> None:
    for size, offset in ((136, 64), (137, None)):
        room = EonRoom(208, 64, None, None, None)
        found, (answer,) = run(room, Persistent(size + 8, "a"))
        assert places(found) == [(offset, False)]
        assert answer == (208 if offset is None else 64)
        assert found.on_heap == (() if offset is not None else found.requests)


def test_scratch_buffers_are_numbered_from_zero() -> None:
    found, answers = run(ROOM, Scratch(16, "a"), Persistent(16, "b"), Scratch(16, "c"))
    assert (answers[0], answers[2]) == (0, 1)
    assert [row.label for row in found.scratch] == ["a", "c"]


def test_an_absent_tensor_is_none_and_the_first_one_is_a_tensor() -> None:
    found, (tensors, _) = run(ROOM, TempTensors(((0, False), (-1, False), (1, True))), FreeTempTensors([]))
    assert isinstance(tensors, list)
    assert [tensor is None for tensor in tensors] == [False, True, False]
    assert found.failure == ""


def test_a_prepare_has_as_many_tensors_as_there_are_slots() -> None:
    for slots, failure in ((2, ""), (1, "MINE #0: ERR: GetTensor called beyond MAX_TFL_TENSOR_COUNT (1)")):
        found, _ = run(EonRoom(200, 64, None, None, slots), TempTensors(((0, False), (1, False), (0, False))))
        assert found.failure == failure


def test_what_such_a_source_does_not_have_is_refused() -> None:
    with pytest.raises(ModelError, match=r"^MINE #0 asks for a ScratchBuffer, which a source of the EON"):
        run(ROOM, ScratchBuffer(0))


def row(kind: str, size: int, offset: int | None) -> EonRequest:
    return EonRequest(0, 0, "ADD", "prepare", kind, "", size, offset, False)


def test_the_first_request_past_a_limit_is_refused() -> None:
    rows = (row("persistent", 16, None), row("scratch", 16, 0), row("scratch", 16, None), row("persistent", 16, None))

    def refused(heap: int | None, scratch: int | None) -> tuple[EonRequest, str] | None:
        return EonRun(EonRoom(200, 64, heap, scratch, None), rows, 0, "").refused

    assert refused(None, None) is refused(3, 2) is None
    assert refused(2, 2) == (rows[3], "OVERFLOW")
    assert refused(1, 2) == (rows[2], "OVERFLOW")
    assert refused(0, 2) == (rows[0], "OVERFLOW")
    assert refused(3, 1) == (rows[2], "SCRATCH")
    assert refused(3, 0) == (rows[1], "SCRATCH")


def test_the_smallest_arena_has_room_for_all_above_the_tensors() -> None:
    # 17 bytes ask for 32 and move by 16; 20 ask for 32 and move by 32: 16 + 32. Then 1 byte asks for 16: 48 + 16.
    rows = (row("persistent", 17, 0), row("persistent", 20, 0), row("scratch", 1, 0))
    assert EonRun(EonRoom(200, 70, None, None, None), rows, 0, "").smallest_arena == 144  # 70 + 64 = 134
    assert EonRun(EonRoom(200, 64, None, None, None), rows[:1], 0, "").smallest_arena == 64 + 32
    assert EonRun(EonRoom(200, 64, None, None, None), (), 0, "").smallest_arena == 64
