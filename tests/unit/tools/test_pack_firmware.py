"""Each package is laid out by its ecosystem's rules and builds from its own folder alone."""

import json
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
import yaml
from boards import pack_firmware

import tflm_sim
from tflm_sim import __version__

FORMS = tuple(pack_firmware.FORMS)
SEMVER = re.compile(r"\d+\.\d+\.\d+")
# What needs headers of its ecosystem, so that no host compiles it.
PLATFORM = {"replay_uart.c", "replay_task.c"}
COMPILERS = {
    "gcc": ["gcc"],
    "Cortex-M4": ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb"],
    "rv32imac": ["riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32", "-ffreestanding"],
    "AVR": ["avr-gcc", "-mmcu=atmega2560"],
}
SERIAL = """
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
struct Port {
  void begin(long) {}
  explicit operator bool() const { return true; }
  size_t write(const uint8_t* data, size_t size) { return fwrite(data, 1, size, stdout); }
  int available() { return 0; }
  int read() { return -1; }
};
extern Port Serial;
"""
MAIN = """
#include <Arduino.h>
Port Serial;
void setup();
void loop();
int main() { setup(); loop(); }
"""


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def packed(form: str, tmp_path: Path) -> Path:
    return pack(form, tmp_path)


def pack(form: str, tmp_path: Path) -> Path:
    folder = tmp_path / "tflm_sim_report"
    assert pack_firmware.main([form, str(folder), "--url", "https://example.org/p"]) == 0
    return folder


def run(*command: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def properties(packed: Path) -> dict[str, str]:
    lines = (packed / "library.properties").read_text().splitlines()
    return {line.split("=", 1)[0]: line.split("=", 1)[1] for line in lines}


def includes(packed: Path) -> list[str]:
    return ["-I", str(packed / "src"), "-I", str(packed / "include")]


def test_no_mark_of_a_template_is_left(packed: Path) -> None:
    for path in packed.rglob("*"):
        assert path.is_dir() or re.search(rb"@[A-Z]+@", path.read_bytes()) is None, path


def test_a_package_holds_the_licence_and_what_it_is(packed: Path) -> None:
    assert "Apache License" in (packed / "LICENSE").read_text()
    assert f"Version {__version__}." in (packed / "README.md").read_text()


def test_every_included_file_of_ours_is_in_the_package(packed: Path) -> None:
    own = {path.name for path in packed.rglob("*.h")}
    for path in packed.rglob("*.[chi]*"):
        if path.is_file():
            for name in re.findall(r'^#include "([^"/]+)"', path.read_text(), re.MULTILINE):
                assert name in own or name == "replay_sizes.h", (path, name)


@pytest.mark.slow
@pytest.mark.parametrize(
    "compiler", ["gcc", "Cortex-M4", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("rv32imac", "AVR"))]
)
def test_the_sources_compile_from_the_package_alone(packed: Path, compiler: str, tmp_path: Path) -> None:
    if shutil.which(COMPILERS[compiler][0]) is None:
        pytest.skip(f"{COMPILERS[compiler][0]} is not installed")
    sources = [path for path in sorted((packed / "src").glob("*.c")) if path.name not in PLATFORM]
    assert {"arena_report.c", "tsim_replay.c", "tflm_plan.c"} <= {path.name for path in sources}
    flags = ("-std=c99", "-Wall", "-Werror", "-Os", "-DREPLAY_APP_ARENA_SIZE=1024u", "-DREPLAY_APP_BUFFER_LIMIT=8u")
    run(*COMPILERS[compiler], *flags, *includes(packed), "-c", *sources, cwd=tmp_path)


def test_the_arduino_library_says_what_the_library_manager_asks_for(tmp_path: Path) -> None:
    packed = pack("arduino", tmp_path)
    found = properties(packed)
    required = ("name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url", "architectures")
    assert set(found) == {*required, "includes"}
    assert all(found.values())
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,62}", found["name"])
    assert not found["name"].lower().startswith("arduino")
    assert found["version"] == __version__
    assert SEMVER.fullmatch(found["version"])
    assert found["category"] in {
        "Display",
        "Communication",
        "Signal Input/Output",
        "Sensors",
        "Device Control",
        "Timing",
        "Data Storage",
        "Data Processing",
        "Other",
    }
    assert found["architectures"] == "*"
    assert found["url"] == "https://example.org/p"
    assert (packed / "src" / found["includes"]).is_file()


