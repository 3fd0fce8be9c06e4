"""``list libraries``, ``diff --between``, ``--runtime`` and ``--library`` from the command line."""

from __future__ import annotations

import json

import pytest

from tflm_sim.cli import main

SAMPLE = "sample:mobilenet_v1_025"


def _json(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> object:
    assert main(list(arguments)) == code
    return json.loads(capsys.readouterr().out)


def test_libraries_says_of_each_whether_it_is_modelled(capsys: pytest.CaptureFixture[str]) -> None:
    rows = _json(capsys, "list", "libraries", "esp-tflite", "--json")
    assert isinstance(rows, list)
    modelled = {row["version"]: row["is_modelled"] for row in rows}
    assert (modelled["1.3.5"], modelled["1.4.3"]) == (True, False)


def test_a_library_has_its_releases_and_one_without_a_list_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    rows = _json(capsys, "list", "libraries", "--json")
    assert isinstance(rows, list)
    releases = {(row["name"], row["version"]): row["releases"] for row in rows}
    assert releases["esp-tflite-micro", "1.3.5"] == ["1.3.5"]
    assert releases["esp-tflite-micro", "1.4.3"] == ["1.4.1", "1.4.2", "1.4.3"]


def test_the_runtime_is_named_in_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    document = _json(capsys, "size", SAMPLE, "--target", "x86_64", "--runtime", "52c9568", "--jsonl")
    assert isinstance(document, dict)
    assert "52c956815" in json.dumps(document["target"])


def test_a_library_that_is_not_modelled_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", SAMPLE, "--library", "silabs-mltk"]) == 2
    assert "is not modelled; the nearest: " in capsys.readouterr().err


def test_two_ways_to_name_tflm_are_one_too_many(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["size", SAMPLE, "--library", "zephyr", "--runtime", "2023-06-15"]) == 2
    assert "remove --runtime" in capsys.readouterr().err


def test_between_exits_1_where_the_arena_grew_and_0_where_it_shrank(capsys: pytest.CaptureFixture[str]) -> None:
    grown = ["diff", SAMPLE, "--between", "2021-08-10", "--and", "2021-08-12", "--target", "x86_64", "--json"]
    document = _json(capsys, *grown, code=1)
    assert isinstance(document, dict)
    assert [step["commit"] for step in document["steps"]] == ["b6cbaea68"]
    assert main(grown[:-1]) == 1
    *lines, total = capsys.readouterr().out.splitlines()
    (row,) = (line for line in lines if line.startswith("b6cbaea68"))
    assert row.split()[2] == total.split()[2].rstrip(":")  # of a single step both are the same
    assert total.startswith("in all +")
    # 2022-09-19: two objects lose a pointer each.
    assert main(["diff", SAMPLE, "--between", "2022-09-18", "--and", "2022-09-20", "--target", "x86_64"]) == 0
    assert "95761fcfd" in capsys.readouterr().out


def test_between_backwards_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", SAMPLE, "--between", "2023-06-15", "--and", "2022-06-15"]) == 2
    assert "is not older than" in capsys.readouterr().err


def test_each_library_that_is_modelled_says_whether_it_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "libraries", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) > 60
    assert [row["name"] for row in rows if row["is_modelled"] != bool(row["proof"])] == []
    proofs = {(row["name"], row["version"]): row["proof"] for row in rows}
    assert proofs["edge-impulse", "2021-05-11"].startswith("sources of the EON compiler with Edge Impulse's SDK")
    assert proofs["esp-tflite-micro", "1.3.0"] == "not measured"  # It was with ESP-NN 1.1.0, which is not its default.
    assert proofs["x-cube-ai", ""] == ""
