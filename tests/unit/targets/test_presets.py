import pickle

import pytest

from tflm_sim.errors import UsageError
from tflm_sim.targets.kernel_library import KernelLibrary
from tflm_sim.targets.presets import OWN_BUILDS, PRESETS, at_runtime, has_default_kernels, library_target, preset


def test_a_near_miss_is_answered_with_the_likely_names() -> None:
    with pytest.raises(UsageError, match=r"unknown target 'cortexm4'; did you mean .*cortex-m4"):
        preset("cortexm4")


def test_a_far_miss_is_answered_with_all_names() -> None:
    with pytest.raises(UsageError, match=r"use one of: x86_64, .*esp32-p4"):
        preset("abacus")


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_describes_itself(name: str) -> None:
    of = preset(name)
    assert of.description
    assert of.arena_address == 0


def test_the_wheel_is_its_own_snapshot_with_compression() -> None:
    wheel = preset("x86_64-pip")
    assert wheel.runtime.compression
    params = wheel.structs["TfLiteFullyConnectedParams"]
    assert (params.size, params.alignment) == (32, 8)


@pytest.mark.parametrize("runtime", ["8f6596d", "2026-10-12", "2026-10-20"])
@pytest.mark.parametrize("name", sorted(PRESETS.keys() - OWN_BUILDS))
def test_every_processor_can_have_tflm_of_october_2026(name: str, runtime: str) -> None:
    of = preset(name, kernels="reference", runtime=runtime)
    assert "quant_spec" in of.structs["TfLiteFullyConnectedParams"].members
    assert (of.verified_against != "") is ((name, of.runtime.snapshot) == ("x86_64-pip", "8f6596d"))


def test_cmsis_nn_with_tflm_of_october_2026_is_the_newest_that_is_known() -> None:
    of = preset("cortex-m4", runtime="8f6596d")
    assert str(of.kernel_library) == "cmsis_nn@4ab83cc (dsp)"
    assert of.verified_against == ""


def test_an_arduino_library_brings_its_kernels() -> None:
    assert str(preset("nano33ble-chirale").kernel_library) == "cmsis_nn@e98ee09 (dsp)"
    with pytest.raises(UsageError, match="remove `kernels=`"):
        preset("nano33ble-chirale", kernels="reference")


def test_the_library_that_a_target_brings_along_may_be_named() -> None:
    named = preset("nano33ble-chirale", kernels="cmsis_nn@e98ee09")
    assert named == preset("nano33ble-chirale")


