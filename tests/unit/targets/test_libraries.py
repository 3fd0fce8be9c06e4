"""Libraries by name: what each holds, and what is refused."""

from __future__ import annotations

import pytest

from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.errors import UsageError
from tflm_sim.ops import places
from tflm_sim.ops.registry import registrations
from tflm_sim.targets.changes import CHANGES, UPSTREAM
from tflm_sim.targets.history import find_commit
from tflm_sim.targets.libraries import LIBRARIES, find_library, libraries_like, library_of_day
from tflm_sim.targets.library import Library
from tflm_sim.targets.presets import PRESETS, at_runtime, library_target, preset

MODELLED = [row for row in LIBRARIES if row.is_modelled]


@pytest.mark.parametrize("row", [row for row in MODELLED if row.commits[0]], ids=lambda row: row.label)
def test_no_change_lies_within_the_commits_that_a_library_may_hold(row: Library) -> None:
    first, last = (find_commit(commit).position for commit in row.commits)
    # Which CMSIS-NN upstream pins is of no matter to those that bring other kernels.
    changes = [change for name, change in CHANGES.items() if change.tree == UPSTREAM and not name.startswith("cmsis_")]
    ends = [position for change in changes for position in (change.position, change.until)]
    assert [position for position in ends if first < position <= last] == []


@pytest.mark.parametrize("row", MODELLED, ids=lambda row: row.label)
def test_a_modelled_library_is_a_target(row: Library) -> None:
    assert library_target(row.label, name=row.target).name == row.target
    assert row.target in PRESETS


@pytest.mark.parametrize("row", [row for row in LIBRARIES if not row.is_modelled], ids=lambda row: row.label)
def test_what_is_not_modelled_is_refused_with_what_is_nearest(row: Library) -> None:
    with pytest.raises(UsageError, match="is not modelled; the nearest: "):
        library_target(row.label, name="esp32" if row.only else None)


def test_spresense_has_the_tflm_and_the_cmsis_nn_of_january_2022() -> None:
    chosen = library_target("spresense")
    assert (chosen.runtime.snapshot, str(chosen.kernel_library)) == ("spresense@1.0.0", "cmsis_nn@977abe9 (dsp)")


def test_without_a_version_the_newest_that_is_modelled_is_meant() -> None:
    assert find_library("esp-tflite-micro").version == "1.4.0"
    assert find_library("ESPHome").label == "esphome@2026.6.5"


@pytest.mark.parametrize(("release", "esp_tflite_micro", "esp_nn"), [
    ("2024.7.0", "1.3.1", "1.3.1"),
    ("2024.10.0", "1.3.1", "1.1.0"),
    ("2025.4.2", "1.3.1", "1.1.0"),
    ("2025.5.0", "1.3.3~1", "1.3.1"),
    ("2026.2.4", "1.3.3~1", "1.3.1"),
    ("2026.3.3", "1.3.3~1", "1.3.1"),
    ("2026.4.0", "1.3.3~1", "1.1.2"),
    ("2026.6.5", "1.3.3~1", "1.1.2"),
])  # fmt: skip
def test_a_release_of_esphome_links_what_it_pins_and_the_newest_esp_nn_where_it_pins_none(
    release: str, esp_tflite_micro: str, esp_nn: str
) -> None:
    library = find_library(f"esphome@{release}")
    chosen = library_target(library.label)
    assert library.holds == f"esp-tflite-micro@{esp_tflite_micro}"
    assert (chosen.runtime.snapshot, chosen.kernel_library.version) == (f"esphome@{release}", esp_nn)
    assert chosen.structs == library_target(library.holds, name="esp32-s3").structs
    assert bool(library.kernels_range) == (release in ("2024.7.0", "2025.5.0", "2026.2.4", "2026.3.3"))


