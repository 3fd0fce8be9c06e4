"""The live mobile runtime behind a process that a model may end, and what differs between it and ours."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tflm_sim.documents import as_json
from tflm_sim.extensions.lite.answer import LiteSettings, allocated, double_batch, machine_document
from tflm_sim.model.load import parse

UNDEFINED = ("(the kernel reads a dimension", "(? != ?)")
"""Parts of our reports where the runtime's answer depends on more than the model: wild reads, misprinted floats."""

ROOM = 2**30
"""An arena (bytes) that any machine has; above it the wheel's answer is the machine's."""
_INT_MAX = 2**31 - 1


class Wheel:
    """The process around the live runtime (mutable); it is started again when a model ends it."""

    def __init__(self) -> None:
        self.process = self._start()

    @staticmethod
    def _start() -> subprocess.Popen[str]:
        worker = str(Path(__file__).with_name("lite_worker.py"))
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        return subprocess.Popen([sys.executable, worker], text=True, **pipes)

    def answer(self, data: bytes, settings: LiteSettings, *, double: bool) -> dict[str, Any] | None:
        """Return what the runtime makes of a model, None when the process dies of it."""
        request = {
            "model": base64.b64encode(data).decode(),
            "kernels": settings.kernels,
            "preserve_all": settings.preserves_all_tensors,
            "threads": settings.threads,
            "double_batch": double,
        }
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.process = self._start()
            return None
        return json.loads(line)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def answers(live: Wheel, data: bytes, settings: LiteSettings, *, double: bool = False) -> tuple[Any, Any]:
    """Return the status, the messages and the subgraphs that we say, and those that the wheel says.

    The wheel's are None when its process dies; what our reports call undefined is to be left out by the caller.
    """
    theirs = live.answer(data, settings, double=double)
    model = parse(data, strict=False)
    ours = machine_document("", allocated(model, settings, shapes=double_batch if double else None))
    ours = json.loads(json.dumps(as_json(ours)))
    for graphs in (ours["subgraphs"], theirs["subgraphs"] if theirs else []):
        for graph in graphs if ours["status"] == "error" else ():
            del graph["temporaries"]  # a kernel that fails half-way leaves some of them unwritten
    said = (ours["status"], "".join(ours["errors"]), ours["subgraphs"])
    return said, theirs and (theirs["status"], theirs["error"], theirs["subgraphs"])


def is_undefined(ours: tuple[str, str, Any]) -> bool:
    """Return whether the runtime's answer depends on more than the model: on stray bytes, or on the machine."""
    graphs = ours[2]
    rows = [row for graph in graphs for row in graph["tensors"]]
    sizes = [size for row in rows for size in row[3]]
    # An offset, though the batch was refused: the one before it had an arena.
    bytes_before = [row[2] for row in rows if row[0] == "arena_rw" and any(other[1] is not None for other in rows)]
    spans = [graph["arena_rw_span"] for graph in graphs]
    return (
        any(part in ours[1] for part in UNDEFINED)
        or max((*spans, *bytes_before), default=0) > ROOM
        or max(sizes, default=0) > _INT_MAX
    )
