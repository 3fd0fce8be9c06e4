import math
import struct

import pytest

from tflm_sim.errors import PrepareError, UnsupportedOpError
from tflm_sim.extensions.lite.builtin_ops import builtin_op_resolver
from tflm_sim.extensions.lite.delegates import SimpleDelegate, flex_delegate
from tflm_sim.extensions.lite.graph_info import AllocationType, InplaceOperator, TfLiteRegistration, TfLiteTensor
from tflm_sim.extensions.lite.op_resolver import MutableOpResolver
from tflm_sim.extensions.lite.subgraph import TfLiteSubgraph
from tflm_sim.extensions.lite.tflite_interpreter import build_interpreter
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType


def values(subgraph, index):
    return [value for (value,) in struct.iter_unpack("<f", subgraph.data(index))]


def store(subgraph, index, result):
    subgraph.data(index)[:] = struct.pack(f"<{len(result)}f", *result)


def elementwise(function):
    """Return a kernel that computes its first output from its inputs, element by element."""

    def invoke(subgraph, node):
        rows = zip(*(values(subgraph, index) for index in node.inputs), strict=True)
        store(subgraph, node.outputs[0], [function(*row) for row in rows])

    return invoke


KERNELS = {
    "ABS": elementwise(abs),
    "SIN": elementwise(math.sin),
    "ADD": elementwise(lambda left, right: left + right),
    "MUL": elementwise(lambda left, right: left * right),
}


def resolver_with_kernels():
    resolver = MutableOpResolver()
    for op, kernel in KERNELS.items():
        resolver.add_builtin(op, TfLiteRegistration(inplace_operator=InplaceOperator.INPUT0_SHARED, invoke=kernel))
    return resolver


def sines():
    """Return the model of f(x) = sin(x) + x + sin(2 x)."""
    builder = ModelBuilder()
    x, sine, total, twice, sine_twice, y = (builder.tensor((1, 1), TensorType.FLOAT32) for _ in range(6))
    two = builder.tensor((1, 1), TensorType.FLOAT32, data=struct.pack("<f", 2))
    builder.operator("SIN", [x], [sine])
    builder.operator("ADD", [sine, x], [total])
    builder.operator("MUL", [x, two], [twice])
    builder.operator("SIN", [twice], [sine_twice])
    builder.operator("ADD", [total, sine_twice], [y])
    return parse(builder.build(inputs=[x], outputs=[y]))


def run(interpreter, number):
    interpreter.allocate_tensors()
    primary = interpreter.primary
    store(primary, primary.inputs[0], [number])
    interpreter.invoke()
    return values(primary, primary.outputs[0])[0]


def test_a_model_runs_in_its_arena():
    assert run(build_interpreter(sines(), resolver_with_kernels()), 2) == pytest.approx(2.152495)  # sin 2 + 2 + sin 4


def test_preserving_all_tensors_changes_the_arena_and_not_the_result():
    plain, preserving = (
        build_interpreter(sines(), resolver_with_kernels(), preserves_all_tensors=preserves)
        for preserves in (False, True)
    )
    assert run(plain, 2) == run(preserving, 2)
    assert preserving.primary.planner.arena.buffer_size == 5 * 64 + 4
    assert plain.primary.planner.arena.buffer_size < 5 * 64 + 4
    assert values(preserving.primary, 1)[0] == pytest.approx(math.sin(2))


def sine_delegate():
    """Return the delegate that takes every SIN, and runs all the nodes that one of its own stands for."""

    def invoke(subgraph, node):
        for index in node.user_data.nodes_to_replace:
            KERNELS["SIN"](subgraph, subgraph.nodes[index])

    return SimpleDelegate("MyDelegate", lambda node: node.registration.op == "SIN", invoke)


def test_a_delegate_takes_the_sines():
    delegate = sine_delegate()
    interpreter = build_interpreter(sines(), resolver_with_kernels(), delegates=[delegate])
    primary = interpreter.primary
    names = [primary.nodes[index].registration.name for index in primary.execution_plan]
    assert names == ["DELEGATE MyDelegate", "ADD", "MUL", "DELEGATE MyDelegate", "ADD"]
    assert primary.nodes[primary.execution_plan[3]].user_data.nodes_to_replace == (3,)
    assert [tensor.delegate for tensor in primary.tensors] == [None, delegate, None, None, delegate, None, None]
    assert run(interpreter, 2) == pytest.approx(2.152495)


