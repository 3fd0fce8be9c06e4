"""Print how much of ../shared/mobile, the live mobile runtime's own plans, the simulation reproduces.

    python tools/lite_report.py                       every configuration
    python tools/lite_report.py optimized             one, with the differences
    python tools/lite_report.py optimized NAME        one model

A row: configuration and step, models, those whose every tensor is exact (allocation type, offset, bytes, shape), exact
spans, equal temporaries, equal messages. Exit code 1 when anything differs.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import frame

from tflm_sim.documents import as_json
from tflm_sim.extensions.lite.answer import LiteDocument, LiteSettings, allocated, double_batch, machine_document
from tflm_sim.model.load import load

RECORD = frame.SHARED / "mobile/litert-2.3.0.json.gz"
CONFIGURATIONS = {
    "optimized": LiteSettings(),
    "optimized_preserve_all": LiteSettings(preserves_all_tensors=True),
    "builtin_ref": LiteSettings(kernels="reference"),
}


def model_path(name: str) -> Path:
    """Return the file of a recorded model."""
    return frame.SHARED / "models" / f"{name}.tflite"


def compare(name: str, record: dict[str, Any], configuration: str) -> dict[str, list[str]]:
    """Return, by step ("before" and "after" the resize, or "refused"), what differs: words of the columns."""
    model = load(model_path(name))
    if "crash" in record:
        return {}
    steps = [step for step in record["steps"] if step["step"] == "allocate"]
    if "build_error" in record:
        answer = machine_document(name, allocated(model, CONFIGURATIONS[configuration]))
        return {"refused": [] if "".join(answer.errors) == record["build_error"] else ["messages"]}
    result = {}
    for label, step in zip(("before", "after"), steps, strict=False):
        shapes = double_batch if label == "after" else None
        answer = machine_document(name, allocated(model, CONFIGURATIONS[configuration], shapes=shapes))
        result[label if "error" not in step else f"{label}, failing"] = _differences(answer, step)
    return result


def _differences(answer: LiteDocument, step: dict[str, Any]) -> list[str]:
    ours, theirs = json.loads(json.dumps(as_json(answer.subgraphs))), step.get("subgraphs", [])
    columns = {"tensors": ("tensors",), "spans": ("arena_rw_span", "persistent_span"), "temporaries": ("temporaries",)}
    found = [
        column
        for column, keys in columns.items()
        if [[graph[key] for key in keys] for graph in ours] != [[graph[key] for key in keys] for graph in theirs]
    ]
    return found + (["messages"] if "".join(answer.errors) != step.get("error", "") else [])


def main(arguments: list[str]) -> int:
    """Print the table, and the differences of one configuration."""
    recorded = json.loads(gzip.decompress(frame.recorded(RECORD).read_bytes()))
    configurations = [name for name in CONFIGURATIONS if not arguments or name in arguments]
    names = [name for name in recorded if not (rest := set(arguments) - set(CONFIGURATIONS)) or name in rest]
    columns = {"models": ">6", "tensors": ">8", "spans": ">6", "temporaries": ">11", "messages": ">8"}
    table = frame.Table({"configuration": "<38", **columns})
    is_exact = True
    for configuration in configurations:
        rows: dict[str, Counter[str]] = {}
        for name in names:
            for label, found in compare(name, recorded[name][configuration], configuration).items():
                row = rows.setdefault(label, Counter())
                row["models"] += 1
                row.update(found)
                is_exact &= not found
                if found and arguments:
                    print(f"  {name}, {label}: {', '.join(found)} differ")
        for label, row in sorted(rows.items()):
            count = row["models"]
            right = [count - row[column] for column in ("tensors", "spans", "temporaries", "messages")]
            table.row(f"{configuration}, {label}", count, *right)
    return 0 if is_exact else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
