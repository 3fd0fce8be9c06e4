"""The bound: what no rewriting of ours goes below, because one operator that no pass runs in parts needs it."""

from __future__ import annotations

from collections.abc import Sequence

from tflm_sim.model.draft import Draft
from tflm_sim.shrinking import channels
from tflm_sim.shrinking.contracts import promised, use_of
from tflm_sim.shrinking.passes import label_of
from tflm_sim.shrinking.profile import Profile
from tflm_sim.shrinking.shrunk import Bound
from tflm_sim.shrinking.stripe_rules import rule
from tflm_sim.targets.kernel_library import KernelLibrary


def bound(draft: Draft, facts: Profile, libraries: Sequence[KernelLibrary], kinds: Sequence[str]) -> Bound:
    """Return the largest single operator's live bytes that no split can go below.

    An operator that no pass can run in parts has all of its inputs, outputs and scratch alive at once; one whose
    tensors a plan may put on the same bytes has the largest of them.

    Args:
        draft: The model as it is before it is split.
        facts: Its profile.
        libraries: Whose kernels run, a target each.
        kinds: Of the contracts that a plan may use.
    """
    largest = (sum(facts.bytes[tensor] for tensor in draft.inputs if tensor in facts.bytes), -1)
    for index, operator in enumerate(draft.operators):
        if any(rule(draft, operator, axis) is not None for axis in (1, 2)) or channels.is_channelwise(draft, operator):
            continue
        sizes = [facts.bytes[tensor] for tensor in set(operator.named_tensors) if tensor in facts.bytes]
        use = use_of(draft.name(operator), operator, draft.tensors) if operator.outputs else None
        may_share = use is not None and any(promised(use, kind, libraries) for kind in kinds)
        alive = max(sizes, default=0) if may_share else sum(sizes)
        largest = max(largest, (alive + facts.scratch[index], index))
    head, where = largest
    return Bound(head, label_of(draft, where) if where >= 0 else "the inputs")
