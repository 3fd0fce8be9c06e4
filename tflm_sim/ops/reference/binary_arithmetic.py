"""Operators of two tensors: ADD, SUB, MUL, DIV, SQUARED_DIFFERENCE, MAXIMUM, MINIMUM, FLOOR_DIV, FLOOR_MOD, EQUAL,
NOT_EQUAL, GREATER, GREATER_EQUAL, LESS and LESS_EQUAL; and ADD_N.

Most keep an OpData from Init and take both inputs and the output as temps; MAXIMUM and MINIMUM have neither Init nor
Prepare, the comparisons one of each for all six. ADD_N asks for an array of pointers to its inputs as scratch.

Source: tensorflow/lite/micro/kernels/{add_common,sub_common,mul_common,div,squared_difference,add_n,maximum_minimum,
comparisons,floor_div,floor_mod}.cc @ 90b983c.
"""

from __future__ import annotations

from tflm_sim.model.element_types import type_name
from tflm_sim.model.types import TensorType
from tflm_sim.ops.eval_types import CMSIS_NN, ESP_NN, PLAIN, EvalRow, Switch, known_types
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.options import fused_activation
from tflm_sim.ops.prepare import OP_DATA, OUTPUT, Prepare, counts, source
from tflm_sim.ops.reference.quantization import check_activation_range, check_smaller_than_one, divide
from tflm_sim.ops.requests import KernelTensor, Persistent, Scratch, Steps
from tflm_sim.ops.roles import fail, op_data
from tflm_sim.units import float32

_FLOAT32, _INT8, _INT16, _INT32 = TensorType.FLOAT32, TensorType.INT8, TensorType.INT16, TensorType.INT32
_UINT8 = TensorType.UINT8
_QUANTIZED = (_INT8, _INT16, _UINT8)
_ADD_SINCE: dict[int, str] = {_INT16: "cmsis_add_int16", _UINT8: "early_uint8_kernels"}
_SUB_SINCE: dict[int, str] = {_INT16: "kernels_8x16", _UINT8: "uint8_kernels"}
_MUL_SINCE: dict[int, str] = {_INT16: "mul_int16", _UINT8: "early_uint8_kernels"}
OPERANDS = source(0, "input1"), source(1, "input2"), OUTPUT
_NAMES = tuple(take.name for take in OPERANDS)


def _ensure_plain_int32(k: Kernel, *tensors: KernelTensor) -> None:
    for tensor, name in zip(tensors, _NAMES, strict=False):
        k.not_quantized(tensor, name)


def _add(k: Kernel, input1: KernelTensor, input2: KernelTensor, output: KernelTensor) -> None:
    if k.knows(output.type, _QUANTIZED, _ADD_SINCE):
        refuse = k.ensure if k.has("prepare_checks") else k.check
        refuse(output.affine is not None, "output->quantization.type != kTfLiteNoQuantization")
        check_sum(k, input1, input2, output)
    if output.type == _INT32:
        _ensure_plain_int32(k, input1, input2)


def check_sum(k: Kernel, input1: KernelTensor, input2: KernelTensor, output: KernelTensor) -> None:
    """What ADD's ``CalculateOpData`` insists on for int8 and int16."""
    k.node.check_tensors(_sum_scales, input1, input2, output)
    check_activation_range(k.node, fused_activation(k.node, "AddOptions"), output)


def _sum_scales(node: Node, input1: KernelTensor, input2: KernelTensor, output: KernelTensor) -> None:
    twice_max = 2 * max(input1.scale, input2.scale)
    multipliers = divide(input1.scale, twice_max), divide(input2.scale, twice_max)
    check_smaller_than_one(*multipliers, divide(twice_max, (1 << _left_shift(output)) * output.scale))


