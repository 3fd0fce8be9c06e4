"""``tflm-sim``, and ``python -m tflm_sim``: the command line as a process of its own."""

import gc
import sys

UNCOLLECTED = 50_000
"""So many more objects than at the last time, and cycles are looked for; an answer about a small model makes 20,000."""


def command() -> int:
    """Run the command line and return its exit code; the process ends with it.

    What is there at the end are modules and one answer, and the system takes it back in any case: to look through it
    for cycles, again and again and once more at the end, was a fifth of the time of ``tflm-sim size``.
    """
    is_counting = sys.implementation.name == "cpython"
    if is_counting:
        gc.set_threshold(UNCOLLECTED)
    from tflm_sim.cli import main  # Only now: most of the objects are made here.

    try:
        return main()
    finally:
        if is_counting:
            gc.freeze()


if __name__ == "__main__":
    sys.exit(command())
