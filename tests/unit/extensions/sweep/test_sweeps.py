"""Models x targets: a row each, in order, whatever the models are; a bad model costs its row and nothing else."""

from __future__ import annotations

import io
import json
import os
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tflm_sim import arena_objective, load, simulate, smallest_arena, sweep
from tflm_sim.answers.rows import Case, Row, cases, rows_of
from tflm_sim.cli import main, size_boards
from tflm_sim.errors import UsageError
from tflm_sim.extensions.sweep.cli import Tally
from tflm_sim.extensions.sweep.difference import changes
from tflm_sim.extensions.sweep.engine import (
    BATCHES_PER_WORKER,
    CRASHED,
    FIRST_ROWS,
    MAX_ROWS,
    Item,
    Serial,
    batches,
    run,
)
from tflm_sim.extensions.sweep.limits import Limits
from tflm_sim.extensions.sweep.plot import _LogScale, pareto, plot_svg
from tflm_sim.extensions.sweep.results import Results
from tflm_sim.extensions.sweep.resume import EarlierRows
from tflm_sim.extensions.sweep.sweep import items, iterate_rows, make_pool
from tflm_sim.extensions.sweep.tables import open_writer, read_rows
from tflm_sim.model.types import Model
from tflm_sim.samples import SAMPLES, sample_path

ALL = [f"sample:{name}" for name in SAMPLES]
TWO = cases(["cortex-m4", "esp32-s3"])
NO_LIMITS = Limits(0)


def rows(models: list[object], over: list[Case] = TWO, **how: object) -> list[Row]:
    return list(iterate_rows(models, over, **({"jobs": 1, "limits": NO_LIMITS} | how)))  # type: ignore[arg-type]


def test_a_row_says_what_a_simulation_says() -> None:
    run_ = simulate(load("sample:mobilenet_v1_025"), "cortex-m4")
    (row,) = rows(["sample:mobilenet_v1_025"], cases(["cortex-m4"]))
    # 55,296 bytes alive at the second operator; 7,488,256 multiply-accumulates of MobileNet 0.25 on 96 x 96.
    assert (row.smallest_arena, row.multiple_of_16, row.arena_used_bytes) == (82_280, 82_288, 82_276)
    assert (row.head_bytes, row.tail_bytes, row.binding) == (run_.head_bytes, run_.tail_bytes, "tail")
    assert (row.peak_operator, row.peak_bytes, row.operators) == ("#2 CONV_2D", 55_296, 31)
    assert (row.status, row.fits, row.error) == ("ok", None, "")


def test_models_in_order_and_the_cases_of_each_in_order() -> None:
    found = rows(ALL)
    assert [(row.model, row.target) for row in found] == [(m, t) for m in ALL for t in ("cortex-m4", "esp32-s3")]
    assert [row.smallest_arena for row in found] == [smallest_arena(load(row.model), row.target).size for row in found]


def test_paths_bytes_and_models_are_the_same_model() -> None:
    path = sample_path("sine")
    found = rows([path, path.read_bytes(), load(path)], cases(["esp32"]))
    assert [row.model for row in found] == [str(path), "model 1", "model 2"]
    assert len({(row.sha256, row.smallest_arena, row.model_bytes) for row in found}) == 1


def test_a_board_is_its_target_and_a_verdict_on_ram_and_flash() -> None:
    nano, sense = rows(["sample:mobilenet_v1_025"], cases((), ["nano33ble", "nicla-sense-me"]))
    assert (nano.target, nano.limit, nano.fits) == ("cortex-m4", 256 * 1024, None)  # Only the firmware knows.
    assert (sense.limit, sense.fits) == (64 * 1024, False)  # 82,288 bytes are more than 65,536


def test_what_cannot_be_sized_is_a_row_that_says_why(tmp_path: Path) -> None:
    (tmp_path / "broken.tflite").write_bytes(sample_path("sine").read_bytes()[:300])
    os.mkfifo(tmp_path / "pipe.tflite")
    names = [str(tmp_path / name) for name in ("broken.tflite", "pipe.tflite", "absent.tflite")]
    found = rows([names[0], ALL[0], names[1], names[2]], cases(["cortex-m4"]))
    assert [row.status for row in found] == ["unreadable", "ok", "unreadable", "unreadable"]
    assert found[2].error.endswith("it is not a regular file")


