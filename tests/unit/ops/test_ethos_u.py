"""ethos-u, which only a build with the Ethos-U driver registers."""

from __future__ import annotations

import pytest

from tflm_sim.model.types import TensorType as T
from tflm_sim.ops.reference import REFERENCE
from tflm_sim.ops.reference.custom import ETHOS_U

FILE = "tensorflow/lite/micro/kernels/ethos_u/ethosu.cc"
COMMANDS, VALUE = ((64,), T.UINT8, {"data": bytes(64)}), ((8,), T.INT8)


def _bench(kernel, inputs=(COMMANDS, VALUE, VALUE), outputs=(VALUE,), options=b"\1\4\1", **arguments):
    bench = kernel("SignalRfft", inputs, outputs, custom_options=options, **arguments)
    bench.model = ETHOS_U
    return bench


def test_it_is_not_among_the_reference_kernels():
    assert ETHOS_U.op == "ethos-u"
    assert "ethos-u" not in REFERENCE


@pytest.mark.parametrize(("target", "sizes"), [("cortex-m4", 16), ("x86_64", 32)])
def test_room_for_base_addresses_and_their_sizes(kernel, target, sizes):
    bench = _bench(kernel, target=target)
    assert bench.init() == ["persistent 12 ethosu.OpData"]  # three ints
    # Three inputs and an output: a uint64_t and a size_t for each.
    expected = ["scratch 32 base addresses", f"scratch {sizes} base address sizes", "temp 0", "free 0"]
    assert bench.prepare() == expected


@pytest.mark.parametrize(("arguments", "message"), [
    ({"inputs": ()}, "42 node->inputs->size > 0 was not true."),
    ({"options": b""}, "44 node->custom_initial_data_size > 0 was not true."),
    ({"options": None}, "44 node->custom_initial_data_size > 0 was not true."),
])  # fmt: skip
def test_refusals(kernel, arguments, message):
    assert _bench(kernel, **arguments).refusal() == f"{FILE}:{message}"


@pytest.mark.parametrize("arguments", [
    {"inputs": None},
    {"outputs": None},
    {"inputs": (None, VALUE)},
    {"refuse": "persistent"},
])  # fmt: skip
def test_halts(kernel, arguments):
    assert _bench(kernel, **arguments).refusal().startswith("halts: ")
