"""Which kernels and operators a program uses, from its functions and the calls between them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.extensions.firmware.reading.call_graph import CallGraph, Function
from tflm_sim.extensions.firmware.reading.elf import FUNCTION, Elf, Symbol
from tflm_sim.extensions.firmware.reading.jumps import JUMPS
from tflm_sim.extensions.firmware.reading.linked_kernels import (
    keeps_kernel_sums,
    kernel_functions,
    registered_operators,
)
from tflm_sim.extensions.firmware.reading.set_up import _allocates_again

PREPARE = "_ZN6tflite12_GLOBAL__N_17PrepareEP13TfLiteContextP10TfLiteNode"
EVAL = "_ZN6tflite12_GLOBAL__N_14EvalEP13TfLiteContextP10TfLiteNode"
ALLOCATE = "_ZN6tflite16MicroInterpreter15AllocateTensorsEv"
ALL_OPERATORS = "_ZN6tflite14AllOpsResolverC1Ev"
# The same since the wheels of 2026-10-02 and 2026-10-08.
EVAL_NOW = "_ZN6tflite5micro12_GLOBAL__N_14EvalEPNS0_13TfLiteContextEPNS0_10TfLiteNodeE"
ALLOCATE_NOW = "_ZN6tflite5micro16MicroInterpreter15AllocateTensorsEv"


def graph(calls: dict[str, tuple[str, ...]]) -> CallGraph:
    """Return a program of functions of 16 bytes, each with the functions that it calls."""
    starts = {name: 16 * number for number, name in enumerate(calls)}
    made = CallGraph(Elf.__new__(Elf))
    made.__dict__["functions"] = {start: Function(start, 16, (name,)) for name, start in starts.items()}
    made.__dict__["callers"] = {
        starts[callee]: tuple(starts[name] + 4 for name, callees in calls.items() if callee in callees)
        for callee in {callee for callees in calls.values() for callee in callees}
    }
    return made


@pytest.mark.parametrize(
    ("calls", "found"),
    [
        ({EVAL: ("arm_softmax_s8",), "arm_softmax_s8": ()}, {"cmsis_nn": ["arm_softmax_s8"]}),
        ({EVAL_NOW: ("arm_softmax_s8",), "arm_softmax_s8": ()}, {"cmsis_nn": ["arm_softmax_s8"]}),
        ({"my_layer": ("arm_softmax_q7",), EVAL: (), "arm_softmax_q7": ()}, {}),
        ({EVAL: ("main",), "main": (), "arm_softmax_s8": ()}, {}),
        ({EVAL: ("esp_nn_conv_s8_ansi",), "esp_nn_conv_s8_ansi": ()}, {"esp_nn": ["esp_nn_conv_s8_ansi"]}),
    ],
)
def test_a_librarys_function_counts_where_tflm_calls_it(
    calls: dict[str, tuple[str, ...]], found: dict[str, list[str]]
) -> None:
    assert kernel_functions(graph(calls)) == found


@pytest.mark.parametrize(
    ("calls", "keeps"),
    [
        ({PREPARE: ("arm_vector_sum_s8",), EVAL: (), "arm_vector_sum_s8": ()}, True),
        ({PREPARE: (), EVAL: ("arm_vector_sum_s8",), "arm_vector_sum_s8": ()}, False),
        ({PREPARE: (), EVAL: ("main",), "main": (), "arm_vector_sum_s8": ()}, None),
        ({PREPARE: (), EVAL: ()}, None),
    ],
)
def test_sums_of_weights_are_kept_where_prepare_computes_them(
    calls: dict[str, tuple[str, ...]], keeps: bool | None
) -> None:
    assert keeps_kernel_sums(graph(calls)) is keeps


CONV, PAD = "_ZN6tflite16Register_CONV_2DEv", "_ZN6tflite12Register_PADEv"
CONV_NOW = "_ZN6tflite5micro16Register_CONV_2DEv"
RFFT_NOW = "_ZN6tflite5micro11tflm_signal13Register_RFFTEv"


@pytest.mark.parametrize(
    ("calls", "operators"),
    [
        ({"main": (CONV,), CONV: (), PAD: ()}, {"CONV_2D"}),
        ({"main": (CONV,), ALL_OPERATORS: (CONV, PAD), CONV: (), PAD: ()}, {"CONV_2D"}),
        ({"main": (ALL_OPERATORS,), ALL_OPERATORS: (CONV, PAD), CONV: (), PAD: ()}, {"CONV_2D", "PAD"}),
        ({"main": (CONV_NOW, RFFT_NOW), CONV_NOW: (), RFFT_NOW: ()}, {"CONV_2D", "RFFT"}),
        ({"main": (ALLOCATE,), ALLOCATE: ()}, set()),
        ({"main": (ALLOCATE_NOW,), ALLOCATE_NOW: ()}, set()),
        ({"main": ("puts",), "puts": ()}, None),
    ],
)
def test_operators_are_those_whose_register_function_is_called(
    calls: dict[str, tuple[str, ...]], operators: set[str] | None
) -> None:
    assert registered_operators(graph(calls)) == operators


def test_calls_of_thumb_lead_where_their_offset_says() -> None:
    # 0x8000: bl 0x8008, nop; 0x8006: bl 0x8000; and the halves f000 and f802 of the first, which is +2 half-words.
    code = bytes.fromhex("00f002f8 00bf fff7fbff 00bf")
    assert list(JUMPS["ARM"](0x8000, code)) == [(0x8000, 0x8008, True), (0x8006, 0x8000, True)]


@pytest.mark.parametrize(
    ("machine", "code", "jump"),
    [
        ("ARM", "00f0 00f0", (0x8000, 0x408004, True)),  # bl, with each of its largest bits
        ("ARM", "00f0 00d8", (0x8000, 0x808004, True)),
        ("ARM", "00f0 02b8", (0x8000, 0x8008, False)),  # b.w
        ("RISC-V", "ef00 8000", (0x8000, 0x8008, True)),  # jal ra
        ("RISC-V", "6ff0 dfff", (0x8000, 0x7FFC, False)),  # j -4
        ("RISC-V", "2120 0000", (0x8000, 0x8008, True)),  # c.jal
        ("RISC-V", "21a0 0000", (0x8000, 0x8008, False)),  # c.j
        ("RISC-V", "97100000 e780c0ff", (0x8004, 0x8FFC, True)),  # auipc ra, 1; jalr ra, -4(ra)
        ("x86-64", "e803000000", (0x8000, 0x8008, True)),
        ("x86-64", "e9fbffffff", (0x8000, 0x8000, False)),
    ],
)
def test_a_jump_leads_where_its_offset_says(machine: str, code: str, jump: tuple[int, int, bool]) -> None:
    assert list(JUMPS[machine](0x8000, bytes.fromhex(code))) == [jump]


MAKE = "_ZN6tflite16MicroInterpreterC1EPKNS_5ModelE"
INVOKE = "_ZN6tflite16MicroInterpreter6InvokeEv"
MAKE_NOW = "_ZN6tflite5micro16MicroInterpreterC1EPKNS_5ModelE"


@pytest.mark.parametrize(
    ("calls", "is_again"),
    [
        ({"main": (MAKE, ALLOCATE, INVOKE), INVOKE: (ALLOCATE,)}, False),
        ({"main": (MAKE, "start", "retry"), "start": (ALLOCATE,), "retry": (ALLOCATE,)}, True),
        ({"main": (MAKE, "start", "retry"), "start": ("all",), "retry": ("all",), "all": (ALLOCATE,)}, True),
        ({"main": ("one", "two"), "one": (MAKE, "all"), "two": (MAKE, "all"), "all": (ALLOCATE,)}, False),
        ({"main": (MAKE, "again"), "again": ("again", ALLOCATE)}, False),
        ({"main": (MAKE,)}, False),
        (
            {"main": (MAKE_NOW, "a", "b"), "a": (ALLOCATE_NOW,), "b": (ALLOCATE_NOW,), ALLOCATE_NOW: (), MAKE_NOW: ()},
            True,
        ),
    ],
)
def test_tensors_are_allocated_again_where_more_calls_lead_there_than_to_a_constructor(
    calls: dict[str, tuple[str, ...]], is_again: bool
) -> None:
    assert _allocates_again(graph({MAKE: (), ALLOCATE: (), INVOKE: (), **calls}), 1) == is_again


def test_the_ways_to_a_function_are_counted_up_to_an_end() -> None:
    calls = {f"f{number}": (f"f{number + 1}",) for number in range(3000)} | {"f3000": ()}
    deep = graph(calls)
    assert deep.count_call_chains(16 * 3000) == 1
    levels = {f"{side}{n}": (f"a{n + 1}", f"b{n + 1}") for n in range(40) for side in "ab"} | {"a40": (), "b40": ()}
    wide = graph(levels)
    assert wide.count_call_chains(16 * list(levels).index("a40")) == 100


def test_a_function_holds_its_bytes_and_one_without_a_size_none() -> None:
    made = graph({"f": (), "g": ()})
    assert [made.function_at(at) and made.function_at(at).start for at in (0, 15, 16, 31, 32)] == [0, 0, 16, 16, None]  # type: ignore[union-attr]
    assert graph({}).function_at(0) is None
    elf: Any = SimpleNamespace(
        machine="ARM", symbols=[Symbol("a", 0x11, 0, FUNCTION, 1), Symbol("b", 0x10, 0, FUNCTION, 1)]
    )
    empty = CallGraph(elf)
    assert empty.functions == {0x10: Function(0x10, 0, ("a", "b"))}
    assert empty.function_at(0x10) is None


def test_each_way_to_a_function_counts_once() -> None:
    assert graph({"f": ()}).count_call_chains(0) == 0
    assert graph({"f": (), "main": ("f",)}).count_call_chains(0) == 1
    assert graph({"f": (), "a": ("f",), "b": ("f",), "main": ("a", "b")}).count_call_chains(0) == 2
    assert graph({"f": (), "a": ("f",), "b": ("f",), "main": ("a", "b")}).count_call_chains(0, frozenset({16})) == 1
