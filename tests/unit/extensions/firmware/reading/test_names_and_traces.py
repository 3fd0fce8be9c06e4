"""Names in symbol tables, and texts that bound the version."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.extensions.firmware.reading.absent_checks import AbsentCheck, find_absent_checks
from tflm_sim.extensions.firmware.reading.dated_texts import DatedText, bounds, find_dated_texts, kernel_files
from tflm_sim.extensions.firmware.reading.elf import FUNCTION, Symbol
from tflm_sim.extensions.firmware.reading.snapshot import commit_at, find_snapshots
from tflm_sim.extensions.firmware.reading.symbol_names import (
    arena_pointers,
    arenas,
    esp_variant,
    interpreters,
    last_esp_nn,
    made_local,
    only_takes_allocators,
    own_kernels,
    plain_name,
    reference_kernel,
    resource_variables_linked,
)
from tflm_sim.targets.abi import AAPCS
from tflm_sim.targets.reference import LAST_COUNTED
from tflm_sim.targets.runtime import Runtime, find_runtime
from tflm_sim.targets.structs import MeasuredStruct, layouts


def function(name: str) -> Symbol:
    return Symbol(name, 0, 4, FUNCTION, 1)


@pytest.mark.parametrize(
    ("mangled", "plain"),
    [
        ("tensor_arena", "tensor_arena"),
        ("_ZL12tensor_arena", "tensor_arena"),
        ("_ZN12_GLOBAL__N_112tensor_arenaE", "tensor_arena"),
        ("_ZZ4mainE12tensor_arena", "tensor_arena"),
        ("_ZN12_GLOBAL__N_1L12tensor_arenaE.lto_priv.0", "tensor_arena"),
        ("_Z", "_Z"),
        ("_Z99", "_Z99"),
    ],
)
def test_the_last_identifier_is_the_name(mangled: str, plain: str) -> None:
    assert plain_name(mangled) == plain


@pytest.mark.parametrize(
    "mangled",
    [
        "_ZN6tflite11ConvPrepareEP13TfLiteContextP10TfLiteNode",
        "_ZN6tflite5micro11ConvPrepareEP13TfLiteContextP10TfLiteNode",
        "_ZN6tflite5micro11ConvPrepareEPNS0_13TfLiteContextEPNS0_10TfLiteNodeE",
    ],
)
def test_a_prepare_of_its_own_name_shows_reference_kernels(mangled: str) -> None:
    assert reference_kernel([function("main"), function(mangled)]) == "ConvPrepare"
    assert reference_kernel([function("_ZN6tflite12_GLOBAL__N_17PrepareEP13TfLiteContextP10TfLiteNode")]) == ""


@pytest.mark.parametrize(
    ("functions", "variant"),
    [
        (["esp_nn_add_elementwise_s8_ansi", "esp_nn_conv_s8_esp32s3"], "esp32s3"),
        (["esp_nn_conv_s8_opt", "esp_nn_add_elementwise_s8_ansi"], "opt"),
        (["esp_nn_conv_s8_ansi"], "ansi"),
        (["esp_nn_conv_s8_ansi", "esp_nn_conv_s8_esp32p4"], "esp32p4"),
        (["esp_nn_conv_s8_ansi", "esp_nn_conv_s8_riscv_pie"], "esp32p4"),
    ],
)
def test_esp_nn_is_as_special_as_its_most_special_function(functions: list[str], variant: str) -> None:
    assert esp_variant(functions) == variant


def test_functions_called_after_the_esp32_p4_are_older_than_1_3_0() -> None:
    assert last_esp_nn(["esp_nn_conv_s8_ansi", "esp_nn_conv_s8_esp32p4"]) == "1.2.7"
    assert last_esp_nn(["esp_nn_conv_s8_riscv_pie"]) == last_esp_nn(["esp_nn_conv_s8_opt"]) == ""


def test_a_message_bounds_the_version() -> None:
    # "Scratch buffer request exceeds limit ..." is spelt right since 183da3e30, upstream's commit 1847.
    text = b"\x01Scratch buffer request exceeds limit per operator (%d)\0rest"
    (trace,) = find_dated_texts([text], ())
    assert (trace.first, trace.end) == (1847, LAST_COUNTED + 1)
    snapshots = find_snapshots((), AAPCS, [trace])
    assert snapshots.first == 1847
    assert snapshots.runtimes[0] == Runtime()


def test_a_text_without_an_end_or_unknown_is_no_trace() -> None:
    assert (
        find_dated_texts([b"Scratch buffer request exceeds limit per operator (%d)", b"hello to the world\0"], ()) == ()
    )


def test_of_texts_that_contradict_each_other_the_newest_that_came_bounds() -> None:
    mixed = [DatedText("late", 1800, LAST_COUNTED + 1), DatedText("early", 4, 300)]
    assert bounds(mixed) == (mixed[0], mixed[1])
    snapshots = find_snapshots((), AAPCS, mixed)
    assert (snapshots.first, snapshots.last, snapshots.is_mixed) == (1800, LAST_COUNTED, True)


BEFORE = (
    "_ZN6tflite16MicroInterpreter6InvokeEv",
    "_ZN6tflite12Register_ADDEv",
    "_ZN6tflite10AddPrepareEP13TfLiteContextP10TfLiteNode",
)
ON_2026_09_28 = (
    BEFORE[0],
    "_ZN6tflite5micro12Register_ADDEv",
    "_ZN6tflite5micro10AddPrepareEP13TfLiteContextP10TfLiteNode",
)
ON_2026_10_02 = (*ON_2026_09_28[:2], "_ZN6tflite5micro10AddPrepareEPNS0_13TfLiteContextEPNS0_10TfLiteNodeE")
ON_2026_10_08 = ("_ZN6tflite5micro16MicroInterpreter6InvokeEv", *ON_2026_10_02[1:])


@pytest.mark.parametrize(
    ("names", "first", "last"),
    [
        (BEFORE, "be60ead37 of 2021-10-01", "90b983c2b of 2026-08-20"),
        (ON_2026_09_28, "23953f1 of 2026-09-28", "1fae604 of 2026-10-02"),
        (ON_2026_10_02, "3f787dc of 2026-10-02", "ff8cff7 of 2026-10-06"),
        (ON_2026_10_08, "5328e0d of 2026-10-08", "8f6596d of 2026-10-23"),
        (ON_2026_10_08[:1], "5328e0d of 2026-10-08", "8f6596d of 2026-10-23"),
    ],
)
def test_where_names_stand_bounds_the_version(names: tuple[str, ...], first: str, last: str) -> None:
    found = find_snapshots((), AAPCS, find_dated_texts([], [function(name) for name in names]))
    assert (commit_at(found.first), commit_at(found.last)) == (first, last)
    assert not found.is_mixed


@pytest.mark.parametrize(
    ("size", "first", "last"),
    [(5, "5328e0d of 2026-10-08", "230c9d9 of 2026-10-09"), (16, "1881137 of 2026-10-12", "8f6596d of 2026-10-23")],
)
def test_of_versions_with_the_same_names_the_sizes_of_structs_tell(size: int, first: str, last: str) -> None:
    measured = (MeasuredStruct("TfLiteFullyConnectedParams", size, 4),)
    found = find_snapshots(measured, AAPCS, find_dated_texts([], [function(name) for name in ON_2026_10_08]))
    assert (commit_at(found.first), commit_at(found.last), found.mismatches) == (first, last, ())


def test_days_whose_change_was_undone_are_stretches_of_their_own() -> None:
    # bb54330fd .. 7a63bce43 are upstream's commits 1398 .. 1409; RESHAPE followed in 1403.
    snapshots = find_snapshots((), AAPCS, [DatedText("here", 1390, 1420)])
    assert [runtime.upstream for runtime in snapshots.runtimes] == [1419, 1408, 1402, 1397]


@pytest.mark.slow
@pytest.mark.parametrize("day", ["2021-06-15", "2022-06-14", "2023-06-15", "2024-09-09", "2026-08-20"])
def test_the_sizes_of_a_snapshot_lead_back_to_it(day: str) -> None:
    runtime = find_runtime(day)
    sizes = layouts(AAPCS, runtime)
    measured = tuple(MeasuredStruct(name, layout.size, layout.alignment) for name, layout in sizes.items())
    snapshots = find_snapshots(measured, AAPCS, ())
    assert snapshots.mismatches == ()
    assert snapshots.first <= (runtime.upstream or 0) <= snapshots.last


def test_a_size_that_no_snapshot_has_is_named() -> None:
    snapshots = find_snapshots(
        (MeasuredStruct("TfLiteNode", 30, 2), MeasuredStruct("MicroAllocator", 36, 4)), AAPCS, ()
    )
    assert snapshots.mismatches == (("TfLiteNode", 30, 28),)


def test_checks_name_the_kernels_that_are_linked() -> None:
    texts = (
        b"/home/a/tensorflow/lite/micro/kernels/cmsis_nn/conv.cc Input data type not supported\0",
        b"tensorflow/lite/micro/kernels/softmax_common.cc\0src/tensorflow/lite/micro/kernels/add.cpp\0",
        b"edge-impulse-sdk/tensorflow/lite/micro/kernels/pooling.cc\0tensorflow/lite/micro/micro_allocator.cc\0",
    )
    assert kernel_files(texts) == {"cmsis_nn/conv", "softmax_common", "add"}


def test_the_name_of_a_kernels_file_bounds_the_version() -> None:
    # kernels/pooling.cc printed its name until 9345aa9ce, upstream's commit 135, moved its checks to pooling_common.cc.
    assert find_dated_texts([], (), ["pooling"]) == (DatedText("kernels/pooling.cc", 4, 135),)
    assert find_dated_texts([], (), ["pooling_common"]) == (
        DatedText("kernels/pooling_common.cc", 135, LAST_COUNTED + 1),
    )
    assert find_dated_texts([], (), ["softmax_common", "unknown"]) == ()


CONV = frozenset({"conv_common"})
JANUARY = AbsentCheck("conv_common", 1398, 1409)


def test_a_check_that_a_kernel_always_had_then_is_missed() -> None:
    # bb54330fd .. 7a63bce43 (1398 .. 1408): CONV_2D insisted on filter_input_channels > 0.
    assert JANUARY in find_absent_checks([b"other texts\0"], CONV)
    assert find_absent_checks([b"other texts\0"], frozenset()) == ()


def test_a_text_may_lie_at_the_end_of_a_longer_one() -> None:
    texts = [
        b"output_channels == filter_input_channels > 0\0input->dims->size\0",
        b"filter->dims->size\0output->dims->size\0input_channels % filter_input_channels\0",
    ]
    assert JANUARY not in find_absent_checks(texts, CONV)
    assert JANUARY in find_absent_checks([texts[0].replace(b" > 0", b" >= 0"), texts[1]], CONV)


def test_days_whose_checks_are_missing_are_left_out() -> None:
    here = [DatedText("here", 1390, 1420)]
    found = find_snapshots((), AAPCS, here, [JANUARY])
    assert [runtime.upstream for runtime in found.runtimes] == [1419, 1397]
    assert found.lacks == (JANUARY,)
    assert not found.allow(find_runtime("2024-01-08"))


def test_checks_that_rule_every_day_out_prove_nothing() -> None:
    found = find_snapshots((), AAPCS, [DatedText("here", 1399, 1402)], [JANUARY])
    assert [runtime.upstream for runtime in found.runtimes] == [1401]
    assert found.lacks == ()


def test_functions_with_a_prepares_parameters_outside_tflm_are_kernels_of_the_programs_own() -> None:
    names = (
        "_ZL11own_prepareP13TfLiteContextP10TfLiteNode",
        "_ZL8own_evalP13TfLiteContextP10TfLiteNode",
        "_ZN6tflite11ConvPrepareEP13TfLiteContextP10TfLiteNode",
        "_Z5setupv",
        # Of 2026-10-02 and later: TfLiteContext and TfLiteNode stand in tflite::micro.
        "_ZL7preparePN6tflite5micro13TfLiteContextEPNS0_10TfLiteNodeE",
        "_ZN3app7PrepareEPN6tflite5micro13TfLiteContextEPNS1_10TfLiteNodeE",
        "_ZL4EvalPN6tflite5micro13TfLiteContextEPNS0_10TfLiteNodeE",
        "_ZN6tflite5micro11ConvPrepareEPNS0_13TfLiteContextEPNS0_10TfLiteNodeE",
        "_ZN6tflite11ConvPrepareEPNS_5micro13TfLiteContextEPNS0_10TfLiteNodeE",
        # A kernel of TFLM that was changed in the program's own file: TFLM's are in no file's static functions.
        "_ZN6tfliteL15SoftmaxPreparedEP13TfLiteContextP10TfLiteNode",
        "_ZN6tflite5microL7changedEPNS0_13TfLiteContextEPNS0_10TfLiteNodeE",
        "_ZN6tflite12_GLOBAL__N_17PrepareEP13TfLiteContextP10TfLiteNode",
    )
    found = own_kernels(Symbol(name, 0x100, 8, FUNCTION, 1) for name in names)
    assert found == ("Prepare", "SoftmaxPrepared", "changed", "own_prepare", "prepare")


@pytest.mark.parametrize(
    ("names", "made"),
    [
        ((), ("plain",)),
        (("_ZN6tflite23RecordingMicroAllocator6CreateEPhj",), ("recording",)),
        (
            ("_ZN6tflite23RecordingMicroAllocator6CreateEPhj", "_ZN6tflite14MicroAllocator6CreateEPhj"),
            ("plain", "recording"),
        ),
        (
            ("_ZN6tflite5micro23RecordingMicroAllocator6CreateEPhj", "_ZN6tflite5micro14MicroAllocator6CreateEPhj"),
            ("plain", "recording"),
        ),
        (("_ZN6tflite5micro23RecordingMicroAllocator6CreateEPhj.constprop.0",), ("recording",)),
        # Merged into their callers: _ZTV is the table of a class's virtual functions.
        (("_ZN6tflite23RecordingMicroAllocatorD0Ev",), ("recording",)),
        (("_ZN6tflite23RecordingMicroAllocatorD0Ev", "_ZTVN6tflite14MicroAllocatorE"), ("plain", "recording")),
        (
            ("_ZN6tflite5micro23RecordingMicroAllocatorD0Ev", "_ZTVN6tflite5micro14MicroAllocatorE"),
            ("plain", "recording"),
        ),
        # A constructor that was not merged uses the table of the class that it derives from.
        (("_ZN6tflite23RecordingMicroAllocator6CreateEPhj", "_ZTVN6tflite14MicroAllocatorE"), ("recording",)),
    ],
)
def test_which_interpreters_a_program_can_make(names: tuple[str, ...], made: tuple[str, ...]) -> None:
    assert interpreters([function(name) for name in ("main", *names)]) == made


@pytest.mark.parametrize(
    ("name", "is_local", "is_made"),
    [
        ("_ZN6tflite14MicroAllocator18AllocateTempBufferEjj", True, True),
        ("_ZN6tflite14MicroAllocator18AllocateTempBufferEjj", False, False),
        ("_ZNK6tflite16MicroInterpreter12outputs_sizeEv.isra.0", True, False),
        ("_ZN6tflite5micro14MicroAllocator18AllocateTempBufferEjj", True, True),
        ("_ZN6tflite5micro12_GLOBAL__N_17PrepareEPNS0_13TfLiteContextEPNS0_10TfLiteNodeE", True, False),
        ("_ZN6tflite12_GLOBAL__N_17PrepareEP13TfLiteContextP10TfLiteNode", True, False),
        ("_ZL7Preparei.lto_priv.0", True, True),
        ("main", True, False),
    ],
)
def test_only_link_time_optimisation_makes_functions_local_that_other_files_call(
    name: str, is_local: bool, is_made: bool
) -> None:
    assert made_local([function(name)._replace(is_local=is_local)]) == is_made


GIVEN_ARENA, GIVEN_ALLOCATOR = (
    f"_ZN6tflite16MicroInterpreterC1EPKNS_5ModelERKNS_15MicroOpResolverE{rest}PNS_22MicroResourceVariablesE"
    for rest in ("Phj", "PNS_14MicroAllocatorE")
)
GIVEN_ARENA_NOW, GIVEN_ALLOCATOR_NOW = (
    f"_ZN6tflite5micro16MicroInterpreterC2EPKNS_5ModelERKNS0_15MicroOpResolverE{rest}PNS0_22MicroResourceVariablesE"
    for rest in ("Phj", "PNS0_14MicroAllocatorE")
)


@pytest.mark.parametrize(
    ("names", "only"),
    [
        ((), False),
        ((GIVEN_ALLOCATOR,), True),
        ((GIVEN_ALLOCATOR_NOW,), True),
        ((GIVEN_ALLOCATOR_NOW + ".constprop.0",), True),
        ((GIVEN_ALLOCATOR, GIVEN_ARENA), False),
        ((GIVEN_ALLOCATOR_NOW, GIVEN_ARENA_NOW), False),
        ((GIVEN_ARENA_NOW,), False),
    ],
)
def test_a_program_without_the_constructor_that_takes_an_arena_only_takes_allocators(
    names: tuple[str, ...], only: bool
) -> None:
    assert only_takes_allocators([function(name) for name in ("main", *names)]) is only


@pytest.mark.parametrize("namespace", ["6tflite", "6tflite5micro"])
def test_a_table_of_variables_can_be_made_where_its_create_is_linked(namespace: str) -> None:
    create = f"_ZN{namespace}22MicroResourceVariables6CreateEPNS_14MicroAllocatorEi"
    assert resource_variables_linked([function(create)])
    assert resource_variables_linked([function(create + ".constprop.0")])
    assert not resource_variables_linked([function(f"_ZN{namespace}22MicroResourceVariables4ReadEi")])


ARENAS = [  # name, bytes, type, section: 1 is .data, 2 is .rodata, 3 is loaded nowhere
    ("_ZL12tensor_arena", 256, 1, 1),
    ("tensor_pool", 255, 1, 1),
    ("main_arena", 4096, 1, 1),
    ("tensor_arena_init", 4096, FUNCTION, 1),
    ("arena_table", 4096, 1, 2),
    ("my_tensor_arena", 512, 1, 1),
    ("arena_elsewhere", 512, 1, 3),
    ("arena_of_no_section", 512, 1, 9),
    ("arena_pointer", 4, 1, 1),
    ("arena_byte", 3, 1, 1),
    ("buffer_pointer", 4, 1, 1),
]


def with_objects() -> Any:
    flags = ({"is_writable": False, "is_allocated": False}, {"is_writable": True, "is_allocated": True},
             {"is_writable": False, "is_allocated": True}, {"is_writable": True, "is_allocated": False})  # fmt: skip
    symbols = [
        Symbol(name, 16 * number, size, kind, section) for number, (name, size, kind, section) in enumerate(ARENAS)
    ]
    return SimpleNamespace(symbols=symbols, sections=[SimpleNamespace(name=".s", **one) for one in flags], bits=32)


def test_an_arena_is_an_object_in_ram_that_is_large_enough_and_called_so() -> None:
    found = arenas(with_objects())
    assert [(one.name, one.address, one.size) for one in found] == [
        ("tensor_arena", 0, 256),
        ("my_tensor_arena", 80, 512),
    ]


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ("tensor_arena", ["tensor_arena"]),
        ("_ZL12tensor_arena", ["tensor_arena"]),
        ("arena", []),
        ("tensor_pool", ["tensor_pool"]),  # Who names it may have one as small as that,
        ("arena_table", ["arena_table"]),  # and one that is not written to.
        ("arena_elsewhere", []),
        ("arena_of_no_section", []),
    ],
)
def test_an_arena_that_is_named_is_known_by_its_whole_name(wanted: str, names: list[str]) -> None:
    assert [one.name for one in arenas(with_objects(), wanted=wanted)] == names


def test_a_pointer_to_an_arena_has_the_size_of_an_address() -> None:
    assert arena_pointers(with_objects()) == ("arena_pointer",)


def test_functions_of_the_mvp_name_their_kernels() -> None:
    assert kernel_files([b"a\0sli_mvp_ml_conv2d_s8(\0", b"sli_mvp_ml_conv2d(\0"]) == {"mvp/conv2d"}
