"""What the page asks of the package: JSON in, and JSON of documents out; it runs in the browser.

A model is a name and its bytes; files that hold several models (archives, C sources) give an answer for each, and an
ELF file one for the program that it is. A model that fails is an answer that says why, never an exception: one bad file
does not take the others with it.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import repeat
from pathlib import PurePath
from typing import Any, TextIO

from tflm_sim import __version__
from tflm_sim.answers.rows import cases, rows_of
from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.checks.judge import Room, judge
from tflm_sim.device.configuration import Configuration, configure
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
    BoardVerdict,
    Choice,
    Choices,
    FirmwareAnswer,
    OpenFirmware,
    OpenModel,
    ShrinkRow,
    Unanswered,
)
from tflm_sim.extensions.shrink.text import shrunk_lines
from tflm_sim.model.inputs import unpack
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model
from tflm_sim.names import with_options
from tflm_sim.planners import native
from tflm_sim.report.circumstances import unnamed
from tflm_sim.report.document import SizeDocument, size_document
from tflm_sim.report.page import write_page
from tflm_sim.report.picture import Picture
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
    return _json(Choices(__version__, "C" if native.available() else "Python", targets, boards, libraries))


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
        """Return the :class:`SizeDocument` of a model, and with a board the :class:`BoardVerdict`.

        Args:
            number: The model.
            settings: As :func:`configured` takes them, in JSON.
        """
        name, model = self._models[number]

        def sized() -> Iterable[SizeDocument | BoardVerdict]:
            chosen: Settings = json.loads(settings)
            simulation = configured(model, chosen)
            yield size_document(simulation, assumed=_assumed(simulation.configuration, chosen))
            if chosen.get("board") and (smallest := simulation.smallest) is not None:
                yield _board_verdict(simulation, smallest.multiple_of_16, board(chosen["board"]))

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
        """Return a sweep's :class:`Row` for each board."""
        name, model = self._models[number]
        return _answers(name, lambda: rows_of(name, model, cases(boards=["all"])))

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
            yield ShrinkRow(tuple(shrunk_lines(shrunk, goal=None, explain=False)), smaller)

        return _answers(name, shrunken)

    def data(self, number: int) -> bytes:
        """Return the file of a model."""
        return bytes(self._models[number][1].source)

    def _opened(self, label: str, model: Model) -> OpenModel:
        self._models.append((label, model))
        return OpenModel(len(self._models) - 1, printable(label, 200), len(model.source))


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
    verdicts, facts = (map(with_options, lines) for lines in (verdict_lines(document), fact_lines(document)))
    return FirmwareAnswer(document.answer, document.fits, tuple(verdicts), tuple(facts))


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


def _assumed(configuration: Configuration, settings: Settings) -> tuple[str, ...]:
    return unnamed(
        configuration,
        target=settings.get("target") or settings.get("board"),
        **{"library": None, "runtime": None, **_version_named(settings)},
        kernels=settings.get("kernels"),
    )


def _board_verdict(simulation: Simulation, needed: int, chosen: Board) -> BoardVerdict:
    """Judge an arena of ``needed`` bytes by the largest bank of a board, and the file by its flash."""
    verdict = judge("", simulation.model, simulation.configuration, Room(None, chosen))
    bank = chosen.largest_bank
    if bank is None:
        return BoardVerdict(verdict.answer, verdict.fits, verdict.reason)
    left = bank.size - needed
    if left < 0:
        too_many = f"does not fit: {-left:,} B too many for {bank.name} of {chosen.name} ({bank.size:,} B)"
        return BoardVerdict("no", False, too_many, left)
    if verdict.answer == "no":
        return BoardVerdict("no", False, f"does not fit: {verdict.reason}", left)
    rest = f"leaves {left:,} B of {bank.name} of {chosen.name} ({bank.size:,} B) to the rest of the firmware"
    return BoardVerdict("cannot tell", None, rest, left)


def _json(document: object) -> str:
    return json_text(as_json(document))


def _answers(name: str, answers: Callable[[], Iterable[object]]) -> str:
    rows: list[object] = []
    try:
        rows.extend(answers())
    except (TflmSimError, RecursionError, MemoryError) as error:
        rows.append(Unanswered(printable(name, 200), printable(str(error) or type(error).__name__, 500)))
    return _json(rows)
