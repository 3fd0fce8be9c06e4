"""TFLite's ``InterpreterBuilder`` while it reads a file: its operator table, and each subgraph's tensors and nodes.

Constants stay in the file; variables go to the persistent arena, everything else with a size to the other one. All
tensors are read before a model is refused for one of them, and every message stands in ``TfLiteSubgraph.reports``.

Source: tflite/core/interpreter_builder.cc ParseTensors, ParseNodes, tflite/core/subgraph.cc
SetTensorParametersReadOnly, SetTensorParametersReadWrite @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tflm_sim.errors import PrepareError
from tflm_sim.extensions.lite import file_checks
from tflm_sim.extensions.lite.graph_info import AllocationType, TfLiteRegistration, TfLiteTensor
from tflm_sim.extensions.lite.op_resolver import MutableOpResolver, refused, registration_for
from tflm_sim.extensions.lite.shape_signature import refused_at
from tflm_sim.extensions.lite.subgraph import TfLiteSubgraph
from tflm_sim.extensions.lite.tensor_bytes import SIZE_UNKNOWN, bytes_required
from tflm_sim.model.flatbuf import SCALARS, FlatBuffer, Table
from tflm_sim.model.schema import option_fields, options_of_operator
from tflm_sim.model.types import Model, Operator, Subgraph, Tensor, TensorType

_EXTERNAL_BUFFER = 10  # the slot of a tensor's table


def registrations_of(model: Model, resolver: MutableOpResolver) -> list[TfLiteRegistration]:
    """Return what runs each entry of a model's operator table.

    Raises:
        PrepareError: One of them cannot be run.
    """
    try:
        return [registration_for(code, resolver) for code in model.operator_codes]
    except PrepareError as failure:
        raise PrepareError(str(failure), device_message=f"{failure.device_message}Registration failed.\n") from failure


def fill_subgraph(
    subgraph: TfLiteSubgraph, source: Subgraph, model: Model, registrations: Sequence[TfLiteRegistration]
) -> None:
    """Fill an empty ``subgraph`` from the ``source`` in a file.

    Raises:
        PrepareError: The runtime refuses the model; its messages until then are ``subgraph.reports``.
    """
    for label in ("inputs", "outputs"):
        indices = getattr(source, label) or ()
        try:
            subgraph.check_indices(label, indices, len(source.tensors))
            setattr(subgraph, label, indices)
        except PrepareError as failure:
            subgraph.reports.append(failure.device_message)
    _refuse_faulty([_add_tensor(subgraph, tensor, model) for tensor in source.tensors])
    _refuse_faulty([_add_operator(subgraph, operator, registrations) for operator in source.operators])
    subgraph.variables = tuple(index for index, tensor in enumerate(subgraph.tensors) if tensor.is_variable)


def _refuse_faulty(faults: list[bool]) -> None:
    if any(faults):
        raise refused("")


def _add_tensor(subgraph: TfLiteSubgraph, tensor: Tensor, model: Model) -> bool:
    """Append a tensor; return whether there is a fault in it, which is reported."""
    index, shape = len(subgraph.tensors), tensor.dims
    before = len(subgraph.reports)
    result = TfLiteTensor(0, name=tensor.name, type=tensor.type, shape=shape, is_variable=tensor.is_variable)
    subgraph.add_tensor(result)
    if tensor.type not in _KNOWN_TYPES:
        subgraph.reports.append(f"Unsupported data type {tensor.type} in tensor\n")
        return True
    result.signature = tensor.shape_signature
    data = _constant(model, tensor, index)
    objection = file_checks.quantization_refusal(model, tensor)
    if objection is not None:
        subgraph.reports += [objection, f"Tensor {index} has invalid quantization parameters."]
    result.quantization = file_checks.kept_quantization(tensor.quantization)
    result.reset_value = _reset_value(tensor)
    if data is not None:
        subgraph.reports += _constant_faults(model, tensor, index)
        result.is_sparse = tensor.has_sparsity
        result.ledger_size = file_checks.ledger_size(model, tensor) if result.is_sparse else 0
    try:
        _give_bytes(result, data, subgraph.release)
    except PrepareError as failure:
        subgraph.reports += [failure.device_message, f"Tensor {index} is invalidly specified in schema.\n"]
    return len(subgraph.reports) > before


_KNOWN_TYPES = frozenset(TensorType)


def _constant_faults(model: Model, tensor: Tensor, index: int) -> Iterator[str]:
    """Iterate over what the runtime says of a constant that it cannot use."""
    is_external = Table(FlatBuffer(model.source), tensor.offset).scalar(_EXTERNAL_BUFFER, SCALARS["uint"]) != 0
    if tensor.is_variable or is_external:
        yield f"Tensor {index} is a variable tensor with buffer or external buffer. It's not supported now.\n"
    objection = file_checks.sparsity_refusal(model, tensor) if tensor.has_sparsity else None
    if objection is not None:
        yield f"{objection}Tensor {index} has invalid sparsity parameters."


def _give_bytes(tensor: TfLiteTensor, data: memoryview | None, release: str) -> None:
    has_size = tensor.type not in SIZE_UNKNOWN
    if data is not None:
        if has_size and not tensor.is_sparse and bytes_required(tensor.type, tensor.shape) > len(data):
            raise refused_at("required_bytes <= bytes", "", " was not true.", release)
        tensor.allocation_type, tensor.size, tensor.data = AllocationType.MMAP_RO, len(data), data
    elif has_size:
        tensor.size = bytes_required(tensor.type, tensor.shape)
        is_kept = tensor.is_variable
        tensor.allocation_type = AllocationType.ARENA_RW_PERSISTENT if is_kept else AllocationType.ARENA_RW
    elif tensor.is_variable:
        raise refused("String variable tensor isn't supported.")
    else:
        tensor.allocation_type = AllocationType.DYNAMIC


def _reset_value(tensor: Tensor) -> int:
    """Return the byte that a variable is filled with: an int8 tensor's zero point, else 0."""
    parameters = tensor.quantization
    if tensor.type != TensorType.INT8 or parameters is None or len(parameters.scale) != 1:
        return 0
    return parameters.zero_point[0] % 256 if len(parameters.zero_point) else 0


