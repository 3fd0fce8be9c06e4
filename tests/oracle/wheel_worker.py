"""Run models in the pip wheel of TFLM, each in a fork of its own, because a failed check ends the process.

Protocol on stdin and stdout: in, a line "<model bytes> <arena size>" and the model; out, a line of JSON with the status
("ok", "error", "abort") and what the wheel printed to stderr.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile

from tflite_micro.python.tflite_micro import runtime


def run(model: bytes, arena_size: int) -> None:
    """Allocate tensors, print the recorded allocations, and end this process: 0 is success, 1 a refusal."""
    try:
        interpreter = runtime.Interpreter.from_bytes(model, arena_size=arena_size)
        interpreter.print_allocations()
    except (RuntimeError, ValueError):
        os._exit(1)
    os._exit(0)


def run_in_fork(model: bytes, arena_size: int) -> dict[str, str]:
    """Return the status and the text of stderr."""
    with tempfile.TemporaryFile() as stderr:
        child = os.fork()
        if child == 0:
            os.dup2(stderr.fileno(), 2)
            run(model, arena_size)
        _, ended = os.waitpid(child, 0)
        stderr.seek(0)
        text = stderr.read().decode(errors="replace")
    status = "abort" if os.WIFSIGNALED(ended) else ("ok", "error")[os.WEXITSTATUS(ended)]
    return {"status": status, "stderr": text}


def main() -> None:
    """Serve until stdin ends."""
    while header := sys.stdin.buffer.readline():
        size, arena_size = (int(word) for word in header.split())
        answer = run_in_fork(sys.stdin.buffer.read(size), arena_size)
        print(json.dumps(answer), flush=True)


main()
