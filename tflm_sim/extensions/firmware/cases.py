"""What a firmware can be according to its file: all combinations of target, arena, allocator, address, planner, table.

Each combination is a case: it has a configuration of TFLM, and words that distinguish it from the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations

from tflm_sim.answers.arena_needs import arena_needs
from tflm_sim.answers.planned_problem import planned_buffer
from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.device.cases import words_of
from tflm_sim.device.configuration import Configuration, configure
from tflm_sim.device.resources import resource_variable_names
from tflm_sim.extensions.firmware.reading.firmware import Firmware
from tflm_sim.extensions.firmware.reading.set_up import InterpreterCall
from tflm_sim.extensions.firmware.rooms import ArenaRoom, Subject
from tflm_sim.model.types import Model
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT

_ROOMY_TABLE = 1 << 20
"""Bytes of an arena in which any table of resource variables has room."""
PLACES = ("first", "second", "third")
"""Places in the order in which models are allocated. More models on one allocator than these are not tried."""


@dataclass(frozen=True, slots=True)
class FirmwareCase:
    """One way in which the firmware can be.

    Attributes:
        models: The subject, and the models that share its allocator, in order.
        configuration: How TFLM is set up.
        room: The arena.
        words: What is the case, by question.
    """

    models: tuple[Model, ...]
    configuration: Configuration
    room: ArenaRoom | None
    words: dict[str, str] = field(default_factory=dict)

    @property
    def call(self) -> InterpreterCall | None:
        """The call that makes its interpreter; None where none was read."""
        return None if self.room is None else self.room.call

    @property
    def is_in_banks(self) -> bool:
        """Whether a plan of banks.h says what lies in which bank."""
        return self.room is not None and self.room.banks is not None

    def at(self, **settings: object) -> FirmwareCase:
        """Return the case with other settings."""
        return replace(self, configuration=configure(self.configuration, **settings))  # type: ignore[arg-type]

    def roomy(self) -> Simulation:
        return simulate(self.models, self.configuration)

    def sized(self) -> Simulation | None:
        """Return the run in the arena; None where its size is not known, or only that of both together."""
        room = self.room
        if room is None or room.size is None or (self.configuration.split_arenas and room.rest_size is None):
            return None
        return simulate(self.models, self.configuration, arena_size=room.size, non_persistent_arena_size=room.rest_size)

    def asked(self) -> tuple[tuple[int, int, int], ...]:
        """Return what TFLM asks a planner for: bytes, first and last use of each buffer."""
        buffers = (planned_buffer(planned.info) for planned in self.roomy().buffers)
        return tuple((buffer.size, buffer.lower, buffer.upper - 1) for buffer in buffers)

    def bank_needs(self) -> tuple[int, ...] | None:
        """Return the bytes that each bank of its plan must have; None where the plan is another model's."""
        assert self.room is not None, "who asks has looked"
        assert self.room.banks is not None, "who asks has looked"
        table = self.room.banks.table
        if self.roomy().failure is not None or self.asked() != table.buffers:
            return None
        needs = arena_needs(self.roomy())
        return tuple(
            max(bank.needed, needs.of_bank(bank.planned, number, head=table.head, tail=table.tail)[1])
            for number, bank in enumerate(table.banks)
        )

    def need(self) -> int | None:
        """Return the bytes of the smallest arena, of all where there are several; None where no size is enough."""
        roomy = self.roomy()
        if roomy.invoke_problem is not None:
            return None
        if self.is_in_banks:
            needs = self.bank_needs()
            return None if needs is None else sum(needs)
        smallest = roomy.smallest or roomy.split
        return None if smallest is None else smallest.size

    def fits(self) -> bool | None:
        """Whether the model works; None where the arena is not known."""
        need = self.need()
        if need is None:
            return False
        if self.room is not None and self.room.banks is not None and (given := self.room.banks.banks) is not None:
            needs = self.bank_needs() or ()
            return all(
                size >= needed and not (needed and start % BUFFER_ALIGNMENT)
                for (start, size), needed in zip(given, needs, strict=True)
            )
        if self.room is None or self.room.whole is None:
            return None
        if self.room.fault:
            return False
        if self.configuration.split_arenas and (sized := self.sized()) is not None:
            return sized.fits
        return need <= self.room.whole

    def answer(self) -> object:
        """Return what a condition may change: whether the model works, or, without an arena, what it needs."""
        fits = self.fits()
        return self.need() if fits is None else fits


