"""Short names for blocks in pictures: what most of them begin with is left out, and what does not fit is cut."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from tflm_sim.escape import printable


def short_names(names: Sequence[str]) -> list[str]:
    """Return labels of at most 40 characters for names, without control characters.

    A converter joins the names of fused operators with ";": only the first is kept. The longest beginning, up to a "/",
    "_" or ".", that at least half of the names share is left out.
    """
    firsts = [name.partition(";")[0] for name in names]
    prefix = _shared_beginning(firsts)
    shorts = [name.removeprefix(prefix) or name for name in firsts]
    return [fitted(printable(short, len(short) + 40), 40) for short in shorts]


def fitted(label: str, room: int) -> str:
    """Return a label, cut to ``room`` characters; "" where fewer than three of its own would be left."""
    if len(label) <= room:
        return label
    return f"{label[: room - 1]}…" if room >= 4 else ""


def _shared_beginning(names: Sequence[str]) -> str:
    """Return the longest beginning that at least half of the names, and at least two, share."""
    counts = Counter(name[: end.end()] for name in names for end in re.finditer(r"[/_.]", name[:400]))
    often = [start for start, count in counts.items() if count >= max(2, len(names) / 2)]
    return max(often, key=len, default="")
