"""The allocator that the EON compiler writes into a source: what fits, what goes to the heap, which limits hold."""

from __future__ import annotations

import pytest

from tflm_sim.extensions.eon.device import EonRoom, EonRun, eon_macros, run_eon
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.requests import Persistent, Scratch, Steps, TempTensor
from tflm_sim.targets.presets import PRESETS, library_target

TARGET = library_target("edge-impulse", name="cortex-m4")


def run(
    *sizes: int, arena: int = 256, end: int = 100, scratch: tuple[int, ...] = (), limits: tuple[int, int] = (10, 4)
) -> EonRun:
    """Initialise one operator that keeps buffers of ``sizes`` in Init and asks for ``scratch`` in Prepare."""
    b = ModelBuilder()
    x, y = b.tensor((4,), TensorType.INT8), b.tensor((4,), TensorType.INT8)
    b.operator("RELU", [x], [y])

    def init(_: Node) -> Steps[object]:
        for size in sizes:
            yield Persistent(size)
        return "data"

    def prepare(node: Node) -> Steps[None]:
        assert node.user_data == "data"
        for size in scratch:
            yield Scratch(size)

    model = parse(b.build(inputs=[x], outputs=[y]))
    room = EonRoom(arena, end, *limits, tensor_slots=4)
    return run_eon(model, TARGET, {"RELU": OpModel("RELU", init=init, prepare=prepare)}, room)


def test_buffers_are_taken_from_the_end_downwards_in_steps_of_16() -> None:
    found = run(1 + 16, 30, 32, scratch=(3,))
    # 17 is 16 n + 1: it moves by 16 only. 256 - 16 = 240, - 32 = 208, - 32 = 176, - 16 = 160.
    assert [row.offset for row in found.requests] == [240, 208, 176, 160]
    assert [row.shares for row in found.requests] == [True, False, False, False]
    assert (found.low, found.free) == (160, 60)


def test_what_does_not_fit_goes_to_the_heap_and_later_ones_may_still_fit() -> None:
    found = run(100, 64, 20)
    # 256 - 112 = 144; 144 - 64 = 80 is below 100; 144 - 32 = 112 is not.
    assert [row.offset for row in found.requests] == [144, None, 112]
    assert [row.size for row in found.on_heap] == [64]
    assert found.free == 12
    # 100 + 112 + 64 + 32 = 308, and 320 is the next multiple of 16.
    assert found.smallest_arena == 320
    assert not run(100, 64, 20, arena=320).on_heap
    assert run(100, 64, 20, arena=304).on_heap


def test_until_september_2023_a_buffer_takes_its_bytes() -> None:
    room = EonRoom(256, 100, None, None, None, aligns=False)
    assert (room.asks(17), room.moves(17), room.moves(3)) == (17, 17, 3)


def test_room_is_asked_for_in_whole_steps_though_less_is_taken() -> None:
    assert not run(17, arena=132).on_heap  # 132 - 32 = 100, which is not below 100
    assert run(17, arena=131).on_heap
    assert run(17).smallest_arena == 144  # 100 + 32 = 132


def test_the_first_request_past_a_limit_is_refused() -> None:
    assert run(200, 200, limits=(2, 0)).refused is None
    late = run(200, 200, 300, limits=(2, 0))
    assert late.refused == (late.requests[2], "OVERFLOW")
    many = run(8, scratch=(1, 2, 3), limits=(0, 2))
    assert many.refused == (many.scratch[2], "SCRATCH")


def test_a_prepare_may_take_as_many_tensors_as_there_are_slots() -> None:
    b = ModelBuilder()
    tensors = [b.tensor((4,), TensorType.INT8) for _ in range(4)]
    b.operator("ADD_N", tensors[:3], tensors[3:])

    def prepare(_: Node) -> Steps[None]:
        for index in (0, 1, 2, 3, 0):
            yield TempTensor(index)

    model = parse(b.build(inputs=tensors[:3], outputs=tensors[3:]))
    kernels = {"ADD_N": OpModel("ADD_N", prepare=prepare)}
    assert run_eon(model, TARGET, kernels, EonRoom(64, 0, 1, 1, tensor_slots=4)).failure == ""
    found = run_eon(model, TARGET, kernels, EonRoom(64, 0, 1, 1, 3))
    assert found.failure == "ADD_N #0: ERR: GetTensor called beyond MAX_TFL_TENSOR_COUNT (3)"


@pytest.mark.parametrize(
    ("name", "library", "limit"),
    [
        ("cortex-m4", "edge-impulse@1.93.20", None),
        ("cortex-m33", "edge-impulse@1.93.20", "50"),
        ("cortex-m55", "edge-impulse@2024-10-14", None),
    ],
)
def test_the_heaps_limit_is_that_of_the_machine_and_the_sdk(name: str, library: str, limit: str | None) -> None:
    macros = eon_macros(library_target(library, name=name))
    assert macros.get("EI_MAX_OVERFLOW_BUFFER_COUNT") == limit


def test_of_every_cortex_m_it_is_known_whether_it_is_an_armv8() -> None:
    others = {"cortex-m0plus", "cortex-m3", "cortex-m4", "cortex-m4-int-enums", "cortex-m7"}
    cores = {name for name in PRESETS if name.startswith("cortex-m")}
    armv8 = {name for name in cores if eon_macros(library_target("edge-impulse", name=name))}
    assert others.isdisjoint(armv8)
    assert cores == others | armv8, "an Armv8-M core has its family in PRESETS, another one stands in this list"
