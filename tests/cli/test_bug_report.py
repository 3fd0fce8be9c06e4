"""What a bug report needs: versions, target, the model's hash and operators; neither weights nor tensor names."""

import hashlib
import json
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.samples import sample_path


def test_a_report_of_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bug-report", "sample:residual", "--target", "esp32-s3"]) == 0
    text = capsys.readouterr().out
    report = json.loads(text)
    data = sample_path("residual").read_bytes()
    assert report["model"]["sha256"] == hashlib.sha256(data).hexdigest()
    assert report["model"]["operators"]["ADD"] >= 1
    assert report["target"]["name"] == "esp32-s3"
    assert report["answer"]["status"] == "ok"


def test_a_model_that_cannot_be_sized_is_reported_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(sample_path("sine").read_bytes()[:600])
    assert main(["bug-report", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["error"].startswith("ModelError: ")


def test_without_a_model_it_says_what_is_installed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bug-report"]) == 0
    assert {"tflm_sim", "python", "system", "planner_core"} <= json.loads(capsys.readouterr().out).keys()
