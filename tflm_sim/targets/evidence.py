"""What was measured: each core, kernels and TFLM with which real TFLM ran, under the recording that has its figures.

A target is measured if a row of :data:`RECORDINGS` has its core, its kernels with their version, and its TFLM with its
build flags. Nothing follows from a row for another version, however near or new; what is in no row is "not measured".
Beside that, :func:`evidence` names the row that comes nearest: of another core, or of sources with the same text.

    core         kernels                   TFLM
    cortex-m4    cmsis_nn@4ab83cc (dsp)    90b983c2b             measured: real TFLM, Cortex-M4 in QEMU
    cortex-m33   reference                 90b983c2b             not measured; on cortex-m4 with the same structs: ...
    cortex-m4    cmsis_nn@6d9d61d (dsp)    90b983c2b             not measured
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from tflm_sim.errors import UsageError
from tflm_sim.targets.abi import AAPCS, I386, ILP32, LP64, Abi
from tflm_sim.targets.history import is_commit

if TYPE_CHECKING:
    from tflm_sim.targets.target import Target

NOT_MEASURED = "not measured"
NO_TFLM = "no TFLM"
"""The TFLM of a recording for which functions of a kernel library were run alone."""


class Recording(NamedTuple):
    """A build of real TFLM that ran, or that somebody else ran, and whose figures are kept.

    Attributes:
        file: Where, from this repository's root; what is beside it (``../shared``) is not published.
        words: What ran, for people.
        abi: The layout rules of its compiler.
        cores: The presets that the build is one for. A build on a PC is one for "i386" (``gcc -m32``), or for the cores
            whose rules its compiler was given and whose kernels it has.
        kernels: Kernel library, version and instruction set, as a :class:`KernelLibrary` is shown.
        tflm: What a :class:`Target` calls its TFLM, with the build flags that are not the usual ones
            (:func:`tflm_name`).
    """

    file: str
    words: str
    abi: Abi
    cores: tuple[str, ...]
    kernels: str
    tflm: tuple[str, ...]


_TABLE = """
../shared/golden/x86_64_ref: real TFLM, 64-bit PC
    lp64  x86_64  reference  90b983c2b
../shared/golden/x86_64_ref_comp: real TFLM, 64-bit PC, with compression
    lp64  x86_64-compression  reference  90b983c2b with compression
../shared/upstream_moved/wheel-20261008.json: the pip wheel of TFLM of 2026-10-08, smallest arenas
    lp64  x86_64-pip  reference  5328e0d with compression
../shared/upstream_moved/wheel-20261023.json: the pip wheel of TFLM of 2026-10-23, smallest arenas
    lp64  x86_64-pip  reference  8f6596d with compression
../shared/golden/x86_32_ref: real TFLM, 32-bit PC
    i386  i386  reference  90b983c2b
../shared/golden/cm4_ref: real TFLM, Cortex-M4 in QEMU
    aapcs  cortex-m4  reference  90b983c2b
../shared/golden/cm4le_ref: real TFLM, Cortex-M4 with int enums in QEMU
    ilp32  cortex-m4-int-enums  reference  90b983c2b
../shared/golden/cm4_cmsis_nn: real TFLM, Cortex-M4 in QEMU
    aapcs  cortex-m4  cmsis_nn@4ab83cc (dsp)  90b983c2b
../shared/golden/cm55_cmsis_nn: real TFLM, Cortex-M55 in QEMU
    aapcs  cortex-m55  cmsis_nn@4ab83cc (mve)  90b983c2b
../shared/golden_esp_nn/et-1.4.0-1.2.3-opt.json.gz: real esp-tflite-micro 1.4.0, built for 32 bits
    ilp32  esp32, esp32-s2, esp32-c3, esp32-c6  esp_nn@1.2.3 (opt)  esp-tflite-micro@1.4.0, 90b983c2b
../shared/golden_esp_nn/et-1.4.0-1.2.3-ansi.json.gz: real esp-tflite-micro 1.4.0, built for 32 bits
    ilp32  esp32  esp_nn@1.2.3 (ansi)  esp-tflite-micro@1.4.0, 90b983c2b
../shared/golden_esp_nn/et-1.4.0-1.2.3-esp32s3.json.gz: real esp-tflite-micro 1.4.0, built for 32 bits
    ilp32  esp32-s3  esp_nn@1.2.3 (esp32s3)  esp-tflite-micro@1.4.0, 90b983c2b
