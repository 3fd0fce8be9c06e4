"""Libraries by the name that people know: which TFLM each version holds, on what it runs, and what is not modelled.

A library whose sources were at hand was compared with every commit of upstream, file by file, by the hashes of files:
that names the commit, or the few neighbours whose files are the same. ``changed`` counts the library's own files under
tensorflow/lite/micro that no commit of upstream has. One that was not at hand is listed with the nearest snapshot, and
is never simulated under its own name. What a release pins is in ``library_pins.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from tflm_sim.errors import UsageError, expect
from tflm_sim.names import likely, plain, unknown
from tflm_sim.targets.changes import CORAL, EDGE_IMPULSE, ESP
from tflm_sim.targets.kernel_library import EDGE_IMPULSE_CMSIS_NN, SILABS_CMSIS_NN, VERSIONS
from tflm_sim.targets.library import Library
from tflm_sim.targets.library_names import ALSO_CALLED, HEADERS
from tflm_sim.targets.library_pins import ESPHOME

_ESP_NN = "kernels/esp_nn (7 files)"
_EDGE_IMPULSE = "edgeimpulse/inferencing-sdk-cpp"
_EDGE_IMPULSE_TOOK_ESP_NN = 107
"""A place in the history of esp-tflite-micro whose ESP-NN kernels it has: before 5be29f4 of January 2024."""
_EDGE_IMPULSE_CHANGES = (
    "float convolutions keep no arrays, MEAN is older, operators of its own; prints no messages of TFLM. Not what the "
    "EON compiler makes, whose arena is another"
)
_EDGE_IMPULSE_UNTIL_2023 = "operators of its own; prints no messages of TFLM"
_EDGE_IMPULSE_UNTIL_2021 = "for sources of the EON compiler: kernels of mid-2020, whose interpreter is not modelled"
_EDGE_IMPULSE_RELEASES = (
    ("2020-12-24", 34),
    ("2021-05-11", 41),
    ("2021-07-07", 43),
    ("2021-08-31", 44),
    ("2022-04-21", 48),
    ("2022-09-16", 49),
    ("2023-03-21", 51),
    ("2023-06-30", 52),
    ("2023-08-25", 53),
    ("2023-11-15", 54),
    ("2024-06-24", 58),
    ("2024-08-12", 59),
    ("2024-09-05", 61),
    ("2024-10-14", 64),
    ("1.93.20", 131),
)
"""Version and place in its history."""
_BEFORE_UPSTREAM = (
    "tensorflow/tensorflow of early 2021. AllocateTensors() makes no input or output tensors: input(0) and output(0), "
    "which count as part of it, do; each input(1), output(1) ... takes more"
)


_ESP_NN_RANGES = {107: "^1.0.0-rc1", 137: "^1.1.0", 157: ">=1.1.1"}
"""What idf_component.yml of esp-tflite-micro asks for, from a position in its history on: 827af75, 01a78d0, 448528d."""


def _esp(version: str, first: str, last: str, position: int) -> Library:
    return Library(
        "esp-tflite-micro",
        version,
        (first, last),
        "esp32",
        "esp_nn",
        (ESP, position),
        _ESP_NN,
        source="espressif/esp-tflite-micro",
        kernels_range=next(text for since, text in reversed(_ESP_NN_RANGES.items()) if position >= since),
    )


def _esphome() -> Iterator[Library]:
    """Yield ESPHome's releases, as many at a time as pin the same."""
    pinned = {row.version: row for row in _ESP_TFLITE_MICRO}
    for runtime, esp_nn, known in ESPHOME:
        releases = tuple(known.split())
        row = Library("esphome", releases[-1], ("", ""), nearest=_UNPINNED, source=_ESPHOME, releases=releases)
        if runtime:
            library = pinned[runtime]
            row = replace(
                row,
                commits=library.commits,
                target="esp32-s3",
                kernels=f"esp_nn@{esp_nn}" if esp_nn else "esp_nn",
                kernels_range="" if esp_nn else library.kernels_range,
                fork=library.fork,
                changed=library.changed,
                nearest="",
                holds=library.label,
            )
        yield row


def _zephyr(version: str, first: str, last: str) -> Library:
    return Library("zephyr", version, (first, last), "cortex-m4", source="zephyrproject-rtos/tflite-micro")


