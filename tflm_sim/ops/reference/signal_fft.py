"""Fourier transforms: SignalRfft, SignalIrfft, SignalFftAutoScale; their state is kissfft's.

    kiss_fftr_state | kiss_fft_state, twiddles [n / 2] | tmpbuf [n / 2] | super_twiddles [n / 4]    n: FFT length

Source: signal/micro/kernels/{rfft,irfft,fft_auto_scale_common}.cc, signal/src/{rfft,irfft}_*.cc @ 90b983c;
kiss_fft.c, tools/kiss_fftr.c of kissfft v130.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tflm_sim.graph.eval_tensor import TYPE_SIZES
from tflm_sim.model.types import TensorType
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.prepare import INPUT, OUTPUT, result
from tflm_sim.ops.reference.arithmetic import flat_size, size_t
from tflm_sim.ops.reference.custom_options import int_entries, int_slots
from tflm_sim.ops.reference.signal_checks import SIGNAL_KERNELS, Signal, fixed, innermost_dim
from tflm_sim.ops.requests import Persistent, Scratch, Steps
from tflm_sim.ops.roles import halt, size_of

_RFFT = SIGNAL_KERNELS + "rfft.cc"
_IRFFT = SIGNAL_KERNELS + "irfft.cc"
_ELEMENT_TYPES = (TensorType.INT16, TensorType.INT32, TensorType.FLOAT32)


@dataclass(frozen=True, slots=True)
class FftParams:
    """The custom options of a transform: the elements' type and how many go in."""

    element_type: TensorType
    fft_length: int

    @property
    def element_size(self) -> int:
        """Bytes of an element."""
        return TYPE_SIZES[self.element_type]


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


def _element_type(k: Kernel) -> TensorType | None:
    """Return the type that the options name, None for one without a transform."""
    (type_number,) = int_entries(k, "T")
    return TensorType(type_number) if type_number in _ELEMENT_TYPES else None


def _check_kiss_init(params: FftParams) -> None:
    """kissfft does not come back from a negative even length."""
    if params.fft_length < 0 and params.fft_length % 2 == 0:
        raise halt("kissfft kiss_fft.c", "nfft >= 0")


def _init_rfft(node: Node) -> Steps[object]:
    k = Kernel(node, _RFFT)
    element_type = _element_type(k)
    if element_type is None:
        return None
    struct = "rfft.TfLiteAudioFrontendRfftParams"
    yield Persistent(node.target.sizeof(struct), struct)
    params = FftParams(element_type, *int_slots(k, 1))
    size = kiss_fftr_size(node, params.fft_length, params.element_size)
    if (yield Persistent(size, "kissfft state", checked=True)) is not None:
        _check_kiss_init(params)
    return params


def _init_irfft(node: Node) -> Steps[object]:
    k = Kernel(node, _IRFFT)
    element_type = _element_type(k)
    if element_type is None:
        return None
    if not (yield from k.persistent("irfft.TfLiteAudioFrontendIrfftParams")):
        return None
    params = FftParams(element_type, *int_slots(k, 1))
    size = kiss_fftr_size(node, params.fft_length, params.element_size)
    if element_type == TensorType.FLOAT32:
        size = size_t(node, size + node.target.sizeof("tflm_signal::IrfftFloatState"))
    if (yield Persistent(size, "kissfft state", checked=True)) is None:
        return None
    _check_kiss_init(params)
    return params


def _transform_prepare(file: str, *, scratch: bool) -> Callable[[Node], Steps[None]]:
    """Return the Prepare that SignalRfft and SignalIrfft share; only SignalRfft pads its input in scratch."""

    def prepare(node: Node) -> Steps[None]:
        k, params = Kernel(node, file), node.user_data
        if not isinstance(params, FftParams):
            raise k.abort("params != nullptr")
        k.counts(inputs=1)
        signal = yield from k.input(0)
        output = yield from k.output(0)
        k.ensure_eq(len(signal.shape), len(output.shape), "NumDimensions(input)", "NumDimensions(output)")
        for tensor, name in ((signal, "input"), (output, "output")):
            k.ensure_types_eq(tensor.type, params.element_type, f"{name}->type", "TfLiteTypeEnum")
        flat_size(output)
        length = innermost_dim(signal)
        if scratch:
            k.ensure(length <= params.fft_length, "params->input_length <= params->fft_length")
            yield Scratch(size_of(node, params.fft_length, params.element_size), "padded input")
        yield from k.free(signal, output)

    return prepare


_AUTO_SCALE = fixed(
    SIGNAL_KERNELS + "fft_auto_scale_common.cc",
    Signal(INPUT, 1, TensorType.INT16),
    Signal(OUTPUT, 1, TensorType.INT16),
    Signal(result(1, "scale_bit"), 0, TensorType.INT32),
    frees=(2, 0, 1),
)

MODELS: tuple[OpModel, ...] = (
    OpModel("SignalRfft", init=_init_rfft, prepare=_transform_prepare(_RFFT, scratch=True)),
    OpModel("SignalIrfft", init=_init_irfft, prepare=_transform_prepare(_IRFFT, scratch=False)),
    OpModel("SignalFftAutoScale", prepare=_AUTO_SCALE),
)
