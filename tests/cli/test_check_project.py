"""``check FOLDER`` of an Arduino sketch, a PlatformIO or an ESP-IDF project, and of a wake word's manifest."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.samples import sample_path

SINE = sample_path("sine").read_bytes()
MODEL = f"alignas(16) const unsigned char g_model[] = {{{', '.join(map(str, SINE))}}};\n"
SKETCH = """#include <Chirale_TensorFlowLite.h>
#include "config.h"
namespace {
// constexpr int kTensorArenaSize = 99 * 1024;
constexpr int kTensorArenaSize = 2 * KB + kMore;
alignas(16) uint8_t tensor_arena[kTensorArenaSize];
}  // namespace
void setup() {
  model = tflite::GetModel(g_model);
  static tflite::MicroMutableOpResolver<kOperators> resolver;
  resolver.AddFullyConnected();
  static tflite::MicroInterpreter interpreter(model, resolver, tensor_arena, kTensorArenaSize);
}
"""
CONFIG = "#define KB 1024\nconst size_t kMore = 0x10;\nenum { kOperators = 1 };\n"


@pytest.fixture(autouse=True)
def parser() -> None:
    pytest.importorskip("tree_sitter_cpp")


@pytest.fixture
def sketch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "sine"
    folder.mkdir()
    for name, text in {"sine.ino": SKETCH, "config.h": CONFIG, "model.cpp": MODEL}.items():
        (folder / name).write_text(text)
    return folder


def change(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


def checked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main(["check", *arguments])
    return code, capsys.readouterr().out


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    return json.loads(checked(capsys, *arguments, "--json")[1])


def test_a_sketch_that_fits_is_a_yes_and_the_first_line_says_what_it_is(
    sketch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = checked(capsys, "sine", "--board", "nano33ble")
    lines = out.splitlines()
    assert code == 0
    assert lines[0] == "sine is an Arduino sketch"
    assert lines[1].startswith("yes: needs 1,152 B of 2,064 B, 912 B to spare")
    assert "model      sine/model.cpp:g_model" in lines
    assert "arena      2,064 B, kTensorArenaSize (sine.ino:5)" in lines
    assert "library    chirale (#include <Chirale_TensorFlowLite.h>)" in lines
    assert "resolver   N is 1, kOperators (config.h:3)" in lines
    assert "on cortex-m4" not in out
    assert "+++" not in out


def test_a_sketch_is_named_by_its_file_too_and_other_verbs_say_which_one_reads_it(
    sketch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    named = [checked(capsys, name, "--board", "nano33ble") for name in ("sine", "sine/sine.ino")]
    assert named[0] == named[1]
    for name in ("sine", "sine/sine.ino"):
        assert main(["shrink", name]) == 3
        said = f"tflm-sim shrink: {name}: this is an Arduino sketch: 'tflm-sim check {name}'\n"
        assert capsys.readouterr().err == said


def test_its_models_are_sized_for_the_library_that_its_sources_name(
    sketch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["size", "sine", "--board", "nano33ble"]) == 0
    out, err = capsys.readouterr()
    assert "TFLM of 2023-01-13 (chirale-2.0.0), cmsis_nn@e98ee09 (dsp) kernels" in out
    assert "sine is an Arduino sketch, so this is for chirale (#include <Chirale_TensorFlowLite.h>)\n" in err
    assert main(["size", "sine", "--board", "nano33ble", "--library", "ArduTFLite.h"]) == 0
    assert "so this is for" not in capsys.readouterr().err


def test_an_operator_that_is_missing_gets_a_line_as_far_in_as_the_line_of_the_others(
    sketch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(sketch / "sine.ino", "resolver.AddFullyConnected();", "resolver.AddSoftmax(); resolver.AddReshape();")
    assert "\n+  resolver.AddFullyConnected();\n" in checked(capsys, "sine", "--board", "nano33ble")[1]


def test_one_project_is_checked_at_a_time_and_what_is_for_a_model_is_refused(
    sketch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "sine", "sine"]) == 2
    assert capsys.readouterr().err.startswith("tflm-sim check: one project at a time, with one model: ")
    assert main(["check", "sine", "--board", "nano33ble", "--beside", "ble"]) == 2
    assert "sine is an Arduino sketch: --beside is for a model; name that" in capsys.readouterr().err


def test_a_sketch_that_does_not_fit_names_the_command_that_makes_its_model_smaller(
    sketch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(sketch / "config.h", "KB 1024", "KB 500")
    _, out = checked(capsys, "sine", "--board", "nano33ble")
    command = "tflm-sim shrink sine/model.cpp:g_model --board nano33ble --library chirale --goal 1016"
    assert f"this looks for rewritings that need less, with the same outputs:\n  {command}\n" in out
    assert main(command.split()[1:]) in (0, 1)


def test_without_a_verb_a_project_is_checked(sketch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sine", "--board", "nano33ble"]
    assert main(words) == 0
    said = capsys.readouterr()
    assert said.err == "sine is an Arduino sketch, so this is: tflm-sim check sine --board nano33ble\n"
    assert "yes: needs 1,152 B" in said.out


def test_a_folder_that_is_no_project_is_all_models_in_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.tflite").write_bytes(SINE)
    (tmp_path / "b.tflite").write_bytes(SINE)
    code, out = checked(capsys, str(tmp_path), "--limit", "64KiB")
    assert code == 0
    assert out.splitlines()[0] == f"{tmp_path} is no project that uses TFLM, so these are all models in it"
    assert "yes: all 2 fit" in out


def test_an_arena_that_is_too_small_is_a_no_and_the_patch_has_the_size(
    sketch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(sketch / "sine.ino", "2 * KB + kMore", "1 << 10")
    code, out = checked(capsys, "sine", "--board", "nano33ble")
    assert code == 1
    assert "no: needs 1,152 B, 128 B more than 1,024 B" in out
    assert "-constexpr int kTensorArenaSize = 1 << 10;\n+constexpr int kTensorArenaSize = 1152;\n" in out


def test_a_missing_operator_is_a_no_and_fix_writes_what_then_fits(
    sketch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = "  if (resolver.AddSoftmax() != kTfLiteOk) {\n    return;\n  }\n  resolver.AddReshape();\n"
    change(sketch / "sine.ino", "  resolver.AddFullyConnected();\n", calls)
    change(sketch / "config.h", "kOperators = 1", "kOperators = 8")
    code, out = checked(capsys, "sine", "--board", "nano33ble", "--fix")
    assert code == 1
    assert "no: the resolver registers no FullyConnected" in out
    assert "superfluous: AddSoftmax, AddReshape" in out
    text = (sketch / "sine.ino").read_text()
    assert text == SKETCH
    assert (sketch / "config.h").read_text() == CONFIG
    assert checked(capsys, "sine", "--board", "nano33ble")[0] == 0


@pytest.mark.parametrize(("before", "after"), [
    ("sizeof(arena)", "sizeof(arena)"),
    ("1024", "1152"),
])  # fmt: skip
def test_the_array_of_an_arena_grows_with_the_size(
    before: str, after: str, sketch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "#include <ArduTFLite.h>\nalignas(16) byte arena[1024];\nvoid setup() {{ modelInit(g_model, arena, {}); }}\n"
    (sketch / "sine.ino").write_text(text.format(before))
    assert checked(capsys, "sine", "--board", "nano33ble", "--fix")[0] == 1
    assert (sketch / "sine.ino").read_text() == text.format(after).replace("[1024]", "[1152]")


def test_a_size_whose_memory_is_not_found_is_not_changed(sketch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    setup = "arena = malloc(1024); modelInit(g_model, arena, 1024);"
    (sketch / "sine.ino").write_text(f"#include <ArduTFLite.h>\nbyte* arena;\nvoid setup() {{ {setup} }}\n")
    code, out = checked(capsys, "sine", "--board", "nano33ble")
    assert code == 1
    assert "+++" not in out


def test_an_arena_that_is_not_aligned_may_lose_15_bytes(sketch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(sketch / "sine.ino", "alignas(16) ", "")
    change(sketch / "model.cpp", "alignas(16) ", "")
    change(sketch / "sine.ino", "2 * KB + kMore", "1152")
    code, out = checked(capsys, "sine", "--board", "nano33ble")
    assert code == 3
    assert "yes, if the arena begins at a multiple of 16 (alignas(16)): needs 1,152 B of 1,152 B" in out
    change(sketch / "sine.ino", "1152", "1000")
    assert "+constexpr int kTensorArenaSize = 1168;" in checked(capsys, "sine", "--board", "nano33ble", "--fix")[1]
    assert checked(capsys, "sine", "--board", "nano33ble")[0] == 0


def test_operators_of_several_resolvers_are_not_compared(sketch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (sketch / "other.cpp").write_text("static tflite::MicroMutableOpResolver<2> other;\nvoid f() { other.AddAbs(); }\n")
    code, out = checked(capsys, "sine", "--board", "nano33ble")
    assert code == 0
    assert "which resolver is the model's" in out
    assert "+++" not in out


def test_of_several_models_the_one_that_is_named_has_the_arena_of_the_file_that_loads_it(
    sketch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = SKETCH.replace("g_model", "g_other").replace("2 * KB + kMore", "99").replace("setup", "other")
    (sketch / "other.cpp").write_text(other)
    residual = sample_path("residual").read_bytes()
    (sketch / "other_model.cpp").write_text(MODEL.replace("g_model", "g_other").replace(
        ", ".join(map(str, SINE)), ", ".join(map(str, residual))))  # fmt: skip
    code, out = checked(capsys, "sine", "--board", "nano33ble")
    assert code == 3
    assert "sine.ino:5 has 2,064" in out
    assert "other.cpp:5 has 99" in out
    code, out = checked(capsys, "sine", "sine/model.cpp", "--board", "nano33ble")
    assert code == 0
    assert "yes: needs 1,152 B of 2,064 B" in out


def test_a_byte_order_mark_hides_nothing_and_stays(sketch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mark = b"\xef\xbb\xbf"
    for name in ("sine.ino", "config.h"):
        (sketch / name).write_bytes(mark + (sketch / name).read_bytes())
    change(sketch / "sine.ino", "2 * KB + kMore", "64")
    code, out = checked(capsys, "sine", "--board", "nano33ble", "--fix")
    assert code == 1
    assert "library    chirale (#include <Chirale_TensorFlowLite.h>)" in out
    wanted = SKETCH.replace("2 * KB + kMore", "1152").encode()
    assert (sketch / "sine.ino").read_bytes() == mark + wanted


def test_nothing_is_written_without_fix(sketch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(sketch / "sine.ino", "AddFullyConnected", "AddSoftmax")
    before = (sketch / "sine.ino").read_bytes()
    code, out = checked(capsys, "sine")
    assert code == 1
    assert "--fix writes these changes" in out
    assert (sketch / "sine.ino").read_bytes() == before


def test_an_n_that_leaves_no_room_for_an_operator_is_a_no(sketch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(sketch / "sine.ino", "  resolver.AddFully", "  resolver.AddSoftmax();\n  resolver.AddFully")
    found = document(capsys, "sine", "--board", "nano33ble")
    assert found["answer"] == "no"
    assert found["reason"] == "MicroMutableOpResolver<1> has no room for AddFullyConnected: N must be 1"
    assert found["project"]["superfluous"] == ["AddSoftmax"]  # type: ignore[index]


def test_statements_with_several_calls_are_left_and_n_has_room_for_all(
    sketch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = "if (resolver.AddSoftmax() != kTfLiteOk || resolver.AddFullyConnected() != kTfLiteOk) return;"
    change(sketch / "sine.ino", "resolver.AddFullyConnected();", both)
    code, out = checked(capsys, "sine", "--board", "nano33ble")
    assert code == 1
    assert "+enum { kOperators = 2 };" in out
    assert "-  if" not in out


def test_what_is_not_found_is_asked_for_by_name(sketch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(sketch / "config.h", "#define KB 1024\n", "")
    (sketch / "model.cpp").unlink()
    change(sketch / "sine.ino", "#include <Chirale_TensorFlowLite.h>", "#include <TensorFlowLite.h>")
    code, out = checked(capsys, "sine")
    assert code == 3
    assert "cannot be told: the model was not found" in out
    assert "the arena's size (--limit): 'KB' is defined nowhere in the project (sine.ino:12)" in out
    assert "the library (--library), one of tflite-micro-arduino-examples, Arduino_TensorFlowLite, " in out
    assert "the board (--board)" in out
    (sketch.parent / "other.tflite").write_bytes(SINE)
    named = ["sine", "other.tflite", "--limit", "2K", "--library", "chirale", "--board", "nano33ble"]
    code, out = checked(capsys, *named)
    assert code == 0
    assert "not found" not in out


def test_a_macro_that_nobody_defined_is_a_doubt_where_it_decides(
    sketch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    size = (
        "#if CONFIG_SMALL\nconstexpr int kTensorArenaSize = 1024;\n"
        "#else\nconstexpr int kTensorArenaSize = 4096;\n#endif"
    )
    change(sketch / "sine.ino", "constexpr int kTensorArenaSize = 2 * KB + kMore;", size)
    code, out = checked(capsys, "sine", "--board", "nano33ble")
    assert code == 3
    assert "yes, if CONFIG_SMALL is not defined, with which the arena has 1,024 B" in out


def test_a_platformio_project_names_library_version_board_and_macros(
    sketch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (sketch / "platformio.ini").write_text(
        "[platformio]\ndefault_envs = s3\n[env:other]\nboard = pico\n[env:s3]\nboard = esp32-s3-devkitc-1\n"
        "lib_deps =\n  knolleary/PubSubClient@2.8\n  eloquentarduino/tflm_esp32@2.0.0\nbuild_flags = -D KB=2048 -DX\n"
    )
    change(sketch / "config.h", "#define KB 1024\n", "")
    found = document(capsys, "sine")
    project = found["project"]
    assert isinstance(project, dict)
    assert project["kind"] == "a PlatformIO project"
    assert project["library"] == {"text": "tflm_esp32 2.0.0", "place": "platformio.ini"}
    assert project["board"] == {"text": "esp32-s3-devkitc-1", "place": "platformio.ini"}
    assert project["arena_bytes"] == 2 * 2048 + 16
    assert found["target"]["name"].startswith("esp32-s3")  # type: ignore[index]
    assert found["answer"] == "yes"


def test_an_esp_idf_project_names_what_was_locked(sketch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (sketch / "sine.ino").rename(sketch / "main.cc")
    (sketch / "CMakeLists.txt").write_text("include($ENV{IDF_PATH}/tools/cmake/project.cmake)\n")
    (sketch / "idf_component.yml").write_text('dependencies:\n  espressif/esp-tflite-micro: "^1.3.0"\n')
    (sketch / "dependencies.lock").write_text(
        "dependencies:\n  espressif/esp-nn:\n    component_hash: a\n"
        "    source:\n      type: service\n    version: 1.1.2\n"
        "  espressif/esp-tflite-micro:\n    dependencies:\n    - name: espressif/esp-nn\n      version: ^1.1.1\n"
        "    source:\n      type: service\n    version: 1.3.4\ntarget: esp32s3\nversion: 2.0.0\n"
    )
    found = document(capsys, "sine")
    project = found["project"]
    assert isinstance(project, dict)
    assert project["kind"] == "an ESP-IDF project"
    assert project["library"] == {"text": "esp-tflite-micro 1.3.4", "place": "dependencies.lock"}
    assert project["board"] == {"text": "esp32s3", "place": "dependencies.lock"}
    assert found["target"]["kernels"]["version"] == "1.1.2"  # type: ignore[index]
    assert found["answer"] == "yes"


def test_a_range_of_versions_is_a_doubt_where_they_differ(sketch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (sketch / "idf_component.yml").write_text('dependencies:\n  espressif/esp-tflite-micro:\n    version: "^1.3.0"\n')
    assert checked(capsys, "sine", "--board", "esp32-s3")[0] == 0
    change(sketch / "sine.ino", "2 * KB + kMore", "1090")  # 1.3.1 needs 1,088 B, 1.3.2 needs 1,100 B
    code, out = checked(capsys, "sine", "--board", "esp32-s3")
    assert code == 3
    assert "no, if esp-tflite-micro ^1.3.0 asks for the same as esp-tflite-micro@1." in out
    (sketch / "idf_component.yml").write_text('dependencies:\n  espressif/esp-tflite-micro: "1.3.1"\n')
    assert checked(capsys, "sine", "--board", "esp32-s3")[0] == 0


def test_a_library_that_is_not_modelled_is_asked_for(sketch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(sketch / "sine.ino", "Chirale_TensorFlowLite.h", "Adafruit_TFLite.h")
    code, out = checked(capsys, "sine", "--board", "nano33ble")
    assert code == 3
    assert "(--library): Adafruit_TFLite (#include <Adafruit_TFLite.h>) is not modelled" in out
    assert "yes, if it uses tensorflow/tflite-micro itself, the newest" in out


def test_arduino_cli_names_board_and_library_in_sketch_yaml(sketch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (sketch / "sketch.yaml").write_text(
        "profiles:\n  a:\n    fqbn: arduino:mbed_nano:nano33ble\n"
        "    libraries:\n      - Chirale_TensorFLowLite (2.0.0)\n"
        "default_profile: a\n"
    )
    project = document(capsys, "sine")["project"]
    assert isinstance(project, dict)
    assert project["library"] == {"text": "chirale 2.0.0", "place": "sketch.yaml"}
    assert project["board"] == {"text": "arduino:mbed_nano:nano33ble", "place": "sketch.yaml"}


def test_the_arena_of_a_template_and_of_modelinit_is_found(sketch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (sketch / "sine.ino").write_text(
        "#include <tflm_esp32.h>\n#include <eloquent_tinyml.h>\n#define ARENA_SIZE 2*1024\n"
        "Eloquent::TF::Sequential<3, ARENA_SIZE> tf;\nvoid setup() {\n  tf.resolver.AddFullyConnected();\n"
        "  tf.begin(g_model);\n}\n"
    )
    project = document(capsys, "sine")["project"]
    assert isinstance(project, dict)
    assert (project["arena_bytes"], project["resolver_count"]) == (2048, 3)
    assert project["library"]["text"].startswith("EloquentTinyML")
    (sketch / "sine.ino").write_text(
        "#include <ArduTFLite.h>\nalignas(16) byte arena[3000];\n"
        "void setup() { modelInit(g_model, arena, sizeof(arena)); }\n"
    )
    project = document(capsys, "sine")["project"]
    assert isinstance(project, dict)
    assert (project["arena_bytes"], project["has_all_operators"]) == (3000, True)


def test_constants_that_double_each_other_and_headers_in_a_circle_end(
    sketch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    doubled = "".join(f"#define A{n} (A{n + 1} + A{n + 1})\n" for n in range(60)) + "#define A60 1\n"
    change(sketch / "config.h", CONFIG, f'#include "config.h"\n#include "back.h"\n{CONFIG}{doubled}')
    (sketch / "back.h").write_text('#include "config.h"\nconst int kA = kB;\nconst int kB = kA;\n')
    for size, why in (("A0", "is defined by itself"), ("A44", "is too long"), ("kA", "is defined by itself")):
        (sketch / "sine.ino").write_text(SKETCH.replace("2 * KB + kMore", size))
        code, out = checked(capsys, "sine", "--board", "nano33ble")
        assert code == 3
        assert why in out


def test_a_link_that_leads_out_of_the_project_is_not_read(sketch: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (sketch / "model.cpp").rename(sketch.parent / "elsewhere.cpp")
    (sketch / "model.cpp").symlink_to(sketch.parent / "elsewhere.cpp")
    assert "the model was not found" in checked(capsys, "sine")[1]


def test_the_manifest_of_a_wake_word_is_a_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sine.tflite").write_bytes(SINE)
    manifest = tmp_path / "sine.json"
    rows = {"type": "micro", "model": "sine.tflite", "version": 2, "micro": {"tensor_arena_size": 64}}
    manifest.write_text(json.dumps(rows, indent=2))
    code, out = checked(capsys, str(manifest), "--fix")
    assert code == 1
    assert out.splitlines()[0] == f"{manifest} is the manifest of a wake word for ESPHome"
    size = json.loads(manifest.read_text())["micro"]["tensor_arena_size"]
    assert size > 64
    found = document(capsys, str(tmp_path))
    assert (found["fits"], found["smallest_arena_multiple_of_16"]) == (True, size)
    assert found["variable_arena_bytes"] == 1024


def test_a_manifest_does_not_lead_to_another_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sine.tflite").write_bytes(SINE)
    (tmp_path / "words").mkdir()
    manifest = tmp_path / "words" / "sine.json"
    rows = {"type": "micro", "model": "../sine.tflite", "micro": {"tensor_arena_size": 9000}}
    manifest.write_text(json.dumps(rows))
    code, out = checked(capsys, str(manifest))
    assert code == 3
    assert f"the model: tflm-sim check {manifest} MODEL" in out
    assert checked(capsys, str(manifest), str(tmp_path / "sine.tflite"))[0] == 0


def test_on_a_terminal_fix_asks_first(
    sketch: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    change(sketch / "sine.ino", "AddFullyConnected", "AddSoftmax")
    before = (sketch / "sine.ino").read_bytes()
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert main(["check", "sine", "--fix"]) == 1
    assert (sketch / "sine.ino").read_bytes() == before
    assert "write 1 file? [y/N]" in capsys.readouterr().err


def test_fix_is_for_projects_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "sample:sine", "--limit", "64K", "--fix"]) == 2
    assert "--fix needs the folder of a project that uses TFLM" in capsys.readouterr().err
