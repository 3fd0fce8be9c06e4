"""Signal operators on spectra and filter banks: SignalEnergy, SignalFilterBank and its relatives, SignalPCAN.

Source: signal/micro/kernels/{energy,filter_bank,filter_bank_log,filter_bank_spectral_subtraction,
filter_bank_square_root_common,pcan}.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Callable

from tflm_sim.model.types import TensorType
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.prepare import INPUT, OUTPUT, checked_op_data, result, source
from tflm_sim.ops.reference.custom_options import int_slots
from tflm_sim.ops.reference.signal_checks import SIGNAL_KERNELS, Signal, fixed
from tflm_sim.ops.requests import Persistent, Steps
from tflm_sim.ops.roles import size_of
from tflm_sim.units import int32

_ENERGY = SIGNAL_KERNELS + "energy.cc"
_FILTER_BANK = SIGNAL_KERNELS + "filter_bank.cc"
_LOG = SIGNAL_KERNELS + "filter_bank_log.cc"
_SUBTRACTION = SIGNAL_KERNELS + "filter_bank_spectral_subtraction.cc"
_PCAN = SIGNAL_KERNELS + "pcan.cc"

_NUM_CHANNELS_INDEX = 4
_SUBTRACTION_OPTIONS = 9
_INT16, _INT32, _UINT32, _UINT64 = TensorType.INT16, TensorType.INT32, TensorType.UINT32, TensorType.UINT64


def _init_struct(struct: str, file: str, options: int, *, checked: bool = True) -> Callable[[Node], Steps[object]]:
    """Return an Init that allocates a struct and fills it with the first ``options`` custom options."""

    def init(node: Node) -> Steps[object]:
        offset = yield Persistent(node.target.sizeof(struct), struct, checked=checked)
        if offset is None:
            return None
        int_slots(Kernel(node, file), *range(options))
        return struct

    return init


def _init_filter_bank(node: Node) -> Steps[object]:
    k, struct = Kernel(node, _FILTER_BANK), "filter_bank.TFLMSignalFilterBankParams"
    if not (yield from k.persistent(struct)):
        return None
    (num_channels,) = int_slots(k, 0)
    work_area = yield Persistent(size_of(node, int32(num_channels + 1), 8), "work area", checked=True)
    return None if work_area is None else struct


_BANK_INPUTS = (_UINT32, *[_INT16] * 5)


def _prepare_filter_bank(node: Node) -> Steps[None]:
    k = Kernel(node, _FILTER_BANK)
    k.counts(inputs=6)
    for position, type_ in enumerate(_BANK_INPUTS):
        tensor = yield from k.optional_input(position)
        found = k.present(tensor, "input", position + 1)
        k.ensure_eq(len(found.shape), 1, "NumDimensions(input)", "1", position + 1)
        number = position + 1 if type_ == _UINT32 else position
        k.ensure_types_eq(found.type, type_, "input->type", _C_NAMES[type_], number)
        yield from k.free(found)
    output = yield from k.output(0)
    k.rank(output, 1, "output")
    k.is_type(output, _UINT64, "output")
    yield from k.free(output)


_C_NAMES = {_UINT32: "kTfLiteUInt32", _INT16: "kTfLiteInt16"}


def _init_subtraction(node: Node) -> Steps[object]:
    k, struct = Kernel(node, _SUBTRACTION), "filter_bank_spectral_subtraction.TFLMSignalSpectralSubtractionParams"
    if not (yield from k.persistent(struct)):
        return None
    options = int_slots(k, *range(_SUBTRACTION_OPTIONS))
    size = size_of(node, options[_NUM_CHANNELS_INDEX], 4)
    noise_estimate = yield Persistent(size, "noise estimate", checked=True)
    return None if noise_estimate is None else struct


_INPUT_32, _OUTPUT_32 = Signal(INPUT, 1, _UINT32), Signal(OUTPUT, 1, _UINT32)
_LOGARITHM = fixed(_LOG, _INPUT_32, Signal(OUTPUT, 1, _INT16), together=True)
_SUBTRACT = fixed(
    _SUBTRACTION,
    _INPUT_32,
    _OUTPUT_32,
    Signal(result(1, "noise_estimate"), 1, _UINT32),
    together=True,
    finish=checked_op_data("params"),
)
_ROOT = fixed(
    SIGNAL_KERNELS + "filter_bank_square_root_common.cc",
    Signal(INPUT, 1, _UINT64),
    Signal(source(1, "scale_bits"), 0, _INT32),
    _OUTPUT_32,
    together=True,
    frees=(0, 2, 1),
)
_GAIN = fixed(
    _PCAN,
    _INPUT_32,
    Signal(source(1, "noise_estimate"), 1, _UINT32),
    Signal(source(2, "gain_lut"), 1, _INT16),
    _OUTPUT_32,
    frees=(0, 3, 1, 2),
)

MODELS: tuple[OpModel, ...] = (
    OpModel(
        "SignalEnergy",
        init=_init_struct("energy.TFLMSignalEnergyParams", _ENERGY, 2),
        prepare=fixed(_ENERGY, Signal(INPUT, 1, _INT16), _OUTPUT_32),
    ),
    OpModel("SignalFilterBank", init=_init_filter_bank, prepare=_prepare_filter_bank),
    OpModel(
        "SignalFilterBankLog", init=_init_struct("filter_bank_log.TFLMSignalLogParams", _LOG, 2), prepare=_LOGARITHM
    ),
    OpModel("SignalFilterBankSpectralSubtraction", init=_init_subtraction, prepare=_SUBTRACT),
    OpModel("SignalFilterBankSquareRoot", prepare=_ROOT),
    OpModel("SignalPCAN", init=_init_struct("tflm_signal::TfLitePcanParams", _PCAN, 1, checked=False), prepare=_GAIN),
)
