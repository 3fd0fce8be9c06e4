"""TFLite's ``InterpreterBuilder`` and ``Interpreter``: a model file and a resolver become subgraphs that can run.

Constants stay in the file; variables go to the persistent arena, everything else with a size to the other one.

Source: tflite/core/interpreter_builder.cc, interpreter.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Sequence

from tflm_sim.errors import PrepareError, SimulatedFailure
from tflm_sim.lite import options, quantization
from tflm_sim.lite.delegates import Delegate
from tflm_sim.lite.delegation import refused
from tflm_sim.lite.graph_info import AllocationType, Registration, Tensor
from tflm_sim.lite.op_resolver import MutableOpResolver, is_flex_op, registration_for
from tflm_sim.lite.sparsity import ledger_size
from tflm_sim.lite.subgraph import Subgraph
from tflm_sim.lite.tensor_bytes import SIZE_UNKNOWN, bytes_required
from tflm_sim.model.schema import option_fields, options_of_operator
from tflm_sim.model.types import Model, Operator, TensorType
from tflm_sim.model.types import Subgraph as FileSubgraph
from tflm_sim.model.types import Tensor as FileTensor

SCHEMA_VERSION = 3


class Interpreter:
    """A model that can be allocated and run (mutable); only its first subgraph runs by itself.

    Attributes:
        subgraphs: In the model's order.
        reports: What the runtime told its error reporter, in order; a failure's exception has the same text.
    """

    def __init__(self, subgraphs: Sequence[Subgraph], reports: list[str] | None = None) -> None:
        self.subgraphs = tuple(subgraphs)
        self.reports = [] if reports is None else reports
        for subgraph in self.subgraphs:
            subgraph.siblings, subgraph.reports = self.subgraphs, self.reports

    @property
    def primary(self) -> Subgraph:
        """The subgraph that ``invoke`` runs."""
        return self.subgraphs[0]

    def allocate_tensors(self) -> None:
        """Plan and allocate the memory of the first subgraph; the errors are those of ``Subgraph.allocate_tensors``."""
        try:
            self.primary.allocate_tensors()
        except SimulatedFailure as failure:
            self._told(failure)
            raise

    def resize_input(self, index: int, shape: Sequence[int]) -> None:
        """Set the shape of a tensor of the first subgraph; the errors are those of ``Subgraph.resize_input``."""
        try:
            self.primary.resize_input(index, tuple(shape))
        except SimulatedFailure as failure:
            self._told(failure)
            raise

    def _told(self, failure: SimulatedFailure) -> None:
        if failure.device_message:
            self.reports.append(failure.device_message)

    def set_tensor(self, index: int, data: bytes) -> None:
        """Copy bytes into a tensor of the first subgraph, an input before ``invoke``.

        Raises:
            PrepareError: The tensor has no bytes, or another number of them.
        """
        target = self.primary.data(index)
        if target is None or len(target) != len(data):
            has = "no bytes" if target is None else f"{len(target)} bytes"
            raise refused(f"tensor {index} has {has}; {len(data)} were given")
        target[:] = data

    def get_tensor(self, index: int) -> bytes:
        """Return a copy of a tensor's bytes, none for a tensor without any."""
        return bytes(self.primary.data(index) or b"")

    def invoke(self) -> None:
        """Run the first subgraph; the errors are those of ``Subgraph.invoke``."""
        self.primary.invoke()

    def modify_graph_with_delegate(self, delegate: Delegate) -> None:
        """Let a delegate take nodes of every subgraph; the errors are those of the subgraph's method."""
        for subgraph in self.subgraphs:
            subgraph.modify_graph_with_delegate(delegate)


def build_interpreter(
    model: Model,
    resolver: MutableOpResolver,
    *,
    delegates: Sequence[Delegate] = (),
    flex_delegate: Delegate | None = None,
    preserves_all_tensors: bool = False,
    threads: int = 1,
) -> Interpreter:
    """Return an interpreter for ``model``.

    Args:
        model: The file.
        resolver: What runs its operators.
        delegates: Applied in their order.
        flex_delegate: Applied before them, where the model has an operator that begins with "Flex".
        preserves_all_tensors: Whether every tensor keeps its bytes until the end of an invocation.
        threads: How many threads kernels may use.

    Raises:
        PrepareError: TFLite refuses the model; ``device_message`` is all that it says, of every tensor.
    """
    if model.version != SCHEMA_VERSION:
        raise refused(
            f"Model provided is schema version {model.version} not equal to supported version {SCHEMA_VERSION}.\n"
        )
    registrations = _registrations(model, resolver)
    if not model.subgraphs:
        raise refused("No subgraph in the model.\n")
    subgraphs, reports = [], list[str]()
    for index, source in enumerate(model.subgraphs):
        subgraph = Subgraph(index=index, preserves_all_tensors=preserves_all_tensors, threads=threads)
        _fill_subgraph(model, source, registrations, subgraph, reports)
        subgraphs.append(subgraph)
    interpreter = Interpreter(subgraphs, reports)
    has_flex_op = any(registration.is_unresolved and is_flex_op(registration) for registration in registrations)
    flex_delegates = [flex_delegate] if has_flex_op and flex_delegate is not None else []
    for delegate in [*flex_delegates, *delegates]:
        interpreter.modify_graph_with_delegate(delegate)
    return interpreter


def _registrations(model: Model, resolver: MutableOpResolver) -> list[Registration]:
    try:
        return [registration_for(code, resolver) for code in model.operator_codes]
    except PrepareError as failure:
        raise PrepareError(str(failure), device_message=f"{failure.device_message}Registration failed.\n") from failure


