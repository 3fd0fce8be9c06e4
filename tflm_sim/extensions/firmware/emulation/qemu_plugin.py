"""The plugin that notes the stores of a program in QEMU (``qemu_stores.c``), and the memory that is shared with it."""

from __future__ import annotations

import mmap
import tempfile
from ctypes import sizeof
from importlib.util import find_spec
from typing import IO, NamedTuple

from tflm_sim.extensions.firmware.emulation.store_watch import Noted


class QemuPlugin(NamedTuple):
    """The plugin of a QEMU; without one, no stores are noted.

    Attributes:
        arguments: What makes QEMU load it.
        noted: What it notes.
        file: Where, open for as long as a QEMU may be started with it, which has to inherit it.
    """

    arguments: tuple[str, ...] = ()
    noted: Noted | None = None
    file: IO[bytes] | None = None


def store_plugin() -> QemuPlugin:
    """Return the plugin for a new QEMU, or none where this package was installed without a compiler."""
    found = find_spec("tflm_sim.extensions.firmware.emulation._qemu_stores")
    if found is None or found.origin is None:
        return QemuPlugin()
    file = tempfile.TemporaryFile()  # noqa: SIM115  # It is closed with the machine.
    file.truncate(sizeof(Noted))
    noted = Noted.from_buffer(mmap.mmap(file.fileno(), sizeof(Noted)))
    path = found.origin.replace(",", ",,")
    return QemuPlugin(("-plugin", f"file={path},noted={file.fileno()}"), noted, file)
