"""Of two faults of one operator the mobile runtime names the one that its kernel meets first."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tflm_sim.extensions.lite.answer import Answer, LiteSettings, allocated
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType as T

Row = tuple[T, Sequence[int]]
ABSENT = -1


def prepared(
    op: str,
    inputs: Sequence[Row | None],
    outputs: Sequence[Row],
    options: Mapping[str, Any] | None = None,
    data: Mapping[int, bytes] | None = None,
) -> Answer:
    """Return what is said of an operator; an input is None where it is absent."""
    builder = ModelBuilder()
    constants = data or {}
    given = [
        ABSENT if row is None else builder.tensor(row[1], row[0], data=constants.get(place))
        for place, row in enumerate(inputs)
    ]
    made = [builder.tensor(shape, kind) for kind, shape in outputs]
    builder.operator(op, given, made, options=dict(options or {}))
    return allocated(parse(builder.build(inputs=[each for each in given if each >= 0], outputs=made)), LiteSettings())


@pytest.mark.parametrize(
    ("op", "inputs", "outputs", "said"),
    [
        (
            "HASHTABLE_LOOKUP",
            [(T.STRING, (4,)), None, (T.FLOAT32, (3, 2))],
            [(T.FLOAT32, (4, 2)), (T.UINT8, (4,))],
            "hashtable_lookup.cc:60 lookup->type != kTfLiteInt32",
        ),
        (
            "HASHTABLE_LOOKUP",
            [(T.INT32, (4,)), (T.INT32, (3, 1)), None],
            [(T.FLOAT32, (4, 2)), (T.UINT8, (4,))],
            "hashtable_lookup.cc:64 NumDimensions(key) != 1 (2 != 1)",
        ),
        (
            "TOPK_V2",
            [(T.FLOAT32, (4,)), None],
            [(T.INT32, (2,)), (T.INT32, (2,))],
            "topk_v2.cc:265 input->type != output_values->type (FLOAT32 != INT32)",
        ),
        (
            "EMBEDDING_LOOKUP",
            [(T.INT32, (2, 3, 4)), None],
            [(T.FLOAT32, (4, 2))],
            "embedding_lookup.cc:55 NumDimensions(lookup) != 1 (3 != 1)",
        ),
        (
            "MULTINOMIAL",
            [(T.INT32, (2, 3)), None],
            [(T.INT64, (4, 2))],
            "random_ops.cc:206 logits->type == kTfLiteFloat32 was not true.",
        ),
        (
            "UNIDIRECTIONAL_SEQUENCE_RNN",
            [(T.FLOAT32, (2, 3)), (T.FLOAT32, (2, 3)), (T.FLOAT32, (2, 2)), None, (T.FLOAT32, (2, 2))],
            [(T.FLOAT32, (2, 2))],
            "Tensor at index 3 was optional but was expected",
        ),
        (
            "BIDIRECTIONAL_SEQUENCE_RNN",
            [*[(T.FLOAT32, (2, 3, 4)), *[(T.FLOAT32, (2, 3))] * 5], None, *[(T.FLOAT32, (2, 2))] * 2, *[None] * 3],
            [(T.FLOAT32, (2, 2)), (T.FLOAT32, (2, 2))],
            "Tensor at index 6 was optional but was expected",
        ),
        ("ELU", [None, (T.FLOAT32, (2,))], [(T.FLOAT32, (2,))], "Tensor at index 0 was optional but was expected"),
    ],
)
def test_an_input_is_missed_only_where_the_kernel_gets_to_it(
    op: str, inputs: list[Row | None], outputs: list[Row], said: str
) -> None:
    assert said in prepared(op, inputs, outputs).reports[0]


def test_the_shapes_of_what_is_packed_are_compared_one_by_one() -> None:
    rows = [(T.FLOAT32, (2,)), (T.FLOAT32, (3,)), None]
    answer = prepared("PACK", rows, [(T.FLOAT32, (3, 2))], {"values_count": 3})
    assert "pack.cc:66 HaveSameShapes(input0, input) was not true." in answer.reports[0]


def test_a_remainder_has_the_sign_of_what_is_divided() -> None:
    data = {1: struct.pack("<2i", -2, 1), 2: bytes(16)}
    rows = [(T.FLOAT32, (1, 3, 4, 1)), (T.INT32, (2,)), (T.INT32, (2, 2))]
    answer = prepared("SPACE_TO_BATCH_ND", rows, [(T.FLOAT32, (1, 1, 4, 1))], data=data)
    assert "final_dim_size % block_shape[dim] != 0 (1 != 0)" in answer.reports[0]


def test_paddings_of_truth_values_are_bytes() -> None:
    data = {1: bytes((1, 0, 255, 3))}
    answer = prepared("PAD", [(T.FLOAT32, (3, 4)), (T.BOOL, (2, 2))], [(T.FLOAT32, (1, 1))], data=data)
    assert (answer.reports, answer.interpreter.primary.tensors[2].shape) == ([], (4, 262))


def test_as_many_padding_values_as_no_integer_counts_are_refused() -> None:
    answer = prepared("STABLEHLO_PAD", [(T.FLOAT32, (5,)), (T.FLOAT32, (2**16, 2**16))], [(T.FLOAT32, (5,))])
    assert "StableHLO Pad padding value size overflowed." in answer.reports[0]
    answer = prepared("PADV2", [(T.FLOAT32, (5,)), (T.INT32, (2**31 - 1, 2))], [(T.FLOAT32, (5,))])
    assert "Pad paddings size overflowed." in answer.reports[0]


def test_a_constant_written_over_an_output_of_a_narrower_type_is_nothing_to_rely_on() -> None:
    rows = [(T.INT32, (2, 3, 4)), (T.INT32, (2,))]
    answer = prepared("RESHAPE", rows, [(T.FLOAT16, (5,))], data={0: bytes(96), 1: struct.pack("<2i", 2, -1)})
    assert "(the kernel reads a dimension or a value that its tensor does not have)" in answer.reports[0]


def test_a_strided_slice_of_nothing_ends_the_process_before_anything_is_checked() -> None:
    vectors: list[Row] = [(T.INT32, (4,)), (T.INT32, ()), (T.INT32, (4,))]
    answer = prepared("STRIDED_SLICE", [None, *vectors], [(T.INT32, (5,))])
    assert "the process is aborted" in answer.reports[0]


def test_a_padded_dimension_beyond_32_bits_is_refused_before_the_outputs_type() -> None:
    pads = {"edge_padding_low": (-1, 0), "edge_padding_high": (2, 2), "interior_padding": (0, 1)}
    answer = prepared("STABLEHLO_PAD", [(T.FLOAT32, (5, 2**31 - 1)), (T.FLOAT32, ())], [(T.BOOL, (2, 1))], pads)
    assert "StableHLO Pad output dimension does not fit in TfLiteIntArray." in answer.reports[0]


def test_both_temporaries_of_a_window_are_in_the_arena_when_the_first_cannot_be_resized() -> None:
    windows = {
        "window_dimensions": (2,),
        "window_strides": (1,),
        "base_dilations": (2,),
        "window_dilations": (1,),
        "padding": (),
        "body_subgraph_index": 0,
    }
    answer = prepared(
        "STABLEHLO_REDUCE_WINDOW", [(T.FLOAT32, (0,)), (T.FLOAT32, ())], [(T.FLOAT32, (1, 1, 4))], windows
    )
    assert answer.status == "error"
    tensors = answer.subgraphs[0].tensors
    assert [tensor.allocation_type.name for tensor in tensors[-2:]] == ["ARENA_RW", "ARENA_RW"]


def test_the_offsets_of_a_hybrid_transpose_conv_are_placed_only_behind_the_check_of_its_scales() -> None:
    wanted = struct.pack("<4i", 1, 4, 4, 3)
    answer = prepared(
        "TRANSPOSE_CONV",
        [(T.INT32, (4,)), (T.INT8, (3, 3, 3, 2)), (T.FLOAT32, (1, 4, 4, 2))],
        [(T.FLOAT32, (1, 4, 4, 3))],
        {"padding": 0, "stride_w": 1, "stride_h": 1},
        {0: wanted, 1: bytes(54)},
    )
    assert answer.status == "error"
    assert [tensor.allocation_type.name for tensor in answer.subgraphs[0].tensors[-2:]] == ["ARENA_RW", "MEM_NONE"]
