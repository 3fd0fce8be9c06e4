"""Boards and builds said the same: figures that other people read, with their firmware (``tools/claims.py``)."""

from collections.abc import Iterable

import pytest
from claims import CLAIMS, KIB, Claim, find_model
from golden_report import main

from tflm_sim.answers.simulation import simulate
from tflm_sim.model.types import Model
from tflm_sim.targets.presets import preset


def model_of(claim: Claim) -> Model:
    model = find_model(claim.digest)
    assert model is not None
    return model


def here(claims: Iterable[Claim]) -> list[object]:
    """Return the claims as parameters; a test whose model is not in ../shared/models is left out."""
    return [
        pytest.param(claim, id=claim.name, marks=[] if find_model(claim.digest) else pytest.mark.shared(claim.digest))
        for claim in claims
    ]


@pytest.mark.parametrize("claim", here(row for row in CLAIMS if not row.unexplained))
def test_somebody_read_our_number(claim: Claim) -> None:
    assert claim.ours(model_of(claim)) == claim.said


@pytest.mark.parametrize("claim", here(row for row in CLAIMS if row.unexplained))
def test_what_is_not_explained_is_off_by_what_the_page_says(claim: Claim) -> None:
    assert claim.ours(model_of(claim)) == claim.said + claim.unexplained


@pytest.mark.parametrize("claim", here(row for row in CLAIMS if row.preset == "esp32"))
@pytest.mark.parametrize("kernels", ["esp_nn_ansi", "esp_nn@1.1.2"])
def test_on_an_esp32_the_version_of_esp_nn_does_not_matter(claim: Claim, kernels: str) -> None:
    """The author read person_detect with CONFIG_NN_ANSI_C too."""
    of = preset("esp32", kernels=kernels)
    assert simulate(model_of(claim), of, arena_size=160 * KIB).arena_used_bytes == claim.said


HEAD_AND_TAIL = {
    "person_detect, wasm32": (55_296, 29_132),
    "kws_ref_model, wasm32": (16_000, 8_908),
    "pretrainedResnet_quant, wasm32": (49_152, 7_340),
    "ad01_int8, wasm32": (768, 3_740),
    "person_detect, 64-bit host": (55_296, 33_952),
    "person_detect, Corstone-300 as M4": (55_296, 29_140),
}


@pytest.mark.parametrize("claim", here(row for row in CLAIMS if row.name in HEAD_AND_TAIL))
def test_the_benchmark_tool_said_our_head_and_our_tail(claim: Claim) -> None:
    of = preset(claim.preset, kernels=claim.kernels)
    run = simulate(model_of(claim), of, interpreter="recording", resource_variable_count=100)
    assert (run.head_bytes, run.tail_bytes) == HEAD_AND_TAIL[claim.name]


@pytest.mark.parametrize("claim", here(CLAIMS[:1]))
def test_the_report_shows_every_reading(claim: Claim, capsys: pytest.CaptureFixture[str]) -> None:
    model_of(claim)
    assert main(["readings"]) == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line[:36].rstrip() for line in lines] == [row.name for row in CLAIMS]
    assert all(line.endswith(("yes", "not proved", "docs/measured.md", "not in ../shared")) for line in lines)