def custom_chain(names):
    """Return a model of custom operators in a row."""
    builder = ModelBuilder()
    tensors = [builder.tensor((4,), TensorType.FLOAT32) for _ in range(len(names) + 1)]
    for name, source, result in zip(names, tensors, tensors[1:], strict=False):
        builder.custom(name, [source], [result], options=b"name")
    return parse(builder.build(inputs=tensors[:1], outputs=tensors[-1:]))


def test_a_delegate_makes_one_node_of_neighbours_where_custom_operators_stay_apart():
    model = custom_chain(["A1", "A2", "D1", "D2", "D3"])
    resolver = MutableOpResolver()
    for name in ("A1", "A2", "D1", "D2", "D3"):
        resolver.add_custom(name, TfLiteRegistration())
    apart = build_interpreter(model, resolver)
    delegate = SimpleDelegate("CD", lambda node: node.registration.custom_name.startswith("D"))
    fused = build_interpreter(model, resolver, delegates=[delegate])
    assert len(apart.primary.execution_plan) == 5
    primary = fused.primary
    assert [primary.nodes[index].registration.custom_name for index in primary.execution_plan] == ["A1", "A2", "CD"]
    fused.allocate_tensors()
    # What stays inside of the delegate, tensors 3 and 4, has no bytes in the arena.
    assert [tensor.offset is None for tensor in primary.tensors] == [False, False, False, True, True, False]


def test_flex_operators_need_the_flex_delegate():
    model = custom_chain(["FlexAbs"])
    with pytest.raises(PrepareError) as error:
        build_interpreter(model, MutableOpResolver()).allocate_tensors()
    assert error.value.device_message.startswith("Select TensorFlow op(s), included in the given model, is(are) not")
    seen = []

    def invoke(subgraph, node):
        seen.extend(bytes(subgraph.nodes[index].custom_options) for index in node.user_data.nodes_to_replace)

    interpreter = build_interpreter(model, MutableOpResolver(), flex_delegate=flex_delegate(invoke))
    interpreter.allocate_tensors()
    interpreter.invoke()
    assert seen == [b"name"]


def test_an_unresolved_custom_operator_is_refused_when_it_is_prepared():
    interpreter = build_interpreter(custom_chain(["Mine"]), MutableOpResolver())
    with pytest.raises(PrepareError) as error:
        interpreter.allocate_tensors()
    assert error.value.device_message.startswith("Encountered unresolved custom op: Mine.\nSee instructions: ")


def test_the_flex_delegate_is_left_out_where_no_operator_needs_it():
    interpreter = build_interpreter(sines(), resolver_with_kernels(), flex_delegate=flex_delegate())
    assert interpreter.primary.execution_plan == [0, 1, 2, 3, 4]


def test_edge_tpu_operators_are_custom_operators_of_the_resolver():
    resolver = MutableOpResolver()
    resolver.add_custom("edgetpu-custom-op", TfLiteRegistration(invoke=elementwise(abs)))
    interpreter = build_interpreter(custom_chain(["edgetpu-custom-op"]), resolver)
    interpreter.allocate_tensors()
    store(interpreter.primary, 0, [-1, 2, -3, 4])
    interpreter.invoke()
    assert values(interpreter.primary, 1) == [1, 2, 3, 4]


