"""Run whole models on emulated Cortex-M cores, as they were and as ``shrink`` makes them, byte by byte.

    python tools compare emulated_shrink --firmware cortex-m3=m3.elf --firmware cortex-m4=m4.elf [--write]
    python tools compare emulated_shrink                 does shrink still give the files that ran? no emulator needed

The firmware is ``emulated_models.cc`` linked with TFLM and CMSIS-NN, neither of which is in this repository: for
cortex-m3 CMSIS-NN's plain C, for cortex-m4 its DSP code, for cortex-m55 its MVE code; for esp-nn on a Cortex-M4 the
plain C of ESP-NN (esp_nn_ansi_c.h), with esp-tflite-micro's kernels; for reference on a Cortex-M4 TFLM's own kernels.
Code lies at 0, data at 0x20000000. QEMU's MPS boards run it, files come and go by semihosting. Each result runs in
exactly the arena that is predicted for it, and must fail with 16 bytes less. On the last three cores every result has
all options: inputs and outputs are converted as ``shrink`` says.

What ran is written down in tests/oracle/emulated_shrink.json by the hashes of the files, and tests compare shrink with
it: a result that is another file has not been run, and they say so.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from math import prod
from pathlib import Path
from typing import Any

import frame
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "unit" / "extensions" / "shrink"))
from dataclasses import replace

import shrinking_models as models

from tflm_sim import load, parse, shrink, smallest_arena
from tflm_sim.device.configuration import Configuration, configure
from tflm_sim.documents import as_json
from tflm_sim.errors import TflmSimError
from tflm_sim.extensions.shrink.contracts import OVERLAP, promised
from tflm_sim.extensions.shrink.draft_facts import DTYPES, Array
from tflm_sim.extensions.shrink.kernel_use import use_of
from tflm_sim.extensions.shrink.offline_planner import with_offsets
from tflm_sim.extensions.shrink.overlap import needed_distance
from tflm_sim.extensions.shrink.shrunk import Conversion
from tflm_sim.extensions.shrink.wheel_worker import converted, stimulus
from tflm_sim.graph.multiplications import total_multiplications
from tflm_sim.model.draft import Draft
from tflm_sim.model.encode import encode
from tflm_sim.model.types import Model
from tflm_sim.targets.kernel_library import KernelLibrary
from tflm_sim.units import align_up

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT.parent / "shared" / "models"
RECORD = ROOT / "tests" / "oracle" / "emulated_shrink.json"
RUNS, SEED = 20, 14
LAYERS, CONTROLS = 60, 3
MOST_MACS = 16_000_000
ROOMY_ARENA = 8 << 20
BOARDS = {
    "cortex-m3": "mps2-an385",
    "cortex-m4": "mps2-an386",
    "cortex-m55": "mps3-an547",
    "esp-nn": "mps2-an386",
    "reference": "mps2-an386",
}
WITH_ALL_OPTIONS = ("cortex-m55", "esp-nn", "reference")
UNDEFINED = {"cortex-m55": "TRANSPOSE_CONV"}
"""CMSIS-NN 4ab83cc's transposed convolution with MVE: outputs, the originals' too, depend on what lay in the arena."""
ESP_NN = KernelLibrary("esp_nn", "1.2.3", "ansi")
_TIMEOUT_S = 1800

OPTIONS: dict[str, dict[str, bool]] = {
    "": {},
    "--kernel-order": {"kernel_order": True},
    "--offline-plan": {"offline_plan": True},
    "all options": {"kernel_order": True, "int8_io": True, "loops": True},
}
"""What shrink is asked for, by what is written down."""
NAMED = (
    "tflm__models__person_detect",
    "mlcommons-tiny__vww_model_data",
    "mlcommons-tiny_results_v0.5__kws_model_data",
    "AmbiqAI-neuralSPOT__ic_bench_model_data",
    "esphome-micro-wake-word-models__alexa",
    "JohnnyPrimus-Custom_V2_MicroWakeWords__hey_friday",
)
"""Models of ../shared/models that tests compare with what ran."""

RANDOM = 70
"""Random models with all options."""


@dataclass(frozen=True, slots=True)
class Found:
    """A model, the file that is made of it, the arena that the file needs, and what the firmware converts for it."""

    model: Model
    result: bytes
    arena: int
    conversions: Sequence[Conversion] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """What is run: ``make`` gives it for a target, or None where nothing gains or all is refused.

    Attributes:
        must_agree: Whether the outputs must be the same; otherwise they must differ, or nobody would notice a fault.
    """

    key: str
    make: Callable[[str], Found | None]
    must_agree: bool = True


def cases(target: str) -> Iterator[Case]:
    """Yield every case of a core: those built here, then ../shared/models, the named ones first."""
    if target in WITH_ALL_OPTIONS:
        yield from cases_with_all_options()
        yield from (shared_case(name, "all options") for name in NAMED)
        return
    yield from built_cases()
    rest = sorted(path.stem for path in MODELS.glob("*.tflite") if path.stem not in NAMED)
    for name, options in chain(product(NAMED, list(OPTIONS)[:2]), product(rest, list(OPTIONS)[:1])):
        yield shared_case(name, options)
    for name in rest:
        yield shared_case(name, "--kernel-order")


def shared_case(name: str, options: str) -> Case:
    """Return the case of a model of ../shared/models."""
    return Case(f"{name} {options}".strip(), partial(shrunk_for, partial(load, MODELS / f"{name}.tflite"), options))


def cases_with_all_options() -> Iterator[Case]:
    """Yield layers with and without a contract, a small model a pass, and random models."""
    yield from layer_cases()
    for name, make in models.MODELS.items():
        yield Case(f"{name} all options", partial(shrunk_for, make, "all options"))
    for seed in range(RANDOM):
        make = partial(models.random_model, seed)
        yield Case(f"random {seed} all options", partial(shrunk_for, make, "all options"))


def built_cases() -> Iterator[Case]:
    """Yield layers with and without a contract, and a small model a pass."""
    yield from layer_cases()
    for options in list(OPTIONS)[:3]:
        for name, make in models.MODELS.items():
            yield Case(f"{name} {options}".strip(), partial(shrunk_for, make, options))


def layer_cases() -> Iterator[Case]:
    """Yield layers that overlap as far as contracts go, and layers without a contract."""
    for seed in range(LAYERS):
        yield Case(f"layer {seed}", partial(overlapping, partial(models.random_layer, seed), True))
    for seed in range(CONTROLS):
        yield Case(
            f"control {seed}", partial(overlapping, partial(models.pointwise_layer, seed), False), must_agree=False
        )


def configuration_of(target: str) -> Configuration:
    """Return a core with its kernels; ESP-NN's C is on none of ours, so a Cortex-M4 gets it."""
    if target == "reference":
        return configure("cortex-m4", kernels="reference")
    if target != "esp-nn":
        return configure(target)
    core = configure("cortex-m4")
    return replace(core, target=replace(core.target, kernel_library=ESP_NN))


