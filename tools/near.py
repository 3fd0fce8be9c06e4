"""Run the tests that are near a file: those of its name, those that import it, then those of what imports it.

    python tools near FILE...           the nearest six files of tests, without what is slow
    python tools near                   those near what git says has changed
    python tools near FILE -k word -x   what is left over goes to pytest

Nothing is listed by hand. A test belongs to a module when it is test_NAME.py, or test_NAME_SOMETHING.py, in the folder
that mirrors the module's, or when it imports it; a file that is no Python belongs to the modules that name it.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import frame

ROOT = Path(__file__).resolve().parents[1]
QUICK = ("tests/*.py", "tests/unit/**/*.py", "tests/cli/*.py", "tests/docs/*.py")
"""Where tests are that are not slow as a whole."""
MOST = 6
IMPORT = re.compile(r"^ *(?:from +([\w.]+) +import +(\([^)]*\)|.+)|import +([\w.]+))", re.MULTILINE)


def mirror(path: Path) -> Path:
    """Return the folder with the tests of a file's folder: tests/unit/ops for tflm_sim/ops/pad.py."""
    top, *inside = path.relative_to(ROOT).parent.parts or ("",)
    if top == "tests":
        return path.parent
    if top == "tflm_sim":
        return ROOT.joinpath("tests", *([] if inside[:1] == ["cli"] else ["unit"]), *inside)
    return ROOT / "tests" / ("unit/tools" if top == "tools" else top)


class Tree:
    """The Python files of the repository, and which of them belong to which."""

    def __init__(self) -> None:
        quick = [path for pattern in QUICK for path in ROOT.glob(pattern)]
        self.tests = {path for path in quick if path.name.startswith("test_")}
        modules = {path.stem: path for path in quick}  # helpers beside tests are imported by their bare names
        for base, folder in (("tflm_sim", ROOT), ("tools", ROOT / "tools")):
            for path in (ROOT / base).rglob("*.py"):
                modules[".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")] = path
        self.texts = {path: path.read_text("utf-8") for path in {*modules.values(), *quick}}
        self.users: dict[Path, set[Path]] = defaultdict(set)
        """A file -> the tests of its name, and the files that import it."""
        for path, text in self.texts.items():
            for source, names, whole in IMPORT.findall(text):
                for name in (whole, source, *(f"{source}.{word}" for word in re.findall(r"\w+", names))):
                    if name in modules:
                        self.users[modules[name]].add(path)
            name = path.parent.name if path.stem in ("__init__", "__main__") else path.stem
            homes = [home for home in (mirror(path), *mirror(path).parents) if home.is_relative_to(ROOT / "tests")]
            named = (home.glob(f"test_{name}{end}.py") for home in homes for end in ("", "_*"))
            self.users[path].update(test for tests in named for test in tests if test in self.tests)

    def near(self, path: Path) -> list[Path]:
        """Return the files of tests that are near a file, the nearest first."""
        if path.name.startswith("test_"):
            return [path]
        home = mirror(path)

        def distance(test: Path) -> tuple[bool, int, bool, Path]:
            apart = len(home.parts) + len(test.parent.parts) - 2 * len(os.path.commonpath([home, test]).split(os.sep))
            is_named = home.is_relative_to(test.parent) and test.stem.startswith(f"test_{path.stem}")
            return not is_named, apart, f'"{path.stem}' not in self.texts[test], test

        step = {path}
        if path.name == "conftest.py":
            step = {test for test in self.tests if path.parent in test.parents}
        elif path.suffix != ".py":
            step = {user for user, text in self.texts.items() if path.name in text}
        found, seen = list[Path](), set[Path]()
        while step and len(found) < MOST:
            seen |= step
            found += sorted(step & self.tests, key=distance)
            step = {user for each in step for user in self.users[each]} - seen
        # What a table or the command line finds by its name is imported by nobody: the tests of its folder, then.
        folder = next(each for each in (home, *home.parents) if any(each in test.parents for test in self.tests))
        if len(found) < 3:
            found += sorted((test for test in self.tests - seen if folder in test.parents), key=distance)
        return found[:MOST]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run pytest on what is near; return 2 where nothing is."""
    parser = frame.parser(__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE", type=Path)
    args, rest = parser.parse_known_args(arguments)
    changed = ("diff", "--name-only", "HEAD"), ("ls-files", "--others", "--exclude-standard")
    files = args.files or [ROOT / name for command in changed for name in frame.git(ROOT, *command).splitlines()]
    tree = Tree()
    found = list(dict.fromkeys(test for file in files for test in tree.near(file.resolve())))
    if not found:
        print(f"no test is near {', '.join(map(str, files)) or 'what has changed: nothing has'}", file=sys.stderr)
        return 2
    quick = [] if set(found) <= {file.resolve() for file in files} else ["-m", "not slow"]
    command = ["-m", "pytest", "-q", *quick, *map(os.path.relpath, found), *rest]
    print(shlex.join(["python", *command]), flush=True)
    os.execv(sys.executable, [sys.executable, *command])


if __name__ == "__main__":
    sys.exit(main())
