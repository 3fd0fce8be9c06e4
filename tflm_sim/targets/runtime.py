"""``Runtime``: which TFLM is linked, and the build flags that change its structs.

A snapshot is a column of ``struct_tables``: structs that are not listed for it are those of the reference snapshot.

    90b983c2b        tensorflow/tflite-micro of August 2026. esp-tflite-micro 1.3.8 and 1.4.0 (synced in July 2026) have
                     the same structs, and the same Prepare of every kernel outside kernels/esp_nn.
    esp-tflite-micro-1.3.3
                     TFLM of January 2025, which ESPHome pins (1.3.3~1)
    8f6596d          what the pip wheel of October 2026 was built from
    chirale-2.0.0    the Arduino library Chirale_TensorFLowLite: tensorflow/tflite-micro 0c425da36 of January 2023
"""

from __future__ import annotations

from dataclasses import dataclass

REFERENCE_SNAPSHOT = "90b983c2b"
WHEEL_SNAPSHOT = "8f6596d"
CHIRALE_SNAPSHOT = "chirale-2.0.0"
ESP_1_3_3_SNAPSHOT = "esp-tflite-micro-1.3.3"


@dataclass(frozen=True, slots=True)
class Runtime:
    """A TFLM snapshot and how it was built.

    Attributes:
        snapshot: One of the above.
        static_memory: TF_LITE_STATIC_MEMORY, the lean ``TfLiteTensor`` and ``TfLiteNode``. The makefiles set it; an
            Arduino library cannot.
        compression: USE_TFLM_COMPRESSION, which adds members to OpData and to the allocator.
    """

    snapshot: str = REFERENCE_SNAPSHOT
    static_memory: bool = True
    compression: bool = False

    def __post_init__(self) -> None:
        rows_exist = self.static_memory == (self.snapshot != CHIRALE_SNAPSHOT)
        assert rows_exist, "only chirale-2.0.0 has struct tables without TF_LITE_STATIC_MEMORY, and no others"

    @property
    def flags(self) -> frozenset[str]:
        """The build flags that struct members depend on."""
        return frozenset({"compression"} if self.compression else ())
