"""A library leaves its host alone: every public function leaves the process as it was, in as many threads as there are.

And no module shares with all the process what belongs to a model, a file or a user's settings.
"""

from __future__ import annotations

import ast
import gc
import importlib
import inspect
import locale
import logging
import multiprocessing
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tflm_sim
from tflm_sim.child_python import child_python
from tflm_sim.cli import main

PACKAGE = Path(tflm_sim.__file__).parent
TOOLS = Path(__file__).parents[1] / "tools"


@pytest.fixture(scope="module", autouse=True)
def others() -> None:
    """Import the packages of others: what they change when they are imported is theirs."""
    for name in ("distributed", "matplotlib.figure", "pandas", "serial"):
        importlib.import_module(name)


def host() -> dict[str, object]:
    """Return what a program has set for all of its process, or that others could set behind its back."""
    np = importlib.import_module("numpy")
    mask = os.umask(0)
    os.umask(mask)
    loggers = logging.root.manager.loggerDict
    return {
        "garbage collection": (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count(), list(gc.callbacks)),
        "logging": (logging.root.level, logging.root.handlers[:], logging.root.disabled, logging.root.manager.disable),
        "loggers": {name for name, logger in loggers.items() if getattr(logger, "disabled", False)},
        "signals": {number: signal.getsignal(number) for number in signal.valid_signals()},
        "warnings": (warnings.filters[:], warnings.showwarning),
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "path": sys.path[:],
        "mask": mask,
        "limits of Python": (sys.getrecursionlimit(), sys.getswitchinterval(), sys.get_int_max_str_digits()),
        "hooks": (sys.excepthook, threading.excepthook, sys.unraisablehook, sys.gettrace(), sys.getprofile()),
        "streams": (sys.stdout, sys.stderr, sys.stdin),
        "network": socket.getdefaulttimeout(),
        "locale": locale.setlocale(locale.LC_ALL),
        "random": random.getstate(),
        "numpy": (np.geterr(), np.get_printoptions(), np.random.get_state()[1].tobytes()),
        "processes": (multiprocessing.get_start_method(), multiprocessing.active_children()),
        "threads": set(threading.enumerate()),
    }


SINE = tflm_sim.load("sample:sine")
M4 = "cortex-m4"


def _board(command: str, **arguments: int) -> Any:
    raise tflm_sim.TflmSimError("no board")


def _open_port() -> None:
    ours, theirs = os.openpty()
    try:
        tflm_sim.open_port(os.ttyname(theirs)).close()
    finally:
        os.close(ours)
        os.close(theirs)


def _stream() -> tflm_sim.Streamed:
    return tflm_sim.stream("sample:keyword_spotter", 2, axis=1, aim="macs")


def _shrunk_lines() -> list[str]:
    return tflm_sim.shrunk_lines(tflm_sim.shrink(SINE, M4), goal=None, explain=True)


def _problem() -> tflm_sim.Problem:
    return tflm_sim.head_problem(tflm_sim.simulate(SINE, M4))


def _comparison() -> Any:
    return tflm_sim.compare_planners(_problem().buffers, names=("greedy", "exact"), time_limit=1)


def _picture() -> Any:
    return tflm_sim.take_picture(SINE, M4)


def _lite() -> Any:
    return tflm_sim.lite_allocated(SINE, tflm_sim.LiteSettings())


def _run_script() -> None:
    with pytest.raises(tflm_sim.TflmSimError, match="no board"):
        tflm_sim.run_script(tflm_sim.replay_script(tflm_sim.simulate(SINE, M4, arena_size=4096)), _board)


