"""CONCATENATION; and SPLIT, SPLIT_V, PACK and UNPACK, which ask for nothing.

    input 0, output | input 0 freed, types checked | each input: taken, checked, [scratch to decompress it], freed

Before 50e7e5dbd both were freed, the inputs' ranks checked, and for int8 the scales and zero points of all inputs kept:

    input 0, output | freed | each input: taken, checked, freed | output | arrays | each input: taken, freed

Source: tensorflow/lite/micro/kernels/{concatenation,split,split_v,pack,unpack}.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tflm_sim.model.types import TensorType
from tflm_sim.ops.eval_types import EvalRow, known_types
from tflm_sim.ops.eval_values import ValueRow, axes_outside, constant_integers
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import fused_activation
from tflm_sim.ops.prepare import Prepare, input_count, source, trusted
from tflm_sim.ops.reference.arithmetic import MAX_RUNTIME_RANK
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import decompression_scratch, fail, op_data, size_of

_MAX_INPUT_COUNT = 10
_OLD_MAX_RANK = 4
_FILE = "concatenation.cc"
_TYPES = (
    TensorType.FLOAT32,
    TensorType.UINT8,
    TensorType.INT8,
    TensorType.INT16,
    TensorType.INT32,
    TensorType.INT64,
    TensorType.BOOL,
)
_TYPES_SINCE: dict[int, str] = {
    TensorType.UINT8: "uint8_kernels",
    TensorType.INT16: "kernels_8x16",
    TensorType.BOOL: "concatenation_bool",
}


def _ensure_input(k: Kernel, tensor: KernelTensor, input_type: int, output: KernelTensor) -> None:
    """Check one input: its type, its rank, and that it needs no rescaling."""
    k.ensure_types_eq(tensor.type, input_type, "input->type", "input_type")
    _ensure_rank(k, tensor)
    if input_type == TensorType.INT8:
        k.node.check_tensors(_same_quantization, tensor, output)
    elif input_type == TensorType.INT16:
        k.zero_points(input=tensor)


def _same_quantization(node: Node, tensor: KernelTensor, output: KernelTensor) -> None:
    k = Kernel(node, _FILE)
    texts = "static_cast<double>(input->params.scale)", "static_cast<double>(output_tensor->params.scale)"
    k.ensure_double_eq(tensor.scale, output.scale, *texts)
    names = "input->params.zero_point", "output_tensor->params.zero_point"
    k.ensure_eq(tensor.zero_point, output.zero_point, *names)


def _ensure_rank(k: Kernel, tensor: KernelTensor) -> None:
    """Refuse a rank that a RuntimeShape has no room for."""
    most = MAX_RUNTIME_RANK if k.has("concatenation_5d") else _OLD_MAX_RANK
    limit = f" {most}" if k.has("concatenation_5d") else f"{most}"
    if len(tensor.shape) > most:
        raise fail(
            f"Op Concatenation does not currently support num dimensions >{limit} "
            f"Tensor has {len(tensor.shape)} dimensions."
        )


def _check_types(k: Kernel, input_type: int) -> None:
    k.ensure_eq(fused_activation(k.node, "ConcatenationOptions"), 0, "params->activation", "kTfLiteActNone")
    k.one_of(input_type, k.known(_TYPES, _TYPES_SINCE), "input_type")


def _prepare_keeping_scales(k: Kernel) -> Steps[None]:
    """``Prepare`` before 50e7e5dbd."""
    first = yield from k.input(0, "input_tensor")
    output = yield from k.output(0, "output_tensor")
    yield from k.free(first, output)
    count = len(k.node.inputs)
    _check_types(k, first.type)
    k.ensure_c_types_eq(output.type, first.type, "output_type", "input_type")
    k.ensure(count <= _MAX_INPUT_COUNT, "num_inputs <= kMaxInputNum")
    for position in range(count):
        tensor = yield from k.input(position)
        _ensure_rank(k, tensor)
        yield from k.free(tensor)
    k.op_data()
    output = yield from k.output(0)
    if first.type in (TensorType.INT8, TensorType.UINT8):
        yield Persistent(size_of(k.node, count, 4), "input_scales")
        yield Persistent(size_of(k.node, count, 4), "input_zero_points")
        for position in range(count):
            tensor = yield from k.input(position, "t")
            yield from k.free(tensor)
    yield from k.free(output)


def _prepare(node: Node) -> Steps[None]:
    k = Kernel(node, _FILE)
    if not k.has("concatenation_checks"):
        yield from _prepare_keeping_scales(k)
        return
    first = yield from k.input(0, "input_tensor")
    output = yield from k.output(0, "output_tensor")
    yield from k.free(first)
    _check_types(k, first.type)
    k.ensure_types_eq(output.type, first.type, "output_type", "input_type")
    k.ensure(len(node.inputs) <= _MAX_INPUT_COUNT, "num_inputs <= kMaxInputNum")
    k.op_data()
    for position in range(len(node.inputs)):
        tensor = yield from k.input(position)
        _ensure_input(k, tensor, first.type, output)
        yield from decompression_scratch(node, position)
        yield from k.free(tensor)
    if first.type == TensorType.INT16:
        k.zero_points(output_tensor=output)
    yield from k.free(output)


def _some_inputs(k: Kernel) -> None:
    k.check(k.node.operator.inputs is not None, "node->inputs != nullptr")


def _constant_axis(k: Kernel, axis: KernelTensor) -> None:
    k.is_constant(axis, "axis", before="Non constant axis tensor not supported")


_SPLIT = Prepare("split.cc", _some_inputs, takes=(source(0, "axis"),), body=_constant_axis)
_SPLIT_V = Prepare("split_v.cc", input_count(3), takes=trusted(source(2, "axis")), body=_constant_axis)


def _split_axis(position: int, axis: int) -> Callable[[Node], Iterator[tuple[str, str]]]:
    def check(node: Node) -> Iterator[tuple[str, str]]:
        image, axes = node.input(position), constant_integers(node.input(axis))
        if image is not None and axes:
            yield from ((text, "") for text in axes_outside(axes[:1], len(image.shape)))

    return check


MODELS: tuple[OpModel, ...] = (
    OpModel("CONCATENATION", "TfLiteConcatenationParams", op_data("concatenation.OpData"), _prepare),
    OpModel("SPLIT", "TfLiteSplitParams", prepare=_SPLIT),
    OpModel("SPLIT_V", "TfLiteSplitVParams", prepare=_SPLIT_V),
    OpModel("PACK", "TfLitePackParams", source="pack.cc"),
    OpModel("UNPACK", "TfLiteUnpackParams", source="unpack.cc"),
)

_CONCATENATION = "Op Concatenation does not currently support Type '{name}'."
_PACK = "Type '{name}' is not supported by pack."
_UNPACK = "Type '{name}' is not supported by unpack."

EVALS: tuple[EvalRow, ...] = (
    known_types("CONCATENATION", "o0", "FLOAT32 INT32 INT8 INT64 INT16 BOOL", _CONCATENATION, 783),
    known_types("CONCATENATION", "o0", "FLOAT32 INT32 INT8 INT64 INT16", _CONCATENATION, 139),
    known_types("CONCATENATION", "o0", "FLOAT32 INT32 INT8 INT64", _CONCATENATION),
    known_types("PACK", "o0", "FLOAT32 INT8 INT16 INT32 INT64", _PACK, 1661),
    known_types("PACK", "o0", "FLOAT32 INT8 INT32 INT64", _PACK),
    known_types("SPLIT", "i1", "FLOAT32 INT8 INT16 INT32", "Type {name} currently not supported."),
    known_types("SPLIT_V", "i0", "FLOAT32 INT8 INT16 INT32", "Type {name} currently not supported."),
    known_types("UNPACK", "i0", "FLOAT32 INT32 INT16 INT8", _UNPACK, 1620),
    known_types("UNPACK", "i0", "FLOAT32 INT32 INT8", _UNPACK),
)

VALUES: tuple[ValueRow, ...] = (
    ValueRow("SPLIT", refused=_split_axis(1, 0)),
    ValueRow("SPLIT_V", refused=_split_axis(0, 2)),
)
