"""How much of a window's work stands there already: a model invoked on a window of frames that moves on by a few.

    frames       0  1  2  3  4  5  6  7  8 ...
    one window  [-----------------]                 both run as expressions (``Machine``): an element of an operator's
    the next           [-----------------]          output is new if it is no element that the operator made before

TFLM computes each window anew. What recurs could be kept from one invocation to the next instead, by any rewriting: it
is the same expression of the same frames, so the same bytes. Padding spoils it (the frame behind an edge is another one
in the next window), and so do strides that the step is no multiple of, means over all frames, and recurrences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import lcm, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tflm_sim.errors import ModelError, UsageError
from tflm_sim.extensions.shrink.draft_facts import is_image, multiplications_by_operator, shape, window
from tflm_sim.extensions.shrink.initial_states import variable_key
from tflm_sim.extensions.shrink.machine import Machine
from tflm_sim.extensions.shrink.prove import has_state
from tflm_sim.extensions.shrink.refusal import VerificationFailed
from tflm_sim.extensions.shrink.symbolic import Hashes, operator_name, symbols
from tflm_sim.model.draft import Draft
from tflm_sim.model.operator_facts import WINDOWED
from tflm_sim.model.types import Model

MULTIPLES = (1, 2, 4)
"""Of the model's stride: the steps that are looked at, besides the stride's divisors."""


@dataclass(frozen=True, slots=True)
class OperatorWork:
    """What an operator computes in a window.

    Attributes:
        number: Its index in the main subgraph.
        operator: Its name.
        macs: Its multiply-accumulates.
        elements: The elements of its outputs.
        new: Of each step, the elements that it did not make for the window before.
        is_opaque: Whether nothing is known of it but what it reads: all is new if any of that is.
    """

    number: int
    operator: str
    macs: int
    elements: int
    new: tuple[int, ...]
    is_opaque: bool

    def new_macs(self, step: int) -> int:
        """Return the multiply-accumulates for what is new, of the step with this index."""
        return round(self.macs * self.new[step] / self.elements) if self.elements else 0


@dataclass(frozen=True, slots=True)
class WindowWork:
    """What is new in a window, for several steps.

    Attributes:
        shape: The window's shape: the input's, or where the input is flat that of the RESHAPE behind it.
        axis: The axis of it along which the window moves.
        step: The step that was asked for, in frames.
        steps: All steps, ascending.
        operators: In the order in which they run; those that write no tensor are left out.
        is_stateful: Whether the model keeps a state, which moves on from one window to the next.
    """

    shape: tuple[int, ...]
    axis: int
    step: int
    steps: tuple[int, ...]
    operators: tuple[OperatorWork, ...]
    is_stateful: bool

    @property
    def frames(self) -> int:
        return self.shape[self.axis]

    @property
    def macs(self) -> int:
        """The multiply-accumulates of a window."""
        return sum(each.macs for each in self.operators)

    @property
    def new_macs(self) -> tuple[int, ...]:
        """Of each step, the multiply-accumulates that were not done for the window before."""
        return tuple(sum(each.new_macs(at) for each in self.operators) for at in range(len(self.steps)))


def window_work(model: Model, step: int, axis: int | None = None) -> WindowWork:
    """Compare a window with the one before, for a step of the window, and for the divisors and multiples of the stride.

    Args:
        model: A model with one input, which is the window.
        step: Frames by which the window moves on, at least 1 and fewer than it has.
        axis: The axis of the input along which it moves; of the shape that the RESHAPE behind a flat input makes. None
            for the only one along which anything recurs.

    Raises:
        UsageError: There is no such axis, or none or several along which anything recurs; or no such step.
        ModelError: The model has not one input, or an operator that reads what was never written, or whose operands do
            not fit together.
    """
    layout, axis = window_of(model, step, axis)
    return _compared(model, layout, axis, step, _steps(step, time_stride(Draft(model)), layout[axis]))


def window_of(model: Model, step: int, axis: int | None) -> tuple[tuple[int, ...], int]:
    """Return the shape of a model's window and the axis along which it moves: the one that is named, or the only one.

    Raises:
        UsageError, ModelError: As of :func:`window_work`.
    """
    if not model.subgraphs or len(model.subgraphs[0].input_tensors) != 1:
        count = len(model.subgraphs[0].input_tensors) if model.subgraphs else 0
        raise ModelError(f"it has {count} inputs, and a window is one input", path=model.path)
    layout = _layout(Draft(model))
    axes = [index for index, size in enumerate(layout) if size > 1]
    if axis is None:
        found = axes if len(axes) == 1 else [each for each in axes if _recurs(model, layout, each, step)]
        if len(found) != 1:
            raise UsageError(f"{_several(layout, found) if found else _none(layout, step)}; name it with --axis")
        (axis,) = found
    if axis not in axes:
        raise UsageError(f"--axis {axis}: the window has the shape {list(layout)}; frames are along one of {axes}")
    if not 1 <= step < layout[axis]:
        raise UsageError(f"--stream {step}: a window of {layout[axis]} frames moves on by 1 to {layout[axis] - 1}")
    return layout, axis


def in_window(frames: NDArray[Any], layout: Sequence[int], axis: int) -> NDArray[Any]:
    """Return frames, a row each, as they lie in a window of so many."""
    rest = [size for index, size in enumerate(layout) if index != axis]
    return np.moveaxis(frames.reshape(len(frames), *rest), 0, axis)


def _none(layout: Sequence[int], step: int) -> str:
    return f"a window of {list(layout)} that moves on by {step} has nothing in common with the one before on any axis"


def _several(layout: Sequence[int], axes: Sequence[int]) -> str:
    named = " and ".join(f"{axis} (of {layout[axis]})" for axis in axes)
    return f"a window of {list(layout)} can move along the axes {named}"


def _layout(draft: Draft) -> tuple[int, ...]:
    """Return the shape of the window: the input's, or if that is flat the one that its only reader makes of it."""
    (source,) = draft.inputs
    dims, reader = shape(draft, source), draft.sole_reader(source)
    is_flat = sum(size > 1 for size in dims) < 2
    if is_flat and reader is not None and draft.name(draft.operators[reader]) == "RESHAPE":
        return shape(draft, draft.operators[reader].output_tensors[0])
    return dims


