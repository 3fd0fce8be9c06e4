"""Real TFLM with the kernel library of its day: what it needed, to the byte.

The files hold, for a run, [used, smallest, used at the smallest] of each model, or how it ended.

``reference_runs.json``, by commit of TFLM: the reference kernels on a 64-bit PC, from upstream's sources with
TF_LITE_STATIC_MEMORY; every arena size by bisection, a process for each.

``cmsis_nn_runs.json``, by commit of TFLM and instruction set: built with ``gcc -m32`` (i386's layout rules),
TF_LITE_STATIC_MEMORY and KERNELS_OPTIMIZED_FOR_SPEED from upstream's sources and the commit of CMSIS-NN that its
makefile fetches: of that the size functions alone, for the instruction set, with an empty ``arm_vector_sum_s8``; every
arena size by bisection.

``qemu_runs.json``, by presets, each of which was run, and kernel library: TFLM 90b983c and CMSIS-NN 4ab83cc built from
upstream's sources by GCC 12.2.1 for that core (with ``-fno-short-enums`` for the Cortex-M4 with int enums; by clang
16.0.6 for the Cortex-M85, which GCC 12 does not know), TF_LITE_STATIC_MEMORY and KERNELS_OPTIMIZED_FOR_SPEED, with the
56 operators that most models have, run in QEMU 7.2: a Cortex-M0 for the M0+ (both execute Armv6-M), a Cortex-M55 for
the M85 (both execute Armv8.1-M with MVE), the core itself for the others. The ESP32s are esp-tflite-micro 1.4.0 and
ESP-NN 1.3.1 (each file has the SHA-256 of that release's CHECKSUMS.json), with CONFIG_NN_OPTIMIZED: the plain C for the
C3 and C6, built by GCC 12.2.0 for rv32imc and rv32imac and run on QEMU's RISC-V, and for the ESP32 and S2, built by
Debian's GCC 12.2.0 for the Xtensa LX106 (call0, floats by LLVM's compiler-rt) and run on QEMU's. The S3 (LX106) and P4
(rv32imac, whose structs are those of its rv32imafc) have their own C files with the size functions, without the
assembly, .S or inline, that only Invoke() runs: calls to it stay unresolved. Of these the S3's header of prototypes is
that of 1.2.3, and the P4's softmax has no known checksum. "esp32-s3-esphome" is esp-tflite-micro 1.3.3~1 and ESP-NN
1.1.2 by their tags, likewise on the LX106. A byte below the smallest arena each run failed. Left out are models with
other operators.

``esp_runs.json``, by release of esp-tflite-micro, implementation and version of ESP-NN: built from the component's
sources with ``g++ -m32 -malign-double`` (the layout rules of Xtensa and RISC-V), TF_LITE_STATIC_MEMORY and
CONFIG_NN_OPTIMIZED, without the signal library; a byte below the smallest arena each run failed.

``edge_impulse_runs.json``, by version of Edge Impulse's SDK and machine: its TFLM part built from its sources with
AllOpsResolver, without the EON compiler, its messages switched on; every arena size by bisection. "x86_64" is a 64-bit
PC with the reference kernels, "i386" ``gcc -m32`` with its CMSIS-NN: of that the size functions alone, for DSP. Left
out are models with resource variables, for which the SDK never makes room.

``arduino_runs.json``, by library: its own sources built with ``g++ -m32`` (i386's layout rules), without
TF_LITE_STATIC_MEMORY unless its build asks for it; of its CMSIS-NN the size functions alone, for the instruction set of
its usual machine; every arena size by bisection, a process for each. Where AllocateTensors() makes no input and output
tensors the runs called input(0) and output(0) after it, and failed when one of them did.

``mvp_runs.json``, by library: the TFLM of Silicon Labs' gecko_sdk 4.4.1 (911f6cdef) built with arm-none-eabi-g++ 12.2
for a Cortex-M33, TF_LITE_STATIC_MEMORY, and run in QEMU; CMSIS-NN 23.08; the seven kernels of SiliconLabs/mltk 5ae4b25
(Zlib licence), whose Init and Prepare are those of gecko_sdk but for checks that move no memory; the MVP's driver and
the functions that say what it takes from gecko_sdk's platform/compute (Zlib licence), with stubs for the hardware. Two
of these functions, the depthwise ones, are under a licence for Silicon Labs' chips only and were not built: in their
place the wheel of silabs-mltk 0.20.0 was asked about each layer on a PC, and what gecko_sdk asks of the input's strides
besides was added. Left out are models without an operator of those kernels. A byte below the smallest arena each run
failed. "abort" did not end.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.device.configuration import Configuration, configure
from tflm_sim.model.load import load
from tflm_sim.targets.abi import I386
from tflm_sim.targets.presets import library_target, preset

REFERENCE, CMSIS_NN, QEMU, ESP, EDGE_IMPULSE, ARDUINO, MVP = (
    json.loads(Path(__file__).with_name(f"{name}_runs.json").read_text())
    for name in ("reference", "cmsis_nn", "qemu", "esp", "edge_impulse", "arduino", "mvp")
)
MODELS = Path(__file__).parents[3] / "shared" / "models"
MACHINES = {"scalar": "cortex-m3", "dsp": "cortex-m4", "mve": "cortex-m55"}
ROOMY = 64 << 20


def needs(names: list[str], where: Configuration, arena_size: int | None = None) -> dict[str, Any]:
    """Return what each model needs, as the files have it."""
    found: dict[str, Any] = {}
    for name in names:
        simulation = simulate(load(MODELS / f"{name}.tflite"), where, arena_size=arena_size)
        smallest = simulation.smallest
        found[name] = (
            [simulation.arena_used_bytes, smallest.size, smallest.arena_used_bytes]
            if simulation.status == "ok" and smallest is not None
            else simulation.status
        )
    return found


@pytest.mark.shared("models")
@pytest.mark.parametrize("run", REFERENCE["runs"])
def test_each_model_needs_what_it_needed_with_the_reference_kernels(run: str) -> None:
    where = configure(preset("x86_64", runtime=run))
    assert needs(REFERENCE["models"], where) == dict(zip(REFERENCE["models"], REFERENCE["runs"][run], strict=True))


@pytest.mark.shared("models")
@pytest.mark.parametrize("run", CMSIS_NN["runs"])
def test_each_model_needs_what_it_needed_with_cmsis_nn(run: str) -> None:
    commit, isa = run.split()
    where = configure(replace(preset(MACHINES[isa], runtime=commit), abi=I386))
    assert needs(CMSIS_NN["models"], where) == dict(zip(CMSIS_NN["models"], CMSIS_NN["runs"][run], strict=True))


@pytest.mark.shared("models")
@pytest.mark.parametrize("run", QEMU["runs"])
def test_each_model_needs_what_it_needed_in_qemu(run: str) -> None:
    *names, kernels = run.split()
    targets = [preset(name, kernels=kernels) for name in names]
    assert len({(of.abi, of.kernel_library, of.runtime) for of in targets}) == 1, "what was run is one simulation"
    where = configure(targets[0])
    assert needs(QEMU["models"], where, 8 << 20) == dict(zip(QEMU["models"], QEMU["runs"][run], strict=True))


@pytest.mark.shared("models")
@pytest.mark.parametrize(("name", "smallest", "used"), [
    ("HimaxWiseEyePlus-himax_tflm__handwriting_model_data", 10084, 10080),
    ("SiliconLabs-mltk__image_example1", 70980, 70976),
])  # fmt: skip
def test_four_bytes_that_a_kernel_overwrites_abort_by_the_arenas_end_as_in_qemu(
    name: str, smallest: int, used: int
) -> None:
    """The only two models of the run that end with "abort" in 8 MiB, and with "ok" in 8 MiB and four bytes."""
    model, where = load(MODELS / f"{name}.tflite"), configure("esp32-s3-esphome")
    assert simulate(model, where, arena_size=8 << 20).status == "abort"
    assert needs([name], where, (8 << 20) + 4) == {name: [used, smallest, used]}


@pytest.mark.shared("models")
@pytest.mark.parametrize("run", ESP["runs"])
def test_each_model_needs_what_it_needed_with_esp_nn(run: str) -> None:
    release, _, version = run.split()
    where = configure(preset("esp32", kernels=f"esp_nn@{version}", runtime=f"esp-tflite-micro@{release}"))
    assert needs(ESP["models"], where, ROOMY) == dict(zip(ESP["models"], ESP["runs"][run], strict=True))


@pytest.mark.shared("models")
@pytest.mark.parametrize("run", EDGE_IMPULSE["runs"])
def test_each_model_needs_what_it_needed_with_edge_impulses_sdk(run: str) -> None:
    version, machine = run.split()
    name, kernels = ("x86_64", "reference") if machine == "x86_64" else ("cortex-m4", "cmsis_nn")
    target = library_target(f"edge-impulse@{version}", name=name, kernels=kernels)
    where = configure(replace(target, abi=I386) if machine == "i386" else target)
    assert needs(EDGE_IMPULSE["models"], where, ROOMY) == dict(
        zip(EDGE_IMPULSE["models"], EDGE_IMPULSE["runs"][run], strict=True)
    )


@pytest.mark.shared("models")
@pytest.mark.parametrize("run", ARDUINO["runs"])
def test_each_model_needs_what_it_needed_in_a_library_for_arduino_or_pico(run: str) -> None:
    where = configure(replace(library_target(run), abi=I386))
    assert needs(ARDUINO["models"], where, ROOMY) == dict(zip(ARDUINO["models"], ARDUINO["runs"][run], strict=True))


@pytest.mark.shared("models")
@pytest.mark.parametrize("run", MVP["runs"])
def test_each_model_needs_what_it_needed_with_the_mvps_kernels(run: str) -> None:
    where = configure(library_target(run))
    assert needs(MVP["models"], where, ROOMY) == dict(zip(MVP["models"], MVP["runs"][run], strict=True))
