"""Our reader against the ``flatbuffers`` and ``tflite`` packages, field by field, on every model that we have."""

from collections.abc import Callable, Iterator, Sequence
from math import isnan
from pathlib import Path
from typing import Any

import pytest

from tflm_sim.model.encode import encode
from tflm_sim.model.load import load, parse
from tflm_sim.model.schema import BUILTIN_OPERATORS, BUILTIN_OPTIONS, BUILTIN_OPTIONS_2, ENUMS, option_fields
from tflm_sim.model.types import ConstantData, Model, Operator, Quantization, Subgraph, Tensor
from tflm_sim.samples import SAMPLES, sample_path

flatbuffers = pytest.importorskip("flatbuffers")

SHARED = Path(__file__).parents[3] / "shared"
FILES = [
    *(sample_path(name) for name in SAMPLES),
    *sorted(SHARED.glob("models/*.tflite")),
    *sorted(SHARED.glob("planners/tflm_models/*.tflite")),
]

# The package's tables are of an older schema: it has no reader for this field and this union member.
NEWER_FIELDS = {("TransposeConvOptions", "quantized_bias_type")}
NEWER_TABLES = {"StablehloCaseOptions"}


def vector(table: Any, name: str) -> tuple[Any, ...] | None:
    """Return the numbers of a vector, None when the package says that it is absent."""
    if getattr(table, f"{name}IsNone")():
        return None
    return tuple(getattr(table, name)(i) for i in range(getattr(table, f"{name}Length")()))


def text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "replace")


def items(table: Any, name: str) -> Iterator[Any]:
    return (getattr(table, name)(i) for i in range(getattr(table, f"{name}Length")()))


def check_each(ours: Sequence[Any], theirs: Iterator[Any], check: Callable[[Any, Any], None]) -> None:
    for mine, other in zip(ours, theirs, strict=True):
        check(mine, other)


def check_model(model: Model, data: bytes) -> None:
    tflite = pytest.importorskip("tflite")
    root = tflite.Model.GetRootAsModel(data, 0)
    assert model.version == root.Version()
    assert model.description == (text(root.Description()) or "")
    check_each(model.operator_codes, items(root, "OperatorCodes"), check_operator_code)
    check_each(model.subgraphs, items(root, "Subgraphs"), check_subgraph)
    check_each(model.buffers, items(root, "Buffers"), check_buffer)
    check_each(model.metadata, items(root, "Metadata"), check_metadata)
    check_each(model.signatures, items(root, "SignatureDefs"), check_signature)


def check_operator_code(code: Any, other: Any) -> None:
    # The package's BuiltinCode() chooses between the two fields; slot 3 (vtable byte 10) is the field itself.
    slot = other._tab.Offset(10)
    raw = other._tab.Get(flatbuffers.number_types.Int32Flags, slot + other._tab.Pos) if slot else 0
    assert code.raw_builtin_code == raw
    assert code.builtin_code == max(raw, other.DeprecatedBuiltinCode())
    assert code.custom_code == text(other.CustomCode())
    assert code.version == other.Version()


def check_subgraph(subgraph: Subgraph, other: Any) -> None:
    assert subgraph.name == (text(other.Name()) or "")
    assert subgraph.inputs == vector(other, "Inputs")
    assert subgraph.outputs == vector(other, "Outputs")
    assert subgraph.has_operators == (not other.OperatorsIsNone())
    check_each(subgraph.tensors, items(other, "Tensors"), check_tensor)
    check_each(subgraph.operators, items(other, "Operators"), check_operator)


def check_tensor(tensor: Tensor, other: Any) -> None:
    assert tensor.name == (text(other.Name()) or "")
    assert tensor.shape == vector(other, "Shape")
    assert tensor.shape_signature == vector(other, "ShapeSignature")
    assert tensor.type == other.Type()
    assert tensor.buffer == other.Buffer()
    assert tensor.is_variable == other.IsVariable()
    assert tensor.has_sparsity == (other.Sparsity() is not None)
    assert tensor.offset == other._tab.Pos
    check_quantization(tensor.quantization, other.Quantization())


def check_quantization(quantization: Quantization | None, other: Any) -> None:
    assert (quantization is None) == (other is None)
    if quantization is not None:
        assert quantization.scale == (vector(other, "Scale") or ())
        assert quantization.zero_point == (vector(other, "ZeroPoint") or ())
        assert quantization.quantized_dimension == other.QuantizedDimension()
        assert quantization.details_type == other.DetailsType()


