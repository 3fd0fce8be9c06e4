"""Bytes that kernels load and store: literal figures, counted by hand or by an emulated Cortex-M4."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.extensions.banks.operation import Moved
from tflm_sim.extensions.banks.traffic import Traffic, traffic
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, TensorType

SAME: dict[str, Any] = {"padding": "SAME", "stride_h": 1, "stride_w": 1}
VALID: dict[str, Any] = {**SAME, "padding": "VALID"}


def one_operator(
    op: str, image: tuple[int, ...], kernel: tuple[int, ...], output: tuple[int, ...], options: dict[str, Any]
) -> Model:
    """Return a model of an operator of int8 with a constant filter and bias; neither where its shape is ()."""
    b = ModelBuilder()
    x = b.tensor(image, TensorType.INT8, scale=1.0, zero_point=0)
    y = b.tensor(output, TensorType.INT8, scale=1.0, zero_point=0)
    inputs = [x]
    if kernel:
        axis = 3 if op.startswith("DEPTHWISE") else 0
        scales = [1.0] * kernel[axis]
        bias = b.tensor((kernel[axis],), TensorType.INT32, data=bytes(4 * kernel[axis]), scale=scales)
        w = b.tensor(kernel, TensorType.INT8, data=bytes(prod(kernel)), scale=scales, quantized_dimension=axis)
        inputs += [w, bias]
    b.operator(op, inputs, [y], options=options)
    return parse(b.build(inputs=[x], outputs=[y]))


def moved(model: Model, kernels: str) -> Traffic:
    return traffic(simulate(model, "cortex-m4", kernels=kernels))


# Without the application, which writes the input and reads the output once.
# 3 x 3 over 4 x 4 with padding: 10 x 10 taps inside; 4 x 4 positions, 8 output channels of 3 input channels each.
CONV = one_operator("CONV_2D", (1, 4, 4, 3), (8, 3, 3, 3), (1, 4, 4, 8), SAME)
POINTWISE = one_operator("CONV_2D", (1, 4, 4, 3), (5, 1, 1, 3), (1, 4, 4, 5), VALID)
DEPTHWISE = one_operator("DEPTHWISE_CONV_2D", (1, 4, 4, 3), (1, 3, 3, 3), (1, 4, 4, 3), {**SAME, "depth_multiplier": 1})
POOL = one_operator(
    "MAX_POOL_2D", (1, 4, 4, 3), (), (1, 2, 2, 3), {**VALID, "stride_h": 2, "stride_w": 2, "filter_height": 2,
                                                  "filter_width": 2}
)  # fmt: skip


@pytest.mark.parametrize(
    ("model", "kernels", "loaded", "from_tail"),
    [
        (CONV, "reference", 100 * 3 * 8, 8 * 128),
        (CONV, "cmsis_nn", 100 * 3, 8 * 128),
        (POINTWISE, "reference", 16 * 3 * 5, 8 * 80),
        (POINTWISE, "cmsis_nn", 16 * 3 * 3, 4 * 80),  # Two output channels at a time.
        (DEPTHWISE, "reference", 100 * 3, 8 * 48),
        (DEPTHWISE, "cmsis_nn", 100 * 3, 8 * 48),
        (POOL, "reference", 48, 0),
        (POOL, "cmsis_nn", 48, 0),
    ],
)
def test_an_input_is_loaded_as_often_as_the_kernels_loops_do(
    model: Model, kernels: str, loaded: int, from_tail: int
) -> None:
    found = moved(model, kernels)
    assert found.by_element == ()
    image = prod(model.subgraphs[0].tensors[0].dims)
    assert found.buffers[0] == Moved(loaded, image)
    assert found.tail == Moved(from_tail, 0)


def test_columns_of_cmsis_nn_are_stored_as_bytes_and_words_and_loaded_for_each_pair_of_channels() -> None:
    # 16 positions of 27 elements: stored as bytes and words; loaded as bytes, and as words for 4 pairs of channels.
    found = moved(CONV, "cmsis_nn")
    assert found.buffers[-1] == Moved(16 * 27 * (1 + 2 * 4), 16 * 27 * 3)


def test_a_dilated_filter_of_one_element_takes_columns_of_cmsis_nn_too() -> None:
    model = one_operator("CONV_2D", (1, 12, 4, 1), (5, 1, 1, 1), (1, 12, 4, 5), {**VALID, "dilation_h_factor": 2})
    assert moved(model, "cmsis_nn").buffers[-1] == Moved(336, 144)  # As an emulated Cortex-M4 executes it.


def test_cmsis_nn_pools_within_its_output() -> None:
    # Four elements a window: the first is stored, three are compared, all are clamped; the application reads them.
    assert moved(POOL, "cmsis_nn").buffers[1] == Moved(4 * 12 + 12, 4 * 12 + 12)
    assert moved(POOL, "reference").buffers[1] == Moved(12, 12)
    # Of int16, as an emulated Cortex-M4 executes it.
    b = ModelBuilder()
    x, y = (b.tensor(shape, TensorType.INT16, scale=1.0) for shape in ((1, 16, 17, 16), (1, 8, 8, 16)))
    options = {**VALID, "stride_h": 2, "stride_w": 2, "filter_height": 2, "filter_width": 2}
    b.operator("MAX_POOL_2D", [x], [y], options=options)
    found = moved(parse(b.build(inputs=[x], outputs=[y])), "cmsis_nn")
    assert found.buffers == (Moved(8_192, 8_704), Moved(8_192 + 2_048, 10_240))


@pytest.mark.parametrize(("kind", "neighbours"), [("RESIZE_BILINEAR", 4), ("RESIZE_NEAREST_NEIGHBOR", 1)])
def test_a_larger_image_loads_so_many_inputs_for_each_output(kind: str, neighbours: int) -> None:
    b = ModelBuilder()
    x, y = (b.tensor(shape, TensorType.INT8, scale=1.0) for shape in ((1, 18, 3, 3), (1, 54, 9, 3)))
    b.operator(kind, [x, b.tensor((2,), TensorType.INT32, data=[54, 9])], [y], options={})
    found = moved(parse(b.build(inputs=[x], outputs=[y])), "reference")
    assert found.by_element == ()
    assert found.buffers == (Moved(1_458 * neighbours, 162), Moved(1_458, 1_458))


def transposed(type: TensorType, image: tuple[int, ...], kernel: tuple[int, ...], output: tuple[int, ...]) -> Model:
    """Return a TRANSPOSE_CONV of stride 2."""
    b = ModelBuilder()
    bias = TensorType.INT64 if type == TensorType.INT16 else TensorType.INT32
    scales, size = [1.0] * kernel[0], 8 if bias == TensorType.INT64 else 4
    x, y = (b.tensor(shape, type, scale=1.0, zero_point=0) for shape in (image, output))
    inputs = [
        b.tensor((4,), TensorType.INT32, data=list(output)),
        b.tensor(kernel, TensorType.INT8, data=bytes(prod(kernel)), scale=scales, quantized_dimension=0),
        x,
        b.tensor((kernel[0],), bias, data=bytes(size * kernel[0]), scale=scales),
    ]
    b.operator("TRANSPOSE_CONV", inputs, [y], options={**SAME, "stride_h": 2, "stride_w": 2})
    return parse(b.build(inputs=[x], outputs=[y]))


# Executed by an emulated Cortex-M4; the application's bytes are added. Of 34 rows that kernel stores 33.
@pytest.mark.parametrize(
    ("type", "image", "kernel", "output", "loaded", "stored", "sums"),
    [
        (TensorType.INT8, (1, 17, 7, 8), (8, 4, 4, 8), (1, 34, 14, 8), 120_064, 3_696, Moved(74_816, 78_464)),
        (TensorType.INT8, (1, 12, 11, 1), (8, 2, 2, 1), (1, 24, 22, 8), 4_224, 4_224, Moved(33_792, 35_200)),
        (TensorType.INT16, (1, 18, 17, 1), (8, 4, 4, 1), (1, 36, 34, 8), 73_920, 19_584, Moved(374_016, 374_016)),
    ],
)
def test_a_transpose_conv_of_cmsis_nn_loads_and_stores_its_sums_again(
    type: TensorType, image: tuple[int, ...], kernel: tuple[int, ...], output: tuple[int, ...], loaded: int,
    stored: int, sums: Moved,
) -> None:  # fmt: skip
    found = moved(transposed(type, image, kernel, output), "cmsis_nn")
    size = 2 if type == TensorType.INT16 else 1
    assert found.by_element == ()
    assert found.buffers[0] == Moved(loaded, prod(image) * size)
    assert found.buffers[1] == Moved(prod(output) * size, stored)
    assert found.buffers[2] == sums


def test_a_transpose_conv_that_cmsis_nn_takes_for_a_convolution_is_named() -> None:
    model = transposed(TensorType.INT8, (1, 4, 4, 17), (8, 2, 2, 17), (1, 8, 8, 8))
    assert moved(model, "cmsis_nn").by_element == ("TRANSPOSE_CONV",)


# Loads and stores of buffers in one Invoke() of real TFLM (90b983c, CMSIS-NN 4ab83cc) on an emulated Cortex-M4, counted
# access by access; of kernels with MVE, as GCC compiles them, on a Cortex-M55. The reference SOFTMAX loads a new
# largest element of its input again: up to 12 times here.
@pytest.mark.parametrize(
    ("name", "kernels", "executed", "again"),
    [
        ("mobilenet_v1_025", "reference", 7_306_915, 2),
        ("mobilenet_v1_025", "cmsis_nn", 4_105_820, 0),
        ("residual", "reference", 11_750_965, 10),
        ("residual", "cmsis_nn", 14_993_390, 0),
        ("keyword_spotter", "reference", 2_642_686, 12),
        ("keyword_spotter", "cmsis_nn", 1_758_370, 0),
        ("streaming", "reference", 16_579, 0),
        ("streaming", "cmsis_nn", 25_067, 0),
        ("mobilenet_v1_025", "mve", 9_030_083, 0),
        ("residual", "mve", 13_626_286, 0),
        ("keyword_spotter", "mve", 3_276_618, 0),
        ("streaming", "mve", 18_483, 0),
    ],
)
def test_an_invoke_of_the_samples_moves_what_an_emulated_core_executes(
    name: str, kernels: str, executed: int, again: int
) -> None:
    core, library = ("cortex-m55", "cmsis_nn") if kernels == "mve" else ("cortex-m4", kernels)
    simulation = simulate(f"sample:{name}", core, kernels=library)
    found = traffic(simulation)
    assert found.by_element == ()
    main = simulation.model.subgraphs[0]
    of_application = sum(prod(main.tensors[tensor].dims) for tensor in (*main.input_tensors, *main.output_tensors))
    counted = sum(found.buffers, Moved()).total - of_application
    assert executed - again <= counted <= executed


def test_with_mve_a_depthwise_convolution_of_one_channel_has_its_filter_in_the_scratch_buffer() -> None:
    # 36 positions of 25 elements for each of 8 channels; nine passes of four load each filter's 25 and 16 ahead.
    options = {**VALID, "depth_multiplier": 8}
    model = one_operator("DEPTHWISE_CONV_2D", (1, 10, 10, 1), (1, 5, 5, 8), (1, 6, 6, 8), options)
    scratch = traffic(simulate(model, "cortex-m55", kernels="cmsis_nn")).buffers[-1]
    assert scratch == Moved(36 * 25 * 8 + 9 * 8 * (25 + 16), (36 + 8) * 25)


def test_with_mve_a_convolution_of_one_row_takes_only_the_edges_by_way_of_the_scratch_buffer() -> None:
    def mve(model: Model) -> Traffic:
        return traffic(simulate(model, "cortex-m55", kernels="cmsis_nn"))

    # Six windows of 12 elements for each of 8 channels; 12 and 8 are copied for edges that are not there.
    valid = mve(one_operator("CONV_2D", (1, 1, 8, 4), (8, 1, 3, 4), (1, 1, 6, 8), VALID))
    assert (valid.by_element, valid.tail) == ((), Moved(8 * (1 + 2) * 8, 0))
    assert valid.buffers[0] == Moved(6 * 12 * 8 + 12 + 8, 32)
    # A window at each edge lies there, with four elements of padding.
    same = mve(one_operator("CONV_2D", (1, 1, 8, 4), (8, 1, 3, 4), (1, 1, 8, 8), SAME))
    assert (same.buffers[0], same.buffers[-1]) == (Moved(6 * 12 * 8 + 12 + 8, 32), Moved(2 * 12 * 8, 4 + 12 + 8 + 4))
    assert same.tail == Moved(8 * (1 + (1 + 2) + 1) * 8, 0)


def test_esp_nn_in_c_loads_as_the_reference_but_for_four_outputs_of_a_channel_at_a_time() -> None:
    options = {**VALID, "depth_multiplier": 6}
    model = one_operator("DEPTHWISE_CONV_2D", (1, 4, 4, 2), (1, 3, 3, 12), (1, 2, 2, 12), options)
    plain, opt = (traffic(simulate(model, "esp32", kernels=kernels)) for kernels in ("esp_nn_ansi", "esp_nn"))
    assert (plain.by_element, opt.by_element) == ((), ())
    assert plain == replace(moved(model, "reference"), kernels=plain.kernels)
    assert opt.buffers[0] == Moved(4 * 9 * 2 * (1 + 2), 32)
    # The spotter's SOFTMAX keeps twelve exponentials.
    found = traffic(simulate("sample:keyword_spotter", "esp32"))
    assert (found.by_element, found.buffers[-1]) == ((), Moved(4 * 12, 4 * 12))


@pytest.mark.parametrize(
    ("core", "columns", "tail"), [("cortex-m4", 24 * 2 + 1 * 3, 13 * 3), ("cortex-m55", 25 * 3, (6 + 1) * 3)]
)
def test_a_convolution_of_int16_has_columns_of_16_bits(core: str, columns: int, tail: int) -> None:
    # Of 15 by 15 elements under 25 windows, 13 by 13 lie in the image, of three channels. An emulated M4 moves
    # 5,268 bytes in buffers.
    b = ModelBuilder()
    x, y = (b.tensor((1, 5, 5, 3), TensorType.INT16, scale=0.001, zero_point=0) for _ in range(2))
    w = b.tensor((3, 3, 3, 3), TensorType.INT8, data=bytes(81), scale=[0.01] * 3, quantized_dimension=0)
    bias = b.tensor((3,), TensorType.INT64, data=bytes(24), scale=[0.00001] * 3)
    b.operator("CONV_2D", [x, w, bias], [y], options=SAME)
    found = traffic(simulate(parse(b.build(inputs=[x], outputs=[y])), core, kernels="cmsis_nn"))
    assert (found.by_element, found.tail) == ((), Moved(8 * tail, 0))
    assert found.buffers == (Moved(2 * 169 * 3, 150), Moved(150, 150), Moved(2 * 27 * columns, 2 * 25 * 27))


def test_kernels_whose_loops_are_not_known_move_each_byte_once_and_say_so() -> None:
    found = traffic(simulate("sample:residual", "esp32-s3"))
    assert found.by_element == ("CONV_2D", "ADD", "AVERAGE_POOL_2D", "FULLY_CONNECTED", "SOFTMAX")
    assert [loaded.total for loaded in found.buffers if loaded.total] != []


def test_cmsis_nn_takes_two_filters_of_an_svdf_at_a_time_and_moves_its_state_on() -> None:
    b = ModelBuilder()
    x = b.tensor((1, 8), TensorType.INT8, scale=0.5)
    feature = b.tensor((16, 8), TensorType.INT8, data=bytes(128), scale=0.004)
    time = b.tensor((16, 10), TensorType.INT16, data=bytes(320), scale=0.0001)
    bias = b.tensor((8,), TensorType.INT32, data=bytes(32), scale=0.000001)
    state = b.tensor((1, 160), TensorType.INT16, scale=0.01, is_variable=True)
    y = b.tensor((1, 8), TensorType.INT8, scale=0.5)
    b.operator("SVDF", [x, feature, time, bias, state], [y], options={"rank": 2})
    model = parse(b.build(inputs=[x], outputs=[y]))
    found = moved(model, "cmsis_nn")
    assert found.by_element == ()
    # Sums of 16 filters: zero and the sum are stored; of 8 units. 159 elements of the state move, 160 are multiplied.
    assert found.buffers == (Moved(8 * 8, 8), Moved(8, 8), Moved(4 * 16, 2 * 4 * 16), Moved(4 * 8, 4 * 8))
    assert found.tail == Moved(2 * (159 + 160), 2 * (159 + 16))
    # With MVE three filters at a time, and one alone; the sums are not zeroed before. An emulated M55 moves 248 bytes.
    with_mve = traffic(simulate(model, "cortex-m55", kernels="cmsis_nn"))
    assert with_mve.buffers == (Moved(8 * (5 + 1), 8), Moved(8, 8), Moved(4 * 16, 4 * 16), Moved(4 * 8, 4 * 8))
    assert sum(with_mve.buffers, Moved()).total - 8 - 8 == 248


def lstm() -> Model:
    """Return an LSTM of 2 units over 3 steps of 2 inputs."""
    b = ModelBuilder()
    x = b.tensor((1, 3, 2), TensorType.INT8, scale=0.01)
    gates = [b.tensor((2, 2), TensorType.INT8, data=bytes(4), scale=0.01) for _ in range(8)]
    biases = [b.tensor((2,), TensorType.INT32, data=bytes(8), scale=0.0001) for _ in range(4)]
    hidden = b.tensor((1, 2), TensorType.INT8, scale=2.0**-7, is_variable=True)
    cell = b.tensor((1, 2), TensorType.INT16, scale=2.0**-11, is_variable=True)
    y = b.tensor((1, 3, 2), TensorType.INT8, scale=2.0**-7)
    inputs = [x, *gates, *[-1] * 3, *biases, *[-1] * 2, hidden, cell, *[-1] * 4]
    options: dict[str, Any] = {"fused_activation_function": "TANH", "cell_clip": 10.0}
    b.operator("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, [y], options=options)
    return parse(b.build(inputs=[x], outputs=[y]))


def test_an_lstm_loads_inputs_and_states_for_each_gate() -> None:
    # 6 outputs, each of 2 inputs and 2 elements of the hidden state in 4 gates; the output is a copy of that state.
    # The cell state of 16 bits: two products, their sum, cut off at the clip, and read for the output.
    found = moved(lstm(), "reference")
    assert found.by_element == ()
    assert found.buffers[:2] == (Moved(48, 6), Moved(6, 6))
    assert found.tail == Moved(48 + 6 + 2 * 4 * 6, 6 + 2 * 3 * 6)


def test_cmsis_nn_takes_the_hidden_state_from_the_output_and_a_sum_of_32_bits_for_each_product() -> None:
    # Both units at once: 3 steps of 2 inputs, and from the second step on 2 elements of the output before.
    found = moved(lstm(), "cmsis_nn")
    assert found.by_element == ()
    assert found.buffers[:2] == (Moved(4 * 6, 6), Moved(4 * 4 + 6, 6))
    assert found.tail == Moved(4 * (6 + 4) * 4, 0)
    # With MVE four units at once, or one.
    with_mve = traffic(simulate(lstm(), "cortex-m55", kernels="cmsis_nn"))
    assert (with_mve.by_element, with_mve.buffers[0]) == ((), Moved(2 * 4 * 6, 6))


def test_a_while_copies_into_its_subgraphs_and_out_of_them() -> None:
    b = ModelBuilder()
    condition, body = b.add_subgraph(), b.add_subgraph()
    x, y = (b.tensor((1,), TensorType.FLOAT32, name=name) for name in "xy")
    indices = {"cond_subgraph_index": condition.index, "body_subgraph_index": body.index}
    b.operator("WHILE", [x], [y], options=indices)
    given, bound = (condition.tensor((1,), TensorType.FLOAT32, name="given", data=data) for data in (None, bytes(4)))
    is_less = condition.tensor((1,), TensorType.BOOL, name="is_less")
    condition.operator("LESS", [given, bound], [is_less])
    condition.inputs, condition.outputs = [given], [is_less]
    before, after = (body.tensor((1,), TensorType.FLOAT32, name=name) for name in ("before", "after"))
    body.operator("NEG", [before], [after])
    body.inputs, body.outputs = [before], [after]
    simulation = simulate(parse(b.build(inputs=[x], outputs=[y])), "cortex-m4", kernels="reference")
    found = traffic(simulation)
    assert (found.has_loops, found.by_element) == (True, ())
    names = [
        simulation.model.subgraphs[each.info.subgraph].tensors[each.info.tensor].name for each in simulation.buffers
    ]
    assert dict(zip(names, found.buffers, strict=True)) == {
        "x": Moved(4 + 4, 4),  # Into the condition and into y; the application writes it.
        "y": Moved(4 + 4 + 4, 4 + 4),  # Into the body, then into the condition; the application reads it.
        "given": Moved(2 * 4, 2 * 4),  # The condition runs before the pass and behind it.
        "is_less": Moved(2, 2),
        "before": Moved(4, 4),
        "after": Moved(4, 4),
    }


def test_what_a_buffer_is_touched_counts_each_operator_and_the_application_once() -> None:
    found = moved(CONV, "reference")
    assert found.touched == (2 * 48, 2 * 128)


def test_a_while_counts_as_one_pass_and_says_so() -> None:
    assert not moved(CONV, "reference").has_loops
