"""Custom options by index and by name."""

from __future__ import annotations

import pytest

from tflm_sim.errors import PrepareError
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.reference.custom_options import bool_slot, int_entries, int_slots

flexbuffers = pytest.importorskip("flatbuffers.flexbuffers")


@pytest.fixture
def k(kernel):
    """Return the maker of kernels with custom options: a dict, bytes or None."""

    def make(options):
        packed = bytes(flexbuffers.Dumps(options)) if isinstance(options, dict) else options
        return Kernel(kernel("SignalRfft", [], [], custom_options=packed).node, "signal/micro/kernels/rfft.cc")

    return make


def test_slots_are_in_the_order_of_their_names(k):
    assert int_slots(k({"b": -2, "a": 1, "c": 2**40}), 0, 1) == (1, -2)


def test_slots_are_cut_to_32_bits(k):
    assert int_slots(k({"a": 2**32 + 5}), 0) == (5,)


def test_a_bool_slot_is_not_zero(k):
    options = k({"a": 0, "b": True, "c": 7})
    assert [bool_slot(options, index) for index in range(3)] == [False, True, True]


def test_entries_that_are_left_out_are_0(k):
    assert int_entries(k({"a": 3, "b": 2.9}), "a", "b", "c") == (3, 2, 0)


@pytest.mark.parametrize("options", [None, b"", b"\1", b"\0\0\0", b"\1\4\1", {}])
def test_unreadable_slots_halt(k, options):
    for read in (int_slots, bool_slot):
        with pytest.raises(PrepareError, match=r"rfft\.cc") as caught:
            read(k(options), 0)
        assert caught.value.status == "abort"


@pytest.mark.parametrize("options", [None, b"", b"\1", b"\x24\x24\1"])
def test_unreadable_entries_halt(k, options):
    with pytest.raises(PrepareError):
        int_entries(k(options), "a")