def _sub(k: Kernel, input1: KernelTensor, input2: KernelTensor, output: KernelTensor) -> None:
    if k.knows(output.type, _QUANTIZED, _SUB_SINCE):
        twice_max = float32(2 * max(input1.scale, input2.scale))
        shifted_output_scale = float32((1 << _left_shift(output)) * output.scale)
        check_smaller_than_one(
            float32(divide(input1.scale, twice_max)),
            float32(divide(input2.scale, twice_max)),
            float32(divide(twice_max, shifted_output_scale)),
        )
        check_activation_range(k.node, fused_activation(k.node, "SubOptions"), output)
    if output.type == _INT32:
        _ensure_plain_int32(k, input1, input2, output)


def _left_shift(output: KernelTensor) -> int:
    """The headroom of the sum: so that a shifted input still fits 32 bits."""
    return 15 if output.type == _INT16 else 20


def check_product(k: Kernel, input1: KernelTensor, input2: KernelTensor, output: KernelTensor) -> None:
    """What every MUL insists on."""
    k.counts(inputs=2)
    k.same_type(input1, input2, "input1", "input2")
    if k.knows(output.type, _QUANTIZED, _MUL_SINCE):
        check_activation_range(k.node, fused_activation(k.node, "MulOptions"), output)


def _product(k: Kernel, input1: KernelTensor, input2: KernelTensor, output: KernelTensor) -> None:
    """``CalculateOpDataMul``."""
    check_product(k, input1, input2, output)
    if output.type in (_INT8, _INT16) and input1.type == _INT16:
        for tensor, name in zip((input1, input2, output), _NAMES, strict=True):
            k.ensure_eq(tensor.zero_point, 0, f"data->{name}_zero_point")


def _div(k: Kernel, input1: KernelTensor, input2: KernelTensor, output: KernelTensor) -> None:
    k.same_type(input1, input2, "input1", "input2")
    k.same_type(input1, output, "input1")
    if output.type == _INT8:
        check_activation_range(k.node, fused_activation(k.node, "DivOptions"), output)
    if output.type == _INT32:
        _ensure_plain_int32(k, input1, input2)


def _squared_difference(k: Kernel, input1: KernelTensor, input2: KernelTensor, output: KernelTensor) -> None:
    k.same_type(input1, input2, "input1", "input2")
    if k.knows(input1.type, (_INT8, _INT16), {_INT16: "squared_difference_int16"}):
        _check_zero_points(k, input1, input2, output)
        twice_max = 2 * max(input1.scale, input2.scale)
        check_smaller_than_one(divide(input1.scale, twice_max), divide(input2.scale, twice_max))
        if not k.has("squared_difference_int16"):
            squared = twice_max * twice_max
            check_smaller_than_one(divide(squared, (1 << 7 * 2) * output.scale))


def _check_zero_points(k: Kernel, *tensors: KernelTensor) -> None:
    """int8 zero points have to fit int8, int16 ones have to be 0."""
    for tensor, name in zip(tensors, _NAMES, strict=True):
        text = f"{name}_quantization_params.zero_point"
        if tensors[0].type == _INT8:
            k.ensure(tensor.zero_point >= -128, f"{text} >= integer_type_min")
            k.ensure(tensor.zero_point <= 127, f"{text} <= integer_type_max")
        else:
            k.ensure(tensor.zero_point == 0, f"{text} == 0")


def _prepare_add_n(node: Node) -> Steps[None]:
    k = Kernel(node, "add_n.cc")
    input_count = len(node.inputs)
    k.ensure(input_count >= 2, "num_inputs >= 2")
    k.ensure_eq(len(node.outputs), 1, "NumOutputs(node)")
    first = yield from k.input(0, "input_tensor_first")
    output = yield from k.output(0)
    k.same_type(output, first, "output", "input_tensor_first")
    for position in range(1, input_count):
        tensor = yield from k.input(position)
        _ensure_alike(k, first, tensor)
        yield from k.free(tensor)
    if output.type not in (_FLOAT32, _INT8):
        raise fail(f"ADD_N only supports FLOAT32 and INT8, got {type_name(output.type)}.")
    if output.type == _INT8:
        yield Persistent(node.target.sizeof("add_n.OpData"), "add_n.OpData")
    yield Scratch(node.target.abi.pointer_size * input_count, "input_pointers")
    if output.type == _INT8:
        twice = 2 * first.scale
        check_smaller_than_one(divide(first.scale, twice), divide(twice, (1 << 20) * output.scale))
    yield from k.free(first, output)


