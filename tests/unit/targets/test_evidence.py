"""What is measured: a row by core, kernels and TFLM; nothing follows from it for what is newer, near or made up."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.device.configuration import configure
from tflm_sim.report.circumstances import open_kernels
from tflm_sim.targets.abi import I386
from tflm_sim.targets.changes import CMSIS_NN_PINS, UPSTREAM
from tflm_sim.targets.evidence import NO_TFLM, RECORDINGS, SAME_TEXT, Recording, evidence, recordings_of, tflm_name
from tflm_sim.targets.kernel_library import VERSIONS, KernelVersion, versions_of
from tflm_sim.targets.libraries import LIBRARIES
from tflm_sim.targets.library import Library
from tflm_sim.targets.presets import PRESETS, library_target, preset
from tflm_sim.targets.runtime import Runtime
from tflm_sim.targets.target import Target

ROOT = Path(__file__).parents[3]
MADE_UP = "abcdef1"
IN_QEMU = "programs with real TFLM that print their figures in QEMU"
EXECUTED = f"programs with real TFLM, executed, request by request; {IN_QEMU}"


@pytest.mark.parametrize(
    ("name", "kernels", "words"),
    [
        ("x86_64-pip", None, "the pip wheel of TFLM"),
        ("cortex-m55", None, "real TFLM, Cortex-M55 in QEMU"),
        ("cortex-m33", None, EXECUTED),
        ("cortex-m33", "reference", "not measured; on cortex-m4 with the same structs: real TFLM, Cortex-M4 in QEMU"),
        ("cortex-m85", None, "real TFLM on QEMU's Cortex-M55"),
        ("cortex-m85", "reference", "not measured; on cortex-m4 with the same structs: real TFLM, Cortex-M4 in QEMU"),
        ("cortex-m4", "cmsis_nn@6d9d61d", "not measured"),
        ("cortex-m0plus", None, "real TFLM in QEMU"),
        ("cortex-m7", None, "real TFLM in QEMU"),
        ("cortex-m0plus", "reference", f"real TFLM in QEMU; {EXECUTED}"),
        ("nano33ble-chirale", None, "the TFLM and CMSIS-NN that it holds, built for 32 bits; readings of others"),
        ("esp32", "esp_nn@1.2.3", "real esp-tflite-micro 1.4.0, built for 32 bits"),
        ("esp32", None, "real esp-tflite-micro 1.4.0 on QEMU's Xtensa LX106"),
        ("esp32-s2", None, "real esp-tflite-micro 1.4.0 on QEMU's Xtensa LX106"),
        ("esp32", "esp_nn@1.3.0", "not measured; with esp_nn@1.2.3 (opt), whose text is the same: real esp-tflite"),
        ("esp32-c3", None, "real esp-tflite-micro 1.4.0 on QEMU's RISC-V"),
        ("esp32-c6", None, "real esp-tflite-micro 1.4.0 on QEMU's RISC-V"),
        ("esp32-s3", "esp_nn@1.1.1", "not measured"),
        ("esp32-s3", "esp_nn@1.2.6", "not measured; without TFLM: its scratch-size functions alone"),
        ("esp32-s3", None, "real esp-tflite-micro 1.4.0 on QEMU's Xtensa LX106, AllocateTensors() alone"),
        ("esp32-p4", None, "real esp-tflite-micro 1.4.0 on QEMU's RISC-V, AllocateTensors() alone"),
        ("esp32-s3-esphome", None, "real esp-tflite-micro 1.3.3~1 on QEMU's Xtensa LX106, AllocateTensors() alone"),
        ("esp32-s3-esphome", "esp_nn@1.2.0", "real esp-tflite-micro 1.3.3~1, built for 32 bits"),
    ],
)  # fmt: skip
def test_a_target_says_with_its_kernels_whether_it_was_measured(name: str, kernels: str | None, words: str) -> None:
    found = evidence(preset(name, kernels=kernels))
    assert found == words if words == "not measured" else found.startswith(words)


@pytest.mark.parametrize(("name", "library", "words"), [
    ("cortex-m33", "silabs-gsdk@4.4.1", "its TFLM in QEMU; the MVP's kernels"),
    ("cortex-m33", "simplicity-sdk", "not measured"),
    ("cortex-m4", "edge-impulse@2021-08-31", "the interpreter of Edge Impulse's SDK, built for 32-bit Arm"),
    ("cortex-m4", "edge-impulse@1.93.20", "not measured; on i386 with other structs: Edge Impulse's SDK"),
    ("cortex-m4", "EloquentTinyML@2.4.4", "not measured; on i386 with other structs; with Harvard_TinyMLx@1.2.4"),
    ("cortex-m4", "spresense", "not measured"),
    ("nano33ble-chirale", "chirale", "the TFLM and CMSIS-NN that it holds"),
    ("esp32", "esp-tflite-micro@1.3.3", "not measured"),
])  # fmt: skip
def test_a_library_says_with_its_kernels_whether_it_was_measured(name: str, library: str, words: str) -> None:
    found = evidence(library_target(library, name=name))
    assert found == words if words == "not measured" else found.startswith(words)


@pytest.mark.parametrize(("name", "kernels", "runtime", "words"), [
    ("cortex-m4", "reference", "52c956815", "firmwares with real TFLM, Cortex-M4 in QEMU"),
    ("cortex-m4", "reference", "2023-06-14", "not measured"),  # A commit earlier.
    ("cortex-m4", None, "b489b9973", "not measured; on i386 with other structs: real TFLM of that day on a 32-bit PC"),
    ("cortex-m4", None, "2023-04-09", "not measured"),
    ("x86_64", None, "5904dc42d", "real TFLM of that day, 64-bit PC"),
    ("esp32", "esp_nn@1.1.0", "esp-tflite-micro@1.3.3", "real esp-tflite-micro of that release, built for 32 bits"),
    ("esp32", "esp_nn@1.2.3", "esp-tflite-micro@1.4.0", "real esp-tflite-micro 1.4.0, built for 32 bits"),
    ("esp32-s3", "esp_nn@1.2.0", "esphome@2025.5.0", "real esp-tflite-micro 1.3.3~1, built for 32 bits"),
])  # fmt: skip
def test_a_tflm_of_a_day_was_measured_at_its_commit_alone(
    name: str, kernels: str | None, runtime: str, words: str
) -> None:
    found = evidence(preset(name, kernels=kernels, runtime=runtime))
    assert found == words if words == "not measured" else found.startswith(words)


def test_a_build_flag_is_part_of_what_was_measured() -> None:
    assert configure("cortex-m55").target.verified_against == "../shared/golden/cm55_cmsis_nn"
    for_size = configure("cortex-m55", optimize_kernels_for="size").target
    assert evidence(for_size) == EXECUTED
    assert for_size.verified_against == "tests/golden/agreement_runs.json; tests/golden/executed_runs.json"
    assert evidence(configure("cortex-m55", optimize_kernels_for="neither").target) == "not measured"
    assert evidence(configure("cortex-m55", ethos_u=True).target) == "not measured"
    assert tflm_name(configure("x86_64-compression", ethos_u=True).target) == "90b983c2b with compression with Ethos-U"


def test_a_target_that_is_changed_asks_anew() -> None:
    of = preset("cortex-m4", kernels="reference")
    assert of.verified_against
    assert (
        replace(of, kernel_library=preset("cortex-m4", kernels="cmsis_nn@v7.0.0").kernel_library).verified_against == ""
    )
    assert replace(of, abi=I386).verified_against == ""
    assert replace(of, name="cortex-m85").verified_against == ""
    lean = replace(of, runtime=replace(of.runtime, static_memory=False))
    assert (lean.verified_against, tflm_name(lean)) == ("", "90b983c2b without TF_LITE_STATIC_MEMORY")


def targets_rows(capsys: pytest.CaptureFixture[str], *names: str) -> list[dict[str, str]]:
    assert main(["list", "targets", *names, "--json"]) == 0
    rows: list[dict[str, str]] = json.loads(capsys.readouterr().out)
    return rows


@pytest.mark.parametrize(("library", "variants", "core"), [
    ("cmsis_nn", ("scalar", "dsp", "mve"), "cortex-m4"),
    ("cmsis_nn", ("scalar", "dsp", "mve"), "cortex-m55"),
    ("esp_nn", ("ansi", "opt", "esp32s3", "esp32p4"), "esp32"),
    ("esp_nn", ("ansi", "opt", "esp32s3", "esp32p4"), "esp32-s3"),
    ("esp_nn", ("ansi", "opt", "esp32s3", "esp32p4"), "esp32-p4"),
])  # fmt: skip
def test_a_made_up_version_of_kernels_that_comes_first_was_not_measured_and_is_no_default(
    library: str,
    variants: tuple[str, ...],
    core: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before, combinations = targets_rows(capsys), targets_rows(capsys, core)
    monkeypatch.setitem(VERSIONS, library, (KernelVersion(MADE_UP, variants), *VERSIONS[library]))
    assert versions_of(library, variants[-1])[0] == MADE_UP
    assert targets_rows(capsys) == before
    more = [row for row in targets_rows(capsys, core) if row not in combinations]
    assert {(row["kernels"].partition(" ")[0], row["proof"]) for row in more} == {
        (f"{library}@{MADE_UP}", "not measured")
    }
    assert preset(core, kernels=library).kernel_library.version != MADE_UP
    (line,) = open_kernels(configure(core), library=None, kernels=None)
    assert f" is taken by default (newer: {MADE_UP}" in line or f" to {MADE_UP})" in line


def test_a_made_up_version_of_the_mvps_kernels_was_not_measured_and_is_no_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (known,) = VERSIONS["mvp"]
    monkeypatch.setitem(VERSIONS, "mvp", (replace(known, name="9.9.9", default_for=()), known))
    assert library_target("silabs-gsdk@4.4.1").kernel_library.version == "4.4.1"
    made_up = library_target("silabs-gsdk@4.4.1", kernels="mvp@9.9.9")
    assert (str(made_up.kernel_library), evidence(made_up)) == ("mvp@9.9.9 (dsp)", "not measured")


def test_a_made_up_pin_of_upstream_changes_neither_defaults_nor_what_older_tflm_fetched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    newest = CMSIS_NN_PINS["4ab83cc"]
    monkeypatch.setitem(CMSIS_NN_PINS, MADE_UP, replace(newest, position=newest.position + 1, commit="0123456789"))
    monkeypatch.setitem(VERSIONS, "cmsis_nn", (KernelVersion(MADE_UP, ("dsp",)), *VERSIONS["cmsis_nn"]))
    assert preset("cortex-m4").kernel_library.version == "4ab83cc"
    assert preset("cortex-m4", runtime="2026-08-20").kernel_library.version == "4ab83cc"
    assert preset("cortex-m4", runtime="2026-06-23").kernel_library.version == "6d9d61d"


def test_a_made_up_tflm_was_not_measured() -> None:
    of = preset("cortex-m4")
    newer = replace(of, runtime=Runtime("0123456789", upstream=of.runtime.position(UPSTREAM) + 1))
    assert newer.runtime.has("concatenation_int32_axis") == of.runtime.has("concatenation_int32_axis")
    assert (newer.verified_against, evidence(newer)) == ("", "not measured")


def test_a_made_up_release_of_a_library_was_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    (known,) = (row for row in LIBRARIES if row.label == "esp-tflite-micro@1.4.0")
    made_up: Library = replace(known, version="1.9.9")
    monkeypatch.setattr("tflm_sim.targets.libraries.LIBRARIES", (*LIBRARIES, made_up))
    of = library_target("esp-tflite-micro@1.9.9", kernels="esp_nn@1.2.3")
    assert (of.runtime.snapshot, evidence(of)) == ("esp-tflite-micro@1.9.9", "not measured")


def target_of(core: str, kernels: str, tflm: str) -> Target:
    """Return the target that a row is about, as somebody would name it."""
    name, *flags = re.split(" (?=with|for)", tflm)
    library = kernels.partition(" ")[0]
    if "edge-impulse" in library:  # Its SDK brings these versions; nobody else can name them.
        library = library.partition("@")[0]
    if "(ansi)" in kernels:
        library = library.replace("esp_nn", "esp_nn_ansi")
    own = PRESETS[core]
    found = preset(
        core, kernels=None if own.own_kernels else library, runtime=None if name == own.runtime.snapshot else name
    )
    purpose = "size" if "for size" in flags else "speed"
    runtime = replace(found.runtime, compression="with compression" in flags, optimize_kernels_for=purpose)
    return replace(found, runtime=runtime, ethos_u="with Ethos-U" in flags)


NO_TARGETS = [
    row
    for row in RECORDINGS
    if NO_TFLM in row.tflm or (row.cores == ("i386",) and (row.kernels, row.tflm) != ("reference", ("90b983c2b",)))
]
"""Functions that were run alone, and builds for a PC with what no target for a PC has."""


@pytest.mark.parametrize(
    ("row", "core", "tflm"),
    [(row, core, tflm) for row in RECORDINGS if row not in NO_TARGETS for core in row.cores for tflm in row.tflm],
    ids=lambda value: value if isinstance(value, str) else f"{value.file.rpartition('/')[2]} {value.kernels}",
)
def test_a_row_measures_the_target_that_is_named_so(row: Recording, core: str, tflm: str) -> None:
    found = target_of(core, row.kernels, tflm)
    if row.abi != PRESETS[core].abi:  # Built for 32-bit Arm, whose enumerations are short.
        assert (core, row.file) == ("esp32-s3", "tests/golden/eon_runs.json")
        found = replace(found, abi=row.abi)
    assert row in recordings_of(found)
    assert row.file in found.verified_against


def test_what_has_the_text_of_something_else_names_what_was_measured_and_was_not_itself() -> None:
    measured = {row.kernels for row in RECORDINGS} | {tflm for row in RECORDINGS for tflm in row.tflm}
    assert set(SAME_TEXT.values()) <= measured
    # The scratch-size functions of the P4 in 1.2.6 and 1.3.1 were run alone; with TFLM those of 1.2.3 were. The plain C
    # of 1.3.1 ran with TFLM on the ESP32-C3 and C6 alone; that of 1.2.3 was built for the ESP32 and S2, too.
    assert set(SAME_TEXT) & measured == {"esp_nn@1.2.6 (esp32p4)", "esp_nn@1.3.1 (esp32p4)", "esp_nn@1.3.1 (opt)"}


@pytest.mark.parametrize("file", sorted({row.file for row in RECORDINGS if not row.file.startswith("../shared/")}))
def test_every_recording_that_is_named_is_there(file: str) -> None:
    assert (ROOT / file).is_file()


@pytest.mark.parametrize("file", [
    pytest.param(file, marks=pytest.mark.shared(file.removeprefix("../shared/").partition("/")[0]))
    for file in sorted({row.file for row in RECORDINGS if row.file.startswith("../shared/")})
])  # fmt: skip
def test_every_recording_that_is_not_published_is_there(file: str) -> None:
    assert (ROOT / file).exists()


def test_of_each_recording_with_traces_there_is_a_committed_sample() -> None:
    with_traces = {row.file for row in RECORDINGS if row.file.startswith("../shared/golden/")}
    assert len(with_traces) == 7
    assert all((ROOT / "tests/golden/sample" / file.rpartition("/")[2]).is_dir() for file in with_traces)
