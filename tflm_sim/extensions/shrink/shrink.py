"""``shrink()``: the smallest rewriting of a model that we find, the same bytes out, and what it costs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypedDict, Unpack

from tflm_sim.answers.smallest_arena import SplitArenaSizes
from tflm_sim.device.cases import cases_of
from tflm_sim.device.configuration import Configuration, Where, configure_each
from tflm_sim.errors import ModelError, UsageError, each_of, expect, whole_number
from tflm_sim.extension_points import Aim
from tflm_sim.extensions.shrink.budget import Budget, operator_names
from tflm_sim.extensions.shrink.counted_loops import operators_run
from tflm_sim.extensions.shrink.draft_facts import FLOATS, draft_multiplications
from tflm_sim.extensions.shrink.interface import conversions
from tflm_sim.extensions.shrink.io_quantization import has_io_quantization, kept_io_quantization
from tflm_sim.extensions.shrink.pass_search import Progress, Search
from tflm_sim.extensions.shrink.pass_table import PASSES
from tflm_sim.extensions.shrink.prove import prove
from tflm_sim.extensions.shrink.shrunk import AimGain, Cost, Gain, Shrunk, Sizes
from tflm_sim.extensions.shrink.split import LOOP_OPERATORS
from tflm_sim.extensions.shrink.states import refusals
from tflm_sim.extensions.shrink.stopping import Stopping
from tflm_sim.extensions.shrink.target_sizer import TargetSizer, gains, smallest
from tflm_sim.extensions.shrink.verify import VerificationFailed, verify
from tflm_sim.graph.lifetimes import OFFLINE_MEMORY_ALLOCATION
from tflm_sim.model.draft import Draft, refuse_unwritable
from tflm_sim.model.encode import encode
from tflm_sim.model.load import ModelLike, load, parse
from tflm_sim.model.types import Model
from tflm_sim.names import meant
from tflm_sim.sizes import as_size
from tflm_sim.targets.changes import CHANGES, OPERATORS_SINCE

MAX_MACS = 1.35
"""Multiply-accumulates that a result may have by default, as a multiple of the original's."""


class Passes(TypedDict, total=False):
    """What :func:`shrink` may do besides, False where it is left out.

    Attributes:
        offline_plan: Also put the tensors' offsets into the metadata, from the exact planner, with views and operators
            in place. A plan holds for the same outputs only, and not with ``preserve_all_tensors``.
        kernel_order: With a plan, let outputs lie below their inputs where the loops of the kernels allow it.
        loops: With a plan, also run tiles as the iterations of a WHILE, which needs TFLM of 2025-11-10 or newer.
        replan: Drop the offline plan that the model has. Without it such a model is refused.
        force_float: Rewrite floating-point models also for kernels that may add in another order, and split layers
            for the MVP, whose kernels add integers as floating point.
        drop_names: Leave out the names of tensors that are neither input nor output; they cost flash, and tools show
            them.
        int8_io: Let inputs and outputs be the integers that QUANTIZE makes of an input, or DEQUANTIZE reads for an
            output. This changes the interface: the firmware converts, by the lines in ``Shrunk.conversions``.
    """

    offline_plan: bool
    kernel_order: bool
    loops: bool
    replan: bool
    force_float: bool
    drop_names: bool
    int8_io: bool


