"""Lifetimes by scopes: 0 is the start, each visited operator begins the next, so does each entered subgraph."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from tflm_sim.errors import ModelError, PlanningError
from tflm_sim.graph import lifetimes
from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.graph.lifetimes import NEWEST_RULES, AllocationInfo, LifetimeBuilder, LifetimeRules, ScratchBufferRequest
from tflm_sim.graph.outline import outlines
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, TensorType

INT8, BOOL = TensorType.INT8, TensorType.BOOL


def eval_tensors(model: Model) -> list[list[EvalTensor]]:
    return [outline.eval_tensors() for outline in outlines(model)]


def alive(model: Model, *requests: ScratchBufferRequest) -> list[tuple[int, int]]:
    found = LifetimeBuilder(model, eval_tensors(model), None).build()
    return [(info.first_created, info.last_used) for info in found.infos + found.scratch_infos(requests)]


def chain_of_three() -> Model:
    builder = ModelBuilder()
    a, b, c, d = (builder.tensor((4,), INT8) for _ in range(4))
    for source, result in ((a, b), (b, c), (c, d)):
        builder.operator("RELU", [source], [result])
    return parse(builder.build(inputs=[a], outputs=[d]))


def test_a_tensor_lives_from_its_producer_to_its_last_reader() -> None:
    assert alive(chain_of_three()) == [(0, 1), (1, 2), (2, 3), (3, 3)]


def test_a_scratch_buffer_lives_in_its_operator() -> None:
    assert alive(chain_of_three(), ScratchBufferRequest(0, 1, 64))[4:] == [(2, 2)]


def test_an_input_that_nothing_reads_lives_at_the_start() -> None:
    builder = ModelBuilder()
    unused, a, b = (builder.tensor((4,), INT8) for _ in range(3))
    builder.operator("RELU", [a], [b])
    model = parse(builder.build(inputs=[unused, a], outputs=[b]))
    assert alive(model) == [(0, 0), (0, 1), (1, 1)]


def test_a_tensor_that_nothing_names_is_planned_without_a_lifetime() -> None:
    builder = ModelBuilder()
    a, b, _orphan = (builder.tensor((4,), INT8) for _ in range(3))
    builder.operator("RELU", [a], [b])
    model = parse(builder.build(inputs=[a], outputs=[b]))
    orphan = LifetimeBuilder(model, eval_tensors(model), None).build().infos[2]
    assert (orphan.needs_allocating, orphan.first_created, orphan.last_used) == (True, -1, -1)


def if_model(*, then_index: int = 1, else_index: int = 2) -> Model:
    builder = ModelBuilder()
    condition, x, y = builder.tensor((1,), BOOL), builder.tensor((4,), INT8), builder.tensor((4,), INT8)
    options = {"then_subgraph_index": then_index, "else_subgraph_index": else_index}
    builder.operator("IF", [condition, x], [y], options=options)
    for _ in range(2):
        branch = builder.add_subgraph()
        a, b = branch.tensor((4,), INT8), branch.tensor((4,), INT8)
        branch.operator("RELU", [a], [b])
        branch.inputs, branch.outputs = [a], [b]
    return parse(builder.build(inputs=[condition, x], outputs=[y]))


def test_both_branches_of_an_if_lie_inside_its_lifetime() -> None:
    # scopes: 0 start, 1 IF, 2 then starts, 3 its RELU, 4 else starts, 5 its RELU
    assert alive(if_model()) == [(0, 5), (0, 5), (1, 5), (2, 3), (3, 3), (4, 5), (5, 5)]


def test_scopes_name_their_operator() -> None:
    model = if_model()
    found = LifetimeBuilder(model, eval_tensors(model), None).build()
    assert found.scopes == [(0, -1), (0, 0), (1, -1), (1, 0), (2, -1), (2, 0)]


def test_a_subgraph_that_runs_itself_overflows_the_stack() -> None:
    with pytest.raises(PlanningError, match="subgraph 0 runs itself"):
        alive(if_model(then_index=0))


def test_at_a_branch_that_does_not_exist_the_device_reads_other_memory() -> None:
    with pytest.raises(PlanningError, match="else_subgraph_index is 7"):
        alive(if_model(else_index=7))


def test_scratch_of_an_operator_that_never_runs_is_planned_with_garbage() -> None:
    with pytest.raises(PlanningError, match="scratch buffer 0 belongs to operator 0 of subgraph 2") as failure:
        alive(if_model(else_index=1), ScratchBufferRequest(2, 0, 64))
    assert failure.value.status == "abort"


def offline_model(payload: bytes, *, is_in_a_file: bool = True) -> Model:
    builder = ModelBuilder()
    a, b = builder.tensor((4,), INT8), builder.tensor((4,), INT8)
    builder.operator("RELU", [a], [b])
    builder.metadata("OfflineMemoryAllocation", payload)
    file = builder.build(inputs=[a], outputs=[b])
    return parse(file) if is_in_a_file else builder.model()


def test_offline_offsets_follow_a_header_of_three_words() -> None:
    model = offline_model(struct.pack("<3I2i", 1, 0, 2, 64, -1))
    offsets = lifetimes.offline_planned_offsets(model, 2)
    assert offsets == (64, -1)
    infos = LifetimeBuilder(model, eval_tensors(model), offsets).build().infos
    assert [info.offline_offset for info in infos] == [64, -1]


@pytest.mark.parametrize(("is_across", "inside"), [(True, 32), (False, 64)])
def test_offsets_of_a_second_subgraph_follow_the_first_ones_or_before_march_2023_are_the_same(
    is_across: bool, inside: int
) -> None:
    builder = ModelBuilder()
    a = builder.tensor((4,), INT8)
    builder.operator("RELU", [a], [a])
    other = builder.add_subgraph()
    b = other.tensor((4,), INT8)
    other.operator("RELU", [b], [b])
    model = parse(builder.build(inputs=[a], outputs=[a]))
    rules = replace(lifetimes.NEWEST_RULES, offline_across_subgraphs=is_across)
    infos = LifetimeBuilder(model, eval_tensors(model), (64, 32), rules).build().infos
    assert [info.offline_offset for info in infos] == [64, inside]


def test_offline_metadata_may_end_with_its_last_offset() -> None:
    # 3 words and 2 offsets: 20 bytes, behind which nothing can be read.
    model = offline_model(struct.pack("<3I2i", 1, 0, 2, 64, -1), is_in_a_file=False)
    assert lifetimes.offline_planned_offsets(model, 2) == (64, -1)


def test_a_wrong_number_of_offline_offsets_is_refused_with_the_device_message() -> None:
    with pytest.raises(PlanningError) as failure:
        lifetimes.offline_planned_offsets(offline_model(struct.pack("<3I3i", 1, 0, 3, 0, 0, 0)), 2)
    assert failure.value.device_message == "Nbr of offline buffer offsets (3) in metadata not equal nbr tensors (2)\n"


@pytest.mark.parametrize("payload", [b"", bytes(11), struct.pack("<3Ii", 1, 0, 2, 0)])
def test_offline_metadata_that_is_too_short_is_read_past_its_end(payload: bytes) -> None:
    with pytest.raises(PlanningError) as failure:
        lifetimes.offline_planned_offsets(offline_model(payload, is_in_a_file=False), 2)
    assert failure.value.status == "abort"


def test_offline_metadata_that_is_too_short_is_read_on_in_the_file() -> None:
    model = offline_model(struct.pack("<3Ii", 1, 0, 2, 64))
    after = model.buffers[model.metadata[0].buffer].address + 16
    offsets = lifetimes.offline_planned_offsets(model, 2)
    assert offsets == (64, *struct.unpack_from("<i", model.source, after))


@pytest.mark.parametrize(("name", "read_by"), [
    ("OfflineMemoryAllocation", {"whole", "prefix", "shorter"}),
    ("OfflineMemoryAllocations", {"prefix", "shorter"}),
    ("OfflineMemory", {"shorter"}),
    ("", {"shorter"}),
    ("OfflineMemoryPlan", set()),
    ("min_runtime_version", set()),
])  # fmt: skip
def test_versions_compare_more_or_less_of_the_metadatas_name(name: str, read_by: set[str]) -> None:
    how = ("whole", "prefix", "shorter")
    assert {one for one in how if LifetimeRules(offline_name=one).names_offline_plan(name)} == read_by


def test_offline_metadata_of_twelve_bytes_says_how_many_offsets_follow() -> None:
    model = offline_model(struct.pack("<3I", 1, 0, 0), is_in_a_file=False)
    assert lifetimes.offline_planned_offsets(model, 0) == ()
    model = offline_model(struct.pack("<3I", 1, 0, 1), is_in_a_file=False)
    with pytest.raises(PlanningError, match=r"^Nbr of offline buffer offsets \(1\) in metadata not equal nbr tensors"):
        lifetimes.offline_planned_offsets(model, 0)


def test_two_offsets_are_not_three() -> None:
    model = offline_model(struct.pack("<3I2i", 1, 0, 3, 0, 16), is_in_a_file=False)
    with pytest.raises(PlanningError, match="reads past its end"):
        lifetimes.offline_planned_offsets(model, 3)


@pytest.mark.parametrize("behind", [0, 1])
def test_metadata_whose_buffer_is_not_there_is_read_through_a_null_pointer(behind: int) -> None:
    model = offline_model(struct.pack("<3I2i", 1, 0, 2, 64, -1))
    index = len(model.buffers) + behind
    model = replace(model, metadata=tuple(replace(entry, buffer=index) for entry in model.metadata))
    with pytest.raises(PlanningError, match=f"buffer {index} has no data: a null pointer is read"):
        lifetimes.offline_planned_offsets(model, 2)


def test_metadata_whose_buffer_has_no_bytes_is_read_through_a_null_pointer() -> None:
    model = offline_model(struct.pack("<3I2i", 1, 0, 2, 64, -1))
    model = replace(model, metadata=tuple(replace(entry, buffer=0) for entry in model.metadata))
    assert model.buffers[0].data is None
    with pytest.raises(PlanningError, match="buffer 0 has no data"):
        lifetimes.offline_planned_offsets(model, 2)


def test_as_many_operators_run_as_are_simulated_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lifetimes.MAX_SCOPES == 10**6
    monkeypatch.setattr(lifetimes, "MAX_SCOPES", 3)
    assert len(alive(chain_of_three())) == 4
    monkeypatch.setattr(lifetimes, "MAX_SCOPES", 2)
    with pytest.raises(ModelError, match=r"^the subgraphs nest so that more than 2 operators run: not simulated$"):
        alive(chain_of_three())


def test_the_rows_of_tensors_and_scratch_buffers_name_only_what_they_are_of() -> None:
    model = chain_of_three()
    found = LifetimeBuilder(model, eval_tensors(model), None).build()
    (scratch,) = found.scratch_infos([ScratchBufferRequest(0, 2, 40)])
    assert scratch == AllocationInfo(0, -1, 0, 2, 40, True, -1, 3, 3)
    assert found.infos[1] == AllocationInfo(0, 1, -1, -1, 4, True, -1, 1, 2)


def test_an_operator_that_enters_no_subgraph_goes_on_and_the_one_behind_the_last_is_not_there() -> None:
    # Scopes: 0 start, 1 IF, 2 the branch starts, 3 its RELU.
    assert alive(if_model(then_index=-1, else_index=1)) == [(0, 3), (0, 3), (1, 3), (2, 3), (3, 3), (-1, -1), (-1, -1)]
    for index in (-2, 3):
        with pytest.raises(PlanningError, match=f"then_subgraph_index is {index}, not a subgraph of the model"):
            alive(if_model(then_index=index))


def test_an_operator_that_runs_twice_spans_from_its_first_scope_to_its_last() -> None:
    # Scopes: 0 start, 1 IF, 2 the branch, 3 its RELU, 4 the branch again, 5 its RELU.
    model = if_model(else_index=1)
    spans = LifetimeBuilder(model, eval_tensors(model), None).build().spans
    assert spans == {(0, 0): (1, 5), (1, 0): (3, 5)}
    assert alive(model, ScratchBufferRequest(1, 0, 8))[-1] == (3, 5)


def by_rules(model: Model, **rules: bool) -> list[tuple[int, int]]:
    infos = LifetimeBuilder(model, eval_tensors(model), None, replace(NEWEST_RULES, **rules)).build().infos
    return [(info.first_created, info.last_used) for info in infos]


def test_older_versions_mark_ends_and_results_otherwise() -> None:
    builder = ModelBuilder()
    unused, a, b, c, late = (builder.tensor((4,), INT8) for _ in range(5))
    builder.operator("RELU", [a], [b])
    builder.operator("RELU", [a], [c])
    model = parse(builder.build(inputs=[unused, a], outputs=[b, late]))
    assert by_rules(model) == [(0, 0), (0, 2), (1, 2), (2, 2), (2, 2)]
    # Nobody says that an input is used, nor that an output which nothing writes is there.
    assert by_rules(model, inputs_are_used=False) == [(0, -1), (0, 2), (1, 2), (2, 2), (-1, 2)]
    assert by_rules(model, inputs_are_used=False, created_is_used=True) == [(0, 0), (0, 2), (1, 2), (2, 2), (-1, 2)]


def test_the_results_of_an_if_were_used_before_its_branches_and_not_behind_them() -> None:
    assert by_rules(if_model(), outputs_outlive_subgraphs=False)[:3] == [(0, 5), (0, 5), (1, 5)]
    builder = ModelBuilder()
    condition, x, y = builder.tensor((1,), BOOL), builder.tensor((4,), INT8), builder.tensor((4,), INT8)
    branch = builder.add_subgraph()
    branch.inputs = branch.outputs = [branch.tensor((4,), INT8)]
    options = {"then_subgraph_index": 1, "else_subgraph_index": 1}
    builder.operator("IF", [condition, x], [y], options=options)
    model = parse(builder.build(inputs=[condition, x], outputs=[]))
    assert by_rules(model)[2] == (1, 3)
    assert by_rules(model, outputs_outlive_subgraphs=False)[2] == (1, 1)


def planned(model: Model, offsets: tuple[int, ...] | None = None, **rules: bool) -> list[bool]:
    builder = LifetimeBuilder(model, eval_tensors(model), offsets, replace(NEWEST_RULES, **rules))
    return [info.needs_allocating for info in builder.build().infos]


def test_what_has_bytes_of_its_own_or_none_is_not_planned() -> None:
    builder = ModelBuilder()
    builder.tensor((4,), INT8)
    builder.tensor((4,), INT8, data=bytes(4))
    builder.tensor((0,), INT8)
    builder.tensor((4,), INT8, is_variable=True)
    model = parse(builder.build(inputs=[], outputs=[]))
    assert planned(model) == [True, False, False, False]
    assert planned(model, plans_empty=True) == [True, False, True, False]
    # A variable is planned where the metadata has an offset for it, the first one too.
    assert planned(model, (-1, -1, -1, 0)) == [True, False, False, True]
    assert planned(model, (-1, -1, -1, 0), variables_offline=False) == [True, False, False, False]


def test_intermediates_have_no_bytes_unless_the_version_plans_empty_tensors() -> None:
    builder = ModelBuilder()
    a, b, c = builder.tensor((4,), INT8), builder.tensor((4,), INT8), builder.tensor((1, 3), INT8)
    builder.operator("RELU", [a], [b], intermediates=[c])
    model = parse(builder.build(inputs=[a], outputs=[b]))
    with pytest.raises(PlanningError) as caught:
        alive(model)
    assert caught.value.device_message == "Does not support intermediate tensor with non-zero size: 3"
    assert by_rules(model, plans_empty=True) == [(0, 1), (1, 1), (-1, -1)]


def test_a_type_without_a_size_cannot_be_planned() -> None:
    builder = ModelBuilder()
    builder.tensor((4,), TensorType.STRING)
    with pytest.raises(PlanningError, match=r"^tensor 0 has a type without a size in TFLM \(5\)$"):
        alive(parse(builder.build(inputs=[], outputs=[])))
