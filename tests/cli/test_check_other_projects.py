"""``check FOLDER`` of projects of Zephyr, STM32Cube, the Pico SDK, Mbed OS and MicroPython."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.cli import main
from tflm_sim.samples import sample_path

SINE = sample_path("sine").read_bytes()
MODEL = f"alignas(16) const unsigned char g_model[] = {{{', '.join(map(str, SINE))}}};\n"
MAIN = """constexpr int kTensorArenaSize = 2 * 1024;
alignas(16) uint8_t tensor_arena[kTensorArenaSize];
int main() {
  auto* model = tflite::GetModel(g_model);
  static tflite::MicroMutableOpResolver<1> resolver;
  resolver.AddFullyConnected();
  static tflite::MicroInterpreter interpreter(model, resolver, tensor_arena, kTensorArenaSize);
}
"""
ZEPHYR = {"CMakeLists.txt": "find_package(Zephyr REQUIRED HINTS $ENV{ZEPHYR_BASE})\n"}
PICO = {"CMakeLists.txt": "pico_sdk_init()\ntarget_link_libraries(app pico-tflmicro pico_stdlib)\n"}
SETTINGS = "CONFIG_TENSORFLOW_LITE_MICRO=y\n"
COMMIT = "90b983c2b3f1480642e040bbd2ddb37b998f3424"


@pytest.fixture(autouse=True)
def parser() -> None:
    pytest.importorskip("tree_sitter_cpp")


def checked(folder: Path, files: dict[str, str], capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, object]:
    """Return the verdict on a project with these files, a main.cpp and a model."""
    for name, text in {"src/main.cpp": MAIN, "src/model.cc": MODEL, **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    assert main(["check", str(folder), "--json", *more]) in (0, 1, 3)
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def target_of(found: dict[str, object]) -> dict[str, Any]:
    """Return what a verdict is for."""
    target = found["target"]
    assert isinstance(target, dict)
    return target


@pytest.mark.parametrize(
    ("files", "kind", "library", "board"),
    [
        (
            {
                **ZEPHYR,
                "prj.conf": "CONFIG_TENSORFLOW_LITE_MICRO=y\n",
                "west.yml": "manifest:\n  projects:\n    - name: zephyr\n      revision: v4.1.0\n",
                "build/CMakeCache.txt": "BOARD:STRING=nrf52840dk/nrf52840\n",
            },
            "a Zephyr application",
            ("zephyr v4.1.0", "west.yml"),
            ("nrf52840dk/nrf52840", "build/CMakeCache.txt"),
        ),
        (
            {**ZEPHYR, "prj.conf": SETTINGS, ".west/config": "[build]\nboard = nucleo_f746zg\n"},
            "a Zephyr application",
            ("zephyr", "prj.conf"),
            ("nucleo_f746zg", ".west/config"),
        ),
        (
            {**PICO, "build/CMakeCache.txt": "PICO_BOARD:STRING=pico2\n"},
            "a Pico SDK project",
            ("pico-tflmicro", "CMakeLists.txt"),
            ("pico2", "build/CMakeCache.txt"),
        ),
        (
            {"app.ioc": "Mcu.CPN=STM32H743ZIT6\nMcu.Name=STM32H743ZITx\n"},
            "an STM32Cube project",
            None,
            ("STM32H743ZIT6", "app.ioc"),
        ),
        (
            {
                "mbed_app.json": '{"target_overrides": {"*": {}, "NRF52840_DK": {}}}',
                "tflite-micro.lib": f"https://github.com/tensorflow/tflite-micro/#{COMMIT}\n",
            },
            "an Mbed OS project",
            (f"tflite-micro {COMMIT}", "tflite-micro.lib"),
            ("NRF52840_DK", "mbed_app.json"),
        ),
        (
            {
                "app.ioc": "board=NUCLEO-L476RG\nMcu.Name=STM32L476RGTx\n",
                ".gitmodules": '[submodule "tflm"]\n path = tflm\n url = https://github.com/tensorflow/tflite-micro.git\n',
                ".git/modules/tflm/HEAD": f"{COMMIT}\n",
            },
            "an STM32Cube project",
            (f"tflite-micro {COMMIT}", ".gitmodules"),
            ("NUCLEO-L476RG", "app.ioc"),
        ),
    ],
)  # fmt: skip
def test_the_files_beside_the_sources_name_library_and_board(
    files: dict[str, str],
    kind: str,
    library: tuple[str, str] | None,
    board: tuple[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    project = checked(tmp_path, files, capsys)["project"]
    assert isinstance(project, dict)
    assert project["kind"] == kind
    assert project["arena_bytes"] == 2048
    assert project["library"] == (library and {"text": library[0], "place": library[1]})
    assert project["board"] == {"text": board[0], "place": board[1]}


def test_the_release_of_zephyr_is_that_of_its_manifest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    west = "manifest:\n  projects:\n    - name: zephyr\n      revision: v4.1.0\n"
    found = checked(tmp_path, {**ZEPHYR, "prj.conf": "CONFIG_TENSORFLOW_LITE_MICRO=y\n", "west.yml": west}, capsys)
    assert target_of(found)["runtime"]["snapshot"] == "zephyr@v4.1.0"


def test_a_chip_of_st_is_its_core_and_an_unnamed_library_is_a_doubt(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = checked(tmp_path, {"app.ioc": "Mcu.CPN=STM32F103C8T6\n"}, capsys)
    assert found["answer"] == "if"
    assert target_of(found)["name"] == "cortex-m3"
    project = found["project"]
    assert isinstance(project, dict)
    assert project["asked"] == ["the library (--library)"]


def test_a_setting_of_zephyr_selects_the_kernels_of_its_module(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = checked(tmp_path, {**ZEPHYR, "prj.conf": SETTINGS}, capsys, "--board", "nrf52840dk")
    assert target_of(plain)["kernels"]["name"] == "reference"
    settings = f"{SETTINGS}CONFIG_TENSORFLOW_LITE_MICRO_CMSIS_NN_KERNELS=y\n"
    cmsis = checked(tmp_path, {**ZEPHYR, "prj.conf": settings}, capsys, "--board", "nrf52840dk")
    assert target_of(cmsis)["kernels"]["name"] == "cmsis_nn"


def test_a_project_of_the_pico_sdk_without_a_board_is_for_the_pico_unless_the_other_one_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = checked(tmp_path, PICO, capsys)
    assert target_of(found)["name"] == "cortex-m0plus"
    assert "its board is pico, the SDK's own choice (PICO_BOARD)" in json.dumps(found["doubts"])
    assert found["answer"] != "no"


SCRIPT = """import microlite
SIZE = 1 * 1024
model = bytearray(open('models/sine.tflite', 'rb').read())
interp = microlite.interpreter(model, SIZE, lambda i: None, lambda i: None)
"""


def test_a_script_of_micropython_is_read_and_its_arena_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "main.py").write_text(SCRIPT)
    (tmp_path / "models").mkdir()
    (tmp_path / "models/sine.tflite").write_bytes(SINE)
    assert main(["check", str(tmp_path), "--board", "esp32", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["project"]["kind"] == "a MicroPython project"
    assert found["project"]["arena"] == {"text": "SIZE", "place": "main.py:2"}
    assert found["project"]["library"] == {"text": "microlite", "place": "import microlite"}
    assert "-SIZE = 1 * 1024\n" in found["project"]["patch"]


@pytest.mark.parametrize("name", ["../../x", "{outside}", "a/../../../x"])
def test_a_submodule_leads_to_no_file_outside_of_the_project(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project, outside = tmp_path / "project", tmp_path / "x"
    outside.mkdir()
    (outside / "HEAD").write_text(f"{COMMIT}\n")
    section = name.format(outside=outside)
    modules = f'[submodule "{section}"]\n url = https://github.com/tensorflow/tflite-micro\n'
    files = {"app.ioc": "Mcu.Name=STM32L476RGTx\n", ".gitmodules": modules, ".git/modules/a/HEAD": "0"}
    found = checked(project, files, capsys)["project"]
    assert isinstance(found, dict)
    assert found["library"] is None


def test_what_is_no_python_and_what_names_strange_folders_is_no_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "main.py").write_text("import microlite\nmicrolite.interpreter(model, (\n")
    (tmp_path / ".gitmodules").write_text(
        '[submodule "../../x"]\nurl = https://github.com/tensorflow/tflite-micro\n[broken'
    )
    assert main(["check", str(tmp_path), "--json"]) == 3
    assert "the arena's size (--limit)" in json.loads(capsys.readouterr().out)["project"]["asked"]
