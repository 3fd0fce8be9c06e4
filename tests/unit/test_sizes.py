"""Sizes as people write them."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.answers.simulation import simulate
from tflm_sim.errors import UsageError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.sizes import LEAST_LIMIT, MAX_SIZE, as_limit, as_size, parse_size
from tflm_sim.targets.presets import PRESETS

EXAMPLES = "write bytes (65536, 60*1024, 1 << 16) or K/KiB/M/MiB (64KiB)"


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("65536", 65_536),
        ("65'536", 65_536),
        ("65_536", 65_536),
        (" 10 B ", 10),
        ("0x10", 16),
        ("0X1f", 31),
        ("0x2K", 2048),
        ("1K", 1024),
        ("64k", 65_536),
        ("3KiB", 3 * 1024),
        ("3kib", 3 * 1024),
        ("2M", 2 * 1024 * 1024),
        ("2MiB", 2 * 1024 * 1024),
        ("2G", 2 * 1024 * 1024 * 1024),
        ("2GiB", 2 * 1024 * 1024 * 1024),
        ("1.5K", 1536),
        ("0.25K", 256),
        ("10.125K", 10_368),
        ("60*1024", 61_440),
        ("60 * 1024UL", 61_440),
        ("1 << 16", 65_536),
        ("1u<<16", 65_536),
        ("1 << 10 + 6", 65_536),
        ("(1 << 10) + 6", 1030),
        ("2 * 3 + 4", 10),
        ("2 + 3 * 4", 14),
        ("10 - 3 - 2", 5),
        ("10 - (3 - 2)", 9),
        ("1 - 3 + 5", 3),
        ("1 << 2 << 3", 32),
        ("(60 + 4) * 1024", 65_536),
        ("(60 + 4) KiB", 65_536),
        ("64K - 16", 65_520),
        ("((((136))))*1024", 139_264),
        ("9223372036854775807", MAX_SIZE),
    ],
)
def test_a_size_in_text_is_bytes(text: str, size: int) -> None:
    assert parse_size(text) == as_size(text, "limit") == size


@pytest.mark.parametrize(
    ("text", "words"),
    [
        *((text, f"'{text}' is not a size; {EXAMPLES}") for text in (
            "", " ", "-1", "+", "1 +", "* 2", "1 2", "(1", "1)", "()", "1 < 16", "128K/2", "2 ** 16", "60 - 61", "nan",
            "inf", "1 << (0 - 1)", "\u0664\u0665", "1.", ".5K", "K", "1,024",
        )),
        ("64kB", "'64kB' is ambiguous: kB can mean 1000 or 1024; write KiB (1024)"),
        ("1MB", "'1MB' is ambiguous: MB can mean 1000 or 1024; write MiB (1024)"),
        ("1gb", "'1gb' is ambiguous: gb can mean 1000 or 1024; write GiB (1024)"),
        ("1T", "'1T' has the unknown unit 'T'; use B, K, KiB, M, MiB, G or GiB"),
        ("1e5", "'1e5' has the unknown unit 'e'; use B, K, KiB, M, MiB, G or GiB"),
        ("1.5", "'1.5' is not a whole number of bytes"),
        ("1.0001K", "'1.0001K' is not a whole number of bytes"),
        *((text, f"'{text}' is more than any memory has; the largest size is 8,388,607 TiB") for text in (
            "9223372036854775808", "9" * 100, "1 << 63", "1 << 64", "1 << (1 << 40)", "99999999999G", "5G * 5G * 5G",
            "5G * 5G - 5G * 5G",
        )),
        ("9" * 4301, f"a text of 4,301 characters is not a size; {EXAMPLES}"),
        ("(" * 5000 + "1" + ")" * 5000, f"a text of 10,001 characters is not a size; {EXAMPLES}"),
    ],
)  # fmt: skip
def test_what_is_no_size_is_told_why(text: str, words: str) -> None:
    with pytest.raises(UsageError) as failure:
        parse_size(text)
    assert str(failure.value) == words


@given(st.text("0123456789abKMGiB()+-*<'_. x", max_size=110))
def test_any_text_is_a_size_in_bounds_or_is_refused(text: str) -> None:
    with suppress(UsageError):
        assert 0 <= parse_size(text) <= MAX_SIZE


def test_an_argument_is_a_number_of_bytes_or_nothing() -> None:
    assert (as_size(None, "limit"), as_size(0, "limit"), as_size(5, "limit")) == (None, 0, 5)
    with pytest.raises(UsageError, match=r"^limit of -1 bytes: the size must not be negative$"):
        as_size(-1, "limit")
    with pytest.raises(UsageError, match=r"^limit is more than any memory has; the largest size is 8,388,607 TiB$"):
        as_size(10**5000, "limit")
    for given_value in (True, 1.5, float("nan"), [1]):
        with pytest.raises(UsageError, match=r"^limit in bytes \(65536\) or as text \('64KiB'\) was expected, not a "):
            as_size(given_value, "limit")  # type: ignore[arg-type]


def test_a_limit_in_which_nothing_works_lacks_its_unit() -> None:
    assert (as_limit(None, "limit"), as_limit("64K", "limit"), as_limit(LEAST_LIMIT, "limit")) == (None, 65_536, 128)
    for given_value in (64, "64", "60 + 4"):
        with pytest.raises(UsageError, match=r"^`limit=64`: no TFLM works in so few .*; did you mean `limit=64KiB`\?$"):
            as_limit(given_value, "limit")
    with pytest.raises(UsageError, match=r"^`limit=0`: no TFLM works in so few bytes$"):
        as_limit("0", "limit")


@pytest.mark.parametrize("target", PRESETS)
def test_the_least_limit_is_below_what_a_model_without_tensors_needs(target: str) -> None:
    empty = parse(ModelBuilder().build(inputs=[], outputs=[]))
    smallest = simulate(empty, target).smallest
    assert smallest is not None
    assert smallest.size > LEAST_LIMIT
