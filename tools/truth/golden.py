"""Compare the simulation with what real TFLM did: ``../shared/golden``, model by model.

``differences(golden, model)`` is what the golden tests assert to be empty and what ``golden_report.py`` counts.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.model.load import load, parse
from tflm_sim.model.schema import builtin_operator_name
from tflm_sim.model.types import Model
from tflm_sim.ops.op_model import OpModel
from tflm_sim.ops.registry import registrations
from tflm_sim.ops.roles import op_data
from tflm_sim.report.trace_rows import trace_row
from tflm_sim.targets.presets import preset
from tflm_sim.targets.structs import MeasuredStruct
from tflm_sim.targets.target import Target

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared"
SAMPLE = ROOT / "tests" / "golden" / "sample"
"""A handful of the recordings, with skeletons of their models (``make_golden_sample.py``)."""

# Which target each folder of ../shared/golden was built for: (preset, kernels).
CONFIGURATIONS: dict[str, tuple[str, str]] = {
    "x86_64_ref": ("x86_64", "reference"),
    "x86_64_ref_comp": ("x86_64-compression", "reference"),
    "x86_64_wheel": ("x86_64-compression", "reference"),  # with one struct of October: see Golden.target
    "x86_32_ref": ("i386", "reference"),
    "cm4_ref": ("cortex-m4", "reference"),
    "cm4le_ref": ("cortex-m4-int-enums", "reference"),
    "cm4_cmsis_nn": ("cortex-m4", "cmsis_nn"),
    "cm55_cmsis_nn": ("cortex-m55", "cmsis_nn"),
}

# Likewise each file of ../shared/golden_esp_nn, which has figures without traces.
PACKED: dict[str, tuple[str, str | None]] = {
    "et-1.4.0-1.2.3-opt": ("esp32", "esp_nn@1.2.3"),
    "et-1.4.0-1.2.3-ansi": ("esp32", "esp_nn_ansi@1.2.3"),
    "et-1.4.0-1.2.3-esp32s3": ("esp32-s3", "esp_nn@1.2.3"),
    "et-1.4.0-1.2.1-esp32s3": ("esp32-s3", "esp_nn@1.2.1"),
    "et-1.4.0-1.2.0-esp32s3": ("esp32-s3", "esp_nn@1.2.0"),
    "et-1.4.0-1.1.2-esp32s3": ("esp32-s3", "esp_nn@1.1.2"),
    "et-1.4.0-1.2.3-esp32p4": ("esp32-p4", "esp_nn@1.2.3"),
    "et-1.4.0-1.2.2-esp32p4": ("esp32-p4", "esp_nn@1.2.2"),
    "et-1.3.3.1-1.2.3-esp32s3": ("esp32-s3-esphome", "esp_nn@1.2.3"),
    "et-1.3.3.1-1.2.1-esp32s3": ("esp32-s3-esphome", "esp_nn@1.2.1"),
    "et-1.3.3.1-1.2.0-esp32s3": ("esp32-s3-esphome", "esp_nn@1.2.0"),
    "et-1.3.3.1-1.2.1nooverflow-esp32s3": ("esp32-s3-esphome", "esp_nn@1.2.1"),
    "chirale-2.0.0": ("nano33ble-chirale", None),
}

# A device that runs into a fault halts, too.
_STATUSES = {"fault": "abort"}

# What the recorded build of Chirale_TensorFLowLite registers.
_CHIRALE_OPS = (
    "ADD",
    "AVERAGE_POOL_2D",
    "CONV_2D",
    "DEPTHWISE_CONV_2D",
    "FULLY_CONNECTED",
    "MAX_POOL_2D",
    "RESHAPE",
    "SOFTMAX",
)

# Rows of ours that the device's trace has under "logs", or not at all.
_OWN_ROWS = ("log", "corruption")


@dataclass(frozen=True)
class Golden:
    """What real TFLM did with one model in one configuration.

    Attributes:
        configuration: Which.
        path: Where its figures are; of packed figures, where they would be.
        record: Packed figures, "" where they are in the file.
    """

    configuration: str
    path: Path
    record: str = field(default="", repr=False)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The figures."""
        facts: dict[str, Any] = json.loads(self.record or self.path.read_text("utf-8"))
        return facts

    @cached_property
    def target(self) -> Target:
        """The target of the configuration."""
        name, kernels = (CONFIGURATIONS | PACKED)[self.configuration]
        target = preset(name, kernels=kernels)
        if self.configuration == "x86_64_wheel":  # TFLM of 90b983c with the struct that the wheel of 2026-10-23 has
            target = replace(target, measured=(MeasuredStruct("TfLiteFullyConnectedParams", 32, 8),))
        # Chirale's figures are of upstream's files of its commits, which the library names .cpp.
        return replace(target, runtime=replace(target.runtime, source_suffix=".cc"))

    @cached_property
    def custom_ops(self) -> tuple[OpModel, ...]:
        """Kernels that are not those of the target: a CONV_2D that overwrites nothing, where the build was made so."""
        if "nooverflow" not in self.configuration:
            return ()
        return (replace(registrations(self.target)["CONV_2D"], init=op_data("OpDataConv")),)

    @cached_property
    def model(self) -> Model:
        """The model, or of the committed sample its skeleton."""
        if self.path.is_relative_to(SAMPLE):
            return parse(gzip.decompress((SAMPLE / "models" / f"{self.path.stem}.tflite.gz").read_bytes()))
        return load(SHARED / "models" / f"{self.path.stem}.tflite")

    def trace(self) -> Iterator[dict[str, Any]]:
        """Yield the events of the plain and of the recording run."""
        with gzip.open(self.path.with_suffix(".trace.jsonl.gz"), "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def recordings() -> Path:
    """Return the folder of all recordings, of the committed sample where they are not beside this checkout."""
    return SHARED / "golden" if (SHARED / "golden").is_dir() else SAMPLE


def golden_files(configuration: str, folder: Path | None = None) -> list[Golden]:
    """Return every model of a configuration that is recorded in ``folder``, by default in :func:`recordings`."""
    if configuration in PACKED:
        return _packed(configuration)
    paths = sorted(((folder or recordings()) / configuration).glob("*.json"))
    return [Golden(configuration, path) for path in paths if path.name != "structs.json"]


def _packed(configuration: str) -> list[Golden]:
    folder = SHARED / "golden_esp_nn"
    path = folder / f"{configuration}.json.gz"
    if not path.exists():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        found = [Golden(configuration, folder / f"{json.loads(line)['model']}.json", line) for line in lines]
    return [golden for golden in found if configuration != "chirale-2.0.0" or _uses_chirale_ops(golden)]


def _uses_chirale_ops(golden: Golden) -> bool:
    """Return whether a model has only operators that the recorded build registers."""
    if "big_arena" not in golden.facts:
        return False
    codes = golden.model.operator_codes
    used = {codes[operator.opcode_index] for graph in golden.model.subgraphs for operator in graph.operators}
    return all(builtin_operator_name(code.builtin_code) in _CHIRALE_OPS for code in used)


def differences(golden: Golden) -> list[str]:
    """Return where the simulation differs from real TFLM, one line each; empty when it is exact."""
    facts = golden.facts
    if "big_arena" not in facts:
        return list(_differ("status", _simulate(golden, 1 << 20, "plain").status, facts["status"]))
    runs = {kind: _simulate(golden, facts["big_arena"], kind) for kind in ("plain", "recording")}
    found = [*_figures(golden, runs), *([] if golden.record else _events(golden, runs))]
    for kind in ("plain", "recording"):
        if facts.get(f"min_{kind}"):
            found += _minimum(golden, kind, facts[f"min_{kind}"])
    return found


def _simulate(golden: Golden, arena_size: int, kind: str, planner: str = "greedy") -> Simulation:
    return simulate(
        golden.model,
        golden.target,
        arena_size=arena_size,
        interpreter=kind,
        planner=planner,
        custom_ops=golden.custom_ops,
    )


def _differ(what: str, ours: object, theirs: object) -> Iterator[str]:
    if ours != theirs:
        yield f"{what}: {ours!r} here, {theirs!r} on the device"


def _figures(golden: Golden, runs: dict[str, Simulation]) -> Iterator[str]:
    facts = golden.facts
    for kind, run in runs.items():
        status = _STATUSES.get(facts[kind]["status"], facts[kind]["status"])
        yield from _differ(f"{kind} status", run.status, status)
        if status == "abort" and golden.record:
            continue  # the process that counted is gone
        yield from _differ(f"{kind} log", _lines(golden, run.log), _lines(golden, facts[kind]["logs"]))
        yield from _differ(f"{kind} arena_used_bytes", run.arena_used_bytes, facts[kind]["arena_used_bytes"])
        if "types" in facts[kind]:
            yield from _differ(f"{kind} head", run.head_bytes, facts[kind]["head"])
            yield from _differ(f"{kind} tail", run.tail_bytes, facts[kind]["tail"])
            yield from _differ(f"{kind} types", recorded(run), facts[kind]["types"])
    if "plain_linear_planner" in facts and facts["plain_linear_planner"]["status"] not in ("abort", "fault"):
        linear = _simulate(golden, facts["big_arena"], "plain", "linear")
        yield from _differ("linear", linear.arena_used_bytes, facts["plain_linear_planner"]["arena_used_bytes"])


def _lines(golden: Golden, log: Sequence[str]) -> list[str]:
    """Return the lines of a log: packed figures end each message that ends in a newline with a line of its own."""
    return [line for line in log if line != " " or not golden.record]


def recorded(run: Simulation) -> dict[str, dict[str, int]]:
    """Return the recorded categories as the golden files have them."""
    return {
        name: {"requested": row.requested, "used": row.used, "count": row.count} for name, row in run.recorded.items()
    }


def _events(golden: Golden, runs: dict[str, Simulation]) -> Iterator[str]:
    ours = (row for run in runs.values() for row in map(trace_row, run.events) if row["e"] not in _OWN_ROWS)
    for index, theirs in enumerate(golden.trace()):
        if (row := next(ours, None)) != theirs:
            yield f"event {index}: {row!r} here, {theirs!r} on the device"
            return
    if (row := next(ours, None)) is not None:
        yield f"an event too many: {row!r}"


def _minimum(golden: Golden, kind: str, facts: dict[str, Any]) -> Iterator[str]:
    at_min, below = facts["at_min"], facts["at_min_minus_1"]
    halting = _halting_remainders(golden, kind)
    if halting:
        yield from _remainders(golden, kind, halting)
    else:
        yield from _boundary(golden, kind, facts)
    run = _simulate(golden, facts["min_arena"], kind)
    yield from _differ(f"min_{kind} run", (run.status, run.arena_used_bytes), ("ok", at_min["arena_used_bytes"]))
    if not any(allocation.overran for allocation in run.allocations):
        yield from _differ(f"min_{kind} overwrites", run.corruptions, ())
    run = _simulate(golden, facts["min_arena"] - 1, kind)
    if below["oob"]:
        # The device went on with overwritten bytes; what it did then follows from the garbage in them.
        yield from _differ(f"min_{kind} one byte below overwrites", bool(run.corruptions), True)
        return
    yield from _differ(f"min_{kind} status one byte below", run.status, _STATUSES.get(below["status"], below["status"]))
    if run.status == "error":
        yield from _differ(f"min_{kind} one byte below", _lines(golden, run.log), _lines(golden, below["logs"]))
        yield from _differ(f"min_{kind} used one below", run.arena_used_bytes, below["arena_used_bytes"])


def _boundary(golden: Golden, kind: str, facts: dict[str, Any]) -> Iterator[str]:
    """Compare the smallest arenas."""
    smallest = simulate(golden.model, golden.target, interpreter=kind, custom_ops=golden.custom_ops).smallest
    if smallest is None:
        yield f"min_{kind}: no arena works here, {facts['min_arena']} on the device"
        return
    yield from _differ(f"min_{kind}", smallest.size, facts["min_arena"])
    yield from _differ(f"min_{kind} multiple of 16", smallest.multiple_of_16, facts["min_arena_mult16"])
    yield from _differ(
        f"min_{kind} used at the minimum", smallest.arena_used_bytes, facts["at_min"]["arena_used_bytes"]
    )


def _halting_remainders(golden: Golden, kind: str) -> set[int]:
    """Return the sizes modulo 16 in which the device halts because a kernel overwrites its neighbour, if any."""
    if not golden.configuration.startswith("et-1.3.3.1") or golden.custom_ops:
        return set()
    found = _overflows().get(golden.path.stem, {}).get(kind, {})
    return {int(remainder) for remainder, status in found.items() if status == "abort"}


@cache
def _overflows() -> dict[str, dict[str, dict[str, str]]]:
    with gzip.open(SHARED / "golden_esp_nn" / "overflow_1.3.3.1_by_size_mod16.json.gz", "rt", encoding="utf-8") as file:
        rows: dict[str, dict[str, dict[str, str]]] = json.load(file)
    return rows


def _remainders(golden: Golden, kind: str, halting: set[int]) -> Iterator[str]:
    """Compare in which sizes modulo 16 it halts: the smallest arena that was found is one that works, no boundary."""
    room = golden.facts["big_arena"]
    ours = {less for less in range(16) if _simulate(golden, room - 16 + less, kind).status == "abort"}
    yield from _differ(f"{kind} halts in sizes modulo 16", sorted(ours), sorted(halting))


def off_by(golden: Golden, simulation: Simulation) -> int:
    """Return by how many bytes ``arena_used_bytes`` differs."""
    theirs: int = golden.facts["plain"].get("arena_used_bytes", 0)
    return simulation.arena_used_bytes - theirs