def test_a_release_of_esphome_that_pins_no_tflm_is_refused() -> None:
    with pytest.raises(UsageError, match=r"esphome@2024.6.6 is not modelled; .* main branch on the day of the build"):
        library_target("esphome@2024.6.6")
    with pytest.raises(UsageError, match=r"no version '2026.6.9' here; use one of: 2024.2.0 to 2024.6.6, 2024.7.0 to"):
        library_target("esphome@2026.6.9")


@pytest.mark.parametrize(("version", "asked"), [("1.3.1", "^1.0.0-rc1"), ("1.3.3~1", "^1.1.0"), ("1.3.5", ">=1.1.1")])
def test_esp_tflite_micro_asks_for_a_range_of_esp_nn(version: str, asked: str) -> None:
    assert find_library(f"esp-tflite-micro@{version}").kernels_range == asked


def test_an_unknown_name_or_version_says_what_there_is() -> None:
    with pytest.raises(UsageError, match="unknown library 'zephir'; did you mean zephyr"):
        find_library("zephir")
    with pytest.raises(
        UsageError, match=r"has no version '9'; use one of|has no version '9' here; use one of: 2021-08-23"
    ):
        find_library("zephyr@9")


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        ("silabs-gsdk@4.4.4", "4.4.1"),
        ("silabs-gsdk@1.0", "4.0.0"),
        ("silabs-gsdk@4.3.9", "4.3.3"),
        ("silabs-gsdk@x", ""),
    ],
)
def test_an_unknown_version_names_the_modelled_one_before_it(asked: str, nearest: str) -> None:
    with pytest.raises(UsageError) as refused:
        find_library(asked)
    assert str(refused.value).partition("; the nearest: `library=silabs-gsdk@")[2].rstrip("`") == nearest


def test_a_release_of_esp_tflite_micro_has_its_own_kernels_flaw() -> None:
    versions = ("1.2.0", "1.3.0", "1.3.3", "1.3.4")
    flawed = [v for v in versions if library_target(f"esp-tflite-micro@{v}").runtime.has("esp_conv_short_node_data")]
    assert flawed == ["1.3.0", "1.3.3"]


def test_esp_nn_kernels_go_with_esp_tflite_micro_alone() -> None:
    assert at_runtime(preset("esp32"), "esp-tflite-micro@1.3.5").runtime.snapshot == "esp-tflite-micro@1.3.5"
    with pytest.raises(UsageError, match="come with esp-tflite-micro"):
        at_runtime(preset("esp32"), "2025-11-17")


@pytest.mark.parametrize(("text", "name"), [
    ("edge_impulse", "edge-impulse"),
    ("EdgeImpulse", "edge-impulse"),
    ("STM32Cube", "x-cube-ai"),
    ("MCUXpresso", "nxp-eiq"),
    ("pico tflmicro", "pico-tflmicro"),
])  # fmt: skip
def test_a_library_is_found_by_its_name_or_source_however_it_is_spelt(text: str, name: str) -> None:
    assert {row.name for row in libraries_like(text)} == {name}


def test_a_search_without_a_result_says_what_there_is() -> None:
    with pytest.raises(UsageError, match="unknown library 'qarduino'"):
        libraries_like("qarduino")


def test_edge_impulses_versions_differ_by_what_they_took_and_undid() -> None:
    first, newest = (find_library(f"edge-impulse@{version}").runtime() for version in ("2023-11-15", "1.93.20"))
    changes = ("select_frees", "reduce_num_axis", "float_conv_without_arrays", "edge_impulse_tile")
    assert [first.has(change) for change in changes] == [False, True, True, False]
    assert [newest.has(change) for change in changes] == [True, False, True, True]
    assert not any(preset("cortex-m4").runtime.has(change) for change in changes[2:])