../shared/golden_esp_nn/et-1.4.0-1.2.1-esp32s3.json.gz: real esp-tflite-micro 1.4.0, built for 32 bits
    ilp32  esp32-s3  esp_nn@1.2.1 (esp32s3)  esp-tflite-micro@1.4.0, 90b983c2b
../shared/golden_esp_nn/et-1.4.0-1.2.0-esp32s3.json.gz: real esp-tflite-micro 1.4.0, built for 32 bits
    ilp32  esp32-s3  esp_nn@1.2.0 (esp32s3)  esp-tflite-micro@1.4.0, 90b983c2b
../shared/golden_esp_nn/et-1.4.0-1.1.2-esp32s3.json.gz: real esp-tflite-micro 1.4.0, built for 32 bits
    ilp32  esp32-s3  esp_nn@1.1.2 (esp32s3)  esp-tflite-micro@1.4.0, 90b983c2b
../shared/golden_esp_nn/et-1.4.0-1.2.3-esp32p4.json.gz: real esp-tflite-micro 1.4.0, built for 32 bits
    ilp32  esp32-p4  esp_nn@1.2.3 (esp32p4)  esp-tflite-micro@1.4.0, 90b983c2b
../shared/golden_esp_nn/et-1.4.0-1.2.2-esp32p4.json.gz: real esp-tflite-micro 1.4.0, built for 32 bits
    ilp32  esp32-p4  esp_nn@1.2.2 (esp32p4)  esp-tflite-micro@1.4.0, 90b983c2b
../shared/golden_esp_nn/et-1.3.3.1-1.2.3-esp32s3.json.gz: real esp-tflite-micro 1.3.3~1, built for 32 bits
    ilp32  esp32-s3, esp32-s3-esphome  esp_nn@1.2.3 (esp32s3)  esp-tflite-micro@1.3.3~1
    ilp32  esp32-s3-esphome            esp_nn@1.2.3 (esp32s3)  esp-tflite-micro-1.3.3
../shared/golden_esp_nn/et-1.3.3.1-1.2.1-esp32s3.json.gz: real esp-tflite-micro 1.3.3~1, built for 32 bits
    ilp32  esp32-s3, esp32-s3-esphome  esp_nn@1.2.1 (esp32s3)  esp-tflite-micro@1.3.3~1
    ilp32  esp32-s3-esphome            esp_nn@1.2.1 (esp32s3)  esp-tflite-micro-1.3.3
../shared/golden_esp_nn/et-1.3.3.1-1.2.0-esp32s3.json.gz: real esp-tflite-micro 1.3.3~1, built for 32 bits
    ilp32  esp32-s3, esp32-s3-esphome  esp_nn@1.2.0 (esp32s3)  esp-tflite-micro@1.3.3~1
    ilp32  esp32-s3-esphome            esp_nn@1.2.0 (esp32s3)  esp-tflite-micro-1.3.3
../shared/golden_esp_nn/chirale-2.0.0.json.gz: the TFLM and CMSIS-NN that it holds, built for 32 bits
    aapcs  nano33ble-chirale  cmsis_nn@e98ee09 (dsp)  chirale-2.0.0
../shared/history: real TFLM of that day, 64-bit PC
    lp64  x86_64  reference  217ad9fcb, 419a97eb9, 95660cae5, 52c956815, 4bbdef5f8, 5399638a0, 89f99a9e7, 87d5152c9
    lp64  x86_64  reference  c1b551cce, 93ebaa9ca, b8c7ecc19, b6ee3dc97, 90b983c2b
tests/golden/reference_runs.json: real TFLM of that day, 64-bit PC
    lp64  x86_64  reference  7ab94a02c, 6239d985c, f2adcfc06, 5904dc42d, f050eec7e, 282e5fb16, fa16acd31, 74c4632d4
    lp64  x86_64  reference  8e22946b3, 1b975d9b6, 4c7b7bf18, 6fc405dd6, c5ee80cc3
