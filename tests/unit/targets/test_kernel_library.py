import pytest

from tflm_sim.errors import UsageError
from tflm_sim.ops.cmsis_nn.buffer_sizes import BUFFER_SIZES
from tflm_sim.targets.changes import CMSIS_NN_PINS
from tflm_sim.targets.kernel_library import (
    EDGE_IMPULSE_2023,
    EDGE_IMPULSE_CMSIS_NN,
    REFERENCE,
    VERSIONS,
    KernelLibrary,
    default_version,
    is_release,
    newer_releases,
    parse_kernels,
    versions_of,
)
from tflm_sim.targets.presets import preset

VARIANTS = {"cmsis_nn": "dsp"}


def test_a_library_without_a_version_is_its_default() -> None:
    assert parse_kernels("cmsis_nn", variants=VARIANTS) == KernelLibrary("cmsis_nn", "4ab83cc", "dsp")


def test_a_version_follows_an_at_sign() -> None:
    assert parse_kernels("cmsis_nn@v7.0.0", variants=VARIANTS) == KernelLibrary("cmsis_nn", "v7.0.0", "dsp")


def test_the_reference_kernels_come_with_the_snapshot() -> None:
    assert parse_kernels("reference", variants={}) is REFERENCE
    with pytest.raises(UsageError, match="no version of their own"):
        parse_kernels("reference@1", variants=VARIANTS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cmsis", r"^unknown kernel library 'cmsis'; did you mean cmsis_nn\?$"),
        ("refrence", r"^unknown kernel library 'refrence'; did you mean reference\?$"),
        ("cmsis_nn@9", r"cmsis_nn version '9' is not modelled; use one of: .*4ab83cc, 6d9d61d, .*, 0d7e4fa, 23\.08"),
        ("", r"^unknown kernel library ''; use one of: reference, cmsis_nn, mvp, esp_nn$"),
    ],
)
def test_what_is_not_modelled_is_refused_with_what_is(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_kernels(text, variants=VARIANTS)


@pytest.mark.parametrize(
    ("variant", "release", "newer"),
    [
        ("opt", "1.3.1", "1.3.2 to 1.5.0"),
        ("esp32s3", "1.3.1", "1.3.2 to 1.5.0"),
        ("esp32p4", "1.3.1", "1.3.2 to 1.5.0"),
    ],
)
def test_the_default_of_esp_nn_depends_on_the_chip(variant: str, release: str, newer: str) -> None:
    assert default_version("esp_nn", variant) == release
    chosen = parse_kernels("esp_nn", variants={"esp_nn": variant})
    assert (chosen.version, newer_releases(chosen)) == (release, newer)


def test_only_the_default_version_has_newer_releases() -> None:
    assert newer_releases(KernelLibrary("esp_nn", "1.3.0", "opt")) == ""
    assert newer_releases(KernelLibrary("cmsis_nn", "6d9d61d", "dsp")) == newer_releases(REFERENCE) == ""


@pytest.mark.parametrize(
    ("name", "commit"),
    [
        ("esp32-s3", "25cae54"),
        ("esp32-s3", "1017042"),
        ("esp32-s3", "4982f25"),
        ("esp32-p4", "fa9f698"),
        ("esp32-p4", "2c222c5"),
    ],
)
def test_texts_of_no_known_release_are_taken_by_name_alone(name: str, commit: str) -> None:
    chosen = preset(name, kernels=f"esp_nn@{commit}").kernel_library
    assert (chosen.version, is_release(chosen)) == (commit, False)
    assert commit != default_version("esp_nn", chosen.variant)
    with pytest.raises(UsageError, match=rf"'{commit}' is not modelled for 'opt'; use one of: .*1\.3\.1,"):
        preset("esp32", kernels=f"esp_nn@{commit}")


def test_a_release_and_what_comes_with_a_tflm_count_as_released() -> None:
    assert is_release(KernelLibrary("esp_nn", "1.3.1", "opt"))
    assert is_release(KernelLibrary("esp_nn", EDGE_IMPULSE_2023, "opt"))
    assert is_release(REFERENCE)


def test_a_release_whose_text_is_not_at_hand_is_refused_with_those_that_are() -> None:
    with pytest.raises(
        UsageError, match=r"1\.2\.5 is not modelled for 'esp32s3': .* nearest modelled: 1\.2\.4 and 1\.2\.6$"
    ):
        preset("esp32-s3", kernels="esp_nn@1.2.5")
    assert preset("esp32-c3", kernels="esp_nn@1.2.5").kernel_library.version == "1.2.5"
    with pytest.raises(UsageError, match=r"^esp_nn 1\.4\.1 is not modelled: its sources are not .* modelled: 1\.3\.1$"):
        preset("esp32-s3", kernels="esp_nn@1.4.1")
    with pytest.raises(UsageError, match="no version of esp_nn with the kernels 'riscv_pie' is modelled"):
        parse_kernels("esp_nn", variants={"esp_nn": "riscv_pie"})


def test_a_chip_whose_kernels_are_not_at_hand_is_refused_by_name() -> None:
    for name in ("esp32-s31", "ESP32S31"):
        with pytest.raises(UsageError, match=f"^'{name}' is not modelled: .*; nearest: `target=esp32-p4`$"):
            preset(name)


def test_a_library_for_another_core_is_refused() -> None:
    with pytest.raises(UsageError, match=r"cmsis_nn does not run on this target; use one of: reference"):
        preset("riscv32", kernels="cmsis_nn")


def test_an_esp32_runs_the_plain_c_of_cmsis_nn() -> None:
    assert preset("esp32-s3", kernels="cmsis_nn").kernel_library == KernelLibrary("cmsis_nn", "4ab83cc", "scalar")
    assert preset("esp32-s3").kernel_library.name == "esp_nn"


@pytest.mark.parametrize("text", ["CMSIS-NN", "cmsis_nn", "CMSIS_NN", "cmsisnn"])
def test_a_library_is_known_however_it_is_spelt(text: str) -> None:
    assert preset("cortex-m4", kernels=text).kernel_library.name == "cmsis_nn"


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
    assert {*(row.name for row in VERSIONS["cmsis_nn"]), EDGE_IMPULSE_CMSIS_NN} == set(BUFFER_SIZES)


def test_each_variant_of_a_library_has_one_default_among_the_versions_that_are_modelled_for_it() -> None:
    for library, rows in VERSIONS.items():
        defaults = [variant for row in rows for variant in row.default_for]
        assert sorted(defaults) == sorted({variant for row in rows for variant in row.variants}), library
        assert all(set(row.default_for) <= set(row.variants) for row in rows)


def test_versions_of_cmsis_nn_are_in_the_order_in_which_upstream_fetched_them() -> None:
    versions = versions_of("cmsis_nn", "dsp")
    pins = [version for version in versions if version in CMSIS_NN_PINS]
    assert pins == list(reversed(CMSIS_NN_PINS))
    assert default_version("cmsis_nn", "dsp") in pins  # What --runtime compares with what a day's TFLM fetched.


def test_a_library_says_all_that_decides_its_bytes() -> None:
    assert str(preset("cortex-m55", kernels="cmsis_nn").kernel_library) == "cmsis_nn@4ab83cc (mve)"


def test_the_mvps_kernels_stand_before_cmsis_nns() -> None:
    assert KernelLibrary("mvp").layers == ("mvp", "cmsis_nn")
    assert KernelLibrary("esp_nn").layers == ("esp_nn",)
