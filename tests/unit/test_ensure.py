"""The checks of kernels: what passes, and what is printed of what does not, where a macro stands several times."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.ensure import KernelChecks
from tflm_sim.model.types import TensorType

INT8, FLOAT, NOBODYS = TensorType.INT8, TensorType.FLOAT32, 99


class Checks(KernelChecks):
    """Notes what it refuses; its node has two inputs and one output."""

    node = SimpleNamespace(inputs=(1, 2), outputs=(3,))

    def __init__(self, is_64_bit: bool = False) -> None:
        self.refused: list[tuple[str, str, tuple[str, str], int]] = []
        self.is_64_bit = is_64_bit

    def _refuse(self, text: str, says: str, sides: tuple[str, str], number: int) -> None:
        self.refused.append((text, says, sides, number))

    def _is_64_bit(self) -> bool:
        return self.is_64_bit


def tensor(type_: int = INT8, rank: int = 2, zero_point: int = 0, is_quantized: bool = True) -> Any:
    return SimpleNamespace(type=type_, shape=(1,) * rank, zero_point=zero_point, is_quantized=is_quantized)


@pytest.mark.parametrize(
    ("check", "given", "rest"),
    [
        ("ensure", (True, "c"), {}),
        ("ensure_eq", (5, 5, "a", "b"), {}),
        ("ensure_types_eq", (INT8, INT8, "a", "b"), {}),
        ("ensure_c_types_eq", (INT8, INT8, "a", "b"), {}),
        ("ensure_count_eq", (5, 5, "a", "b"), {}),
        ("ensure_double_eq", (0.5, 0.5, "a", "b"), {}),
        ("ensure_near", (1.0, 1.0, "a", "b"), {}),
        ("ensure_near", (1001.0, 1000.0, "a", "b"), {}),
        ("ensure_near", (999.0, 1000.0, "a", "b"), {}),
        ("ensure_near", (float("nan"), 1.0, "a", "b"), {}),
        ("ensure_near", (0.0, 0.0, "a", "b"), {}),
        ("counts", (2,), {}),
        ("same_type", (tensor(), tensor()), {}),
        ("same_c_type", (tensor(), tensor()), {}),
        ("is_type", (tensor(), INT8, "t"), {}),
        ("is_c_type", (tensor(), INT8, "t"), {}),
        ("one_of", (INT8, (FLOAT, INT8), "t"), {}),
        ("rank", (tensor(), 2, "t"), {}),
        ("dims_size", (2,), {"t": tensor(), "u": tensor()}),
        ("zero_points", (), {"t": tensor(), "u": tensor()}),
        ("affine", (tensor(), "t"), {}),
        ("not_quantized", (tensor(is_quantized=False), "t"), {}),
    ],
)
def test_what_is_as_it_should_be_passes(check: str, given: tuple[Any, ...], rest: dict[str, Any]) -> None:
    checks = Checks()
    getattr(checks, check)(*given, **rest)
    assert checks.refused == []


@pytest.mark.parametrize(
    ("check", "given", "text", "says", "sides"),
    [
        ("ensure", (False, "c"), "c", " was not true.", ("c", "")),
        ("ensure_eq", (5, 6, "a"), "a != 6", " (5 != 6)", ("a", "6")),
        ("ensure_eq", (5, 6, "a", "b"), "a != b", " (5 != 6)", ("a", "b")),
        ("ensure_types_eq", (INT8, FLOAT, "a"), "a != kTfLiteFloat32", " (INT8 != FLOAT32)", ("a", "kTfLiteFloat32")),
        ("ensure_types_eq", (INT8, FLOAT, "a", "b"), "a != b", " (INT8 != FLOAT32)", ("a", "b")),
        # kTfLiteInt8 is 9 and kTfLiteFloat32 is 1.
        ("ensure_c_types_eq", (INT8, FLOAT, "a"), "a != kTfLiteFloat32", " (9 != 1)", ("a", "kTfLiteFloat32")),
        ("ensure_c_types_eq", (INT8, FLOAT, "a", "b"), "a != b", " (9 != 1)", ("a", "b")),
        ("same_type", (tensor(), tensor(FLOAT)), "input->type != output->type", " (INT8 != FLOAT32)", None),
        ("same_type", (tensor(), tensor(FLOAT), "x", "y"), "x->type != y->type", " (INT8 != FLOAT32)", None),
        ("same_c_type", (tensor(), tensor(FLOAT)), "input->type != output->type", " (9 != 1)", None),
        ("same_c_type", (tensor(), tensor(FLOAT), "x", "y"), "x->type != y->type", " (9 != 1)", None),
        ("is_type", (tensor(), FLOAT, "t"), "t->type != kTfLiteFloat32", " (INT8 != FLOAT32)", None),
        ("is_c_type", (tensor(), FLOAT, "t"), "t->type != kTfLiteFloat32", " (9 != 1)", None),
        (
            "one_of",
            (NOBODYS, (FLOAT, INT8), "t"),
            "t == kTfLiteFloat32 || t == kTfLiteInt8",
            " was not true.",
            ("t == kTfLiteFloat32 || t == kTfLiteInt8", ""),
        ),
        ("rank", (tensor(), 3, "t"), "NumDimensions(t) != 3", " (2 != 3)", None),
        ("affine", (tensor(is_quantized=False), "t"), "t->quantization.type != kTfLiteAffineQuantization", " (0 != 1)",
         None),
        ("not_quantized", (tensor(), "t"), "t->quantization.type != kTfLiteNoQuantization", " (1 != 0)", None),
        ("ensure_near", (1001.5, 1000.0, "a", "b"), "a not near b", " (1001.500000 != 1000.000000)", ("a", "b")),
        ("ensure_near", (998.5, 1000.0, "a", "b"), "a not near b", " (998.500000 != 1000.000000)", ("a", "b")),
        ("ensure_near", (0.0, -1.0, "a", "b"), "a not near b", " (0.000000 != -1.000000)", ("a", "b")),
        ("ensure_near", (0.5, 0.25, "a", "b", str), "a not near b", " (0.5 != 0.25)", ("a", "b")),
    ],
)  # fmt: skip
def test_what_is_not_is_printed_as_the_macro_does_and_is_the_first_of_its_text(
    check: str, given: tuple[Any, ...], text: str, says: str, sides: tuple[str, str] | None
) -> None:
    checks = Checks()
    getattr(checks, check)(*given)
    first, _, second = text.partition(" != ")
    assert checks.refused == [(text, says, sides or (first, second), 1)]


@pytest.mark.parametrize(
    ("check", "given"),
    [
        ("ensure", (False, "c")),
        ("ensure_eq", (5, 6, "a", "b")),
        ("ensure_types_eq", (INT8, FLOAT, "a", "b")),
        ("ensure_c_types_eq", (INT8, FLOAT, "a", "b")),
        ("counts", (1, 1)),
        ("counts", (2, 2)),
        ("same_type", (tensor(), tensor(FLOAT))),
        ("is_type", (tensor(), FLOAT, "t")),
        ("is_c_type", (tensor(), FLOAT, "t")),
        ("one_of", (NOBODYS, (INT8,), "t")),
        ("rank", (tensor(), 3, "t")),
        ("affine", (tensor(is_quantized=False), "t")),
    ],
)
def test_a_number_says_which_of_several_checks_it_is(check: str, given: tuple[Any, ...]) -> None:
    first, third = Checks(), Checks()
    getattr(first, check)(*given)
    getattr(third, check)(*given, number=3)
    assert [row[3] for row in first.refused] == [1]
    assert [row[3] for row in third.refused] == [3]


def test_inputs_and_outputs_are_counted() -> None:
    checks = Checks()
    checks.counts(1)
    checks.counts(2, 2)
    assert [row[:2] for row in checks.refused] == [
        ("NumInputs(node) != 1", " (2 != 1)"),
        ("NumOutputs(node) != 2", " (1 != 2)"),
    ]


def test_each_tensor_has_its_rank_and_a_zero_point_of_0() -> None:
    checks = Checks()
    checks.dims_size(2, t=tensor(rank=3), u=tensor(), v=tensor(rank=1))
    checks.zero_points(t=tensor(zero_point=1), u=tensor(), v=tensor(zero_point=-2))
    checks.zero_points(t=tensor(zero_point=1), number=2)
    assert [(text, says, number) for text, says, _, number in checks.refused] == [
        ("t->dims->size != 2", " (3 != 2)", 1),
        ("v->dims->size != 2", " (1 != 2)", 1),
        ("t->params.zero_point != 0", " (1 != 0)", 1),
        ("v->params.zero_point != 0", " (-2 != 0)", 1),
        ("t->params.zero_point != 0", " (1 != 0)", 2),
    ]


def test_a_count_of_64_bits_is_printed_in_halves_where_an_int_has_32() -> None:
    count = 5 * 2**32 + 7
    for is_64_bit, says in ((False, " (7 != 5)"), (True, " (7 != 6)")):
        checks = Checks(is_64_bit)
        checks.ensure_count_eq(count, 6, "a", "b")
        assert checks.refused == [("a != b", says, ("a", "b"), 1)]


def test_a_double_is_printed_in_halves_where_an_int_has_32() -> None:
    # 1.5 is 0x3FF80000_00000000.
    for is_64_bit, says in ((False, f" (0 != {0x3FF80000})"), (True, " (? != ?)")):
        checks = Checks(is_64_bit)
        checks.ensure_double_eq(1.5, 0.5, "a", "b")
        assert checks.refused == [("a != b", says, ("a", "b"), 1)]


def test_a_type_that_upstream_has_no_constant_for_is_no_type() -> None:
    checks = Checks()
    checks.ensure_c_types_eq(INT8, NOBODYS, "a")
    assert checks.refused[0][0] == "a != kTfLiteNoType"
    checks.ensure_types_eq(INT8, NOBODYS, "a")
    assert checks.refused[1][0] == "a != kTfLiteNoType"
