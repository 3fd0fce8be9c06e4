"""The core knows no extension, and no extension another: each is deleted from a copy, and the rest still works."""

from __future__ import annotations

import ast
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tflm_sim.registry import OWN

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "tflm_sim"
EXTENSIONS = sorted(path.name for path in (PACKAGE / "extensions").iterdir() if (path / "__init__.py").exists())
SHOWS_ALL = "page"
"""The only extension that may import others."""

CORE_TESTS = (
    *("answers", "arena", "checks", "device", "graph", "invocation", "logs"),
    *("model", "ops", "planners", "report", "samples", "schemas", "targets"),
)
"""Folders of tests/unit; the tests that stand beside them are of the core, too."""

CORE_COMMANDS = """
    size sample:sine
    size sample:sine --json
    size sample:sine --targets cortex-m4,esp32
    check sample:sine --limit 64KiB
    diff sample:sine sample:residual
    report sample:sine -o page.html
    report sample:sine -o picture.json
    report sample:sine --tensor input
    trace sample:sine
    trace sample:sine --lifetimes
    list targets
    list ops conv
    plan sample:residual
    explain "tensor arena = 33488"
"""
OWN_COMMANDS = {
    "shrink": (["shrink", "sample:sine"], 1),  # which needs no less
    "lite": (["lite", "sample:sine"], 0),
    "sweep": (["sweep", "sample:sine", "--target", "cortex-m4", "-o", "rows.jsonl", "--jobs", "1"], 0),
    "board": (["board", "read", "/dev/null"], 3),
}
"""A command of an extension that needs nothing but the package, and its exit code."""

ANSWER = """
import importlib, pathlib, sys
import tflm_sim
from tflm_sim.cli import main

package = pathlib.Path(tflm_sim.__file__).parent
for argv, code in eval(sys.argv[1]):
    assert main(argv) == code, argv
for path in sorted(package.rglob("*.py")):
    if path.name in ("__main__.py", "build_native.py"):
        continue
    name = ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")
    try:
        importlib.import_module(name)
    except ImportError as missing:
        if (missing.name or "tflm_sim").startswith("tflm_sim"):  # an optional package need not be there
            raise
"""
"""Runs commands, each with the exit code that it must have, and imports every module."""


def test_every_extension_is_a_row_of_the_registry() -> None:
    assert sorted(one.name for one in OWN) == EXTENSIONS


def test_the_registry_names_only_what_is_there() -> None:
    for one in OWN:
        folder = PACKAGE / "extensions" / one.name
        texts = [one.programs, one.sources, one.planners, *one.names, *one.modules.values(), *one.additions.values()]
        texts += [verb.module for verb in one.verbs.values()]
        texts += [part.lines for part in one.parts.values()] + [part.type for part in one.parts.values()]
        modules = {text.partition(":")[0].replace(".", "/") for text in texts if text not in ("", "str")}
        assert [module for module in modules if not (folder / f"{module}.py").exists()] == []


def test_no_import_and_no_text_names_another_extension() -> None:
    named = []
    for path in sorted(PACKAGE.rglob("*.py")):
        own = path.relative_to(PACKAGE).parts
        home = own[1] if own[0] == "extensions" else ""
        if home == SHOWS_ALL or own == ("registry.py",):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            for name in named_in(node):
                parts = name.split(".")
                if parts[:2] == ["tflm_sim", "extensions"] and len(parts) > 2 and parts[2] != home:
                    named.append(f"{'/'.join(own)}:{node.lineno} names {name}")
    assert named == []


def named_in(node: ast.AST) -> list[str]:
    """Return what may be a module's name in an import or a text, such as one for ``import_module``."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value:
        return [node.value.partition(":")[0].replace("/", ".")]
    return []


WITHOUT_EDITABLE = (
    "import sys; sys.meta_path[:] = [one for one in sys.meta_path if 'editable' not in repr(one).lower()]"
)
"""An editable installation finds what was deleted from the copy in the repository."""


def copy_without(folder: Path, *deleted: str) -> dict[str, str]:
    """Copy the package and delete folders in the copy; return an environment in which Python finds it first."""
    shutil.copytree(PACKAGE, folder / "tflm_sim", ignore=shutil.ignore_patterns("__pycache__"))
    for name in deleted:
        shutil.rmtree(folder / "tflm_sim" / name)
    (folder / "sitecustomize.py").write_text(WITHOUT_EDITABLE, "utf-8")
    return {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


def run(arguments: list[str], folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def check(folder: Path, environment: dict[str, str], commands: list[tuple[list[str], int]]) -> None:
    """Let each command answer in the copy, and each module be imported."""
    done = run(["-c", ANSWER, repr(commands)], folder, environment)
    assert done.returncode == 0, done.stderr[-2000:]


def core_commands() -> list[tuple[list[str], int]]:
    """Return the commands of the core, as lists of arguments, with their exit code."""
    return [(shlex.split(line), 0) for line in CORE_COMMANDS.strip().splitlines()]


def test_without_any_extension_the_core_answers(tmp_path: Path) -> None:
    environment = copy_without(tmp_path, "extensions")
    check(tmp_path, environment, core_commands())
    for option in ("--advise", "--firmware", "--executed"):
        asked = run(["-m", "tflm_sim", "size", "sample:sine", option], tmp_path, environment)
        assert asked.returncode == 2
        assert f"unknown option {option}" in asked.stderr


@pytest.mark.nightly
def test_without_any_extension_the_tests_of_the_core_pass(tmp_path: Path) -> None:
    environment = copy_without(tmp_path, "extensions")
    shutil.copytree(ROOT / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("extensions", "__pycache__"))
    for path in ROOT.iterdir():
        if path.name not in ("tflm_sim", "tests", "build") and not path.name.startswith("."):
            (tmp_path / path.name).symlink_to(path)
    beside = (path.relative_to(tmp_path) for path in (tmp_path / "tests/unit").glob("test_*.py"))
    tests = [*(f"tests/unit/{name}" for name in CORE_TESTS), *map(str, beside)]
    done = run(["-m", "pytest", "-q", "-x", "-p", "no:tflm_sim", *tests], tmp_path, environment)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.nightly
@pytest.mark.parametrize("name", EXTENSIONS)
def test_without_one_extension_everything_else_answers(name: str, tmp_path: Path) -> None:
    deleted = {f"extensions/{name}", f"extensions/{SHOWS_ALL}"}
    environment = copy_without(tmp_path, *deleted)
    others = [answer for other, answer in OWN_COMMANDS.items() if other != name]
    check(tmp_path, environment, [*core_commands(), *others])
