"""What an Invoke() loads from each buffer and from the tail, and stores there: bytes, as the target's kernels do it.

A kernel does not touch a tensor once: a convolution loads an input element for each filter that it is under, and a
multiplier for each output element. Which of that goes to slow RAM decides which plan is good, so it is counted operator
by operator, with a row for each kernel (``kernel_loads.py``). An operator without a row loads each byte of its inputs
once and stores each of its outputs once, and is named.

Not counted: constants (they lie in flash), the stack, TFLM's own structs (nodes, eval tensors, op data: a few hundred
bytes an operator), and what a cache would keep. ``touched`` beside it counts each buffer's bytes once for each operator
that reads or writes it, which is what a cache or a DMA moves at least.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tflm_sim.answers.simulation import Simulation
from tflm_sim.device.model_allocation import ModelAllocation
from tflm_sim.extensions.banks.kernel_loads import by_element, rows_of
from tflm_sim.extensions.banks.operation import TAIL, Moved, Operation
from tflm_sim.graph.lifetimes import CONTROL_FLOW, byte_length
from tflm_sim.model.schema import builtin_operator_code
from tflm_sim.model.types import Model, Operator
from tflm_sim.targets.target import Target

_ONCE, _WHILE = builtin_operator_code("CALL_ONCE"), builtin_operator_code("WHILE")
_CALLING = ("IF", "WHILE", "CALL_ONCE", "VAR_HANDLE")
"""Operators that move what :func:`_copied` says, or nothing."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What an Invoke() loads and stores.

    Attributes:
        buffers: Of each planned buffer, in the order of ``Simulation.buffers``.
        touched: The bytes of each buffer, once for each operator that reads or writes it, and for the application.
        tail: Of persistent memory: what kernels keep there, and variables.
        by_element: The operators without a row, each name once.
        kernels: Whose kernels were counted; "" where every operator is by element.
        has_loops: Whether a WHILE was counted as one pass, or an IF as both branches.
    """

    buffers: tuple[Moved, ...]
    touched: tuple[int, ...]
    tail: Moved
    by_element: tuple[str, ...]
    kernels: str
    has_loops: bool


def traffic(simulation: Simulation) -> Traffic:
    """Return what an Invoke() of a simulation of one model loads and stores.

    Raises:
        SimulatedFailure: The simulation failed.
    """
    allocation = simulation.unwrap().allocations[0]
    target = simulation.configuration.target
    library = target.kernel_library
    rows = rows_of(library)
    positions = _positions(allocation)
    moved = [Moved()] * len(positions)
    sizes, touched = [allocation.infos[index].size for index in allocation.offsets], [0] * len(positions)
    tail = Moved()
    unknown: dict[str, None] = {}
    for subgraph, index in _visited(allocation):
        operation, scratch = _operation(allocation, subgraph, index, target)
        for key, each in _copied(allocation, subgraph, operation):
            if key in positions:
                moved[positions[key]] += each
        row = rows.get(operation.name)
        if operation.name not in _CALLING and (row is None or not row(operation)):
            operation.moved.clear()
            by_element(operation)
            unknown[operation.name] = None
        of_buffers, of_tail = _placed(operation, scratch, subgraph, allocation, positions)
        for position, each in of_buffers.items():
            moved[position] += each
        tail += of_tail
        named = allocation.model.subgraphs[subgraph].operators[index].named_tensors
        keys: set[_Key] = {*(("t", subgraph, tensor) for tensor in named), *(("s", 0, request) for request in scratch)}
        for key in keys & positions.keys():
            touched[positions[key]] += sizes[positions[key]]
    for tensor, is_input in _application(allocation):
        place = positions.get(("t", 0, tensor))
        if place is not None:
            size = byte_length(allocation.subgraph_tensors[0][tensor])
            moved[place] += Moved(stores=size) if is_input else Moved(loads=size)
            touched[place] += size
    return Traffic(
        tuple(moved),
        tuple(touched),
        tail,
        tuple(unknown),
        str(library) if rows else "",
        any(name in ("IF", "WHILE") for names in allocation.op_names for name in names),
    )


_Key = tuple[str, int, int]
"""("t", subgraph, tensor) or ("s", 0, scratch request)."""


def _positions(allocation: ModelAllocation) -> dict[_Key, int]:
    infos = [allocation.infos[index] for index in allocation.offsets]
    return {
        ("s", 0, info.scratch) if info.scratch >= 0 else ("t", info.subgraph, info.tensor): position
        for position, info in enumerate(infos)
    }


def _visited(allocation: ModelAllocation) -> Iterator[tuple[int, int]]:
    """Yield the (subgraph, operator) that an Invoke() runs.

    Of a WHILE the condition twice and the body once, of an IF both branches, of CALL_ONCE nothing.
    """
    model = allocation.model

    def visit(subgraph: int, depth: int) -> Iterator[tuple[int, int]]:
        for index, operator in enumerate(model.subgraphs[subgraph].operators):
            yield subgraph, index
            code = model.operator_codes[operator.opcode_index].raw_builtin_code
            if code == _ONCE or depth > len(model.subgraphs):
                continue
            below = _below(model, operator)
            for each in (*below, below[0]) if code == _WHILE and below else below:
                yield from visit(each, depth + 1)

    return visit(0, 0)


def _copied(allocation: ModelAllocation, subgraph: int, operation: Operation) -> Iterator[tuple[_Key, Moved]]:
    """Yield what is loaded and stored where an IF or a WHILE copies tensors into its subgraphs and out of them.

    Source: tensorflow/lite/micro/kernels/if.cc, while.cc @ 90b983c.
    """
    if operation.name not in ("IF", "WHILE"):
        return
    inputs, outputs = operation.operator.input_tensors, operation.operator.output_tensors

    def copy(source: tuple[int, Sequence[int]], target: tuple[int, Sequence[int]]) -> Iterator[tuple[_Key, Moved]]:
        for one, other in zip(source[1], target[1], strict=False):
            size = byte_length(allocation.subgraph_tensors[source[0]][one])
            yield ("t", source[0], one), Moved(loads=size)
            yield ("t", target[0], other), Moved(stores=size)

    given = inputs[1:] if operation.name == "IF" else inputs
    if operation.name == "IF":
        yield ("t", subgraph, inputs[0]), Moved(loads=1)
    for place, below in enumerate(_below(allocation.model, operation.operator)):
        entered = allocation.model.subgraphs[below]
        into, out = (below, entered.input_tensors), (below, entered.output_tensors)
        if operation.name == "IF":
            yield from copy((subgraph, given), into)
            yield from copy(out, (subgraph, outputs))
        elif place == 0:  # The condition, before the pass and behind it.
            yield from copy((subgraph, given), into)
            yield from copy((subgraph, given), (subgraph, outputs))
            yield from copy((subgraph, outputs), into)
            yield ("t", below, out[1][0]), Moved(loads=2)
        else:
            yield from copy((subgraph, outputs), into)
            yield from copy(out, (subgraph, outputs))


def _below(model: Model, operator: Operator) -> list[int]:
    """Return the subgraphs that an operator runs."""
    code = model.operator_codes[operator.opcode_index].raw_builtin_code
    found = (operator.options.get(name) for name in CONTROL_FLOW.get(code, ()))
    return [each for each in found if isinstance(each, int) and 0 <= each < len(model.subgraphs)]


def _operation(allocation: ModelAllocation, subgraph: int, index: int, target: Target) -> tuple[Operation, list[int]]:
    """Return an operator to be counted, and the numbers of its scratch requests."""
    requests = [
        (info.scratch, info.size)
        for info in allocation.infos
        if info.scratch >= 0 and (info.subgraph, info.node) == (subgraph, index)
    ]
    name = allocation.op_names[subgraph][index]
    operator = allocation.model.subgraphs[subgraph].operators[index]
    sizes = [size for _, size in requests]
    operation = Operation(name, operator, allocation.subgraph_tensors[subgraph], sizes, target)
    return operation, [request for request, _ in requests]


def _placed(
    operation: Operation, scratch: list[int], subgraph: int, allocation: ModelAllocation, positions: dict[_Key, int]
) -> tuple[dict[int, Moved], Moved]:
    """Return what an operator moves by planned buffer, and of the tail; constants are in flash and left out."""
    found: dict[int, Moved] = {}
    tail = Moved()
    for place, moved in operation.moved.items():
        if isinstance(place, int):
            key: _Key = "t", subgraph, place
        elif place != TAIL:
            number = int(place.removeprefix("scratch"))
            if number >= len(scratch):
                continue
            key = "s", 0, scratch[number]
        if place == TAIL or (isinstance(place, int) and (subgraph, place) in allocation.variable_offsets):
            tail += moved
        elif key in positions:
            found[positions[key]] = found.get(positions[key], Moved()) + moved
    return found, tail


def _application(allocation: ModelAllocation) -> Iterator[tuple[int, bool]]:
    """Yield the tensors that the application writes, and reads, with whether it writes them."""
    main = allocation.model.subgraphs[0]
    for tensor in dict.fromkeys(main.input_tensors):
        yield tensor, True
    for tensor in dict.fromkeys(main.output_tensors):
        yield tensor, False
