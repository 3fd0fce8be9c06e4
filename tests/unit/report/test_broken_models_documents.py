"""Models with negative sizes and offsets: what the device does with them is documented by the schema, and drawn."""

from __future__ import annotations

import io
import json
import struct

import jsonschema
import pytest

from tflm_sim import parse, simulate
from tflm_sim.documents import as_json
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import TensorType
from tflm_sim.report.document import size_document
from tflm_sim.report.page import write_page
from tflm_sim.report.picture_document import picture_document
from tflm_sim.report.take_picture import take_picture
from tflm_sim.schemas.generate import published


def chain(*, shape: tuple[int, ...] | None = None, offsets: tuple[int, ...] = ()) -> bytes:
    """Return two RELUs, with a graph input of that shape that nothing reads, or an offline plan."""
    builder = ModelBuilder()
    for dimensions in ((1, 8), (1, 8), (1, 8), *([shape] if shape else [])):
        builder.tensor(dimensions, TensorType.INT8, scale=0.5, zero_point=0)
    builder.operator("RELU", [0], [1])
    builder.operator("RELU", [1], [2])
    if offsets:
        builder.metadata("OfflineMemoryAllocation", struct.pack("<6i", 1, 0, 3, *offsets))
    return builder.build(inputs=[0, 3] if shape else [0], outputs=[2])


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(chain(shape=(-1, 1000)), id="a size of -1,000 bytes"),
        pytest.param(chain(shape=(-1, 70_000, 30_000)), id="a size of -2,100,000,000 bytes"),
        pytest.param(chain(offsets=(-2, 64, 0)), id="an offset of -2"),
        pytest.param(chain(offsets=(-100, 64, 0)), id="an offset of -100"),
    ],
)
@pytest.mark.parametrize("planner", ["greedy", "linear"])
@pytest.mark.parametrize("target", ["x86_64", "cortex-m4"])
def test_the_documents_follow_their_schemas_and_the_page_is_drawn(data: bytes, planner: str, target: str) -> None:
    model = parse(data)
    document = size_document(simulate(model, target, planner=planner))
    jsonschema.validate(as_json(document), published("size"))
    pictures = [take_picture(model, target, planner=planner)]
    jsonschema.validate(json.loads(json.dumps(picture_document(pictures))), published("report"))
    write_page(io.StringIO(), pictures)
