import pytest

from tflm_sim.errors import PrepareError
from tflm_sim.extensions.lite.tensor_bytes import bytes_required
from tflm_sim.model.types import TensorType


@pytest.mark.parametrize(
    ("tensor_type", "shape", "size"),
    [
        (TensorType.FLOAT32, (), 4),
        (TensorType.FLOAT32, (2, 3), 24),
        (TensorType.INT8, (0, 5), 0),
        (TensorType.INT4, (5,), 3),  # two values a byte
        (TensorType.INT2, (5,), 2),  # four values a byte
        (TensorType.COMPLEX128, (2,), 32),
    ],
)
def test_bytes(tensor_type, shape, size):
    assert bytes_required(tensor_type, shape) == size


@pytest.mark.parametrize("shape", [(-1,), (2**33, 2**33)])
def test_shapes_without_a_size_are_refused(shape):
    with pytest.raises(PrepareError, match="elements overflowed"):
        bytes_required(TensorType.INT8, shape)


@pytest.mark.parametrize("tensor_type", [TensorType.STRING, 99])
def test_types_without_a_size_are_refused(tensor_type):
    with pytest.raises(PrepareError, match=r"Type \d+ is unsupported"):
        bytes_required(tensor_type, (1,))
