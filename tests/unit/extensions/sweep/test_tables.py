"""Rows that are read back are rows of a sweep, or a sentence; cells are nothing that a spreadsheet executes."""

from __future__ import annotations

import contextlib
import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.answers.rows import COLUMNS, Row, as_dict
from tflm_sim.errors import UsageError
from tflm_sim.extensions.sweep.tables import open_writer, read_rows

FORMS = [".csv", ".jsonl", ".parquet"]


def written(path: Path, *rows: Row) -> Path:
    writer = open_writer(path)
    writer.write(rows)
    writer.close()
    return path


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["a.tflite", "=1+1", "+a", "-a", "@a", "\ta", "'a", "''", 'a\n,"b', "é", "\x1b[31m"])
def test_a_row_is_read_back_as_it_was(form: str, name: str, tmp_path: Path) -> None:
    row = Row(name, model_bytes=5, smallest_arena=1 << 40, fits=False, error="=x")
    assert list(read_rows(written(tmp_path / f"r{form}", row))) == [row]


@pytest.mark.parametrize("sign", list("=+-@"))
def test_no_cell_begins_as_a_formula(sign: str, tmp_path: Path) -> None:
    path = written(tmp_path / "r.csv", Row(f"{sign}HYPERLINK()", error=f"{sign}x", peak_bytes=-5))
    (cells,) = csv.DictReader(path.open(newline=""))
    assert (cells["model"], cells["error"]) == (f"'{sign}HYPERLINK()", f"'{sign}x")
    assert cells["peak_bytes"] == "-5"


@pytest.mark.parametrize(("form", "name"), [(".csv", "caf\udce9.tflite"), (".parquet", "caf\\udce9.tflite")])
def test_the_bytes_of_a_name_that_are_not_utf_8_are_escapes(form: str, name: str, tmp_path: Path) -> None:
    path = written(tmp_path / f"r{form}", Row("caf\udce9.tflite"))
    assert form == ".parquet" or "caf\\udce9.tflite" in path.read_text("ascii")
    assert next(read_rows(path)).model == name


@pytest.mark.parametrize("name", ["\x1b[31m", "a\u202eb", "x\n::error::y", "\t=x", "a\\x1b", "::error::z"])
def test_a_csv_file_holds_nothing_that_a_terminal_or_a_runner_obeys(name: str, tmp_path: Path) -> None:
    path = written(tmp_path / "r.csv", Row(name, error=name))
    text = path.read_bytes().decode("ascii")
    assert not re.search(r"(?m)^\s*::|[^\n -~]", text)
    assert next(read_rows(path)) == Row(name, error=name)


@pytest.mark.parametrize("cell", ["1e5", "9" * 5000, "0x10"])
def test_a_cell_that_is_no_number_is_named(cell: str, tmp_path: Path) -> None:
    path = written(tmp_path / "r.csv", Row("m", peak_bytes=-123456))
    path.write_text(path.read_text().replace("-123456", cell))
    with pytest.raises(UsageError, match=f"holds no results of a sweep: peak_bytes is '{cell[:3]}"):
        list(read_rows(path))


@pytest.mark.parametrize("form", [".csv", ".jsonl"])
@pytest.mark.parametrize("text", ["my notes", "my notes\n", "name,phone\n", "model,targets"])
def test_a_file_of_somebody_else_is_not_taken_for_an_empty_one(form: str, text: str, tmp_path: Path) -> None:
    """``--resume`` would write over it."""
    path = tmp_path / f"r{form}"
    path.write_text(text)
    with pytest.raises(UsageError, match=re.escape(str(path))):
        list(read_rows(path))


@pytest.mark.parametrize("form", [".csv", ".jsonl"])
def test_rows_are_read_up_to_where_the_file_was_cut_off(form: str, tmp_path: Path) -> None:
    whole = written(tmp_path / f"r{form}", Row("a"), Row("b")).read_bytes()
    ends = [number for number, byte in enumerate(whole, 1) if byte == ord("\n")][-2:]
    for length in range(len(whole) + 1):
        (tmp_path / f"r{form}").write_bytes(whole[:length])
        assert len(list(read_rows(tmp_path / f"r{form}"))) == sum(end <= length for end in ends)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"smallest_arena": "x"}, "smallest_arena is 'x'"),
        ({"smallest_arena": 1.5}, "smallest_arena is 1.5"),
        ({"smallest_arena": True}, "smallest_arena is True"),
        ({"smallest_arena": 10**30}, "smallest_arena is 1000000000000000000000000000000"),
        ({"fits": 1}, "fits is 1"),
        ({"model": None}, "model is None"),
        ({"status": "fine"}, "there is no status 'fine'"),
        ({"status": ["ok"]}, "status is"),
        ({"more": 1}, "other columns"),
    ],
)
def test_a_row_that_no_sweep_wrote_is_a_sentence(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps(as_dict(Row("m")) | change) + "\n")
    with pytest.raises(UsageError, match=words):
        list(read_rows(path))


@pytest.mark.parametrize(
    "line", ["[" * 100_000, "[]", "1", "null", '"x"', '{"a": NaN}', "9" * 5000, "\x00", '{"model": 1', "x" * 2_000_000]
)
def test_a_line_that_is_no_row_is_a_sentence(line: str, tmp_path: Path) -> None:
    for form in (".jsonl", ".csv"):
        (tmp_path / f"r{form}").write_text(",".join(COLUMNS) + "\n" + line + "\n" if form == ".csv" else line + "\n")
        with pytest.raises(UsageError) if form == ".jsonl" or len(line) > 100_000 else contextlib.nullcontext():
            list(read_rows(tmp_path / f"r{form}"))


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> pytest.TempPathFactory:
    return tmp_path_factory


@given(st.binary(max_size=60), st.integers(0, 600), st.sampled_from([".jsonl", ".csv"]))
def test_any_damage_is_rows_or_a_sentence(paths: pytest.TempPathFactory, data: bytes, at: int, form: str) -> None:
    path = paths.getbasetemp() / f"damaged{form}"
    written(path, Row("a", model_bytes=1), Row("=b\r"))
    whole = bytearray(path.read_bytes())
    whole[at : at + len(data) // 2] = data
    path.write_bytes(whole)
    with contextlib.suppress(UsageError):
        assert all(isinstance(row, Row) for row in read_rows(path))


def test_a_damaged_row_is_named_by_its_line_from_1(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", Row("a"), Row("b"))
    lines = path.read_text().splitlines()
    path.write_text(f"{lines[0]}\n{{\n{lines[1]}\n")
    with pytest.raises(UsageError, match=r"r\.jsonl, line 2,"):
        list(read_rows(path))


def test_the_line_that_is_no_row_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "r.jsonl", Row("a"))
    with path.open("a") as file:
        file.write("{\n")
    with pytest.raises(UsageError, match=re.escape(f"{path}, line 2, cannot be read as JSON")):
        list(read_rows(path))


@pytest.mark.parametrize(("value", "is_one"), [(2**63 - 1, True), (1 - 2**63, True), (2**63, False), (True, False)])
def test_a_number_has_63_bits(value: int, is_one: bool, tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps({**as_dict(Row("a")), "limit": value}) + "\n")
    if is_one:
        assert [row.limit for row in read_rows(path)] == [value]
    else:
        with pytest.raises(UsageError, match=f"limit is {value}$"):
            list(read_rows(path))


def test_the_reason_is_the_systems_words_alone(tmp_path: Path) -> None:
    path = tmp_path / "absent" / "r.csv"
    with pytest.raises(UsageError) as failure:
        open_writer(path)
    assert str(failure.value) == f"{path} cannot be written: No such file or directory"
