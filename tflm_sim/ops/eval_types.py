"""Which element types the kernels' Eval knows, and what it prints of others: one row for a version of an operator.

Prepare lets more types through than Eval computes, so that a model is allocated which can never be invoked. A row says
which types Eval's switches have, in the order in which Eval looks at them:

    EvalRow("NEG", (Switch("i0", "FLOAT32", "Type {name} ({number}) not supported."),))

Read in tensorflow/lite/micro/kernels @ 90b983c and in the history of these files from 2021-04-09 on. UINT8 is not
judged where TFLM still had kernels of it (``uint8_kernels``). An operator without a row has no such switch, or its
Prepare refuses the same types.
"""

from __future__ import annotations

from tflm_sim.values import NamedTuple


class Switch(NamedTuple):
    """A tensor's type that Eval looks at.

    Attributes:
        tensor: Which: "i0" is the first input, "o0" the first output.
        types: Those that it knows, as the schema names them.
        says: What the device prints for another one; {name} and {number} are of the type that it prints, {input} and
            {output} name the types of the first input and output; "" where it prints nothing. Before the words of a
            TF_LITE_ENSURE it also prints file and line.
        named: The tensor whose type it prints; "" for ``tensor``.
        when: "i0 INT8": only where that tensor has that type; "" for always.
    """

    tensor: str
    types: str
    says: str
    named: str = ""
    when: str = ""


class EvalRow(NamedTuple):
    """What Eval of some operators knows, from a version on.

    Attributes:
        ops: Their names.
        switches: In Eval's order.
        since: The first position in upstream's history (``targets/changes.py``) that has them.
        library: Whose kernels.
    """

    ops: str
    switches: tuple[Switch, ...]
    since: int = 0
    library: str = "reference"


_PLAIN = "Type {name} ({number}) not supported."
_INPUT = "Input type {name} ({number}) not supported."
_OUTPUT = "Output type {name} ({number}) not supported."
_BOTH = "Input {input}, output {output} not supported."
_BIAS = Switch("i2", "INT32 INT64", "Bias type {name} ({number}) not supported.", when="i0 INT16")
_FILTER = "Filter type {name} ({number}) not supported."
_FILTER_FOR = "Filter type {name} ({number}) for input type {input} not supported."
_INT8_OR_4 = "INT8 INT4"
_DIV_PAIR = "Unsupported combination of input and output types in DIV."
_ARG_NAMED = "Only int32_t are supported currently, got {name}."
_SUPPORTED = "Only float32 is supported currently, got {name}"
_CONCATENATION = "Op Concatenation does not currently support Type '{name}'."
_EXPAND_DIMS = "Expand_Dims only currently supports int8, int16 and float32, got {number}."
_LEAKY_RELU = "Only float32, int8 are supported by LEAKY_RELU, got {name}."
_EXTREMUM = "Type {name} ({number}) is not supported by Maximum/Minimum."
_PACK = "Type '{name}' is not supported by pack."
_UNPACK = "Type '{name}' is not supported by unpack."
_PAD = "Type {name} not currently supported by Pad."
_AVERAGE = "Input type {name} is not currently supported"
_MAX = "Type {name} not currently supported."
_SLICE = "Input tensor type {name} ({number}) not supported."
_BEGIN = Switch("i1", "INT32 INT64", "Begin tensor type {name} ({number}) not supported.", named="i0")
_TRANSPOSE = "Type {name} is currently not supported by Transpose. "
_CMSIS = "cmsis_nn"


def _one(ops: str, tensor: str, types: str, says: str, since: int = 0, library: str = "reference") -> EvalRow:
    """Return the row of a single switch."""
    return EvalRow(ops, (Switch(tensor, types, says),), since, library)