def test_an_arduino_library_holds_what_the_ide_takes_and_nothing_else(tmp_path: Path) -> None:
    packed = pack("arduino", tmp_path)
    suffixes = {path.suffix for path in packed.rglob("*") if path.is_file() and path.parent != packed}
    assert suffixes == {".ino", ".h", ".hpp", ".c"}
    sketches = list((packed / "examples").iterdir())
    assert sorted(path.name for path in sketches) == ["replay", "report"]
    assert all((path / f"{path.name}.ino").is_file() for path in sketches)


@pytest.mark.parametrize("form", ["arduino", "platformio"])
def test_the_sketches_compile_and_the_report_is_whole(form: str, tmp_path: Path) -> None:
    packed = pack(form, tmp_path)
    (tmp_path / "Arduino.h").write_text(SERIAL)
    (tmp_path / "main.cc").write_text(MAIN)
    flags = ("-Wall", "-Werror", "-I", tmp_path, *includes(packed))
    objects = tmp_path / "objects"
    objects.mkdir()
    run("gcc", *flags, "-c", *sorted((packed / "src").glob("*.c")), cwd=objects)
    said = {}
    for name in ("report", "replay"):
        sketch = packed / "examples" / name
        own = []
        for source in sketch.glob("*.c"):
            run("gcc", *flags, "-c", source, "-o", tmp_path / f"{source.stem}.o")
            own.append(tmp_path / f"{source.stem}.o")
        cxx = ("g++", "-std=c++11", *flags, "-include", "Arduino.h", "-x", "c++")
        run(*cxx, "-c", sketch / f"{name}.ino", "-o", tmp_path / "sketch.o")
        run(*cxx, "-c", tmp_path / "main.cc", "-o", tmp_path / "main.o")
        run("g++", "-o", tmp_path / name, tmp_path / "sketch.o", tmp_path / "main.o", *own, *objects.glob("*.o"))
        said[name] = run(tmp_path / name)
    kinds = re.findall(r"\$TSIM,\d+,(\w+),", said["report"])
    assert (kinds[0], kinds[1], kinds[-1]) == ("hello", "begin", "end")
    # 100 of the 256 bytes were written, so the untouched run starts at 100 and is 256 - 100 long.
    assert '"total":100}' in said["report"]
    assert "156" in said["report"]
    # The sketch offers the 98,304 bytes of its replay_sizes.h and the 16 that aligning may take.
    assert "hello" in said["replay"]
    assert "98320" in said["replay"]


def test_the_platformio_manifest_is_what_its_schema_asks_for(tmp_path: Path) -> None:
    packed = pack("platformio", tmp_path)
    found = json.loads((packed / "library.json").read_text())
    assert re.fullmatch(r"[^:;/,@<>]{1,100}", found["name"])
    assert found["version"] == __version__
    assert 1 <= len(found["description"]) <= 255
    assert found["license"] == "Apache-2.0"
    assert all(re.fullmatch(r"[a-z\d\- _+]{1,50}", word) for word in found["keywords"])
    assert all((packed / "src" / header).is_file() for header in found["headers"])


def test_the_esp_component_reports_without_the_replay(tmp_path: Path) -> None:
    packed = pack("esp_idf", tmp_path)
    manifest = yaml.safe_load((packed / "idf_component.yml").read_text())
    assert manifest["version"] == __version__
    assert manifest["dependencies"] == {"idf": ">=5.3"}
    always, replay = (packed / "CMakeLists.txt").read_text().split("if(CONFIG_TSIM_REPLAY)")[:2]
    named = re.findall(r"src/\w+\.c", always)
    assert named == ["src/tsim_frame.c", "src/tsim_paint.c", "src/arena_report.c"]
    more = re.findall(r"src/\w+\.c", replay)
    assert {*named, *more} == {f"src/{path.name}" for path in (packed / "src").iterdir()}
    assert "default n" in (packed / "Kconfig").read_text()
    example = packed / "examples/replay"
    depends = yaml.safe_load((example / "main/idf_component.yml").read_text())["dependencies"]
    assert (example / "main" / depends["tflm_sim_report"]["path"]).resolve() == packed.resolve()