def possible_cases(
    subject: Subject, firmware: Firmware, configurations: Sequence[Configuration], settled: frozenset[str]
) -> list[FirmwareCase]:
    """Return every way in which the firmware can be, the likeliest first; none where too many models may share."""
    found: dict[object, FirmwareCase] = {}
    for begun in _before_calls(subject, configurations):
        for at in _at_addresses(begun):
            for case in _placed(at, subject.model, firmware, settled):
                found.setdefault((tuple(map(id, case.models)), case.configuration, case.room), case)
    return list(found.values())


def _before_calls(subject: Subject, configurations: Sequence[Configuration]) -> Iterator[FirmwareCase]:
    """Yield each arena, order of models and target; what the calls in the code say is not in them yet."""
    for room in subject.rooms or (None,):
        arena = "" if room is None or room.size is None else f"in {room.name} of {room.whole:,} B"
        for order, shared in _orders(subject, room):
            for configuration in configurations:
                if room is None or room.allows(configuration.interpreter):
                    words = {**words_of(configuration), "arena": arena, "allocator": shared}
                    yield FirmwareCase(order, configuration, room, words)


def _orders(subject: Subject, room: ArenaRoom | None) -> Iterator[tuple[tuple[Model, ...], str]]:
    """Yield the models that share an allocator, in every order in which they may be allocated."""
    others = sharers_of(subject, room)
    if not others or room is None or room.may_be_alone:
        yield (subject.model,), "an allocator for this model alone"
    if not others or len(others) >= len(PLACES):
        return
    models = (subject.model, *others)
    for order in permutations(range(len(models))):
        place = f"the models share an allocator, this one the {PLACES[order.index(0)]}"
        yield tuple(models[index] for index in order), place


def sharers_of(subject: Subject, room: ArenaRoom | None) -> tuple[Model, ...]:
    """Return the other models that are, or may be, on the same allocator."""
    return subject.others if room is None or room.call is None else room.shared_with


def _at_addresses(case: FirmwareCase) -> Iterator[FirmwareCase]:
    """Yield the case at each address modulo 16 that its arena may have."""
    if case.room is None:
        yield case
        return
    for address in case.room.addresses:
        words = case.words if len(case.room.addresses) == 1 else {**case.words, "address": f"at {address} modulo 16"}
        yield replace(case.at(arena_address=address), words=words)


def _placed(case: FirmwareCase, model: Model, firmware: Firmware, settled: frozenset[str]) -> Iterator[FirmwareCase]:
    """Yield the case with what the call in the code says of planner and resource variables, and what it leaves open."""
    own: dict[str, object] = {}
    if case.call is not None:
        own = {
            "own_planner": case.call.has_own_planner,
            "has_own_arena_allocator": case.call.has_own_arena_allocator,
            "own_requests": case.call.own_requests or (),
            "split_arenas": case.call.has_two_arenas or case.configuration.split_arenas,
        }
    if case.is_in_banks:
        own |= {"own_planner": True, "has_own_arena_allocator": False, "split_arenas": False}
    is_placed = "resource_variables" in settled or case.configuration.variable_arena is not None
    planners = [case.configuration.planner] if "planner" in settled else _planners(case, firmware)
    for settings, where in [({}, "")] if is_placed else _tables(case.call, model, firmware):
        for planner in planners:
            placed = case.at(**settings, **own, planner=planner)
            yield replace(placed, words={**case.words, "planner": f"a {planner} planner", "table": where})


def _planners(case: FirmwareCase, firmware: Firmware) -> list[str]:
    """Return the planners that the call leaves possible; for one of the program's own TFLM's that shares nothing."""
    if case.call is None or case.call.is_recording:
        return [case.configuration.planner]
    if case.call.has_own_planner and case.call.preserves_all_tensors is None:
        return ["linear"] if firmware.own_planners else ["greedy", "linear"]
    return ["linear" if case.call.preserves_all_tensors else "greedy"]


def _tables(call: InterpreterCall | None, model: Model, firmware: Firmware) -> Iterator[tuple[dict[str, object], str]]:
    """Yield the settings for each table of resource variables that there may be, and where it is."""
    if call is not None and call.variables is not None:
        settings: dict[str, object] = {"resource_variables": call.variables}
        if call.variables and call.variable_arena:
            settings["variable_arena"] = call.variable_arena
        yield settings, ""
    else:
        has_table = firmware.has_resource_variables is not False and bool(resource_variable_names(model))
        length = firmware.set_up.table_length if has_table else None
        made: dict[str, object] = {} if length is None else {"resource_variables": length}
        yield made, "the table for its resource variables in this arena"
        # A call whose table is on its own allocator says where it is, though not how long.
        if has_table and (call is None or call.variable_arena != 0):
            elsewhere = {**made, "variable_arena": _ROOMY_TABLE}
            yield elsewhere, "the table for its resource variables in another arena"
