"""Operators and changes of Edge Impulse's SDK (on a Cortex-M4; TfLiteEvalTensor 12 bytes)."""

from __future__ import annotations

import pytest

from tflm_sim.errors import PrepareError
from tflm_sim.model.types import TensorType as T

NEWEST, FIRST = "edge-impulse@1.93.20", "edge-impulse@2023-11-15"


def f32(*shape):
    return (shape, T.FLOAT32)


def int8(*shape):
    return (shape, T.INT8, {"scale": 0.5})


def constant(*values):
    return ((len(values),), T.INT32, {"data": list(values)})


def of(kernel, op, inputs, outputs, version=NEWEST, **arguments):
    return kernel(op, inputs, outputs, runtime=version, **arguments)


def asked(bench):
    return [line for line in bench.prepare() if not line.startswith(("temp", "free", "shape"))]


def test_float_convolutions_keep_no_arrays_and_int8_ones_do(kernel):
    options = {"padding": 0, "stride_w": 1, "stride_h": 1}
    image, filters = (1, 8, 8, 4), (6, 3, 3, 4)
    bench = of(kernel, "CONV_2D", [f32(*image), f32(*filters), f32(6)], [f32(1, 6, 6, 6)], options=options)
    assert asked(bench) == []
    quantized = [int8(*image), (filters, T.INT8, {"scale": 0.1}), ((6,), T.INT32, {"scale": 0.05})]
    assert asked(of(kernel, "CONV_2D", quantized, [int8(1, 6, 6, 6)], options=options)) == [
        "persistent 24 per_channel_output_multiplier",
        "persistent 24 per_channel_output_shift",
    ]


@pytest.mark.parametrize(("version", "data", "temps"), [(NEWEST, 36, 4), (FIRST, 40, 5)])
def test_mean_lost_its_count_of_axes_in_august_2024(kernel, version, data, temps):
    # From then on the axis is taken by PrepareSimple alone: input, output; input, axis.
    bench = of(kernel, "MEAN", [f32(1, 4, 4, 2), constant(1, 2)], [f32(1, 2)], version)
    assert bench.init() == [f"persistent {data} OpDataReduce"]
    assert [line.split()[0] for line in bench.prepare()].count("temp") == temps


def test_select_gives_single_elements_back_since_june_2024(kernel):
    single = [((), T.BOOL), f32(), f32()]
    for op in ("SELECT", "SELECT_V2"):
        assert "free 0" in of(kernel, op, single, [f32()]).prepare()
        assert "free 0" not in of(kernel, op, single, [f32()], FIRST).prepare()


def test_select_takes_a_condition_for_each_row_and_broadcasts_nothing(kernel):
    rows = [((3,), T.BOOL), f32(3, 4), f32(3, 4)]
    bench = of(kernel, "SELECT", rows, [f32(3, 4)])
    assert bench.init() == ["persistent 2 select.OpData"]
    assert asked(bench) == []
    with pytest.raises(PrepareError, match="shapes of SELECT"):
        of(kernel, "SELECT", [((4,), T.BOOL), *rows[1:]], [f32(3, 4)]).prepare()


def test_batch_matmul_keeps_the_transposed_right_side(kernel):
    # 2 * 5 * 3 floats; dims: a length and three numbers.
    bench = of(kernel, "BATCH_MATMUL", [f32(2, 4, 5), f32(2, 5, 3)], [f32(2, 4, 3)], options={"adj_y": False})
    assert bench.init() == ["persistent 16 OpDataBatchMatmul"]
    assert asked(bench) == [
        "persistent 12 transposed TfLiteEvalTensor",
        "persistent 16 transposed dims",
        "persistent 120 transposed data",
        "persistent 16 dims",
    ]


def test_a_batch_matmul_of_one_matrix_with_several_fills_up_its_shape_with_ones(kernel):
    bench = of(kernel, "BATCH_MATMUL", [f32(2, 4, 5), f32(5, 3)], [f32(2, 4, 3)], options={"adj_y": False})
    assert asked(bench) == [
        "persistent 12 transposed TfLiteEvalTensor",
        "persistent 12 transposed dims",  # 4 + 2 * 4
        "persistent 60 transposed data",  # 5 * 3 floats
        "persistent 16 dims",
    ]


def test_hybrid_batch_matmul_quantizes_its_left_side_in_scratch(kernel):
    bench = of(kernel, "BATCH_MATMUL", [f32(2, 4, 5), int8(2, 3, 5)], [f32(2, 4, 3)], options={"adj_y": True})
    assert asked(bench) == [
        "persistent 24 hybrid",  # a float, three indices, a pointer, a bool
        "scratch 40 input_quantized",
        "scratch 32 scaling_factors",  # 2 * 4 rows
        "scratch 32 input_offsets",
        "persistent 40 row_sums",  # 2 matrices of int32[5]
        "persistent 16 dims",
    ]


@pytest.mark.parametrize(("lhs", "rhs", "output"), [
    (f32(4), f32(4, 3), f32(3)),
    (int8(4, 4), f32(4, 3), f32(4, 3)),
    (f32(4, 4), f32(5, 3), f32(4, 3)),
    (f32(4, 4), f32(4, 3), f32(4, 4)),
])  # fmt: skip
def test_batch_matmul_refuses_what_does_not_fit(kernel, lhs, rhs, output):
    with pytest.raises(PrepareError, match="Edge Impulse's kernel refuses this"):
        of(kernel, "BATCH_MATMUL", [lhs, rhs], [output], options={"adj_y": False}).prepare()


def test_rfft2d_asks_for_the_transform_of_every_row(kernel):
    # 33 complex numbers of 8 bytes.
    bench = of(kernel, "RFFT2D", [f32(1, 64), constant(1, 64)], [((1, 33), T.COMPLEX64)])
    assert bench.init() == ["persistent 4 edge_impulse/rfft2d.OpData"]
    assert asked(bench) == ["scratch 264 kiss_fft_output"]


@pytest.mark.parametrize(("op", "inputs", "outputs", "order"), [
    ("COMPLEX_ABS", [((1, 33), T.COMPLEX64)], [f32(1, 33)], "01"),
    ("SCATTER_ND", [((2, 1), T.INT32), f32(2), constant(8)], [f32(8)], "0123"),
    ("TILE", [f32(1, 4), constant(2, 1)], [f32(2, 4)], "021"),
    ("TOPK_V2", [f32(8), constant(2)], [f32(2), ((2,), T.INT32)], "0130"),
])  # fmt: skip
def test_the_others_take_their_tensors_and_give_them_back(kernel, op, inputs, outputs, order):
    lines = of(kernel, op, inputs, outputs).prepare()
    assert [line for line in lines if line.startswith("temp")] == [f"temp {index}" for index in order]
    assert sorted(line[-1] for line in lines if line.startswith("free")) == sorted(order)


def test_tile_kept_its_data_on_the_heap_until_october_2024(kernel):
    inputs, outputs = [f32(1, 4), constant(2, 1)], [f32(2, 4)]
    assert of(kernel, "TILE", inputs, outputs).init() == ["persistent 1 tile.OpData"]
    assert of(kernel, "TILE", inputs, outputs, "edge-impulse@2024-09-05").init() == []


@pytest.mark.parametrize(("op", "version"), [("TILE", "2024-08-12"), ("SCATTER_ND", "2024-06-24")])
def test_an_operator_is_missing_before_it_came(kernel, op, version):
    with pytest.raises(KeyError):
        of(kernel, op, [f32(1)], [f32(1)], f"edge-impulse@{version}")
