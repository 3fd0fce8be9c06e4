"""What the resolver of a firmware must register, as part of a document."""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.document_types import Count
from tflm_sim.model.types import Model
from tflm_sim.ops.resolver import resolver_methods


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolverFacts:
    """What the resolver of a firmware must register.

    Attributes:
        count: The N of ``MicroMutableOpResolver<N>``.
        methods: Its methods, in the order in which the device looks for the operators.
        own: Custom operators that TFLM does not bring; the firmware registers them by AddCustom().
    """

    count: Count
    methods: tuple[str, ...]
    own: tuple[str, ...]


def resolver_facts(model: Model) -> ResolverFacts:
    methods, own = resolver_methods(model)
    return ResolverFacts(count=len(methods) + len(own), methods=methods, own=own)