class Bomb(bytes):
    """Ends the process that unpacks it."""

    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (1,)


def test_a_model_that_kills_its_process_is_a_row_and_the_others_are_sized() -> None:
    pool = make_pool(jobs=2)
    bombed = [Item("a", ALL[0]), Item("bomb", Bomb(b"")), *(Item(name, name) for name in ALL)]
    try:
        found = [row for batch in run(bombed, TWO[:1], pool, NO_LIMITS) for row in batch]
    finally:
        pool.close()
    assert [(row.model, row.status) for row in found] == [("a", "ok"), ("bomb", "crash"), *((n, "ok") for n in ALL)]
    assert found[1].error == CRASHED


def test_a_model_that_takes_too_much_memory_is_a_row(tmp_path: Path) -> None:
    path = tmp_path / "large.tflite"
    path.write_bytes(sample_path("sine").read_bytes())
    os.truncate(path, 1_500_000_000)
    found = rows([path, ALL[0]], cases(["cortex-m4"]), jobs=2, limits=Limits(60, 1_000_000_000))
    assert [row.status for row in found] == ["memory", "ok"]


def test_a_little_memory_is_enough_for_a_small_model() -> None:
    found = rows([sample_path("sine")], TWO[:1], jobs=2, limits=Limits(60, 300_000_000))
    assert [row.status for row in found] == ["ok"]


def test_two_processes_give_the_rows_of_one() -> None:
    assert rows(ALL * 20, jobs=2) == rows(ALL * 20)


def test_an_endless_iterable_is_read_as_far_as_it_is_needed() -> None:
    asked = 0

    def endless() -> Iterator[bytes]:
        nonlocal asked
        while True:
            asked += 1
            yield sample_path("sine").read_bytes()

    found = iterate_rows(endless(), TWO, jobs=1, limits=NO_LIMITS)
    assert next(found).model == "model 0"
    assert asked == BATCHES_PER_WORKER * FIRST_ROWS // len(TWO) == 3 * 64 // 2
    found.close()  # type: ignore[attr-defined]


@given(st.lists(st.integers(0, 6 << 10), max_size=80))
def test_batches_keep_the_order_and_are_never_empty(sizes: list[int]) -> None:
    given_ = [Item(str(number), bytes(size)) for number, size in enumerate(sizes)]
    made = list(batches(given_))
    assert [item for batch in made for item in batch] == given_
    assert all(0 < len(batch) <= MAX_ROWS for batch in made)


def test_batches_are_few_rows_at_first_and_many_later() -> None:
    sizes = [len(batch) for batch in batches((Item("m", b"") for _ in range(10_000)), 4, 2)]
    # 6 are under way for 2 workers: 64 rows of 4 cases are 16 models; twice as many each round, up to 2,048 rows.
    assert sizes[:18:3] == [16, 16, 32, 32, 64, 64]
    assert max(sizes) == 512
    assert list(map(len, batches((Item("m", b"") for _ in range(3)), 60, 2))) == [2, 1]
    # One case and one worker, as nothing is said: 64 rows are 64 models, and 3 batches a round.
    assert list(map(len, batches(Item("m", b"") for _ in range(64 * 3 + 130)))) == [64, 64, 64, 128, 2]


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_rows_come_back_as_they_were_written(ending: str, tmp_path: Path) -> None:
    found = [*rows(ALL), Row('odd, "name"\n\x1b[31m', status="unreadable", error="::error::no")]
    writer = open_writer(tmp_path / f"r{ending}")
    writer.write(found[:3])
    writer.write(found[3:])
    writer.close()
    assert list(read_rows(tmp_path / f"r{ending}")) == found


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    writer = open_writer(path)
    writer.write(rows(ALL))
    writer.close()
    path.write_text(path.read_text()[:-20])
    assert len(list(read_rows(path))) == len(ALL) * 2 - 1


