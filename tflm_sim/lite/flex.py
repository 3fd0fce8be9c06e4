"""Operators of TensorFlow in a model (Flex): what names them, and whether their options agree.

The converter writes one as a custom operator ``Flex<Op>``, whose options are a FlexBuffer: a vector of the operator's
name and its serialized NodeDef. The runtime acquires the Flex delegate by itself where it is linked.

Source: tflite/delegates/flex/kernel.cc, tflite/core/interpreter_builder.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.errors import ModelError
from tflm_sim.lite.op_resolver import FLEX_PREFIX
from tflm_sim.model.flexbuf import read_root
from tflm_sim.model.types import Model


@dataclass(frozen=True, slots=True)
class FlexOp:
    """One operator of TensorFlow.

    Attributes:
        subgraph, node: Where it is.
        name: Of the custom operator, without "Flex".
        named: What its options call it; "" when they name nothing.
        fault: Why the delegate refuses it, or "".
    """

    subgraph: int
    node: int
    name: str
    named: str
    fault: str


def flex_ops(model: Model) -> list[FlexOp]:
    """Return the operators of TensorFlow in a model, in its order."""
    found = []
    for number, subgraph in enumerate(model.subgraphs):
        for index, operator in enumerate(subgraph.operators):
            if not 0 <= operator.opcode_index < len(model.operator_codes):
                continue
            code = model.operator_codes[operator.opcode_index].custom_code or ""
            if code.startswith(FLEX_PREFIX):
                name = code.removeprefix(FLEX_PREFIX)
                named, fault = _options(operator.custom_options)
                if not fault and named != name:
                    fault = f"the options name {named!r}"
                found.append(FlexOp(number, index, name, named, fault))
    return found


def _options(data: memoryview | None) -> tuple[str, str]:
    """Return the operator's name in the options, and what is wrong with them."""
    if data is None or not len(data):
        return "", "it has no options: Cannot convert empty data into a valid NodeDef"
    try:
        entries = read_root(data).as_vector()
        name = entries[0].as_text() if entries else ""
    except ModelError as error:
        return "", f"its options are no FlexBuffer: {error}"
    if len(entries) != 2:
        return name, f"its options have {len(entries)} entries; a name and a NodeDef belong there"
    return name, ""
