"""TFLite's ``Subgraph``: nodes are added, prepared, given memory, perhaps handed to a delegate, and run.

Memory is planned up to the first node whose outputs only the running model can size (*dynamic* tensors); the rest is
planned when ``invoke`` gets there::

    execution plan    0    1    2*   3    4        2 makes a dynamic output
    allocate_tensors  [prepare, plan]
    invoke            run  run  run  [prepare, plan]  run  run

Source: tflite/core/subgraph.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from tflm_sim.errors import PrepareError, SimulatedFailure, UnsupportedOpError
from tflm_sim.lite.arena_planner import ArenaPlanner
from tflm_sim.lite.delegates import Delegate, DelegateParams
from tflm_sim.lite.graph_info import RESIZABLE, AllocationType, Graph, Node, Registration, Tensor, present
from tflm_sim.lite.op_resolver import unresolved_op_error
from tflm_sim.lite.partition import partition
from tflm_sim.lite.tensor_bytes import bytes_required
from tflm_sim.model.types import TensorType

_CONTROL_FLOW = ("IF", "WHILE", "CALL_ONCE")


class Subgraph(Graph):
    """One subgraph of an interpreter (mutable).

    Attributes:
        index: Its number in the model.
        preserves_all_tensors: Whether every tensor keeps its bytes until the end of an invocation.
        planner: Where tensors are; None until they are allocated.
    """

    def __init__(self, *, index: int = 0, preserves_all_tensors: bool = False) -> None:
        super().__init__()
        self.index = index
        self.preserves_all_tensors = preserves_all_tensors
        self.planner: ArenaPlanner | None = None
        self._is_invokable = False
        self._next_to_prepare = 0
        self._next_to_plan = 0
        self._was_resized = False
        self._original_plan: list[int] | None = None

    def add_tensor(self, tensor: Tensor) -> int:
        """Append a tensor and return its index; a kernel's Prepare adds its temporaries this way."""
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def add_node(
        self,
        registration: Registration,
        inputs: tuple[int, ...],
        outputs: tuple[int, ...],
        *,
        intermediates: tuple[int, ...] = (),
        options: Mapping[str, Any] | None = None,
        init_data: Any = None,
    ) -> int:
        """Append a node to the graph and to the execution plan, and return its index.

        Args:
            registration: What runs it; its ``init`` is called with ``init_data``.
            inputs: Tensor indices, -1 for an optional tensor that is absent.
            outputs, intermediates: Tensor indices.
            options: The builtin options. A node that has any must not write its inputs; custom operators may.
            init_data: A custom operator's options (bytes), or the parameters of a delegate's node.

        Raises:
            PrepareError: A tensor does not exist, or is both input and output.
        """
        self._is_invokable = False
        self._check_indices("node inputs", inputs)
        self._check_indices("node outputs", outputs)
        if options:
            _check_overlap(inputs, outputs)
        node = Node(inputs, outputs, intermediates=intermediates, registration=registration, options=options or {})
        if registration.op == "CUSTOM":
            node.custom_options = init_data
        if registration.init is not None:
            node.user_data = registration.init(self, init_data)
        node.might_have_side_effect = registration.op in _CONTROL_FLOW or any(
            self.tensors[index].type == TensorType.RESOURCE for index in present(inputs + outputs)
        )
        self.nodes.append(node)
        self.execution_plan.append(len(self.nodes) - 1)
        return self.execution_plan[-1]

    def _check_indices(self, label: str, indices: tuple[int, ...]) -> None:
        for index in present(indices):
            if not 0 <= index < len(self.tensors):
                message = f"Invalid tensor index {index} in {label}. The subgraph has {len(self.tensors)} tensors\n"
                raise PrepareError(message.strip(), device_message=message)

    @property
    def nodes_with_unknown_memory(self) -> tuple[int, ...]:
        """The nodes of the execution plan whose Prepare may change memory upstream and is not modelled here."""
        return tuple(
            index
            for index in self.execution_plan
            if self.nodes[index].registration.changes_memory and self.nodes[index].registration.prepare is None
        )

    def allocate_tensors(self) -> None:
        """Prepare the nodes and give the tensors their bytes; variables become zero.

        Raises:
            PrepareError: A custom operator that nobody registered, or a kernel refuses its node.
            PlanningError: The arena refuses a tensor.
        """
        if self._is_invokable and not self._has_dynamic(self.inputs):
            if self.planner is not None and not self.planner.has_nonpersistent_memory:
                self.planner.acquire_nonpersistent_memory()
            return
        self._next_to_prepare = self._next_to_plan = 0
        if self.planner is not None:
            self.planner.reset_allocations()
        self._prepare_ops_and_tensors()
        self._is_invokable = True
        self.reset_variable_tensors()

    def _prepare_ops_and_tensors(self) -> None:
        last = self._prepare_ops(self._next_to_prepare)
        self._next_to_prepare = last + 1
        if self.planner is None:
            self.planner = ArenaPlanner(self, preserves_all_tensors=self.preserves_all_tensors)
            self.planner.plan_allocations()
        self.planner.execute_allocations(self._next_to_plan, last)
        self._next_to_plan = last + 1

    def _prepare_ops(self, first: int) -> int:
        """Prepare nodes until one makes a dynamic output; return the last one's place in the execution plan, or 0."""
        last = 0
        for last in range(first, len(self.execution_plan)):
            node = self.nodes[self.execution_plan[last]]
            if node.registration.is_unresolved:
                raise unresolved_op_error(node.registration)
            if node.registration.prepare is not None:
                node.registration.prepare(self, node)
            if self._has_dynamic(node.outputs):
                break
        return last

    def _has_dynamic(self, indices: tuple[int, ...]) -> bool:
        return any(self.tensors[index].allocation_type is AllocationType.DYNAMIC for index in present(indices))

    def resize_tensor(self, index: int, shape: tuple[int, ...]) -> None:
        """Set a tensor's shape, as kernels do; a dynamic tensor gets new bytes, an arena tensor loses its place.

        Raises:
            PrepareError: It is a constant, or no size follows from its type.
        """
        tensor = self.tensors[index]
        if tensor.shape == shape and (tensor.data is not None or tensor.offset is not None):
            return
        if tensor.allocation_type not in RESIZABLE:
            message = "Attempting to resize a fixed-size tensor."
            raise PrepareError(f"tensor {index}: {message}", device_message=message)
        self._was_resized = True
        tensor.size = bytes_required(tensor.type, shape)
        tensor.shape = shape
        tensor.offset = None
        if tensor.allocation_type in (AllocationType.DYNAMIC, AllocationType.PERSISTENT_RO):
            tensor.data = bytearray(tensor.size)

    def reset_variable_tensors(self) -> None:
        """Fill the variables with zeros, those of type INT8 with their zero point."""
        for index in self.variables:
            memory = self.data(index)
            if memory is not None:
                memory[:] = bytes([self.tensors[index].reset_value]) * len(memory)

    def data(self, index: int) -> memoryview | None:
        """Return a tensor's bytes, None while it has none; the view is stale after the next allocation."""
        tensor = self.tensors[index]
        if tensor.data is not None:
            return memoryview(tensor.data)
        if tensor.offset is None or self.planner is None:
            return None
        is_persistent = tensor.allocation_type is AllocationType.ARENA_RW_PERSISTENT
        arena = self.planner.persistent_arena if is_persistent else self.planner.arena
        return memoryview(arena.buffer)[tensor.offset : tensor.offset + tensor.size]

    def invoke(self) -> None:
        """Run the execution plan on the bytes of the arena.

        Raises:
            PrepareError: Tensors are not allocated, or an input of a node has no bytes.
            UnsupportedOpError: A registration without a kernel.
        """
        if not self._is_invokable or self.planner is None:
            message = "Invoke called on model that is not ready."
            raise PrepareError(message, device_message=message)
        if not self.planner.has_nonpersistent_memory:
            message = "Non-persistent memory is not available."
            raise PrepareError(message, device_message=message)
        for place in range(len(self.execution_plan)):
            if place == self._next_to_prepare:
                self._prepare_ops_and_tensors()
            self._invoke_node(place)

    def _invoke_node(self, place: int) -> None:
        index = self.execution_plan[place]
        node = self.nodes[index]
        for tensor in present(node.inputs):
            if self.tensors[tensor].size and self.data(tensor) is None:
                message = f"Input tensor {tensor} lacks data"
                raise PrepareError(message, device_message=message)
        if node.registration.invoke is None:
            name = node.registration.name
            raise UnsupportedOpError(f"{name} has no kernel to run", op=name, subgraph=self.index, node=index)
        self._was_resized = False
        node.registration.invoke(self, node)
        if self._was_resized and self._has_dynamic(node.outputs):
            self._plan_again_after(place)

    def _plan_again_after(self, place: int) -> None:
        """Prepare what follows a node again, because one of its dynamic outputs has a new size."""
        assert self.planner is not None, "a subgraph that runs has a planner"
        self._next_to_prepare = place + 1
        if self._next_to_plan > self._next_to_prepare:
            self._next_to_plan = self._next_to_prepare
            self.planner.reset_allocations_after(place)

    def modify_graph_with_delegate(self, delegate: Delegate) -> None:
        """Let a delegate take the nodes that it supports; tensors are then allocated, where they can be.

        Raises:
            PrepareError: The graph has dynamic tensors and the delegate does not know them.
            SimulatedFailure: The delegate fails; the execution plan is then the one without any delegate.
        """
        if not delegate.allows_dynamic_tensors:
            self._refuse_dynamic_tensors(delegate)
        if self._original_plan is None:
            self._original_plan = list(self.execution_plan)
        was_invokable, self._is_invokable = self._is_invokable, False
        try:
            delegate.prepare(self)
            self.planner = None
            if was_invokable or not delegate.allows_dynamic_tensors:
                self.allocate_tensors()
        except SimulatedFailure:
            self._remove_all_delegates()
            raise

    def _refuse_dynamic_tensors(self, delegate: Delegate) -> None:
        last = self._prepare_ops(0)
        dynamic = [self.outputs, *(self.nodes[index].outputs for index in self.execution_plan[: last + 1])]
        if any(map(self._has_dynamic, dynamic)):
            message = (
                "Attempting to use a delegate that only supports static-sized tensors with a graph that has "
                "dynamic-sized tensors"
            )
            raise PrepareError(f"{delegate.name}: {message}", device_message=message)

    def _remove_all_delegates(self) -> None:
        assert self._original_plan is not None, "a delegate was applied"
        self.execution_plan = self._original_plan
        self._original_plan = None
        self.planner = None
        self._is_invokable = False
        for tensor in self.tensors:
            tensor.delegate = None

    def replace_node_subsets_with_delegate_kernels(
        self, registration: Registration, delegated: Collection[int], delegate: Delegate
    ) -> None:
        """Put one node in the place of each subset of ``delegated`` nodes; they stay in ``nodes`` but do not run.

        Raises:
            PrepareError: An output belongs to another delegate.
            PlanningError: A node does not exist, or the graph cannot run.
        """
        if not delegated:
            return
        subsets = partition(self, delegated, fuses_nodes=not self.preserves_all_tensors)
        self.execution_plan = []
        for subset in subsets:
            if not subset.is_delegated:
                self.execution_plan += subset.nodes
                continue
            params = DelegateParams(delegate, subset.nodes, subset.input_tensors, subset.output_tensors)
            index = self.add_node(registration, subset.input_tensors, subset.output_tensors, init_data=params)
            for output in subset.output_tensors:
                if self.tensors[output].delegate not in (None, delegate):
                    raise PrepareError(f"tensor {output} belongs to another delegate")
                self.tensors[output].delegate = delegate
            self.nodes[index].delegate = delegate


def _check_overlap(inputs: tuple[int, ...], outputs: tuple[int, ...]) -> None:
    for place, index in enumerate(inputs):
        if index in outputs:
            message = f"Tensor {index} is both input {place} and output {outputs.index(index)}\n"
            raise PrepareError(message.strip(), device_message=message)
