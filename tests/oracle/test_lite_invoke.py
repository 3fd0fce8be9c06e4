"""Models that run in our arena give the numbers of the live mobile runtime."""

import random
import struct

import pytest

from tflm_sim.errors import UnsupportedOpError
from tflm_sim.extensions.lite.builtin_ops import builtin_op_resolver
from tflm_sim.extensions.lite.tflite_interpreter import build_interpreter
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType

np = pytest.importorskip("numpy")
FLOAT = TensorType.FLOAT32


def square_of_abs():
    """The seeds' first program: y = x squared, through ABS."""
    builder = ModelBuilder()
    x, positive, y = (builder.tensor((1, 4), FLOAT) for _ in range(3))
    builder.operator("ABS", [x], [positive])
    builder.operator("MUL", [positive, positive], [y])
    return builder.build(inputs=[x], outputs=[y])


def sines():
    """The seeds' second program: f(x) = sin(x) + x + sin(2 x)."""
    builder = ModelBuilder()
    x, sine, total, twice, sine_twice, y = (builder.tensor((1, 4), FLOAT) for _ in range(6))
    two = builder.tensor((), FLOAT, data=struct.pack("<f", 2))
    builder.operator("SIN", [x], [sine])
    builder.operator("ADD", [sine, x], [total])
    builder.operator("MUL", [x, two], [twice])
    builder.operator("SIN", [twice], [sine_twice])
    builder.operator("ADD", [total, sine_twice], [y])
    return builder.build(inputs=[x], outputs=[y])


def small_network(padding, stride, dilation):
    """An image through both convolutions, a pool, a dense layer and SOFTMAX."""
    builder, rng = ModelBuilder(), random.Random(1)

    def weights(*shape):
        values = [rng.uniform(-1, 1) for _ in range(int(np.prod(shape)))]
        return builder.tensor(shape, FLOAT, data=struct.pack(f"<{len(values)}f", *values))

    x, convolved, deep, pooled, flat, dense, y = (
        builder.tensor((1, 9, 8, 3), FLOAT),
        *(builder.tensor((1,), FLOAT) for _ in range(6)),
    )
    options = {
        "padding": padding,
        "stride_w": stride,
        "stride_h": stride,
        "dilation_w_factor": dilation,
        "dilation_h_factor": dilation,
    }
    builder.operator(
        "CONV_2D",
        [x, weights(4, 3, 2, 3), weights(4)],
        [convolved],
        options=options | {"fused_activation_function": "RELU"},
    )
    builder.operator(
        "DEPTHWISE_CONV_2D",
        [convolved, weights(1, 2, 2, 8), weights(8)],
        [deep],
        options={
            "padding": "SAME",
            "stride_w": 1,
            "stride_h": 1,
            "depth_multiplier": 2,
            "fused_activation_function": "RELU6",
        },
    )
    builder.operator(
        "AVERAGE_POOL_2D",
        [deep],
        [pooled],
        options={"padding": "SAME", "stride_w": 2, "stride_h": 2, "filter_width": 3, "filter_height": 2},
    )
    return builder, (x, pooled, flat, dense, y), weights


def network(padding, stride, dilation):
    builder, (x, pooled, flat, dense, y), weights = small_network(padding, stride, dilation)
    draft = build_interpreter(parse(builder.build(inputs=[x], outputs=[pooled])), builtin_op_resolver())
    draft.allocate_tensors()
    elements = draft.primary.tensors[pooled].elements
    builder.operator("RESHAPE", [pooled], [flat], options={"new_shape": [1, elements]})
    builder.operator("FULLY_CONNECTED", [flat, weights(5, elements), weights(5)], [dense])
    builder.operator("SOFTMAX", [dense], [y], options={"beta": 1.0})
    return builder.build(inputs=[x], outputs=[y])


def ours(data, values, **options):
    interpreter = build_interpreter(parse(data), builtin_op_resolver(runs=True), **options)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.primary.inputs[0], values.tobytes())
    interpreter.invoke()
    return np.frombuffer(interpreter.get_tensor(interpreter.primary.outputs[0]), "<f4")


def wheels(data, values):
    wheel = pytest.importorskip("ai_edge_litert.interpreter")
    kind = wheel.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = wheel.Interpreter(model_content=data, experimental_op_resolver_type=kind)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], values)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"]).reshape(-1)


@pytest.mark.parametrize("program", [square_of_abs, sines])
def test_the_seeds_programs_give_the_wheels_numbers(program):
    values = np.array([[-2.5, -0.5, 0.0, 3.25]], "<f4")
    np.testing.assert_allclose(ours(program(), values), wheels(program(), values), rtol=1e-6, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (2, 1), (1, 2)])
def test_a_small_network_gives_the_wheels_numbers(padding, stride, dilation):
    data = network(padding, stride, dilation)
    values = np.random.default_rng(0).uniform(-1, 1, (1, 9, 8, 3)).astype("<f4")
    np.testing.assert_allclose(ours(data, values), wheels(data, values), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(ours(data, values), ours(data, values, preserves_all_tensors=True))


def test_the_numbers_come_from_the_arena():
    interpreter = build_interpreter(parse(sines()), builtin_op_resolver(runs=True))
    interpreter.allocate_tensors()
    primary = interpreter.primary
    primary.tensors[3].offset = primary.tensors[0].offset  # a broken plan: 2 x over x
    interpreter.set_tensor(0, np.full((1, 4), 2, "<f4").tobytes())
    interpreter.invoke()
    right = np.sin(2) + 2 + np.sin(4)
    assert interpreter.get_tensor(0) == np.full((1, 4), 4, "<f4").tobytes()
    assert np.frombuffer(interpreter.get_tensor(primary.outputs[0]), "<f4")[0] == pytest.approx(right, rel=1e-5)
    interpreter.invoke()  # the second invocation reads the overwritten input
    assert np.frombuffer(interpreter.get_tensor(primary.outputs[0]), "<f4")[0] != pytest.approx(right, rel=1e-3)


def test_an_operator_without_a_kernel_is_named():
    builder = ModelBuilder()
    x, y = builder.tensor((4,), FLOAT), builder.tensor((4,), FLOAT)
    builder.operator("FLOOR", [x], [y])
    interpreter = build_interpreter(parse(builder.build(inputs=[x], outputs=[y])), builtin_op_resolver(runs=True))
    interpreter.allocate_tensors()
    with pytest.raises(UnsupportedOpError, match="FLOOR has no kernel to run"):
        interpreter.invoke()