@pytest.mark.parametrize(
    ("name", "kernels", "message"),
    [
        ("cortex-m4", "cmsis_nn@e98ee09", "cannot be used with 90b983c2b: TFLM from 2023-03-02 on fetches a newer"),
        ("esp32", "esp_nn@1.1.0", r"from 1\.3\.4 on asks for 1\.1\.1 or newer"),
        ("esp32-s3", "esp_nn_ansi@1.1.0", "esp_nn@1.1.0 cannot be used with"),
    ],
)
def test_what_is_no_build_is_refused(name: str, kernels: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        preset(name, kernels=kernels)


def test_a_version_of_kernels_is_judged_with_the_tflm_that_is_named() -> None:
    then = preset("cortex-m4", kernels="cmsis_nn@e98ee09", runtime="2023-01-13")
    assert then == preset("cortex-m4", runtime="2023-01-13")
    assert str(then.kernel_library) == "cmsis_nn@e98ee09 (dsp)"
    named = preset("esp32-s3", kernels="esp_nn@1.1.0", runtime="esp-tflite-micro@1.3.3")
    assert str(named.kernel_library) == "esp_nn@1.1.0 (esp32s3)"
    with pytest.raises(
        UsageError, match=r"cmsis_nn@4ab83cc cannot be used with 0c425da36, which links cmsis_nn@e98ee09"
    ):
        preset("cortex-m4", kernels="cmsis_nn@4ab83cc", runtime="2023-01-13")
    with pytest.raises(UsageError, match="cannot be used with 90b983c2b"):
        preset("cortex-m4", kernels="cmsis_nn@e98ee09", runtime="90b983c2b")


def test_chirale_can_be_named_as_runtime_and_as_library_with_its_kernels() -> None:
    library = library_target("chirale", kernels="cmsis_nn@e98ee09")
    assert library == preset("nano33ble-chirale")
    named = preset("cortex-m4", kernels="cmsis_nn@e98ee09", runtime="chirale")
    assert (named.runtime, named.kernel_library) == (library.runtime, library.kernel_library)
    for name, kernels in (("cortex-m4", "reference"), ("esp32", None)):
        with pytest.raises(UsageError, match=r"^chirale@2\.0\.0 brings its kernels, cmsis_nn@e98ee09; .* has "):
            preset(name, kernels=kernels, runtime="chirale")


def test_an_old_library_goes_with_the_tflm_of_its_time() -> None:
    assert preset("esp32-s3-esphome", kernels="esp_nn@1.1.0").kernel_library.version == "1.1.0"
    then = at_runtime(preset("cortex-m4"), "2023-01-13")
    assert str(then.kernel_library) == "cmsis_nn@e98ee09 (dsp)"


@pytest.mark.parametrize(
    ("day", "version"),
    [
        ("2021-04-09", "0d7e4fa"),
        ("2021-12-29", "bff2857"),
        ("2022-10-26", "6a18a74"),
        ("2022-10-27", "e98ee09"),
        ("2023-03-01", "e98ee09"),
        ("2023-03-02", "d071e9f"),
        ("2023-06-15", "dc64e48"),
        ("2024-05-06", "15dbe7c"),
        ("2024-09-09", "95f293d"),
        ("2026-06-23", "6d9d61d"),
        ("2026-06-24", "4ab83cc"),
    ],
)
def test_the_cmsis_nn_of_a_day_is_the_one_that_upstream_fetched(day: str, version: str) -> None:
    assert preset("cortex-m55", runtime=day).kernel_library == KernelLibrary("cmsis_nn", version, "mve")
    with pytest.raises(
        UsageError, match=f"which links cmsis_nn@{version}" if version != "4ab83cc" else "cannot be used with"
    ):
        preset("cortex-m55", kernels="cmsis_nn@72e1ebf", runtime=day)


@pytest.mark.parametrize("name", ["cortex-m0plus", "cortex-m3"])
def test_edge_impulses_sdk_had_the_reference_kernels_on_cores_without_dsp(name: str) -> None:
    before, after = (library_target(f"edge-impulse@{version}", name=name) for version in ("2024-06-24", "2024-08-12"))
    assert before.kernel_library.name == "reference"
    assert str(after.kernel_library) == "cmsis_nn@e98ee09 (scalar)"
    assert library_target("edge-impulse@2024-06-24", name="cortex-m4").kernel_library.variant == "dsp"


def test_the_mvps_kernels_come_with_silicon_labs_sdk_alone() -> None:
    chosen = library_target("simplicity-sdk")
    assert (str(chosen.kernel_library), chosen.kernel_library.cmsis_nn) == ("mvp@4.4.1 (dsp)", "23.08")
    assert library_target("silabs-gsdk@4.4.1", kernels="cmsis_nn").kernel_library.version == "23.08"
    for library in ("silabs-gsdk@4.1.0", "edge-impulse", "zephyr"):
        with pytest.raises(UsageError, match=r"the MVP's kernels are modelled for `library=silabs-gsdk@4\.4\.1` and"):
            library_target(library, name="cortex-m33", kernels="mvp")
    with pytest.raises(UsageError, match="not for 90b983c2b"):
        preset("cortex-m33", kernels="mvp")


@pytest.mark.parametrize(("name", "says"), [
    ("esp-tflite-micro@1.3.3", "'esp-tflite-micro@1.3.3' is a library: `library=esp-tflite-micro@1.3.3`; 'tflm-sim "
     "list libraries esp-tflite-micro' shows it"),
    ("Chirale", "'Chirale' is a library: `library=Chirale`; 'tflm-sim list libraries Chirale' shows it"),
    ("PICO", "'PICO' is a board: `target=cortex-m0plus`; `board=pico` is taken where a board can be named"),
])  # fmt: skip
def test_a_board_or_library_is_no_target(name: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        preset(name)
    assert str(caught.value) == says


def test_a_preset_names_the_kernels_that_it_takes_and_most_leave_their_version_to_the_library() -> None:
    pinned = {"x86_64", "x86_64-compression", "x86_64-pip", "i386", "riscv32", "nano33ble-chirale", "esp32-s3-esphome"}
    assert {name for name in PRESETS if not has_default_kernels(name)} == pinned
    assert PRESETS["esp32-s3-esphome"].kernels == "esp_nn@1.1.2"
    assert has_default_kernels("cortex-m4")
    assert not has_default_kernels("x86_64")
    assert not has_default_kernels("abacus")


@pytest.mark.parametrize(("machine", "name"), [
    ("cortex-m4", "nano33ble-chirale"), ("cortex-m7", "nano33ble-chirale"), ("nano33ble-chirale", "nano33ble-chirale"),
    ("cortex-m55", "cortex-m55"), ("cortex-m0plus", "cortex-m0plus"), ("esp32", "esp32"),
])  # fmt: skip
def test_a_library_with_its_own_kernels_runs_where_they_run(machine: str, name: str) -> None:
    chosen = library_target("chirale", name=machine)
    assert (chosen.name, chosen.kernel_library.version) == (name, "e98ee09")
    assert chosen.abi == preset(machine).abi


@pytest.mark.parametrize(("machine", "says"), [("x86_64", "cmsis_nn does not run on "), ("abacus", "unknown target ")])
def test_a_library_with_its_own_kernels_runs_nowhere_else(machine: str, says: str) -> None:
    with pytest.raises(UsageError, match=f"^{says}"):
        library_target("chirale", name=machine)


def test_a_pickled_target_finds_its_structs_anew() -> None:
    of = preset("cortex-m4")
    assert of.structs["TfLiteNode"].size > 0
    assert "structs" in vars(of)
    again = pickle.loads(pickle.dumps(of))
    assert again == of
    assert "structs" not in vars(again)
    assert again.sizeof("TfLiteNode") == of.sizeof("TfLiteNode")
