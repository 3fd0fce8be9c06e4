"""What a source of the EON compiler needs on a target, and what its model would need with an interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.device.configuration import configure
from tflm_sim.errors import ModelError
from tflm_sim.extensions.eon.device import EonRoom, EonRun, eon_macros, run_eon
from tflm_sim.extensions.eon.rebuild import rebuilt
from tflm_sim.extensions.eon.source import EonSource, read_eon_source
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model
from tflm_sim.ops.registry import registrations
from tflm_sim.targets.target import Target


@dataclass(frozen=True, slots=True)
class EonAnswer:
    """A source of the EON compiler on a target.

    Attributes:
        path: The source's name.
        target: The target.
        source: What the source declares, for that target.
        run: Its simulated initialisation.
        model: The same network as a model.
        interpreter: The simulation of that model with TFLM's interpreter; None where that SDK's TFLM is not modelled.
    """

    path: str
    target: Target
    source: EonSource
    run: EonRun
    model: Model
    interpreter: Simulation | None


def eon_answer(path: str, data: bytes, target: Target, macros: Mapping[str, str] | None = None) -> EonAnswer:
    """Return what a source of the EON compiler needs on a target.

    Args:
        path: The source's name, for messages.
        data: The source.
        target: A target with the TFLM of Edge Impulse's SDK.
        macros: Macros that the build defines, besides those that the target implies.

    Raises:
        ModelError: The file is not a source of the EON compiler, or was made for an SDK that is not modelled.
    """
    source = read_eon_source(data, {**eon_macros(target), **(macros or {})})
    refuse_another_sdk(source, target)
    uses_npu = any(row.op == "ethos-u" for subgraph in source.subgraphs for row in subgraph.operators)
    target = replace(target, ethos_u=target.ethos_u or uses_npu)
    model = parse(rebuilt(source), path=path)
    room = EonRoom(
        arena_size=source.arena_size,
        tensors_end=source.tensors_end,
        overflow_limit=source.overflow_limit,
        scratch_limit=source.scratch_limit,
        tensor_slots=source.tensor_slots,
        aligns=source.aligns,
    )
    run = run_eon(model, target, registrations(target), room)
    is_modelled = target.runtime.has("edge_impulse_2021")
    return EonAnswer(path, target, source, run, model, simulate(model, configure(target)) if is_modelled else None)


def refuse_another_sdk(source: EonSource, target: Target) -> None:
    """Refuse a source that was made for another runtime than the target's SDK has.

    Raises:
        ModelError: The runtimes differ.
    """
    if source.has_eval_tensors != target.runtime.has("edge_impulse_2021"):
        when = "of May 2021 or later" if source.has_eval_tensors else "before May 2021"
        raise ModelError(f"the source is written for an SDK {when}: it does not compile with {target.runtime.snapshot}")
    if source.has_micro_context != target.runtime.has("edge_impulse_kernels"):
        when = "of August 2023 or later" if source.has_micro_context else "before August 2023"
        raise ModelError(f"the source is written for an SDK {when}: it does not compile with {target.runtime.snapshot}")
