"""A run ends as data."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import replace

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.answers.sizing import Sizer
from tflm_sim.arena.arena import NEWEST_RULES, SET_HEAD_RULES
from tflm_sim.arena.events import End, Run
from tflm_sim.device.configuration import configure
from tflm_sim.device.model_allocation import ModelAllocation
from tflm_sim.device.run import arena_rules, lost_bytes, make_arena, roomy_arena
from tflm_sim.errors import UsageError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.targets.presets import preset
from tflm_sim.targets.runtime import find_runtime


def refused() -> Model:
    """Return a model whose ADD has an infinite scale."""
    builder = ModelBuilder()
    source, result = (builder.tensor((1, 8), TensorType.INT8, scale=float("inf"), zero_point=0) for _ in range(2))
    builder.operator("ADD", [source, source], [result])
    return parse(builder.build(inputs=[source], outputs=[result]))


def allocations() -> int:
    return sum(isinstance(thing, ModelAllocation) for thing in gc.get_objects())


def test_what_a_failed_run_leaves_is_gone_with_its_last_name_and_not_when_garbage_is_collected() -> None:
    model, before = refused(), allocations()
    gc.disable()
    try:
        found = Sizer().sizing(model, "cortex-m4")
        assert found.status == "abort"
        assert allocations() == before + 1
        del found
        assert allocations() == before
    finally:
        gc.enable()


M4 = preset("cortex-m4", kernels="reference")


def test_a_run_begins_with_its_arena_and_ends_with_what_it_used(chain: Callable[..., Model]) -> None:
    for size, status in ((1 << 12, "ok"), (472, "error"), (100, "abort")):
        done = simulate(chain(8, 8), M4, arena_size=size)
        assert done.events[0] == Run("plain", size)
        assert done.events[-1] == End("plain", status, 0 if status == "abort" else done.device.arena.used_bytes)
    assert simulate(chain(8, 8), M4, arena_size=472).device.arena.used_bytes > 0


def test_a_failure_holds_no_frames() -> None:
    failure = Sizer().sizing(refused(), "cortex-m4").failure
    assert failure is not None
    links: list[BaseException | None] = [failure]
    while links[-1] is not None:
        assert links[-1].__traceback__ is None
        links.append(links[-1].__context__)


def test_a_roomy_arena_ends_at_a_gibibyte() -> None:
    assert roomy_arena(M4) == 1024 * 1024 * 1024
    assert roomy_arena(replace(M4, arena_address=12)) == 1024 * 1024 * 1024 - 12


@pytest.mark.parametrize(("size", "is_one"), [(-1, False), (0, True), (2**31 - 1, True), (2**31, False)])
def test_an_arena_has_less_than_two_gibibytes(size: int, is_one: bool) -> None:
    where = configure(M4)
    for sizes in ({"arena_size": size}, {"arena_size": 64, "non_persistent_arena_size": size}):
        if is_one:
            make_arena(where, **sizes)
            continue
        with pytest.raises(UsageError, match=rf"^an arena of {size} bytes is not between 0 and 2 GiB$"):
            make_arena(where, **sizes)
    assert make_arena(configure(M4, split_arenas=True), arena_size=64).size == 64  # And nothing for the head.


@pytest.mark.parametrize(("address", "lost"), [(0, 0), (1, 15), (4, 12), (15, 1)])
def test_the_start_is_skipped_up_to_a_multiple_of_16_and_by_the_recording_interpreter_not(
    address: int, lost: int
) -> None:
    assert lost_bytes(configure(M4, arena_address=address)) == lost
    assert lost_bytes(configure(M4, arena_address=address, interpreter="recording")) == 0
    arena = make_arena(configure(M4, arena_address=address), arena_size=100)
    assert arena.size == 100 - lost
    if lost < 100:
        assert arena.allocate_temp(1, 16) == 0


def test_arenas_of_old_versions_speak_of_the_head() -> None:
    assert arena_rules(find_runtime("2026-01-01")) == NEWEST_RULES
    old = arena_rules(find_runtime("2021-06-01"))
    assert (old.resize_refused, old.resize_failed) == (SET_HEAD_RULES["resize_refused"], "Failed to set head size.")
    assert not old.checks_temps


def test_a_plan_is_one_offset_for_each_buffer_from_zero_on(chain: Callable[..., Model]) -> None:
    device = simulate([chain(8, 8), chain(8, 8)], M4).device
    assert [list(plan.values()) for plan in device.plans()] == [[16, 0], [16, 0]]
    assert device.plans([0, 1, 2, 3]) == [{0: 0, 1: 1}, {0: 2, 1: 3}]
    for wrong in ([0, 1, 2], [0, 1, 2, 3, 4], [0, 1, 2, -1]):
        with pytest.raises(UsageError, match=r"^a plan is one offset, 0 or more, for each of the 4 buffers$"):
            device.plans(wrong)


def test_a_planned_buffer_ends_at_a_multiple_of_16_behind_its_offset(chain: Callable[..., Model]) -> None:
    done = simulate(chain(17, 17), M4)
    assert [(buffer.offset, buffer.end) for buffer in done.buffers] == [(32, 64), (0, 32)]


def test_the_tail_of_two_arenas_is_that_of_persistent_memory(chain: Callable[..., Model]) -> None:
    one = simulate(chain(8, 8), M4, arena_size=1 << 12).device
    two = simulate(chain(8, 8), M4, arena_size=1 << 12, non_persistent_arena_size=1 << 10).device
    assert (one.is_split, two.is_split) == (False, True)
    assert one.tail_offset == (1 << 12) - one.arena.persistent_used_bytes
    assert two.tail_offset == (1 << 12) - two.arena.persistent_used_bytes