tests/golden/cmsis_nn_runs.json: real TFLM of that day on a 32-bit PC, with the size functions of its CMSIS-NN
    i386  i386  cmsis_nn@bff2857 (scalar)  6239d985c
    i386  i386  cmsis_nn@bff2857 (dsp)     6239d985c
    i386  i386  cmsis_nn@bff2857 (mve)     6239d985c
    i386  i386  cmsis_nn@6a18a74 (scalar)  f050eec7e
    i386  i386  cmsis_nn@6a18a74 (dsp)     f050eec7e
    i386  i386  cmsis_nn@6a18a74 (mve)     f050eec7e
    i386  i386  cmsis_nn@d071e9f (scalar)  b489b9973
    i386  i386  cmsis_nn@d071e9f (dsp)     b489b9973
    i386  i386  cmsis_nn@d071e9f (mve)     b489b9973
    i386  i386  cmsis_nn@bfc54ed (scalar)  95467d206
    i386  i386  cmsis_nn@bfc54ed (dsp)     95467d206
    i386  i386  cmsis_nn@bfc54ed (mve)     95467d206
    i386  i386  cmsis_nn@6cc31fb (scalar)  bb4fc83d1
    i386  i386  cmsis_nn@6cc31fb (dsp)     bb4fc83d1
    i386  i386  cmsis_nn@6cc31fb (mve)     bb4fc83d1
tests/golden/qemu_runs.json: real TFLM in QEMU
    aapcs  cortex-m0plus, cortex-m3, cortex-m7  reference                  90b983c2b
    aapcs  cortex-m0plus, cortex-m3             cmsis_nn@4ab83cc (scalar)  90b983c2b
    aapcs  cortex-m7                            cmsis_nn@4ab83cc (dsp)     90b983c2b
    ilp32  cortex-m4-int-enums                  cmsis_nn@4ab83cc (dsp)     90b983c2b
tests/golden/qemu_runs.json: real TFLM on QEMU's Cortex-M55
    aapcs  cortex-m85  cmsis_nn@4ab83cc (mve)  90b983c2b
tests/golden/qemu_runs.json: real esp-tflite-micro 1.4.0 on QEMU's RISC-V
    ilp32  esp32-c3, esp32-c6  esp_nn@1.3.1 (opt)  esp-tflite-micro@1.4.0, 90b983c2b
tests/golden/qemu_runs.json: real esp-tflite-micro 1.4.0 on QEMU's Xtensa LX106
    ilp32  esp32, esp32-s2  esp_nn@1.3.1 (opt)  esp-tflite-micro@1.4.0, 90b983c2b
tests/golden/qemu_runs.json: real esp-tflite-micro 1.4.0 on QEMU's Xtensa LX106, AllocateTensors() alone
    ilp32  esp32-s3  esp_nn@1.3.1 (esp32s3)  esp-tflite-micro@1.4.0, 90b983c2b
tests/golden/qemu_runs.json: real esp-tflite-micro 1.3.3~1 on QEMU's Xtensa LX106, AllocateTensors() alone
    ilp32  esp32-s3-esphome  esp_nn@1.1.2 (esp32s3)  esp-tflite-micro@1.3.3~1, esp-tflite-micro-1.3.3
tests/golden/qemu_runs.json: real esp-tflite-micro 1.4.0 on QEMU's RISC-V, AllocateTensors() alone
    ilp32  esp32-p4  esp_nn@1.3.1 (esp32p4)  esp-tflite-micro@1.4.0, 90b983c2b
tests/golden/firmware_builds.json: firmwares with real TFLM, Cortex-M4 in QEMU
    aapcs  cortex-m4  reference               217ad9fcb, 419a97eb9, 52c956815, 89f99a9e7, 90b983c2b
    aapcs  cortex-m4  cmsis_nn@4ab83cc (dsp)  90b983c2b
tests/golden/agreement_runs.json: programs with real TFLM, executed, request by request
    aapcs  cortex-m0plus  reference               90b983c2b
    aapcs  cortex-m4      reference               90b983c2b
    aapcs  cortex-m4      cmsis_nn@4ab83cc (dsp)  90b983c2b
    aapcs  cortex-m33     cmsis_nn@4ab83cc (dsp)  90b983c2b
    aapcs  cortex-m55     cmsis_nn@4ab83cc (mve)  90b983c2b for size
    ilp32  riscv32        reference               90b983c2b
tests/golden/executed_runs.json: programs with real TFLM that print their figures in QEMU
    aapcs  cortex-m0plus  reference               90b983c2b
    aapcs  cortex-m3      reference               90b983c2b
    aapcs  cortex-m4      reference               90b983c2b, 90b983c2b with compression
    aapcs  cortex-m4      cmsis_nn@4ab83cc (dsp)  90b983c2b, 90b983c2b for size
    aapcs  cortex-m33     cmsis_nn@4ab83cc (dsp)  90b983c2b
    aapcs  cortex-m55     cmsis_nn@4ab83cc (mve)  90b983c2b for size
    ilp32  riscv32        reference               90b983c2b