CALLS: dict[str, Callable[[], object]] = {
    "arena_objective": lambda: tflm_sim.arena_objective(M4)(SINE),
    "check": lambda: tflm_sim.check(SINE, M4, limit="64KiB").answer,
    "compare_planners": _comparison,
    "double_batch": lambda: tflm_sim.lite_allocated(SINE, tflm_sim.LiteSettings(), shapes=tflm_sim.double_batch),
    "draw_arena": lambda: tflm_sim.draw_arena(_picture()),
    "draw_live_bytes": lambda: tflm_sim.draw_live_bytes(_picture()),
    "draw_planners": lambda: tflm_sim.draw_planners(_problem(), _comparison()),
    "draw_tail": lambda: tflm_sim.draw_tail(_picture()),
    "draw_two_sets": lambda: tflm_sim.draw_two_sets({"head": 1}, {"head": 2}),
    "encode": lambda: tflm_sim.encode(SINE),
    "head_problem": _problem,
    "invoke": lambda: tflm_sim.invoke(tflm_sim.simulate(SINE, M4)),
    "lifetimes": lambda: tflm_sim.lifetimes(SINE, M4),
    "lite_allocated": _lite,
    "lite_pictures": lambda: tflm_sim.lite_pictures("m", _lite(), tflm_sim.LiteSettings()),
    "lite_summaries": lambda: tflm_sim.lite_summaries(_lite()),
    "load": lambda: tflm_sim.load("sample:streaming"),
    "open_port": _open_port,
    "parse": lambda: tflm_sim.parse(bytes(SINE.source)),
    "preset": lambda: tflm_sim.preset("esp32-s3"),
    "replay_script": lambda: tflm_sim.replay_script(tflm_sim.simulate(SINE, M4, arena_size=4096)),
    "run_script": _run_script,
    "sample_path": lambda: tflm_sim.sample_path("sine"),
    "sanitize": lambda: tflm_sim.sanitize(SINE, M4),
    "shrink": lambda: tflm_sim.shrink(SINE, M4),
    "shrunk_lines": _shrunk_lines,
    "stream": _stream,
    "streamed_lines": lambda: tflm_sim.streamed_lines(_stream()),
    "simulate": lambda: tflm_sim.simulate(SINE, M4, arena_size=100).log,
    "smallest_arena": lambda: tflm_sim.smallest_arena(SINE, M4),
    "sweep": lambda: tflm_sim.sweep(["sample:sine", b"no model"], "all", jobs=1),
    "sweep in processes": lambda: tflm_sim.sweep(["sample:sine", b"no model"], "all", jobs=2),
    "take_picture": _picture,
    "trace_line": lambda: [tflm_sim.trace_line(event) for event in tflm_sim.simulate(SINE, M4).events],
    "verify": lambda: tflm_sim.verify(SINE, SINE),
    "with_offline_plan": lambda: tflm_sim.with_offline_plan(SINE, M4, "greedy"),
}
NEEDS_MORE = {"execute", "measure"}
"""Public functions that need a linked program, which is built in tests of their own."""
COMMANDS = (
    "boards",
    "check sample:sine --limit 1KiB",
    "compare sample:sine",
    "lifetimes sample:sine",
    "lite sample:sine",
    "ops",
    "plan sample:sine --all --time-limit 1s",
    "report sample:sine -o page.html",
    "shrink sample:sine -o small.tflite",
    "size sample:sine --json",
    "size http://127.0.0.1:9/sine.tflite --allow-download",
    "sweep sample:sine -o rows.csv --jobs 2 --row-seconds 5 --worker-memory 1GiB",
    "targets",
    "trace sample:sine",
)


def test_every_public_function_is_called() -> None:
    functions = {name for name in tflm_sim.__all__ if inspect.isfunction(getattr(tflm_sim, name))}
    assert functions - NEEDS_MORE == CALLS.keys() - {"sweep in processes"}


@pytest.fixture
def host_of_its_own() -> Iterator[None]:
    """Set what a program may set to values that nobody else would choose."""
    thresholds = gc.get_threshold()
    gc.set_threshold(123_456, 5, 5)
    gc.unfreeze()  # what conftest.py froze may die, and would be counted
    yield
    gc.freeze()
    gc.set_threshold(*thresholds)


@pytest.mark.parametrize("name", CALLS)
def test_a_public_function_leaves_the_process_as_it_was(name: str, host_of_its_own: None) -> None:
    before = host()
    CALLS[name]()
    assert host() == before


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_leaves_the_process_as_it_was(
    command: str, host_of_its_own: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = host()
    main(command.split())
    assert host() == before


# -- child processes --------------------------------------------------------------------------------------------------


def test_one_module_starts_pythons_and_one_copies_of_this_one() -> None:
    """``extras.py`` names this Python in a sentence, and starts nothing."""
    users = {path.name for path in PACKAGE.rglob("*.py") if "sys.executable" in path.read_text("utf-8")}
    assert users == {"child_python.py", "extras.py"}
    assert "subprocess" not in (PACKAGE / "extras.py").read_text("utf-8")
    users = {path.name for path in PACKAGE.rglob("*.py") if "import multiprocessing" in path.read_text("utf-8")}
    assert users == {"processes.py"}


def test_modules_of_the_current_folder_are_not_executed(tmp_path: Path) -> None:
    for name in ("json", "pickle", "signal", "queue", "threading", "numpy", "tflm_sim", "random", "argparse"):
        (tmp_path / f"{name}.py").write_text("open('executed', 'w').close()\nraise SystemExit(9)\n")
    # As the script tflm-sim does, whose folder is not the current one.
    code = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r})\nfrom tflm_sim.cli import main\n"
    # A program without threads sweeps in copies of itself, one with a thread in new Pythons.
    program = tmp_path / "bin" / "program.py"
    program.parent.mkdir()
    thread = "    import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    program.write_text(f"{code}if __name__ == '__main__':\n{thread}    sys.exit(main())")
    sweep = ["sweep", "sample:sine", "--jobs", "2", "--overwrite", "-o", "rows.csv"]
    copies = [sys.executable, "-P", "-c", f"{code}sys.exit(main())", *sweep]
    for command in (copies, [sys.executable, str(program), *sweep], child_python("json.tool")):
        done = subprocess.run(command, cwd=tmp_path, input="{}", capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "executed").exists()


