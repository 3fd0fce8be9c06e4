"""Library, version and board, as the files beside the sources name them.

    platformio.ini      board, lib_deps, build_flags of the first environment, or of default_envs
    idf_component.yml   dependencies: espressif/esp-tflite-micro: "^1.3.1"
    dependencies.lock   the versions that were chosen, and the chip
    sdkconfig           the chip, and macros
    west.yml, prj.conf  the release of Zephyr, and whether its module of TFLM has CMSIS-NN
    *.ioc               the chip of an STM32
    *.lib, .gitmodules  the commit of tensorflow/tflite-micro; of a submodule, the one that is checked out
    CMakeLists.txt, mbed_app.json, and what a build wrote: the board
    sketch.yaml         the board (fqbn) and libraries of the default profile
    library.properties  depends
    #include            the header of a library

What was chosen ranks before what was asked for, and any version before a header without one.
"""

from __future__ import annotations

import configparser
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatch
from typing import NamedTuple

from tflm_sim.errors import UsageError
from tflm_sim.extensions.project.folder import SETTINGS
from tflm_sim.targets.boards import known_board
from tflm_sim.targets.libraries import known_library


class Named(NamedTuple):
    """Something that a file of the project names.

    Attributes:
        text: What it says: a version, or a range of versions; a board.
        name: The library; "" for what is none.
        place: The file.
    """

    text: str
    name: str
    place: str


class Manifests(NamedTuple):
    """What the files beside the sources say.

    Attributes:
        libraries: Those that are known here, the most trustworthy first.
        boards: Boards or chips, the most trustworthy first.
        macros: Macros of the build.
        esp_nn: The version of ESP-NN that was chosen, "" where none is.
        chips: Chips whose board is not known here, with their target as the name, the most trustworthy first.
        runtimes: Commits of tensorflow/tflite-micro itself.
        kernels: The kernels that a setting selects.
    """

    libraries: tuple[Named, ...]
    boards: tuple[Named, ...]
    macros: dict[str, str]
    esp_nn: str
    chips: tuple[Named, ...] = ()
    runtimes: tuple[Named, ...] = ()
    kernels: tuple[Named, ...] = ()


_STM32 = {
    "cortex-m0plus": "c0 f0 g0 l0 u0",
    "cortex-m3": "f1 f2 l1",
    "cortex-m4": "f3 f4 g4 l4 wb wl",
    "cortex-m7": "f7 h7",
    "cortex-m33": "h5 l5 u5 wba",
    "cortex-m55": "n6",
}
"""The families of STM32 by target, of two cores the faster one; an F0 has a Cortex-M0, whose ABI is the same.

Source: the folders of zephyrproject-rtos/zephyr, dts/arm/st, and the cpu of each family's first .dtsi.
"""
_FAMILIES = {family: target for target, families in _STM32.items() for family in families.split()}
_CHIP = re.compile(r"(?:stm32|nucleo[_-]|disco[_-]|discovery[_-]|b[_-])(wba|wb|wl|[cfghlnu]\d)", re.IGNORECASE)
MAX_DEPENDENCIES = 1 << 14
"""Characters of the dependencies of a component: more are not looked for, since it takes time with the square."""
_LOCKED = re.compile(r"^  ([\w./-]+):\n(?:(?:    .*|)\n)*?    version: ['\"]?([\w.+~-]+)", re.MULTILINE)
_DEPENDENCY = re.compile(
    r"^ +['\"]?([\w.-]+/[\w.-]+|[\w-]+)['\"]?:[ \t]*"
    r"(?:['\"]?([\w.^~<>=*, ]+)|\n(?: +(?!version)\w+:.*\n)* +version:[ \t]*['\"]?([\w.^~<>=*, ]+))",
    re.MULTILINE,
)
_PROFILE_LIBRARY = re.compile(r"^[ \t]*-([^\n(]*+)\(([\w.+-]+)\)", re.MULTILINE)
_FQBN = re.compile(r"^[ \t]*(?:default_)?fqbn:[ \t]*['\"]?([\w:=.,-]+)", re.MULTILINE)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([\w./-]+\.h)[>\"]", re.MULTILINE)
_CONFIG = re.compile(r"^(CONFIG_\w+)=(.+)$", re.MULTILINE)


