"""Lifetimes by scopes: 0 is the start, each visited operator begins the next, so does each entered subgraph."""

from __future__ import annotations

import struct

import pytest

from tflm_sim.errors import PlanningError
from tflm_sim.graph import lifetimes
from tflm_sim.graph.eval_tensor import EvalTensor
from tflm_sim.graph.lifetimes import LifetimeBuilder, ScratchBufferRequest
from tflm_sim.graph.outline import outlines
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model, TensorType
from tflm_sim.values import replace

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
