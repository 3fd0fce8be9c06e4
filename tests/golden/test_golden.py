"""Every model of ../shared/golden, in every configuration: figures, logs, both smallest arenas, every event."""

import pytest
from truth.golden import CONFIGURATIONS, Golden, differences, golden_files

CASES = [
    pytest.param(golden, id=f"{name}-{golden.path.stem}") for name in CONFIGURATIONS for golden in golden_files(name)
]


@pytest.mark.parametrize("golden", CASES)
def test_the_simulation_is_exact(golden: Golden) -> None:
    assert differences(golden) == []