def check_operator(operator: Operator, other: Any) -> None:
    assert operator.opcode_index == other.OpcodeIndex()
    assert operator.inputs == vector(other, "Inputs")
    assert operator.outputs == vector(other, "Outputs")
    assert operator.intermediates == vector(other, "Intermediates")
    custom = None if other.CustomOptionsIsNone() else other.CustomOptionsAsNumpy()
    assert (operator.custom_options is None) == (custom is None)
    assert operator.custom_options is None or bytes(operator.custom_options) == (
        custom.tobytes() if other.CustomOptionsLength() else b""
    )
    first, second = other.BuiltinOptionsType(), other.BuiltinOptions2Type()
    assert operator.options_type == (BUILTIN_OPTIONS[first] or BUILTIN_OPTIONS_2[second])
    check_options(operator, other.BuiltinOptions() if first else other.BuiltinOptions2())


def check_options(operator: Operator, other: Any) -> None:
    name = operator.options_type
    if name in NEWER_TABLES or other is None or not option_fields(name):
        assert name in NEWER_TABLES or operator.options == {}
        return
    import tflite

    table = getattr(tflite, name)()
    table.Init(other.Bytes, other.Pos)
    assert set(operator.options) == {field.name for field in option_fields(name)}
    for field in option_fields(name):
        if (name, field.name) in NEWER_FIELDS:
            continue
        getter = "".join(word[:1].upper() + word[1:] for word in field.name.split("_"))
        if not hasattr(table, getter):
            assert operator.options[field.name] == field.default, f"{name}.{field.name} is not in the package"
        elif field.is_vector:
            mine = operator.options[field.name]
            expected = vector(table, getter)
            assert (None if mine is None else tuple(mine)) == expected
        else:
            expected = getattr(table, getter)()
            expected = text(expected) if field.type == "string" else expected
            mine = operator.options[field.name]
            assert mine == expected or (isinstance(mine, float) and isnan(mine) and isnan(expected))


def check_buffer(buffer: ConstantData, other: Any) -> None:
    if other.DataIsNone():
        assert buffer.data is None
    else:
        assert buffer.data is not None
        assert len(buffer.data) == other.DataLength()
        assert len(buffer.data) == 0 or buffer.address == other._tab.Vector(other._tab.Offset(4))
        assert bytes(buffer.data) == (other.DataAsNumpy().tobytes() if other.DataLength() else b"")
    assert (buffer.external is not None) == (other.Offset() > 1)
    assert buffer.external is None or len(buffer.external) == other.Size()


def check_metadata(metadata: Any, other: Any) -> None:
    assert metadata.name == text(other.Name())
    assert metadata.buffer == other.Buffer()


def check_signature(signature: Any, other: Any) -> None:
    def pairs(name: str) -> tuple[tuple[str, int], ...]:
        return tuple((text(entry.Name()) or "", entry.TensorIndex()) for entry in items(other, name))

    assert signature.key == (text(other.SignatureKey()) or "")
    assert signature.inputs == pairs("Inputs")
    assert signature.outputs == pairs("Outputs")
    assert signature.subgraph_index == other.SubgraphIndex()


def test_there_are_models_to_compare() -> None:
    assert len(FILES) >= len(SAMPLES)
    assert not (SHARED / "models").is_dir() or len(FILES) > 200


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.nightly if at % 8 else (), id=path.stem) for at, path in enumerate(FILES)],
)
def test_every_field_is_what_the_package_reads_also_where_we_write_it(path: Path) -> None:
    model = load(path)
    check_model(model, path.read_bytes())
    data = encode(model)
    written = parse(data)
    check_model(written, data)
    assert [len(subgraph.operators) for subgraph in written.subgraphs] == [
        len(subgraph.operators) for subgraph in model.subgraphs
    ]
    assert [buffer.data for buffer in written.buffers] == [buffer.data for buffer in model.buffers]


def numbers(enum: type) -> dict[str, int]:
    """Return the constants of one of the package's enum classes."""
    return {name: value for name, value in vars(enum).items() if isinstance(value, int) and name[0] != "_"}


def test_names_have_the_packages_numbers() -> None:
    tflite = pytest.importorskip("tflite")
    for name, code in numbers(tflite.BuiltinOperator).items():
        assert BUILTIN_OPERATORS[code] == name
    for ours, theirs in ((BUILTIN_OPTIONS, tflite.BuiltinOptions), (BUILTIN_OPTIONS_2, tflite.BuiltinOptions2)):
        assert {name: ours.index(name) for name in numbers(theirs) if name != "NONE"} == {
            name: value for name, value in numbers(theirs).items() if value
        }
    for enum, type_ in ENUMS.items():
        if hasattr(tflite, enum):
            assert numbers(getattr(tflite, enum)).items() <= {name: i for i, name in enumerate(type_.names)}.items()
