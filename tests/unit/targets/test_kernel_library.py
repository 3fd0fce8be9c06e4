import pytest

from tflm_sim.errors import UsageError
from tflm_sim.ops.cmsis_nn.buffer_sizes import BUFFER_SIZES
from tflm_sim.targets.kernel_library import REFERENCE, VERSIONS, KernelLibrary, parse_kernels
from tflm_sim.targets.presets import preset

VARIANTS = {"cmsis_nn": "dsp"}


def test_a_library_without_a_version_is_the_newest_modelled_one() -> None:
    assert parse_kernels("cmsis_nn", variants=VARIANTS) == KernelLibrary("cmsis_nn", VERSIONS["cmsis_nn"][0], "dsp")


def test_a_version_follows_an_at_sign() -> None:
    assert parse_kernels("cmsis_nn@v7.0.0", variants=VARIANTS) == KernelLibrary("cmsis_nn", "v7.0.0", "dsp")


def test_the_reference_kernels_come_with_the_snapshot() -> None:
    assert parse_kernels("reference", variants={}) is REFERENCE
    with pytest.raises(UsageError, match="no version of their own"):
        parse_kernels("reference@1", variants=VARIANTS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cmsis", r"'cmsis' is no kernel library that is modelled; use one of: reference, cmsis_nn"),
        (
            "cmsis_nn@9",
            r"cmsis_nn version '9' is not modelled; use one of: 4ab83cc, 6d9d61d, e096196, v7\.0\.0, 22080c6",
        ),
        ("", r"'' is no kernel library"),
    ],
)
def test_what_is_not_modelled_is_refused_with_what_is(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_kernels(text, variants=VARIANTS)


def test_a_library_for_another_core_is_refused() -> None:
    with pytest.raises(UsageError, match=r"cmsis_nn does not run on this target; use one of: reference"):
        preset("esp32", kernels="cmsis_nn")


@pytest.mark.parametrize(
    ("name", "variant"),
    [
        ("cortex-m0plus", "scalar"),
        ("cortex-m3", "scalar"),
        ("cortex-m4", "dsp"),
        ("cortex-m7", "dsp"),
        ("cortex-m33", "dsp"),
        ("cortex-m55", "mve"),
        ("cortex-m85", "mve"),
    ],
)
def test_the_core_chooses_the_instruction_set(name: str, variant: str) -> None:
    assert preset(name, kernels="cmsis_nn").kernel_library.variant == variant


def test_every_version_of_cmsis_nn_has_its_buffer_sizes() -> None:
    assert set(VERSIONS["cmsis_nn"]) == set(BUFFER_SIZES)


def test_a_library_says_all_that_decides_its_bytes() -> None:
    assert str(preset("cortex-m55", kernels="cmsis_nn").kernel_library) == "cmsis_nn@4ab83cc (mve)"
