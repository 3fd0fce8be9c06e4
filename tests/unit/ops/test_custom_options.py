"""Custom options by index and by name."""

from __future__ import annotations

import pytest

from tflm_sim.errors import PrepareError
from tflm_sim.ops.reference.custom_options import bool_slot, int_entries, int_slots

flexbuffers = pytest.importorskip("flatbuffers.flexbuffers")


@pytest.fixture
def node(kernel):
    """Return the maker of nodes with custom options: a dict, bytes or None."""

    def make(options):
        packed = bytes(flexbuffers.Dumps(options)) if isinstance(options, dict) else options
        return kernel("SignalRfft", [], [], custom_options=packed).node

    return make


def test_slots_are_in_the_order_of_their_names(node):
    assert int_slots(node({"b": -2, "a": 1, "c": 2**40}), "x.cc:1", 0, 1) == (1, -2)


def test_slots_are_cut_to_32_bits(node):
    assert int_slots(node({"a": 2**32 + 5}), "x.cc:1", 0) == (5,)


def test_a_bool_slot_is_not_zero(node):
    options = node({"a": 0, "b": True, "c": 7})
    assert [bool_slot(options, "x.cc:1", index) for index in range(3)] == [False, True, True]


def test_entries_that_are_left_out_are_0(node):
    assert int_entries(node({"a": 3, "b": 2.9}), "x.cc:1", "a", "b", "c") == (3, 2, 0)


@pytest.mark.parametrize("options", [None, b"", b"\1", b"\0\0\0", b"\1\4\1", {}])
def test_unreadable_slots_halt(node, options):
    for read in (int_slots, bool_slot):
        with pytest.raises(PrepareError, match=r"x\.cc:1") as caught:
            read(node(options), "x.cc:1", 0)
        assert caught.value.status == "abort"


@pytest.mark.parametrize("options", [None, b"", b"\1", b"\x24\x24\1"])
def test_unreadable_entries_halt(node, options):
    with pytest.raises(PrepareError):
        int_entries(node(options), "x.cc:1", "a")
