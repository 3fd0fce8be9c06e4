"""What the page asks of the package: JSON in, and JSON of documents out; it runs in the browser.

A model is a name and its bytes; files that hold several models (archives, C sources) give an answer for each, and an
ELF file one for the program that it is. A model that fails is an answer that says why, never an exception: one bad file
does not take the others with it.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import repeat
from pathlib import PurePath
from typing import Any, Literal, TextIO

from tflm_sim import __version__
from tflm_sim.answers.planned_problem import category_of
from tflm_sim.answers.rows import Row, cases, rows_of
from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.checks.doubts import Answer
from tflm_sim.checks.judge import Room, judge
from tflm_sim.device.configuration import configure
from tflm_sim.documents import as_json
from tflm_sim.errors import FirmwareError, TflmSimError, UsageError
from tflm_sim.escape import json_text, printable
from tflm_sim.extensions.ci.project import ProjectFirmware, configurations_of
from tflm_sim.extensions.firmware.document import FirmwareDocument, firmware_document
from tflm_sim.extensions.firmware.judge import judge as judge_firmware
from tflm_sim.extensions.firmware.reading.firmware import Firmware, examine
from tflm_sim.extensions.firmware.reading.image import parse_image
from tflm_sim.extensions.firmware.reading.target import FirmwareTarget, firmware_target
from tflm_sim.extensions.firmware.rooms import embedded_subject, rooms_for, used_models
from tflm_sim.extensions.firmware.text import fact_lines, verdict_lines
from tflm_sim.extensions.page.answers import (
    BoardTable,
    BoardVerdict,
    Choice,
    Choices,
    FirmwareAnswer,
    ModelAnswer,
    OpenFirmware,
    OpenModel,
    ShrinkRow,
    StripPart,
    TableRow,
    Unanswered,
)
from tflm_sim.extensions.shrink.text import shrunk_lines
from tflm_sim.model.inputs import unpack
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model
from tflm_sim.names import with_options
from tflm_sim.palette import CATEGORIES, DARK_MARK, EDGE, FREE, MARK
from tflm_sim.planners import native
from tflm_sim.report.board_rows import board_row
from tflm_sim.report.circumstances import assumed_text, unnamed
from tflm_sim.report.page import write_page
from tflm_sim.report.picture import Picture
from tflm_sim.report.size_answer import SizeAnswer, size_answer
from tflm_sim.report.svg import write_svg
from tflm_sim.report.take_picture import take_picture
from tflm_sim.samples import sample_path
from tflm_sim.targets.boards import BOARDS, Board, board
from tflm_sim.targets.libraries import LIBRARIES
from tflm_sim.targets.presets import PRESETS

Settings = Mapping[str, str]
SETTINGS = ("board", "target", "library", "kernels", "interpreter", "planner")
SAMPLE = "mobilenet_v1_025"
_ELF = b"\x7fELF"
_VERSION_OF_TFLM = re.compile(r"\d{4}-\d\d-\d\d|[0-9a-f]{7,40}")


def choices() -> str:
    """Return the :class:`Choices`."""
    targets = tuple(Choice(name, row.description) for name, row in PRESETS.items())
    boards = tuple(Choice(row.name, row.description, row.preset, row.flash or 0) for row in BOARDS.values())
    modelled = {row.label: row for row in LIBRARIES if row.is_modelled}
    libraries = tuple(Choice(label, f"TFLM of {row.runtime().day}") for label, row in modelled.items())
    core = "C." if native.available() else "Python; models of thousands of operators take seconds."
    return _json(Choices(f"tflm_sim {__version__}, memory planner in {core}", targets, boards, libraries))


class OpenModels:
    """The models that are open in the page (mutable), which names them by number.

    An answer is a JSON list of rows; where something fails, its last row is a :class:`Unanswered`.
    """

    def __init__(self) -> None:
        self._models: list[tuple[str, Model]] = []
        self._firmwares: list[tuple[str, Firmware]] = []

    def add(self, name: str, data: bytes) -> str:
        """Open a file and return an :class:`OpenModel` for each model in it, or the :class:`OpenFirmware` of an ELF."""

        def opened() -> Iterable[OpenModel | OpenFirmware]:
            if data[:4] == _ELF:
                self._firmwares.append((name, examine(parse_image(bytes(data), path=name))))
                yield OpenFirmware(len(self._firmwares) - 1, printable(name, 200))
                return
            for label, inside in unpack(name, bytes(data)):
                yield self._opened(label, parse(inside, path=label))

        return _answers(name, opened)

    def size(self, number: int, settings: str) -> str:
        """Return the :class:`ModelAnswer` of a model.

        Args:
            number: The model.
            settings: As :func:`configured` takes them, in JSON.
        """
        name, model = self._models[number]

        def sized() -> Iterable[ModelAnswer]:
            chosen: Settings = json.loads(settings)
            yield _model_answer(configured(model, chosen), chosen)

        return _answers(name, sized)

    def firmware(self, number: int, settings: str) -> str:
        """Return the :class:`FirmwareAnswer` of a program; settings are asked only for what its file does not say."""
        name, firmware = self._firmwares[number]
        return _answers(name, lambda: [_judged(firmware, json.loads(settings))])

    def sample(self) -> str:
        """Open a model that comes with the package, for somebody who has none at hand; like :meth:`add`."""
        return self.add(f"{SAMPLE}.tflite", sample_path(SAMPLE).read_bytes())

    def svg(self, number: int, settings: str) -> str:
        """Return the picture of a model's arena as SVG.

        Raises:
            TflmSimError: It cannot be drawn.
        """
        return self._drawn(number, settings, write_svg)

    def compare(self, number: int) -> str:
        """Return the :class:`BoardTable` of a model."""
        name, model = self._models[number]
        return _answers(name, lambda: [_board_table(list(rows_of(name, model, cases(boards=["all"]))))])

    def page(self, number: int, settings: str) -> str:
        """Return the report page of a model.

        Raises:
            TflmSimError: It cannot be drawn.
        """
        return self._drawn(number, settings, write_page)

    def _drawn(self, number: int, settings: str, write: Callable[[TextIO, Sequence[Picture]], None]) -> str:
        _, model = self._models[number]
        file = io.StringIO()
        write(file, [take_picture(model, configured(model, json.loads(settings)).configuration)])
        return file.getvalue()

    def shrink(self, number: int, settings: str, progress: Callable[[str], None]) -> str:
        """Rewrite a model for a smaller arena, open the result where it gained, and return a :class:`ShrinkRow`.

        Args:
            number: The model.
            settings: As :func:`configured` takes them, in JSON.
            progress: Called with what is being tried.
        """
        from tflm_sim.extensions.shrink.shrink import shrink

        name, model = self._models[number]

        def shrunken() -> Iterable[ShrinkRow]:
            shrunk = shrink(model, configured(model, json.loads(settings)).configuration, progress=progress)
            label = f"{PurePath(name).stem}.small.tflite"
            smaller = self._opened(label, replace(shrunk.model, path=label)) if shrunk.has_gained else None
            yield ShrinkRow(tuple(map(with_options, shrunk_lines(shrunk, goal=None, explain=False))), smaller)

        return _answers(name, shrunken)

    def data(self, number: int) -> bytes:
        return bytes(self._models[number][1].source)

    def _opened(self, label: str, model: Model) -> OpenModel:
        self._models.append((label, model))
        shown, size = printable(label, 200), len(model.source)
        return OpenModel(len(self._models) - 1, shown, size, f"Save {shown} ({size:,} B)")


def configured(model: Model, settings: Settings) -> Simulation:
    """Simulate a model with what is set of "board", "target", "library", "kernels", "interpreter" and "planner".

    A library is its name with or without a version; a day or a commit of TFLM may stand in its place.
    """
    chosen: dict[str, Any] = {name: settings[name] for name in SETTINGS if settings.get(name)}
    chosen |= _version_named({"library": chosen.pop("library", "")})
    (configuration, *_) = configurations_of(ProjectFirmware(**chosen))
    return simulate(model, configuration)


def _judged(firmware: Firmware, settings: Settings) -> FirmwareAnswer:
    """Judge every model of a program in the arena that it gets.

    Raises:
        FirmwareError: There is no model in it.
    """
    if not firmware.models:
        raise FirmwareError("there is no model in it (no TFL3 flatbuffer can be read)")
    try:
        found = _target_of(firmware, settings)
    except FirmwareError as problem:
        document = firmware_document(firmware, None, [], problem=problem.message)
        return _firmware_answer(document)
    configurations = [configure(target) for target in found.alternatives]
    used = used_models(firmware)
    rooms = (rooms_for(firmware, model, is_named=False) for model in used)
    subjects = map(embedded_subject, repeat(firmware), used, rooms)
    verdicts = [judge_firmware(subject, firmware, configurations, found.conditions) for subject in subjects]
    document = firmware_document(firmware, found, verdicts)
    return _firmware_answer(document)


def _firmware_answer(document: FirmwareDocument) -> FirmwareAnswer:
    verdicts, facts = (tuple(map(with_options, lines)) for lines in (verdict_lines(document), fact_lines(document)))
    answers = [row.answer for row in document.verdicts]
    answers += ["cannot tell"] if document.problem else []
    tones = tuple(map(_tone, answers))
    return FirmwareAnswer(document.answer, document.fits, verdicts, tones, facts)


def _tone(answer: Answer | None) -> Literal["yes", "no", "open"]:
    return "yes" if answer == "yes" else "no" if answer == "no" else "open"


def _target_of(firmware: Firmware, settings: Settings) -> FirmwareTarget:
    """Return what a program was built for; what its file does not say, the settings say.

    Of the versions of TFLM that the file leaves open, it is the one that was chosen, where that is among them.
    """
    version = _version_named(settings)
    try:
        found = firmware_target(firmware)
    except FirmwareError:
        named = {"named": settings.get("target"), "kernels": settings.get("kernels"), **version}
        return firmware_target(firmware, **{name: value for name, value in named.items() if value})
    versions = {target.runtime.snapshot for target in found.alternatives}
    if version and len(versions) > 1:
        with suppress(UsageError, FirmwareError):
            chosen = firmware_target(firmware, **version)
            return chosen if chosen.target.runtime.snapshot in versions else found
    return found


def _version_named(settings: Settings) -> dict[str, str]:
    """Return a library, or the TFLM that may stand in its place, by the setting that it is."""
    library = settings.get("library", "")
    return {"runtime" if _VERSION_OF_TFLM.fullmatch(library) else "library": library} if library else {}


def _model_answer(simulation: Simulation, chosen: Settings) -> ModelAnswer:
    answer, target = size_answer(simulation), simulation.configuration.target
    needed = answer.smallest_arena_multiple_of_16
    found = board(chosen["board"]) if chosen.get("board") else None
    verdict = _board_verdict(simulation, needed, found) if found and needed is not None else None
    operators = sum(map(len, answer.operators)) or sum(len(each.operators) for each in simulation.model.subgraphs)
    if needed is None or answer.smallest_arena_bytes is None:
        failure = printable(with_options(str(answer.failure)), 300)
        says = f"no: AllocateTensors() fails in an arena of any size: {failure}"
        log = "\n".join(printable(line, 200) for line in answer.log if line.strip())
        row = TableRow(None, None, None, operators or None, None, "no", failure)
        return ModelAnswer("no", "no", says, "", "", "", None, "", "", log, (), (), row)
    says = "" if verdict is None else verdict.text
    problem = "" if answer.invoke_problem is None else printable(with_options(str(answer.invoke_problem)), 300)
    problem = "" if problem and problem in says else problem
    judged: Answer | None = "no" if problem else None if verdict is None else verdict.answer
    left = None if verdict is None else verdict.left
    assumed = unnamed(
        simulation.configuration,
        target=chosen.get("target") or chosen.get("board"),
        **{"library": None, "runtime": None, **_version_named(chosen)},
        kernels=chosen.get("kernels"),
    )
    note = assumed_text(assumed, [target] if "kernels" in assumed else [])
    words = "" if judged is None else judged if judged in ("yes", "no") else "if the rest leaves it"
    return ModelAnswer(
        answer=judged,
        tone=_tone(judged),
        verdict=says,
        number=f"{needed:,} B",
        about=f" on {target.name}",
        assumed=f" ({note})" if note else "",
        smallest=answer.smallest_arena_bytes,
        line=f"alignas(16) uint8_t tensor_arena[{needed}];",
        problem=problem,
        log="",
        strip=_strip(simulation, answer, needed, left),
        facts=(
            ("smallest arena", f"{answer.smallest_arena_bytes:,} B"),
            ("head", f"{answer.head_bytes or 0:,} B"),
            ("tail", f"{answer.tail_bytes or 0:,} B"),
            ("arena_used_bytes()", f"{answer.arena_used_bytes:,} B"),
            ("operators", f"{operators:,}"),
            ("kernels", str(target.kernel_library)),
            ("TFLM", str(target.runtime)),
        ),
        row=TableRow(needed, answer.head_bytes, answer.tail_bytes, operators, left, words, problem or says),
    )


def _strip(simulation: Simulation, answer: SizeAnswer, needed: int, left: int | None) -> tuple[StripPart, ...]:
    """Return the arena when its head is fullest: what is alive, gaps, the tail; then what the board has beside it."""
    alive: Counter[str] = Counter()
    peak = answer.peak
    for index in peak.buffers if peak is not None else ():
        planned = simulation.buffers[index]
        alive[category_of(simulation.model, planned.info)] += planned.info.size
    head, tail = answer.head_bytes or 0, answer.tail_bytes or 0
    parts = [_segment(row.title, alive[key], key) for key, row in CATEGORIES.items() if alive[key] > 0]
    parts.append(_segment("head, not alive at that moment", head - sum(alive.values()), "gap"))
    parts.append(_segment("set-up and alignment", needed - head - tail, "temp"))
    parts.append(_segment("tail, for good", tail, "kernel data"))
    if left is not None:
        parts.append(
            _segment("left on the board", left, "free") if left > 0 else _segment("too many", -left, "missing")
        )
    return tuple(part for part in parts if part.bytes > 0)


def _segment(title: str, size: int, category: str) -> StripPart:
    colors = {"gap": (EDGE, "#2f3947"), "free": (FREE, "#151a21"), "missing": (MARK, DARK_MARK)}
    row = CATEGORIES.get(category)
    light, dark = (row.light, row.dark) if row else colors[category]
    is_hatched = row is not None and row.is_hatched
    return StripPart(f"{title}: {max(size, 0):,} B", max(size, 0), category, light, dark, is_hatched)


def _board_table(rows: Sequence[Row]) -> BoardTable:
    fitting = sorted((row for row in rows if row.may_fit), key=lambda row: (row.limit or 0, row.board))
    smallest = ", ".join(row.board for row in fitting[:5])
    summary = (
        f"With the newest TFLM it fits {len(fitting)} of {len(rows)} boards if that much of their RAM is free; "
        f"the smallest: {smallest}."
    )
    return BoardTable(
        summary if fitting else "With the newest TFLM it fits none of the boards.",
        tuple(map(_board_cells, rows)),
        tuple("no" if row.may_fit is False else "open" for row in rows),
        tuple(printable(with_options(row.error), 300) for row in rows),
    )


def _board_cells(row: Row) -> tuple[str, ...]:
    board_name, target, arena, of_ram, _, of_flash, _, fits = board_row(row).cells
    shares = (each or "not known" for each in (of_ram, of_flash))
    return board_name, arena, fits, *shares, target, BOARDS[row.board].description


def _board_verdict(simulation: Simulation, needed: int, chosen: Board) -> BoardVerdict:
    """Judge an arena of ``needed`` bytes by the largest bank of a board, and the file by its flash."""
    verdict = judge("", simulation.model, simulation.configuration, Room(None, chosen))
    bank = chosen.largest_bank
    if bank is None:
        return BoardVerdict(verdict.answer, verdict.reason)
    left = bank.size - needed
    if left < 0:
        too_many = f"does not fit: {-left:,} B too many for {bank.name} of {chosen.name} ({bank.size:,} B)"
        return BoardVerdict("no", too_many, left)
    if verdict.answer == "no":
        return BoardVerdict("no", f"does not fit: {verdict.reason}", left)
    rest = f"leaves {left:,} B of {bank.name} of {chosen.name} ({bank.size:,} B) to the rest of the firmware"
    return BoardVerdict("cannot tell", rest, left)


def _json(document: object) -> str:
    return json_text(as_json(document))


def _answers(name: str, answers: Callable[[], Iterable[object]]) -> str:
    rows: list[object] = []
    try:
        rows.extend(answers())
    except (TflmSimError, RecursionError, MemoryError) as error:
        said = with_options(str(error)) or type(error).__name__
        rows.append(Unanswered(printable(name, 200), printable(said, 500)))
    return _json(rows)
