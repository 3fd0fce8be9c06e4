"""QEMU's monitor for programs (QMP), which is asked how many instructions were executed, and for memory at large.

    {"execute": "query-replay"}     ->      {"return": {"mode": "none", "icount": 3667}}
    {"execute": "pmemsave", ...}    ->      {"return": {}}, and the bytes in a file

With ``-icount`` QEMU counts each instruction, also a conditional one whose condition does not hold; and its clock goes
on with them, here 32 ns for each.
"""

from __future__ import annotations

import contextlib
import json
import socket
from tempfile import NamedTemporaryFile
from typing import Any

COUNTING = ("-icount", "shift=5,sleep=off")


class QemuMonitor:
    """The monitor of a QEMU that is about to be started.

    Attributes:
        arguments: What makes QEMU talk to it.
        number: Of the file that QEMU has to inherit.
    """

    def __init__(self) -> None:
        ours, self._theirs = socket.socketpair()
        self.number = self._theirs.fileno()
        self.arguments = ("-chardev", f"socket,id=monitor,fd={self.number}", "-mon", "chardev=monitor,mode=control")
        self._ours = ours.makefile("rw", encoding="utf-8")
        ours.close()

    def is_answered(self) -> bool:
        """Begin to talk, when QEMU has its end; return whether it answers."""
        self._theirs.close()
        return self._ask("qmp_capabilities") is not None

    def instructions(self) -> int | None:
        """Return how many instructions were executed since QEMU was started; None where it does not say."""
        answer = self._ask("query-replay")
        return None if answer is None else int(answer["icount"])

    def memory(self, address: int, size: int) -> bytes:
        """Return bytes of physical memory, many at once; none where QEMU is gone."""
        with NamedTemporaryFile() as file:
            self._ask("pmemsave", val=address, size=size, filename=file.name)
            return file.read()

    def close(self) -> None:
        """Talk no more."""
        with contextlib.suppress(OSError):  # It still has a question for a QEMU that is gone.
            self._ours.close()

    def _ask(self, name: str, **arguments: object) -> dict[str, Any] | None:
        try:
            self._ours.write(json.dumps({"execute": name, "arguments": arguments}) + "\n")
            self._ours.flush()
            answers = map(json.loads, self._ours)  # Events come between.
            return next((one.get("return") for one in answers if "return" in one or "error" in one), None)
        except OSError:  # QEMU is gone, which whoever runs it finds out.
            return None
