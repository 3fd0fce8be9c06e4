"""What an answer for an ESP32 says of the releases of ESP-NN that are not modelled."""

from __future__ import annotations

import json

import pytest

from tflm_sim.cli import main
from tflm_sim.device.configuration import configure
from tflm_sim.report.circumstances import assumed_text, open_kernels, sentence_with_assumed, with_assumed
from tflm_sim.targets.presets import preset

NEWER = "with esp_nn 1.3.2 to 1.5.0 it may need more or less"
S3, M4 = preset("esp32-s3"), preset("cortex-m4", kernels="cmsis_nn")


def test_a_sentence_says_what_was_not_named_and_which_newer_kernels_there_are() -> None:
    assert sentence_with_assumed("yes", ["--kernels"], [S3]) == f"yes; not named, so assumed: --kernels; {NEWER}"
    assert sentence_with_assumed("yes", ["--library"], []) == "yes; not named, so assumed: --library"
    # Of several libraries of a board none was named: the verdict is about each.
    assert sentence_with_assumed("yes", (), [S3, M4, preset("esp32")]) == f"yes; {NEWER}"
    assert sentence_with_assumed("yes", None, [M4]) == "yes"
    assert assumed_text(()) == ""


def test_a_title_says_it_only_where_nobody_named_the_kernels() -> None:
    assert with_assumed("esp32-s3", ["--kernels"], S3) == f"esp32-s3 (not named, so assumed: --kernels; {NEWER})"
    assert with_assumed("esp32-s3", ["--library"], S3) == "esp32-s3 (not named, so assumed: --library)"
    assert with_assumed("esp32-s3", (), S3) == "esp32-s3"


def test_texts_of_no_known_release_say_so() -> None:
    newest = configure("esp32-s3", kernels="esp_nn@25cae54")
    assert open_kernels(newest, library=None, kernels="esp_nn@25cae54") == [
        "esp_nn 25cae54 is newer than 1.3.1; which release has these texts is not known"
    ]
    assert newest.target.newer_kernels == ""


def test_the_remark_names_an_older_release_and_the_newest_text_of_the_chip() -> None:
    remarks = [open_kernels(configure(name), library=None, kernels=None) for name in ("esp32-s3", "esp32-p4", "esp32")]
    default = "esp_nn 1.3.1 is taken by default (newer: 1.3.2 to 1.5.0); another is named so: `kernels=esp_nn@1.3.0`"
    newest = "; the newest that is modelled: `kernels=esp_nn@"
    assert remarks == [[f"{default}{newest}25cae54`"], [f"{default}{newest}fa9f698`"], [default]]


@pytest.mark.parametrize("target", ["esp32", "esp32-s2", "esp32-s3", "esp32-c3", "esp32-c6", "esp32-p4"])
def test_every_esp32_says_it_in_the_verdict_the_title_and_the_document(
    target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "sample:sine", "--target", target, "--limit", "8KiB"]) == 0
    assert (
        capsys.readouterr()
        .out.splitlines()[0]
        .endswith(f" to spare; not named, so assumed: --library, --kernels; {NEWER}")
    )
    assert main(["size", "sample:sine", "--target", target]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith(f"--library, --kernels; {NEWER})")
    for verb in (["size"], ["check", "--limit", "8KiB"]):
        assert main([*verb, "sample:sine", "--target", target, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["target"]["newer_kernels"] == "1.3.2 to 1.5.0"


def test_who_names_the_kernels_is_told_nothing_of_newer_ones(capsys: pytest.CaptureFixture[str]) -> None:
    named = ["sample:sine", "--target", "esp32-s3", "--kernels", "esp_nn@1.3.1"]
    assert main(["check", *named, "--limit", "8KiB"]) == 0
    assert "1.5.0" not in capsys.readouterr().out
    # What ESPHome pins is what it links.
    assert main(["check", "sample:sine", "--library", "esphome@2026.6.5", "--limit", "8KiB"]) == 0
    assert "may need" not in capsys.readouterr().out
