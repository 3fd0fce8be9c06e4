"""``--bank``: both parts for each way round, the better one with its figure, and a plan with its bound."""

from __future__ import annotations

import json
import re
from math import prod
from pathlib import Path

import pytest

from tflm_sim.answers.offline_plan import with_offline_plan
from tflm_sim.cli import main
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import TensorType
from tflm_sim.planners import native

TWO = ["--bank", "dtcm=64KiB", "--bank", "psram=2MiB", "--kernels", "reference"]
NEEDS_C = pytest.mark.skipif(not native.available(), reason="the C core was not built, and packs nothing")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(list(arguments)) == code
    return capsys.readouterr().out


def test_size_says_both_parts_and_which_way_round_is_better(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "size", "sample:mobilenet_v1_025", *TWO)
    assert "best: the head in dtcm, the tail in psram; an Invoke() loads and stores 1,852,416 B in psram" in text
    assert "The other way round moves 7,316,132 B there" in text
    assert "uint8_t persistent_arena[26944];  // in psram" in text
    assert "uint8_t non_persistent_arena[55296];  // in dtcm" in text


def test_size_as_json_has_the_ways(capsys: pytest.CaptureFixture[str]) -> None:
    banks = json.loads(printed(capsys, "size", "sample:mobilenet_v1_025", *TWO, "--json"))["banks"]
    best = banks["ways"][banks["better"]]
    assert (best["head"], best["tail"], best["slow_bytes"]) == ("dtcm", "psram", 1_852_416)


def test_check_is_yes_where_tflms_own_create_fits(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "check", "sample:mobilenet_v1_025", *TWO)
    assert text.startswith("yes: dtcm holds 55,296 B; psram holds 26,944 B")


@NEEDS_C
def test_check_names_the_planner_where_only_that_fits(capsys: pytest.CaptureFixture[str]) -> None:
    banks = ["--bank", "a=9000", "--bank", "b=15000", "--kernels", "reference"]
    text = printed(capsys, "check", "sample:keyword_spotter", *banks, code=1)
    assert text.startswith("no: TFLM's own Create does not; with the planner that 'plan --bank ... -o banks.h' writes")
    assert printed(capsys, "check", "sample:keyword_spotter", *banks, "--own-planner").startswith("yes: with the firmw")
    tight = ["--bank", "a=1KiB", "--bank", "b=2KiB"]
    assert "no plan fits into these banks" in printed(capsys, "check", "sample:keyword_spotter", *tight, code=1)


@NEEDS_C
def test_plan_says_the_bytes_and_that_none_does_better(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["plan", "sample:keyword_spotter", "--kernels", "reference", "--bank", "dtcm=9000", "--bank", "psram=2MiB"]
    text = printed(capsys, *asked)
    assert "866,944 B are loaded and stored in psram for each Invoke(); no plan loads and stores less there" in text
    document = json.loads(printed(capsys, *asked, "--json", "--curve"))
    assert (document["plan"]["slow_bytes"], document["plan"]["slow_bound"]) == (866_944, 866_944)
    assert [point["slow_bytes"] for point in document["curve"]][:3] == [0, 290_944, 866_944]


@NEEDS_C
def test_with_write_the_variables_of_the_model_are_planned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = ModelBuilder()
    inputs = [builder.tensor((1, 16), TensorType.FLOAT32)]
    for shape in ((8, 16), (8, 10), (4,)):
        inputs.append(builder.tensor(shape, TensorType.FLOAT32, data=bytes(4 * prod(shape))))
    inputs.append(builder.tensor((1, 80), TensorType.FLOAT32, is_variable=True))
    result = builder.tensor((1, 4), TensorType.FLOAT32)
    builder.operator("SVDF", inputs, [result], options={"rank": 2})
    (tmp_path / "model.tflite").write_bytes(builder.build(inputs=inputs[:1], outputs=[result]))
    asked = ["--kernels", "reference", "--bank", "a=1KiB", "--bank", "b=16KiB"]
    model, written, header = str(tmp_path / "model.tflite"), str(tmp_path / "planned.tflite"), tmp_path / "banks.h"
    assert "320 B of the tail are variables; with --write FILE" in printed(capsys, "plan", model, *asked)
    text = printed(capsys, "plan", model, *asked, "--write", written, "-o", str(header))
    assert re.search(r"tensor4 +320 +always", text)
    assert re.search(r"\{\d, \d+u, 20u, -1, 1\},  // subgraph0\.tensor4", header.read_text())
    assert '"planned",' in header.read_text()  # The name of the file that goes with it.
    assert printed(capsys, "plan", written, *asked) == text  # It is in the file, so that nothing need be named again.


@NEEDS_C
def test_a_model_with_a_plan_of_its_own_fits_as_one_without(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    banks, path = ["--bank", "a=9000", "--bank", "b=15000", "--kernels", "reference"], tmp_path / "planned.tflite"
    model = with_offline_plan("sample:keyword_spotter", "cortex-m4", "greedy", kernels="reference")
    path.write_bytes(model.source)
    text = printed(capsys, "check", str(path), *banks, code=1)
    assert "with the planner that 'plan --bank ... --replace-plan -o banks.h' writes it does: a holds" in text
    tables = []
    for name, more in ((str(path), ["--replace-plan"]), ("sample:keyword_spotter", [])):
        header = tmp_path / "banks.h"
        printed(capsys, "plan", name, *banks, *more, "-o", str(header))
        tables.append(re.findall(r"(?m)^    \{\d, .*$", header.read_text()))
    assert tables[0] == tables[1] != []
    assert main(["plan", str(path), *banks]) == 2
    assert "the model has an offline plan; remove it, or let --replace-plan do that" in capsys.readouterr().err


@NEEDS_C
def test_a_picture_shows_each_bank(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    svg = tmp_path / "banks.svg"
    banks = ["--bank", "dtcm=9000", "--bank", "psram=2MiB", "--kernels", "reference"]
    printed(capsys, "report", "sample:keyword_spotter", *banks, "-o", str(svg))
    text = svg.read_text("utf-8")
    assert "dtcm: 2,319,600 B loaded, 32,642 B stored" in text
    assert "psram: 826,944 B loaded, 40,000 B stored" in text
    assert [text.count(words) for words in ("start of dtcm", "start of psram", ">tail<")] == [1, 1, 1]
    # Both banks have the same times, though psram holds nothing at first and at the end.
    assert re.findall(r">(\d+)</text>", text).count("13") == 2
    printed(capsys, "plan", "sample:keyword_spotter", *banks, "--curve", "--picture", str(svg))
    assert "bytes loaded and stored in psram, by the bytes of dtcm" in svg.read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plan", "sample:sine", "-o", "banks.h"], "--output goes with --bank"),
        (["plan", "sample:sine", *TWO, "--csv"], "--bank does not go with --csv"),
        (["size", "sample:sine", *TWO, "--arena-size", "1000"], "--bank does not go with --arena-size"),
        (["check", "sample:sine", *TWO, "--limit", "1000"], "--bank does not go with --limit"),
        (["check", "sample:sine", *TWO, "--board", "pico", "--beside", "ble"], "--bank does not go with --beside"),
        (["size", "sample:sine", "--bank", "dtcm=64KiB"], "--bank is given 1 time"),
    ],
)
def test_what_does_not_go_together_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err
