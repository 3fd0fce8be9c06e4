"""Run a tool by its group and name (``python tools fuzz models -h``), or list them (``python tools``)."""

from __future__ import annotations

import ast
import runpy
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

TOOLS = Path(__file__).resolve().parent


def first_line(path: Path) -> str:
    """Return what a tool says that it does: the first line of its docstring."""
    return (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").partition("\n")[0]


def tools() -> Iterator[tuple[str, Path]]:
    """Yield each tool that can be run, with the words that name it after ``python tools``."""
    for path in sorted(TOOLS.glob("*.py")) + sorted(TOOLS.glob("*/*.py")):
        if path.name != "__main__.py" and '__name__ == "__main__"' in path.read_text("utf-8"):
            yield " ".join(path.relative_to(TOOLS).with_suffix("").parts), path


def main(arguments: Sequence[str]) -> int:
    """Run the tool that the first words name with the words after them, or list those whose name begins so."""
    known = dict(tools())
    for length in (1, 2):
        name = " ".join(arguments[:length])
        if name in known:
            sys.argv[:] = [str(known[name]), *arguments[length:]]
            try:
                runpy.run_module(name.replace(" ", "."), run_name="__main__", alter_sys=True)
            except ModuleNotFoundError as missing:
                print(f"{name}: {missing}; 'bash tools/test.sh' installs what the tools need", file=sys.stderr)
                return 3
            return 0
    asked = " ".join(arguments)
    found = {name: path for name, path in known.items() if name.startswith(asked)}
    for name, path in found.items():
        print(f"{name:<26} {first_line(path)}")
    if not found:
        print(f"no tool {asked!r}; python tools lists them", file=sys.stderr)
    return 0 if found else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
