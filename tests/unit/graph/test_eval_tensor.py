"""Tensors as the runtime sees them: bytes by type and shape, and the types that a version knows."""

from __future__ import annotations

import pytest

from tflm_sim.graph.eval_tensor import TYPE_SIZES, EvalTensor, types_that_convert, types_without_size
from tflm_sim.graph.outline import outlines
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType
from tflm_sim.targets.runtime import Runtime, find_runtime

T = TensorType

UPSTREAM_SIZES = {
    1: (T.BOOL, T.FLOAT8_E4M3FN, T.FLOAT8_E5M2, T.INT4, T.INT8, T.UINT8),
    2: (T.BFLOAT16, T.FLOAT16, T.INT16, T.UINT16),
    4: (T.FLOAT32, T.INT32, T.RESOURCE, T.UINT32),
    8: (T.COMPLEX64, T.FLOAT64, T.INT64, T.UINT64),
    16: (T.COMPLEX128,),
}
"""Source: TfLiteTypeSizeOf in tensorflow/lite/micro/memory_helpers.cc @ 90b983c; kTfLiteResource is sizeof(int32_t);
of FLOAT8 what a pip wheel of 2026-10-12 plans, and one of 2026-10-09 does not."""


def test_an_element_has_the_bytes_of_its_c_type() -> None:
    expected = {one: size for size, types in UPSTREAM_SIZES.items() for one in types}
    assert expected == TYPE_SIZES


@pytest.mark.parametrize(("runtime", "unsized"), [
    ("2026-08-20", {T.FLOAT8_E4M3FN, T.FLOAT8_E5M2}),
    ("2026-10-09", {T.FLOAT8_E4M3FN, T.FLOAT8_E5M2}),
    ("2026-10-12", set()),
])  # fmt: skip
def test_float8_has_a_size_since_october_2026(runtime: str, unsized: set[T]) -> None:
    assert types_without_size(find_runtime(runtime)) == unsized


def one(shape: tuple[int, ...] | None, kind: TensorType = T.INT8) -> EvalTensor:
    builder = ModelBuilder()
    tensor = builder.tensor(shape, kind)
    return outlines(parse(builder.build(inputs=[tensor], outputs=[])))[0].eval_tensors()[0]


@pytest.mark.parametrize(("shape", "elements"), [
    (None, 1),
    ((), 1),
    ((0,), 0),
    ((-1, 8), -8),
    ((2, 3, 4), 24),
    ((1 << 16, (1 << 15) - 1), (1 << 31) - (1 << 16)),
    ((1 << 16, 1 << 15), -(1 << 31)),  # One more than a C int holds.
    ((1 << 16, 1 << 16), 0),
    ((1 << 16, (1 << 16) + 1), 1 << 16),
    ((-1 << 16, 1 << 15), -(1 << 31)),
    ((-1 << 16, (1 << 15) + 1), (1 << 31) - (1 << 16)),
])  # fmt: skip
@pytest.mark.parametrize(("kind", "size"), [(T.INT8, 1), (T.INT16, 2), (T.FLOAT64, 8)])
def test_elements_are_counted_in_a_c_int(
    shape: tuple[int, ...] | None, elements: int, kind: TensorType, size: int
) -> None:
    tensor = one(shape, kind)
    assert (tensor.byte_length, tensor.file_byte_length) == (elements * size, elements * size)


def test_a_shape_that_prepare_sets_is_not_the_files() -> None:
    tensor = one((2, 3), T.INT16)
    tensor.shape = (7,)
    assert (tensor.flat_size, tensor.byte_length, tensor.file_byte_length) == (7, 14, 12)


def test_a_type_without_a_size_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        one((4,), T.STRING).byte_length  # noqa: B018


def test_a_tensor_has_data_before_the_plan_where_it_is_constant_or_names_a_variable() -> None:
    builder = ModelBuilder()
    builder.tensor((1,), T.INT8, data=b"\1")
    builder.tensor((1,), T.RESOURCE)
    constant, handle = outlines(parse(builder.build(inputs=[], outputs=[])))[0].eval_tensors()
    assert (constant.is_constant, constant.has_data) == (True, True)
    assert (handle.is_constant, handle.has_data) == (False, False)
    handle.resource_id = 0
    assert (handle.is_constant, handle.has_data) == (False, True)


ALWAYS = {
    *(T.FLOAT32, T.FLOAT16, T.INT32, T.UINT8, T.INT64, T.STRING, T.BOOL, T.INT16, T.COMPLEX64, T.INT8, T.FLOAT64),
    *(T.COMPLEX128, T.UINT64),
}


@pytest.mark.parametrize(("day", "new"), [
    ("2021-04-09", {T.UINT32, T.RESOURCE, T.VARIANT}),
    ("2022-02-11", {T.UINT16}),
    ("2022-10-12", {T.INT4}),
    ("2024-03-18", {T.BFLOAT16}),
    ("2025-10-16", {T.INT2}),
    ("2026-01-16", {T.UINT4}),
    ("2026-07-02", {T.FLOAT8_E4M3FN, T.FLOAT8_E5M2}),
])  # fmt: skip
def test_types_came_one_after_the_other(day: str, new: set[TensorType]) -> None:
    known = types_that_convert(find_runtime(day))
    assert new <= known
    if day > "2021-04-09":  # The day of the first commit.
        year, month, number = map(int, day.split("-"))
        before = types_that_convert(find_runtime(f"{year}-{month:02}-{number - 1:02}"))
        assert known - before == new


def test_at_first_and_in_the_end() -> None:
    assert types_that_convert(find_runtime("2021-04-10")) == ALWAYS | {T.UINT32, T.RESOURCE, T.VARIANT}
    assert types_that_convert(Runtime()) == set(T)


def test_a_tensor_without_scales_has_no_affine_quantization() -> None:
    builder = ModelBuilder()
    builder.tensor((4,), T.INT8, scale=0.5)
    builder.tensor((4,), T.INT8)
    scaled, plain = outlines(parse(builder.build(inputs=[], outputs=[])))[0].eval_tensors()
    assert scaled.affine is not None
    assert plain.affine is None
