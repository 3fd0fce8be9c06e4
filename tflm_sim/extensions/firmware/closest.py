"""The simulation that comes nearest to an executed program: its set-up, and the kernels that are taken as seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from tflm_sim.answers.simulation import simulate
from tflm_sim.device.configuration import Configuration, configure
from tflm_sim.errors import TflmSimError, UsageError
from tflm_sim.extensions.firmware.emulation.execution import ExecutedArena
from tflm_sim.extensions.firmware.execution import Agreement, agreement, possible_settings, requests
from tflm_sim.extensions.firmware.seen_kernels import asked_by_kernels, kernel_as_seen
from tflm_sim.model.schema import builtin_operator_name
from tflm_sim.model.types import Model
from tflm_sim.ops.op_model import OpModel
from tflm_sim.ops.registry import registrations
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT

_UNKNOWN = Agreement(0, "another request", "nothing")


@dataclass(frozen=True, slots=True)
class Closest:
    """The simulation that comes nearest.

    Attributes:
        agreement: How far it agrees, with all kernels of the library.
        configuration: Its configuration.
        address: Where the arena begins, modulo 16.
        seen: The operators whose kernels ask for something else, as the program was seen to run them.
        agrees: Whether it agrees to the last request with these.
    """

    agreement: Agreement
    configuration: Configuration
    address: int
    seen: tuple[OpModel, ...]
    agrees: bool

    @property
    def exact(self) -> Configuration:
        """The configuration with the kernels as seen, and the arena where it is."""
        own = {row.op for row in self.seen}
        kept = tuple(row for row in self.configuration.custom_ops if row.op not in own)
        target = replace(self.configuration.target, arena_address=self.address)
        return replace(self.configuration, target=target, custom_ops=(*kept, *self.seen))


def closest(
    arena: ExecutedArena, rest: ExecutedArena | None, model: Model, possible: Sequence[Configuration]
) -> Closest:
    """Return the simulation of a model that comes nearest to what was asked for in an arena.

    Args:
        arena: The arena.
        rest: The one for the rest, where the arena is only for what stays.
        model: The model.
        possible: The configurations that the program's file leaves possible, the likeliest first.
    """
    best = max((_judged(arena, rest, model, each) for each in possible), key=_rank)
    for each in _set_up_otherwise(arena, best.configuration):
        if best.agrees:
            break
        with suppress(UsageError):  # Not every TFLM has every setting.
            best = max(best, _judged(arena, rest, model, each), key=_rank)
    return best


def _rank(one: Closest) -> tuple[bool, int]:
    return one.agrees, one.agreement.compared


def _set_up_otherwise(arena: ExecutedArena, likeliest: Configuration) -> Iterator[Configuration]:
    """Yield the configuration with what a program may have set up that its file does not say."""
    for settings in possible_settings(arena, likeliest.target):
        with suppress(UsageError):
            yield configure(likeliest, **settings)


def _judged(arena: ExecutedArena, rest: ExecutedArena | None, model: Model, configuration: Configuration) -> Closest:
    """Compare with one configuration; take kernel after kernel as seen for as long as one is what differs."""
    configuration = replace(configuration, split_arenas=rest is not None)
    found = Closest(_UNKNOWN, configuration, arena.address % BUFFER_ALIGNMENT, (), agrees=False)
    first = _compared(arena, rest, model, found.exact)
    found = replace(found, agreement=first, agrees=first.agrees)
    asked, nodes = asked_by_kernels(requests(arena, rest)), _nodes(model)
    library = registrations(configuration.target, configuration.custom_ops)
    differing = [name for name in nodes if name not in library] or [first.op]
    seen: dict[str, OpModel] = {}
    while not found.agrees and all(name in nodes and name not in seen for name in differing):
        for name in differing:
            row = kernel_as_seen(name, nodes[name], asked, library.get(name))
            if row is None:
                return found
            seen[name] = row
        found = replace(found, seen=tuple(seen.values()))
        now = _compared(arena, rest, model, found.exact)
        found, differing = replace(found, agrees=now.agrees), [now.op]
    return found if found.agrees else replace(found, seen=())


def _nodes(model: Model) -> dict[str, list[tuple[int, int]]]:
    """Return the (subgraph, operator) of each operator's nodes, by its name."""
    found: dict[str, list[tuple[int, int]]] = {}
    for number, subgraph in enumerate(model.subgraphs):
        for index, operator in enumerate(subgraph.operators):
            if operator.opcode_index < len(model.operator_codes):
                code = model.operator_codes[operator.opcode_index]
                name = code.custom_code or builtin_operator_name(code.builtin_code)
                found.setdefault(name, []).append((number, index))
    return found


def _compared(
    arena: ExecutedArena, rest: ExecutedArena | None, model: Model, configuration: Configuration
) -> Agreement:
    other = None if rest is None else rest.size
    try:
        simulation = simulate(model, configuration, arena_size=arena.size, non_persistent_arena_size=other)
    except TflmSimError as problem:
        return replace(_UNKNOWN, meaning=str(problem))
    return agreement(requests(arena, rest), simulation)
