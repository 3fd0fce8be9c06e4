"""The smallest arena of a program: which sizes are tried, where what a trial gives is known beforehand."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tflm_sim.extensions.firmware.emulation.search import ROOM, SizeSearch, Trial, Unfinished


class Search(SizeSearch):
    """A program whose AllocateTensors() succeeds from one size on, and is sound from another on."""

    def __init__(self, given: int, succeeds: int, sound: int, *, used: int = 0, refused: int = 0) -> None:
        results = [SimpleNamespace(used=used, refused=refused, damage=0)]
        arena = SimpleNamespace(
            size=given, results=results, point="point", address=0x2000_0014, is_made_later=False, partner=None
        )
        super().__init__(None, None, None, arena, 1.0)  # type: ignore[arg-type]
        self.least, self.sound = succeeds, sound
        self.tried: list[int | str] = []

    def attempt(self, size: int, *, is_brief: bool = False) -> Trial:
        self.tried.append(size if is_brief else f"whole {size}")
        return Trial(size, size >= self.least, size >= self.sound, False, (), "")


def test_sizes_near_what_was_used_are_tried_then_halves_then_the_one_that_is_left_is_run_as_a_whole() -> None:
    search = Search(10_000, 1003, 1003, used=1000)
    found = search.smallest()
    assert found is not None
    assert (found[0].size, found[1]) == (1003, 1003)
    assert search.tried == [10_000, 984, 1000, 1032, 1016, 1008, 1004, 1002, 1003, "whole 1003"]


def test_what_is_sound_only_further_up_is_searched_from_there_and_what_succeeds_below_it_anew() -> None:
    search = Search(10_000, 1003, 1021, used=1000)
    found = search.smallest()
    assert found is not None
    assert (found[0].size, found[1]) == (1021, 1003)
    whole = [
        "whole 1003",
        "whole 1019",
        "whole 1051",
        "whole 1035",
        "whole 1027",
        "whole 1023",
        "whole 1021",
        "whole 1020",
    ]
    assert search.tried[9:] == [*whole, 1020, 1018, 1014, 1006, 1004, 1003]


@pytest.mark.parametrize("given", [1, 2, 16, 17, 100])
def test_the_smallest_size_is_found_wherever_it_is(given: int) -> None:
    for sound in range(1, given + 1):
        for succeeds in {1, sound // 2 + 1, sound}:
            for used in {0, 8, sound, given + 16, given + 17}:
                found = Search(given, succeeds, sound, used=used).smallest()
                assert found is not None
                assert (found[0].size, found[1]) == (sound, succeeds)


def test_a_size_that_the_program_gives_and_that_is_not_sound_has_no_smaller_one() -> None:
    assert Search(100, 50, 101, refused=1).smallest() is None
    with pytest.raises(Unfinished):
        Search(100, 50, 101).smallest()  # It was sound before: now the program goes another way.
    with pytest.raises(Unfinished):
        Search(100, 101, 101).smallest()


def test_a_size_is_run_once_and_works_where_it_succeeds_and_is_sound() -> None:
    search = Search(100, 50, 60)
    assert [search.works(size) for size in (49, 59, 60, 100, 60)] == [False, False, True, True, True]
    assert search.tried == ["whole 49", "whole 59", "whole 60", "whole 100"]


@pytest.mark.parametrize(("size", "tried"), [(101, 101), (ROOM, ROOM), (ROOM + 1, ROOM - 63), (ROOM + 130, ROOM - 62)])
def test_a_larger_size_is_tried_elsewhere_with_4_mib_at_most(
    monkeypatch: pytest.MonkeyPatch, size: int, tried: int
) -> None:
    moves: list[bool] = []
    search = Search(100, 50, 60)
    monkeypatch.setattr(search, "move", lambda: moves.append(True))
    assert search.works(60)
    assert search.works(size)
    assert search.tried == ["whole 60", f"whole {tried}"]
    assert moves == [True]
