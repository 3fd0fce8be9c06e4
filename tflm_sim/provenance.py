"""Which tflm_sim made a document: its version, and the commit that it is of.

A built package has the commit in ``commit.txt``, which ``setup.py`` writes into wheels and sdists. In a checkout it is
the one that is checked out, whatever was edited since. Else, as in an archive without either, it is "unknown".
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from pkgutil import get_data

UNKNOWN = "unknown"
_DIGITS = 9


def made_by() -> str:
    """Return the version and the commit in words: "0.3.0 (34d7cf465)"."""
    return "{version} ({commit})".format(**maker())


def maker() -> dict[str, str]:
    """Return the version and the commit, nine digits of it or "unknown", as documents have them."""
    from tflm_sim import __version__

    return {"version": __version__, "commit": commit()}


@cache
def commit() -> str:
    """Return nine digits of the commit, or "unknown"."""
    try:
        text = (get_data("tflm_sim", "commit.txt") or b"").decode("ascii")
    except (OSError, ValueError):
        text = _checked_out(Path(__file__).resolve().parents[1])
    return text.strip()[:_DIGITS] or UNKNOWN


def _checked_out(root: Path) -> str:
    """Return the commit that is checked out where this package lies in a clone of its own, "" where it does not."""
    try:
        if 'name = "tflm_sim"\n' not in (root / "pyproject.toml").read_text("utf-8"):
            return ""  # Somebody's repository into which the package was copied.
        git = root / ".git"
        if git.is_file():  # A work tree beside the clone.
            git = root / git.read_text("utf-8").partition(": ")[2].strip()
        head = (git / "HEAD").read_text("ascii").strip()
        if not head.startswith("ref: "):
            return head
        common = git / "commondir"
        shared = git / common.read_text("utf-8").strip() if common.is_file() else git
        reference = head.removeprefix("ref: ")
        for folder in (git, shared):
            if (folder / reference).is_file():
                return (folder / reference).read_text("ascii")
        packed = (line.split() for line in (shared / "packed-refs").read_text("ascii").splitlines())
        return next((words[0] for words in packed if words[1:] == [reference]), "")
    except (OSError, ValueError):
        return ""
