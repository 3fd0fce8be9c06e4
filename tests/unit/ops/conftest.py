"""A bench for kernel models: one operator, its parser, Init and Prepare, with the answers of a roomy arena.

Requests are noted as short lines: "persistent 44 OpDataReduce", "temp 0", "free 0", "scratch 16 input_iter",
"temp buffer 8", "free buffer 0", "shape 1 (2, 3)", "log ...". The number of a temp or a shape is the tensor's index:
the inputs that are there, in order, then the outputs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from tflm_sim.errors import PrepareError
from tflm_sim.graph.outline import outlines
from tflm_sim.graph.resource_variables import ResourceVariables
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.element_types import CONSTANT_NAMES
from tflm_sim.model.schema import BUILTIN_OPERATORS
from tflm_sim.model.types import OptionValue
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference import REFERENCE
from tflm_sim.ops.registry import registrations
from tflm_sim.ops.requests import (
    FreeTempBuffer,
    FreeTempTensor,
    FreeTempTensors,
    KernelTensor,
    Log,
    Overrun,
    Persistent,
    Request,
    Scratch,
    SetShape,
    Steps,
    TempBuffer,
    TempTensor,
    TempTensors,
)
from tflm_sim.targets.presets import preset

TensorSpec = tuple[Any, ...] | None
"""(shape, type) or (shape, type, arguments of ModelBuilder.tensor); None for an absent input."""


class KernelBench:
    """One operator of a model of its own (mutable).

    Attributes:
        requests: What was asked so far, also when a step raises.
        refuse: A line's start ("temp 1", "persistent"): such requests are answered with None.
        spared: How many of them are answered all the same, the first ones.
    """

    def __init__(self, model: OpModel, node: Node, refuse: str) -> None:
        self.model = model
        self.node = node
        self.refuse = refuse
        self.spared = 0
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
            if isinstance(request, FreeTempTensors):
                self.requests += [f"free {tensor.index}" for tensor in request.tensors if tensor is not None]
                answer = None
                continue
            answer = self._tensors(request) if isinstance(request, TempTensors) else self._answer_to(request)

    def _tensors(self, request: TempTensors) -> list[object]:
        answers: list[object] = []
        for index, is_needed in request.wanted:
            answers.append(None if index < 0 else self._answer_to(TempTensor(index)))
            if is_needed and answers[-1] is None:
                break
        return answers

    def _answer_to(self, request: Request) -> object:
        self.requests.append(_line(request))
        refused = bool(self.refuse) and self.requests[-1].startswith(self.refuse)
        if refused and self.spared:
            self.spared, refused = self.spared - 1, False
        return None if refused else self._answer(request)

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
        case Overrun(offset, value, label):
            return f"overrun {offset} {value} {label}"
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
    runtime: str | None = None,
    intermediates: Sequence[TensorSpec] | None = None,
    compressed: Sequence[int] = (),
    refuse: str = "",
) -> KernelBench:
    builder = ModelBuilder()

    def index(spec: TensorSpec) -> int:
        return -1 if spec is None else builder.tensor(*spec[:2], **(spec[2] if len(spec) > 2 else {}))

    ins = None if inputs is None else [index(spec) for spec in inputs]
    outs = None if outputs is None else [index(spec) for spec in outputs]
    between = None if intermediates is None else [index(spec) for spec in intermediates]
    if op in BUILTIN_OPERATORS:
        builder.operator(op, ins, outs, options=options, options_type=options_type, intermediates=between)
    else:
        builder.custom(op, ins, outs, options=custom_options)
    model = builder.model()
    tensors = outlines(model)[0].eval_tensors()
    chosen = preset(target, kernels=kernels, runtime=runtime)
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
    table = REFERENCE if kernels == "reference" and runtime is None else registrations(chosen)
    if op not in table:
        raise KeyError(f"no row of _ARRIVALS in targets/changes.py names {op}, or its runtime has it not yet")
    return KernelBench(table[op], node, refuse)


def _equal(a: object, b: object, a_text: str, b_text: str = "", number: int = 1) -> list[str]:
    return [f"{a_text} != {b_text or b}"]


def _equal_types(a: object, b: int, a_text: str, b_text: str = "", number: int = 1) -> list[str]:
    return [f"{a_text} != {b_text or CONSTANT_NAMES[b]}"]


def _types(a: object, b: object, a_name: str = "input", b_name: str = "output") -> list[str]:
    return [f"{a_name}->type != {b_name}->type"]


_SAID: dict[str, Callable[..., list[str]]] = {
    "ensure": lambda condition, text, number=1: [text],
    "ensure_msg": lambda condition, message: [message],
    "ensure_eq": _equal,
    "ensure_types_eq": _equal_types,
    "ensure_c_types_eq": _equal_types,
    "ensure_count_eq": _equal,
    "ensure_double_eq": _equal,
    "same_type": _types,
    "same_c_type": _types,
    "is_type": lambda tensor, type_, name: [f"{name}->type != {CONSTANT_NAMES[type_]}"],
    "is_c_type": lambda tensor, type_, name: [f"{name}->type != {CONSTANT_NAMES[type_]}"],
    "one_of": lambda type_, types, name: [" || ".join(f"{name} == {CONSTANT_NAMES[one]}" for one in types)],
    "rank": lambda tensor, rank, name: [f"NumDimensions({name}) != {rank}"],
    "present": lambda tensor, name, number=1: [f"{name} != nullptr"],
    "counts": lambda inputs, outputs=1, number=1: [f"NumInputs(node) != {inputs}", f"NumOutputs(node) != {outputs}"],
    "zero_points": lambda **tensors: [f"{name}->params.zero_point != 0" for name in tensors],
    "affine": lambda tensor, name: [f"{name}->quantization.type != kTfLiteAffineQuantization"],
    "not_quantized": lambda tensor, name: [f"{name}->quantization.type != kTfLiteNoQuantization"],
}
"""What each check says upstream, given its arguments."""


@pytest.fixture(scope="module", autouse=True)
def every_check_is_looked_up() -> Iterator[None]:
    """Look the place of each check up, also when it holds: one that upstream does not have fails the test.

    Only as long as a module's tests run: a process may have other tests after these.
    """
    patch = pytest.MonkeyPatch()
    for name, said in _SAID.items():
        patch.setattr(Kernel, name, _looked_up(getattr(Kernel, name), said))
    yield
    patch.undo()


def _looked_up(check: Callable[..., Any], said: Callable[..., list[str]]) -> Callable[..., Any]:
    def wrapper(k: Kernel, *args: Any, **kwargs: Any) -> Any:
        numbered = inspect.signature(said).bind(*args, **kwargs).arguments.get("number", 1)
        for text in said(*args, **kwargs):
            k.place(text, numbered)
        return check(k, *args, **kwargs)

    return wrapper


@pytest.fixture(scope="session")
def kernel() -> Callable[..., KernelBench]:
    """Return the maker of benches: ``kernel(op, inputs, outputs)`` and the keywords of ``_bench``."""
    return _bench
