"""Which plans the search looks at, which it keeps, and what it says of those that it does not."""

from __future__ import annotations

import pytest
import shrinking_models as models

from tflm_sim import shrink
from tflm_sim.device.configuration import configure
from tflm_sim.extensions.shrink import peaks, plan_search
from tflm_sim.extensions.shrink.budget import Budget
from tflm_sim.extensions.shrink.overlap_placement import Alive, place_groups
from tflm_sim.extensions.shrink.pass_search import PLAN, Search
from tflm_sim.extensions.shrink.planned_profile import planned_profile
from tflm_sim.extensions.shrink.split import growing_cuts
from tflm_sim.extensions.shrink.stopping import StoppedError
from tflm_sim.extensions.shrink.target_sizer import TargetSizer
from tflm_sim.model.draft import Draft
from tflm_sim.planners import native

needs_c = pytest.mark.skipif(not native.available(), reason="the exact planner is C")


def test_single_groups_that_move_find_room_that_the_orders_miss() -> None:
    spans = [(0, 2, 64), (1, 3, 96), (2, 7, 128), (3, 5, 128), (4, 9, 128), (6, 9, 80), (7, 9, 128), (8, 13, 112)]
    alive = {tensor: Alive(*span) for tensor, span in enumerate(spans)}
    distances = {(0, 1): 48, (1, 2): 48, (3, 4): 32, (6, 7): 16}
    groups = [{tensor: 0} for tensor in alive]
    assert place_groups(groups, alive, [], distances)[1] == 368
    # At scope 8 tensors 4 to 7 are alive, 7 a step of 16 B below 6: no plan is smaller than this one.
    offsets, head = place_groups(groups, alive, [], distances, thorough=True)
    assert head == 128 + 80 + (16 + 128) == 352
    assert offsets[6] - offsets[7] >= 16 or offsets[7] >= offsets[6] + 128


def test_growing_parts_are_about_one_two_three_units() -> None:
    assert growing_cuts(6, 3, first_is_smallest=True) == ((0, 1), (1, 3), (3, 6))
    assert growing_cuts(6, 3, first_is_smallest=False) == ((0, 3), (3, 5), (5, 6))
    assert growing_cuts(2, 3, first_is_smallest=True) == ((0, 1), (1, 2))


def test_with_a_plan_a_later_part_may_be_larger_where_the_image_comes_to_an_end() -> None:
    layers = models.Layers()
    x = layers.activation((1, 28, 28, 4))
    model = layers.model([x], [layers.conv(layers.conv(x, 32, stride=2, same=False), 16, stride=2, same=False)])
    draft, sizer = Draft(model), TargetSizer([configure("cortex-m4", kernels="reference")])
    facts = planned_profile(draft, sizer, kernel_order=True)
    peak_of = {split.parts: split.peak for split in peaks.all_splits(draft, facts, 10**9) if split.kind == "rows"}
    # A row is 28 * 4 B of X, 13 * 32 B of A and 6 * 16 B of Y. Three equal parts take no less than two that grow.
    assert peak_of[(0, 2), (2, 6)] == peak_of[(0, 2), (2, 4), (4, 6)] < peak_of[(0, 3), (3, 6)]
    assert peak_of[(0, 1), (1, 3), (3, 6)] < peak_of[(0, 2), (2, 6)]


def test_an_objection_says_which_targets_grow_and_by_how_much() -> None:
    names = ("cortex-m4", "esp32-s3")
    search = Search(models.rows_model(), TargetSizer([configure(name) for name in names]), Budget(), lambda said: None)
    m4, s3 = search.arenas
    assert search.objection(search.model, (m4 + 1600, s3), 0) == "cortex-m4 grows by 1,600 B"
    assert search.objection(search.model, (m4 - 16, s3 + 48), 0) == "esp32-s3 grows by 48 B"
    assert search.objection(search.model, (m4 + 16, s3 + 48), 0) == "cortex-m4 grows by 16 B, esp32-s3 grows by 48 B"
    assert search.objection(search.model, (m4, s3), 0) == "no target gains"
    assert search.objection(search.model, (m4 - 16, s3), 0) is None


@needs_c
def test_a_search_that_ends_while_it_plans_keeps_the_best_plan_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    model = models.rows_model()
    whole = shrink(model, "cortex-m4", offline_plan=True)
    sound = plan_search._split_for_plan

    def ended(search: Search, way: plan_search.StepList, *, has_loops: bool) -> list[plan_search.StepList]:
        search.stopping.__dict__["_is_interrupted"] = True
        sound(search, way, has_loops=has_loops)
        raise StoppedError

    monkeypatch.setattr(plan_search, "_split_for_plan", ended)
    shrunk = shrink(model, "cortex-m4", offline_plan=True)
    assert shrunk.stopped == "it was interrupted"
    assert shrunk.steps[-1].name == PLAN == whole.steps[-1].name
    assert shrunk.has_gained
