"""A device's configuration for ESPHome: the wake words of ``micro_wake_word``, and the chip.

    micro_wake_word:
      models:
        - model: models/kitchen.json        a manifest beside it
        - okay_nabu                          one that ESPHome downloads

``!include``, ``packages`` and ``substitutions`` are followed below the file's folder; what is downloaded is asked for.
Source: esphome/components/micro_wake_word/__init__.py, esphome/components/packages, esphome/yaml_util.py
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, NamedTuple

from tflm_sim.errors import UsageError
from tflm_sim.extensions.project.references import substituted
from tflm_sim.files import inside, parse_problem, read
from tflm_sim.limits import MAX_SOURCE_BYTES

KIND_OF_ESPHOME = "a configuration of ESPHome"
MAX_INCLUDES = 50
MAX_NODES = 100_000
"""Values of a configuration with all that it includes; an alias counts wherever it stands."""


class EspHome(NamedTuple):
    """What a configuration says.

    Attributes:
        path: Its file.
        boards: The board and the chip of its ``esp32:``, those that it has.
        manifests: The manifests of its models that stand beside it.
        missing: Models whose manifests are not here, as they are named.
        notes: What could not be read.
    """

    path: str
    boards: tuple[str, ...]
    manifests: tuple[str, ...]
    missing: tuple[str, ...]
    notes: tuple[str, ...]


class _Include(NamedTuple):
    """``!include FILE``, with the values that replace its substitutions."""

    file: str
    values: Mapping[str, str]


def is_esphome(path: str) -> bool:
    """Return whether a file is a configuration of ESPHome with a wake word, by its own text or that of its folder."""
    if not path.endswith((".yaml", ".yml")) or not os.path.isfile(path) or os.path.getsize(path) > MAX_SOURCE_BYTES:
        return False
    text = read(path, most=MAX_SOURCE_BYTES)
    if not re.search(rb"^esphome:", text, re.MULTILINE):
        return False
    return any(_has_wake_word(one) for one in (path, *_included_files(path, text)))


def _has_wake_word(path: str) -> bool:
    if not os.path.isfile(path) or os.path.getsize(path) > MAX_SOURCE_BYTES:
        return False
    return re.search(rb"^micro_wake_word:", read(path, most=MAX_SOURCE_BYTES), re.MULTILINE) is not None


def _included_files(path: str, text: bytes) -> Iterator[str]:
    """Yield the files that a configuration includes itself, below its folder."""
    for name in re.findall(rb"!include[ \t]+['\"]?([\w./ -]+?\.ya?ml)", text)[:MAX_INCLUDES]:
        if (file := _below(path, name.decode("latin-1"))) is not None:
            yield file


def configuration_in(path: str) -> str:
    """Return the configuration that a file is, or the only one in a folder; "" for neither."""
    if not os.path.isdir(path):
        return path if is_esphome(path) else ""
    names = [os.path.join(path, name) for name in sorted(os.listdir(path))]
    found = [name for name in names if is_esphome(name)]
    return found[0] if len(found) == 1 else ""


def read_esphome(path: str) -> EspHome:
    """Return what a configuration says.

    Raises:
        UsageError: It is no YAML, or PyYAML is not installed.
    """
    if find_spec("yaml") is None:
        raise UsageError(f"{path} is YAML, which needs PyYAML: pip install 'tflm_sim[project]'")
    reader = _Reader(path)
    config = reader.whole(path, {})
    values = config.get("substitutions")
    substitutions = {str(key): str(value) for key, value in values.items()} if isinstance(values, Mapping) else {}
    words = config.get("micro_wake_word")
    section = words if isinstance(words, Mapping) else {}
    models = section.get("models")
    rows = models if isinstance(models, list) else [section["model"]] if "model" in section else []
    if "vad" in section:
        rows = [*rows, section["vad"] or "vad"]
    manifests: list[str] = []
    missing: list[str] = []
    for row in rows:
        name = row.get("model") or row.get("id") if isinstance(row, Mapping) else row
        if isinstance(name, Mapping):  # type: local, path: FILE
            name = name.get("path") or name.get("url") or name.get("file")
        name = _replaced(str(name or "vad"), substitutions)
        file = _below(path, name)
        if file is not None and os.path.isfile(file):
            manifests.append(file)
        else:
            missing.append(name)
    esp32 = config.get("esp32")
    chip = esp32 if isinstance(esp32, Mapping) else {}
    boards = [_replaced(str(chip[key]), substitutions) for key in ("board", "variant") if chip.get(key)]
    return EspHome(path, tuple(boards), tuple(manifests), tuple(missing), tuple(reader.notes))


def _replaced(text: str, values: Mapping[str, str]) -> str:
    return substituted(text, r"\$\{?(\w+)\}?", lambda found: values.get(found[1], found[0]))


def _below(path: str, name: str) -> str | None:
    """Return a file that a configuration names, if it lies below the configuration's folder."""
    with suppress(UsageError):
        return inside(os.path.dirname(path) or ".", name)
    return None