_UNPINNED = "`library=esphome@2024.7.3`; what these pin is esp-tflite-micro's main branch on the day of the build"
_ESPHOME = "esphome/esphome, components/micro_wake_word/__init__.py"
_ESP_TFLITE_MICRO = (
    _esp("1.2.0", "4bbdef5f8", "4bbdef5f8", 107),
    _esp("1.3.0", "fe4229cb3", "8a1fe96cf", 131),
    _esp("1.3.1", "71fba59b5", "8cd499a14", 133),
    _esp("1.3.2", "47b545074", "e440f0ab8", 141),
    _esp("1.3.3", "10ebaab9f", "9b79b9faf", 147),
    _esp("1.3.3~1", "10ebaab9f", "9b79b9faf", 147),
    _esp("1.3.4", "3b209129c", "93ebaa9ca", 157),
    _esp("1.3.5", "b8c7ecc19", "b8c7ecc19", 164),
    _esp("1.3.7", "cf8c42a16", "b6ee3dc97", 173),
    _esp("1.3.8", "35b20c5c7", "096563546", 174),
    _esp("1.4.0", "35b20c5c7", "096563546", 176),
)

# Who builds without TFLITE_DCHECK: the Pico SDK's build type is Release unless another is set
# (cmake/pico_pre_load_toolchain.cmake), and so is coralmicro's (CMakeLists.txt @ c9f665b): CMake's -DNDEBUG. With them:
# ESP-IDF (CONFIG_COMPILER_OPTIMIZATION_ASSERTIONS_ENABLE is its default, and CMakeLists.txt of esp-tflite-micro adds no
# NDEBUG), so ESPHome; Arduino's core for Mbed (cflags.txt and defines.txt of its variants); arduino-pico, in whose menu
# NDEBUG is a choice; PlatformIO's platforms, none of which adds it.

