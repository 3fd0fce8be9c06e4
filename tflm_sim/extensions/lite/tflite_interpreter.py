"""TFLite's ``InterpreterBuilder`` and ``Interpreter``: a model file and a resolver become subgraphs that can run.

Constants stay in the file; variables go to the persistent arena, everything else with a size to the other one.

Source: tflite/core/interpreter_builder.cc, interpreter.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tflm_sim.errors import PrepareError, SimulatedFailure
from tflm_sim.extensions.lite.delegates import Delegate
from tflm_sim.extensions.lite.delegation import DelegationError
from tflm_sim.extensions.lite.file_parts import fill_subgraph, registrations_of
from tflm_sim.extensions.lite.graph_info import TfLiteRegistration
from tflm_sim.extensions.lite.op_resolver import MutableOpResolver, is_flex_op, refused
from tflm_sim.extensions.lite.subgraph import TfLiteSubgraph
from tflm_sim.model.types import Model

SCHEMA_VERSION = 3
_VALIDATION = "VALIDATION:"
_NOT_APPLIED = "Failed to apply delegates.\n"


class ModelRefused(PrepareError):
    """The runtime makes no interpreter for a model; ``reports`` is what it says of it, ``device_message`` in one."""

    def __init__(self, sentence: str, reports: Sequence[str]) -> None:
        super().__init__(sentence, device_message="".join(reports))
        self.reports = list(filter(None, reports))


class Interpreter:
    """A model that can be allocated and run (mutable); only its first subgraph runs by itself.

    Attributes:
        subgraphs: In the model's order.
        reports: The messages to the error reporter, in order; a failure's exception has the same text.
    """

    def __init__(self, subgraphs: Sequence[TfLiteSubgraph], reports: list[str] | None = None) -> None:
        self.subgraphs = tuple(subgraphs)
        self.reports = [] if reports is None else reports
        for subgraph in self.subgraphs:
            subgraph.siblings, subgraph.reports = self.subgraphs, self.reports

    @property
    def primary(self) -> TfLiteSubgraph:
        """The subgraph that ``invoke`` runs."""
        return self.subgraphs[0]

    def allocate_tensors(self) -> None:
        """Plan and allocate the memory of the first subgraph, as ``TfLiteSubgraph.allocate_tensors`` (errors too)."""
        with self._reporting_failures():
            self.primary.allocate_tensors()

    def resize_input(self, index: int, shape: Sequence[int], *, strict: bool = False) -> None:
        """Set the shape of a tensor of the first subgraph; the errors are those of ``TfLiteSubgraph.resize_input``."""
        with self._reporting_failures():
            self.primary.resize_input(index, tuple(shape), strict=strict)

    @contextmanager
    def _reporting_failures(self) -> Iterator[None]:
        try:
            yield
        except SimulatedFailure as failure:
            if failure.device_message:
                self.reports.append(failure.device_message)
            raise

    def set_tensor(self, index: int, data: bytes) -> None:
        """Copy bytes into a tensor of the first subgraph, an input before ``invoke``.

        Raises:
            PrepareError: The tensor has no bytes, or another number of them.
        """
        target = self.primary.data(index)
        if target is None or len(target) != len(data):
            has = "no bytes" if target is None else f"{len(target)} bytes"
            raise refused(f"tensor {index} has {has}; {len(data)} were given")
        target[:] = data

    def get_tensor(self, index: int) -> bytes:
        """Return a copy of a tensor's bytes, none for a tensor without any."""
        return bytes(self.primary.data(index) or b"")

    def invoke(self) -> None:
        """Run the first subgraph; the errors are those of ``TfLiteSubgraph.invoke``."""
        with self._reporting_failures():
            self.primary.invoke()

    def modify_graph_with_delegate(self, delegate: Delegate) -> None:
        """Let a delegate take nodes of every subgraph but those that only validate.

        Raises:
            SimulatedFailure: Those of ``TfLiteSubgraph.modify_graph_with_delegate``; then no subgraph keeps a delegate.
        """
        with self._reporting_failures():
            try:
                for subgraph in self.subgraphs:
                    if not subgraph.name.startswith(_VALIDATION):
                        subgraph.modify_graph_with_delegate(delegate)
            except DelegationError as failure:
                self.reports.append(failure.device_message)
                for subgraph in self.subgraphs:
                    subgraph.remove_all_delegates()
                raise DelegationError(str(failure), device_message="") from failure


def build_interpreter(
    model: Model,
    resolver: MutableOpResolver,
    *,
    delegates: Sequence[Delegate] = (),
    flex_delegate: Delegate | None = None,
    preserves_all_tensors: bool = False,
    threads: int = 1,
) -> Interpreter:
    """Return an interpreter for ``model``.

    Args:
        model: The file.
        resolver: What runs its operators.
        delegates: Applied in their order.
        flex_delegate: Applied before them, where the model has an operator that begins with "Flex".
        preserves_all_tensors: Whether every tensor keeps its bytes until the end of an invocation.
        threads: How many threads kernels may use.

    Raises:
        ModelRefused: The runtime does; it looks at every tensor before it does so for one.
    """
    reports = list[str]()
    try:
        registrations, subgraphs = _file_parts(model, resolver, reports, preserves_all_tensors, threads)
    except SimulatedFailure as failure:
        raise ModelRefused(str(failure), [*reports, failure.device_message]) from failure
    interpreter = Interpreter(subgraphs, reports)
    has_flex_op = any(registration.is_unresolved and is_flex_op(registration) for registration in registrations)
    flex_delegates = [flex_delegate] if has_flex_op and flex_delegate is not None else []
    try:
        for delegate in [*flex_delegates, *delegates]:
            interpreter.modify_graph_with_delegate(delegate)
    except SimulatedFailure as failure:
        raise ModelRefused(str(failure), [*reports, _NOT_APPLIED]) from failure
    return interpreter


def _file_parts(
    model: Model, resolver: MutableOpResolver, reports: list[str], preserves_all_tensors: bool, threads: int
) -> tuple[list[TfLiteRegistration], list[TfLiteSubgraph]]:
    """Return what is registered for the model's operators, and its subgraphs, which tell ``reports``."""
    if model.version != SCHEMA_VERSION:
        raise refused(
            f"Model provided is schema version {model.version} not equal to supported version {SCHEMA_VERSION}.\n"
        )
    registrations = registrations_of(model, resolver)
    if not model.subgraphs:
        raise refused("No subgraph in the model.\n")
    subgraphs = []
    for index, source in enumerate(model.subgraphs):
        subgraph = TfLiteSubgraph(
            index=index,
            name=source.name,
            preserves_all_tensors=preserves_all_tensors,
            threads=threads,
            release=resolver.release,
        )
        subgraph.reports = reports
        fill_subgraph(subgraph, source, model, registrations)
        subgraphs.append(subgraph)
    return registrations, subgraphs
