"""The doubts about a verdict on a model in a firmware: what it takes for granted.

A doubt is omitted if the answer is the same without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tflm_sim.checks.doubts import Doubt, listed
from tflm_sim.device.resources import resource_variable_names
from tflm_sim.extensions.firmware.cases import PLACES, FirmwareCase, sharers_of
from tflm_sim.extensions.firmware.placement import copy_of, stack_of
from tflm_sim.extensions.firmware.reading.firmware import Firmware
from tflm_sim.extensions.firmware.reading.grounds import Condition
from tflm_sim.extensions.firmware.reading.kernel_requests import known_requests
from tflm_sim.extensions.firmware.rooms import Subject
from tflm_sim.model.schema import builtin_operator_name
from tflm_sim.ops.resolver import used_operators
from tflm_sim.targets.target import Target

_MAX_VARIABLES = 4096
"""More resource variables than this no firmware makes room for."""
_MOST_STACK = 1716
"""Bytes of the stack that AllocateTensors() or Invoke() needs at most, of all programs of which it was measured.
Source: tests/golden/executed_runs.json."""
_LARGEST_NUMBER = 4
"""Bytes of the largest numbers of a model that kernels read in one load: biases and shapes."""
_ALONE = "nothing else takes memory of its allocator (another model, a second AllocateTensors(), the program itself)"
_OTHER_PLANNERS: tuple[dict[str, object], ...] = (
    {"planner": "linear"}, {"own_planner": True}, {"planner": "linear", "own_planner": True}
)  # fmt: skip
"""What MicroAllocator::Create can be told to have instead of the greedy planner that it makes."""


class Conditions:
    """The conditions on which a verdict depends, or the figures, where there is no verdict.

    Args:
        subject: The model that is judged.
        firmware: What the file says.
        cases: In which ways it can be.
        settled: Settings that the user named.
        fits: The verdict.
    """

    def __init__(
        self,
        subject: Subject,
        firmware: Firmware,
        cases: Sequence[FirmwareCase],
        settled: frozenset[str],
        fits: bool | None,
    ) -> None:
        self._subject = subject
        self._firmware = firmware
        self._settled = settled
        self._fits = fits
        self._rooms = list(dict.fromkeys(case.room for case in cases if case.room is not None))
        self._calls = [room.call for room in self._rooms]
        self._likely = [next(case for case in cases if case.room == room) for room in self._rooms] or list(cases[:1])

    def all(self, of_targets: Iterable[Condition]) -> Iterator[Doubt]:
        """Yield the doubts on which the answer hangs, those about the target last."""
        yield from map(Doubt, self._of_program())
        yield from (Doubt(condition.text) for condition in of_targets if self._matters(condition))

    def _of_program(self) -> Iterator[str]:
        yield from self._of_way()
        yield from self._of_arena()
        yield from self._of_planner()
        yield from self._of_variables()
        yield from self._of_allocator()
        yield from self._of_kernels()
        yield from self._of_stack()

    def _of_way(self) -> Iterator[str]:
        """Yield that the program comes to AllocateTensors(), where a loop before may keep it."""
        for wait in self._firmware.set_up.waits if self._fits is not False else ():
            why = f"by the device at {wait.address:#x}, it may stay in a loop before"
            if wait.name:
                why = f"it waits for {wait.name}, which nothing sets, before"
            yield f"{wait.function}() comes to AllocateTensors() ({why})"

    def _matters(self, condition: Condition) -> bool:
        """Whether some answer would be another one without the condition, or there is no telling."""
        others = [(_on(case, target), case) for case in self._likely for target in condition.otherwise]
        return not others or _differ(others)

    def _all_calls_say(self, what: str) -> bool:
        """Whether each interpreter is made by a call that was read, which says ``what``."""
        return bool(self._calls) and all(call and getattr(call, what) is not None for call in self._calls)

    def _of_arena(self) -> Iterator[str]:
        if any(room.is_assumed for room in self._rooms):
            yield self._which_arena()
        yield from self._of_model_place()
        if any(room.banks for room in self._rooms):
            return
        if self._fits is not False:
            yield from dict.fromkeys(doubt for room in self._rooms for doubt in room.doubts)
        if not self._firmware.symbol_count and not any(self._calls):
            yield "it has one arena"
        has_unknown_address = any(room.address is None and room.addresses == (0,) for room in self._rooms)
        if (not self._rooms or has_unknown_address) and _differ(
            (case.at(arena_address=12), case) for case in self._likely
        ):
            yield "its arena is aligned to 16 bytes"

    def _of_model_place(self) -> Iterator[str]:
        """Yield that the processor reads numbers where the model has them, if the model is not aligned to them."""
        copies = (call.model_copy for call in self._calls if call is not None)
        places = [self._subject.address, *copies]
        for place in dict.fromkeys(one for one in places if one is not None and one % _LARGEST_NUMBER):
            if self._fits is not False:
                odd = f"addresses that are {place % _LARGEST_NUMBER} modulo {_LARGEST_NUMBER}"
                yield f"the processor loads words, pairs of words too, from {odd} (its model lies at {place:#x})"
        is_unread = any(call and call.model is None and call.model_copy is None for call in self._calls)
        if self._fits is not False and is_unread:
            rooms = {room.address for room in self._rooms}
            name = copy_of(self._firmware, self._subject.size, rooms)
            if name:
                yield f"it uses the model where the file has it, or an aligned copy ({name} has room for one)"

    def _which_arena(self) -> str:
        whole = "all of " if any(one.arena_size is None for one in self._firmware.set_up.interpreters) else ""
        names = " or ".join(dict.fromkeys(f"{whole}{room.name}" for room in self._rooms))
        return f"{names} is its arena" if len(self._rooms) == 1 else f"its arena is {names}"

    def _of_planner(self) -> Iterator[str]:
        if "planner" in self._settled or any(room.banks for room in self._rooms):
            return
        if any(call and call.has_own_planner and call.preserves_all_tensors is None for call in self._calls):
            own = self._firmware.own_planners
            if own:
                least = "no less" if self._fits is False else "no more"
                yield f"its own planner ({', '.join(own)}) plans {least} than TFLM's linear one, which shares nothing"
            else:
                yield "the planner that it makes is TFLM's greedy or linear one"
        elif not self._all_calls_say("preserves_all_tensors") and self._depends_on_planner():
            yield "it has TFLM's default planner (preserve_all_tensors is not set, and it makes none itself)"

    def _depends_on_planner(self) -> bool:
        plain = [case for case in self._likely if case.configuration.interpreter == "plain"]
        is_open = bool(plain) and self._fits is not False and self._hides_set_up
        pairs = ((case, other) for case in plain for other in _OTHER_PLANNERS)
        # Where there are two arenas, MicroAllocator::Create takes no planner of the program's own.
        possible = (pair for pair in pairs if not (pair[0].configuration.split_arenas and "own_planner" in pair[1]))
        return is_open or _differ((case.at(**other), case) for case, other in possible)

    @property
    def _hides_set_up(self) -> bool:
        """Whether no call was read, and names do not say either that each interpreter makes an allocator of its own."""
        firmware = self._firmware
        hides = firmware.only_takes_allocators or not firmware.symbol_count or firmware.is_link_time_optimised
        return hides and not any(self._calls)

    def _of_allocator(self) -> Iterator[str]:
        if self._fits is False:  # Who else takes memory only makes it less.
            return
        if any(len(sharers_of(self._subject, room)) >= len(PLACES) for room in self._rooms or (None,)):
            yield "no other model shares its allocator"
        if self._hides_set_up:
            yield _ALONE
        if any(call is not None and call.allocator and call.own_requests is None for call in self._calls):
            yield "the program takes nothing from its allocator itself"
        yield from self._of_repeats()

    def _of_repeats(self) -> Iterator[str]:
        """Yield that nothing is allocated again, which takes more of the arena each time."""
        set_up, more = self._firmware.set_up, self._each_time()
        if set_up.allocates_again:
            yield "AllocateTensors() is called once (the program has more calls of it than interpreters)"
        if set_up.allocates_in_loop and self._fits is not False:
            yield f"AllocateTensors() is called once (it is called in a loop{more})"
        if set_up.makes_in_loop and self._fits is not False:
            yield f"an interpreter is made once (it is made in a loop, on the same allocator{more})"

    def _each_time(self) -> str:
        """Return how many bytes more each time takes, and how often there is room; "" where the cases differ."""
        found = set()
        for case in self._likely:
            once, twice = (replace(case, models=case.models * times).need() for times in (1, 2))
            if once is not None and twice is not None:
                more, whole = twice - once, None if case.room is None else case.room.whole
                is_counted = whole is not None and more > 0 and not case.configuration.split_arenas
                found.add((more, (whole - once) // more + 1 if is_counted and whole is not None else None))
        if len(found) != 1:
            return ""
        ((more, times),) = found
        return f": each time after the first takes {more:,} B more" + (f", and {times} have room" if times else "")

    def _of_kernels(self) -> Iterator[str]:
        firmware = self._firmware
        described = sorted({row.op for case in self._likely for row in case.configuration.custom_ops})
        asks = "no memory that TFLM's kernels do not ask for"
        if described:
            asks = f"what the description of {listed(described)} says (`custom_ops=`)"
        for name in firmware.own_kernels:
            yield f"{name}(), which is not TFLM's, asks for {asks}, and stores nothing outside of its own"
        if self._fits is False:
            return
        yield from self._of_requests()
        for name in firmware.own_resolvers:
            yield f"{name}, a resolver of the program's own, finds its operators, with TFLM's kernels"
        if not firmware.tells_operators:
            why = "link-time optimisation" if firmware.is_link_time_optimised else "no symbols"
            yield f"its operators are registered, with TFLM's kernels (not judged: {why})"
        elif _has_several_resolvers(firmware):
            has = "may have" if any(call.resolver is None for call in firmware.set_up.interpreters) else "has"
            yield f"the resolver that it is given registers its operators (the program {has} several)"

    def _of_stack(self) -> Iterator[str]:
        """Yield that a stack of the program's own is large enough, where it is smaller than what TFLM may need."""
        for stack in self._firmware.set_up.stacks if self._fits is not False else ():
            name, size = stack_of(self._firmware, stack.top)
            if name and size < _MOST_STACK:
                room = f"the {size:,} B of {name}, which {stack.function}() makes its stack"
                yield f"{room}, are enough for AllocateTensors() and Invoke()"

    def _of_requests(self) -> Iterator[str]:
        """Yield that kernels which ask for memory at more places of their code than TFLM's need no more than those."""
        codes = used_operators(self._subject.model)
        used = {code.custom_code or builtin_operator_name(code.builtin_code) for code in codes}
        targets = {case.configuration.target for case in self._likely}
        for op, asked in self._firmware.kernel_requests:
            known = [known_requests(op, target.runtime, target.kernel_library.name) for target in targets]
            if op in used and not any(count is None or asked.is_within(count) for count in known):
                most = max(sum(count) for count in known if count)
                yield (
                    f"its kernel of {op}, which is not TFLM's (it asks for memory at {sum(asked)} places of its code, "
                    f"TFLM's at {most} at most), needs no more than that"
                )

    def _of_variables(self) -> Iterator[str]:
        """Yield for how many resource variables the verdict holds, where the program may make a table for them."""
        least = len(resource_variable_names(self._subject.model))
        if "resource_variables" in self._settled or self._all_calls_say("variables") or self._has_table(least):
            return
        if not least and self._fits is None:
            yield "it has no MicroResourceVariables"
        room = self._variables_with_room(least)
        if room:
            yield f"MicroResourceVariables::Create makes room for {room}"

    def _has_table(self, least: int) -> bool:
        """Whether the table for a model with ``least`` resource variables is known, or is none."""
        if least and self._firmware.set_up.table_length is not None:
            return True
        has = self._firmware.has_resource_variables
        return has is False or (not least and has is None and not self._firmware.is_link_time_optimised)

    def _variables_with_room(self, least: int) -> str:
        """Return for how many the verdict holds, "" where it does for any number."""
        if not self._fits:
            more = " or more" if self._fits is False else ""
            return f"{least}{more}" if least else ""
        most = _most_variables(least, self._likely)
        anywhere = f"{least} or more" if least else ""
        if most >= _MAX_VARIABLES:
            return anywhere
        span = str(least or "none") + (f" (up to {most} have room)" if most > least else "")
        is_here = all(call is not None and call.variable_arena == 0 for call in self._calls)
        return f"{span} in this arena" + (f", or for {anywhere} in another" if least and not is_here else "")