def shrink(
    model: ModelLike,
    targets: Where | Iterable[Where],
    *,
    goal: int | str | None = None,
    max_macs: float = MAX_MACS,
    max_flash: int | str | None = None,
    operators: Iterable[str] | None = None,
    time_limit: float | None = None,
    prove_runs: int | None = None,
    prove_program: str | os.PathLike[str] | None = None,
    into: int = 0,
    progress: Progress | None = None,
    aim: Aim | None = None,
    **passes: Unpack[Passes],
) -> Shrunk:
    """Rewrite a model so that unmodified TFLM needs a smaller arena, every output byte the same.

    Args:
        model: A Model, a path, bytes, ``sample:NAME``.
        targets: One or several: presets, targets or configurations. No arena grows on any of them.
        goal: Bytes of arena, of both where there are two, or text ("64KiB"), that are enough: the cheapest result in
            multiplications that meets it on every target.
        max_macs: Multiply-accumulates that the result may have, as a multiple of the original's.
        max_flash: Bytes that the file may have, or text; None for any.
        operators: Operators that may be needed in addition ("SLICE", ...); None for any.
        time_limit: Seconds after which the search ends with the best so far, which is verified; a KeyboardInterrupt
            has the same effect. None: until nothing gains. Without either the same arguments give the same file.
        prove_runs: Run both in the real TFLM on so many random inputs, and the extreme ones; None for no run.
        prove_program: The linked program that runs both instead, with its own kernels
            (:mod:`~tflm_sim.extensions.shrink.prove_program`).
        into: The number of its interpreter that gets them, from 1 on; 0 for each.
        progress: Called with what is being tried.
        aim: What is to become smaller in the place of the arena; it goes with no goal and no offline plan.
        passes: What else it may do, such as ``offline_plan=True``; see :class:`Passes`.

    Raises:
        UsageError: An option has no meaning, or a package is missing.
        ModelError: The model cannot be rewritten without losing something, or cannot be proved.
        SimulatedFailure: The model fails on a target as it is.
        ProofFailed: The result does not do the same in the real TFLM: a bug of ours, and nothing to be used.
    """
    if progress is not None:
        expect(progress, Callable, "progress that can be called with a line of text")
    if aim is not None:
        expect(aim, Aim, "aim as a BankAim")
    prove_runs, into = proof_numbers(prove_runs, into)
    model, configurations, chosen = load(model), configure_each(targets), _chosen(passes)
    budget, stopping = _budget(goal, max_macs, max_flash, operators), stopping_after(time_limit)
    refuse_unshrinkable(model, configurations, chosen)
    if aim is not None and (goal is not None or _is_planned(chosen)):
        raise UsageError(
            "an aim other than the arena goes with neither a goal nor an offline plan, which are of one arena"
        )
    new_search = partial(Search, model, TargetSizer(configurations, aim), budget, progress or (lambda _: None))
    limited = partial(new_search, stopping=stopping, **_search_settings(chosen, configurations))
    result = _shrunk(model, limited, int8_io=chosen["int8_io"], drop_names=chosen["drop_names"])
    if prove_runs is None or not result.has_gained:
        return result
    return _proved(result, prove_runs, prove_program, into, progress)


def proof_numbers(prove_runs: int | None, into: int) -> tuple[int | None, int]:
    """Return how many runs are to prove a result, and in which interpreter of a program.

    Raises:
        UsageError: One has no meaning.
    """
    runs = None if prove_runs is None else whole_number(prove_runs, "prove_runs", 0, 2**31 - 1)
    return runs, whole_number(into, "into", 0, 2**31 - 1)


def _chosen(passes: Passes) -> dict[str, bool]:
    """Return every name of ``Passes`` with whether it was asked for."""
    if unknown := passes.keys() - Passes.__annotations__.keys():
        known = tuple(Passes.__annotations__)
        hint = meant(min(unknown), known) or f"use one of: {', '.join(known)}"
        raise TypeError(f"shrink() has no option '{min(unknown)}'; {hint}")
    return {
        name: expect(passes.get(name) or False, bool, f"{name} as a truth value") for name in Passes.__annotations__
    }


def _is_planned(chosen: Mapping[str, bool]) -> bool:
    return any(chosen[name] for name in ("offline_plan", "kernel_order", "loops"))


def _search_settings(chosen: Mapping[str, bool], configurations: Sequence[Configuration]) -> dict[str, bool]:
    """Return what a search is told of the passes."""
    return {
        "replan": chosen["replan"],
        "offline_plan": _is_planned(chosen),
        "kernel_order": chosen["kernel_order"],
        "loops": chosen["loops"],
        "whole_layers": not chosen["force_float"] and adds_by_shape(configurations),
    }


def stopping_after(time_limit: float | None) -> Stopping:
    """Return what ends the search early."""
    if time_limit is not None:
        time_limit = expect(time_limit, float, "a time limit in seconds")
        if not time_limit > 0:
            raise UsageError(f"`time_limit={time_limit}` is not a valid time")
    return Stopping(time_limit)


def _budget(
    goal: int | str | None, max_macs: float, max_flash: int | str | None, operators: Iterable[str] | None
) -> Budget:
    goal, max_flash = as_size(goal, "goal"), as_size(max_flash, "max_flash")
    max_macs = expect(max_macs, float, "max_macs as a number (1.35)")
    if not max_macs >= 1:
        raise UsageError(f"`max_macs={max_macs}` is below 1: no result has fewer multiplications than the original")
    may_need = None if operators is None else frozenset(each_of(operators, str, "the names of operators"))
    return Budget(goal, max_macs, max_flash, may_need)


def _shrunk(model: Model, new_search: Callable[..., Search], *, int8_io: bool, drop_names: bool) -> Shrunk:
    """Return the result of a search, verified, and what the other kind of inputs and outputs would give."""
    search, other = _searched(new_search, int8_io=int8_io)
    if drop_names and search.steps:
        search.drop_names()
    search.progress("verifying")
    written, data, verified = _verified(model, search)
    result = replace(_result(model, written, data, search), verified=verified)
    if search.whole_layers:
        result = replace(result, left_alone=(*result.left_alone, _WHOLE_LAYERS))
    if int8_io:
        return replace(result, left_alone=(*result.left_alone, *kept_io_quantization(Draft(model))))
    if other is not None and not (other.stopped or other.sizer.aim) and gains(other.arenas, search.arenas):
        return replace(result, with_int8_io=other.arenas)
    return result


