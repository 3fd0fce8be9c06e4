"""TFLM_DECODE: pairs of (encoded, ancillary) constants, each decoded into an output by a ``DecodeState`` in the tail.

The ancillary tensor opens with 16 bytes of metadata: the decode type, the metadata's version, two reserved bytes, then
what the type defines, beginning with a version of its own. Since ``decode_custom`` an interpreter can be given states
for the types from 128 on; here it was given none.

Source: tensorflow/lite/micro/kernels/{decode,decode_state,decode_state_lut,decode_state_huffman,decode_state_prune}.cc
@ 90b983c.
"""

from __future__ import annotations

from tflm_sim.errors import PrepareError
from tflm_sim.model.types import Quantization, TensorType
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.op_model import Node, OpModel
from tflm_sim.ops.places import full_place
from tflm_sim.ops.requests import KernelTensor, Log, Persistent, Steps
from tflm_sim.ops.roles import fail
from tflm_sim.units import int32

TYPE_OFFSET = 0
VERSION_OFFSET = 1
STATE_VERSION_OFFSET = 4
TABLE_SIZE_OFFSET = 5
TABLE_SIZE_32_BITS = 0x01

_STATES = {0: "DecodeStateLut", 1: "DecodeStateHuffman", 2: "DecodeStatePrune"}
_STATE_FILES = {
    "DecodeStateLut": "decode_state_lut.cc",
    "DecodeStateHuffman": "decode_state_huffman.cc",
    "DecodeStatePrune": "decode_state_prune.cc",
}
_CUSTOM_TYPE = 127
_FIRST_REGISTERED_TYPE = 128


def _metadata(k: Kernel, ancillary: KernelTensor, offset: int) -> int:
    data = ancillary.data
    if data is None or len(data) <= offset:
        raise k.abort(f"the ancillary tensor has more than {offset} bytes")
    return data[offset]


def _channels(output: KernelTensor) -> Quantization | None:
    """Return the output's quantization; its axis must be the first, or the last of several channels."""
    affine = output.affine
    if affine is None:
        return None
    last = affine.quantized_dimension == len(output.shape) - 1 and affine.scale_count > 1
    if not last and affine.quantized_dimension != 0:
        raise fail(f"unsupported quantization axis {affine.quantized_dimension & 0xFFFFFFFF}")
    return affine


def _zero_points(affine: Quantization) -> list[int]:
    """Return one zero point per scale, as the runtime's quantization array has them."""
    channels = affine.scale_count
    stored = affine.zero_point if affine.zero_point_count == channels else [affine.zero_point[0]] * channels
    return [int32(value) for value in stored]


def _set_up_huffman(k: Kernel, ancillary: KernelTensor, output: KernelTensor) -> None:
    table_size = _metadata(k, ancillary, TABLE_SIZE_OFFSET)
    if not table_size & TABLE_SIZE_32_BITS:
        k.ensure_types_eq(output.type, TensorType.INT8, "output.type")


def _set_up_prune(k: Kernel, output: KernelTensor) -> Steps[None]:
    affine = _channels(output)
    if affine is None:
        return
    zero_points = _zero_points(affine)
    if output.type != TensorType.INT8 and any(zero_points):
        raise fail(f"{full_place(k.file)} All zero-points must be zero")
    if len(zero_points) > 1 and any(zero_points):
        offset = yield Persistent(len(zero_points), "zero points", checked=True)
        if offset is None:
            raise fail("unable to allocate zero_points_")


def _set_up(node: Node, state: str, ancillary: KernelTensor, output: KernelTensor) -> Steps[None]:
    """``DecodeState::Setup``."""
    k = Kernel(node, _STATE_FILES[state])
    version = _metadata(k, ancillary, STATE_VERSION_OFFSET)
    if version != 1:
        raise fail(f"unsupported version {version}")
    if state == "DecodeStateHuffman":
        _set_up_huffman(k, ancillary, output)
    elif state == "DecodeStatePrune":
        yield from _set_up_prune(k, output)
    else:
        _channels(output)


def _create_state(node: Node, decode_type: int, pair: int) -> Steps[str]:
    """Allocate the state that decodes ``decode_type`` and return its class."""
    state, registers = _STATES.get(decode_type), node.target.runtime.has("decode_custom")
    if state is None:
        if decode_type == _CUSTOM_TYPE and not registers:
            yield Log("Custom decode type not yet supported")
        elif decode_type < _FIRST_REGISTERED_TYPE or not registers:
            yield Log(f"unsupported decode type {decode_type}")
    elif (yield Persistent(node.target.sizeof(state), state, checked=True)) is not None:
        return state
    raise fail(f"failed to allocate DecodeState[{pair}]")


def _tensor(
    steps: Steps[KernelTensor | None], name: str, position: int, found: list[KernelTensor]
) -> Steps[KernelTensor]:
    tensor = yield from steps
    if tensor is None:
        raise fail(f"failed to allocate {name} tensor {position}")
    found.append(tensor)
    return tensor


def _allocate_pair(k: Kernel, pair: int, found: list[KernelTensor]) -> Steps[tuple[KernelTensor, ...]]:
    encoded = yield from _tensor(k.optional_input(2 * pair), "input", 2 * pair, found)
    ancillary = yield from _tensor(k.optional_input(2 * pair + 1), "ancillary", 2 * pair + 1, found)
    output = yield from _tensor(k.optional_output(pair), "output", pair, found)
    return encoded, ancillary, output


def _decode_pair(k: Kernel, pair: int, ancillary: KernelTensor, output: KernelTensor) -> Steps[None]:
    version = _metadata(k, ancillary, VERSION_OFFSET)
    if version != 1:
        raise fail(f"version {version} != 1")
    state = yield from _create_state(k.node, _metadata(k, ancillary, TYPE_OFFSET), pair)
    yield from _set_up(k.node, state, ancillary, output)


def _prepare_pair(k: Kernel, pair: int) -> Steps[None]:
    """Prepare one output; what was allocated is freed also on a refusal, but not after a TF_LITE_ENSURE."""
    found: list[KernelTensor] = []
    try:
        encoded, ancillary, output = yield from _allocate_pair(k, pair, found)
    except PrepareError:
        yield from k.free(*found)
        raise
    k.ensure(encoded.is_constant, "IsConstantTensor(input)")
    k.ensure(ancillary.is_constant, "IsConstantTensor(ancillary)")
    yield from k.freeing(_decode_pair(k, pair, ancillary, output), *found)


def _prepare(node: Node) -> Steps[None]:
    k = Kernel(node, "decode.cc")
    outputs = len(node.outputs)
    k.ensure(outputs > 0, "num_outputs > 0")
    k.ensure_eq(len(node.inputs), 2 * outputs, "num_inputs", "num_outputs * 2")
    node.user_data = "DecodeState*[]"
    offset = yield Persistent(outputs * node.target.abi.pointer_size, "DecodeState pointers", checked=True)
    k.ensure(offset is not None, "node->user_data != nullptr")
    for pair in range(outputs):
        yield from _prepare_pair(k, pair)


MODELS: tuple[OpModel, ...] = (OpModel("TFLM_DECODE", prepare=_prepare),)
