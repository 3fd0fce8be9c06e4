"""Write the published JSON Schemas, ``tflm_sim/schemas/*.json``, from the dataclasses of the documents.

python tools/make_schemas.py
"""

from __future__ import annotations

import json
from pathlib import Path

import tflm_sim.schemas
from tflm_sim.documents import Json
from tflm_sim.report.difference import Difference
from tflm_sim.report.document import ArenaDocument, ErrorDocument, SizeDocument
from tflm_sim.report.lifetimes import LifetimesDocument
from tflm_sim.report.picture_document import PictureDocument
from tflm_sim.report.plan import PlanDocument
from tflm_sim.report.verdict import VerdictDocument
from tflm_sim.schemas.generate import schema_of

FOLDER = Path(tflm_sim.schemas.__path__[0])
DOCUMENTS: dict[str, tuple[type, ...]] = {
    "check": (VerdictDocument,),
    "diff": (Difference,),
    "lifetimes": (LifetimesDocument,),
    "plan": (PlanDocument,),
    "report": (PictureDocument,),
    "size": (SizeDocument, ErrorDocument, ArenaDocument),
}
"""By the verb whose ``--json`` (or ``--format json``) they are: what the document is, one of several."""


def schemas() -> dict[str, Json]:
    """Return each schema by the name of its file."""
    return {f"{verb}.json": schema_of(*kinds, title=f"tflm-sim {verb}") for verb, kinds in DOCUMENTS.items()}


def text(schema: Json) -> str:
    """Return a schema as it stands in its file."""
    return json.dumps(schema, indent=1) + "\n"


if __name__ == "__main__":
    for name, schema in schemas().items():
        (FOLDER / name).write_text(text(schema), "utf-8")
        print(f"{name}: {len(schema.get('properties', ())) or len(schema['anyOf'])}")
