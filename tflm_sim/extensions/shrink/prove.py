"""The proof by running: both models in the real TFLM (the pip wheel), the result in exactly its predicted arena.

Inputs are all-smallest, all-largest, and noise, of values that the model can take (``input_ranges``). A model with
state runs in a sequence of at least ``SEQUENCE`` invocations, because its state is what could go wrong.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.child_python import child_python
from tflm_sim.documents import as_json
from tflm_sim.errors import ModelError, TflmSimError, UsageError
from tflm_sim.escape import printable
from tflm_sim.extensions.shrink.input_ranges import input_ranges
from tflm_sim.extensions.shrink.interface import conversions
from tflm_sim.extensions.shrink.shrunk import Conversion, Proof
from tflm_sim.extras import install_command
from tflm_sim.model.draft import Draft
from tflm_sim.model.operator_facts import STATEFUL
from tflm_sim.model.types import Model
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT

WHEEL_TARGET = "x86_64-pip"
SEQUENCE = 400
_SEED = 14
ROOMY = 64 << 20
SECONDS = 60
"""Of the runs: where it is over, as many have been compared as there were until then."""
_TIMEOUT_S = SECONDS + 60
"""Of the process, which has to allocate, and to end a single run."""


class ProofFailed(TflmSimError):
    """The result does not do what the original does; nothing is written."""

    exit_code = 1


def prove(original: Model, result: bytes, shrunk: Model, runs: int, stream: Mapping[str, Any] | None = None) -> Proof:
    """Run both models in the wheel and compare every output.

    Args:
        original: The model before; ``source`` holds its bytes.
        result: The file after.
        shrunk: The same, parsed.
        runs: Random inputs, beside the extreme ones.
        stream: Of a result that takes the new frames of the original's window: how that moves on, for
            :func:`~tflm_sim.extensions.shrink.wheel_worker.stream_chunks`.

    Raises:
        UsageError: The wheel is not installed.
        ModelError: The wheel cannot run the original, or not in time, so that nothing is proved.
        ProofFailed: An output differs, or the result does not run in its predicted arena.
    """
    if importlib.util.find_spec("tflite_micro") is None:
        raise UsageError(f"`prove=` runs both models in the real TFLM: {install_command('prove')}")
    arena = smallest_arena(shrunk, WHEEL_TARGET).size
    ends = conversions(original, shrunk) if stream is None else ()
    count = max(runs, SEQUENCE) if has_state(shrunk) or has_state(original) else runs
    answer = _run(original, result, arena, count, ends, stream)
    if answer["status"] == "original_fails":
        says = answer["says"]
        raise ModelError(f"not proved: the wheel of TFLM cannot run the original model ({says})", path=original.path)
    if answer["status"] == "result_fails":
        says = answer["says"]
        raise ProofFailed(f"refused: TFLM does not run the result in its {arena:,} B ({says}); nothing is written")
    if answer["status"] == "different":
        where = f"output {answer['output']} of run {answer['run']}"
        raise ProofFailed(f"refused: {where} differs from the original's; nothing is written")
    less = _run(original, result, arena - BUFFER_ALIGNMENT, 0, ends, stream)
    return Proof(int(answer["runs"]), int(answer["distinct"]), arena, less["status"] == "result_fails")


def has_state(model: Model) -> bool:
    """Return whether a model's outputs depend on earlier invocations."""
    draft = Draft(model)
    return any(tensor.is_variable for tensor in draft.tensors) or any(
        draft.name(operator) in STATEFUL - {"IF", "WHILE"} for operator in draft.operators
    )


def _run(
    original: Model, result: bytes, arena: int, runs: int, ends: Sequence[Conversion], stream: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the worker's answer; a process that dies is one of the two failing.

    Raises:
        ModelError: It takes too long.
    """
    main = original.subgraphs[0]
    settings = {
        "arena": arena,
        "runs": runs,
        "seconds": SECONDS,
        "seed": _SEED,
        "ranges": input_ranges(original),
        "inputs": len(main.input_tensors),
        "outputs": len(main.output_tensors),
        "conversions": as_json(ends),
        "stream": stream,
    }
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, data in (("original.tflite", bytes(original.source)), ("result.tflite", result)):
            paths.append(str(Path(folder) / name))
            Path(paths[-1]).write_bytes(data)
        try:
            answer = _worker(paths[0], paths[1], settings)
            if "status" not in answer:
                # It died: ask whether the original alone does.
                alone = _worker(paths[0], paths[0], {**settings, "arena": ROOMY, "conversions": [], "stream": None})
                status = "result_fails" if "status" in alone else "original_fails"
                answer = {**answer, "status": status}
        except subprocess.TimeoutExpired:
            raise ModelError(
                f"not proved: one run takes longer than {_TIMEOUT_S} s in the wheel of TFLM", path=original.path
            ) from None
    return answer


def _worker(original: str, result: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Return what the worker answers, with the device's last words under "says"; without a status where it died."""
    command = [*child_python("tflm_sim.extensions.shrink.wheel_worker"), original, result, json.dumps(settings)]
    ended = subprocess.run(command, capture_output=True, timeout=_TIMEOUT_S, check=False)
    line = ended.stdout.decode(errors="replace").strip().rpartition("\n")[2]
    answer: dict[str, Any] = json.loads(line) if line.startswith("{") else {}
    words = [each for each in ended.stderr.decode(errors="replace").splitlines() if each.strip()]
    died = "" if answer else f"the process ends with {ended.returncode}"
    return {**answer, "says": printable("; ".join([*words[-2:], *filter(None, (answer.get("says"), died))]), 300)}
