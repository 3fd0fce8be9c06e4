"""Which kernel library a firmware links, and what proves that.

TFLM's source files of kernels, in the debug information or in messages     cmsis_nn/conv.cc
functions that TFLM calls                                                   arm_convolve_wrapper_s8
else                                                                        as named, or the target's usual ones
"""

from __future__ import annotations

from tflm_sim.errors import FirmwareError, UsageError
from tflm_sim.extensions.firmware.reading.firmware import Firmware
from tflm_sim.extensions.firmware.reading.grounds import Ground
from tflm_sim.extensions.firmware.reading.symbol_names import esp_variant, last_esp_nn
from tflm_sim.targets.kernel_library import REFERENCE, VERSIONS, KernelLibrary, parse_kernels
from tflm_sim.targets.library import Library
from tflm_sim.targets.target import Target

_SHARED_SOURCES = frozenset({"kernel_util", "micro_tensor_utils", "kernel_runner"})
"""Sources in ``kernels/`` that belong to no library."""
_REPLACED = """
    add batch_matmul conv depthwise_conv fully_connected maximum_minimum mul pad pooling softmax svdf transpose
    transpose_conv unidirectional_sequence_lstm
"""
_REPLACED_SOURCES = frozenset(_REPLACED.split())
"""Reference sources that a library replaces with its own: where one of them is linked, the library is not.

Source: tensorflow/lite/micro/kernels/{cmsis_nn,esp_nn}/ @ 90b983c, esp-tflite-micro 1.4.0.
"""
_PREMISE = "each is taken to need what TFLM's of its name needs"
"""What no file proves: a kernel may be changed where its name, its file and the number of its requests are TFLM's."""
_MVP = "mvp"
LIBRARY_NAMES = {
    _MVP: "Silicon Labs' MVP",
    "cmsis_nn": "CMSIS-NN",
    "esp_nn": "ESP-NN",
    "xtensa": "Cadence's NN library",
}


def file_name(firmware: Firmware) -> str:
    """Return what the file is called, without its folder."""
    path = firmware.image.path or "firmware"
    return path.replace("\\", "/").rpartition("/")[2]


def linked_kernels(firmware: Firmware, base: Target | None, kernels: str | None) -> tuple[KernelLibrary, Ground]:
    """Return the kernel library of a firmware, and what proves it.

    Args:
        firmware: What its file says.
        base: The target that was named, None for none.
        kernels: The kernels that were named, likewise.

    Raises:
        FirmwareError: They have to be named, or are not modelled.
        UsageError: The file links others than those that were named.
    """
    proof = _linked_library(firmware)
    if proof is None:
        return _named_kernels(firmware, base, kernels)
    name, grounds = proof
    if name not in ("reference", *VERSIONS):
        raise FirmwareError(
            f"links {LIBRARY_NAMES.get(name, name)} ({grounds}), whose scratch buffers are not modelled",
            path=firmware.image.path,
        )
    if kernels is not None and kernels.partition("@")[0].removesuffix("_ansi") != name:
        raise UsageError(f"`kernels={kernels}`: {file_name(firmware)} links {name} ({grounds})")
    if name == "reference":
        return REFERENCE, Ground("kernels", "reference", f"{grounds}; {_PREMISE}", "concluded")
    variants = _variants(firmware, base)
    if name not in variants:
        raise FirmwareError(
            f"links {name} ({grounds}) for an unknown processor; name it with `target=`", path=firmware.image.path
        )
    newest = last_esp_nn(dict(firmware.kernel_functions).get(name, ())) if name == "esp_nn" else ""
    library = parse_kernels(kernels or (f"{name}@{newest}" if newest else name), variants=variants)
    version = "as named" if kernels and "@" in kernels else "its version is assumed"
    return library, Ground("kernels", str(library), f"{grounds}; {version}; {_PREMISE}", "concluded")