def test_resuming_sizes_only_what_is_new_and_keeps_the_order() -> None:
    earlier = rows([ALL[0], ALL[2]])
    done = EarlierRows(earlier, TWO)
    asked = []

    def counted() -> Iterator[Item]:
        for item in done.still_to_do(items(ALL)):
            asked.append(item.name)
            yield item

    merged = [row for batch in done.merged(run(counted(), TWO, Serial(), NO_LIMITS)) for row in batch]
    assert asked == [ALL[1], ALL[3], ALL[4]]
    assert merged == rows(ALL)


def test_rows_of_another_version_are_sized_again() -> None:
    earlier = [replace(row, version="0.0.1") for row in rows([ALL[0]])]
    assert [item.name for item in EarlierRows(earlier, TWO).still_to_do(items([ALL[0]]))] == [ALL[0]]


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_the_command_resumes_to_the_same_bytes(ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole, part = tmp_path / f"whole{ending}", tmp_path / f"part{ending}"
    common = ["--targets", "cortex-m4,esp32", "--jobs", "1"]
    assert main(["sweep", *ALL, *common, "-o", str(whole)]) == 0
    assert main(["sweep", *ALL[1:3], *common, "-o", str(part)]) == 0
    assert main(["sweep", *ALL, *common, "-o", str(part)]) == 2
    assert "exists: add --resume to continue it, or --overwrite to replace it" in capsys.readouterr().err
    assert main(["sweep", *ALL, *common, "-o", str(part), "--resume"]) == 0
    assert part.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
@pytest.mark.parametrize("begins", ["from nothing", "with --resume"])
def test_a_run_that_was_killed_is_resumed_to_the_same_bytes(ending: str, begins: str, tmp_path: Path) -> None:
    whole, part = tmp_path / f"whole{ending}", tmp_path / f"part{ending}"
    common = ["--targets", "cortex-m4,esp32", "--jobs", "1"]
    assert main(["sweep", *ALL, *common, "-o", str(whole)]) == 0
    killed = Results(str(part), cases(["cortex-m4", "esp32"]), resumes=begins != "from nothing", overwrites=False)
    killed.write(rows(ALL[1:3], cases(["cortex-m4", "esp32"])))
    assert not part.exists() or ending != ".parquet"
    del killed
    assert main(["sweep", *ALL, *common, "-o", str(part)]) == 2
    assert main(["sweep", *ALL, *common, "-o", str(part), "--resume"]) == 0
    assert part.read_bytes() == whole.read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {whole.name, part.name}


def test_results_of_another_ending_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", ALL[0], "-o", str(tmp_path / "r.txt")]) == 2
    assert "the name must end in .jsonl, .csv, .parquet" in capsys.readouterr().err


def test_an_archive_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with zipfile.ZipFile("zoo.zip", "w") as archive:
        for name in SAMPLES:
            archive.writestr(f"{name}.tflite", sample_path(name).read_bytes())
    found = list(items(["zoo.zip"]))
    assert [item.name for item in found] == [f"zoo.zip:{name}.tflite" for name in SAMPLES]
    assert [item.source for item in found] == [sample_path(name).read_bytes() for name in SAMPLES]


def test_patterns_and_folders_of_shared_storage(tmp_path: Path) -> None:
    for name in ("b.tflite", "a.tflite", "notes.txt"):
        (tmp_path / name).write_bytes(sample_path("sine").read_bytes())
    url = tmp_path.as_uri()
    both = [f"{url}/a.tflite", f"{url}/b.tflite"]
    assert [item.source for item in items([f"{url}/*", f"{url}/", f"{url}/a.tflite"])] == [*both, *both, both[0]]
    (absent,) = rows([f"{url}/absent.tflite"], TWO[:1])
    assert absent.error == f"{url}/absent.tflite: No such file or directory"


def test_a_list_on_stdin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(ALL)))
    arguments = [
        "sweep",
        "-",
        "--jobs",
        "1",
        "-o",
        str(tmp_path / "r.csv"),
        "--plot",
        str(tmp_path / "p.svg"),
        "--json",
    ]
    assert main(arguments) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["models"], summary["statuses"]) == (5, {"ok": 5})
    assert (tmp_path / "p.svg").read_text().count("<title>") == 5