_CHIRALE = """
chirale 1.0.1, 1.1.0, 1.1.1, 2.0.0: e6ae16fa4 95660cae5
    target nano33ble-chirale
    kernels cmsis_nn
    changed a member made public; no TF_LITE_STATIC_MEMORY
    source spaziochirale/Chirale_TensorFlowLite
    source_suffix .cpp
"""
_FURTHER_LIBRARIES = f"""
openmv 2024-06-25: 8c458fc48 8c458fc48
    target cortex-m7
    kernels cmsis_nn
    source openmv/tflm, the commit that .github/workflows/tflm.yml builds (7f0b69c)
openmv 2024-09-18: d619ad8ec 91fc719fc
    target cortex-m7
    kernels cmsis_nn
    source openmv/libtflm, which openmv/openmv has pinned from then to 2026-04-03 (73eb1aa)
openmv 5.0.0:
    nearest `library=openmv@2024-09-18`; no sources at hand of what it pins (openmv/libtflm 5b8e786)
    source openmv/openmv, lib/tflm/libtflm
sscma-micro 2026-03-05: be11bd79e be11bd79e
    target cortex-m55
    source Seeed-Studio/SSCMA-Micro, the commit that 3rdparty/tflite-micro/CMakeLists.txt fetches (60e2ede)
spresense 1.0.0: 7da3703be 6698e1aff
    target cortex-m4
    kernels cmsis_nn
    source sonydevworld/tflite-micro-spresense-examples, which sonydevworld/spresense fetches
pico-tflmicro 2024-12: 87d5152c9 87d5152c9
    target cortex-m0plus
    kernels cmsis_nn
    source raspberrypi/pico-tflmicro
    debug_checks no
    source_suffix .cpp
tflite-micro-arduino-examples: 4e62ea7b8 a8c2ebf58
    target cortex-m4
    kernels cmsis_nn
    source tensorflow/tflite-micro-arduino-examples
    static_memory no
    source_suffix .cpp
MicroTFLite 1.0.3: 4e62ea7b8 a8c2ebf58
    target cortex-m4
    kernels cmsis_nn
    source johnosbb/MicroTFLite
    static_memory no
    source_suffix .cpp
TensorFlowLite_ESP32 0.9.0:
    nearest `library=TensorFlowLite_ESP32@1.0.0`; what these hold is tensorflow/lite/experimental/micro of 2020
    source tanakamasayuki/Arduino_TensorFlowLite_ESP32
    releases 0.6.0 0.7.0 0.8.0 0.9.0
TensorFlowLite_ESP32 1.0.0: a3e7bdad0 8184347d0
    target esp32
    source tanakamasayuki/Arduino_TensorFlowLite_ESP32
    static_memory no
    source_suffix .cpp
tflm_esp32 1.0.0: a3e7bdad0 8184347d0
    target esp32
    source eloquentarduino/tflm_esp32
    static_memory no
    source_suffix .cpp
tflm_esp32 2.0.0: dc4dcb743 0cc2e49fd
    target esp32
    changed built as with TF_LITE_STATIC_MEMORY, without asking for it
    source eloquentarduino/tflm_esp32
    source_suffix .cpp
tflm_cortexm 1.0.0: e6ae16fa4 0c425da36
    target cortex-m4
    kernels cmsis_nn
    source eloquentarduino/tflm_cortexm
    static_memory no
    source_suffix .cpp
microlite 2025-01-26: 626501f60 626501f60
    target cortex-m0plus
    kernels cmsis_nn
    source mocleiri/tensorflow-micropython-examples, the commit that its submodule tensorflow pins
    source_suffix .cpp
    only cortex-m
microlite 2025-01-26: f22888af6 360f05d29
    target esp32
    kernels esp_nn@1.1.0
    source mocleiri/tensorflow-micropython-examples, whose submodule pins espressif/esp-tflite-micro 2690c7a
    fork {ESP} 90
    only esp32
coralmicro 2023-03-22: 24c08505d 24c08505d
    target cortex-m7
    kernels cmsis_nn
    changed the operator edgetpu-custom-op
    source google-coral/coralmicro
    fork {CORAL} 973
    static_memory no
    debug_checks no
Arduino_TensorFlowLite 1.15.0-ALPHA:
    nearest `library=Arduino_TensorFlowLite@2.4.0-ALPHA`; it holds tensorflow/lite/experimental/micro of 2019
    source the Arduino IDE's library manager
Adafruit_TFLite 1.2.5:
    nearest `library=Arduino_TensorFlowLite@2.4.0-ALPHA`; it is built with Arduino_TensorFlowLite 1.15.0-ALPHA of 2019
    source adafruit/Adafruit_TFLite
Arduino_TensorFlowLite 2.4.0-ALPHA:
    target cortex-m4
    kernels cmsis_nn
    changed {_BEFORE_UPSTREAM}
    source the Arduino IDE's library manager; copied by tinyMLx
    static_memory no
    source_suffix .cpp
Harvard_TinyMLx 1.2.4:
    target cortex-m4
    kernels cmsis_nn
    changed {_BEFORE_UPSTREAM}
    source tinyMLx/arduino-library
    static_memory no
    source_suffix .cpp
EloquentTinyML 2.4.4:
    target cortex-m4
    kernels cmsis_nn
    changed {_BEFORE_UPSTREAM}
    source eloquentarduino/EloquentTinyML, src/eloquent_tinyml/tensorflow/arm
    static_memory no
    source_suffix .cpp
    only cortex-m
EloquentTinyML 2.4.4:
    nearest `library=EloquentTinyML@3.0.1`; on an ESP32 it compiles tensorflow/lite/experimental/micro of 2019
    source eloquentarduino/EloquentTinyML, src/eloquent_tinyml/tensorflow/esp32
    only esp32
EloquentTinyML 3.0.0, 3.0.1: dc4dcb743 0cc2e49fd
    target esp32
    changed built as with TF_LITE_STATIC_MEMORY, without asking for it
    source eloquentarduino/EloquentTinyML, which is built on eloquentarduino/tflm_esp32
    source_suffix .cpp
    holds tflm_esp32@2.0.0
    only esp32
EloquentTinyML 3.0.0, 3.0.1: e6ae16fa4 0c425da36
    target cortex-m4
    kernels cmsis_nn
    source eloquentarduino/EloquentTinyML, which is built on eloquentarduino/tflm_cortexm
    static_memory no
    source_suffix .cpp
    holds tflm_cortexm@1.0.0
    only cortex-m
renesas 2022-12: 059fde534 40800f770
    target cortex-m33
    changed split_v.cc
    source renesas/tflite-micro-renesas
ameba 2025-09: 41a9c8a6c a8d13ff1e
    nearest `target=cortex-m33` `runtime=41a9c8a6c` `kernels=reference`; HiFi and CA32 kernels are not modelled
    source Ameba-AIoT/ameba-tflite-micro
analog-devices 1.0.0: 6eff07b78 dbff39412
    nearest `target=cortex-m4` `runtime=6eff07b78` `kernels=reference`; its own kernels are not modelled
    source analogdevicesinc/tflite-micro
neuralSPOT 1.7.0: aa6e62517 7e1eaa015
    nearest `target=cortex-m55` `runtime=aa6e62517` `kernels=reference`; its helia kernels are not modelled
    source AmbiqAI/neuralSPOT, extern/tensorflow/ns_tflm_v1_7_0
silabs-gsdk 4.0.0: 90ed783b4 3e190e538
    target cortex-m33
    changed its CMSIS-NN is not modelled, nor its MVP kernels, which 4.3 has anew
    source SiliconLabs/gecko_sdk, util/third_party/tflite-micro
silabs-gsdk 4.1.0, 4.2.0: 10b122334 01a58c968
    target cortex-m33
    changed its CMSIS-NN is not modelled, nor its MVP kernels, which 4.3 has anew
    source SiliconLabs/gecko_sdk, util/third_party/tflite-micro
silabs-gsdk 4.3.3: 02414075e 5727bc825
    target cortex-m33
    kernels cmsis_nn
    changed its MVP kernels are not modelled; nearest: those of 4.4.1, whose Prepare functions ask for the same
    source SiliconLabs/gecko_sdk, util/third_party/tflite-micro
silabs-gsdk 4.4.1: 02414075e 5727bc825
    target cortex-m33
    kernels mvp
    source SiliconLabs/gecko_sdk, util/third_party/tflite-micro and tensorflow_extra
    cmsis_nn {SILABS_CMSIS_NN}
simplicity-sdk 2024.6.0: 02414075e 5727bc825
    target cortex-m33
    kernels mvp
    source SiliconLabs/simplicity_sdk, util/third_party/tflite-micro and tensorflow_extra
    cmsis_nn {SILABS_CMSIS_NN}
himax WE1 2.0: 28034b021 28034b021
    nearest `target=cortex-m4` `runtime=28034b021` `kernels=reference`; it is an ARC with MLI kernels
    source HimaxWiseEyePlus/himax_tflm
himax 2209: 6fdade1ae 2a27c47a4
    nearest `target=cortex-m55` `runtime=6fdade1ae` `kernels=reference`; its CMSIS-NN kernels are its own
    source HimaxWiseEyePlus/Seeed_Grove_Vision_AI_Module_V2, tflmtag2209_u55tag2205
himax 2412: 478bb78ca 01e31b749
    target cortex-m55
    kernels cmsis_nn
    source HimaxWiseEyePlus/Seeed_Grove_Vision_AI_Module_V2, tflmtag2412_u55tag2411
silabs-mltk: 7005d60ed 7005d60ed
    nearest `library=silabs-gsdk@4.4.1`, whose TFLM is of 2023; MLTK's driver takes a few more layers for the MVP
    source SiliconLabs/mltk
infineon 3.1.0: 389e775e8 e2cc052c4
    nearest `target=cortex-m4` `runtime=389e775e8` `kernels=reference`; allocator headers and kernels are its own
    source Infineon/ml-tflite-micro
SparkFun_Edge:
    nearest `target=cortex-m4` `runtime=2021-04-09` `kernels=reference`; the BSP itself holds no TFLM
    source sparkfun/SparkFun_Edge_BSP
"""
_LAST_LIBRARIES = """
nxp-eiq 2.16.100: 2f2c74467 127f88fe3
    target cortex-m7
    kernels cmsis_nn
    changed NeutronGraph, the NPU's operator
    source nxp-mcuxpresso/mcuxsdk-middleware-tensorflow, NXP MCUXpresso SDK
    source_suffix .cpp
nxp-eiq 2026-03-24: 3200ccd18 3200ccd18
    nearest `target=cortex-m7` `runtime=3200ccd18`; PAD, TRANSPOSE and the detection post-process are its own
    source nxp-mcuxpresso/mcuxsdk-middleware-tensorflow, the commit a242972, of no release
x-cube-ai:
    nearest `target=cortex-m4` `runtime=2023-06-15` `kernels=reference`; no sources at hand
    source STMicroelectronics STM32Cube.AI
"""
"""A library is: name, versions, commits of upstream; then its attributes, but for :class:`Library` s defaults."""


