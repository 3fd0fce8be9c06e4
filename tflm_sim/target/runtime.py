"""``Runtime``: which TFLM is linked, and the build flags that change its structs."""

from __future__ import annotations

from dataclasses import dataclass

REFERENCE_SNAPSHOT = "90b983c2b"


@dataclass(frozen=True, slots=True)
class Runtime:
    """A TFLM snapshot and how it was built.

    Attributes:
        snapshot: The commit of tensorflow/tflite-micro; its structs are a column of ``struct_tables``.
        static_memory: TF_LITE_STATIC_MEMORY, the lean ``TfLiteTensor``. Every microcontroller build sets it, and only
            that is modelled.
        compression: USE_TFLM_COMPRESSION, which adds members to OpData and to the allocator.
    """

    snapshot: str = REFERENCE_SNAPSHOT
    static_memory: bool = True
    compression: bool = False

    def __post_init__(self) -> None:
        assert self.static_memory, "builds without TF_LITE_STATIC_MEMORY have no struct tables"

    @property
    def flags(self) -> frozenset[str]:
        """The build flags that struct members depend on."""
        return frozenset({"compression"} if self.compression else ())