def _proved(
    result: Shrunk, runs: int, program: str | os.PathLike[str] | None, interpreter: int, progress: Progress | None
) -> Shrunk:
    """Return a result with what the real TFLM, or a linked program, says of it."""
    if program is None:
        return replace(result, proof=prove(result.origin, result.data, result.model, runs))
    from tflm_sim.extensions.shrink.prove_program import prove_in_program  # the page has no emulator

    if progress is not None:
        progress("proving")
    return replace(result, program_proof=prove_in_program(result.origin, result.model, runs, program, interpreter))


def _searched(new_search: Callable[..., Search], *, int8_io: bool) -> tuple[Search, Search | None]:
    """Return the search whose result is the answer, and the one with the other kind of inputs and outputs, or None.

    With ``int8_io`` the other one, with the inputs and outputs of the original, is the answer where it is no larger.
    """
    search: Search = new_search()
    is_cut = has_io_quantization(Draft(search.origin))
    search.int8_io = int8_io and is_cut
    search.run(PASSES)
    if not is_cut or search.stopped:
        return search, None
    other: Search = new_search(int8_io=not int8_io)
    other.run(PASSES)
    return (other, None) if int8_io and sum(other.arenas) <= sum(search.arenas) else (search, other)


def _verified(model: Model, search: Search) -> tuple[Model, bytes, str]:
    """Return the result as it is read again, its bytes, and what was verified; what is not verified is taken back."""
    while search.steps:
        data = search.allowance.appended.behind(encode(search.model))
        written = replace(parse(data), path=model.path)
        try:
            verified = verify(model, written, search.sizer.configurations, int8_io=search.int8_io)
            return written, data, str(verified)
        except VerificationFailed as failure:
            search.undo(str(failure))
    data = bytes(model.source) or encode(model)
    return replace(parse(data), path=model.path), data, ""


def refuse_unshrinkable(model: Model, configurations: Sequence[Configuration], chosen: Mapping[str, bool]) -> None:
    """Refuse what cannot be rewritten, or not as it was asked for."""
    refuse_unwritable(model)
    _refuse_plan(model, chosen["replan"])
    if _is_planned(chosen) and any(each.planner == "linear" for each in configurations):
        raise UsageError("an offline plan is refused with preserve_all_tensors (the linear planner)")
    if not chosen["force_float"]:
        _refuse_float(model, configurations)
    if chosen["loops"]:
        _refuse_loops(configurations)


def _refuse_plan(model: Model, replan: bool) -> None:
    """Refuse a model that says where its tensors go: to TFLM, or to an Ethos-U."""
    if any(code.custom_code == "ethos-u" for code in model.operator_codes):
        raise ModelError(
            "Vela compiled the model for an Ethos-U, whose commands contain the position of each tensor; "
            "shrink the model before Vela compiles it",
            path=model.path,
        )
    if not replan and any(entry.name == OFFLINE_MEMORY_ALLOCATION for entry in model.metadata):
        raise ModelError(
            "the model has an offline plan (OfflineMemoryAllocation), which a rewriting would invalidate; "
            "add `replan=True` to remove it",
            path=model.path,
        )


def _refuse_loops(configurations: Sequence[Configuration]) -> None:
    """Refuse a target whose TFLM does not know what a loop is made of."""
    for configuration in configurations:
        runtime = configuration.target.runtime
        for name in sorted(LOOP_OPERATORS & set(OPERATORS_SINCE)):
            change = CHANGES[OPERATORS_SINCE[name]]
            if not runtime.has(OPERATORS_SINCE[name]):
                raise UsageError(
                    f"`loops=True` needs {name}, which TFLM has since {change.date} ({change.commit}); "
                    f"{configuration.target.name} is {runtime}"
                )


# Libraries whose floating-point kernels are the reference kernels, so that a share of a tensor gets the same sums.
# Source: tensorflow/lite/micro/kernels/cmsis_nn/conv.cc (case kTfLiteFloat32: reference_ops::Conv) and esp_nn/conv.cc
# @ 90b983c, and likewise for their depthwise, pooling and fully connected kernels.
_FLOAT_IS_REFERENCE = frozenset({"reference", "cmsis_nn", "esp_nn"})


_WHOLE_LAYERS = (
    "layers: the MVP's kernels add in floating point, in an order that a layer's shape decides, so that none is split "
    "or gets another padding; `force_float=True` splits them all the same"
)


