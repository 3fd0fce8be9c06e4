"""Another kernel of the same library for the same operator: one without scratch, or one that goes pixel by pixel.

Along an axis where the window has one tap, a dilation of 2 reads the same elements as one of 1; but CMSIS-NN's wrappers
choose their plain kernels for it. These give the same bytes, need less memory, and are slower.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Model, Operator
from tflm_sim.shrinking.contracts import CHOICE, DIAGONAL, promises
from tflm_sim.shrinking.graph import is_image, window
from tflm_sim.shrinking.passes import Chooser, label_of
from tflm_sim.shrinking.profile import Profile
from tflm_sim.shrinking.shrunk import Witness
from tflm_sim.targets.kernel_library import KernelLibrary
from tflm_sim.values import replace

_OPTIONS = {1: "dilation_h_factor", 2: "dilation_w_factor"}


def drop_scratch(draft: Draft, facts: Profile, libraries: Sequence[KernelLibrary], choose: Chooser) -> list[Witness]:
    """Choose the plain kernel for depthwise convolutions that ask for scratch."""
    witnesses: list[Witness] = []
    for index, operator in enumerate(draft.operators):
        if draft.name(operator) != "DEPTHWISE_CONV_2D" or not facts.scratch[index]:
            continue
        other = dilated(draft, operator, libraries)
        if other is not None and choose():
            draft.operators[index] = other
            witnesses.append(
                Witness(label_of(draft, index), "is the same with a dilation along its single row or column")
            )
    return witnesses


def pixel_by_pixel(
    model: Model, libraries: Sequence[KernelLibrary], only: frozenset[int] | None = None
) -> Model | None:
    """Return the model with kernels that go pixel by pixel where that takes a choice, None where nowhere.

    Args:
        model: Without a plan.
        libraries: Whose kernels run, a target each.
        only: The only operators to look at, None for all.
    """
    draft = Draft(model)
    changed = False
    for index, operator in enumerate(draft.operators):
        if draft.name(operator) != "CONV_2D" or (only is not None and index not in only):
            continue
        other = dilated(draft, operator, libraries)
        if other is None or promises(draft, operator, DIAGONAL, libraries):
            continue
        if promises(draft, other, DIAGONAL, libraries):
            draft.operators[index] = other
            changed = True
    return draft.model() if changed else None


def as_before(model: Model, before: Model, shared: Iterable[int]) -> Model:
    """Return the model with the kernels of ``before``, but for the operators ``shared``."""
    kept = frozenset(shared)
    draft = Draft(model)
    for index, operator in enumerate(before.subgraphs[0].operators):
        if index not in kept:
            draft.operators[index] = replace(draft.operators[index], options=operator.options)
    return draft.model()


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
