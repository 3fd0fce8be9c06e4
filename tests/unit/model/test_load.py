"""What ``parse`` makes of a file: absent things, wrong indices, broken tables."""

import pickle
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from tflm_sim.answers.simulation import simulate
from tflm_sim.errors import ModelError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.encode import encode
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import ConstantData, Model, Operator, OperatorCode, Subgraph, Tensor, TensorType
from tflm_sim.samples import sample_path


def one_operator(**changes: object) -> Model:
    """ADD of tensors 0 and 1 into 2, with the operator's fields changed."""
    operator = Operator(opcode_index=0, inputs=(0, 1), outputs=(2,))
    subgraph = Subgraph(
        tensors=tuple(Tensor(name=name, shape=(1, 4), type=TensorType.INT8, buffer=0) for name in "abc"),
        operators=(replace(operator, **changes),),  # type: ignore[arg-type]
        inputs=(0, 1),
        outputs=(2,),
    )
    return Model(version=3, operator_codes=(OperatorCode(0, 0),), subgraphs=(subgraph,), buffers=(ConstantData(None),))


def test_an_empty_model_table_is_an_empty_model() -> None:
    # 8: vtable of no fields (4, 4); 12: a table that points 4 bytes back to it.
    model = parse(b"\x0c\0\0\0TFL3\x04\0\x04\0\x04\0\0\0")
    assert (model.version, model.operator_codes, model.subgraphs, model.buffers) == (0, (), (), ())
    assert (model.metadata, model.signatures, model.description) == ((), (), "")


def test_the_path_stands_in_the_model_and_in_errors() -> None:
    assert parse(encode(one_operator()), path="a.tflite").path == "a.tflite"
    with pytest.raises(ModelError, match=r"^a\.tflite: the file identifier is b'TFLX'") as caught:
        parse(b"\0\0\0\0TFLX", path="a.tflite")
    assert caught.value.path == "a.tflite"


def test_load_reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(encode(one_operator()))
    assert load(path).path == str(path)
    assert load(str(path)).subgraphs == parse(path.read_bytes()).subgraphs


def test_a_file_that_is_not_there_is_a_model_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"none\.tflite: No such file or directory"):
        load(tmp_path / "none.tflite")


def test_any_bytes_like_object_will_do() -> None:
    data = encode(one_operator())
    assert parse(bytearray(data)).subgraphs == parse(memoryview(data)).subgraphs == parse(data).subgraphs


def test_weights_are_views_of_the_file() -> None:
    builder = ModelBuilder()
    builder.tensor((4,), TensorType.INT8, data=[1, 2, 3, 4])
    data = builder.build()
    model = parse(data)
    view = model.buffers[1].data
    assert view is not None
    assert view.obj is data
    assert data[model.buffers[1].address :][:4] == bytes(view) == b"\x01\x02\x03\x04"
    assert view.readonly


def test_an_operator_code_is_the_larger_of_the_two_stored_ones() -> None:
    codes = (OperatorCode(3, 0), OperatorCode(150, 150), OperatorCode(32, 32, "MyOp", 2))
    model = parse(encode(replace(one_operator(), operator_codes=codes)))
    assert model.operator_codes == codes


def test_absent_vectors_are_none_and_empty_ones_are_not() -> None:
    absent = parse(encode(one_operator(inputs=None, outputs=None))).subgraphs[0].operators[0]
    assert (absent.inputs, absent.outputs, absent.intermediates) == (None, None, None)
    empty = parse(encode(one_operator(inputs=(), outputs=(), intermediates=()))).subgraphs[0].operators[0]
    assert (empty.inputs, empty.outputs, empty.intermediates) == ((), (), ())


def test_a_subgraph_may_have_no_vector_of_operators() -> None:
    model = one_operator()
    subgraph = replace(model.subgraphs[0], operators=(), has_operators=False, inputs=None, outputs=None)
    assert parse(encode(replace(model, subgraphs=(subgraph,)))).subgraphs[0].has_operators is False


def test_a_negative_input_is_an_absent_tensor() -> None:
    assert parse(encode(one_operator(inputs=(0, -1)))).subgraphs[0].operators[0].inputs == (0, -1)


@pytest.mark.parametrize(
    ("field", "indices", "wrong"),
    [
        ("inputs", (0, 3), 3),
        ("outputs", (-1,), -1),
        ("outputs", (7,), 7),
        ("intermediates", (-2,), -2),
        ("intermediates", (3,), 3),
    ],
)
def test_a_tensor_index_that_is_out_of_range_names_operator_and_tensor(
    field: str, indices: tuple[int, ...], wrong: int
) -> None:
    with pytest.raises(ModelError, match=f"subgraph 0: operator 0: {field} name tensor {wrong} of 3"):
        parse(encode(one_operator(**{field: indices})))


@pytest.mark.parametrize("field", ["inputs", "outputs"])
@pytest.mark.parametrize("wrong", [-1, 3])
def test_a_subgraphs_tensor_index_that_is_out_of_range_is_refused(field: str, wrong: int) -> None:
    model = one_operator()
    subgraph = replace(model.subgraphs[0], **{field: (wrong,)})  # type: ignore[arg-type]
    with pytest.raises(ModelError, match=f"subgraph 0: {field} name tensor {wrong} of 3"):
        parse(encode(replace(model, subgraphs=(subgraph,))))


