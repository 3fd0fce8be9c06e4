"""Operators of TensorFlow in a model (Flex): what names them, who has them, and whether their options agree.

With ``SELECT_TF_OPS`` the converter writes one as a custom operator ``Flex<Op>``, whose options are a FlexBuffer: a
vector of the operator's name and its serialized NodeDef. It does so for the names on its lists, which are the table
next to this module (name, and which library brings the operator: "" TensorFlow itself), and for those that its caller
named (``experimental_select_user_tf_ops``). The runtime acquires the Flex delegate by itself where it is linked.

Source: tflite/converter/delegates/flex/allowlisted_flex_ops.cc, tflite/converter/flatbuffer_export.cc,
tflite/delegates/flex/kernel.cc, tflite/core/interpreter_builder.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from tflm_sim.errors import ModelError
from tflm_sim.extensions.lite.op_resolver import FLEX_PREFIX
from tflm_sim.model.flexbuf import read_root
from tflm_sim.model.types import Model


@dataclass(frozen=True, slots=True)
class FlexOp:
    """One operator of TensorFlow.

    Attributes:
        subgraph, node: Where it is.
        name: Of the custom operator, without "Flex".
        library: What an app has to link for it: a value of ``LIBRARIES``, or "" for an operator on no list.
        named: What its options call it; "" when they name nothing.
        fault: Why the delegate refuses it, or "".
    """

    subgraph: int
    node: int
    name: str
    library: str
    named: str
    fault: str


LIBRARIES = {
    "": "tensorflow-lite-select-tf-ops",
    "text": "TensorFlow Text",
    "sentencepiece": "SentencePiece of TensorFlow Text",
}
"""What has the kernels of the operators on a list, by its name in the table."""


@cache
def allowlist() -> dict[str, str]:
    """Return the operators that the converter lets through, each with the name of its list."""
    rows = files(__package__).joinpath("flex_ops.txt").read_text("utf-8").splitlines()
    return dict(row.split("\t") for row in rows)


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
                library = LIBRARIES.get(allowlist().get(name, "-"), "")
                found.append(FlexOp(number, index, name, library, named, fault))
    return found


def _options(data: memoryview | None) -> tuple[str, str]:
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
