"""What the mobile runtime says and does between allocations: resizes, delegates, lent bytes, releases, cancellation."""

import pytest

from tflm_sim.errors import PrepareError
from tflm_sim.lite.builtin_ops import builtin_op_resolver
from tflm_sim.lite.delegates import SimpleDelegate
from tflm_sim.lite.delegation import State
from tflm_sim.lite.graph_info import AllocationType, Registration
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
        primary.add_node(Registration("ABS"), (0,), (3,))


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


def test_a_caller_can_cancel():
    resolver = MutableOpResolver()
    resolver.add_builtin("ABS", Registration(invoke=lambda *_: None))
    interpreter = chain(resolver=resolver, ops=("ABS", "ABS"))
    interpreter.allocate_tensors()
    interpreter.invoke()
    interpreter.primary.set_cancellation(lambda: True)
    with pytest.raises(PrepareError, match="Client requested cancel during Invoke"):
        interpreter.invoke()


@pytest.mark.parametrize("release", ["release_nonpersistent_memory", "release_memory"])
def test_released_memory_is_allocated_again(release):
    interpreter = chain()
    interpreter.allocate_tensors()
    getattr(interpreter.primary, release)()
    with pytest.raises(PrepareError, match="not ready"):
        interpreter.invoke()
    interpreter.allocate_tensors()
    assert interpreter.primary.planner.has_nonpersistent_memory
