"""What a wheel of the mobile runtime answers otherwise than we do, over models made at random."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from upstream.lite_conditions import release_of
from upstream.wheel_move import ROOT

from tflm_sim.extensions.lite.releases import RELEASES

_CASES = 300
_SHOWN = 12


def compared(wheel: Path) -> Iterator[tuple[str, str]]:
    """Yield (line, what a person has to decide or "") of the answers of a wheel beside ours.

    Ours are those of its own release, or of the newest that is known.

    Raises:
        ValueError: The wheel cannot be imported here.
    """
    release, _ = release_of(wheel)
    ours = release if release in RELEASES else RELEASES[-1]
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extractall(folder)
        paths = os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])
        command = [sys.executable, "tools", "fuzz", "lite", "--count", str(_CASES), "--release", ours]
        run = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": paths}
        )
    bugs = re.search(r", (\d+) bugs$", run.stdout, re.MULTILINE)
    if bugs is None:
        raise ValueError(f"{wheel.name} cannot be asked: {run.stderr.strip()[-500:]}")
    yield f"{wheel.name} beside {ours}: {bugs[1]} of {_CASES} models are answered otherwise", ""
    if bugs[1] != "0":
        text = [line for line in run.stdout.splitlines() if line.strip()]
        yield from ((f"  {line}", "") for line in text[:_SHOWN])
        yield "", f"{bugs[1]} of {_CASES} models that {wheel.name} answers otherwise: a row in lite/releases.py"
