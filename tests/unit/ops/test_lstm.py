"""UNIDIRECTIONAL_SEQUENCE_LSTM: 2 batches of 4 steps, 3 inputs, a state of 5."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T

KERNELS = "tensorflow/lite/micro/kernels/"
OP = "UNIDIRECTIONAL_SEQUENCE_LSTM"


def lstm(type_=T.INT8, cell_type=T.INT16, *, scales=1, weights_type=None, steps_first=False):
    """Return the 24 inputs: input, weights, biases, the two states; and the output."""
    weights_type = weights_type if weights_type is not None else (T.FLOAT32 if type_ == T.FLOAT32 else T.INT8)
    sequence = (4, 2) if steps_first else (2, 4)

    def weights(*shape):
        return (shape, weights_type, {"scale": [0.01] * scales if scales > 1 else 0.01})

    bias = ((5,), T.INT32, {"scale": 0.001})
    hidden = ((2, 5), type_, {"scale": 0.1, "is_variable": True})
    cell = ((2, 5), cell_type, {"scale": 2.0**-11, "is_variable": True})
    inputs = [((*sequence, 3), type_, {"scale": 0.1}), *[weights(5, 3)] * 4, *[weights(5, 5)] * 4]
    inputs += [*[None] * 3, *[bias] * 4, *[None] * 2, hidden, cell, *[None] * 4]
    return inputs, [((*sequence, 5), type_, {"scale": 0.1})]


def changed(position, spec, **arguments):
    """Return the int8 LSTM with another input at a position, or with builder arguments for it."""
    inputs, outputs = lstm()
    if arguments:
        shape, type_, old = inputs[position]
        spec = (shape, type_, {**old, **arguments})
    inputs[position] = spec
    return inputs, outputs


# 15 inputs are there; the output is tensor 15.
TEMPS = [f"temp {i}" for i in range(16)]
FREES = [f"free {i}" for i in range(16)]


def buffers(size):
    return [f"scratch {size} buffer{i}" for i in range(4)]


def test_init_takes_op_data(kernel):
    inputs, outputs = lstm()
    assert kernel(OP, inputs, outputs).init() == ["persistent 688 OpDataLSTM"]


@pytest.mark.parametrize(("types", "size"), [
    # 2 batches * 5 states of an int16, of a float.
    ((T.INT8, T.INT16), 20), ((T.INT16, T.INT16), 20), ((T.FLOAT32, T.FLOAT32), 40), ((T.FLOAT32, T.INT16), 20),
])  # fmt: skip
def test_all_tensors_are_temps_and_four_buffers_are_scratch(kernel, types, size):
    inputs, outputs = lstm(*types)
    assert kernel(OP, inputs, outputs).prepare() == TEMPS + buffers(size) + FREES


def test_time_major_swaps_batch_and_time(kernel):
    inputs, outputs = lstm(steps_first=True)
    requests = kernel(OP, inputs, outputs, options={"time_major": True}).prepare()
    assert requests == TEMPS + buffers(20) + FREES


def test_weights_with_a_scale_per_row_take_arrays_for_all_eight_layers(kernel):
    inputs, outputs = lstm(scales=5)
    arrays = ["persistent 20 per_channel_output_multiplier", "persistent 20 per_channel_output_shift"]
    assert kernel(OP, inputs, outputs).prepare() == TEMPS + arrays * 8 + buffers(20) + FREES


NO_VARIANT = "lstm_eval.cc:{} internal_tensors_[i] == nullptr was not true."


@pytest.mark.parametrize(("graph", "message"), [
    (changed(0, None), "lstm_eval.cc:58 internal_tensors_[kLstmInputTensor] != nullptr was not true."),
    (changed(18, None), "lstm_eval.cc:60 internal_tensors_[kLstmOutputStateTensor] != nullptr was not true."),
    (changed(18, 0, is_variable=False),
     "lstm_eval.cc:61 internal_tensors_[kLstmOutputStateTensor]->is_variable was not true."),
    # kTfLiteInt8 is 9, kTfLiteInt16 is 7, kTfLiteInt32 is 2.
    (changed(0, ((2, 4, 3), T.INT16, {"scale": 0.1})),
     "lstm_eval.cc:64 internal_tensors_[kLstmOutputStateTensor]->type != internal_tensors_[kLstmInputTensor]->type "
     "(9 != 7)"),
    (changed(19, None), "lstm_eval.cc:67 internal_tensors_[kLstmCellStateTensor] != nullptr was not true."),
    (changed(19, 0, is_variable=False),
     "lstm_eval.cc:68 internal_tensors_[kLstmCellStateTensor]->is_variable was not true."),
    ((lstm()[0], [((2, 4, 5), T.INT16)]),
     "lstm_eval.cc:72 output_tensor_->type != internal_tensors_[kLstmInputTensor]->type (7 != 9)"),
    (changed(5, None), "lstm_eval.cc:79 internal_tensors_[i] != nullptr was not true."),
    (changed(8, ((5, 5), T.INT16)), "lstm_eval.cc:80 internal_tensors_[i]->type != weight_type (7 != 9)"),
    (changed(12, None), "lstm_eval.cc:86 internal_tensors_[i] != nullptr was not true."),
    (changed(15, ((5,), T.INT16)), "lstm_eval.cc:87 internal_tensors_[i]->type != bias_type (7 != 2)"),
    (changed(9, ((5,), T.INT8)), NO_VARIANT.format(92)),
    (changed(17, ((5,), T.INT8)), NO_VARIANT.format(96)),
    (changed(20, ((5,), T.INT8)), NO_VARIANT.format(100)),
    (changed(1, ((5,), T.INT8, {"scale": 0.01})), "lstm_eval_common.cc:43 tensor->dims->size != 2 (1 != 2)"),
    (changed(2, ((4, 3), T.INT8, {"scale": 0.01})),
     "lstm_eval_common.cc:44 tensor->dims->data[0] != dim1_size (4 != 5)"),
    (changed(7, ((5, 3), T.INT8, {"scale": 0.01})),
     "lstm_eval_common.cc:45 tensor->dims->data[1] != dim2_size (3 != 5)"),
    (changed(14, ((5, 1), T.INT32)), "lstm_eval_common.cc:51 tensor->dims->size != 1 (2 != 1)"),
    (changed(14, ((6,), T.INT32)), "lstm_eval_common.cc:52 tensor->dims->data[0] != size (6 != 5)"),
    ((lstm()[0], [((2, 4), T.INT8)]), "lstm_eval_common.cc:91 tensors.OutputTensor()->dims->size != 3 (2 != 3)"),
    ((lstm()[0], [((1, 4, 5), T.INT8)]),
     "lstm_eval_common.cc:92 tensors.GetInternalTensor(kLstmInputTensor)->dims->data[0] != "
     "tensors.OutputTensor()->dims->data[0] (2 != 1)"),
    ((lstm()[0], [((2, 1, 5), T.INT8)]),
     "lstm_eval_common.cc:95 tensors.GetInternalTensor(kLstmInputTensor)->dims->data[1] != "
     "tensors.OutputTensor()->dims->data[1] (4 != 1)"),
    ((lstm()[0], [((2, 4, 6), T.INT8)]),
     "lstm_eval_common.cc:98 tensors.OutputTensor()->dims->data[2] != size_info.state_dimension (6 != 5)"),
    ((lstm()[0], []), "unidirectional_sequence_lstm.cc:45 node->outputs->size != 1 (0 != 1)"),
    ((lstm()[0][:20], lstm()[1]), "unidirectional_sequence_lstm.cc:46 node->inputs->size != 24 (20 != 24)"),
])  # fmt: skip
def test_refusals(kernel, graph, message):
    assert kernel(OP, *graph).refusal() == KERNELS + message


@pytest.mark.parametrize(("target", "numbers"), [("x86_64", "(5 != 10)"), ("cortex-m4", "(5 != 0)")])
def test_a_state_of_another_size_is_refused_with_the_numbers_that_the_abi_prints(kernel, target, numbers):
    # The first number is 64 bits wide and printed with %d: in 32-bit builds the second one is its upper half.
    size = "size_info.batch_size * size_info.state_dimension"
    for position, line, name in ((18, 85, "HiddenStateTensor"), (19, 87, "CellStateTensor")):
        type_ = T.INT8 if position == 18 else T.INT16
        graph = changed(position, ((1, 5), type_, {"scale": 0.1, "is_variable": True}))
        message = f"lstm_eval_common.cc:{line} NumElements(tensors.{name}()) != {size} {numbers}"
        assert kernel(OP, *graph, target=target).refusal() == KERNELS + message


def test_a_refusal_frees_all_tensors(kernel):
    bench = kernel(OP, *changed(14, ((6,), T.INT32)))
    bench.refusal()
    assert bench.requests == TEMPS + FREES


def test_other_cell_states_are_refused(kernel):
    assert kernel(OP, *lstm(cell_type=T.INT8)).refusal() == (
        "Cell state type INT8 (9) not supported. The quantized Unidirectional Sequence LSTM Op only support int16 "
        "cell state"
    )


def test_a_missing_output_is_printed_before_the_device_halts_in_the_destructor(kernel):
    bench = kernel(OP, *lstm(), refuse="temp 15")
    assert "output_tensor_ != nullptr" in bench.refusal()
    printed = f"log {KERNELS}lstm_eval.cc:70 output_tensor_ != nullptr was not true."
    assert bench.requests == [*TEMPS, *FREES[:-1], printed]


def test_a_negative_product_of_scales_is_only_printed_for_the_input(kernel):
    inputs, outputs = lstm(scales=5)
    inputs[0] = ((2, 4, 3), T.INT8, {"scale": -0.1})
    printed = "log tensorflow/lite/kernels/kernel_util.cc:335 input_product_scale >= 0 was not true."
    # Once for each of the four gates.
    assert kernel(OP, inputs, outputs).prepare().count(printed) == 4
    inputs, outputs = lstm()
    inputs[0] = ((2, 4, 3), T.INT8, {"scale": -0.1})
    assert kernel(OP, inputs, outputs).refusal() == printed.removeprefix("log ")


@pytest.mark.parametrize(("position", "spec"), [
    (0, ((2, 4), T.INT8, {"scale": 0.1})), (18, ((10,), T.INT8, {"scale": 0.1, "is_variable": True})),
])  # fmt: skip
def test_a_read_past_the_rank_halts(kernel, position, spec):
    assert "dims->data[" in kernel(OP, *changed(position, spec)).refusal()


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (changed(14, ((), T.INT32)), "unidirectional_sequence_lstm.cc:168 tensor->dims->size != 1 (0 != 1)"),
        (changed(12, None), "unidirectional_sequence_lstm.cc:101 internal_tensors_[i] != nullptr was not true."),
        (
            changed(2, ((4, 3), T.INT8)),
            "unidirectional_sequence_lstm.cc:161 tensor->dims->data[0] != dim1_size (4 != 5)",
        ),
    ],
)
def test_until_march_2023_all_checks_stood_in_the_kernels_own_file(kernel, graph, message):
    assert kernel(OP, *graph, runtime="2023-02-16").refusal() == KERNELS + message
    assert kernel(OP, *graph, runtime="2023-03-02").refusal().startswith(f"{KERNELS}lstm_eval")


def test_missing_forget_gate_tensors_halt(kernel):
    for position in (2, 13):
        assert f"internal_tensors_[{position}] is a null pointer" in kernel(OP, *changed(position, None)).refusal()


def of_2022(kernel, *types, day="2022-07-01", biases=T.INT32, **arguments):
    """Return the kernel of 2022 of int8, or of what is told, with five intermediates."""
    inputs, outputs = lstm(*types, **arguments)
    inputs[12:16] = [((5,), biases, {"scale": 0.001, "data": b"x" * 40})] * 4
    hidden = ((0,), T.INT8, {"scale": 0.1})
    return kernel(OP, inputs, outputs, runtime=day, intermediates=[hidden] * 5)


@pytest.mark.parametrize(("day", "buffers"), [("2022-06-02", 6), ("2022-06-03", 5)])
def test_int8_of_2022_kept_a_bias_for_each_of_eight_weights(kernel, day, buffers):
    lines = of_2022(kernel, day=day).prepare()
    # 2 batches * 5 states of int16, of int8, of int32; rows of 5 int32.
    assert [line for line in lines if line.startswith("scratch")] == [
        f"scratch {size} buffer{i}" for i, size in enumerate([20, 20, 20, 20, 10, 40][:buffers])
    ]
    assert [line for line in lines if line.startswith("persistent")] == ["persistent 20 effective_bias"] * 8


@pytest.mark.parametrize(("day", "count"), [("2022-10-17", 11), ("2022-10-18", 0)])
def test_hybrid_weights_of_2022_took_eleven_buffers_more(kernel, day, count):
    types = T.FLOAT32, T.FLOAT32
    lines = of_2022(kernel, *types, day=day, biases=T.FLOAT32, weights_type=T.INT8).prepare()
    scratch = [int(line.split()[1]) for line in lines if line.startswith("scratch")]
    # 2 * 5 * 4 floats; input 2 * 4 * 3 and the two states 2 * 5 in int8; 4 rows of 2 floats; 5 floats; 2 * 5 int32; ...
    assert scratch == [160, *[24, 10, 10, 8, 8, 8, 8, 20, 40, 8, 8][:count]]
    sums = [line for line in lines if line.startswith("persistent")]
    assert sums == (["persistent 160 row_sums"] if count else [])  # 8 * 5 int32


def test_int16_was_refused_in_2022_by_its_biases(kernel):
    refusal = of_2022(kernel, T.INT16, biases=T.INT64).refusal()
    assert refusal.endswith("input_gate_bias->type != kTfLiteFloat32 (INT64 != FLOAT32)")


def test_int8_of_2022_prints_that_a_scale_is_no_power_of_two_and_goes_on(kernel):
    inputs, outputs = changed(19, 0, scale=0.3)
    inputs[12:16] = [((5,), T.INT32, {"scale": 0.001, "data": b"x" * 20})] * 4
    bench = kernel(OP, inputs, outputs, runtime="2022-07-01", intermediates=[((0,), T.INT8, {"scale": 0.1})] * 5)
    lines = bench.prepare()
    assert [line for line in lines if "CheckedLog2" in line]
    assert lines.count("persistent 20 effective_bias") == 8
