"""One model on the mobile runtime, in the form that machines compare: spans, tensors, temporaries, messages.

Source: tflite/python/interpreter_wrapper/interpreter_wrapper.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from tflm_sim.document_fields import OPTIONAL
from tflm_sim.document_types import Count, OneOf
from tflm_sim.errors import SimulatedFailure, UsageError, each_of, expect, whole_number
from tflm_sim.extensions.lite.builtin_ops import builtin_op_resolver
from tflm_sim.extensions.lite.graph_info import AllocationType, present
from tflm_sim.extensions.lite.kernels.call import OPTIMIZED, REFERENCE
from tflm_sim.extensions.lite.releases import DEFAULT_RELEASE, find_release
from tflm_sim.extensions.lite.subgraph import TfLiteSubgraph
from tflm_sim.extensions.lite.tflite_interpreter import Interpreter, ModelRefused, build_interpreter
from tflm_sim.model.load import ModelLike, load
from tflm_sim.model.types import Model
from tflm_sim.names import unknown

Resizes = Sequence[tuple[int, tuple[int, ...]]]
"""Tensor indices of inputs, and the shapes that they are given."""

LEFT_OUT = (
    "left out: the XNNPACK delegate, which apps get by default; it takes nodes away and has memory of its own",
    "left out: the heap (dynamic tensors, kernels' own tables) and what the interpreter itself needs",
)
"""What an answer does not count; every answer says so."""


_KERNELS = (OPTIMIZED, REFERENCE)
MAX_THREADS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class LiteSettings:
    """How the interpreter is made.

    Attributes:
        kernels: "optimized" or "reference".
        preserves_all_tensors: Whether every tensor keeps its bytes (experimental_preserve_all_tensors).
        threads: How many threads kernels may use.
        release: The release of the runtime, one of ``releases.RELEASES``.

    Raises:
        UsageError: There are no such kernels, or not so many threads.
    """

    kernels: str = OPTIMIZED
    preserves_all_tensors: bool = False
    threads: int = 1
    release: str = DEFAULT_RELEASE

    def __post_init__(self) -> None:
        if expect(self.kernels, str, "the name of a set of kernels") not in _KERNELS:
            raise unknown("set of kernels", self.kernels, _KERNELS)
        is_kept = expect(self.preserves_all_tensors, bool, "preserves_all_tensors as a truth value")
        object.__setattr__(self, "preserves_all_tensors", is_kept)
        find_release(self.release)
        object.__setattr__(self, "threads", whole_number(self.threads, "threads", 1, MAX_THREADS))

    @property
    def runtime(self) -> str:
        """The name of the package whose answers these are, with its version."""
        return f"ai-edge-litert{'-nightly' if '.dev' in self.release else ''} {self.release}"


@dataclass(slots=True)
class Answer:
    """What the runtime made of a model (mutable while steps are taken).

    Pickled, it is the question, which is answered again where it is unpickled.

    Attributes:
        interpreter: The runtime's state; None when it refuses the model.
        status: "ok", or "error" once the last step failed.
        reports: The messages of the runtime until now.
        left_out: What no figure of it counts.
        question: The model, the settings and the shapes that it answers.
    """

    interpreter: Interpreter | None
    status: str = "ok"
    reports: list[str] = field(default_factory=list)
    left_out: tuple[str, ...] = LEFT_OUT
    question: tuple[Model, LiteSettings, Resizes | None] | None = None

    def __repr__(self) -> str:
        return f"<Answer of the mobile runtime: {self.status}, {len(self.subgraphs)} subgraphs>"

    def __reduce__(self) -> tuple[Any, ...]:
        assert self.question is not None, "allocated() makes answers"
        return _asked_again, self.question

    @property
    def subgraphs(self) -> tuple[TfLiteSubgraph, ...]:
        """The subgraphs, none when the model was refused."""
        return () if self.interpreter is None else self.interpreter.subgraphs


def allocated(
    model: ModelLike,
    settings: LiteSettings | None = None,
    *,
    shapes: Resizes | Callable[[TfLiteSubgraph], Resizes] | None = None,
) -> Answer:
    """Return a model after AllocateTensors; with ``shapes``, even none, resized by them and allocated again.

    Args:
        model: A Model, a path, bytes, ``sample:NAME``.
        settings: How the interpreter is made; None for the defaults.
        shapes: Tensor index and shape of the inputs that ResizeInputTensor is called for, in this order; or what
            tells them of the allocated first subgraph, as ``double_batch`` does.
    """
    of, chosen = load(model, strict=False), LiteSettings() if settings is None else settings
    expect(chosen, LiteSettings, "settings as LiteSettings")
    answer = _built(of, chosen)
    answer.question = (of, chosen, None)
    if answer.interpreter is None:
        return answer
    _allocate(answer)
    if shapes is not None:
        resizes = _resizes(shapes(answer.subgraphs[0]) if callable(shapes) else shapes)
        answer.question = (of, chosen, resizes)
        _resize(answer, resizes)
    return answer


_RESIZES = "shapes as pairs (tensor, shape)"


def _resizes(given: object) -> Resizes:
    pairs = each_of(given, list | tuple, _RESIZES)
    if any(len(pair) != 2 for pair in pairs):
        raise UsageError(f"{_RESIZES} was expected, not sequences of another length")
    return tuple([(expect(index, int, _RESIZES), _shape(shape)) for index, shape in pairs])


def _shape(given: object) -> tuple[int, ...]:
    """Return a shape, whose dimensions are ``int`` in C."""
    rows = each_of(given, object, _RESIZES)
    return tuple([whole_number(row, "a dimension", -(2**31), 2**31 - 1) for row in rows])


def _asked_again(model: Model, settings: LiteSettings, shapes: Resizes | None) -> Answer:
    return allocated(model, settings, shapes=shapes)


def double_batch(subgraph: TfLiteSubgraph) -> Resizes:
    """Return the graph's inputs that have a dimension 0 now, with that one doubled."""
    expected = "a subgraph of an allocated model (double_batch is what 'shapes' of lite_allocated() takes)"
    expect(subgraph, TfLiteSubgraph, expected)
    rows = [(index, subgraph.tensors[index].shape) for index in present(subgraph.inputs)]
    return [(index, (2 * shape[0], *shape[1:])) for index, shape in rows if shape]