def time_stride(draft: Draft) -> int:
    """Return the frames between two rows at the end of the model's longest chain of strides, a multiple at least."""
    strides: dict[int, int] = {}
    for operator in draft.operators:
        is_windowed = draft.name(operator) in WINDOWED and is_image(draft, operator.output_tensors[0])
        sides = [axis for axis in (1, 2) if is_windowed and shape(draft, operator.output_tensors[0])[axis] > 1]
        own = lcm(*(window(draft, operator, axis).stride for axis in sides))
        longest = max((strides.get(tensor, 1) for tensor in operator.input_tensors), default=1)
        strides.update(dict.fromkeys(operator.output_tensors, longest * own))
    return max(strides.values(), default=1)


def _steps(step: int, stride: int, frames: int) -> tuple[int, ...]:
    """Return the steps to look at: the one that was asked for, divisors and multiples of the stride."""
    divisors = (each for each in range(1, min(stride, frames - 1) + 1) if stride % each == 0)
    multiples = (stride * each for each in MULTIPLES if stride * each < frames)
    return tuple(sorted({step, *divisors, *multiples}))


def _recurs(model: Model, layout: tuple[int, ...], axis: int, step: int) -> bool:
    """Return whether any multiply-accumulate recurs along an axis, at the step or at the model's stride.

    An operator that takes each element by itself says nothing: it has the same ones again on every axis.
    """
    stride = time_stride(Draft(model))
    steps = tuple(sorted({each for each in (step, stride) if 1 <= each < layout[axis]}))
    if not steps:
        return False
    work = _compared(model, layout, axis, steps[0], steps)
    return any(new < work.macs for new in work.new_macs)


@np.errstate(over="ignore")  # Hashes wrap around.
def _compared(model: Model, layout: tuple[int, ...], axis: int, step: int, steps: tuple[int, ...]) -> WindowWork:
    frames = layout[axis]
    stream = symbols("frame", (frames + steps[-1], prod(layout) // frames))
    machine, main = Machine(model), model.subgraphs[0]

    def made(first: int) -> list[Hashes | None]:
        """Return what each operator makes of the window that begins with frame ``first``."""
        given = in_window(stream[first : first + frames], layout, axis)
        try:
            machine.run([given.reshape(main.tensors[main.input_tensors[0]].dims)])
        except VerificationFailed as problem:
            raise ModelError(f"its windows cannot be compared ({problem})", path=model.path) from None
        return list(_outputs(machine))

    machine.forget()  # What a state begins with would recur as padding does, and that once only.
    before = made(0)
    states, known = dict(machine.states), [None if each is None else np.unique(each) for each in before]
    new: list[list[int]] = [[] for _ in before]
    for each in steps:
        machine.states = dict(states)
        for found, seen, now in zip(new, known, made(each), strict=True):
            if seen is not None and now is not None:
                found.append(int((~np.isin(now, seen)).sum()))
    macs, names = multiplications_by_operator(Draft(model)), [operator_name(model, each) for each in main.operators]
    opaque = {*machine.opaque.values()}
    rows = [
        OperatorWork(number, names[number], macs[number], values.size, tuple(new[number]), names[number] in opaque)
        for number, values in enumerate(before)
        if values is not None
    ]
    return WindowWork(layout, axis, step, steps, tuple(rows), has_state(model))


def _outputs(machine: Machine) -> Iterator[Hashes | None]:
    """Yield the elements of each operator's outputs as they were at the end; None where it writes no tensor."""
    tensors = machine.subgraph.tensors
    for operator in machine.subgraph.operators:
        values = (
            machine.states[variable_key(index)] if tensors[index].is_variable else machine.values[index]
            for index in operator.output_tensors
        )
        written = [value.ravel() for value in values if value is not None]
        yield np.concatenate(written) if written else None
