"""The schema tables, at the points where a shifted line would show."""

import pytest

from tflm_sim.model.schema import (
    BUILTIN_OPERATORS,
    BUILTIN_OPTIONS,
    BUILTIN_OPTIONS_2,
    ENUMS,
    builtin_operator_code,
    builtin_operator_name,
    option_fields,
    options_of_operator,
)
from tflm_sim.model.types import TensorType


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (0, "ADD"),
        (3, "CONV_2D"),
        (32, "CUSTOM"),
        (65, "SLICE"),
        (114, "QUANTIZE"),
        (127, "PLACEHOLDER_FOR_GREATER_OP_CODES"),
        (129, "CALL_ONCE"),
        (150, "GELU"),
        (206, "STABLEHLO_COMPOSITE"),
        (209, "STABLEHLO_CASE"),
    ],
)
def test_builtin_operators_have_their_number(code: int, name: str) -> None:
    assert builtin_operator_name(code) == name
    assert builtin_operator_code(name) == code


def test_there_are_210_builtin_operators() -> None:
    assert len(BUILTIN_OPERATORS) == len(set(BUILTIN_OPERATORS)) == 210


@pytest.mark.parametrize("code", [-1, 210, 2**31 - 1])
def test_a_number_outside_of_the_enum_has_no_name(code: int) -> None:
    assert builtin_operator_name(code) == ""


def test_an_unknown_operator_has_no_number() -> None:
    with pytest.raises(ValueError, match="tuple"):
        builtin_operator_code("CONV2D")


@pytest.mark.parametrize(
    ("number", "name"),
    [(1, "Conv2DOptions"), (30, "SqueezeOptions"), (63, "LogicalNotOptions"), (103, "CallOnceOptions")],
)
def test_options_have_their_union_number(number: int, name: str) -> None:
    assert BUILTIN_OPTIONS[number] == name


def test_the_unions_end_where_the_schema_ends() -> None:
    assert (len(BUILTIN_OPTIONS), BUILTIN_OPTIONS[-1]) == (127, "RightShiftOptions")
    assert (len(BUILTIN_OPTIONS_2), BUILTIN_OPTIONS_2[-1]) == (24, "StablehloCaseOptions")


def test_fields_have_slots_types_and_defaults() -> None:
    fields = {field.name: field for field in option_fields("Conv2DOptions")}
    assert [field.slot for field in fields.values()] == [0, 1, 2, 3, 4, 5, 6]
    assert (fields["padding"].type, fields["padding"].enum, fields["padding"].default) == ("byte", "Padding", 0)
    assert (fields["stride_w"].type, fields["stride_w"].default) == ("int", 0)
    assert fields["dilation_h_factor"].default == 1


def test_deprecated_fields_keep_their_slots() -> None:
    assert [(field.name, field.slot) for field in option_fields("ResizeBilinearOptions")] == [
        ("align_corners", 2),
        ("half_pixel_centers", 3),
    ]


def test_vectors_and_strings_have_no_default() -> None:
    (new_shape,) = option_fields("ReshapeOptions")
    assert (new_shape.type, new_shape.is_vector, new_shape.default) == ("int", True, None)
    container, shared_name = option_fields("VarHandleOptions")
    assert (container.type, shared_name.default) == ("string", None)


def test_bool_and_enum_defaults_are_values() -> None:
    assert option_fields("AddOptions")[1].default is True
    assert option_fields("UniqueOptions")[0].default == TensorType.INT32


def test_a_table_without_fields_has_none() -> None:
    assert option_fields("PadOptions") == option_fields("no such table") == ()


def test_every_option_is_named_by_the_unions() -> None:
    from tflm_sim.model.schema import _OPTION_FIELDS

    assert set(_OPTION_FIELDS) <= {*BUILTIN_OPTIONS, *BUILTIN_OPTIONS_2}


@pytest.mark.parametrize(
    ("operator", "table"),
    [
        ("CONV_2D", "Conv2DOptions"),
        ("AVERAGE_POOL_2D", "Pool2DOptions"),
        ("MEAN", "ReducerOptions"),
        ("SPACE_TO_BATCH_ND", "SpaceToBatchNDOptions"),
        ("STABLEHLO_COMPOSITE", "StableHLOCompositeOptions"),
        ("LOGISTIC", ""),
    ],
)
def test_operators_have_their_options_table(operator: str, table: str) -> None:
    assert options_of_operator(operator) == table


def test_every_options_table_belongs_to_an_operator() -> None:
    used = {options_of_operator(operator) for operator in BUILTIN_OPERATORS}
    assert used == {*BUILTIN_OPTIONS, *BUILTIN_OPTIONS_2}


def test_tensor_types_are_the_schemas() -> None:
    assert tuple(TensorType.__members__) == ENUMS["TensorType"].names


def test_a_default_is_a_number_of_its_type_and_zero_where_none_is_written() -> None:
    beta = next(field for field in option_fields("SoftmaxOptions") if field.name == "beta")
    axis = next(field for field in option_fields("ConcatenationOptions") if field.name == "axis")
    assert [(type(field.default), field.default) for field in (beta, axis)] == [(float, 0.0), (int, 0)]
