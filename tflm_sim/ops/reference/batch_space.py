"""Operators that move elements between space and batch or depth: SPACE_TO_BATCH_ND, BATCH_TO_SPACE_ND,
SPACE_TO_DEPTH, DEPTH_TO_SPACE.

Source: tensorflow/lite/micro/kernels/{space_to_batch_nd,batch_to_space_nd,space_to_depth,depth_to_space}.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Callable

from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.arithmetic import c_div
from tflm_sim.ops.reference.node_checks import ensure_counts, int_option
from tflm_sim.ops.requests import KernelTensor, Steps
from tflm_sim.ops.roles import (
    ensure,
    ensure_eq,
    ensure_types_eq,
    free,
    input_tensor,
    op_data,
    optional_input,
    optional_output,
    output_tensor,
    writable_dims,
)
from tflm_sim.units import int32


def _batch_prepare(file: str, count_line: int, tensors_line: int) -> Callable[[Node], Steps[None]]:
    """Return the Prepare that SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND share but for its lines."""

    def prepare(node: Node) -> Steps[None]:
        ensure_counts(node, file, count_line, inputs=3)
        source = yield from optional_input(node, 0)
        output = yield from optional_output(node, 0)
        ensure(
            source is not None and output is not None,
            f"{file}:{tensors_line}",
            "input != nullptr && output != nullptr",
        )
        assert source is not None, "ensured above"
        assert output is not None, "ensured above"
        line = tensors_line + 2
        for tensor, name in ((source, "input"), (output, "output")):
            text = f"NumDimensions({name}) >= kInputOutputMinDimensionNum"
            ensure(len(tensor.shape) >= 3, f"{file}:{line}", text)
            line += 1
        for tensor, name in ((source, "input"), (output, "output")):
            text = f"NumDimensions({name}) <= kInputOutputMaxDimensionNum"
            ensure(len(tensor.shape) <= 4, f"{file}:{line}", text)
            line += 1
        ensure_types_eq(source.type, output.type, f"{file}:{line}", "input->type", "output->type")
        yield from free(source, output)

    return prepare


def _depth_tensors(node: Node, file: str, line: int) -> Steps[tuple[KernelTensor, KernelTensor]]:
    """Check the counts at ``line``, then allocate and check both tensors, as SPACE_TO_DEPTH and DEPTH_TO_SPACE do."""
    ensure_counts(node, file, line, inputs=1)
    source = yield from input_tensor(node, 0, f"{file}:{line + 7}")
    output = yield from output_tensor(node, 0, f"{file}:{line + 10}")
    ensure_eq(len(source.shape), 4, f"{file}:{line + 12}", "NumDimensions(input)", "4")
    text = "data_type == kTfLiteFloat32 || data_type == kTfLiteInt8"
    ensure(output.type in (TensorType.FLOAT32, TensorType.INT8), f"{file}:{line + 15}", text)
    ensure_types_eq(source.type, output.type, f"{file}:{line + 17}", "input->type", "output->type")
    return source, output


def _written(output: KernelTensor, dims: tuple[int, int, int, int]) -> tuple[int, ...]:
    """Return the output's dims after four were written: the number of dims stays as the file has it."""
    rank = len(output.shape)
    return (tuple(int32(size) for size in dims) + output.shape[4:])[:rank]


def _prepare_space_to_depth(node: Node) -> Steps[None]:
    file = "space_to_depth.cc"
    source, output = yield from _depth_tensors(node, file, 40)
    block = int_option(node, "SpaceToDepthOptions", "block_size")
    batch, height, width, depth = source.shape
    new_height = c_div(height, block, f"{file}:62")
    new_width = c_div(width, block, f"{file}:63")
    ensure_eq(height, new_height * block, f"{file}:65", "input_height", "output_height * block_size")
    ensure_eq(width, new_width * block, f"{file}:66", "input_width", "output_width * block_size")
    yield from writable_dims(output, _written(output, (batch, new_height, new_width, depth * block * block)))
    yield from free(source, output)


def _prepare_depth_to_space(node: Node) -> Steps[None]:
    file = "depth_to_space.cc"
    source, output = yield from _depth_tensors(node, file, 41)
    block = int_option(node, "DepthToSpaceOptions", "block_size")
    ensure(block > 0, f"{file}:61", "block_size > 0")
    batch, height, width, depth = source.shape
    new_depth = c_div(c_div(depth, block, f"{file}:67"), block, f"{file}:67")
    text = "output_channels * block_size * block_size"
    ensure_eq(depth, new_depth * block * block, f"{file}:71", "input_channels", text)
    yield from writable_dims(output, _written(output, (batch, height * block, width * block, new_depth)))
    yield from free(source, output)


_K = "tensorflow/lite/micro/kernels/"

MODELS: tuple[OpModel, ...] = (
    OpModel(
        "SPACE_TO_BATCH_ND",
        None,
        op_data("SpaceToBatchParams"),
        _batch_prepare("space_to_batch_nd.cc", 51, 58),
        _K + "space_to_batch_nd.cc",
    ),
    OpModel(
        "BATCH_TO_SPACE_ND",
        None,
        None,
        _batch_prepare("batch_to_space_nd.cc", 42, 51),
        _K + "batch_to_space_nd.cc",
    ),
    OpModel("SPACE_TO_DEPTH", "TfLiteSpaceToDepthParams", None, _prepare_space_to_depth, _K + "space_to_depth.cc"),
    OpModel("DEPTH_TO_SPACE", "TfLiteDepthToSpaceParams", None, _prepare_depth_to_space, _K + "depth_to_space.cc"),
)
