"""Write the published JSON Schemas, ``tflm_sim/schemas/*.json``, from the dataclasses of the documents.

python tools release schemas
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tflm_sim.schemas
from tflm_sim.answers.rows import Row
from tflm_sim.checks.verdict import Baseline
from tflm_sim.cli.bug_report import BugReport
from tflm_sim.cli.diff_between import BetweenDocument
from tflm_sim.cli.explain import ExplanationDocument
from tflm_sim.cli.list_boards import BoardRow
from tflm_sim.cli.list_libraries import LibraryRow
from tflm_sim.cli.list_ops import OperatorRow
from tflm_sim.cli.list_targets import CombinationRow, TargetRow
from tflm_sim.cli.size_boards import BoardsDocument
from tflm_sim.documents import Json
from tflm_sim.extensions.banks.document import BanksDocument
from tflm_sim.extensions.board.device_text import EventDocument
from tflm_sim.extensions.board.transport import PortInfo
from tflm_sim.extensions.eon.document import EonDocument
from tflm_sim.extensions.firmware.document import FirmwareDocument
from tflm_sim.extensions.firmware.execution_text import ExecutionDocument
from tflm_sim.extensions.lite.answer import LiteDocument
from tflm_sim.extensions.lite.answer_difference import LiteDifference
from tflm_sim.extensions.lite.text import FlexDocument, GpuDocument
from tflm_sim.extensions.shrink.stream_text import StreamedDocument
from tflm_sim.extensions.shrink.text import ShrunkDocument
from tflm_sim.extensions.shrink.windows_text import StreamDocument
from tflm_sim.extensions.sweep.cli import SweepDifference, SweepDocument
from tflm_sim.report.document import ArenaDocument, ErrorDocument, SizeDocument
from tflm_sim.report.lifetime_text import LifetimesDocument
from tflm_sim.report.picture_document import PictureDocument
from tflm_sim.report.planner_comparison import PlanDocument
from tflm_sim.report.size_difference import Difference
from tflm_sim.report.verdict_text import VerdictDocument
from tflm_sim.schemas.generate import schema_of

WIDTH = 100
FOLDER = Path(tflm_sim.schemas.__path__[0])
DOCUMENTS: dict[str, tuple[Any, ...]] = {
    "baseline": (Baseline,),
    "board listen": (EventDocument,),
    "board ports": (tuple[PortInfo, ...],),
    "bug-report": (BugReport,),
    "check": (VerdictDocument,),
    "diff": (Difference, LiteDifference),
    "diff --between": (BetweenDocument,),
    "eon": (EonDocument,),
    "explain": (ExplanationDocument,),
    "firmware": (FirmwareDocument,),
    "firmware --run": (ExecutionDocument,),
    "list boards": (tuple[BoardRow, ...],),
    "list libraries": (tuple[LibraryRow, ...],),
    "list ops": (tuple[OperatorRow, ...],),
    "list targets": (tuple[TargetRow, ...], tuple[CombinationRow, ...]),
    "lite": (LiteDocument, GpuDocument, FlexDocument),
    "plan": (PlanDocument,),
    "plan --bank": (BanksDocument,),
    "report": (PictureDocument,),
    "shrink": (ShrunkDocument,),
    "shrink --stream": (StreamedDocument, StreamDocument),
    "size": (SizeDocument, ErrorDocument, ArenaDocument),
    "size --boards": (BoardsDocument,),
    "sweep": (SweepDocument, SweepDifference, Row),
    "trace --lifetimes": (LifetimesDocument,),
}
"""By the command whose ``--json`` (``--jsonl``, ``--format json``) they are: a document, a list of rows, or several."""
COMMANDS = {"eon": "size FILE.cpp"}
"""The commands of documents that are not called after them."""


def schemas() -> dict[str, Json]:
    """Return each schema by the name of its file: ``size-boards.json`` for ``size --boards``."""
    return {
        f"{name.replace('--', '').replace(' ', '-')}.json": schema_of(
            *kinds, title=f"tflm-sim {COMMANDS.get(name, name)}"
        )
        for name, kinds in DOCUMENTS.items()
    }


def text(schema: Json) -> str:
    """Return a schema as it stands in its file: what fits on a line stands on one."""
    return f"{_lines(schema, 0)}\n"


def _lines(value: Any, depth: int) -> str:
    line = json.dumps(value)
    if not isinstance(value, (dict, list)) or len(line) + depth <= WIDTH:
        return line
    margin = " " * (depth + 1)
    if isinstance(value, list):
        rows = [_lines(item, depth + 1) for item in value]
        return f"[\n{margin}" + f",\n{margin}".join(rows) + f"\n{' ' * depth}]"
    rows = [f"{json.dumps(key)}: {_lines(item, depth + 1)}" for key, item in value.items()]
    return f"{{\n{margin}" + f",\n{margin}".join(rows) + f"\n{' ' * depth}}}"


if __name__ == "__main__":
    for name, schema in schemas().items():
        (FOLDER / name).write_text(text(schema), "utf-8")
        print(name)
