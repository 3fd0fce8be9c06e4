"""Models in a pip wheel of TFLM, each in a process of its own, and beside our simulation of that wheel.

The wheel is built without DCHECKs: where a DCHECK of ours halts the device, the wheel goes on. Any wheel can be asked,
installed or not: it is unpacked into a folder from which a worker imports it (``wheel_worker.py``).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tflm_sim.answers.simulation import Simulation

ARENA_SIZE = 1 << 20
_ALLOCATION = re.compile(r"\[RecordingMicroAllocator\] '(.+)' used (\d+) bytes .*\(requested (\d+) bytes for (\d+) ")
_PLACE = re.compile(r"^(tensorflow|signal)/\S+\.cc(:\d+)? ")
_TOTAL = re.compile(r"\[RecordingMicroAllocator\] Arena allocation (\w+) (\d+) bytes")
_CATEGORIES = {
    "TfLiteEvalTensor data": "kTfLiteEvalTensorData",
    "Persistent TfLiteTensor data": "kPersistentTfLiteTensorData",
    "Persistent TfLiteTensor quantization data": "kPersistentTfLiteTensorQuantizationData",
    "Persistent buffer data": "kPersistentBufferData",
    "TfLiteTensor variable buffer data": "kTfLiteTensorVariableBufferData",
    "NodeAndRegistration struct": "kNodeAndRegistrationArray",
    "Operator runtime data": "kOpData",
    "Persistent compression data": "kCompressionData",
}


@dataclass(frozen=True)
class WheelRun:
    """What one model did in the wheel.

    Attributes:
        status: "ok", "error" or "abort".
        log: The device's lines, without the recorder's report and without blank lines.
        totals: "total", "head" and "tail" of the arena in bytes; empty unless ok.
        recorded: Category to (requested bytes, used bytes, count); categories without bytes are left out.
        invoke: The status of Invoke() on inputs of zeros, "" where there was none.
        invoke_log: The lines that it prints.
    """

    status: str
    log: tuple[str, ...]
    totals: dict[str, int]
    recorded: dict[str, tuple[int, int, int]]
    invoke: str
    invoke_log: tuple[str, ...]


class RunningWheel:
    """A worker process with a wheel loaded; it forks for each model.

    Args:
        folder: Where the wheel is unpacked; None for the one that is installed.
    """

    def __init__(self, folder: Path | None = None) -> None:
        paths = [str(folder)] if folder else []
        given = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])}
        worker = Path(__file__).with_name("wheel_worker.py")
        self._process = subprocess.Popen(
            [sys.executable, worker], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=given
        )

    def run(self, model: bytes, arena_size: int = ARENA_SIZE) -> WheelRun:
        """Run AllocateTensors() of a model in an arena of ``arena_size`` bytes.

        Raises:
            OSError: The wheel cannot be imported here.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None, "stdin is a pipe"
        assert stdout is not None, "stdout is a pipe"
        stdin.write(f"{len(model)} {arena_size}\n".encode() + model)
        stdin.flush()
        line = stdout.readline()
        if not line:
            raise OSError(f"the wheel cannot be imported by Python {sys.version.split()[0]}")
        answer = json.loads(line)
        lines = [line for line in answer["stderr"].splitlines() if line.strip()]
        return WheelRun(
            status=answer["status"],
            log=tuple(line for line in lines if not line.startswith("[RecordingMicroAllocator]")),
            totals={match[1]: int(match[2]) for line in lines if (match := _TOTAL.match(line))},
            recorded={
                _CATEGORIES[match[1]]: (int(match[3]), int(match[2]), int(match[4]))
                for line in lines
                if (match := _ALLOCATION.match(line))
            },
            invoke=answer["invoke"],
            invoke_log=tuple(line for line in answer["invoke_stderr"].splitlines() if line.strip()),
        )

    def close(self) -> None:
        """End the worker."""
        self._process.communicate()


def difference(ours: Simulation, real: WheelRun) -> str:
    """Return in which a simulation of a wheel's target differs from what the wheel did; "" where it does not.

    A difference in bytes comes first, then what is printed, then what is recorded, then what Invoke() does.
    """
    head, tail = ours.head_bytes, ours.tail_bytes
    figures = {"total": head + tail, "head": head, "tail": tail}
    if ours.status == real.status == "ok" and figures != real.totals:
        off = real.totals["total"] - figures["total"]
        return f"{off:+,} B: head {real.totals['head']:,}, tail {real.totals['tail']:,} instead of {head:,}, {tail:,}"
    if (ours.status, shown(ours.log)) != (real.status, shown(real.log)):
        return f"{_said(real.status, real.log)} instead of {_said(ours.status, ours.log)}"
    if ours.status != "ok":
        return ""
    recorded = {
        name: (entry.requested, entry.used, entry.count)
        for name, entry in ours.recorded.items()
        if entry.requested or entry.used
    }
    if recorded != real.recorded:
        return f"recorded {real.recorded} instead of {recorded}"
    return _invoke_difference(ours, real)


def _said(status: str, log: tuple[str, ...]) -> str:
    return f"{status} {' | '.join(shown(log))}".strip()


def _invoke_difference(ours: Simulation, real: WheelRun) -> str:
    """Compare what we say of Invoke() with what the wheel does on inputs of zeros; values can make it fail as well."""
    log = tuple(line for line in real.invoke_log if "out of range (length is" not in line)
    problem = ours.invoke_problem
    if problem is not None and problem.status == "error":
        if (real.invoke, _without_numbers(log)) != ("error", _without_numbers(problem.log)):
            return f"Invoke(): {_said(real.invoke, log)} instead of {_said('error', problem.log)}"
    elif real.invoke == "error" and re.search("type|support", "".join(log)):
        return f"Invoke(): {_said('error', log)}, of which we say nothing"
    return ""


def _without_numbers(log: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines without what follows from an address, or from a double that is printed as an integer."""
    lines = [_PLACE.sub("", line) for line in shown(log)]
    return tuple(re.sub(r"\? != \?|-?\d+ != -?\d+|got (\?|-?\d{5,})", "?", line) for line in lines)


def shown(log: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines as a terminal shows them, without blank ones."""
    return tuple(line for text in log for line in text.splitlines() if line.strip())
