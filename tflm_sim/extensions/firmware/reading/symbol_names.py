"""What the names in a symbol table tell: arenas, interpreters, resolvers, reference kernels."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.reading import tflm_names
from tflm_sim.extensions.firmware.reading.elf import DATA, FUNCTION, Elf, Symbol

_ARENA = re.compile(r"arena|tensor_?(pool|memory|buffer|heap)", re.IGNORECASE)
_NO_ARENAS = frozenset(("main_arena",))
"""Objects of that name that are something else: glibc keeps its heap's state in ``main_arena``."""
_ARENA_LEAST = 256
"""Bytes: what is smaller is a pointer to an arena, or its size."""
_ARENA_MOST = (1 << 31) - 1
_MOST_ARENAS = 100
"""A model is judged in each arena that may be its own, so that more would take minutes."""
_NESTED = re.compile(r"_Z(?:N[KV]*|L)?")
_LENGTH = re.compile(r"L?(\d{1,4})")
"""Before an identifier in a mangled name; "L" is before that of a static function."""
_REFERENCE_KERNELS = frozenset({"ConvPrepare", "DepthwiseConvPrepare", "PoolingPrepare", "SoftmaxPrepare"})
"""Source: the library's own kernels have a Prepare in an unnamed namespace: kernels/cmsis_nn, esp_nn @ 90b983c."""
_ESP_VARIANTS = {"esp32s3": "esp32s3", "esp32p4": "esp32p4", "riscv_pie": "esp32p4", "opt": "opt", "ansi": "ansi"}
"""The variant of ESP-NN by the ending of its functions' names; from 1.3.0 on the ESP32-P4's end in "riscv_pie"."""
_LAST_OF_THE_P4 = "1.2.7"
"""The newest ESP-NN that is known to have functions called after the ESP32-P4."""
"""Suffixes of ESP-NN's functions, the most specific first."""
_RECORDING = re.compile(r"Recording(?:MicroAllocator|MicroInterpreter)")
_PLAIN_ALLOCATOR = re.compile(tflm_names.CREATE_PLAIN + tflm_names.COPY)
_RECORDING_ALLOCATOR = re.compile(tflm_names.CREATE_RECORDING + tflm_names.COPY)
_PLAIN_TABLE = re.compile(tflm_names.ALLOCATOR_TABLE)
_CONSTRUCTOR = re.compile(tflm_names.CONSTRUCTOR + tflm_names.COPY)
_GIVEN_ALLOCATOR = re.compile(tflm_names.GIVEN_ALLOCATOR)
_SHARED = re.compile(tflm_names.SHARED)
_VARIABLES = re.compile(tflm_names.CREATE_VARIABLES + tflm_names.COPY)
_OWN_KERNEL = re.compile(tflm_names.OWN_KERNEL)
COMPUTES = re.compile(r"eval|invoke", re.IGNORECASE)
"""What a function of a kernel is called that says that it computes."""
_RESOLVER = re.compile(r"22MicroMutableOpResolverILj(\d+)E")


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
    while digits := _LENGTH.match(name, at):
        start = digits.end()
        at = start + int(digits[1])
        last = name[start:at]
    return last


def arenas(elf: Elf, wanted: str | None = None) -> tuple[ArenaSymbol, ...]:
    """Return the objects in RAM whose names say that they are arenas, or those of the name ``wanted``.

    Raises:
        FirmwareError: There are more than any program has, or one is larger than any is.
    """
    found: dict[int, ArenaSymbol] = {}
    for symbol in elf.symbols:
        section = elf.sections[symbol.section] if symbol.section < len(elf.sections) else None
        if symbol.type not in DATA or section is None or not section.is_allocated:
            continue
        if _is_wanted(symbol, wanted) if wanted is not None else section.is_writable and _is_arena(symbol):
            name = plain_name(symbol.name)
            if symbol.size > _ARENA_MOST:
                raise FirmwareError(f"the object {name} has {symbol.size:,} bytes, more than any arena")
            found[symbol.value] = ArenaSymbol(name, symbol.value, symbol.size, section.name)
    if len(found) > _MOST_ARENAS:
        raise FirmwareError(
            f"{len(found):,} objects are called arenas, and {_MOST_ARENAS} are judged at most: 'tflm-sim firmware "
            "--arena-symbol NAME' takes one"
        )
    return tuple(found[address] for address in sorted(found))


def _is_wanted(symbol: Symbol, name: str) -> bool:
    return name in symbol.name and name in (symbol.name, plain_name(symbol.name))


def _is_arena(symbol: Symbol) -> bool:
    return symbol.size >= _ARENA_LEAST and bool(_ARENA.search(symbol.name)) and says_arena(plain_name(symbol.name))


