"""A bench for kernel models: one operator, its parser, Init and Prepare, with the answers of a roomy arena.

Requests are noted as short lines: "persistent 44 OpDataReduce", "temp 0", "free 0", "scratch 16 input_iter",
"temp buffer 8", "free buffer 0", "shape 1 (2, 3)", "log ...". The number of a temp or a shape is the tensor's index:
the inputs that are there, in order, then the outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from tflm_sim.errors import PrepareError
from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.graph.resource_variables import ResourceVariables
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.schema import BUILTIN_OPERATORS
from tflm_sim.model.types import OptionValue
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference import REFERENCE
from tflm_sim.ops.registry import registrations
from tflm_sim.ops.requests import (
    FreeTempBuffer,
    FreeTempTensor,
    KernelTensor,
    Log,
    Persistent,
    Request,
    Scratch,
    SetShape,
    Steps,
    TempBuffer,
    TempTensor,
)
from tflm_sim.targets.presets import target as preset

TensorSpec = tuple[Any, ...] | None
"""(shape, type) or (shape, type, arguments of ModelBuilder.tensor); None for an absent input."""


class KernelBench:
    """One operator of a model of its own (mutable).

    Attributes:
        requests: What was asked so far, also when a step raises.
        refuse: A line's start ("temp 1", "persistent"): such requests are answered with None.
    """

    def __init__(self, model: OpModel, node: Node, refuse: str) -> None:
        self.model = model
        self.node = node
        self.refuse = refuse
        self.requests: list[str] = []

    def parse(self) -> None:
        """Run the refusals of the builtin parser."""
        if self.model.parse is not None:
            self.model.parse(self.node)

    def init(self) -> list[str]:
        """Run Init and return its requests."""
        assert self.model.init is not None, f"{self.node.op} has no Init"
        self.node.user_data, requests = self._run(self.model.init(self.node))
        return requests

    def prepare(self) -> list[str]:
        """Run Init, where there is one, then Prepare, and return the requests of Prepare."""
        assert self.model.prepare is not None, f"{self.node.op} has no Prepare"
        if self.model.init is not None:
            self.init()
        self.requests.clear()
        return self._run(self.model.prepare(self.node))[1]

    def refusal(self) -> str:
        """Run Prepare, which must fail; return what the device prints, or "halts: " and why when it prints nothing."""
        with pytest.raises(PrepareError) as caught:
            self.prepare()
        return f"halts: {caught.value}" if caught.value.status == "abort" else caught.value.device_message

    def _run(self, steps: Steps[Any]) -> tuple[Any, list[str]]:
        first = len(self.requests)
        answer: object = None
        while True:
            try:
                request = steps.send(answer)
            except StopIteration as stop:
                return stop.value, self.requests[first:]
            self.requests.append(_line(request))
            refused = bool(self.refuse) and self.requests[-1].startswith(self.refuse)
            answer = None if refused else self._answer(request)

    def _answer(self, request: Request) -> object:
        if isinstance(request, TempTensor):
            return KernelTensor(self.node.tensors[request.tensor_index])
        if isinstance(request, SetShape):
            request.tensor.shape = request.shape
        return 0


def _line(request: Request) -> str:
    match request:
        case Persistent(size, label):
            return f"persistent {size} {label}".rstrip()
        case Scratch(size, label):
            return f"scratch {size} {label}".rstrip()
        case TempTensor(index):
            return f"temp {index}"
        case FreeTempTensor(tensor):
            return f"free {tensor.index}"
        case TempBuffer(size, _):
            return f"temp buffer {size}"
        case FreeTempBuffer(offset):
            return f"free buffer {offset}"
        case SetShape(tensor, shape):
            return f"shape {tensor.index} {shape}"
        case Log(text):
            return f"log {text}"
    raise AssertionError(f"unknown request {request}")


def _bench(
    op: str,
    inputs: Sequence[TensorSpec] | None,
    outputs: Sequence[TensorSpec] | None,
    *,
    options: Mapping[str, OptionValue] | None = None,
    options_type: str | None = None,
    custom_options: bytes | None = None,
    resource_variables: ResourceVariables | None = None,
    target: str = "cortex-m4",
    kernels: str | None = "reference",
    compressed: Sequence[int] = (),
    refuse: str = "",
) -> KernelBench:
    builder = ModelBuilder()

    def index(spec: TensorSpec) -> int:
        return -1 if spec is None else builder.tensor(*spec[:2], **(spec[2] if len(spec) > 2 else {}))

    ins = None if inputs is None else [index(spec) for spec in inputs]
    outs = None if outputs is None else [index(spec) for spec in outputs]
    if op in BUILTIN_OPERATORS:
        builder.operator(op, ins, outs, options=options, options_type=options_type)
    else:
        builder.custom(op, ins, outs, options=custom_options)
    model = builder.model()
    tensors = [EvalTensor(model, tensor, i) for i, tensor in enumerate(model.subgraphs[0].tensors)]
    chosen = preset(target, kernels=kernels)
    node = Node(
        model=model,
        target=chosen,
        subgraph_index=0,
        index=0,
        op=op,
        subgraph_tensors=[tensors],
        resource_variables=resource_variables,
        compressed_tensors=frozenset(compressed),
    )
    table = REFERENCE if kernels == "reference" else registrations(chosen)
    return KernelBench(table[op], node, refuse)


@pytest.fixture(scope="session")
def kernel() -> Callable[..., KernelBench]:
    """Return the maker of benches: ``kernel(op, inputs, outputs)`` and the keywords of ``_bench``."""
    return _bench
