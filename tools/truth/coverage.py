"""Summarise which models of ../shared/golden exercise each operator into tflm_sim/ops/coverage.json.

    python tools truth coverage [GOLDEN_DIRECTORY]

An operator counts when real TFLM finished preparing it in the model's x86_64_ref trace. ethos-u, which those builds do
not link, counts in the models of tests/golden/ethos_u_runs.json.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import frame

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT.parent / "shared" / "golden"
ETHOS_U = ROOT / "tests" / "golden" / "ethos_u_runs.json"


def traced_ops(trace: Path) -> set[str]:
    """Return the names of the operators that were prepared without an error."""
    ops: set[str] = set()
    name = ""
    with gzip.open(trace, "rt", encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            if event["e"] == "op_prepare":
                name = event["name"]
            elif event["e"] == "op_prepared":
                ops.add(name)
    return ops


def summarise(golden: Path) -> dict[str, list[str]]:
    """Return the models by operator, both sorted."""
    coverage: dict[str, list[str]] = {}
    for trace in sorted((golden / "x86_64_ref").glob("*.trace.jsonl.gz")):
        for op in sorted(traced_ops(trace)):
            coverage.setdefault(op, []).append(trace.name.removesuffix(".trace.jsonl.gz"))
    coverage["ethos-u"] = sorted(json.loads(ETHOS_U.read_text(encoding="utf-8"))["runs"]["x86_64"])
    return dict(sorted(coverage.items()))


def main() -> int:
    """Write the summary."""
    parser = frame.parser(__doc__)
    parser.add_argument("golden", nargs="?", type=Path, default=GOLDEN, metavar="GOLDEN_DIRECTORY")
    golden = parser.parse_args().golden
    if not golden.is_dir():
        print(f"{golden} is not there", file=sys.stderr)
        return 1
    text = json.dumps(summarise(golden), indent=0)
    (ROOT / "tflm_sim" / "ops" / "coverage.json").write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
