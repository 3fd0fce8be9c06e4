"""The own kernels of Edge Impulse's SDKs of August 2021 to August 2023, on TFLM of April 2021.

ADD_N asks for an array of pointers, of float32 alone; the others keep nothing in the arena. SELECT takes its OpData
from C++'s new, GATHER its output's dims from malloc(): neither is counted.

Source: tensorflow/lite/micro/kernels/{add_n,gather,l2_pool_2d,select}.cc, edgeimpulse/inferencing-sdk-cpp @ abf7f15.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.edge_impulse.checks import refuse_unless, taken
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import int_option
from tflm_sim.ops.prepare import INPUT, OUTPUT, source
from tflm_sim.ops.requests import Scratch, Steps

_INDICES = (TensorType.INT32, TensorType.INT64)
_GATHERED = (
    TensorType.FLOAT32,
    TensorType.UINT8,
    TensorType.INT8,
    TensorType.INT16,
    TensorType.INT64,
    TensorType.INT32,
    TensorType.BOOL,
)


def _add_n(node: Node) -> Steps[None]:
    _, output, *values = yield from taken(node, OUTPUT, *map(source, range(len(node.inputs))))
    refuse_unless(len(values) >= 2, "ADD_N of less than two tensors")
    refuse_unless(all(value.shape == values[0].shape for value in values), "shapes of ADD_N")
    refuse_unless(all(value.type == output.type for value in values), "types of ADD_N")
    refuse_unless(output.type == TensorType.FLOAT32, "ADD_N of another type than float32")
    yield Scratch(node.target.abi.pointer_size * len(values), "input_pointers")


def _gather(node: Node) -> Steps[None]:
    _, value, positions, _ = yield from taken(node, INPUT, source(1, "positions"), OUTPUT)
    refuse_unless(positions.type in _INDICES and value.type in _GATHERED, "types of GATHER")
    rank, axis = len(value.shape), int_option(node, "GatherOptions", "axis")
    refuse_unless(-rank <= axis < rank, "the axis of GATHER")


def _l2_pool(node: Node) -> Steps[None]:
    _, value, output = yield from taken(node, INPUT, OUTPUT)
    refuse_unless(len(value.shape) == len(output.shape) == 4, "ranks of L2_POOL_2D")
    refuse_unless(value.type == output.type == TensorType.FLOAT32, "types of L2_POOL_2D")


def _select(node: Node) -> Steps[None]:
    _, condition, x, y, _ = yield from taken(node, *map(source, range(3)), OUTPUT)
    refuse_unless(condition.type == TensorType.BOOL and x.type == y.type, f"types of {node.op}")
    if node.op == "SELECT" and not condition.shape == x.shape == y.shape:
        refuse_unless(condition.shape in ((), x.shape[:1]) and x.shape == y.shape, "shapes of SELECT")


MODELS: tuple[OpModel, ...] = (
    OpModel("ADD_N", prepare=_add_n),
    OpModel("GATHER", "TfLiteGatherParams", prepare=_gather),
    OpModel("L2_POOL_2D", "TfLitePoolParams", prepare=_l2_pool),
    OpModel("SELECT", prepare=_select),
    OpModel("SELECT_V2", prepare=_select),
)
