"""What the page asks of the package, as JSON in and JSON out; it runs inside the browser.

A model is a name and its bytes; files that hold several models (archives, C sources) give an answer for each. A model
that fails is an answer that says why, never an exception: one bad file does not take the others with it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from tflm_sim import __version__
from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.errors import TflmSimError
from tflm_sim.escape import json_text, printable
from tflm_sim.model.inputs import unpack
from tflm_sim.model.load import parse
from tflm_sim.model.types import Model
from tflm_sim.report.page import write_page
from tflm_sim.report.shrunk import shrunk_lines
from tflm_sim.report.take_picture import take_picture
from tflm_sim.targets.boards import BOARDS, Board
from tflm_sim.targets.presets import PRESETS

Answer = dict[str, Any]
Settings = Mapping[str, Any]


def choices() -> str:
    """Return what can be chosen: the version, targets and boards, each with its description."""
    return json_text(
        {
            "version": __version__,
            "targets": [{"name": name, "description": row.description} for name, row in PRESETS.items()],
            "boards": [
                {"name": row.name, "description": row.description, "target": row.preset} for row in BOARDS.values()
            ],
        }
    )


class Session:
    """The models of one visit (mutable); the page names them by number."""

    def __init__(self) -> None:
        self._models: list[tuple[str, Model]] = []

    def add(self, name: str, data: bytes) -> str:
        """Take a file in and return a JSON list: {"number", "name"} of each model in it, or one {"name", "error"}."""

        def taken() -> Iterator[Answer]:
            for label, inside in unpack(name, bytes(data)):
                self._models.append((label, parse(inside, path=label)))
                yield {"number": len(self._models) - 1, "name": printable(label, 200), "bytes": len(inside)}

        return _answers(name, taken)

    def size(self, number: int, settings: str) -> str:
        """Return the size of a model as a JSON list of one row; ``settings`` as :func:`configured` takes them."""
        name, model = self._models[number]
        return _answers(name, lambda: iter([_row(configured(model, json.loads(settings)))]))

    def compare(self, number: int) -> str:
        """Return a model's size on every board, as a JSON list of rows with the board's memory."""
        name, model = self._models[number]
        sizes: dict[str, Answer] = {}

        def rows() -> Iterator[Answer]:
            for board in BOARDS.values():
                if board.preset not in sizes:
                    sizes[board.preset] = json.loads(self.size(number, json_text({"target": board.preset})))[0]
                yield sizes[board.preset] | _room(board, sizes[board.preset], model)

        return _answers(name, rows)

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
        """Rewrite a model for a smaller arena and return a JSON list of one row: "lines" for people, "gained".

        Where it gained, the result is a model of this visit: "number", and "name" to save it under.

        Args:
            number: The model.
            settings: As :func:`configured` takes them.
            progress: Told what is being tried.
        """
        from tflm_sim.shrinking.shrink import shrink

        name, model = self._models[number]

        def shrunken() -> Iterator[Answer]:
            shrunk = shrink(model, configured(model, json.loads(settings)).configuration, progress=progress)
            row: Answer = {"lines": shrunk_lines(shrunk, goal=None, explain=False), "gained": shrunk.has_gained}
            if shrunk.has_gained:
                label = f"{PurePath(name).stem}.small.tflite"
                self._models.append((label, replace(shrunk.model, path=label)))
                row |= {"number": len(self._models) - 1, "name": printable(label, 200), "bytes": len(shrunk.data)}
            yield row

        return _answers(name, shrunken)

    def data(self, number: int) -> bytes:
        """Return the file of a model."""
        return bytes(self._models[number][1].source)


def configured(model: Model, settings: Settings) -> Simulation:
    """Simulate a model with "target" and, where they are set, "kernels", "interpreter" and "planner"."""
    chosen = {name: settings[name] for name in ("kernels", "interpreter", "planner") if settings.get(name)}
    return simulate(model, settings["target"], **chosen)


def _answers(name: str, answers: Callable[[], Iterator[Answer]]) -> str:
    rows: list[Answer] = []
    try:
        rows.extend(answers())
    except (TflmSimError, RecursionError, MemoryError) as error:
        rows.append({"name": printable(name, 200), "error": printable(str(error) or type(error).__name__, 500)})
    return json_text(rows)


def _row(simulation: Simulation) -> Answer:
    smallest = simulation.smallest
    configuration = simulation.configuration
    return {
        "target": configuration.target.name,
        "kernels": str(configuration.target.kernel_library),
        "status": simulation.status,
        "smallest": None if smallest is None else smallest.size,
        "multiple_of_16": None if smallest is None else smallest.multiple_of_16,
        "used": simulation.arena_used_bytes,
        "head": simulation.head_bytes,
        "tail": simulation.tail_bytes,
        "operators": sum(len(subgraph.operators) for subgraph in simulation.model.subgraphs),
        "failure": "" if simulation.failure is None else printable(str(simulation.failure), 500),
        "log": [printable(line, 300) for line in simulation.log[:20]],
    }


def _room(board: Board, row: Answer, model: Model) -> Answer:
    """Return what a board has: the largest bank of RAM, and flash, against what the model takes of them."""
    bank = board.largest_bank
    needed = row.get("multiple_of_16")
    share = None if bank is None or needed is None else needed / bank.size
    return {
        "board": board.name,
        "description": board.description,
        "ram": None if bank is None else bank.size,
        "flash": board.flash,
        "share": share,
        "model_bytes": len(model.source),
        "fits": None if share is None else share <= 1 and (board.flash is None or len(model.source) <= board.flash),
    }