def _ensure_alike(k: Kernel, first: KernelTensor, tensor: KernelTensor) -> None:
    """All inputs of ADD_N have one shape and type, and in int8 one quantization."""
    k.ensure(first.shape == tensor.shape, "HaveSameShapes(input_tensor_first, input)")
    k.same_type(first, tensor, "input_tensor_first", "input")
    if first.type == _INT8:
        same_zero_point = first.zero_point == tensor.zero_point
        k.ensure(same_zero_point, "input_tensor_first->params.zero_point == input->params.zero_point")
        k.ensure(first.scale == tensor.scale, "input_tensor_first->params.scale == input->params.scale")


def _compare(k: Kernel, input1: KernelTensor, input2: KernelTensor) -> None:
    if k.knows(input1.type, (_INT8, _UINT8), {_UINT8: "uint8_kernels"}):
        check_smaller_than_one(input1.scale, input2.scale)


_COMPARISON = Prepare("comparisons.cc", OP_DATA, takes=(source(0, "input1"), source(1, "input2")), body=_compare)


def _init_nothing(_node: Node) -> Steps[object]:
    """Allocate nothing; the null pointer is not None here, which would mean that an allocation failed."""
    yield from ()
    return "no op data"


def _one_type(k: Kernel, input1: KernelTensor, input2: KernelTensor, output: KernelTensor) -> None:
    """``CalculateOpData``."""
    k.same_type(input1, input2, "input1", "input2")
    k.same_type(input1, output, "input1")


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "ADD", "TfLiteAddParams", op_data("OpDataAdd"), Prepare("add_common.cc", OP_DATA, takes=OPERANDS, body=_add)
    ),
    OpModel(
        "SUB", "TfLiteSubParams", op_data("OpDataSub"), Prepare("sub_common.cc", OP_DATA, takes=OPERANDS, body=_sub)
    ),
    OpModel(
        "MUL", "TfLiteMulParams", op_data("OpDataMul"), Prepare("mul_common.cc", OP_DATA, takes=OPERANDS, body=_product)
    ),
    OpModel("DIV", "TfLiteDivParams", op_data("div.OpDataDiv"), Prepare("div.cc", OP_DATA, takes=OPERANDS, body=_div)),
    OpModel(
        "SQUARED_DIFFERENCE",
        init=op_data("squared_difference.OpData"),
        prepare=Prepare("squared_difference.cc", OP_DATA, counts(2), takes=OPERANDS, body=_squared_difference),
    ),
    OpModel("ADD_N", prepare=_prepare_add_n),
    OpModel("MAXIMUM", source="maximum_minimum.cc"),
    OpModel("MINIMUM", source="maximum_minimum.cc"),
    *(
        OpModel(op, init=op_data("comparisons.OpData"), prepare=_COMPARISON)
        for op in ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL")
    ),
    *(
        OpModel(op, init=_init_nothing, prepare=Prepare(file, counts(2), takes=OPERANDS, body=_one_type))
        for op, file in (("FLOOR_DIV", "floor_div.cc"), ("FLOOR_MOD", "floor_mod.cc"))
    ),
)

_DIV_PAIR = "Unsupported combination of input and output types in DIV."
_EXTREMUM = "Type {name} ({number}) is not supported by Maximum/Minimum."

