"""Print what CHANGELOG.md says of a version, for the release of its tag; exit code 1 where tag and package differ.

python tools release notes v0.2.0
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import frame

from tflm_sim import __version__

CHANGELOG = Path(__file__).resolve().parents[2] / "CHANGELOG.md"


def section(text: str, version: str) -> str | None:
    """Return a version's part of a changelog, without its heading; None where it has none, or calls it unreleased."""
    found = re.search(rf"^## {re.escape(version)}([^\n]*)\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    return None if found is None or "unreleased" in found[1] else found[2].strip()


def main() -> int:
    """Print it."""
    parser = frame.parser(__doc__)
    parser.add_argument("tag", help="vVERSION")
    tag = parser.parse_args().tag
    if tag != f"v{__version__}":
        print(f"the tag is {tag}, the package's version {__version__}", file=sys.stderr)
        return 1
    notes = section(CHANGELOG.read_text("utf-8"), __version__)
    if notes is None:
        print(f"CHANGELOG.md has no {__version__} that is released; 'towncrier build' writes it", file=sys.stderr)
        return 1
    print(notes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
