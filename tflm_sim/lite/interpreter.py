"""TFLite's ``InterpreterBuilder`` and ``Interpreter``: a model file and a resolver become subgraphs that can run.

Constants stay in the file; variables go to the persistent arena, everything else with a size to the other one.

Source: tflite/core/interpreter_builder.cc, interpreter.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Sequence

from tflm_sim.errors import PrepareError
from tflm_sim.lite.delegates import Delegate
from tflm_sim.lite.graph_info import AllocationType, Registration, Tensor
from tflm_sim.lite.op_resolver import MutableOpResolver, is_flex_op, registration_for
from tflm_sim.lite.subgraph import Subgraph
from tflm_sim.lite.tensor_bytes import SIZE_UNKNOWN, bytes_required
from tflm_sim.model.types import Model, Operator, TensorType
from tflm_sim.model.types import Subgraph as FileSubgraph
from tflm_sim.model.types import Tensor as FileTensor

SCHEMA_VERSION = 3


class Interpreter:
    """A model that can be allocated and run (mutable); only its first subgraph runs by itself.

    Attributes:
        subgraphs: In the model's order.
    """

    def __init__(self, subgraphs: Sequence[Subgraph]) -> None:
        self.subgraphs = tuple(subgraphs)

    @property
    def primary(self) -> Subgraph:
        """The subgraph that ``invoke`` runs."""
        return self.subgraphs[0]

    def allocate_tensors(self) -> None:
        """Plan and allocate the memory of the first subgraph; the errors are those of ``Subgraph.allocate_tensors``."""
        self.primary.allocate_tensors()

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
) -> Interpreter:
    """Return an interpreter for ``model``.

    Args:
        model: The file.
        resolver: What runs its operators.
        delegates: Applied in their order.
        flex_delegate: Applied before them, where the model has an operator that begins with "Flex".
        preserves_all_tensors: Whether every tensor keeps its bytes until the end of an invocation.

    Raises:
        PrepareError: TFLite refuses the model.
    """
    if model.version != SCHEMA_VERSION:
        raise _refused(
            f"Model provided is schema version {model.version} not equal to supported version {SCHEMA_VERSION}.\n"
        )
    if not model.subgraphs:
        raise _refused("No subgraph in the model.\n")
    registrations = [registration_for(code, resolver) for code in model.operator_codes]
    subgraphs = [
        _build_subgraph(
            model, subgraph, registrations, Subgraph(index=index, preserves_all_tensors=preserves_all_tensors)
        )
        for index, subgraph in enumerate(model.subgraphs)
    ]
    interpreter = Interpreter(subgraphs)
    has_flex_op = any(registration.is_unresolved and is_flex_op(registration) for registration in registrations)
    flex_delegates = [flex_delegate] if has_flex_op and flex_delegate is not None else []
    for delegate in [*flex_delegates, *delegates]:
        interpreter.modify_graph_with_delegate(delegate)
    return interpreter


def _build_subgraph(
    model: Model, source: FileSubgraph, registrations: Sequence[Registration], subgraph: Subgraph
) -> Subgraph:
    """Fill ``subgraph`` from the file's ``source`` and return it."""
    for index, tensor in enumerate(source.tensors):
        subgraph.add_tensor(_build_tensor(model, tensor, index))
    subgraph.inputs = source.inputs or ()
    subgraph.outputs = source.outputs or ()
    for operator in source.operators:
        _add_operator(subgraph, operator, registrations)
    subgraph.variables = tuple(index for index, tensor in enumerate(subgraph.tensors) if tensor.is_variable)
    return subgraph


def _build_tensor(model: Model, tensor: FileTensor, index: int) -> Tensor:
    """Return the runtime's tensor: a constant in the file, in an arena, or dynamic."""
    shape = tensor.shape or ()
    has_size = tensor.type not in SIZE_UNKNOWN
    size = bytes_required(tensor.type, shape) if has_size else 0
    data = _constant(model, tensor, index)
    if data is None:
        allocation_type = _allocation_type(tensor, has_size)
    elif tensor.is_variable:
        raise _refused(f"Tensor {index} is a variable tensor with buffer or external buffer. It's not supported now.\n")
    elif has_size and not tensor.has_sparsity and size > len(data):
        raise _refused(f"Tensor {index} is invalidly specified in schema.\n")
    else:
        allocation_type, size = AllocationType.MMAP_RO, len(data)
    result = Tensor(size, allocation_type, name=tensor.name, type=tensor.type, shape=shape, data=data)
    result.is_variable = tensor.is_variable
    result.reset_value = _reset_value(tensor)
    return result


def _allocation_type(tensor: FileTensor, has_size: bool) -> AllocationType:
    """Return who owns the bytes of a tensor that is no constant."""
    if has_size:
        return AllocationType.ARENA_RW_PERSISTENT if tensor.is_variable else AllocationType.ARENA_RW
    if tensor.is_variable:
        raise _refused("String variable tensor isn't supported.")
    return AllocationType.DYNAMIC


def _reset_value(tensor: FileTensor) -> int:
    """Return the byte that a variable is filled with: an int8 tensor's zero point, else 0."""
    quantization = tensor.quantization
    if tensor.type != TensorType.INT8 or quantization is None or len(quantization.scale) != 1:
        return 0
    return quantization.zero_point[0] % 256 if len(quantization.zero_point) else 0


def _constant(model: Model, tensor: FileTensor, index: int) -> memoryview | None:
    """Return the bytes of a constant, inside or outside of the flatbuffer; an empty vector counts as one."""
    if tensor.buffer == 0:
        return None
    if tensor.buffer >= len(model.buffers):
        count = len(model.buffers)
        raise _refused(f"Tensor {index} specifies out of range buffer {tensor.buffer} (only {count} buffers).\n")
    buffer = model.buffers[tensor.buffer]
    return buffer.data if buffer.data is not None else buffer.external


def _add_operator(subgraph: Subgraph, operator: Operator, registrations: Sequence[Registration]) -> None:
    if not 0 <= operator.opcode_index < len(registrations):
        raise _refused(f"Missing registration for opcode_index {operator.opcode_index}\n")
    registration = registrations[operator.opcode_index]
    subgraph.add_node(
        registration,
        operator.inputs or (),
        operator.outputs or (),
        intermediates=operator.intermediates or (),
        options=operator.options if registration.op != "CUSTOM" else None,
        init_data=operator.custom_options if registration.op == "CUSTOM" else None,
    )


def _refused(message: str) -> PrepareError:
    return PrepareError(message.strip(), device_message=message)
