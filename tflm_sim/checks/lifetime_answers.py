"""Answers about lifetimes: where a tensor lives and when, who shares its bytes, and what keeping it costs.

scope        0      1        2        3         (one per operator; 0 is the start)
input        ####################              alive 0..1
conv out            ##################         alive 1..2, at the same bytes as ...
output                       ##########        ... nobody
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Unpack

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.device.configuration import Settings, Where, configure
from tflm_sim.device.model_allocation import ModelAllocation
from tflm_sim.errors import UsageError, expect
from tflm_sim.escape import html_table
from tflm_sim.graph.lifetimes import UNINITIALIZED_LIFETIME, AllocationInfo
from tflm_sim.invocation.findings import BufferId
from tflm_sim.model.load import ModelLike, load
from tflm_sim.model.types import Model
from tflm_sim.names import meant
from tflm_sim.numbers import as_whole

HEAD, TAIL, FLASH, NOWHERE = "head", "tail", "flash", "nowhere"
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class BufferLife:
    """Where and when a buffer lives.

    Attributes:
        buffer: Which one.
        name: The tensor's name, or what the scratch buffer is for; from the file, so escape it where it is shown.
        home: "head" (planned), "tail" (a variable), "flash" (constant), or "nowhere" (no bytes).
        size: Bytes.
        offset: Where it starts: in a roomy arena, for the tail; None in flash and nowhere.
        first: The first scope in which it is alive, -1 when no operator that runs names it.
        last: The last one, inclusive; of a variable the last scope of all.
    """

    buffer: BufferId
    name: str
    home: str
    size: int
    offset: int | None
    first: int
    last: int

    @property
    def is_persistent(self) -> bool:
        """Whether its content survives from one Invoke() to the next."""
        return self.home in (TAIL, FLASH)


@dataclass(frozen=True, slots=True)
class Sharing:
    """Another buffer at some of the same bytes: [start, end) of the head."""

    other: BufferLife
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Preservation:
    """What keeping tensors to the end of Invoke() costs, in bytes of the smallest arena (a multiple of 16)."""

    before: int
    after: int
    head_before: int
    head_after: int

    @property
    def cost(self) -> int:
        """Bytes that the arena must grow by."""
        return self.after - self.before


class Lifetimes:
    """The buffers of one model that was simulated, to be asked about.

    Args:
        simulation: Of a model that works.

    Raises:
        SimulatedFailure: AllocateTensors() fails.
    """

    def __init__(self, simulation: Simulation) -> None:
        allocation = expect(simulation, Simulation, "a simulation").unwrap().allocation
        assert allocation is not None, "a model that works was allocated"
        self._simulation = simulation
        self._allocation: ModelAllocation = allocation
        self._labels = simulation.ledger.scratch_labels
        self.configuration = simulation.configuration
        self.model: Model = simulation.model
        self._by_id = {life.buffer: life for life in self._lives()}

    def __repr__(self) -> str:
        return f"<Lifetimes of {len(self.buffers):,} buffers over {self.scope_count:,} scopes>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Lifetimes, (self._simulation,)

    def _repr_html_(self) -> str:
        """For notebooks: the largest buffers of the head, and when they live."""
        lives = sorted((life for life in self.buffers if life.home == HEAD), key=lambda life: -life.size)
        rows = [
            (
                life.name or str(life.buffer),
                f"{life.size:,} B",
                f"{life.offset or 0:,}",
                self.scope_name(life.first),
                self.scope_name(life.last),
            )
            for life in lives[:_SHOWN]
        ]
        title = f"{len(lives):,} buffers in the head" + (f", the {_SHOWN} largest" if len(lives) > _SHOWN else "")
        return html_table(title, rows, head=("buffer", "size", "offset", "first used in", "last used in"))

    @property
    def buffers(self) -> tuple[BufferLife, ...]:
        """Every tensor, subgraph by subgraph, then every scratch buffer."""
        return tuple(self._by_id.values())

    @property
    def scope_count(self) -> int:
        return len(self._allocation.scopes)

    def _lives(self) -> Iterator[BufferLife]:
        for index, info in enumerate(self._allocation.infos):
            offset = self._allocation.offsets.get(index)
            if info.scratch >= 0:
                buffer, label = BufferId("scratch", info.subgraph, info.scratch), self._labels[info.scratch]
                yield BufferLife(buffer, label, HEAD, info.size, offset, info.first_created, info.last_used)
            else:
                yield self._tensor(info, offset)

    def _tensor(self, info: AllocationInfo, offset: int | None) -> BufferLife:
        buffer = BufferId("tensor", info.subgraph, info.tensor)
        tensor = self._allocation.subgraph_tensors[info.subgraph][info.tensor]
        name, first, last = tensor.tensor.name, info.first_created, info.last_used
        if offset is not None:
            return BufferLife(buffer, name, HEAD, info.size, offset, first, last)
        variable = self._allocation.variable_offsets.get((info.subgraph, info.tensor))
        if variable is not None:
            return BufferLife(buffer, name, TAIL, info.size, variable, 0, self.scope_count - 1)
        if tensor.data is not None:
            return BufferLife(buffer, name, FLASH, info.size, None, 0, self.scope_count - 1)
        return BufferLife(buffer, name, NOWHERE, info.size, None, first, last)

    # -- finding things ---------------------------------------------------------------------------------------------

    def find(self, what: str | int) -> BufferLife:
        """Return a tensor by name, by index in subgraph 0, as "SUBGRAPH:INDEX", or as "input", "output", "input:1".

        Raises:
            UsageError: There is none, or several have that name.
        """
        text = str(what)
        role, _, position = text.partition(":")
        place = _place(text)
        number = as_whole(position or "0")
        if role in ("input", "output") and number is not None:
            main = self.model.subgraphs[0]
            ends = main.input_tensors if role == "input" else main.output_tensors
            place = (0, ends[number]) if 0 <= number < len(ends) else place
        life = None if place is None else self._by_id.get(BufferId("tensor", *place))
        return life or self._named(text)

    def _named(self, name: str) -> BufferLife:
        tensors = [life for life in self.buffers if life.buffer.kind == "tensor"]
        found = [life for life in tensors if life.name == name]
        if len(found) == 1:
            return found[0]
        if found:
            places = ", ".join(f"{life.buffer.subgraph}:{life.buffer.index}" for life in found)
            raise UsageError(f"{len(found)} tensors are named '{name}'; say which: {places}")
        hint = meant(name, [life.name for life in tensors]) or f"there are 0 to {len(tensors) - 1}"
        raise UsageError(f"the model has no tensor '{name}'; {hint}")

    def scopes_of(self, op: str | int) -> list[int]:
        """Return the scopes in which an operator runs: an index in subgraph 0, "SUBGRAPH:INDEX", or a name.

        Raises:
            UsageError: No operator that runs is called that.
        """
        place = _place(str(op))
        wanted = {place} if place is not None else {
            (number, position)
            for number, names in enumerate(self._allocation.op_names)
            for position, name in enumerate(names)
            if name == op
        }  # fmt: skip
        found = [scope for scope, where in enumerate(self._allocation.scopes) if where in wanted]
        if not found:
            names = sorted({name for names in self._allocation.op_names for name in names})
            raise UsageError(f"no operator '{op}' runs in this model; there are {', '.join(names)}")
        return found

    def scope_name(self, scope: int) -> str:
        """Return what happens in a scope: "CONV_2D #0", "the inputs", "the start of subgraph 1"."""
        subgraph, operator = self._allocation.scopes[scope]
        where = f" of subgraph {subgraph}" if subgraph else ""
        if operator < 0:
            return "the inputs" if scope == 0 else f"the start of subgraph {subgraph}"
        return f"{self._allocation.op_names[subgraph][operator]} #{operator}{where}"

    # -- answers ----------------------------------------------------------------------------------------------------

    def is_alive(self, life: BufferLife, scope: int) -> bool:
        if life.home in (TAIL, FLASH):
            return True
        return life.first != UNINITIALIZED_LIFETIME and life.first <= scope <= life.last

    def sharing(self, life: BufferLife) -> tuple[Sharing, ...]:
        """Return who else uses bytes of a planned buffer, by when they begin; () for buffers outside of the head."""
        if life.home != HEAD or life.offset is None:
            return ()
        found = []
        for other in self.buffers:
            if other.home == HEAD and other.offset is not None and other.buffer != life.buffer:
                start, end = max(life.offset, other.offset), min(life.offset + life.size, other.offset + other.size)
                if start < end and other.first != UNINITIALIZED_LIFETIME:
                    found.append(Sharing(other, start, end))
        return tuple(sorted(found, key=lambda row: row.other.first))

    def overwritten_by(self, life: BufferLife) -> Sharing | None:
        """Return who first overwrites a buffer after its last use; None when it is still there after Invoke()."""
        return next((row for row in self.sharing(life) if row.other.first > life.last), None)


def _place(text: str) -> tuple[int, int] | None:
    """Return the (subgraph, index) that "5" or "1:5" names, None for other texts."""
    subgraph, _, index = text.rpartition(":") if ":" in text else ("0", "", text)
    first, second = as_whole(subgraph), as_whole(index)
    return None if first is None or second is None else (first, second)


def lifetimes(model: ModelLike, target: Where | None = None, **settings: Unpack[Settings]) -> Lifetimes:
    """Simulate a model in a roomy arena and return its lifetimes; arguments as for ``simulate``, but one model.

    Raises:
        SimulatedFailure: AllocateTensors() fails.
        UsageError, UnsupportedOpError: As :func:`~tflm_sim.answers.simulation.simulate`.
    """
    return Lifetimes(simulate(load(model), target, **settings))


def cost_of_preserving(
    model: Model, target: Where, tensors: Collection[tuple[int, int]] | None, **settings: Unpack[Settings]
) -> Preservation:
    """Return what it costs to keep tensors, (subgraph, tensor), to the end of Invoke().

    Args:
        model: The model.
        target: What it runs on, with one arena: a name, a target, or a configuration.
        tensors: Which; their lifetimes are drawn out to the last scope. None for all of them, as
            ``preserve_all_tensors`` does it: with the linear planner, which reuses nothing.
        settings: See :class:`~tflm_sim.device.configuration.Settings`.

    Raises:
        SimulatedFailure: AllocateTensors() fails.
        UsageError: Two arenas.
    """
    configuration = configure(target, **settings)
    if configuration.split_arenas:
        raise UsageError("the cost of keeping a tensor is computed for one arena only")
    if tensors is None:  # The recording interpreter has no linear planner.
        base = configure(configuration, interpreter="plain")
        changed = configure(base, planner="linear")
    else:
        base, changed = configuration, configure(configuration, preserved=tensors)
    before, after = simulate(model, base).unwrap(), simulate(model, changed).unwrap()
    return Preservation(_smallest(before), _smallest(after), before.head_bytes, after.head_bytes)


def _smallest(simulation: Simulation) -> int:
    smallest = simulation.smallest
    assert smallest is not None, "it works in one arena"
    return smallest.multiple_of_16
