"""The pytest plugin: tests about the arena of your own models.

    @pytest.mark.arena(model="kws.tflite", target="cortex-m4", limit="64KiB")
    def test_the_state_persists(arena):
        arena.assert_persistent("state")

A marked test fails where the model does not fit into ``limit``, whether it uses the ``arena`` fixture or not. Baselines
are read when a test runs and written once, at the end, by the process that has all reports: pytest-xdist's workers do
not write. What a test learned travels with its report as a user property.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tflm_sim.escape import one_line
from tflm_sim.extensions.ci.pytest_plugin.outcomes import PROPERTY, Measured

if TYPE_CHECKING:
    from tflm_sim.extensions.ci.pytest_plugin.checker import ArenaChecker

TARGET = "cortex-m4"
DEFAULT_BASELINE = "arena_baseline.json"
MARKER = (
    f"arena(model, target='{TARGET}', limit=None, board=None, library=None, kernels=None, runtime=None, "
    "firmware=None, run=False, into=0, interpreter=None, planner='greedy', own_planner=False, "
    "resource_variables=None, custom_ops=(), ethos_u=False, arena_address=0, "
    "variable_arena=None): the model that the test is about, and the firmware that it runs in; the test fails "
    "unless the model works in an arena of limit bytes ('64KiB'); firmware is a linked program, which is read, or with "
    "run=True executed"
)


_CHECKER = pytest.StashKey["ArenaChecker"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("arena", "arena sizes of TensorFlow Lite Micro models")
    group.addoption(
        "--arena-fail-on-increase",
        action="store_true",
        help="fail marked tests whose model needs more than the last good size; remember the sizes of those that pass",
    )
    group.addoption(
        "--arena-baseline",
        metavar="FILE",
        default=DEFAULT_BASELINE,
        help="where --arena-fail-on-increase remembers sizes (default: %(default)s in the root directory)",
    )
    group.addoption(
        "--arena-update-baseline",
        action="store_true",
        help="let assert_no_growth() write its baseline instead of comparing",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, and collect what the tests learned."""
    config.addinivalue_line("markers", MARKER)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Reporter(), "tflm_sim_arena_reporter")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a ``tflm-sim.toml`` as a file of tests: one for each model on each firmware."""
    if file_path.name != "tflm-sim.toml":  # most are not, and need not wait for an import
        return None
    from tflm_sim.extensions.ci.pytest_plugin.project_items import ProjectFile

    collected: pytest.Collector = ProjectFile.from_parent(parent, path=file_path)
    return collected


@pytest.fixture
def arena(request: pytest.FixtureRequest) -> ArenaChecker:
    """The model of the test's ``arena`` marker: size(), simulate(), lifetimes(), and assertions."""
    return _checker(request.node)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Compare the model of a marked test with its limit and its last good size, then run the test."""
    __tracebackhide__ = True
    if item.get_closest_marker("arena") is not None:
        checker = _checker(item)
        with _without_traceback(f"{item.nodeid}: "):
            if checker.roomy.failure is None:
                _compare(item, checker)
            if checker.limit is not None:
                checker.assert_fits()
    return (yield)


@contextmanager
def _without_traceback(where: str) -> Iterator[None]:
    """Fail with the message alone: the cause is the marker, which a traceback would not show."""
    from tflm_sim.errors import TflmSimError

    try:
        yield
    except AssertionError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    except (TflmSimError, TypeError) as error:
        raise pytest.fail.Exception(one_line(f"{where}{error}"), pytrace=False) from None


def _compare(item: pytest.Item, checker: ArenaChecker) -> None:
    from tflm_sim.checks.verdict import read_baseline

    size, before, baseline = checker.size(), None, ""
    if item.config.getoption("arena_fail_on_increase"):
        path = Path(item.config.rootpath, item.config.getoption("arena_baseline"))
        before, baseline = read_baseline(path).get(checker.key), str(path)
    measured = Measured(checker.key, size, checker.limit, before, baseline, checker.about)
    item.user_properties.append((PROPERTY, list(measured)))
    checker.compare(size, before, baseline, must_exist=False)


def _checker(item: pytest.Item) -> ArenaChecker:
    """Return the checker of a test's marker, made once."""
    if (made := item.stash.get(_CHECKER, None)) is not None:
        return made
    marker = item.get_closest_marker("arena")
    if marker is None:
        pytest.fail(f"{item.nodeid} uses the arena fixture without @pytest.mark.arena(model=...)", pytrace=False)
    with _without_traceback(f"the marker of {item.nodeid}: "):
        item.stash[_CHECKER] = arena_marker(item, *marker.args, **marker.kwargs)
    return item.stash[_CHECKER]


