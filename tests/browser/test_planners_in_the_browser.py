"""The planners' C, compiled to WebAssembly and loaded by the browser's Python, answers as it does on this machine."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from random import Random
from typing import Any

import pytest
from compare.c_core import random_problem

from tflm_sim.errors import UsageError
from tflm_sim.extensions.page import planners
from tflm_sim.extensions.page.planners import PROGRAMS, compiled_planners
from tflm_sim.extensions.page.site import PYODIDE_VERSION, package_archive
from tflm_sim.planners.gpu.by_size import best_fit_offsets
from tflm_sim.planners.gpu.records import TensorUsageRecord
from tflm_sim.planners.greedy import greedy_offsets

pytestmark = pytest.mark.nightly
ROOT = Path(__file__).resolve().parents[2]
PYODIDE = ROOT / ".venv" / f"pyodide-{PYODIDE_VERSION}.tgz"
NODE = shutil.which("node") or shutil.which("node", path=str(Path(sys.executable).parent))
PROBLEMS = 400

SCRIPT = """
import fs from "fs";
import { loadPyodide } from "./package/pyodide.mjs";
const python = await loadPyodide({ indexURL: new URL("./package/", import.meta.url).pathname });
python.unpackArchive(new Uint8Array(fs.readFileSync("tflm_sim.zip")), "zip");
python.FS.writeFile("/problems.json", new Uint8Array(fs.readFileSync("problems.json")));
fs.writeFileSync("answers.json", python.runPython(fs.readFileSync("answers.py", "utf8")));
"""

ANSWERS = """
import json
from tflm_sim.planners import exact, native
from tflm_sim.planners.buffers import Buffer
from tflm_sim.planners.deadline import deadline_in
from tflm_sim.errors import PlanningError

def climbed(rows):
    search = native.NativeHillClimb(rows, len(rows) ** 2, deadline_in(60))
    search.run(50)
    return list(search.best_offsets)

def solved(rows):
    buffers = [Buffer(size, first, last + 1) for size, _, first, last, _ in rows if size > 0]
    heard = []
    found = exact.solve(buffers, node_limit=2_000, on_progress=lambda status: heard.append(status) and False)
    return [list(found.plan.offsets), found.lower_bound, found.nodes]

def answered(rows):
    usages = [(size, first, last) for size, _, first, last, _ in rows]
    free = [(size, -1, first, last, 4) for size, _, first, last, _ in rows]
    flow = native.min_cost_flow(usages) if rows else []
    return [native.greedy(rows)[0], native.best_fit(free), flow, climbed(free), solved(rows[:12])]

def refused(rows):
    try:
        return native.greedy(rows)
    except PlanningError as error:
        return str(error)

answer = [native.available(), [answered(list(map(tuple, rows))) for rows in json.load(open(PROBLEMS))]]
json.dumps([*answer, refused([(2**31 - 1, -1, 0, 0, 1), (1, -1, 0, 0, 1)]), refused([(-1, -1, 0, 0, 1)])])
"""


def here(problems: list[Any], folder: Path) -> Any:
    """Run the same lines in this Python."""
    path = folder / "problems.json"
    path.write_text(json.dumps(problems), "utf-8")
    *lines, last = ANSWERS.strip().splitlines()
    names: dict[str, Any] = {"PROBLEMS": str(path)}
    exec("\n".join(lines), names)
    return json.loads(eval(last, names))


def in_the_browser(folder: Path) -> Any:
    """Run them in the browser's Python, in node."""
    with tarfile.open(PYODIDE) as archive:
        archive.extractall(folder)
    (folder / "tflm_sim.zip").write_bytes(package_archive(compiled_planners()))
    (folder / "answers.py").write_text(f"PROBLEMS = '/problems.json'\n{ANSWERS}", "utf-8")
    (folder / "run.mjs").write_text(SCRIPT, "utf-8")
    done = subprocess.run([str(NODE), "run.mjs"], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-1500:]
    return json.loads((folder / "answers.json").read_text("utf-8"))


def test_every_planner_answers_in_webassembly_as_it_does_here(tmp_path: Path) -> None:
    absent = [name for name in PROGRAMS if shutil.which(name) is None]
    if absent or NODE is None or not PYODIDE.exists():
        pytest.skip(f"tools/test.sh brings {', '.join(absent) or PYODIDE}")
    draw = Random(5)
    problems = [random_problem(draw) for _ in range(PROBLEMS)]
    ours = here(problems, tmp_path)
    assert ours[0], "this machine has no C core"
    theirs = in_the_browser(tmp_path)
    assert theirs[0], "the library was not loaded"
    assert theirs[1] == ours[1]
    assert theirs[2:] == ours[2:] == [
        "the buffers reach beyond 2,147,483,647 bytes, the most that a 32-bit planner can count",
        "a buffer has a negative size, an alignment below 1 or a time of -2^31",
    ]  # fmt: skip
    # And Python's own, which no C had a part in.
    for rows, (greedy, best_fit, *_) in zip(problems, theirs[1], strict=True):
        assert greedy == greedy_offsets(rows)
        free = [TensorUsageRecord(row.size, row.first_time_used, row.last_time_used) for row in rows]
        assert best_fit == best_fit_offsets(free, 4)


def test_without_a_compiler_the_reason_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planners, "PROGRAMS", ("clang-of-nobody", "wasm-ld-of-nobody"))
    with pytest.raises(UsageError, match=r"^clang-of-nobody and wasm-ld-of-nobody not found \(Debian: apt install"):
        compiled_planners()
