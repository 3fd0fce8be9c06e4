"""The Keras callback in real trainings, in a process of their own: JAX starts threads, and other tests fork."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TRAININGS = Path(__file__).with_name("keras_trainings.py")


@pytest.mark.nightly
def test_the_trainings_pass() -> None:
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-rs", str(TRAININGS))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout
