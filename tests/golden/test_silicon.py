"""Boards and builds said the same: figures that other people read, with their firmware (``tools/truth/claims.py``)."""

from collections.abc import Iterable
from dataclasses import replace

import pytest
from golden_report import main
from truth.claims import CLAIMS, KIB, PYTHON_README, Claim, conv_test_model, find_model
from truth.class_a import EXPLAINED, MISSING, class_a_rows, days, is_met
from truth.class_a import main as class_a

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


@pytest.mark.parametrize("claim", here(CLAIMS))
def test_somebody_read_our_number(claim: Claim) -> None:
    assert claim.ours(model_of(claim)) == claim.said


@pytest.mark.parametrize("claim", here(row for row in CLAIMS if row.preset == "esp32"))
@pytest.mark.parametrize("kernels", ["esp_nn_ansi", "esp_nn@1.1.2"])
def test_on_an_esp32_the_version_of_esp_nn_does_not_matter(claim: Claim, kernels: str) -> None:
    """The author read person_detect with CONFIG_NN_ANSI_C too."""
    of = preset("esp32", kernels=kernels)
    assert simulate(model_of(claim), of, arena_size=160 * KIB).arena_used_bytes == claim.said


@pytest.mark.parametrize("claim", here(row for row in CLAIMS if row.head is not None))
def test_a_log_said_our_head_tail_and_persistent_buffers(claim: Claim) -> None:
    assert is_met(claim, model_of(claim))


def test_one_buffer_more_is_noticed() -> None:
    assert is_met(PYTHON_README, conv_test_model())
    assert not is_met(replace(PYTHON_README, buffers=(608, 640, 11)), conv_test_model())
    assert not is_met(replace(PYTHON_README, head=7_760), conv_test_model())
    assert not is_met(replace(PYTHON_README, runtime="2022-12-01"), conv_test_model())


def test_the_days_of_a_figure_are_those_between_two_changes() -> None:
    """9264e07f8 and 708d22a2d moved it."""
    assert list(days(PYTHON_README, conv_test_model())) == [("2022-10-14", "2022-11-22")]


@pytest.mark.shared("models/CLAIMS.md")
def test_every_class_a_row_is_explained_or_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert sorted(said for _, said, _ in class_a_rows()) == sorted([*EXPLAINED, *MISSING])
    assert (len(EXPLAINED), len(MISSING)) == (17, 11)
    assert class_a([]) == 0
    assert "WRONG" not in capsys.readouterr().out


@pytest.mark.parametrize("claim", here(CLAIMS[:1]))
def test_the_report_shows_every_reading(claim: Claim, capsys: pytest.CaptureFixture[str]) -> None:
    model_of(claim)
    assert main(["readings"]) == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line[:36].rstrip() for line in lines] == [row.name for row in CLAIMS]
    assert all(line.endswith(("yes", "not proved", "not in ../shared")) for line in lines)
