"""``tflm-sim firmware`` on programs that are compiled here: what it finds, what it says, and its exit codes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.cli import main
from tflm_sim.extensions.page.bridge import OpenModels
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load
from tflm_sim.model.types import TensorType
from tflm_sim.samples import sample_path
from tflm_sim.schemas.generate import published

sys.path.insert(0, str(Path(__file__).parent))
import elf_program

ARM = "arm-none-eabi-g++ -mcpu=cortex-m4 -mthumb"
RISCV = "riscv64-unknown-elf-g++ -march=rv32imc -mabi=ilp32"
SAMPLE = "sine"
MIRROR_PAD = "namespace KERNELS { void Register_MIRROR_PAD() {} }\n"
MESSAGE = 'extern "C" const char *const text = "Failed to resize buffer. Requested: %u, available %u, missing: %u";'


def needed(preset: str, kernels: str = "reference") -> int:
    """Return the smallest arena for the sample, a multiple of 16."""
    smallest = simulate(load(sample_path(SAMPLE)), preset, kernels=kernels).smallest
    assert smallest is not None
    return smallest.multiple_of_16


def program(
    tmp_path: Path, compiler: str, arena_size: int, *flags: str, extra: str = "", message: str = MESSAGE
) -> Path:
    """Return a linked program with the structs of TFLM, the sample, an arena and the operators that it needs."""
    if not elf_program.is_there(compiler):
        pytest.skip(f"{compiler.split()[0]} not installed")
    rows = elf_program.all_structs()
    named = [name for name in rows if "." not in name and "::" not in name]
    source = elf_program.source_of(elf_program.in_order(rows, named))
    source += elf_program.model_source("g_model", SAMPLE) + message + extra
    source += f"namespace {{ alignas(16) __attribute__((used)) unsigned char tensor_arena[{arena_size}]; }}\n"
    source += "namespace KERNELS { void Register_FULLY_CONNECTED() {} }\nint main() { return 0; }\n"
    conv = elf_program.own_struct(rows["concatenation.OpData"], rows)
    kernel = "tensorflow/lite/micro/kernels/concatenation.cc"
    return elf_program.build(tmp_path, compiler, {"main.cc": source, kernel: conv}, *flags)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["firmware", *arguments])
    out = capsys.readouterr()
    return code, out.out or out.err


def answer(text: str) -> str:
    return text.splitlines()[0]


@pytest.mark.parametrize(("compiler", "preset"), [(ARM, "cortex-m4"), (RISCV, "riscv32")])
def test_an_arena_with_room_to_spare_can_be_given_back(
    compiler: str, preset: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    size = needed(preset)
    elf = program(tmp_path, compiler, size + 4096, "-g")
    code, text = run(capsys, str(elf))
    assert code == 3
    assert answer(text).startswith("yes, if tensor_arena is its arena: model g_model (")
    assert answer(text).endswith(f"in tensor_arena ({size + 4096:,} B): needs {size:,} B; you can give back 4,096 B")
    assert "all structs have their sizes of then" in text


def test_an_arena_that_is_too_small_is_told_with_what_the_device_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    size = needed("cortex-m4")
    elf = program(tmp_path, ARM, size - 160, "-g", "-Wl,--defsym=_estack=0x80000", "-Wl,--defsym=_Min_Stack_Size=1024")
    code, text = run(capsys, str(elf))
    assert code == 3
    assert f"in tensor_arena ({size - 160:,} B): too small by " in answer(text)
    assert "AllocateTensors() will fail and print `" in answer(text)
    assert answer(text).endswith(f"set {size:,} B")
    assert "B of RAM are free" in answer(text)
    row, *lines = text[text.index("RAM  ") :].splitlines()
    bar = " ".join(lines[:2])
    assert bar.startswith(f"            arena █ {size - 160:,} B  static data █ ")
    parts = [int(number.replace(",", "")) for number in re.findall(r"█ ([\d,]+) B", bar)]
    start = int(re.findall(r"0x[0-9a-f]+", row)[0], 16)
    assert parts[2] == 1024  # the stack
    assert 0 <= 0x80000 - start - sum(parts) < 32  # but for the gap that aligns the heap's start


def test_the_page_says_of_the_file_what_the_verb_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = OpenModels()
    for spare in (4096, -160):
        elf = program(tmp_path, ARM, needed("cortex-m4") + spare, "-g")
        verdict, _, *facts, _, settled = run(capsys, str(elf))[1].splitlines()
        (entry,) = json.loads(models.add(str(elf), elf.read_bytes()))
        # What was set for the models of the visit is no word about a program that says it itself.
        (row,) = json.loads(
            models.firmware(entry["firmware"], json.dumps({"target": "esp32", "library": "2023-06-15"}))
        )
        assert (row["answer"], row["fits"], row["verdicts"], row["facts"]) == ("if", None, [verdict], facts)
        assert settled.endswith(f": tflm-sim firmware {elf} --run")


def test_the_page_says_what_is_missing_in_a_program(tmp_path: Path) -> None:
    elf = elf_program.build(tmp_path, ARM, {"main.cc": "int main() { return 0; }"}, "-g")
    models = OpenModels()
    (entry,) = json.loads(models.add("app.elf", elf.read_bytes()))
    (row,) = json.loads(models.firmware(entry["firmware"], "{}"))
    assert row == {"name": "app.elf", "error": "there is no model in it (no TFL3 flatbuffer can be read)"}
    (broken,) = json.loads(models.add("half.elf", elf.read_bytes()[:60]))
    assert broken["error"].startswith("half.elf: ")


def test_stripped_messages_are_not_promised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elf = program(tmp_path, ARM, needed("cortex-m4") - 160, "-g", message="")
    code, text = run(capsys, str(elf))
    assert code == 3
    assert "AllocateTensors() will fail without a message" in answer(text)


def test_an_operator_that_is_not_registered_is_a_no(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elf = program(tmp_path, ARM, 65536, "-g")
    code, text = run(capsys, str(elf), "--model", "sample:mobilenet_v1_025")
    assert code == 1
    assert "not registered: DEPTHWISE_CONV_2D, " in answer(text)
    assert "will fail and print `Didn't find op for builtin opcode 'DEPTHWISE_CONV_2D'`" in answer(text)


def test_a_model_that_never_invokes_is_a_no(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder = ModelBuilder()
    tensor, result = (builder.tensor((4, 4), TensorType.INT16, scale=0.5) for _ in range(2))
    paddings = builder.tensor((2, 2), TensorType.INT32, data=bytes(16))
    builder.operator("MIRROR_PAD", [tensor, paddings], [result])
    model = tmp_path / "mirror.tflite"
    model.write_bytes(builder.build(inputs=[tensor], outputs=[result]))
    code, text = run(capsys, str(program(tmp_path, ARM, 4096, "-g", extra=MIRROR_PAD)), "--model", str(model))
    assert (code, answer(text).startswith("no")) == (3, True)
    assert answer(text).endswith("allocates, but Invoke() fails: #0 MIRROR_PAD: INT16 is not supported")


def test_the_document_holds_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    size = needed("cortex-m4")
    code, text = run(capsys, str(program(tmp_path, ARM, size, "-g")), "--json")
    document = json.loads(text)
    jsonschema.validate(document, published("firmware"))
    assert code == 3
    assert document["models"][0]["symbol"] == "g_model"
    assert document["models"][0]["size"] == len(sample_path(SAMPLE).read_bytes())
    assert document["arenas"][0]["size"] == size
    assert document["verdicts"][0]["smallest_arena_multiple_of_16"] == size
    assert document["mismatches"] == []
    assert document["operators"] == ["FULLY_CONNECTED"]


def test_a_struct_of_another_size_is_used_as_measured_and_its_rules_are_called_assumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = elf_program.all_structs()
    elf = program(tmp_path, ARM, 65536, "-g")
    before = json.loads(run(capsys, str(elf), "--json")[1])["verdicts"][0]["smallest_arena"]
    source = (
        (tmp_path / "main.cc").read_text().replace("struct MicroAllocator {", "struct MicroAllocator { int more[4];")
    )
    kernel = "tensorflow/lite/micro/kernels/concatenation.cc"
    changed = elf_program.build(
        tmp_path, ARM, {"main.cc": source, kernel: elf_program.own_struct(rows["concatenation.OpData"], rows)}, "-g"
    )
    document = json.loads(run(capsys, str(changed), "--json")[1])
    assert [row["struct"] for row in document["mismatches"]] == ["MicroAllocator", "RecordingMicroAllocator"]
    assert document["verdicts"][0]["smallest_arena"] == before + 16
    tflm = next(ground for ground in document["grounds"] if ground["part"] == "TFLM")
    assert tflm["how"] == "assumed"


def test_without_debug_information_and_symbols_the_kernels_are_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    size = needed("cortex-m4")
    elf = program(tmp_path, ARM, size, "-s")
    code, text = run(capsys, str(elf))
    assert (code, "name them with --kernels" in text) == (3, True)
    code, text = run(capsys, str(elf), "--kernels", "reference")
    assert code == 3
    assert "needs 1,104 B; which arena it gets is not said" in answer(text)  # int enums: 1,100
    code, text = run(capsys, str(elf), "--kernels", "reference", "--limit", str(size))
    assert code == 3
    assert "structs     assumed: " in text
    assert "short enums: 1,016 B, which fits" in answer(text)
    assert "int enums: 1,100 B, which does not fit" in answer(text)
    assert "; say it with --runtime or --target; all of this, if it has one arena" in answer(text)
    assert answer(text).endswith(" and it makes no RecordingMicroInterpreter")
    named = ["--runtime", "2022-06-14", "--target", "cortex-m4", "--interpreter", "plain"]
    code, text = run(capsys, str(elf), "--kernels", "reference", "--limit", str(size), *named)
    assert code == 3
    assert "TFLM        named: 2022-06-14 (as named)" in text


def test_where_reading_leaves_a_doubt_the_last_line_is_the_command_that_executes_the_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a b").mkdir()
    elf = str(program(tmp_path / "a b", ARM, 4096, "-g"))

    def last(*arguments: str) -> str:
        text = run(capsys, elf, *arguments)[1]
        assert json.loads(run(capsys, elf, *arguments, "--json")[1])["settled_by"] == text.splitlines()[
            -1
        ].removeprefix("this settles it: ")
        return text.splitlines()[-1]

    begin = "this settles it: tflm-sim firmware"
    assert last() == last("--model", "g_model") == f"{begin} '{elf}' --run"
    assert last("--model", f"sample:{SAMPLE}") == f"{begin} '{elf}' --run --model sample:{SAMPLE}"
    subprocess.run(["arm-none-eabi-strip", elf], check=True)
    assert last() == f"{begin} '{elf}' --run"  # which kernels it has cannot be told


def test_nothing_is_to_be_executed_where_the_file_says_all_or_no_emulator_has_its_core(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elf = program(tmp_path, ARM, 4096, "-g")
    code, text = run(capsys, str(elf), "--arena-symbol", "tensor_arena", "--planner", "greedy")
    assert (code, text.startswith("yes: "), "--run" in text) == (0, True, False)
    code, text = run(capsys, str(program(tmp_path, "xtensa-lx106-elf-g++", 4096, "-g")))
    assert (code, text.startswith("yes, if "), "--run" in text) == (3, True, False)


@pytest.mark.parametrize("form", ["binary", "ihex"])
def test_what_is_flashed_holds_the_model_too(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    size = needed("cortex-m4")
    elf = program(tmp_path, ARM, size, "-g")
    flashed = tmp_path / "app.out"
    subprocess.run(["arm-none-eabi-objcopy", "-O", form, "-j", ".rodata", str(elf), str(flashed)], check=True)
    code, text = run(capsys, str(flashed))
    assert (code, "name the machine with --target" in text) == (3, True)
    code, text = run(capsys, str(flashed), "--target", "cortex-m4", "--kernels", "reference", "--limit", str(size))
    assert code == 3
    assert " and it makes no RecordingMicroInterpreter: model at " in answer(text)
    code, text = run(capsys, str(flashed), "--target", "cortex-m4", "--kernels", "reference", "--limit", "1200")
    assert (code, "RecordingMicroInterpreter" in answer(text)) == (3, False), "which has room, too"
    named = ["--target", "cortex-m4", "--kernels", "reference", "--limit", str(size), "--interpreter", "plain"]
    code, text = run(capsys, str(flashed), *named)
    assert code == 3
    assert f"in an arena ({size:,} B): needs {size:,} B, all of it" in answer(text)


def test_a_target_that_contradicts_the_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, str(program(tmp_path, ARM, 65536, "-g")), "--target", "esp32")
    assert code == 2
    assert "has aapcs" in text


def test_esp_nn_and_an_arena_on_the_heap_are_recognised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    functions = "void esp_nn_conv_s8_esp32s3() {} void esp_nn_add_elementwise_s8_ansi() {}"
    extra = f'extern "C" {{ {functions} }}\nnamespace {{ __attribute__((used)) unsigned char *model_arena; }}\n'
    elf = program(tmp_path, "xtensa-lx106-elf-g++", 100, "-g", extra=extra)
    code, text = run(capsys, str(elf))
    assert code == 3
    assert "kernels     concluded: esp_nn@" in text
    assert "(esp32s3)" in text
    assert "arena       model_arena is a pointer: its arena is allocated at run time, say --limit N" in text


@pytest.mark.parametrize("proof", [
    'extern "C" void sli_mvp_ml_conv2d_s8() {} extern "C" void arm_softmax_s8() {}',
    'namespace { __attribute__((used)) const char *check = "sli_mvp_ml_conv2d_s8(&data->op_params)"; }',
])  # fmt: skip
def test_the_mvps_kernels_need_the_sdk_that_they_come_with(
    proof: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elf = str(program(tmp_path, ARM, 65536, "-g", extra=proof))
    code, text = run(capsys, elf, "--target", "cortex-m33")
    assert code == 3
    assert "links the kernels of Silicon Labs' MVP (" in text
    assert "name one of them: --library silabs-gsdk or simplicity-sdk" in text
    code, text = run(capsys, elf, "--library", "silabs-gsdk")
    assert code == 3
    assert "kernels     concluded: mvp@4.4.1" in text
    code, text = run(capsys, elf, "--library", "silabs-gsdk", "--kernels", "cmsis_nn")
    assert code == 2
    assert "--kernels cmsis_nn: app.elf links mvp (" in text


ESP_FUNCTIONS = 'extern "C" { void esp_nn_conv_s8_opt() {} void esp_nn_add_elementwise_s8_ansi() {} }'


def test_a_verdict_for_an_esp32_hangs_on_the_version_of_esp_nn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The model asks ESP-NN for the same in all versions that are modelled; what 1.3.2 to 1.5.0 ask for is not known.
    elf = str(program(tmp_path, RISCV, 65536, extra=ESP_FUNCTIONS))
    _, text = run(capsys, elf, "--target", "esp32-c3")
    assert "ESP-NN is 1.3.1" in text.splitlines()[0]
    _, text = run(capsys, elf, "--target", "esp32-c3", "--kernels", "esp_nn@1.3.1")
    assert "ESP-NN is" not in text.splitlines()[0]


@pytest.mark.parametrize("option", ["--library", "--runtime"])
def test_a_release_of_esp_tflite_micro_can_be_named(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elf = program(tmp_path, RISCV, 65536, extra=ESP_FUNCTIONS)
    code, text = run(capsys, str(elf), option, "esp-tflite-micro@1.3.5", "--json")
    assert code == 3
    document = json.loads(text)
    grounds = {ground["part"]: ground["value"] for ground in document["grounds"]}
    assert grounds["TFLM"] == "esp-tflite-micro@1.3.5"
    assert grounds["kernels"].startswith("esp_nn@")
    assert main(["size", f"sample:{SAMPLE}", "--library", "esp-tflite-micro@1.3.5", "--jsonl"]) == 0
    smallest = json.loads(capsys.readouterr().out)["smallest_arena_bytes"]
    assert smallest == 1100
    assert document["verdicts"][0]["smallest_arena"] == smallest


def test_the_releases_that_a_file_with_esp_nn_fits_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, str(program(tmp_path, RISCV, 65536, extra=ESP_FUNCTIONS)))
    assert code == 3
    assert "(esp-tflite-micro@1.2.0 and newer: " in text
    assert "esp-tflite-micro@1.2.0 to esp-tflite-micro@1.3.1: 1,088 B" in text


def test_a_library_says_the_kernels_that_the_file_does_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elf = program(tmp_path, ARM, 65536, "-s")
    code, text = run(capsys, str(elf), "--library", "chirale", "--limit", "64KiB")
    assert code == 3
    assert "cmsis_nn@e98ee09 (dsp)" in text
    assert "chirale@2.0.0" in text


def test_a_library_with_other_kernels_than_the_file_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elf = program(tmp_path, ARM, 65536, extra='extern "C" void arm_convolve_s8() {}')
    code, text = run(capsys, str(elf), "--library", "esp-tflite-micro")
    assert code == 2
    assert "--library esp-tflite-micro@1.4.0 brings esp_nn; " in text


def test_a_library_and_a_runtime_are_one_too_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, str(program(tmp_path, ARM, 65536)), "--library", "zephyr", "--runtime", "2024-06-24")
    assert code == 2
    assert "remove --runtime" in text


OTHER_ARENA = "namespace { alignas(16) __attribute__((used)) unsigned char other_arena[8192]; }\n"


def test_of_several_arenas_one_must_be_named_where_it_matters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elf = program(tmp_path, ARM, 512, "-g", extra=OTHER_ARENA)
    code, text = run(capsys, str(elf))
    assert (code, "; say it with --arena-symbol" in answer(text)) == (3, True)
    code, text = run(capsys, str(elf), "--arena-symbol", "other_arena")
    assert (code, "in other_arena (8,192 B)" in answer(text)) == (0, True)
    code, text = run(capsys, str(elf), "--arena-symbol", "nobody")
    assert (code, "there is no object named nobody" in text) == (3, True)


def test_an_answer_that_holds_for_each_arena_needs_no_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    size = needed("cortex-m4")
    code, text = run(capsys, str(program(tmp_path, ARM, 4096, "-g", extra=OTHER_ARENA)))
    assert code == 3
    assert f"needs {size:,} B, which each of them has: " in answer(text)
    assert "tensor_arena (4,096 B)" in answer(text)
    assert "other_arena (8,192 B)" in answer(text)
    code, text = run(capsys, str(program(tmp_path, ARM, 512, "-g", extra=OTHER_ARENA.replace("8192", "768"))))
    assert code == 3
    assert f"needs {size:,} B, more than any of them has: " in answer(text)


def test_other_verbs_take_the_firmware_as_their_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elf = program(tmp_path, ARM, 4096, "-g")
    size = needed("cortex-m4")
    assert main(["check", f"sample:{SAMPLE}", "--firmware", str(elf), "--limit", str(size)]) == 3
    assert main(["check", f"sample:{SAMPLE}", "--firmware", str(elf), "--limit", str(size - 16)]) == 3
    capsys.readouterr()
    assert main(["size", f"sample:{SAMPLE}", "--firmware", str(elf)]) == 3
    answered, first, about, *_ = capsys.readouterr().out.splitlines()
    assert answered.startswith("needs 1,072 B, if ")
    assert first.endswith(" on app.elf")
    assert about.endswith(", reference kernels")
    assert main(["list", "ops", "--firmware", str(elf)]) == 0
    assert "FULLY_CONNECTED" in capsys.readouterr().out
    assert main(["lite", f"sample:{SAMPLE}", "--firmware", str(elf)]) == 0
    assert "TFLM on app.elf needs " in capsys.readouterr().out


def test_shrink_takes_one_firmware_as_its_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    elf = program(tmp_path, ARM, 4096, "-g")
    assert main(["shrink", f"sample:{SAMPLE}", "--firmware", str(elf)]) == 3
    assert "app.elf" in capsys.readouterr().out
    assert main(["shrink", f"sample:{SAMPLE}", "--firmware", str(elf), "--prove", "0"]) == 3
    assert "not proved: it does not run in " in capsys.readouterr().err
    two = ("--target", "cortex-m4", "--target", "esp32")
    assert main(["shrink", f"sample:{SAMPLE}", "--firmware", str(elf), *two]) == 2
    assert "--firmware selects one target" in capsys.readouterr().err


def test_what_a_program_leaves_open_is_kept_by_other_verbs_in_words_and_in_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without debug information the sizes of enums are open: 1,068 B if they are short, 1,100 B if they are ints."""
    given = [f"sample:{SAMPLE}", "--firmware", str(program(tmp_path, ARM, 4096)), "--kernels", "reference"]
    given += ["--runtime", "90b983c2b", "--interpreter", "plain"]
    said = "the file leaves open which it is: short enums: 1,068 B; int enums: 1,100 B"
    listed = [{"case": "short enums", "smallest_arena": 1068}, {"case": "int enums", "smallest_arena": 1100}]
    for limit, said_of_it in ((1067, "if"), (1068, "cannot tell"), (1099, "cannot tell"), (1100, "if")):
        assert main(["check", *given, "--limit", str(limit)]) == 3
        assert (said in capsys.readouterr().out) == (said_of_it == "cannot tell"), limit
        assert main(["check", *given, "--limit", str(limit), "--json"]) == 3
        document = json.loads(capsys.readouterr().out)
        assert document["candidates"] == listed
        assert document["answer"] == said_of_it
        assert document["fits"] is None
    assert main(["size", *given]) == 3
    assert said in capsys.readouterr().out
    assert main(["size", *given, "--json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert (document["candidates"], document["smallest_arena_bytes"]) == (listed, 1100)
    assert main(["report", *given, "-o", str(tmp_path / "report.json"), "--format", "json"]) == 3
    assert said in capsys.readouterr().err
    picture = json.loads((tmp_path / "report.json").read_text())["pictures"][0]
    assert (picture["size"]["candidates"], picture["size"]["smallest_arena_bytes"]) == (listed, 1100)


def test_a_report_with_candidates_has_a_picture_for_each_figure_that_a_program_leaves_possible(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which enums is open: 1,100 B or 1,068 B, the larger first; a program with debug information tells."""

    def pictures(*flags: str) -> list[tuple[str, int]]:
        out = tmp_path / "report.json"
        given = [f"sample:{SAMPLE}", "--firmware", str(program(tmp_path, ARM, 4096, *flags)), "--kernels", "reference"]
        given += ["--runtime", "90b983c2b", "--interpreter", "plain", "--candidates", "--format", "json"]
        assert main(["report", *given, "-o", str(out)]) == 3
        capsys.readouterr()
        return [
            (each["title"], each["size"]["smallest_arena_bytes"]) for each in json.loads(out.read_text())["pictures"]
        ]

    assert pictures() == [("int enums", 1100), ("short enums", 1068)]
    assert [size for _, size in pictures("-g")] == [1068]


def test_shrink_has_a_row_for_each_figure_that_a_program_leaves_possible(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing makes the sample smaller, so it stays at 1,068 B with short enums and 1,100 B with ints."""
    elf = str(program(tmp_path, ARM, 4096))
    assert main(["shrink", f"sample:{SAMPLE}", "--firmware", elf, "--kernels", "reference", "--prove", "0"]) == 1
    lines = (re.split(" {2,}", line) for line in capsys.readouterr().out.splitlines() if "enums" in line)
    rows = {name: arena for name, arena, *_ in lines}
    assert rows["app.elf, TFLM 389e775e8 to TFLM 90b983c2b, short enums"] == "1,068 -> 1,068"
    assert rows["app.elf, TFLM 389e775e8 to TFLM 90b983c2b, int enums"] == "1,100 -> 1,100"
    assert (
        main(["shrink", f"sample:{SAMPLE}", "--firmware", elf, "--kernels", "reference", "--prove", "0", "--json"]) == 1
    )
    targets = json.loads(capsys.readouterr().out)["targets"]
    found = {row["case"]: row["after"]["smallest_arena_bytes"] for row in targets}
    assert found["TFLM 90b983c2b, short enums"] == 1068
    assert found["TFLM 90b983c2b, int enums"] == 1100
