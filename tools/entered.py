"""A plugin of pytest for ``mutate.py``: which functions each file of tests enters, and how long it takes.

    ENTERED=FOLDER PYTHONPATH=tools:. python -m pytest -p entered -n 2 --dist loadfile tests/unit

Each process of pytest writes ``FOLDER/PID.jsonl``, a row a test file: its path, its seconds, and the functions entered
as ``tflm_sim/arena/needs.py::Needs.later``. What a child process enters is not seen.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import threading
import time
from collections.abc import Generator
from pathlib import Path
from types import CodeType, FrameType

import pytest

ROOT = Path(__file__).resolve().parent.parent
_FUNCTION = inspect.CO_OPTIMIZED
"""A flag that functions have; the bodies of modules and classes, which run when they are imported, have it not."""
_entered: dict[int, CodeType] = {}
_seconds = 0.0


def _enter(frame: FrameType, _event: str, _argument: object) -> None:
    code = frame.f_code
    _entered[id(code)] = code  # by identity: the hash of a code object is that of all its constants


def function_name(path: str, qualified: str) -> str:
    """Return a function's name as rows have it: what is nested without a name of its own counts for what it is in."""
    return f"{path}::{'.'.join(part for part in qualified.split('.') if not part.startswith('<'))}"


def _row(test_file: str) -> dict[str, object]:
    inside = [(Path(code.co_filename), code.co_qualname) for code in _entered.values() if code.co_flags & _FUNCTION]
    names = {
        function_name(str(path.relative_to(ROOT)), qualified)
        for path, qualified in inside
        if path.is_relative_to(ROOT / "tflm_sim")
    }
    return {"tests": test_file, "seconds": round(_seconds, 2), "entered": sorted(names)}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """Trace a test; after the last one of its file, write the file's row."""
    global _seconds
    begun = time.monotonic()
    sys.settrace(_enter)
    threading.settrace(_enter)
    try:
        return (yield)
    finally:
        sys.settrace(None)
        threading.settrace(None)
        _seconds += time.monotonic() - begun
        if nextitem is None or nextitem.path != item.path:
            with open(Path(os.environ["ENTERED"]) / f"{os.getpid()}.jsonl", "a", encoding="utf-8") as rows:
                rows.write(json.dumps(_row(str(item.path.relative_to(ROOT)))) + "\n")
            _entered.clear()
            _seconds = 0.0
