"""Verdicts of ``judge()`` out of facts alone: what the facts rule out is "no", what they leave open is listed or named.

Unless a test says otherwise: a Cortex-M4 with reference kernels, whose arena ``tensor_arena`` is at 0x20000000. There
keyword_spotter needs 22,772 B (104 more with a recording interpreter, 8 more with enums of four bytes), sine 1,068 B.
"""

from __future__ import annotations

from typing import Any

import pytest

from tflm_sim.device.configuration import Configuration, configure
from tflm_sim.extensions.firmware.judge import FirmwareVerdict, judge
from tflm_sim.extensions.firmware.reading.firmware import Firmware
from tflm_sim.extensions.firmware.reading.grounds import Condition
from tflm_sim.extensions.firmware.reading.image import Image
from tflm_sim.extensions.firmware.reading.set_up import InterpreterCall, SetUp
from tflm_sim.extensions.firmware.rooms import ArenaRoom, Subject
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import load, parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.ops.op_model import OpModel
from tflm_sim.samples import sample_path

KEYWORDS, SINE, STREAMING, RESIDUAL = (
    load(sample_path(name)) for name in ("keyword_spotter", "sine", "streaming", "residual")
)
IN_ORDER = ("CONV_2D", "DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "RESHAPE", "FULLY_CONNECTED", "SOFTMAX")
"""The operators of keyword_spotter as the device looks for them."""
M4 = configure("cortex-m4", kernels="reference")
INT_ENUMS = configure("esp32", kernels="reference")
RECORDING = configure("cortex-m4", kernels="reference", interpreter="recording")
UNTOUCHED = "the program takes nothing from its allocator itself"
ALONE = "nothing else takes memory of its allocator (another model, a second AllocateTensors(), the program itself)"
GREEDY = "it has TFLM's default planner (preserve_all_tensors is not set, and it makes none itself)"


def room(size: int, *, at: int = 0, name: str = "tensor_arena", **facts: Any) -> ArenaRoom:
    """Return an arena at ``at`` modulo 16."""
    return ArenaRoom(name, size, 0x20000000 + at, None, (at,), **facts)


def call(**facts: Any) -> InterpreterCall:
    """Return a call whose every argument is read: its own greedy planner, no table of resource variables."""
    known = {"arena": 0x20000000, "arena_size": 30_000, "variables": 0, "variable_arena": 0, "allocator": 0}
    return InterpreterCall(**{**known, "preserves_all_tensors": False, **facts})


def verdict(
    model: Model,
    *rooms: ArenaRoom,
    configurations: tuple[Configuration, ...] = (M4,),
    conditions: tuple[Condition, ...] = (),
    settled: frozenset[str] = frozenset(),
    others: tuple[Model, ...] = (),
    **facts: Any,
) -> FirmwareVerdict:
    """Return the verdict about a model in a firmware that has these facts, and symbols."""
    known: dict[str, Any] = {"symbol_count": 1000, "has_all_operators": True, "interpreters": ("plain",), **facts}
    firmware = Firmware(Image(None, "ELF", ()), (), **known)
    subject = Subject("g_model", len(model.source), "at 0x100", model, rooms, others)
    return judge(subject, firmware, configurations, conditions, settled=settled)


def needs(found: FirmwareVerdict) -> list[tuple[str, int | None, bool | None]]:
    return [(case.case, case.needed, case.fits) for case in found.cases]


def test_resource_variables_without_a_table_for_them_are_a_no() -> None:
    found = verdict(STREAMING, room(30_000), has_resource_variables=False)
    assert (found.fits, found.exit_code) == (False, 1)
    assert found.reason == (
        "the model has resource variables, and the program makes no table for them "
        "(MicroResourceVariables::Create is not in it): AllocateTensors() will fail"
    )


def test_a_resolver_with_room_for_fewer_operators_than_the_model_has_is_a_no() -> None:
    found = verdict(KEYWORDS, room(30_000), has_all_operators=False, operators=frozenset(IN_ORDER), resolver_sizes=(3,))
    assert found.fits is False
    assert found.reason == (
        "MicroMutableOpResolver<3> has room for 3 operators, and the model has 6: AllocateTensors() will fail"
    )


@pytest.mark.parametrize(
    "facts",
    [
        {"operators": frozenset(IN_ORDER), "has_all_operators": False, "resolver_sizes": (3, 6)},
        {"has_all_operators": True, "resolver_sizes": (3,)},
        {"operators": frozenset(IN_ORDER), "has_all_operators": False, "resolver_sizes": ()},
    ],
)
def test_a_resolver_with_room_for_all_of_them_is_no_reason(facts: dict[str, Any]) -> None:
    found = verdict(KEYWORDS, room(30_000), **facts)
    assert (found.fits, found.reason) == (True, "")


def test_models_that_may_share_an_allocator_are_told_alone_and_in_both_orders() -> None:
    found = verdict(SINE, room(1_072), others=(KEYWORDS,), only_takes_allocators=True)
    assert found.fits is None
    assert needs(found) == [
        ("an allocator for this model alone", 1_068, True),
        ("the models share an allocator, this one the first", 23_308, False),
        ("the models share an allocator, this one the second", 23_300, False),
    ]


def test_models_that_share_an_allocator_need_more_than_either() -> None:
    shared = room(23_304, call=call(allocator=0x400), shared_with=(SINE,), may_be_alone=False)
    found = verdict(KEYWORDS, shared)
    assert found.fits is None
    assert needs(found) == [
        ("the models share an allocator, this one the first", 23_300, True),
        ("the models share an allocator, this one the second", 23_308, False),
    ]
    roomy = room(23_308, call=call(allocator=0x400), shared_with=(SINE,), may_be_alone=False)
    assert (verdict(KEYWORDS, roomy).fits, verdict(KEYWORDS, roomy).conditions) == (True, (UNTOUCHED,))


def test_more_models_than_are_tried_in_every_order_are_a_condition_where_each_may_have_its_own_allocator() -> None:
    found = verdict(SINE, room(1_072), others=(KEYWORDS, RESIDUAL, STREAMING), only_takes_allocators=True)
    assert (found.fits, found.needed) == (True, 1_068)
    assert "no other model shares its allocator" in found.conditions


def test_models_that_are_known_not_to_share_an_allocator_are_no_condition() -> None:
    found = verdict(SINE, room(1_072, call=call()), others=(KEYWORDS, RESIDUAL, STREAMING))
    assert found.fits
    assert "no other model shares its allocator" not in found.conditions


def test_more_models_than_are_tried_in_every_order_cannot_be_told_where_they_share_one() -> None:
    many = (SINE, RESIDUAL, STREAMING)
    found = verdict(KEYWORDS, room(90_000, call=call(allocator=0x400), shared_with=many, may_be_alone=False))
    assert (found.fits, found.needed) == (None, None)
    assert found.reason.startswith("more than 3 models are given its allocator")


def test_sizes_of_enums_that_are_left_are_listed() -> None:
    found = verdict(KEYWORDS, room(22_776), configurations=(M4, INT_ENUMS))
    assert (found.fits, found.needed) == (None, 22_780)
    assert needs(found) == [("short enums", 22_772, True), ("int enums", 22_780, False)]
    assert found.exit_code == 3


def test_a_verdict_that_is_the_same_for_both_sizes_of_enums_is_that_of_the_larger_need() -> None:
    found = verdict(KEYWORDS, room(22_780), configurations=(M4, INT_ENUMS))
    assert (found.fits, found.needed, found.multiple_of_16) == (True, 22_780, 22_784)
    assert needs(found) == [("short enums", 22_772, True), ("int enums", 22_780, True)]


@pytest.mark.parametrize(
    ("size", "fits", "span"),
    [
        (7_591, False, "3 or more"),
        (7_679, None, "3"),  # 7,592 are enough where the table is in another arena
        (7_680, True, "3 in this arena, or for 3 or more in another"),
        # 8,000 - 7,680 = 16 rows of 20 B
        (8_000, True, "3 (up to 19 have room) in this arena, or for 3 or more in another"),
    ],
)
def test_a_table_of_unknown_length_is_said_as_the_lengths_for_which_the_verdict_holds(
    size: int, fits: bool | None, span: str
) -> None:
    found = verdict(STREAMING, room(size), has_resource_variables=True, settled=frozenset({"planner"}))
    assert found.fits is fits
    assert found.conditions == (f"MicroResourceVariables::Create makes room for {span}",)
    assert needs(found) == [
        ("the table for its resource variables in this arena", 7_680, size >= 7_680),
        ("the table for its resource variables in another arena", 7_592, size >= 7_592),
    ]


def test_lines_that_the_device_prints_in_one_case_only_are_not_promised() -> None:
    """In this arena a table for 20 takes 424 B more than in another one: fewer buffers can be planned."""
    longer = SetUp((), True, table_length=20)
    found = verdict(STREAMING, room(7_500), has_resource_variables=True, set_up=longer)
    assert [(case.needed, case.fits) for case in found.cases] == [(8_016, False), (7_592, False)]
    assert (found.fits, found.log) == (False, ())
    told = verdict(STREAMING, room(7_500, call=call(variables=20)), has_resource_variables=True)
    assert told.log == ("Too many buffers (max is 6)",)


@pytest.mark.parametrize(
    ("length", "needed"),
    [(3, (7_680, 7_592)), (7, (7_760, 7_592))],  # 7,680 + 4 x 20; in another arena the length takes nothing
)
def test_the_number_that_the_only_call_passes_is_the_length(length: int, needed: tuple[int, int]) -> None:
    read = SetUp((), True, table_length=length)
    settled = frozenset({"planner"})
    found = verdict(STREAMING, room(7_760), has_resource_variables=True, set_up=read, settled=settled)
    assert (found.fits, found.conditions) == (True, ())
    assert tuple(case.needed for case in found.cases) == needed


def test_a_table_that_is_too_short_wherever_it_is_makes_it_a_no() -> None:
    read = SetUp((), True, table_length=2)
    found = verdict(STREAMING, room(30_000), has_resource_variables=True, set_up=read)
    assert (found.fits, found.needed, found.cases) == (False, None, ())
    assert found.log[0] == "Failed to allocate resource variable. Maximum resource variable count (2) reached."


def test_a_table_that_the_user_places_is_placed() -> None:
    elsewhere = configure("cortex-m4", kernels="reference", variable_arena=1024)
    found = verdict(STREAMING, room(7_592), configurations=(elsewhere,), has_resource_variables=True)
    assert (found.needed, found.fits, found.cases) == (7_592, True, ())


@pytest.mark.parametrize(
    ("length", "needed"),
    [(3, 7_680), (7, 7_760), (10, 7_824)],  # 7,680 + 4 x 20; + 7 x 20, on the next multiple of 16
)
def test_the_length_of_the_table_that_the_call_passes_is_used(length: int, needed: int) -> None:
    found = verdict(STREAMING, room(7_824, call=call(variables=length)), has_resource_variables=True)
    assert (found.needed, found.fits, found.conditions) == (needed, True, ())


def test_a_table_for_fewer_variables_than_the_model_has_fails_with_the_words_of_the_device() -> None:
    found = verdict(STREAMING, room(30_000, call=call(variables=2)), has_resource_variables=True)
    assert (found.fits, found.needed) == (False, None)
    assert found.log[0] == "Failed to allocate resource variable. Maximum resource variable count (2) reached."


def test_the_length_that_the_user_names_is_no_condition() -> None:
    named = configure("cortex-m4", kernels="reference", resource_variables=5)
    settled = frozenset({"planner", "resource_variables"})
    found = verdict(STREAMING, room(7_728), configurations=(named,), settled=settled, has_resource_variables=True)
    assert (found.needed, found.fits, found.conditions) == (7_728, True, ())  # 7,680 + 2 x 20, a multiple of 16


def test_a_planner_that_is_read_is_used_and_one_that_is_not_is_a_condition_where_it_matters() -> None:
    linear = room(83_492, call=call(preserves_all_tensors=True))
    assert (verdict(KEYWORDS, linear).needed, verdict(KEYWORDS, linear).conditions) == (83_492, ())
    assert verdict(KEYWORDS, room(83_491)).conditions == (GREEDY,)
    assert verdict(KEYWORDS, room(83_492)).conditions == ()


def test_a_planner_of_the_programs_own_leaves_its_bytes_to_the_model() -> None:
    # The greedy planner in the arena takes 44 bytes, so that 22,728 B are enough without it.
    assert verdict(KEYWORDS, room(22_771)).conditions == (GREEDY,)
    assert verdict(KEYWORDS, room(22_727)).conditions == ()


@pytest.mark.parametrize(
    "facts", [{"is_link_time_optimised": True}, {"symbol_count": 0}, {"only_takes_allocators": True}]
)
def test_where_no_call_is_read_and_names_prove_nothing_a_yes_is_for_one_model_alone(facts: dict[str, Any]) -> None:
    for size, fits in ((22_772, True), (1 << 20, True), (20_000, False)):
        found = verdict(KEYWORDS, room(size), **facts)
        assert found.fits is fits
        assert ({GREEDY, ALONE} & set(found.conditions)) == ({GREEDY, ALONE} if fits else set())
    assert ALONE not in verdict(KEYWORDS, room(30_000, call=call()), **facts).conditions


def custom_model() -> Model:
    builder = ModelBuilder()
    tensor, result = (builder.tensor((1, 8), TensorType.INT8, scale=0.5) for _ in range(2))
    builder.custom("Beamformer", [tensor], [result])
    return parse(builder.build(inputs=[tensor], outputs=[result]))


def test_a_custom_operator_cannot_be_told_and_is_named() -> None:
    found = verdict(custom_model(), room(30_000))
    assert (found.fits, found.exit_code) == (None, 3)
    assert found.reason == "the memory of the custom operator Beamformer is not known: `custom_ops=FILE.py`"


def test_an_operator_that_the_resolver_lacks_is_a_no_whatever_a_custom_operator_needs() -> None:
    builder = ModelBuilder()
    x, y, z = (builder.tensor((1, 4), TensorType.FLOAT32) for _ in range(3))
    builder.custom("Beamformer", [x], [y])
    builder.operator("SOFTMAX", [y], [z])
    model = parse(builder.build(inputs=[x], outputs=[z]))
    found = verdict(model, room(30_000), has_all_operators=False, operators=frozenset({"CONV_2D"}))
    assert (found.fits, found.missing) == (False, ("SOFTMAX",))
    assert found.why == "not registered: SOFTMAX; AllocateTensors() will fail"


def test_a_custom_operator_that_is_described_is_judged() -> None:
    described = configure("cortex-m4", kernels="reference", custom_ops=[OpModel("Beamformer")])
    assert verdict(custom_model(), room(30_000), configurations=(described,)).fits is True


def test_kernels_for_speed_and_for_size_are_both_told_where_the_file_does_not_say() -> None:
    both = tuple(
        configure("cortex-m55", kernels="cmsis_nn", optimize_kernels_for=purpose) for purpose in ("speed", "size")
    )
    found = verdict(SINE, room(1_312), configurations=both)
    assert found.fits is None
    assert needs(found) == [("kernels optimized for speed", 1_300, True), ("kernels optimized for size", 1_396, False)]


def test_both_interpreters_are_told_where_both_are_linked() -> None:
    found = verdict(KEYWORDS, room(22_784), configurations=(M4, RECORDING))
    assert found.fits is None
    assert needs(found) == [("plain interpreter", 22_772, True), ("recording interpreter", 22_876, False)]


@pytest.mark.parametrize(("is_recording", "needed"), [(False, 22_772), (True, 22_876)])
def test_the_interpreter_that_the_call_makes_is_the_one(is_recording: bool, needed: int) -> None:
    found = verdict(KEYWORDS, room(30_000, call=call(is_recording=is_recording)), configurations=(M4, RECORDING))
    assert (found.needed, found.cases) == (needed, ())


@pytest.mark.parametrize(("allocator", "conditions"), [(0, ()), (0x400, (UNTOUCHED,)), (None, ())])
def test_a_program_that_makes_the_allocator_may_take_memory_of_it(
    allocator: int | None, conditions: tuple[str, ...]
) -> None:
    assert verdict(SINE, room(5_000, call=call(allocator=allocator))).conditions == conditions


def test_after_link_time_optimisation_a_missing_name_does_not_rule_out_resource_variables() -> None:
    unread = call(variables=None)
    found = verdict(SINE, room(1_072, call=unread), is_link_time_optimised=True, has_resource_variables=None)
    assert found.conditions == ("MicroResourceVariables::Create makes room for none in this arena",)
    assert verdict(SINE, room(1_072, call=unread), has_resource_variables=False).conditions == ()


def test_that_tensors_are_allocated_once_is_a_condition_where_the_code_has_more_calls_than_interpreters() -> None:
    found = verdict(SINE, room(5_000, call=call()), set_up=SetUp((call(),), True, allocates_again=True))
    assert (found.fits, found.conditions) == (
        True,
        ("AllocateTensors() is called once (the program has more calls of it than interpreters)",),
    )


def test_an_arena_that_only_its_name_makes_one_is_a_doubt_that_can_turn_the_answer() -> None:
    found = verdict(SINE, room(5_000, is_assumed=True))
    assert (found.fits, found.conditions) == (True, ("tensor_arena is its arena",))
    assert (found.answer, found.exit_code) == ("if", 3)


def test_a_call_whose_size_cannot_be_read_may_pass_a_part_of_the_array() -> None:
    unread = SetUp((call(arena_size=None),), True)
    assert verdict(SINE, room(5_000, is_assumed=True), set_up=unread).conditions == (
        "all of tensor_arena is its arena",
    )
    two = (room(5_000, is_assumed=True), room(6_000, name="other_arena", is_assumed=True))
    assert verdict(SINE, *two, set_up=unread).conditions == ("its arena is all of tensor_arena or all of other_arena",)


def test_two_arrays_that_could_be_the_arena_are_both_told() -> None:
    found = verdict(KEYWORDS, room(30_000, is_assumed=True), room(20_000, name="other_arena", is_assumed=True))
    assert (found.fits, found.arena) == (None, None)
    assert needs(found) == [
        ("in tensor_arena of 30,000 B", 22_772, True),
        ("in other_arena of 20,000 B", 22_772, False),
    ]
    assert found.conditions[0] == "its arena is tensor_arena or other_arena"


def test_an_arena_from_a_heap_may_start_at_four_addresses() -> None:
    heap = ArenaRoom("the heap", 22_776, None, None, (0, 4, 8, 12), call=call(is_on_heap=True))
    found = verdict(KEYWORDS, heap)
    assert found.fits is None
    assert needs(found) == [
        ("at 0 modulo 16", 22_772, True),
        ("at 4 modulo 16", 22_784, False),
        ("at 8 modulo 16", 22_780, False),
        ("at 12 modulo 16", 22_776, True),
    ]


@pytest.mark.parametrize(
    ("stays", "rest", "fits"), [(6_784, 16_000, True), (6_768, 16_000, False), (6_784, 15_984, False)]
)
def test_an_arena_for_what_stays_and_another_for_the_rest_are_judged_together(
    stays: int, rest: int, fits: bool
) -> None:
    two = call(has_two_arenas=True, arena_size=stays, rest_size=rest)
    found = verdict(KEYWORDS, room(stays, call=two, rest_size=rest), set_up=SetUp((two,), True))
    assert (found.fits, found.exit_code) == (fits, 0 if fits else 1)
    assert found.split is not None
    assert (found.split.persistent, found.split.non_persistent) == (6_784, 16_000)
    assert (found.needed, found.multiple_of_16) == (22_784, 22_784)


def test_the_first_missing_operator_is_the_one_that_the_device_names() -> None:
    found = verdict(
        KEYWORDS, room(30_000), has_all_operators=False, operators=frozenset({"CONV_2D", "RESHAPE", "AVERAGE_POOL_2D"})
    )
    assert found.fits is False
    assert found.missing == ("DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "SOFTMAX")


def test_an_operator_that_is_not_registered_may_have_a_kernel_of_the_program_s_own() -> None:
    own = {"operators": frozenset(IN_ORDER[1:]), "has_all_operators": False, "own_kernels": ("PrepareOwn",)}
    found = verdict(KEYWORDS, room(30_000), **own)
    assert (found.fits, found.exit_code, found.missing) == (True, 3, ())
    assert found.conditions[0] == "CONV_2D is registered, with a kernel of the program's own (`custom_ops=FILE.py`)"
    assert found.conditions[2] == (
        "PrepareOwn(), which is not TFLM's, asks for no memory that TFLM's kernels do not ask for, and stores nothing "
        "outside of its own"
    )
    described = configure("cortex-m4", kernels="reference", custom_ops=[OpModel("CONV_2D")])
    found = verdict(KEYWORDS, room(30_000), configurations=(described,), **own)
    assert (found.fits, found.conditions[-1]) == (
        True,
        "PrepareOwn(), which is not TFLM's, asks for what the description of CONV_2D says (`custom_ops=`), and stores "
        "nothing outside of its own",
    )


@pytest.mark.parametrize(
    ("resolvers", "has"), [((0x100, 0x200), "has"), ((0x100, 0x100), ""), ((0x100, None), "may have")]
)
def test_which_of_several_resolvers_a_model_is_given_is_a_condition(
    resolvers: tuple[int | None, int | None], has: str
) -> None:
    """Speech's resolver may have the SOFTMAX that the other one lacks: names do not say which registers what."""
    calls = tuple(call(resolver=resolver, site=site) for site, resolver in enumerate(resolvers))
    found = verdict(KEYWORDS, room(30_000, call=calls[0]), set_up=SetUp(calls, True))
    assert found.fits is True
    assert found.conditions == (
        (f"the resolver that it is given registers its operators (the program {has} several)",) if has else ()
    )


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"operators": frozenset({"CONV_2D"}), "is_link_time_optimised": True}, "link-time optimisation"),
        ({"operators": None}, "no symbols"),
    ],
)
def test_operators_that_nothing_proves_are_not_judged_and_the_verdict_says_so(facts: dict[str, Any], why: str) -> None:
    found = verdict(KEYWORDS, room(30_000, call=call()), has_all_operators=False, **facts)
    assert (found.fits, found.missing) == (True, ())
    assert found.conditions == (f"its operators are registered, with TFLM's kernels (not judged: {why})",)
    assert verdict(KEYWORDS, room(20_000, call=call()), has_all_operators=False, **facts).conditions == ()


@pytest.mark.parametrize(
    ("size", "at", "used"),
    [(22_772, 0, 22_760), (22_784, 0, 22_772), (22_776, 12, 22_760), (22_784, 12, 22_768), (30_000, 12, 22_768)],
)
def test_the_bytes_used_are_those_of_this_size_and_address(size: int, at: int, used: int) -> None:
    found = verdict(KEYWORDS, room(size, at=at, call=call()))
    assert (found.fits, found.used) == (True, used)


def test_what_a_condition_does_not_change_is_not_named() -> None:
    condition = Condition("enums are short", (INT_ENUMS.target,))
    tight, roomy = (verdict(KEYWORDS, room(size, call=call()), conditions=(condition,)) for size in (22_776, 22_780))
    assert (tight.fits, tight.conditions) == (True, ("enums are short",))
    assert (roomy.fits, roomy.conditions) == (True, ())
