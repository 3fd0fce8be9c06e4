"""``OpModel``: one row of the operator table, and ``Node``: the facts that a row's generators read.

A row mirrors a TFLM registration: the builtin-data struct that its parser allocates, ``init`` and ``prepare``. The
generators see a :class:`Node` and talk to the arena only through requests (``requests.py``). The usual requests and
the device's ``TF_LITE_ENSURE`` messages have helpers in ``roles.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.graph.resource_variables import ResourceVariables
from tflm_sim.model.types import Model
from tflm_sim.ops.requests import KernelTensor, Steps
from tflm_sim.targets.target import Target


class Node:
    """An operator while it is initialised and prepared (mutable: ``user_data``).

    Attributes:
        model: The whole model.
        target: Struct sizes and build flags.
        subgraph_index: Which subgraph it belongs to.
        index: Its index in the subgraph.
        op: The operator's name as TFLM prints it: "CONV_2D", or a custom operator's own name.
        operator: What the file says.
        tensors: The eval tensors of the subgraph.
        inputs: Tensor indices of the inputs (-1: absent), () when the file has no vector.
        outputs: Tensor indices of the outputs, likewise.
        intermediates: Tensor indices of the intermediates, likewise.
        resource_variables: The interpreter's resource variables, or None when it was given none.
        subgraph_tensors: The eval tensors of every subgraph, for control flow operators.
        compressed_tensors: Indices of the subgraph's tensors that have a lookup table; empty without compression.
        user_data: What ``init`` returned; None when the kernel got a null pointer or has no ``init``.
        damage: What another kernel wrote over the first four bytes of the builtin data, None for nothing.
    """

    __slots__ = (
        "compressed_tensors",
        "damage",
        "index",
        "inputs",
        "intermediates",
        "model",
        "op",
        "operator",
        "outputs",
        "resource_variables",
        "subgraph_index",
        "subgraph_tensors",
        "target",
        "tensors",
        "user_data",
    )

    def __init__(
        self,
        *,
        model: Model,
        target: Target,
        subgraph_index: int,
        index: int,
        op: str,
        subgraph_tensors: Sequence[Sequence[EvalTensor]],
        resource_variables: ResourceVariables | None = None,
        compressed_tensors: frozenset[int] = frozenset(),
    ) -> None:
        self.model = model
        self.target = target
        self.subgraph_index = subgraph_index
        self.index = index
        self.op = op
        self.operator = operator = model.subgraphs[subgraph_index].operators[index]
        self.subgraph_tensors = subgraph_tensors
        self.tensors = subgraph_tensors[subgraph_index]
        self.inputs = operator.inputs or ()
        self.outputs = operator.outputs or ()
        self.intermediates = operator.intermediates or ()
        self.resource_variables = resource_variables
        self.compressed_tensors = compressed_tensors
        self.user_data: object = None
        self.damage: int | None = None

    def option(self, name: str, default: int = 0) -> int:
        """Return an integer (enum, flag) field of the builtin options; ``default`` when the file has no such table."""
        value = self.operator.options.get(name, default)
        assert isinstance(value, int), f"option {name} of {self.op} is not an integer"
        return value

    def check_tensors(self, check: Callable[..., None], *tensors: KernelTensor | None, **facts: int) -> None:
        """Check tensors with a function of the node, the tensors and the facts that refuses or does nothing.

        Of what it looks at only that it passes counts as seen (``device/prepare_cache.py``). Facts follow from the
        operator's options, types and shapes.
        """
        check(self, *tensors, **facts)

    def input(self, position: int) -> EvalTensor | None:
        """Return the eval tensor of an input, None when it is absent or past the end."""
        return self._at(self.inputs, position)

    def output(self, position: int) -> EvalTensor | None:
        """Return the eval tensor of an output, None when it is absent or past the end."""
        return self._at(self.outputs, position)

    def _at(self, indices: tuple[int, ...], position: int) -> EvalTensor | None:
        if 0 <= position < len(indices) and indices[position] >= 0:
            return self.tensors[indices[position]]
        return None


@dataclass(frozen=True, slots=True)
class OpModel:
    """What one operator's registration asks of the arena.

    Attributes:
        op: "CONV_2D", or the custom operator's name.
        builtin_data: The struct that the builtin parser allocates ("TfLiteConvParams"), or None.
        parse: Refusals of the parser beyond that: raises PrepareError with the device's message. It runs after the
            struct was allocated, where upstream checks after; None for most.
        invoke: Yields what Invoke asks for, which is seldom anything: the invocation on the arena carries it out; None
            for most.
        init: Yields what Init asks for and returns user_data; None when the registration has no Init.
        prepare: Yields what Prepare asks for; None when the registration has no Prepare.
        source: The upstream file.
    """

    op: str
    builtin_data: str | None = None
    init: Callable[[Node], Steps[object]] | None = None
    prepare: Callable[[Node], Steps[None]] | None = None
    source: str = ""
    parse: Callable[[Node], None] | None = None
    invoke: Callable[[Node], Steps[None]] | None = None

    @property
    def file(self) -> str:
        """The upstream file: as given, or that of its Prepare; "" where only the code of that says so."""
        return self.source or getattr(self.prepare, "file", "")