def shrunk_for(make: Callable[[], Model], options: str, target: str) -> Found | None:
    """Return what shrink makes of a model."""
    try:
        shrunk = shrink(make(), configuration_of(target), **OPTIONS[options])  # type: ignore[arg-type]
    except TflmSimError:
        return None
    if not shrunk.has_gained:
        return None
    return Found(shrunk.origin, shrunk.data, shrunk.gains[0].after.arena, shrunk.conversions)


def overlapping(make: Callable[[], Model], is_promised: bool, target: str) -> Found | None:
    """Return a layer whose output lies as little below its input as 16-byte steps and the order of reads allow."""
    model = make()
    draft = Draft(model)
    (operator,) = draft.operators
    use = use_of(draft.name(operator), operator, draft.tensors)
    distance = needed_distance(draft, operator)
    core = configuration_of(target)
    if promised(use, OVERLAP, [core.target.kernel_library]) is not is_promised or distance is None:
        return None
    source, output = draft.inputs[0], draft.outputs[0]
    data = encode(with_offsets(model, {source: align_up(distance, 16), output: 0}))
    return Found(model, data, smallest_arena(parse(data), core).size)


def digest(data: bytes | memoryview) -> str:
    """Return what stands for a file."""
    return hashlib.sha256(data).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Board:
    """An emulated board with its firmware."""

    machine: str
    elf: Path

    def run(self, folder: Path, model: bytes | memoryview, arena: int, inputs: bytes, runs: int) -> bytes | str:
        """Return the outputs of all runs, or what the firmware says instead."""
        (folder / "model").write_bytes(model)
        (folder / "inputs").write_bytes(inputs)
        (folder / "outputs").write_bytes(b"")
        (folder / "job.txt").write_text(f"model {arena} {runs} inputs outputs\n")
        command = ["qemu-system-arm", "-M", self.machine, "-kernel", str(self.elf.resolve()), "-display", "none"]
        command += ["-serial", "null", "-monitor", "none", "-semihosting-config", "enable=on,target=native"]
        ended = subprocess.run(command, cwd=folder, capture_output=True, timeout=_TIMEOUT_S, check=False)
        said = (ended.stdout + ended.stderr).decode(errors="replace").strip().splitlines()
        return (folder / "outputs").read_bytes() if said[-1:] == ["ok"] else " / ".join(said)[-200:]


