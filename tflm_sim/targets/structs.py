"""The layout of every struct that TFLM puts in the arena, for a compiler and a runtime.

The tables in ``struct_tables`` declare TFLM's structs field by field; :func:`layouts` applies an :class:`Abi` to them.
Names are qualified names without ``tflite::``; a struct in an anonymous namespace is called after its file:
``add_n.OpData``, ``cmsis_nn/conv.OpData``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from tflm_sim.targets.abi import Abi, CStruct
from tflm_sim.targets.abi import StructLayout as StructLayout
from tflm_sim.targets.runtime import Runtime
from tflm_sim.targets.struct_tables import builtin_data, cmsis_nn, esp_nn, framework, kernels, signal
from tflm_sim.targets.struct_tables.history import BEFORE
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
    """Return every struct of a runtime as declared, by name: the newest, before each change, as a fork has it."""
    rows = {struct.name: struct for struct in _REFERENCE}
    assert len(rows) == len(_REFERENCE), "a struct is declared twice"
    rows.update((struct.name, struct) for change, struct in BEFORE if not runtime.has(change))
    rows.update((struct.name, struct) for struct in SNAPSHOT_STRUCTS.get(runtime.snapshot, ()))
    return rows


class MeasuredStruct(NamedTuple):
    """A struct as a compiler's debug information describes it.

    Attributes:
        name: As in ``struct_tables``.
        size: Bytes, padding included.
        alignment: Bytes; None where it is not said.
    """

    name: str
    size: int
    alignment: int | None


def layouts(abi: Abi, runtime: Runtime) -> dict[str, StructLayout]:
    """Return the layout of every struct by name. The dict is shared between calls: do not change it."""
    return measured_layouts(abi, runtime, ())


@lru_cache(maxsize=64)
def measured_layouts(abi: Abi, runtime: Runtime, measured: tuple[MeasuredStruct, ...]) -> dict[str, StructLayout]:
    """Return :func:`layouts` where ``measured`` structs have the size that was measured, as parts of others too."""
    rows = declarations(runtime)
    known = {struct.name: struct for struct in measured}
    done: dict[str, StructLayout] = {}

    def place(struct: CStruct) -> None:
        for field in struct.fields:
            if field.type in rows and field.type not in done:
                place(rows[field.type])
        layout = struct.layout(abi, done, runtime.flags)
        if struct.name in known:
            _, size, alignment = known[struct.name]
            layout = StructLayout(size, layout.alignment if alignment is None else alignment, layout.members)
        done[struct.name] = layout

    for struct in rows.values():
        place(struct)
    return done
