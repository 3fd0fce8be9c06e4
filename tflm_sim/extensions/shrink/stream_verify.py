"""``verify(stream=S)``: a model that takes the new frames, unrolled and compared with the one that takes the window.

    frames          0 1 2 3 4 5 6 7 8 ...              S = 2, a window of 5: right from invocation ceil(5 / 2) = 3 on
    invocations    [0 1|2 3|4 5|6 7|...                whatever the states held before invocation 1: a symbol each
    windows           [1 ..... 5]                      the same expression as the output of invocation 3
                          [3 ..... 7]                  and of invocation 4

The states begin as what nobody knows, which any states are: so what holds for invocation 3 holds for every invocation
that has two others before it, with every frame fed in order.
"""

from __future__ import annotations

from math import prod

from tflm_sim.extensions.shrink.comparison import Verified, check_opaque, compare
from tflm_sim.extensions.shrink.machine import Machine
from tflm_sim.extensions.shrink.prove import has_state
from tflm_sim.extensions.shrink.refusal import refuse
from tflm_sim.extensions.shrink.symbolic import kind, symbols
from tflm_sim.extensions.shrink.windows import in_window, window_of

WINDOWS = 3
"""That are compared; the first one alone would be enough."""


def start_up(frames: int, step: int) -> int:
    """Return the invocations after which all frames of a window have been fed."""
    return -(-frames // step)


def check_windows(original: Machine, result: Machine, step: int, axis: int | None) -> Verified:
    """Compare a few windows with the invocations of the result that complete them.

    Args:
        original: The model that takes a window.
        result: The one that takes ``step`` frames; its states are set to what nobody knows.
        step: Frames.
        axis: Of the window, along which they lie; None for the only one that there can be.

    Raises:
        VerificationFailed: An output element is another expression, or the interface is not that of a stream.
        UsageError, ModelError: The original takes no window, or none that moves by so much.
    """
    layout, axis = window_of(original.model, step, axis)
    _check_interface(original, result, prod(layout) // layout[axis] * step)
    first = start_up(layout[axis], step)
    frames = symbols("frame", ((first + WINDOWS) * step, prod(layout) // layout[axis]))
    (given,), (taken,) = (
        [each.subgraph.tensors[t].dims for t in each.subgraph.input_tensors] for each in (original, result)
    )
    result.forget()
    for invocation in range(1, first + WINDOWS):
        end = invocation * step
        found = result.run([in_window(frames[end - step : end], layout, axis).reshape(taken)])
        if invocation < first:
            continue
        expected = original.run([in_window(frames[end - layout[axis] : end], layout, axis).reshape(given)])
        check_opaque(original, result)
        for position, pair in enumerate(zip(expected, found, strict=True)):
            compare(f"output {position} of invocation {invocation}", *pair)
    states = sum(state.size for state in result.states.values())
    return Verified(sum(each.size for each in expected), states, len(result.subgraph.operators), start_up=first)


def _check_interface(original: Machine, result: Machine, elements: int) -> None:
    """Refuse a result whose input is not so many elements of the window's kind, or whose outputs are others."""
    if has_state(original.model):
        raise refuse("the original keeps a state of its own")
    one, other = ([each.subgraph.tensors[t] for t in each.subgraph.input_tensors] for each in (original, result))
    facts = [(tensor.name, kind(tensor)) for tensor in one]
    if [(tensor.name, kind(tensor)) for tensor in other] != facts or prod(other[0].dims) != elements:
        raise refuse(f"the input is not the new frames of the window, {elements:,} elements of its type and name")
    outputs = [
        [(tensor.name, tensor.dims, kind(tensor), tensor.is_variable) for tensor in tensors]
        for tensors in ([each.subgraph.tensors[t] for t in each.subgraph.output_tensors] for each in (original, result))
    ]
    if outputs[0] != outputs[1]:
        raise refuse("the outputs are not the original's")
