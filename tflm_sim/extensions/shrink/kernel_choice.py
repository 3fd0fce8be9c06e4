"""Another kernel of the same library for the same operator: one without scratch, or one that goes pixel by pixel.

Along an axis where the window has one tap, a dilation of 2 reads the same elements as one of 1; but CMSIS-NN's wrappers
choose their plain kernels for it. These give the same bytes, need less memory, and are slower.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from tflm_sim.extensions.shrink.contracts import CHOICE, OVERLAP, promises
from tflm_sim.extensions.shrink.counted_loops import Place, loop_parts
from tflm_sim.extensions.shrink.draft_facts import is_image, window
from tflm_sim.extensions.shrink.passes import Chooser, label_of
from tflm_sim.extensions.shrink.profile import Profile
from tflm_sim.extensions.shrink.shrunk import Edit
from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Model, Operator
from tflm_sim.targets.kernel_library import KernelLibrary

_OPTIONS = {1: "dilation_h_factor", 2: "dilation_w_factor"}


def drop_scratch(draft: Draft, facts: Profile, libraries: Sequence[KernelLibrary], choose: Chooser) -> list[Edit]:
    """Choose the plain kernel for depthwise convolutions that ask for scratch."""
    edits: list[Edit] = []
    for index, operator in enumerate(draft.operators):
        if draft.name(operator) != "DEPTHWISE_CONV_2D" or not facts.scratch[index]:
            continue
        other = dilated(draft, operator, libraries)
        if other is not None and choose():
            draft.operators[index] = other
            edits.append(Edit(label_of(draft, index), "is the same with a dilation along its single row or column"))
    return edits


def pixel_by_pixel(
    model: Model, libraries: Sequence[KernelLibrary], only: Container[Place] | None = None
) -> Model | None:
    """Return the model with kernels that go pixel by pixel where that takes a choice, None where nowhere.

    Args:
        model: Without a plan.
        libraries: Whose kernels run, a target each.
        only: The only operators to look at, each with its subgraph, None for all of the main subgraph and of loops.
    """
    chosen: dict[Place, Operator] = {}
    for subgraph, part in loop_parts(model):
        for index, operator in enumerate(part.operators):
            place = subgraph, index
            if part.name(operator) != "CONV_2D" or (only is not None and place not in only):
                continue
            other = dilated(part, operator, libraries)
            if other is None or promises(part, operator, OVERLAP, libraries):
                continue
            if promises(part, other, OVERLAP, libraries):
                chosen[place] = other
    return _with_operators(model, chosen) if chosen else None


def as_before(model: Model, before: Model, shared: Container[Place]) -> Model:
    """Return the model with the kernels of ``before``, but for the operators ``shared``."""
    chosen = {
        (subgraph, index): replace(operator, options=old.options)
        for subgraph, parts in enumerate(zip(model.subgraphs, before.subgraphs, strict=True))
        for index, (operator, old) in enumerate(zip(*(each.operators for each in parts), strict=True))
        if operator.options != old.options and (subgraph, index) not in shared
    }
    return _with_operators(model, chosen)


def _with_operators(model: Model, chosen: Mapping[Place, Operator]) -> Model:
    """Return the model with other operators in some places."""
    subgraphs = (
        replace(own, operators=tuple(chosen.get((number, at), each) for at, each in enumerate(own.operators)))
        for number, own in enumerate(model.subgraphs)
    )
    return replace(model, subgraphs=tuple(subgraphs))


def dilated(draft: Draft, operator: Operator, libraries: Sequence[KernelLibrary]) -> Operator | None:
    """Return the operator with a dilation of 2 along its axes of one tap, None where that is not the same."""
    images = all(is_image(draft, tensor) for tensor in operator.input_tensors[:2])
    if not images or not promises(draft, operator, CHOICE, libraries):
        return None
    windows = {option: window(draft, operator, axis) for axis, option in _OPTIONS.items()}
    if {each.dilation for each in windows.values()} != {1}:
        return None
    single = {option: 2 for option, each in windows.items() if each.kernel == 1}
    return replace(operator, options={**operator.options, **single}) if single else None
