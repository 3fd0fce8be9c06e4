"""PAD, PADV2 and MIRROR_PAD.

Source: tensorflow/lite/micro/kernels/{pad,pad_common,mirror_pad}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.element_types import C_TYPES, INTEGER_LIMITS
from tflm_sim.model.types import TensorType
from tflm_sim.ops.eval_types import EvalRow, known_types
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.prepare import INPUT, OP_DATA, OUTPUT, Prepare, result, source, trusted, unchecked
from tflm_sim.ops.reference.arithmetic import flat_size
from tflm_sim.ops.requests import KernelTensor, Scratch, Steps
from tflm_sim.ops.roles import op_data
from tflm_sim.units import int32

_FILE = "pad_common.cc"
_MAX_RANK = 5
_INT_SIZE = 4


def _two_or_three_inputs(k: Kernel) -> None:
    k.ensure(len(k.node.inputs) in (2, 3), "NumInputs(node) == 2 || NumInputs(node) == 3")
    k.ensure_eq(len(k.node.outputs), 1, "NumOutputs(node)")


def _pad(
    k: Kernel, source: KernelTensor, paddings: KernelTensor, constant: KernelTensor | None, output: KernelTensor
) -> None:
    k.same_c_type(source, output)
    limit = "NumDimensions(input) <= reference_ops::PadKernelMaxDimensionCount()"
    k.ensure(len(source.shape) <= _MAX_RANK, limit)
    if constant is not None:
        k.same_c_type(source, constant, "input", "constant_values")
        k.ensure_count_eq(constant.flat_size, 1, "NumElements(constant_values)", "1")
    _ensure_padded_shape(k, source, paddings, output)
    if k.knows(source.type, (TensorType.INT8, TensorType.UINT8), {TensorType.UINT8: "uint8_kernels"}):
        k.node.check_tensors(_ensure_pad_value, constant, output, source)


def _ensure_padded_shape(k: Kernel, source: KernelTensor, paddings: KernelTensor, output: KernelTensor) -> None:
    """Check that the output has the input's dims plus the paddings, a constant pair for each dim."""
    rank = len(output.shape)
    k.ensure_eq(flat_size(paddings), rank * 2, "GetTensorShape(paddings).FlatSize()", "output->dims->size * 2")
    if not k.has("constant_checks"):
        k.ensure(paddings.is_constant, "IsConstantTensor(paddings)")
    k.ensure_msg(paddings.is_constant, "Non-constant >paddings< tensor is not supported")
    values = k.constants(paddings, rank * 2, "paddings")
    for i, size in enumerate(output.shape):
        expected = int32(k.dim(source, i) + values[2 * i] + values[2 * i + 1])
        k.ensure_eq(size, expected, "output_dim", "expected_dim")


def _ensure_pad_value(node: Node, constant: KernelTensor | None, output: KernelTensor, source: KernelTensor) -> None:
    """Check that the padding value can be written in the output's quantization."""
    k = Kernel(node, _FILE)
    zero_point = "output->params.zero_point"
    if constant is None:
        (lowest, highest), name = INTEGER_LIMITS[source.type], C_TYPES[source.type]
        k.ensure(output.zero_point >= lowest, f"{zero_point} >= std::numeric_limits<{name}>::min()")
        k.ensure(output.zero_point <= highest, f"{zero_point} <= std::numeric_limits<{name}>::max()")
        return
    k.ensure_eq(output.zero_point, constant.zero_point, zero_point, "constant_values->params.zero_point")
    texts = "static_cast<double>(output->params.scale)", "static_cast<double>(constant_values->params.scale)"
    k.ensure_double_eq(output.scale, constant.scale, *texts)


def _mirror_pad(k: Kernel, source: KernelTensor, paddings: KernelTensor, output: KernelTensor) -> Steps[None]:
    k.rank(paddings, 2, "padding_matrix")
    rank = len(source.shape)
    k.ensure_eq(paddings.shape[0], rank, "SizeOfDimension(padding_matrix, 0)", "NumDimensions(input_tensor)")
    k.use(output)
    yield Scratch(rank * _INT_SIZE, "output_dims_num_elements")
    yield Scratch(rank * _INT_SIZE, "input_dims_num_elements")


PAD_PREPARE = Prepare(
    _FILE,
    OP_DATA,
    _two_or_three_inputs,
    takes=(INPUT, source(1, "paddings"), unchecked(source(2, "constant_values")), OUTPUT),
    body=_pad,
)
_MIRROR = trusted(source(0, "input_tensor"), source(1, "padding_matrix"), result(0, "output_tensor"))

MODELS: tuple[OpModel, ...] = (
    OpModel("PAD", init=op_data("OpData"), prepare=PAD_PREPARE),
    OpModel("PADV2", init=op_data("OpData"), prepare=PAD_PREPARE),
    OpModel(
        "MIRROR_PAD",
        "TfLiteMirrorPaddingParams",
        op_data("mirror_pad.OpDataMirrorPad"),
        Prepare("mirror_pad.cc", OP_DATA, takes=_MIRROR, body=_mirror_pad),
    ),
)

_PAD = "Type {name} not currently supported by Pad."

EVALS: tuple[EvalRow, ...] = (
    known_types("MIRROR_PAD", "o0", "FLOAT32 INT8", ""),
    known_types("PAD PADV2", "i0", "FLOAT32 INT8 INT16 INT32", _PAD, 324),
    known_types("PAD PADV2", "i0", "FLOAT32 INT8 INT32", _PAD),
)
