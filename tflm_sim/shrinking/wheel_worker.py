"""Run two models in the pip wheel of TFLM on the same inputs and compare every output; one line of JSON out.

    python -m tflm_sim.shrinking.wheel_worker ORIGINAL RESULT '{"arena": 54321, "runs": 20, "seed": 1, ...}'

A process of its own, because a failed check of TFLM ends the process.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from tflm_sim.shrinking.graph import Array

ROOMY = 64 << 20


def stimulus(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...], kind: int) -> Array:
    """Return an input: 0 all smallest, 1 all largest, then noise of several distributions in turn."""
    if dtype == np.bool_:
        return np.full(shape, bool(kind)) if kind < 2 else rng.integers(0, 2, shape).astype(dtype)
    if np.issubdtype(dtype, np.floating):
        if kind < 2:
            return np.full(shape, (-1e4, 1e4)[kind], dtype)
        scales = (0.1, 1.0, 5.0, 100.0)
        return (rng.standard_normal(shape) * scales[kind % len(scales)]).astype(dtype)
    limits = np.iinfo(dtype)
    low, high = max(limits.min, -(2**31)), min(limits.max, 2**31 - 1)
    if kind < 2:
        return np.full(shape, (limits.min, limits.max)[kind], dtype)
    if kind % 3 == 0:
        return rng.integers(low, high, shape, endpoint=True).astype(dtype)
    if kind % 3 == 1:
        center = float(rng.integers(low, high, endpoint=True))
        return np.clip(np.round(rng.normal(center, (high - low) / 20, shape)), low, high).astype(dtype)
    steps = np.cumsum(rng.normal(0, 8, shape), axis=-1) + rng.normal(0, 50)
    return np.clip(np.round(steps), low, high).astype(dtype)


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
        except (RuntimeError, ValueError):
            print(json.dumps({"status": "original_fails" if not pair else "result_fails"}), flush=True)
            return
    print(json.dumps(_compare(pair, settings)), flush=True)


def _compare(pair: list[Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return what the comparison of two interpreters says."""
    rng = np.random.default_rng(settings["seed"])
    details = [pair[0].get_input_details(index) for index in range(settings["inputs"])]
    distinct = set()
    for run in range(settings["runs"] + 2):
        inputs = [stimulus(rng, np.dtype(d["dtype"]), tuple(d["shape"]), run) for d in details]
        outputs = []
        for interpreter in pair:
            try:
                for index, values in enumerate(inputs):
                    interpreter.set_input(values, index)
                interpreter.invoke()
            except (RuntimeError, ValueError):
                return {"status": "original_fails" if interpreter is pair[0] else "result_fails", "run": run}
            outputs.append([np.array(interpreter.get_output(index)) for index in range(settings["outputs"])])
        for index, (before, after) in enumerate(zip(*outputs, strict=True)):
            if before.dtype != after.dtype or before.shape != after.shape or before.tobytes() != after.tobytes():
                return {"status": "different", "run": run, "output": index}
        distinct.add(b"".join(output.tobytes() for output in outputs[0]))
    return {"status": "identical", "runs": settings["runs"] + 2, "distinct": len(distinct)}


if __name__ == "__main__":
    main()
