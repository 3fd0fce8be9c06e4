"""Library, version and board, as the files beside the sources name them.

    platformio.ini      board, lib_deps, build_flags of the first environment, or default_envs, and what it extends
    idf_component.yml   dependencies: espressif/esp-tflite-micro: "^1.3.1"
    dependencies.lock   the versions that were chosen, and the chip
    sdkconfig           the chip, and macros; whether there is PSRAM, and the partition of the program
    west.yml, prj.conf  the release of Zephyr, whether its module of TFLM has CMSIS-NN, and macros; Kconfig's defaults
    *.ioc, .cproject    the board or chip of an STM32, and symbols of the build
    *.ld, *.overlay     the regions of RAM, and the STM32 that a linker script is called after
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
import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatch
from glob import glob
from html import unescape
from typing import NamedTuple

from tflm_sim.errors import UsageError
from tflm_sim.extensions.project.folder import SETTINGS, read_text
from tflm_sim.extensions.project.references import substituted
from tflm_sim.files import inside
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
        ram: The bytes of regions of RAM that a linker script or an overlay gives, with the region as the name.
        partitions: The bytes of partitions that the program may be in.
        files: The names of these files that are there.
    """

    libraries: tuple[Named, ...]
    boards: tuple[Named, ...]
    macros: dict[str, str]
    esp_nn: str
    chips: tuple[Named, ...] = ()
    runtimes: tuple[Named, ...] = ()
    kernels: tuple[Named, ...] = ()
    ram: tuple[Named, ...] = ()
    partitions: tuple[Named, ...] = ()
    files: frozenset[str] = frozenset()


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
            texts.setdefault(name, []).append((place, _text(path)))
    libraries: list[Named] = []
    boards: list[Named] = []
    macros: dict[str, str] = {}
    others: dict[str, list[Named]] = {"runtime": _submodules(folder), "kernels": [], "ram": [], "partition": []}
    esp_nn = ""
    for name, reader in _READERS.items():
        for place, text in texts.get(name, ()):
            if name == "*.ld" and _CHIP.match(script := os.path.basename(place)):
                boards.append(Named(re.split(r"[_.]", script)[0], "", place))
            for kind, first, second in _platformio(text, folder) if name == "platformio.ini" else reader(text):
                if kind == "board":
                    boards.append(Named(first, "", place))
                elif kind == "macro":
                    macros.setdefault(first, second)
                elif kind in others:
                    others[kind].append(Named(first, second, place))
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
        _of_board(others["ram"], boards),
        _partitions(folder, macros, others["partition"]),
        frozenset(texts),
    )


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read(1 << 20)


def _of_board(regions: list[Named], boards: list[Named]) -> tuple[Named, ...]:
    """Return the regions of RAM without those of overlays of other boards: boards/nrf52840dk_nrf52840.overlay."""
    names = [re.sub(r"\W", "_", one.text) for one in boards]
    return tuple(
        one
        for one in regions
        if os.path.dirname(one.place) != "boards"
        or not names
        or any(os.path.basename(one.place).startswith(name) for name in names)
    )


_UNITS = {"": 1, "K": 1024, "M": 1024 * 1024}
_PARTITIONS = {
    "SINGLE_APP": 0x100000,
    "SINGLE_APP_LARGE": 1500 * 1024,
    "TWO_OTA": 0x100000,
    "TWO_OTA_LARGE": 1700 * 1024,
}
"""Bytes of a program in ESP-IDF's own tables, by the end of CONFIG_PARTITION_TABLE_.

Source: espressif/esp-idf, components/partition_table/partitions_*.csv @ 1021229
"""


def _partitions(folder: str, macros: dict[str, str], named: list[Named]) -> tuple[Named, ...]:
    """Return the partitions for programs: of the table that is named, or of ESP-IDF's own that sdkconfig selects."""
    custom = macros.get("CONFIG_PARTITION_TABLE_CUSTOM_FILENAME") if "CONFIG_PARTITION_TABLE_CUSTOM" in macros else None
    for name in (one.strip('"') for one in (custom, *(one.text for one in named)) if one):
        if text := _text_below(folder, name):
            rows = (re.split(r"[ \t]*,[ \t]*", line.strip()) for line in text.splitlines())
            sizes = (_partition_size(row[4]) for row in rows if len(row) > 4 and row[1] in ("app", "0"))
            return tuple(Named(str(size), "app", os.path.basename(name)) for size in sizes if size)
    own = (size for end, size in _PARTITIONS.items() if f"CONFIG_PARTITION_TABLE_{end}" in macros)
    return tuple(Named(str(size), "app", "sdkconfig") for size in own)


