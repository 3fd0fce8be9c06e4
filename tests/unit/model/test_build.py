"""The builder: what its short forms mean."""

import struct
from collections.abc import Callable

import pytest

from tflm_sim.errors import UsageError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.build_values import encode_data
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, Quantization, TensorType

INT8 = TensorType.INT8


def data_of(model: Model, index: int) -> bytes | None:
    data = model.tensor_data(model.subgraphs[0].tensors[index])
    return None if data is None else bytes(data)


def test_a_convolution_in_seven_lines() -> None:
    b = ModelBuilder()
    x = b.tensor((1, 8, 8, 4), INT8, scale=0.5, zero_point=3)
    w = b.tensor((8, 3, 3, 4), INT8, data=bytes(288), scale=[0.25] * 8)
    y = b.tensor((1, 8, 8, 8), INT8, scale=0.5)
    b.operator("CONV_2D", [x, w, -1], [y], options={"padding": "VALID", "stride_w": 1, "stride_h": 2}, version=3)
    model = parse(b.build(inputs=[x], outputs=[y]))
    (subgraph,) = model.subgraphs
    assert (subgraph.inputs, subgraph.outputs) == ((x,), (y,))
    (operator,) = subgraph.operators
    assert (operator.inputs, operator.outputs, operator.options_type) == ((0, 1, -1), (2,), "Conv2DOptions")
    assert operator.options["padding"] == 1
    assert operator.options["stride_h"] == 2
    assert operator.options["dilation_w_factor"] == 1
    code = model.operator_codes[operator.opcode_index]
    assert (code.builtin_code, code.raw_builtin_code, code.version) == (3, 3, 3)
    assert subgraph.tensors[x].quantization == Quantization((0.5,), (3,))
    assert subgraph.tensors[w].quantization == Quantization((0.25,) * 8, (0,) * 8)
    assert model.buffers[subgraph.tensors[w].buffer].address % 16 == 0


def test_buffer_0_is_empty_and_tensors_without_data_name_it() -> None:
    b = ModelBuilder()
    b.tensor((1,), INT8)
    model = parse(b.build())
    assert model.subgraphs[0].tensors[0].buffer == 0
    assert [buffer.data for buffer in model.buffers] == [None]


@pytest.mark.parametrize(
    ("type", "values", "stored"),
    [
        (TensorType.INT8, [-1, 2], b"\xff\x02"),
        (TensorType.INT16, [-2], b"\xfe\xff"),
        (TensorType.INT32, [1], b"\x01\0\0\0"),
        (TensorType.INT64, [1], b"\x01\0\0\0\0\0\0\0"),
        (TensorType.BOOL, [1, 0], b"\x01\0"),
        (TensorType.FLOAT32, [1.0], b"\0\0\x80\x3f"),
        (TensorType.FLOAT16, [1.0], b"\0\x3c"),
        (TensorType.INT4, [1, -1, 3], b"\xf1\x03"),  # low half first; an odd count is padded
    ],
)
def test_numbers_are_stored_as_the_type_asks(type: TensorType, values: list[int], stored: bytes) -> None:
    b = ModelBuilder()
    b.tensor((len(values),), type, data=values)
    assert data_of(parse(b.build()), 0) == stored


def test_numbers_of_a_type_without_encoding_are_refused() -> None:
    with pytest.raises(UsageError, match="tensor type 5 have no encoding"):
        ModelBuilder().tensor((1,), TensorType.STRING, data=[1])


def test_tensors_may_share_a_buffer() -> None:
    b = ModelBuilder()
    shared = b.buffer(b"abcd")
    b.tensor((4,), INT8, buffer=shared)
    b.tensor((2, 2), INT8, buffer=shared)
    model = parse(b.build())
    assert data_of(model, 0) == data_of(model, 1) == b"abcd"
    assert len(model.buffers) == 2


