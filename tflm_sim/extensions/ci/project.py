"""``tflm-sim.toml``: the models of a repository, their firmwares, and the limits that they must meet.

    baseline = "arena_baseline.json"
    models = ["models/*.tflite"]

    [[firmware]]
    name = "doorbell"
    library = "esp-tflite-micro@1.3.5"
    target = "esp32-s3"
    limit = "200KiB"

    [[firmware]]
    board = "nano33ble"
    ram_free = "180KiB"
    models = ["models/wake_word.tflite"]

``check`` without arguments, ``diff --base``, the pytest plugin and the pre-commit hook read it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from tflm_sim.checks.judge import Room, Simulate, check_core, judge, room_on, simulate_quietly
from tflm_sim.checks.verdict import Verdict, baseline_key, read_baseline
from tflm_sim.device.configuration import Configuration, configure
from tflm_sim.document_fields import HIDDEN
from tflm_sim.documents import fields_of, from_json
from tflm_sim.errors import ModelError, UsageError
from tflm_sim.files import inside, read
from tflm_sim.limits import MAX_DOCUMENT_BYTES
from tflm_sim.model.inputs import expand
from tflm_sim.model.load import load
from tflm_sim.targets.boards import board
from tflm_sim.targets.presets import library_target
from tflm_sim.targets.target import Target

PROJECT_FILE = "tflm-sim.toml"
TARGET = "cortex-m4"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFirmware:
    """One ``[[firmware]]`` of the file: its settings and limits. Omitted keys have the command line's defaults.

    Attributes:
        name: What it is called in answers; by default its board, or its target with its library.
        models: Its models; by default those of the file.
        limit: Bytes of the arena, such as "64KiB"; or
        board, ram_free, external_ram: the board, the bytes that the firmware leaves in one bank of it, and whether they
            are outside of the chip.
        target, library, runtime, kernels, optimize_kernels_for, interpreter, planner, own_planner, resource_variables,
            variable_arena, arena_address, ethos_u: As the options of those names. Kernels of your own, which are Python
            code, are not named in the file.
    """

    name: str = ""
    models: tuple[str, ...] = ()
    limit: str | None = None
    board: str | None = None
    ram_free: str | None = None
    external_ram: bool = False
    target: str | None = None
    library: str | None = None
    runtime: str | None = None
    kernels: str | None = None
    optimize_kernels_for: str | None = None
    interpreter: str | None = None
    planner: str | None = None
    own_planner: bool = False
    resource_variables: int | None = None
    variable_arena: str | None = None
    arena_address: int | None = None
    ethos_u: bool = False

    @property
    def names_its_tflm(self) -> bool:
        """Whether it names its TFLM; a board alone does not, because people use several libraries on it."""
        return bool(self.target or self.library or self.runtime or self.kernels)

    @property
    def label(self) -> str:
        """What it is called."""
        named = (self.board or self.target, self.library or self.runtime, self.kernels)
        return self.name or ", ".join(word for word in named if word) or TARGET


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """The file.

    Attributes:
        firmware: What the models have to fit, one or several.
        models: Files, folders and patterns, from the file's own folder, or "sample:NAME".
        baseline: The file of sizes that no model may outgrow, from the same folder; None for none.
        path: Where it was read.
    """

    firmware: tuple[ProjectFirmware, ...]
    models: tuple[str, ...] = ()
    baseline: str | None = None
    path: Path = field(default=Path(PROJECT_FILE), metadata=HIDDEN)

    @property
    def folder(self) -> Path:
        """The folder of the file, from which its paths start."""
        return self.path.parent

    @property
    def baseline_path(self) -> Path | None:
        """The file of sizes."""
        return None if self.baseline is None else Path(inside(self.folder, self.baseline))


class Cell(NamedTuple):
    """The verdicts on a model on a firmware: one for each TFLM that it may have, with the configuration."""

    model: str
    firmware: ProjectFirmware
    judged: tuple[tuple[Verdict, Configuration], ...]


def read_project(path: str | os.PathLike[str] = PROJECT_FILE) -> Project:
    """Return what a file says.

    Raises:
        UsageError: It cannot be read, or says what cannot be; one sentence that names the place.
    """
    data = read(path, most=MAX_DOCUMENT_BYTES)
    try:
        project = _parsed(data)
    except (ValueError, RecursionError, UsageError) as error:
        raise UsageError(f"{path}: {error}") from error
    return replace(project, path=Path(path))


def _parsed(data: bytes) -> Project:
    """Return the project in a file's bytes, whose keys are all known and which holds models to something."""
    import tomllib  # Slow to import.

    document = tomllib.loads(data.decode("utf-8"))
    _refuse_unknown(document, Project, "the file")
    rows = document.get("firmware")
    if not isinstance(rows, list) or not rows:
        raise UsageError("it has no [[firmware]]; add one with a limit or a board")
    for number, row in enumerate(rows):
        _refuse_unknown(row, ProjectFirmware, f"[[firmware]] number {number + 1}")
    project = from_json(Project, document)
    _check_firmwares(project)
    return project


