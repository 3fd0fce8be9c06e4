"""A linked program that can be read only once, such as a pipe, for verbs that read and execute it."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def readable_again(args: argparse.Namespace) -> Iterator[None]:
    """Replace a pipe in ``--firmware`` by a temporary copy while the block runs.

    Raises:
        FirmwareError: It cannot be read.
    """
    path = getattr(args, "firmware", None)
    if not isinstance(path, str) or not os.path.exists(path) or os.path.isfile(path) or os.path.isdir(path):
        yield
        return
    import tempfile

    from tflm_sim.errors import FirmwareError
    from tflm_sim.files import read
    from tflm_sim.limits import MAX_FIRMWARE_BYTES

    with tempfile.NamedTemporaryFile(suffix=".elf") as file:
        file.write(read(path, most=MAX_FIRMWARE_BYTES, error=FirmwareError))
        file.flush()
        args.firmware = file.name
        yield
