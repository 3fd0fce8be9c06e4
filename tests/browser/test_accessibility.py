"""axe-core finds nothing in the report, in the page that sizes models, and in the site of the documentation."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from release import chromium

from tflm_sim.device.configuration import Configuration
from tflm_sim.extensions.lite.answer import LiteSettings, allocated
from tflm_sim.extensions.lite.planned_picture import lite_pictures
from tflm_sim.model.load import load
from tflm_sim.report.board_rows import BoardFit
from tflm_sim.report.take_picture import take_picture
from tflm_sim.targets.presets import preset

pytestmark = pytest.mark.nightly
Violations = Callable[[Any], list[tuple[str, list[str]]]]
ROOT = Path(__file__).resolve().parents[2]
BOARDS = [BoardFit("esp32", "esp32", "ok", 4096, 320 << 10, 503_316, 4 << 20, may_fit=True, fits="if free")]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_report_has_none_in_any_of_its_tabs(page: Any, violations: Violations, theme: str, width: int) -> None:
    model = load("sample:residual")
    pictures = [take_picture(model, Configuration(preset(name))) for name in ("cortex-m4", "esp32-s3")]
    page.open(pictures, BOARDS, theme=theme, width=width)
    for tab in ("shrink", "buffers", "tail", "boards", "chosen"):
        page.click(f"#tab-{tab}")
        assert violations(page.driver) == [], tab
    page.js("(tflmSim.choose(tflmSim.views[0], {kind: 'resident', index: 3}), true)")
    assert violations(page.driver) == []
    page.press("?")
    assert violations(page.driver) == []


def test_a_report_of_a_failure_and_one_of_litert_have_none(page: Any, violations: Violations) -> None:
    page.open([take_picture(load("sample:residual"), Configuration(preset("cortex-m4")), arena_size=20 * 1024)])
    assert violations(page.driver) == []
    settings = LiteSettings()
    page.open(lite_pictures("m", allocated(load("sample:residual"), settings), settings))
    assert violations(page.driver) == []


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site of the documentation."""
    if importlib.util.find_spec("material") is None:
        pytest.skip("mkdocs-material is not installed")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_site_has_none(browser: Any, violations: Violations, site: Path, theme: str) -> None:
    chromium.emulate(browser, width=1280, height=900, theme=theme)
    bad = {}
    for path in sorted(site.rglob("index.html")):
        browser.get(path.as_uri())
        if found := violations(browser):
            bad[str(path.relative_to(site))] = found
    assert bad == {}