def _read(text: str) -> Iterator[Library]:
    for row in re.split(r"\n(?=\S)", text.strip()):
        head, *lines = row.split("\n")
        known, _, commits = head.partition(":")
        name, _, versions = known.partition(" ")
        settings: dict[str, Any] = dict(line.strip().split(" ", 1) for line in lines)
        settings |= {key: settings[key] != "no" for key in ("static_memory", "debug_checks") if key in settings}
        if "fork" in settings:
            tree, position = settings["fork"].split()
            settings["fork"] = (tree, int(position))
        if "releases" in settings:
            settings["releases"] = tuple(settings["releases"].split())
        first, last = commits.split() or ("", "")
        yield from (Library(name, version, (first, last), **settings) for version in versions.split(", "))


LIBRARIES: tuple[Library, ...] = (
    *_ESP_TFLITE_MICRO,
    Library(
        "esp-tflite-micro",
        "1.4.3",
        ("", ""),
        nearest="`library=esp-tflite-micro@1.4.0`; no sources at hand (1.4.1 is 7b82a0d)",
        source="espressif/esp-tflite-micro",
        releases=("1.4.1", "1.4.2", "1.4.3"),
    ),
    *_esphome(),
    *_read(_CHIRALE),
    _zephyr("2021-08-23", "a41d2ecb5", "bd0df04a8"),
    _zephyr("v3.6.0", "13cd6d824", "13cd6d824"),
    _zephyr("2024-06-27", "71fba59b5", "71fba59b5"),
    _zephyr("v4.1.0", "ef6459127", "ef6459127"),
    _zephyr("v4.4.0", "f2b2b3f51", "f2b2b3f51"),
    *_read(_FURTHER_LIBRARIES),
    *(
        Library(
            "edge-impulse",
            version,
            (commit, commit),
            "cortex-m4",
            "cmsis_nn",
            (EDGE_IMPULSE, position),
            changed,
            source=_EDGE_IMPULSE,
            static_memory=False,
            also=((ESP, _EDGE_IMPULSE_TOOK_ESP_NN),),
            cmsis_nn="" if commit else EDGE_IMPULSE_CMSIS_NN,
            esp_kernels="esp_nn",
        )
        for commit, changed, releases in (
            ("", _EDGE_IMPULSE_UNTIL_2021, _EDGE_IMPULSE_RELEASES[:3]),
            ("a37043ff7", _EDGE_IMPULSE_UNTIL_2023, _EDGE_IMPULSE_RELEASES[3:9]),
            ("e16985378", _EDGE_IMPULSE_CHANGES, _EDGE_IMPULSE_RELEASES[9:]),
        )
        for version, position in releases
    ),
    *_read(_LAST_LIBRARIES),
)
"""The versions of a library, the newest that is modelled last among those that are; of one that holds another TFLM on
other chips, the usual chip last."""


