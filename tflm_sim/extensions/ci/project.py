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

    [[firmware]]
    firmware = "build/app.elf"
    run = true
    custom_ops = ["our_kernels.py"]
    limit = "64KiB"
    limits = {"models/kws.tflite" = "48KiB"}

``check`` without arguments, ``diff --base``, the pytest plugin and the pre-commit hook read it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

from tflm_sim.checks.check import linked_program
from tflm_sim.checks.judge import Room, Simulate, judge, room_on, simulate_quietly
from tflm_sim.checks.verdict import Verdict, baseline_key, read_baseline
from tflm_sim.device.configuration import Configuration, check_core, configure
from tflm_sim.document_fields import HIDDEN
from tflm_sim.documents import fields_of, from_json
from tflm_sim.errors import ModelError, UsageError
from tflm_sim.files import inside, parse_problem, read
from tflm_sim.limits import MAX_DOCUMENT_BYTES
from tflm_sim.model.inputs import expand
from tflm_sim.model.load import load
from tflm_sim.model.types import Model
from tflm_sim.names import meant, unknown
from tflm_sim.ops.op_model import OpModel
from tflm_sim.targets.boards import board

PROJECT_FILE = "tflm-sim.toml"
TARGET = "cortex-m4"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFirmware:
    """One ``[[firmware]]`` of the file: its settings and limits. Omitted keys have the command line's defaults.

    Attributes:
        name: What it is called in answers; by default its board, or its target with its library.
        models: Its models; by default those of the file.
        limit: Bytes of the arena, such as 65536, "64KiB" or "64*1024"; or
        limits: those of single models, by their files, folders or patterns; ``limit`` is for the others; or
        board, ram_free, external_ram: the board, the bytes that the firmware leaves in one bank of it, and whether they
            are outside of the chip; or
        beside: with a board: what else is in its RAM ("ble"), whose figures say what is left.
        firmware: The linked program (ELF), which says what its code says; the other settings say what it does not.
        run: Whether it is executed, in an emulator, instead of read.
        into: With ``firmware``: the number of the interpreter that gets the model; 0 for each.
        custom_ops: Python files that describe kernels of your own, which are imported.
        target, library, runtime, kernels, optimize_kernels_for, interpreter, planner, own_planner, resource_variables,
            variable_arena, arena_address, ethos_u: As the options of those names.
    """

    name: str = ""
    models: tuple[str, ...] = ()
    limit: int | str | None = None
    limits: dict[str, int | str] = field(default_factory=dict)
    board: str | None = None
    ram_free: int | str | None = None
    external_ram: bool = False
    beside: str | None = None
    firmware: str | None = None
    run: bool = False
    into: int = 0
    custom_ops: tuple[str, ...] = ()
    target: str | None = None
    library: str | None = None
    runtime: str | None = None
    kernels: str | None = None
    optimize_kernels_for: str | None = None
    interpreter: str | None = None
    planner: str | None = None
    own_planner: bool = False
    resource_variables: int | None = None
    variable_arena: int | str | None = None
    arena_address: int | None = None
    ethos_u: bool = False

    @property
    def names_its_tflm(self) -> bool:
        """Whether it names its TFLM; a board alone does not, because people use several libraries on it."""
        return bool(self.firmware or self.target or self.library or self.runtime or self.kernels)

    @property
    def label(self) -> str:
        named = (self.firmware or self.board or self.target, self.library or self.runtime, self.kernels)
        return self.name or ", ".join(word for word in named if word) or TARGET


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """The file.

    Attributes:
        firmware: What the models have to fit, one or several.
        models: Files, folders and patterns, from the file's own folder, or "sample:NAME".
        baseline: The file of sizes that no model may outgrow, from the same folder; None for none.
        path: Where it was read.
        built: The folder whose built programs stand in for those that the file's own folder does not have, as a commit
            that is checked out has none; None for no other.
    """

    firmware: tuple[ProjectFirmware, ...]
    models: tuple[str, ...] = ()
    baseline: str | None = None
    path: Path = field(default=Path(PROJECT_FILE), metadata=HIDDEN)
    built: Path | None = field(default=None, metadata=HIDDEN)

    def program_of(self, firmware: ProjectFirmware) -> str:
        """Return where a firmware's program is.

        Raises:
            UsageError: It is not there.
        """
        assert firmware.firmware is not None, "it names one"
        folders = [self.folder, *([self.built] if self.built is not None else [])]
        places = [inside(folder, firmware.firmware, may_link=True) for folder in folders]
        found = next((path for path in places if os.path.isfile(path)), None)
        if found is None:
            raise UsageError(f"{places[0]}: there is no such program; build it first")
        return found

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


