"""Fourier transforms: SignalRfft, SignalIrfft, SignalFftAutoScale; their state is kissfft's.

    kiss_fftr_state | kiss_fft_state, twiddles [n / 2] | tmpbuf [n / 2] | super_twiddles [n / 4]    n: FFT length

Source: signal/micro/kernels/{rfft,irfft,fft_auto_scale_common}.cc, signal/src/{rfft,irfft}_*.cc @ 90b983c;
kiss_fft.c, tools/kiss_fftr.c of kissfft v130.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tflm_sim.model.types import TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.reference.arithmetic import size_t
from tflm_sim.ops.reference.custom_options import int_entries, int_slots
from tflm_sim.ops.reference.signal_checks import (
    SIGNAL_KERNELS,
    FixedPrepare,
    allocate_each,
    ensure_signal_counts,
    flat_size,
    innermost_dim,
    result,
    source,
)
from tflm_sim.ops.requests import Persistent, Scratch, Steps
from tflm_sim.ops.roles import abort, ensure_eq, ensure_types_eq, free, size_of

_RFFT = SIGNAL_KERNELS + "rfft.cc"
_IRFFT = SIGNAL_KERNELS + "irfft.cc"
_AUTO_SCALE = SIGNAL_KERNELS + "fft_auto_scale_common.cc"
_ELEMENT_SIZES = {TensorType.INT16: 2, TensorType.INT32: 4, TensorType.FLOAT32: 4}
_SIGNAL = (source("input", 0, 1, TensorType.INT16), result("output", 0, 1, TensorType.INT16))


@dataclass(frozen=True, slots=True)
class FftParams:
    """The custom options of a transform: the elements' type and how many go in."""

    element_type: TensorType
    fft_length: int

    @property
    def element_size(self) -> int:
        """Bytes of an element."""
        return _ELEMENT_SIZES[self.element_type]


def kiss_fftr_size(node: Node, fft_length: int, element_size: int) -> int:
    """Return the bytes of state that ``kiss_fftr_alloc`` asks for; 0 for an odd length, which it refuses.

    ``kiss_fft_state`` holds the first twiddle factor itself, so that n / 2 twiddles need no more than n / 2.
    """
    if fft_length % 2:
        return 0
    half = fft_length // 2
    three_halves = abs(half * 3) // 2 * (1 if half >= 0 else -1)
    structs = node.target.sizeof("kiss_fftr_state") + node.target.sizeof("kiss_fft_state")
    return size_t(node, structs + 2 * element_size * (half + three_halves))


def _transform_params(node: Node, place: str) -> TensorType | None:
    """Return the type that the options name, None for one without a transform."""
    (type_number,) = int_entries(node, place, "T")
    return TensorType(type_number) if type_number in _ELEMENT_SIZES else None


def _check_kiss_init(params: FftParams) -> None:
    """kissfft does not come back from a negative even length."""
    if params.fft_length < 0 and params.fft_length % 2 == 0:
        raise abort("kissfft kiss_fft.c", "nfft >= 0")


def _init_rfft(node: Node) -> Steps[object]:
    element_type = _transform_params(node, f"{_RFFT}:143")
    if element_type is None:
        return None
    struct = "rfft.TfLiteAudioFrontendRfftParams"
    yield Persistent(node.target.sizeof(struct), struct)
    params = FftParams(element_type, *int_slots(node, f"{_RFFT}:66", 1))
    size = kiss_fftr_size(node, params.fft_length, params.element_size)
    if (yield Persistent(size, "kissfft state", checked=True)) is not None:
        _check_kiss_init(params)
    return params


def _init_irfft(node: Node) -> Steps[object]:
    element_type = _transform_params(node, f"{_IRFFT}:139")
    if element_type is None:
        return None
    struct = "irfft.TfLiteAudioFrontendIrfftParams"
    if (yield Persistent(node.target.sizeof(struct), struct, checked=True)) is None:
        return None
    params = FftParams(element_type, *int_slots(node, f"{_IRFFT}:66", 1))
    size = kiss_fftr_size(node, params.fft_length, params.element_size)
    if element_type == TensorType.FLOAT32:
        size = size_t(node, size + node.target.sizeof("tflm_signal::IrfftFloatState"))
    if (yield Persistent(size, "kissfft state", checked=True)) is None:
        return None
    _check_kiss_init(params)
    return params


def _transform_prepare(place: str, *, dispatch: int, counts: int, scratch: bool) -> Callable[[Node], Steps[None]]:
    """Return the Prepare that SignalRfft and SignalIrfft share; only SignalRfft needs scratch.

    Args:
        place: The file.
        dispatch: The line that reads the type from the params.
        counts: The line that checks NumInputs.
        scratch: Whether the transform pads its input in a scratch buffer.
    """

    def prepare(node: Node) -> Steps[None]:
        params = node.user_data
        if not isinstance(params, FftParams):
            raise abort(f"{place}:{dispatch}", "params != nullptr")
        ensure_signal_counts(node, place, counts, inputs=1, outputs=1)
        first = counts + (6 if scratch else 7)
        signal, output = yield from allocate_each(node, place, _SIGNAL, (first, first + 3))
        texts = "NumDimensions(input)", "NumDimensions(output)"
        ensure_eq(len(signal.shape), len(output.shape), f"{place}:{first + 5}", *texts)
        for line, tensor, name in ((first + 7, signal, "input"), (first + 8, output, "output")):
            ensure_types_eq(tensor.type, params.element_type, f"{place}:{line}", f"{name}->type", "TfLiteTypeEnum")
        flat_size(output)
        innermost_dim(signal)
        if scratch:
            yield Scratch(size_of(node, params.fft_length, params.element_size), "padded input")
        yield from free(signal, output)

    return prepare


MODELS: tuple[OpModel, ...] = (
    OpModel(
        "SignalRfft",
        None,
        _init_rfft,
        _transform_prepare(_RFFT, dispatch=167, counts=78, scratch=True),
        _RFFT,
    ),
    OpModel(
        "SignalIrfft",
        None,
        _init_irfft,
        _transform_prepare(_IRFFT, dispatch=168, counts=83, scratch=False),
        _IRFFT,
    ),
    OpModel(
        "SignalFftAutoScale",
        None,
        None,
        FixedPrepare(
            place=_AUTO_SCALE,
            count_line=26,
            tensors=(*_SIGNAL, result("scale_bit", 1, 0, TensorType.INT32)),
            lines=(32, 35, 38),
            rank_line=40,
            free_order=(2, 0, 1),
        ),
        _AUTO_SCALE,
    ),
)
