"""The named targets: one row per machine and build that people ask for.

A row says what a build is; ``evidence.py`` says which of them were measured. What is a default is a column here
(``kernels``) and of the kernel libraries' versions (``kernel_library.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from tflm_sim.errors import UsageError, expect
from tflm_sim.names import likely, plain, unknown
from tflm_sim.targets import kernel_library
from tflm_sim.targets.abi import AAPCS, I386, ILP32, LP64, Abi
from tflm_sim.targets.changes import CHANGES, CMSIS_NN_PINS, EDGE_IMPULSE, ESP, UPSTREAM
from tflm_sim.targets.reference import WHEEL_SNAPSHOT
from tflm_sim.targets.runtime import CHIRALE_SNAPSHOT, ESP_1_3_3_SNAPSHOT, Runtime, find_runtime
from tflm_sim.targets.target import Target

_PLAIN = Runtime()


@dataclass(frozen=True, slots=True)
class Preset:
    """A row of :data:`PRESETS`.

    Attributes:
        abi: The compiler's layout rules.
        description: One line for ``tflm-sim list targets``.
        runtime: The TFLM snapshot and its build flags.
        kernels: What its builds link unless kernels are named, as for ``--kernels``: "reference", a library in its
            default version, or NAME@VERSION where its firmware pins one.
        libraries: The kernel libraries that run on it, and the variant of each.
        own_kernels: The library that a runtime brings along, which then is the only one.
        family: What Edge Impulse's SDK tells machines apart by: "armv8m" for a core of Armv8-M or Armv8.1-M, "esp32s3",
            "" for others.
        interpreter: Which interpreter its firmware makes: "plain" or "recording".
    """

    abi: Abi
    description: str
    runtime: Runtime = _PLAIN
    kernels: str = "reference"
    libraries: Mapping[str, str] = field(default_factory=dict)
    own_kernels: kernel_library.KernelLibrary | None = None
    family: str = ""
    interpreter: str = "plain"


_CMSIS_NN_SCALAR, _CMSIS_NN_DSP, _CMSIS_NN_MVE = ({"cmsis_nn": isa} for isa in ("scalar", "dsp", "mve"))
_ESP_NN_OPT, _ESP_NN_S3, _ESP_NN_P4 = (
    {"esp_nn": implementation, "esp_nn_ansi": "ansi", **_CMSIS_NN_SCALAR}
    for implementation in ("opt", "esp32s3", "esp32p4")
)
"""CMSIS-NN too: libraries for the Arduino IDE have no other convolution, and compile its plain C for an ESP32."""
_CORTEX = "AAPCS bare metal, short enums"
_ESP = "ILP32, int enums, 8-aligned int64"

_IMPOSSIBLE_BUILDS: dict[tuple[str, str], tuple[str, str]] = {
    **{
        ("cmsis_nn", old): (f"cmsis_nn_{new}", "TFLM from {date} on fetches a newer one")
        for old, new in pairwise(CMSIS_NN_PINS)
        if CMSIS_NN_PINS[new].position <= CHANGES["cmsis_transpose_conv_reversed"].position
    },
    ("cmsis_nn", kernel_library.SILABS_CMSIS_NN): ("cmsis_nn_58f1770", "TFLM from {date} on fetches a newer one"),
    ("esp_nn", "1.1.0"): ("esp_nn_1_1_1", "esp-tflite-micro from 1.3.4 on asks for 1.1.1 or newer"),
}
"""Versions that a runtime cannot be built with: the change since which, and why."""

PRESETS: dict[str, Preset] = {
    "x86_64": Preset(LP64, "Linux or macOS on x86-64 or 64-bit ARM, gcc or clang"),
    "x86_64-compression": Preset(LP64, "x86_64 with USE_TFLM_COMPRESSION", Runtime(compression=True)),
    "x86_64-pip": Preset(
        LP64,
        f"the wheel of pip install --pre tflite-micro (build {WHEEL_SNAPSHOT}, compression on)",
        Runtime(snapshot=WHEEL_SNAPSHOT, compression=True, has_debug_checks=False),
        interpreter="recording",
    ),
    "i386": Preset(I386, "gcc -m32 on Linux: 4-aligned int64 and double"),
    "cortex-m0plus": Preset(AAPCS, f"Cortex-M0+ ({_CORTEX})", kernels="cmsis_nn", libraries=_CMSIS_NN_SCALAR),
    "cortex-m3": Preset(AAPCS, f"Cortex-M3 ({_CORTEX})", kernels="cmsis_nn", libraries=_CMSIS_NN_SCALAR),
    "cortex-m4": Preset(AAPCS, f"Cortex-M4 ({_CORTEX})", kernels="cmsis_nn", libraries=_CMSIS_NN_DSP),
    "cortex-m7": Preset(AAPCS, f"Cortex-M7 ({_CORTEX})", kernels="cmsis_nn", libraries=_CMSIS_NN_DSP),
    "cortex-m33": Preset(
        AAPCS, f"Cortex-M33 ({_CORTEX})", kernels="cmsis_nn", libraries={**_CMSIS_NN_DSP, "mvp": "dsp"}, family="armv8m"
    ),
    "cortex-m55": Preset(
        AAPCS, f"Cortex-M55 ({_CORTEX})", kernels="cmsis_nn", libraries=_CMSIS_NN_MVE, family="armv8m"
    ),
    "cortex-m85": Preset(
        AAPCS, f"Cortex-M85 ({_CORTEX})", kernels="cmsis_nn", libraries=_CMSIS_NN_MVE, family="armv8m"
    ),
    "cortex-m4-int-enums": Preset(
        ILP32, "Cortex-M4 built with -fno-short-enums", kernels="cmsis_nn", libraries=_CMSIS_NN_DSP
    ),
    "nano33ble-chirale": Preset(
        AAPCS,
        "Arduino Nano 33 BLE (Cortex-M4) with the library Chirale_TensorFLowLite 2.0.0",
        Runtime(snapshot=CHIRALE_SNAPSHOT, static_memory=False, source_suffix=".cpp"),
        own_kernels=kernel_library.KernelLibrary("cmsis_nn", "e98ee09", "dsp"),
    ),
    "riscv32": Preset(ILP32, f"RISC-V 32 ({_ESP})"),
    "esp32": Preset(ILP32, f"ESP32, Xtensa LX6 ({_ESP})", kernels="esp_nn", libraries=_ESP_NN_OPT),
    "esp32-s2": Preset(ILP32, f"ESP32-S2, Xtensa LX7 ({_ESP})", kernels="esp_nn", libraries=_ESP_NN_OPT),
    "esp32-s3": Preset(
        ILP32, f"ESP32-S3, Xtensa LX7 ({_ESP})", kernels="esp_nn", libraries=_ESP_NN_S3, family="esp32s3"
    ),
    "esp32-s3-esphome": Preset(
        ILP32,
        "ESP32-S3 with ESPHome's micro_wake_word: esp-tflite-micro 1.3.3~1, ESP-NN 1.1.2",
        Runtime(snapshot=ESP_1_3_3_SNAPSHOT),
        kernels="esp_nn@1.1.2",
        libraries=_ESP_NN_S3,
        family="esp32s3",
    ),
    "esp32-c3": Preset(ILP32, f"ESP32-C3, RISC-V ({_ESP})", kernels="esp_nn", libraries=_ESP_NN_OPT),
    "esp32-c6": Preset(ILP32, f"ESP32-C6, RISC-V ({_ESP})", kernels="esp_nn", libraries=_ESP_NN_OPT),
    "esp32-p4": Preset(ILP32, f"ESP32-P4, RISC-V ({_ESP})", kernels="esp_nn", libraries=_ESP_NN_P4),
}


OWN_BUILDS = frozenset(name for name, preset in PRESETS.items() if preset.own_kernels)
"""The presets that are one build of TFLM with kernels of its own."""


def preset(name: str, *, kernels: str | None = None, runtime: str | None = None) -> Target:
    """Return the target that a preset names.

    Args:
        name: A key of :data:`PRESETS`; case does not matter.
        kernels: ``--kernels``: "reference", "cmsis_nn", "cmsis_nn@VERSION"; None for the preset's own.
        runtime: Another TFLM, as for :func:`at_runtime`; None for the preset's own.

    Raises:
        UsageError: No such preset or TFLM, or a kernel library that is not modelled for it.
    """
    expect(name, str, "the name of a target")
    preset = PRESETS.get(name.lower())
    if preset is None:
        raise _unknown_target(name)
    name = name.lower()
    library = _kernel_library(name, preset, kernels)
    if runtime is None:
        refuse_impossible_build(library, preset.runtime)
        _refuse_mvp_without_its_sdk(library, "", preset.runtime)
    chosen = Target(
        name=name,
        abi=preset.abi,
        runtime=preset.runtime,
        kernel_library=library,
        interpreter=preset.interpreter,
        description=preset.description,
    )
    return chosen if runtime is None else _with_named_kernels(at_runtime(chosen, runtime), kernels)


def _unknown_target(name: str) -> UsageError:
    """Return the error for a name that is no preset, and may be that of a board or a library."""
    from tflm_sim.targets.boards import described_boards, known_board
    from tflm_sim.targets.libraries import described_libraries, known_library

    if plain(name) == "esp32s31":
        return UsageError(
            f"'{name}' is not modelled: it runs the ESP32-P4's kernels of ESP-NN 1.3.0 and newer; "
            "nearest: `target=esp32-p4`"
        )
    if not any(plain(name) == plain(each) for each in PRESETS):
        if (chosen := known_board(name)) is not None:
            return UsageError(
                f"'{name}' is a board: `target={chosen.preset}`; `board={chosen.name}` is taken where a board can be "
                "named"
            )
        library = name.partition("@")[0]
        if known_library(library):
            return UsageError(f"'{name}' is a library: `library={name}`; 'tflm-sim list libraries {library}' shows it")
        if not likely(name, [*PRESETS]):
            for kind, known in (("board", described_boards()), ("library", described_libraries())):
                if near := likely(name, known):
                    options = " or ".join(f"`{kind}={each}`" for each in near)
                    return UsageError(f"unknown target '{name}'; did you mean {options}?")
    return UsageError(f"{unknown('target', name, [*PRESETS])} (also: 'tflm-sim list boards', 'list libraries')")


def _with_named_kernels(target: Target, kernels: str | None) -> Target:
    """Return ``target`` if it links the version of a library that was named.

    Raises:
        UsageError: Its TFLM brings another.
    """
    version = (kernels or "").partition("@")[2]
    if version and version != target.kernel_library.version:
        raise UsageError(
            f"{kernels} cannot be used with {target.runtime.snapshot}, which links {target.kernel_library}"
        )
    return target


def _kernel_library(name: str, preset: Preset, kernels: str | None) -> kernel_library.KernelLibrary:
    own = preset.own_kernels
    if own is not None:
        if kernels is not None and kernel_library.parse_kernels(kernels, variants={own.name: own.variant}) != own:
            raise UsageError(f"{name} is a library with kernels of its own, {own}; remove `kernels=`")
        return own
    return kernel_library.parse_kernels(preset.kernels if kernels is None else kernels, variants=preset.libraries)


def refuse_impossible_build(library: kernel_library.KernelLibrary, runtime: Runtime) -> None:
    """Refuse a version of a kernel library with which a version of TFLM cannot be built.

    Raises:
        UsageError: It cannot.
    """
    change, reason = _IMPOSSIBLE_BUILDS.get((library.name, library.version), ("", ""))
    if change and runtime.has(change):
        why = reason.format(date=CHANGES[change].date)
        raise UsageError(f"{library.name}@{library.version} cannot be used with {runtime.snapshot}: {why}")


def _refuse_mvp_without_its_sdk(library: kernel_library.KernelLibrary, brought: str, runtime: Runtime) -> None:
    """Refuse the MVP's kernels with a TFLM that does not come with the CMSIS-NN behind them.

    Raises:
        UsageError: It does not.
    """
    if library.name == "mvp" and library.cmsis_nn != brought:
        raise UsageError(
            f"the MVP's kernels are modelled for `library=silabs-gsdk@4.4.1` and simplicity-sdk@2024.6.0, not for "
            f"{runtime.snapshot}; without them, use `kernels=reference` or cmsis_nn"
        )


def _esp_nn_of(library: kernel_library.KernelLibrary, runtime: Runtime) -> kernel_library.KernelLibrary:
    """Return the ESP-NN that a version of TFLM comes with."""
    if EDGE_IMPULSE in dict(runtime.forks):
        return _edge_impulse_esp_nn(library, runtime)
    if ESP not in dict(runtime.forks):
        raise UsageError(
            f"the ESP-NN kernels come with esp-tflite-micro, not with {runtime.snapshot}; use `kernels=reference`, or "
            "name your library with `library=`, which says what it links"
        )
    return library


def _with_build_flags(own: Runtime, found: Runtime) -> Runtime:
    """Return a version with the build flags of another."""
    runtime = replace(
        found,
        compression=own.compression,
        optimize_kernels_for=own.optimize_kernels_for,
        has_debug_checks=own.has_debug_checks and found.has_debug_checks,
    )
    if runtime.compression and not runtime.has("compression"):
        raise UsageError(f"{runtime.snapshot} has no compression yet; it came on {CHANGES['compression'].date}")
    return runtime


def at_runtime(target: Target, text: str) -> Target:
    """Return ``target`` with another TFLM.

    Args:
        target: The machine, its build flags and its kernel library.
        text: As for :func:`~tflm_sim.targets.runtime.find_runtime`, or NAME@VERSION of a library.

    Raises:
        UsageError: There is no such TFLM, or the kernel library's glue of that time is not modelled.
    """
    expect(text, str, "the name of a version of TFLM")
    if not target.runtime.static_memory:
        raise UsageError(
            f"{target.name} is one build of TFLM; `runtime=` needs a processor as the target, such as cortex-m4"
        )
    from tflm_sim.targets.history import is_commit, is_day
    from tflm_sim.targets.libraries import find_library

    brought = ""
    if is_day(text) or is_commit(text):
        found = find_runtime(text)
    else:
        named = find_library(text, machine=target.name)
        if named.target in OWN_BUILDS:
            return _own_build(target, named.label, named.target)
        found, brought = named.runtime(), named.cmsis_nn
    if target.runtime == PRESETS["x86_64-pip"].runtime and found.is_counted:
        raise UsageError(
            f"{target.name} is the pip wheel of TFLM, which is not modelled for {found.day}; "
            "`runtime=` needs a processor as the target, such as x86_64-compression"
        )
    runtime = _with_build_flags(target.runtime, found)
    library = _kernels_with(target.kernel_library, runtime, brought)
    return replace(target, runtime=runtime, kernel_library=library)


def _kernels_with(
    library: kernel_library.KernelLibrary, runtime: Runtime, brought: str
) -> kernel_library.KernelLibrary:
    """Return the kernel library that goes with a TFLM; ``brought``: the CMSIS-NN that a library links, "" for none.

    Raises:
        UsageError: Its glue of that time is not modelled.
    """
    if library.name == "cmsis_nn":
        default = kernel_library.default_version("cmsis_nn", library.variant)
        position = runtime.position(UPSTREAM)
        fetched = [pin for pin, change in CMSIS_NN_PINS.items() if change.position <= position]
        if default not in fetched:  # An older TFLM: it was built with the CMSIS-NN of its day.
            library = replace(library, version=brought or fetched[-1])
    if library.variant == "scalar" and EDGE_IMPULSE in dict(runtime.forks):
        library = library if runtime.has("edge_impulse_scalar_cmsis_nn") else kernel_library.REFERENCE
    _refuse_mvp_without_its_sdk(library, brought, runtime)
    refuse_impossible_build(library, runtime)
    return _esp_nn_of(library, runtime) if library.name == "esp_nn" else library


def _edge_impulse_esp_nn(library: kernel_library.KernelLibrary, runtime: Runtime) -> kernel_library.KernelLibrary:
    """Return the copy of ESP-NN that Edge Impulse's SDK brings.

    Raises:
        UsageError: Another is asked for, or its plain C, which is not linked: without ESP-NN the reference kernels are.
    """
    if not runtime.has("edge_impulse_esp_nn"):
        return kernel_library.REFERENCE
    if library.variant == "ansi":
        raise UsageError(
            "Edge Impulse's SDK has ESP-NN with its optimised code only; without it, use `kernels=reference`"
        )
    copies = {"edge_impulse_pads_once": "1.1.0", "edge_impulse_kernels": kernel_library.EDGE_IMPULSE_2023}
    version = next((copy for since, copy in copies.items() if runtime.has(since)), kernel_library.EDGE_IMPULSE_2022)
    if library.version not in (version, kernel_library.default_version("esp_nn", library.variant)):
        raise UsageError(f"{runtime.snapshot} brings its own ESP-NN, {version}; remove the version")
    is_plain = library.variant == "esp32p4" and not runtime.has("edge_impulse_esp32p4")
    return replace(library, version=version, variant="opt" if is_plain else library.variant)


def _own_build(target: Target, label: str, name: str) -> Target:
    """Return ``target`` with a library that brings its kernels, as ``PRESETS[name]`` has them for one machine.

    Raises:
        UsageError: Other kernels are asked for.
    """
    build = PRESETS[name]
    kernels, asked = build.own_kernels, target.kernel_library
    assert kernels is not None
    is_same = asked.name == kernels.name and asked.version in (
        kernels.version,
        kernel_library.default_version(asked.name, asked.variant),
    )
    if target.runtime != _PLAIN or not is_same:
        brought = f"{kernels.name}@{kernels.version}"
        raise UsageError(f"{label} brings its kernels, {brought}; {target.name} has {asked}: name it with `library=`")
    return replace(target, runtime=build.runtime, kernel_library=replace(kernels, variant=asked.variant))


def has_default_kernels(name: str) -> bool:
    """Return whether a preset, unless kernels are named, takes the default version of a library."""
    row = PRESETS.get(name)
    return row is not None and row.kernels in row.libraries


def library_target(text: str, *, name: str | None = None, kernels: str | None = None) -> Target:
    """Return the target of a library.

    Args:
        text: NAME or NAME@VERSION of a library.
        name: The machine; None for the library's usual one.
        kernels: As for :func:`target`; None for the library's own.

    Raises:
        UsageError: There is no such library, it is not modelled, or it does not run there.
    """
    from tflm_sim.targets.libraries import find_library  # A long table, needed only where a library is named.

    library = find_library(text, machine=name)
    runtime = library.runtime()
    machine_name = name or library.target
    if library.target in OWN_BUILDS and _runs_a_build(machine_name, library.target):
        return preset(library.target, kernels=kernels)
    machine = preset(machine_name, kernels=kernels or library.kernels_on(machine_name), runtime=library.label)
    return replace(machine, description=f"{machine.description} with {runtime.snapshot}")


def _runs_a_build(machine: str, build: str) -> bool:
    """Return whether a machine has the struct layout of a library's own build, and runs its kernels."""
    if machine == build or machine not in PRESETS:
        return machine == build
    kernels = PRESETS[build].own_kernels
    assert kernels is not None
    return (
        PRESETS[machine].abi == PRESETS[build].abi and PRESETS[machine].libraries.get(kernels.name) == kernels.variant
    )
