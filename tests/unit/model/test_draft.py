"""What a draft says of its model, and what comes out of it: what is named alone, under new numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tflm_sim import parse
from tflm_sim.errors import ModelError
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.draft import Draft, refuse_unwritable
from tflm_sim.model.encode import encode
from tflm_sim.model.schema import BUILTIN_OPERATORS
from tflm_sim.model.types import ConstantData, Metadata, Model, Signature, TensorType

INT8 = TensorType.INT8


def chosen() -> Model:
    """Return IF with subgraphs 2 and 3 behind an ADD of a constant; the last operator runs subgraph 1."""
    builder = ModelBuilder()
    names = ("once", "then", "else")
    for name in names:
        branch = builder.add_subgraph(name)
        given, made = (branch.tensor((4,), INT8, name=f"{name} {end}") for end in ("in", "out"))
        branch.operator("RELU", [given], [made])
        branch.inputs, branch.outputs = [given], [made]
    condition = builder.tensor((1,), TensorType.BOOL, name="condition")
    x, unread = builder.tensor((4,), INT8, name="x"), builder.tensor((4,), INT8, name="unread", data=[9] * 4)
    gone = builder.tensor((4,), INT8, name="gone", data=[8] * 4)
    one, same = (builder.tensor((4,), INT8, name=name, data=[1, 2, 3, 4]) for name in ("one", "same"))
    y, z = builder.tensor((4,), INT8, name="y"), builder.tensor((4,), INT8, name="z")
    del unread, gone
    builder.operator("ADD", [x, one], [y])
    builder.custom("MINE", [y, same, -1], [z])
    result = builder.tensor((4,), INT8, name="result")
    options = {"then_subgraph_index": 2, "else_subgraph_index": 3}
    builder.operator("IF", [condition, z], [result], options=options)
    builder.operator("CALL_ONCE", [], [], options={"init_subgraph_index": 1})
    return parse(builder.build(inputs=[condition, x], outputs=[result]))


CONDITION, X, UNREAD, _, ONE, SAME, Y, Z, RESULT = range(9)


def test_readers_and_writers_are_operators_in_the_order_in_which_they_run() -> None:
    draft = Draft(chosen())
    draft.operators.append(draft.operator("RELU", [Y], [draft.add_like(Y, (4,))]))
    assert (draft.readers(Y), draft.readers(UNREAD), draft.writers(Z), draft.writers(X)) == ([1, 4], [], [1], [])
    assert (draft.sole_reader(Y), draft.sole_reader(X), draft.sole_reader(UNREAD)) == (None, 0, None)
    draft.outputs = (RESULT, X)
    assert draft.sole_reader(X) is None
    assert draft.name(draft.operators[0]) == "ADD"
    assert draft.consumers()[Y] == [1, 4]
    assert draft.producers() == {Y: 0, Z: 1, RESULT: 2, 9: 4}


def test_what_is_computed_or_given_is_an_activation() -> None:
    draft = Draft(chosen())
    assert [draft.is_activation(tensor) for tensor in (CONDITION, X, ONE, Y, -1)] == [True, True, False, True, False]
    assert [draft.is_constant(tensor) for tensor in (CONDITION, ONE, -1)] == [False, True, False]


def test_an_operator_takes_the_code_that_is_there_and_no_custom_operators() -> None:
    draft = Draft(chosen())
    assert draft.name(draft.operator("MUL", [X], [Y])) == "MUL"
    relu = draft.operator("RELU", [X], [Y])
    assert relu.opcode_index == chosen().subgraphs[1].operators[0].opcode_index
    assert draft.name(draft.operators[1]) == "CUSTOM"
    custom = draft.operator("CUSTOM", [X], [Y])
    assert (draft.code(custom).custom_code, draft.code(draft.operators[1]).custom_code) == (None, "MINE")
    assert draft.operator("CUSTOM", [X], [Y]).opcode_index == custom.opcode_index
    assert (
        draft.operator("ADD", [X], [Y], options={"fused_activation_function": 1}).options["fused_activation_function"]
        == 1
    )
    assert draft.operator("ADD", [X], [Y]).options["fused_activation_function"] == 0


def test_what_nothing_names_is_gone_and_the_rest_has_new_numbers() -> None:
    model = chosen()
    signatures = (
        Signature("main", (("a", CONDITION), ("b", UNREAD)), (("c", RESULT),), 0),
        Signature("else", (("a", 0),), (("b", 1),), 3),
    )
    draft = Draft(replace(model, signatures=signatures))
    draft.drop({3})
    result = draft.model()
    assert [subgraph.name for subgraph in result.subgraphs] == [model.subgraphs[0].name, "then", "else"]
    main = result.subgraphs[0]
    assert [tensor.name for tensor in main.tensors] == ["condition", "x", "unread", "one", "same", "y", "z", "result"]
    assert [operator.inputs for operator in main.operators] == [(1, 3), (5, 4, -1), (0, 6)]
    assert (main.inputs, main.outputs) == ((0, 1), (7,))
    options = main.operators[2].options
    assert (options["then_subgraph_index"], options["else_subgraph_index"]) == (1, 2)
    assert [(each.subgraph_index, each.inputs, each.outputs) for each in result.signatures] == [
        (0, (("a", 0), ("b", 2)), (("c", 7),)),
        (2, (("a", 0),), (("b", 1),)),
    ]
    # Of the two equal constants one buffer is left, behind the one of no data.
    data = [None if buffer.data is None else bytes(buffer.data) for buffer in result.buffers]
    assert data == [None, b"\t\t\t\t", b"\1\2\3\4"]
    assert [main.tensors[tensor].buffer for tensor in (0, 2, 3, 4)] == [0, 1, 2, 2]
    assert {buffer.address for buffer in result.buffers} == {0}


def test_a_subgraph_that_lists_no_inputs_or_outputs_lists_none_afterwards() -> None:
    model = chosen()
    for main in (replace(model.subgraphs[0], inputs=None), replace(model.subgraphs[0], outputs=None)):
        result = Draft(replace(model, subgraphs=(main, *model.subgraphs[1:]))).model().subgraphs[0]
        assert (result.inputs is None, result.outputs is None) == (main.inputs is None, main.outputs is None)


def test_a_new_tensor_has_its_data_or_none() -> None:
    draft = Draft(chosen())
    plain, constant = draft.add_like(X, (2,)), draft.add_tensor((2,), INT8, data=b"ab")
    assert (draft.tensors[plain].buffer, draft.data(plain), bytes(draft.data(constant) or b"")) == (0, None, b"ab")
    assert (draft.data(-1), bytes(draft.data(ONE) or b"")) == (None, b"\1\2\3\4")


def test_a_constant_may_be_tensor_0() -> None:
    builder = ModelBuilder()
    x = builder.tensor((1,), INT8, data=[5])
    draft = Draft(parse(builder.build(inputs=[x], outputs=[x])))
    assert draft.is_constant(0)


def test_metadata_of_a_name_is_replaced_and_taken_away() -> None:
    draft = Draft(chosen())
    for version in ("old", "new"):
        for name in ("plan", "other"):
            draft.set_metadata(name, f"{version} {name}".encode())
    draft.set_metadata("other", None)
    result = draft.model()
    (metadata,) = result.metadata
    assert (metadata.name, bytes(result.buffers[metadata.buffer].data or b"")) == ("plan", b"new plan")


def test_operators_move_to_a_subgraph_behind_those_that_are_there() -> None:
    draft = Draft(chosen())
    assert len(draft.nested) == 4
    assert draft.outline(draft.operators[:1], [X], [Y]) == 4
    moved = draft.nested[4]
    assert (moved.inputs, moved.outputs, len(moved.tensors), moved.operators[0].inputs) == ((0,), (2,), 3, (0, 1))


def test_a_model_without_buffers_has_the_one_of_no_data_afterwards() -> None:
    builder = ModelBuilder()
    x = builder.tensor((1,), INT8)
    model = parse(builder.build(inputs=[x], outputs=[x]))
    result = Draft(replace(model, buffers=())).model()
    assert (len(result.buffers), result.subgraphs[0].tensors[0].buffer) == (1, 0)
    empty = ConstantData(memoryview(b""))
    tensor = replace(model.subgraphs[0].tensors[0], buffer=1)
    main = replace(model.subgraphs[0], tensors=(tensor,))
    result = Draft(replace(model, buffers=(*model.buffers[:1], empty), subgraphs=(main,))).model()
    assert (len(result.buffers), result.subgraphs[0].tensors[0].buffer) == (1, 0)


def test_an_operator_code_that_the_schema_has_not_has_its_number() -> None:
    model = chosen()
    for code, name in ((len(BUILTIN_OPERATORS), f"operator code {len(BUILTIN_OPERATORS)}"), (-1, "operator code -1")):
        codes = tuple(replace(each, builtin_code=code) for each in model.operator_codes)
        draft = Draft(replace(model, operator_codes=codes))
        assert draft.name(draft.operators[0]) == name


@pytest.mark.parametrize(("name", "buffer", "message"), [
    ("plan", 0, ""),
    ("plan", 4, ""),
    ("plan", 5, "the metadata names buffer 5, which is not there"),
    ("plan", -1, "the metadata names buffer -1, which is not there"),
    ("COMPRESSION_METADATA", 0, "named by index in COMPRESSION_METADATA"),
])  # fmt: skip
def test_metadata_that_cannot_be_kept_is_refused(name: str, buffer: int, message: str) -> None:
    model = chosen()
    assert len(model.buffers) == 5
    named = replace(model, metadata=(Metadata(name, buffer),))
    if message:
        with pytest.raises(ModelError, match=message):
            refuse_unwritable(named)
    else:
        refuse_unwritable(named)


@pytest.mark.parametrize(("buffer", "is_refused"), [(4, False), (5, True)])
def test_a_tensor_of_a_buffer_that_is_not_there_is_refused(buffer: int, is_refused: bool) -> None:
    model = chosen()
    tensors = (replace(model.subgraphs[0].tensors[0], buffer=buffer), *model.subgraphs[0].tensors[1:])
    changed = replace(model, subgraphs=(replace(model.subgraphs[0], tensors=tensors), *model.subgraphs[1:]))
    if is_refused:
        with pytest.raises(ModelError, match="tensor 0 of subgraph 0 names buffer 5, which is not there"):
            refuse_unwritable(changed)
    else:
        refuse_unwritable(changed)


@pytest.mark.parametrize("first", [None, b"", b"\5"])
def test_the_first_buffer_is_one_without_data(first: bytes | None) -> None:
    model = chosen()
    of_first = ConstantData(None if first is None else memoryview(first))
    result = Draft(replace(model, buffers=(of_first, *model.buffers[1:]))).model()
    x = result.subgraphs[0].tensors[1]
    assert result.buffers[0].data is None
    assert bytes(result.buffers[x.buffer].data or b"") == (first or b"")


@pytest.mark.parametrize(("codes", "is_refused"), [(5, False), (4, True)])
def test_an_operator_code_that_is_not_there_is_refused(codes: int, is_refused: bool) -> None:
    model = chosen()
    assert len(model.operator_codes) == 5  # RELU, ADD, MINE, IF, CALL_ONCE
    cut = replace(model, operator_codes=model.operator_codes[:codes])
    if is_refused:
        with pytest.raises(ModelError, match="operator 3 of subgraph 0 names an operator code that is not there"):
            refuse_unwritable(cut)
    else:
        refuse_unwritable(cut)


@pytest.mark.parametrize("length", range(1, 9))
def test_custom_options_lie_at_a_multiple_of_4(length: int) -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor((1,), INT8, name="x" * length) for _ in range(2))
    builder.custom("M" * length, [x], [y], options=b"OPTIONS" * length)
    encoded = encode(parse(builder.build(inputs=[x], outputs=[y])))
    assert encoded.index(b"OPTIONS") % 4 == 0