def _partition_size(text: str) -> int:
    """Return the bytes of "0x100000", "1M" or "1500K"; 0 for anything else."""
    found = re.fullmatch(r"(0x[0-9a-fA-F]{1,8}|\d{1,9})([KM]?)", text.strip())
    return int(found[1], 0) * _UNITS[found[2]] if found else 0


def _submodules(folder: str) -> list[Named]:
    """Return the commits of tensorflow/tflite-micro that submodules of the project have checked out."""
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    try:
        parser.read_string(_text_below(folder, ".gitmodules"))
    except configparser.Error:
        return []
    found = []
    for section in parser.sections():
        name = re.fullmatch(r'submodule "(.+)"', section)
        is_tflm = re.search(
            r"github\.com[/:]tensorflow/tflite-micro(?:\.git)?/?$", parser.get(section, "url", fallback="")
        )
        if name is None or is_tflm is None:
            continue
        commit = _text_below(folder, f".git/modules/{name[1]}/HEAD").strip()
        found += [Named(commit, "", ".gitmodules")] if re.fullmatch(r"[0-9a-f]{40}", commit) else []
    return found


def _text_below(folder: str, name: str) -> str:
    """Return the text of a file that a project names; "" where there is no such file in its folder."""
    with suppress(UsageError):
        path = inside(folder, name)
        return read_text(path).decode("utf-8-sig", "replace") if os.path.isfile(path) else ""
    return ""


def _names_below(folder: str, pattern: str) -> list[str]:
    """Return the names in a project's folder that a pattern of its own means; nothing outside is looked at."""
    with suppress(UsageError):
        inside(folder, pattern)
        return sorted(glob(pattern, root_dir=folder))
    return []


def _known(name: str, version: str, place: str) -> list[Named]:
    """Return a library where it is known here; one of several that a header can mean is asked for elsewhere."""
    try:
        found = known_library(name)
    except UsageError:
        return []
    return [] if found is None else [Named(version.strip() or found[1], found[0], place)]


def _platformio(text: str, folder: str) -> Iterator[tuple[str, str, str]]:
    parser = configparser.ConfigParser(strict=False, interpolation=None, inline_comment_prefixes=(";", " #"))
    try:
        parser.read_string(text)
        for pattern in re.split(r"[,\s]+", parser.get("platformio", "extra_configs", fallback="").strip()):
            for name in _names_below(folder, pattern):
                parser.read_string(_text_below(folder, name))
    except configparser.Error:
        return
    environments = [name for name in parser.sections() if name.startswith("env:")]
    chosen = re.split(r"[,\s]+", parser.get("platformio", "default_envs", fallback="").strip())[0]
    own = f"env:{chosen}" if chosen else environments[0] if environments else "env"
    for section in _extended(parser, own):
        if not parser.has_section(section):
            continue
        if board := _option(parser, section, "board"):
            chip = re.match(r"esp32-?(s2|s3|c2|c3|c5|c6|h2|p4)?", board.strip())
            is_known = chip is None or known_board(board.strip()) is not None
            yield "board", board.strip() if is_known else f"esp32-{chip[1]}" if chip and chip[1] else "esp32", ""
        for line in re.split(r"\n|,[ \t]", _option(parser, section, "lib_deps")):
            address, _, tag = line.strip().partition("#")
            name, _, version = address.partition("@") if "://" not in address else (address, "", tag)
            if name.strip():
                yield "library", name.strip().removesuffix(".git"), version.strip() or tag.removeprefix("v")
        for macro, value in _flags(_option(parser, section, "build_flags")):
            yield "macro", macro, value
        if table := _option(parser, section, "board_build.partitions"):
            yield "partition", table.strip(), ""


