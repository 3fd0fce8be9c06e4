"""The upstreams and forks that ``tools upstream move`` looks at: where each is published, and the newest that is known.

What a table of the package knows is asked of it; of the others the newest that a person looked at stands here.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

from tflm_sim.extensions.lite.releases import DEFAULT_RELEASE, NIGHTLY
from tflm_sim.targets.changes import CMSIS_NN_PINS
from tflm_sim.targets.history import Commit, newest
from tflm_sim.targets.kernel_library import VERSIONS
from tflm_sim.targets.libraries import LIBRARIES
from tflm_sim.targets.library_pins import ESPHOME
from tflm_sim.targets.reference import REFERENCE_SNAPSHOT

_TIMEOUT_S = 60
_DIGITS = r"[0-9a-f]{7,40}"
_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
WHEEL = "tflite-micro"
CHECKOUT = "tensorflow/tflite-micro"
LITE_CHECKOUT = "google-ai-edge/LiteRT"
_NXP = "nxp-mcuxpresso/mcuxsdk-middleware-tensorflow"
LITE_WHEEL, NIGHTLY_WHEEL = "ai-edge-litert", "ai-edge-litert-nightly"


class Unreachable(Exception):
    """An upstream cannot be asked; one sentence."""


class Upstream(NamedTuple):
    """An upstream or a fork of it.

    Attributes:
        name: What it is called.
        known: The newest that is known: a version, or a commit.
        newest: What asks for the newest that is published.
        then: What a person does where it is another; more than ``move`` does by itself.
        reader: The tool of ``tools upstream`` that reads a wheel or a clone of it; "" where ``move`` itself does.
    """

    name: str
    known: str
    newest: Callable[[], str]
    then: str
    reader: str = ""


def version_key(version: str) -> tuple[tuple[int, str], ...]:
    """Return what versions are in order by: numbers as numbers, a release behind what leads to it ("rc1", "dev1")."""
    parts = re.findall(r"\d+|[a-z]+", version.lower().removeprefix("v"))
    return (*((int(part), "") if part.isdigit() else (-1, part) for part in parts), (-1, "~"))


def version_of(commit: Commit) -> str:
    """Return the version of the pip wheel of a commit, which says when it was committed."""
    return f"0.dev{datetime.fromtimestamp(commit.seconds, UTC):%Y%m%d%H%M%S}"


def _on_pypi(name: str) -> Callable[[], str]:
    def newest() -> str:
        text = _output([*_PIP, "index", "versions", "--pre", name])
        return text.partition("Available versions:")[2].split(",")[0].strip()

    return newest


def git_address(name: str) -> str:
    """Return where a repository is cloned from."""
    return f"{os.environ.get('TFLM_SIM_GIT_SERVER', 'https://github.com')}/{name}"


def _head(name: str) -> Callable[[], str]:
    return lambda: _output(["git", "ls-remote", git_address(name), "HEAD"]).split()[0]


def _tag(name: str) -> Callable[[], str]:
    return lambda: _newest_tag(git_address(name))


def _newest_tag(address: str) -> str:
    lines = _output(["git", "ls-remote", "--tags", "--refs", address]).splitlines()
    tags = [line.partition("refs/tags/")[2] for line in lines]
    # CMSIS-NN has tags of another count as well: "24.02" is older than "v7.0.0".
    return max((tag for tag in tags if re.match(r"v\d", tag)), key=version_key)


def _component(name: str) -> Callable[[], str]:
    def newest() -> str:
        server = os.environ.get("IDF_COMPONENT_REGISTRY_URL", "https://components.espressif.com").rstrip("/")
        with urlopen(f"{server}/api/components/{name}", timeout=_TIMEOUT_S) as answer:
            versions = [str(row["version"]) for row in json.load(answer)["versions"]]
        return max(versions, key=version_key)

    return newest


def _output(command: list[str]) -> str:
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TIMEOUT_S)
    if run.returncode or not run.stdout.strip():
        lines = run.stderr.strip().splitlines() or [f"{command[0]} says nothing"]
        raise Unreachable(next((line for line in lines if line.startswith(("fatal:", "ERROR:"))), lines[-1]))
    return run.stdout


def ask(upstream: Upstream) -> str:
    """Return the newest that is published.

    Raises:
        Unreachable: It cannot be asked.
    """
    try:
        return upstream.newest()
    except (OSError, ValueError, KeyError, TypeError, IndexError, subprocess.SubprocessError) as error:
        raise Unreachable(f"{type(error).__name__}: {error}") from error


def given_version(upstream: Upstream, path: Path) -> str:
    """Return the version of a wheel, or what a clone holds: its newest tag, or the commit where commits are looked at.

    Raises:
        Unreachable: It is neither.
    """
    if path.suffix == ".whl":
        return path.name.split("-")[1]
    if re.fullmatch(_DIGITS, upstream.known):
        return _output(["git", "-C", str(path), "rev-parse", "HEAD"]).strip()
    return _newest_tag(str(path))


def is_moved(upstream: Upstream, newest: str) -> bool:
    """Return whether what is published is newer than what is known; of commits, whether it is another."""
    if re.fullmatch(_DIGITS, upstream.known):
        return not newest.startswith(upstream.known)
    return version_key(newest) > version_key(upstream.known)


def _newest_library(name: str) -> str:
    """Return the newest version of a library that our table names, modelled or not."""
    rows = [row for row in LIBRARIES if row.name == name]
    return max((version for row in rows for version in (row.version, *row.releases)), key=version_key)


_CHECKSUMS = "compare the SHA-256 in its CHECKSUMS.json of the files with size functions; its row in VERSIONS"
_IDENTIFY = "identify_library"
_HOLDS = f"python tools upstream {_IDENTIFY} CHECKOUT CLONE says which TFLM it holds; its row in LIBRARIES"
_LITERT = "the conditions that came and went are a row in lite/releases.py each"
_FLEX = "python tools upstream lite_tables CLONE --write writes the operators of TensorFlow; then its commit here"
_LOOK = f"{_HOLDS}; then its commit here"

UPSTREAMS: tuple[Upstream, ...] = (
    Upstream(WHEEL, version_of(newest()), _on_pypi(WHEEL), ""),
    Upstream(CHECKOUT, REFERENCE_SNAPSHOT, _head(CHECKOUT), ""),
    Upstream(LITE_WHEEL, DEFAULT_RELEASE, _on_pypi(LITE_WHEEL), f"{_LITERT}, and DEFAULT_RELEASE", "lite_conditions"),
    Upstream(NIGHTLY_WHEEL, NIGHTLY, _on_pypi(NIGHTLY_WHEEL), _LITERT, "lite_conditions"),
    Upstream(LITE_CHECKOUT, "f674577", _head(LITE_CHECKOUT), _FLEX, "lite_tables"),
    Upstream("espressif/esp-nn", VERSIONS["esp_nn"][0].name, _component("espressif/esp-nn"), _CHECKSUMS),
    Upstream(
        "espressif/esp-tflite-micro",
        _newest_library("esp-tflite-micro"),
        _component("espressif/esp-tflite-micro"),
        _HOLDS,
        _IDENTIFY,
    ),
    Upstream(
        "ARM-software/CMSIS-NN",
        max((row.name for row in VERSIONS["cmsis_nn"] if row.name[0] == "v"), key=version_key),
        _tag("ARM-software/CMSIS-NN"),
        f"python tools compare cmsis_nn CLONE; TFLM itself takes {list(CMSIS_NN_PINS)[-1]}",
    ),
    Upstream(
        "esphome",
        ESPHOME[-1][2].split()[-1],
        _on_pypi("esphome"),
        "python tools upstream library_pins --write",
        "library_pins",
    ),
    Upstream(
        "edgeimpulse/inferencing-sdk-cpp",
        [row.version for row in LIBRARIES if row.name == "edge-impulse"][-1],
        _tag("edgeimpulse/inferencing-sdk-cpp"),
        _HOLDS,
        _IDENTIFY,
    ),
    Upstream(
        "spaziochirale/Chirale_TensorFlowLite",
        "46da2f9",
        _head("spaziochirale/Chirale_TensorFlowLite"),
        _LOOK,
        _IDENTIFY,
    ),
    Upstream(
        "tensorflow/tflite-micro-arduino-examples",
        "7948b85",
        _head("tensorflow/tflite-micro-arduino-examples"),
        _LOOK,
        _IDENTIFY,
    ),
    Upstream("eloquentarduino/EloquentTinyML", "5d3636f", _head("eloquentarduino/EloquentTinyML"), _LOOK, _IDENTIFY),
    Upstream("eloquentarduino/tflm_esp32", "5fe67df", _head("eloquentarduino/tflm_esp32"), _LOOK, _IDENTIFY),
    Upstream("eloquentarduino/tflm_cortexm", "e985e26", _head("eloquentarduino/tflm_cortexm"), _LOOK, _IDENTIFY),
    Upstream("johnosbb/MicroTFLite", "011c2d1", _head("johnosbb/MicroTFLite"), _LOOK, _IDENTIFY),
    # What openmv/openmv has pinned since April 2026; its sources were not at hand.
    Upstream("openmv/libtflm", "5b8e786", _head("openmv/libtflm"), _LOOK, _IDENTIFY),
    Upstream("Seeed-Studio/SSCMA-Micro", "60e2ede", _head("Seeed-Studio/SSCMA-Micro"), _LOOK, _IDENTIFY),
    Upstream(
        "HimaxWiseEyePlus/Seeed_Grove_Vision_AI_Module_V2",
        "d3265e2",
        _head("HimaxWiseEyePlus/Seeed_Grove_Vision_AI_Module_V2"),
        _LOOK,
        _IDENTIFY,
    ),
    Upstream("raspberrypi/pico-tflmicro", "dfea53b", _head("raspberrypi/pico-tflmicro"), _LOOK, _IDENTIFY),
    Upstream("zephyrproject-rtos/tflite-micro", "48613f7", _head("zephyrproject-rtos/tflite-micro"), _LOOK, _IDENTIFY),
    Upstream(_NXP, "a242972", _head(_NXP), _LOOK, _IDENTIFY),
)