def inputs_of(model: Model) -> list[list[Array]]:
    """Return the inputs of each run: the extremes first, then noise of several kinds."""
    rng = np.random.default_rng(SEED)
    tensors = [model.subgraphs[0].tensors[index] for index in model.subgraphs[0].input_tensors]
    return [
        [stimulus(rng, np.dtype(DTYPES[tensor.type]), tensor.shape or (), run) for tensor in tensors]
        for run in range(RUNS)
    ]


def written(runs: Sequence[Sequence[Array]], ends: Mapping[int, Mapping[str, Any]]) -> bytes:
    """Return the bytes of all arrays of all runs, those that ``ends`` names after they were converted."""
    return b"".join(array.tobytes() for run in runs for array in converted(run, ends))


def outputs_of(model: Model, data: bytes) -> list[list[Array]]:
    """Return the outputs of each run, read from their bytes."""
    tensors = [model.subgraphs[0].tensors[index] for index in model.subgraphs[0].output_tensors]
    runs: list[list[Array]] = []
    place = 0
    while place < len(data):
        runs.append([])
        for tensor in tensors:
            count, dtype = prod(tensor.shape or ()), np.dtype(DTYPES[tensor.type])
            runs[-1].append(np.frombuffer(data, dtype, count, place).reshape(tensor.shape or ()))
            place += count * dtype.itemsize
    return runs


def prove(case: Case, target: str, board: Board, ran: Mapping[str, Any] | None) -> dict[str, Any] | str | None:
    """Run a case on a board, unless these very files ``ran``.

    Returns:
        What to write down, or what is wrong, or None where there is nothing to run.
    """
    found = case.make(target)
    if found is None:
        return None
    model, result, arena = found.model, found.result, found.arena
    given, wanted = (
        {each.index: as_json(each) for each in found.conversions if each.what == what} for what in ("input", "output")
    )
    facts = {"original": digest(model.source), "result": digest(result), "arena": arena}
    if ran is not None and facts.items() <= ran.items():
        return dict(ran)
    if total_multiplications(model) > MOST_MACS:
        return "skipped: too much for an emulator"
    draft = Draft(model)
    if any(draft.name(each) == UNDEFINED.get(target) for each in draft.operators):
        return f"skipped: what {UNDEFINED[target]} computes there is undefined"
    try:
        inputs = inputs_of(model)
    except KeyError:
        return "skipped: inputs of another type"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        before = board.run(folder, model.source, ROOMY_ARENA, written(inputs, {}), RUNS)
        if isinstance(before, str):
            return f"skipped: the original does not run: {before}"
        after = board.run(folder, result, arena, written(inputs, given), RUNS)
        if isinstance(after, str):
            return f"WRONG: the result does not run in {arena:,} B: {after}"
        after = written(outputs_of(parse(result), after), wanted)
        if (after == before) is not case.must_agree:
            return f"WRONG: {sum(a != b for a, b in zip(after, before, strict=True)):,} bytes of the outputs differ"
        if not isinstance(board.run(folder, result, arena - 16, written(inputs, given), 1), str):
            return f"WRONG: the result runs in {arena - 16:,} B, too"
    size = len(before) // RUNS
    distinct = len({before[run * size : (run + 1) * size] for run in range(RUNS)})
    return {**facts, "distinct": distinct}


