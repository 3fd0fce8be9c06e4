"""Library, version and board, as the files of Arduino, PlatformIO and ESP-IDF name them.

    platformio.ini      board, lib_deps, build_flags of the first environment, or of default_envs
    idf_component.yml   dependencies: espressif/esp-tflite-micro: "^1.3.1"
    dependencies.lock   the versions that were chosen, and the chip
    sdkconfig           the chip, and macros
    sketch.yaml         the board (fqbn) and libraries of the default profile
    library.properties  depends
    #include            the header of a library

What was chosen ranks before what was asked for, and any version before a header without one.
"""

from __future__ import annotations

import configparser
import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tflm_sim.errors import UsageError
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
    """

    libraries: tuple[Named, ...]
    boards: tuple[Named, ...]
    macros: dict[str, str]
    esp_nn: str


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
    for path in files:
        if (name := os.path.basename(path)) in _READERS:
            with open(path, encoding="utf-8", errors="replace") as file:
                texts.setdefault(name, []).append((os.path.relpath(path, folder), file.read(1 << 20)))
    libraries: list[Named] = []
    boards: list[Named] = []
    macros: dict[str, str] = {}
    esp_nn = ""
    for name, reader in _READERS.items():
        for place, text in texts.get(name, ()):
            for kind, first, second in reader(text):
                if kind == "board":
                    boards.append(Named(first, "", place))
                elif kind == "macro":
                    macros[first] = second
                elif first == "espressif/esp-nn" and name == "dependencies.lock":
                    esp_nn = second
                else:
                    libraries += _known(first, second, place)
    headers = dict.fromkeys(header for text in sources for header in _INCLUDE.findall(text))
    for header in headers:
        libraries += _known(header, "", f"#include <{header}>")
    if "CONFIG_IDF_TARGET" not in macros and boards and boards[0].text.startswith("esp32"):
        macros[f"CONFIG_IDF_TARGET_{boards[0].text.upper().replace('-', '')}"] = "1"
    return Manifests(tuple(libraries), tuple(one for one in boards if known_board(one.text)), macros, esp_nn)


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


_READERS = {
    "dependencies.lock": _locked,
    "sdkconfig": _sdkconfig,
    "sdkconfig.defaults": _sdkconfig,
    "platformio.ini": _platformio,
    "sketch.yaml": _sketch,
    "idf_component.yml": _component,
    "library.properties": _properties,
}
"""By the name of the file, the most trustworthy first: (kind, name or board, version or value)."""
