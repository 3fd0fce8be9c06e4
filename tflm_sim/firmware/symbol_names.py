"""What the names in a symbol table tell: arenas, registered operators, kernels, options of the build."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from tflm_sim.firmware.elf import DATA, FUNCTION, Elf, Symbol
from tflm_sim.values import dataclass

_ARENA = re.compile(r"arena|tensor_?(pool|memory|buffer|heap)", re.IGNORECASE)
_ARENA_LEAST = 256
"""Bytes: what is smaller is a pointer to an arena, or its size."""
_NESTED = re.compile(r"_Z(?:N[KV]*)?")
_REGISTER = re.compile(r"Register_([A-Z0-9_]+?)(?:_(?:U?INT|FLOAT)\w*)?(?:Ev|v)?$")
_KERNEL_FUNCTIONS = {
    "cmsis_nn": re.compile(r"arm_(?:convolve|depthwise_conv|fully_connected|softmax|avgpool|max_pool|elementwise|svdf|"
                           r"nn_|transpose_conv|batch_matmul|lstm)"),
    "esp_nn": re.compile(r"esp_nn_(?!.*(?:init|time))"),
    "xtensa": re.compile(r"xa_nn_"),
}  # fmt: skip
_REFERENCE_KERNELS = frozenset({"ConvPrepare", "DepthwiseConvPrepare", "PoolingPrepare", "SoftmaxPrepare"})
"""Source: the library's own kernels have a Prepare in an unnamed namespace: kernels/cmsis_nn, esp_nn @ 90b983c."""
_ESP_VARIANTS = ("esp32s3", "esp32p4", "opt", "ansi")
"""Suffixes of ESP-NN's functions, the most specific first."""
_RECORDING = re.compile(r"Recording(?:MicroAllocator|MicroInterpreter)")
_ALL_OPS = re.compile(r"AllOpsResolver")
_CUSTOM_NAMES = {"DETECTION_POSTPROCESS": "TFLite_Detection_PostProcess", "ETHOSU": "ethos-u"}
"""Register functions of custom operators whose name in models is not the function's."""


@dataclass(frozen=True, slots=True)
class ArenaSymbol:
    """An object that looks like a tensor arena.

    Attributes:
        name: Without scopes and mangling.
        address: Where it lies.
        size: Bytes.
        section: The name of its section.
    """

    name: str
    address: int
    size: int
    section: str


def plain_name(name: str) -> str:
    """Return the last identifier of a mangled C++ name: ``_ZN12_GLOBAL__N_112tensor_arenaE`` is tensor_arena."""
    if not name.startswith("_Z"):
        return name.partition(".")[0] or name
    found, at = name, 2
    while at < len(name):
        match = re.match(r"\d+", name[at : at + 4])
        if match is None:
            at += 1
            continue
        start = at + len(match[0])
        length = int(match[0])
        if length == 0 or start + length > len(name):
            break
        found, at = name[start : start + length], start + length
    return found


def function_name(name: str) -> str:
    """Return the last identifier of a mangled function's name, before its parameters."""
    match = _NESTED.match(name)
    if match is None:
        return name
    last, at = "", match.end()
    while digits := re.match(r"\d+", name[at : at + 4]):
        start = at + len(digits[0])
        at = start + int(digits[0])
        last = name[start:at]
    return last


def arenas(elf: Elf, wanted: str | None = None) -> tuple[ArenaSymbol, ...]:
    """Return the objects in RAM whose names say that they are arenas, or those of the name ``wanted``."""
    found = {}
    for symbol in elf.symbols:
        section = elf.sections[symbol.section] if symbol.section < len(elf.sections) else None
        if symbol.type not in DATA or section is None or not section.is_allocated:
            continue
        if wanted is not None and wanted not in symbol.name:
            continue
        if wanted is None and not (section.is_writable and symbol.size >= _ARENA_LEAST and _ARENA.search(symbol.name)):
            continue
        plain = plain_name(symbol.name)
        if wanted in (symbol.name, plain) if wanted is not None else _ARENA.search(plain):
            found[symbol.value] = ArenaSymbol(plain, symbol.value, symbol.size, section.name)
    return tuple(found[address] for address in sorted(found))


def arena_pointers(elf: Elf) -> tuple[str, ...]:
    """Return names of small objects in RAM that look like pointers to an arena on the heap."""
    return tuple(
        plain_name(symbol.name)
        for symbol in elf.symbols
        if symbol.type in DATA
        and symbol.size == elf.bits // 8
        and symbol.section < len(elf.sections)
        and elf.sections[symbol.section].is_writable
        and _ARENA.search(symbol.name)
        and _ARENA.search(plain_name(symbol.name))
    )


def registered_operators(symbols: Iterable[Symbol]) -> frozenset[str] | None:
    """Return the operators whose Register function is in the image; None where none is, which proves nothing."""
    found = set()
    for symbol in symbols:
        match = _REGISTER.match(plain_name(symbol.name)) if "Register_" in symbol.name else None
        if match:
            found.add(_CUSTOM_NAMES.get(match[1], match[1]))
    return frozenset(found) or None


def links_all_operators(symbols: Iterable[Symbol]) -> bool:
    """Whether the resolver with every operator is in the image."""
    return any(_ALL_OPS.search(symbol.name) for symbol in symbols)


def is_recording(symbols: Collection[Symbol]) -> bool | None:
    """Whether the recording interpreter or allocator is in the image; None for a stripped file."""
    return any(symbol.type == FUNCTION and _RECORDING.search(symbol.name) for symbol in symbols) if symbols else None


def kernel_functions(symbols: Iterable[Symbol]) -> dict[str, list[str]]:
    """Return the functions of each kernel library that is in the image."""
    found: dict[str, list[str]] = {}
    for symbol in symbols:
        if symbol.type == FUNCTION:
            for library, pattern in _KERNEL_FUNCTIONS.items():
                if pattern.match(symbol.name):
                    found.setdefault(library, []).append(symbol.name)
    return found


def reference_kernel(symbols: Iterable[Symbol]) -> str:
    """Return a function that only the reference kernels use, "" where none is in the image."""
    names = (function_name(symbol.name) for symbol in symbols if symbol.type == FUNCTION and "Prepare" in symbol.name)
    return next((name for name in names if name in _REFERENCE_KERNELS), "")


def esp_variant(functions: Iterable[str]) -> str:
    """Return the variant of ESP-NN that its functions' suffixes show."""
    names = list(functions)
    return next((variant for variant in _ESP_VARIANTS if any(name.endswith("_" + variant) for name in names)), "ansi")
