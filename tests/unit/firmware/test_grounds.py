"""What is said to be measured was found in the file."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tflm_sim.firmware.target import _build
from tflm_sim.targets.presets import preset


@pytest.mark.parametrize(
    ("debug", "how", "grounds"),
    [
        (None, "assumed", "messages in the image"),
        (SimpleNamespace(structs={}), "assumed", "messages in the image"),
        # 64 B is what TfLiteTensor takes on a Cortex-M without TF_LITE_STATIC_MEMORY.
        (
            SimpleNamespace(structs={"TfLiteTensor": SimpleNamespace(size=64)}),
            "measured",
            "TfLiteTensor takes 64 B; messages in the image",
        ),
    ],
)
def test_the_build_is_measured_where_the_file_has_the_size_of_a_tensor(
    debug: SimpleNamespace | None, how: str, grounds: str
) -> None:
    ground = _build(SimpleNamespace(debug=debug, prints_messages=True), preset("cortex-m4"))
    assert (ground.part, ground.how, ground.grounds) == ("build", how, grounds)
