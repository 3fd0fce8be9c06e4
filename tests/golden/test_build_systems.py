"""Programs that their own build systems made once, run in QEMU: what they printed is what is simulated.

Built with Debian 12's arm-none-eabi-gcc 12.2: TFLM's examples (90b983c2b) by CMake for a Cortex-M4, with the arenas of
their sources; a keyword spotter with an arena of 12,000 bytes by Zephyr 2.5.0's ``west`` for mps2_an385, with
Zephyr's TFLM module of June 2024. Only what the programs printed was kept. The rest was found by trying: an arena
without alignas(16) can begin at any multiple of 8, so its address modulo 16 is the one of the two that gives the
figure, and the program on Zephyr has the model and the eight resource variables with which its line is printed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tflm_sim import simulate

MODELS = Path(__file__).parents[3] / "shared" / "models"
EXAMPLES = "tflm__examples__"
HELLO, SPEECH = f"{EXAMPLES}hello_world__models__hello_world", f"{EXAMPLES}micro_speech__models__"


@pytest.mark.shared("models")
@pytest.mark.parametrize(
    ("model", "arena", "address", "interpreter", "variables", "printed"),
    [
        (f"{HELLO}_float", 3000, 8, "recording", 24, 1352),
        (f"{HELLO}_float", 3000, 8, "plain", None, 736),
        (f"{HELLO}_int8", 3000, 0, "plain", None, 684),
        (f"{SPEECH}audio_preprocessor_int8", 28584, 0, "plain", None, 8440),
        (f"{SPEECH}micro_speech_quantized", 28584, 0, "plain", None, 6796),
    ],
)
def test_the_examples_of_tflm_print_what_is_simulated(
    model: str, arena: int, address: int, interpreter: str, variables: int | None, printed: int
) -> None:
    found = simulate(
        MODELS / f"{model}.tflite",
        "cortex-m4",
        kernels="reference",
        arena_size=arena,
        arena_address=address,
        interpreter=interpreter,
        resource_variables=variables,
    )
    assert found.arena_used_bytes == printed


@pytest.mark.shared("models")
def test_the_program_on_zephyr_prints_what_is_simulated() -> None:
    found = simulate(
        MODELS / "tflm__models__keyword_scrambled.tflite",
        "cortex-m3",
        library="zephyr@2024-06-27",
        arena_size=12000,
        arena_address=8,
        resource_variables=8,
    )
    assert found.log[0] == "Failed to allocate tail memory. Requested: 2048, available 1176, missing: 872"