@pytest.mark.parametrize("name", ["Arduino_TensorFlowLite@2.4.0-ALPHA", "Harvard_TinyMLx", "EloquentTinyML@2.4.4"])
def test_what_is_older_than_upstream_has_none_of_upstreams_changes(name: str) -> None:
    runtime = library_target(name).runtime
    assert runtime.position(UPSTREAM) == 0
    assert not any(runtime.has(change) for change in ("io_tensors", "pad_5d", "type_uint32"))
    assert all(runtime.has(change) for change in ("uint8_kernels", "tensorflow_uint8", "dequantize_int32"))


@pytest.mark.parametrize(("label", "place"), [
    ("zephyr@v3.6.0", "prelu_common.cc"),
    ("pico-tflmicro", "prelu_common.cpp"),
    ("chirale@2.0.0", "prelu_common.cpp"),
    ("Harvard_TinyMLx", "prelu.cpp"),
])  # fmt: skip
def test_messages_name_the_source_as_the_library_does(label: str, place: str) -> None:
    found = places.place(library_target(label).runtime, "prelu_common.cc", "input != nullptr")
    assert found is not None
    assert found[0] == place


@pytest.mark.parametrize(
    ("version", "name", "kernels"),
    [
        ("2022-04-21", "esp32-s3", "reference"),
        ("2022-09-16", "esp32-s3", "esp_nn@1.0-edge-impulse-2022 (esp32s3)"),
        ("2023-08-25", "esp32", "esp_nn@1.0-edge-impulse-2022 (opt)"),
        ("2023-11-15", "esp32-s3", "esp_nn@1.1.0-edge-impulse-2023 (esp32s3)"),
        ("2024-06-24", "esp32-s3", "esp_nn@1.1.0 (esp32s3)"),
        ("2024-06-24", "esp32-p4", "esp_nn@1.1.0 (opt)"),
        ("1.93.20", "esp32-p4", "esp_nn@1.1.0 (esp32p4)"),
        ("1.93.20", "esp32-c3", "esp_nn@1.1.0 (opt)"),
    ],
)
def test_edge_impulses_sdk_brings_its_own_esp_nn(version: str, name: str, kernels: str) -> None:
    assert str(library_target(f"edge-impulse@{version}", name=name).kernel_library) == kernels


def test_another_esp_nn_does_not_go_with_edge_impulses_sdk() -> None:
    with pytest.raises(UsageError, match=r"edge-impulse@1.93.20 brings its own ESP-NN, 1.1.0; remove the version"):
        library_target("edge-impulse", name="esp32-s3", kernels="esp_nn@1.2.0")
    with pytest.raises(
        UsageError, match=r"has ESP-NN with its optimised code only; without it, use `kernels=reference`"
    ):
        library_target("edge-impulse", name="esp32", kernels="esp_nn_ansi")
    assert library_target("edge-impulse", name="esp32", kernels="reference").kernel_library.name == "reference"
    with pytest.raises(UsageError, match="esp_nn does not run on this target"):
        library_target("esphome", name="cortex-m4")


def test_some_libraries_have_a_short_name() -> None:
    assert find_library("adi").name == "analog-devices"
    assert {row.name for row in libraries_like("ADI")} == {"analog-devices"}
    assert find_library("ei").name == "edge-impulse"
    assert find_library("STM32Cube").name == "x-cube-ai"
    assert find_library("gecko_sdk@4.4.1").label == "silabs-gsdk@4.4.1"


@pytest.mark.parametrize(("label", "pin"), [
    ("nxp-eiq@2.16.100", "dc64e48"),
    ("himax@2412", "22080c6"),
    ("pico-tflmicro", "22080c6"),
    ("MicroTFLite", "e98ee09"),
    ("Harvard_TinyMLx", "0d7e4fa"),
])  # fmt: skip
def test_a_librarys_cmsis_nn_has_the_sizes_of_the_commit_that_upstream_fetched(label: str, pin: str) -> None:
    assert library_target(label).kernel_library.version == pin


