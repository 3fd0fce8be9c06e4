import pytest

from tflm_sim.logs.log_events import Damaged, LogEvent, Message
from tflm_sim.logs.parser import parse_log
from tflm_sim.logs.tflm_messages import MESSAGES


def events(text: str) -> list[LogEvent]:
    return parse_log(text.encode() + b"\n")


def message(text: str) -> tuple[str, dict[str, int | str], bool]:
    (event,) = events(text)
    assert isinstance(event, Message), event
    return event.kind, dict(event.values), event.cut


TRIPLE = {"requested": 33488, "available": 20472, "missing": 13016}  # 33488 - 20472 = 13016


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Failed to resize buffer. Requested: 33488, available 20472, missing: 13016", "head"),
        ("Failed to resize buffer. Requested:33488, available 20472, missing:13016", "head"),
        ("Failed to resize buffer. Requested: 33,488, available: 20,472, missing: 13,016", "head"),
        ("Failed to set head size. Requested: 33488, available 20472, missing: 13016", "head"),
        ("Failed to allocate tail memory. Requested: 33488, available 20472, missing: 13016", "tail"),
        ("Failed to allocate temp memory. Requested: 33488, available 20472, missing: 13016", "temp"),
        ("Failed to allocate memory. Requested: 33488, available 20472, missing: 13016", "memory"),
        ("x Failed to resize buffer. Requested: 33488, available 20472, missing: 13016I (12) wifi: up", "head"),
    ],
)
def test_refusals_of_every_era_carry_their_three_numbers(text: str, kind: str) -> None:
    assert message(text) == (kind, TRIPLE, False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Arena size is too small for all buffers. Needed 212064 but only 191120 was available.",
            ("plan_too_big", {"requested": 212064, "available": 191120}, False),
        ),
        (
            "Arena size is too small for all buffers. Needed 212064 but only 191120 was avai",
            ("plan_too_big", {"requested": 212064, "available": 191120}, True),
        ),
        (
            "Arena size is too small for all buffers. Needed 212064 but only 191",
            ("plan_too_big", {"requested": 212064}, True),
        ),
        (
            "Failed to resize buffer. Requested: 5132944, available 2096904, missing:",
            ("head", {"requested": 5132944, "available": 2096904}, True),
        ),
        (
            "Node DEQUANTIZE (number 1f) failed to prepare with status 1",
            ("node_prepare", {"op": "DEQUANTIZE", "node": 1, "status": 1}, False),
        ),
        (
            "Node CONV_2D (number 12) failed to prepare with status 1",
            ("node_prepare", {"op": "CONV_2D", "node": 12, "status": 1}, False),
        ),
        ("Didn't find op for builtin opcode 'SOFTMAX'", ("op_missing", {"op": "SOFTMAX"}, False)),
        (
            "Didn't find op for builtin opcode 'SOFTMAX' version '2'. An older version of this builtin might be "
            "supported. Are you using an old TFLite binary with a newer model?",
            ("op_missing", {"op": "SOFTMAX"}, False),
        ),
        ("Scratch buffer request exeeds limit per operator (5)", ("scratch_limit", {"limit": 5}, False)),
        ("Scratch buffer request exceeds limit per operator (12)", ("scratch_limit", {"limit": 12}, False)),
        (
            "Couldn't register builtin op #3, resolver size is too small (2).",
            ("resolver_full", {"op": 3, "limit": 2}, False),
        ),
        (
            "tensorflow/lite/micro/kernels/conv.cc:45 input->type != output->type (INT8 != FLOAT32)",
            (
                "ensure_types",
                {
                    "file": "tensorflow/lite/micro/kernels/conv.cc",
                    "source_line": 45,
                    "left": "input->type",
                    "right": "output->type",
                    "left_value": "INT8",
                    "right_value": "FLOAT32",
                },
                False,
            ),
        ),
        ("Too many buffers (max is 12)", ("too_many_buffers", {"max_buffers": 12}, False)),
    ],
)
def test_lines_read_as_what_they_say(text: str, expected: tuple[str, dict[str, int | str], bool]) -> None:
    assert message(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Failed to resize buffer. Requested: 33488, avI (12) wifi: up",
        "Failed to resize buffer. Requested: 33488, available 20472, missing: 1301",
        "Failed to allocate memory for",
        "Failed to all",
        "Failed to allocate tail memory. Reque#sted: 1, available 0, missing: 1",
    ],
)
def test_torn_lines_are_named_and_never_believed(text: str) -> None:
    assert [type(event) for event in events(text)] == [Damaged]


@pytest.mark.parametrize("text", ["Failed to allocate the camera", "Node 7 joined the mesh", "stack is fine", "a != b"])
def test_other_programs_lines_are_not_ours(text: str) -> None:
    assert events(text) == []


def test_a_number_that_ends_a_line_of_a_full_print_buffer_is_not_believed() -> None:
    # bluepill and cortex_m_generic print through 256 bytes: a line of 255 may have lost digits.
    text = "Failed to initialize tensor 12"
    padded = "x" * (255 - len(text)) + text
    assert message(padded) == ("eval_tensor", {}, False)
    assert message(padded[1:]) == ("eval_tensor", {"tensor": 12}, False)


def test_the_unended_last_line_of_a_recording_keeps_only_what_is_certain() -> None:
    (event,) = parse_log(b"Failed to initialize tensor 12")
    assert isinstance(event, Message)
    assert event.values == ()


def test_every_row_is_found_in_its_own_format() -> None:
    samples = {"d": "7", "s": "NAME", "x": "1f", "c": "a", "f": "1.5"}
    for row in MESSAGES:
        for template in row.templates:
            text = "".join(literal if kind == "lit" else samples[kind] for kind, literal in template.tokens)
            text = text.replace("Requested: 7, available 7", "Requested: 14, available 7")
            fields = {
                name: samples[kind] if kind == "s" else int(samples[kind], 16) if kind == "x" else 7
                for name, kind in zip(
                    template.fields, [kind for kind, _ in template.tokens if kind != "lit"], strict=True
                )
            }
            if row.reads is not None and row.reads(fields) is None:
                continue  # A form of two rows, of which the fields say which is meant.
            (event,) = events(text)
            assert isinstance(event, Message), (text, event)
            assert event.kind == row.kind, text
            assert set(dict(event.values)) >= set(template.fields), text