def adds_by_shape(configurations: Sequence[Configuration]) -> bool:
    """Return whether integers are added as floating point on a target, in an order that shapes decide.

    Source: use_parallel_mac in platform/compute/nn/mvp/src/sl_mvp_ml_conv2d.c @ SiliconLabs/gecko_sdk 911f6cdef: two
    sums of every second product where sizes, strides and indices are even, else one; its ADD and MUL compute two
    elements at a time, and a last odd one on the core.
    """
    return any(configuration.target.kernel_library.name == "mvp" for configuration in configurations)


def _refuse_float(model: Model, configurations: Sequence[Configuration]) -> None:
    """Refuse a floating-point model where optimised kernels may sum in another order."""
    if not any(tensor.type in FLOATS for tensor in model.subgraphs[0].tensors):
        return
    for configuration in configurations:
        library = configuration.target.kernel_library
        if library.name not in _FLOAT_IS_REFERENCE:
            raise ModelError(
                f"a floating-point model, and the kernels of {library} may sum in another order for a share of a "
                "tensor; `force_float=True` rewrites it anyway",
                path=model.path,
            )


def _result(model: Model, written: Model, data: bytes, search: Search) -> Shrunk:
    """Return the answer: both files measured on every target, as they are."""
    before, after = Draft(model), Draft(written)
    gains = target_gains(search.sizer, model, written)
    configurations, sizer = search.sizer.configurations, search.sizer
    assert sizer.arenas(written) == search.arenas, "the file read again is the one simulated"
    steps, rejected, aims = tuple(search.steps), tuple(search.rejected), list[AimGain]()
    if sizer.aim is not None:  # What the search minimised is no arena.
        for configuration, first, last in zip(configurations, search.origin_arenas, search.arenas, strict=True):
            old, new = (sizer.aim.figures(each, configuration) for each in (model, written))
            figures = {name: (old.get(name), new.get(name)) for name in {**old, **new}}
            said = sizer.aim.said(first), sizer.aim.said(last)
            aims.append(AimGain(configuration.target.name, *said, last < first, figures, sizer.aim.command))
        arenas = [tuple(sizer.arena(step.model, index) for index in range(len(configurations))) for step in steps]
        steps = tuple(replace(step, arenas=row) for step, row in zip(steps, arenas, strict=True))
        rejected = tuple(replace(row, arenas=None) for row in rejected)
    return Shrunk(
        data=data,
        model=written,
        origin=model,
        gains=gains,
        before=cost_of(before, len(model.source)),
        after=cost_of(after, len(data)),
        extra_operators=tuple(sorted(operator_names(written) - operator_names(model))),
        steps=steps,
        rejected=rejected,
        left_alone=tuple(_left_alone(before)),
        bound=search.bound(),
        simulations=search.sizer.runs,
        conversions=conversions(model, written),
        stopped=search.stopped,
        aims=tuple(aims),
    )


def target_gains(sizer: TargetSizer, model: Model, result: Model) -> tuple[Gain, ...]:
    """Return what each target gains: both models measured, as they are."""
    gains = []
    configurations = sizer.configurations
    is_open = len({configuration.target.name for configuration in configurations}) == 1
    cases = cases_of(configurations) if is_open else [""] * len(configurations)
    for index, configuration in enumerate(configurations):
        sizes: list[Sizes] = []
        for each in (model, result):
            found = sizer.measure(each, index)
            arena = smallest(found)
            pair = arena if isinstance(arena, SplitArenaSizes) else None
            sizes.append(Sizes(arena.size, arena.multiple_of_16, found.head_bytes, found.tail_bytes, pair))
        was, now = sizes
        percent = round(100 * (was.arena - now.arena) / max(1, was.arena), 2)
        gains.append(Gain(configuration.target.name, cases[index], was, now, percent))
    return tuple(gains)


def cost_of(draft: Draft, file_bytes: int) -> Cost:
    """Return what a model costs beside its arena."""
    return Cost(draft_multiplications(draft), file_bytes, operators_run(draft))


def _left_alone(draft: Draft) -> list[str]:
    """Return what the passes do not touch, a sentence each."""
    sentences = refusals(draft)
    for index, operator in enumerate(draft.operators):
        name = draft.name(operator)
        if name in ("IF", "WHILE"):
            sentences.append(f"#{index} {name}: the subgraphs that it runs stay as they are")
        elif name == "CUSTOM":
            custom = draft.code(operator).custom_code or ""
            sentences.append(f"#{index} custom operator {custom}: nothing is known of it, so it is in no split")
    if any(tensor.type in FLOATS for tensor in draft.tensors):
        sentences.append("floating point: the same bytes with the reference kernels, as CMSIS-NN and ESP-NN use them")
    return sentences
