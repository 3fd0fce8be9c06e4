"""``MicroInterpreter::AllocateTensors``: one model on one allocator, phase by phase.

    start -> parse all (builtin data) -> init all -> prepare each -> finish (plan) -> inputs -> outputs -> reset

Source: tensorflow/lite/micro/micro_interpreter.cc, micro_interpreter_graph.cc, micro_op_resolver.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tflm_sim.arena.events import OpEvent, Phase
from tflm_sim.arena.measuring_arena import MeasuringArena
from tflm_sim.arena.stages import Stage
from tflm_sim.device.kernel_driver import KernelDriver
from tflm_sim.device.micro_allocator import MicroAllocator
from tflm_sim.device.model_allocation import ModelAllocation, take_persistent
from tflm_sim.errors import ArenaOverflowError, PlanningError, PrepareError, SimulatedFailure
from tflm_sim.graph.lifetimes import byte_length
from tflm_sim.graph.outline import outlines
from tflm_sim.graph.resource_variables import ResourceVariables
from tflm_sim.model.schema import BUILTIN_OPERATORS, builtin_operator_code, builtin_operator_name
from tflm_sim.model.types import Model, OperatorCode
from tflm_sim.ops.custom_operators import remedy
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference import check_that_nothing_models
from tflm_sim.ops.roles import StructInit
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.recorded import RecordedAllocationType
from tflm_sim.targets.changes import LAST_OPERATORS

if TYPE_CHECKING:
    from tflm_sim.device.prepare_cache import PrepareCache

CUSTOM = builtin_operator_code("CUSTOM")
_NO_BUILTIN_DATA = "Failed to allocate memory for builtin_data\n"
_BUILTIN_NAMES = frozenset(BUILTIN_OPERATORS)


class MicroInterpreter:
    """Allocates one model (mutable).

    Args:
        model: The model.
        allocator: The allocator; it may have allocated other models already.
        registrations: The kernels that the firmware links, by operator name.
        resource_variables: The table of resource variables that the firmware made for the model, or None.
        cache: The Prepares that need not be run again in an arena that only measures; None to run them all.
    """

    def __init__(
        self,
        model: Model,
        allocator: MicroAllocator,
        registrations: Mapping[str, OpModel],
        resource_variables: ResourceVariables | None = None,
        cache: PrepareCache | None = None,
    ) -> None:
        self.model = model
        self.allocator = allocator
        self.registrations = registrations
        self.resource_variables = resource_variables
        self._cache = cache
        self.allocation: ModelAllocation | None = None
        self.nodes: list[tuple[Node, OpModel]] = []

    def allocate_tensors(self) -> None:
        """Do all that ``AllocateTensors()`` does with the arena, in four steps that can also be taken one by one.

        Raises:
            SimulatedFailure: It fails on the device; the device's lines were logged.
        """
        driver = self.start()
        self.init(driver)
        self.prepare(driver)
        self.finish()

    def start(self) -> KernelDriver:
        """Allocate what every model needs, and parse the operators; return the driver of their kernels."""
        if not self.model.subgraphs:
            raise PrepareError("the model has no subgraph: the device reads other memory", status="abort")
        parses = not self._has("several_subgraphs")
        if parses and len(self.model.subgraphs) != 1:
            self._log("Only 1 subgraph is currently supported.\n")  # The allocator says it once more.
        try:
            allocation = self.allocation = self.allocator.start_model_allocation(self.model)
            allocation.is_as_filed = self.resource_variables is None
            if parses:
                self._parse(allocation)
        except SimulatedFailure as error:
            if error.status == "error":
                self._log("Failed starting model allocation.\n")
            raise
        if not parses:
            self._parse(allocation)
        return KernelDriver(self.allocator, allocation)

    def _started(self) -> ModelAllocation:
        assert self.allocation is not None, "start() comes first"
        return self.allocation

    def finish(self) -> None:
        """Plan, and allocate the input and output tensors.

        Versions whose ``AllocateTensors()`` leaves those out make the first of each in ``input(0)`` and ``output(0)``,
        which a firmware calls next: these are counted.
        """
        allocation = self._started()
        self.allocator.finish_model_allocation(allocation)
        for role, tensors in (("input", self.model.subgraphs[0].inputs), ("output", self.model.subgraphs[0].outputs)):
            if self._has("io_tensors"):
                self._allocate_io_pointers(role, tensors)
            self._allocate_io(allocation, role, (tensors or ()) if self._has("io_tensors") else (tensors or ())[:1])
        self.allocator.arena.tell(Phase, Stage.RESET)
        self._reset_variables(allocation)
        self.allocator.arena.tell(Phase, Stage.DONE)

    def _log(self, message: str) -> None:
        self.allocator.arena.log(message)

    def _has(self, change: str) -> bool:
        return self.allocator.target.runtime.has(change)

    def _refuse(self, message: str, *, reason: str = "", where: str = "") -> PrepareError:
        self._log(message)
        return PrepareError(reason or message.strip(), device_message=message, where=where)

    # -- registration and builtin data ------------------------------------------------------------------------------

    def _parse(self, allocation: ModelAllocation) -> None:
        codes = self.model.operator_codes
        found: dict[int, tuple[str, OpModel]] = {}
        for subgraph_index, subgraph in enumerate(self.model.subgraphs):
            for index, operator in enumerate(subgraph.operators):
                if operator.opcode_index not in found:
                    where = f"registration of operator #{index} in subgraph {subgraph_index}"
                    found[operator.opcode_index] = self._registration(operator.opcode_index, where)
                name, op_model = found[operator.opcode_index]
                allocation.op_names[subgraph_index].append(name)
                node = Node(
                    model=self.model,
                    target=self.allocator.target,
                    subgraph_index=subgraph_index,
                    index=index,
                    op=name,
                    subgraph_tensors=allocation.subgraph_tensors,
                    compressed_tensors=allocation.compressed_tensors[subgraph_index],
                    resource_variables=self.resource_variables,
                )
                self.nodes.append((node, op_model))
                if codes[operator.opcode_index].builtin_code != CUSTOM:
                    self._parse_builtin(allocation, node, op_model)

    def _registration(self, opcode_index: int, where: str) -> tuple[str, OpModel]:
        if opcode_index >= len(self.model.operator_codes):
            raise self._refuse(f"Missing registration for opcode_index {opcode_index}\n", where=where)
        code = self.model.operator_codes[opcode_index]
        builtin = builtin_operator_name(code.builtin_code)
        name = (code.custom_code or "").partition("\0")[0] if code.builtin_code == CUSTOM else builtin
        op_model = self.registrations.get(name)
        # A custom operator is looked for among the custom ones alone.
        if op_model is not None and (name in _BUILTIN_NAMES) == (code.builtin_code != CUSTOM):
            return name, op_model
        raise self._refuse_operator(code, name, builtin, where)

    def _refuse_operator(self, code: OperatorCode, name: str, builtin: str, where: str) -> PrepareError:
        """Log what TFLM prints about an operator that has no kernel."""
        check_that_nothing_models(name)
        if code.builtin_code > self._last_operator():
            builtin = ""
            hint = "" if self._has("resolver_of_its_own") else " Are you using old TFLite binary with newer model?"
            self._log(f"Op builtin_code out of range: {code.builtin_code}.{hint}")
        elif code.builtin_code != CUSTOM:
            self._log(f"Didn't find op for builtin opcode '{builtin}'{self._version_hint(code)}")
        elif code.custom_code is None:
            self._log("Operator with CUSTOM builtin_code has no custom_code.\n")
        message = f"Failed to get registration from op code {builtin}\n "
        known = remedy(name) or "`custom_ops=` adds one of your own"
        hint = f"; {known}" if code.builtin_code == CUSTOM else ""
        return self._refuse(message, reason=f"TFLM has no kernel for '{name}'{hint}", where=where)

    def _last_operator(self) -> int:
        """Return the largest number of an operator that the runtime's schema knows."""
        last = [op for op in LAST_OPERATORS if self._has(f"schema_{op}")][-1]
        return BUILTIN_OPERATORS.index(last)

    def _version_hint(self, code: OperatorCode) -> str:
        """Return the message of versions that share the op resolver with TFLite."""
        if self._has("resolver_of_its_own"):
            return ""
        return (
            f" version '{code.version}'. An older version of this builtin might be supported. "
            "Are you using an old TFLite binary with a newer model?\n"
        )

    def _parse_builtin(self, allocation: ModelAllocation, node: Node, op_model: OpModel) -> None:
        if node.operator.custom_options is not None:
            raise self._refuse(f"Unsupported behavior: found builtin operator {node.op} with custom options.\n")
        self.allocator.arena.tell(OpEvent, Stage.OP_PARSE, node.subgraph_index, node.index, node.op, True)
        if op_model.builtin_data is not None:
            message = _NO_BUILTIN_DATA if self._has("parse_reports_allocation") else ""
            allocation.last_builtin_data = self.allocator.allocate_object(op_model.builtin_data, message), node
        if op_model.parse is not None:
            try:
                op_model.parse(node)
            except PrepareError as error:
                self._log(error.device_message)
                raise

    # -- init and prepare -------------------------------------------------------------------------------------------

    def init(self, driver: KernelDriver) -> None:
        """Run Init of every operator."""
        tell = self.allocator.arena.tell
        for node, op_model in self.nodes:
            tell(OpEvent, Stage.OP_INIT, node.subgraph_index, node.index, node.op, op_model.init is not None)
            if isinstance(op_model.init, StructInit):
                node.user_data = driver.op_data(node, op_model.init.struct)
            elif op_model.init is not None:
                node.user_data = driver.run(node, op_model.init(node), state="init")

    def prepare(self, driver: KernelDriver) -> None:
        """Run Prepare of every operator, each followed by the reset of the temps."""
        arena, allocation = self.allocator.arena, self._started()
        steps = None  # Observers want every event, and a roomy arena alone takes what is cached in one step.
        if self._cache is not None and isinstance(arena, MeasuringArena):
            steps = self._cache.of(self.model, self.allocator.target, arena)
        refuses_dynamic = self._has("dynamic_tensors")
        for node, op_model in self.nodes:
            facts = node.subgraph_index, node.index, node.op, op_model.prepare is not None
            arena.tell(OpEvent, Stage.OP_PREPARE, *facts)
            scratch = None if steps is None else steps.step(node, op_model, is_as_filed=allocation.is_as_filed)
            if scratch is not None:
                for size in scratch:
                    self.allocator.request_scratch_buffer(allocation, size, node.subgraph_index, "")
            elif op_model.prepare is not None:
                try:
                    driver.run(node, op_model.prepare(node), state="prepare")
                except PrepareError as error:
                    self._log_failed_prepare(node, error)
                    if error.status == "error" and self._has("prepare_status_lost"):
                        return  # The rest is not prepared, and AllocateTensors() goes on.
                    raise
            arena.tell(OpEvent, Stage.OP_PREPARED, *facts)
            if scratch is None and refuses_dynamic:
                self._check_dynamic_outputs(node)
            self.allocator.finish_prepare_node_allocations(allocation, node.index)

    def _log_failed_prepare(self, node: Node, error: PrepareError) -> None:
        self._log(error.device_message)
        if error.status == "error":
            suffix = "" if self._has("dynamic_tensors") else "f"
            self._log(f"Node {node.op} (number {node.index}{suffix}) failed to prepare with status 1")

    def _check_dynamic_outputs(self, node: Node) -> None:
        for index in node.outputs:
            shape = node.tensors[index].shape if index >= 0 else ()
            if shape and min(shape) <= 0 and not (shape == (0,) and self._has("empty_outputs")):
                raise self._refuse(
                    f"Op#{node.index} ({node.op}) of subgraph {node.subgraph_index} has dynamic tensor #{index}\n"
                    "Dynamic tensors are not supported"
                )

    # -- inputs, outputs, variables ---------------------------------------------------------------------------------

    def _allocate_io_pointers(self, role: str, tensors: tuple[int, ...] | None) -> None:
        if tensors is None:
            raise PrepareError(f"subgraph 0 has no {role}s vector: the device reads a null pointer", status="abort")
        size = self.allocator.target.abi.pointer_size * len(tensors)
        self.allocator.arena.tell(Phase, Stage(f"{role}_tensors"), (("n", len(tensors)),))
        label = f"{role} tensor pointers"
        take_persistent(
            self.allocator.arena,
            size,
            BUFFER_ALIGNMENT,
            label=label,
            message=f"Failed to allocate memory for context->{role}_tensors_, {size} bytes required",
            category=RecordedAllocationType.PERSISTENT_BUFFER_DATA,
        )

    def _allocate_io(self, allocation: ModelAllocation, role: str, tensors: tuple[int, ...]) -> None:
        for position, index in enumerate(tensors):
            self.allocator.arena.tell(Phase, Stage(f"{role}_tensor"), (("idx", position), ("t", index)))
            if not self.allocator.allocate_persistent_tensor(allocation.subgraph_tensors[0][index]):
                if self._has("io_tensors"):
                    self._log(f"Failed to initialize {role} tensor {position}")
                raise ArenaOverflowError(f"tail: {role} tensor {position} does not fit")

    def _reset_variables(self, allocation: ModelAllocation) -> None:
        """Reset the variables, as ``ResetVariableTensors`` does; this takes no memory."""
        variables = [(subgraph, i) for subgraph, one in enumerate(outlines(self.model)) for i in one.variables]
        if not variables:
            return
        placed = {(info.subgraph, info.tensor) for info in (allocation.infos[index] for index in allocation.offsets)}
        placed |= allocation.variable_offsets.keys()
        for subgraph, index in variables:
            if byte_length(allocation.subgraph_tensors[subgraph][index]) and (subgraph, index) not in placed:
                raise PlanningError(
                    f"variable tensor {index} of subgraph {subgraph} was never placed: the device writes "
                    "where it points, to null or into the model",
                    status="abort",
                )