@cache
def _by_name() -> dict[str, tuple[str, str]]:
    """Return, for each name of a library in plain letters, its name here, and "" for no version."""
    found: dict[str, tuple[str, str]] = {}
    for row in LIBRARIES:
        repository = re.match(r"[\w.-]+/[\w.-]+", row.source)
        for name in (row.name, *ALSO_CALLED.get(row.name, "").split(), *([repository[0]] if repository else ())):
            found.setdefault(plain(name), (row.name, ""))
            if repository and "/" not in name:  # As package registries write it: owner/name.
                found.setdefault(plain(f"{repository[0].partition('/')[0]}{name}"), (row.name, ""))
    return found


def known_library(text: str) -> tuple[str, str] | None:
    """Return the library that a name means, and its version where the name says one; None for no library.

    Args:
        text: Its name here, in the Arduino IDE's library manager or PlatformIO's or Espressif's registry, its
            repository or its address, or a header of it: ``ArduTFLite.h``, ``espressif/esp-tflite-micro``.

    Raises:
        UsageError: Several libraries have this header.
    """
    text = re.sub(r"^\s*#\s*include\s*|^https?://(www\.)?github\.com/|(\.git|/)$|[<>\"]", "", text.strip()).strip()
    if text in HEADERS:
        if len(named := HEADERS[text].split()) > 1:
            raise UsageError(f"{text} is a header of {', '.join(named[:-1])} and {named[-1]}: name the library")
        name, _, version = named[0].partition("@")
        return name, version
    if text.endswith("_inferencing.h"):  # The Arduino library that Edge Impulse exports is called after the project.
        return "edge-impulse", ""
    return _by_name().get(plain(text)) or _by_name().get(plain(text.removesuffix(".h")))


