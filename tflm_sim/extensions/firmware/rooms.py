"""Which arena a model of a firmware gets: from the call in its code that says so, or by an array's name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.placement import ArenaPlace, place_arena
from tflm_sim.extensions.firmware.reading.bank_plans import GivenBanks
from tflm_sim.extensions.firmware.reading.embedded_models import EmbeddedModel
from tflm_sim.extensions.firmware.reading.firmware import Firmware
from tflm_sim.extensions.firmware.reading.memory import Region
from tflm_sim.extensions.firmware.reading.set_up import InterpreterCall
from tflm_sim.extensions.firmware.reading.symbol_names import ArenaSymbol
from tflm_sim.model.types import Model
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT

_HEAP_ADDRESSES = (0, 4, 8, 12)
"""Where an arena from a heap or on a stack may start, modulo 16."""
_UNREAD = "the arena that it is given"
"""What an arena is called of which the code does not say where it lies."""


@dataclass(frozen=True, slots=True)
class ArenaRoom:
    """An arena in which a model may work.

    Attributes:
        name: The symbol, or what the user called it.
        size: Bytes; of two, of the one for what stays. None where only the need is asked for.
        address: Where it lies; None where that is not known.
        free: Bytes of the same region of RAM that nothing takes; None where that is not known.
        addresses: Where it may start, modulo 16.
        is_assumed: Whether nothing but its name says that it is an arena.
        call: The call in the code that makes its interpreter; None where none was read.
        shared_with: The other models whose interpreters were, or may have been, given the same allocator.
        may_be_alone: Whether no other model need be on its allocator.
        rest_size: Bytes of the arena for the rest, where there are two and both sizes are known.
        fault: Whose bytes TFLM would write to, so that no model works in it; "" for nobody's.
        doubts: What is taken for granted about where it lies: sentences that follow "if".
        banks: The banks that it is, where a plan of banks.h says what lies in which; they have sizes of their own.
    """

    name: str
    size: int | None
    address: int | None = None
    free: int | None = None
    addresses: tuple[int, ...] = (0,)
    is_assumed: bool = False
    call: InterpreterCall | None = None
    shared_with: tuple[Model, ...] = field(default=(), compare=False)
    may_be_alone: bool = True
    rest_size: int | None = None
    fault: str = ""
    doubts: tuple[str, ...] = ()
    banks: GivenBanks | None = None

    @property
    def whole(self) -> int | None:
        """Bytes of all of its memory; None where they are not known."""
        return None if self.size is None else self.size + (self.rest_size or 0)

    def allows(self, interpreter: str) -> bool:
        """Whether the call makes an interpreter of that kind, as far as it was read."""
        return self.call is None or self.call.is_recording == (interpreter == "recording")


@dataclass(frozen=True, slots=True)
class Subject:
    """A model to judge.

    Attributes:
        name: The symbol in the firmware, or its file.
        size: Its bytes.
        place: Where it lies, in words.
        model: The model.
        rooms: The arenas that it may get; () where none is known.
        others: Models that may share its allocator, where the code does not say.
        address: Where it lies in the firmware; None for one that is to replace one there.
    """

    name: str
    size: int
    place: str
    model: Model
    rooms: tuple[ArenaRoom, ...] = ()
    others: tuple[Model, ...] = ()
    address: int | None = None


def model_name(model: EmbeddedModel) -> str:
    """Return the name of a model in a firmware: its symbol, or its address."""
    return model.symbol or f"at {model.address:#x}"


def embedded_subject(firmware: Firmware, model: EmbeddedModel, rooms: tuple[ArenaRoom, ...]) -> Subject:
    """Return a model of a firmware, to be judged in the arenas that it may get."""
    place = f"at {model.address:#x}" + (f" in {model.piece}" if model.piece else "")
    others = (each.model for each in firmware.models if each is not model and firmware.only_takes_allocators)
    return Subject(model_name(model), model.extent, place, model.model, rooms, tuple(others), model.address)


def rooms_for(
    firmware: Firmware, model: EmbeddedModel | None, *, is_named: bool, into: int = 0
) -> tuple[ArenaRoom, ...]:
    """Return the arenas that a model of the firmware may get; one of unknown size where nothing says which.

    Args:
        firmware: What its file says.
        model: The model; None for one that is to replace one.
        is_named: Whether the user named the arena, so that it is no assumption.
        into: The number of the interpreter that gets a model that is to replace one, from 1 on, in the order of the
            calls in the code; 0 for any.

    Raises:
        FirmwareError: There is no such interpreter, or it is not read which there are.
    """
    calls = None if is_named else firmware.set_up.arenas
    if into:
        return (_of_call(firmware, _numbered(firmware, calls, into), calls or (), None),)
    if calls is None and (firmware.arenas or is_named):
        return tuple(_by_name(firmware, arena, is_assumed=not is_named) for arena in firmware.arenas)
    calls = firmware.set_up.interpreters if calls is None else calls
    own = [call for call in calls if model is None or call.model is None or _contains(model, call.model)]
    rooms = tuple(dict.fromkeys(_of_call(firmware, call, calls, model) for call in own or calls))
    return rooms or (ArenaRoom(_UNREAD, None),)


def used_models(firmware: Firmware) -> tuple[EmbeddedModel, ...]:
    """Return the models that an interpreter is given, or may be; all of them where it is not read which.

    Without --gc-sections the linker keeps models that nobody uses.
    """
    given = [call.model for call in firmware.set_up.interpreters]
    used = [row for row in firmware.models if any(at is not None and _contains(row, at) for at in given)]
    return tuple(used) if used and None not in given else firmware.models


def rooms_of(
    firmware: Firmware,
    *,
    limit: int | None,
    model: EmbeddedModel | None = None,
    address: int | None = None,
    into: int = 0,
) -> tuple[ArenaRoom, ...]:
    """Return the arenas of the program with another size: what its code says of them is true of that one too.

    Args:
        firmware: What its file says.
        limit: Bytes, of both where there are two; None where only the need is asked for.
        model: The model of the firmware that gets it; None for one that is to replace one.
        address: Where it starts, modulo 16; None for where the program's own does.
        into: As for :func:`rooms_for`.

    Raises:
        FirmwareError: As :func:`rooms_for`.
    """
    calls = firmware.set_up.interpreters
    own = (
        [_numbered(firmware, calls, into)]
        if into
        else [call for call in calls if model is None or call.model is None or _contains(model, call.model)] or calls
    )
    found = [_of_call(firmware, call, calls, model) for call in own]
    found = found or [_by_name(firmware, arena, is_assumed=False) for arena in firmware.arenas]
    found = found or [ArenaRoom("an arena", limit)]
    # Whose bytes it would write to is known of the size that the program passes alone.
    sized = (
        room if room.whole == limit else replace(room, size=limit, rest_size=None, fault="", doubts=())
        for room in found
    )
    return tuple(dict.fromkeys(room if address is None else replace(room, addresses=(address,)) for room in sized))


def bank_rooms(firmware: Firmware, rooms: Iterable[ArenaRoom]) -> tuple[ArenaRoom, ...]:
    """Return a model's banks where a plan of banks.h may be the one for it; () where it has an arena that was read.

    Args:
        firmware: What its file says.
        rooms: The arenas that it may get.
    """
    made = firmware.set_up.interpreters
    # Of arrays that look like arenas, no call is known, though there may be one alone.
    calls = list(dict.fromkeys(room.call or (made[0] if len(made) == 1 else None) for room in rooms))
    if any(call is not None and not may_be_in_banks(firmware, call) for call in calls):
        return ()
    plans = firmware.bank_plans
    return tuple(ArenaRoom("its banks", None, call=call, banks=given) for given in plans for call in calls or [None])


def may_be_in_banks(firmware: Firmware, call: InterpreterCall) -> bool:
    """Whether its allocator may be that of banks.h: the program has a plan, and the call shows no arena without it."""
    return bool(firmware.bank_plans) and (call.has_own_planner or not call.has_arena)


def has_arena_beside_banks(firmware: Firmware, rooms: Iterable[ArenaRoom]) -> bool:
    """Whether a model may have an arena that is none of the banks of a plan of banks.h."""
    given = [bank for plan in firmware.bank_plans for bank in plan.banks or ()]
    arenas = (arena.address for arena in firmware.arenas)
    others = [at for at in arenas if not any(start <= at < start + size for start, size in given)]
    return bool(others) or any(room.call is not None and room.call.has_arena for room in rooms)


def _numbered(firmware: Firmware, calls: Sequence[InterpreterCall] | None, number: int) -> InterpreterCall:
    if not calls:
        raise FirmwareError(
            "its code does not say which interpreters it has; executing it does", path=firmware.image.path
        )
    if number > len(calls):
        raise FirmwareError(f"there is no interpreter {number}: it has {len(calls)}", path=firmware.image.path)
    return calls[number - 1]


def _contains(model: EmbeddedModel, address: int) -> bool:
    return model.address <= address < model.address + model.extent


def _by_name(firmware: Firmware, arena: ArenaSymbol, *, is_assumed: bool) -> ArenaRoom:
    addresses = (arena.address % BUFFER_ALIGNMENT,)
    return ArenaRoom(
        arena.name, arena.size, arena.address, _free(firmware, arena.address), addresses, is_assumed=is_assumed
    )


def name_of(placed: ArenaPlace, address: int) -> str:
    """Return what to call an arena: its object, and how far behind its start."""
    name = placed.name or f"the bytes at {address:#x}"
    return f"{name} + {placed.behind:,}" if placed.behind else name


def _of_call(
    firmware: Firmware, call: InterpreterCall, calls: Sequence[InterpreterCall], model: EmbeddedModel | None
) -> ArenaRoom:
    sharers = [other for other in calls if call.allocator and other.allocator == call.allocator]
    # A model that replaces one stands in its place, not beside it: only the other interpreters' models are there too.
    beside = sharers if model is not None else [other for other in sharers if other is not call]
    shared = tuple(each.model for each in _models_on(beside, firmware.models) if each is not model)
    if model is not None:  # Another interpreter of the same model takes as much once more.
        again = [one for one in sharers if one is not call and one.model is not None and _contains(model, one.model)]
        shared += (model.model,) * len(again)
    alone = not shared or [other.model for other in sharers] == [None]
    is_anywhere = call.arena is None or call.is_on_heap
    room = ArenaRoom(
        "the heap" if call.is_on_heap else "the stack" if call.is_on_stack else _UNREAD,
        call.arena_size,
        addresses=_HEAP_ADDRESSES if is_anywhere and call.arena_size is not None and not call.is_aligned else (0,),
        call=call,
        shared_with=shared,
        may_be_alone=alone,
        rest_size=call.rest_size,
    )
    if call.arena is None or call.is_on_heap:
        return replace(room, fault=_heap_fault(call), doubts=tuple(_doubts_anywhere(call)))
    addresses = (call.arena % BUFFER_ALIGNMENT,)
    if call.arena_size is None:
        return replace(room, name=f"the bytes at {call.arena:#x}", address=call.arena, addresses=addresses)
    placed = place_arena(firmware, call, calls)
    return replace(
        room,
        name=name_of(placed, call.arena),
        address=call.arena,
        free=_free(firmware, call.arena),
        addresses=addresses,
        fault=placed.fault,
        doubts=placed.doubts,
    )


def _heap_fault(call: InterpreterCall) -> str:
    """Return that a program passes more than it takes from the heap; "" where it does not."""
    if call.arena_size is None or call.heap_size is None or call.arena_size <= call.heap_size or call.is_aligned:
        return ""
    return f"{call.arena_size:,} B are passed, and {call.heap_size:,} B are taken from the heap"


def _doubts_anywhere(call: InterpreterCall) -> Iterator[str]:
    """Yield what has to hold of memory that the code does not say."""
    if call.arena_size is None:
        return
    if call.is_on_heap:
        if call.is_aligned and call.heap_size is not None and call.heap_size < call.arena_size:
            taken = f"{call.heap_size:,} B are taken from there, behind a multiple of {BUFFER_ALIGNMENT}"
            yield f"the heap has the {call.arena_size:,} B that are passed ({taken})"
        return
    if call.is_on_stack:
        yield f"the stack has room for the {call.arena_size:,} B of the arena"
    else:
        yield f"the {call.arena_size:,} B that are passed are its own (where they lie is not read)"


def _models_on(calls: Sequence[InterpreterCall], models: Iterable[EmbeddedModel]) -> Iterator[EmbeddedModel]:
    """Yield the models that one of the calls is given, or may be as far as it was read."""
    for model in models:
        if any(call.model is None or _contains(model, call.model) for call in calls):
            yield model


def _free(firmware: Firmware, address: int) -> int | None:
    region = region_of(firmware, address)
    return region.free if region else None


def region_of(firmware: Firmware, address: int) -> Region | None:
    return next((region for region in firmware.regions if region.contains(address)), None)
