"""The size report as one versioned JSON document: the seam between the simulation and every skin.

``schema.json`` beside this file is its published schema; a saved document can be rendered later.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tflm_sim.answers.ledger import Holding
from tflm_sim.answers.simulation import Simulation
from tflm_sim.device.configuration import Configuration
from tflm_sim.device.model_allocation import ModelAllocation
from tflm_sim.errors import TflmSimError
from tflm_sim.graph.lifetimes import AllocationInfo
from tflm_sim.model.types import Model
from tflm_sim.report.text import failed_step
from tflm_sim.targets.target import Target

SCHEMA_VERSION = 1
Document = dict[str, Any]


def size_document(simulation: Simulation) -> Document:
    """Return the report of one model, as JSON values; sizes and offsets are bytes."""
    smallest, split = simulation.smallest, simulation.split
    return {
        "schema_version": SCHEMA_VERSION,
        "model": model_facts(simulation.model),
        **configuration_facts(simulation.configuration),
        "status": simulation.status,
        "smallest_arena_bytes": smallest.size if smallest else None,
        "smallest_arena_multiple_of_16": smallest.multiple_of_16 if smallest else None,
        "arena_used_bytes_at_smallest": smallest.arena_used_bytes if smallest else None,
        "smallest_split_arenas_bytes": split
        and {"persistent": split.persistent, "non_persistent": split.non_persistent},
        "arena_used_bytes": simulation.arena_used_bytes,
        "head_bytes": simulation.head_bytes,
        "tail_bytes": simulation.tail_bytes,
        "recorded": {
            name: {"requested": row.requested, "used": row.used, "count": row.count}
            for name, row in simulation.recorded.items()
        },
        "log": list(simulation.log),
        "failure": str(simulation.failure) if simulation.failure else None,
        "binding": _binding(simulation),
        "tail": {
            "groups": [{"what": what, **_holding(row)} for what, row in simulation.ledger.groups.items()],
            "ops": [
                {"subgraph": subgraph, "operator": index, "op": op, **_holding(row)}
                for (subgraph, index, op), row in simulation.ledger.ops.items()
            ],
        },
        "operators": simulation.allocation.op_names if simulation.allocation else [],
        **_plan(simulation),
    }


def arena_document(simulation: Simulation) -> Document:
    """Return what happens to one model in an arena of a given size, as JSON values; sizes are bytes."""
    return {
        "schema_version": SCHEMA_VERSION,
        "model": model_facts(simulation.model),
        **configuration_facts(simulation.configuration),
        "arena_size": simulation.arena_size,
        "fits": simulation.fits,
        "status": simulation.status,
        "arena_used_bytes": simulation.arena_used_bytes,
        "failure": None if simulation.failure is None else str(simulation.failure),
        "failed_step": None if simulation.failure is None else failed_step(simulation),
        "corruptions": list(simulation.corruptions),
        "log": list(simulation.log),
    }


def schema() -> Document:
    """Return the published JSON Schema of the three documents."""
    document: Document = json.loads(Path(__file__).with_name("schema.json").read_text("utf-8"))
    return document


def error_document(path: str, model: Model | None, configuration: Configuration, error: TflmSimError) -> Document:
    """Return the document for a model on which *we* cannot go on."""
    return {
        "schema_version": SCHEMA_VERSION,
        "model": model_facts(model, path),
        **configuration_facts(configuration),
        "error": {"kind": type(error).__name__, "message": str(error), "exit_code": error.exit_code},
    }


def model_facts(model: Model | None, path: str | None = None) -> Document:
    """Return what a model file is known by; a file that cannot be used by its path alone."""
    if model is None:
        return {"path": path, "sha256": None, "bytes": None}
    import hashlib  # It loads a crypto library, which whoever reads text need not wait for.

    return {
        "path": model.path,
        "sha256": hashlib.sha256(model.source).hexdigest(),
        "bytes": len(model.source),
    }


def configuration_facts(configuration: Configuration) -> Document:
    """Return everything outside the model that decides a byte."""
    return {
        "target": _target(configuration.target),
        "interpreter": configuration.interpreter,
        "planner": configuration.planner,
        "resource_variable_count": configuration.resource_variable_count,
        "variable_arena_bytes": configuration.variable_arena_size,
        "split_arenas": configuration.is_split,
        "custom_ops": [row.op for row in configuration.custom_ops],
    }


def _target(target: Target) -> Document:
    abi, runtime, kernels = target.abi, target.runtime, target.kernel_library
    return {
        "name": target.name,
        "abi": {
            "name": abi.name,
            "pointer_size": abi.pointer_size,
            "int64_alignment": abi.int64_alignment,
            "double_alignment": abi.double_alignment,
            "short_enums": abi.short_enums,
        },
        "runtime": {
            "snapshot": runtime.snapshot,
            "static_memory": runtime.static_memory,
            "compression": runtime.compression,
        },
        "kernels": {"name": kernels.name, "version": kernels.version, "variant": kernels.variant},
        "ethos_u": target.ethos_u,
        "arena_address_modulo_16": target.arena_address,
        "verified_against": target.verified_against,
    }


def _holding(row: Holding) -> Document:
    return {"requested": row.requested, "used": row.used, "count": row.count}


def _binding(simulation: Simulation) -> Document | None:
    if simulation.smallest is None:
        return None
    binding = simulation.smallest.binding
    return {"kind": binding.kind, "what": binding.detail, "where": binding.place}


def _plan(simulation: Simulation) -> Document:
    allocation = simulation.allocation
    if allocation is None or simulation.status != "ok":
        return {"buffers": [], "peak": None}
    labels = simulation.ledger.scratch_labels
    rows = {
        index: _buffer(allocation, allocation.infos[index], offset, labels)
        for index, offset in allocation.offsets.items()
    }
    peak = simulation.peak
    by_identity = {id(allocation.infos[index]): position for position, index in enumerate(rows)}
    return {
        "buffers": list(rows.values()),
        "peak": peak
        and {
            "scope": peak.scope,
            "subgraph": peak.subgraph,
            "operator": peak.operator,
            "op": _op_name(allocation, peak.subgraph, peak.operator),
            "live_bytes": peak.live_bytes,
            "buffers": [by_identity[id(info)] for info, _ in peak.buffers],
        },
    }


def _buffer(allocation: ModelAllocation, info: AllocationInfo, offset: int, scratch_labels: list[str]) -> Document:
    is_tensor = info.tensor >= 0
    name = allocation.model.subgraphs[info.subgraph].tensors[info.tensor].name if is_tensor else ""
    return {
        "kind": "tensor" if is_tensor else "scratch",
        "subgraph": info.subgraph,
        "index": info.tensor if is_tensor else info.scratch,
        "operator": None if is_tensor else info.node,
        "name": name if is_tensor else scratch_labels[info.scratch],
        "size": info.size,
        "offset": offset,
        "first": info.first_created,
        "last": info.last_used,
        "offline_offset": info.offline_offset if info.offline_offset >= 0 else None,
    }


def _op_name(allocation: ModelAllocation, subgraph: int, operator: int) -> str:
    return "" if operator < 0 else allocation.op_names[subgraph][operator]
