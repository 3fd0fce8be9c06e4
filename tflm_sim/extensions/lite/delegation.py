"""What delegates do to a subgraph's state: they are applied, undone when an input is resized, and applied again.

A delegate that knows only static tensors leaves the graph allocated and *immutable*::

    UNINVOKABLE --allocate--> INVOKABLE
         |  static delegate        |  static delegate
         +------> IMMUTABLE <------+
                     | resize: the delegates are undone
                     v
                UNINVOKABLE --allocate: the delegates are applied again--> IMMUTABLE

Source: tflite/core/subgraph.cc ModifyGraphWithDelegateImpl, UndoAllDelegates, RedoAllDelegates
@ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Protocol

from tflm_sim.errors import PrepareError, SimulatedFailure
from tflm_sim.extensions.lite.delegates import Delegable, Delegate, DelegateFlags
from tflm_sim.extensions.lite.graph_info import TfLiteNode, TfLiteTensor
from tflm_sim.extensions.lite.op_resolver import refused

_RESTORED = "Restored original execution plan after delegate application failure."
_NO_DYNAMIC = "Cannot allow dynamic tensors due to previous delegation, resetting to original execution plan."
_NOT_FULLY = "Hint fully delegated to single delegate is set, but the graph is not fully delegated."
_STATIC_ONLY = (
    "Attempting to use a delegate that only supports static-sized tensors with a graph that has dynamic-sized tensors"
)


class State(Enum):
    """What may be done with a subgraph (Subgraph::State)."""

    UNINVOKABLE = "uninvokable"
    INVOKABLE = "invokable"
    IMMUTABLE = "invokable and immutable"


class Delegated(Delegable, Protocol):
    """The subgraph around a ``Delegation``."""

    state: State
    execution_plan: list[int]
    tensors: list[TfLiteTensor]

    @property
    def execution_nodes(self) -> list[TfLiteNode]:
        """The nodes that run, in their order."""

    @property
    def has_dynamic_tensors(self) -> bool:
        """Whether the last preparation met a dynamic output."""

    def prepare_ops(self, first: int) -> int:
        """Prepare nodes from a place of the execution plan on."""

    def ensure_memory_allocations(self) -> None:
        """Plan again and allocate."""


class Delegation:
    """The delegates of one subgraph (mutable).

    Attributes:
        applied: In their order, undone ones included.
        original_plan: The execution plan without delegates, empty while none is applied.
    """

    def __init__(self) -> None:
        self.applied: list[Delegate] = []
        self.original_plan: list[int] = []
        self._is_undone = False

    @property
    def needs_shapes(self) -> bool:
        """Whether the nodes that delegates replaced are prepared all the same."""
        flags = (delegate.flags for delegate in self.applied)
        return bool(self.original_plan) and any(DelegateFlags.REQUIRES_PROPAGATED_SHAPES & flag for flag in flags)

    def apply(self, graph: Delegated, delegate: Delegate) -> None:
        """Let a delegate take nodes.

        Raises:
            DelegationError: It failed; the graph has its original execution plan again.
            SimulatedFailure: The graph cannot be prepared, or has dynamic tensors that some delegate does not know.
        """
        self.redo(graph)
        before, is_hinted = graph.state, bool(delegate.flags & DelegateFlags.HINTS_FULL_DELEGATION)
        is_static = not delegate.flags & DelegateFlags.ALLOWS_DYNAMIC_TENSORS
        if graph.state is State.IMMUTABLE:
            graph.state = State.UNINVOKABLE
        elif is_static and not is_hinted:
            _refuse_dynamic_tensors(graph)
        if not self.applied:
            self.original_plan = list(graph.execution_plan)
        self._or_restore(graph, lambda: delegate.prepare(graph))
        if is_hinted and any(node.delegate is None for node in graph.execution_nodes):
            raise refused(_NOT_FULLY)
        if is_static:
            if not is_hinted:
                graph.state = State.UNINVOKABLE
                self._or_restore(graph, graph.ensure_memory_allocations)
            graph.state = State.IMMUTABLE
        else:
            self._plan_again(graph, before)
        self.applied.append(delegate)

    def _plan_again(self, graph: Delegated, before: State) -> None:
        """Give a graph its memory back after a delegate that takes dynamic tensors; ``before``: its state then."""
        if before is State.IMMUTABLE:
            self._or_restore(graph, lambda: graph.prepare_ops(0))
            if graph.has_dynamic_tensors:
                self.remove_all(graph)
                raise refused(_NO_DYNAMIC)
        if before in (State.IMMUTABLE, State.INVOKABLE):
            self._or_restore(graph, graph.ensure_memory_allocations)
        if before is State.IMMUTABLE:
            graph.state = State.IMMUTABLE

    def _or_restore(self, graph: Delegated, step: Callable[[], object]) -> None:
        try:
            step()
        except SimulatedFailure as failure:
            message = failure.device_message
            try:
                self.remove_all(graph)
            except SimulatedFailure as worse:
                raise PrepareError(str(worse), device_message=message + worse.device_message) from failure
            raise DelegationError(f"{failure}; {_RESTORED}", device_message=message + _RESTORED) from failure

    def undo(self, graph: Delegated) -> None:
        """Run the original execution plan again; the next allocation applies the delegates once more."""
        if not self.original_plan:
            return
        graph.execution_plan, self.original_plan = self.original_plan, []
        del graph.nodes[max(graph.execution_plan) + 1 :]
        for tensor in graph.tensors:
            tensor.delegate = None
        graph.state = State.UNINVOKABLE
        self._is_undone = True

    def redo(self, graph: Delegated) -> None:
        """Apply the delegates again that were undone."""
        if not self._is_undone:
            return
        self._is_undone = False
        delegates, self.applied = self.applied, []
        for delegate in delegates:
            self.apply(graph, delegate)

    def remove_all(self, graph: Delegated) -> None:
        """Undo the delegates for good, and allocate."""
        self.undo(graph)
        self.applied = []
        self._is_undone = False
        graph.ensure_memory_allocations()


class DelegationError(PrepareError):
    """A delegate failed, and the original execution plan is back (kTfLiteDelegateError)."""


def _refuse_dynamic_tensors(graph: Delegated) -> None:
    graph.prepare_ops(0)
    if graph.has_dynamic_tensors:
        graph.ensure_memory_allocations()
        raise PrepareError(_STATIC_ONLY, device_message="")  # a warning in the log, no report