def _flags(text: str) -> Iterator[tuple[str, str]]:
    """Yield the macros that flags of a compiler define: ``-DNAME``, ``-D NAME=VALUE``, with the quotes of a shell."""
    with suppress(ValueError):  # A quote is open: what such flags define is not known.
        for flag in re.split(r"(?:^|\0)-D\0?", "\0".join(shlex.split(text)))[1:]:
            name, _, value = flag.partition("\0")[0].partition("=")
            if name.isidentifier():
                yield name, value or "1"


def _extended(parser: configparser.ConfigParser, section: str) -> list[str]:
    """Return a section and those that it extends, the nearest first; ``[env]`` is below all."""
    found: list[str] = []
    waiting = [section]
    while waiting and len(found) < 20:
        name = waiting.pop(0)
        if name not in found:
            found.append(name)
            more = parser.get(name, "extends", fallback="") if parser.has_section(name) else ""
            waiting += [one for one in re.split(r"[,\s]+", more.strip()) if one]
    return [*found, *([] if "env" in found else ["env"])]


def _option(parser: configparser.ConfigParser, section: str, name: str) -> str:
    """Return an option with what ``${section.option}`` in it means; an environment variable means nothing here."""

    def meant(reference: re.Match[str]) -> str:
        of, _, option = reference[1].rpartition(".")
        return text_of(section if of == "this" else of, option)

    def text_of(section: str, name: str) -> str:
        text = parser.get(section, name, fallback="") if parser.has_section(section) else ""
        return text.replace("${this.", f"${{{section}.")

    return substituted(text_of(section, name), r"\$\{([\w:.-]+)\}", meant)


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
    """Read the default profile, or the only or first one; without profiles, the default board."""
    default = re.search(r"^default_profile:[ \t]*['\"]?([\w.-]+)", text, re.MULTILINE)
    section = re.search(r"^profiles:[^\n]*\n((?:[ \t]+[^\n]*\n|[ \t]*(?:#[^\n]*)?\n)*)", f"{text}\n", re.MULTILINE)
    profiles = _blocks(section[1]) if section else {}
    own = profiles.get(default[1] if default else "") or next(iter(profiles.values()), "")
    boards = _FQBN.findall(own) or _FQBN.findall(text)[::-1][:1]  # default_fqbn stands behind the profiles
    for board in boards[:1]:
        yield "board", board, ""
    for name, version in _PROFILE_LIBRARY.findall(own.partition("libraries:")[2] if own else text):
        yield "library", name.strip(), version


def _blocks(text: str) -> dict[str, str]:
    """Return the keys of the smallest indentation of a piece of YAML, and the lines below each."""
    depth = min((len(line) - len(line.lstrip()) for line in text.splitlines() if line.strip()), default=0)
    rows = re.split(rf"^[ \t]{{{depth}}}(?=[^\s#-])", text, flags=re.MULTILINE)[1:]
    return {row.partition(":")[0].strip(" '\""): row.partition("\n")[2] for row in rows}


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


_SET = re.compile(
    r"^[ \t]*set[ \t]*\(\s*(\w+)\s+\"?(?!\s)((?:[\w.+* /-]|\([\w.+* /-]{0,99}\)){1,200}?)\"?"
    r"\s{0,99}(?:CACHE\b[^)]{0,400})?\)",
    re.MULTILINE,
)
_DEFINITIONS = re.compile(
    r"\b(?:(?:target|zephyr|zephyr_library|add)_compile_definitions|add_definitions)\s*\(([^)]{0,4000})\)"
)


def _cmake(text: str) -> Iterator[tuple[str, str, str]]:
    for board in re.findall(r"^[ \t]*set[ \t]*\(\s*(?:PICO_)?BOARD\s+\"?([\w/.@-]+)", text, re.MULTILINE):
        yield "board", board, ""
    if re.search(r"\bpico-tflmicro\b", text):
        yield "library", "pico-tflmicro", ""
    values: dict[str, str] = dict(_SET.findall(text))
    for row in _DEFINITIONS.findall(text):
        for argument in re.findall(r'"[^"]*"|[^\s"]+', row):  # What a variable stands for is a part of its argument.
            known = re.sub(r"\$\{(\w+)\}", lambda found: values.get(str(found[1]), str(found[1])), argument.strip('"'))
            if macro := re.fullmatch(r"(?:-D)?([A-Za-z_]\w*)=([\w.()*+/ -]+)", known):
                yield "macro", macro[1], macro[2]


