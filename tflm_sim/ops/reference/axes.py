"""Operators along axes: CUMSUM, REVERSE_V2; and those that move elements between space and batch or depth:
SPACE_TO_BATCH_ND, BATCH_TO_SPACE_ND, SPACE_TO_DEPTH, DEPTH_TO_SPACE.

Source: tensorflow/lite/micro/kernels/{cumsum,reverse,space_to_batch_nd,batch_to_space_nd,space_to_depth,
depth_to_space}.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Iterator

from tflm_sim.model.element_types import type_name
from tflm_sim.model.types import TensorType
from tflm_sim.ops.eval_types import PLAIN, EvalRow, Switch, known_types
from tflm_sim.ops.eval_values import ValueRow, axes_outside, constant_integers
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import int_option
from tflm_sim.ops.prepare import INPUT, OUTPUT, Prepare, counts, source, trusted, unchecked
from tflm_sim.ops.reference.arithmetic import MAX_RUNTIME_RANK
from tflm_sim.ops.reference.output_shapes import check_blocks_of, prepare_with_blocks
from tflm_sim.ops.reference.quantization import QUANTIZATION_UTIL
from tflm_sim.ops.requests import KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import fail, halt, op_data, writable_dims
from tflm_sim.units import int32

CUMSUM_INTEGER_SHIFT = 20
_REVERSIBLE = (
    TensorType.INT32,
    TensorType.FLOAT32,
    TensorType.UINT8,
    TensorType.INT8,
    TensorType.INT16,
    TensorType.INT64,
    TensorType.BOOL,
)


def _cumsum(k: Kernel, source: KernelTensor, axis: KernelTensor, output: KernelTensor) -> Steps[None]:
    k.one_of(source.type, (TensorType.FLOAT32, TensorType.INT8), "input->type")
    k.is_c_type(axis, TensorType.INT32, "axis")
    k.ensure_count_eq(axis.flat_size, 1, "NumElements(axis)", "1")
    k.ensure(len(source.shape) >= 1, "NumDimensions(input) >= 1")
    k.same_c_type(source, output)
    k.ensure(source.shape == output.shape, "HaveSameShapes(input, output)")
    if output.type == TensorType.INT8:
        k.node.user_data = "cumsum.OpData"
        yield Persistent(k.node.target.sizeof("cumsum.OpData"), "cumsum.OpData")
        _check_multipliers(source, output)


def _check_multipliers(source: KernelTensor, output: KernelTensor) -> None:
    """``QuantizeMultiplierSmallerThanOneExp`` halts on a multiplier outside (0, 1), and on one that rounds up to 1.

    The input's multiplier is always a half, unless its scale is 0 (no quantization) or not a finite number.
    """
    twice_scale = 2 * source.scale
    limit = (1 << CUMSUM_INTEGER_SHIFT) * output.scale
    if not abs(twice_scale) < float("inf") or twice_scale == 0 or limit == 0:
        raise halt(QUANTIZATION_UTIL, "input and output are quantized")
    if not 0 < twice_scale / limit < 1 - 2**-32:
        raise halt(QUANTIZATION_UTIL, "0 < real_output_multiplier < 1")


def _reverse(k: Kernel, source: KernelTensor, axis: KernelTensor, output: KernelTensor) -> None:
    k.rank(axis, 1, "axis")
    k.ensure(len(source.shape) <= MAX_RUNTIME_RANK, "NumDimensions(input) <= kMaxDimensions")
    k.ensure(len(source.shape) >= axis.flat_size, "NumDimensions(input) >= NumElements(axis)")
    if source.type not in _REVERSIBLE:
        raise fail(f"Type '{type_name(source.type)}' is not supported by reverse.")
    if axis.type != TensorType.INT32:
        raise fail(f"Axis Type '{type_name(axis.type)}' is not supported by reverse.")
    k.same_c_type(source, output)


_AXIS = source(1, "axis")


def _batch(k: Kernel, source: KernelTensor | None, output: KernelTensor | None) -> None:
    """What SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND share."""
    k.ensure(source is not None and output is not None, "input != nullptr && output != nullptr")
    check_blocks_of(k, k.require(source, "input"), k.require(output, "output"))


def _check_depth(k: Kernel, source: KernelTensor, output: KernelTensor) -> None:
    k.rank(source, 4, "input")
    k.one_of(output.type, (TensorType.FLOAT32, TensorType.INT8), "data_type")
    k.same_type(source, output)


def _written(output: KernelTensor, dims: tuple[int, int, int, int]) -> tuple[int, ...]:
    """Return the output's dims after four were written: the number of dims stays as the file has it."""
    rank = len(output.shape)
    return (tuple(int32(size) for size in dims) + output.shape[4:])[:rank]


def _space_to_depth(k: Kernel, source: KernelTensor, output: KernelTensor) -> Steps[None]:
    _check_depth(k, source, output)
    block = int_option(k.node, "SpaceToDepthOptions", "block_size")
    k.ensure(block > 0, "block_size > 0")
    batch, height, width, depth = source.shape
    new_height, new_width = k.divide(height, block), k.divide(width, block)
    k.ensure_eq(height, new_height * block, "input_height", "output_height * block_size")
    k.ensure_eq(width, new_width * block, "input_width", "output_width * block_size")
    yield from writable_dims(output, _written(output, (batch, new_height, new_width, depth * block * block)))


