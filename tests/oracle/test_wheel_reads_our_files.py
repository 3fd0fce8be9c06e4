"""Real TFLM (pip tflite-micro) runs the files that we write: samples, and edited ones."""

from collections.abc import Callable
from math import sin
from struct import pack

import pytest

from tflm_sim.answers.simulation import Simulation
from tflm_sim.errors import ModelError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.draft import refuse_unwritable
from tflm_sim.model.encode import encode
from tflm_sim.model.load import load, parse
from tflm_sim.model.rewrite import with_metadata
from tflm_sim.model.types import TensorType
from tflm_sim.samples import SAMPLES, sample_path

np = pytest.importorskip("numpy")
runtime = pytest.importorskip("tflite_micro.python.tflite_micro.runtime")

ARENA = 400_000


def run(data: bytes, values: object) -> list[int]:
    """Return the first output for one input."""
    interpreter = runtime.Interpreter.from_bytes(data, arena_size=ARENA)
    interpreter.set_input(np.asarray(values, np.int8), 0)
    interpreter.invoke()
    return [int(value) for value in interpreter.get_output(0).ravel()]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_runs_and_its_output_depends_on_its_input(name: str) -> None:
    model = load(sample_path(name))
    assert model.subgraphs[0].inputs is not None
    shape = model.subgraphs[0].tensors[model.subgraphs[0].inputs[0]].shape
    interpreter = runtime.Interpreter.from_file(str(sample_path(name)), arena_size=ARENA)
    assert tuple(interpreter.get_input_details(0)["shape"]) == shape
    values = (np.arange(np.prod(shape)) * 37 % 251 - 125).astype(np.int8).reshape(shape)
    outputs = set()
    for step in range(4):
        interpreter.set_input(values // (1 + step), 0)
        interpreter.invoke()
        outputs.add(interpreter.get_output(0).tobytes())
    assert name == "mobilenet_v1_025" or len(outputs) > 1


def test_the_sine_sample_computes_a_sine() -> None:
    data = sample_path("sine").read_bytes()
    interpreter = runtime.Interpreter.from_bytes(data, arena_size=ARENA)
    for quantized in range(-128, 124, 3):  # 123 is (123 + 128) / 40 = 6.275, the last below 2 pi
        interpreter.set_input(np.array([[quantized]], np.int8), 0)
        interpreter.invoke()
        assert interpreter.get_output(0)[0, 0] / 120 == pytest.approx(sin((quantized + 128) / 40), abs=0.03)


def test_a_streaming_sample_remembers() -> None:
    interpreter = runtime.Interpreter.from_file(str(sample_path("streaming")), arena_size=ARENA)
    frames = (np.arange(80) * 91 % 251 - 125).astype(np.int8).reshape(1, 2, 40)
    outputs = []
    for _ in range(8):
        interpreter.set_input(frames, 0)
        interpreter.invoke()
        outputs.append(int(interpreter.get_output(0)[0, 0]))
    assert len(set(outputs)) > 1


@pytest.mark.parametrize("name", ["sine", "residual"])
def test_a_file_written_again_computes_the_same(name: str) -> None:
    data = sample_path(name).read_bytes()
    model = parse(data)
    assert model.subgraphs[0].inputs is not None
    shape = model.subgraphs[0].tensors[model.subgraphs[0].inputs[0]].shape
    values = np.arange(np.prod(shape)).astype(np.int8).reshape(shape)
    assert run(encode(model), values) == run(data, values)


def offline_plan(offsets: list[int]) -> bytes:
    """Return the payload of OfflineMemoryAllocation: version, subgraph, count, offsets."""
    return pack(f"<3i{len(offsets)}i", 1, 0, len(offsets), *offsets)


def test_real_tflm_reads_metadata_that_we_add() -> None:
    data = sample_path("sine").read_bytes()
    tensors = len(parse(data).subgraphs[0].tensors)
    assert run(with_metadata(data, "OfflineMemoryAllocation", offline_plan([-1] * tensors)), [[0]]) == run(data, [[0]])


def test_real_tflm_refuses_a_plan_that_we_add_with_a_wrong_count(capfd: pytest.CaptureFixture[str]) -> None:
    data = with_metadata(sample_path("sine").read_bytes(), "OfflineMemoryAllocation", offline_plan([-1]))
    with pytest.raises(RuntimeError):
        run(data, [[0]])
    assert "Nbr of offline buffer offsets (1) in metadata not equal nbr tensors (10)" in capfd.readouterr().err


def test_the_schemas_newest_fields_are_written_and_read(same_as_wheel: Callable[[bytes], Simulation]) -> None:
    """``FullyConnectedOptions.quant_spec``, and ``block_shape`` of a tensor whose details nobody reads."""
    schema = pytest.importorskip("tflite_micro.tensorflow.lite.micro.python.schema_py_generated")
    flatbuffers = pytest.importorskip("flatbuffers")
    builder = ModelBuilder()
    for shape, data in (((1, 4), None), ((2, 4), range(8)), ((1, 2), None)):
        builder.tensor(shape, TensorType.INT8, data=data, scale=0.5, zero_point=0)
    builder.operator("FULLY_CONNECTED", [0, 1, -1], [2], options={"quant_spec": b"\3\1\xff"})
    ours = builder.build(inputs=[0], outputs=[2])
    theirs = schema.ModelT.InitFromPackedBuf(ours)
    options = theirs.subgraphs[0].operators[0].builtinOptions
    assert list(options.quantSpec) == [3, 1, 255]
    details = schema.BlockwiseQuantizationT()
    details.blockShape = [1, 4]
    quantization = theirs.subgraphs[0].tensors[1].quantization
    quantization.details, quantization.detailsType = details, schema.QuantizationDetails.BlockwiseQuantization
    packer = flatbuffers.Builder()
    packer.Finish(theirs.Pack(packer), b"TFL3")
    packed = bytes(packer.Output())
    assert parse(packed).subgraphs[0].operators[0].options["quant_spec"] == b"\3\1\xff"
    sizes = {same_as_wheel(data).arena_used_bytes for data in (ours, packed)}
    assert len(sizes) == 1
    with pytest.raises(ModelError, match="tensor 1 of subgraph 0 has quantization details"):
        refuse_unwritable(parse(packed))
