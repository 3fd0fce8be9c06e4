"""C integers and RuntimeShape."""

from __future__ import annotations

import pytest

from tflm_sim.errors import PrepareError
from tflm_sim.model.types import TensorType as T
from tflm_sim.ops.kernel import Kernel
from tflm_sim.ops.reference.arithmetic import runtime_dim, runtime_flat_size, runtime_shape, size_t
from tflm_sim.ops.requests import KernelTensor


@pytest.mark.parametrize(("a", "b", "quotient"), [(7, 2, 3), (-7, 2, -3), (7, -2, -3), (-7, -2, 3), (0, 5, 0)])
def test_c_division_rounds_towards_zero(kernel, a, b, quotient):
    assert Kernel(kernel("NEG", [], []).node, "add_n.cc").divide(a, b) == quotient


def test_division_by_zero_halts(kernel):
    with pytest.raises(PrepareError, match=r"add_n\.cc") as caught:
        Kernel(kernel("NEG", [], []).node, "add_n.cc").divide(1, 0)
    assert caught.value.status == "abort"


@pytest.mark.parametrize(("target", "bits"), [("cortex-m4", 32), ("x86_64", 64)])
def test_size_t_wraps_at_the_pointer_size(kernel, target, bits):
    node = kernel("NEG", [], [], target=target).node
    assert [size_t(node, value) for value in (5, -1, 2**bits)] == [5, 2**bits - 1, 0]


def test_a_runtime_shape_has_at_most_6_dimensions(kernel):
    six, seven = kernel("NEG", [((1,) * 6, T.INT8)], [((1,) * 7, T.INT8)]).node.tensors
    assert runtime_shape(KernelTensor(six)) == (1,) * 6
    with pytest.raises(PrepareError):
        runtime_shape(KernelTensor(seven))


@pytest.mark.parametrize("index", [-1, 2])
def test_a_dimension_outside_the_shape_halts(index):
    assert [runtime_dim((4, 5), i) for i in (0, 1)] == [4, 5]
    with pytest.raises(PrepareError):
        runtime_dim((4, 5), index)


@pytest.mark.parametrize(
    ("shape", "count"), [((), 1), ((2, 3), 6), ((2, -3), -6), ((2**16, 2**15), -(2**31)), ((0, 9), 0)]
)
def test_the_flat_size_is_an_int(shape, count):
    assert runtime_flat_size(shape) == count