_LONG_KEY = re.compile(r"""(?<![\w.-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){100}""")


def read_project(path: str | os.PathLike[str] = PROJECT_FILE) -> Project:
    """Return what a file says.

    Raises:
        UsageError: It cannot be read, or says what cannot be; one sentence that names the place.
    """
    data = read(path, most=MAX_DOCUMENT_BYTES)
    try:
        project = _parsed(data)
    except (ValueError, RecursionError, UsageError) as error:
        raise UsageError(f"{path}: {parse_problem(error)}") from error
    return replace(project, path=Path(path))


def _parsed(data: bytes) -> Project:
    """Return the project in a file's bytes, whose keys are all known and which holds models to something."""
    import tomllib  # Slow to import.

    text = data.decode("utf-8-sig")
    if _LONG_KEY.search(text):  # tomllib's time and memory are quadratic in the parts of a key.
        raise UsageError("a key has more than 100 parts")
    document = tomllib.loads(text)
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
        if each.limit is None and not each.limits and each.board is None:
            raise UsageError(f"firmware '{each.label}' needs a limit or a board")
        if each.run and (each.firmware is None or each.board is not None):
            raise UsageError(f"firmware '{each.label}': run needs firmware, the program, and a limit")
        if each.into < 0 or (each.into and each.firmware is None):
            raise UsageError(f"firmware '{each.label}': into needs firmware, the program, and starts at 1")
        if not (each.models or project.models):
            raise UsageError(f"firmware '{each.label}' has no models; name them there, or once for all firmwares")
    labels = [each.label for each in project.firmware]
    if twice := {label for label in labels if labels.count(label) > 1}:
        raise UsageError(f"two firmwares are called '{min(twice)}'; give them names")


def _refuse_unknown(row: object, kind: type, name: str) -> None:
    known = {each.key for each in fields_of(kind) or () if each.form != "hidden"}
    unknown = row.keys() - known if isinstance(row, dict) else set()
    if unknown:
        hint = meant(min(unknown), sorted(known)) or f"what it can say: {', '.join(sorted(known))}"
        raise UsageError(f"{name} says '{min(unknown)}'; {hint}")


def configurations_of(firmware: ProjectFirmware, folder: Path = Path()) -> tuple[Configuration, ...]:
    """Return what a firmware is: one configuration, or with a board alone one for each library that people use there.

    Args:
        firmware: It; one that names no program.
        folder: The folder of its file, where its Python files are.

    Raises:
        UsageError: It names what there is not, or what does not go together.
    """
    if firmware.board is None or firmware.names_its_tflm:
        return (_configuration(firmware, firmware.library, folder),)
    return tuple(_configuration(firmware, library or None, folder) for library in board(firmware.board).libraries)


def _configuration(firmware: ProjectFirmware, library: str | None, folder: Path) -> Configuration:
    is_named = firmware.board is not None or library is not None
    return configure(
        firmware.target or (None if is_named else TARGET),
        board=firmware.board,
        library=library,
        kernels=firmware.kernels,
        runtime=firmware.runtime,
        **_set_up(firmware, folder),
    )


_SET_UP = (
    "optimize_kernels_for",
    "ethos_u",
    "arena_address",
    "interpreter",
    "planner",
    "own_planner",
    "resource_variables",
    "variable_arena",
)


def _set_up(firmware: ProjectFirmware, folder: Path) -> dict[str, Any]:
    """Return the settings of a firmware beside its target, kernels and TFLM."""
    given = {name: value for name in _SET_UP if (value := getattr(firmware, name)) is not False}
    return {**given, "custom_ops": _custom_ops(firmware.custom_ops, folder)}


def _custom_ops(names: Sequence[str], folder: Path) -> list[OpModel]:
    if not names:
        return []
    from tflm_sim.cli.options import load_custom_ops  # The page in the browser names none, and has no command line.

    return [row for name in names for row in load_custom_ops(inside(folder, name))]


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
    from tflm_sim.cli.options import shrinking  # The page in the browser has no command line.

    wanted = None if only is None else {os.path.normpath(name).replace(os.sep, "/") for name in only}
    known = {} if project.baseline_path is None else read_baseline(project.baseline_path)
    for firmware in project.firmware:
        try:
            judges = _judges(project, firmware, simulate)
            named = _named(project, firmware)
            models = models_of(project, firmware)
            for pattern in firmware.limits:
                if not set(models).intersection(_names(project, [pattern])):
                    raise unknown("model in limits", pattern, models)
            for name in models:
                if wanted is None or name in wanted:
                    room = _room(project, firmware, name)
                    command = shrinking(named, _path(project, name), room.limit)
                    rows = (_verdict(project, name, each, room, known) for each in judges)
                    judged = (replace(row, shrunk_by=command) for row in rows)
                    yield Cell(name, firmware, tuple(zip(judged, (each.configuration for each in judges), strict=True)))
        except UsageError as error:
            raise UsageError(f"{project.path}: firmware '{firmware.label}': {error}") from error


