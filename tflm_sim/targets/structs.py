"""The layout of every struct that TFLM puts in the arena, for a compiler and a runtime.

The texts in ``struct_tables`` declare TFLM's structs member by member, of all versions; :func:`layouts` applies an
:class:`~tflm_sim.targets.abi.Abi` to those of one. Names are qualified names without ``tflite::``; a struct in an
anonymous namespace is called after its file: ``add_n.OpData``, ``cmsis_nn/conv.OpData``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from tflm_sim.targets.abi import Abi
from tflm_sim.targets.declarations import CStruct, Header
from tflm_sim.targets.declarations import StructLayout as StructLayout
from tflm_sim.targets.runtime import Runtime
from tflm_sim.targets.struct_tables import framework, kernels, libraries

_VERSIONS = 512
"""How many versions are kept: a program that is read is compared with some 200, and the next one with the same."""
_HEADER = framework.STRUCTS + kernels.STRUCTS + libraries.STRUCTS


@lru_cache(maxsize=_VERSIONS)
def declarations(runtime: Runtime) -> Mapping[str, CStruct]:
    """Return every struct of a runtime as it declares it, by name."""

    def has(word: str) -> bool:
        if word in ("compression", "static_memory", "kernels_for_size"):
            return bool(getattr(runtime, word))
        return runtime.has(word)

    return Header(_HEADER, has)


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


class Layouts(Mapping[str, StructLayout]):
    """The layout of every struct by name, worked out when it is asked for.

    Args:
        abi: The compiler's rules.
        runtime: Whose structs.
        measured: Structs whose size is known; it is used where they are parts of others too.
    """

    def __init__(self, abi: Abi, runtime: Runtime, measured: tuple[MeasuredStruct, ...]) -> None:
        self._abi = abi
        self._structs = declarations(runtime)
        self._measured = {struct.name: struct for struct in measured}
        self._found: dict[str, StructLayout] = {}

    def __getitem__(self, name: str) -> StructLayout:
        layout = self._found.get(name)
        if layout is None:
            layout = self._structs[name].layout(self._abi, self)
            if name in self._measured:
                _, size, alignment = self._measured[name]
                layout = StructLayout(size, layout.alignment if alignment is None else alignment, layout.members)
            self._found[name] = layout
        return layout

    def __iter__(self) -> Iterator[str]:
        return iter(self._structs)

    def __len__(self) -> int:
        return len(self._structs)


@lru_cache(maxsize=_VERSIONS)
def layouts(abi: Abi, runtime: Runtime) -> Layouts:
    """Return the layout of every struct by name, one object for all who ask."""
    return Layouts(abi, runtime, ())
