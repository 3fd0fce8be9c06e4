"""What a firmware's ``MicroMutableOpResolver`` must register for a model, as the lines of C++ that do it.

Source: tensorflow/lite/micro/micro_mutable_op_resolver.h @ tensorflow/tflite-micro 90b983c2b
"""

from __future__ import annotations

from tflm_sim.model.schema import builtin_operator_name
from tflm_sim.model.types import Model, OperatorCode

OTHERWISE_SPELLED = {
    "BATCH_MATMUL": "AddBatchMatMul",
    "CUMSUM": "AddCumSum",
    "PADV2": "AddPadV2",
    "UNIDIRECTIONAL_SEQUENCE_LSTM": "AddUnidirectionalSequenceLSTM",
}
"""Methods whose names do not follow from the operator's."""

CUSTOM_METHODS = {
    "CIRCULAR_BUFFER": "AddCircularBuffer",
    "TFLM_DECODE": "AddDecode",
    "TFLite_Detection_PostProcess": "AddDetectionPostprocess",
    "ethos-u": "AddEthosU",
    "SignalDelay": "AddDelay",
    "SignalEnergy": "AddEnergy",
    "SignalFftAutoScale": "AddFftAutoScale",
    "SignalFilterBank": "AddFilterBank",
    "SignalFilterBankLog": "AddFilterBankLog",
    "SignalFilterBankSpectralSubtraction": "AddFilterBankSpectralSubtraction",
    "SignalFilterBankSquareRoot": "AddFilterBankSquareRoot",
    "SignalFramer": "AddFramer",
    "SignalIrfft": "AddIrfft",
    "SignalOverlapAdd": "AddOverlapAdd",
    "SignalPCAN": "AddPCAN",
    "SignalRfft": "AddRfft",
    "SignalStacker": "AddStacker",
    "SignalWindow": "AddWindow",
}
"""Custom operators that TFLM brings, and their methods."""


def resolver_method(operator: str) -> str:
    """Return the method that registers a builtin operator: CONV_2D is AddConv2D."""
    words = (word if word in ("2D", "3D") else word.capitalize() for word in operator.split("_"))
    return OTHERWISE_SPELLED.get(operator, "Add" + "".join(words))


def used_operators(model: Model) -> tuple[OperatorCode, ...]:
    """Return the codes of the operators that some subgraph uses, each once, in the order in which the device looks.

    A code beyond the model's table is left out, since TFLM refuses such a model.
    """
    codes = dict(enumerate(model.operator_codes))
    used = (codes.get(op.opcode_index) for subgraph in model.subgraphs for op in subgraph.operators)
    return tuple(dict.fromkeys(code for code in used if code is not None))


def resolver_methods(model: Model) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the methods that register a model's operators, and the custom operators that have none.

    The latter are the firmware's own: it registers them by AddCustom(). Both are in the order in which the device looks
    for them, each once; the resolver's size is their number. An operator that stands in the model's table and that no
    subgraph uses needs none.

    Args:
        model: The model.
    """
    methods: dict[str, None] = {}
    own: dict[str, None] = {}
    for code in used_operators(model):
        if code.custom_code is None:
            methods[resolver_method(builtin_operator_name(code.builtin_code))] = None
        elif code.custom_code in CUSTOM_METHODS:
            methods[CUSTOM_METHODS[code.custom_code]] = None
        else:
            own[code.custom_code] = None
    return tuple(methods), tuple(own)
