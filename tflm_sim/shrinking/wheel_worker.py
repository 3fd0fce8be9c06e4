"""Run two models in the pip wheel of TFLM on the same inputs and compare every output; one line of JSON out.

    python -m tflm_sim.shrinking.wheel_worker ORIGINAL RESULT '{"arena": 54321, "runs": 20, "seconds": 60, ...}'

It ends after ``seconds``, with as many runs as there were.

A process of its own, because a failed check of TFLM ends the process.
"""

from __future__ import annotations

import json
import sys
import time
from operator import eq
from typing import Any

import numpy as np

from tflm_sim.shrinking.graph import Array

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
    """Run the comparison."""
    from tflite_micro.python.tflite_micro import runtime

    original, result, settings = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    pair = []
    for path, arena in ((original, ROOMY), (result, settings["arena"])):
        with open(path, "rb") as file:
            data = file.read()
        try:
            pair.append(runtime.Interpreter.from_bytes(data, arena_size=max(arena, 64)))
        except (RuntimeError, ValueError) as error:
            status = "original_fails" if not pair else "result_fails"
            print(json.dumps({"status": status, "says": str(error)}), flush=True)
            return
    print(json.dumps(_compare(pair, settings)), flush=True)


def _compare(pair: list[Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return what the comparison of two interpreters says."""
    rng = np.random.default_rng(settings["seed"])
    details = [pair[0].get_input_details(index) for index in range(settings["inputs"])]
    distinct: set[bytes] = set()
    end = time.monotonic() + settings["seconds"]
    for run in range(settings["runs"] + 2):
        if time.monotonic() > end:
            return {"status": "identical", "runs": run, "distinct": len(distinct)}
        inputs = [
            stimulus(rng, np.dtype(facts["dtype"]), tuple(facts["shape"]), run, within and (within[0], within[1]))
            for facts, within in zip(details, settings["ranges"], strict=True)
        ]
        outputs = []
        for interpreter in pair:
            try:
                outputs.append(_invoked(interpreter, inputs, settings["outputs"]))
            except (RuntimeError, ValueError) as error:
                status = "original_fails" if interpreter is pair[0] else "result_fails"
                return {"status": status, "run": run, "says": str(error)}
        first, other = ([(one.dtype, one.shape, one.tobytes()) for one in each] for each in outputs)
        if first != other:
            return {"status": "different", "run": run, "output": [*map(eq, first, other)].index(False)}
        distinct.add(b"".join(output.tobytes() for output in outputs[0]))
    return {"status": "identical", "runs": settings["runs"] + 2, "distinct": len(distinct)}


def _invoked(interpreter: Any, inputs: list[Array], count: int) -> list[Array]:
    """Return the outputs of an interpreter for some inputs."""
    for index, values in enumerate(inputs):
        interpreter.set_input(values, index)
    interpreter.invoke()
    return [np.array(interpreter.get_output(index)) for index in range(count)]


if __name__ == "__main__":
    main()
