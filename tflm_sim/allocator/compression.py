from tflm_sim.arena.arena import ArenaAllocator
from tflm_sim.model.types import Model
from tflm_sim.target.target import Target


def allocate_compressed_tensors(model: Model, target: Target, arena: ArenaAllocator) -> tuple[frozenset[int], ...]:
    return (frozenset(),) * len(model.subgraphs)
