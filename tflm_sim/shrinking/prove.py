"""The proof by running: both models in the real TFLM (the pip wheel), the result in exactly its predicted arena.

Inputs are all-smallest, all-largest, and noise. A model with state runs in a sequence of at least ``SEQUENCE``
invocations, because its state is what could go wrong.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tflm_sim.answers.smallest_arena import smallest_arena
from tflm_sim.child_python import child_python
from tflm_sim.errors import ModelError, TflmSimError, UsageError
from tflm_sim.model.draft import Draft
from tflm_sim.model.operator_facts import STATEFUL
from tflm_sim.model.types import Model
from tflm_sim.planners.buffers import BUFFER_ALIGNMENT
from tflm_sim.shrinking.shrunk import Proof

WHEEL_TARGET = "x86_64-pip"
SEQUENCE = 400
_SEED = 14
_TIMEOUT_S = 1800


class ProofFailed(TflmSimError):
    """The result does not do what the original does; nothing is written."""

    exit_code = 1


def prove(original: Model, result: bytes, shrunk: Model, runs: int) -> Proof:
    """Run both models in the wheel and compare every output.

    Args:
        original: The model before; ``source`` holds its bytes.
        result: The file after.
        shrunk: The same, parsed.
        runs: Random inputs, beside the extreme ones.

    Raises:
        UsageError: The wheel is not installed.
        ModelError: The wheel cannot run the original, so that nothing is proved.
        ProofFailed: An output differs, or the result does not run in its predicted arena.
    """
    if importlib.util.find_spec("tflite_micro") is None:
        raise UsageError("--prove runs both models in the real TFLM: pip install 'tflm_sim[prove]'")
    arena = smallest_arena(shrunk, WHEEL_TARGET).size
    count = max(runs, SEQUENCE) if has_state(shrunk) or has_state(original) else runs
    answer = _run(bytes(original.source), result, arena, count, shrunk)
    if answer["status"] == "original_fails":
        raise ModelError("not proved: the wheel of TFLM cannot run the original model", path=original.path)
    if answer["status"] == "result_fails":
        raise ProofFailed(f"refused: TFLM does not run the result in its {arena:,} B; nothing is written")
    if answer["status"] == "different":
        where = f"output {answer['output']} of run {answer['run']}"
        raise ProofFailed(f"refused: {where} differs from the original's; nothing is written")
    less = _run(bytes(original.source), result, arena - BUFFER_ALIGNMENT, 0, shrunk)
    return Proof(int(answer["runs"]), int(answer["distinct"]), arena, less["status"] == "result_fails")


def has_state(model: Model) -> bool:
    """Return whether a model's outputs depend on earlier invocations."""
    draft = Draft(model)
    return any(tensor.is_variable for tensor in draft.tensors) or any(
        draft.name(operator) in STATEFUL - {"IF", "WHILE"} for operator in draft.operators
    )


def _run(original: bytes, result: bytes, arena: int, runs: int, model: Model) -> dict[str, Any]:
    """Return the worker's answer; a process that dies is one of the two failing."""
    main = model.subgraphs[0]
    settings = {
        "arena": arena,
        "runs": runs,
        "seed": _SEED,
        "inputs": len(main.inputs or ()),
        "outputs": len(main.outputs or ()),
    }
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, data in (("original.tflite", original), ("result.tflite", result)):
            paths.append(str(Path(folder) / name))
            Path(paths[-1]).write_bytes(data)
        command = [*child_python("tflm_sim.shrinking.wheel_worker"), *paths, json.dumps(settings)]
        ended = subprocess.run(command, capture_output=True, timeout=_TIMEOUT_S, check=False)
        line = ended.stdout.decode(errors="replace").strip().rpartition("\n")[2]
        if line.startswith("{"):
            answer: dict[str, Any] = json.loads(line)
            return answer
        # Died: ask whether the original alone does.
        alone = [*command[:-3], paths[0], paths[0], json.dumps({**settings, "arena": 64 << 20})]
        check = subprocess.run(alone, capture_output=True, timeout=_TIMEOUT_S, check=False)
        return {"status": "result_fails" if check.returncode == 0 else "original_fails"}