def test_a_scalar_can_have_an_empty_shape_or_none() -> None:
    b = ModelBuilder()
    b.tensor((), INT8)
    b.tensor(None, INT8)
    tensors = parse(b.build()).subgraphs[0].tensors
    assert (tensors[0].shape, tensors[1].shape) == ((), None)


def test_equal_operators_share_an_operator_code() -> None:
    b = ModelBuilder()
    x = b.tensor((1,), INT8)
    for version in (1, 1, 2):
        b.operator("ADD", [x, x], [x], version=version)
    b.custom("Mine", [x], [x], options=b"\x01")
    b.custom("Mine", [x], [x])
    model = parse(b.build())
    assert [operator.opcode_index for operator in model.subgraphs[0].operators] == [0, 0, 1, 2, 2]
    assert [operator.custom_options for operator in model.subgraphs[0].operators[3:]] == [b"\x01", None]
    assert [(code.builtin_code, code.custom_code) for code in model.operator_codes] == [
        (0, None),
        (0, None),
        (32, "Mine"),
    ]


def test_an_options_table_can_be_left_out() -> None:
    b = ModelBuilder()
    b.operator("ADD", [], [], options_type="")
    operator = parse(b.build()).subgraphs[0].operators[0]
    assert (operator.options_type, operator.options) == ("", {})


def test_vectors_of_options() -> None:
    b = ModelBuilder()
    b.operator("SQUEEZE", [], [], options={"squeeze_dims": (1, 2)})
    b.operator("BUCKETIZE", [], [], options={"boundaries": (0.5, 1.5)})
    first, second = parse(b.build()).subgraphs[0].operators
    assert first.options == {"squeeze_dims": (1, 2)}
    assert second.options == {"boundaries": (0.5, 1.5)}


def test_an_unknown_operator_field_or_value_is_refused() -> None:
    b = ModelBuilder()
    with pytest.raises(UsageError, match="no builtin operator 'CONV2D'"):
        b.operator("CONV2D", [], [])
    with pytest.raises(UsageError, match="Conv2DOptions has no field stride"):
        b.operator("CONV_2D", [], [], options={"stride": 1})
    with pytest.raises(UsageError, match="Padding has no value 'FULL'; it has SAME, VALID"):
        b.operator("CONV_2D", [], [], options={"padding": "FULL"})
    with pytest.raises(UsageError, match="an operator without options has no field axis"):
        b.operator("RELU", [], [], options={"axis": 1})


def test_subgraphs_have_tensors_of_their_own() -> None:
    b = ModelBuilder()
    body = b.add_subgraph("body")
    x = body.tensor((2,), TensorType.INT32)
    body.operator("NEG", [x], [x])
    body.inputs, body.outputs = [x], [x]
    b.operator("WHILE", [], [], options={"cond_subgraph_index": body.index, "body_subgraph_index": body.index})
    model = parse(b.build())
    assert [subgraph.name for subgraph in model.subgraphs] == ["main", "body"]
    assert model.subgraphs[1].inputs == (0,)
    assert model.subgraphs[0].operators[0].options == {"cond_subgraph_index": 1, "body_subgraph_index": 1}


def test_metadata_signatures_and_description() -> None:
    b = ModelBuilder(description="what it is")
    x = b.tensor((1,), INT8, is_variable=True, shape_signature=(-1,), name="x")
    b.metadata("OfflineMemoryAllocation", b"1234")
    b.signature("serving_default", {"in": x}, {"out": x})
    model = parse(b.build(inputs=[x], outputs=[x]))
    assert model.description == "what it is"
    assert model.version == 3
    assert [(entry.name, model.buffers[entry.buffer].data) for entry in model.metadata] == [
        ("OfflineMemoryAllocation", b"1234")
    ]
    (signature,) = model.signatures
    assert (signature.key, signature.inputs, signature.outputs) == ("serving_default", (("in", 0),), (("out", 0),))
    tensor = model.subgraphs[0].tensors[0]
    assert (tensor.name, tensor.is_variable, tensor.shape_signature) == ("x", True, (-1,))


