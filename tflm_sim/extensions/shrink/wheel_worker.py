"""Run two models in the pip wheel of TFLM on the same inputs and compare every output; one line of JSON out.

    python -m tflm_sim.extensions.shrink.wheel_worker ORIGINAL RESULT '{"arena": 54321, "runs": 20, "seconds": 60, ...}'

It ends after ``seconds``, with as many runs as there were.

A process of its own, because a failed check of TFLM ends the process.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from operator import eq
from typing import Any

import numpy as np

from tflm_sim.extensions.shrink.draft_facts import Array
from tflm_sim.extensions.shrink.windows import in_window

ROOMY = 64 << 20


def stimulus(
    rng: np.random.Generator,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
    kind: int,
    within: tuple[int, int] | None = None,
) -> Array:
    """Return an input: 0 all smallest, 1 all largest, then noise of several distributions in turn.

    Args:
        rng: Where the noise comes from.
        dtype: The input's type.
        shape: Its shape, () for a scalar.
        kind: Which.
        within: The least and the greatest integer that it may hold; None for those of the type.
    """
    return np.asarray(_values(rng, dtype, shape, kind, within)).reshape(shape).astype(dtype)


def floats_of_steps(
    rng: np.random.Generator, shape: tuple[int, ...], kind: int, type_name: str, scale: float, zero_point: int
) -> Array:
    """Return floats that a QUANTIZE makes integers of: all over their range, between two steps, and beyond its ends.

    Args:
        rng: Where the noise comes from.
        shape: Of the input.
        kind: Which, as for :func:`stimulus`.
        type_name: Of the integers: "int8", ...
        scale: What a step is worth.
        zero_point: The integer that stands for 0.
    """
    steps = stimulus(rng, np.dtype(type_name), shape, kind).astype(np.float64) - zero_point
    between = rng.choice((0.0, 0.5, -0.5), shape) if kind % 2 else rng.uniform(-3, 3, shape)
    return np.asarray((steps + between).astype(np.float32) * np.float32(scale)).reshape(shape)


def _values(
    rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...], kind: int, within: tuple[int, int] | None
) -> Any:
    if dtype == np.bool_:
        return np.full(shape, bool(kind)) if kind < 2 else rng.integers(0, 2, shape)
    if np.issubdtype(dtype, np.floating):
        if kind < 2:
            return np.full(shape, (-1e4, 1e4)[kind], dtype)
        scales = (0.1, 1.0, 5.0, 100.0)
        return rng.standard_normal(shape) * scales[kind % len(scales)]
    return _integers(rng, np.iinfo(dtype), shape, kind, within)


def _integers(
    rng: np.random.Generator, limits: np.iinfo[Any], shape: tuple[int, ...], kind: int, within: tuple[int, int] | None
) -> Any:
    if kind < 2:
        return np.full(shape, (within or (limits.min, limits.max))[kind], limits.dtype)
    low, high = within or (max(limits.min, -(2**31)), min(limits.max, 2**31 - 1))
    if kind % 3 == 0:
        return rng.integers(low, high, shape, endpoint=True)
    if kind % 3 == 1:
        center = float(rng.integers(low, high, endpoint=True))
        return np.clip(np.round(rng.normal(center, (high - low) / 20, shape)), low, high)
    steps = np.cumsum(rng.normal(0, 8, shape or 1), axis=-1) + rng.normal(0, 50)
    return np.clip(np.round(steps), low, high)


def main() -> None:
    from tflite_micro.python.tflite_micro import runtime

    original, result, settings = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    pair = []
    for path, arena in ((original, ROOMY), (result, settings["arena"])):
        with open(path, "rb") as file:
            data = file.read()
        try:
            pair.append(runtime.Interpreter.from_bytes(data, arena_size=max(arena, 64)))
        except (RuntimeError, ValueError) as error:
            print(json.dumps({"status": FAILS[len(pair)], "says": str(error)}), flush=True)
            return
    compare = _compare if settings["stream"] is None else _compare_stream
    print(json.dumps(compare(pair, settings)), flush=True)


def _compare(pair: list[Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return what the comparison of two interpreters says."""
    rng = np.random.default_rng(settings["seed"])
    given, wanted = ({end["index"]: end for end in settings["conversions"] if end["what"] == what} for what in ENDS)
    details = [pair[0].get_input_details(index) for index in range(settings["inputs"])]
    distinct: set[bytes] = set()
    end = time.monotonic() + settings["seconds"]
    run = 0
    while run < settings["runs"] + 2 and time.monotonic() < end:
        inputs = [
            _input(rng, facts, run, within, given.get(index))
            for index, (facts, within) in enumerate(zip(details, settings["ranges"], strict=True))
        ]
        outputs: list[list[tuple[object, object, bytes]]] = []
        try:
            for interpreter, ends in zip(pair, (({}, {}), (given, wanted)), strict=True):
                outputs.append(_outputs(interpreter, inputs, settings["outputs"], *ends))
        except (RuntimeError, ValueError) as error:
            return {"status": FAILS[len(outputs)], "run": run, "says": str(error)}
        first, other = outputs
        if first != other:
            return {"status": "different", "run": run, "output": [*map(eq, first, other)].index(False)}
        distinct.add(b"".join(data for _, _, data in first))
        run += 1
    return {"status": "identical", "runs": run, "distinct": len(distinct)}


