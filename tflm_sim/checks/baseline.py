"""A baseline: the last good size of each model in each configuration, in a JSON file that belongs into version control.

{
 "schema_version": 1,
 "sizes": {
  "models/kws.tflite on cortex-m4 (cmsis_nn, plain, greedy)": 22832
 }
}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import UsageError
from tflm_sim.files import read_json, replacing

SCHEMA_VERSION = 1


def baseline_key(model: str, configuration: Configuration) -> str:
    """Return the name of a model in a configuration; ``model`` is a path or "sample:NAME"."""
    target = configuration.target
    variables, room = configuration.resource_variable_count, configuration.variable_arena_size
    settings = (
        *(row.op for row in configuration.custom_ops),
        *(["ethos_u"] if target.ethos_u else []),
        *([f"{variables} resource variables"] if variables is not None else []),
        *([f"variable arena {room}"] if room is not None else []),
        *([f"arena at address {target.arena_address}"] if target.arena_address else []),
        *(["two arenas"] if configuration.is_split else []),
    )
    own = "".join(f", {setting}" for setting in settings)
    return (
        f"{model} on {target.name} ({target.kernel_library}, {configuration.interpreter}, {configuration.planner}{own})"
    )


def read_baseline(path: Path) -> dict[str, int]:
    """Return the sizes of a baseline, in bytes; {} when there is no file.

    Raises:
        UsageError: The file is not a baseline.
    """
    if not path.exists():
        return {}
    document = read_json(path)
    try:
        sizes = {str(key): int(size) for key, size in document["sizes"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is not a baseline of arena sizes: {error}") from error
    if document.get("schema_version") != SCHEMA_VERSION:
        raise UsageError(f"{path} is a baseline of another version: {document.get('schema_version')}")
    return sizes


def update_baseline(path: Path, sizes: Mapping[str, int]) -> None:
    """Set sizes in a baseline and leave the others; the file is replaced as a whole, so that readers never see half.

    Raises:
        UsageError: The file is not a baseline, or it cannot be written.
    """
    merged = {**read_baseline(path), **sizes}
    text = json.dumps({"schema_version": SCHEMA_VERSION, "sizes": dict(sorted(merged.items()))}, indent=1)
    with replacing(path) as file:
        file.write(text + "\n")
