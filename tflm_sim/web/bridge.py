"""What the page asks of the package: JSON in, and JSON of documents out; it runs in the browser.

A model is a name and its bytes; files that hold several models (archives, C sources) give an answer for each. A model
that fails is an answer that says why, never an exception: one bad file does not take the others with it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

from tflm_sim import __version__
from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.documents import as_json
from tflm_sim.errors import TflmSimError
from tflm_sim.escape import json_text, printable
from tflm_sim.model.inputs import unpack
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model
from tflm_sim.report.document import size_document
from tflm_sim.report.page import write_page
from tflm_sim.report.shrunk import shrunk_lines
from tflm_sim.report.take_picture import take_picture
from tflm_sim.sweeps.limits import Limits
from tflm_sim.sweeps.rows import rows_of
from tflm_sim.sweeps.sweep import cases
from tflm_sim.targets.boards import BOARDS
from tflm_sim.targets.presets import PRESETS
from tflm_sim.values import replace
from tflm_sim.web.answers import Choice, Choices, OpenModel, ShrinkRow, Unanswered

Settings = Mapping[str, str]


def choices() -> str:
    """Return the :class:`Choices`."""
    targets = tuple(Choice(name, row.description) for name, row in PRESETS.items())
    boards = tuple(Choice(row.name, row.description, row.preset) for row in BOARDS.values())
    return _json(Choices(__version__, targets, boards))


class OpenModels:
    """The models that are open in the page (mutable), which names them by number.

    An answer is a JSON list of rows; where something fails, its last row is a :class:`Unanswered`.
    """

    def __init__(self) -> None:
        self._models: list[tuple[str, Model]] = []

    def add(self, name: str, data: bytes) -> str:
        """Open a file and return an :class:`OpenModel` for each model in it."""

        def opened() -> Iterator[OpenModel]:
            for label, inside in unpack(name, bytes(data)):
                yield self._opened(label, parse(inside, path=label))

        return _answers(name, opened)

    def size(self, number: int, settings: str) -> str:
        """Return the :class:`SizeDocument` of a model; ``settings`` as :func:`configured` takes them, in JSON."""
        name, model = self._models[number]
        return _answers(name, lambda: iter([size_document(configured(model, json.loads(settings)))]))

    def compare(self, number: int) -> str:
        """Return a sweep's :class:`Row` for each board."""
        name, model = self._models[number]
        return _answers(name, lambda: rows_of(name, model, cases(boards=["all"]), Limits(0)))

    def page(self, number: int, settings: str) -> str:
        """Return the report page of a model.

        Raises:
            TflmSimError: It cannot be drawn.
        """
        _, model = self._models[number]
        file = io.StringIO()
        write_page(file, [take_picture(model, configured(model, json.loads(settings)).configuration)])
        return file.getvalue()

    def shrink(self, number: int, settings: str, progress: Callable[[str], None]) -> str:
        """Rewrite a model for a smaller arena, open the result where it gained, and return a :class:`ShrinkRow`.

        Args:
            number: The model.
            settings: As :func:`configured` takes them, in JSON.
            progress: Told what is being tried.
        """
        from tflm_sim.shrinking.shrink import shrink

        name, model = self._models[number]

        def shrunken() -> Iterator[ShrinkRow]:
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
    """Simulate a model with "target" and, where they are set, "kernels", "interpreter" and "planner"."""
    chosen: dict[str, Any] = {
        name: settings[name] for name in ("kernels", "interpreter", "planner") if settings.get(name)
    }
    return simulate(model, settings["target"], **chosen)


def _json(document: object) -> str:
    return json_text(as_json(document))


def _answers(name: str, answers: Callable[[], Iterator[object]]) -> str:
    rows: list[object] = []
    try:
        rows.extend(answers())
    except (TflmSimError, RecursionError, MemoryError) as error:
        rows.append(Unanswered(printable(name, 200), printable(str(error) or type(error).__name__, 500)))
    return _json(rows)
