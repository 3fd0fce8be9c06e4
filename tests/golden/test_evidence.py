"""The table of what was measured (``targets/evidence.py``) has the runs of each recording, all of them and no other."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from truth.claims import CLAIMS
from truth.golden import CONFIGURATIONS, PACKED

from tflm_sim.targets.changes import CMSIS_NN_PINS
from tflm_sim.targets.evidence import NO_TFLM, RECORDINGS
from tflm_sim.targets.presets import PRESETS, preset
from tflm_sim.targets.runtime import find_runtime

sys.path.insert(0, str(Path(__file__).parent))
import test_edge_impulse_interpreter
import test_eon_runs

HERE = Path(__file__).parent
SHARED = HERE.parents[2] / "shared"
Run = tuple[str, str, str]
PLAIN_C = ("esp32", "esp32-s2", "esp32-c3", "esp32-c6")
"""The chips of which esp-nn compiles its plain C, "opt"."""
ESP_TFLM = {
    "1.4.0": ("esp-tflite-micro@1.4.0", "90b983c2b"),
    "1.3.3.1": ("esp-tflite-micro@1.3.3~1", "esp-tflite-micro-1.3.3"),
}


def rows_of(file: str) -> set[Run]:
    """Return the rows of a recording: core, kernels, TFLM."""
    rows = [row for row in RECORDINGS if row.file == file]
    found = [(core, row.kernels, tflm) for row in rows for core in row.cores for tflm in row.tflm]
    assert len(found) == len(set(found)), "a row stands twice"
    return set(found)


def recorded(name: str) -> Any:
    return json.loads((HERE / f"{name}.json").read_text("utf-8"))


def fetched(commit: str) -> str:
    """Return the CMSIS-NN that upstream's makefile fetched at a commit."""
    runtime = find_runtime(commit)
    return [pin for pin in CMSIS_NN_PINS if runtime.has(f"cmsis_nn_{pin}")][-1]


@pytest.mark.parametrize(
    "configuration", sorted(CONFIGURATIONS.keys() - {"x86_64_wheel"})
)  # no build of TFLM is that one
def test_a_configuration_with_traces_is_its_target(configuration: str) -> None:
    name, kernels = CONFIGURATIONS[configuration]
    target = preset(name, kernels=kernels)
    compression = " with compression" if target.runtime.compression else ""
    assert rows_of(f"../shared/golden/{configuration}") == {
        (name, str(target.kernel_library), f"{target.runtime.snapshot}{compression}")
    }


@pytest.mark.parametrize("configuration", [name for name in PACKED if name.startswith("et-")])
def test_a_build_of_esp_tflite_micro_is_one_for_the_chips_of_its_kernels(configuration: str) -> None:
    _, release, version, chip = configuration.split("-")
    file = f"../shared/golden_esp_nn/{configuration}.json.gz"
    if version.endswith("nooverflow"):
        assert rows_of(file) == set()  # Its source was changed: it is no TFLM that somebody links.
        return
    cores = {"opt": PLAIN_C, "ansi": ("esp32",)}.get(chip, (chip.replace("esp32", "esp32-"),))
    expected = {(core, f"esp_nn@{version} ({chip})", tflm) for core in cores for tflm in ESP_TFLM[release]}
    if release == "1.3.3.1":  # The TFLM of a preset of its own, for the same chip.
        expected = {(core, kernels, tflm) for _, kernels, tflm in expected for core in ("esp32-s3", "esp32-s3-esphome")}
        expected.remove(("esp32-s3", f"esp_nn@{version} ({chip})", "esp-tflite-micro-1.3.3"))
    assert rows_of(file) == expected


@pytest.mark.shared("golden_esp_nn")
def test_no_build_of_esp_tflite_micro_is_forgotten() -> None:
    there = {path.name.removesuffix(".json.gz") for path in (SHARED / "golden_esp_nn").glob("*.json.gz")}
    assert there == {*PACKED, "overflow_1.3.3.1_by_size_mod16"}
    assert rows_of("../shared/golden_esp_nn/chirale-2.0.0.json.gz") == {
        ("nano33ble-chirale", "cmsis_nn@e98ee09 (dsp)", "chirale-2.0.0")
    }


@pytest.mark.shared("history")
def test_a_snapshot_is_its_commit_with_reference_kernels() -> None:
    commits = json.loads((SHARED / "history" / "SNAPSHOTS.json").read_text("utf-8"))
    there = {path.stem for path in (SHARED / "history").glob("20*.json")}
    assert rows_of("../shared/history") == {("x86_64", "reference", commits[name]) for name in there}


def test_runs_with_reference_kernels() -> None:
    assert rows_of("tests/golden/reference_runs.json") == {
        ("x86_64", "reference", commit) for commit in recorded("reference_runs")["runs"]
    }


def test_runs_with_cmsis_nn_have_the_commit_that_was_fetched() -> None:
    runs = [run.split() for run in recorded("cmsis_nn_runs")["runs"]]
    assert rows_of("tests/golden/cmsis_nn_runs.json") == {
        ("i386", f"cmsis_nn@{fetched(commit)} ({isa})", commit) for commit, isa in runs
    }