def arena_marker(
    item: pytest.Item,
    model: str | Path | Any,
    target: str | None = None,
    *,
    limit: int | str | None = None,
    run: bool = False,
    into: int = 0,
    **settings: Any,
) -> ArenaChecker:
    """Return the checker that a marker's arguments ask for; a missing one is named with this function's name.

    Raises:
        TflmSimError: An argument has no meaning, or the model cannot be read.
    """
    from tflm_sim.checks.check import linked_program
    from tflm_sim.cli.options import shrinking
    from tflm_sim.device.configuration import configure
    from tflm_sim.extensions.ci.pytest_plugin.checker import ArenaChecker
    from tflm_sim.report.circumstances import target_line, unnamed
    from tflm_sim.sizes import as_limit

    name, loaded = _load(item, model)

    room = as_limit(limit, "limit")
    is_named = any(settings.get(name) for name in ("board", "firmware", "library"))
    where = target or (None if is_named else TARGET)
    program = None
    if firmware := settings.pop("firmware", None):
        firmware = os.fspath(_found(item, firmware))
        program = linked_program(firmware, target, run=run, into=into, **settings)
        configuration = program.need(name, loaded).configuration
    else:
        configuration = configure(where, **settings)
    typed = {**settings, "target": target, "firmware": firmware, "executed": run, "into": into}
    named = {name: settings.get(name) for name in ("library", "runtime", "kernels")}
    missing = unnamed(configuration, target=target or settings.get("board"), **named)
    about = target_line(configuration.target, () if program else missing)

    def remember(path: Path, key: str, size: int) -> None:
        full = str(Path(item.config.invocation_params.dir, path))
        measured = Measured(key, size, room, None, full, about)
        item.user_properties.append((PROPERTY, list(measured)))

    return ArenaChecker(
        name,
        loaded,
        configuration,
        limit=room,
        about=about,
        program=program,
        shrunk_by=partial(shrinking, typed, loaded.path),
        remember=remember if item.config.getoption("arena_update_baseline") else None,
    )


def _load(item: pytest.Item, model: str | Path | Any) -> tuple[str, Any]:
    """Return a marker's model with its name: a path beside the test or from the root, "sample:NAME", or a Model."""
    from tflm_sim.model.load import load
    from tflm_sim.model.types import Model

    if isinstance(model, Model):
        return model.path or "model", model
    if str(model).startswith("sample:"):
        return str(model), load(model)
    path = _found(item, model)
    inside = path.is_relative_to(item.config.rootpath)
    return (path.relative_to(item.config.rootpath) if inside else path).as_posix(), load(path)


def _found(item: pytest.Item, name: str | Path) -> Path:
    """Return a file beside the test, else from the root."""
    beside = item.path.parent / name
    return beside if beside.exists() else item.config.rootpath / name


# -- reports --------------------------------------------------------------------------------------------------------


class _Reporter:
    """Collects what the reports bring, from all workers (mutable); only in the process that reports."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, int | None], tuple[Measured, str]] = {}
        self._sizes: dict[str, dict[str, int]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call":
            for name, value in report.user_properties:
                if name == PROPERTY:
                    self._take(Measured(*value), report.outcome)  # type: ignore[misc]

    def _take(self, measured: Measured, outcome: str) -> None:
        """Keep one row for each model and limit: the one of a test that failed, if there is one."""
        place = measured.key, measured.limit
        if place not in self._rows or outcome == "failed":
            self._rows[place] = measured, outcome
        if measured.baseline and outcome == "passed":
            self._sizes.setdefault(measured.baseline, {})[measured.key] = measured.size

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Remember the sizes of the tests that passed."""
        from tflm_sim.checks.verdict import update_baseline

        for path, sizes in self._sizes.items():
            update_baseline(Path(path), sizes)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Show every model that a test was about."""
        if not self._rows:
            return
        from tflm_sim.report.tables import table_lines

        found = sorted(self._rows.values(), key=lambda row: (row[0].key, row[0].limit or 0))
        rows = [_row(*row) for row in found]
        terminalreporter.section("arena sizes")
        about = dict.fromkeys(measured.about for measured, _ in self._rows.values())
        for line in [*about, *table_lines([("needs", "limit", "change", "outcome", "model"), *rows])]:
            terminalreporter.write_line(one_line(line))


def _row(measured: Measured, outcome: str) -> tuple[str, ...]:
    limit = "-" if measured.limit is None else f"{measured.limit:,}"
    change = "-" if measured.before is None else f"{measured.size - measured.before:+,}"
    return f"{measured.size:,}", limit, change, outcome, measured.key
