"""``tflite::Subgraph``: nodes are added, prepared, given memory, perhaps handed to a delegate, and run.

Memory is planned up to the first node whose outputs only the running model can size (*dynamic* tensors); the rest is
planned when ``invoke`` gets there::

    execution plan    0    1    2*   3    4        2 makes a dynamic output
    allocate_tensors  [prepare, plan]
    invoke            run  run  run  [prepare, plan]  run  run

Source: tflite/core/subgraph.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tflm_sim.errors import PrepareError, SimulatedFailure, UnsupportedOpError
from tflm_sim.extensions.lite.arena_planner import ArenaPlanner
from tflm_sim.extensions.lite.delegates import Delegate, DelegateParams
from tflm_sim.extensions.lite.delegation import Delegation, State
from tflm_sim.extensions.lite.graph_info import (
    NO_TYPE,
    OPTIONAL_TENSOR,
    RESIZABLE,
    AllocationType,
    GraphInfo,
    TfLiteNode,
    TfLiteRegistration,
    TfLiteTensor,
    present,
)
from tflm_sim.extensions.lite.op_resolver import refused, unresolved_op_message
from tflm_sim.extensions.lite.partition import partition
from tflm_sim.extensions.lite.releases import DEFAULT_RELEASE
from tflm_sim.extensions.lite.shape_signature import check_signature, refused_at, tensor_at
from tflm_sim.extensions.lite.tensor_bytes import SIZE_UNKNOWN, bytes_required, ensure_room
from tflm_sim.model.types import TensorType

_CONTROL_FLOW = ("IF", "WHILE", "CALL_ONCE")


class TfLiteSubgraph(GraphInfo):
    """One subgraph of an interpreter (mutable).

    Attributes:
        index, name: Its number and its name in the model.
        preserves_all_tensors: Whether every tensor keeps its bytes until the end of an invocation.
        threads: The number of threads that kernels may use; some size their temporaries by it.
        release: The release of the runtime.
        siblings: All subgraphs of the model, itself included; control flow prepares them.
        reports: Messages without a failure, since they were last read.
        planner: Where tensors are; None until they are allocated.
        state: What may be done now.
        is_consistent: Whether all nodes of the file could be added.
        has_dynamic_tensors: Whether the last preparation met an output that only the running model sizes.
    """

    def __init__(
        self,
        *,
        index: int = 0,
        name: str = "",
        preserves_all_tensors: bool = False,
        threads: int = 1,
        release: str = DEFAULT_RELEASE,
    ) -> None:
        super().__init__()
        self.index = index
        self.name = name
        self.preserves_all_tensors = preserves_all_tensors
        self.threads = threads
        self.release = release
        self.siblings: Sequence[TfLiteSubgraph] = (self,)
        self.reports: list[str] = []
        self.planner: ArenaPlanner | None = None
        self.state = State.UNINVOKABLE
        self.is_consistent = True
        self.has_dynamic_tensors = False
        self._next_to_prepare = 0
        self._next_to_plan = 0
        self._was_resized = False
        self._delegation = Delegation()

    def add_tensor(self, tensor: TfLiteTensor) -> int:
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def add_tensors(self, count: int) -> int:
        """Append tensors that are nothing yet, for a kernel's temporaries, and return the first one's index."""
        first = len(self.tensors)
        self.tensors += [TfLiteTensor(0, AllocationType.MEM_NONE, type=NO_TYPE) for _ in range(count)]
        return first

    def add_node(
        self,
        registration: TfLiteRegistration,
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
            PrepareError: The graph is immutable, or a tensor does not exist or is both input and output.
        """
        if self.state is State.IMMUTABLE:
            raise refused("AddNodeWithParameters is disallowed when graph is immutable.")
        self.state = State.UNINVOKABLE
        self.check_indices("node inputs", inputs, len(self.tensors))
        self.check_indices("node outputs", outputs, len(self.tensors))
        if options is not None:
            self._check_overlap(inputs, outputs)
        node = TfLiteNode(
            inputs, outputs, intermediates=intermediates, registration=registration, options=options or {}
        )
        if registration.op == "CUSTOM":
            node.custom_options = init_data
        if registration.init is not None:
            node.user_data = registration.init(self, options if init_data is None else init_data)
        node.might_have_side_effect = registration.op in _CONTROL_FLOW or any(
            self.tensors[index].type == TensorType.RESOURCE for index in present(inputs + outputs)
        )
        self.nodes.append(node)
        self.execution_plan.append(len(self.nodes) - 1)
        return self.execution_plan[-1]

    def check_indices(self, label: str, indices: tuple[int, ...], count: int) -> None:
        """Refuse tensor indices that are neither -1 nor below ``count``; the graph is inconsistent from then on."""
        for index in present(indices):
            if not 0 <= index < count:
                message = f"Invalid tensor index {index} in {label}. The subgraph has {count} tensors\n"
                self.is_consistent = False
                raise PrepareError(message.strip(), device_message=message)

    def _check_overlap(self, inputs: tuple[int, ...], outputs: tuple[int, ...]) -> None:
        for place, index in enumerate(inputs):
            if index in outputs:
                message = f"Tensor {index} is both input {place} and output {outputs.index(index)}\n"
                self.is_consistent = False
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
            PrepareError: The graph is inconsistent, or a kernel refuses its node.
            PlanningError: The arena refuses a tensor.
        """
        if not self.is_consistent:
            raise refused("AllocateTensors() called on inconsistent model.")
        self._delegation.redo(self)
        if self.state is not State.UNINVOKABLE and not self._has_dynamic(self.inputs):
            if self.planner is not None and not self.planner.has_nonpersistent_memory:
                self.planner.acquire_nonpersistent_memory()
            return
        self._next_to_prepare = self._next_to_plan = 0
        if self.planner is not None:
            self.planner.reset_allocations()
        self._prepare_ops_and_tensors()
        self.state = State.INVOKABLE
        self.reset_variable_tensors()
        for index in set(self._delegation.original_plan) - set(self.execution_plan):
            for temporary in present(self.nodes[index].temporaries):
                tensor = self.tensors[temporary]
                tensor.size, tensor.data, tensor.offset = 0, None, None

    def _prepare_ops_and_tensors(self) -> None:
        if self._delegation.needs_shapes:
            self._prepare_plan(self._delegation.original_plan, self._next_to_prepare)
        last = self.prepare_ops(self._next_to_prepare)
        self._next_to_prepare = last + 1
        if self.planner is None:
            self.planner = ArenaPlanner(self, preserves_all_tensors=self.preserves_all_tensors)
            self.planner.plan_allocations()
        self.planner.execute_allocations(self._next_to_plan, last)
        self._next_to_plan = last + 1

    def prepare_ops(self, first: int) -> int:
        """Prepare nodes until one makes a dynamic output; return the last one's place in the execution plan, or 0."""
        return self._prepare_plan(self.execution_plan, first)

    def _prepare_plan(self, plan: Sequence[int], first: int) -> int:
        if first == 0:
            self.has_dynamic_tensors = self._has_dynamic(self.outputs)
        last = 0
        for last in range(first, len(plan)):
            is_unknown = self._prepare_node(plan[last])
            if is_unknown or self._has_dynamic(self.nodes[plan[last]].outputs):
                self.has_dynamic_tensors = True
                break
        return last

    def _prepare_node(self, index: int) -> bool:
        """Prepare one node; return whether its kernel says that it does not know its output's shape."""
        node = self.nodes[index]
        try:
            if node.registration.is_unresolved:
                raise refused(unresolved_op_message(node.registration))
            return node.registration.prepare is not None and bool(node.registration.prepare(self, node))
        except RecursionError as fault:
            message = "the process is aborted: a subgraph prepares itself without end"
            raise PrepareError(message, device_message="", status="abort") from fault
        except SimulatedFailure as failure:
            if failure.status == "abort":
                raise
            name = node.registration.custom_name or node.registration.op
            message = f"Node number {index} ({name}) failed to prepare."
            where = f"subgraph {self.index}, node {index}, {node.registration.name}"
            raise PrepareError(f"{where}: {failure}", device_message=failure.device_message + message) from failure

    def _has_dynamic(self, indices: tuple[int, ...]) -> bool:
        return any(self.tensors[index].allocation_type is AllocationType.DYNAMIC for index in present(indices))

    def resize_tensor(self, index: int, shape: tuple[int, ...]) -> None:
        """Set a tensor's shape by its index; see ``resize``."""
        self.resize(self.tensors[index], shape)

    def resize(self, tensor: TfLiteTensor, shape: tuple[int, ...]) -> None:
        """Set a tensor's shape, as kernels do; a dynamic tensor gets new bytes, an arena tensor loses its place.

        Raises:
            PrepareError: It is a constant, or no size follows from its type.
        """
        is_same = tensor.has_data and tensor.shape == shape
        if is_same and (tensor.type in SIZE_UNKNOWN or bytes_required(tensor.type, shape) == tensor.size):
            return
        self._resize(tensor, shape)

    def _resize(self, tensor: TfLiteTensor, shape: tuple[int, ...]) -> None:
        if tensor.allocation_type not in RESIZABLE:
            raise refused("Attempting to resize a fixed-size tensor.")
        self._was_resized |= tensor.shape != shape
        if tensor.type not in SIZE_UNKNOWN:
            tensor.size = bytes_required(tensor.type, shape)
            if tensor.allocation_type in (AllocationType.DYNAMIC, AllocationType.PERSISTENT_RO):
                ensure_room(tensor.size)
                tensor.data = bytearray(tensor.size) if tensor.size else None
        tensor.shape = shape
        if tensor.allocation_type in (AllocationType.ARENA_RW, AllocationType.ARENA_RW_PERSISTENT):
            tensor.offset = None

    def resize_input(self, index: int, shape: tuple[int, ...], *, strict: bool = False) -> None:
        """Set the shape of an input of the graph (ResizeInputTensor); tensors have to be allocated again.

        Args:
            index: A tensor.
            shape: Its new shape.
            strict: Whether only dimensions may change that are unknown in the file (ResizeInputTensorStrict).

        Raises:
            PrepareError: The graph is immutable, there is no such tensor, it is a constant, or ``strict`` forbids it.
        """
        if strict:
            check_signature(self.tensors, index, shape, self.release)
        if self.state is State.IMMUTABLE and not self.has_delegates:
            raise refused("ResizeInputTensor is disallowed when graph is immutable.")
        tensor = tensor_at(self.tensors, index, self.release)
        if tensor.has_data and tensor.shape == shape:
            return
        if self.state is State.IMMUTABLE:
            self._delegation.undo(self)
        self.state = State.UNINVOKABLE
        self._resize(tensor, shape)

    def remove_unused_inputs(self) -> None:
        """Forget the inputs that no node reads and that are no output; control flow does so with its subgraphs."""
        used = set(self.outputs).union(*(node.inputs for node in self.execution_nodes))
        for index in present(self.inputs):
            if index not in used:
                self.tensors[index].size = 0
        self.inputs = tuple(index if index in used else OPTIONAL_TENSOR for index in self.inputs)

    def reset_variable_tensors(self) -> None:
        """Fill variables with zeros, INT8 ones with their zero point; one without bytes ends that. Lent bytes stay."""
        for index in self.variables:
            memory, kind = self.data(index), self.tensors[index].allocation_type
            if kind is AllocationType.ARENA_RW_PERSISTENT and memory is None:
                refusal = refused_at("tensor.data.raw != nullptr", "", " was not true.", self.release)
                self.reports.append(refusal.device_message)
                return
            if kind not in (AllocationType.ARENA_RW_PERSISTENT, AllocationType.CUSTOM):
                found, wanted = (list(AllocationType).index(one) for one in (kind, AllocationType.CUSTOM))
                says = f" ({found} != {wanted})"
                refusal = refused_at("tensor.allocation_type", "kTfLiteCustom", says, self.release)
                self.reports.append(refusal.device_message)
                return
            if kind is AllocationType.ARENA_RW_PERSISTENT and memory is not None:
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
        if not self.is_consistent:
            raise refused("Invoke called on model that is not consistent.")
        if self.state is State.UNINVOKABLE or self.planner is None:
            raise refused("Invoke called on model that is not ready.")
        if not self.planner.has_nonpersistent_memory:
            raise refused("Non-persistent memory is not available.")
        for place in range(len(self.execution_plan)):
            if place == self._next_to_prepare:
                self._prepare_ops_and_tensors()
            self._invoke_node(place)

    def _invoke_node(self, place: int) -> None:
        index = self.execution_plan[place]
        node = self.nodes[index]
        for position, tensor in enumerate(node.inputs):
            if tensor != OPTIONAL_TENSOR and self._lacks_data(node, position, self.tensors[tensor]):
                raise refused(f"Input tensor {tensor} lacks data")
        if node.registration.invoke is None:
            name = node.registration.name
            raise UnsupportedOpError(f"{name} has no kernel to run", op=name, subgraph=self.index, node=index)
        self._was_resized = False
        try:
            node.registration.invoke(self, node)
        except SimulatedFailure as failure:
            name = node.registration.custom_name or node.registration.op
            message = f"Node number {index} ({name}) failed to invoke."
            raise PrepareError(f"{failure}; {message}", device_message=failure.device_message + message) from failure
        if self._was_resized and self._has_dynamic(node.outputs):
            self._plan_again_after(place)

    @staticmethod
    def _lacks_data(node: TfLiteNode, position: int, tensor: TfLiteTensor) -> bool:
        if tensor.has_data or not tensor.size or tensor.allocation_type is AllocationType.NON_CPU:
            return False
        return not (node.registration.op == "RESHAPE" and position == 1 and tensor.rank != 1)  # its shape is the value

    def _plan_again_after(self, place: int) -> None:
        """Prepare what follows a node again, because one of its dynamic outputs has a new size."""
        assert self.planner is not None, "a subgraph that runs has a planner"
        self._next_to_prepare = place + 1
        if self._next_to_plan > self._next_to_prepare:
            self._next_to_plan = self._next_to_prepare
            self.planner.reset_allocations_after(place)

    @property
    def has_delegates(self) -> bool:
        """Whether delegates were applied, even if they are undone for the moment."""
        return bool(self._delegation.applied)

    def modify_graph_with_delegate(self, delegate: Delegate) -> None:
        """Let a delegate take the nodes that it supports.

        Raises:
            PrepareError: The graph has dynamic tensors and the delegate, or an earlier one, does not know them.
            SimulatedFailure: The delegate fails; the execution plan is then the one without any delegate.
        """
        self._delegation.apply(self, delegate)

    def remove_all_delegates(self) -> None:
        """Run the original execution plan for good, and allocate."""
        self._delegation.remove_all(self)

    def ensure_memory_allocations(self) -> None:
        """Plan again, for the execution plan of the moment, and allocate."""
        if self.planner is not None:
            self.state = State.UNINVOKABLE
            self.planner.plan_allocations()
        self.allocate_tensors()

    def replace_node_subsets_with_delegate_kernels(
        self, registration: TfLiteRegistration, delegated: Collection[int], delegate: Delegate
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
                    text = "tensor->delegate == nullptr || tensor->delegate == delegate"
                    raise refused_at(text, "", " was not true.", self.release)
                self.tensors[output].delegate = delegate
            self.nodes[index].delegate = delegate
