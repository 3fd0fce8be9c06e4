"""``--int8-io``: which inputs and outputs become integers, what stays, and the lines that convert them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import shrinking_models as models

from tflm_sim import parse, shrink
from tflm_sim.extensions.shrink.conversions import Numbers, c_lines, operator_between, python_lines
from tflm_sim.extensions.shrink.io_quantization import has_io_quantization, kept_io_quantization, remove_io_quantization
from tflm_sim.extensions.shrink.passes import Chooser
from tflm_sim.extensions.shrink.text import shrunk_lines
from tflm_sim.extensions.shrink.verify import VerificationFailed, verify
from tflm_sim.extensions.shrink.wheel_worker import compiled
from tflm_sim.model.draft import Draft
from tflm_sim.model.encode import encode
from tflm_sim.model.types import Model, Quantization, TensorType

FLOAT32, INT8, UINT8, INT16, INT32 = (
    TensorType.FLOAT32,
    TensorType.INT8,
    TensorType.UINT8,
    TensorType.INT16,
    TensorType.INT32,
)


def cut(model: Model) -> Model:
    """Return the model without the operators that convert its inputs and outputs, as it is read again."""
    draft = Draft(model)
    assert remove_io_quantization(draft, Chooser())
    return parse(encode(draft.model()))


def names(model: Model) -> list[str]:
    draft = Draft(model)
    return [draft.name(operator) for operator in draft.operators]


def ends(model: Model) -> list[tuple[str, tuple[int, ...], str]]:
    """Return name, shape and type of each input and output."""
    main = model.subgraphs[0]
    tensors = [main.tensors[index] for index in (*main.input_tensors, *main.output_tensors)]
    return [(tensor.name, tensor.shape or (), TensorType(tensor.type).name) for tensor in tensors]


def test_float_inputs_and_outputs_become_the_integers_inside_under_their_own_names() -> None:
    model = models.float_io_model()
    after = cut(model)
    assert names(model) == ["QUANTIZE", "CONV_2D", "CONV_2D", "DEQUANTIZE"]
    assert names(after) == ["CONV_2D", "CONV_2D"]
    assert ends(model) == [("image", (1, 12, 12, 3), "FLOAT32"), ("", (1, 3, 3, 4), "FLOAT32")]
    assert ends(after) == [("image", (1, 12, 12, 3), "INT8"), ("", (1, 3, 3, 4), "INT8")]
    # 3 * 3 * 4 elements of the output.
    assert verify(model, after, int8_io=True).outputs == 36
    assert not has_io_quantization(Draft(after))


def test_shrink_makes_inputs_and_outputs_integers_only_when_asked_and_says_what_it_would_give() -> None:
    model = models.float_io_model()
    plain, asked = shrink(model, "cortex-m4"), shrink(model, "cortex-m4", int8_io=True)
    assert ends(plain.model) == ends(model)
    assert plain.conversions == ()
    assert plain.with_int8_io == (asked.gains[0].after.arena,)
    assert asked.with_int8_io is None
    # The head was 12 * 12 * 3 floats and as many bytes. It is these bytes, 6 * 6 * 8 of the first output, and copies of
    # two windows by CMSIS-NN: 2 * 27 elements of two bytes, rounded up to 16.
    assert plain.gains[0].before.head == 1728 + 432
    assert asked.gains[0].after.head == 432 + 288 + 112
    assert [(end.what, end.index, end.name, end.before.type, end.after.type) for end in asked.conversions] == [
        ("input", 0, "image", "float32", "int8"),
        ("output", 0, "", "float32", "int8"),
    ]
    assert asked.conversions[0].after.scale == 0.5
    assert asked.conversions[0].after.zero_point == models.POINT


def test_the_report_prints_scale_and_zero_point_and_lines_of_both_languages() -> None:
    model = models.float_io_model()
    text = "\n".join(shrunk_lines(shrink(model, "cortex-m4", int8_io=True)))
    assert 'input 0 "image": int8 with scale 0.5 and zero point -3 instead of float32' in text
    assert "output 0: int8 with scale 0.5 and zero point -3 instead of float32" in text
    assert "static inline int8_t quantize_input_0(float x) {" in text
    assert "def dequantize_output_0(x):" in text
    would = "\n".join(shrunk_lines(shrink(model, "cortex-m4")))
    assert re.search(r"--int8-io would give [\d,]+ B: integers at the inputs and outputs", would)


def test_a_model_without_io_quantization_is_told_of_none() -> None:
    shrunk = shrink(models.rows_model(), "cortex-m4", int8_io=True)
    assert (shrunk.conversions, shrunk.with_int8_io) == ((), None)
    assert shrink(models.rows_model(), "cortex-m4").with_int8_io is None


def test_an_input_with_another_reader_stays_and_the_reader_is_named() -> None:
    layers = models.Layers()
    x = layers.image((1, 4, 4, 2))
    y = layers.converted(layers.conv(layers.converted(x, INT8), 2), FLOAT32)
    total = layers.b.tensor((1, 4, 4, 2), FLOAT32)
    layers.b.operator("ADD", [x, y], [total])
    model = layers.model([x], [total])
    assert kept_io_quantization(Draft(model)) == ["input 0: it is also read by #3 ADD"]
    assert not has_io_quantization(Draft(model))


def test_two_operators_that_make_the_same_of_an_input_are_both_gone() -> None:
    layers = models.Layers()
    x = layers.image((1, 4, 4, 2))
    model = layers.model([x], [layers.conv(layers.converted(x, INT8), 2), layers.conv(layers.converted(x, INT8), 4)])
    assert names(cut(model)) == ["CONV_2D", "CONV_2D"]
    verify(model, cut(model), int8_io=True)


def test_two_operators_that_make_different_numbers_of_an_input_stay() -> None:
    layers = models.Layers()
    x = layers.image((1, 4, 4, 2))
    model = layers.model([x], [layers.conv(layers.converted(x, INT8, scale), 2) for scale in (0.5, 0.25)])
    assert kept_io_quantization(Draft(model)) == ["input 0: it is also read by #2 QUANTIZE to other numbers"]


def test_a_reshape_between_input_and_quantize_moves_the_integers() -> None:
    layers = models.Layers()
    x = layers.image((1, 32))
    shape = layers.image((1, 4, 4, 2), name="")
    layers.b.operator("RESHAPE", [x, layers.integers((1, 4, 4, 2))], [shape])
    floats = layers.converted(layers.conv(layers.converted(shape, INT8), 2), FLOAT32)
    flat = layers.b.tensor((32,), FLOAT32)
    layers.b.operator("RESHAPE", [floats, layers.integers((32,))], [flat])
    model = layers.model([x], [flat])
    after = cut(model)
    assert names(after) == ["RESHAPE", "CONV_2D", "RESHAPE"]
    assert [(shape, type) for _, shape, type in ends(after)] == [((1, 32), "INT8"), ((32,), "INT8")]
    verify(model, after, int8_io=True)


def test_an_input_of_int16_becomes_int8_and_an_output_of_uint8_becomes_int8() -> None:
    layers = models.Layers()
    x = layers.image((1, 4, 4, 2), INT16, scale=0.001, zero_point=0)
    y = layers.converted(layers.conv(layers.converted(x, INT8), 2), UINT8, 0.5, 125)
    after = cut(layers.model([x], [y]))
    assert names(after) == ["CONV_2D"]
    assert [type for _, _, type in ends(after)] == ["INT8", "INT8"]


def test_integers_that_would_become_floats_or_wider_stay() -> None:
    layers = models.Layers()
    x = layers.image((1, 4, 4, 2), INT8, scale=0.5, zero_point=0)
    assert not has_io_quantization(Draft(layers.model([x], [layers.converted(layers.converted(x, FLOAT32), INT8)])))
    assert operator_between(Numbers(INT8, 0.5), Numbers(INT16, 0.5), is_input=True) is None


def test_operators_in_a_ring_end_the_search_for_io_quantization() -> None:
    layers = models.Layers()
    x = layers.image((1, 4, 4, 2))
    one, other = (layers.image((1, 4, 4, 2), name="") for _ in range(2))
    for source, target in ((one, other), (other, one), (one, x), (x, x)):
        layers.b.operator("RESHAPE", [source, layers.integers((1, 4, 4, 2))], [target])
    draft = Draft(layers.model([x], [other]))
    assert not has_io_quantization(draft)
    assert kept_io_quantization(draft) == []


def test_an_output_of_what_is_an_output_already_stays() -> None:
    layers = models.Layers()
    x = layers.activation((1, 4, 4, 2))
    y = layers.conv(x, 2)
    model = layers.model([x], [y, layers.converted(y, FLOAT32)])
    assert kept_io_quantization(Draft(model)) == ["output 1: what its DEQUANTIZE reads is an input or output, too"]


def test_verify_takes_no_other_interface_unless_asked_and_no_other_numbers() -> None:
    model = models.float_io_model()
    after = cut(model)
    with pytest.raises(VerificationFailed, match="of input 0 is not the original's"):
        verify(model, after)
    for index in (after.subgraphs[0].input_tensors[0], after.subgraphs[0].output_tensors[0]):
        for scale, point in ((0.25, models.POINT), (0.5, models.POINT + 1)):
            draft = Draft(after)
            draft.tensors[index] = replace(draft.tensors[index], quantization=Quantization([scale], [point]))
            with pytest.raises(VerificationFailed, match="from the start has other outputs"):
                verify(model, parse(encode(draft.model())), int8_io=True)


def python(source: Numbers, target: Numbers, values: list[Any]) -> list[Any]:
    return list(compiled("f", python_lines("f", source, target))(np.array(values)).tolist())


def test_a_half_is_rounded_away_from_zero_and_the_ends_are_clamped() -> None:
    # 0.25 / 0.5 = 0.5 -> 1, and 1 - 3 = -2; -0.25 -> -1, and -1 - 3 = -4. np.round would make 0 of both.
    values = [0.25, -0.25, 0.75, 0.24, 0.0, 100.0, -100.0]
    assert python(Numbers(FLOAT32), Numbers(INT8, 0.5, -3), values) == [-2, -4, -1, -3, -3, 127, -128]
    # The largest float32 below a half stays below it, though adding a half to it as a float32 makes 1.
    assert python(Numbers(FLOAT32), Numbers(INT8, 1.0, 0), [float(np.nextafter(np.float32(0.5), np.float32(0)))]) == [0]


def test_integers_become_floats_by_one_multiplication() -> None:
    assert python(Numbers(INT8, 0.5, -3), Numbers(FLOAT32), [-128, -3, 127]) == [-62.5, 0.0, 65.0]


def test_integers_become_others_by_a_multiplier_of_31_bits() -> None:
    # 0.001 / 0.5 = 0.002 a step: 1000 -> 2, 1249 -> 2.498 -> 2, 1250 -> 2.5 -> 3, -1250 -> -3, 32767 -> 65.5 -> 66.
    values = [1000, 1249, 1250, -1250, 32767]
    assert python(Numbers(INT16, 0.001, 0), Numbers(INT8, 0.5, 0), values) == [2, 2, 3, -3, 66]
    # One scale: only the zero point moves.
    assert python(Numbers(INT8, 0.5, -3), Numbers(UINT8, 0.5, 125), [-128, 0, 127]) == [0, 128, 255]


def test_lines_of_c_hold_every_number() -> None:
    assert c_lines("f", Numbers(FLOAT32), Numbers(INT8, 0.5, -3)) == (
        "static inline int8_t f(float x) {",
        "    int32_t q = (int32_t)roundf(x / 0.5f) - 3;",
        "    return (int8_t)(q < -128 ? -128 : q > 127 ? 127 : q);",
        "}",
    )
    assert c_lines("f", Numbers(INT8, 1.0, 5), Numbers(FLOAT32))[1] == "    return 1.0f * (float)(x - 5);"
