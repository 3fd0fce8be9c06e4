"""What sources of the EON compiler did when they were compiled with Edge Impulse's SDK and initialised.

``eon_runs.json`` holds twelve public exports under the MIT licence, of October 2023 to June 2024, as they describe
themselves: types, shapes, places in the arena, operators and their options. Constants are left out, but for small ones
that say shapes and axes; of scales and zero points it has the first and how many there are.

``runs``, by version of the SDK and kernels: each source compiled as it is, with the SDK's own kernels, for 32-bit Arm
(Cortex-M4; "mve" for Cortex-M55), linked with a main() that calls the source's init function, and run in QEMU. Its
ei_calloc() printed what was asked of the heap, and each request of an operator was printed; then the end of the
tensors, the lowest buffer in the arena, and the counts and limits that the source has. ESP-NN's assembler was left out:
only its size functions run in Init and Prepare. "status" 1 is a source whose init function fails, or a
kernel that gets a null pointer, at a limit: what was asked until then (in QEMU nothing stops a write to it).
Ten more of July 2021 to August 2023, whose buffers are not aligned, were compiled likewise with the SDK of the day that
``runs`` names, its CMSIS-NN whole; "limits" null is a source that keeps any number. Seven of October 2020 to July
2021, for SDKs without TfLiteEvalTensor, likewise, with the size functions of CMSIS-NN.
Twelve more of March 2022 to April 2024, three of them for an Ethos-U, with the SDK of the day that ``runs`` names; the
Ethos-U's driver was the SDK's own stub of it (EI_CLASSIFIER_TFLITE_ETHOSU_POLYFILL).
"anomaly_gmm" has no run with "s3": its ABS keeps enumerations, which are shorter on Arm than on an ESP32; "esp", plain
ESP-NN, was built with int enumerations.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from eon_text import eon_text

from tflm_sim.extensions.eon.device import EonRoom, EonRun, eon_macros, run_eon
from tflm_sim.extensions.eon.rebuild import rebuilt
from tflm_sim.extensions.eon.source import EonOperator, EonSource, EonSubgraph, EonTensor, read_eon_source
from tflm_sim.model.load import parse
from tflm_sim.ops.registry import registrations
from tflm_sim.targets.presets import library_target

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "eon_runs.json").read_text("utf-8"))
MACHINES = {
    "ref": ("cortex-m4", "reference"),
    "dsp": ("cortex-m4", "cmsis_nn"),
    "mve": ("cortex-m55", "cmsis_nn"),
    "esp": ("esp32", "esp_nn"),
    "s3": ("esp32-s3", "esp_nn"),
    "p4": ("esp32-p4", "esp_nn"),
}


def tensor(row: list[Any]) -> EonTensor:
    type, shape, size, offset, count, scale, zero_point, axis, data = row
    return EonTensor(
        type=type,
        shape=tuple(shape),
        size=size,
        offset=offset,
        data=bytes(data if data is not None else size) if offset is None else None,
        scale=None if count is None else (scale,) * count,
        zero_point=() if count is None else (zero_point,) * count,
        quantized_dimension=axis,
    )


@cache
def source_of(name: str) -> EonSource:
    """Return a model as a source, whose limits are those of a chip without macros of its own."""
    model = RECORDED["models"][name]
    operators = [
        EonOperator(op, tuple(inputs), tuple(outputs), options)
        if isinstance(options, dict)
        else EonOperator(op, tuple(inputs), tuple(outputs), {}, bytes(options))  # of a custom operator
        for op, inputs, outputs, options in model["operators"]
    ]
    return EonSource(
        generated=date.fromisoformat(model["generated"]),
        arena_size=model["arena"],
        overflow_limit=None if model["scratch_limits"] is None else 10,
        scratch_limit=model["scratch_limits"] and model["scratch_limits"][0],
        tensor_slots=model["slots"][0],
        eval_slots=model["slots"][1],
        aligns=model.get("aligns", True),
        has_micro_context=model.get("micro_context", True),
        has_eval_tensors=model.get("eval_tensors", True),
        subgraphs=(EonSubgraph(tuple(map(tensor, model["tensors"])), tuple(operators)),),
        inputs=tuple(model["inputs"]),
        outputs=tuple(model["outputs"]),
    )


def run_of(run: str, name: str) -> tuple[EonSource, EonRun]:
    sdk, machine = run.split()
    where, kernels = MACHINES[machine]
    target = replace(library_target(f"edge-impulse@{sdk}", name=where, kernels=kernels), ethos_u=True)
    source = read_eon_source(eon_text(source_of(name)).encode(), eon_macros(target))
    if machine == "s3":  # the text for tests doubles it; a source says what it needs
        source = replace(source, scratch_limit=RECORDED["models"][name]["scratch_limits"][1])
    room = EonRoom(
        source.arena_size,
        source.tensors_end,
        source.overflow_limit,
        source.scratch_limit,
        source.tensor_slots,
        source.aligns,
    )
    return source, run_eon(parse(rebuilt(source)), target, registrations(target), room)


@pytest.mark.parametrize("run", RECORDED["runs"])
def test_each_source_does_what_it_did_when_it_was_compiled(run: str) -> None:
    for name in RECORDED["runs"][run]:
        check_run(run, name)


def check_run(run: str, name: str) -> None:
    recorded = RECORDED["runs"][run][name]
    source, found = run_of(run, name)
    assert source.tensors_end == recorded["tensors_end"]
    assert [source.overflow_limit, source.scratch_limit] == recorded["limits"]
    asked = [row.size for row in found.requests]
    if recorded["status"] == 0:
        assert found.refused is None
        assert asked == recorded["asked"]
        assert [row.size for row in found.on_heap] == recorded["heap"]
        assert (found.low, len(found.scratch)) == (recorded["low"], recorded["scratch"])
    else:
        assert found.refused is not None
        refused, _ = found.refused
        until = found.requests[: found.requests.index(refused) + (refused.offset is None)]
        assert asked[: len(recorded["asked"])] == recorded["asked"]
        assert [row.size for row in until if row.offset is None][: len(recorded["heap"])] == recorded["heap"]


def test_the_export_that_is_known_to_crash_on_an_esp32_s3_passes_its_limit() -> None:
    _, found = run_of("2023-11-15 s3", "mobilenet_v2")
    assert RECORDED["runs"]["2023-11-15 s3"]["mobilenet_v2"]["status"] == 1
    assert found.refused is not None
    end = found.requests.index(found.refused[0])
    assert len([row for row in found.on_heap if found.requests.index(row) < end]) == 30
