"""The shipped samples: rebuilt bit for bit, and of the shape that their names promise."""

import pytest
from release import samples as make_samples

from tflm_sim.errors import UsageError
from tflm_sim.model.load import load
from tflm_sim.model.schema import builtin_operator_name
from tflm_sim.model.types import Model, TensorType
from tflm_sim.samples import SAMPLES, sample_path


def operators(model: Model, subgraph: int = 0) -> list[str]:
    codes = [model.operator_codes[operator.opcode_index] for operator in model.subgraphs[subgraph].operators]
    return [builtin_operator_name(code.builtin_code) for code in codes]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_rebuilt_bit_for_bit(name: str) -> None:
    assert make_samples.MAKERS[name]() == sample_path(name).read_bytes()


def test_the_check_mode_finds_nothing_to_write(capsys: pytest.CaptureFixture[str]) -> None:
    assert make_samples.main(["--check"]) == 0
    assert "sine: 2136 bytes\n" in capsys.readouterr().out


def test_all_samples_together_are_small() -> None:
    assert sum(sample_path(name).stat().st_size for name in SAMPLES) < 512 * 1024


@pytest.mark.parametrize("name", SAMPLES)
def test_convolution_weights_have_one_scale_per_channel(name: str) -> None:
    (main, *_) = load(sample_path(name)).subgraphs
    for operator in main.operators:
        axis = {"Conv2DOptions": 0, "DepthwiseConv2DOptions": 3}.get(operator.options_type)
        if axis is not None:
            assert operator.inputs is not None
            weights = main.tensors[operator.inputs[1]]
            assert weights.type == TensorType.INT8
            assert weights.shape is not None
            assert weights.quantization is not None
            assert weights.quantization.quantized_dimension == axis
            assert len(weights.quantization.scale) == weights.shape[axis]


def test_the_mobilenet_has_the_person_detectors_layers() -> None:
    names = operators(load(sample_path("mobilenet_v1_025")))
    assert names.count("DEPTHWISE_CONV_2D") == 14
    assert names.count("CONV_2D") == 13
    assert names[-4:] == ["AVERAGE_POOL_2D", "RESHAPE", "FULLY_CONNECTED", "SOFTMAX"]


def test_the_streaming_sample_initialises_its_variables_once() -> None:
    model = load(sample_path("streaming"))
    assert operators(model)[0] == "CALL_ONCE"
    assert operators(model).count("VAR_HANDLE") == operators(model).count("READ_VARIABLE") == 3
    assert operators(model, 1) == ["VAR_HANDLE", "ASSIGN_VARIABLE"] * 3


def test_the_residual_net_has_three_additions() -> None:
    assert operators(load(sample_path("residual"))).count("ADD") == 3


def test_an_unknown_sample_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="unknown sample 'yolo'; use one of: sine, "):
        sample_path("yolo")