def test_a_model_read_without_strictness_keeps_strange_indices_and_is_not_run_on_tflm() -> None:
    builder = ModelBuilder()
    x, y = builder.tensor((4,), TensorType.FLOAT32), builder.tensor((4,), TensorType.FLOAT32)
    builder.operator("RELU", [x], [y])
    model = parse(builder.build(inputs=[x, -1], outputs=[y, 9]), strict=False)
    assert (model.subgraphs[0].inputs, model.subgraphs[0].outputs) == ((x, -1), (y, 9))
    assert "inputs name tensor -1 of 2" in str(model.index_fault)
    assert pickle.loads(pickle.dumps(model)).subgraphs == model.subgraphs
    with pytest.raises(ModelError, match="inputs name tensor -1 of 2"):
        simulate(model, "cortex-m4")


def test_operator_code_and_buffer_indices_out_of_range_stay_for_tflm_to_report() -> None:
    model = one_operator(opcode_index=9)
    tensors = (replace(model.subgraphs[0].tensors[0], buffer=77), *model.subgraphs[0].tensors[1:])
    model = parse(encode(replace(model, subgraphs=(replace(model.subgraphs[0], tensors=tensors),))))
    assert model.subgraphs[0].operators[0].opcode_index == 9
    assert model.subgraphs[0].tensors[0].buffer == 77
    assert model.tensor_data(model.subgraphs[0].tensors[0]) is None


def test_options_hold_every_field_defaults_filled_in() -> None:
    options = {"padding": 1, "stride_w": 2}
    operator = parse(encode(one_operator(options_type="Conv2DOptions", options=options))).subgraphs[0].operators[0]
    assert operator.options_type == "Conv2DOptions"
    assert operator.options == {
        "padding": 1,
        "stride_w": 2,
        "stride_h": 0,
        "fused_activation_function": 0,
        "dilation_w_factor": 1,
        "dilation_h_factor": 1,
        "quantized_bias_type": 0,
    }


def test_options_are_empty_when_the_file_names_a_table_and_has_none() -> None:
    operator = parse(encode(one_operator(options_type="Conv2DOptions"))).subgraphs[0].operators[0]
    assert (operator.options_type, operator.options) == ("Conv2DOptions", {})


def test_options_of_the_second_union() -> None:
    options = {"name": "f", "composite_attributes": memoryview(b"abc"), "version": 2}
    model = parse(encode(one_operator(options_type="StableHLOCompositeOptions", options=options)))
    read = model.subgraphs[0].operators[0].options
    assert (read["name"], read["composite_attributes"], read["version"]) == ("f", b"abc", 2)
    assert read["decomposition_subgraph_index"] == 0


def test_custom_options_are_a_view() -> None:
    operator = parse(encode(one_operator(custom_options=memoryview(b"xyz")))).subgraphs[0].operators[0]
    assert operator.custom_options == b"xyz"


def test_data_outside_of_the_flatbuffer() -> None:
    buffers = (ConstantData(None), ConstantData(None, memoryview(b"outside")), ConstantData(memoryview(b"inside")))
    data = encode(replace(one_operator(), buffers=buffers))
    model = parse(data)
    assert (model.buffers[1].data, model.buffers[1].external) == (None, b"outside")
    assert (model.buffers[2].data, model.buffers[2].external) == (b"inside", None)
    with pytest.raises(ModelError, match=f"buffer 1: its data ends at byte {len(data)} of a file of {len(data) - 1}"):
        parse(data[:-1])


@pytest.mark.parametrize("size", [8, 50, 100, 200])
def test_a_truncated_file_says_so(size: int) -> None:
    data = encode(one_operator())
    assert len(data) > 200
    with pytest.raises(ModelError, match="is it truncated") as caught:
        parse(data[:size])
    assert caught.value.offset is not None


def test_errors_name_the_table_around_them() -> None:
    model = one_operator()
    data = bytearray(encode(model))
    position = parse(bytes(data)).subgraphs[0].tensors[1].offset
    data[position : position + 4] = (2**31 - 1).to_bytes(4, "little")
    with pytest.raises(ModelError, match="subgraph 0: a vtable would lie"):
        parse(bytes(data))


@pytest.mark.parametrize("start", [b"", b"\0\0\0\0TFL3"])
def test_a_huge_file_is_refused_without_reading_it(tmp_path: Path, start: bytes) -> None:
    path = tmp_path / "huge.tflite"
    with path.open("wb") as file:
        file.write(start)
        file.truncate(10 << 30)  # sparse
    tracemalloc.start()
    with pytest.raises(ModelError):
        load(path)
    assert tracemalloc.get_traced_memory()[1] < 16 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("name", ["/dev/zero", "a\0b.tflite"])
def test_what_cannot_be_read_is_a_model_error(name: str) -> None:
    with pytest.raises(ModelError):
        load(name)


@pytest.mark.parametrize("model", [load("sample:streaming"), one_operator()])
def test_a_model_survives_pickling(model: Model) -> None:
    copy = pickle.loads(pickle.dumps(model))
    assert copy.path == model.path
    assert encode(copy) == encode(model)


def test_the_repr_of_a_model_is_a_line() -> None:
    model = parse(sample_path("sine").read_bytes(), path="a.tflite")
    assert repr(model) == "<Model 'a.tflite': 2,136 bytes, 1 subgraphs, 3 operators, 10 tensors>"


def test_a_fault_is_raised_anew_each_time() -> None:
    model = replace(load("sample:sine"), index_fault=ModelError("tensor 9 is not there"))
    raised = []
    for _ in range(2):
        with pytest.raises(ModelError, match="tensor 9") as caught:
            simulate(model, "cortex-m4")
        raised.append(caught.value)
    assert raised[0] is not raised[1] is not model.index_fault
    assert model.index_fault is not None
    assert model.index_fault.__traceback__ is None