def _differ(pairs: Iterable[tuple[FirmwareCase, FirmwareCase]]) -> bool:
    """Whether the two cases of some pair have different answers."""
    return any(one.answer() != other.answer() for one, other in pairs)


def _has_several_resolvers(firmware: Firmware) -> bool:
    """Whether models may be given different resolvers, of which nothing tells which operators each registers."""
    if firmware.set_up.interpreters:
        return firmware.set_up.resolver_count > 1
    return len(firmware.resolver_sizes) > 1


def _on(case: FirmwareCase, target: Target) -> FirmwareCase:
    own = case.configuration.target
    moved = replace(target, arena_address=own.arena_address, ethos_u=own.ethos_u)
    # A recording one is what the call that was read makes.
    kind = target.interpreter if case.configuration.interpreter == "plain" else case.configuration.interpreter
    return replace(case, configuration=replace(case.configuration, target=moved, interpreter=kind))


def _most_variables(least: int, cases: Sequence[FirmwareCase]) -> int:
    """Return the most resource variables with which every case fits; ``least`` where none does."""
    most, low, high = least, least, _MAX_VARIABLES
    while low <= high:
        middle = (low + high) // 2
        if all(case.at(resource_variables=middle).fits() is not False for case in cases):
            most, low = middle, middle + 1
        else:
            high = middle - 1
    return most
