"""Where reading a program and executing it say different things, both figures are told."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.extensions.firmware.contradictions import contradictions
from tflm_sim.extensions.firmware.emulation.execution import ExecutedAllocation, ExecutedArena, Execution
from tflm_sim.extensions.firmware.reading.firmware import read_firmware
from tflm_sim.extensions.firmware.reading.target import firmware_target

sys.path.insert(0, str(Path(__file__).parent))
import set_up_forms

SOURCE = """
alignas(16) static unsigned char tensor_arena[4000];
int main() {
  fill();
  static MicroInterpreter it(GetModel(g_model), resolver, tensor_arena, 4000);
  LOOP it.AllocateTensors();
  return it.state[1];
}
"""


def execution_of(address: int, model: int, smallest: int) -> Execution:
    """Return what is seen of a program with one arena of 4,000 bytes."""
    allocation = ExecutedAllocation(
        interpreter=1, status="ok", arena_used_bytes=smallest, refused=0, damage="", ending="", log=(), stack=None,
        stack_room=None, model=model, events=(), invocations=(), stores=(),
    )  # fmt: skip
    arena = ExecutedArena(
        symbol="tensor_arena", part="all", address=address, size=4000, is_exact=True, fits=True, works=True,
        arena_used_bytes=smallest, smallest_arena=smallest, arena_used_bytes_at_smallest=smallest,
        smallest_arena_multiple_of_16=-(-smallest // 16) * 16, succeeds_from=smallest, log_below=(), reason="",
        allocations=(allocation,), trials=9, tried=(),
    )  # fmt: skip
    return Execution(
        file="app.elf", core="Cortex-M4", emulator="Unicorn", start="", is_guessed=False, ending="", output="",
        arenas=(arena,),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("loop", "answer", "condition"),
    [
        ("", "yes", ""),
        ("for (int i = 0; i < chosen; i++)", "if", "AllocateTensors() is called once (it is called in a"),
    ],
)
def test_a_size_that_reading_does_not_say_is_told_beside_it(
    loop: str, answer: str, condition: str, tmp_path: Path
) -> None:
    firmware = read_firmware(set_up_forms.program(tmp_path, SOURCE.replace("LOOP", loop)))
    found = firmware_target(firmware, runtime="90b983c2b")
    [model], [call] = firmware.models, firmware.set_up.interpreters
    assert call.arena is not None

    def told(smallest: int, **seen: Any) -> Any:
        execution = execution_of(call.arena or 0, model.address, smallest)
        arena = replace(execution.arenas[0], **seen)
        return contradictions(replace(execution, arenas=(arena,)), firmware, found)

    [one] = told(3999)
    read = one.read_smallest_arena
    assert (one.read_answer, one.executed_smallest_arena, one.model) == (answer, 3999, "g_model")
    assert [text.startswith(condition) for text in one.conditions] == ([True] if condition else [])
    assert told(read) == ()
    assert told(read, fits=None) == ()  # An execution that could not tell contradicts nothing.
    # In Invoke(), which is not simulated, it fails: that is no other size.
    assert told(read, works=False) == ()
