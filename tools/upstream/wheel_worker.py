"""Run models in the pip wheel of TFLM, each in a fork of its own, because a failed check ends the process.

Protocol on stdin and stdout: in, a line "<model bytes> <arena size>" and the model; out, a line of JSON with the status
("ok", "error", "abort"), what the wheel printed to stderr, and the same of Invoke() on inputs of zeros ("" where there
was none).
"""

from __future__ import annotations

import json
import os
import sys
import tempfile

import numpy as np
from tflite_micro.python.tflite_micro import runtime

INVOKES = "-- Invoke() --\n"


def run(model: bytes, arena_size: int) -> None:
    """Allocate tensors, print the recorded allocations, invoke, and end this process.

    The exit code is 1 where it cannot be allocated, 2 where it can and Invoke() fails.
    """
    try:
        interpreter = runtime.Interpreter.from_bytes(model, arena_size=arena_size)
        interpreter.print_allocations()
    except (RuntimeError, ValueError):
        os._exit(1)
    os.write(2, INVOKES.encode())
    try:
        fill_inputs(interpreter)
        interpreter.invoke()
    except (RuntimeError, ValueError):
        os._exit(2)
    os._exit(0)


def fill_inputs(interpreter: runtime.Interpreter) -> None:
    """Fill every input of a type that numpy has with zeros."""
    for index in range(64):
        try:
            facts = interpreter.get_input_details(index)
            interpreter.set_input(np.zeros(facts["shape"], facts["dtype"]), index)
        except IndexError:
            return
        except (RuntimeError, ValueError, KeyError, TypeError):
            continue


def run_in_fork(model: bytes, arena_size: int) -> dict[str, str]:
    """Return status and text of both steps."""
    with tempfile.TemporaryFile() as stderr:
        child = os.fork()
        if child == 0:
            os.dup2(stderr.fileno(), 2)
            run(model, arena_size)
        _, ended = os.waitpid(child, 0)
        stderr.seek(0)
        text, invoked, invoke_text = stderr.read().decode(errors="replace").partition(INVOKES)
    code = "abort" if os.WIFSIGNALED(ended) else os.WEXITSTATUS(ended)
    if not invoked:
        return {"status": "abort" if code == "abort" else "error", "stderr": text, "invoke": "", "invoke_stderr": ""}
    status = {"abort": "abort", 2: "error", 0: "ok"}[code]
    return {"status": "ok", "stderr": text, "invoke": status, "invoke_stderr": invoke_text}


def main() -> None:
    """Serve until stdin ends."""
    while header := sys.stdin.buffer.readline():
        size, arena_size = (int(word) for word in header.split())
        answer = run_in_fork(sys.stdin.buffer.read(size), arena_size)
        print(json.dumps(answer), flush=True)


main()
