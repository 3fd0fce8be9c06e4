"""Headless Chromium for pages that were written to disk."""

from __future__ import annotations

import importlib.util
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from release import chromium

from tflm_sim.report.page import write_page
from tflm_sim.report.picture import Picture


class Page:
    """A page in the browser, and what the tests ask of it."""

    def __init__(self, driver: Any, folder: Path) -> None:
        self.driver = driver
        self._folder = folder

    def open(
        self,
        pictures: Sequence[Picture],
        boards: Sequence[Sequence[str]] = (),
        *,
        width: int = 1280,
        height: int = 800,
        theme: str = "light",
    ) -> None:
        """Write the page, set the window and the preferred theme, and wait for the first paint."""
        path = self._folder / f"{time.monotonic_ns()}.html"
        with path.open("w", encoding="utf-8") as file:
            write_page(file, pictures, boards)
        chromium.emulate(self.driver, width=width, height=height, theme=theme)
        self.driver.get(path.as_uri())
        self.wait("document.documentElement.dataset.firstPaint")

    def js(self, expression: str, *arguments: Any) -> Any:
        """Return the value of an expression; ``a`` are the arguments."""
        return self.driver.execute_script(f"const a = arguments; return {expression};", *arguments)

    def wait(self, expression: str, *arguments: Any, seconds: float = 20) -> Any:
        """Return the value of an expression as soon as it is true; ``a`` are the arguments."""
        end = time.monotonic() + seconds
        while not (value := self.js(expression, *arguments)):
            assert time.monotonic() < end, f"never true: {expression}"
            time.sleep(0.02)
        return value

    def find(self, selector: str) -> Any:
        """Return the element of a CSS selector."""
        return self.driver.find_element("css selector", selector)

    def text(self, selector: str) -> str:
        """Return what an element shows."""
        shown: str = self.find(selector).text
        return shown

    def number(self, selector: str) -> int:
        """Return the number behind what an element shows."""
        return int(self.find(selector).get_attribute("data-value"))

    def click(self, selector: str) -> None:
        """Click an element as a mouse does."""
        self.find(selector).click()

    def press(self, keys: str) -> None:
        """Press keys with the picture in focus."""
        self.find("canvas.over").send_keys(keys)

    def click_on(self, kind: str, index: int, *, pane: int = 0) -> None:
        """Click the middle of a block or resident with the mouse."""
        x, y = self.js(
            "((app) => { const { canvas, view } = app.panes[a[2]], box = canvas.over.getBoundingClientRect();"
            "const e = view.extent({kind: a[0], index: a[1]});"
            "return [box.left + (canvas.x(e.from) + canvas.x(e.to)) / 2,"
            "box.top + (canvas.y(e.start) + canvas.y(e.end)) / 2]; })(tflmSim)",
            kind,
            index,
            pane,
        )
        for event in ("mouseMoved", "mousePressed", "mouseReleased"):
            facts = {"type": event, "x": x, "y": y, "button": "left", "clickCount": 1}
            self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", facts)

    def errors(self) -> list[str]:
        """Return what the browser complained about since the last call."""
        return [json.dumps(entry) for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start one Chromium for all tests."""
    pytest.importorskip("selenium")
    if chromium.missing():
        pytest.skip(f"not installed: {', '.join(chromium.missing())}")
    driver = chromium.start(tmp_path_factory.mktemp("chromium"))
    yield driver
    driver.quit()


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Iterator[Page]:
    """Return a page to open; in the end nothing may have gone wrong in it."""
    opened = Page(browser, tmp_path)
    opened.errors()
    yield opened
    assert opened.errors() == []


AXE = "axe.run(document, {rules: {'target-size': {enabled: true}}}).then((found) => arguments[0](found.violations))"


@pytest.fixture(scope="session")
def violations() -> Callable[[Any], list[tuple[str, list[str]]]]:
    """Return what tells of the page in a browser what axe-core finds: the rule, and the elements."""
    found = importlib.util.find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        pytest.skip("axe-playwright-python, in which axe-core comes, is not installed")
    axe = Path(found.origin).with_name("axe.min.js").read_text("utf-8")

    def rules(driver: Any) -> list[tuple[str, list[str]]]:
        driver.execute_script(axe)
        broken = driver.execute_async_script(AXE)
        return [(each["id"], [node["html"][:160] for node in each["nodes"]]) for each in broken]

    return rules
