"""Does a program store into an arena whose interpreter it still uses?

    MicroInterpreter it(model, resolver, arena, 8000);   made
    it.AllocateTensors();                                used
    memset(arena, 0, sizeof arena);                      spoiled
    it.Invoke();                                         used: found

Every path through the program's functions is followed in the order of its calls, with whether the arena's interpreter
is made, and what stored into the arena since. What nothing calls is taken to begin before or after all others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from typing import NamedTuple

from tflm_sim.extensions.firmware.reading import tflm_names
from tflm_sim.extensions.firmware.reading.call_graph import CallGraph, Function
from tflm_sim.extensions.firmware.reading.code_values import CallSite, CodeFacts, Value, substituted
from tflm_sim.extensions.firmware.reading.symbol_names import function_name

_MAX_DEPTH = 4
"""How many calls down an arena's address is followed."""
_IN_REGISTERS = 4
"""The first arguments of a call, which are followed: those on the stack may be what other calls left there."""


class ArenaStore(NamedTuple):
    """What stores into an arena in use.

    Attributes:
        arena: The arena's address.
        function: The function that does it.
        through: What it passes an address in the arena to; "" where it stores itself.
    """

    arena: int
    function: str
    through: str


_UNMADE, _MADE = "unmade", "made"
_State = str | ArenaStore
"""Of an arena's interpreter: not made yet, made, or what stored into its arena since."""


class ArenaStores:
    """Follows one arena through a program.

    Args:
        graph: The program's functions.
        facts: What the code of a function does.
        arena: Its first address, and the one behind it.
        makers: Addresses of the calls that make its interpreter.
        uses: Functions of TFLM that use it.
        named: The functions outside of TFLM that may have an address in the arena among their constants.
    """

    def __init__(
        self,
        graph: CallGraph,
        facts: Callable[[Function], CodeFacts],
        arena: range,
        makers: Set[int],
        uses: frozenset[int],
        named: Set[Function],
    ) -> None:
        self._graph, self._facts, self._arena, self._makers, self._uses = graph, facts, arena, makers, uses
        making = (graph.function_at(site) for site in makers)
        self._making = graph.leading_to(frozenset(one.start for one in making if one), frozenset())
        self._stores = {one.start: found for one in named if (found := dict(self._stores_of(one, {}, _MAX_DEPTH)))}
        self._relevant = graph.leading_to(self._making | uses | self._stores.keys(), frozenset()) - uses
        self._after: dict[tuple[int, _State], frozenset[_State]] = {}
        self._found: set[ArenaStore] = set()

    def found(self) -> Set[ArenaStore]:
        """Return what stores into the arena between two uses of its interpreter, or one and what made it."""
        if not self._stores:
            return set()
        roots = [start for start in sorted(self._relevant) if not self._graph.calling_functions(start)]
        left = {root: self._run(root, _UNMADE) for root in roots}
        for root in roots:
            for state in {state for other in roots if other != root for state in left[other]} - {_UNMADE}:
                self._run(root, state)
        reached = {start for start, _ in self._after}
        for start in sorted(self._relevant - reached):
            self._run(start, _UNMADE)
        return self._found

    def _run(self, start: int, state: _State) -> frozenset[_State]:
        """Return the states in which a function may return that is called in ``state``."""
        key = start, state
        if key not in self._after:
            self._after[key] = frozenset((state,))  # What a call of itself does.
            self._after[key] = frozenset(self._ends(self._graph.functions[start], state))
        return self._after[key]

    def _ends(self, function: Function, state: _State) -> Iterator[_State]:
        facts = self._facts(function)
        calls = {call.site: call for call in facts.calls}
        stores = self._stores.get(function.start, {})
        work, seen = [(function.start, state)], set()
        while work:
            here = at, state = work.pop()
            if here in seen:
                continue
            seen.add(here)
            following = facts.following.get(at, ())
            for after in self._behind(at, state, calls.get(at), stores):
                work += ((to, after) for to in following if to in facts.following)
                if not following or any(to not in facts.following for to in following):
                    yield after

    def _behind(
        self, at: int, state: _State, call: CallSite | None, stores: Mapping[int, ArenaStore]
    ) -> frozenset[_State]:
        if at in stores and state == _MADE:
            state = stores[at]
        if at in self._makers:
            return frozenset((_MADE,))
        target = None if call is None else call.target
        if target in self._uses and isinstance(state, ArenaStore):
            self._found.add(state)
        return self._run(target, state) if target in self._relevant else frozenset((state,))

    def _stores_of(
        self, function: Function, given: Mapping[int, Value | None], depth: int
    ) -> Iterator[tuple[int, ArenaStore]]:
        """Yield the instructions of a function that store into the arena, or call what does."""
        name = function_name(function.names[0]) if function.names else f"{function.start:#x}"
        facts = self._facts(function)
        for at, place in facts.stores.items():
            if self._is_inside(substituted(place, given)):
                yield at, ArenaStore(self._arena.start, name, "")
        for call in facts.calls:
            arguments = [substituted(value, given) for value in call.arguments[:_IN_REGISTERS]]
            if call.site in self._makers or call.target in self._making or not any(map(self._is_inside, arguments)):
                continue
            target = None if call.target is None else self._graph.functions.get(call.target)
            if target is None or not any(map(tflm_names.is_of_tflm, target.names)):
                through = function_name(target.names[0]) if target is not None and target.names else "a function"
                if target is None or self._does_store(target, arguments, depth):
                    yield call.site, ArenaStore(self._arena.start, name, through)

    def _does_store(self, function: Function, arguments: list[Value | None], depth: int) -> bool:
        read = self._facts(function).following
        return not depth or not read or any(self._stores_of(function, dict(enumerate(arguments)), depth - 1))

    def _is_inside(self, value: Value | None) -> bool:
        return value is not None and not value.base and value.offset in self._arena
