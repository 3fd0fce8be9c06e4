"""The pages build without a warning; their commands are run by tests/test_set_up.py."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

import tflm_sim

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the pages."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.nightly
def test_the_pages_build_without_a_warning(site: Path) -> None:
    assert "smallest_arena" in (site / "reference/api/index.html").read_text("utf-8")


@pytest.mark.nightly
def test_no_heading_of_a_page_ends_in_a_block_of_code(site: Path) -> None:
    for page in (ROOT / "docs").glob("*.md"):
        text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        html = (site / page.stem.removesuffix("index") / "index.html").read_text("utf-8")
        assert html.count("<h2 id=") == len(re.findall(r"^## ", text, re.MULTILINE)), page


@pytest.mark.nightly
def test_every_link_of_the_site_leads_to_what_is_there(site: Path) -> None:
    copied = re.findall(r"cp --parents (.*) site/", (ROOT / ".github/workflows/docs.yml").read_text("utf-8"))
    elsewhere = {*copied[0].split(), *(f"notebooks/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb"))}
    broken = set()
    for page in site.rglob("*.html"):
        for path, part in re.findall(r'(?:href|src)="(?!\w+:|/)([^"#?]*)#?([^"]*)"', page.read_text("utf-8")):
            there = (page.parent / path).resolve() if path else page
            there = there / "index.html" if there.is_dir() else there
            if str(there.relative_to(site)) in elsewhere:
                continue
            if not there.exists() or (part and part[0] != "_" and f'"{part}"' not in there.read_text("utf-8")):
                broken.add(f"{page.relative_to(site)}: {path}#{part}")
    assert broken == set()


def test_every_public_name_is_in_the_api_reference() -> None:
    shown = set(re.findall(r"^::: (\S+)$", (ROOT / "docs/reference/api.md").read_text("utf-8"), re.MULTILINE))
    homes = {".".join(home.split(":")) if ":" in home else f"{home}.{name}" for name, home in tflm_sim._HOMES.items()}
    assert {home for home in homes if not home.startswith("tflm_sim.errors.")} <= shown
    assert "tflm_sim.errors" in shown


def recipe(title: str, language: str) -> str:
    """Return the code of a recipe in docs/firmware.md."""
    text = (ROOT / "docs/firmware.md").read_text("utf-8")
    found = re.search(rf"\*\*{title}\*\*.*?```{language}\n(.*?)```", text, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.mark.slow
@pytest.mark.parametrize("code", [0, 1])
def test_the_recipe_for_cmake_runs_after_each_build_and_fails_it(code: int, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "tflm-sim").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\nexit {code}\n')
    (tmp_path / "tflm-sim").chmod(0o755)
    head = "cmake_minimum_required(VERSION 3.16)\nproject(firmware C)\nadd_executable(app main.c)\n"
    (tmp_path / "CMakeLists.txt").write_text(head + recipe("CMake", "cmake"))
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    build = tmp_path / "build"
    subprocess.run(["cmake", "-S", tmp_path, "-B", build], env=environment, check=True, capture_output=True)
    done = subprocess.run(["cmake", "--build", build], env=environment, capture_output=True, check=False)
    assert (done.returncode == 0) == (code == 0)
    assert (tmp_path / "asked").read_text() == f"firmware {build / 'app'}\n"


def test_the_recipe_for_platformio_is_an_extra_script() -> None:
    env = Mock()
    exec(recipe("PlatformIO", "python"), {"Import": lambda name: None, "env": env})
    env.AddPostAction.assert_called_once_with("$PROGPATH", 'tflm-sim firmware "$PROGPATH"')
