"""The C planners under AddressSanitizer and UBSan: no case of ``fuzz_planners.c`` fails."""

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCES = ("tflm_plan.c", "hill_climb.c", "min_cost_flow.c", "first_fit.c")
CORE = HERE.parents[1] / "tflm_sim/planners/native"
FLAGS = ["-std=c99", "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


def compiled(tmp_path, *arguments):
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    return subprocess.run([compiler, *arguments, f"-I{CORE}"], cwd=tmp_path, capture_output=True, text=True)


@pytest.mark.parametrize("source", SOURCES)
def test_the_core_compiles_without_a_warning(source, tmp_path):
    assert compiled(tmp_path, "-std=c99", "-O2", *WARNINGS, "-c", str(CORE / source)).stderr == ""


def test_random_calls_are_answered_right_and_stay_inside_their_workspace(tmp_path):
    sources = [str(HERE / "fuzz_planners.c"), *(str(CORE / source) for source in SOURCES)]
    built = compiled(tmp_path, *FLAGS, *sources, "-o", "fuzz")
    if built.returncode:
        pytest.skip(f"no sanitizers here: {built.stderr.splitlines()[0]}")
    run = subprocess.run([tmp_path / "fuzz", "1", "3000"], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "3000 cases\n"), run.stderr