@pytest.mark.parametrize(("day", "version"), [
    (None, "1.93.20"), ("2019-01-01", "2020-12-24"), ("2021-08-31", "2021-08-31"), ("2021-09-01", "2021-08-31"),
    ("2022-04-20", "2021-08-31"), ("2024-10-14", "2024-10-14"), ("2024-10-15", "1.93.20"),
])  # fmt: skip
def test_the_version_of_a_day_is_the_newest_of_it(day: str | None, version: str) -> None:
    assert library_of_day("edge-impulse", day).version == version


@pytest.mark.parametrize(("name", "static_memory", "commits"), [
    ("MicroTFLite", False, ("4e62ea7b8", "a8c2ebf58")),
    ("tflm_esp32@1.0.0", False, ("a3e7bdad0", "8184347d0")),
    ("tflm_esp32@2.0.0", True, ("dc4dcb743", "0cc2e49fd")),
    ("spresense", True, ("7da3703be", "6698e1aff")),
    ("Harvard_TinyMLx", False, ("", "")),
])  # fmt: skip
def test_rows_in_words_are_read(name: str, static_memory: bool, commits: tuple[str, str]) -> None:
    row = find_library(name)
    assert (row.static_memory, row.commits) == (static_memory, commits)
    assert row.source


@pytest.mark.parametrize(("version", "commit", "position"), [
    ("1.3.3", "10ebaab9f", 1614), ("1.3.4", "3b209129c", 1663), ("1.2.0", "4bbdef5f8", 1332),
])  # fmt: skip
def test_a_library_is_at_the_first_commit_that_it_may_hold(version: str, commit: str, position: int) -> None:
    row = find_library(f"esp-tflite-micro@{version}")
    assert (row.commits[0], row.runtime().upstream) == (commit, position)


def test_the_nearest_version_may_be_the_very_one_written_otherwise() -> None:
    with pytest.raises(UsageError, match=r"^esp-tflite-micro has no version 'v1\.3\.5' here; .*-micro@1\.3\.5`$"):
        find_library("esp-tflite-micro@v1.3.5")


@pytest.mark.parametrize(("printed", "label"), [
    ("ArduTFLite.h", "chirale@2.0.0"),
    ("#include <ArduTFLite.h>", "chirale@2.0.0"),
    ("Chirale_TensorFlowLite.h", "chirale@2.0.0"),
    ("Chirale_TensorFLowLite", "chirale@2.0.0"),
    ("spaziochirale/ArduTFLite", "chirale@2.0.0"),
    ("spaziochirale/Chirale_TensorFLowLite@1.1.0", "chirale@1.1.0"),
    ("TensorFlowLite_ESP32.h", "TensorFlowLite_ESP32@1.0.0"),
    ("tanakamasayuki/TensorFlowLite_ESP32", "TensorFlowLite_ESP32@1.0.0"),
    ("https://github.com/tanakamasayuki/Arduino_TensorFlowLite_ESP32.git", "TensorFlowLite_ESP32@1.0.0"),
    ("EloquentTinyML.h", "EloquentTinyML@2.4.4"),
    ("eloquent_tinyml.h", "EloquentTinyML@3.0.1"),
    ("tflm_esp32.h", "tflm_esp32@2.0.0"),
    ("espressif/esp-tflite-micro@^1.3.3~1", "esp-tflite-micro@1.3.3~1"),
    ("espressif__esp-tflite-micro", "esp-tflite-micro@1.4.0"),
    ("MicroTFLite.h", "MicroTFLite@1.0.3"),
    ("my_project_inferencing.h", "edge-impulse@1.93.20"),
    ("tensorflow-micropython-examples", "microlite@2025-01-26"),
    ("Adafruit TensorFlow Lite", "Adafruit_TFLite@1.2.5"),
])  # fmt: skip
def test_a_library_is_known_by_what_is_printed_on_screens(printed: str, label: str) -> None:
    assert find_library(printed).label == label