def _check_firmwares(project: Project) -> None:
    for each in project.firmware:
        if (each.limit is None) is (each.board is None):
            raise UsageError(f"firmware '{each.label}' needs either a limit or a board")
        if not (each.models or project.models):
            raise UsageError(f"firmware '{each.label}' has no models; name them there, or once for all firmwares")
    labels = [each.label for each in project.firmware]
    if twice := {label for label in labels if labels.count(label) > 1}:
        raise UsageError(f"two firmwares are called '{min(twice)}'; give them names")


def _refuse_unknown(row: object, kind: type, name: str) -> None:
    known = {each.key for each in fields_of(kind) or () if each.form != "hidden"}
    unknown = row.keys() - known if isinstance(row, dict) else set()
    if unknown:
        raise UsageError(f"{name} says '{min(unknown)}'; what it can say: {', '.join(sorted(known))}")


def configurations_of(firmware: ProjectFirmware) -> tuple[Configuration, ...]:
    """Return what a firmware is: one configuration, or with a board alone one for each library that people use there.

    Raises:
        UsageError: It names what there is not, or what does not go together.
    """
    if firmware.board is None or firmware.names_its_tflm:
        return (_configuration(firmware, firmware.library),)
    return tuple(_configuration(firmware, library or None) for library in board(firmware.board).libraries)


def _configuration(firmware: ProjectFirmware, library: str | None) -> Configuration:
    chosen = None if firmware.board is None else board(firmware.board)
    machine = firmware.target or (None if chosen is None else chosen.preset)
    target: str | Target = machine or TARGET
    if library is not None:
        if firmware.runtime is not None:
            raise UsageError("the library already selects the version of TFLM; remove the runtime")
        target = library_target(library, name=machine, kernels=firmware.kernels)
    configuration = configure(
        target,
        kernels=firmware.kernels if library is None else None,
        runtime=firmware.runtime,
        optimize_kernels_for=firmware.optimize_kernels_for,
        ethos_u=firmware.ethos_u or None,
        arena_address=firmware.arena_address,
        interpreter=firmware.interpreter,
        planner=firmware.planner,
        has_own_planner=firmware.own_planner,
        resource_variable_count=firmware.resource_variables,
        variable_arena_size=firmware.variable_arena,
    )
    if chosen is not None:
        check_core(chosen, configuration)
    return configuration


def cells(
    project: Project, only: Iterable[str] | None = None, *, simulate: Simulate = simulate_quietly
) -> Iterator[Cell]:
    """Judge each model of a project on each firmware that has it, firmware by firmware.

    Args:
        project: It.
        only: Names of models from the project's folder; None for all.
        simulate: Runs a model.

    Raises:
        UsageError: A firmware, a library or the baseline is none.
    """
    wanted = None if only is None else {os.path.normpath(name).replace(os.sep, "/") for name in only}
    known = {} if project.baseline_path is None else read_baseline(project.baseline_path)
    for firmware in project.firmware:
        room, configurations = _room_and_configurations(project, firmware)
        for name in models_of(project, firmware):
            if wanted is None or name in wanted:
                rows = ((_verdict(project, name, each, room, known, simulate), each) for each in configurations)
                yield Cell(name, firmware, tuple(rows))


def _room_and_configurations(project: Project, firmware: ProjectFirmware) -> tuple[Room, tuple[Configuration, ...]]:
    try:
        room = room_on(
            firmware.board, limit=firmware.limit, ram_free=firmware.ram_free, has_external_ram=firmware.external_ram
        )
        return room, configurations_of(firmware)
    except UsageError as error:
        raise UsageError(f"{project.path}: firmware '{firmware.label}': {error}") from error


def models_of(project: Project, firmware: ProjectFirmware) -> list[str]:
    """Return the names of a firmware's models from the project's folder, sorted; of a pattern without any, itself."""
    names = firmware.models or project.models
    samples = [name for name in names if name.startswith("sample:")]
    found = []
    for name in names:
        for path in expand([inside(project.folder, name, may_link=True)]) if name not in samples else ():
            found.append(os.path.relpath(path, project.folder).replace(os.sep, "/"))
            inside(project.folder, found[-1], may_link=True, pattern=name)
    return sorted({*samples, *found})


def _verdict(
    project: Project, name: str, configuration: Configuration, room: Room, known: Mapping[str, int], simulate: Simulate
) -> Verdict:
    key = baseline_key(name, configuration)
    before = known.get(key)
    try:
        model = load(name if name.startswith("sample:") else inside(project.folder, name, may_link=True))
    except ModelError as error:
        return Verdict(name, key, None, room.limit, None, before, error.message)
    verdict = judge(name, model, configuration, room, before, simulate=simulate)
    if project.baseline is None or before is not None or verdict.needed is None:
        return verdict
    missing = f"{project.baseline} has no size for {key}; 'tflm-sim check --update-baseline' writes it"
    return replace(verdict, missing_baseline=missing)