def _kconfig(text: str) -> Iterator[tuple[str, str, str]]:
    """Read the defaults of the project's own settings that hang on no condition."""
    for block in re.split(r"^[ \t]*(?:menu)?config[ \t]+(?=\w+[ \t]*$)", text, flags=re.MULTILINE)[1:]:
        name, _, rest = block.partition("\n")
        found = re.search(
            r"^[ \t]+default[ \t]+(0x[0-9a-fA-F]+|-?\d+|y|\"[^\"\n]*\")[ \t]*(?:#.*)?$", rest, re.MULTILINE
        )
        if found is not None:
            yield "macro", f"CONFIG_{name.strip()}", "1" if found[1] == "y" else found[1]


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


def _cproject(text: str) -> Iterator[tuple[str, str, str]]:
    """Read board and chip of STM32CubeIDE's build, and the symbols that it defines."""
    options = re.findall(r"<option\b[^<>]*", text)
    for what in ("board", "mcu"):
        for option in options:
            if f'target_{what}"' in option and (name := re.search(r'\bvalue="([\w.-]+)"', option)):
                yield "board", name[1], ""
    for value in re.findall(r"<listOptionValue\b[^<>]*", text):
        if macro := re.search(r'\bvalue="([A-Za-z_]\w*)(?:=([^"]*))?"', value):
            yield "macro", macro[1], unescape(macro[2] or "1")


def _linker_script(text: str) -> Iterator[tuple[str, str, str]]:
    """Read the regions of RAM: ``RAM (xrw) : ORIGIN = 0x20000000, LENGTH = 320K``."""
    for name, size, unit in re.findall(
        r"^[ \t]*(\w+)(?:[ \t]*\([^)\n]*\))?[ \t]*:[ \t]*ORIGIN[ \t]*=[^,\n]*,[ \t]*"
        r"LENGTH[ \t]*=[ \t]*(0x[0-9a-fA-F]{1,8}|\d{1,9})[ \t]*([KMkm]?)\b",
        text,
        re.MULTILINE,
    ):
        if "RAM" in name or "TCM" in name:
            yield "ram", str(int(size, 0) * _UNITS[unit.upper()]), name


_LAST_CELL = r"\b(?:DT_SIZE_([KM])\()?(0x[0-9a-fA-F]{1,8}|\d{1,9})\)?$"


def _overlay(text: str) -> Iterator[tuple[str, str, str]]:
    """Read the RAM of a devicetree overlay: the node that ``zephyr,sram`` chooses, by default ``&sram0``."""
    plain = re.sub(r"/\*.*?(?:\*/|\Z)|//[^\n]*", "", text[: 1 << 16], flags=re.DOTALL)
    chosen = re.search(r"zephyr,sram\s*=\s*&(\w+)", plain)
    label = chosen[1] if chosen else "sram0"
    for node in re.findall(rf"(?:&{label}\b|\b{label}:\s*[\w@,.-]+)\s*\{{([^{{}}]*)\}}", plain):
        cells = re.search(r"\breg\s*=\s*<([^<>]*)>", node)
        size = re.search(_LAST_CELL, cells[1].rstrip()) if cells else None
        if size is not None:
            yield "ram", str(int(size[2], 0) * _UNITS[size[1] or ""]), label


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
    ".cproject": _cproject,
    ".west/config": _west_settings,
    "build/CMakeCache.txt": _cache,
    "dependencies.lock": _locked,
    "sdkconfig": _sdkconfig,
    "sdkconfig.defaults": _sdkconfig,
    "platformio.ini": lambda text: _platformio(text, ""),
    "sketch.yaml": _sketch,
    "idf_component.yml": _component,
    "library.properties": _properties,
    "west.yml": _west,
    "prj.conf": _project_settings,
    "CMakeLists.txt": _cmake,
    "Kconfig": _kconfig,
    "*.ioc": _cube,
    "*.ld": _linker_script,
    "*.overlay": _overlay,
    "mbed_app.json": _mbed,
    "*.lib": _mbed_library,
}
"""By the name of the file, or its path in the project, the most trustworthy first; each yields (kind, name or board,
version or value)."""
