"""build -> parse is the identity: every Model, odd ones included, survives its file."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tflm_sim.model.encode import encode
from tflm_sim.model.load import parse
from tflm_sim.model.schema import BUILTIN_OPTIONS, BUILTIN_OPTIONS_2, OptionField, option_fields
from tflm_sim.model.types import (
    ConstantData,
    Metadata,
    Model,
    Operator,
    OperatorCode,
    Quantization,
    Signature,
    Subgraph,
    Tensor,
)

INTS = {
    "byte": (-(2**7), 2**7 - 1),
    "ubyte": (0, 2**8 - 1),
    "int": (-(2**31), 2**31 - 1),
    "uint": (0, 2**32 - 1),
    "long": (-(2**63), 2**63 - 1),
}
int32 = st.integers(*INTS["int"])
uint32 = st.integers(*INTS["uint"])
names = st.text(max_size=12)
floats = st.floats(width=32, allow_nan=False)
byte_strings = st.binary(max_size=40).map(memoryview)
int_vectors = st.none() | st.lists(int32, max_size=5).map(tuple)


def scalars(type_name: str) -> st.SearchStrategy[object]:
    if type_name == "bool":
        return st.booleans()
    return floats if type_name == "float" else st.integers(*INTS[type_name])


def option_values(field: OptionField) -> st.SearchStrategy[object]:
    if field.type == "string":
        return st.none() | names
    if field.is_vector:
        return st.none() | (
            byte_strings if field.type == "ubyte" else st.lists(scalars(field.type), max_size=4).map(tuple)
        )
    return scalars(field.type)


@st.composite
def operators(draw: st.DrawFn, tensor_count: int) -> Operator:
    present = st.lists(st.integers(0, tensor_count - 1), max_size=4).map(tuple) if tensor_count else st.just(())
    absent_too = st.lists(st.integers(-1, tensor_count - 1), max_size=4).map(tuple)
    table = draw(st.sampled_from(BUILTIN_OPTIONS + BUILTIN_OPTIONS_2))
    fields = {field.name: option_values(field) for field in option_fields(table)}
    return Operator(
        opcode_index=draw(uint32),
        inputs=draw(st.none() | absent_too),
        outputs=draw(st.none() | present),
        intermediates=draw(st.none() | present),
        options_type=table,
        options=draw(st.just({}) | st.fixed_dictionaries(fields)),
        custom_options=draw(st.none() | byte_strings),
    )


quantizations = st.builds(
    Quantization,
    scale=st.lists(floats, max_size=4).map(tuple),
    zero_point=st.lists(st.integers(*INTS["long"]), max_size=4).map(tuple),
    quantized_dimension=int32,
    details_type=st.integers(0, 3),
)
tensors = st.builds(
    Tensor,
    name=names,
    shape=int_vectors,
    type=st.integers(*INTS["byte"]),
    buffer=uint32,
    shape_signature=int_vectors,
    is_variable=st.booleans(),
    quantization=st.none() | quantizations,
    has_sparsity=st.booleans(),
)


@st.composite
def subgraphs(draw: st.DrawFn) -> Subgraph:
    own = tuple(draw(st.lists(tensors, max_size=5)))
    has_operators = draw(st.booleans())
    indices = st.none() | (st.lists(st.integers(0, len(own) - 1), max_size=3).map(tuple) if own else st.just(()))
    return Subgraph(
        tensors=own,
        operators=tuple(draw(st.lists(operators(len(own)), max_size=4))) if has_operators else (),
        inputs=draw(indices),
        outputs=draw(indices),
        name=draw(names),
        has_operators=has_operators,
    )


@st.composite
def operator_codes(draw: st.DrawFn) -> OperatorCode:
    raw = draw(st.integers(0, 300))
    # Older files have the code in the one-byte field alone.
    code = draw(st.just(raw) | st.integers(raw, 127)) if raw < 127 else raw
    return OperatorCode(code, raw, draw(st.none() | names), draw(int32))


pairs = st.lists(st.tuples(names, uint32), max_size=3).map(tuple)
models = st.builds(
    Model,
    version=uint32,
    operator_codes=st.lists(operator_codes(), max_size=4).map(tuple),
    subgraphs=st.lists(subgraphs(), max_size=3).map(tuple),
    buffers=st.lists(st.builds(ConstantData, st.none() | byte_strings, st.none() | byte_strings), max_size=5).map(
        tuple
    ),
    metadata=st.lists(st.builds(Metadata, st.none() | names, uint32), max_size=3).map(tuple),
    signatures=st.lists(st.builds(Signature, names, pairs, pairs, uint32), max_size=2).map(tuple),
    description=names,
)


def without_positions(model: Model) -> Model:
    """Return the model as if it came from nowhere."""
    return replace(
        model,
        source=memoryview(b""),
        buffers=tuple(replace(buffer, address=0) for buffer in model.buffers),
        subgraphs=tuple(
            replace(
                subgraph,
                tensors=tuple(replace(tensor, offset=0) for tensor in subgraph.tensors),
                operators=tuple(replace(operator, offset=0) for operator in subgraph.operators),
            )
            for subgraph in model.subgraphs
        ),
    )


@given(models)
def test_a_model_survives_its_file(model: Model) -> None:
    data = encode(model)
    parsed = parse(data)
    assert without_positions(parsed) == model
    assert encode(parsed) == data


@given(models)
def test_constant_data_is_aligned_to_16_bytes(model: Model) -> None:
    assert all(buffer.address % 16 == 0 for buffer in parse(encode(model)).buffers)
