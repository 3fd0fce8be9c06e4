"""``tflm-sim``, and ``python -m tflm_sim``: the command line as a process of its own."""

import gc
import sys

COLLECTION_THRESHOLD = 50_000
"""New objects after which Python looks for reference cycles; an answer about a small model makes 20,000."""


def command() -> int:
    """Run the command line and return its exit code; the process ends with it.

    Nearly all objects live until the end, when the operating system frees them. Looking for reference cycles among
    them, several times and once more at the end, took a fifth of the time of ``tflm-sim size``.
    """
    is_counting = sys.implementation.name == "cpython"
    if is_counting:
        gc.set_threshold(COLLECTION_THRESHOLD)
    from tflm_sim.cli import main  # Only now: most of the objects are made here.
    from tflm_sim.cli.streams import open_standard_streams

    open_standard_streams()
    try:
        return main()
    finally:
        if is_counting:
            gc.freeze()


if __name__ == "__main__":
    sys.exit(command())
