"""Which folders and files ``tflm-sim THING`` takes for a project (``extension_points.ProjectKind``)."""

from __future__ import annotations

import os
from importlib.util import find_spec

from tflm_sim.extensions.project.esphome import KIND_OF_ESPHOME, configuration_in
from tflm_sim.extensions.project.folder import kind_of_project
from tflm_sim.extensions.project.wake_word import KIND_OF_WAKE_WORD, manifest_in


def words_of(path: str) -> str:
    """Return what it is; "" for no project, and for sources where the parser is not installed.

    The file with the name of a sketch is the sketch.
    """
    if path.endswith(".ino"):
        path = os.path.dirname(path) or "."
    if manifest_in(path) is not None:
        return KIND_OF_WAKE_WORD
    if configuration_in(path):
        return KIND_OF_ESPHOME
    return kind_of_project(path) if os.path.isdir(path) and find_spec("tree_sitter_cpp") is not None else ""