def says_arena(name: str) -> bool:
    """Whether the name of an object, or of a member of one, says that it is an arena."""
    return name not in _NO_ARENAS and bool(_ARENA.search(name))


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


def interpreters(symbols: Collection[Symbol]) -> tuple[str, ...]:
    """Return which interpreters the image can make: "plain", "recording", both; () for a stripped file.

    The plain one makes a MicroAllocator, in its constructor or before. Where link-time optimisation merged both
    Create() into their callers, its table of virtual functions tells: the linker drops it where nobody makes one.
    """
    if not symbols:
        return ()
    names = [symbol.name for symbol in symbols if symbol.type == FUNCTION]
    recording = any(map(_RECORDING.search, names))
    is_merged = not any(map(_RECORDING_ALLOCATOR.fullmatch, names))
    plain = (
        not recording
        or any(map(_PLAIN_ALLOCATOR.fullmatch, names))
        or (is_merged and any(_PLAIN_TABLE.fullmatch(symbol.name) for symbol in symbols))
    )
    return ("plain",) * plain + ("recording",) * recording


def only_takes_allocators(symbols: Iterable[Symbol]) -> bool:
    """Whether the only constructor of MicroInterpreter in the image takes a MicroAllocator and no arena."""
    found = [match[1] for symbol in symbols if (match := _CONSTRUCTOR.fullmatch(symbol.name))]
    return bool(found) and all(map(_GIVEN_ALLOCATOR.fullmatch, found))


def resource_variables_linked(symbols: Iterable[Symbol]) -> bool:
    """Whether a name says that the image can make a table of resource variables."""
    return any(_VARIABLES.fullmatch(symbol.name) for symbol in symbols)


def made_local(symbols: Iterable[Symbol]) -> bool:
    """Whether functions of TFLM that other files call are local, as only link-time optimisation makes them.

    It then inlines them into other files, too. Copies of functions (``.isra.0``) are local in any build.
    """
    local = (symbol.name for symbol in symbols if symbol.is_local and symbol.type == FUNCTION)
    return any(".lto_priv" in name or (_SHARED.fullmatch(name) and "_GLOBAL__N_" not in name) for name in local)


def own_kernels(symbols: Iterable[Symbol]) -> tuple[str, ...]:
    """Return the functions outside TFLM with a Prepare's parameters, which may ask for memory that is not known.

    Those that say that they compute are left out.
    """
    names = (symbol.name for symbol in symbols if symbol.type == FUNCTION and _OWN_KERNEL.fullmatch(symbol.name))
    return tuple(sorted({name for name in map(function_name, names) if not COMPUTES.search(name)}))


def own_classes(symbols: Iterable[Symbol], pattern: str) -> tuple[str, ...]:
    """Return the classes that have a function whose mangled name is as ``pattern``, without their namespaces."""
    wanted = re.compile(pattern)
    names = (symbol.name for symbol in symbols if symbol.type == FUNCTION and wanted.fullmatch(symbol.name))
    return tuple(sorted({_class_name(name) for name in names}))


def _class_name(name: str) -> str:
    """Return the class of a function of one, by its mangled name: the identifier before the function's."""
    match = _NESTED.match(name)
    found, at = ["", ""], match.end() if match else len(name)
    while digits := _LENGTH.match(name, at):
        start = digits.end()
        at = start + int(digits[1])
        found.append(name[start:at])
    return found[-2]


def resolver_sizes(names: Iterable[str]) -> tuple[int, ...]:
    """Return for how many operators each MicroMutableOpResolver in the image has room, ascending."""
    return tuple(sorted({int(match[1]) for name in names if (match := _RESOLVER.search(name))}))


def reference_kernel(symbols: Iterable[Symbol]) -> str:
    """Return a function that only the reference kernels use, "" where none is in the image."""
    names = (function_name(symbol.name) for symbol in symbols if symbol.type == FUNCTION and "Prepare" in symbol.name)
    return next((name for name in names if name in _REFERENCE_KERNELS), "")


def esp_variant(functions: Iterable[str]) -> str:
    """Return the variant of ESP-NN that its functions' suffixes show."""
    names = list(functions)
    found = (variant for end, variant in _ESP_VARIANTS.items() if any(name.endswith(f"_{end}") for name in names))
    return next(found, "ansi")


def last_esp_nn(functions: Iterable[str]) -> str:
    """Return the newest version of ESP-NN that has functions of these names, "" where they do not tell."""
    return _LAST_OF_THE_P4 if any(name.endswith("_esp32p4") for name in functions) else ""