ROWS: tuple[EvalRow, ...] = (
    _one("RELU RELU6", "i0", "FLOAT32 INT8 INT16", "Only float32/int8/int16 is supported currently, got {name}", 1623),
    _one("RELU6", "i0", "FLOAT32 INT8 INT16", _SUPPORTED, 1535),
    _one("RELU RELU6", "i0", "FLOAT32 INT8", _SUPPORTED),
    _one("ADD", "o0", "FLOAT32 INT32 INT8 INT16", _PLAIN, 1103),
    _one("ADD", "o0", "FLOAT32 INT8 INT16", _PLAIN, 146),
    _one("ADD", "o0", "FLOAT32 INT8", _PLAIN),
    _one("ADD_N", "o0", "FLOAT32 INT8", "ADD_N only supports FLOAT32 and INT8, got {name}."),
    EvalRow(
        "ARG_MAX ARG_MIN",
        (
            Switch("i1", "INT32", _ARG_NAMED),
            Switch("o0", "INT32", _ARG_NAMED),
            Switch("i0", "FLOAT32 INT8", "Only float32, uint8_t and int8_t are supported currently, got {name}."),
        ),
    ),
    _one("BATCH_MATMUL", "i0", "FLOAT32 INT8 INT16", "BATCH_MATMUL doesn't support input type {name}"),
    _one(
        "BATCH_MATMUL",
        "i0",
        "FLOAT32 INT8 INT16",
        "CMSIS-NN Batch Matmul: Type {name} ({number}) not supported.",
        1525,
        _CMSIS,
    ),
    _one("BATCH_TO_SPACE_ND SPACE_TO_BATCH_ND", "i0", "FLOAT32 INT8", _PLAIN),
    EvalRow(
        "CAST",
        (
            Switch("i0", "INT8 INT16 INT32 UINT32 FLOAT32 BOOL", _INPUT),
            Switch("o0", "INT8 INT16 INT32 UINT32 FLOAT32", _OUTPUT),
        ),
        1418,
    ),
    EvalRow(
        "CAST",
        (
            Switch("i0", "INT8 INT16 INT32 UINT32 FLOAT32", _INPUT),
            Switch("o0", "INT8 INT16 INT32 UINT32 FLOAT32", _OUTPUT),
        ),
        1334,
    ),
    EvalRow(
        "CAST",
        (
            Switch("i0", "INT8 INT16 INT32 UINT32 FLOAT32", _INPUT),
            Switch("o0", "INT8 INT16 INT32 FLOAT32", _OUTPUT),
        ),
        484,
    ),
    EvalRow(
        "CAST",
        (Switch("i0", "INT8 INT16 INT32 FLOAT32", _INPUT), Switch("o0", "INT8 INT16 INT32 FLOAT32", _OUTPUT)),
        350,
    ),
    EvalRow("CAST", (Switch("i0", "INT8 INT16 FLOAT32", _INPUT), Switch("o0", "INT8 INT16 FLOAT32", _OUTPUT)), 295),
    EvalRow("CAST", (Switch("i0", "INT8 FLOAT32", _INPUT), Switch("o0", "INT8 FLOAT32", _OUTPUT))),
    _one("CIRCULAR_BUFFER", "i0", "INT8", _PLAIN),
    _one("EQUAL NOT_EQUAL", "i0", "BOOL FLOAT32 INT32 INT64 INT8", _PLAIN),
    _one("GREATER", "i0", "FLOAT32 INT32 INT64 INT8 INT16", _PLAIN, 1620),
    _one("GREATER GREATER_EQUAL LESS LESS_EQUAL", "i0", "FLOAT32 INT32 INT64 INT8", _PLAIN),
    _one("CONCATENATION", "o0", "FLOAT32 INT32 INT8 INT64 INT16 BOOL", _CONCATENATION, 783),
    _one("CONCATENATION", "o0", "FLOAT32 INT32 INT8 INT64 INT16", _CONCATENATION, 139),
    _one("CONCATENATION", "o0", "FLOAT32 INT32 INT8 INT64", _CONCATENATION),
    EvalRow(
        "CONV_2D",
        (
            Switch("i0", "FLOAT32 INT8 INT16", _PLAIN),
            _BIAS,
            Switch("i1", _INT8_OR_4, "Weight type {name} ({number}) not supported.", when="i0 INT8"),
        ),
        879,
    ),
    EvalRow("CONV_2D", (Switch("i0", "FLOAT32 INT8 INT16", _PLAIN), _BIAS), 637),
    _one("CONV_2D", "i0", "FLOAT32 INT8 INT16", _PLAIN, 139),
    _one("CONV_2D", "i0", "FLOAT32 INT8", _PLAIN),
    EvalRow(
        "CONV_2D",
        (
            Switch("i0", "FLOAT32 INT8 INT16", _PLAIN),
            Switch("i1", _INT8_OR_4, _FILTER, when="i0 INT8"),
            _BIAS,
        ),
        1289,
        _CMSIS,
    ),
    EvalRow(
        "CONV_2D",
        (Switch("i0", "FLOAT32 INT8 INT16", _PLAIN), Switch("i1", _INT8_OR_4, _FILTER, when="i0 INT8")),
        940,
        _CMSIS,
    ),
    _one("CONV_2D", "i0", "FLOAT32 INT8 INT16", _PLAIN, 139, _CMSIS),
    EvalRow(
        "CUMSUM",
        (Switch("i0", "FLOAT32 INT8", "CUMSUM only supports FLOAT32 and INT8, got {name}.", named="o0"),),
        14,
    ),
    _one("CUMSUM", "i0", "FLOAT32", "Unsupported input type, CUMSUM only supports FLOAT32."),
    EvalRow(
        "DEPTH_TO_SPACE",
        (Switch("i0", "FLOAT32 INT8", "DEPTH_TO_SPACE only supports FLOAT32 and INT8, got {name}.", named="o0"),),
    ),
    _one("SPACE_TO_DEPTH", "i0", "FLOAT32 INT8", "SPACE_TO_DEPTH only supports FLOAT32 and INT8, got {name}."),
    EvalRow(
        "DEPTHWISE_CONV_2D",
        (
            Switch("i0", "FLOAT32 INT8 INT16", _INPUT),
            Switch("i1", _INT8_OR_4, _FILTER_FOR, when="i0 INT8"),
            Switch("i1", "INT8", _FILTER_FOR, when="i0 INT16"),
        ),
        1267,
    ),
    EvalRow(
        "DEPTHWISE_CONV_2D",
        (Switch("i0", "FLOAT32 INT8", _INPUT), Switch("i1", _INT8_OR_4, _FILTER, when="i0 INT8")),
        942,
    ),
    _one("DEPTHWISE_CONV_2D", "i0", "FLOAT32 INT8", _PLAIN),
    EvalRow(
        "DEPTHWISE_CONV_2D",
        (Switch("i0", "FLOAT32 INT8 INT16", _PLAIN), Switch("i1", _INT8_OR_4, _FILTER, when="i0 INT8")),
        942,
        _CMSIS,
    ),
    _one("DEPTHWISE_CONV_2D", "i0", "FLOAT32 INT8 INT16", _PLAIN, 664, _CMSIS),
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
    EvalRow(
        "DYNAMIC_UPDATE_SLICE",
        (
            Switch(
                "i2",
                "INT32 INT64",
                "DynamicUpdateSlice only currently supports int32 or int64 indices type, got {number}.",
            ),
            Switch("i0", "FLOAT32 INT8 INT16 INT32", "DYNAMIC_UPDATE_SLICE: Operand type {name} not supported."),
        ),
    ),
    _one("ELU", "i0", "FLOAT32 INT8", "ELU only supports float32 and int8 currently, got {name}."),
    EvalRow(
        "EMBEDDING_LOOKUP",
        (Switch("i1", "FLOAT32 INT8", "EMBEDDING_LOOKUP only supports FLOAT32 and INT8, got {name}.", named="o0"),),
    ),
    _one("EXP", "i0", "FLOAT32", "Type {name} ({number}) currently not supported by Exp."),
    _one("EXPAND_DIMS", "i0", "FLOAT32 INT16 INT8", _EXPAND_DIMS, 1494),
    _one("EXPAND_DIMS", "i0", "FLOAT32 INT8", "Expand_Dims only currently supports int8 and float32, got {number}."),
    # It prints an address as a number.
    _one("FILL", "i1", "FLOAT32 INT32 INT8", "Fill only currently supports float32 for input 1, got ?.", 337),
    _one("FILL", "i1", "FLOAT32", "Fill only currently supports float32 for input 1, got ?."),
    _one("FLOOR", "i0", "FLOAT32", "input->type != kTfLiteFloat32 ({name} != FLOAT32)"),
    _one("SIN COS LOG SQRT SQUARE", "i0", "FLOAT32", "input->type != expected_type ({name} != FLOAT32)"),
    _one("LOGICAL_NOT", "i0", "BOOL", "input->type != expected_type ({name} != BOOL)"),
    _one("FLOOR_DIV", "i0", "FLOAT32", "Type '{name}' is not supported by FLOOR_DIV."),
    _one("FLOOR_MOD", "i0", "FLOAT32", "Type '{name}' is not supported by FLOOR_MOD."),
    EvalRow(
        "FULLY_CONNECTED",
        (
            Switch("i0", "FLOAT32 INT8 INT16", _INPUT),
            # It prints the filter's name and the input's number.
            Switch("i1", _INT8_OR_4, "Filter type {name} (9) not supported.", when="i0 INT8"),
            Switch("i1", "INT8", "Filter type {name} (7) not supported.", when="i0 INT16"),
        ),
        942,
    ),
    _one("FULLY_CONNECTED", "i0", "FLOAT32 INT8 INT16", _PLAIN, 665),
    _one("FULLY_CONNECTED", "i0", "FLOAT32 INT8", _PLAIN),
    EvalRow(
        "FULLY_CONNECTED",
        (
            Switch("i0", "FLOAT32 INT8 INT16", _PLAIN),
            Switch("i1", _INT8_OR_4, "Filter Type {name} ({number}) not supported.", when="i0 INT8"),
        ),
        942,
        _CMSIS,
    ),
    EvalRow("GATHER", (Switch("i0", "FLOAT32 INT8", "Type '{name}' is not supported by gather.", when="i1 INT32"),)),
    EvalRow(
        "GATHER_ND",
        (
            Switch("i1", "INT32", "Indices of type '{name}' are not supported by gather_nd."),
            Switch("i0", "FLOAT32 INT8", "Params type '{name}' are not supported by gather_nd."),
        ),
    ),
    _one("HARD_SWISH", "i0", "FLOAT32 INT8", "Unsupported type {name}", 202),
    _one("HARD_SWISH", "i0", "FLOAT32 INT8", "Only float32/int8_t/uint8_t are supported currently, got {name}"),
    _one("L2_POOL_2D", "i0", "FLOAT32", "L2_POOL_2D only supports float32 currently, got {name}."),
    _one("L2_NORMALIZATION", "o0", "FLOAT32 INT8", "Output type is {name}, requires float."),
    _one("LEAKY_RELU", "i0", "FLOAT32 INT8 INT16", _LEAKY_RELU, 139),
    _one("LEAKY_RELU", "i0", "FLOAT32 INT8", _LEAKY_RELU),
    _one("LOG_SOFTMAX", "i0", "FLOAT32 INT8", "LOG_SOFTMAX only supports float32, int8, got {name}."),
    _one("LOGISTIC", "i0", "FLOAT32 INT8 INT16", _BOTH, 442),
    _one("LOGISTIC", "i0", "FLOAT32 INT8", _BOTH),
    _one("MAXIMUM MINIMUM", "o0", "FLOAT32 INT8 INT16 INT32 INT64", _EXTREMUM, 1524),
    _one("MAXIMUM MINIMUM", "o0", "FLOAT32 INT8 INT32 INT64", _EXTREMUM),
    _one("MIRROR_PAD", "o0", "FLOAT32 INT8", ""),
    _one("MUL", "i0", "INT8 INT16 INT32 FLOAT32", _PLAIN, 965),
    _one("MUL", "i0", "INT8 INT32 FLOAT32", _PLAIN, 350),
    _one("MUL", "i0", "INT8 FLOAT32", _PLAIN),
    _one("MUL", "i0", "INT8 INT16 INT32 FLOAT32", _PLAIN, 964, _CMSIS),
    _one("NEG", "i0", "FLOAT32", _PLAIN),
    _one("PACK", "o0", "FLOAT32 INT8 INT16 INT32 INT64", _PACK, 1661),
    _one("PACK", "o0", "FLOAT32 INT8 INT32 INT64", _PACK),
    _one("PAD PADV2", "i0", "FLOAT32 INT8 INT16 INT32", _PAD, 324),
    _one("PAD PADV2", "i0", "FLOAT32 INT8 INT32", _PAD),
    _one("AVERAGE_POOL_2D", "i0", "FLOAT32 INT8 INT16", _AVERAGE, 982),
    _one("AVERAGE_POOL_2D", "i0", "FLOAT32 INT8", _AVERAGE),
    _one("MAX_POOL_2D", "i0", "FLOAT32 INT8 INT16", _MAX, 982),
    _one("MAX_POOL_2D", "i0", "FLOAT32 INT8", _MAX),
    _one("MAX_POOL_2D", "i0", "FLOAT32 INT8 INT16", _AVERAGE, 982, _CMSIS),
    _one("PRELU", "i0", "FLOAT32 INT8 INT16", "Input type '{name}' is not supported.", 1666),
    _one("PRELU", "i0", "FLOAT32 INT8", "Only float32 and uint8_t are supported currently, got ?."),
    EvalRow(
        "QUANTIZE",
        (
            Switch("i0", "FLOAT32 INT32 INT16 INT8 UINT8", _BOTH),
            Switch("o0", "INT8 INT16", _BOTH, when="i0 FLOAT32"),
            Switch("o0", "INT8 INT16", _BOTH, when="i0 INT32"),
            Switch("o0", "INT8 INT16 INT32", _BOTH, when="i0 INT16"),
            Switch("o0", "INT8 UINT8 INT16 INT32", _BOTH, when="i0 INT8"),
            Switch("o0", "INT8", _BOTH, when="i0 UINT8"),
        ),
        657,
    ),
    _one(
        "MEAN",
        "i0",
        "FLOAT32 INT8 INT16",
        "tensorflow/lite/micro/kernels/reduce_common.cc Currently, only float32, int8 or int16 input type is "
        "supported.",
        687,
    ),
    _one("SUM", "i0", "FLOAT32 INT8 INT16", "Only float32, int8, and int16 types are supported."),
    _one("REDUCE_MAX REDUCE_MIN", "i0", "FLOAT32 INT8", "Only float32 and int8 types are supported."),
    _one("REDUCE_ALL", "i0", "BOOL", "Only Bool is accepted as input type."),
    _one("RESIZE_BILINEAR", "o0", "FLOAT32 INT8", "Output type is {number}, requires float or int8."),
    _one(
        "RESIZE_NEAREST_NEIGHBOR",
        "o0",
        "FLOAT32 INT8 INT16",
        "Output tensor type {name} ({number}) not supported.",
        324,
    ),
    _one(
        "RESIZE_NEAREST_NEIGHBOR",
        "o0",
        "FLOAT32 INT8",
        "Output type is {number}, requires float, uint8_t or int8_t.",
    ),
    _one(
        "REVERSE_V2",
        "o0",
        "FLOAT32 INT32 INT16 INT8 UINT8 INT64 BOOL",
        "Output type '{name}' ({number}) is not supported.",
    ),
    _one(
        "SELECT_V2",
        "i1",
        "FLOAT32 INT8 INT16",
        "Does not support type other than int8|int16|float32, but got {name}",
    ),
    _one("SHAPE", "o0", "INT32", _OUTPUT),
    EvalRow("SLICE", (_BEGIN, Switch("i0", "FLOAT32 INT32 INT8 INT16 BOOL", _SLICE)), 1086),
    EvalRow("SLICE", (_BEGIN, Switch("i0", "FLOAT32 INT32 INT8 INT16", _SLICE))),
    _one("SOFTMAX", "i0", "FLOAT32 INT8 INT16", _PLAIN),
    _one("SPLIT", "i1", "FLOAT32 INT8 INT16 INT32", "Type {name} currently not supported."),
    _one("SPLIT_V", "i0", "FLOAT32 INT8 INT16 INT32", "Type {name} currently not supported."),
    _one(
        "SQUARED_DIFFERENCE",
        "o0",
        "FLOAT32 INT32 INT8 INT16",
        "SquaredDifference only supports FLOAT32, INT32 , INT16 and INT8 now, got {number}.",
        1064,
    ),
    _one(
        "SQUARED_DIFFERENCE",
        "o0",
        "FLOAT32 INT32 INT8",
        "SquaredDifference only supports FLOAT32, INT32 and INT8 now, got {number}.",
    ),
    EvalRow("STRIDED_SLICE", (Switch("o0", "FLOAT32 INT8 INT16 INT32 BOOL", _PLAIN, named="i0"),), 782),
    EvalRow("STRIDED_SLICE", (Switch("o0", "FLOAT32 INT8 INT16 INT32", _PLAIN, named="i0"),), 334),
    EvalRow("STRIDED_SLICE", (Switch("o0", "FLOAT32 INT8 INT16", _PLAIN, named="i0"),), 139),
    EvalRow("STRIDED_SLICE", (Switch("o0", "FLOAT32 INT8", _PLAIN, named="i0"),)),
    _one("SUB", "o0", "FLOAT32 INT32 INT8 INT16", _PLAIN, 1637),
    _one("SUB", "o0", "FLOAT32 INT8 INT16", _PLAIN, 139),
    _one("SUB", "o0", "FLOAT32 INT8", _PLAIN),
    EvalRow(
        "SVDF",
        (Switch("i1", "FLOAT32 INT8", _MAX), Switch("i2", "INT16 INT8", _MAX, when="i1 INT8")),
        269,
    ),
    EvalRow("SVDF", (Switch("i2", "FLOAT32 INT8 INT16", _MAX, named="i1"),), 650, _CMSIS),
    _one("SVDF", "i1", "FLOAT32 INT8", _MAX, 0, _CMSIS),
    _one("TANH", "i0", "FLOAT32 INT16 INT8", _BOTH),
    _one("TRANSPOSE", "i0", "FLOAT32 INT8 INT16", _TRANSPOSE + "Only float32, int8 and int16 are supported", 1620),
    _one("TRANSPOSE", "i0", "FLOAT32 INT8", _TRANSPOSE + "Only float32 and int8 is supported"),
    _one(
        "TRANSPOSE",
        "i0",
        "FLOAT32 INT8 INT16",
        _TRANSPOSE + "Only float32, int8 and int16 is supported",
        1622,
        _CMSIS,
    ),
    _one("TRANSPOSE_CONV", "i2", "FLOAT32 INT8 INT16", _PLAIN, 139),
    _one("TRANSPOSE_CONV", "i2", "FLOAT32 INT8", _PLAIN),
    _one("UNPACK", "i0", "FLOAT32 INT32 INT16 INT8", _UNPACK, 1620),
    _one("UNPACK", "i0", "FLOAT32 INT32 INT8", _UNPACK),
    _one(
        "ZEROS_LIKE",
        "i0",
        "INT64 INT32 INT8 FLOAT32",
        "ZerosLike only currently supports int64, int32, and float32, got {number}.",
    ),
)
"""Newest first, of each operator and library; what a library has no row for is the reference's."""