def test_the_difference_of_two_results() -> None:
    before, after = rows(ALL), rows(ALL)
    after[0] = replace(after[0], multiple_of_16=(after[0].multiple_of_16 or 0) + 32)
    after[3] = replace(after[3], status="error", multiple_of_16=None)
    found = changes(before, after[:-1])
    assert [(change.bytes, change.is_worse) for change in found] == [(32, True), (None, True), (None, False)]


def test_a_size_below_the_same_multiple_of_16_is_no_difference() -> None:
    before = rows(ALL)
    after = [replace(row, smallest_arena=(row.multiple_of_16 or 0) - 1) for row in before]
    assert changes(before, after) == []


def test_a_verdict_that_changed_is_said_where_no_byte_did() -> None:
    fitting = [replace(row, limit=1 << 18, fits=True) for row in rows(ALL[:1], TWO[:1])]
    tighter = [replace(row, limit=1, fits=False) for row in fitting]
    assert [(change.bytes, change.verdict) for change in changes(fitting, tighter)] == [(0, "no longer fits")]
    assert [(change.bytes, change.verdict) for change in changes(tighter, fitting)] == [(0, "fits now")]
    assert [change.verdict for change in changes(fitting, ())] == ["gone"]


def test_a_limit_that_one_result_was_held_against_is_no_difference() -> None:
    before, limited = rows(ALL), [replace(row, limit=1 << 18, fits=True) for row in rows(ALL)]
    assert changes(before, limited) == changes(limited, before) == []
    tighter = [replace(row, limit=1, fits=False) for row in limited]
    assert all(change.is_worse for change in changes(limited, tighter))
    assert len(changes(limited, tighter)) == len(before)


def test_a_difference_for_the_worse_is_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, model in (("a.csv", "sine"), ("b.csv", "residual")):
        writer = open_writer(tmp_path / name)
        writer.write([replace(row, model="m") for row in rows([f"sample:{model}"], TWO[:1])])
        writer.close()
    names = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    assert main(["sweep", "--diff", *names]) == 1
    assert "for the worse" in capsys.readouterr().out
    assert main(["sweep", "--diff", *reversed(names)]) == 0


def test_the_table_is_a_data_frame() -> None:
    table = sweep(ALL, ["cortex-m4"], boards=["pico"], jobs=1)
    assert list(table["target"].unique()) == ["cortex-m4", "cortex-m0plus"]
    assert table["smallest_arena"].dtype == "Int64"
    assert len(table) == 10


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("target", ["cortex-m4", "x86_64", "esp32-s3"])
def test_the_objective_is_the_arena_and_its_bound_is_below(name: str, target: str) -> None:
    objective, model = arena_objective(target), load(f"sample:{name}")
    assert objective(model) == smallest_arena(model, target).multiple_of_16
    assert 0 < objective.lower_bound(model) <= smallest_arena(model, target).size


def test_tensors_without_elements_do_not_count_in_the_objectives_bound(chain: Callable[..., Model]) -> None:
    empty, one, seventeen = (arena_objective("cortex-m4").lower_bound(chain(size, size)) for size in (0, 1, 17))
    assert (one - empty, seventeen - empty) == (16 + 16, 32 + 32)


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), max_size=30))
def test_no_point_beats_one_of_the_front(points: list[tuple[int, int]]) -> None:
    front = pareto(points)
    assert all(not (x <= a and y <= b and (x, y) != (a, b)) for a, b in front for x, y in points)


def test_the_axes_begin_and_end_at_powers_of_ten() -> None:
    assert _LogScale([200, 5000], 0, 100).ticks() == [100, 1000, 10_000]
    assert [_LogScale([200, 5000], 0, 100).at(value) for value in (100, 1000, 10_000)] == [0, 50, 100]


