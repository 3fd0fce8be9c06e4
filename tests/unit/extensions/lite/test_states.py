"""What the mobile runtime says and does between allocations: resizes, delegates, lent bytes, releases, cancellation."""

import pytest

from tflm_sim.errors import PrepareError
from tflm_sim.extensions.lite.builtin_ops import builtin_op_resolver
from tflm_sim.extensions.lite.delegates import SimpleDelegate
from tflm_sim.extensions.lite.delegation import State
from tflm_sim.extensions.lite.graph_info import AllocationType, TfLiteRegistration
from tflm_sim.extensions.lite.op_resolver import MutableOpResolver
from tflm_sim.extensions.lite.tflite_interpreter import build_interpreter
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


def running_chain(invoke):
    resolver = MutableOpResolver()
    resolver.add_builtin("ABS", TfLiteRegistration(invoke=invoke))
    interpreter = chain(resolver=resolver, ops=("ABS", "ABS"))
    interpreter.allocate_tensors()
    return interpreter


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


def failing_again(status="error"):
    """Return an interpreter whose only kernel prepares twice and then fails: when it is built, and here."""
    left = [None, None]

    def prepare(_subgraph, _node):
        if left:
            left.pop()
            return
        raise PrepareError("worse", device_message="worse", status=status)

    resolver = MutableOpResolver()
    resolver.add_builtin("ABS", TfLiteRegistration(prepare=prepare))
    interpreter = chain(resolver=resolver, ops=("ABS",))
    interpreter.allocate_tensors()
    return interpreter, left


def test_where_the_original_plan_fails_too_both_are_told_one_after_the_other():
    def refuse(_subgraph, _node):
        raise PrepareError("no", device_message="no")

    interpreter, left = failing_again()
    left[:] = [None]  # before the delegate is asked, dynamic tensors are looked for
    with pytest.raises(PrepareError) as error:
        interpreter.modify_graph_with_delegate(takes("ABS", prepare_kernel=refuse))
    assert error.value.device_message == (
        "noNode number 1 (Taker) failed to prepare.worseNode number 0 (ABS) failed to prepare."
    )


@pytest.mark.parametrize(
    ("status", "told"), [("error", "worseNode number 0 (ABS) failed to prepare."), ("abort", "worse")]
)
def test_what_ends_the_process_names_no_node(status, told):
    interpreter, left = failing_again(status)
    left.clear()
    interpreter.resize_input(0, (32,))
    with pytest.raises(PrepareError) as error:
        interpreter.allocate_tensors()
    assert error.value.device_message == told