def test_runs_in_qemu() -> None:
    runs = [run.split() for run in recorded("qemu_runs")["runs"]]
    assert rows_of("tests/golden/qemu_runs.json") == {
        (core, str(preset(core, kernels=kernels).kernel_library), tflm)
        for *cores, kernels in runs
        for core in cores
        for tflm in ESP_TFLM.get({"esp_nn": "1.4.0", "esp_nn@1.1.2": "1.3.3.1"}.get(kernels, ""), ("90b983c2b",))
    }


def test_runs_with_esp_nn() -> None:
    runs = [run.split() for run in recorded("esp_runs")["runs"]]
    assert rows_of("tests/golden/esp_runs.json") == {
        (core, f"esp_nn@{version} ({chip})", f"esp-tflite-micro@{release}")
        for release, chip, version in runs
        for core in PLAIN_C
    }


def test_size_functions_that_were_run_alone() -> None:
    runs = [version.split("-") for version in recorded("esp_nn_sizes")["versions"]]
    cores = {"esp32s3": ("esp32-s3", "esp32-s3-esphome"), "esp32p4": ("esp32-p4",)}
    assert rows_of("tests/golden/esp_nn_sizes.json") == {
        (core, f"esp_nn@{version} ({chip})", NO_TFLM) for version, chip in runs for core in cores[chip]
    }


def test_runs_of_libraries() -> None:
    found = rows_of("tests/golden/arduino_runs.json")
    assert {tflm for _, _, tflm in found} == set(recorded("arduino_runs")["runs"])
    assert {core for core, _, _ in found} == {"i386"}
    assert rows_of("tests/golden/mvp_runs.json") == {
        ("cortex-m33", "mvp@4.4.1 (dsp)", library) for library in recorded("mvp_runs")["runs"]
    }
    assert set(recorded("edge_impulse_runs")["runs"]) == {"1.93.20 x86_64", "1.93.20 i386"}
    assert {(core, tflm) for core, _, tflm in rows_of("tests/golden/edge_impulse_runs.json")} == {
        ("x86_64", "edge-impulse@1.93.20"), ("i386", "edge-impulse@1.93.20")
    }  # fmt: skip


def test_sources_of_the_eon_compiler() -> None:
    runs = recorded("eon_runs")
    expected = set()
    for run, names in runs["runs"].items():
        sdk, machine = run.split()
        core, kernels = test_eon_runs.MACHINES[machine]
        for name in names:
            has_npu = any(op == "ethos-u" for op, *_ in runs["models"][name]["operators"])
            expected.add((core, kernels, f"edge-impulse@{sdk}" + (" with Ethos-U" if has_npu else "")))
    found = rows_of("tests/golden/eon_runs.json")
    assert {(core, kernels.partition("@")[0], tflm) for core, kernels, tflm in found} == expected


def test_the_interpreter_of_edge_impulses_sdk() -> None:
    found = rows_of("tests/golden/test_edge_impulse_interpreter.py")
    assert {(kernels.partition("@")[0], tflm) for _, kernels, tflm in found} == {
        (kernels, f"edge-impulse@{sdk}") for sdk, kernels in test_edge_impulse_interpreter.RUNS
    }


def test_firmwares() -> None:
    expected = set()
    for build in recorded("firmware_builds").values():
        library, version, isa = build["kernels"]
        kernels = library if library == "reference" else f"{library}@{version} ({isa})"
        expected.add(("cortex-m4", kernels, build["commit"]))
    assert rows_of("tests/golden/firmware_builds.json") == expected


def test_programs_whose_requests_agree() -> None:
    expected = set()
    for program in recorded("agreement_runs").values():
        kernels = preset(program["target"], kernels=program["kernels"]).kernel_library
        purpose = program["settings"].get("optimize_kernels_for")
        expected.add((program["target"], str(kernels), "90b983c2b" + (f" for {purpose}" if purpose else "")))
    assert rows_of("tests/golden/agreement_runs.json") == expected


def test_programs_that_print_their_figures() -> None:
    """Without those for cores and layouts that are no preset, and those whose version of ESP-NN is not written down."""
    expected = set()
    for row in recorded("executed_runs"):
        core, _, fpu = row["core"].partition(" with ")
        core = {"rv32imac": "riscv32"}.get(core, core)
        if core not in PRESETS or "-fshort-enums" in row["flags"]:
            continue
        tflm = "90b983c2b"
        if fpu or core == "cortex-m55":
            tflm += " for size"
        if "compression" in row["flags"]:
            tflm += " with compression"
        expected.add((core, str(preset(core, kernels=row["kernels"]).kernel_library), tflm))
    assert rows_of("tests/golden/executed_runs.json") == expected


def test_models_for_an_ethos_u() -> None:
    assert rows_of("tests/golden/ethos_u_runs.json") == {
        (core, "reference", "90b983c2b with Ethos-U") for core in recorded("ethos_u_runs")["runs"]
    }


def test_readings_of_others_name_the_version_of_the_kernels() -> None:
    found = rows_of("tools/truth/claims.py")
    assert {core for core, _, _ in found} == {"nano33ble-chirale", "esp32-s3", "esp32-s3-esphome"}
    claims = {(claim.preset, str(claim.target().kernel_library)) for claim in CLAIMS}
    assert {(core, kernels) for core, kernels, _ in found if core != "esp32-s3"} <= claims
    assert all(claim.kernels is None for claim in CLAIMS if claim.preset == "esp32")