def _named(project: Project, firmware: ProjectFirmware) -> dict[str, object]:
    """Return what a firmware names, as options of a command that is typed where the program stands."""
    named = {each.name: getattr(firmware, each.name) for each in fields(firmware)}
    files = [_path(project, file) for file in firmware.custom_ops]
    linked = None if firmware.firmware is None else project.program_of(firmware)
    return {**named, "firmware": linked, "custom_ops": files, "executed": firmware.run}


def _path(project: Project, name: str) -> str:
    """Return a file that the project names, or a sample, as a command line has it."""
    return name if name.startswith("sample:") else inside(project.folder, name, may_link=True)


def _room(project: Project, firmware: ProjectFirmware, name: str) -> Room:
    """Return how much room a model has: that of its own limit, or that of its firmware."""
    own = (limit for pattern, limit in firmware.limits.items() if name in _names(project, [pattern]))
    limit = next(own, firmware.limit)
    if limit is None and firmware.board is None:
        raise UsageError(f"{name} has no limit; add a line 'limit = \"64KiB\"' for all that limits does not name")
    return room_on(
        firmware.board,
        limit=limit,
        ram_free=firmware.ram_free,
        has_external_ram=firmware.external_ram,
        beside=firmware.beside,
    )


class _Judge(NamedTuple):
    """Who judges a model: by a simulation, by what a program's file says, or by executing it.

    ``judge`` is called with the model's name, the model, the room, the key in baselines, and what it needed before.
    """

    configuration: Configuration
    judge: Callable[[str, Model, Room, str, int | None], Verdict]


def _judges(project: Project, firmware: ProjectFirmware, simulate: Simulate) -> list[_Judge]:
    """Return who judges a firmware's models: one, or one for each library that people use on its board."""
    if firmware.firmware is not None:
        return [_judge_of_program(project, firmware)]

    def simulated(configuration: Configuration) -> _Judge:
        return _Judge(
            configuration,
            lambda name, model, room, _, before: judge(name, model, configuration, room, before, simulate=simulate),
        )

    return [simulated(each) for each in configurations_of(firmware, project.folder)]


def _judge_of_program(project: Project, firmware: ProjectFirmware) -> _Judge:
    """Return who judges models in a linked program."""
    program = linked_program(
        project.program_of(firmware),
        firmware.target,
        run=firmware.run,
        into=firmware.into,
        kernels=firmware.kernels,
        runtime=firmware.runtime,
        library=firmware.library,
        **_set_up(firmware, project.folder),
    )
    if firmware.board is not None:
        check_core(board(firmware.board), program.possible[0].target)
    return _Judge(program.possible[0], program.judge)


def models_of(project: Project, firmware: ProjectFirmware) -> list[str]:
    """Return the names of a firmware's models from the project's folder, sorted; of a pattern without any, itself."""
    return sorted(_names(project, firmware.models or project.models))


def _names(project: Project, names: Iterable[str]) -> set[str]:
    """Return the names from the project's folder of what files, folders, patterns and "sample:NAME" name."""
    names = list(names)
    samples = [name for name in names if name.startswith("sample:")]
    found = []
    for name in names:
        if name in samples:
            continue
        named = inside(project.folder, name, may_link=True)
        for path in expand([named]):
            found.append(os.path.relpath(path, project.folder).replace(os.sep, "/"))
            if path != named:  # it was listed
                inside(project.folder, found[-1], pattern=name)
    return {*samples, *found}


def _verdict(project: Project, name: str, judge_of: _Judge, room: Room, known: Mapping[str, int]) -> Verdict:
    key = baseline_key(name, judge_of.configuration)
    before = known.get(key)
    try:
        model = load(_path(project, name))
    except ModelError as error:
        return Verdict(name, key, None, room.limit, None, before, error.message)
    verdict = judge_of.judge(name, model, room, key, before)
    if project.baseline is None or before is not None or verdict.needed is None:
        return verdict
    missing = f"{project.baseline} has no size for {key}; 'tflm-sim check --update-baseline' writes it"
    return replace(verdict, missing_baseline=missing)