def _compare_stream(pair: list[Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return what the comparison of a window's interpreter with one that takes its new frames says."""
    rng, stream = np.random.default_rng(settings["seed"]), settings["stream"]
    ranges, dtype = settings["ranges"][0], np.dtype(pair[0].get_input_details(0)["dtype"])
    shapes = [tuple(interpreter.get_input_details(0)["shape"]) for interpreter in pair]
    end, distinct, runs = time.monotonic() + settings["seconds"], set[bytes](), 0
    for window, chunk in stream_chunks(rng, dtype, stream, settings["runs"], ranges):
        if time.monotonic() >= end:
            break
        outputs: list[list[tuple[object, object, bytes]]] = []
        try:
            for interpreter, given, shape in zip(pair, (window, chunk), shapes, strict=True):
                inputs = None if given is None else [given.reshape(shape)]
                outputs.append([] if inputs is None else _outputs(interpreter, inputs, settings["outputs"], {}, {}))
        except (RuntimeError, ValueError) as error:
            return {"status": FAILS[len(outputs)], "run": runs, "says": str(error)}
        if window is None:
            continue
        first, other = outputs
        if first != other:
            return {"status": "different", "run": runs, "output": [*map(eq, first, other)].index(False)}
        distinct.add(b"".join(data for _, _, data in first))
        runs += 1
    return {"status": "identical", "runs": runs, "distinct": len(distinct)}


def stream_chunks(
    rng: np.random.Generator, dtype: np.dtype[Any], stream: Mapping[str, Any], runs: int, within: Sequence[int] | None
) -> Iterator[tuple[Array | None, Array]]:
    """Yield the frames of each invocation, with the window that they complete; None before there is a whole one.

    All smallest and all largest frames fill a window each, then noise of several distributions does.

    Args:
        rng: Where the noise comes from.
        dtype: The input's type.
        stream: The window's ``layout``, the ``axis`` of it along which frames lie, the ``step``, the ``start_up``.
        runs: Windows of noise.
        within: The least and the greatest integer of the input; None for those of the type.
    """
    layout, axis, step, start_up = (stream[name] for name in ("layout", "axis", "step", "start_up"))
    frames = np.zeros((0, prod(layout) // layout[axis]), dtype)
    for invocation in range(1, 2 * start_up + runs + 1):
        kind = (invocation - 1) // start_up
        kind = kind if kind < 2 else invocation + 2
        limits = (within[0], within[1]) if within else None
        new = stimulus(rng, dtype, (step, frames.shape[1]), kind, limits)
        frames = np.concatenate([frames, new])[-layout[axis] :]
        whole = in_window(frames, layout, axis) if len(frames) == layout[axis] else None
        yield whole, in_window(new, layout, axis)


ENDS = ("input", "output")
FAILS = ("original_fails", "result_fails")


def _input(
    rng: np.random.Generator, facts: Any, run: int, within: Sequence[int] | None, end: dict[str, Any] | None
) -> Array:
    """Return one input of a run of the original; ``end`` says what becomes of it for the result."""
    shape, dtype = tuple(facts["shape"]), np.dtype(facts["dtype"])
    if end is not None and dtype == np.float32:
        after = end["after"]
        return floats_of_steps(rng, shape, run, after["type"], after["scale"], after["zero_point"])
    return stimulus(rng, dtype, shape, run, (within[0], within[1]) if within else None)


def compiled(name: str, lines: Sequence[str]) -> Callable[[Any], Array]:
    """Return the function that ``python_lines`` wrote, which are words and numbers of ours."""
    namespace: dict[str, Any] = {"np": np}
    exec("\n".join(lines), namespace)
    function: Callable[[Any], Array] = namespace[name]
    return function


_Lines = Mapping[int, Mapping[str, Any]]
"""What converts inputs or outputs, by index."""


def converted(values: Sequence[Array], ends: _Lines) -> list[Array]:
    """Return values after the lines of :mod:`~tflm_sim.extensions.shrink.conversions` ran on those that have some."""
    functions = {index: compiled(end["function"], end["python"]) for index, end in ends.items()}
    return [functions[index](value) if index in functions else value for index, value in enumerate(values)]


def _outputs(
    interpreter: Any, inputs: Sequence[Array], count: int, given: _Lines, wanted: _Lines
) -> list[tuple[object, object, bytes]]:
    """Return (type, shape, bytes) of each output of an interpreter for some inputs, these and those converted."""
    for index, values in enumerate(converted(inputs, given)):
        interpreter.set_input(values, index)
    interpreter.invoke()
    found = [np.array(interpreter.get_output(index)) for index in range(count)]
    return [(one.dtype, one.shape, one.tobytes()) for one in converted(found, wanted)]


if __name__ == "__main__":
    main()
