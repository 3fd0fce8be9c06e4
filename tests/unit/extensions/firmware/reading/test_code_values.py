"""What is known of registers and of the stack at a call, by programs of a few steps, two bytes each."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.extensions.firmware.reading import code_values
from tflm_sim.extensions.firmware.reading.arm_code import ARM
from tflm_sim.extensions.firmware.reading.call_graph import Function
from tflm_sim.extensions.firmware.reading.code_values import CodeFacts, CodeReader, Value, substituted
from tflm_sim.extensions.firmware.reading.elf import Elf
from tflm_sim.extensions.firmware.reading.machine_steps import (
    Branch,
    CallTo,
    Compare,
    ConditionalStep,
    Forget,
    Load,
    Or,
    Round,
    SetTo,
    Shift,
    Step,
    Store,
    Sum,
)

sys.path.insert(0, str(Path(__file__).parent))
from elf_writer import Part, write_elf

START, OUTSIDE, CONSTANTS, VARIABLES = 0x8000, 0x9000, 0xA000, 0x2000_0000
CALL = CallTo(OUTSIDE)
FIVE = Value("", 5)


def at(index: int) -> int:
    return START + 2 * index


def facts(*program: Step | list[Step], functions: dict[int, Function] | None = None) -> CodeFacts:
    """Return what is read of a program."""
    steps = [one if isinstance(one, list) else [one] for one in program]
    code = bytes(range(1, 2 * len(steps) + 1))
    parts = (
        Part(".comment", bytes(64), address=CONSTANTS),
        Part(".text", code, flags=6, address=START),
        Part(".rodata", bytes(range(1, 9)), flags=2, address=CONSTANTS),
        Part(".zeros", (0, 8), type=8, flags=2, address=CONSTANTS + 8),
        Part(".data", bytes(range(1, 9)), flags=3, address=VARIABLES),
    )

    def decode(given: bytes, address: int) -> tuple[int, list[Step]]:
        assert given == code[address - START : address - START + 24], "as much as the longest instruction has"
        return 2, steps[(address - START) // 2]

    decoder: Any = SimpleNamespace(convention=ARM, decode=decode)
    reader = CodeReader(Elf(memoryview(write_elf(*parts))), decoder, functions)
    return reader.facts(Function(START, 2 * len(steps), ()))


def sites(*program: Step | list[Step]) -> dict[int, tuple[int | None, tuple[Value | None, ...]]]:
    """Return target and arguments of each call that is found, by its place in the program."""
    return {(call.site - START) // 2: (call.target, call.arguments) for call in facts(*program).calls}


def arguments(*program: Step | list[Step]) -> tuple[Value | None, ...]:
    """Return the arguments of a call behind the program."""
    return sites(*program, CALL)[len(program)][1]


def test_at_its_first_instruction_a_function_has_what_it_was_given() -> None:
    assert arguments() == tuple(Value(f"argument {number}", 0) for number in range(10))
    moved = arguments(SetTo("sp", "sp", -8))
    assert moved[:4] == tuple(Value(f"argument {number}", 0) for number in range(4))
    assert moved[4:7] == (None, None, Value("argument 4", 0)), "they lie above what it pushes"


def test_a_call_leaves_the_registers_that_are_kept_and_its_result() -> None:
    given = [SetTo("r4", "", 5), SetTo("r1", "", 6)]
    second = sites(given, CALL, SetTo("r2", "r4", 0), CALL)[3][1]
    assert second[:4] == (Value(f"call {at(1):#x}", 0), None, FIVE, None)


@pytest.mark.parametrize(
    ("called", "does_return"),
    [
        ([Branch(at(6), False)], False),
        ([CallTo(at(6)), Branch(None, False, returns=True)], True),
        ([CallTo(OUTSIDE)], True),
        ([Branch(at(7), True), Branch(at(6), False)], False),
        ([Branch(None, True, returns=True), Branch(at(6), False)], True),
        ([Branch(OUTSIDE, False)], True),
        ([Branch(None, False)], True),
    ],
    ids=["loops", "calls itself", "falls out", "loops in two ways", "may return", "goes elsewhere", "jumps"],
)
def test_what_stands_behind_a_call_that_never_returns_does_not_come_next(called: list[Step], does_return: bool) -> None:
    is_other: list[Step] = [SetTo("r4", "", 6), Branch(at(3), True)]
    program = ([SetTo("r4", "", 5), Branch(at(4), True)], *is_other, CallTo(at(6)), SetTo("r0", "r4", 0), CALL, *called)
    functions = {at(6): Function(at(6), 2 * len(called), ())}
    (call,) = (each for each in facts(*program, functions=functions).calls if each.site == at(5))
    assert call.arguments[0] == (None if does_return else FIVE)


@pytest.mark.parametrize(
    ("steps", "value"),
    [
        ([SetTo("r0", "", 0xFFFF_FFFF), SetTo("r0", "r0", 2)], Value("", 1)),
        ([SetTo("r0", "sp", -8)], Value("sp", -8)),
        ([SetTo("r0", "r9", 1)], None),
        ([SetTo("r2", "", 5), Sum("r0", "r1", "r2", 1)], Value("argument 1", 5)),
        ([SetTo("r2", "", 5), Sum("r0", "r1", "r2", -1)], Value("argument 1", -5)),
        ([SetTo("r2", "", 5), Sum("r0", "r2", "r1", 1)], Value("argument 1", 5)),
        ([SetTo("r2", "", 5), Sum("r0", "r2", "r1", -1)], None),
        ([Sum("r0", "r2", "r1", 1)], None),
        ([Sum("r0", "r2", "r9", 1)], None),
        ([Sum("r0", "r9", "r2", 1)], None),
        ([SetTo("r2", "", 0x1000_0003), Shift("r0", "r2", 4)], Value("", 0x30)),
        ([Shift("r0", "r2", 4)], None),
        ([SetTo("r1", "", 6), SetTo("r2", "", 3), Or("r0", "r1", "r2")], Value("", 7)),
        ([SetTo("r2", "", 3), Or("r0", "r1", "r2")], None),
        ([SetTo("r2", "", 3), Or("r0", "r2", "r1")], None),
        ([SetTo("r2", "", 0x1234), Round("r0", "r2", 16)], Value("", 0x1230)),
        ([Round("r0", "sp", 16)], Value("aligned sp", 0)),
        ([Round("r0", "sp", 8)], None),
        ([CALL, SetTo("r0", "r0", 15), Round("r0", "r0", 16)], Value(f"aligned call {START:#x}", 0)),
        ([CALL, SetTo("r0", "r0", 7), Round("r0", "r0", 16)], None),
        ([Round("r0", "r1", 16)], None),
        ([Round("r0", "r9", 16)], None),
        ([Forget("r0")], None),
        ([Load("r0", "", CONSTANTS, 4)], Value("", 0x04030201)),
        ([Load("r0", "", CONSTANTS + 4, 4)], Value("", 0x08070605)),
        ([Load("r0", "", CONSTANTS + 5, 4)], Value("[0xa005]", 0)),
        ([Load("r0", "", CONSTANTS - 1, 2)], None),
        ([Load("r0", "", CONSTANTS + 6, 2)], Value("", 0x0807)),
        ([Load("r0", "", CONSTANTS + 8, 4)], Value("[0xa008]", 0)),  # whose bytes the file does not have
        ([Load("r0", "", VARIABLES, 4)], Value("[0x20000000]", 0)),
        ([Load("r0", "", VARIABLES, 2)], None),
        ([Load("r0", "r1", 0, 4)], Value("[argument 1+0]", 0)),
        ([Load("r0", "r1", 8, 4), Load("r0", "r0", 4, 4)], Value("[[argument 1+8]+4]", 0)),
        ([Load("r0", "r1", 8, 4), *[Load("r0", "r0", 4, 4)] * 30], None),  # too deep
        ([Load("r0", "r9", 0, 4)], None),
    ],
)
def test_what_a_step_makes_of_what_is_known(steps: list[Step], value: Value | None) -> None:
    assert arguments(*steps)[0] == value


@pytest.mark.parametrize(
    ("steps", "value"),
    [
        ([], FIVE),
        ([Store("sp", -12, 4, "r1")], FIVE),  # beside it
        ([Store("sp", -4, 4, "r1")], FIVE),
        ([Store("sp", -9, 2, None)], None),  # a byte of it
        ([Store("sp", -5, 1, None)], None),
        ([Store("sp", -8, 4, None)], None),
        ([Store("sp", None, 0, None)], None),  # somewhere on the stack
        ([Store("r9", 0, 4, "r1")], None),  # somewhere
        ([Store("r1", 0, 4, "r2")], FIVE),  # in memory of the caller, who does not know this stack
        ([Store("", VARIABLES, 4, "r2")], FIVE),
        ([SetTo("r2", "sp", -8), Store("", VARIABLES, 4, "r2")], FIVE),  # its address is known elsewhere from now on
        ([SetTo("r2", "sp", -8), Store("", VARIABLES, 4, "r2"), CALL], None),
        ([SetTo("r2", "sp", -8), Store("", VARIABLES, 4, "r2"), Store("r1", 0, 4, "r1")], None),
        ([SetTo("r2", "sp", -8), CALL], None),  # given away
        ([Round("r2", "sp", 16), CALL], None),
        ([Round("r2", "sp", 16), Store("r2", 0, 4, "r1")], None),
        ([SetTo("r2", "sp", -4), CALL], FIVE),  # what lies above it is given away
        ([SetTo("r2", "sp", -4), SetTo("r3", "sp", -8), CALL], None),
        ([SetTo("r2", "sp", -8), SetTo("r3", "sp", -4), CALL], None),
    ],
)
def test_what_lies_on_the_stack_is_known_until_somebody_may_write_there(steps: list[Step], value: Value | None) -> None:
    stored = [SetTo("r0", "", 5), Store("sp", -8, 4, "r0")]
    assert arguments(*stored, *steps, Load("r0", "sp", -8, 4))[0] == value


def test_a_part_of_a_word_on_the_stack_is_not_known() -> None:
    assert arguments(SetTo("r0", "", 5), Store("sp", -8, 4, "r0"), Load("r0", "sp", -8, 2))[0] is None


def test_arguments_behind_the_fourth_lie_on_the_stack_in_words() -> None:
    pushed = [SetTo("sp", "sp", -8), SetTo("r0", "", 5), Store("sp", 0, 4, "r0"), Store("sp", 4, 4, "r1")]
    assert arguments(*pushed)[4:7] == (FIVE, Value("argument 1", 0), Value("argument 4", 0))
    assert arguments(*pushed, SetTo("sp", "", 0))[4:] == arguments(*pushed, Forget("sp"))[4:] == (None,) * 6


@pytest.mark.parametrize(("first", "second", "value"), [(5, 5, FIVE), (5, 6, None)])
def test_where_two_paths_meet_only_what_both_say_is_known(first: int, second: int, value: Value | None) -> None:
    split = [Branch(at(3), True, None), SetTo("r0", "", first), Branch(at(4), False, None), SetTo("r0", "", second)]
    assert arguments(*split)[0] == value


@pytest.mark.parametrize(
    ("is_equal", "taken", "passed"),
    [(True, Value("", 7), Value("argument 0", 0)), (False, Value("argument 0", 0), Value("", 7))],
)
def test_where_a_comparison_holds_its_number_is_known(is_equal: bool, taken: Value, passed: Value) -> None:
    found = sites(Compare("r0", 7), Branch(at(4), True, is_equal), CALL, Branch(None, False), CALL)
    assert (found[4][1][0], found[2][1][0]) == (taken, passed)


@pytest.mark.parametrize(("number", "is_taken"), [(0, False), (7, True)])
def test_a_comparison_of_a_known_number_has_one_way_out(number: int, is_taken: bool) -> None:
    """As GetModel() has it, which looks whether the address of an array is null."""
    null = [SetTo("r0", "", 7), Compare("r0", number), Branch(at(4), True, True), SetTo("r0", "", 1)]
    assert arguments(*null)[0] == Value("", 7 if is_taken else 1)


@pytest.mark.parametrize("between", [SetTo("r0", "r1", 0), Compare(None, 0), CALL])
def test_a_comparison_says_nothing_of_what_came_after_it(between: Step) -> None:
    found = sites(Compare("r0", 7), between, Branch(at(4), True, True), Branch(None, False), CALL)
    assert found[4][1][0] != Value("", 7)
    kept = sites(Compare("r0", 7), SetTo("r1", "", 1), Branch(at(4), True, True), Branch(None, False), CALL)
    assert kept[4][1][0] == Value("", 7)


@pytest.mark.parametrize(("other", "value"), [(7, Value("", 7)), (8, None)])
def test_a_comparison_that_two_paths_made_is_one(other: int, value: Value | None) -> None:
    split = [Branch(at(3), True, None), Compare("r0", 7), Branch(at(4), False, None), Compare("r0", other)]
    assert sites(*split, Branch(at(6), True, True), Branch(None, False), CALL)[6][1][0] == value


def test_a_step_on_a_condition_may_not_have_happened() -> None:
    assert arguments(ConditionalStep(SetTo("r0", "", 5)))[0] is None
    assert arguments(SetTo("r0", "", 5), ConditionalStep(SetTo("r0", "", 5)))[0] == FIVE


def test_a_jump_out_of_the_function_is_a_call_and_one_within_it_is_none() -> None:
    assert {site: target for site, (target, _) in sites(Branch(OUTSIDE, False, None)).items()} == {0: OUTSIDE}
    assert sites(Branch(at(0), False, None)) == {}
    assert sites(SetTo("r0", "", 5), Branch(at(1), False, None)) == {}
    assert sites(Branch(at(1), False, None))[0][0] == at(1), "the next function begins there"
    assert sites(Branch(START - 2, False, None))[0][0] == START - 2
    assert sites(Branch(OUTSIDE, True, None), Branch(None, False)) == {}
    assert sites(CallTo(None))[0][0] is None


def test_a_comparison_of_known_numbers_goes_one_way() -> None:
    null_check = [SetTo("r0", "", VARIABLES), Compare("r0", 0)]
    assert sorted(sites(null_check, Branch(at(3), True, True), CALL, CALL)) == [2, 3]
    assert sites(null_check, Branch(at(4), True, True), [SetTo("r1", "", 5)], CALL, CALL)[3][1][1] == FIVE
    assert sorted(sites(null_check, Branch(at(3), True, False), CALL, CALL)) == [3]
    assert sorted(sites(Compare("r0", 0), Branch(at(3), True, False), CALL, CALL)) == [2, 3]


def test_what_a_loop_carries_out_again_is_known() -> None:
    once, again = CALL, CALL
    nested = facts(once, again, again, Branch(at(2), True, None), Branch(at(1), True, None), once)
    loops = {(address - START) // 2: number for address, number in nested.loops.items()}
    assert sorted(loops) == [1, 2, 3, 4]
    assert len(set(loops.values())) == 1
    two = facts(again, Branch(at(0), True, None), again, Branch(at(2), True, None)).loops
    assert two[at(0)] == two[at(1)] != two[at(2)] == two[at(3)]
    assert facts(Branch(at(0), False, None)).loops.keys() == {at(0)}
    assert facts(once, Branch(at(3), True, None), once, once).loops == {}


def test_a_call_of_what_a_register_holds_says_so() -> None:
    [call] = facts([Load("r3", "r0", 0, 4), Load("r3", "r3", 28, 4)], CallTo(None, "r3")).calls
    assert (call.target, call.through) == (None, Value("[[argument 0+0]+28]", 0))
    [known] = facts(SetTo("r3", "", OUTSIDE + 1), CallTo(None, "r3")).calls
    assert known.target == OUTSIDE, "without Thumb's bit"


def test_a_value_that_is_written_to_memory_of_others_is_known_to_be() -> None:
    call = f"call {START:#x}"
    assert facts(CALL, Store("r4", 0, 4, "r0")).stored == {call}
    assert facts(CALL, Store("sp", -8, 4, "r0")).stored == frozenset()
    given = [Store("sp", -8, 4, "r0"), SetTo("r0", "sp", -16)]
    assert call in facts(CALL, given, CALL).stored, "the function may read what lies on the stack"


def test_what_a_function_returns_is_known_where_every_path_returns_it() -> None:
    back, elsewhere = Branch(None, False, returns=True), Branch(OUTSIDE, False)
    assert facts(SetTo("r0", "", 5), back).returned == FIVE
    assert facts(SetTo("r0", "r1", 8), back).returned == Value("argument 1", 8)
    assert facts(elsewhere).returned == Value(f"call {START:#x}", 0)
    either = [Compare("r2", 0), Branch(at(3), True, None)]
    assert facts(SetTo("r0", "", 5), either, back, back).returned == FIVE
    assert facts(SetTo("r0", "", 5), either, back, [SetTo("r0", "", 6)], back).returned is None
    assert facts(SetTo("r0", "", 5), either, back, Branch(None, False)).returned is None, "a jump that is not followed"


def test_words_that_are_written_to_variables_are_known() -> None:
    variable = SetTo("r3", "", VARIABLES)
    written = facts(variable, [SetTo("r0", "", 5), Store("r3", 4, 4, "r0")], Store("r3", 8, 1, "r0")).written
    assert written == {VARIABLES + 4: {FIVE}, VARIABLES + 8: {None}}
    assert facts(CALL, Store("r4", 4, 4, "r0")).written == {}


def test_what_no_path_reaches_is_not_read() -> None:
    assert sites(Branch(None, False), CALL) == {}
    assert sorted(sites(Branch(at(2), False, None), CALL, CALL)) == [2]


def test_a_function_that_is_too_long_is_left_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_values, "_MAX_STEPS", 3)
    assert len(sites(CALL, CALL)) == 2
    assert sites(CALL, CALL, CALL) == {}


def test_an_argument_is_replaced_by_what_a_caller_passes() -> None:
    assert substituted(Value("argument 2", 4), {2: Value("sp", 8)}) == Value("sp", 12)
    assert substituted(Value("argument 2", 4), {1: FIVE}) is None
    assert substituted(Value("argument 2", 4), {2: None}) is None
    assert substituted(Value("sp", 4), {}) == Value("sp", 4)
    assert substituted(None, {}) is None
