"""Write the committed sample of what real TFLM did, ``tests/golden/sample``, out of ``../shared/golden``.

    python tools truth golden_sample

The recordings are facts and are copied. Their models are not: each is written anew by our own encoder as a skeleton of
the same shapes, options and quantization, with zeros for weights and numbers for names. A skeleton is written only when
the simulation of it reproduces every recording of its model.
"""

from __future__ import annotations

import gzip
import shutil
import sys
from dataclasses import replace

from truth.golden import CONFIGURATIONS, SAMPLE, SHARED, Golden, differences

from tflm_sim.graph.lifetimes import OFFLINE_MEMORY_ALLOCATION
from tflm_sim.model.encode import encode
from tflm_sim.model.load import load
from tflm_sim.model.types import ConstantData, Model, Subgraph

# Small ones that exercise many rules: scratch, LSTM, control flow with variables, an offline plan, a refusal.
NAMES = (
    "tflm__examples__hello_world__models__hello_world_int8",
    "tflm__examples__hello_world__models__hello_world_float",
    "tflm__examples__micro_speech__models__micro_speech_quantized",
    "tflm__examples__mnist_lstm__trained_lstm",
    "tflm__examples__memory_footprint__models__simple_add_model",
    "tflm__models__person_detect",
    "esphome-micro-wake-word-models__v2_vad",
    "google-ai-edge-LiteRT__while_op_with_forwarding_input",
    "google-ai-edge-LiteRT__where",
)
LARGEST_KEPT = 64
"""Bytes: constants up to here (shapes, axes, paddings) decide what kernels ask for and are kept."""


def skeleton(model: Model) -> Model:
    """Return the model with zeros for weights, numbers for names, and no metadata but an offline plan."""
    kept_buffers = {entry.buffer for entry in model.metadata if entry.name == OFFLINE_MEMORY_ALLOCATION}
    return replace(
        model,
        description="",
        signatures=(),
        metadata=tuple(entry for entry in model.metadata if entry.buffer in kept_buffers),
        buffers=tuple(
            buffer if index in kept_buffers else _blank(buffer) for index, buffer in enumerate(model.buffers)
        ),
        subgraphs=tuple(_anonymous(subgraph) for subgraph in model.subgraphs),
    )


def _blank(buffer: ConstantData) -> ConstantData:
    data = buffer.data
    return buffer if data is None or len(data) <= LARGEST_KEPT else replace(buffer, data=memoryview(bytes(len(data))))


def _anonymous(subgraph: Subgraph) -> Subgraph:
    tensors = tuple(replace(tensor, name=f"t{index}") for index, tensor in enumerate(subgraph.tensors))
    return replace(subgraph, name="", tensors=tensors)


def main() -> int:
    """Write the sample; return 1 when a skeleton does not do what its model did."""
    shutil.rmtree(SAMPLE, ignore_errors=True)
    (SAMPLE / "models").mkdir(parents=True)
    for name in NAMES:
        data = encode(skeleton(load(SHARED / "models" / f"{name}.tflite")))
        (SAMPLE / "models" / f"{name}.tflite.gz").write_bytes(gzip.compress(data, mtime=0))
        for configuration in CONFIGURATIONS:
            recording = SHARED / "golden" / configuration / f"{name}.json"
            if not recording.exists():
                continue
            folder = SAMPLE / configuration
            folder.mkdir(exist_ok=True)
            for suffix in (".json", ".trace.jsonl.gz"):
                shutil.copyfile(recording.with_suffix(suffix), folder / f"{name}{suffix}")
            found = differences(Golden(configuration, folder / f"{name}.json"))
            if found:
                print(f"{configuration} {name}: {found[0]}", file=sys.stderr)
                return 1
    size = sum(path.stat().st_size for path in SAMPLE.rglob("*") if path.is_file())
    print(f"{len(NAMES)} models, {size:,} bytes in {SAMPLE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