tests/golden/test_build_systems.py: programs with real TFLM that CMake and west built, in QEMU
    aapcs  cortex-m4  reference  90b983c2b
    aapcs  cortex-m3  reference  zephyr@2024-06-27
tests/golden/ethos_u_runs.json: real TFLM with a driver that does nothing
    lp64   x86_64     reference  90b983c2b with Ethos-U
    aapcs  cortex-m4  reference  90b983c2b with Ethos-U
tests/golden/esp_runs.json: real esp-tflite-micro of that release, built for 32 bits
    ilp32  esp32, esp32-s2, esp32-c3, esp32-c6  esp_nn@1.1.0 (opt)  esp-tflite-micro@1.2.0, esp-tflite-micro@1.3.0
    ilp32  esp32, esp32-s2, esp32-c3, esp32-c6  esp_nn@1.1.0 (opt)  esp-tflite-micro@1.3.1, esp-tflite-micro@1.3.2
    ilp32  esp32, esp32-s2, esp32-c3, esp32-c6  esp_nn@1.1.0 (opt)  esp-tflite-micro@1.3.3
    ilp32  esp32, esp32-s2, esp32-c3, esp32-c6  esp_nn@1.1.2 (opt)  esp-tflite-micro@1.3.4, esp-tflite-micro@1.3.5
    ilp32  esp32, esp32-s2, esp32-c3, esp32-c6  esp_nn@1.2.3 (opt)  esp-tflite-micro@1.3.7
tests/golden/esp_nn_sizes.json: its scratch-size functions alone, compiled
    ilp32  esp32-s3, esp32-s3-esphome  esp_nn@1.2.6 (esp32s3)    no TFLM
    ilp32  esp32-s3, esp32-s3-esphome  esp_nn@1.3.1 (esp32s3)    no TFLM
    ilp32  esp32-s3, esp32-s3-esphome  esp_nn@4982f25 (esp32s3)  no TFLM
    ilp32  esp32-s3, esp32-s3-esphome  esp_nn@1017042 (esp32s3)  no TFLM
    ilp32  esp32-s3, esp32-s3-esphome  esp_nn@25cae54 (esp32s3)  no TFLM
    ilp32  esp32-p4                    esp_nn@1.2.6 (esp32p4)    no TFLM
    ilp32  esp32-p4                    esp_nn@1.3.1 (esp32p4)    no TFLM
    ilp32  esp32-p4                    esp_nn@2c222c5 (esp32p4)  no TFLM
    ilp32  esp32-p4                    esp_nn@fa9f698 (esp32p4)  no TFLM
tests/golden/arduino_runs.json: its own sources on a 32-bit PC, with the size functions of its CMSIS-NN
    i386  i386  cmsis_nn@0d7e4fa (dsp)     Harvard_TinyMLx@1.2.4
    i386  i386  cmsis_nn@e98ee09 (dsp)     MicroTFLite@1.0.3
    i386  i386  cmsis_nn@22080c6 (scalar)  pico-tflmicro@2024-12
tests/golden/arduino_runs.json: its own sources on a 32-bit PC
    i386  i386  reference  TensorFlowLite_ESP32@1.0.0
tests/golden/mvp_runs.json: its TFLM in QEMU; the MVP's kernels, depthwise layers as silabs-mltk's wheel answers
    aapcs  cortex-m33  mvp@4.4.1 (dsp)  silabs-gsdk@4.4.1
tests/golden/edge_impulse_runs.json: Edge Impulse's SDK, built from its sources on a PC
    lp64  x86_64  reference               edge-impulse@1.93.20
    i386  i386    cmsis_nn@e98ee09 (dsp)  edge-impulse@1.93.20
tests/golden/test_edge_impulse_interpreter.py: the interpreter of Edge Impulse's SDK, built for 32-bit Arm, in QEMU
    aapcs  cortex-m3  reference               edge-impulse@2021-08-31, edge-impulse@2023-08-25
    aapcs  cortex-m4  cmsis_nn@0d7e4fa (dsp)  edge-impulse@2021-08-31, edge-impulse@2023-03-21
