import pytest

from tflm_sim.errors import UsageError
from tflm_sim.targets.presets import PRESETS, target


def test_a_near_miss_is_answered_with_the_likely_names() -> None:
    with pytest.raises(UsageError, match=r"unknown target 'cortexm4'; did you mean .*cortex-m4"):
        target("cortexm4")


def test_a_far_miss_is_answered_with_all_names() -> None:
    with pytest.raises(UsageError, match=r"use one of: x86_64, .*esp32-p4"):
        target("abacus")


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_describes_itself_and_says_what_proves_it(name: str) -> None:
    of = target(name)
    assert of.description
    assert of.verified_against
    assert of.arena_address == 0


def test_the_wheel_is_its_own_snapshot_with_compression() -> None:
    wheel = target("x86_64-pip")
    assert wheel.runtime.compression
    params = wheel.structs["TfLiteFullyConnectedParams"]
    assert (params.size, params.alignment) == (32, 8)


def test_an_arduino_library_brings_its_kernels() -> None:
    assert str(target("nano33ble-chirale").kernel_library) == "cmsis_nn@e98ee09 (dsp)"
    with pytest.raises(UsageError, match="leave --kernels out"):
        target("nano33ble-chirale", kernels="reference")


@pytest.mark.parametrize(
    ("name", "kernels", "proof"),
    [
        ("cortex-m4", "reference", "cm4_ref"),
        ("cortex-m4", None, "cm4_cmsis_nn"),
        ("cortex-m55", None, "cm55_cmsis_nn"),
        ("cortex-m4", "cmsis_nn@v7.0.0", "the library's own size functions"),
        ("esp32", None, "four readings on a board (mcufit-bench)"),
        ("cortex-m7", None, "cm4_cmsis_nn; structs: cm4_ref (same ABI)"),
        ("x86_64", None, "x86_64_ref"),
    ],
)
def test_a_target_says_what_proves_it_with_those_kernels(name: str, kernels: str | None, proof: str) -> None:
    assert target(name, kernels=kernels).verified_against == proof
