"""``check --board``: certain where the chip decides, 3 where only the firmware knows."""

import json
from pathlib import Path

import pytest

import tflm_sim
from tflm_sim.cli import main
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import TensorType
from tflm_sim.samples import sample_path
from tflm_sim.units import format_size


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["check", "sample:sine", *arguments])
    return code, capsys.readouterr().out


def test_the_firmware_says_how_much_is_free(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--board", "nano33ble", "--ram-free", "180KiB")[0] == 0
    code, out = run(capsys, "--board", "nano33ble", "--ram-free", "1000")
    assert code == 1
    assert out.startswith("no: needs 1,")


def test_without_the_firmware_nobody_knows(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "--board", "nano33ble")
    assert code == 3
    assert "--ram-free" in out
    assert json.loads(run(capsys, "--board", "nano33ble", "--json")[1])["fits"] is None


def test_what_no_bank_holds_does_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["check", "sample:mobilenet_v1_025", "--board", "nicla-sense-me"])
    out = capsys.readouterr().out
    assert code == 1
    assert "the largest bank (RAM) has 65,536 B" in out.replace(" (64.0 KiB)", "")


def test_ram_free_goes_with_a_board(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--limit", "64K", "--ram-free", "64K")[0] == 2


def test_a_named_target_is_not_ignored(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "--board", "nano33ble", "--target", "cortex-m4", "--kernels", "reference", "--json")
    assert code == 3
    assert json.loads(out)["target"]["name"] == "cortex-m4"
    assert main(["check", "sample:sine", "--board", "nano33ble", "--target", "x86_64"]) == 2
    assert "nano33ble runs" in capsys.readouterr().err


def test_the_flash_is_looked_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model of 600 kB does not fit into a board with 512 KiB of flash, however small its arena is."""
    model = tmp_path / "large.tflite"
    model.write_bytes(sample_path("sine").read_bytes() + bytes(600_000))
    assert main(["check", str(model), "--board", "nicla-sense-me", "--ram-free", "32KiB"]) == 1
    assert "the file alone has 60" in capsys.readouterr().out


def test_no_more_can_be_free_than_the_chip_has(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["check", "sample:sine", "--board", "nicla-sense-me", "--ram-free", "8MiB"]
    assert main(arguments) == 2
    assert "is more than nicla-sense-me has: RAM 64 KiB" in capsys.readouterr().err
    assert main([*arguments, "--external-ram"]) == 0


def test_without_ram_free_the_boards_memory_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert "nicla-sense-me has RAM 64 KiB" in run(capsys, "--board", "nicla-sense-me")[1]


def test_several_models_are_judged_a_line_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.tflite"
    bad.write_bytes(b"not a model")
    code = main(["check", str(bad), "sample:sine", "sample:keyword_spotter", "--limit", "4KiB"])
    lines = capsys.readouterr().out.splitlines()
    assert code == 1
    assert (
        lines[0]
        == "no: 1 of 3 does not fit, or grew; 1 cannot be told; not named, so assumed: --target, --library, --kernels"
    )
    assert list(dict.fromkeys(line.split(": ")[0] for line in lines[1:-1] if line[0] != " ")) == [
        str(bad),
        "sample:sine",
        "sample:keyword_spotter",
    ]
    assert main(["check", str(bad), "sample:sine", "--limit", "4KiB", "--json"]) == 3
    documents = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["fits"] for row in documents] == [None, True]
    assert all(row["schema_version"] == 1 and row["target"]["name"] == "cortex-m4" for row in documents)
    assert documents[1]["model"]["bytes"] == sample_path("sine").stat().st_size


@pytest.mark.parametrize("what", ["targets", "boards", "ops"])
def test_a_table_fits_a_terminal_of_80_columns(
    what: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["list", what]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


@pytest.mark.parametrize(
    "argv", [["size"], ["plan"], ["trace", "--lifetimes"], ["check", "--limit", "1024"]], ids=lambda argv: argv[0]
)
def test_every_line_fits_a_terminal_of_80_columns(
    argv: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("tflm_sim.cli.terminal.is_shown", lambda: True)
    main([argv[0], "sample:mobilenet_v1_025", *argv[1:]])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_what_measured_a_target_is_said_in_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert main(["list", "targets", "--long"]) == 0
    assert "cm4_ref" not in (out := capsys.readouterr().out)
    assert "real TFLM, Cortex-M4 in QEMU; firmwares with real TFLM" in out


PERSON = "models/tflm__models__person_detect.tflite"
PERSON_FILE = str(Path(__file__).parents[3] / "shared" / PERSON)


@pytest.mark.shared(PERSON)
def test_without_a_library_each_that_people_use_on_the_board_has_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    """82,752 B with the Arduino libraries, 82,320 B with the newest TFLM: 82,400 B free are a no."""
    assert main(["check", PERSON_FILE, "--board", "nano33ble", "--ram-free", "180KiB"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("yes: needs 82,752 B (80.8 KiB) of 184,320 B")
    assert lines[1] == "the smallest arena is 82,744 B; what is needed is the next multiple of 16"
    assert lines[2] == "so it is with chirale-2.0.0, of the libraries that people use on nano33ble:"
    assert [line.split()[:4] for line in lines[4:12]] == [
        ["yes", needs, "B", library]
        for needs, library in (
            ("82,752", "chirale-2.0.0"),
            ("82,752", "tflite-micro-arduino-examples"),
            ("82,752", "MicroTFLite@1.0.3"),
            ("82,752", "edge-impulse@1.93.20"),
            ("82,304", "zephyr@v4.4.0"),
            ("82,320", "tflite-micro@90b983c2b"),
            ("82,544", "Harvard_TinyMLx@1.2.4"),
            ("82,544", "EloquentTinyML@2.4.4"),
        )
    ]
    assert lines[12] == "  of 2021 or before, and without a say: Harvard_TinyMLx@1.2.4, EloquentTinyML@2.4.4"
    assert lines[13] == "not named: --library; with yours the answer is one line"
    assert main(["check", PERSON_FILE, "--board", "nano33ble", "--ram-free", "82400", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["fits"], document["smallest_arena_multiple_of_16"]) == (False, 82752)
    assert [row["fits"] for row in document["libraries"]] == [False, False, False, False, False, False, True, True]


@pytest.mark.shared(PERSON)
def test_libraries_of_2021_are_listed_and_do_not_turn_the_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without those of 2023 the newest TFLM decides: 82,320 B, where those of 2021 need 82,544."""
    from dataclasses import replace

    from tflm_sim.targets import boards

    nano = replace(boards.BOARDS["nano33ble"], libraries=("Harvard_TinyMLx", "EloquentTinyML@2.4.4", ""))
    monkeypatch.setitem(boards.BOARDS, "nano33ble", nano)
    assert main(["check", PERSON_FILE, "--board", "nano33ble", "--ram-free", "82400", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["answer"], document["smallest_arena_multiple_of_16"]) == ("yes", 82320)
    assert [(row["answer"], row["is_old"]) for row in document["libraries"]] == [
        ("no", True), ("no", True), ("yes", False)
    ]  # fmt: skip
    monkeypatch.setitem(boards.BOARDS, "nano33ble", replace(nano, libraries=nano.libraries[:2]))
    assert main(["check", PERSON_FILE, "--board", "nano33ble", "--ram-free", "82400"]) == 1  # no other has a say


@pytest.mark.shared(PERSON)
def test_an_esp32_s3_says_which_esp_nn_was_taken(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", PERSON_FILE, "--board", "esp32-s3", "--ram-free", "180KiB"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("yes: needs 122,576 B")
    assert lines[0].endswith("; with esp_nn 1.3.2 to 1.5.0 it may need more or less")
    assert lines[-1] == (
        "esp-tflite-micro@1.4.0 asks for esp_nn >=1.1.1; esp_nn 1.3.1 is taken by default (newer: 1.3.2 to 1.5.0); "
        "another is named so: --kernels esp_nn@1.3.0; the newest that is modelled: --kernels esp_nn@25cae54"
    )
    named = ["--library", "esp-tflite-micro@1.3.5", "--kernels", "esp_nn@1.1.2", "--board", "esp32-s3"]
    assert main(["size", PERSON_FILE, *named]) == 0
    head = capsys.readouterr().out.split("\n\n")[0].splitlines()
    assert [line.split(", ")[0] for line in head[1:]] == ["TFLM of 2025-11-10 (esp-tflite-micro@1.3.5)"]


def test_a_library_goes_with_a_board(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "--board", "nano33ble", "--library", "chirale", "--ram-free", "180KiB")
    assert code == 0
    assert out.splitlines() == [
        "yes: needs 1,152 B of 184,320 B (180.0 KiB), 183,168 B (178.9 KiB) to spare",
        "the smallest arena is 1,144 B; what is needed is the next multiple of 16",
        "for nano33ble-chirale: TFLM of 2023-01-13 (chirale-2.0.0), cmsis_nn@e98ee09 (dsp)",
    ]
    code, out = run(capsys, "--board", "XIAO ESP32S3 Sense", "--library", "ArduTFLite.h", "--ram-free", "180KiB")
    assert (code, out.splitlines()[-1]) == (
        0, "for esp32-s3: TFLM of 2023-01-13 (chirale-2.0.0), cmsis_nn@e98ee09 (scalar)"
    )  # fmt: skip


def test_what_was_not_named_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    for options, missing in (
        ((), "--target, --library, --kernels"),
        (("--target", "cortex-m4"), "--library, --kernels"),
        (("--target", "cortex-m4", "--kernels", "reference"), "--library"),
        (("--target", "cortex-m4", "--runtime", "2023-06-15"), "--kernels"),
        (("--target", "x86_64"), "--library"),
    ):
        assert (
            run(capsys, "--limit", "64KiB", *options)[1]
            .splitlines()[0]
            .endswith(f" to spare; not named, so assumed: {missing}")
        )
    for options in (("--library", "zephyr"), ("--target", "x86_64-pip"), ("--library", "esphome")):
        assert "not named" not in run(capsys, "--limit", "64KiB", *options)[1]


@pytest.mark.parametrize(("name", "said"), [
    ("pico", "'pico' is a board: --target cortex-m0plus; --board pico is taken where a board can be named"),
    ("ESPHome@2026.6.5", "is a library: --library ESPHome@2026.6.5; 'tflm-sim list libraries ESPHome' shows it"),
    ("cortexm4", "unknown target 'cortexm4'; did you mean cortex-m4? (also: "),
])  # fmt: skip
def test_a_wrong_target_points_to_boards_and_libraries(
    name: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["size", "sample:sine", "--target", name]) == 2
    assert said in capsys.readouterr().err


def test_a_folder_is_every_model_in_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("sine", "keyword_spotter"):
        (tmp_path / f"{name}.tflite").write_bytes(sample_path(name).read_bytes())
    assert main(["check", str(tmp_path), "--target", "cortex-m4", "--kernels", "reference", "--limit", "2KiB"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:7] == [
        f"{tmp_path} is no project that uses TFLM, so these are all models in it",
        "no: 1 of 2 does not fit, or grew; not named, so assumed: --library",
        f"{tmp_path}/keyword_spotter.tflite: no: needs 22,784 B (22.2 KiB), 20,736 B (20.2 KiB) more than 2,048 B",
        f"{tmp_path}/keyword_spotter.tflite: the smallest arena is 22,772 B; what is needed is the next multiple of 16",
        f"{tmp_path}/keyword_spotter.tflite: this looks for rewritings that need less, with the same outputs:",
        f"  tflm-sim shrink {tmp_path}/keyword_spotter.tflite --target cortex-m4 --kernels reference --goal 2048",
        f"{tmp_path}/sine.tflite: yes: needs 1,072 B of 2,048 B, 976 B to spare",
    ]


def test_next_to_bluetooth_the_answer_hangs_on_the_rest_of_the_firmware(capsys: pytest.CaptureFixture[str]) -> None:
    given = ("--board", "nano33ble", "--library", "chirale", "--beside", "ble")
    code, out = run(capsys, *given)
    assert (code, out.split(" (", 1)[0]) == (
        3,
        "yes, if the rest of your firmware takes at most 168,336 B of RAM: needs 1,152 B of 169,488 B",
    )
    assert "44,552 B static data of an empty sketch" in out
    assert "(published)\n" in out
    assert "fw#109" not in out  # The sources are in the document, and in what size --all prints.
    document = json.loads(run(capsys, *given, "--json")[1])
    assert (document["answer"], document["ram"]["left"], document["ram"]["parts"][2]["bytes"]) == (
        "if",
        169_488,
        16_056,
    )
    found = tflm_sim.check("sample:sine", board="nano33ble", library="chirale", beside="ble")
    assert (found.answer, found.limit, found.fits) == ("if", 169_488, None)


def test_what_the_figures_do_not_leave_does_not_fit_if_they_are_right(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(
        ["check", "sample:keyword_spotter", "--board", "nicla-sense-me", "--library", "chirale", "--beside", "ble"]
    )
    assert (code, capsys.readouterr().out.split(":")[0]) == (
        3,
        "no, if Arduino's Mbed core with Bluetooth LE takes what the figures say",
    )


def test_a_board_without_a_figure_says_so_and_asks_for_what_is_free(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "--board", "portenta-h7", "--library", "chirale", "--beside", "ble")
    assert code == 3
    assert "there is no figure of what portenta-h7 has left beside Bluetooth LE" in out.replace("\n", " ")


def test_size_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["size", "sample:sine", "--board", "nano33ble", "--library", "chirale", "--beside", "ble"]
    assert main(given) == 3
    assert "fits: yes, if the rest of your firmware takes at most 168,336 B of RAM" in capsys.readouterr().out
    assert main([*given, "--json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert (document["answer"], document["ram"]["left"]) == ("if", 169_488)
    assert main([*given, "--map"]) == 2
    assert "--beside does not go with --map; remove one of them" in capsys.readouterr().err


def test_size_says_no_too_where_the_model_is_larger_than_the_flash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    builder = ModelBuilder()
    source = builder.tensor((1, 16_384), TensorType.INT8, scale=0.5)
    weights = builder.tensor((40, 16_384), TensorType.INT8, scale=0.5, data=bytes(40 * 16_384))
    result = builder.tensor((1, 40), TensorType.INT8, scale=0.5)
    builder.operator("FULLY_CONNECTED", [source, weights], [result])
    path = tmp_path / "large.tflite"
    path.write_bytes(builder.build(inputs=[source], outputs=[result]))
    size = format_size(path.stat().st_size)
    said = f"no: the file alone has {size}, the flash of nicla-sense-me 524,288 B (512.0 KiB)"
    for verb in ("check", "size"):
        given = [verb, str(path), "--board", "nicla-sense-me", "--library", "chirale", "--beside", "core"]
        assert main(given) == 1
        assert said in " ".join(capsys.readouterr().out.split())
        assert main([*given, "--json"]) == 1
        assert json.loads(capsys.readouterr().out)["answer"] == "no"