@pytest.mark.parametrize(
    ("values", "packed"), [([1], "01"), ([1, 2], "21"), ([1, -2, 3], "e1 03"), ([-8, 7, 0, -1], "78 f0")]
)
def test_numbers_of_four_bits_lie_two_a_byte_the_first_in_the_low_half(values: list[int], packed: str) -> None:
    assert encode_data(values, TensorType.INT4) == bytes.fromhex(packed)


@pytest.mark.parametrize("is_stored", [True, False])
def test_the_first_scale_and_zero_point_are_the_same_as_numbers_and_as_the_files_bytes(is_stored: bool) -> None:
    quantization = Quantization((0.5, 0.25), (-7, 300))
    if is_stored:
        quantization = Quantization(struct.pack("<2f", 0.5, 0.25), struct.pack("<2q", -7, 300))
    assert (quantization.first_scale, quantization.first_zero_point) == (0.5, -7)
    assert (tuple(quantization.scale), tuple(quantization.zero_point)) == ((0.5, 0.25), (-7, 300))
    assert (quantization.scale_count, quantization.zero_point_count) == (2, 2)


def test_numbers_of_numpy_are_kept_as_python_s_own() -> None:
    numpy = pytest.importorskip("numpy")
    builder = ModelBuilder()
    rows = [numpy.int8(100), numpy.int8(100)]
    given = builder.tensor(rows, 9, data=numpy.zeros(2, "int8"), scale=numpy.float32(0.5), zero_point=numpy.int8(3))
    made = builder.tensor(numpy.array(rows), numpy.int8(9))
    builder.operator("SOFTMAX", numpy.array([given]), [numpy.int64(made)], options={"beta": numpy.float32(2)})
    first, second = builder.model().subgraphs[0].tensors
    (operator,) = builder.model().subgraphs[0].operators
    kept = (first.shape, second.shape, operator.inputs, operator.outputs, operator.options["beta"], second.type)
    assert repr(kept) == "((100, 100), (100, 100), (0,), (1,), 2.0, 9)"
    assert repr(first.quantization) == repr(Quantization((0.5,), (3,)))


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda b: b.tensor(4, 0), "shape as numbers was expected, not a value of type 'int' (4)"),
        (lambda b: b.tensor("44", 0), "shape as numbers was expected, not a value of type 'str' ('44')"),
        (lambda b: b.tensor([2**31], 0), "one of shape: 2,147,483,648 is out of range: "),
        (lambda b: b.tensor([1.5], 0), "one of shape as a number was expected, not a value of type 'float' (1.5)"),
        (lambda b: b.tensor([1], "int8"), "type as a number was expected, not a value of type 'str' ('int8')"),
        (lambda b: b.tensor([1], 9, data=[300]), "data of tensor type 9: byte format requires -128 <= number <= 127"),
        (lambda b: b.tensor([1], 9, scale="1"), "scale as numbers was expected, not a value of type 'str' ('1')"),
        (lambda b: b.tensor([1], 9, scale=1, zero_point=0.5), "one of zero_point as a number was expected, "),
        (lambda b: b.tensor([1], 0, name=b"x"), "name as a text was expected, not a value of type 'bytes' (b'x')"),
        (lambda b: b.operator(1, [0], [1]), "the name of an operator was expected, not a value of type 'int' (1)"),
        (lambda b: b.operator("RELU", 0, [1]), "tensor indices as numbers was expected, not a value of type 'int' (0)"),
        (lambda b: b.operator("SOFTMAX", [0], [1], options=[1]), "options by name, as a dictionary, was expected, "),
        (
            lambda b: b.operator("SOFTMAX", [0], [1], options={"beta": "1"}),
            "the option beta as a number was expected, ",
        ),
        (lambda b: b.custom("X", [0], [1], options="x"), "options as bytes was expected, not a value of type 'str'"),
    ],
)
def test_what_no_file_can_hold_is_refused_in_a_sentence(build: Callable[[ModelBuilder], int], sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        build(ModelBuilder())
    assert str(refused.value).startswith(sentence)
