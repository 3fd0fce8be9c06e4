"""Real firmwares: what their ELF files say leads to the arena that they need, to the byte.

``firmware_builds.json`` holds facts of firmwares for a Cortex-M4: struct sizes, traces and absent checks as read from
the ELF file, and what the running firmware needed (QEMU's mps2-an386, every arena size by bisection). They run
person_detect or the "model" that is named, in an arena of "arena" bytes: "hello" (hello_world), "keyword"
(keyword_scrambled), "rec" (the same in a RecordingMicroInterpreter), "alloc" (micro_speech in an interpreter whose
MicroAllocator was made before).
"flags" says how each was built: optimisation, "lto", "nog" without debug information, "cmsis" with CMSIS-NN, "strip"
without messages (TF_LITE_STRIP_ERROR_STRINGS) and debug information, "private" with five words more in OpDataConv and
two more in GreedyMemoryPlanner, sizes that upstream never had ("mismatches"). Absent checks
are written down of the builds that have "absent".
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.device.configuration import configure
from tflm_sim.extensions.firmware.reading.absent_checks import AbsentCheck
from tflm_sim.extensions.firmware.reading.attributes import Processor
from tflm_sim.extensions.firmware.reading.dated_texts import DatedText
from tflm_sim.extensions.firmware.reading.firmware import Firmware
from tflm_sim.extensions.firmware.reading.image import Image
from tflm_sim.extensions.firmware.reading.measured_structs import DebugFacts
from tflm_sim.extensions.firmware.reading.target import firmware_target
from tflm_sim.model.load import load
from tflm_sim.targets.abi import AAPCS
from tflm_sim.targets.history import find_commit
from tflm_sim.targets.structs import MeasuredStruct

BUILDS: dict[str, Any] = json.loads(Path(__file__).with_name("firmware_builds.json").read_text())
MODELS = Path(__file__).parents[3] / "shared" / "models"
PERSON_DETECT = "tflm__models__person_detect"


def firmware(facts: dict[str, Any]) -> Firmware:
    """Return the firmware with these facts."""
    library, _, isa = facts["kernels"]
    structs = {name: MeasuredStruct(name, size, alignment) for name, (size, alignment) in facts["structs"].items()}
    sources = frozenset({"conv"} if library == "reference" else {f"{library}/conv"})
    return Firmware(
        Image(None, "ELF", ()),
        (),
        processor=Processor("ARM v7E-M", AAPCS, "attributes", isa or "dsp"),
        debug=DebugFacts(structs, {}, 1, sources, ()) if structs else None,
        symbol_count=1000,
        operators=frozenset({"CONV_2D"}),
        interpreters=("recording",) if facts.get("recording") else ("plain",),
        dated_texts=tuple(DatedText(*trace) for trace in facts["traces"]),
        absent_checks=tuple(AbsentCheck(*check) for check in facts.get("absent", ())),
    )


UNDECIDED = {f"52c956815-lto-nog-{model}" for model in ("alloc", "hello", "keyword", "rec")}
"""Changes that move a byte lie between the traces, and no struct tells them apart: the verdict lists them all.

Without debug information a program of few kernels holds few messages: nothing of what these link came or went between
May 2023 and December 2024.
"""


@pytest.mark.shared("models")
@pytest.mark.parametrize("name", BUILDS)
def test_the_tflm_that_the_file_leaves_needs_what_the_device_needed(name: str) -> None:
    facts = BUILDS[name]
    found = firmware_target(firmware(facts))
    assert [list(row) for row in found.mismatches] == facts.get("mismatches", [])
    answers, model = {}, load(MODELS / f"{facts.get('model', PERSON_DETECT)}.tflite")
    for target in found.alternatives:
        where = configure(target, arena_address=facts["arena_address"])
        smallest = simulate(model, where).smallest
        assert smallest is not None
        answers[smallest.size, simulate(model, where, arena_size=facts.get("arena", 102_400)).arena_used_bytes] = where
    truth = facts["smallest"], facts["used"]
    assert truth in answers
    assert (len(answers) > 1) == (name in UNDECIDED)
    where = answers[truth]
    assert simulate(model, where, arena_size=facts["smallest"]).arena_used_bytes == facts["used_at_smallest"]
    below = simulate(model, where, arena_size=facts["smallest"] - 1)
    assert below.status == "error"
    printed = [line for text in below.log for line in text.splitlines() if line]
    assert facts["below"] == ([] if "strip" in facts["flags"] else printed)


@pytest.mark.parametrize("name", BUILDS)
def test_the_commit_that_was_built_is_among_those_that_are_left(name: str) -> None:
    facts = BUILDS[name]
    found = firmware_target(firmware(facts))
    position = find_commit(facts["commit"]).position
    traces = [DatedText(*trace) for trace in facts["traces"]]
    assert all(trace.first <= position < trace.end for trace in traces)
    assert not any(first <= position < end for _, first, end in facts.get("absent", ()))
    assert position <= (found.target.runtime.upstream or find_commit("90b983c2b").position)
