"""Compare the mobile runtime's tables with a clone of google-ai-edge/LiteRT, or write one of them.

    python tools upstream lite_tables CHECKOUT                 operators that differ, exit code 1
    python tools upstream lite_tables CHECKOUT --conditions    as well each condition that stands elsewhere
    python tools upstream lite_tables CHECKOUT --write         write tflm_sim/extensions/lite/flex_ops.txt

The conditions that kernels check (extensions/lite/kernels/conditions.txt) were read out of wheels whose source is not
public (``tools upstream lite_conditions``): each of the release that is the default is looked for in the checkout's
kernels, at its line, elsewhere in its file, or not at all. They differ where the checkout is older or newer than the
wheel, so that they decide no exit code.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import frame
from upstream.lite_conditions import CONDITIONS, read

from tflm_sim.extensions.lite.releases import DEFAULT_RELEASE

TABLE = Path(__file__).resolve().parents[2] / "tflm_sim" / "extensions" / "lite" / "flex_ops.txt"
ALLOWLIST = "tflite/converter/delegates/flex/allowlisted_flex_ops.cc"
SETS = {"GetFlexAllowlist": "", "GetTFTextFlexAllowlist": "text", "GetSentencePieceFlexAllowlist": "sentencepiece"}
KERNELS = "tflite/kernels"
ENSURE = re.compile(r"\bTF_LITE_ENSURE(|_EQ|_TYPES_EQ|_NEAR)\(")
COMMENT = re.compile(r"//[^\n]*")

Condition = tuple[str, str, str]  # file, left side, right side


def flex_rows(checkout: str) -> list[str]:
    """Return a row for each operator that the converter's lists name: name, tab, library."""
    source = frame.git(checkout, "show", f"HEAD:{ALLOWLIST}")
    rows = []
    for function, library in SETS.items():
        body = source[source.index(f"{function}() {{") :]
        names = re.findall(r'^\s*"([^"]+)",$', body[: body.index("});")], re.MULTILINE)
        rows += [f"{name}\t{library}" for name in sorted(names)]
    return rows


def conditions(file: str, source: str) -> Iterator[tuple[Condition, int]]:
    """Iterate over the conditions that a kernel's source checks, each with the line on which it ends."""
    source = COMMENT.sub(lambda match: " " * len(match.group()), source)
    for match in ENSURE.finditer(source):
        arguments, end = split_arguments(source, match.end())
        texts = [re.sub(r"\s+", " ", text).strip() for text in arguments]
        right = texts[2] if match.group(1) and len(texts) > 2 else ""
        if len(texts) > 1:
            yield (file, texts[1], right), source.count("\n", 0, end) + 1


def split_arguments(source: str, start: int) -> tuple[list[str], int]:
    """Return the arguments of a macro whose parenthesis opens before ``start``, and where it closes."""
    arguments, depth, begin = [], 0, start
    for place in range(start, len(source)):
        letter = source[place]
        if letter == "," and depth == 0:
            arguments.append(source[begin:place])
            begin = place + 1
        elif letter in ")]}" and depth == 0:
            return [*arguments, source[begin:place]], place
        depth += (letter in "([{") - (letter in ")]}")
    return arguments, len(source)


def compare_conditions(checkout: str) -> Iterator[str]:
    """Yield the conditions of the table that stand elsewhere in the checkout or not at all, and a sum."""
    sources: dict[Condition, list[int]] = {}
    releases, table = read(CONDITIONS.read_text("utf-8"))
    column = releases.index(DEFAULT_RELEASE)
    rows = [(row.file, row.lines[column], row.left, row.right) for row in table if row.lines[column]]
    known = set(frame.git(checkout, "ls-tree", "-r", "--name-only", "HEAD", f"{KERNELS}/").splitlines())
    for file in sorted({row[0] for row in rows}):
        if f"{KERNELS}/{file}" in known:
            for condition, place in conditions(file, frame.git(checkout, "show", f"HEAD:{KERNELS}/{file}")):
                sources.setdefault(condition, []).append(place)
    counts = Counter[str]()
    for file, line, left, right in rows:
        lines = sources.get((file, left, right), [])
        what = "at its line" if line in lines else "elsewhere" if lines else "absent"
        counts[what] += 1
        if what != "at its line":
            where = f" (line {', '.join(map(str, lines))})" if lines else ""
            yield f"{file}:{line} {left}{' | ' + right if right else ''}: {what}{where}"
    commit = frame.git(checkout, "log", "-1", "--format=%h of %as").strip()
    yield f"{len(rows)} conditions against {commit}: " + ", ".join(f"{count} {what}" for what, count in counts.items())


def main(arguments: Sequence[str]) -> int:
    """Check or write, and return the exit code."""
    parser = frame.parser(__doc__)
    parser.add_argument("checkout")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--conditions", action="store_true")
    args = parser.parse_args(arguments)
    theirs, ours = flex_rows(args.checkout), TABLE.read_text("utf-8").splitlines()
    if args.write:
        TABLE.write_text("".join(f"{row}\n" for row in theirs), encoding="utf-8")
        return 0
    differing = sorted(set(theirs) ^ set(ours))
    print("\n".join(differing) or f"{len(ours)} operators, all names are right")
    *lines, total = compare_conditions(args.checkout)
    print(*lines if args.conditions else (), total, sep="\n")
    return int(bool(differing))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