def test_constants_stay_in_the_file_and_variables_go_to_the_persistent_arena():
    builder = ModelBuilder()
    x = builder.tensor((8,), TensorType.INT8)
    state = builder.tensor((10,), TensorType.INT8, scale=0.5, zero_point=-3, is_variable=True)
    weights = builder.tensor((4,), TensorType.INT8, data=b"\1\2\3\4")
    text = builder.tensor((1,), TensorType.STRING)
    y = builder.tensor((8,), TensorType.INT8)
    builder.custom("Mine", [x, weights, state, text], [y])
    resolver = MutableOpResolver()
    resolver.add_custom("Mine", TfLiteRegistration(changes_memory=True))
    interpreter = build_interpreter(parse(builder.build(inputs=[x], outputs=[y])), resolver)
    interpreter.allocate_tensors()
    primary = interpreter.primary
    assert [tensor.allocation_type for tensor in primary.tensors] == [
        AllocationType.ARENA_RW,
        AllocationType.ARENA_RW_PERSISTENT,
        AllocationType.MMAP_RO,
        AllocationType.DYNAMIC,
        AllocationType.ARENA_RW,
    ]
    assert primary.variables == (1,)
    assert primary.data(1) == b"\xfd" * 10  # the zero point
    assert primary.data(2) == b"\1\2\3\4"
    assert primary.nodes_with_unknown_memory == (0,)  # its Prepare may add temporaries


def test_temporaries_of_a_kernel_are_in_the_arena_while_it_runs():
    def prepare(subgraph, node):
        if not node.temporaries:
            node.temporaries = (subgraph.add_tensor(TfLiteTensor(100)),)

    resolver = MutableOpResolver()
    resolver.add_builtin("ABS", TfLiteRegistration(prepare=prepare))
    builder = ModelBuilder()
    x, y, z = (builder.tensor((16,), TensorType.FLOAT32) for _ in range(3))
    builder.operator("ABS", [x], [y])
    builder.operator("ABS", [y], [z])
    interpreter = build_interpreter(parse(builder.build(inputs=[x], outputs=[z])), resolver)
    interpreter.allocate_tensors()
    # x for ever, then the temporaries one above the other's time, then y and z of 64 bytes each
    assert [tensor.offset for tensor in interpreter.primary.tensors] == [0, 192, 256, 64, 64]
    assert interpreter.primary.planner.arena.buffer_size == 64 + 128 + 64 + 64


