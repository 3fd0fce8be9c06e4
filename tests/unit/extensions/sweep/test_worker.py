"""The process of a sweep, with another one in the place of what sizes."""

from __future__ import annotations

import pickle
import subprocess
import sys

from tflm_sim.extensions.sweep.limits import Limits

CODE = """
import gc, os
from tflm_sim.extensions.sweep import worker
def answer(*batch):
    os.write(1, b"what a library prints")
    return gc.get_threshold()[0], batch
worker.size_batch = answer
worker.main()
"""


def test_batches_are_answered_in_turn_and_what_is_printed_is_no_answer() -> None:
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([sys.executable, "-c", CODE], **pipes) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        for sent in (Limits(0), (1, 2), (3,)):
            pickle.dump(sent, process.stdin)
        process.stdin.flush()
        # 50,000 objects between two collections of garbage.
        assert [pickle.load(process.stdout) for _ in range(2)] == [(50_000, (1, 2)), (50_000, (3,))]
        process.stdin.close()
        assert process.stderr.read().count(b"what a library prints") == 2
        assert process.wait(20) == 1
