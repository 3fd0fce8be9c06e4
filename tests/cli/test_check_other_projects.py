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


def project_of(found: dict[str, object]) -> dict[str, Any]:
    """Return what was read of a project."""
    project = found["project"]
    assert isinstance(project, dict)
    return project


def test_platformio_s_extends_and_extra_configs_and_references_are_followed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "platformio.ini": "[platformio]\nextra_configs = more/*.ini\ndefault_envs = a\n"
        "[common]\nlibs = spaziochirale/Chirale_TensorFLowLite@2.0.0\n[env:a]\nextends = base\n",
        "more/base.ini": "[base]\nboard = nano33ble\nlib_deps =\n  ${common.libs}\n",
    }
    found = project_of(checked(tmp_path, files, capsys))
    assert (found["library"]["text"], found["board"]["text"]) == ("chirale 2.0.0", "nano33ble")


NESTED = "".join(f"a{place} = {f'${{x.a{place + 1}}}' * 100}\n" for place in range(10))
"""Ten lines that stand for 100^10 references."""


@pytest.mark.parametrize(
    ("files", "board"),
    [
        ({"platformio.ini": f"[env:a]\nboard = nano33ble\nlib_deps = ${{x.a0}}\n[x]\n{NESTED}"}, "nano33ble"),
        ({"platformio.ini": "[env:a]\nboard = ${this.own}\nown = ${this.own}nano33ble\n"}, None),
        (
            {
                **PICO,
                "CMakeLists.txt": f"set(A{' ' * 500_000}\n{chr(10) * 500_000}set(PICO_BOARD pico2)\npico_sdk_init()",
            },
            "pico2",
        ),
        ({".cproject": f'stm32{"<option target_board " * 40_000}<option a.target_board" value="pico2">'}, "pico2"),
        ({"Makefile": "", "a.ld": "RAM" * 300_000, "b.ld": f"RAM{' ' * 900_000}", ".mbed": "TARGET=PICO\n"}, "PICO"),
        ({**ZEPHYR, "a.overlay": "/* " * 20_000, ".west/config": "[build]\nboard = pico2\n"}, "pico2"),
    ],
)
def test_files_that_are_made_to_take_long_are_read_as_fast_as_others(
    files: dict[str, str], board: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = project_of(checked(tmp_path, files, capsys))
    assert (found["board"] and found["board"]["text"]) == board


@pytest.mark.parametrize(
    "flags",
    ["-DARENA_BYTES=3072", "-Wall -D ARENA_BYTES=3072 -DB", "'-DARENA_BYTES=3 * 1024'", '-DARENA_BYTES="(3 * 1024)"'],
)
def test_flags_of_platformio_are_read_with_their_quotes(
    flags: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "platformio.ini": f"[env:a]\nboard = nano33ble\nbuild_flags = -Os\n  {flags}\n",
        "src/main.cpp": MAIN.replace("2 * 1024", "ARENA_BYTES"),
    }
    assert checked(tmp_path, files, capsys)["limit"] == 3072


@pytest.mark.parametrize("value", ["(3*1024)", '"3 * 1024"', '"(1 + 2) * 1024"'])
@pytest.mark.parametrize("definition", ["ARENA_BYTES=${SIZE}", '"ARENA_BYTES=3 * 1024"', "-DARENA_BYTES=${SIZE}"])
def test_what_cmake_sets_and_defines_is_taken_whole(
    value: str, definition: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cmake = f"set(SIZE {value} CACHE STRING x)\ntarget_compile_definitions(app PRIVATE {definition} B=1)\n"
    files = {
        "CMakeLists.txt": f"{ZEPHYR['CMakeLists.txt']}{cmake}",
        "src/main.cpp": MAIN.replace("2 * 1024", "ARENA_BYTES"),
    }
    assert checked(tmp_path, files, capsys)["limit"] == 3072


def test_a_sketch_s_default_profile_counts_and_not_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profiles = (
        "profiles:\n  uno:\n    fqbn: arduino:renesas_uno:unor4wifi\n    libraries:\n      - MicroTFLite (1.0.2)\n"
        "  nano:\n    fqbn: arduino:mbed_nano:nano33ble\n    libraries:\n      - Chirale_TensorFLowLite (2.0.0)\n"
        "\ndefault_profile: nano\n"
    )
    found = project_of(checked(tmp_path, {"a.ino": "void setup() {}\n", "sketch.yaml": profiles}, capsys))
    assert (found["library"]["text"], found["board"]["text"]) == ("chirale 2.0.0", "arduino:mbed_nano:nano33ble")


LARGE = MAIN.replace("2 * 1024", "400 * 1024")
CUBE = (
    '<option superClass="com.st.stm32cube.ide.mcu.gnu.managedbuild.option.target_mcu" value="STM32F746ZGTx"/>'
    '<listOptionValue builtIn="false" value="ARENA=(100 &#42; 4)"/>'
)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (
            {
                "src/main.cpp": LARGE.replace("400 *", "ARENA *"),
                ".cproject": CUBE,
                "STM32F746_FLASH.ld": "MEMORY\n{\n  RAM (xrw) : ORIGIN = 0x20000000, LENGTH = 320K\n"
                "  FLASH (rx) : ORIGIN = 0x8000000, LENGTH = 1024K\n}\n",
            },
            "the arena has 409,600 B (400.0 KiB), RAM 327,680 B (320.0 KiB) (STM32F746_FLASH.ld)",
        ),
        (
            {
                **ZEPHYR,
                "src/main.cpp": MAIN.replace("2 * 1024", "100 * 1024"),
                "prj.conf": SETTINGS,
                "build/CMakeCache.txt": "BOARD:STRING=nrf52840dk/nrf52840\n",
                "boards/nrf52840dk_nrf52840.overlay": "&sram0 { reg = <0x20000000 DT_SIZE_K(64)>; };\n",
                "boards/other.overlay": "&sram0 { reg = <0x20000000 DT_SIZE_K(32)>; };\n",
            },
            "the arena has 102,400 B (100.0 KiB), sram0 65,536 B (64.0 KiB) (boards/nrf52840dk_nrf52840.overlay)",
        ),
        (
            {
                "CMakeLists.txt": "include($ENV{IDF_PATH}/tools/cmake/project.cmake)\n",
                "sdkconfig": 'CONFIG_IDF_TARGET="esp32s3"\nCONFIG_PARTITION_TABLE_CUSTOM=y\n'
                'CONFIG_PARTITION_TABLE_CUSTOM_FILENAME="p.csv"\n',
                "p.csv": "nvs, data, nvs, , 0x6000,\nfactory, app, factory, , 2K,\n",
            },
            "the model alone has 2,136 B, the partition of the program 2,048 B (p.csv)",
        ),
        (
            {
                "CMakeLists.txt": "include($ENV{IDF_PATH}/tools/cmake/project.cmake)\n",
                "sdkconfig": 'CONFIG_IDF_TARGET="esp32s3"\n',
                "src/main.cpp": MAIN.replace(
                    "alignas(16) uint8_t tensor_arena[kTensorArenaSize];",
                    "auto* tensor_arena = (uint8_t*)heap_caps_malloc(kTensorArenaSize, MALLOC_CAP_SPIRAM);",
                ),
            },
            "MALLOC_CAP_SPIRAM gets no memory, as sdkconfig does not set CONFIG_SPIRAM",
        ),
    ],
)  # fmt: skip
def test_memory_that_the_project_s_own_files_do_not_give_is_a_no(
    files: dict[str, str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = checked(tmp_path, files, capsys)
    assert (found["answer"], found["reason"]) == ("no", reason)


def test_an_overlay_that_chooses_another_ram_counts_with_its_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    overlay = (
        "/ { chosen { zephyr,sram = &sram1; }; };\n&sram0 { reg = <0x20000000 0x100>; };\n"
        "&sram1 { reg = <0x30000000 0x100000>; };\n"
    )
    found = checked(tmp_path, {**ZEPHYR, "prj.conf": SETTINGS, "app.overlay": overlay}, capsys, "--board", "nrf52840dk")
    assert found["answer"] == "yes"


def test_a_script_for_openmv_has_no_arena_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sine.tflite").write_bytes(SINE)
    (tmp_path / "main.py").write_text("import sensor, ml\nnet = ml.Model('/rom/sine.tflite', load_to_fb=True)\n")
    assert main(["check", str(tmp_path), "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found["reason"] == "OpenMV takes the arena from its heap when it loads the model: 1,632 B"
    assert project_of(found)["asked"] == ["the board (--board)"]
    assert target_of(found)["runtime"]["snapshot"].startswith("openmv@")


WAKE_WORD = '{"type": "micro", "model": "m.tflite", "version": 2, "micro": {"tensor_arena_size": %d}}'
DEVICE = """substitutions:
  chip: esp32s3
packages:
  base: !include {file: common/base.yaml, vars: {board: esp32-s3-devkitc-1}}
  far: github://someone/else@main
esphome:
  name: kitchen
micro_wake_word:
  models:
    - model: words/ours.json
    - okay_nabu
  vad:
wifi:
  password: !secret wifi
script:
  - lambda: !lambda "return 1;"
"""


def test_a_device_of_esphome_is_its_wake_words_and_what_is_downloaded_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "common").mkdir()
    (tmp_path / "words").mkdir()
    (tmp_path / "kitchen.yaml").write_text(DEVICE)
    (tmp_path / "common/base.yaml").write_text("esp32:\n  board: ${board}\n  variant: ${chip}\n")
    (tmp_path / "words/ours.json").write_text(WAKE_WORD % 1024)
    (tmp_path / "words/m.tflite").write_bytes(SINE)
    for thing in (tmp_path, tmp_path / "kitchen.yaml"):
        assert main(["check", str(thing), "--library", "esphome@2026.6.5", "--json"]) == 1
        found = json.loads(capsys.readouterr().out)
        assert (found["answer"], found["limit"]) == ("no", 1024)
        project = project_of(found)
        assert (project["kind"], project["board"]["text"]) == ("a configuration of ESPHome", "esp32-s3-devkitc-1")
        assert project["asked"] == [
            "the wake word okay_nabu: give its manifest, tflm-sim check okay_nabu.json",
            "the wake word vad: give its manifest, tflm-sim check vad.json",
            "the package github://someone/else@main, which ESPHome downloads: what it says was not read",
        ]
        assert '"tensor_arena_size": 1' in project["patch"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("esphome:\nmicro_wake_word: [unclosed\n", "is no YAML"),
        ("esphome:\nmicro_wake_word:\npackages:\n  a: !include a.yaml\n", "is larger than any configuration"),
        ("esphome:\nmicro_wake_word:\n  models: !include ../../etc/passwd.yaml\n", "which lies outside"),
        (
            f"esphome:\nmicro_wake_word:\n  models: [$a]\nsubstitutions:\n  a: '{'$b' * 4000}'\n  b: '{'$a' * 4000}'\n",
            "$b",
        ),
        ("esphome:\nmicro_wake_word:\n  models: [../../etc/x.json, '\\0', {a: b}, 3, null]\n", "the wake word"),
    ],
)
def test_a_hostile_configuration_is_refused_or_asked_about(
    text: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.yaml").write_text(text)
    assert main(["check", str(tmp_path / "a.yaml")]) in (2, 3)
    shown = capsys.readouterr()
    assert words in (shown.out + shown.err).replace("\n", " ")


KIT_MODEL = """bool Model::Init(uint8_t* arenaAddr, uint32_t arenaSize) {
  auto* model = tflite::GetModel(g_model);
  static tflite::MicroMutableOpResolver<1> resolver;
  resolver.AddFullyConnected();
  static tflite::MicroInterpreter interpreter(model, resolver, arenaAddr, arenaSize);
}
"""
KIT_MAIN = (
    "static uint8_t tensorArena[ACTIVATION_BUF_SZ];\nint main() { model.Init(tensorArena, sizeof(tensorArena)); }\n"
)


def test_an_arena_that_is_a_parameter_is_the_array_of_that_name_and_cmake_and_kconfig_say_its_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cmake = (
        f"{ZEPHYR['CMakeLists.txt']}target_compile_definitions(app PRIVATE\n  ACTIVATION_BUF_SZ=${{CONFIG_ARENA}}\n)\n"
    )
    files = {
        "src/main.cpp": KIT_MAIN,
        "src/Model.cc": KIT_MODEL,
        "CMakeLists.txt": cmake,
        "Kconfig": 'config ARENA\n\tint "size"\n\tdefault 5000\n',
        "prj.conf": SETTINGS,
    }
    found = checked(tmp_path, files, capsys)
    assert (project_of(found)["arena_bytes"], found["limit"]) == (5000, 5000)
    (tmp_path / "prj.conf").write_text(f"{SETTINGS}CONFIG_ARENA=6000\n")
    assert main(["check", str(tmp_path), "--json"]) in (0, 3)
    assert json.loads(capsys.readouterr().out)["limit"] == 6000


def test_a_source_that_is_called_a_test_is_none_of_the_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"src/main_test.cc": MAIN.replace("2 * 1024", "3 * 1024"), **ZEPHYR, "prj.conf": SETTINGS}
    assert checked(tmp_path, files, capsys)["limit"] == 2048


@pytest.mark.parametrize(
    ("files", "kind", "target"),
    [
        (
            {"CMakeLists.txt": "project(app)\nadd_executable(app main.cpp)\n", "STM32F446RETX_FLASH.ld": "MEMORY {}\n"},
            "a CMake project",
            "cortex-m4",
        ),
        ({"Makefile": "all: app.elf\n", "STM32U585xx_FLASH.ld": ""}, "a project with a Makefile", "cortex-m33"),
        ({"platformio.ini": "[env:a]\nboard = esp32doit-devkit-v1\n"}, "a PlatformIO project", "esp32"),
        ({"platformio.ini": "[env:a]\nboard = esp32-s3-my-own\n"}, "a PlatformIO project", "esp32-s3"),
    ],
)
def test_a_build_without_a_vendor_s_tool_is_a_project_and_names_its_processor(
    files: dict[str, str], kind: str, target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = checked(tmp_path, files, capsys)
    assert project_of(found)["kind"] == kind
    assert project_of(found)["arena_bytes"] == 2048
    assert target_of(found)["name"] == target


@pytest.mark.parametrize(
    "sources",
    [
        # The size goes through a function, a constructor, and a member that the constructor is given.
        {
            "src/net.cpp": "bool Net::Init(uint8_t* at, uint32_t bytes) {\n"
            "  allocator = tflite::MicroAllocator::Create(at, bytes);\n}\n",
            "src/main.cpp": "static uint8_t memory[20 * 1024];\nvoid setup() { tflite::GetModel(g_model);\n"
            "  net.Init(memory, sizeof(memory)); }\n",
        },
        {
            "src/net.cpp": "Net::Net(const uint8_t* model, const uint32_t bytes) : model(model), size_(bytes) {}\n"
            "int Net::start() { it = new tflite::MicroInterpreter(m, *r, this->arena, this->size_); }\n",
            "src/main.cpp": "const uint32_t SIZE = 1024 * 20;\nvoid setup() { net = new Net(g_model, SIZE);\n"
            "  tflite::GetModel(g_model); }\n",
        },
    ],
)
def test_an_arena_s_size_is_what_the_call_gives_that_sets_tflm_up(
    sources: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = checked(tmp_path, {"Makefile": "", **sources}, capsys)
    assert project_of(found)["arena_bytes"] == 20_480


def test_a_header_with_the_pointer_to_a_resolver_is_no_second_resolver(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header = "struct Net { tflite::MicroMutableOpResolver<1>* resolver; };\n"
    found = checked(tmp_path, {"Makefile": "", "src/net.h": header}, capsys)
    assert project_of(found)["needed"] == ["AddFullyConnected"]
    assert project_of(found)["missing"] == []
    assert not any("which resolver" in one for one in project_of(found)["asked"])


def test_of_two_arrays_of_one_name_the_model_is_the_one_beside_what_loads_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = sample_path("keyword_spotter").read_bytes()
    array = f"const unsigned char g_model[] = {{{', '.join(map(str, other))}}};\n"
    found = checked(tmp_path, {"Makefile": "", "models/other.cc": array}, capsys)
    assert project_of(found)["model"].endswith("src/model.cc:g_model")


def test_an_array_that_no_file_has_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main_file = MAIN.replace("GetModel(g_model)", "GetModel(g_person_detect_model_data)")
    found = checked(tmp_path, {"Makefile": "", "src/main.cpp": main_file}, capsys)
    asked = "the model (tflm-sim check FOLDER MODEL): no file of the project has the array g_person_detect_model_data"
    assert asked in project_of(found)["asked"]
    assert found["answer"] == "cannot tell"
    embedded = 'extern const unsigned char g_person_detect_model_data[] asm("_binary_model_start");\n'
    found = checked(tmp_path, {"src/model.h": embedded, "src/main.cpp": main_file}, capsys)
    assert project_of(found)["model"].endswith("src/model.cc:g_model")


def test_a_folder_with_tflm_among_the_project_s_own_files_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"Makefile": "", "Core/tensorflow/lite/a.h": "", "Core/net.cpp": MAIN, "src/main.cpp": "int main() {}\n"}
    assert project_of(checked(tmp_path, files, capsys))["arena_bytes"] == 2048
    (tmp_path / "Core" / "library.properties").write_text("name=TFLM\n")
    assert main(["check", str(tmp_path)]) == 2
    assert "is no project that uses TFLM" in capsys.readouterr().err


def test_microlite_takes_the_size_of_a_bytearray(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model.tflite").write_bytes(SINE)
    (tmp_path / "main.py").write_text(
        "import microlite\nmodel = bytearray(2488)\narena = bytearray(2048)\n"
        "io.open('model.tflite').readinto(model)\nnet = microlite.interpreter(model, arena, a, b)\n"
    )
    assert main(["check", str(tmp_path), "--json"]) in (0, 3)
    assert project_of(json.loads(capsys.readouterr().out))["arena_bytes"] == 2048
