"""What the page asks of the package, outside the browser."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tflm_sim import load, parse, sample_path, simulate, smallest_arena
from tflm_sim.extensions.page import bridge
from tflm_sim.extensions.page.answers import BoardVerdict
from tflm_sim.extensions.page.bridge import OpenModels, choices
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import TensorType
from tflm_sim.targets.boards import BOARDS, Bank

sys.path.insert(0, str(Path(__file__).parents[1] / "firmware" / "reading"))
from elf_writer import Part, write_elf

M4 = json.dumps({"target": "cortex-m4"})


@pytest.mark.slow
def test_a_shrunk_model_is_one_more_of_the_visit_and_its_bytes_can_be_saved() -> None:
    models, said = OpenModels(), []
    (entry,) = json.loads(models.add("m.tflite", sample_path("mobilenet_v1_025").read_bytes()))
    (row,) = json.loads(models.shrink(entry["number"], M4, said.append))
    model = parse(models.data(1))
    size = len(model.source)
    save = f"Save m.small.tflite ({size:,} B)"
    assert row["smaller"] == {"number": 1, "name": "m.small.tflite", "bytes": size, "save": save}
    assert said[-1] == "verifying"
    (sized,) = json.loads(models.size(1, M4))
    before = smallest_arena(parse(sample_path("mobilenet_v1_025").read_bytes()), "cortex-m4").size
    assert smallest_arena(model, "cortex-m4").size == sized["smallest"] < before
    assert any(f"{before:,} B -> {sized['smallest']:,} B" in line for line in row["lines"])


def test_programs_are_counted_apart_from_models_and_each_answers_under_its_number() -> None:
    models = OpenModels()
    models.add("sine.tflite", sample_path("sine").read_bytes())
    rows = [json.loads(models.add(f"{name}.elf", write_elf(Part(".text", b"abc", flags=6)))) for name in "ab"]
    assert rows == [[{"firmware": 0, "name": "a.elf"}], [{"firmware": 1, "name": "b.elf"}]]
    assert json.loads(models.firmware(1, M4)) == [
        {"name": "b.elf", "error": "there is no model in it (no TFL3 flatbuffer can be read)"}
    ]


def test_a_model_that_cannot_be_smaller_says_so() -> None:
    models = OpenModels()
    models.add("sine.tflite", sample_path("sine").read_bytes())
    (row,) = json.loads(models.shrink(0, M4, lambda _: None))
    assert row["smaller"] is None
    assert row["lines"][0] == "sine.tflite: nothing that we know makes it smaller"


def test_of_a_long_name_the_end_is_told_and_of_a_long_error_the_beginning() -> None:
    (row,) = json.loads(OpenModels().add("n" * 300, b"no model"))
    assert row["name"] == "…" + "n" * 199
    assert len(row["error"]) <= 500


def test_a_model_that_shrink_refuses_is_an_answer() -> None:
    models = OpenModels()
    models.add("sine.tflite", sample_path("sine").read_bytes())
    (row,) = json.loads(models.shrink(0, json.dumps({"target": "no-such-target"}), lambda _: None))
    assert row["name"] == "sine.tflite"
    assert "no-such-target" in row["error"]


def test_every_board_says_what_the_command_line_says_of_its_target() -> None:
    models = OpenModels()
    models.add("sine.tflite", sample_path("sine").read_bytes())
    (table,) = json.loads(models.compare(0))
    at = [row[0] for row in table["rows"]].index("esp32-s3")
    size = smallest_arena(parse(sample_path("sine").read_bytes()), "esp32-s3").multiple_of_16
    share = f"{100 * size / (480 * 1024):.1f} %"
    assert table["rows"][at][1:6] == [f"{size:,} B", "if free", share, "not known", "esp32-s3"]
    assert (table["tones"][at], table["errors"][at]) == ("open", "")
    assert table["summary"].startswith(
        "With the newest TFLM it fits 36 of 36 boards if that much of their RAM is free; the smallest: "
    )


def test_with_a_board_the_verdict_on_it_follows_the_size() -> None:
    models = OpenModels()
    models.add("sine.tflite", sample_path("sine").read_bytes())
    (answer,) = json.loads(models.size(0, json.dumps({"board": "nano33ble"})))
    assert answer["number"] == "1,152 B"
    assert answer["line"] == "alignas(16) uint8_t tensor_arena[1152];"
    # 256 KiB - 1,152 B
    assert answer["verdict"] == "leaves 260,992 B of RAM of nano33ble (262,144 B) to the rest of the firmware"
    assert (answer["tone"], answer["row"]["left"], answer["row"]["fits"]) == ("open", 260_992, "if the rest leaves it")
    (answer,) = json.loads(models.size(0, M4))
    assert (answer["verdict"], answer["row"]["left"], answer["row"]["fits"]) == ("", None, "")


def test_the_strip_is_the_whole_arena_and_what_the_board_has_beside_it() -> None:
    models = OpenModels()
    models.add("m.tflite", sample_path("mobilenet_v1_025").read_bytes())
    (answer,) = json.loads(models.size(0, M4))
    strip = [(part["title"], part["category"]) for part in answer["strip"]]
    assert strip == [
        ("activations: 55,296 B", "activation"),
        ("set-up and alignment: 12 B", "temp"),
        ("tail, for good: 26,980 B", "kernel data"),
    ]
    (answer,) = json.loads(models.size(0, json.dumps({"board": "nicla-sense-me", "target": "cortex-m4"})))
    assert answer["strip"][-1]["title"] == "too many: 16,752 B"  # 82,288 - 65,536
    assert (answer["tone"], answer["row"]["fits"]) == ("no", "no")
    (answer,) = json.loads(models.size(0, json.dumps({"board": "nano33ble"})))
    assert sum(part["bytes"] for part in answer["strip"]) == 262_144
    (answer,) = json.loads(models.size(0, json.dumps({"target": "esp32-s3"})))
    assert [part["is_hatched"] for part in answer["strip"] if part["category"] == "scratch"] == [True]


def test_settings_are_spelled_as_options() -> None:
    models = OpenModels()
    models.add("m.tflite", sample_path("sine").read_bytes())
    (row,) = json.loads(models.size(0, json.dumps({"target": "cortex-m4", "kernels": "esp_nn"})))
    assert "`" not in row["error"]
    assert "=" not in row["error"]


def test_a_board_is_a_choice_with_its_target_and_its_flash() -> None:
    assert BOARDS["nano33ble"].flash == 1 << 20
    (board,) = [row for row in json.loads(choices())["boards"] if row["name"] == "nano33ble"]
    assert (board["target"], board["flash"]) == ("cortex-m4", 1 << 20)


def test_flash_that_differs_between_modules_is_0() -> None:
    assert BOARDS["esp32"].flash is None
    assert {row["name"]: row["flash"] for row in json.loads(choices())["boards"]}["esp32"] == 0


def test_what_was_not_named_is_said_and_a_board_names_its_target() -> None:
    models = OpenModels()
    models.add("sine.tflite", sample_path("sine").read_bytes())
    said = [json.loads(models.size(0, json.dumps(chosen)))[0]["assumed"].strip() for chosen in (
        {}, {"board": "nano33ble"}, {"target": "cortex-m4"}, {"target": "cortex-m4", "kernels": "reference"},
    )]  # fmt: skip
    assert said == [
        "(not named, so assumed: target, library, kernels)",
        "",  # its own TFLM and kernels
        "(not named, so assumed: library, kernels)",
        "(not named, so assumed: library)",
    ]


def test_a_model_that_fits_no_arena_has_no_verdict_on_a_board() -> None:
    builder = ModelBuilder()
    source, result = (builder.tensor((1, 4), TensorType.INT8) for _ in range(2))
    builder.custom("NOBODY_KNOWS", [source], [result])
    models = OpenModels()
    models.add("custom.tflite", builder.build(inputs=[source], outputs=[result]))
    (size,) = json.loads(models.size(0, json.dumps({"board": "nano33ble"})))
    assert (size["tone"], size["smallest"], size["row"]["fits"]) == ("no", None, "no")
    assert size["verdict"].startswith("no: AllocateTensors() fails in an arena of any size: ")
    assert size["row"]["reason"] in size["verdict"]


@pytest.mark.parametrize(
    ("bank", "verdict"),
    [
        (1168, BoardVerdict("cannot tell", "leaves 0 B of RAM of b (1,168 B) to the rest of the firmware", 0)),
        (1167, BoardVerdict("no", "does not fit: 1 B too many for RAM of b (1,167 B)", -1)),
        (1169, BoardVerdict("cannot tell", "leaves 1 B of RAM of b (1,169 B) to the rest of the firmware", 1)),
    ],
)
def test_an_arena_fits_a_bank_to_the_byte(bank: int, verdict: BoardVerdict) -> None:
    run = simulate(load("sample:sine"), "cortex-m4")
    board = replace(BOARDS["nano33ble"], name="b", ram=(Bank("RAM", bank),))
    assert bridge._board_verdict(run, 1168, board) == verdict


def test_a_file_larger_than_the_flash_does_not_fit_and_unknown_ram_is_said_to_be_so() -> None:
    run = simulate(load("sample:sine"), "cortex-m4")
    board = replace(BOARDS["nano33ble"], flash=len(run.model.source) - 1)
    verdict = bridge._board_verdict(run, 1168, board)
    assert (verdict.answer, verdict.left) == ("no", 262_144 - 1168)
    assert verdict.text.startswith("does not fit: the file alone has ")
    verdict = bridge._board_verdict(run, 1168, replace(board, flash=None, ram=()))
    assert (verdict.answer, verdict.left) == ("cannot tell", None)
    assert "has RAM that is not known" in verdict.text