def test_what_several_libraries_or_none_are_called_is_said() -> None:
    with pytest.raises(
        UsageError, match=r"^TensorFlowLite\.h is a header of .*, Arduino_.* and Harvard_TinyMLx: name "
    ):
        find_library("TensorFlowLite.h")
    with pytest.raises(UsageError, match="is what is taken without a library; `runtime=` names its version"):
        find_library("tensorflow/tflite-micro")
    with pytest.raises(UsageError, match=r"^unknown library 'arduino'; did you mean Arduino_TensorFlowLite or "):
        find_library("arduino")


@pytest.mark.parametrize(("library", "machine", "snapshot", "kernels"), [
    ("chirale", "esp32", "chirale-2.0.0", "cmsis_nn@e98ee09 (scalar)"),
    ("chirale", "esp32-s3", "chirale-2.0.0", "cmsis_nn@e98ee09 (scalar)"),
    ("chirale", "cortex-m0plus", "chirale-2.0.0", "cmsis_nn@e98ee09 (scalar)"),
    ("MicroTFLite", "esp32", "MicroTFLite@1.0.3", "cmsis_nn@e98ee09 (scalar)"),
    ("EloquentTinyML", "esp32", "EloquentTinyML@3.0.1", "reference"),
    ("EloquentTinyML", "cortex-m4", "EloquentTinyML@3.0.1", "cmsis_nn@e98ee09 (dsp)"),
    ("microlite", "esp32", "microlite@2025-01-26", "esp_nn@1.1.0 (opt)"),
    ("microlite", "esp32-s3", "microlite@2025-01-26", "esp_nn@1.1.0 (esp32s3)"),
    ("microlite", "cortex-m0plus", "microlite@2025-01-26", "cmsis_nn@e98ee09 (scalar)"),
    ("coralmicro", "cortex-m7", "coralmicro@2023-03-22", "cmsis_nn@6a18a74 (dsp)"),
    ("coralmicro", "cortex-m4", "coralmicro@2023-03-22", "cmsis_nn@6a18a74 (dsp)"),
])  # fmt: skip
def test_a_library_decides_its_kernels_by_the_chip(library: str, machine: str, snapshot: str, kernels: str) -> None:
    chosen = library_target(library, name=machine)
    assert (chosen.runtime.snapshot, str(chosen.kernel_library)) == (snapshot, kernels)


@pytest.mark.parametrize(("library", "machine", "same"), [
    ("EloquentTinyML", "esp32-s3", "tflm_esp32@2.0.0"), ("EloquentTinyML", "cortex-m4", "tflm_cortexm@1.0.0"),
])  # fmt: skip
def test_a_library_that_holds_another_ones_tflm_has_its_structs(library: str, machine: str, same: str) -> None:
    chosen, other = (library_target(name, name=machine) for name in (library, same))
    assert chosen.structs == other.structs


def test_coral_micros_operator_for_the_edge_tpu_is_of_its_own_library_and_asks_for_nothing() -> None:
    row = registrations(library_target("coralmicro"))["edgetpu-custom-op"]
    assert (row.init, row.prepare) == (None, None)
    assert "edgetpu-custom-op" not in registrations(preset("cortex-m7"))


@pytest.mark.parametrize(("model", "needs"), [("sample:sine", 1168), ("sample:residual", 55220)])
@pytest.mark.parametrize("machine", ["esp32", "esp32-s3", "esp32-c3"])
def test_chirales_library_needs_on_an_esp32_what_its_sources_need_with_that_layout(
    model: str, needs: int, machine: str
) -> None:
    """Executed in Unicorn: src/ of spaziochirale/Chirale_TensorFlowLite @ 46da2f9, for a Cortex-M0+, -fno-short-enums.

    That has the struct layout of an ESP32 and, without DSP instructions, the plain C of CMSIS-NN.
    """
    assert smallest_arena(model, machine, library="chirale").size == needs
