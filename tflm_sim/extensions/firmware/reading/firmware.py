"""``Firmware``: everything that a firmware's file says, before anything is concluded from it."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.reading import tflm_names
from tflm_sim.extensions.firmware.reading.absent_checks import AbsentCheck, find_absent_checks
from tflm_sim.extensions.firmware.reading.attributes import Processor, processor
from tflm_sim.extensions.firmware.reading.bank_plans import GivenBanks, bank_plans
from tflm_sim.extensions.firmware.reading.call_graph import CallGraph
from tflm_sim.extensions.firmware.reading.code_values import code_reader
from tflm_sim.extensions.firmware.reading.dated_texts import DatedText, find_dated_texts, kernel_files
from tflm_sim.extensions.firmware.reading.dwarf_units import Units
from tflm_sim.extensions.firmware.reading.elf import DATA, Elf, Symbol
from tflm_sim.extensions.firmware.reading.embedded_models import EmbeddedModel, find_models
from tflm_sim.extensions.firmware.reading.image import AddressIndex, Image, load_image
from tflm_sim.extensions.firmware.reading.kernel_requests import Requests, kernel_requests
from tflm_sim.extensions.firmware.reading.linked_kernels import (
    keeps_kernel_sums,
    kernel_functions,
    links_all_operators,
    registered_operators,
)
from tflm_sim.extensions.firmware.reading.measured_structs import DebugFacts, debug_facts, units_of
from tflm_sim.extensions.firmware.reading.memory import Region, regions
from tflm_sim.extensions.firmware.reading.object_parts import ObjectPart, part_of
from tflm_sim.extensions.firmware.reading.set_up import SetUp, read_set_up
from tflm_sim.extensions.firmware.reading.symbol_names import (
    ArenaSymbol,
    arena_pointers,
    arenas,
    interpreters,
    made_local,
    only_takes_allocators,
    own_classes,
    own_kernels,
    plain_name,
    reference_kernel,
    resolver_sizes,
    resource_variables_linked,
)
from tflm_sim.model.types import Model
from tflm_sim.targets.runtime import Runtime
from tflm_sim.targets.structs import declarations

_MESSAGES = (b"Failed to resize buffer", b"Failed to allocate tail memory", b"Failed starting model allocation")
"""What the allocator and the interpreter print, in every TFLM since 2021, unless TF_LITE_STRIP_ERROR_STRINGS is set."""
_RECORDING = b"[RecordingMicroAllocator]"
"""What the recording interpreter prints before each of its figures."""
_COMPRESSION = b"COMPRESSION_METADATA\0"
"""What the code for compressed tensors looks for in a model."""
_LINK_TIME = "-flto"


@dataclass(frozen=True, slots=True)
class Firmware:
    """A firmware's file.

    Attributes:
        image: The file's bytes, by address.
        models: The models inside.
        arenas: Static objects that look like tensor arenas.
        arena_pointers: Pointers that look like they point to one on the heap.
        processor: What header and attributes say; None where the format has neither.
        debug: What the debug information of TFLM says; None without it.
        symbol_count: Symbols; 0 for a stripped file.
        operators: Operators whose Register function is called; None where no such function is in the image, which
            proves nothing.
        has_all_operators: Whether it uses the resolver with every operator.
        kernel_functions: Functions by kernel library.
        keeps_kernel_sums: Whether CMSIS-NN's kernels were built with KERNELS_OPTIMIZED_FOR_SPEED; None where nothing
            tells.
        reference_kernel: A function that only reference kernels use, "" where none is in the image.
        prints_messages: Whether TFLM's messages are in the image.
        has_compression: Whether the code for compressed tensors is (USE_TFLM_COMPRESSION).
        interpreters: Which interpreters the image can make, "plain" and "recording"; () where nothing tells.
        has_resource_variables: Whether MicroResourceVariables::Create is in the image; None where nothing tells.
        resolver_sizes: For how many operators each MicroMutableOpResolver in the image has room.
        only_takes_allocators: Whether every interpreter is given an allocator that was made before, so that several may
            share one.
        own_kernels: Functions outside TFLM that may be a kernel's Prepare.
        kernel_requests: How often the kernel of each operator asks for memory.
        own_resolvers: Classes outside TFLM that find operators, as a MicroOpResolver does.
        own_planners: Classes outside TFLM that plan memory, as a MicroMemoryPlanner does.
        set_up: What its code passes to TFLM.
        arena_parts: Addresses of arenas in that code, with the members of objects that hold them.
        is_link_time_optimised: Whether functions may have been inlined across files, so that a missing name proves
            nothing.
        regions: RAM by region.
        dated_texts: Messages and functions that TFLM had for a limited time.
        kernel_files: The kernels' source files that messages name.
        absent_checks: Checks that those files had for a while, and that are not in the image.
        bank_plans: Plans over banks of RAM (banks.h), with the banks that they are given.
    """

    image: Image
    models: tuple[EmbeddedModel, ...]
    arenas: tuple[ArenaSymbol, ...] = ()
    arena_pointers: tuple[str, ...] = ()
    processor: Processor | None = None
    debug: DebugFacts | None = None
    symbol_count: int = 0
    operators: frozenset[str] | None = None
    has_all_operators: bool = False
    kernel_functions: tuple[tuple[str, tuple[str, ...]], ...] = ()
    keeps_kernel_sums: bool | None = None
    reference_kernel: str = ""
    prints_messages: bool = False
    has_compression: bool = False
    interpreters: tuple[str, ...] = ()
    has_resource_variables: bool | None = None
    resolver_sizes: tuple[int, ...] = ()
    only_takes_allocators: bool = False
    own_kernels: tuple[str, ...] = ()
    kernel_requests: tuple[tuple[str, Requests], ...] = ()
    own_resolvers: tuple[str, ...] = ()
    own_planners: tuple[str, ...] = ()
    set_up: SetUp = SetUp()  # noqa: RUF009 - a named tuple
    arena_parts: tuple[tuple[int, ObjectPart], ...] = ()
    is_link_time_optimised: bool = False
    regions: tuple[Region, ...] = ()
    dated_texts: tuple[DatedText, ...] = ()
    kernel_files: frozenset[str] = frozenset()
    absent_checks: tuple[AbsentCheck, ...] = ()
    bank_plans: tuple[GivenBanks, ...] = ()

    @property
    def tells_operators(self) -> bool:
        """Whether it is known which operators are registered."""
        return self.has_all_operators or (self.operators is not None and not self.is_link_time_optimised)

    def copies_of(self, model: Model) -> list[EmbeddedModel]:
        """Return the models inside that are this one, byte for byte."""
        size = len(model.source)
        return [one for one in self.models if size and one.model.source[:size] == model.source]


def read_firmware(path: str | os.PathLike[str], *, arena_symbol: str | None = None, ram: int | None = None) -> Firmware:
    """Read a firmware's file.

    Args:
        path: An ELF file, or what is flashed (.bin, .hex, .uf2), which says less.
        arena_symbol: The name of the arena, where its own does not say that it is one.
        ram: Bytes of the RAM region that holds most, where no symbol says them.

    Raises:
        FirmwareError: The file cannot be read, or contradicts itself.
    """
    return examine(load_image(path), arena_symbol=arena_symbol, ram=ram)


def examine(image: Image, *, arena_symbol: str | None = None, ram: int | None = None) -> Firmware:
    """Return what an image says; see :func:`read_firmware`.

    Raises:
        FirmwareError: The file contradicts itself.
    """
    try:
        return _examine(image, arena_symbol, ram)
    except FirmwareError as problem:
        problem.path = problem.path or image.path
        raise


def _examine(image: Image, arena_symbol: str | None, ram: int | None) -> Firmware:
    elf = image.elf
    models = find_models(image.pieces)
    parts = _without_models(image, models)
    files = kernel_files(parts)
    plain = Firmware(
        image,
        models,
        prints_messages=_contain(parts, *_MESSAGES),
        has_compression=_contain(parts, _COMPRESSION),
        interpreters=("recording", "plain") if _contain(parts, _RECORDING) else (),
        dated_texts=find_dated_texts(parts, elf.symbols if elf else (), files),
        kernel_files=files,
        absent_checks=find_absent_checks(parts, files),
        bank_plans=bank_plans(image),
    )
    if elf is None:
        return plain
    symbols = elf.symbols
    known = processor(elf)
    int64_alignment = known.abi.int64_alignment if known.abi else 8
    graph = CallGraph(elf)
    units = units_of(elf)
    debug = debug_facts(units, declarations(Runtime()), int64_alignment=int64_alignment)
    reader = code_reader(graph)
    set_up = read_set_up(graph, reader)
    is_link_time_optimised = _is_link_time_optimised(debug, symbols)
    tells_names = bool(symbols) and not is_link_time_optimised
    return replace(
        plain,
        models=_named(models, symbols),
        arenas=arenas(elf, arena_symbol),
        arena_pointers=arena_pointers(elf),
        processor=known,
        debug=debug,
        symbol_count=len(symbols),
        operators=registered_operators(graph),
        has_all_operators=links_all_operators(graph),
        kernel_functions=tuple((library, tuple(names)) for library, names in kernel_functions(graph).items()),
        keeps_kernel_sums=keeps_kernel_sums(graph),
        reference_kernel=reference_kernel(symbols),
        interpreters=interpreters(symbols) or plain.interpreters,
        has_resource_variables=resource_variables_linked(symbols) or (False if tells_names else None),
        resolver_sizes=resolver_sizes(symbol.name for symbol in symbols),
        only_takes_allocators=only_takes_allocators(symbols),
        own_kernels=own_kernels(symbols),
        kernel_requests=kernel_requests(graph, reader),
        own_resolvers=own_classes(symbols, tflm_names.FIND_OPERATOR),
        own_planners=own_classes(symbols, tflm_names.PLANNER_OFFSET),
        set_up=set_up,
        arena_parts=tuple(_arena_parts(elf, units, set_up)),
        is_link_time_optimised=is_link_time_optimised,
        regions=regions(elf, ram=ram),
    )


def _address(model: EmbeddedModel) -> int:
    return model.address


def _contain(parts: Iterable[bytes], *texts: bytes) -> bool:
    return any(text in part for part in parts for text in texts)


def _without_models(image: Image, models: Iterable[EmbeddedModel]) -> list[bytes]:
    """Return the image without the models, whose bytes could look like messages."""
    ordered = sorted(models, key=_address)
    parts = []
    for piece in image.pieces:
        at = 0
        first = bisect_left(ordered, piece.address, key=_address)
        last = bisect_left(ordered, piece.address + len(piece.data), key=_address)
        inside = (model for model in ordered[first:last] if model.piece == piece.name)
        starts = ((model.address - piece.address, model.extent) for model in inside)
        for start, size in sorted(starts):
            parts.append(bytes(piece.data[at:start]))
            at = start + size
        parts.append(bytes(piece.data[at:]))
    return parts


def _named(models: Iterable[EmbeddedModel], symbols: Iterable[Symbol]) -> tuple[EmbeddedModel, ...]:
    """Return the models with the names of the objects that they lie in; an object's size is the model's extent."""
    index, named = AddressIndex((one.value, one.size, one.name) for one in symbols if one.size), []
    for model in models:
        row = index.at(model.address)
        if row is not None:
            start, size, name = row
            extent = max(model.extent, size) if start == model.address else model.extent
            model = replace(model, symbol=plain_name(name), extent=extent)
        named.append(model)
    return tuple(named)


def _arena_parts(elf: Elf, units: Units, set_up: SetUp) -> Iterator[tuple[int, ObjectPart]]:
    """Yield the member that holds each arena, where debug information describes the arena's object."""
    objects = AddressIndex((one.value, one.size, one.name) for one in elf.symbols if one.size and one.type in DATA)
    for arena in sorted({call.arena for call in set_up.interpreters if call.arena is not None}):
        if found := objects.at(arena):
            start, size, _ = found
            yield arena, part_of(units, start, size, arena - start)


def _is_link_time_optimised(debug: DebugFacts | None, symbols: Iterable[Symbol]) -> bool:
    options = any(_LINK_TIME in producer for producer in (debug.producers if debug else ()))
    return options or made_local(symbols)