def test_a_legend_of_many_boards_is_above_the_plot() -> None:
    row = rows(ALL[:1], TWO[:1])[0]
    svg = plot_svg([replace(row, board=f"b{number}") for number in range(29)])
    # Six lines of five names, 15 apart from 14 on: the last at 89, and the plot begins at 29 + 6 * 15.
    assert 'cy="89"' in svg
    assert 'y1="119.0" y2="119.0"' in svg
    # Below the plot: numbers 18, what they count 35, the note 55 pixels under its lower edge.
    below = {int(float(y)) for y in re.findall(r'<text x="[^"]*" y="([^"]*)" text-anchor="(?:middle|end)"', svg)}
    lower = int(float(re.search(r'y2="([\d.]+)" stroke="#d9dee6"', svg)[1]))
    assert {lower + 18, lower + 35, lower + 55} <= below
    assert len(set(re.findall(r'r="4" fill="([^"]+)"', svg))) == 29
    assert "no model has an arena" in plot_svg([])


def test_a_plot_says_what_its_lines_join() -> None:
    svg = plot_svg([Row("a", model_bytes=1_000, multiple_of_16=16)])
    assert "A line joins the models of a colour that no other one beats in both." in svg


def test_rows_without_a_figure_are_told_by_reason_with_their_models(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in "abcde":
        (tmp_path / f"{name}.tflite").write_bytes(b"no model")
    models = [str(tmp_path / f"{name}.tflite") for name in "abcde"]
    main(["sweep", "sample:sine", *models, "--targets", "cortex-m4,esp32", "-o", str(tmp_path / "rows.csv")])
    first, *reasons = capsys.readouterr().out.splitlines()
    # 5 models on 2 targets
    newer = "with esp_nn 1.3.2 to 1.5.0 it may need more or less"
    assert first.endswith(f": 10 unreadable, 2 ok; not named, so assumed: --library, --kernels; {newer}")
    names = ", ".join(models[:3])
    why = "this is not a .tflite model; it looks like a text file"
    assert reasons[0] == f"unreadable: {names} and 2 more models (10 rows): {why}"
    tally = Tally(())
    tally.count([Row(model, status="error", error="why") for model in (*"abcde", "a")])
    assert tally.lines()[1:] == ["error: a, b, c and 2 more models (6 rows): why"]


def test_a_plot_shows_hostile_names_as_text() -> None:
    svg = plot_svg([replace(rows(ALL[:1])[0], model="<script>\x1b[31m")])
    assert "<script>" not in svg
    assert "&lt;script&gt;" in svg


def test_a_sweep_for_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one target or board"):
        cases()
    assert next(rows_of("x", "http://example.org/a.tflite", TWO[:1])).error.startswith("http://")


def test_boards_are_compared_by_their_ram_and_flash(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", "sample:sine", "--boards", "pico,nano33ble"]) == 3
    pico, nano = capsys.readouterr().out.splitlines()[-2:]
    # 1,168 B of 264 * 1,024 and of 256 * 1,024.
    assert pico.split()[2:8] == ["1,168", "B", "0.4", "%", "264", "KiB"]
    assert nano.split()[2:8] == ["1,168", "B", "0.4", "%", "256", "KiB"]
    assert [line.split()[-3:] for line in (pico, nano)] == [["KiB", "if", "free"], ["KiB", "if", "free"]]


def test_a_table_lists_boards_and_the_smallest_that_fit(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", "sample:mobilenet_v1_025", "--boards", "pico,nano33ble,nicla-sense-me"]) == 3
    out = capsys.readouterr().out
    assert "82,288 B" in out
    # 82,288 B go into 256 KiB and 264 KiB, not into the 64 KiB of the Nicla Sense ME.
    assert out.startswith(
        "cannot be told: with the newest TFLM it fits 2 of 3 boards if that much of their RAM is free"
    )
    assert out.splitlines()[0].endswith("the smallest: nano33ble, pico")
    assert main(["size", "sample:mobilenet_v1_025", "--boards", "nicla-sense-me", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["smallest_boards"] == []


def test_a_table_says_an_error_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.tflite"
    broken.write_bytes(b"no model")
    assert main(["size", str(broken), "--boards", "pico,nano33ble"]) == 3
    assert capsys.readouterr().out.count("this is not a .tflite model") == 1
    found = [Row("m", board=name, status="error", error="no kernel") for name in ("pico", "nano33ble")]
    assert list(size_boards._reasons(found)) == ["pico, nano33ble: no kernel"]
