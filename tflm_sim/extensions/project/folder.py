"""Which kind of project a folder is, and its files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatch

from tflm_sim.files import read, walk
from tflm_sim.limits import MAX_SOURCE_BYTES
from tflm_sim.model.inputs import C_SUFFIXES

MICROPYTHON, OPENMV, PICO = "a MicroPython project", "a script for OpenMV", "a Pico SDK project"
IN_PYTHON = (MICROPYTHON, OPENMV)
_KINDS: tuple[tuple[str, str, bytes], ...] = (
    ("platformio.ini", "a PlatformIO project", b"["),
    ("sdkconfig", "an ESP-IDF project", b"CONFIG_"),
    ("CMakeLists.txt", "an ESP-IDF project", b"IDF_PATH"),
    ("*.ino", "an Arduino sketch", b""),
    ("idf_component.yml", "a component of ESP-IDF", b""),
    ("CMakeLists.txt", "a Zephyr application", b"find_package(Zephyr"),
    ("CMakeLists.txt", PICO, b"pico_sdk_init"),
    ("CMakeLists.txt", PICO, b"pico_add_extra_outputs"),
    ("*.ioc", "an STM32Cube project", b"Mcu."),
    (".cproject", "an STM32Cube project", b"stm32"),
    ("mbed_app.json", "an Mbed OS project", b"{"),
    ("mbed-os.lib", "an Mbed OS project", b"mbed"),
    ("CMakeLists.txt", "a CMake project", b"project("),
    ("Makefile", "a project with a Makefile", b""),
    ("*.py", MICROPYTHON, b"microlite"),
    ("*.py", OPENMV, b"import sensor"),
    ("*.py", OPENMV, b"import csi"),
    ("*.py", OPENMV, b"import ml"),
)
"""A file at the top of a project, what the project is, and a text that the file has; the first that is there counts."""
SETTINGS = (os.path.join("build", "CMakeCache.txt"), os.path.join(".west", "config"), ".mbed", ".cproject")
"""Files of a build, in folders that are not looked at otherwise, which name the board."""
_NOT_ITS_OWN = frozenset(
    (
        *("build", "managed_components", "node_modules", "test", "tests", "third_party", "tensorflow", "flatbuffers"),
        *("mbed-os", "drivers", "middlewares", "zephyr", "pico-sdk", "pico-tflmicro"),
    )
)
"""Folders with what is built, with tests, and with copies of libraries."""
_OF_TFLM = (
    b"MicroInterpreter",
    b"MicroAllocator",
    b"MicroMutableOpResolver",
    b"odelInit(",
    b"eloquent_tinyml",
    b"EloquentTinyML",
    b"microlite",
    b"ml.Model(",
    b"tf.load(",
    b"tf.classify(",
)
_MARKS = (
    *("library.properties", "library.json", "idf_component.yml", "component.mk", "CMakeLists.txt"),
    *("AUTHORS", "BUILD", "WORKSPACE"),
)
"""Files beside the sources of a library."""
_IS_TEST = re.compile(r"(?:^test_|[_-]tests?\.(?:c|cc|cpp|cxx)$)", re.IGNORECASE)
"""Names of sources that are tests, in whatever folder."""
MAX_FILES = 2000
"""Files of a project that are looked at."""


def kind_of_project(folder: str) -> str:
    """Return what a folder is, "an Arduino sketch"; "" where it is no project, or nothing in it uses TFLM."""
    names = sorted(os.listdir(folder))
    kind = next(
        (
            words
            for pattern, words, text in _KINDS
            for name in names
            if fnmatch(name, pattern) and _has(os.path.join(folder, name), text)
        ),
        "",
    )
    if not kind:
        return ""
    suffixes = (".py",) if kind in IN_PYTHON else C_SUFFIXES
    texts = (read_text(path) for path in source_files(folder) if os.path.splitext(path)[1].lower() in suffixes)
    return kind if any(name in text for text in texts for name in _OF_TFLM) else ""


def _has(path: str, text: bytes) -> bool:
    return os.path.isfile(path) and text in read_text(path)


def read_text(path: str) -> bytes:
    """Return the bytes of a file of text; b"" for one that is too large for a source."""
    return read(path, most=MAX_SOURCE_BYTES) if os.path.getsize(path) <= MAX_SOURCE_BYTES else b""


def _is_copy(folder: str) -> bool:
    """Return whether a folder is a copy of a library, and no folder of the project's own with TFLM among its files."""
    has_tflm = any(os.path.isdir(os.path.join(folder, name)) for name in ("tensorflow", "src/tensorflow"))
    return has_tflm and any(os.path.isfile(os.path.join(folder, name)) for name in _MARKS)


def source_files(folder: str) -> Iterator[str]:
    """Yield the files of a project that are its own, in a fixed order: at most ``MAX_FILES``; no link leads outside."""
    count, inside = 0, os.path.join(os.path.realpath(folder), "")
    for path, folders, files in walk(folder):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name.lower() not in _NOT_ITS_OWN and not _is_copy(os.path.join(path, name))
        )
        for name in sorted(files):
            file = os.path.join(path, name)
            if (
                not name.startswith(".")
                and not _IS_TEST.search(name)
                and os.path.isfile(file)
                and os.path.realpath(file).startswith(inside)
            ):
                count += 1
                if count > MAX_FILES:
                    return
                yield file
