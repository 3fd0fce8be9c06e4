"""The bound: no rewriting makes the head smaller, because one operator that no pass can split needs that much."""

from __future__ import annotations

from collections.abc import Sequence

from tflm_sim.extensions.shrink.channel_rules import is_channelwise
from tflm_sim.extensions.shrink.contracts import promised
from tflm_sim.extensions.shrink.kernel_use import use_of
from tflm_sim.extensions.shrink.passes import label_of
from tflm_sim.extensions.shrink.profile import Profile
from tflm_sim.extensions.shrink.shrunk import Bound
from tflm_sim.extensions.shrink.tile_rules import rule
from tflm_sim.model.draft import Draft
from tflm_sim.model.types import Operator
from tflm_sim.targets.kernel_library import KernelLibrary


def bound(draft: Draft, facts: Profile, libraries: Sequence[KernelLibrary], kinds: Sequence[str]) -> Bound:
    """Return the largest single operator's live bytes that no split can go below, and the tail.

    An operator that no pass can run in parts has all of its inputs, outputs and scratch alive at once; one whose
    tensors a plan may put on the same bytes has the largest of them.

    Args:
        draft: The model before it is split.
        facts: The model's profile.
        libraries: The kernel library of each target.
        kinds: The kinds of contracts that a plan may use.
    """
    largest = (sum(facts.bytes.get(tensor, 0) for tensor in draft.inputs), -1)
    for index, operator in enumerate(draft.operators):
        if not (any(rule(draft, operator, axis) is not None for axis in (1, 2)) or is_channelwise(draft, operator)):
            sizes = [facts.bytes.get(tensor, 0) for tensor in set(operator.named_tensors)]
            alive = max(sizes, default=0) if _may_share(draft, operator, libraries, kinds) else sum(sizes)
            largest = max(largest, (alive + facts.scratch[index], index))
    head, where = largest
    return Bound(head, label_of(draft, where) if where >= 0 else "the inputs", facts.tail_bytes)


def _may_share(draft: Draft, operator: Operator, libraries: Sequence[KernelLibrary], kinds: Sequence[str]) -> bool:
    """Return whether a plan may put an operator's tensors on the same bytes."""
    if not operator.outputs:
        return False
    use = use_of(draft.name(operator), operator, draft.tensors)
    return any(promised(use, kind, libraries) for kind in kinds)
