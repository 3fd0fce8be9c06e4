"""The command that starts another Python with this package in it, whatever lies in the current folder.

A Python that is started with ``-m`` or ``-c`` takes ``json.py`` of the current folder for the library's: who runs the
program in somebody else's folder would run that person's code.
"""

from __future__ import annotations

import os
import sys


def child_python(module: str) -> list[str]:
    """Return the command that calls ``main()`` of a module in a Python of its own; arguments follow it.

    It imports from where this process does, but from the current folder only where that was asked for by its name.
    """
    path = [os.path.abspath(entry) for entry in sys.path if entry]
    code = f"import sys; sys.path[:] = {path!r}; from {module} import main; main()"
    return [sys.executable, "-P", "-c", code]