def described_libraries() -> dict[str, str]:
    """Return, for each library, where its sources are and what else it is called."""
    return {row.name: f"{row.source} {ALSO_CALLED.get(row.name, '')}" for row in LIBRARIES}


def _name(text: str) -> tuple[str, str]:
    found = known_library(text)
    if found is None:
        if plain(text) in ("tflitemicro", "tensorflowtflitemicro", "upstream", "tflm"):
            raise UsageError("tensorflow/tflite-micro is what is taken without a library; `runtime=` names its version")
        described = described_libraries()
        if not likely(text, described) and (kernels := likely(text, [*VERSIONS], most=1)):
            raise UsageError(f"unknown library '{text}'; kernels have a setting of their own: `kernels={kernels[0]}`")
        raise unknown("library", text, described)
    return found


def libraries_like(text: str) -> list[Library]:
    """Return the libraries in whose name or source ``text`` occurs, whatever the spelling; all for "".

    Raises:
        UsageError: There is none.
    """
    found = [row for row in LIBRARIES if plain(text) in plain(f"{row.name} {row.source}")]
    return found or _versions(_name(text)[0])


def _versions(name: str, machine: str | None = None) -> list[Library]:
    rows = [row for row in LIBRARIES if row.name == name]
    return [row for row in rows if machine is None or machine.lower().startswith(row.only)] or rows


def find_library(text: str, *, machine: str | None = None) -> Library:
    """Return the library that ``NAME`` or ``NAME@VERSION`` names; without a version the newest that is modelled.

    Args:
        text: The name, as :func:`known_library` takes it.
        machine: The preset on which it runs, for libraries that hold another TFLM on other chips; None for its usual.

    Raises:
        UsageError: There is no such library or version.
    """
    text, _, version = expect(text, str, "the name of a library").partition("@")
    name, of_name = _name(text)
    versions, version = _versions(name, machine), version.strip(" ^=") or of_name
    of_version = [
        replace(row, version=version) if version in row.releases else row
        for row in versions
        if not version or version in row.releases or row.version.lower() == version.lower()
    ]
    if not of_version:
        raise _no_version(versions, version)
    return ([row for row in of_version if row.is_modelled] or of_version)[-1]


def _no_version(versions: Sequence[Library], version: str) -> UsageError:
    named = [row for row in versions if row.version]
    listed = ", ".join(dict.fromkeys(row.versions for row in named)) or "no version"
    nearest = _nearest([row for row in named if row.is_modelled], _numbers(version))
    return UsageError(f"{versions[0].name} has no version '{version}' here; use one of: {listed}{nearest}")


def _nearest(modelled: Sequence[Library], numbers: tuple[int, ...]) -> str:
    """Return the words that name the last version up to the one with these numbers, or else the first."""
    if not modelled or not numbers:
        return ""
    older = [row for row in modelled if _numbers(row.version) <= numbers]
    return f"; the nearest: `library={(older or modelled[:1])[-1].label}`"


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, in its order: (2024, 8, 12) of "2024-08-12"."""
    return tuple(int(number) for number in re.findall(r"[0-9]{1,9}", version))


def library_of_day(name: str, day: str | None) -> Library:
    """Return the version of a library that was the newest on a day (2024-02-09), of those that are modelled.

    Of versions that are called by their day: before the oldest it is the oldest; later than all, and without a day, it
    is the newest of all versions.
    """
    rows = [row for row in _versions(name) if row.is_modelled]
    first, *later = (row for row in rows if row.version[:2] == "20")
    if day is None or day > (later or [first])[-1].version:
        return rows[-1]
    return [first, *(row for row in later if row.version <= day)][-1]