tests/golden/eon_runs.json: sources of the EON compiler with Edge Impulse's SDK, built for 32-bit Arm, in QEMU
    aapcs  cortex-m4   cmsis_nn@edge-impulse-2020 (dsp)          edge-impulse@2020-12-24, edge-impulse@2021-05-11
    aapcs  cortex-m4   cmsis_nn@edge-impulse-2020 (dsp)          edge-impulse@2021-07-07
    aapcs  cortex-m55  cmsis_nn@edge-impulse-2020 (mve)          edge-impulse@2021-05-11
    aapcs  cortex-m4   cmsis_nn@0d7e4fa (dsp)                    edge-impulse@2021-08-31, edge-impulse@2022-04-21
    aapcs  cortex-m4   cmsis_nn@0d7e4fa (dsp)                    edge-impulse@2022-09-16, edge-impulse@2023-03-21
    aapcs  cortex-m4   cmsis_nn@0d7e4fa (dsp)                    edge-impulse@2023-06-30, edge-impulse@2023-08-25
    aapcs  cortex-m4   cmsis_nn@0d7e4fa (dsp)                    edge-impulse@2022-09-16 with Ethos-U
    aapcs  cortex-m55  cmsis_nn@0d7e4fa (mve)                    edge-impulse@2021-08-31, edge-impulse@2023-08-25
    aapcs  cortex-m4   cmsis_nn@e98ee09 (dsp)                    edge-impulse@2023-11-15
    aapcs  cortex-m55  cmsis_nn@e98ee09 (mve)                    edge-impulse@2023-11-15
    aapcs  cortex-m4   reference                                 edge-impulse@2021-05-11, edge-impulse@2021-07-07
    aapcs  cortex-m4   reference                                 edge-impulse@2021-08-31, edge-impulse@2022-04-21
    aapcs  cortex-m4   reference                                 edge-impulse@2023-06-30, edge-impulse@2023-08-25
    aapcs  cortex-m4   reference                                 edge-impulse@2023-11-15
    aapcs  cortex-m4   reference                                 edge-impulse@2022-09-16 with Ethos-U
    aapcs  cortex-m4   reference                                 edge-impulse@2023-11-15 with Ethos-U
    ilp32  esp32       esp_nn@1.0-edge-impulse-2022 (opt)        edge-impulse@2023-03-21
    aapcs  esp32-s3    esp_nn@1.0-edge-impulse-2022 (esp32s3)    edge-impulse@2023-03-21
    ilp32  esp32       esp_nn@1.1.0-edge-impulse-2023 (opt)      edge-impulse@2023-11-15
    aapcs  esp32-s3    esp_nn@1.1.0-edge-impulse-2023 (esp32s3)  edge-impulse@2023-11-15
tools/truth/claims.py: readings of others on a board
    aapcs  nano33ble-chirale           cmsis_nn@e98ee09 (dsp)  chirale-2.0.0
    ilp32  esp32-s3, esp32-s3-esphome  esp_nn@1.2.1 (esp32s3)  esp-tflite-micro@1.3.3~1
    ilp32  esp32-s3-esphome            esp_nn@1.2.1 (esp32s3)  esp-tflite-micro-1.3.3
"""
"""Recordings; below each, parted by two blanks: ABI, cores, kernels, TFLM.

esp-tflite-micro 1.4.0 is what the presets of an ESP32 stand for: with ESP-NN, which upstream does not link, "90b983c2b"
is another name of it. The readings on an ESP32 (``docs/evidence.md``) name no version of ESP-NN, and are in no row.
"""

_PLAIN_C = ("1.2.4", "1.2.5", "1.2.6", "1.2.7", "1.2.8", "1.2.9", "1.3.0", "1.3.1")

SAME_TEXT: dict[str, str] = {
    **{f"esp_nn@{version} ({chip})": f"esp_nn@1.2.3 ({chip})" for chip in ("ansi", "opt") for version in _PLAIN_C},
    **{f"esp_nn@{version} (esp32p4)": "esp_nn@1.2.3 (esp32p4)" for version in _PLAIN_C},
    "esp_nn@1.2.4 (esp32s3)": "esp_nn@1.2.3 (esp32s3)",
    **{f"esp_nn@{version} (esp32s3)": "esp_nn@1.2.6 (esp32s3)" for version in ("1.2.7", "1.2.8", "1.2.9")},
    "esp_nn@1.3.0 (esp32s3)": "esp_nn@1.3.1 (esp32s3)",
    "esp-tflite-micro@1.3.8": "esp-tflite-micro@1.4.0",
    "Arduino_TensorFlowLite@2.4.0-ALPHA": "Harvard_TinyMLx@1.2.4",
    "EloquentTinyML@2.4.4": "Harvard_TinyMLx@1.2.4",
    "tflite-micro-arduino-examples": "MicroTFLite@1.0.3",
    "tflm_cortexm@1.0.0": "chirale-2.0.0",
}
"""What was not measured itself -> what was, whose text it has, as far as memory depends on it.

