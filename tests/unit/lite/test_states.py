"""What the mobile runtime says and does between allocations: resizes, delegates, lent bytes, releases, cancellation."""

import pytest

from tflm_sim.errors import PrepareError
from tflm_sim.lite.builtin_ops import builtin_op_resolver
from tflm_sim.lite.delegates import SimpleDelegate
from tflm_sim.lite.delegation import State
from tflm_sim.lite.graph_info import AllocationType, TfLiteRegistration
from tflm_sim.lite.interpreter import build_interpreter
from tflm_sim.lite.op_resolver import MutableOpResolver
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType


def chain(*delegates, ops=("ABS", "SIN", "ABS"), resolver=None):
    """Return an interpreter of operators in a row, of tensors of 16 numbers."""
    builder = ModelBuilder()
    tensors = [builder.tensor((16,), TensorType.FLOAT32) for _ in range(len(ops) + 1)]
    for op, source, result in zip(ops, tensors, tensors[1:], strict=False):
        builder.operator(op, [source], [result])
    model = parse(builder.build(inputs=tensors[:1], outputs=tensors[-1:]))
    return build_interpreter(model, resolver or builtin_op_resolver(), delegates=list(delegates))


def plan(interpreter):
    primary = interpreter.primary
    return [primary.nodes[index].registration.name for index in primary.execution_plan]


def takes(op, **options):
    return SimpleDelegate("Taker", lambda node: node.registration.op == op, **options)


def test_a_delegate_for_static_tensors_makes_the_graph_immutable():
    primary = chain(takes("SIN")).primary
    assert primary.state is State.IMMUTABLE
    with pytest.raises(PrepareError, match="AddNodeWithParameters is disallowed when graph is immutable"):
        primary.add_node(TfLiteRegistration("ABS"), (0,), (3,))


def test_a_resize_undoes_the_delegates_and_the_next_allocation_applies_them_again():
    interpreter = chain(takes("SIN"))
    assert plan(interpreter) == ["ABS", "DELEGATE Taker", "ABS"]
    interpreter.resize_input(0, (32,))
    assert plan(interpreter) == ["ABS", "SIN", "ABS"]
    assert interpreter.primary.state is State.UNINVOKABLE
    interpreter.allocate_tensors()
    assert plan(interpreter) == ["ABS", "DELEGATE Taker", "ABS"]
    assert interpreter.primary.tensors[1].size == 128


def test_the_same_shape_undoes_nothing():
    interpreter = chain(takes("SIN"))
    interpreter.allocate_tensors()
    interpreter.resize_input(0, (16,))
    assert plan(interpreter) == ["ABS", "DELEGATE Taker", "ABS"]


def test_a_delegate_that_fails_says_that_the_original_plan_is_back():
    def refuse(_subgraph, _node):
        raise PrepareError("no")

    interpreter = chain()
    with pytest.raises(PrepareError, match="Restored original execution plan after delegate application failure"):
        interpreter.modify_graph_with_delegate(takes("SIN", prepare_kernel=refuse))
    assert plan(interpreter) == ["ABS", "SIN", "ABS"]


def test_bytes_of_the_caller_are_not_placed_and_have_to_suffice():
    interpreter = chain()
    primary = interpreter.primary
    interpreter.allocate_tensors()
    before = primary.planner.arena.buffer_size
    primary.set_custom_allocation(0, bytearray(64))
    interpreter.allocate_tensors()
    assert primary.tensors[0].allocation_type is AllocationType.CUSTOM
    assert primary.planner.arena.buffer_size <= before
    interpreter.resize_input(0, (17,))
    with pytest.raises(PrepareError, match="Custom allocation is too small for tensor idx: 0"):
        interpreter.allocate_tensors()


@pytest.mark.parametrize(
    ("index", "data", "address", "condition"),
    [
        (0, None, 0, "2634 allocation.data != nullptr"),
        (0, bytearray(64), 32, "2637 data_ptr_value % kDefaultTensorAlignment == 0"),
        (2, bytearray(64), 0, "2631 (tensor->allocation_type == kTfLiteArenaRw || "),
    ],
)
def test_bytes_that_cannot_be_lent(index, data, address, condition):
    builder = ModelBuilder()
    x, y = builder.tensor((16,), TensorType.FLOAT32), builder.tensor((16,), TensorType.FLOAT32)
    builder.operator("ADD", [x, builder.tensor((16,), TensorType.FLOAT32, data=bytes(64))], [y])
    primary = build_interpreter(parse(builder.build(inputs=[x], outputs=[y])), builtin_op_resolver()).primary
    with pytest.raises(PrepareError) as error:
        primary.set_custom_allocation(index, data, address=address)
    assert error.value.device_message.startswith(f"tflite/core/subgraph.cc:{condition}")


def test_lent_bytes_of_a_variable_are_not_reset():
    builder = ModelBuilder()
    x, y = builder.tensor((4,), TensorType.INT8), builder.tensor((4,), TensorType.INT8)
    state = builder.tensor((4,), TensorType.INT8, is_variable=True)
    builder.custom("Mine", [x, state], [y])
    resolver = MutableOpResolver()
    resolver.add_custom("Mine", TfLiteRegistration())
    interpreter = build_interpreter(parse(builder.build(inputs=[x], outputs=[y])), resolver)
    lent = bytearray(b"kept" + bytes(60))
    interpreter.primary.set_custom_allocation(state, lent)
    interpreter.allocate_tensors()
    assert lent[:4] == b"kept"
    assert interpreter.reports == []


