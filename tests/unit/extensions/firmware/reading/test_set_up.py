"""What a program's code passes to TFLM, on each processor whose code is read.

``set_up_programs.json`` holds programs (gzip, base85) of ``set_up_program.cc``, which declares TFLM's names with empty
bodies: gcc 12 with -Os -nostdlib -ffreestanding -fno-exceptions -fno-rtti -fno-asynchronous-unwind-tables, for
-mcpu=cortex-m4, -mcpu=cortex-m0plus, -march=rv32imac and x86-64; two of them also with -Dtflite=tflite::micro, where
TFLM stands since October 2026.
"""

from __future__ import annotations

import base64
import gzip
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.extensions.firmware.reading.call_graph import CallGraph
from tflm_sim.extensions.firmware.reading.code_values import code_reader
from tflm_sim.extensions.firmware.reading.elf import Elf
from tflm_sim.extensions.firmware.reading.machine_code import decoder
from tflm_sim.extensions.firmware.reading.set_up import InterpreterCall, SetUp, _roles, read_set_up

PROGRAMS = {
    name: gzip.decompress(base64.b85decode(text))
    for name, text in json.loads(Path(__file__).with_name("set_up_programs.json").read_text()).items()
}
on_each_processor = pytest.mark.parametrize("name", PROGRAMS)


def program(name: str) -> Elf:
    return Elf(memoryview(PROGRAMS[name]))


def set_up(name: str) -> SetUp:
    return set_up_of(program(name))


def set_up_of(elf: Elf) -> SetUp:
    graph = CallGraph(elf)
    return read_set_up(graph, code_reader(graph))


def address(name: str, symbol: str) -> int:
    return next(one.value for one in program(name).symbols if one.name == symbol)


def by_size(name: str) -> dict[int | None, InterpreterCall]:
    """Return the calls by the arena's size, which is another one in each."""
    return {call.arena_size: call for call in set_up(name).interpreters}


@on_each_processor
def test_every_call_is_found_once(name: str) -> None:
    sizes = sorted(size for size in by_size(name) if size is not None)
    assert sizes == [2000, 2500, 2999, 3000, 5000, 7000, 9000, 10_240]
    assert len(set_up(name).interpreters) == 9


@on_each_processor
def test_the_arena_is_the_pointer_that_is_passed(name: str) -> None:
    calls = by_size(name)
    assert calls[10_240].arena == address(name, "tensor_arena")
    assert calls[5000].arena == address(name, "tensor_arena") + 64
    assert calls[9000].arena == address(name, "tensor_arena")


@on_each_processor
def test_an_argument_of_the_caller_is_looked_up_at_its_own_callers(name: str) -> None:
    assert by_size(name)[3000].arena == address(name, "small_arena")


@on_each_processor
def test_the_model_is_known_where_its_first_word_can_be_read(name: str) -> None:
    # GetModel adds the first word, 8, to the address of the flatbuffer.
    models = {call.arena_size: call.model for call in set_up(name).interpreters}
    assert models.pop(2500) == address(name, "g_bytes") + 6  # put together of four bytes
    assert set(models.values()) == {address(name, "g_model") + 8}


@on_each_processor
def test_the_resolver_of_all_calls_is_one(name: str) -> None:
    found = set_up(name)
    assert {call.resolver for call in found.interpreters} == {address(name, "resolver")}
    assert found.resolver_count == 1


@on_each_processor
def test_preserve_all_tensors_is_read(name: str) -> None:
    linear = [size for size, call in by_size(name).items() if call.preserves_all_tensors]
    assert linear == [5000]


@on_each_processor
def test_the_number_of_resource_variables_and_where_their_table_lies_are_read(name: str) -> None:
    calls = by_size(name)
    assert (calls[2999].variables, calls[2999].variable_arena) == (7, 0)
    assert (calls[9000].variables, calls[9000].variable_arena) == (20, 1024)
    assert (calls[10_240].variables, calls[10_240].variable_arena) == (0, 0)


