"""``Prepare``: TFLM's code for a node as a row: checks, the tensors that it takes, what it does with them, the frees.

Prepare("leaky_relu_common.cc", counts(1), takes=(source(), result()), body=check)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from tflm_sim.errors import PrepareError
from tflm_sim.ops.kernel import Kernel, NullTensor
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.requests import ABSENT, FreeTempTensors, Steps, TempTensors
from tflm_sim.ops.roles import null_indices


class Take(NamedTuple):
    """A temp tensor that a Prepare asks for.

    Attributes:
        position: Which of the inputs or outputs.
        name: Upstream's variable.
        is_output: Whether it is one of the outputs.
        checked: Whether a TF_LITE_ENSURE compares it with null at once; the body gets None otherwise.
        trusted: Whether it is used without a check: the body gets a :class:`NullTensor` instead of None.
    """

    position: int
    name: str
    is_output: bool = False
    checked: bool = True
    trusted: bool = False


def source(position: int = 0, name: str = "input") -> Take:
    """Return an input that is compared with null."""
    return Take(position, name)


def result(position: int = 0, name: str = "output") -> Take:
    """Return an output that is compared with null."""
    return Take(position, name, is_output=True)


def unchecked(take: Take) -> Take:
    """Return the tensor without that check."""
    return take._replace(checked=False)


def trusted(*takes: Take) -> tuple[Take, ...]:
    """Return tensors that upstream uses without a check: the device halts where one that is not there is used."""
    return tuple(take._replace(checked=False, trusted=True) for take in takes)


INPUT, OUTPUT = source(), result()
PAIR = (INPUT, OUTPUT)
Check = Callable[[Kernel], None]


def counts(inputs: int, outputs: int = 1) -> Check:
    return lambda k: k.counts(inputs, outputs)


def input_count(count: int) -> Check:
    return lambda k: k.ensure_eq(len(k.node.inputs), count, "NumInputs(node)")


def checked_op_data(name: str = "node->user_data") -> Check:
    """Return the check that Init got its memory."""

    def check(k: Kernel) -> None:
        if k.node.user_data is None:
            raise k.abort(f"{name} != nullptr")

    return check


OP_DATA = checked_op_data()


def _check_present(k: Kernel, takes: Sequence[Take], tensors: Sequence[object]) -> None:
    for take, tensor in zip(takes, tensors, strict=False):
        if tensor is None and take.checked:
            k.present(None, take.name)


def take_all(k: Kernel, takes: Sequence[Take]) -> Steps[list[Any]]:
    """Ask for one tensor after the other: a :class:`KernelTensor` each, or None where that is not checked."""
    inputs, outputs = k.node.operator.inputs, k.node.operator.outputs
    wanted = []
    for position, _, is_output, checked, _ in takes:
        indices = outputs if is_output else inputs
        if indices is None:
            break
        wanted.append((indices[position] if position < len(indices) else ABSENT, checked))
    if not wanted:
        raise null_indices()
    tensors: list[Any] = yield TempTensors(tuple(wanted))
    if None in tensors:
        _check_present(k, takes, tensors)
    if len(tensors) < len(takes):
        raise null_indices()
    return tensors


def trusting(k: Kernel, takes: Sequence[Take], tensors: list[Any]) -> list[Any]:
    """Return the tensors with a :class:`NullTensor` for each that is trusted and not there."""
    pairs = zip(takes, tensors, strict=True)
    return [NullTensor(k, take.name) if tensor is None and take.trusted else tensor for take, tensor in pairs]


class Prepare:
    """The Prepare of a kernel that checks its node, takes tensors, looks at them, and frees them.

    Args:
        file: The upstream file.
        *first: Checks before any tensor is taken.
        takes: The tensors in the order in which they are asked for.
        body: What happens with them: a function of the kernel and the tensors that checks, or one that also yields
            requests.
        frees: The order of the frees, as indices into ``takes``; that of ``takes`` when left out.
        function: Its name, where others in the file have the same checks.
        frees_always: Whether the tensors are freed also on a refusal, as an object's destructor does.
    """

    __slots__ = ("_body", "_file", "_first", "_freed", "_frees_always", "_function", "_takes", "_trusts")

    def __init__(
        self,
        file: str,
        *first: Check,
        takes: tuple[Take, ...] = PAIR,
        body: Callable[..., Steps[None] | None] | None = None,
        frees: tuple[int, ...] = (),
        function: str = "",
        frees_always: bool = False,
    ) -> None:
        self._file = file
        self._first = first
        self._takes = takes
        self._body = body
        self._freed: Callable[[list[Any]], tuple[Any, ...]] = itemgetter(*frees) if frees else tuple
        self._function = function
        self._frees_always = frees_always
        self._trusts = any(take.trusted for take in takes)

    @property
    def file(self) -> str:
        return self._file

    def __call__(self, node: Node) -> Steps[None]:
        k = Kernel(node, self._file, self._function)
        for step in self._first:
            step(k)
        tensors = yield from take_all(k, self._takes)
        freed = self._freed(tensors)
        if self._trusts and None in tensors:
            tensors = trusting(k, self._takes, tensors)
        try:
            steps = None if self._body is None else self._body(k, *tensors)
            if steps is not None:
                yield from steps
        except PrepareError as error:
            if self._frees_always and error.status != "abort":
                yield FreeTempTensors(freed)
            raise
        yield FreeTempTensors(freed)
