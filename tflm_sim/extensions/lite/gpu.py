"""What the GPU delegate would take of a model, and the objects that its tensors become.

The delegate takes one partition, the largest, of the nodes whose operator it knows and whose tensors are floats (or
8-bit, which it reads as floats). Tensors between its nodes share memory: buffers by their bytes, textures only with
others of the same dimensions. The graph's inputs and outputs, and what the CPU reads, have memory of their own.

Source: tflite/delegates/gpu/common/model_builder.cc, common/task/tensor_desc.cc, cl/inference_context.cc
@ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from tflm_sim.errors import PlanningError
from tflm_sim.extensions.lite.graph_info import TfLiteNode, TfLiteTensor, present
from tflm_sim.extensions.lite.partition import NodeSubset, partition
from tflm_sim.extensions.lite.subgraph import TfLiteSubgraph
from tflm_sim.model.types import TensorType
from tflm_sim.planners.gpu import BHWC, MemoryStrategy, TensorUsageRecord, UInt2, UInt3, assign_objects_to_tensors
from tflm_sim.planners.gpu.by_size import greedy_by_size_offsets

_OPS = """
    ABS ADD ADD_N AVERAGE_POOL_2D BATCH_MATMUL CAST CONCATENATION CONV_2D COS CUMSUM DENSIFY DEPTHWISE_CONV_2D
    DEPTH_TO_SPACE DEQUANTIZE DIV EQUAL ELU EXP FLOOR FLOOR_DIV FLOOR_MOD FULLY_CONNECTED GATHER GELU GREATER
    GREATER_EQUAL HARD_SWISH LESS LESS_EQUAL LOGISTIC LOG LOGICAL_AND LSTM MAXIMUM MAX_POOL_2D MEAN MINIMUM MIRROR_PAD
    MUL NEG NOT_EQUAL ONE_HOT PACK PAD PADV2 POW REDUCE_MAX REDUCE_MIN REDUCE_PROD QUANTIZE RELU RELU6 RELU_0_TO_1
    RELU_N1_TO_1 LEAKY_RELU PRELU RESHAPE RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR RSQRT SELECT SELECT_V2 SIGN SIN SLICE
    SOFTMAX SPACE_TO_DEPTH SPLIT SPLIT_V SQRT SQUARE SQUARED_DIFFERENCE STRIDED_SLICE SUB SUM TANH TILE TRANSPOSE
    TRANSPOSE_CONV UNPACK
"""
_CUSTOM_OPS = ("Convolution2DTransposeBias", "MaxPoolingWithArgmax2D", "MaxUnpooling2D", "Resampler")
_FLOATS = (TensorType.FLOAT32, TensorType.FLOAT16)
_INTEGERS = (TensorType.INT8, TensorType.UINT8)
_COMPARISONS = ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL")
_MORE_INPUTS: dict[str, tuple[int, ...]] = {
    "CAST": (TensorType.BOOL, TensorType.INT32),
    "ONE_HOT": (TensorType.INT32,),
    "SELECT": (TensorType.BOOL,),
    "SELECT_V2": (TensorType.BOOL,),
    "LOGICAL_AND": (TensorType.BOOL,),
    "GATHER": (TensorType.INT32,),
}
_MORE_OUTPUTS: dict[str, tuple[int, ...]] = {
    "CAST": (TensorType.BOOL, TensorType.INT32),
    "LOGICAL_AND": (TensorType.BOOL,),
    **dict.fromkeys(_COMPARISONS, (TensorType.BOOL,)),
}


class Storage(Enum):
    """What a tensor is on the GPU."""

    BUFFER = "buffer"
    TEXTURE_2D = "texture-2d"
    TEXTURE_3D = "texture-3d"
    BHWC = "bhwc"


@dataclass(frozen=True, slots=True)
class GpuPartition:
    """What the delegate takes of a subgraph.

    Attributes:
        nodes: Its nodes; the rest runs on the CPU.
        refused: The names of operators that it does not take, or whose tensors it does not.
        records: Tensor index and usage of each tensor between its nodes, by first task; tasks count its nodes.
    """

    nodes: tuple[int, ...]
    refused: tuple[str, ...]
    records: tuple[tuple[int, int, int], ...]


def taken(subgraph: TfLiteSubgraph) -> GpuPartition:
    """Return what the delegate takes: by operator and tensor types, not by every condition of its parsers."""
    supported = [index for index in subgraph.execution_plan if _is_supported(subgraph, subgraph.nodes[index])]
    others = {subgraph.nodes[index].registration.name for index in subgraph.execution_plan if index not in supported}
    subsets = [subset for subset in partition(subgraph, supported) if subset.is_delegated]
    if not subsets:
        return GpuPartition((), tuple(sorted(others)), ())
    largest = max(subsets, key=lambda subset: len(subset.nodes))
    return GpuPartition(largest.nodes, tuple(sorted(others)), tuple(_records(subgraph, largest)))


def _is_supported(subgraph: TfLiteSubgraph, node: TfLiteNode) -> bool:
    op = node.registration.op
    if op not in _OPS.split() and node.registration.custom_name not in _CUSTOM_OPS:
        return False
    tensors = [subgraph.tensors[index] for index in present(node.inputs)]
    inputs = (*_FLOATS, *_INTEGERS, *_MORE_INPUTS.get(op, ()))
    outputs = (*_FLOATS, *_INTEGERS, *_MORE_OUTPUTS.get(op, ()))
    results = [subgraph.tensors[index] for index in present(node.outputs)]
    takes_inputs = all(tensor.is_constant or tensor.type in inputs for tensor in tensors)
    return takes_inputs and all(tensor.type in outputs and 1 <= tensor.rank <= 4 for tensor in results)


def _records(subgraph: TfLiteSubgraph, subset: NodeSubset) -> list[tuple[int, int, int]]:
    """Return (tensor, first task, last task) of what stays inside of the delegate's node."""
    usage: dict[int, tuple[int, int]] = {}
    outside = {*subset.input_tensors, *subset.output_tensors}
    for task, index in enumerate(subset.nodes):
        node = subgraph.nodes[index]
        for tensor in present((*node.inputs, *node.outputs)):
            if tensor not in outside and not subgraph.tensors[tensor].is_constant:
                usage[tensor] = (usage.get(tensor, (task, task))[0], task)
    return sorted(((tensor, *tasks) for tensor, tasks in usage.items()), key=lambda row: (row[1], row[0]))