def _fill_subgraph(
    model: Model, source: FileSubgraph, registrations: Sequence[Registration], subgraph: Subgraph, reports: list[str]
) -> None:
    """Fill ``subgraph`` from the file's ``source``; what the runtime tells of it without refusing it is reported."""
    subgraph.reports = reports
    messages: list[str] = []
    for label in ("inputs", "outputs"):
        indices = getattr(source, label) or ()
        try:
            subgraph.check_indices(label, indices, len(source.tensors))
            setattr(subgraph, label, indices)
        except PrepareError as failure:
            reports.append(failure.device_message)
    for index, tensor in enumerate(source.tensors):
        subgraph.add_tensor(_build_tensor(model, tensor, index, messages))
    if messages:
        raise refused("".join([*reports, *messages]))
    for operator in source.operators:
        objection = _objection(operator, registrations)
        if objection is not None:
            raise refused("".join([*reports, *messages, objection]))
        try:
            _add_operator(subgraph, operator, registrations)
        except PrepareError as failure:
            if operator.opcode_index >= len(registrations):
                messages.append(failure.device_message)
            else:
                reports.append(failure.device_message)  # the graph is inconsistent from now on
    if messages:
        raise refused("".join([*reports, *messages]))
    subgraph.variables = tuple(index for index, tensor in enumerate(subgraph.tensors) if tensor.is_variable)


def _build_tensor(model: Model, tensor: FileTensor, index: int, messages: list[str]) -> Tensor:
    """Return the runtime's tensor: a constant in the file, in an arena, or dynamic."""
    shape = tensor.shape or ()
    result = Tensor(0, name=tensor.name, type=tensor.type, shape=shape, is_variable=tensor.is_variable)
    result.signature = tensor.shape_signature
    data = _constant(model, tensor, index)
    objection = quantization.refusal(tensor.quantization, shape)
    if objection is not None:
        messages += [objection, f"Tensor {index} has invalid quantization parameters."]
    result.quantization = quantization.kept(tensor.quantization)
    result.reset_value = _reset_value(tensor)
    if data is not None and tensor.is_variable:
        messages.append(
            f"Tensor {index} is a variable tensor with buffer or external buffer. It's not supported now.\n"
        )
    result.is_sparse = tensor.has_sparsity and data is not None
    result.ledger_size = ledger_size(model, tensor) if result.is_sparse else 0
    try:
        _give_bytes(result, data)
    except PrepareError as failure:
        messages += [failure.device_message, f"Tensor {index} is invalidly specified in schema.\n"]
    return result


def _give_bytes(tensor: Tensor, data: memoryview | None) -> None:
    has_size = tensor.type not in SIZE_UNKNOWN
    if data is not None:
        if has_size and not tensor.is_sparse and bytes_required(tensor.type, tensor.shape) > len(data):
            raise refused("tflite/core/subgraph.cc:1965 required_bytes <= bytes was not true.")
        tensor.allocation_type, tensor.size, tensor.data = AllocationType.MMAP_RO, len(data), data
    elif has_size:
        tensor.size = bytes_required(tensor.type, tensor.shape)
        is_kept = tensor.is_variable
        tensor.allocation_type = AllocationType.ARENA_RW_PERSISTENT if is_kept else AllocationType.ARENA_RW
    elif tensor.is_variable:
        raise refused("String variable tensor isn't supported.")
    else:
        tensor.allocation_type = AllocationType.DYNAMIC


def _reset_value(tensor: FileTensor) -> int:
    """Return the byte that a variable is filled with: an int8 tensor's zero point, else 0."""
    parameters = tensor.quantization
    if tensor.type != TensorType.INT8 or parameters is None or len(parameters.scale) != 1:
        return 0
    return parameters.zero_point[0] % 256 if len(parameters.zero_point) else 0


def _constant(model: Model, tensor: FileTensor, index: int) -> memoryview | None:
    """Return the bytes of a constant, inside or outside of the flatbuffer; an empty vector counts as one."""
    if tensor.buffer == 0:
        return None
    if tensor.buffer >= len(model.buffers):
        count = len(model.buffers)
        raise refused(f"Tensor {index} specifies out of range buffer {tensor.buffer} (only {count} buffers).\n")
    buffer = model.buffers[tensor.buffer]
    return buffer.data if buffer.data is not None else buffer.external


def _add_operator(subgraph: Subgraph, operator: Operator, registrations: Sequence[Registration]) -> None:
    if not 0 <= operator.opcode_index < len(registrations):
        raise refused(f"Missing registration for opcode_index {operator.opcode_index}\n")
    registration = registrations[operator.opcode_index]
    is_custom = registration.op == "CUSTOM"
    if not is_custom and operator.custom_options is not None:
        subgraph.reports.append(f"Found builtin operator {registration.op} with custom options.\n")
    subgraph.add_node(
        registration,
        operator.inputs or (),
        operator.outputs or (),
        intermediates=operator.intermediates or (),
        options=None if is_custom or not _has_parameters(registration.op) else operator.options,
        init_data=operator.custom_options if is_custom else None,
    )


def _objection(operator: Operator, registrations: Sequence[Registration]) -> str | None:
    """Return what the runtime says of an operator whose options it refuses; it then reads no further."""
    if not 0 <= operator.opcode_index < len(registrations):
        return None
    registration = registrations[operator.opcode_index]
    return None if registration.op == "CUSTOM" else options.refusal(registration.op, operator)


def _has_parameters(op: str) -> bool:
    """Return whether the runtime keeps parameters for a builtin operator, options in the file or not."""
    return bool(option_fields(options_of_operator(op)))
