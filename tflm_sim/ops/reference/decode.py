"""TFLM_DECODE: pairs of (encoded, ancillary) constants, each decoded into an output by a ``DecodeState`` in the tail.

The ancillary tensor opens with 16 bytes of metadata: the decode type, the metadata's version, two reserved bytes, then
what the type defines, beginning with a version of its own.

Source: tensorflow/lite/micro/kernels/{decode,decode_state,decode_state_lut,decode_state_huffman,decode_state_prune}.cc
@ 90b983c.
"""

from __future__ import annotations

from tflm_sim.errors import PrepareError
from tflm_sim.graph.eval_tensor import type_name
from tflm_sim.model.types import Quantization, TensorType
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.requests import KernelTensor, Log, Persistent, Steps
from tflm_sim.ops.roles import (
    abort,
    ensure,
    ensure_eq,
    fail,
    free,
    freeing,
    full_place,
    optional_input,
    optional_output,
)
from tflm_sim.units import int32

TYPE_OFFSET = 0
VERSION_OFFSET = 1
STATE_VERSION_OFFSET = 4
TABLE_SIZE_OFFSET = 5
TABLE_SIZE_32_BITS = 0x01

_STATES = {0: "DecodeStateLut", 1: "DecodeStateHuffman", 2: "DecodeStatePrune"}
_CUSTOM_TYPE = 127


def _metadata(ancillary: KernelTensor, offset: int, place: str) -> int:
    """Return a byte of the metadata."""
    data = ancillary.data
    if data is None or len(data) <= offset:
        raise abort(place, f"the ancillary tensor has more than {offset} bytes")
    return data[offset]


def _channels(output: KernelTensor) -> Quantization | None:
    """Return the output's quantization; its axis must be the first, or the last of several channels."""
    affine = output.affine
    if affine is None:
        return None
    last = affine.quantized_dimension == len(output.shape) - 1 and len(affine.scale) > 1
    if not last and affine.quantized_dimension != 0:
        raise fail(f"unsupported quantization axis {affine.quantized_dimension & 0xFFFFFFFF}")
    return affine


def _zero_points(affine: Quantization) -> list[int]:
    """Return one zero point per scale, as the runtime's quantization array has them."""
    channels = len(affine.scale)
    stored = affine.zero_point if len(affine.zero_point) == channels else [affine.zero_point[0]] * channels
    return [int32(value) for value in stored]


def _set_up_huffman(ancillary: KernelTensor, output: KernelTensor) -> None:
    place = "decode_state_huffman.cc"
    table_size = _metadata(ancillary, TABLE_SIZE_OFFSET, f"{place}:39")
    if not table_size & TABLE_SIZE_32_BITS and output.type != TensorType.INT8:
        raise fail(f"{full_place(place)}:45 output.type != kTfLiteInt8 ({type_name(output.type)} != INT8)")


def _set_up_prune(output: KernelTensor) -> Steps[None]:
    affine = _channels(output)
    if affine is None:
        return
    zero_points = _zero_points(affine)
    if output.type != TensorType.INT8 and any(zero_points):
        raise fail(f"{full_place('decode_state_prune.cc')} All zero-points must be zero")
    if len(zero_points) > 1 and any(zero_points):
        offset = yield Persistent(len(zero_points), "zero points", checked=True)
        if offset is None:
            raise fail("unable to allocate zero_points_")


def _set_up(state: str, ancillary: KernelTensor, output: KernelTensor) -> Steps[None]:
    """``DecodeState::Setup``."""
    version = _metadata(ancillary, STATE_VERSION_OFFSET, f"{state}::Setup")
    if version != 1:
        raise fail(f"unsupported version {version}")
    if state == "DecodeStateHuffman":
        _set_up_huffman(ancillary, output)
    elif state == "DecodeStatePrune":
        yield from _set_up_prune(output)
    else:
        _channels(output)


def _create_state(node: Node, decode_type: int, pair: int) -> Steps[str]:
    """Allocate the state that decodes ``decode_type`` and return its class."""
    state = _STATES.get(decode_type)
    if state is None:
        custom = decode_type == _CUSTOM_TYPE
        yield Log("Custom decode type not yet supported" if custom else f"unsupported decode type {decode_type}")
    elif (yield Persistent(node.target.sizeof(state), state, checked=True)) is not None:
        return state
    raise fail(f"failed to allocate DecodeState[{pair}]")


def _tensor(
    steps: Steps[KernelTensor | None], name: str, position: int, found: list[KernelTensor]
) -> Steps[KernelTensor]:
    """Allocate a tensor and remember it in ``found``."""
    tensor = yield from steps
    if tensor is None:
        raise fail(f"failed to allocate {name} tensor {position}")
    found.append(tensor)
    return tensor


def _allocate_pair(node: Node, pair: int, found: list[KernelTensor]) -> Steps[tuple[KernelTensor, ...]]:
    encoded = yield from _tensor(optional_input(node, 2 * pair), "input", 2 * pair, found)
    ancillary = yield from _tensor(optional_input(node, 2 * pair + 1), "ancillary", 2 * pair + 1, found)
    output = yield from _tensor(optional_output(node, pair), "output", pair, found)
    return encoded, ancillary, output


def _decode_pair(node: Node, pair: int, ancillary: KernelTensor, output: KernelTensor) -> Steps[None]:
    version = _metadata(ancillary, VERSION_OFFSET, "decode.cc:96")
    if version != 1:
        raise fail(f"version {version} != 1")
    state = yield from _create_state(node, _metadata(ancillary, TYPE_OFFSET, "decode.cc:103"), pair)
    yield from _set_up(state, ancillary, output)


def _prepare_pair(node: Node, pair: int) -> Steps[None]:
    """Prepare one output; what was allocated is freed also on a refusal, but not after a TF_LITE_ENSURE."""
    found: list[KernelTensor] = []
    try:
        encoded, ancillary, output = yield from _allocate_pair(node, pair, found)
    except PrepareError:
        yield from free(*found)
        raise
    ensure(encoded.is_constant, "decode.cc:93", "IsConstantTensor(input)")
    ensure(ancillary.is_constant, "decode.cc:94", "IsConstantTensor(ancillary)")
    yield from freeing(_decode_pair(node, pair, ancillary, output), *found)


def _prepare(node: Node) -> Steps[None]:
    outputs = len(node.outputs)
    ensure(outputs > 0, "decode.cc:55", "num_outputs > 0")
    ensure_eq(len(node.inputs), 2 * outputs, "decode.cc:56", "num_inputs", "num_outputs * 2")
    node.user_data = "DecodeState*[]"
    offset = yield Persistent(outputs * node.target.abi.pointer_size, "DecodeState pointers", checked=True)
    ensure(offset is not None, "decode.cc:62", "node->user_data != nullptr")
    for pair in range(outputs):
        yield from _prepare_pair(node, pair)


MODELS: tuple[OpModel, ...] = (OpModel("TFLM_DECODE", None, None, _prepare, "tensorflow/lite/micro/kernels/decode.cc"),)
