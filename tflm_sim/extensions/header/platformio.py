"""The header for PlatformIO: a script before the build calls :func:`arena_headers` with its environment."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from tflm_sim.cli import main

OPTION = "custom_tflm_models"


def arena_headers(env: Any) -> None:
    """Write the headers of the models that ``platformio.ini`` names, and let the sources find them.

    Each line of ``custom_tflm_models`` is a model, the header's name, and options of ``tflm-sim size``:
    ``data/net.tflite net.h --target cortex-m4``. Sources are compiled again where a header says something else.

    Args:
        env: The environment of PlatformIO's script (``Import("env")``).
    """
    root = Path(env.subst("$PROJECT_DIR"))
    folder = Path(env.subst("$BUILD_DIR")) / "tflm_sim"
    folder.mkdir(parents=True, exist_ok=True)
    for line in env.GetProjectOption(OPTION, "").splitlines():
        if not line.strip():
            continue
        model, header, *options = shlex.split(line)
        if code := main(["size", str(root / model), *options, "--header", str(folder / header)]):
            env.Exit(code)
    env.Append(CPPPATH=[str(folder)])