def _depth_to_space(k: Kernel, source: KernelTensor, output: KernelTensor) -> Steps[None]:
    _check_depth(k, source, output)
    block = int_option(k.node, "DepthToSpaceOptions", "block_size")
    k.ensure(block > 0, "block_size > 0")
    batch, height, width, depth = source.shape
    new_depth = k.divide(k.divide(depth, block), block)
    k.ensure_eq(depth, new_depth * block * block, "input_channels", "output_channels * block_size * block_size")
    yield from writable_dims(output, _written(output, (batch, height * block, width * block, new_depth)))


_MAYBE = unchecked(INPUT), unchecked(OUTPUT)


def _space_to_depth_of_both(k: Kernel, source: KernelTensor | None, output: KernelTensor | None) -> Steps[None]:
    k.ensure(source is not None and output is not None, "input != nullptr && output != nullptr")
    yield from _space_to_depth(k, k.require(source, "input"), k.require(output, "output"))


_SPACE_TO_DEPTH = "space_to_depth.cc"
_SPACE_TO_DEPTH_EACH = Prepare(_SPACE_TO_DEPTH, counts(1), body=_space_to_depth)
_SPACE_TO_DEPTH_BOTH = Prepare(_SPACE_TO_DEPTH, counts(1), takes=_MAYBE, body=_space_to_depth_of_both)


def _prepare_space_to_depth(node: Node) -> Steps[None]:
    yield from (_SPACE_TO_DEPTH_BOTH if node.target.runtime.has("prepare_checks") else _SPACE_TO_DEPTH_EACH)(node)


_SPACE_TO_BATCH = Prepare("space_to_batch_nd.cc", counts(3), takes=_MAYBE, body=_batch)
_BATCH_TO_SPACE = Prepare("batch_to_space_nd.cc", counts(3), takes=_MAYBE, body=_batch)


def _space_to_batch(node: Node) -> Steps[None]:
    computes = node.target.runtime.has("space_to_batch_shape") or node.target.runtime.has("output_shapes")
    yield from prepare_with_blocks(node) if computes else _SPACE_TO_BATCH(node)


def _batch_to_space(node: Node) -> Steps[None]:
    yield from prepare_with_blocks(node) if node.target.runtime.has("output_shapes") else _BATCH_TO_SPACE(node)


def _cumsum_axis(node: Node) -> Iterator[tuple[str, str]]:
    image, axes = node.input(0), constant_integers(node.input(1))
    if image is not None and axes:
        rank = len(image.shape)
        shown = axes[0] + rank if axes[0] < 0 else axes[0]
        yield from ((text, f"CUMSUM Invalid axis: {shown}") for text in axes_outside(axes[:1], rank))


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "CUMSUM",
        "TfLiteCumsumParams",
        prepare=Prepare("cumsum.cc", counts(2), takes=trusted(INPUT, _AXIS, OUTPUT), body=_cumsum),
    ),
    OpModel("REVERSE_V2", prepare=Prepare("reverse.cc", counts(2), takes=(INPUT, _AXIS, OUTPUT), body=_reverse)),
    OpModel("SPACE_TO_BATCH_ND", init=op_data("SpaceToBatchParams"), prepare=_space_to_batch),
    OpModel("BATCH_TO_SPACE_ND", prepare=_batch_to_space),
    OpModel("SPACE_TO_DEPTH", "TfLiteSpaceToDepthParams", prepare=_prepare_space_to_depth, source=_SPACE_TO_DEPTH),
    OpModel(
        "DEPTH_TO_SPACE",
        "TfLiteDepthToSpaceParams",
        prepare=Prepare("depth_to_space.cc", counts(1), body=_depth_to_space),
    ),
)

EVALS: tuple[EvalRow, ...] = (
    known_types("BATCH_TO_SPACE_ND SPACE_TO_BATCH_ND", "i0", "FLOAT32 INT8", PLAIN),
    EvalRow(
        "CUMSUM", (Switch("i0", "FLOAT32 INT8", "CUMSUM only supports FLOAT32 and INT8, got {name}.", named="o0"),), 14
    ),
    known_types("CUMSUM", "i0", "FLOAT32", "Unsupported input type, CUMSUM only supports FLOAT32."),
    EvalRow(
        "DEPTH_TO_SPACE",
        (Switch("i0", "FLOAT32 INT8", "DEPTH_TO_SPACE only supports FLOAT32 and INT8, got {name}.", named="o0"),),
    ),
    known_types("SPACE_TO_DEPTH", "i0", "FLOAT32 INT8", "SPACE_TO_DEPTH only supports FLOAT32 and INT8, got {name}."),
    known_types(
        "REVERSE_V2",
        "o0",
        "FLOAT32 INT32 INT16 INT8 UINT8 INT64 BOOL",
        "Output type '{name}' ({number}) is not supported.",
    ),
)

VALUES: tuple[ValueRow, ...] = (ValueRow("CUMSUM", refused=_cumsum_axis),)
