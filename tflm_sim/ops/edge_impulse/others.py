"""Edge Impulse's small operators: temps, seldom a scratch buffer or some bytes of OpData.

Source: tensorflow/lite/micro/kernels/{complex_abs,reduce,rfft2d,scatter_nd,select,tile,topk_v2,
tree_ensemble_classifier}.cc,
edgeimpulse/inferencing-sdk-cpp @ 919819f.
"""

from __future__ import annotations

from tflm_sim.model.types import TensorType
from tflm_sim.ops.edge_impulse.checks import refuse_unless, taken
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.prepare import OUTPUT, result, source
from tflm_sim.ops.reference.arithmetic import flat_size
from tflm_sim.ops.reference.broadcast import init_select
from tflm_sim.ops.reference.reduce import init_reduce, prepare_min_max
from tflm_sim.ops.requests import Persistent, Scratch, Steps
from tflm_sim.ops.roles import op_data

_FLOAT32, _COMPLEX64 = TensorType.FLOAT32, TensorType.COMPLEX64
_COMPLEX_BYTES = 8
_SCATTERED = (_FLOAT32, TensorType.UINT8, TensorType.BOOL, TensorType.INT8, TensorType.INT64, TensorType.INT32)


def _complex(node: Node) -> Steps[None]:
    k, value, output = yield from taken(node, source(), OUTPUT)
    refuse_unless((value.type, output.type) == (_COMPLEX64, _FLOAT32), f"types of {node.op}")
    yield from k.free(value, output)


def _rfft2d(node: Node) -> Steps[None]:
    k, value, length, output = yield from taken(node, source(0), source(1), OUTPUT)
    refuse_unless(len(value.shape) >= 2 and value.type == _FLOAT32, "the input of RFFT2D")
    refuse_unless(length.shape == (2,) and length.type == TensorType.INT32, "fft_length of RFFT2D")
    yield Scratch(flat_size(output) * _COMPLEX_BYTES, "kiss_fft_output")
    yield from k.free(value, length, output)


def _scatter_nd(node: Node) -> Steps[None]:
    k, indices, updates, shape = yield from taken(node, source(0), source(1), source(2))
    refuse_unless(updates.type in _SCATTERED, "the updates' type of SCATTER_ND")
    refuse_unless(
        indices.type == shape.type == TensorType.INT32 and shape.is_constant, "indices and shape of SCATTER_ND"
    )
    _, output = yield from taken(node, OUTPUT)
    asked = Kernel(node, "").constants(shape, k.dim(shape, 0), "shape")
    refuse_unless(output.shape == asked, "the output's shape of SCATTER_ND")
    yield from k.free(indices, updates, shape, output)


def _prepare_select(node: Node) -> Steps[None]:
    k = Kernel(node, "select.cc")
    k.counts(inputs=3)
    _, condition, x, y, output = yield from taken(node, source(0), source(1), source(2), OUTPUT)
    k.is_type(condition, TensorType.BOOL, "input_condition")
    k.same_type(x, y, "input_x", "input_y")
    tensors = condition, x, y, output
    is_single = all(flat_size(tensor) == 1 for tensor in tensors)
    if not is_single and not condition.shape == x.shape == y.shape:
        refuse_unless(condition.shape in ((), x.shape[:1]) and x.shape == y.shape, "shapes of SELECT")
    if not is_single or k.has("select_frees"):
        yield from k.free(*tensors)


def _init_tile(node: Node) -> Steps[object]:
    if node.target.runtime.has("edge_impulse_tile_data"):
        yield Persistent(node.target.sizeof("edge_impulse/tile.OpData"), "tile.OpData")
    return "tile.OpData"


def _tile(node: Node) -> Steps[None]:
    k, value, output, multipliers = yield from taken(node, source(0), OUTPUT, source(1))
    refuse_unless(multipliers.type in (TensorType.INT32, TensorType.INT64), "the multipliers' type of TILE")
    yield from k.free(value, output, multipliers)


def _topk(node: Node) -> Steps[None]:
    """What it takes as its output's values is its input once more."""
    k, value, top, indexes, values = yield from taken(node, source(0), source(1), result(1), source(0))
    yield from k.free(value, top, values, indexes)


def _tree(node: Node) -> Steps[None]:
    """The checks of its options, which a converter wrote, are left out."""
    k, value, output = yield from taken(node, source(), OUTPUT)
    refuse_unless(len(value.shape) == 2, "the input's rank of TreeEnsembleClassifier")
    yield from k.free(value, output)


_TREE = "tree_ensemble_classifier.cc"

MODELS: tuple[OpModel, ...] = (
    OpModel("COMPLEX_ABS", prepare=_complex, source="complex_abs.cc"),
    *(OpModel(op, prepare=_complex, source="real.cc") for op in ("IMAG", "REAL")),
    *(
        OpModel(op, "TfLiteReducerParams", init_reduce, prepare_min_max)
        for op in ("REDUCE_ALL", "REDUCE_ANY", "REDUCE_MIN")
    ),
    OpModel("RFFT2D", None, op_data("edge_impulse/rfft2d.OpData"), _rfft2d, source="rfft2d.cc"),
    OpModel("SCATTER_ND", prepare=_scatter_nd, source="scatter_nd.cc"),
    OpModel("SELECT", None, init_select, _prepare_select, source="select.cc"),
    OpModel("TreeEnsembleClassifier", None, op_data("edge_impulse/tree.OpDataTree"), _tree, source=_TREE),
    OpModel("TILE", None, _init_tile, _tile, source="tile.cc"),
    OpModel("TOPK_V2", prepare=_topk, source="topk_v2.cc"),
)
