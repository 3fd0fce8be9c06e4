import pytest

from tflm_sim.errors import PrepareError
from tflm_sim.extensions.lite.builtin_ops import builtin_op_resolver
from tflm_sim.extensions.lite.graph_info import InplaceOperator, TfLiteRegistration
from tflm_sim.extensions.lite.op_resolver import MutableOpResolver, is_flex_op, registration_for
from tflm_sim.model.schema import BUILTIN_OPERATORS, builtin_operator_code
from tflm_sim.model.types import OperatorCode

CUSTOM = builtin_operator_code("CUSTOM")


def test_abs_and_relu_are_found_by_their_versions():
    resolver = MutableOpResolver()
    resolver.add_builtin("ABS", TfLiteRegistration())
    resolver.add_builtin("RELU", TfLiteRegistration(), min_version=1, max_version=2)
    assert resolver.find_builtin("ABS", 1).name == "ABS"
    assert resolver.find_builtin("ABS", 2) is None
    assert [resolver.find_builtin("RELU", version).version for version in (1, 2)] == [1, 2]


def test_a_registration_takes_the_name_that_it_is_registered_under():
    resolver = MutableOpResolver()
    resolver.add_builtin("ADD", TfLiteRegistration(custom_name="other"))
    resolver.add_custom("edgetpu-custom-op", TfLiteRegistration("ADD"))
    assert resolver.find_builtin("ADD", 1).custom_name is None
    assert resolver.find_custom("edgetpu-custom-op", 1).name == "CUSTOM edgetpu-custom-op"


def test_the_last_registration_wins():
    resolver = MutableOpResolver()
    resolver.add_custom("op", TfLiteRegistration())
    resolver.add_custom("op", TfLiteRegistration(changes_memory=True))
    assert resolver.find_custom("op", 1).changes_memory


def test_the_builtin_resolver_is_upstreams():
    resolver = builtin_op_resolver()
    assert resolver.find_builtin("FULLY_CONNECTED", 14) is not None
    assert resolver.find_builtin("FULLY_CONNECTED", 15) is None
    assert resolver.find_builtin("BROADCAST_TO", 1) is None
    assert resolver.find_builtin("RESHAPE", 1).inplace_operator == (
        InplaceOperator.DATA_UNMODIFIED | InplaceOperator.INPUT0_SHARED
    )
    assert resolver.find_custom("TFLite_Detection_PostProcess", 1) is not None
    found = [op for op in BUILTIN_OPERATORS if any(resolver.find_builtin(op, version) for version in (1, 2))]
    assert len(found) == 172  # the AddBuiltin calls of register.cc


def test_a_builtin_operator_of_a_newer_version_is_refused():
    code = builtin_operator_code("ADD")
    with pytest.raises(PrepareError) as error:
        registration_for(OperatorCode(code, code, version=7), builtin_op_resolver())
    assert error.value.device_message == (
        "Didn't find op for builtin opcode 'ADD' version '7'. An older version of this builtin might be supported. "
        "Are you using an old TFLite binary with a newer model?\n"
    )


@pytest.mark.parametrize("code", [OperatorCode(len(BUILTIN_OPERATORS), 127), OperatorCode(CUSTOM, CUSTOM)])
def test_what_is_no_operator_is_refused(code):
    with pytest.raises(PrepareError):
        registration_for(code, builtin_op_resolver())


def test_an_unknown_custom_operator_is_left_to_delegates():
    registration = registration_for(OperatorCode(CUSTOM, CUSTOM, "FlexAbs"), builtin_op_resolver())
    assert registration.is_unresolved
    assert is_flex_op(registration)
    assert not is_flex_op(registration_for(OperatorCode(CUSTOM, CUSTOM, "Mfcc"), builtin_op_resolver()))