def test_the_report_alone_links_without_the_replay(tmp_path: Path) -> None:
    packed = pack("esp_idf", tmp_path)
    (tmp_path / "main.c").write_text('#include "arena_report.h"\nint main(void) { return tsim_report_end(0) == 0; }\n')
    report = [packed / "src" / name for name in ("tsim_frame.c", "tsim_paint.c", "arena_report.c")]
    run("gcc", *includes(packed), "-o", tmp_path / "out", tmp_path / "main.c", *report)


def test_the_zephyr_module_names_files_that_are_there(tmp_path: Path) -> None:
    packed = pack("zephyr", tmp_path)
    module = yaml.safe_load((packed / "zephyr/module.yml").read_text())
    assert set(module) == {"name", "build", "samples"}
    assert module["name"] == "tflm_sim_report"
    cmake = packed / module["build"]["cmake"] / "CMakeLists.txt"
    assert (packed / module["build"]["kconfig"]).is_file()
    assert cmake.is_file()
    named = set(re.findall(r"\{module\}/(src/\w+\.c)", cmake.read_text()))
    assert named == {f"src/{path.name}" for path in (packed / "src").iterdir()}
    symbols = set(re.findall(r"^config (\w+)", (packed / "zephyr/Kconfig").read_text(), re.MULTILINE))
    assert set(re.findall(r"CONFIG_(TSIM_\w+)", cmake.read_text())) <= symbols
    for sample in module["samples"]:
        for settings in (packed / sample).rglob("prj.conf"):
            assert set(re.findall(r"CONFIG_(TSIM_\w+)", settings.read_text())) <= symbols


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")
def test_the_cmake_targets_of_the_pico_package_build(tmp_path: Path) -> None:
    pack("pico", tmp_path)
    (tmp_path / "main.c").write_text(
        '#include "replay_port.h"\n'
        "static int none(void *c, const void *d, size_t n) { (void)c; (void)d; return n == 0; }\n"
        'int main(void) { return replay_port_start("x", none, 0); }\n'
    )
    (tmp_path / "report.c").write_text('#include "arena_report.h"\nint main(void) { return !tsim_report_end; }\n')
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.13)\nproject(x C)\nadd_subdirectory(tflm_sim_report)\n"
        "add_executable(replay main.c)\ntarget_link_libraries(replay tflm_sim_replay)\n"
        "add_executable(report report.c)\ntarget_link_libraries(report tflm_sim_report)\n"
    )
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build")
    run("cmake", "--build", tmp_path / "build")
    run(tmp_path / "build/replay")


def test_a_zip_holds_one_folder_and_has_the_same_bytes_each_time(form: str, tmp_path: Path) -> None:
    first, second = tmp_path / "a.zip", tmp_path / "b.zip"
    assert pack_firmware.main([form, str(first)]) == pack_firmware.main([form, str(second)]) == 0
    assert first.read_bytes() == second.read_bytes()
    names = zipfile.ZipFile(first).namelist()
    assert {name.split("/")[0] for name in names} == {"tflm_sim_report"}
    assert len(names) == len(pack_firmware.package(form))


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").write_text("kept")
    assert pack_firmware.main(["pico", str(tmp_path)]) == 2
    assert "is there already and not an empty folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_a_version_that_no_ecosystem_takes_is_refused() -> None:
    with pytest.raises(ValueError, match=r"0\.3\.0\.dev1 is no release"):
        pack_firmware.package("arduino", version="0.3.0.dev1")


def test_an_address_cannot_write_another_line_of_metadata() -> None:
    with pytest.raises(ValueError, match="no http or https address"):
        pack_firmware.package("arduino", url="https://x\nname=other")


def test_the_version_is_the_packages_own() -> None:
    assert f"version={tflm_sim.__version__}".encode() in pack_firmware.package("arduino")["library.properties"]