def test_a_tensor_that_is_no_longer_lent_bytes_is_told():
    interpreter = chain()
    interpreter.primary.set_custom_allocation(0, bytearray(64))
    interpreter.allocate_tensors()
    interpreter.primary.tensors[0].allocation_type = AllocationType.ARENA_RW
    with pytest.raises(PrepareError, match=r"tensor_at_index->allocation_type != kTfLiteCustom \(2 != 6\)"):
        interpreter.allocate_tensors()


def running_chain(invoke):
    resolver = MutableOpResolver()
    resolver.add_builtin("ABS", TfLiteRegistration(invoke=invoke))
    interpreter = chain(resolver=resolver, ops=("ABS", "ABS"))
    interpreter.allocate_tensors()
    return interpreter


def test_a_caller_can_be_asked_before_every_node():
    asked = []
    interpreter = running_chain(lambda *_: None)
    interpreter.primary.set_cancellation(lambda: bool(asked.append(1)))
    interpreter.invoke()
    assert len(asked) == 2
    interpreter.primary.set_cancellation(lambda: True)
    with pytest.raises(PrepareError, match=r"Client requested cancel during Invoke\(\)"):
        interpreter.invoke()


def test_a_caller_can_cancel_once_that_is_enabled():
    calls = []

    def invoke(_subgraph, _node):
        calls.append(1)
        interpreter.cancel()

    interpreter = running_chain(invoke)
    with pytest.raises(PrepareError, match="not enabled"):
        interpreter.cancel()
    interpreter.enable_cancellation()
    interpreter.cancel()  # before an invocation it is forgotten
    with pytest.raises(PrepareError, match="Client requested cancel"):
        interpreter.invoke()
    assert (len(calls), interpreter.reports) == (1, ["Client requested cancel during Invoke()"])


def test_a_kernel_that_fails_is_named():
    def invoke(_subgraph, _node):
        raise PrepareError("no", device_message="no")

    interpreter = running_chain(invoke)
    with pytest.raises(PrepareError):
        interpreter.invoke()
    assert interpreter.reports == ["noNode number 0 (ABS) failed to invoke."]


def test_a_tensor_elsewhere_needs_no_bytes():
    interpreter = running_chain(lambda *_: None)
    primary = interpreter.primary
    primary.tensors[0].offset = None
    with pytest.raises(PrepareError, match="Input tensor 0 lacks data"):
        interpreter.invoke()
    primary.tensors[0].allocation_type = AllocationType.NON_CPU
    interpreter.invoke()
    primary.resize_tensor(0, (32,))
    assert (primary.tensors[0].size, primary.tensors[0].allocation_type) == (128, AllocationType.NON_CPU)


@pytest.mark.parametrize(("shape", "runs"), [((2, 2), True), ((4,), False)])
def test_a_reshape_may_take_the_shape_of_a_tensor_without_values(shape, runs):
    builder = ModelBuilder()
    x, y = builder.tensor((4,), TensorType.FLOAT32), builder.tensor((2, 2), TensorType.FLOAT32)
    like = builder.tensor(shape, TensorType.INT32)
    builder.operator("RESHAPE", [x, like], [y])
    resolver = MutableOpResolver()
    resolver.add_builtin("RESHAPE", TfLiteRegistration(invoke=lambda *_: None))
    interpreter = build_interpreter(parse(builder.build(inputs=[x, like], outputs=[y])), resolver)
    interpreter.allocate_tensors()
    interpreter.primary.tensors[like].offset = None
    if runs:
        interpreter.invoke()
    else:
        with pytest.raises(PrepareError, match="Input tensor 2 lacks data"):
            interpreter.invoke()


def test_one_failing_delegate_leaves_no_subgraph_with_one():
    builder = ModelBuilder()
    for graph in (builder, builder.add_subgraph(), builder.add_subgraph("VALIDATION:main")):
        x, y = graph.tensor((4,), TensorType.FLOAT32), graph.tensor((4,), TensorType.FLOAT32)
        graph.operator("ABS", [x], [y])
        graph.inputs, graph.outputs = [x], [y]
    model = parse(builder.build(inputs=[0], outputs=[1]))
    interpreter = build_interpreter(model, builtin_op_resolver(), delegates=[takes("ABS")])
    assert [len(graph.nodes) for graph in interpreter.subgraphs] == [2, 2, 1]  # what validates stays as it is

    def refuse(subgraph, _node):
        if subgraph.index == 1:
            raise PrepareError("no")

    with pytest.raises(PrepareError, match="no") as error:
        build_interpreter(model, builtin_op_resolver(), delegates=[takes("ABS", prepare_kernel=refuse)])
    assert error.value.device_message == (
        "Node number 1 (Taker) failed to prepare.Restored original execution plan after delegate application failure."
        "Failed to apply delegates.\n"
    )


@pytest.mark.parametrize("release", ["release_nonpersistent_memory", "release_memory"])
def test_released_memory_is_allocated_again(release):
    interpreter = chain()
    interpreter.allocate_tensors()
    getattr(interpreter.primary, release)()
    with pytest.raises(PrepareError, match="not ready"):
        interpreter.invoke()
    interpreter.allocate_tensors()
    assert interpreter.primary.planner.has_nonpersistent_memory