def read_manifests(folder: str, files: Iterable[str], sources: Iterable[str]) -> Manifests:
    """Return what they say.

    Args:
        folder: The project.
        files: Its files, with paths.
        sources: The texts of its sources, for what they include.
    """
    texts: dict[str, list[tuple[str, str]]] = {}
    more = [path for name in SETTINGS if os.path.isfile(path := os.path.join(folder, name))]
    for path in [*more, *files]:
        place = os.path.relpath(path, folder)
        spellings = (place, os.path.basename(path))
        name = next((name for spelling in spellings for name in _READERS if fnmatch(spelling, name)), None)
        if name is not None:
            with open(path, encoding="utf-8", errors="replace") as file:
                texts.setdefault(name, []).append((place, file.read(1 << 20)))
    libraries: list[Named] = []
    boards: list[Named] = []
    macros: dict[str, str] = {}
    others: dict[str, list[Named]] = {"runtime": _submodules(folder), "kernels": []}
    esp_nn = ""
    for name, reader in _READERS.items():
        for place, text in texts.get(name, ()):
            for kind, first, second in reader(text):
                if kind == "board":
                    boards.append(Named(first, "", place))
                elif kind == "macro":
                    macros[first] = second
                elif kind in others:
                    others[kind].append(Named(first, "", place))
                elif first == "espressif/esp-nn" and name == "dependencies.lock":
                    esp_nn = second
                else:
                    libraries += _known(first, second, place)
    headers = dict.fromkeys(header for text in sources for header in _INCLUDE.findall(text))
    for header in headers:
        libraries += _known(header, "", f"#include <{header}>")
    if "CONFIG_IDF_TARGET" not in macros and boards and boards[0].text.startswith("esp32"):
        macros[f"CONFIG_IDF_TARGET_{boards[0].text.upper().replace('-', '')}"] = "1"
    return Manifests(
        tuple(libraries),
        tuple(one for one in boards if known_board(one.text)),
        macros,
        esp_nn,
        tuple(
            one._replace(name=_FAMILIES[found[1].lower()])
            for one in boards
            if (found := _CHIP.match(one.text)) and found[1].lower() in _FAMILIES
        ),
        tuple(others["runtime"]),
        tuple(others["kernels"]),
    )


def _submodules(folder: str) -> list[Named]:
    """Return the commits of tensorflow/tflite-micro that submodules of the project have checked out."""
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    try:
        parser.read(os.path.join(folder, ".gitmodules"), encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError, OSError):
        return []
    found = []
    for section in parser.sections():
        name = re.fullmatch(r'submodule "([\w.-]+(?:/[\w.-]+)*)"', section)  # Below the folder: no "/" in front.
        is_tflm = re.search(
            r"github\.com[/:]tensorflow/tflite-micro(?:\.git)?/?$", parser.get(section, "url", fallback="")
        )
        if name is None or is_tflm is None or ".." in name[1]:
            continue
        with (
            suppress(OSError, UnicodeDecodeError),
            open(os.path.join(folder, ".git", "modules", name[1], "HEAD")) as head,
        ):
            commit = head.read(60).strip()
            found += [Named(commit, "", ".gitmodules")] if re.fullmatch(r"[0-9a-f]{40}", commit) else []
    return found


def _known(name: str, version: str, place: str) -> list[Named]:
    """Return a library where it is known here; one of several that a header can mean is asked for elsewhere."""
    try:
        found = known_library(name)
    except UsageError:
        return []
    return [] if found is None else [Named(version.strip() or found[1], found[0], place)]


def _platformio(text: str) -> Iterator[tuple[str, str, str]]:
    parser = configparser.ConfigParser(strict=False, interpolation=None, inline_comment_prefixes=(";", " #"))
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    environments = [name for name in parser.sections() if name.startswith("env:")]
    chosen = re.split(r"[,\s]+", parser.get("platformio", "default_envs", fallback="").strip())[0]
    own = f"env:{chosen}" if chosen else environments[0] if environments else "env"
    for section in (own, "env"):
        if not parser.has_section(section):
            continue
        if board := parser.get(section, "board", fallback=""):
            yield "board", board.strip(), ""
        for line in parser.get(section, "lib_deps", fallback="").splitlines():
            address, _, tag = line.strip().partition("#")
            name, _, version = address.partition("@") if "://" not in address else (address, "", tag)
            if name.strip():
                yield "library", name.strip().removesuffix(".git"), version.strip() or tag.removeprefix("v")
        for macro, value in re.findall(r"-D\s*(\w+)(?:=(\S+))?", parser.get(section, "build_flags", fallback="")):
            yield "macro", macro, value or "1"


def _locked(text: str) -> Iterator[tuple[str, str, str]]:
    if chip := re.search(r"^target: (\w+)", text, re.MULTILINE):
        yield "board", chip[1], ""
    for name, version in _LOCKED.findall(text):
        yield "library", name, version.partition("~")[0]


def _component(text: str) -> Iterator[tuple[str, str, str]]:
    for name, version, nested in _DEPENDENCY.findall(text.partition("dependencies:")[2][:MAX_DEPENDENCIES]):
        yield "library", name, (version or nested).strip()


