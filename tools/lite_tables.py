"""Hold the mobile runtime's list of TensorFlow's operators against a clone of google-ai-edge/LiteRT, or write it.

python tools/lite_tables.py CHECKOUT           names that differ, exit code 1
python tools/lite_tables.py CHECKOUT --write   write tflm_sim/lite/flex_ops.txt
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "tflm_sim" / "lite" / "flex_ops.txt"
ALLOWLIST = "tflite/converter/delegates/flex/allowlisted_flex_ops.cc"
SETS = {"GetFlexAllowlist": "", "GetTFTextFlexAllowlist": "text", "GetSentencePieceFlexAllowlist": "sentencepiece"}


def flex_rows(checkout: str) -> list[str]:
    """Return a row for each operator that the converter's lists name: name, tab, library."""
    source = subprocess.run(
        ["git", "-C", checkout, "show", f"HEAD:{ALLOWLIST}"], check=True, capture_output=True, text=True
    ).stdout
    rows = []
    for function, library in SETS.items():
        body = source[source.index(f"{function}() {{") :]
        names = re.findall(r'^\s*"([^"]+)",$', body[: body.index("});")], re.MULTILINE)
        rows += [f"{name}\t{library}" for name in sorted(names)]
    return rows


def main(arguments: Sequence[str]) -> int:
    """Check or write, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args(arguments)
    theirs, ours = flex_rows(args.checkout), TABLE.read_text("utf-8").splitlines()
    if args.write:
        TABLE.write_text("".join(f"{row}\n" for row in theirs), encoding="utf-8")
        return 0
    differing = sorted(set(theirs) ^ set(ours))
    print("\n".join(differing) or f"{len(ours)} operators, all names are right")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
