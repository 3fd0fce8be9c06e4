"""What a machine's memory and registers say at the entry of a function."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tflm_sim.extensions.firmware.emulation.devices import Devices
from tflm_sim.extensions.firmware.emulation.emulator import argument, give_back, set_word, text_at, word, words
from tflm_sim.extensions.firmware.emulation.memory_map import Span
from tflm_sim.extensions.firmware.emulation.semihosting import Debugger, Ended
from tflm_sim.extensions.firmware.emulation.tensors import Interface, TensorPlace, find_interface
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType

Machines = Callable[[str], Any]


@pytest.mark.parametrize(("processor", "in_registers"), [("ARM", 4), ("RISC-V", 8)])
def test_arguments_are_in_registers_then_on_the_stack(machine: Machines, processor: str, in_registers: int) -> None:
    one = machine(processor)
    one.registers |= {name: 100 + at for at, name in enumerate(one.core.arguments)} | {"sp": 0x1000}
    one.write_words(0x1000, 200, 201)
    assert [argument(one, at) for at in range(in_registers + 2)] == [*range(100, 100 + in_registers), 200, 201]


@pytest.mark.parametrize(("processor", "link", "target"), [("ARM", 0x8001, 0x8000), ("RISC-V", 0x8002, 0x8002)])
def test_a_value_is_given_back_to_who_called(machine: Machines, processor: str, link: int, target: int) -> None:
    one = machine(processor)
    one.set(one.core.link, link)
    give_back(one, 7)
    assert (one.get(one.core.arguments[0]), one.get("pc")) == (7, target)


def test_words_have_32_bits_the_lowest_byte_first(machine: Machines) -> None:
    one = machine("ARM")
    set_word(one, 0x100, -2)
    set_word(one, 0x104, 0x1_1234_5678)
    assert (word(one, 0x100), words(one, 0x100, 2)) == (0xFFFF_FFFE, (0xFFFF_FFFE, 0x1234_5678))


@pytest.mark.parametrize(
    ("held", "longest", "text"),
    [
        (b"abc\0def", 500, "abc"),
        (b"\0", 500, ""),
        (b"x" * 31 + b"\0y", 500, "x" * 31),
        (b"x" * 32 + b"\0y", 500, "x" * 32),
        (b"x" * 70 + b"\0y", 500, "x" * 70),
        (b"x" * 70 + b"\0y", 64, "x" * 64),  # in pieces of 32
        (b"\xff\0", 500, "\ufffd"),
    ],
)
def test_a_string_ends_with_a_zero(machine: Machines, held: bytes, longest: int, text: str) -> None:
    one = machine("ARM")
    one.write(0x100, held)
    assert text_at(one, 0x100, longest) == text


def asked(machine: Machines, operation: int, *words: int, most: int = 100, text: bytes = b"") -> tuple[Any, Any, bytes]:
    """Return what the debugger answers: what the call gives (or how the program ended), the machine, the output."""
    one = machine("ARM")
    one.registers |= {"r0": operation, "r1": 0x1000, "pc": 0x8000}
    one.write_words(0x1000, *words)
    one.write(0x2000, text)
    debugger = Debugger(most)
    ended = debugger.answer(one)
    return ended or one.get("r0"), one, bytes(debugger.output)


@pytest.mark.parametrize(
    ("operation", "words", "answer"),
    [
        (1, (0x2000, 0, 3), 1),  # SYS_OPEN for reading
        (1, (0x2000, 3, 3), 1),
        (1, (0x2000, 4, 3), 2),  # for writing
        (1, (0x2001, 0, 3), 0xFFFFFFFF),  # another name
        (2, (1,), 0),  # SYS_CLOSE
        (9, (1,), 1),  # SYS_ISTTY
        (12, (1,), 0),  # SYS_FLEN
        (19, (), 0),  # SYS_ERRNO
        (21, (0x2000, 9), 0xFFFFFFFF),  # SYS_GET_CMDLINE
        (16, (), 1),  # SYS_CLOCK
        (17, (), 1),  # SYS_TIME
        (8, (), 0xFFFFFFFF),  # what is not known
    ],
)
def test_what_a_debugger_answers(machine: Machines, operation: int, words: tuple[int, ...], answer: int) -> None:
    result, one, output = asked(machine, operation, *words, text=b":tt\0")
    assert (result, one.get("pc"), output) == (answer, 0x8002, b"")


def test_on_risc_v_the_instruction_that_asks_has_four_bytes(machine: Machines) -> None:
    one = machine("RISC-V")
    one.registers |= {"a0": 16, "pc": 0x8000}
    debugger = Debugger(10)
    assert [debugger.answer(one), one.get("a0"), one.get("pc")] == [None, 1, 0x8004]
    one.set("a0", 17)
    assert [debugger.answer(one), one.get("a0"), one.get("pc")] == [None, 2, 0x8008]  # time goes on


def test_what_a_program_writes_is_the_output_up_to_its_most(machine: Machines) -> None:
    assert asked(machine, 3, ord("a"))[::2] == (0, b"a")
    assert asked(machine, 4, 0x6F6C6C, most=9)[::2] == (0, b"llo")  # the text itself is at 0x1000
    assert asked(machine, 5, 1, 0x2000, 5, text=b"hello!")[::2] == (0, b"hello")
    assert asked(machine, 5, 1, 0x2000, 5, text=b"hello!", most=2)[::2] == (0, b"he")
    assert asked(machine, 5, 1, 0x2000, (1 << 16) + 1, most=1 << 20)[2] == bytes(1 << 16)


def test_output_ends_at_its_most_and_a_text_after_4_kib(machine: Machines) -> None:
    one = machine("ARM")
    one.registers |= {"r1": 0x1000, "pc": 0x8000}
    one.write(0x1000, b"abc\0")
    debugger = Debugger(4)
    for output in (b"abc", b"abca", b"abca"):
        one.set("r0", 4)
        debugger.answer(one)
        assert bytes(debugger.output) == output
    one.write(0x1000, b"x" * 5000)
    one.set("r0", 4)
    long = Debugger(1 << 20)
    long.answer(one)
    assert bytes(long.output) == b"x" * 4096


def test_the_heap_is_not_known(machine: Machines) -> None:
    result, one, _ = asked(machine, 22, 0x2000, text=b"x" * 20)
    assert (result, one.read(0x2000, 20)) == (0, bytes(16) + b"xxxx")


@pytest.mark.parametrize(
    ("operation", "about", "words", "status"),
    [(24, 0x20026, (), 0), (24, 0x20023, (), 1), (32, 0x1000, (0x20026, 7), 7), (32, 0x1000, (0x20023, 7), 1)],
)
def test_a_program_ends_itself(machine: Machines, operation: int, about: int, words: Any, status: int) -> None:
    one = machine("ARM")
    one.registers |= {"r0": operation, "r1": about}
    one.write_words(0x1000, *words)
    assert Debugger(0).answer(one) == Ended(status)


def test_a_device_says_what_was_written_and_after_four_readings_each_bit_that_may_be_waited_for() -> None:
    devices = Devices()
    read, write = devices.reader(0x4000_0000), devices.writer(0x4000_0000)
    told: list[int] = []
    devices.when_written[0x4000_0008] = told.append
    write(None, 8, 4, 0x1234_5678, None)
    write(None, 4, 4, 9, None)
    assert (told, devices.written(0x4000_0004), devices.written(0x4000_0000)) == ([0x1234_5678], 9, 0)
    assert [read(None, 8, size, None) for size in (1, 2, 4, 4)] == [0x78, 0x5678, 0x1234_5678, 0x1234_5678]
    ones = 0xFFFF_FFFF
    bits = [1 << bit for bit in range(32)]
    walk = [ones, 0, *bits, *(ones ^ bit for bit in bits)]
    state = devices.save()
    assert [read(None, 8, 4, None) for _ in range(67)] == [*walk, ones]
    assert read(None, 0, 4, None) == 0  # another register
    assert read(None, 8, 4, None) == 0x1234_5678
    devices.restore(state)
    assert read(None, 8, 4, None) == ones
    write(None, 8, 4, 1, None)
    devices.restore(state)
    assert devices.written(0x4000_0008) == 0x1234_5678


def model_of_two_tensors(kind: TensorType = TensorType.INT16) -> Any:
    builder = ModelBuilder()
    x, y = (builder.tensor(shape, kind, scale=[0.5], zero_point=[0]) for shape in ((1, 3), (2, 5)))
    builder.operator("LOGISTIC", [x], [y])
    return parse(builder.build(inputs=[x], outputs=[y]))


def test_the_interface_is_two_arrays_of_tensors_that_have_the_models_shapes(machine: Machines) -> None:
    one = machine("ARM")
    one.write_words(0x500, 0x1000, 0x1FFC, 0x1010)  # an interpreter: the arrays are the second and the third
    one.write_words(0x1FFC, 0x1100)
    one.write_words(0x1010, 0x1200)
    one.write_words(0x1100, 9, 0x1800, 0x1140, 6)  # type, data, dims, bytes: 3 elements of 2 bytes
    one.write_words(0x1140, 2, 1, 3)
    one.write_words(0x1200, 0, 0x1900, 0x1240, 20)
    one.write_words(0x1240, 2, 2, 5)
    found = find_interface(one, 0x500, Span(0x1000, 0x2000), model_of_two_tensors())
    assert found == Interface((TensorPlace(0x1800, 6),), (TensorPlace(0x1900, 20),))
    assert find_interface(one, 0x500, Span(0x1000, 0x2000), model_of_two_tensors(TensorType.INT8)) is None
    assert find_interface(one, 0x500, Span(0x1000, 0x1FFC), model_of_two_tensors()) is None
    one.write_words(0x1240, 2, 5, 2)
    assert find_interface(one, 0x500, Span(0x1000, 0x2000), model_of_two_tensors()) is None


def test_the_emulator_s_process_keeps_limits_that_are_lower_than_its_own() -> None:
    code = (
        "import resource; from tflm_sim.extensions.firmware.emulation.worker import _limit;"
        "_limit(resource.RLIMIT_CPU, 100, 105); print(*resource.getrlimit(resource.RLIMIT_CPU));"
        "_limit(resource.RLIMIT_CPU, 200, 205); print(*resource.getrlimit(resource.RLIMIT_CPU))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("100 105\n105 105\n", "")
