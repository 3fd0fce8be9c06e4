"""Signal operators on spectra and filter banks: SignalEnergy, SignalFilterBank and its relatives, SignalPCAN.

Source: signal/micro/kernels/{energy,filter_bank,filter_bank_log,filter_bank_spectral_subtraction,
filter_bank_square_root_common,pcan}.cc @ 90b983c.
"""

from __future__ import annotations

from collections.abc import Callable

from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.custom_options import int_slots
from tflm_sim.ops.reference.node_checks import require_op_data
from tflm_sim.ops.reference.signal_checks import (
    SIGNAL_KERNELS,
    FixedPrepare,
    allocate_all,
    allocate_each,
    ensure_rank,
    ensure_signal_counts,
    ensure_type,
    result,
    source,
)
from tflm_sim.ops.requests import Persistent, Steps
from tflm_sim.ops.roles import free, size_of
from tflm_sim.units import int32

_ENERGY = SIGNAL_KERNELS + "energy.cc"
_FILTER_BANK = SIGNAL_KERNELS + "filter_bank.cc"
_LOG = SIGNAL_KERNELS + "filter_bank_log.cc"
_SUBTRACTION = SIGNAL_KERNELS + "filter_bank_spectral_subtraction.cc"
_SQUARE_ROOT = SIGNAL_KERNELS + "filter_bank_square_root_common.cc"
_PCAN = SIGNAL_KERNELS + "pcan.cc"

_NUM_CHANNELS_INDEX = 4
_SUBTRACTION_OPTIONS = 9


def _init_struct(struct: str, place: str, options: int, *, checked: bool = True) -> Callable[[Node], Steps[object]]:
    """Return an Init that allocates a struct and fills it with the first ``options`` custom options."""

    def init(node: Node) -> Steps[object]:
        offset = yield Persistent(node.target.sizeof(struct), struct, checked=checked)
        if offset is None:
            return None
        int_slots(node, place, *range(options))
        return struct

    return init


def _init_filter_bank(node: Node) -> Steps[object]:
    struct = "filter_bank.TFLMSignalFilterBankParams"
    offset = yield Persistent(node.target.sizeof(struct), struct, checked=True)
    if offset is None:
        return None
    (num_channels,) = int_slots(node, f"{_FILTER_BANK}:62", 0)
    work_area = yield Persistent(size_of(node, int32(num_channels + 1), 8), "work area", checked=True)
    return None if work_area is None else struct


def _prepare_filter_bank(node: Node) -> Steps[None]:
    ensure_signal_counts(node, _FILTER_BANK, 75, inputs=6, outputs=1)
    types = (TensorType.UINT32, *[TensorType.INT16] * 5)
    rows = [(source("input", i, 1, types[i]), 81 + 6 * i) for i in range(6)]
    for tensor, line in [*rows, (result("output", 0, 1, TensorType.UINT64), 118)]:
        (found,) = yield from allocate_each(node, _FILTER_BANK, (tensor,), (line,))
        ensure_rank(found, tensor.rank, f"{_FILTER_BANK}:{line + 1}", tensor.name)
        ensure_type(found, tensor.type, f"{_FILTER_BANK}:{line + 2}", tensor.name)
        yield from free(found)


def _init_subtraction(node: Node) -> Steps[object]:
    struct = "filter_bank_spectral_subtraction.TFLMSignalSpectralSubtractionParams"
    offset = yield Persistent(node.target.sizeof(struct), struct, checked=True)
    if offset is None:
        return None
    options = int_slots(node, f"{_SUBTRACTION}:75", *range(_SUBTRACTION_OPTIONS))
    size = size_of(node, options[_NUM_CHANNELS_INDEX], 4)
    noise_estimate = yield Persistent(size, "noise estimate", checked=True)
    return None if noise_estimate is None else struct


def _require_subtraction_params(node: Node) -> None:
    require_op_data(node, f"{_SUBTRACTION}:128", "params")


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "SignalEnergy",
        None,
        _init_struct("energy.TFLMSignalEnergyParams", f"{_ENERGY}:58", 2),
        FixedPrepare(
            place=_ENERGY,
            count_line=64,
            tensors=(source("input", 0, 1, TensorType.INT16), result("output", 0, 1, TensorType.UINT32)),
            lines=(70, 73),
            rank_line=75,
            free_order=(0, 1),
        ),
        _ENERGY,
    ),
    OpModel("SignalFilterBank", None, _init_filter_bank, _prepare_filter_bank, _FILTER_BANK),
    OpModel(
        "SignalFilterBankLog",
        None,
        _init_struct("filter_bank_log.TFLMSignalLogParams", f"{_LOG}:58", 2),
        FixedPrepare(
            place=_LOG,
            count_line=64,
            tensors=(source("input", 0, 1, TensorType.UINT32), result("output", 0, 1, TensorType.INT16)),
            lines=(72, 73),
            rank_line=75,
            free_order=(0, 1),
            allocate=allocate_all,
        ),
        _LOG,
    ),
    OpModel(
        "SignalFilterBankSpectralSubtraction",
        None,
        _init_subtraction,
        FixedPrepare(
            place=_SUBTRACTION,
            count_line=103,
            tensors=(
                source("input", 0, 1, TensorType.UINT32),
                result("output", 0, 1, TensorType.UINT32),
                result("noise_estimate", 1, 1, TensorType.UINT32),
            ),
            lines=(114, 115, 116),
            rank_line=118,
            free_order=(0, 1, 2),
            allocate=allocate_all,
            finish=_require_subtraction_params,
        ),
        _SUBTRACTION,
    ),
    OpModel(
        "SignalFilterBankSquareRoot",
        None,
        None,
        FixedPrepare(
            place=_SQUARE_ROOT,
            count_line=27,
            tensors=(
                source("input", 0, 1, TensorType.UINT64),
                source("scale_bits", 1, 0, TensorType.INT32),
                result("output", 0, 1, TensorType.UINT32),
            ),
            lines=(38, 39, 40),
            rank_line=42,
            free_order=(0, 2, 1),
            allocate=allocate_all,
        ),
        _SQUARE_ROOT,
    ),
    OpModel(
        "SignalPCAN",
        None,
        _init_struct("tflm_signal::TfLitePcanParams", f"{_PCAN}:51", 1, checked=False),
        FixedPrepare(
            place=_PCAN,
            count_line=56,
            tensors=(
                source("input", 0, 1, TensorType.UINT32),
                source("noise_estimate", 1, 1, TensorType.UINT32),
                source("gain_lut", 2, 1, TensorType.INT16),
                result("output", 0, 1, TensorType.UINT32),
            ),
            lines=(63, 66, 69, 72),
            rank_line=74,
            free_order=(0, 3, 1, 2),
        ),
        _PCAN,
    ),
)
