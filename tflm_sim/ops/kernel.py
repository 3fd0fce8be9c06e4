"""``Kernel``: a node while TFLM's code for it runs, with the checks of its file.

A check is written with what it says upstream, for that is what the device prints; the line comes from ``places.py`` and
is looked up only when the check fails. Where the runtime's version of the file has no such check, nothing is checked.

    k = Kernel(node, "leaky_relu_common.cc")
    k.counts(inputs=1)                              TF_LITE_ENSURE_EQ(context, NumInputs(node), 1) ...
    source = yield from k.input(0)                  AllocateTempInputTensor, TF_LITE_ENSURE(context, input != nullptr)
    output = yield from k.output(0)
    k.same_type(source, output)                     TF_LITE_ENSURE_TYPES_EQ(context, input->type, output->type)
    yield from k.free(source, output)

Source: TF_LITE_ENSURE* in tensorflow/lite/core/c/common.h, MicroContext in tensorflow/lite/micro/micro_context.cc
@ 90b983c.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from tflm_sim.ensure import KernelChecks
from tflm_sim.errors import PrepareError
from tflm_sim.model.windows import quotient
from tflm_sim.ops import places
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.requests import FreeTempTensors, KernelTensor, Persistent, Steps
from tflm_sim.ops.roles import abort, fail, temp_at, undefined

if TYPE_CHECKING:
    from typing import NoReturn

    from tflm_sim.ops.requests import T

HYBRID = "Hybrid models are not supported on TFLite Micro."

_LOG_LENGTH = 255


def longest_argument(offset: int) -> int:
    """Return how many characters of a ``%s`` argument MicroVsnprintf printed that begins ``offset`` into the line.

    It counted each of them twice against its buffer of 256 (until ef0a7b025).
    """
    return max(0, (_LOG_LENGTH - offset + 1) // 2)


class Kernel(KernelChecks):
    """A node in the code of one upstream file; most checks that print are those of :class:`KernelChecks`.

    Args:
        node: The operator.
        file: The file as the device prints it, without ``tensorflow/lite/micro/kernels/``.
        function: The function, for checks that several functions of the file have.
    """

    __slots__ = ("file", "function", "node")
    node: Node

    def __init__(self, node: Node, file: str, function: str = "") -> None:
        self.node = node
        self.file = file
        self.function = function

    def within(self, function: str) -> Kernel:
        """Return the same kernel in another function of the file."""
        return Kernel(self.node, self.file, function)

    def knows(self, type_: int, types: Iterable[int], since: Mapping[int, str]) -> bool:
        """Return whether the runtime's kernel knows a type, see :meth:`known`."""
        return type_ in types and (type_ not in since or self.has(since[type_]))

    def known(self, types: Iterable[int], since: Mapping[int, str]) -> tuple[int, ...]:
        """Return those of ``types`` that the runtime's kernel knows: ``since`` names the change that brought a type."""
        return tuple(type_ for type_ in types if type_ not in since or self.has(since[type_]))

    def has(self, change: str) -> bool:
        """Return whether the runtime has a change of :data:`~tflm_sim.targets.changes.CHANGES`."""
        return self.node.target.runtime.has(change)

    # -- checks that print ------------------------------------------------------------------------------------------

    def ensure_msg(self, condition: bool, message: str) -> None:
        """TF_LITE_ENSURE_MSG: prints the file without a line."""
        if not condition and (place := self.place(message)) is not None:
            raise fail(f"{places.full_place(place[0])} {message}")

    def _refuse(self, text: str, says: str, sides: tuple[str, str], number: int) -> None:
        """Fail with the line of a check; a condition is cut as a version's ``%s`` cuts it."""
        place = self.place(text, number)
        if place is not None:
            where = f"{places.full_place(place[0])}:{place[1]} "
            if not sides[1] and not self.has("vsnprintf"):
                text = text[: longest_argument(len(where))]
            raise fail(f"{where}{text}{says}")

    def _is_64_bit(self) -> bool:
        return self.node.target.abi.pointer_size == 8

    def place(self, text: str, number: int = 1) -> tuple[str, int] | None:
        """Return the file and line of a check, None where this version of the file does not have it."""
        runtime = self.node.target.runtime
        check = self.file, text, self.function, number
        place = places.place(runtime, *check)
        if place is None and (places.is_newest(runtime, self.file) or not places.is_in_some_version(runtime, *check)):
            raise places.unknown(self.file, f"the check '{text}'")
        return place

    # -- checks that halt -------------------------------------------------------------------------------------------

    def abort(self, expression: str) -> PrepareError:
        """Return the error for a failed TFLITE_DCHECK, or a null pointer that is used."""
        place = places.place(self.node.target.runtime, self.file, f"!{expression}", self.function)
        return abort(self.file if place is None else f"{place[0]}:{place[1]}", expression)

    def null(self, name: str) -> PrepareError:
        """Return the error for a null pointer that is used: a TFLITE_DCHECK halts before, or nothing checks it."""
        if places.place(self.node.target.runtime, self.file, f"!{name} != nullptr", self.function) is not None:
            return self.abort(f"{name} != nullptr")
        return undefined(self.file, f"{name} is a null pointer, which is read")

    def check(self, condition: bool, expression: str) -> None:
        """TFLITE_DCHECK."""
        if not condition:
            raise self.abort(expression)

    def debug_check(self, condition: bool, expression: str) -> None:
        """TFLITE_DCHECK on which no byte of the arena depends: a build without such checks goes on."""
        if not condition and self.node.target.runtime.has_debug_checks:
            raise self.abort(expression)

    def op_data(self, name: str = "node->user_data") -> None:
        """Halt when Init got no memory."""
        if self.node.user_data is None:
            raise self.abort(f"{name} != nullptr")

    def require(self, tensor: KernelTensor | None, name: str) -> KernelTensor:
        """Return ``tensor``; fail where upstream reads through a null pointer."""
        if tensor is None:
            raise self.null(name)
        return tensor

    def use(self, *tensors: KernelTensor | NullTensor) -> None:
        """Fail where one of these trusted tensors is not there: upstream uses them here."""
        for tensor in tensors:
            if isinstance(tensor, NullTensor):
                raise tensor.used()

    def dim(self, tensor: KernelTensor, axis: int) -> int:
        """Return ``dims->data[axis]``; upstream reads past the end where the rank is smaller, here the device halts."""
        shape = tensor.shape
        if not 0 <= axis < len(shape):
            raise self.abort(f"dims->data[{axis}] of a tensor of rank {len(shape)}")
        return shape[axis]

    def divide(self, numerator: int, denominator: int) -> int:
        """Return the C quotient, which rounds towards zero; a denominator of 0 halts the device."""
        if denominator == 0:
            raise self.abort("a divisor that is not 0")
        return quotient(numerator, denominator)

    def constants(self, tensor: KernelTensor, count: int, name: str, code: str = "i") -> tuple[int, ...]:
        """Return the first ``count`` integers of a constant tensor; halt when it has none, or its data is shorter.

        Args:
            tensor: The tensor.
            count: How many values upstream reads.
            name: Upstream's name of the tensor.
            code: The ``struct`` letter of the type that upstream reads, whatever the tensor's type is.
        """
        layout = f"<{count}{code}"
        if tensor.data is None:
            what = f"{name} is no constant, so its data are a null pointer, which is read (LoadProhibited on an ESP32)"
            raise undefined(self.file, what)
        data = tensor.data
        if len(data) < struct.calcsize(layout):
            raise self.abort(f"{name} has data for {count} values of {struct.calcsize('<' + code)} bytes")
        return struct.unpack_from(layout, data)

    def is_constant(self, tensor: KernelTensor, name: str, before: str) -> None:
        """``IsConstantTensor``; ``before`` is what its refusal says until 14638b63c."""
        self.ensure_msg(
            tensor.is_constant,
            f"Non-constant >{name}< tensor is not supported" if self.has("constant_checks") else before,
        )

    # -- requests ---------------------------------------------------------------------------------------------------

    def optional_input(self, position: int) -> Steps[KernelTensor | None]:
        """``AllocateTempInputTensor``, which the kernel does not compare with null at once."""
        return temp_at(self.node.operator.inputs, position)

    def optional_output(self, position: int) -> Steps[KernelTensor | None]:
        """``AllocateTempOutputTensor``, which the kernel does not compare with null at once."""
        return temp_at(self.node.operator.outputs, position)

    def input(self, position: int, name: str = "input") -> Steps[KernelTensor]:
        """``AllocateTempInputTensor``, then ``TF_LITE_ENSURE(context, <name> != nullptr)``."""
        return self.present((yield from self.optional_input(position)), name)

    def output(self, position: int, name: str = "output") -> Steps[KernelTensor]:
        """``AllocateTempOutputTensor``, then ``TF_LITE_ENSURE(context, <name> != nullptr)``."""
        return self.present((yield from self.optional_output(position)), name)

    def present(self, tensor: KernelTensor | None, name: str, number: int = 1) -> KernelTensor:
        """``TF_LITE_ENSURE(context, <name> != nullptr)`` of a tensor; where there is no such check, it is used."""
        if tensor is None:
            self.ensure(False, f"{name} != nullptr", number)
            raise self.null(name)
        return tensor

    def free(self, *tensors: KernelTensor | None) -> Steps[None]:
        """``DeallocateTempTfLiteTensor`` of each tensor that is there, in order."""
        yield FreeTempTensors(tensors)

    def freeing(self, steps: Steps[T], *tensors: KernelTensor | None) -> Steps[T]:
        """Carry out ``steps``, then free the tensors; also when the kernel fails, as a destructor does."""
        try:
            result = yield from steps
        except PrepareError as error:
            if error.status != "abort":
                yield FreeTempTensors(tensors)
            raise
        yield FreeTempTensors(tensors)
        return result

    def persistent(self, struct: str, failure: str = "") -> Steps[bool]:
        """Allocate a struct; when there is no memory, fail with ``TF_LITE_ENSURE(context, <failure>)``, or say so."""
        offset = yield Persistent(self.node.target.sizeof(struct), struct, checked=True)
        if failure:
            self.ensure(offset is not None, failure)
        return offset is not None


class NullTensor:
    """A null pointer in the hands of a kernel that trusts it: what happens where it is read is undefined."""

    __slots__ = ("_kernel", "_name")

    def __init__(self, kernel: Kernel, name: str) -> None:
        self._kernel = kernel
        self._name = name

    def __getattr__(self, attribute: str) -> NoReturn:
        raise self.used()

    def used(self) -> PrepareError:
        """Return the error of a kernel that reads this null pointer."""
        return self._kernel.null(self._name)
