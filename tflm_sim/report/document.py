"""The documents of ``size``: one versioned object a model, which every skin shows and a saved file holds.

``schemas/size.json`` is the published schema; a saved document can be rendered later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from tflm_sim.answers.simulation import Simulation
from tflm_sim.checks.candidates import CandidateNeed
from tflm_sim.checks.doubts import Answer
from tflm_sim.device.configuration import Configuration
from tflm_sim.document_fields import INLINE, OPTIONAL, PARTS, named
from tflm_sim.document_types import Count, OneOf, Sha256
from tflm_sim.errors import TflmSimError
from tflm_sim.model.types import Model
from tflm_sim.report.size_answer import ArenaAnswer, SizeAnswer, arena_answer, size_answer
from tflm_sim.targets.ram_beside import RamBeside
from tflm_sim.targets.target import Target


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a model file is known by; a file that cannot be used by its path alone."""

    path: str | None
    sha256: Sha256 | None
    bytes: Count | None


@dataclass(frozen=True, slots=True)
class ConfigurationFacts:
    """Everything outside the model that decides a byte.

    Attributes:
        has_own_planner: Whether the firmware makes the memory planner, outside of the arena.
        variable_arena_bytes: Of an arena of its own for the table of resource variables.
    """

    target: Target
    interpreter: Annotated[str, OneOf("plain", "recording")]
    planner: Annotated[str, OneOf("greedy", "linear")]
    has_own_planner: bool
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
        assumed: The options that the answer depends on and that were not given.
        candidates: With --firmware: what each target needs that the file leaves possible, where they differ; the rest
            is about the one that needs most.
        ram: With --beside: what the board's software leaves of its RAM, and the source of each figure.
        fitting: With --beside: whether the arena fits there; in a linked program: whether the model works.
        parts: What extensions say beside it, by key.
    """

    IS_OPEN: ClassVar = True
    schema_version: Literal[1] = 1
    model: ModelFacts
    configuration: ConfigurationFacts = field(metadata=INLINE)
    answer: SizeAnswer = field(metadata=INLINE)
    candidates: tuple[CandidateNeed, ...] | None = field(default=None, metadata=OPTIONAL)
    assumed: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)
    ram: RamBeside | None = field(default=None, metadata=OPTIONAL)
    fitting: Answer | None = field(default=None, metadata=OPTIONAL | named("answer"))
    parts: Mapping[str, Any] = field(default_factory=dict, metadata=PARTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArenaDocument:
    """With --arena-size: what happens in an arena of that size.

    Attributes:
        assumed: The options that the answer depends on and that were not given.
        parts: What extensions say beside it, by key.
    """

    schema_version: Literal[1] = 1
    model: ModelFacts
    configuration: ConfigurationFacts = field(metadata=INLINE)
    answer: ArenaAnswer = field(metadata=INLINE)
    assumed: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)
    parts: Mapping[str, Any] = field(default_factory=dict, metadata=PARTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorDocument:
    """A model on which we cannot go on.

    Attributes:
        answer: In a linked program whose file does not say what has to be simulated: whether the model works.
    """

    IS_OPEN: ClassVar = True
    schema_version: Literal[1] = 1
    model: ModelFacts
    configuration: ConfigurationFacts = field(metadata=INLINE)
    answer: Answer | None = field(default=None, metadata=OPTIONAL)
    error: ErrorFacts


def size_document(
    simulation: Simulation,
    *,
    parts: Mapping[str, object] | None = None,
    candidates: Sequence[CandidateNeed] = (),
    assumed: tuple[str, ...] | None = None,
    ram: RamBeside | None = None,
    fitting: Answer | None = None,
) -> SizeDocument:
    """Return the report of one model.

    Args:
        simulation: Of it.
        parts: What extensions say beside it.
        candidates: What each possible target of a program needs.
        assumed: The options that were not given, None where no options were asked for.
        ram: What a board's software leaves of its RAM.
        fitting: Whether the arena fits there, or the model works in a program; None where nobody asked.
    """
    return SizeDocument(
        model=model_facts(simulation.model),
        configuration=configuration_facts(simulation.configuration),
        answer=size_answer(simulation),
        parts=parts or {},
        candidates=tuple(candidates) or None,
        assumed=assumed,
        ram=ram,
        fitting=fitting,
    )


def arena_document(
    simulation: Simulation,
    *,
    assumed: tuple[str, ...] | None = None,
    parts: Mapping[str, object] | None = None,
    answer: Answer | None = None,
) -> ArenaDocument:
    """Return what happens to one model in an arena of a given size.

    Args:
        simulation: Of the model in that arena.
        assumed: The options that the answer depends on and that were not given.
        parts: What extensions say beside it.
        answer: That of a linked program, with its doubts; None where there is no program.
    """
    return ArenaDocument(
        model=model_facts(simulation.model),
        configuration=configuration_facts(simulation.configuration),
        answer=arena_answer(simulation, answer),
        assumed=assumed,
        parts=parts or {},
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
        target=configuration.target,
        interpreter=configuration.interpreter,
        planner=configuration.planner,
        has_own_planner=configuration.own_planner,
        resource_variable_count=configuration.resource_variables,
        variable_arena_bytes=configuration.variable_arena,
        split_arenas=configuration.split_arenas,
        custom_ops=tuple(row.op for row in configuration.custom_ops),
    )
