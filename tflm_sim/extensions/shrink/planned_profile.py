"""The profile of a model that gets a plan: how full the head is at each operator where tensors share bytes.

Splits that only pay with a plan are found on it. It is an estimate, as every profile: what a split gives is planned,
simulated and verified.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tflm_sim.extensions.shrink.aliases import find_aliases
from tflm_sim.extensions.shrink.contracts import COPY, IN_PLACE, OVERLAP, promises
from tflm_sim.extensions.shrink.draft_facts import element_size
from tflm_sim.extensions.shrink.kernel_choice import dilated
from tflm_sim.extensions.shrink.layout import layout_of
from tflm_sim.extensions.shrink.overlap import needed_distance
from tflm_sim.extensions.shrink.profile import Profile, profile
from tflm_sim.extensions.shrink.target_sizer import TargetSizer
from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Operator
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.targets.kernel_library import KernelLibrary
from tflm_sim.units import align_up


def planned_profile(draft: Draft, sizer: TargetSizer, *, kernel_order: bool) -> Profile:
    """Return the profile of a draft on the first target, as a plan makes it.

    Args:
        draft: Of a model without a plan.
        sizer: Sizes it.
        kernel_order: Whether outputs may lie below their inputs.
    """
    model = draft.model()
    facts = profile(draft, sizer.simulate(model))
    gaps = [_gap(draft, operator, sizer.libraries, kernel_order=kernel_order) for operator in draft.operators]
    live = list(facts.live)
    for index, gap in enumerate(gaps):
        if gap is not None:
            live[index] -= _shared(draft, facts, index, gap)
    views: dict[int, dict[int, int]] = {}
    for alias in find_aliases(draft, layout_of(model, sizer.measure_all(model)).alive, sizer.libraries):
        if alias.kind == COPY:
            views.setdefault(alias.operator, {})[alias.child] = facts.bytes.get(alias.child, 0)
    for index, parts in views.items():
        live[index] -= sum(parts.values())
    return replace(facts, live=live, gaps=gaps, head=max(live, default=0))


def _gap(draft: Draft, operator: Operator, libraries: Sequence[KernelLibrary], *, kernel_order: bool) -> int | None:
    """Return the bytes that an operator's input must lie above its output, None where they may not share any."""
    size = _common_size(draft, operator)
    if size is None or promises(draft, operator, IN_PLACE, libraries):
        return size and 0
    choices = (operator, dilated(draft, operator, libraries)) if kernel_order else ()
    in_order = (each for each in choices if each is not None and promises(draft, each, OVERLAP, libraries))
    distance = next((needed_distance(draft, each) for each in in_order), None)
    return None if distance is None else align_up(distance * size, BUFFER_ALIGNMENT)


def _common_size(draft: Draft, operator: Operator) -> int | None:
    """Return the bytes of an element of an operator's first input and output, None where they have not the same."""
    source, output = (*operator.input_tensors, -1)[0], (*operator.output_tensors, -1)[0]
    sizes = {element_size(draft, tensor) if tensor >= 0 else None for tensor in (source, output)}
    return sizes.pop() if len(sizes) == 1 else None


def _shared(draft: Draft, facts: Profile, index: int, gap: int) -> int:
    """Return the bytes that an operator's output shares with inputs that nobody reads behind it."""
    operator = draft.operators[index]
    dying = [facts.bytes[t] for t in set(operator.input_tensors) if facts.dies.get(t) == index and t in facts.bytes]
    return max(0, min(max(dying, default=0), facts.bytes.get(operator.output_tensors[0], 0) - gap))
