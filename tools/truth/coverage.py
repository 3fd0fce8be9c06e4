"""Write which operators each model of ../shared/golden exercises into tflm_sim/ops/coverage.txt.

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


def summarise(golden: Path) -> dict[str, set[str]]:
    """Return the operators by model."""
    traces = (golden / "x86_64_ref").glob("*.trace.jsonl.gz")
    found = {trace.name.removesuffix(".trace.jsonl.gz"): traced_ops(trace) for trace in traces}
    runs = json.loads(ETHOS_U.read_text(encoding="utf-8"))["runs"]["x86_64"]
    return found | {name: {"ethos-u"} for name in runs}


def main() -> int:
    """Write the summary."""
    parser = frame.parser(__doc__)
    parser.add_argument("golden", nargs="?", type=Path, default=GOLDEN, metavar="GOLDEN_DIRECTORY")
    golden = parser.parse_args().golden
    if not golden.is_dir():
        print(f"{golden} is not there", file=sys.stderr)
        return 1
    rows = [f"{name}: {' '.join(sorted(ops))}\n" for name, ops in sorted(summarise(golden).items()) if ops]
    (ROOT / "tflm_sim" / "ops" / "coverage.txt").write_text("".join(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
