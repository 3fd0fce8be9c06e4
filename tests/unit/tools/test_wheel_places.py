"""Lines of checks in a version of TFLM of which there is only a pip wheel: read from its code, put into the table."""

from __future__ import annotations

import capstone
from upstream.printed_checks import Printed, _calls, _function
from upstream.wheel_places import brought_forward

FILE = "tensorflow/lite/micro/kernels/one.cc"
MERGED = bytes.fromhex(
    "b930000000"  # 0: mov $48,%ecx
    "7407"  # 5: je 14
    "b931000000"  # 7: mov $49,%ecx
    "ffc0"  # 12: inc %eax
    "e800000000"  # 14: call 19
    "c3"  # 19: ret
)
"""Two checks of which the compiler merged the calls: their lines are 48 and 49."""


def printed(line: int, text: str, function: str = "OnePrepare") -> Printed:
    return Printed(FILE, line, text, function)


def test_a_call_is_reached_with_the_constants_of_each_path() -> None:
    decoder = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    decoder.detail = True
    found = [registers.get("rcx") for registers in _calls(list(decoder.disasm(MERGED, 0)))]
    assert sorted(line for line in found if line) == [48, 49]


def test_a_function_has_its_name_without_namespaces_and_arguments() -> None:
    assert _function("_ZN6tflite5micro12_GLOBAL__N_114SqueezePrepareEPNS0_13TfLiteContextE") == "SqueezePrepare"
    assert _function("_ZN6tflite12_GLOBAL__N_111RfftPrepareIfL10TfLiteType1EEE12TfLiteStatus") == "RfftPrepare"
    assert _function("main") == "main"


def test_checks_keep_their_keys_and_what_no_wheel_prints_its_distance_from_the_nearest() -> None:
    last = {"!user_data != nullptr": 30, "a != nullptr": 40, "Other: b == 1": 50, "OnePrepare: b == 1": 60, "stays": 70}
    found = [printed(39, "a != nullptr"), printed(52, "b == 1", "Other"), printed(61, "b == 1")]
    assert brought_forward(last, found, {"!user_data != nullptr", "stays"}, set()) == {
        "!user_data != nullptr": 29,
        "a != nullptr": 39,
        "Other: b == 1": 52,
        "OnePrepare: b == 1": 61,
        "stays": 71,
    }


def test_what_is_not_printed_any_more_is_gone_and_what_is_new_has_its_text_for_a_key() -> None:
    last = {"a != nullptr": 40, "b == 1": 50, "Said once.": 55, "Said still.": 60}
    found = [printed(41, "a != nullptr"), printed(45, "c > 0"), printed(47, "a != nullptr", "Other")]
    assert brought_forward(last, found, set(), {"Said still.", "Said now."}) == {
        "Said now.": 0,
        "a != nullptr": 41,
        "c > 0": 45,
        "Other: a != nullptr": 47,
        "Said still.": 61,
    }


def test_a_halt_that_became_a_refusal_is_at_its_line() -> None:
    last = {"!fits": 30, "a != nullptr": 40}
    assert brought_forward(last, [printed(30, "fits"), printed(40, "a != nullptr")], {"!fits"}, set()) == {
        "fits": 30,
        "a != nullptr": 40,
    }