def _constant(model: Model, tensor: Tensor, index: int) -> memoryview | None:
    """Return the bytes of a constant, inside or outside of the flatbuffer; an empty vector counts as one."""
    if tensor.buffer == 0:
        return None
    if tensor.buffer >= len(model.buffers):
        count = len(model.buffers)
        raise refused(f"Tensor {index} specifies out of range buffer {tensor.buffer} (only {count} buffers).\n")
    buffer = model.buffers[tensor.buffer]
    return buffer.data if buffer.data is not None else buffer.external


def _check_options(subgraph: TfLiteSubgraph, op: str, operator: Operator) -> None:
    if operator.custom_options is not None:
        subgraph.reports.append(f"Found builtin operator {op} with custom options.\n")
    objection = file_checks.options_refusal(op, operator)
    if objection is not None:
        raise refused(objection)


def _add_operator(subgraph: TfLiteSubgraph, operator: Operator, registrations: Sequence[TfLiteRegistration]) -> bool:
    """Append a node; return whether nothing can run it, which is reported.

    A node that does not fit the graph is reported as well, and makes it inconsistent.

    Raises:
        PrepareError: Options that the runtime refuses; it reads no further.
    """
    if not 0 <= operator.opcode_index < len(registrations):
        subgraph.reports.append(f"Missing registration for opcode_index {operator.opcode_index}\n")
        return True
    registration = registrations[operator.opcode_index]
    is_custom = registration.op == "CUSTOM"
    if not is_custom:
        _check_options(subgraph, registration.op, operator)
    # The runtime keeps parameters for some builtin operators, options in the file or not.
    table = options_of_operator(registration.op)
    has_parameters = not is_custom and bool(option_fields(table))
    try:
        subgraph.add_node(
            registration,
            operator.input_tensors,
            operator.output_tensors,
            intermediates=operator.intermediate_tensors,
            options=operator.options_as(table) if has_parameters else None,
            init_data=operator.custom_options if is_custom else None,
        )
    except PrepareError as failure:
        subgraph.reports.append(failure.device_message)
    return False
