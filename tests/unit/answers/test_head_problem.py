from dataclasses import replace

import pytest

from tflm_sim import load, preset, sample_path, simulate
from tflm_sim.answers.head_problem import head_problem
from tflm_sim.answers.planned_problem import problem_of
from tflm_sim.errors import ArenaOverflowError, UsageError
from tflm_sim.planners.buffers import Buffer


@pytest.fixture(scope="module")
def simulation():
    return simulate(load(sample_path("streaming")), preset("cortex-m4"))


def problem_with(simulation, **changes):
    first, *others = (buffer.info for buffer in simulation.buffers)
    return problem_of([replace(first, **changes), *others])


def test_sizes_are_rounded_up_to_16_and_lifetimes_become_half_open(simulation):
    changed = problem_with(simulation, size=17, first_created=-1, last_used=3)
    assert changed.buffers[0] == Buffer(32, -1, 4)


def test_every_name_is_there_once(simulation):
    names = [buffer.name for buffer in head_problem(simulation).buffers]
    assert len(set(names)) == len(names) == len(simulation.buffers)
    assert names[0] == "subgraph0.tensor0"


def test_a_scratch_buffer_is_named_after_its_operator(simulation):
    changed = problem_with(simulation, tensor=-1, scratch=0, node=5, subgraph=1)
    assert changed.buffers[0].name == "subgraph1.op5.scratch0"


def test_an_offline_offset_is_a_fixed_offset(simulation):
    assert problem_with(simulation, offline_offset=64).buffers[0].offset == 64


def test_the_start_of_the_head_is_an_offset_like_any_other(simulation):
    assert problem_with(simulation, offline_offset=0).buffers[0].offset == 0


def test_a_negative_offline_offset_is_refused(simulation):
    with pytest.raises(UsageError, match=r"subgraph0\.tensor0 is fixed at the negative offset -2"):
        problem_with(simulation, offline_offset=-2)


def test_what_does_not_fit_has_no_problem():
    failed = simulate(load(sample_path("streaming")), preset("cortex-m4"), arena_size=1024)
    with pytest.raises(ArenaOverflowError):
        head_problem(failed)