ESP-NN: the SHA-256 of the files with the size functions, in CHECKSUMS.json of 1.2.4 (4bbdf68), 1.2.6 (c087617) and
1.3.1 (52d6de8); a release between two with equal functions has them too. All 15 files of plain C have in 1.3.1 the
SHA-256 of 1.2.3's, so an ESP32, S2, C3 and C6 ask for the same. esp-tflite-micro: folders of its tags.
``docs/evidence.md`` has what is known of the Arduino libraries.
"""


_ABIS = {abi.name: abi for abi in (LP64, I386, AAPCS, ILP32)}


def _read(text: str) -> Iterator[Recording]:
    file = words = ""
    for line in text.strip().split("\n"):
        if line[0] != " ":
            file, _, words = line.partition(": ")
            continue
        abi, cores, kernels, tflm = [cell.strip() for cell in line.split("  ") if cell]
        yield Recording(file, words, _ABIS[abi], tuple(cores.split(", ")), kernels, tuple(tflm.split(", ")))


RECORDINGS: tuple[Recording, ...] = tuple(_read(_TABLE))
_BY_KERNELS: dict[str, list[Recording]] = {
    kernels: [row for row in RECORDINGS if row.kernels == kernels] for kernels in {row.kernels for row in RECORDINGS}
}


def recordings_of(target: Target) -> tuple[Recording, ...]:
    """Return the recordings of exactly this core, these kernels and this TFLM; none for the program of a user."""
    rows = _BY_KERNELS.get(str(target.kernel_library))
    if rows is None:
        return ()
    tflm = tflm_name(target)
    return tuple([row for row in rows if tflm in row.tflm and _is_core(row, target)])


def _is_core(row: Recording, target: Target) -> bool:
    """Return whether a target is called after a core of the recording, with its layout rules and TFLM's own structs."""
    return target.name in row.cores and target.abi == row.abi and not target.measured


def tflm_name(target: Target) -> str:
    """Return what a target's TFLM is called in the table: its name, and the build flags that are not the usual ones."""
    runtime = target.runtime
    name = runtime.snapshot
    if "@" in name:
        from tflm_sim.targets.libraries import find_library

        # A document may name a library that this version of the package does not know.
        with suppress(UsageError):
            name = find_library(name, machine=target.name).holds or name
    if runtime.compression:
        name += " with compression"
    if runtime.optimize_kernels_for != "speed":
        name += f" for {runtime.optimize_kernels_for}"
    if not runtime.static_memory and is_commit(runtime.snapshot):
        name += " without TF_LITE_STATIC_MEMORY"
    return f"{name} with Ethos-U" if target.ethos_u else name


def evidence(target: Target) -> str:
    """Return in words what measured a target; else that it was not measured, and the recordings that come nearest.

    Near are the same kernels in the same TFLM on another core, kernels or a TFLM whose text is the same, and functions
    of the kernels that were run alone.
    """
    measured = recordings_of(target)
    if measured:
        return _words(measured)
    kernels, tflm = str(target.kernel_library), tflm_name(target)
    near: dict[tuple[bool, bool, int, str], list[Recording]] = {}
    for row in (*_BY_KERNELS.get(kernels, ()), *_BY_KERNELS.get(SAME_TEXT.get(kernels, ""), ())):
        its_tflm = next((name for name in (tflm, SAME_TEXT.get(tflm), NO_TFLM) if name in row.tflm), None)
        if its_tflm is None:
            continue
        has_other_structs = row.abi != target.abi
        differs = []
        if not _is_core(row, target):
            differs.append(f"; on {', '.join(row.cores)} with {'other' if has_other_structs else 'the same'} structs")
        if row.kernels != kernels:
            differs.append(f"; with {row.kernels}, whose text is the same")
        if its_tflm not in (tflm, NO_TFLM):
            differs.append(f"; with {its_tflm}, whose text is the same")
        if its_tflm == NO_TFLM:
            differs.append("; without TFLM")
        # What was run without TFLM says least, then what has other structs, then what differs in more.
        near.setdefault((its_tflm == NO_TFLM, has_other_structs, len(differs), "".join(differs)), []).append(row)
    if not near:
        return NOT_MEASURED
    (_, _, _, differs_in), rows = min(near.items(), key=lambda item: item[0][:3])
    return f"{NOT_MEASURED}{differs_in}: {_words(rows)}"


def _words(rows: Sequence[Recording]) -> str:
    return "; ".join(dict.fromkeys(row.words for row in rows))
