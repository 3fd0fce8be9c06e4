"""What ``tflm-sim.toml`` means: names of firmwares, what is refused, and which configurations a board has."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.errors import UsageError
from tflm_sim.extensions.ci.project import Project, ProjectFirmware, cells, configurations_of, models_of, read_project
from tflm_sim.samples import sample_path
from tflm_sim.targets.boards import BOARDS


@pytest.mark.parametrize(
    ("said", "label", "names_its_tflm"),
    [
        ({}, "cortex-m4", False),
        ({"name": "door", "board": "pico", "target": "x"}, "door", True),
        ({"board": "pico"}, "pico", False),
        ({"board": "pico", "target": "cortex-m0plus"}, "pico", True),
        ({"target": "esp32"}, "esp32", True),
        ({"library": "chirale"}, "chirale", True),
        ({"runtime": "2024-01-01"}, "2024-01-01", True),
        ({"library": "chirale", "runtime": "2024-01-01"}, "chirale", True),
        ({"kernels": "reference"}, "reference", True),
        ({"target": "esp32", "kernels": "reference"}, "esp32, reference", True),
        ({"board": "pico", "library": "l", "kernels": "k"}, "pico, l, k", True),
    ],
)
def test_a_firmware_is_called_by_what_tells_it_from_others(said: Any, label: str, names_its_tflm: bool) -> None:
    firmware = ProjectFirmware(**said)
    assert (firmware.label, firmware.names_its_tflm) == (label, names_its_tflm)


LIMIT = '[[firmware]]\nlimit = "1KiB"\nmodels = ["sample:sine"]\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it has no [[firmware]]; add one with a limit or a board"),
        ("firmware = []", "it has no [[firmware]]; add one with a limit or a board"),
        ("firmware = 5", "it has no [[firmware]]; add one with a limit or a board"),
        ("path = 'x'\n" + LIMIT, "the file says 'path'; what it can say: baseline, firmware, models"),
        (LIMIT + LIMIT.replace("models", "model"), "[[firmware]] number 2 says 'model'; did you mean models?"),
        ('models = ["a"]\n[[firmware]]\n', "firmware 'cortex-m4' needs a limit or a board"),
        ('[[firmware]]\nlimit = "1KiB"\n', "firmware 'cortex-m4' has no models; name them there, or once for all"),
        ("a = " + "[" * 100_000, "its values are nested too deeply"),
        ("a = " + "9" * 5000, "a number has too many digits"),
        ("a.'b'. \"c\" ." * 100_000 + "d = 1", "a key has more than 100 parts"),
        (LIMIT + LIMIT, "two firmwares are called 'cortex-m4'; give them names"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(text)
    with pytest.raises(UsageError) as failure:
        read_project(tmp_path / "p.toml")
    assert str(failure.value).startswith(f"{tmp_path}/p.toml: {words}")


def test_a_project_file_is_text_in_utf_8_with_or_without_its_mark(tmp_path: Path) -> None:
    text = 'models = ["m"]\n' + LIMIT
    (tmp_path / "p.toml").write_text(text, "utf-8-sig")
    assert read_project(tmp_path / "p.toml").models == ("m",)
    (tmp_path / "p.toml").write_text(text, "utf-16")
    with pytest.raises(UsageError, match=r"p.toml: it is no text in UTF-8 \(at byte 0\)$"):
        read_project(tmp_path / "p.toml")


def test_models_are_those_of_the_firmware_else_of_the_file_from_its_folder(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(LIMIT.replace('models = ["sample:sine"]', "") + 'target = "esp32"\n' + LIMIT)
    with pytest.raises(UsageError, match="firmware 'esp32' has no models"):
        read_project(tmp_path / "p.toml")
    (tmp_path / "a.tflite").write_bytes(sample_path("sine").read_bytes())
    first, second = ProjectFirmware(limit="1KiB"), ProjectFirmware(limit="1KiB", models=("sample:sine", "none*"))
    project = Project(firmware=(first, second), models=("*.tflite",), path=tmp_path / "p.toml")
    assert models_of(project, first) == ["a.tflite"]
    assert models_of(project, second) == ["none*", "sample:sine"]
    assert project.baseline_path is None
    assert replace(project, baseline="b.json").baseline_path == tmp_path / "b.json"


def test_a_board_alone_is_each_library_that_people_use_there_and_anything_more_is_one() -> None:
    nano = ProjectFirmware(board="nano33ble")
    assert len(configurations_of(nano)) == len(BOARDS["nano33ble"].libraries) > 1
    (one,) = configurations_of(replace(nano, kernels="reference"))
    assert str(one.target.kernel_library) == "reference"
    (chirale,) = configurations_of(replace(nano, library="chirale"))
    assert chirale.target.runtime.snapshot == "chirale-2.0.0"
    (default,) = configurations_of(ProjectFirmware(limit="1KiB"))
    assert (default.target.name, default.target.ethos_u) == ("cortex-m4", False)
    (other,) = configurations_of(ProjectFirmware(target="esp32", ethos_u=True))
    assert (other.target.name, other.target.ethos_u) == ("esp32", True)
    with pytest.raises(UsageError, match="`library=` already selects the version of TFLM; remove `runtime=`"):
        configurations_of(ProjectFirmware(library="chirale", runtime="2024-01-01"))
    with pytest.raises(UsageError, match="nano33ble runs cortex-m4"):
        configurations_of(replace(nano, target="esp32"))


def test_models_can_be_chosen_and_a_baseline_that_lacks_one_is_told(tmp_path: Path) -> None:
    names = ("sample:sine", "sample:residual")
    firmware = ProjectFirmware(limit="1MiB", models=names, kernels="reference")
    project = Project(firmware=(firmware,), path=tmp_path / "p.toml")
    assert [cell.model for cell in cells(project)] == ["sample:residual", "sample:sine"]
    (cell,) = cells(project, ["./sample:sine"])
    ((verdict, configuration),) = cell.judged
    assert (verdict.missing_baseline, verdict.before, verdict.needed) == ("", None, 1072)
    compared = replace(project, baseline="b.json")
    (tmp_path / "b.json").write_text(json.dumps({"schema_version": 1, "sizes": {verdict.key: 1056}}))
    (known,), (unknown,) = (cell.judged for cell in reversed([*cells(compared)]))
    assert (known[0].before, known[0].growth, known[0].missing_baseline) == (1056, 16, "")
    assert unknown[0].missing_baseline == (
        f"b.json has no size for {unknown[0].key}; 'tflm-sim check --update-baseline' writes it"
    )
    assert configuration.target.name == "cortex-m4"


def test_a_model_that_cannot_be_read_is_a_verdict_without_figures(tmp_path: Path) -> None:
    (tmp_path / "cut.tflite").write_bytes(b"no model")
    firmware = ProjectFirmware(limit="1MiB", models=("cut.tflite",))
    project = Project(firmware=(firmware,), path=tmp_path / "p.toml", baseline="b.json")
    (cell,) = cells(project)
    ((verdict, _),) = cell.judged
    assert (verdict.needed, verdict.limit, verdict.fits, verdict.missing_baseline) == (None, 1 << 20, None, "")
    assert verdict.reason