def _sdkconfig(text: str) -> Iterator[tuple[str, str, str]]:
    for name, value in _CONFIG.findall(text):
        if name == "CONFIG_IDF_TARGET":
            yield "board", value.strip(' "\r'), ""
            yield "macro", f"CONFIG_IDF_TARGET_{value.strip(chr(34)).upper()}", "1"
        yield "macro", name, "1" if value.strip() == "y" else value.strip()


def _sketch(text: str) -> Iterator[tuple[str, str, str]]:
    for board in _FQBN.findall(text)[::-1][:1]:  # default_fqbn stands behind the profiles
        yield "board", board, ""
    for name, version in _PROFILE_LIBRARY.findall(text):
        yield "library", name.strip(), version


def _properties(text: str) -> Iterator[tuple[str, str, str]]:
    for line in re.findall(r"^depends=(.*)$", text, re.MULTILINE):
        for row in line.split(","):
            name, _, version = row.partition("(")
            yield "library", name.strip(), version.strip(" )\r")


def _west(text: str) -> Iterator[tuple[str, str, str]]:
    """Read the release of Zephyr: the revision of the project of that name."""
    for row in re.split(r"^[ \t]*-[ \t]+(?=\w+:)", text, flags=re.MULTILINE)[1:]:
        keys = dict(re.findall(r"^[ \t]*([\w-]+):[ \t]*['\"]?([\w./:@+-]+)", row, re.MULTILINE))
        if keys.get("name") == "zephyr" or keys.get("repo-path") == "zephyr":
            yield "library", "zephyr", keys.get("revision", "")


def _project_settings(text: str) -> Iterator[tuple[str, str, str]]:
    for name, value in _CONFIG.findall(text):
        yield "macro", name, "1" if value.strip() == "y" else value.strip()
        if name == "CONFIG_TENSORFLOW_LITE_MICRO" and value.strip() == "y":
            yield "library", "zephyr", ""
        if name == "CONFIG_TENSORFLOW_LITE_MICRO_CMSIS_NN_KERNELS" and value.strip() == "y":
            yield "kernels", "cmsis_nn", ""


def _cmake(text: str) -> Iterator[tuple[str, str, str]]:
    for board in re.findall(r"^\s*set\s*\(\s*(?:PICO_)?BOARD\s+\"?([\w/.@-]+)", text, re.MULTILINE):
        yield "board", board, ""
    if re.search(r"\bpico-tflmicro\b", text):
        yield "library", "pico-tflmicro", ""


def _cache(text: str) -> Iterator[tuple[str, str, str]]:
    for board in re.findall(r"^(?:PICO_|CACHED_)?BOARD:\w+=([\w/.@-]+)", text, re.MULTILINE)[::-1]:
        yield "board", board, ""


def _west_settings(text: str) -> Iterator[tuple[str, str, str]]:
    for board in re.findall(r"^board\s*=\s*([\w/.@-]+)", text, re.MULTILINE):
        yield "board", board, ""


def _cube(text: str) -> Iterator[tuple[str, str, str]]:
    for key in ("board", "Mcu.CPN", "Mcu.UserName", "Mcu.Name"):
        for name in re.findall(rf"^{key}=([\w.-]+)", text, re.MULTILINE):
            yield "board", name, ""


def _mbed_settings(text: str) -> Iterator[tuple[str, str, str]]:
    for board in re.findall(r"^TARGET=(\w+)", text, re.MULTILINE):
        yield "board", board, ""


def _mbed(text: str) -> Iterator[tuple[str, str, str]]:
    try:
        overrides = json.loads(text).get("target_overrides", {})
    except (ValueError, AttributeError, RecursionError):
        return
    boards = [name for name in overrides if name != "*"] if isinstance(overrides, dict) else []
    for board in boards if len(boards) == 1 else ():
        yield "board", board, ""


def _mbed_library(text: str) -> Iterator[tuple[str, str, str]]:
    address, _, commit = text.strip().partition("#")
    if re.search(r"/tensorflow/tflite-micro(?:\.git)?/?$", address) and re.fullmatch(r"[0-9a-f]{7,40}", commit):
        yield "runtime", commit, ""


_READERS = {
    ".mbed": _mbed_settings,
    ".west/config": _west_settings,
    "build/CMakeCache.txt": _cache,
    "dependencies.lock": _locked,
    "sdkconfig": _sdkconfig,
    "sdkconfig.defaults": _sdkconfig,
    "platformio.ini": _platformio,
    "sketch.yaml": _sketch,
    "idf_component.yml": _component,
    "library.properties": _properties,
    "west.yml": _west,
    "prj.conf": _project_settings,
    "CMakeLists.txt": _cmake,
    "*.ioc": _cube,
    "mbed_app.json": _mbed,
    "*.lib": _mbed_library,
}
"""By the name of the file, or its path in the project, the most trustworthy first; each yields (kind, name or board,
version or value)."""
