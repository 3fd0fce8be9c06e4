"""Which setting explains a difference? Firmwares that differ from the named one in one setting, the likeliest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from tflm_sim.checks.device_report import DeviceReport, ReportComparison, compare_report
from tflm_sim.device.configuration import INTERPRETERS, Configuration
from tflm_sim.errors import TflmSimError
from tflm_sim.model.types import Model
from tflm_sim.targets.kernel_library import VERSIONS
from tflm_sim.targets.presets import PRESETS, preset

MAX_ANSWERS = 4
_VARIABLE_COUNTS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 50, 64, 100, 128)
# ``tflm_benchmark`` makes room for a hundred: tools/benchmarking/generic_model_benchmark.cc @ 90b983c.
_WORDS = {"plain": "MicroInterpreter", "recording": "RecordingMicroInterpreter"}


@dataclass(frozen=True, slots=True)
class Alternative:
    """A firmware that may have printed a report: its options on the command line, and its configuration."""

    options: str
    configuration: Configuration


def alternatives(base: Configuration) -> Iterator[Alternative]:
    """Yield the firmwares that differ from ``base`` in one setting, then those on another target with its kernels."""
    yield from _kernels(base, base.target.name, "")
    for name in INTERPRETERS:
        if name != base.interpreter and base.planner == "greedy":
            yield Alternative(f"--interpreter {name} ({_WORDS[name]})", replace(base, interpreter=name))
    for count in _VARIABLE_COUNTS:
        if count != base.resource_variables:
            yield Alternative(f"--resource-variables {count}", replace(base, resource_variables=count))
    for name in PRESETS:
        if name != base.target.name:
            yield from _on(base, name)
    for name in PRESETS:
        if name != base.target.name:
            yield from _kernels(base, name, f"--target {name} ")


def _on(base: Configuration, name: str) -> Iterator[Alternative]:
    other = preset(name)
    here = replace(other, ethos_u=base.target.ethos_u, arena_address=base.target.arena_address)
    interpreter = other.interpreter if base.interpreter == base.target.interpreter else base.interpreter
    yield Alternative(f"--target {name}", replace(base, target=here, interpreter=interpreter))


def _kernels(base: Configuration, name: str, prefix: str) -> Iterator[Alternative]:
    own = base.target.kernel_library if not prefix else preset(name).kernel_library
    names = ["reference"]
    for library, versions in VERSIONS.items():
        names += [f"{each}@{version.name}" for each in (library, f"{library}_ansi") for version in versions]
    for kernels in names:
        try:
            library_here = preset(name, kernels=kernels)
        except TflmSimError:
            continue
        if library_here.kernel_library != own:
            here = replace(library_here, ethos_u=base.target.ethos_u, arena_address=base.target.arena_address)
            yield Alternative(f"{prefix}--kernels {kernels}", replace(base, target=here))


def explaining(
    report: DeviceReport, model: Model, base: Configuration, *, on_progress: Callable[[], None] = lambda: None
) -> list[tuple[Alternative, ReportComparison]]:
    """Return the settings under which all figures of a report are equal, at most :data:`MAX_ANSWERS` of them.

    Args:
        report: What the device reports.
        model: What it runs.
        base: What it was said to be.
        on_progress: Called after each setting that was tried.
    """
    found: list[tuple[Alternative, ReportComparison]] = []
    for other in alternatives(base):
        try:
            comparison = compare_report(report, model, other.configuration, checks_remainders=False)
        except TflmSimError:
            continue
        finally:
            on_progress()
        if comparison.is_equal:
            found.append((other, comparison))
        if len(found) == MAX_ANSWERS:
            break
    return found