@on_each_processor
def test_lengths_of_tables_that_differ_are_no_length_of_all(name: str) -> None:
    assert set_up(name).table_length is None


@on_each_processor
def test_an_allocator_made_before_is_told_apart(name: str) -> None:
    calls = by_size(name)
    assert calls[2999].allocator
    assert calls[2000].allocator
    assert calls[2999].allocator != calls[2000].allocator
    assert (calls[2999].is_recording, calls[2000].is_recording) == (False, True)
    assert calls[10_240].allocator == 0


@on_each_processor
def test_a_planner_of_the_program_is_told_from_one_that_the_allocator_makes(name: str) -> None:
    own = {size: call.preserves_all_tensors for size, call in by_size(name).items() if call.has_own_planner}
    assert own == {2500: None}


def test_a_copy_of_the_constructor_that_the_compiler_made_leaves_what_it_is_given_unknown() -> None:
    """The linker's name of a constructor's copy ends as ``.constprop.0``; its arguments are others."""
    whole, data = set_up("cortex-m4"), bytearray(PROGRAMS["cortex-m4"])
    name = b"_ZN6tflite16MicroInterpreterC1EPKNS_5ModelERKNS_15MicroOpResolverEPhjPN"
    for start in (b"C1E", b"C2E"):
        at = data.index(name.replace(b"C1E", start))
        data[at + len(name) - 2 : at + len(name)] = b".c"
    found = set_up_of(Elf(memoryview(bytes(data))))
    assert found.arenas is None
    assert len(found.interpreters) == len(whole.interpreters)


@on_each_processor
def test_memory_of_a_heap_has_no_address(name: str) -> None:
    call = by_size(name)[7000]
    assert (call.is_on_heap, call.arena, call.has_arena) == (True, None, True)


@on_each_processor
def test_what_two_paths_set_differently_is_not_known(name: str) -> None:
    call = by_size(name)[None]
    assert (call.arena, call.arena_size) == (address(name, "tensor_arena"), None)
    assert set_up(name).arenas is None


def test_without_a_decoder_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "capstone", None)
    assert set_up("cortex-m4") == SetUp()


@on_each_processor
@given(data=st.data())
def test_damaged_code_is_read_or_left_alone(name: str, data: st.DataObject) -> None:
    damaged = bytearray(PROGRAMS[name])
    code = next(section for section in program(name).sections if section.name == ".text")
    for _ in range(4):
        at = data.draw(st.integers(code.offset, code.offset + code.size - 1))
        damaged[at] = data.draw(st.integers(0, 255))
    found = set_up_of(Elf(memoryview(bytes(damaged))))
    assert found.is_read


def test_conditional_instructions_of_thumb_are_decoded_with_their_condition() -> None:
    machine = decoder(program("cortex-m4"))
    assert machine is not None
    # ite ne; movne r3, #100; moveq r3, #200: either may be carried out.
    code = bytes.fromhex("14bf 6423 c823")
    decoded = [machine.decode(code[at:], 0x8000 + at) for at in (0, 2, 4)]
    assert [type(one[1][0]).__name__ for one in decoded[1:] if one] == ["ConditionalStep", "ConditionalStep"]


@pytest.mark.parametrize(
    "mangled",
    [
        "PKNS_5ModelERKNS_15MicroOpResolverEPhjPNS_22MicroResourceVariablesEPNS_22MicroProfilerInterfaceEb",
        "PKNS_5ModelERKNS0_15MicroOpResolverEPhmPNS0_22MicroResourceVariablesEPNS0_22MicroProfilerInterfaceEb",
    ],
)
def test_the_arguments_of_a_constructor_are_known_by_their_types(mangled: str) -> None:
    # const Model&, const MicroOpResolver&, uint8_t*, size_t, MicroResourceVariables*, MicroProfilerInterface*, bool.
    roles = {"model": 1, "resolver": 2, "arena": 3, "size": 4, "variables": 5, "preserve": 7}
    assert _roles(mangled) == roles
