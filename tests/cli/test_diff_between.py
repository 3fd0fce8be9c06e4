"""``diff --between``: its exit code, its table, and which versions it takes."""

from __future__ import annotations

import pytest

from tflm_sim.cli import diff_between, main

BETWEEN = ["diff", "sample:sine", "--target", "x86_64", "--between"]


def test_the_exit_code_and_the_table_say_that_the_arena_grew(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*BETWEEN, "2021-08-10", "--and", "2021-08-12"]) == 1
    out = capsys.readouterr().out
    assert "smallest arena on x86_64 (not named, so assumed: --kernels), reference kernels\n" in out
    assert "b6cbaea68  2021-08-11    +24     1,384  TfLiteNode.intermediates\n" in out
    assert out.endswith("in all +24: from 1,360 B to 1,384 B\n")


def test_where_nothing_moved_it_the_exit_code_is_0(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*BETWEEN, "2024-02-01", "--and", "2024-09-20", "--kernels", "reference"]) == 0
    assert capsys.readouterr().out == "nothing between 2024-02-01 and 2024-09-20 moved the smallest arena\n"


@pytest.mark.parametrize(
    ("versions", "said"),
    [
        (["2021-06-01", "--and", "2021-05-01"], "2021-06-01 is not older than 2021-05-01"),
        (["2021-06-01", "--and", "2021-06-01"], "2021-06-01 is not older than 2021-06-01"),
        (["esp_nn@1.3.1", "--and", "esp_nn@1.2.0"], "esp_nn@1.3.1 is not older than esp_nn@1.2.0"),
        (
            ["esp_nn@1.2.0", "--and", "esp_nn@1.3.1", "--kernels", "reference"],
            "--between already selects the kernels; remove --kernels",
        ),
    ],
)
def test_versions_go_from_the_older_to_the_newer(
    versions: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", "sample:sine", "--target", "esp32-s3", "--between", *versions]) == 2
    assert capsys.readouterr().err.startswith(f"tflm-sim diff: {said}")


@pytest.mark.parametrize("option", ["--runtime", "--library", "--firmware"])
def test_what_is_tried_itself_is_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "sample:sine", "--between", "2024-01-01", "--and", "2025-01-01", option, "x"]) == 2
    said = f"tflm-sim diff: --between does not go with {option}; remove one of them\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--between", "2024-01-01"], "--between A and --and B go together"),
        (["--and", "2024-01-01"], "--between A and --and B go together"),
        (
            ["sample:sine", "--between", "2024-01-01", "--and", "2025-01-01"],
            "--between is for one model, and each option is given once",
        ),
        (
            ["--between", "2024-01-01", "--and", "2025-01-01", *("--target", "esp32", "--target", "i386")],
            "--between is for one model, and each option is given once",
        ),
        (
            ["--between", "2024-01-01", "--and", "2025-01-01", "--lite"],
            "--between does not go with --lite; remove one of them",
        ),
    ],
)
def test_what_says_no_two_versions_of_one_model_is_refused(
    given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", "sample:sine", *given]) == 2
    assert capsys.readouterr().err == f"tflm-sim diff: {said}\n"


def test_a_version_is_a_day_a_commit_or_a_library() -> None:
    assert diff_between._runtime("chirale").snapshot.startswith("chirale")
    assert diff_between._runtime("2024-05-06").day <= "2024-05-06"
