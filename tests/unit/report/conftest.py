"""A picture made by hand, whose numbers can be worked out."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.report.picture import Block, Limit, Moment, Picture, Resident, Step


def _small_picture(**changes: Any) -> Picture:
    size: Any = SimpleNamespace(
        model=SimpleNamespace(path="dir/m.tflite"), answer=SimpleNamespace(tail_bytes=1096, npu=(), bank_needs=None)
    )
    return Picture(
        **{
            "title": "a title",
            "size": size,
            "arena_bytes": 4096,
            "split_at": 0,
            "status": "ok",
            "failure": "",
            "moments": (
                Moment("create", -1, -1, 0),
                Moment("eval_tensors", -1, -1, 4),
                Moment("op_prepare", 0, 0, 6),
                Moment("plan", -1, -1, 8),
            ),
            "blocks": (
                Block("allocator objects", 4000, 96, 0, 1, 10, "objects", 0),
                Block("temp", 0, 512, 0, 2, 5, "t", 1),
                Block("eval tensors", 3000, 1000, 0, 4, 10, "", 1),
            ),
            "steps": (Step("enter", 0),) * 10,
            "op_names": (("RELU",),),
            "subgraph_names": ("main",),
            "scopes": ((0, -1), (0, 0)),
            "residents": (
                Resident("input", "in", 0, 0, -1, 1000, 0, 0, 1, 0),
                Resident("output", "", 0, 1, -1, 500, 1008, 1, 1, 0),
                Resident("scratch", "", 0, 7, 0, 100, 1520, 1, 1, 2),
            ),
            "live_bytes": (1008, 1632),
            "limits": (Limit("running", 1632, 1096, 8),),
            "remedies": (),
        }
        | changes
    )


@pytest.fixture
def small_picture() -> Callable[..., Picture]:
    """Return what makes the picture: an arena of 4,096 B, 10 steps, two scopes; anything may be given anew."""
    return _small_picture
