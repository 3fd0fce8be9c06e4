"""Every model of ../shared/golden, in every configuration: figures, logs, both smallest arenas, every event."""

import pytest
from truth.golden import CONFIGURATIONS, Golden, differences, golden_files

OF_MODELS: dict[str, list[Golden]] = {}
for name in CONFIGURATIONS:
    for golden in golden_files(name):
        OF_MODELS.setdefault(golden.path.stem, []).append(golden)


@pytest.mark.parametrize("model", OF_MODELS)
def test_the_simulation_is_exact(model: str) -> None:
    assert {golden.configuration: found for golden in OF_MODELS[model] if (found := differences(golden))} == {}
