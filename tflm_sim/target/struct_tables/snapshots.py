"""Structs that differ from the reference snapshot, per snapshot, each row with the reason.

A row replaces the struct of the same name. The wheel's row: of the public build 8f6596d only size and alignment on
x86-64 are known (32 and 8, read from the arena of the running wheel), not the members' names.
"""

from __future__ import annotations

from tflm_sim.target.abi import CStruct, declare

SNAPSHOT_STRUCTS: dict[str, tuple[CStruct, ...]] = {
    "8f6596d": (
        declare(
            "TfLiteFullyConnectedParams",
            "measured in tflite-micro 0.dev20261023182759",
            "enum activation; enum weights_format; bool keep_num_dims; bool asymmetric_quantize_inputs; "
            "enum quantized_bias_type; int64[2] unnamed",
        ),
    ),
}
