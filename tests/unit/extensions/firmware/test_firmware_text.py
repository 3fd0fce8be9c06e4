"""Sentences about what a program's file leaves open."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.checks.doubts import Doubt
from tflm_sim.extensions.firmware.document import CaseRow, Placed, RamFacts
from tflm_sim.extensions.firmware.text import _cases, _printed, _spans, fact_lines, verdict_lines


@pytest.mark.parametrize(
    ("log", "prints", "said"),
    [
        (("no room", "second"), True, " and print `no room`"),
        (("no room",), False, " without a message"),
        (("",), True, " without a message"),
        ((), True, " without a message"),
    ],
)
def test_the_first_line_is_said_where_the_program_prints_one(log: tuple[str, ...], prints: bool, said: str) -> None:
    assert _printed(log, SimpleNamespace(prints_messages=prints)) == said


def verdict(**facts: Any) -> Any:
    known: dict[str, Any] = {
        "model": "kws", "model_size": 5000, "place": "at 0x100", "arena": "a", "arena_size": 2048, "works": True,
        "other_arena_size": None, "smallest_split_arenas": None, "banks": (),
        "smallest_arena": 1600, "smallest_arena_multiple_of_16": 1600, "missing_operators": (), "ram_free": None,
        "reason": "", "doubts": (), "answer": "yes", "cases": (), "log": (),
    }  # fmt: skip
    return SimpleNamespace(**{**known, **facts})


def document(*verdicts: Any, **facts: Any) -> Any:
    known: dict[str, Any] = {
        "file": "app.elf", "format": "ELF", "processor": "Cortex-M4", "grounds": (), "disagreeing": {}, "models": (),
        "arenas": (), "arena_pointers": (), "operators": None, "prints_messages": True, "ram": (), "problem": "",
    }  # fmt: skip
    return SimpleNamespace(**{**known, "verdicts": verdicts, **facts})


ABOUT = "model kws (5,000 B at 0x100) in a (2,048 B)"
TWO = (CaseRow("c", 1600, True, True), CaseRow("d", 3200, False, False))


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        ({}, f"yes: {ABOUT}: needs 1,600 B; you can give back 448 B"),
        ({"arena_size": 1600}, "yes: model kws (5,000 B at 0x100) in a (1,600 B): needs 1,600 B, all of it"),
        (
            {"arena_size": 1599, "smallest_arena": 1590},
            "yes: model kws (5,000 B at 0x100) in a (1,599 B): "
            "needs 1,590 B of its 1,599 B (1,600 B as a multiple of 16)",
        ),
        (
            {"works": False, "smallest_arena": 3190, "smallest_arena_multiple_of_16": 3200},
            f"no: {ABOUT}: too small by 1,142 B: AllocateTensors() will fail without a message; set 3,200 B",
        ),
        (
            {"works": False, "smallest_arena": 3200, "smallest_arena_multiple_of_16": 3200, "ram_free": 1152,
             "log": ("l" * 201,)},
            f"no: {ABOUT}: too small by 1,152 B: AllocateTensors() will fail and print `…{'l' * 199}`; 1,152 B of RAM "
            "are free: set 3,200 B",
        ),
        (
            {"works": False, "smallest_arena": 3200, "smallest_arena_multiple_of_16": 3200, "ram_free": 1151},
            f"no: {ABOUT}: too small by 1,152 B: AllocateTensors() will fail without a message; it needs 3,200 B, and "
            "only 1,151 B of RAM are free",
        ),
        (
            {"works": False, "cases": TWO, "smallest_arena": 3200, "smallest_arena_multiple_of_16": 3200},
            f"no: {ABOUT}: too small by 1,152 B: AllocateTensors() will fail; set 3,200 B (at most: d: 3,200 B; c: "
            "1,600 B)",
        ),
        ({"works": None, "cases": TWO}, f"cannot be told: {ABOUT}: the file does not say which of these it is: d: "
         "3,200 B, which does not fit; c: 1,600 B, which fits"),
        ({"works": None, "reason": "r" * 401}, f"cannot be told: {ABOUT}: …{'r' * 399}"),
        ({"works": None, "reason": "r", "cases": (CaseRow("c", None, None, None),)}, "cannot be told: "
         f"{ABOUT}: r (at most: c: fails)"),
        ({"works": None, "reason": "r", "doubts": (Doubt("x"),)}, f"cannot be told: {ABOUT}: r; all of this, if x"),
        ({"doubts": (Doubt("a" * 201), Doubt("b"), Doubt("c"))},
         f"yes, if …{'a' * 199}, b and c: {ABOUT}: needs 1,600 B; you can give "
         "back 448 B"),
        ({"missing_operators": ("ADD", "MUL"), "works": False}, f"no: {ABOUT}: not registered: ADD, MUL; "
         "AllocateTensors() will fail and print `Didn't find op for builtin opcode 'ADD'`; its arena would be 1,600 B"),
        ({"missing_operators": ("ADD",), "reason": "r", "works": None}, f"cannot be told: {ABOUT}: r"),
        ({"smallest_arena": None, "smallest_arena_multiple_of_16": None, "reason": "r", "works": False}, f"no: "
         f"{ABOUT}: r"),
        ({"arena": None, "arena_size": None}, "yes: model kws (5,000 B at 0x100): needs 1,600 B, which each of them "
         "has: "
         "a (2,048 B), b (16 B)"),
        ({"arena": None, "arena_size": None, "works": False}, "no: model kws (5,000 B at 0x100): needs 1,600 B, more "
         "than "
         "any of them has: a (2,048 B), b (16 B)"),
        ({"arena": None, "arena_size": None, "works": None}, "cannot be told: model kws (5,000 B at 0x100): needs "
         "1,600 B; "
         "which arena it gets is not said: name it with --arena-symbol, or its size with --limit"),
    ],
)  # fmt: skip
def test_a_verdict_is_a_paragraph(facts: dict[str, Any], line: str) -> None:
    arenas = (Placed("a", "", 0, 2048), Placed("b", "", 0, 16))
    assert verdict_lines(document(verdict(**facts), arenas=arenas)) == [line]


def test_a_problem_stands_after_the_verdicts() -> None:
    assert verdict_lines(document(problem="p" * 601)) == [f"cannot be told: …{'p' * 599}"]
    assert verdict_lines(document()) == []


@pytest.mark.parametrize(
    ("cases", "text"),
    [
        (["a", "b"], "a or b"),
        (["TFLM 2", "TFLM 1"], "TFLM 1 to 2"),
        (["TFLM 2, x", "TFLM 1, x", "TFLM 1, y"], "TFLM 1 to 2, x or TFLM 1, y"),
        (["TFLM 2", "TFLM 2"], "TFLM 2"),
        (["x, y"], "x, y"),
    ],
)
def test_versions_are_one_span(cases: list[str], text: str) -> None:
    assert _spans(cases) == text


def test_what_decides_a_case_is_told() -> None:
    given: Any = SimpleNamespace(
        cases=[CaseRow("TFLM 1, short enums", 5, None, None), CaseRow("TFLM 2", 7, None, None)], works=None
    )
    assert _cases(given).endswith("; say it with --runtime or --target")


def ram(**facts: Any) -> RamFacts:
    known: dict[str, Any] = {"start": 0x2000_0000, "initialised": 1100, "zeroed": 1200, "set_aside": 0, "stack": None}
    return RamFacts(**{**known, "heap": None, "end": None, "free": None, "grounds": "g", **facts})


def test_facts_are_a_line_each() -> None:
    ground = SimpleNamespace(part="TFLM", how="proved", value="v" * 121, grounds="g" * 301)
    lines = list(
        fact_lines(
            document(
                file="f" * 201,
                processor=None,
                grounds=(ground,),
                disagreeing={"TfLiteTensor": (1064, 68)},
                models=(Placed("kws", ".rodata", 0x104, 5000), Placed("", "", 0x200, 16)),
                arenas=(Placed("a", ".bss", 0x2000_0008, 2048), Placed("b", "", 0x2000_0010, 16)),
                arena_pointers=("p",),
                operators=("ADD", "MUL"),
                ram=(ram(), ram(set_aside=1300, stack=1400, heap=1500, free=0)),
            )
        )
    )
    assert lines == [
        f"file        …{'f' * 199}: ELF, processor not said",
        f"TFLM        proved: …{'v' * 119} (…{'g' * 299})",
        "caution     TfLiteTensor takes 1,064 B and 68 B in different source files: they were built with different "
        "flags",
        "model       kws: 5,000 B in .rodata, not aligned to 16 (modulo 16: 4)",
        "model       at 0x00000200: 16 B",
        "arena       a: 2,048 B at 0x20000008 in .bss, modulo 16: 8",
        "arena       b: 16 B at 0x20000010",
        "operators   2 registered: ADD, MUL",
        "RAM         0x20000000: 1,100 B initialised, 1,200 B zeroed; where it ends is not said: give its size with "
        "--ram",
        "            arena ██████████████████████ 2,064 B  static data ██ 236 B",
        "RAM         0x20000000: 1,100 B initialised, 1,200 B zeroed, 1,300 B set aside in sections, 1,400 B stack, "
        "1,500 "
        "B heap; 0 B free up to g",
        "            arena ██████████ 2,064 B  static data █ 236 B  heap ███████ 1,500 B",
        "            stack ██████ 1,400 B",
    ]
    assert list(fact_lines(document(file="", arena_pointers=("p",)))) == [
        "file        -: ELF, Cortex-M4",
        "arena       p is a pointer: its arena is allocated at run time, say --limit N",
    ]