def shape_of(tensor: TfLiteTensor) -> BHWC:
    """Return a tensor's shape as the delegate reads it: B, BC, BWC or BHWC."""
    sizes = tensor.shape
    middle = {1: (1, 1, 1), 2: (1, 1, sizes[-1]), 3: (1, *sizes[1:])}
    return BHWC(sizes[0], *(middle[len(sizes)] if len(sizes) < 4 else sizes[1:4]))


def size_of(tensor: TfLiteTensor, storage: Storage, element_bytes: int) -> int | UInt2 | UInt3 | BHWC:
    """Return a tensor's size on the GPU: channels come in slices of four."""
    shape = shape_of(tensor)
    slices = -(-shape.c // 4)
    if storage is Storage.BUFFER:
        return shape.b * shape.h * shape.w * slices * 4 * element_bytes
    if storage is Storage.TEXTURE_2D:
        return UInt2(shape.w * shape.b, shape.h * slices)
    return UInt3(shape.w * shape.b, shape.h, slices) if storage is Storage.TEXTURE_3D else shape


@dataclass(frozen=True, slots=True)
class StrategyResult:
    """What a strategy makes of the tensors.

    Attributes:
        strategy: Its name.
        objects: How many objects it makes; None where it does not know the storage.
        bytes: Their bytes together; None for BHWC, whose bytes depend on the storage.
        offsets_bytes: The bytes of one block, for buffers.
    """

    strategy: str
    objects: int | None
    bytes: int | None
    offsets_bytes: int | None


def strategies(
    subgraph: TfLiteSubgraph, what: GpuPartition, storage: Storage, *, element_bytes: int = 4
) -> list[StrategyResult]:
    """Return a row for each of the delegate's memory strategies.

    Args:
        subgraph: The allocated subgraph.
        what: What ``taken`` returned for it.
        storage: What the tensors become.
        element_bytes: 4 for FP32, 2 for FP16.
    """
    records = [
        TensorUsageRecord(size_of(subgraph.tensors[index], storage, element_bytes), first, last)
        for index, first, last in what.records
    ]
    return [_row(strategy, records, storage, element_bytes) for strategy in MemoryStrategy]


def _row(
    strategy: MemoryStrategy,
    records: Sequence[TensorUsageRecord[int | UInt2 | UInt3 | BHWC]],
    storage: Storage,
    element_bytes: int,
) -> StrategyResult:
    try:
        objects = assign_objects_to_tensors(records, strategy)
    except PlanningError:
        return StrategyResult(strategy.value, None, None, None)
    sizes = [_bytes(size, element_bytes) for size in objects.object_sizes]
    total = None if storage is Storage.BHWC else sum(sizes)
    block = total if storage is Storage.BUFFER else None
    if storage is Storage.BUFFER and strategy is MemoryStrategy.GREEDY_BY_SIZE:  # the one that thinks in offsets
        plain = [
            TensorUsageRecord(record.tensor_size, record.first_task, record.last_task)
            for record in records
            if isinstance(record.tensor_size, int)
        ]
        block = greedy_by_size_offsets(plain).total_size
    return StrategyResult(strategy.value, len(sizes), total, block)


def _bytes(size: int | UInt2 | UInt3 | BHWC, element_bytes: int) -> int:
    if isinstance(size, int):
        return size
    texels = size.x * size.y * (size.z if isinstance(size, UInt3) else 1) if not isinstance(size, BHWC) else 0
    return texels * 4 * element_bytes
