"""What is said of an arena's size, given what the program did with the sizes that were tried."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.errors import FirmwareError
from tflm_sim.extensions.firmware.emulation import follow
from tflm_sim.extensions.firmware.emulation.follow import _size_found
from tflm_sim.extensions.firmware.emulation.search import Trial, Unfinished
from tflm_sim.extensions.firmware.emulation.seen import Arena, InvokeSeen, Result, StoreSeen
from tflm_sim.extensions.firmware.emulation.stack_room import StackRoom

ADDRESS = 0x2000_0000


def trial(size: int, *results: Result, ending: str = "") -> Trial:
    return Trial(size, succeeds=True, is_sound=True, is_cut=False, results=results, ending=ending)


class Search:
    """A search that finds a size, or nothing, or comes to no end; and moves an arena that is too small, or cannot."""

    def __init__(self, found: Any, *, can_move: bool = False) -> None:
        self.found, self.can_move, self.moves, self.needs_other = found, can_move, 0, False
        self.trials = 7

    def move(self) -> bool:
        """Try to have it elsewhere."""
        self.moves += 1
        return self.can_move

    def smallest(self) -> Any:
        """Return what is known, or raise it."""
        if isinstance(self.found, Exception):
            raise self.found
        return self.found

    def attempt(self, size: int, *, is_brief: bool) -> Any:
        """Return a trial below."""
        assert is_brief
        return SimpleNamespace(log=(f"failed with {size}",))

    def works(self, size: int) -> bool:
        """Whether a size works: the odd ones come to no end."""
        if size % 2:
            raise Unfinished(trial(size))
        return size >= 100


def found(machine: Callable[[str], Any], search: Search, *results: Result, ignores_alignment: bool = False) -> Any:
    one = machine("ARM")
    one.ignores_alignment = ignores_alignment
    arena = Arena(ADDRESS, 2000, ADDRESS, True, None, None, results=list(results))
    any_search: Any = search
    return _size_found(one, any_search, arena, is_misplaced=False)


WORKS, FAILS, ASTRAY = Result(0, 990, model=0x8001), Result(1, refused=1), Result(None, ending="it runs on")
HALTS = Result(None, ending="it reaches abort()", has_crashed=True)


def test_the_smallest_size_is_told_with_what_the_program_says_below_it(machine: Callable[[str], Any]) -> None:
    said = found(machine, Search((trial(1000, Result(0, 980)), 900)), WORKS)
    assert said == (True, "", 7, 1000, 980, 900, ("failed with 999",))


@pytest.mark.parametrize(("model", "is_aligned"), [(0x8001, False), (0x8002, False), (0x8004, True), (None, True)])
def test_a_model_that_its_core_may_not_read_is_no_yes(
    machine: Callable[[str], Any], model: int | None, is_aligned: bool
) -> None:
    result = Result(0, 990, model=model)
    said = found(machine, Search((trial(1000, Result(0, 980)), 900)), result, ignores_alignment=True)
    assert (said.fits is True, said.smallest) == (is_aligned, 1000 if is_aligned else None)
    if not is_aligned:
        assert said.reason.startswith(f"its model, with a table at {model:#x}, is not aligned to 4 bytes (use alignas(")
    assert found(machine, Search((trial(1000, Result(0, 980)), 900)), result).fits


def test_a_core_that_faults_where_it_reads_a_model_says_so_of_an_arena_of_any_size(
    machine: Callable[[str], Any],
) -> None:
    fault = Result(None, ending="it accesses the unaligned address 0x8006", has_crashed=True, model=0x8002)
    said = found(machine, Search((trial(1000), 900)), fault)
    assert (said.fits, said.smallest) == (False, None)
    assert said.reason == (
        "its model, with a table at 0x8002, is not aligned to 4 bytes (use alignas(16)): "
        "it accesses the unaligned address 0x8006"
    )


@pytest.mark.parametrize(
    ("results", "can_move", "moves", "said"),
    [
        ([FAILS], True, 1, (False, "AllocateTensors() returned 1", 7, 1000, 980, 900, ("failed with 999",))),
        ([FAILS], False, 1, (False, "AllocateTensors() returned 1", 0, None, None, None, ())),
        ([Result(1)], True, 1, (False, "AllocateTensors() returned 1", 7, 1000, 980, 900, ("failed with 999",))),
        ([HALTS], True, 1, (False, "it reaches abort()", 7, 1000, 980, 900, ("failed with 999",))),
        ([HALTS], False, 1, (None, "it reaches abort()", 0, None, None, None, ())),
        ([WORKS, ASTRAY], True, 0, (None, "it runs on", 0, None, None, None, ())),
    ],
)
def test_an_arena_that_is_too_small_is_searched_elsewhere(
    machine: Callable[[str], Any], results: list[Result], can_move: bool, moves: int, said: tuple[Any, ...]
) -> None:
    search = Search((trial(1000, Result(0, 980)), 900), can_move=can_move)
    assert found(machine, search, *results) == said
    assert search.moves == moves


def test_a_search_without_an_end_says_where(machine: Callable[[str], Any]) -> None:
    search = Search(Unfinished(trial(1234, ending="it waits")), can_move=True)
    resumed = "AllocateTensors() works, but resumed with 1,234 B the program did not: it waits"
    assert found(machine, search, WORKS)[:3] == (None, resumed, 7)
    assert found(machine, search, FAILS)[:3] == (False, "AllocateTensors() returned 1", 7)


def test_of_two_arenas_that_were_both_enlarged_each_lacks_what_its_own_size_lacks(
    machine: Callable[[str], Any],
) -> None:
    for smallest, fits in ((2000, True), (2001, False)):
        search = Search((trial(smallest, Result(0, 980)), 900), can_move=True)
        search.needs_other = True
        assert found(machine, search, FAILS)[:4] == (fits, "" if fits else "AllocateTensors() returned 1", 7, smallest)


OUT = StoreSeen(None, 0x800, 0x100, 0x104, 1, "nothing")
OWN = StoreSeen(None, 0x800, 0x100, 0x104, 1, "data")
OVER = StoreSeen(None, 0x800, 0x100, 0x104, 1, "arena")
BEHIND = StoreSeen(None, 0x800, 0x100, 0x104, 1, "behind")


@pytest.mark.parametrize(
    ("invocation", "with_its_own", "with_another_model"),
    [
        (InvokeSeen(status=0), (True, ""), True),
        (InvokeSeen(status=1), (False, "Invoke() returned 1"), None),
        (InvokeSeen(ending="it faults", has_crashed=True), (False, "Invoke() does not return: it faults"), None),
        (InvokeSeen(ending="it waits"), (None, "Invoke() does not return: it waits"), None),
        (InvokeSeen(status=0, stores=[OWN]), (True, ""), True),
        (InvokeSeen(status=0, stores=[OWN, OUT]), (False, "Invoke() stores 4 B out of bounds"), False),
        (InvokeSeen(status=0, stores=[OVER]), (False, "Invoke() stores 4 B in the arena that are not its own"), False),
        (InvokeSeen(status=0, stores=[BEHIND, OUT]),
         (False, "Invoke() stores 4 B directly behind the arena, and 1 more"), False),
    ],
)  # fmt: skip
def test_invoke_belongs_to_the_verdict(
    invocation: InvokeSeen, with_its_own: tuple[bool | None, str], with_another_model: bool | None
) -> None:
    assert follow._invoke_works(invocation, is_own=True) == with_its_own
    assert follow._invoke_works(invocation, is_own=False)[0] is with_another_model


@pytest.mark.parametrize(
    ("is_unnamed", "says_failure", "works"), [(True, True, None), (True, False, True), (False, True, True)]
)
def test_a_program_that_says_that_it_failed_may_have_a_smaller_arena_where_no_symbol_says_how_large_it_is(
    is_unnamed: bool, says_failure: bool, works: bool | None
) -> None:
    follower: Any = SimpleNamespace(
        program=SimpleNamespace(is_unnamed=is_unnamed), says_failure=says_failure, ending="it ended with status 1",
        misplacement=lambda place, results: "", has_other_model=False,
    )  # fmt: skip
    told = "it ended with status 1, and no symbol says whether the arena is as large as what is passed"
    judged = follow._judged(follow._SizeFound(True, ""), follower, [], [])
    assert judged == (works, "" if works else told)


@pytest.mark.parametrize(
    ("stack", "room", "said"),
    [
        (580, StackRoom("small_stack", 256, 56),
         "AllocateTensors() uses 580 B of stack, for which small_stack of 256 B lacks 380 B"),
        (200, StackRoom("small_stack", 256, 56), ""),
        (201, StackRoom("small_stack", 256, 56),
         "AllocateTensors() uses 201 B of stack, for which small_stack of 256 B lacks 1 B"),
        (580, None, ""),
        (None, StackRoom("small_stack", 256, 56), ""),
    ],
)  # fmt: skip
def test_a_stack_that_is_too_small_is_why_a_program_crashes(
    stack: int | None, room: StackRoom | None, said: str
) -> None:
    program: Any = SimpleNamespace(stack_room=lambda pointer, is_called: room)
    assert follow._stack_lacks(program, [Result(0, stack=stack)], is_called=True) == said


@pytest.mark.parametrize("bounds", [(0x1000, 0x1100), None])
def test_of_what_runs_only_a_stack_that_is_an_array_is_too_small(bounds: tuple[int, int] | None) -> None:
    program: Any = SimpleNamespace(
        stack_room=lambda pointer, is_called: StackRoom("small_stack", 256, 0), object_bounds=lambda at: bounds
    )
    result = Result(0, stack=256, pointer=0x1100)
    result.invocations.append(InvokeSeen(pointer=0x1100, stack=260))
    said = "Invoke() uses 260 B of stack, for which small_stack of 256 B lacks 4 B" if bounds else ""
    assert follow._stack_lacks(program, [result], is_called=True, is_array=True) == said


@pytest.mark.parametrize(
    ("is_unnamed", "pointer", "room", "is_known"),
    [
        (True, 0x2000_1100, None, False),
        (True, 0x2000_2000, None, False),  # It is the section's end.
        (True, 0x2000_1000, None, True),  # It grows down from the section's start: into other memory.
        (True, 0x2000_8000, None, True),
        (True, 0x2000_1100, StackRoom(".stack", 4096, 0), True),
        (False, 0x2000_1100, None, True),
    ],
)
def test_no_one_knows_how_large_a_stack_is_among_the_static_objects_of_a_stripped_program(
    is_unnamed: bool, pointer: int, room: StackRoom | None, is_known: bool
) -> None:
    bss = SimpleNamespace(name=".bss", is_allocated=True, address=0x2000_1000, size=0x1000)
    debug = SimpleNamespace(name=".debug_info", is_allocated=False, address=0, size=0x4000_0000)
    follower: Any = SimpleNamespace(
        program=SimpleNamespace(
            is_unnamed=is_unnamed, elf=SimpleNamespace(sections=[debug, bss]),
            stack_room=lambda pointer, is_called: room,
        ),
        says_failure=False, misplacement=lambda place, results: "", has_other_model=False,
    )  # fmt: skip
    stack = f"the 512 B below {pointer:#x} in .bss"
    told = f"AllocateTensors() uses {stack} as its stack, and no symbol says how large that is"
    judged = follow._judged(follow._SizeFound(True, ""), follower, [], [Result(0, stack=512, pointer=pointer)])
    assert judged == ((True, "") if is_known else (None, told))


def test_memory_that_is_handed_out_twice_is_no_success(machine: Callable[[str], Any]) -> None:
    said = found(machine, Search(None), WORKS)
    assert said[:3] == (
        False,
        "AllocateTensors() succeeds, but TFLM hands out memory twice or ignores a refusal on the way",
        7,
    )


def test_where_no_way_reaches_anything_each_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = [SimpleNamespace(words=words, is_guessed=False) for words in ("from reset", "from main()")]
    monkeypatch.setattr(follow, "starts", lambda program, make: starts)
    nothing = SimpleNamespace(arenas=[], ending="it waits", has_crashed=False)
    monkeypatch.setattr(follow, "_followed_with", lambda *_: nothing)
    with pytest.raises(FirmwareError, match=r"reached: from reset, it waits; from main\(\), it waits$"):
        follow._reached(None, None, None, 0, "app.elf")  # type: ignore[arg-type]
