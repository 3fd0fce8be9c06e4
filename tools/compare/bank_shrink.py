"""What ``shrink --bank`` gives: tensors in a fast bank and in slow RAM, and what an Invoke() moves there.

    python tools compare bank_shrink MODEL=10KiB ... [--target cortex-m7]

Each MODEL gets a fast bank of the size beside it, and slow RAM without a limit. "tensors" are the bytes that the plans
of both banks need, with the kernels' scratch buffers. The tail, which runtimes that generate code do not have, is a
column of its own.
"""

from __future__ import annotations

import frame

from tflm_sim import BankAim, shrink
from tflm_sim.extensions.banks.aim import MOVED, TAIL, TENSORS


def main() -> None:
    """Print the table, row by row."""
    parser = frame.parser(__doc__)
    parser.add_argument("models", nargs="+", metavar="MODEL=SIZE")
    parser.add_argument("--target", default="cortex-m7")
    args = parser.parse_args()
    columns = {
        "model": "<28", "when": "<8", "fast": ">10,", "slow": ">10,", "tensors": ">10,", "tail": ">8,",
        "moved in slow": ">14,", "MACs": ">14,",
    }  # fmt: skip
    table = frame.Table(columns)
    for named in args.models:
        path, _, size = named.rpartition("=")
        result = shrink(path, args.target, aim=BankAim([f"fast={size}", "slow=64MiB"]))
        (aim,) = result.aims
        for number, (when, cost) in enumerate((("before", result.before), ("after", result.after))):
            fast, slow, moved = (
                aim.figures[name][number] for name in (f"fast: {TENSORS}", f"slow: {TENSORS}", f"slow: {MOVED}")
            )
            tensors = None if fast is None or slow is None else fast + slow
            tail = aim.figures[TAIL][number]
            table.row(path.rpartition("/")[2], when, fast, slow, tensors, tail, moved, cost.macs)


if __name__ == "__main__":
    main()
