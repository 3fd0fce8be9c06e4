"""The layout of every struct that TFLM puts in the arena, for a compiler and a runtime.

The tables in ``struct_tables`` declare TFLM's structs field by field; :func:`layouts` applies an :class:`Abi` to them.
Names are qualified names without ``tflite::``; a struct in an anonymous namespace is called after its file:
``add_n.OpData``, ``cmsis_nn/conv.OpData``.
"""

from __future__ import annotations

from functools import lru_cache

from tflm_sim.targets.abi import Abi, CStruct
from tflm_sim.targets.abi import StructLayout as StructLayout
from tflm_sim.targets.runtime import Runtime
from tflm_sim.targets.struct_tables import builtin_data, cmsis_nn, esp_nn, framework, kernels, signal
from tflm_sim.targets.struct_tables.snapshots import SNAPSHOT_STRUCTS

_REFERENCE = (
    *framework.STRUCTS,
    *builtin_data.STRUCTS,
    *kernels.STRUCTS,
    *signal.STRUCTS,
    *cmsis_nn.STRUCTS,
    *esp_nn.STRUCTS,
)


def declarations(runtime: Runtime) -> dict[str, CStruct]:
    """Return every struct of a runtime as declared, by name: the reference snapshot's, then what its own replaces."""
    rows = {struct.name: struct for struct in _REFERENCE}
    assert len(rows) == len(_REFERENCE), "a struct is declared twice"
    rows.update((struct.name, struct) for struct in SNAPSHOT_STRUCTS.get(runtime.snapshot, ()))
    return rows


@lru_cache(maxsize=64)
def layouts(abi: Abi, runtime: Runtime) -> dict[str, StructLayout]:
    """Return the layout of every struct by name. The dict is shared between calls: do not change it."""
    rows = declarations(runtime)
    done: dict[str, StructLayout] = {}

    def place(struct: CStruct) -> None:
        for field in struct.fields:
            if field.type in rows and field.type not in done:
                place(rows[field.type])
        done[struct.name] = struct.layout(abi, done, runtime.flags)

    for struct in rows.values():
        place(struct)
    return done