EVALS: tuple[EvalRow, ...] = (
    known_types("ADD", "o0", "FLOAT32 INT32 INT8 INT16", PLAIN, 1103),
    known_types("ADD", "o0", "FLOAT32 INT8 INT16", PLAIN, 146),
    known_types("ADD", "o0", "FLOAT32 INT8", PLAIN),
    # Source: kernels/esp_nn/add.cc @ v1.2.0 of esp-tflite-micro (upstream of 2023-09-29), and v1.3.0 (2024-04-29)
    known_types("ADD", "o0", "FLOAT32 INT32 INT8 INT16", PLAIN, 1472, ESP_NN),
    known_types("ADD", "o0", "FLOAT32 INT8 INT16", PLAIN, 0, ESP_NN),
    known_types("ADD_N", "o0", "FLOAT32 INT8", "ADD_N only supports FLOAT32 and INT8, got {name}."),
    known_types("EQUAL NOT_EQUAL", "i0", "BOOL FLOAT32 INT32 INT64 INT8", PLAIN),
    known_types("GREATER", "i0", "FLOAT32 INT32 INT64 INT8 INT16", PLAIN, 1620),
    known_types("GREATER GREATER_EQUAL LESS LESS_EQUAL", "i0", "FLOAT32 INT32 INT64 INT8", PLAIN),
    EvalRow(
        "DIV",
        (
            Switch(
                "o0",
                "FLOAT32 INT32 INT8",
                "DIV only supports FLOAT32, INT32, quantized INT8 now, got type {name} ({number}).",
            ),
            Switch("i0", "INT8", _DIV_PAIR, when="o0 INT8"),
            Switch("i1", "INT8", _DIV_PAIR, when="o0 INT8"),
        ),
        1335,
    ),
    EvalRow(
        "DIV",
        (
            Switch("o0", "FLOAT32 INT8", "DIV only supports FLOAT32, quantized INT8 now, got type {name} ({number})."),
            Switch("i0", "INT8", _DIV_PAIR, when="o0 INT8"),
            Switch("i1", "INT8", _DIV_PAIR, when="o0 INT8"),
        ),
    ),
    known_types("FLOOR_DIV", "i0", "FLOAT32", "Type '{name}' is not supported by FLOOR_DIV."),
    known_types("FLOOR_MOD", "i0", "FLOAT32", "Type '{name}' is not supported by FLOOR_MOD."),
    known_types("MAXIMUM MINIMUM", "o0", "FLOAT32 INT8 INT16 INT32 INT64", _EXTREMUM, 1524),
    known_types("MAXIMUM MINIMUM", "o0", "FLOAT32 INT8 INT32 INT64", _EXTREMUM),
    known_types("MUL", "i0", "INT8 INT16 INT32 FLOAT32", PLAIN, 965),
    known_types("MUL", "i0", "INT8 INT32 FLOAT32", PLAIN, 350),
    known_types("MUL", "i0", "INT8 FLOAT32", PLAIN),
    known_types("MUL", "i0", "INT8 INT16 INT32 FLOAT32", PLAIN, 964, CMSIS_NN),
    # Source: kernels/esp_nn/mul.cc @ v1.3.0 of esp-tflite-micro, and v1.3.1 (upstream of 2024-05-29)
    known_types("MUL", "i0", "INT8 INT16 INT32 FLOAT32", PLAIN, 1495, ESP_NN),
    known_types("MUL", "i0", "INT8 INT32 FLOAT32", PLAIN, 0, ESP_NN),
    known_types(
        "SQUARED_DIFFERENCE",
        "o0",
        "FLOAT32 INT32 INT8 INT16",
        "SquaredDifference only supports FLOAT32, INT32 , INT16 and INT8 now, got {number}.",
        1064,
    ),
    known_types(
        "SQUARED_DIFFERENCE",
        "o0",
        "FLOAT32 INT32 INT8",
        "SquaredDifference only supports FLOAT32, INT32 and INT8 now, got {number}.",
    ),
    known_types("SUB", "o0", "FLOAT32 INT32 INT8 INT16", PLAIN, 1637),
    known_types("SUB", "o0", "FLOAT32 INT8 INT16", PLAIN, 139),
    known_types("SUB", "o0", "FLOAT32 INT8", PLAIN),
)
