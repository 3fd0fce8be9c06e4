"""Sources of Edge Impulse's EON compiler: what is read of them, and the .tflite file that is made of it."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from random import Random

import pytest
from eon_text import NPU, eon_text
from eon_text import SMALL as SOURCE

from tflm_sim.errors import ModelError
from tflm_sim.extensions.eon.initializers import declarations
from tflm_sim.extensions.eon.parameters import options_of
from tflm_sim.extensions.eon.rebuild import rebuilt
from tflm_sim.extensions.eon.source import EonSource, read_eon_source
from tflm_sim.graph.lifetimes import offline_planned_offsets
from tflm_sim.model.load import parse
from tflm_sim.model.preprocess import preprocessed


def read(source: EonSource, **macros: str) -> EonSource:
    return read_eon_source(eon_text(source).encode(), macros)


def test_a_source_is_read_as_it_was_written() -> None:
    assert read(SOURCE) == SOURCE


def test_the_limits_of_an_esp32_s3_and_of_macros_are_those_of_the_build() -> None:
    found = read(SOURCE, CONFIG_IDF_TARGET_ESP32S3="1", EI_MAX_OVERFLOW_BUFFER_COUNT="30")
    assert (found.scratch_limit, found.overflow_limit) == (8, 30)
    assert read(SOURCE, ANOTHER="1").arena_size == 512
    assert read(SOURCE, ANOTHER="2").arena_size == 512 + 1024


def test_the_type_that_all_tensors_have_is_read_though_it_is_no_column() -> None:
    text = eon_text(SOURCE).replace("kTfLiteInt8, ", "").replace("kTfLiteInt32, ", "")
    found = read_eon_source((text + "\nvoid f() { tensor->type = kTfLiteInt8; }").encode())
    assert {tensor.type for tensor in found.subgraphs[0].tensors} == {9}
    assert [tensor.offset for tensor in found.subgraphs[0].tensors] == [0, None, None, 32, None, 0]


def test_an_arena_that_somebody_wrote_as_a_product_is_read() -> None:
    text = eon_text(SOURCE).replace("kTensorArenaSize = 512;", "kTensorArenaSize = 121*1024;")
    assert read_eon_source(text.encode()).arena_size == 123_904


def test_the_end_of_the_tensors_is_that_of_the_one_that_ends_last() -> None:
    assert SOURCE.tensors_end == 32 + 48


def test_the_rebuilt_file_holds_the_same_tensors_constants_and_options() -> None:
    model = parse(rebuilt(read(SOURCE)))
    (graph,) = model.subgraphs
    assert [tensor.shape for tensor in graph.tensors] == [row.shape for row in SOURCE.subgraphs[0].tensors]
    weights = graph.tensors[1]
    assert bytes(model.buffers[weights.buffer].data or b"") == bytes([1, 2, 255, 4, 5, 128])
    assert weights.quantization is not None
    assert tuple(weights.quantization.scale) == (0.5, 0.25, 0.125)
    assert [row.inputs for row in graph.operators] == [(0, 1, 2), (3, 4)]
    assert graph.operators[0].options["stride_h"] == 2
    assert graph.operators[0].options["fused_activation_function"] == 3
    assert graph.operators[1].options == {"keep_dims": True}
    assert (graph.inputs, graph.outputs) == ((0,), (5,))


def test_a_tensor_that_nothing_writes_is_a_variable_and_is_refused() -> None:
    with pytest.raises(ModelError, match=r"CONV_2D reads tensor 0, which nothing writes before: it is a variable"):
        rebuilt(replace(SOURCE, inputs=()))


def test_what_is_compiled_for_an_npu_keeps_its_places() -> None:
    assert read_eon_source(eon_text(NPU).encode()) == NPU
    model = parse(rebuilt(NPU))
    assert offline_planned_offsets(model, 6) == (0, -1, -1, 0, 0, 48)
    assert model.operator_codes[0].custom_code == "ethos-u"
    assert bytes(model.subgraphs[0].operators[0].custom_options or b"") == b"\1\4\1"


def test_the_words_of_an_error_that_stops_the_compiler_are_said() -> None:
    text = eon_text(SOURCE)
    both = f'#if NPU_256\n{text}#elif NPU_128 // "a\n{text}#else\n #error "choose NPU_256 or NPU_128"\n#endif\n'
    with pytest.raises(ModelError, match=r"stops the compiler: choose NPU_256 or NPU_128 \(-D NAME"):
        read_eon_source(both.encode())
    assert read_eon_source(both.encode(), {"NPU_128": "1"}) == SOURCE


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("kTensorArenaSize = 512;", "kTensorArenaSize = SIZE;", "does not say kTensorArenaSize"),
        ("OP_MEAN", "OP_TREE_ENSEMBLE", "TREE_ENSEMBLE is not one of TensorFlow Lite's"),
        ("const TfArray<3, int> inputs0", "const TfArray<3, int> inputs9", "names g0::inputs0 and does not declare it"),
        ("inputs0 = { 3, { 0,1,2 } }", "inputs0 = { 3, { 0,1,6 } }", "CONV_2D has a tensor 6, and there are 6"),
        ("kTfLiteActRelu6", "kTfLiteActCube", "'kTfLiteActCube' among the parameters of CONV_2D"),
        ("int8_t tensor_data1[6] = { ", "int8_t tensor_data1[6] = { 300, ", "elements that its type does not hold"),
        ("int8_t tensor_data1[6] = { ", "int8_t tensor_data1[6] = { 1, ", "has 7 bytes, and tensorData says 6"),
        ("int8_t tensor_data1[6] = { ", "int8_t tensor_data1[6] = { x, ", "elements that are not whole numbers"),
        (
            "#define EI_MAX_OVERFLOW_BUFFER_COUNT 10",
            "#define EI_MAX_OVERFLOW_BUFFER_COUNT MANY",
            "is 'MANY', not a number",
        ),
        ("{OP_CONV_2D, OP_MEAN, }", "{OP_CONV_2D, }", "2 nodes and 1 operators for them"),
        ("kTfLiteInt8", "kTfLiteInt3", "a tensor of type kTfLiteInt3"),
        ("tensor_arena + 32", "tensor_arena + 2147483648", "tensor_arena has elements that its type does not hold"),
        (
            "{kTfLiteAffineQuantization, const_cast<void*>(static_cast<const void*>(&g0::quant0))}",
            "{kTfLiteAffineQuantization}",
            "a tensor has an affine quantization without a name",
        ),
        (
            "quant0 = { (TfLiteFloatArray*)&quant0_scale, (TfLiteIntArray*)&g0::quant0_zero, 0 }",
            "quant0 = { (TfLiteFloatArray*)&quant0_scale }",
            "g0::quant0 is no quantization with scales and zero points",
        ),
    ],
)
def test_what_is_not_whole_or_not_known_is_refused_in_words(old: str, new: str, words: str) -> None:
    text = eon_text(SOURCE).replace(old, new)
    assert text != eon_text(SOURCE)
    with pytest.raises(ModelError) as problem:
        read_eon_source(text.encode())
    assert words in str(problem.value)


def test_every_cut_of_a_source_is_read_or_refused() -> None:
    text = eon_text(SOURCE).encode()
    for end in range(0, len(text), 37):
        with contextlib.suppress(ModelError):
            assert read_eon_source(text[:end]).arena_size == 512


@pytest.mark.parametrize(
    "tail",
    [
        "x" * 500_000,
        "{" * 500_000,
        "a::" * 200_000,
        "int a = " * 100_000,
        "\n#if 1" * 90 + "\nx" * 200_000,
        "<" * 500_000,
    ],
)
def test_a_hostile_source_is_refused_in_time_that_grows_with_its_size(tail: str) -> None:
    seconds = time.process_time()
    with pytest.raises(ModelError):
        read_eon_source(b"kTensorArenaSize used_operators_e " + tail.encode())
    assert time.process_time() - seconds < 20  # a quadratic reading takes minutes


def test_damaged_sources_are_read_or_refused() -> None:
    base, pieces = eon_text(SOURCE), ["{", "}", ",", "-1", "99999999999", "1e400", "#endif\n", "/*", '"', "g0::", ""]
    for seed in range(300):
        random = Random(seed)
        at = random.randrange(len(base))
        text = base[:at] + random.choice(pieces) + base[at + random.randrange(4) :]
        with contextlib.suppress(ModelError):
            parse(rebuilt(read_eon_source(text.encode())))


def test_a_file_of_another_kind_is_refused() -> None:
    with pytest.raises(ModelError, match="not a source of Edge Impulse's EON compiler"):
        read_eon_source(b"int main() {}")


@pytest.mark.parametrize(
    ("condition", "is_read"),
    [
        ("1", True),
        ("0", False),
        ("A", True),
        ("B", False),
        ("defined(A) && !defined B", True),
        ("defined(B) || (A >= 2 && A < 4)", True),
        ("A == 3 && A != 3", False),
        ("!(A > 5)", True),
    ],
)
def test_conditions_are_those_of_a_compiler(condition: str, is_read: bool) -> None:
    text, _ = preprocessed(f"#if {condition}\nyes\n#else\nno\n#endif", {"A": "3"})
    assert text == ("yes" if is_read else "no")


def test_a_define_holds_only_where_it_is_read_and_comments_are_blanks() -> None:
    text, known = preprocessed("#if 0\n#define A 1\n#elif 1\n#define B 2 // two\n#endif\na/* #if */b", {})
    assert known == {"B": "2"}
    assert text == "a b"


@pytest.mark.parametrize("text", ["#if 1", "#endif", "#else", "#if 1 +\n#endif", "#if (1\n#endif", "#if A(1)\n#endif"])
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(ModelError):
        preprocessed(text, {})


def test_initializers_are_nested_lists_and_names_have_their_subgraph() -> None:
    found = declarations("namespace g1 {\nconst T a = { 1, { 2,3 } };\nconst int b = 0;\n};\nT c[2] = { {}, x };")
    assert {name: row.items for name, row in found.items()} == {"g1::a": ["1", ["2", "3"]], "g1::b": [], "c": [[], "x"]}


def test_bytes_of_parameters_are_read_as_the_struct_lies_in_memory() -> None:
    found = declarations("uint8_t opdata0[12] = { 255,255,255,255, 1,0,0,0 };")["opdata0"]
    assert options_of("CONCATENATION", found) == {"axis": -1, "fused_activation_function": 1}
    found = declarations("uint8_t opdata0[2] = { 0, 1 };")["opdata0"]
    assert options_of("RESIZE_BILINEAR", found) == {"align_corners": False, "half_pixel_centers": True}
    for name, mode in (("Reflect", 0), ("Symmetric", 1)):
        found = declarations(f"const TfLiteMirrorPaddingParams opdata0 = {{ kTfLiteMirrorPadding{name} }};")["opdata0"]
        assert options_of("MIRROR_PAD", found) == {"mode": mode}
    found = declarations("uint8_t opdata0[12] = { 2,0,0,0, 3,0,0,0, 4,0,0,0 };")["opdata0"]
    assert options_of("TRANSPOSE_CONV", found) == {
        "padding": 1,
        "stride_w": 3,
        "stride_h": 4,
        "fused_activation_function": 0,
        "quantized_bias_type": 0,
    }
