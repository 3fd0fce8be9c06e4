"""``Target``: everything outside the model that decides a byte."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from tflm_sim.document_fields import DERIVED, HIDDEN, named
from tflm_sim.errors import UsageError, expect, whole_number
from tflm_sim.targets.abi import Abi
from tflm_sim.targets.evidence import recordings_of
from tflm_sim.targets.kernel_library import KernelLibrary, newer_releases
from tflm_sim.targets.runtime import Runtime
from tflm_sim.targets.structs import Layouts, MeasuredStruct, StructLayout, layouts

if TYPE_CHECKING:
    from typing import Annotated, Any

    from tflm_sim.document_types import Range


@dataclass(frozen=True)
class Target:
    """A named machine and build.

    Attributes:
        name: The preset's name, or what the user called it.
        abi: The compiler's layout rules.
        runtime: The TFLM snapshot and its build flags.
        kernel_library: Whose kernels are linked.
        arena_address: Where the arena starts in memory, modulo 16 (0: aligned, as TFLM asks for).
        interpreter: Which interpreter the firmware makes unless one is named: "plain" or "recording".
        ethos_u: Whether the firmware links the Ethos-U driver, without which TFLM refuses what Vela compiled.
        verified_against: The recordings of real TFLM with exactly this core, these kernels and this TFLM
            (``targets/evidence.py``), "" where it was not measured.
        newer_kernels: Releases that are newer than these kernels and not modelled ("1.3.2 to 1.5.0"): with them the
            arena may have to be larger or smaller; "" for none, and for kernels that are not the default ones.
        measured: Structs whose sizes are known by measurement; they go before the tables of ``runtime``.
    """

    name: str
    abi: Abi
    runtime: Runtime
    kernel_library: KernelLibrary = field(metadata=named("kernels"))
    arena_address: Annotated[int, Range(0, 15)] = field(default=0, metadata=named("arena_address_modulo_16"))
    interpreter: str = field(default="plain", metadata=HIDDEN)
    ethos_u: bool = False
    verified_against: str = field(init=False, compare=False, metadata=DERIVED)
    newer_kernels: str = field(init=False, compare=False, metadata=DERIVED)
    description: str = field(default="", compare=False, metadata=HIDDEN)
    measured: tuple[MeasuredStruct, ...] = field(default=(), metadata=HIDDEN)

    def __post_init__(self) -> None:
        if not (type(self.arena_address) is int and 0 <= self.arena_address <= 15):
            object.__setattr__(self, "arena_address", whole_number(self.arena_address, "arena_address", 0, 15))
        if type(self.ethos_u) is not bool:
            object.__setattr__(self, "ethos_u", expect(self.ethos_u, bool, "ethos_u as a truth value"))
        files = dict.fromkeys(row.file for row in recordings_of(self))
        object.__setattr__(self, "verified_against", "; ".join(files))
        object.__setattr__(self, "newer_kernels", newer_releases(self.kernel_library))

    def __repr__(self) -> str:
        return f"<Target {self.name}, {self.kernel_library} kernels>"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "structs"}

    @cached_property
    def structs(self) -> Layouts:
        """The layout of every struct that TFLM puts in the arena, by name."""
        if self.measured:
            return Layouts(self.abi, self.runtime, self.measured)
        return layouts(self.abi, self.runtime)

    def sizeof(self, struct: str) -> int:
        """Return the size of a struct in bytes; a UsageError where its TFLM has no such struct."""
        return self.layout(struct).size

    def alignof(self, struct: str) -> int:
        """Return the alignment of a struct in bytes; a UsageError where its TFLM has no such struct."""
        return self.layout(struct).alignment

    def layout(self, struct: str) -> StructLayout:
        """Return how a struct lies in memory; a UsageError where its TFLM has no such struct."""
        try:
            return self.structs[struct]
        except KeyError as missing:
            raise UsageError(
                f"the {self.runtime} has no struct {missing}; those of TFLM are declared in "
                "tflm_sim/targets/struct_tables, give the size of your own structs in bytes"
            ) from None
