"""Delegates: something else that runs parts of a graph, each part as one node.

A delegate is asked once per subgraph (``prepare``): it looks at the execution plan, picks nodes, and has their subsets
replaced by nodes of its own, whose ``user_data`` says what they stand for.

Source: tflite/core/c/common.h, tflite/delegates/utils/simple_delegate.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import IntFlag
from typing import Any, Protocol

from tflm_sim.extensions.lite.graph_info import TfLiteNode, TfLiteRegistration
from tflm_sim.extensions.lite.op_resolver import is_flex_op

Kernel = Callable[[Any, TfLiteNode], None]


class DelegateFlags(IntFlag):
    """What a delegate can deal with (TfLiteDelegateFlags).

    ``REQUIRES_PROPAGATED_SHAPES`` has the nodes prepared that it replaced, too; it needs ``ALLOWS_DYNAMIC_TENSORS``.
    ``HINTS_FULL_DELEGATION`` spares a static delegate that takes all nodes the preparation of the graph.
    """

    NONE = 0
    ALLOWS_DYNAMIC_TENSORS = 1
    REQUIRES_PROPAGATED_SHAPES = 2
    HINTS_FULL_DELEGATION = 8


class Delegable(Protocol):
    """What a delegate needs from a subgraph."""

    @property
    def nodes(self) -> list[TfLiteNode]:
        """By node index."""

    @property
    def execution_plan(self) -> list[int]:
        """The indices of the nodes that run, in their order."""

    def replace_node_subsets_with_delegate_kernels(
        self, registration: TfLiteRegistration, delegated: Collection[int], delegate: Any
    ) -> None:
        """Put one node in the place of each subset of delegated nodes."""


class Delegate(Protocol):
    """What a subgraph needs from a delegate."""

    @property
    def name(self) -> str:
        """What logs call it."""

    @property
    def flags(self) -> DelegateFlags:
        """What it can deal with."""

    def prepare(self, subgraph: Delegable) -> None:
        """Have the nodes that it takes replaced."""


@dataclass(frozen=True, slots=True)
class DelegateParams:
    """What a delegate's node stands for (TfLiteDelegateParams): the ``user_data`` of the node.

    Attributes:
        delegate: Whose node it is.
        nodes_to_replace: The indices of the nodes that it runs, in their order.
        input_tensors: What it reads; ascending.
        output_tensors: What it writes that others read; ascending. All else that the nodes write stays inside.
    """

    delegate: Delegate
    nodes_to_replace: tuple[int, ...]
    input_tensors: tuple[int, ...]
    output_tensors: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SimpleDelegate:
    """A delegate that decides node by node.

    Attributes:
        name: The custom name of its nodes.
        supports: Whether it takes a node.
        invoke: Runs one of its nodes, None for a delegate that only plans.
        prepare_kernel: Prepares one of its nodes.
        flags: What it can deal with; nothing but static tensors as a rule.
    """

    name: str
    supports: Callable[[TfLiteNode], bool]
    invoke: Kernel | None = None
    prepare_kernel: Kernel | None = None
    flags: DelegateFlags = DelegateFlags.NONE

    def prepare(self, subgraph: Delegable) -> None:
        """Have every supported node of the execution plan replaced."""
        registration = TfLiteRegistration(
            "DELEGATE", self.name, init=_keep_params, prepare=self.prepare_kernel, invoke=self.invoke
        )
        delegated = [index for index in subgraph.execution_plan if self.supports(subgraph.nodes[index])]
        subgraph.replace_node_subsets_with_delegate_kernels(registration, delegated, self)


def flex_delegate(invoke: Kernel | None = None) -> SimpleDelegate:
    """Return a delegate that takes the custom operators whose names begin with "Flex": TensorFlow's own."""
    return SimpleDelegate(
        "TfLiteFlexDelegate",
        supports=lambda node: is_flex_op(node.registration),
        invoke=invoke,
        flags=DelegateFlags.ALLOWS_DYNAMIC_TENSORS,
    )


def _keep_params(_subgraph: object, params: DelegateParams) -> DelegateParams:
    return params
