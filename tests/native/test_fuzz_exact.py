"""The exact planner's C code agrees with a plain search on every random problem, under three sanitizers."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CORE = HERE.parents[1] / "tflm_sim/planners/native"
SOURCES = sorted((*CORE.glob("exact*.c"), CORE / "pq_tree.c"))
FLAGS = ["-std=c99", "-g", "-O1", "-fno-sanitize-recover=all", f"-I{CORE}"]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


def compiled(tmp_path, *arguments):
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    return subprocess.run([compiler, *arguments], cwd=tmp_path, capture_output=True, text=True)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_the_search_compiles_without_a_warning(source, tmp_path):
    assert compiled(tmp_path, "-std=c99", "-O2", *WARNINGS, "-c", str(source)).stderr == ""


CASES = "60" if os.environ.get("CI") else "200"
"""The same ones each time."""


@pytest.mark.slow
@pytest.mark.parametrize("sanitizers", ["address,undefined", pytest.param("thread", marks=pytest.mark.nightly)])
def test_random_problems_are_answered_as_by_a_plain_search(sanitizers, tmp_path):
    sources = [str(HERE / "fuzz_exact.c"), *map(str, SOURCES)]
    built = compiled(tmp_path, *FLAGS, f"-fsanitize={sanitizers}", *sources, "-lpthread", "-o", "fuzz")
    if "cannot find" in built.stderr:
        pytest.skip(f"no sanitizers here: {built.stderr.splitlines()[0]}")
    assert built.returncode == 0, built.stderr
    run = subprocess.run([tmp_path / "fuzz", "1", CASES], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, f"{CASES} cases\n"), run.stderr


TWO_ARRAYS = """
#include <stdlib.h>
#include "exact_block.h"
static int *first, *second;
static void lay_out(void *object, tflm_workspace_t *workspace) {
  (void)object;
  first = tflm_carve(workspace, 3, sizeof *first);
  second = tflm_carve(workspace, 3, sizeof *second);
}
int main(int argc, char **argv) {
  void *block = tflm_exact_block_new(NULL, lay_out);
  (void)argv;
  first[1 + argc] = second[2] = 1; /* within first without an argument */
  free(block);
  return 0;
}
"""


def test_a_write_behind_one_of_the_arrays_of_a_block_is_caught(tmp_path):
    (tmp_path / "two_arrays.c").write_text(TWO_ARRAYS, "utf-8")
    built = compiled(tmp_path, *FLAGS, "-fsanitize=address", "two_arrays.c", str(CORE / "exact_block.c"), "-o", "two")
    if built.returncode:
        pytest.skip(f"no sanitizers here: {built.stderr.splitlines()[0]}")
    assert subprocess.run([tmp_path / "two"], capture_output=True).returncode == 0
    behind = subprocess.run([tmp_path / "two", "one more"], capture_output=True, text=True)
    assert behind.returncode != 0
    assert "use-after-poison" in behind.stderr
