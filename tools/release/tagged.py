"""Make this tree the release of a tag: its version, its changelog; and print what the changelog says of it.

    python tools release tagged v0.3.0 > notes.md

The tag alone says the version: it goes into the package and CITATION.cff, with the commit and its day, and towncrier
makes a section of CHANGELOG.md of what is in newsfragments/, in front of what stands there as unreleased under the same
version. Where nothing is in newsfragments/, the section is there already.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import frame

ROOT = Path(__file__).resolve().parents[2]
TAG = re.compile(r"v(\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?)")
VERSIONS = {
    "tflm_sim/__init__.py": re.compile(r'^(__version__ = ")[^"]+(")$', re.MULTILINE),
    "CITATION.cff": re.compile(r"^(version: ).+()$", re.MULTILINE),
}
"""Where the version stands."""
CITATION = re.compile(r"^(?:date-released|commit): .*\n", re.MULTILINE)


def version_of(tag: str) -> str | None:
    """Return the version that a tag names, None where it names none."""
    found = TAG.fullmatch(tag)
    return found and found[1]


def set_version(root: Path, version: str) -> None:
    """Write the version wherever it stands."""
    for name, pattern in VERSIONS.items():
        text, count = pattern.subn(rf"\g<1>{version}\g<2>", (root / name).read_text("utf-8"))
        assert count == 1, f"{name} has {count} versions"
        (root / name).write_text(text, "utf-8")


def set_citation(root: Path, commit: str, day: str) -> None:
    """Write into CITATION.cff of which commit and day (YYYY-MM-DD) the release is."""
    path = root / "CITATION.cff"
    text = CITATION.sub("", path.read_text("utf-8"))
    path.write_text(f"{text}date-released: {day}\ncommit: {commit}\n", "utf-8")


def write_changelog(root: Path, version: str) -> str:
    """Make a section of the news, if there are any, and return what the changelog says of the version."""
    path = root / "CHANGELOG.md"
    command = [sys.executable, "-m", "towncrier", "build", "--yes", "--version", version, "--name", "tflm_sim"]
    if any(each.name != "README.md" for each in (root / "newsfragments").glob("*.md")):
        subprocess.run(command, cwd=root, check=True, stdout=subprocess.DEVNULL)
        path.write_text(path.read_text("utf-8").replace(f"\n## {version} (unreleased)\n", "\n", 1), "utf-8")
    return section(path.read_text("utf-8"), version)


def section(text: str, version: str) -> str:
    """Return a version's part of a changelog, without its heading."""
    found = re.search(rf"^## {re.escape(version)}\b[^\n]*\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    assert found is not None, f"newsfragments/ is empty, and CHANGELOG.md has no section of {version}"
    return found[1].strip()


def main() -> int:
    """Change the tree, and print the notes."""
    parser = frame.parser(__doc__)
    parser.add_argument("tag", help="vMAJOR.MINOR.PATCH, or that with aN, bN or rcN behind it")
    tag = parser.parse_args().tag
    version = version_of(tag)
    if version is None:
        print(f"{tag!r} names no version; v0.3.0 or v0.3.0rc1 would", file=sys.stderr)
        return 1
    set_version(ROOT, version)
    commit, day = frame.git(ROOT, "log", "-1", "--format=%H %cs").split()
    set_citation(ROOT, commit, day)
    print(write_changelog(ROOT, version))
    return 0


if __name__ == "__main__":
    sys.exit(main())