def dynamic_interpreter(shapes):
    """Return an interpreter whose second node makes an output of the shapes in ``shapes``, one per invocation."""

    def prepare(subgraph, node):
        subgraph.tensors[node.outputs[0]].allocation_type = AllocationType.DYNAMIC

    def invoke(subgraph, node):
        subgraph.resize_tensor(node.outputs[0], shapes.pop(0))
        store(subgraph, node.outputs[0], [1.0] * (subgraph.tensors[node.outputs[0]].size // 4))

    def prepare_after(subgraph, node):
        subgraph.resize_tensor(node.outputs[0], subgraph.tensors[node.inputs[0]].shape)

    resolver = MutableOpResolver()
    resolver.add_builtin("ABS", TfLiteRegistration(invoke=KERNELS["ABS"]))
    resolver.add_builtin("TILE", TfLiteRegistration(prepare=prepare, invoke=invoke))
    resolver.add_builtin("SIN", TfLiteRegistration(prepare=prepare_after, invoke=KERNELS["SIN"]))
    builder = ModelBuilder()
    tensors = [builder.tensor((1,), TensorType.FLOAT32) for _ in range(4)]
    for op, source, result in zip(("ABS", "TILE", "SIN"), tensors, tensors[1:], strict=False):
        builder.operator(op, [source], [result])
    return build_interpreter(parse(builder.build(inputs=tensors[:1], outputs=tensors[-1:])), resolver)


def test_what_follows_a_dynamic_tensor_is_planned_while_the_model_runs():
    interpreter = dynamic_interpreter([(3,), (50,), (2,)])
    interpreter.allocate_tensors()
    primary = interpreter.primary
    assert primary.tensors[3].offset is None
    for count in (3, 50, 2):
        store(primary, 0, [1.0])
        interpreter.invoke()
        assert values(primary, 3) == pytest.approx([math.sin(1)] * count)


def test_a_delegate_for_static_tensors_refuses_dynamic_ones():
    interpreter = dynamic_interpreter([(3,)])
    with pytest.raises(PrepareError, match="static-sized"):
        interpreter.modify_graph_with_delegate(sine_delegate())
    assert interpreter.primary.execution_plan == [0, 1, 2]


def test_a_delegate_that_fails_leaves_the_original_plan():
    def refuse(_subgraph, _node):
        raise PrepareError("no")

    interpreter = build_interpreter(sines(), resolver_with_kernels())
    delegate = SimpleDelegate("Refuses", lambda node: node.registration.op == "SIN", prepare_kernel=refuse)
    with pytest.raises(PrepareError):
        interpreter.modify_graph_with_delegate(delegate)
    assert interpreter.primary.execution_plan == [0, 1, 2, 3, 4]
    assert run(interpreter, 2) == pytest.approx(2.152495)


def test_two_delegates_cannot_write_one_tensor():
    interpreter = build_interpreter(sines(), resolver_with_kernels(), delegates=[sine_delegate()])
    primary = interpreter.primary
    other = SimpleDelegate("Other", lambda node: node.registration.op == "DELEGATE")
    with pytest.raises(PrepareError, match="tensor->delegate == nullptr"):
        primary.modify_graph_with_delegate(other)


def test_released_memory_comes_back_with_the_next_allocation():
    interpreter = build_interpreter(sines(), resolver_with_kernels())
    assert run(interpreter, 2) == pytest.approx(2.152495)
    interpreter.primary.planner.release_nonpersistent_memory()
    with pytest.raises(PrepareError, match="Non-persistent memory"):
        interpreter.invoke()
    assert run(interpreter, 2) == pytest.approx(2.152495)


def test_a_model_that_is_not_allocated_cannot_run():
    with pytest.raises(PrepareError, match="not ready"):
        build_interpreter(sines(), resolver_with_kernels()).invoke()


def test_an_operator_without_a_kernel_cannot_run():
    interpreter = build_interpreter(sines(), builtin_op_resolver())
    interpreter.allocate_tensors()
    with pytest.raises(UnsupportedOpError, match="SIN"):
        interpreter.invoke()


def test_a_constant_cannot_be_resized():
    primary = build_interpreter(sines(), builtin_op_resolver()).primary
    with pytest.raises(PrepareError, match="fixed-size"):
        primary.resize_tensor(6, (2,))


def test_a_node_of_a_tensor_that_does_not_exist_is_refused():
    subgraph = TfLiteSubgraph()
    subgraph.add_tensor(TfLiteTensor(4))
    with pytest.raises(PrepareError, match="Invalid tensor index 7 in node inputs"):
        subgraph.add_node(TfLiteRegistration("ABS"), (7,), (0,))


def one_node(*, version=3, inputs=(0,), outputs=(1,), op="ADD", **tensor):
    builder = ModelBuilder(version=version)
    builder.tensor((4,), TensorType.INT8)
    builder.tensor((4,), TensorType.INT8, **tensor)
    builder.operator(op, inputs, outputs)
    return parse(builder.build(inputs=[0], outputs=[1]))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (one_node(version=2), "Model provided is schema version 2 not equal to supported version 3.\n"),
        (
            one_node(data=b"\1"),
            "tflite/core/subgraph.cc:1965 required_bytes <= bytes was not true."
            "Tensor 1 is invalidly specified in schema.\n",
        ),
        (
            one_node(data=b"\1\2\3\4", is_variable=True),
            "Tensor 1 is a variable tensor with buffer or external buffer. It's not supported now.\n",
        ),
        (one_node(buffer=9), "Tensor 1 specifies out of range buffer 9 (only 1 buffers).\n"),
    ],
)
def test_models_that_tflite_refuses(model, message):
    with pytest.raises(PrepareError) as error:
        build_interpreter(model, builtin_op_resolver())
    assert error.value.device_message == message


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (one_node(inputs=(-2,)), "Invalid tensor index -2 in node inputs. The subgraph has 2 tensors\n"),
        (one_node(inputs=(0, 1)), "Tensor 1 is both input 1 and output 0\n"),
    ],
)
def test_a_node_that_cannot_be_added_makes_the_graph_inconsistent(model, message):
    interpreter = build_interpreter(model, builtin_op_resolver())
    assert interpreter.reports == [message]
    with pytest.raises(PrepareError, match="inconsistent"):
        interpreter.allocate_tensors()
    assert interpreter.reports == [message, "AllocateTensors() called on inconsistent model."]