def _variants(firmware: Firmware, base: Target | None) -> dict[str, str]:
    """Return the kernel libraries that the processor can run, with the variant for it."""
    variants = {}
    if base is not None and base.kernel_library != REFERENCE:
        variants[base.kernel_library.name] = base.kernel_library.variant
    if firmware.processor is not None and firmware.processor.isa:
        variants["cmsis_nn"] = variants[_MVP] = firmware.processor.isa
    functions = dict(firmware.kernel_functions).get("esp_nn")
    if functions:
        variants["esp_nn"] = esp_variant(functions)
    return variants


def _named_kernels(firmware: Firmware, base: Target | None, kernels: str | None) -> tuple[KernelLibrary, Ground]:
    """Return the kernels of a file that does not tell them: as named, or the target's usual ones."""
    if kernels is not None:
        library = parse_kernels(kernels, variants=_variants(firmware, base))
        return library, Ground("kernels", str(library), "as named", "named")
    if base is not None:
        return base.kernel_library, Ground("kernels", str(base.kernel_library), "the target's usual ones", "assumed")
    raise FirmwareError(
        "neither symbols nor debug information show the kernels; "
        "name them with `kernels=reference`, cmsis_nn or esp_nn",
        path=firmware.image.path,
    )


def _library_of_sources(sources: frozenset[str], grounds: str) -> tuple[str, str] | None:
    """Return the kernel library that source files of kernels prove."""
    for name in LIBRARY_NAMES:
        own = sorted(source for source in sources if source.startswith(f"{name}/"))
        if own:
            return name, f"{grounds} of kernels/{own[0]}" + (f" and {len(own) - 1} more" if own[1:] else "")
    if sources & _REPLACED_SOURCES:
        return "reference", f"{grounds} of kernels/{min(sources & _REPLACED_SOURCES)}, and of no library's"
    return None


def _linked_library(firmware: Firmware) -> tuple[str, str] | None:
    """Return the kernel library that the image holds, with what proves it; None where nothing tells."""
    debug = firmware.debug.kernels if firmware.debug else frozenset()
    proof = _library_of_sources(debug, "debug information") or _library_of_sources(firmware.kernel_files, "messages")
    if proof is not None:
        return proof
    for name, functions in sorted(firmware.kernel_functions, key=lambda row: row[0] != _MVP):  # CMSIS-NN is behind it.
        return name, f"{functions[0]}" + (f" and {len(functions) - 1} more functions" if functions[1:] else "")
    if firmware.reference_kernel:
        return "reference", f"{firmware.reference_kernel}, and no other library's functions"
    if kernels := (debug | firmware.kernel_files) - _SHARED_SOURCES:
        return "reference", f"kernels/{min(kernels)}, and no library's"
    if firmware.operators is not None and not firmware.is_link_time_optimised:
        return "reference", f"no other library's functions among {firmware.symbol_count:,} symbols"
    return None


def _unnamed_sdk(firmware: Firmware, grounds: str) -> FirmwareError:
    return FirmwareError(
        f"links the kernels of {LIBRARY_NAMES[_MVP]} ({grounds}), which are modelled as two SDKs have them; "
        "name one of them: `library=silabs-gsdk` or simplicity-sdk",
        path=firmware.image.path,
    )


def usual_kernels(firmware: Firmware, library: Library | None, named: str | None) -> str | None:
    """Return the kernels that are named, or else those that a library links, where the file does not tell them.

    Raises:
        FirmwareError: The file links the MVP's, and the library is not one that they come with.
        UsageError: The file links others.
    """
    proof = _linked_library(firmware)
    if proof is not None and proof[0] == _MVP and (library is None or library.kernels != _MVP):
        raise _unnamed_sdk(firmware, proof[1])
    if named or library is None:
        return named
    if proof is None or library.kernels == proof[0] == _MVP:
        return library.kernels
    if library.kernels != REFERENCE.name and proof[0] not in (REFERENCE.name, library.kernels):
        raise UsageError(
            f"`library={library.label}` brings {library.kernels}; {file_name(firmware)} links {': '.join(proof)}"
        )
    return None
