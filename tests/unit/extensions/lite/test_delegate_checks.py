"""What the GPU delegate takes, what its tensors become, and what names operators of TensorFlow."""

import pytest

from tflm_sim.extensions.lite.answer import LiteSettings, allocated
from tflm_sim.extensions.lite.flex import allowlist, flex_ops
from tflm_sim.extensions.lite.gpu import Storage, size_of, strategies, taken
from tflm_sim.extensions.lite.graph_info import TfLiteTensor
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType
from tflm_sim.planners.gpu import BHWC, UInt2, UInt3


def chain(ops):
    """Return the allocated main subgraph of unary operators in a row, on 1 x 4 x 5 x 6 floats."""
    builder = ModelBuilder()
    tensors = [builder.tensor((1, 4, 5, 6), TensorType.FLOAT32) for _ in range(len(ops) + 1)]
    for op, source, result in zip(ops, tensors, tensors[1:], strict=False):
        builder.operator(op, [source], [result])
    model = parse(builder.build(inputs=tensors[:1], outputs=tensors[-1:]))
    return allocated(model, LiteSettings()).subgraphs[0]


def test_the_delegate_takes_the_largest_partition():
    what = taken(chain(["RELU", "ZEROS_LIKE", "TANH", "RELU", "RELU6"]))
    assert what.nodes == (2, 3, 4)
    assert what.refused == ("ZEROS_LIKE",)
    assert what.records == ((3, 0, 1), (4, 1, 2))  # tensors 2 and 5 come from and go to the CPU


@pytest.mark.parametrize(
    ("storage", "size"),
    [
        (Storage.BUFFER, 4 * 5 * 8 * 2),  # six channels take two slices of four; halves
        (Storage.TEXTURE_2D, UInt2(5, 4 * 2)),
        (Storage.TEXTURE_3D, UInt3(5, 4, 2)),
        (Storage.BHWC, BHWC(1, 4, 5, 6)),
    ],
)
def test_sizes_on_the_gpu(storage, size):
    assert size_of(TfLiteTensor(shape=(1, 4, 5, 6)), storage, 2) == size


def test_every_strategy_answers_for_buffers_and_some_for_bhwc():
    graph = chain(["RELU"] * 5)
    what = taken(graph)
    rows = {row.strategy: row for row in strategies(graph, what, Storage.BUFFER)}
    each = 4 * 5 * 8 * 4
    assert (rows["naive"].objects, rows["naive"].bytes) == (4, 4 * each)
    assert (rows["greedy_by_size"].objects, rows["greedy_by_size"].offsets_bytes) == (2, 2 * each)
    shapes = {row.strategy: row.objects for row in strategies(graph, what, Storage.BHWC)}
    assert (shapes["naive"], shapes["equality"], shapes["mincostflow"]) == (4, 2, None)


def flex_vector(name):
    """Return the FlexBuffer [name, ""] as the converter writes it: two strings in an untyped vector."""
    text = bytes([len(name)]) + name.encode() + b"\0"
    data = text + b"\0\0"  # the second string: length 0, its end
    count = len(data)
    data += b"\2" + bytes([count + 1 - 1, count + 2 - (len(text) + 1)]) + bytes([5 << 2, 5 << 2])
    root = len(data) - 4
    return data + bytes([len(data) - root, 10 << 2, 1])


@pytest.mark.parametrize(
    ("options", "named", "fault"),
    [
        (flex_vector("AddV2"), "AddV2", ""),
        (flex_vector("Mul"), "Mul", "the options name 'Mul'"),
        (None, "", "it has no options: Cannot convert empty data into a valid NodeDef"),
    ],
)
def test_flex_operators_are_named_twice(options, named, fault):
    builder = ModelBuilder()
    x, y = (builder.tensor((1,), TensorType.FLOAT32) for _ in range(2))
    builder.custom("FlexAddV2", [x], [y], options=options)
    (op,) = flex_ops(parse(builder.build(inputs=[x], outputs=[y])))
    assert (op.name, op.named, op.fault) == ("AddV2", named, fault)


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("AddV2", "tensorflow-lite-select-tf-ops"),
        ("CaseFoldUTF8", "TensorFlow Text"),
        ("SentencepieceDecode", "SentencePiece of TensorFlow Text"),
        ("MyOwn", ""),
    ],
)
def test_the_converters_lists_say_who_has_a_flex_operator(name, library):
    builder = ModelBuilder()
    x, y = builder.tensor((4,), TensorType.FLOAT32), builder.tensor((4,), TensorType.FLOAT32)
    builder.custom(f"Flex{name}", [x], [y], options=flex_vector(name))
    (op,) = flex_ops(parse(builder.build(inputs=[x], outputs=[y])))
    assert (op.name, op.library, op.fault) == (name, library, "")


def test_the_converter_has_744_operators_of_tensorflow_and_26_of_its_text_library():
    lists = list(allowlist().values())
    assert [lists.count(name) for name in ("", "text", "sentencepiece")] == [744, 20, 6]


@pytest.mark.parametrize(("storage", "block"), [(Storage.BUFFER, 4 * 4 * 5 * 8 * 4), (Storage.TEXTURE_2D, None)])
def test_only_buffers_lie_in_one_block(storage, block):
    graph = chain(["RELU"] * 5)
    rows = {row.strategy: row for row in strategies(graph, taken(graph), storage)}
    assert rows["naive"].bytes == 4 * 4 * 5 * 8 * 4  # two slices of four channels, in either storage
    assert rows["naive"].offsets_bytes == block
