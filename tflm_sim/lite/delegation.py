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

from enum import Enum
from typing import Any, Protocol

from tflm_sim.errors import PrepareError, SimulatedFailure
from tflm_sim.lite.delegates import Delegable, Delegate
from tflm_sim.lite.graph_info import Tensor

_RESTORED = "Restored original execution plan after delegate application failure."
_NO_DYNAMIC = "Cannot allow dynamic tensors due to previous delegation, resetting to original execution plan."
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
    tensors: list[Tensor]
    planner: Any

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
    """

    def __init__(self) -> None:
        self.applied: list[Delegate] = []
        self._original_plan: list[int] | None = None
        self._is_undone = False

    def apply(self, graph: Delegated, delegate: Delegate) -> None:
        """Let a delegate take nodes; a failure restores the original execution plan.

        Raises:
            SimulatedFailure: The delegate fails, or dynamic tensors forbid it.
        """
        self.redo(graph)
        before = graph.state
        if graph.state is State.IMMUTABLE:
            graph.state = State.UNINVOKABLE
        elif not delegate.allows_dynamic_tensors:
            _refuse_dynamic_tensors(graph, delegate)
        if self._original_plan is None:
            self._original_plan = list(graph.execution_plan)
        try:
            delegate.prepare(graph)
            _settle(graph, delegate, before)
        except _KeepsPlanError as failure:
            self._remove_all(graph)
            raise refused(failure.device_message) from failure
        except SimulatedFailure as failure:
            self._remove_all(graph)
            raise PrepareError(
                f"{failure}; {_RESTORED}", device_message=failure.device_message + _RESTORED
            ) from failure
        self.applied.append(delegate)

    def undo(self, graph: Delegated) -> None:
        """Run the original execution plan again."""
        if self._original_plan is None:
            return
        graph.execution_plan, self._original_plan = self._original_plan, None
        del graph.nodes[max(graph.execution_plan, default=-1) + 1 :]
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

    def _remove_all(self, graph: Delegated) -> None:
        self.undo(graph)
        self.applied = []
        self._is_undone = False
        graph.ensure_memory_allocations()


class _KeepsPlanError(PrepareError):
    """A delegate was applied in a state that forbids it."""


def _settle(graph: Delegated, delegate: Delegate, before: State) -> None:
    """Leave the graph in the state that it had before a delegate took nodes, or make it immutable."""
    if not delegate.allows_dynamic_tensors:
        graph.ensure_memory_allocations()
        graph.state = State.IMMUTABLE
    elif before is State.IMMUTABLE:
        graph.prepare_ops(0)
        if graph.has_dynamic_tensors:
            raise _KeepsPlanError(_NO_DYNAMIC, device_message=_NO_DYNAMIC)
        graph.ensure_memory_allocations()
        graph.state = State.IMMUTABLE
    elif before is State.INVOKABLE:
        graph.ensure_memory_allocations()
    else:
        graph.planner = None


def _refuse_dynamic_tensors(graph: Delegated, delegate: Delegate) -> None:
    graph.prepare_ops(0)
    if graph.has_dynamic_tensors:
        graph.ensure_memory_allocations()
        raise PrepareError(f"{delegate.name}: {_STATIC_ONLY}", device_message=_STATIC_ONLY)


def refused(message: str) -> PrepareError:
    """Return the error of a runtime that says ``message``."""
    return PrepareError(message.strip(), device_message=message)
