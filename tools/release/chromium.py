"""Debian's headless Chromium for what looks at the report page: tests, screenshots, the benchmark."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)
PROGRAMS = ("chromium", "chromedriver")
MOST_SECONDS = 1800


def missing() -> list[str]:
    """Return the programs that are not installed."""
    return [name for name in PROGRAMS if shutil.which(name) is None]


def start(profile: Path) -> Any:
    """Start the browser with an empty profile folder and return selenium's driver."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which(PROGRAMS[0]) or PROGRAMS[0]
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver: Any = webdriver.Chrome(options=options, service=Service(shutil.which(PROGRAMS[1])))
    # However busy the machine is: half a minute for a script, and two for a page, are too few there.
    driver.set_script_timeout(MOST_SECONDS)
    driver.command_executor.client_config.timeout = MOST_SECONDS
    return driver


def emulate(driver: Any, *, width: int, height: int, theme: str, scale: int = 1) -> None:
    """Set the window's size in CSS pixels (below 600: a phone), pixels for each, and the theme, "light" or "dark"."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": theme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def drawn(driver: Any) -> None:
    """Wait until a report is drawn."""
    while not driver.execute_script("return document.documentElement.dataset.firstPaint"):
        time.sleep(0.05)
