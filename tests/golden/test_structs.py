"""Every struct layout equals the debug information of real TFLM builds: size, alignment and every member's offset."""

import json
import re
from pathlib import Path

import pytest

from tflm_sim.targets.presets import preset

GOLDEN = Path(__file__).parents[3] / "shared" / "golden"
CONFIGURATIONS = {
    "x86_64_ref": "x86_64",
    "x86_64_ref_comp": "x86_64-compression",
    "x86_32_ref": "i386",
    "cm4_ref": "cortex-m4",
    "cm4le_ref": "cortex-m4-int-enums",
    "cm4_cmsis_nn": "cortex-m4",
    "cm55_cmsis_nn": "cortex-m55",
}
NOT_IN_THE_LIBRARY = {"ethosu.OpData", "kiss_fft_state", "kiss_fftr_state"}
"""kissfft's C files have no debug information there, the signal traces prove their sums; no build links Ethos-U."""
OTHER_TREES = ("esp_nn/", "edge_impulse/", "siliconlabs/", "sli_mvp_ml_")
"""Kernels that are not upstream's: golden_esp_nn proves the first, a unit test has the second from their headers, and
193 models that ran on a Cortex-M33 (test_runs.py) prove the sums of the others."""
BIT_FIELDS = {"LookupTableData": ["value_table", "value_table_channel_stride"]}
"""Members with an offset; the others share the byte after them."""
ANONYMOUS = re.compile(
    r"tflite::\(anon\)::([^ <]+).* "
    r"@(?:core|kernels)/(?:tensorflow/lite|signal)/micro/(?:kernels/)?(.*)\.o"
)


def our_name(raw: str) -> str:
    anonymous = ANONYMOUS.fullmatch(raw)
    return f"{anonymous[2]}.{anonymous[1]}" if anonymous else raw.removeprefix("tflite::")


@pytest.mark.shared("golden")
@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_every_layout_equals_the_debug_information(configuration: str) -> None:
    structs = preset(CONFIGURATIONS[configuration]).structs
    compared = set()
    for raw, facts in json.loads((GOLDEN / configuration / "structs.json").read_text()).items():
        ours = structs.get(our_name(raw))
        if ours is None:
            continue
        compared.add(our_name(raw))
        assert (ours.size, ours.alignment) == (facts["size"], facts["align"]), raw
        keep = BIT_FIELDS.get(our_name(raw), list(ours.members))
        offsets = [offset for _, offset, _ in facts["members"]][: len(keep)]
        assert [ours.members[name] for name in keep] == offsets, raw
    assert len(compared) > 150


@pytest.mark.shared("golden")
def test_no_struct_goes_unproved() -> None:
    proved = set()
    for configuration in CONFIGURATIONS:
        proved |= {our_name(raw) for raw in json.loads((GOLDEN / configuration / "structs.json").read_text())}
    unproved = {name for name in preset("cortex-m4").structs if name not in proved and not name.startswith(OTHER_TREES)}
    assert unproved == NOT_IN_THE_LIBRARY
