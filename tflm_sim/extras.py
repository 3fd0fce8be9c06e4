"""The command that brings the packages of an extra into the Python that runs this.

The package may be in no registry, where ``pip install 'tflm_sim[run]'`` finds nothing; what an extra asks for is.
"""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

from tflm_sim.names import command_line


def install_command(extra: str) -> str:
    """Return the command that installs what an extra names, such as ``.venv/bin/python -m pip install rich``."""
    return f"{_installer()} {command_line(*_requirements(extra))}"


def _requirements(extra: str) -> list[str]:
    """Return an extra's requirements as the installed package has them, without their conditions."""
    from importlib import metadata  # 20 ms, for a message that is rarely needed

    try:
        rows = metadata.requires("tflm_sim") or []
    except metadata.PackageNotFoundError:  # an unpacked copy on PYTHONPATH
        rows = []
    split = (row.partition(";") for row in rows)
    asked = [
        name.strip() for name, _, condition in split if condition.replace("'", '"').endswith(f'extra == "{extra}"')
    ]
    return asked or [f"tflm_sim[{extra}]"]


def _installer() -> str:
    """Return the start of the command, by the Python's path from the current folder where it is below it."""
    try:
        below = os.path.relpath(sys.executable)
    except ValueError:  # On Windows, from another drive.
        below = os.pardir
    python = command_line(sys.executable if below.startswith(os.pardir) else below)
    if find_spec("pip") is None:  # as in an environment that uv made
        return f"uv pip install --python {python}"
    return f"{python} -m pip install"
