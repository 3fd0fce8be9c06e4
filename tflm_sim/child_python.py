"""The command that starts another Python with this package, without importing anything from the current folder.

A Python that is started with ``-m`` or ``-c`` would import ``json.py`` of the current folder instead of the standard
library's, and so run code of whoever wrote that folder.
"""

from __future__ import annotations

import os
import sys


def child_python(module: str) -> list[str]:
    """Return the command that calls ``main()`` of a module in a Python of its own, and ends with what that returns;
    arguments follow it.

    It imports from where this process does, but from the current folder only where that was asked for by its name.
    """
    path = [os.path.abspath(entry) for entry in sys.path if entry]
    code = f"import sys; sys.path[:] = {path!r}; from {module} import main; sys.exit(main())"
    return [sys.executable, "-P", "-c", code]
