"""The committed sample of real TFLM's recordings: a fresh clone proves itself."""

import pytest
from truth.golden import CONFIGURATIONS, SAMPLE, Golden, differences, golden_files

CASES = [golden for name in CONFIGURATIONS for golden in golden_files(name, SAMPLE)]


@pytest.mark.parametrize("golden", CASES, ids=lambda golden: f"{golden.configuration}-{golden.path.stem}")
def test_the_simulation_is_exact(golden: Golden) -> None:
    assert differences(golden) == []


def test_every_configuration_has_a_handful() -> None:
    assert [len(golden_files(name, SAMPLE)) for name in CONFIGURATIONS] == [9] * len(CONFIGURATIONS)
