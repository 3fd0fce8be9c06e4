"""Which element types a kernel's Eval knows, and what it prints of others: a row for each version of an operator.

Prepare lets more types through than Eval computes, so that a model is allocated which can never be invoked. A row says
which types Eval's switches have, in the order in which Eval looks at them. The rows are ``EVALS`` of the family in
``ops/reference``, newest first; what a kernel library has no row for is the reference's:

    EvalRow("NEG", (Switch("i0", "FLOAT32", "Type {name} ({number}) not supported."),))

Read in tensorflow/lite/micro/kernels @ 90b983c and in the history of these files from 2021-04-09 on. UINT8 is not
judged where TFLM still had kernels of it (``uint8_kernels``). An operator without a row has no such switch, or its
Prepare refuses the same types.
"""

from __future__ import annotations

from typing import NamedTuple


class Switch(NamedTuple):
    """A tensor's type that Eval looks at.

    Attributes:
        tensor: Which: "i0" is the first input, "o0" the first output.
        types: Those that it knows, as the schema names them.
        says: What the device prints for another one; {name} and {number} are of the type that it prints, {input} and
            {output} name the types of the first input and output; "" where it prints nothing. Before the words of a
            TF_LITE_ENSURE it also prints file and line.
        named: The tensor whose type it prints; "" for ``tensor``.
        when: "i0 INT8": only where that tensor has that type; "" for always.
    """

    tensor: str
    types: str
    says: str
    named: str = ""
    when: str = ""


class EvalRow(NamedTuple):
    """What Eval of some operators knows, from a version on.

    Attributes:
        ops: Their names.
        switches: In Eval's order.
        since: The first position in upstream's history (``targets/changes.py``) that has them.
        library: Whose kernels.
    """

    ops: str
    switches: tuple[Switch, ...]
    since: int = 0
    library: str = "reference"


PLAIN = "Type {name} ({number}) not supported."
INPUT_TYPE = "Input type {name} ({number}) not supported."
OUTPUT_TYPE = "Output type {name} ({number}) not supported."
BOTH_TYPES = "Input {input}, output {output} not supported."
NOT_SUPPORTED = "Type {name} not currently supported."
INT8_OR_4 = "INT8 INT4"
CMSIS_NN, ESP_NN = "cmsis_nn", "esp_nn"


def known_types(ops: str, tensor: str, types: str, says: str, since: int = 0, library: str = "reference") -> EvalRow:
    """Return the row of a single switch."""
    return EvalRow(ops, (Switch(tensor, types, says),), since, library)
