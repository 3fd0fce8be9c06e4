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
_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
WHEEL = "tflite-micro"
CHECKOUT = "tensorflow/tflite-micro"
_NXP = "nxp-mcuxpresso/mcuxsdk-middleware-tensorflow"
NIGHTLY_WHEEL = "ai-edge-litert-nightly"


class Unreachable(Exception):
    """An upstream cannot be asked; one sentence."""


class Upstream(NamedTuple):
    """An upstream or a fork of it.

    Attributes:
        name: What it is called.
        known: The newest that is known: a version, or a commit.
        newest: What asks for the newest that is published.
        then: What a person does where it is another; more than ``move`` does by itself.
    """

    name: str
    known: str
    newest: Callable[[], str]
    then: str


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
    def newest() -> str:
        lines = _output(["git", "ls-remote", "--tags", "--refs", git_address(name)]).splitlines()
        tags = [line.partition("refs/tags/")[2] for line in lines]
        return max((tag for tag in tags if re.match(r"v?\d", tag)), key=version_key)

    return newest


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
        raise Unreachable(run.stderr.strip().splitlines()[-1] if run.stderr.strip() else f"{command[0]} says nothing")
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


def is_moved(upstream: Upstream, newest: str) -> bool:
    """Return whether what is published is newer than what is known; of commits, whether it is another."""
    if re.fullmatch(r"[0-9a-f]{7,40}", upstream.known):
        return not newest.startswith(upstream.known)
    return version_key(newest) > version_key(upstream.known)


def _newest_library(name: str) -> str:
    """Return the newest version of a library that our table names, modelled or not."""
    rows = [row for row in LIBRARIES if row.name == name]
    return max((version for row in rows for version in (row.version, *row.releases)), key=version_key)


_CHECKSUMS = "compare the SHA-256 in its CHECKSUMS.json of the files with size functions; its row in VERSIONS"
_IDENTIFY = "python tools upstream identify_library CHECKOUT CLONE says which TFLM it holds; its row in LIBRARIES"
_LITERT = "python tools upstream lite_conditions WHEEL says which conditions came and went; its row in lite/releases.py"
_LOOK = f"{_IDENTIFY}; then its commit here"

UPSTREAMS: tuple[Upstream, ...] = (
    Upstream(WHEEL, version_of(newest()), _on_pypi(WHEEL), ""),
    Upstream(CHECKOUT, REFERENCE_SNAPSHOT, _head(CHECKOUT), ""),
    Upstream("ai-edge-litert", DEFAULT_RELEASE, _on_pypi("ai-edge-litert"), f"{_LITERT}, and DEFAULT_RELEASE"),
    Upstream(NIGHTLY_WHEEL, NIGHTLY, _on_pypi(NIGHTLY_WHEEL), _LITERT),
    Upstream("espressif/esp-nn", VERSIONS["esp_nn"][0].name, _component("espressif/esp-nn"), _CHECKSUMS),
    Upstream(
        "espressif/esp-tflite-micro",
        _newest_library("esp-tflite-micro"),
        _component("espressif/esp-tflite-micro"),
        _IDENTIFY,
    ),
    Upstream(
        "ARM-software/CMSIS-NN",
        max((row.name for row in VERSIONS["cmsis_nn"] if row.name[0] == "v"), key=version_key),
        _tag("ARM-software/CMSIS-NN"),
        f"python tools compare cmsis_nn CLONE; TFLM itself takes {list(CMSIS_NN_PINS)[-1]}",
    ),
    Upstream("esphome", ESPHOME[-1][2].split()[-1], _on_pypi("esphome"), "python tools upstream library_pins --write"),
    Upstream(
        "edgeimpulse/inferencing-sdk-cpp",
        [row.version for row in LIBRARIES if row.name == "edge-impulse"][-1],
        _tag("edgeimpulse/inferencing-sdk-cpp"),
        _IDENTIFY,
    ),
    Upstream("spaziochirale/Chirale_TensorFlowLite", "46da2f9", _head("spaziochirale/Chirale_TensorFlowLite"), _LOOK),
    Upstream(
        "tensorflow/tflite-micro-arduino-examples", "7948b85", _head("tensorflow/tflite-micro-arduino-examples"), _LOOK
    ),
    Upstream("eloquentarduino/EloquentTinyML", "5d3636f", _head("eloquentarduino/EloquentTinyML"), _LOOK),
    Upstream("eloquentarduino/tflm_esp32", "5fe67df", _head("eloquentarduino/tflm_esp32"), _LOOK),
    Upstream("eloquentarduino/tflm_cortexm", "e985e26", _head("eloquentarduino/tflm_cortexm"), _LOOK),
    Upstream("johnosbb/MicroTFLite", "011c2d1", _head("johnosbb/MicroTFLite"), _LOOK),
    # What openmv/openmv has pinned since April 2026; its sources were not at hand.
    Upstream("openmv/libtflm", "5b8e786", _head("openmv/libtflm"), _LOOK),
    Upstream("Seeed-Studio/SSCMA-Micro", "60e2ede", _head("Seeed-Studio/SSCMA-Micro"), _LOOK),
    Upstream(
        "HimaxWiseEyePlus/Seeed_Grove_Vision_AI_Module_V2",
        "d3265e2",
        _head("HimaxWiseEyePlus/Seeed_Grove_Vision_AI_Module_V2"),
        _LOOK,
    ),
    Upstream("raspberrypi/pico-tflmicro", "dfea53b", _head("raspberrypi/pico-tflmicro"), _LOOK),
    Upstream("zephyrproject-rtos/tflite-micro", "48613f7", _head("zephyrproject-rtos/tflite-micro"), _LOOK),
    Upstream(_NXP, "a242972", _head(_NXP), _LOOK),
)