class _Reader:
    """Reads a configuration with what it includes."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._files = self._nodes = 0
        self.notes: list[str] = []

    def whole(self, path: str, values: Mapping[str, str]) -> dict[str, Any]:
        """Return a file's keys with those of its packages below them: the file's own count first, lists are joined."""
        config = self._resolved(self._loaded(path), path, values)
        if not isinstance(config, dict):
            raise UsageError(f"{path} is no configuration of ESPHome: its top is no mapping")
        return self._with_packages(config)

    def _with_packages(self, config: dict[str, Any]) -> dict[str, Any]:
        packages = config.pop("packages", None) or {}
        rows = packages.values() if isinstance(packages, dict) else packages if isinstance(packages, list) else ()
        for package in rows:
            if isinstance(package, dict) and "url" not in package:
                config = _merged(self._with_packages(dict(package)), config)
            elif package is not None:
                name = package.get("url") if isinstance(package, dict) else package
                self.notes.append(f"the package {name}, which ESPHome downloads")
        return config

    def _loaded(self, path: str) -> Any:
        import yaml  # type: ignore[import-untyped]  # Of the extra 'project'; it has no types.

        class Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types.
            """Knows ESPHome's tags: of an include the file, of all others the value."""

        def tagged(loader: Any, tag: str, node: Any) -> Any:
            if isinstance(node, yaml.ScalarNode):
                text = loader.construct_scalar(node)
                return _Include(text, {}) if tag == "include" else text
            if isinstance(node, yaml.MappingNode):
                value = loader.construct_mapping(node, deep=True)
                if tag == "include":
                    variables = value.get("vars") or {}
                    return _Include(str(value.get("file")), {str(key): str(one) for key, one in variables.items()})
                return value
            return loader.construct_sequence(node, deep=True)

        Loader.add_multi_constructor("!", tagged)
        self._files += 1
        if self._files > MAX_INCLUDES:
            raise UsageError(f"{self._path} includes more than {MAX_INCLUDES} files")
        if os.path.getsize(path) > MAX_SOURCE_BYTES:
            raise UsageError(f"{path} is larger than any configuration")
        try:
            return yaml.load(read(path, most=MAX_SOURCE_BYTES), Loader)  # A SafeLoader.
        except (yaml.YAMLError, ValueError, RecursionError, TypeError, AttributeError) as error:
            raise UsageError(f"{path} is no YAML: {parse_problem(error).splitlines()[0]}") from error

    def _resolved(self, value: Any, path: str, values: Mapping[str, str], depth: int = 0) -> Any:
        """Return a value with what it includes, and with the include's values in its texts."""
        self._nodes += 1
        if self._nodes > MAX_NODES or depth > 100:
            raise UsageError(f"{self._path} is larger than any configuration, with all that it includes")
        if isinstance(value, _Include):
            file = _below(path, _replaced(value.file, values))
            if file is None:
                self.notes.append(f"{value.file}, which lies outside")
                return None
            if not os.path.isfile(file):
                self.notes.append(f"{value.file}, which is not there")
                return None
            return self._resolved(self._loaded(file), file, {**values, **value.values}, depth + 1)
        if isinstance(value, dict):
            return {str(key): self._resolved(one, path, values, depth + 1) for key, one in value.items()}
        if isinstance(value, list):
            return [self._resolved(one, path, values, depth + 1) for one in value]
        return _replaced(value, values) if isinstance(value, str) and values else value


def _merged(below: Any, above: Any) -> Any:
    """Return two values as ESPHome merges a package and what includes it."""
    if isinstance(below, dict) and isinstance(above, dict):
        return {**below, **{key: _merged(below.get(key), value) for key, value in above.items()}}
    if isinstance(below, list) and isinstance(above, list):
        return [*below, *above]
    return below if above is None else above
