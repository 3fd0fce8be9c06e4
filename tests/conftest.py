"""Models that many tests use."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Generator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, TensorType

# CI must say the same twice about the same code; everybody else searches on. Machines are shared: no example has a
# deadline, and none is too slow to make.
settings.register_profile("everybody", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("everybody"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "everybody")

TESTS = Path(__file__).resolve().parent
SHARED = TESTS.parents[1] / "shared"

# Containers often forbid Python to write bytecode. Then every process of these tests, and each of the thousands that
# they start, would compile anew what it imports, which takes most of its time. So it is kept with pytest's own files.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(TESTS.parent / ".pytest_cache" / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# What is collected stays until the end: to look for garbage in it takes a third of the time, and again with each test.
gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage in what the tests make, and in nothing older."""
    gc.freeze()
    gc.enable()


# How old the default TFLM is depends on the clock, and is told on stderr: here it is young, in every process.
os.environ["SOURCE_DATE_EPOCH"] = "1788220800"  # 2026-09-01

# The folders of tests/ whose tests are left out by -m "not slow": other people's answers, whole programs, searches.
SLOW_FOLDERS = frozenset(
    {"browser", "cluster", "firmware", "golden", "native", "notebooks", "oracle", "property", "upstream"}
)
# A job that a script starts in the background ignores SIGINT, as would all that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

ALL_MUST_RUN = bool(os.environ.get("TFLM_SIM_ALL_TESTS"))
"""Set by tools/test.sh, which installs everything: a test that is skipped all the same has failed."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark slow folders and what is nightly, and leave out what needs recordings that are not beside this checkout."""
    slow = tuple(f"{TESTS / folder}{os.sep}" for folder in SLOW_FOLDERS)
    absent = set()
    for item in items:
        if str(item.path).startswith(slow) or item.get_closest_marker("nightly"):
            item.add_marker("slow")
        if _needs_recordings(item):
            absent.add(item)
    if absent:
        config.hook.pytest_deselected(items=list(absent))
        items[:] = [item for item in items if item not in absent]


def _needs_recordings(item: pytest.Item) -> bool:
    if any(not _is_recorded(mark.args[0]) for mark in item.iter_markers("shared")):
        return True
    if SHARED.is_dir():
        return False
    skips = (str(mark.kwargs.get("reason", "")) for mark in item.iter_markers("skip"))
    return any(reason.startswith("got empty parameter set") for reason in skips)


@cache
def _is_recorded(path: str) -> bool:
    return (SHARED / path).exists()


def pytest_report_header() -> str:
    """Say what the tests are compared with."""
    return f"recordings of other programs: {SHARED if SHARED.is_dir() else 'the committed sample alone'}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where all tests must run."""
    report = yield
    if ALL_MUST_RUN and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome, report.longrepr = "failed", f"skipped, though everything is installed: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a module that is skipped as a whole."""
    report = yield
    if ALL_MUST_RUN and report.outcome == "skipped":
        report.outcome, report.longrepr = "failed", f"skipped, though everything is installed: {report.longrepr}"
    return report


def relu_chain(*sizes: int) -> Model:
    """Return int8 RELUs in a row: tensor i has ``sizes[i]`` elements; the same size keeps Prepare content."""
    builder = ModelBuilder()
    tensors = [builder.tensor((1, size), TensorType.INT8, scale=0.5, zero_point=0) for size in sizes]
    for source, result in pairwise(tensors):
        builder.operator("RELU", [source], [result])
    return parse(builder.build(inputs=[tensors[0]], outputs=[tensors[-1]]))


HOSTILE_NAMES = (
    "<script>window.hacked = true</script>",
    "</script><img src=x onerror='window.hacked = true'>",
    "\u202egnp.elif\u202c and \u2066more\u2069",
    "escape \x1b[31mred\x1b]0;title\x07 and \r\n\t\x00\x7f lines",
    "line\u2028and paragraph\u2029separators",
    "x" * 9_990 + "the end",
    "$\\frac{1}{2}$ & \"quoted\" 'names' %s {0} @DATA@",
    "\u4e2d\u6587\u5f20\u91cf e\u0301\u0301\u0301 \U0001f468\u200d\U0001f469\u200d\U0001f467",
)


def hostile_model() -> Model:
    """Return a chain of RELUs whose tensors have names that attack terminals and pages."""
    builder = ModelBuilder()
    tensors = [
        builder.tensor((1, 64 * (i + 1)), TensorType.INT8, scale=0.5, zero_point=0, name=name)
        for i, name in enumerate(HOSTILE_NAMES)
    ]
    for source, result in pairwise(tensors):
        builder.operator("RELU", [source], [result])
    model = parse(builder.build(inputs=[tensors[0]], outputs=[tensors[-1]]))
    return replace(model, path="models/<b>\u202e\x1b[1m.tflite")


@pytest.fixture
def hostile() -> Model:
    """Return :func:`hostile_model`."""
    return hostile_model()


@pytest.fixture
def chain() -> Callable[..., Model]:
    """Return :func:`relu_chain`."""
    return relu_chain
