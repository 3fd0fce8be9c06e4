"""Sources in the form of Edge Impulse's EON compiler, written from an :class:`EonSource`, for tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from struct import unpack

from tflm_sim.extensions.eon.source import EonOperator, EonSource, EonSubgraph, EonTensor
from tflm_sim.model.build_values import complete_options
from tflm_sim.model.element_types import CONSTANT_NAMES, STRUCT_CODES
from tflm_sim.model.types import OptionValue, TensorType

INT8, INT32, FLOAT32 = TensorType.INT8, TensorType.INT32, TensorType.FLOAT32


def in_arena(shape: tuple[int, ...], offset: int, size: int, *, scale: float = 0.5) -> EonTensor:
    return EonTensor(INT8, shape, size, offset, None, (scale,), (-128,), 0)


SMALL = EonSource(
    generated=date(2024, 2, 9),
    arena_size=512,
    overflow_limit=10,
    scratch_limit=4,
    tensor_slots=4,
    eval_slots=4,
    aligns=True,
    has_micro_context=True,
    has_eval_tensors=True,
    subgraphs=(
        EonSubgraph(
            tensors=(
                in_arena((1, 4, 4, 2), 0, 32),
                EonTensor(INT8, (3, 1, 1, 2), 6, None, bytes([1, 2, 255, 4, 5, 128]), (0.5, 0.25, 0.125), (0, 0, 0), 0),
                EonTensor(
                    INT32, (3,), 12, None, b"\1\0\0\0\2\0\0\0\xff\xff\xff\xff", (0.25, 0.125, 0.0625), (0, 0, 0), 0
                ),
                in_arena((1, 4, 4, 3), 32, 48),
                EonTensor(INT32, (2,), 8, None, b"\1\0\0\0\2\0\0\0", None, (), 0),
                in_arena((1, 3), 0, 3),
            ),
            operators=(
                EonOperator(
                    "CONV_2D",
                    (0, 1, 2),
                    (3,),
                    complete_options(
                        "Conv2DOptions",
                        {"padding": "SAME", "stride_w": 1, "stride_h": 2, "fused_activation_function": "RELU6"},
                    ),
                ),
                EonOperator("MEAN", (3, 4), (5,), {"keep_dims": True}),
            ),
        ),
    ),
    inputs=(0,),
    outputs=(5,),
)
"""A convolution and a mean in an arena of 512 bytes."""

NPU = replace(
    SMALL,
    subgraphs=(
        EonSubgraph(
            tensors=(
                in_arena((1, 8), 0, 8),
                EonTensor(TensorType.UINT8, (4,), 4, None, b"COP1", None, (), 0),
                EonTensor(TensorType.UINT8, (2,), 2, None, b"\1\2", None, (), 0),
                EonTensor(TensorType.UINT8, (96,), 96, 0, None, None, (), 0),
                EonTensor(TensorType.UINT8, (96,), 96, 0, None, None, (), 0),
                in_arena((1, 16), 48, 16),
            ),
            operators=(EonOperator("ethos-u", (1, 2, 3, 4, 5), (0,), {}, b"\1\4\1"),),
        ),
    ),
    inputs=(5,),
    outputs=(0,),
)
"""One part for an Ethos-U, whose input and output lie in its scratch tensor."""

_C_TYPES = {TensorType.FLOAT32: "float"}
_STRUCTS = {
    "CONV_2D": "Conv",
    "DEPTHWISE_CONV_2D": "DepthwiseConv",
    "FULLY_CONNECTED": "FullyConnected",
    "SOFTMAX": "Softmax",
    "ADD": "Add",
    "SUB": "Sub",
    "MUL": "Mul",
}
"""The others are written as bytes."""
_ENUMS: Mapping[str, Sequence[str]] = {
    "padding": ("kTfLitePaddingSame", "kTfLitePaddingValid"),
    "fused_activation_function": ("kTfLiteActNone", "kTfLiteActRelu", "kTfLiteActReluN1To1", "kTfLiteActRelu6"),
    "weights_format": ("kTfLiteFullyConnectedWeightsFormatDefault",),
}


def eon_text(source: EonSource) -> str:
    """Return a source that declares what ``source`` says, as the compiler of 2024 writes it."""
    main = source.subgraphs[0]
    lines = [*_head(source), "namespace g0 {"]
    for index, tensor in enumerate(main.tensors):
        lines += _tensor_values(index, tensor)
    for index, row in enumerate(main.operators):
        lines += _operator_values(index, row)
    lines += ["};", "TensorInfo_t tensorData[] = {", *map(_tensor_row, range(len(main.tensors)), main.tensors), "};"]
    for condition, extra in (("#ifndef TF_LITE_STATIC_MEMORY", "nullptr, "), ("#else", "")):
        lines += [condition, f"TfLiteNode tflNodes[{len(main.operators)}] = {{"]
        lines += [_node_row(index, row, extra) for index, row in enumerate(main.operators)]
        lines += ["};"]
    names = "".join(f"OP_{'ETHOSU' if row.op == 'ethos-u' else row.op}, " for row in main.operators)
    lines += ["#endif", "used_operators_e used_ops[] =", f"{{{names}}};"]
    lines += [f"const size_t tflTensors_subgraph_index[] = {{0, {len(main.tensors)}, }};"]
    lines += [f"const size_t tflNodes_subgraph_index[] = {{0, {len(main.operators)}, }};"]
    lines += [f"static const int in_tensor_indices[] = {{\n  {_listed(source.inputs)}, \n}};"]
    lines += [f"static const int out_tensor_indices[] = {{\n  {_listed(source.outputs)}, \n}};"]
    return "\n".join([*lines, *_runtime(source), ""])


def _head(source: EonSource) -> list[str]:
    day = source.generated.strftime("%d.%m.%Y") if source.generated else ""
    operators = ", ".join(dict.fromkeys(f"OP_{row.op}" for row in source.subgraphs[0].operators))
    return [
        "/* a text for tests; { braces }, #if and 'quotes' in a comment */",
        *([f"// Generated on: {day} 12:00:00"] if day else []),
        *_limits(source),
        "#if defined(A_CHIP_OF_ITS_OWN) || (defined (ANOTHER) && ANOTHER >= 2)",
        f"constexpr int kTensorArenaSize = {source.arena_size + 1024};",
        "#else",
        f"constexpr int kTensorArenaSize = {source.arena_size};",
        "#endif",
        f"enum used_operators_e {{ {operators}, OP_LAST }};",
        *([f"static const int MAX_TFL_TENSOR_COUNT = {source.tensor_slots};"] if source.tensor_slots else []),
        *([f"static const int MAX_TFL_EVAL_COUNT = {source.eval_slots};"] if source.eval_slots else []),
    ]


def _limits(source: EonSource) -> list[str]:
    if source.scratch_limit is None:
        return []
    return [
        "#ifndef EI_MAX_SCRATCH_BUFFER_COUNT",
        "#ifndef CONFIG_IDF_TARGET_ESP32S3",
        f"#define EI_MAX_SCRATCH_BUFFER_COUNT {source.scratch_limit}",
        "#else",
        f"#define EI_MAX_SCRATCH_BUFFER_COUNT {2 * source.scratch_limit}",
        "#endif // CONFIG_IDF_TARGET_ESP32S3",
        "#endif",
        "#ifndef EI_MAX_OVERFLOW_BUFFER_COUNT",
        f"#define EI_MAX_OVERFLOW_BUFFER_COUNT {source.overflow_limit}",
        "#endif",
    ]


def _runtime(source: EonSource) -> list[str]:
    return [
        *(["uint32_t align_bytes = 0;"] if source.aligns else []),
        *(["class EonMicroContext;"] if source.has_micro_context else []),
        *(["TfLiteEvalTensor tflEvalTensors[1];"] if source.has_eval_tensors else []),
    ]


def _listed(values: Sequence[object]) -> str:
    return ",".join(map(str, values))


def _array(type: str, name: str, values: Sequence[object]) -> str:
    return f"const TfArray<{len(values)}, {type}> {name} = {{ {len(values)}, {{ {_listed(values)} }} }};"


def _tensor_values(index: int, tensor: EonTensor) -> Iterator[str]:
    if tensor.data is not None:
        numbers = unpack(f"<{len(tensor.data) // _width(tensor.type)}{STRUCT_CODES[tensor.type]}", tensor.data)
        c_type = _C_TYPES.get(TensorType(tensor.type), f"{TensorType(tensor.type).name.lower()}_t")
        yield f"const MODEL_SECTION(EI_MODEL_SECTION) ALIGN(16) {c_type} tensor_data{index}[{len(numbers)}] = {{ "
        yield f"  /* [0][][] */ {''.join(f'{number}, ' for number in numbers)}"
        yield "};"
    if tensor.shape:
        yield _array("int", f"tensor_dimension{index}", tensor.shape)
    else:
        yield f"const int tensor_dimension{index} = 0; /* empty TfLiteIntArray */"
    if tensor.scale is not None:
        yield _array("float", f"quant{index}_scale", tensor.scale)
        yield _array("int", f"quant{index}_zero", tensor.zero_point)
        yield (
            f"const TfLiteAffineQuantization quant{index} = {{ (TfLiteFloatArray*)&quant{index}_scale, "
            f"(TfLiteIntArray*)&g0::quant{index}_zero, {tensor.quantized_dimension} }};"
        )


def _width(type: int) -> int:
    return {"b": 1, "i": 4, "f": 4, "B": 1, "h": 2, "q": 8, "?": 1}[STRUCT_CODES[type]]


def _tensor_row(index: int, tensor: EonTensor) -> str:
    kind = "kTfLiteMmapRo" if tensor.offset is None else "kTfLiteArenaRw"
    place = f"g0::tensor_data{index}" if tensor.offset is None else f"(tensor_arena + {tensor.offset})"
    quantization = (
        "{kTfLiteNoQuantization, nullptr}"
        if tensor.scale is None
        else f"{{kTfLiteAffineQuantization, const_cast<void*>(static_cast<const void*>(&g0::quant{index}))}}"
    )
    return (
        f"{{ {kind}, {CONSTANT_NAMES[tensor.type]}, (int32_t*){place}, "
        f"(TfLiteIntArray*)&g0::tensor_dimension{index}, {tensor.size}, {quantization}, }},"
    )


def _operator_values(index: int, row: EonOperator) -> Iterator[str]:
    yield from _options(index, row)
    yield _array("int", f"inputs{index}", row.inputs)
    yield _array("int", f"outputs{index}", row.outputs)


def _options(index: int, row: EonOperator) -> Iterator[str]:
    if row.custom_options is not None:
        data = list(row.custom_options)
        yield f"const uint8_t ALIGN(4) opdata{index}[{len(data)}] = {{ {_listed(data)}, }}; /* custom_initial_data */"
    elif row.op in _STRUCTS:
        values = [_constant(name, value) for name, value in row.options.items() if name != "quantized_bias_type"]
        yield f"const TfLite{_STRUCTS[row.op]}Params opdata{index} = {{ {_listed(values)} }};"
    elif row.op == "RESHAPE":
        yield f"const TfLiteReshapeParams opdata{index} = {{ {{ 0, 0, 0, 0, 0, 0, 0, 0, }}, 0 }};"
    elif row.op.endswith("POOL_2D"):
        values = [_constant(name, value) for name, value in row.options.items()]
        yield f"const TfLitePoolParams opdata{index} = {{ {_listed(values)}, {{ {{ 0,0, 0, 0 }} }} }};"
    elif row.options:
        data = b"".join(
            bytes([value]) if isinstance(value, bool) else int(value).to_bytes(4, "little", signed=True)
            for value in row.options.values()
            if isinstance(value, int)
        )
        yield f"const ALIGN(1) uint8_t opdata{index}[{len(data)}] = {{ {_listed(list(data))}, }}; /* op type */"


def _constant(name: str, value: OptionValue) -> str:
    if name in _ENUMS and isinstance(value, int):
        return _ENUMS[name][value]
    return str(value).lower() if isinstance(value, bool) else str(value)


def _node_row(index: int, row: EonOperator, extra: str) -> str:
    has_data = row.options or row.custom_options is not None or row.op == "RESHAPE"
    data = f"const_cast<void*>(static_cast<const void*>(&g0::opdata{index}))" if has_data else "nullptr"
    places = f"(TfLiteIntArray*)&g0::inputs{index}, (TfLiteIntArray*)&g0::outputs{index}"
    return f"{{ {places}, (TfLiteIntArray*)&g0::inputs{index}, nullptr, {extra}{data}, nullptr, 0, }},"