def recorded() -> dict[str, dict[str, dict[str, Any]]]:
    """Return what ran: target -> case -> hashes of both files, arena, different outputs."""
    rows: dict[str, dict[str, dict[str, Any]]] = json.loads(RECORD.read_text())["ran"]
    return rows


def still_the_same(case: Case, target: str, row: Mapping[str, Any]) -> str:
    """Return how a result differs from what ran, "" where it does not."""
    found = case.make(target)
    if found is None:
        return "nothing gains any more"
    if digest(found.model.source) != row["original"]:
        return "the model is another one"
    return (
        ""
        if (digest(found.result), found.arena) == (row["result"], row["arena"])
        else "the result is a file that never ran"
    )


def main() -> int:
    """Run, or compare."""
    parser = frame.parser(__doc__)
    parser.add_argument("--firmware", action="append", default=[], metavar="TARGET=ELF")
    parser.add_argument("--write", action="store_true", help="write down what ran")
    parser.add_argument("--only", default="", help="cases whose name has this")
    args = parser.parse_args()
    if not args.firmware:
        return _compare(args.only)
    ran = recorded() if RECORD.exists() else {}
    boards = {target: Board(BOARDS[target], Path(elf)) for target, _, elf in (p.partition("=") for p in args.firmware)}
    wrong = 0
    chosen = [(target, case) for target in boards for case in cases(target) if args.only in case.key]
    for target, case in chosen:
        rows, board = ran.setdefault(target, {}), boards[target]
        answer = prove(case, target, board, rows.pop(case.key, None))
        if isinstance(answer, dict):
            rows[case.key] = answer
            said = f"{answer['arena']:,} B, {answer['distinct']} different outputs"
        elif answer is not None:
            said, wrong = answer, wrong + answer.startswith("WRONG")
        if answer is not None:
            print(f"{target:<10} {case.key[:70]:<70} {said}", flush=True)
        if args.write:
            _write(ran)
    for target in boards:
        print(f"{target}: {len(ran[target])} results as they should be on {RUNS} inputs")
    print(f"{wrong} wrong")
    return int(wrong > 0)


def _write(ran: dict[str, dict[str, dict[str, Any]]]) -> None:
    """Write the record, a case a line."""
    lines = []
    for target, rows in sorted(ran.items()):
        inner = ",\n".join(f"  {json.dumps(key)}: {json.dumps(row)}" for key, row in sorted(rows.items()))
        lines.append(f" {json.dumps(target)}: {{\n{inner}\n }}")
    about = f"{RUNS} inputs (seed {SEED}) each, all bytes of all outputs identical; tools/compare/emulated_shrink.py"
    RECORD.write_text(f'{{"about": {json.dumps(about)},\n"ran": {{\n' + ",\n".join(lines) + "\n}}\n")


def _compare(only: str) -> int:
    """Say which recorded results shrink gives no more."""
    failures = total = 0
    for target, rows in recorded().items():
        by_key = {case.key: case for case in cases(target) if only in case.key}
        for key, row in rows.items():
            if key in by_key:
                total += 1
                if difference := still_the_same(by_key[key], target, row):
                    failures += 1
                    print(f"{target:<10} {key}: {difference}")
    print(f"{total - failures} of {total} results are the files that ran")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
