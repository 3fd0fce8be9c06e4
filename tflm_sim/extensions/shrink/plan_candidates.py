"""The plans that the search tries for a model, and what there is to say of the one that it keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from tflm_sim.answers.peak import live_bytes
from tflm_sim.answers.planned_problem import planned_buffer
from tflm_sim.extensions.shrink import kernel_choice
from tflm_sim.extensions.shrink.contracts import wanted_alignments, wanted_scratch_alignment
from tflm_sim.extensions.shrink.counted_loops import Place
from tflm_sim.extensions.shrink.draft_facts import shape
from tflm_sim.extensions.shrink.loops import without_fill
from tflm_sim.extensions.shrink.offline_planner import overlaps, plan_offline
from tflm_sim.extensions.shrink.passes import label_of
from tflm_sim.extensions.shrink.shrunk import Edit
from tflm_sim.extensions.shrink.stopping import Stopping
from tflm_sim.extensions.shrink.target_sizer import TargetSizer
from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Model, Operator
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.planners.memory_planner import ONLINE_PLANNED_BUFFER
from tflm_sim.units import align_up

MAX_TOPS = 3
"""How often other kernels are tried for the operators at the top of the plan before."""


def planned_models(
    model: Model, sizer: TargetSizer, *, kernel_order: bool, stopping: Stopping, thorough: bool = False
) -> Iterator[tuple[Model, tuple[int, ...]]]:
    """Yield a model with plans, with and without tensors that share bytes, and its smallest arena on each target.

    Behind a tensor that lies off a multiple of 16 TFLM may place what it plans itself off one, too, where a kernel may
    not be able to read it. Such plans are dropped, and others made in which every tensor lies at a multiple of 16.
    """
    model = without_fill(model) or model
    for is_aligned in (False, True):
        dropped = False
        for planned in _plans(model, sizer, kernel_order, stopping, thorough, is_aligned=is_aligned):
            arenas = None if planned is None else sizer.arenas(planned)
            if planned is not None and arenas is not None:
                if _is_odd(planned, sizer):
                    dropped = True
                else:
                    yield planned, arenas
        if not dropped:
            break


def _is_odd(planned: Model, sizer: TargetSizer) -> bool:
    """Return whether a target places something that is not in the plan where its kernels cannot read it."""
    for measured in sizer.measure_all(planned):
        library = measured.configuration.target.kernel_library
        scratch = wanted_scratch_alignment(library)
        tensors = [wanted_alignments(planned, index, [library]) for index in range(len(planned.subgraphs))]
        for buffer in measured.buffers:
            info = buffer.info
            wanted = scratch if info.tensor < 0 else tensors[info.subgraph].get(info.tensor, 1)
            if buffer.offset % wanted and info.offline_offset == ONLINE_PLANNED_BUFFER:
                return True
    return False


def _plans(
    model: Model, sizer: TargetSizer, kernel_order: bool, stopping: Stopping, thorough: bool, *, is_aligned: bool
) -> list[Model | None]:
    """Return the model with plans of several kinds, None where one is none."""
    look = partial(plan_offline, kernel_order=kernel_order, thorough=thorough, is_aligned=is_aligned)
    measured = sizer.measure_all(model)
    plans = [look(model, measured, with_sharing=with_sharing) for with_sharing in stopping.watch((True, False))]
    early = with_early_views(model)
    if early is not None:
        plans.append(look(early, sizer.measure_all(early)))
    if kernel_order:
        for each, planned in ((model, plans[0]), (early, plans[-1])):
            plans += _in_order(each, planned, sizer, stopping, look, thorough=thorough) if each is not None else []
    return plans


def with_early_views(model: Model) -> Model | None:
    """Return the model with each SLICE of whole rows right behind what it reads, None where all of them are there.

    With a plan such a SLICE costs nothing: it is bytes of its input. Once all of them have run, the input is needed no
    more, and what is made of the first rows may lie where they were.
    """
    draft = Draft(model)
    made = draft.producers()
    places = [
        (made.get(operator.input_tensors[0], -1), 0) if _is_view(draft, operator) else (index, -1)
        for index, operator in enumerate(draft.operators)
    ]
    order = sorted(range(len(places)), key=lambda index: (*places[index], index))
    if order == list(range(len(order))):
        return None
    draft.operators = [draft.operators[index] for index in order]
    return draft.model()


def _is_view(draft: Draft, operator: Operator) -> bool:
    """Return whether an operator is a SLICE whose elements lie in one piece of what it reads, which is no variable."""
    if draft.name(operator) != "SLICE" or not draft.is_activation(operator.input_tensors[0]):
        return False
    source, output = operator.input_tensors[0], operator.output_tensors[0]
    if draft.tensors[source].is_variable or draft.tensors[output].is_variable:
        return False
    kept = zip(shape(draft, source), shape(draft, output), strict=True)
    cut = [whole != part for whole, part in kept]
    return True in cut and all(size == 1 for size in shape(draft, source)[: len(cut) - 1 - cut[::-1].index(True)])


def _in_order(
    model: Model,
    planned: Model | None,
    sizer: TargetSizer,
    stopping: Stopping,
    look: Callable[..., Model | None],
    *,
    thorough: bool,
) -> list[Model]:
    """Return plans for a model with other kernels: everywhere, and where it is fuller than such a plan.

    Args:
        model: Without a plan.
        planned: With one, and its own kernels.
        sizer, stopping: Of the search.
        look: Plans a model.
        thorough: Also for the operators at the top of a plan, again and again.
    """
    found: list[Model] = []

    def add(only: frozenset[Place] | None) -> Model | None:
        ordered = kernel_choice.pixel_by_pixel(model, sizer.libraries, only)
        planned = ordered and look(ordered, sizer.measure_all(ordered))
        if planned is not None:
            shared = {overlap.operator for overlap in overlaps(sizer.measure(planned))}
            found.append(kernel_choice.as_before(planned, model, shared))
        return planned

    everywhere = add(None)
    if everywhere is None:
        return []
    allocation = sizer.measure(model).allocation
    assert allocation is not None, "only models that work are planned"
    lowest = sizer.measure(everywhere).head_bytes
    live = zip(allocation.scopes, live_bytes(allocation), strict=True)
    add(frozenset(place for place, alive in live if alive > lowest))
    top: frozenset[Place] = frozenset()
    for _ in stopping.watch(range(MAX_TOPS * thorough)):
        if planned is None or (reached := top | _at_the_top(planned, sizer)) == top:
            break
        top, planned = reached, add(reached)
    return found[::-1]


def _at_the_top(planned: Model, sizer: TargetSizer) -> frozenset[Place]:
    """Return the operators that run while what reaches the end of the head is alive."""
    measured = sizer.measure(planned)
    allocation = measured.allocation
    assert allocation is not None, "only models that work are planned"
    ends = [
        planned_buffer(each.info)
        for each in measured.buffers
        if align_up(each.offset + each.info.size, BUFFER_ALIGNMENT) >= measured.head_bytes
    ]
    return frozenset(
        place for scope, place in enumerate(allocation.scopes) if any(each.lower <= scope < each.upper for each in ends)
    )


def plan_edits(planned: Model, before: Model, sizer: TargetSizer) -> list[Edit]:
    """Return which operators write on what they read, and which ones got another kernel for it."""
    draft = Draft(planned)
    edits = [Edit("every tensor", "has an offset in the metadata")]
    if len(before.subgraphs[0].operators) > len(draft.operators):
        before = without_fill(before) or before
        edits.append(Edit("what loops write", "is not filled before: every byte is written by an iteration"))
    early = with_early_views(before)
    if early is not None and _outputs(early) == _outputs(planned) != _outputs(before):
        before = early
        edits.append(Edit("each SLICE of whole rows", "runs right behind what it reads, and is bytes of it"))
    for number, (now, was) in enumerate(zip(planned.subgraphs, before.subgraphs, strict=True)):
        for index, (operator, old) in enumerate(zip(now.operators, was.operators, strict=True)):
            if operator.options != old.options:
                what = "goes pixel by pixel with a dilation on its single tap"
                edits.append(Edit(_label(planned, (number, index)), what))
    for each in overlaps(sizer.measure(planned)):
        what = f"writes tensor {each.output} {each.distance:,} B below tensor {each.source}, {each.shared:,} B on it"
        edits.append(Edit(_label(planned, each.operator), what))
    return edits


def _label(model: Model, place: Place) -> str:
    """Return an operator as people name it, with its subgraph where that is not the main one."""
    subgraph, index = place
    label = label_of(Draft(replace(model, subgraphs=(model.subgraphs[subgraph],), signatures=())), index)
    return f"{label} of subgraph {subgraph}" if subgraph else label


def _outputs(model: Model) -> list[tuple[int, ...]]:
    """Return what each operator writes, which tells their order."""
    return [tuple(operator.output_tensors) for operator in model.subgraphs[0].operators]