def _built(model: Model, settings: LiteSettings) -> Answer:
    try:
        interpreter = build_interpreter(
            model,
            builtin_op_resolver(settings.kernels, release=settings.release),
            preserves_all_tensors=settings.preserves_all_tensors,
            threads=settings.threads,
        )
    except ModelRefused as refusal:
        return Answer(None, "error", refusal.reports)
    return Answer(interpreter, "ok", interpreter.reports)


def _allocate(answer: Answer) -> None:
    assert answer.interpreter is not None, "only a model that was accepted is allocated"
    try:
        answer.interpreter.allocate_tensors()
        answer.status = "ok"
    except SimulatedFailure as failure:
        answer.status = "error"
        if failure.status == "abort":
            answer.reports.append(f"({failure})")  # the runtime itself has no time to say anything


def _resize(answer: Answer, shapes: Resizes) -> None:
    assert answer.interpreter is not None, "only a model that was accepted is resized"
    is_refused = False
    for index, shape in shapes:
        try:
            answer.interpreter.resize_input(index, shape)
        except SimulatedFailure:
            is_refused = True
            break
    _allocate(answer)
    if is_refused:
        answer.status = "error"


@dataclass(frozen=True, slots=True)
class FileName:
    """The model's file."""

    path: str


@dataclass(frozen=True, slots=True)
class SubgraphDocument:
    """One subgraph. Offsets count from the lowest tensor of an arena, as one reads them off addresses.

    Attributes:
        arena_rw_span: From the lowest to the highest byte of the arena that is shared over time.
        persistent_span: The same of the persistent one.
        tensors: Kind of memory, offset, bytes and shape of each.
        temporaries: Tensors of each node's kernel.
    """

    arena_rw_span: Count
    persistent_span: Count
    tensors: tuple[tuple[str, int | None, int, tuple[int, ...]], ...]
    temporaries: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class LiteDocument:
    """What the mobile runtime makes of a model: the contract for machines.

    Attributes:
        runtime: The release that answers are compared with; left out where the file cannot be used.
        errors: What it reports.
        not_modelled: Operators whose Prepare may need more.
        left_out: What no answer counts.
    """

    model: FileName
    runtime: str | None = field(metadata=OPTIONAL)
    status: Annotated[str, OneOf("ok", "error")]
    errors: tuple[str, ...]
    subgraphs: tuple[SubgraphDocument, ...]
    not_modelled: tuple[str, ...] | None = field(default=None, metadata=OPTIONAL)
    left_out: tuple[str, ...] = LEFT_OUT


def machine_document(path: str, answer: Answer) -> LiteDocument:
    """Return one line of ``tflm-sim lite --jsonl``."""
    return LiteDocument(
        model=FileName(path),
        runtime=LiteSettings().runtime if answer.question is None else answer.question[1].runtime,
        status=answer.status,
        errors=tuple(answer.reports) if answer.status == "error" else (),
        subgraphs=tuple(map(subgraph_document, answer.subgraphs)),
        not_modelled=tuple(unmodelled(answer)),
        left_out=answer.left_out,
    )


def unmodelled(answer: Answer) -> list[str]:
    """Return the operators whose Prepare may change memory and is not modelled."""
    nodes = [subgraph.nodes[index] for subgraph in answer.subgraphs for index in subgraph.nodes_with_unknown_memory]
    return sorted({node.registration.name for node in nodes})


def _span(subgraph: TfLiteSubgraph, kind: AllocationType) -> range:
    """Return the bytes from the lowest placed tensor of a kind to the end of the highest."""
    placed = [
        (tensor.offset, tensor.offset + tensor.size)
        for tensor in subgraph.tensors
        if tensor.allocation_type is kind and tensor.offset is not None
    ]
    return range(min((start for start, _ in placed), default=0), max((end for _, end in placed), default=0))


def subgraph_document(subgraph: TfLiteSubgraph) -> SubgraphDocument:
    """Return one subgraph: the spans of its arenas, its tensors, and the temporaries of its nodes."""
    kinds = (AllocationType.ARENA_RW, AllocationType.ARENA_RW_PERSISTENT)
    arena, persistent = spans = [_span(subgraph, kind) for kind in kinds]
    lowest = {kind: span.start for kind, span in zip(kinds, spans, strict=True)}
    tensors = []
    for tensor in subgraph.tensors:
        base = lowest.get(tensor.allocation_type)
        offset = None if base is None or tensor.offset is None else tensor.offset - base
        tensors.append((tensor.allocation_type.machine_name, offset, tensor.size, tuple(tensor.shape)))
    return SubgraphDocument(
        arena_rw_span=len(arena),
        persistent_span=len(persistent),
        tensors=tuple(tensors),
        temporaries=tuple(tuple(present(node.temporaries)) for node in subgraph.execution_nodes),
    )