# -- threads ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("number", range(2))
def test_threads_that_take_turns_all_the_time_find_what_one_finds(number: int) -> None:
    command = [sys.executable, str(TOOLS), "compare", "threads", "--one-process", str(number), "--models", "5"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# -- what modules keep ------------------------------------------------------------------------------------------------

OF_FILES = {
    "extensions/mcp/pages.py": {"pages"},
    "targets/libraries.py": {"_by_name"},
    "logs/kernel_texts.py": {"_by_word"},
    "extensions/firmware/reading/absent_checks.py": {"_table"},
    "extensions/firmware/reading/dated_texts.py": {"_table"},
    "extensions/firmware/reading/kernel_requests.py": {"_table"},
    "extensions/lite/flex.py": {"allowlist"},
    "extensions/lite/kernels/conditions.py": {"_rows"},
    "ops/places.py": {"_table"},
    "provenance.py": {"commit"},
    "targets/history.py": {"commits", "main_line", "wheels"},
}
"""Module -> functions that read a table which the package brings along, once."""
OF_VERSIONS = {
    "device/static_memory_plan.py": {"lifetime_rules"},
    "graph/eval_tensor.py": {"types_that_convert", "types_without_size"},
    "ops/registry.py": {"_table"},
    "targets/structs.py": {"declarations", "layouts"},
}
"""... that work out the rules of one version of TFLM, or of an ABI, for 64 of them at the most."""
OF_PROGRAMS = {"extensions/firmware/described.py": {"_described"}}
"""The last programs that were read: reading one takes seconds, and several questions follow each other."""
OF_CODE = {
    "documents.py": {"fields_of", "types_of"},
    "extensions/firmware/reading/snapshot.py": {"esp_runtimes"},
    "model/load.py": {"native_reader"},
    "model/recipes.py": {"option_recipe"},
    "model/schema.py": {"builtin_operator_code", "option_fields", "options_of_operator"},
    "ops/eval_values.py": {"_rows"},
    "ops/evals.py": {"_rows"},
    "planners/native/__init__.py": {"_binding", "_binding_with_callbacks"},
    "schemas/generate.py": {"_documented"},
    "targets/declarations.py": {"_conditions", "_declarations", "_laid_out", "_members", "_parts", "_struct"},
    "registry.py": {"extensions", "others", "parts"},
}
"""... that work out what follows from the package's own classes, texts, schema and extensions."""


MUTABLE = {"set", "dict", "list", "deque", "count", "Counter", "defaultdict", "OrderedDict", "local", "threading.local"}
MUTABLE |= {"Lock", "threading.Lock", "WeakKeyDictionary", "WeakValueDictionary", "Sizer", "iter"}


def _kept(path: Path) -> Iterator[str]:
    """Yield what a module keeps that changes: cached functions, names that functions set anew, empty collections."""
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            yield from node.names
        if isinstance(node, ast.FunctionDef) and node in tree.body:  # What a call defines ends with it.
            words = {
                word.id
                for decorator in node.decorator_list
                for word in ast.walk(decorator)
                if isinstance(word, ast.Name)
            }
            if words & {"cache", "lru_cache"}:
                yield node.name
    for statement in tree.body:
        value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
        is_empty = isinstance(value, ast.Dict | ast.List) and ast.unparse(value) in ("{}", "[]")
        if is_empty or (isinstance(value, ast.Call) and ast.unparse(value.func) in MUTABLE):
            yield ast.unparse(statement)


def test_modules_keep_tables_of_facts_and_nothing_of_a_user() -> None:
    found = {str(path.relative_to(PACKAGE)): names for path in PACKAGE.rglob("*.py") if (names := set(_kept(path)))}
    assert found == OF_FILES | OF_VERSIONS | OF_PROGRAMS | OF_CODE
