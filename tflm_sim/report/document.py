"""The documents of ``size``: one versioned object a model, which every skin shows and a saved file holds.

``schemas/size.json`` is the published schema; a saved document can be rendered later.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from tflm_sim.answers.simulation import Simulation
from tflm_sim.device.configuration import Configuration
from tflm_sim.documents import INLINE, OPTIONAL, Count, OneOf, Range, Sha256
from tflm_sim.errors import TflmSimError
from tflm_sim.model.types import Model
from tflm_sim.report.size import ArenaAnswer, SizeAnswer, arena_answer, size_answer
from tflm_sim.targets.target import Target
from tflm_sim.values import dataclass, field

Alignment = Annotated[int, OneOf(4, 8)]


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a model file is known by; a file that cannot be used by its path alone."""

    path: str | None
    sha256: Sha256 | None
    bytes: Count | None


@dataclass(frozen=True, slots=True)
class AbiFacts:
    """What decides the size of a struct."""

    name: str
    pointer_size: Alignment
    int64_alignment: Alignment
    double_alignment: Alignment
    short_enums: bool


@dataclass(frozen=True, slots=True)
class RuntimeFacts:
    """A version of TFLM, and its build flags."""

    snapshot: str
    static_memory: bool
    compression: bool


@dataclass(frozen=True, slots=True)
class KernelFacts:
    """A kernel library."""

    name: str
    version: str
    variant: str


@dataclass(frozen=True, slots=True)
class TargetFacts:
    """A machine and a build."""

    name: str
    abi: AbiFacts
    runtime: RuntimeFacts
    kernels: KernelFacts
    ethos_u: bool
    arena_address_modulo_16: Annotated[int, Range(0, 15)]
    verified_against: str


@dataclass(frozen=True, slots=True)
class ConfigurationFacts:
    """Everything outside the model that decides a byte.

    Attributes:
        variable_arena_bytes: Of an arena of its own for the table of resource variables.
    """

    target: TargetFacts
    interpreter: Annotated[str, OneOf("plain", "recording")]
    planner: Annotated[str, OneOf("greedy", "linear")]
    resource_variable_count: Count | None
    variable_arena_bytes: Count | None
    split_arenas: bool
    custom_ops: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ErrorFacts:
    """Why we cannot go on; ``kind`` is the error's class."""

    kind: str
    message: str
    exit_code: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeDocument:
    """One model on one configuration.

    Attributes:
        advice: What ``shrink`` would give, in a line; with --advise.
    """

    IS_OPEN: ClassVar = True
    schema_version: Literal[1] = 1
    model: ModelFacts
    configuration: ConfigurationFacts = field(metadata=INLINE)
    answer: SizeAnswer = field(metadata=INLINE)
    advice: str | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArenaDocument:
    """With --arena-size: what happens in an arena of that size."""

    schema_version: Literal[1] = 1
    model: ModelFacts
    configuration: ConfigurationFacts = field(metadata=INLINE)
    answer: ArenaAnswer = field(metadata=INLINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorDocument:
    """A model on which we cannot go on."""

    IS_OPEN: ClassVar = True
    schema_version: Literal[1] = 1
    model: ModelFacts
    configuration: ConfigurationFacts = field(metadata=INLINE)
    error: ErrorFacts


def size_document(simulation: Simulation, *, advice: str | None = None) -> SizeDocument:
    """Return the report of one model."""
    return SizeDocument(
        model=model_facts(simulation.model),
        configuration=configuration_facts(simulation.configuration),
        answer=size_answer(simulation),
        advice=advice,
    )


def arena_document(simulation: Simulation) -> ArenaDocument:
    """Return what happens to one model in an arena of a given size."""
    return ArenaDocument(
        model=model_facts(simulation.model),
        configuration=configuration_facts(simulation.configuration),
        answer=arena_answer(simulation),
    )


def error_document(path: str, model: Model | None, configuration: Configuration, error: TflmSimError) -> ErrorDocument:
    """Return the document for a model on which *we* cannot go on."""
    return ErrorDocument(
        model=model_facts(model, path),
        configuration=configuration_facts(configuration),
        error=ErrorFacts(type(error).__name__, str(error), error.exit_code),
    )


def model_facts(model: Model | None, path: str | None = None) -> ModelFacts:
    """Return what a model file is known by; ``path`` is for one that could not be read."""
    if model is None:
        return ModelFacts(path, None, None)
    import hashlib  # It loads a crypto library, which whoever reads text need not wait for.

    return ModelFacts(model.path, hashlib.sha256(model.source).hexdigest(), len(model.source))


def configuration_facts(configuration: Configuration) -> ConfigurationFacts:
    """Return everything outside the model that decides a byte."""
    return ConfigurationFacts(
        target=_target(configuration.target),
        interpreter=configuration.interpreter,
        planner=configuration.planner,
        resource_variable_count=configuration.resource_variable_count,
        variable_arena_bytes=configuration.variable_arena_size,
        split_arenas=configuration.is_split,
        custom_ops=tuple(row.op for row in configuration.custom_ops),
    )


def _target(target: Target) -> TargetFacts:
    abi, runtime, kernels = target.abi, target.runtime, target.kernel_library
    return TargetFacts(
        name=target.name,
        abi=AbiFacts(abi.name, abi.pointer_size, abi.int64_alignment, abi.double_alignment, abi.short_enums),
        runtime=RuntimeFacts(runtime.snapshot, runtime.static_memory, runtime.compression),
        kernels=KernelFacts(kernels.name, kernels.version, kernels.variant),
        ethos_u=target.ethos_u,
        arena_address_modulo_16=target.arena_address,
        verified_against=target.verified_against,
    )
