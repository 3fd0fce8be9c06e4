"""The mobile runtime, live from its wheel, against ours: built models, samples, and steps after a resize."""

import base64
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import lite_rare_models  # noqa: F401 - it adds its recipes
import pytest
from lite_models import random_model
from lite_mutations import mutated

from tflm_sim.documents import as_json
from tflm_sim.lite.answer import Settings, allocated, double_batch, machine_document
from tflm_sim.model.load import parse
from tflm_sim.samples import SAMPLES, sample_path

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("ai_edge_litert") is None, reason="the wheel ai-edge-litert is absent"
)
MODELS = 300
MUTATED = 600


class Wheel:
    """The process around the live runtime; it is started again when a model ends it."""

    def __init__(self):
        self.process = self._start()

    @staticmethod
    def _start():
        worker = str(Path(__file__).with_name("lite_worker.py"))
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        return subprocess.Popen([sys.executable, worker], text=True, **pipes)

    def answer(self, data, settings, *, double):
        request = {
            "model": base64.b64encode(data).decode(),
            "kernels": settings.kernels,
            "preserve_all": settings.preserves_all_tensors,
            "threads": settings.threads,
            "double_batch": double,
        }
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.process = self._start()
            return None
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture(scope="module")
def live():
    worker = Wheel()
    yield worker
    worker.close()


def same_as_wheel(live, data, settings, *, double=False):
    """Return whether both say the same of a model; a model that ends the live process counts as the same."""
    live = live.answer(data, settings, double=double)
    if live is None:
        return True
    model = parse(data, strict=False)
    ours = machine_document("", allocated(model, settings, shapes=double_batch if double else None))
    ours = json.loads(json.dumps(as_json(ours)))
    for graphs in (ours["subgraphs"], live["subgraphs"]):
        for graph in graphs if ours["status"] == "error" else ():
            del graph["temporaries"]  # a kernel that fails half-way leaves some of them unwritten
    assert (ours["status"], "".join(ours["errors"])) == (live["status"], live["error"])
    assert ours["subgraphs"] == live["subgraphs"]
    return True


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, MODELS, 30))
def test_built_models_are_planned_as_the_wheel_plans_them(live, first):
    for seed in range(first, first + 30):
        name, data = random_model(seed)
        settings = Settings(("optimized", "reference")[seed % 2], preserves_all_tensors=seed % 5 == 0)
        assert same_as_wheel(live, data, settings, double=seed % 3 == 0), (seed, name)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("kernels", ["optimized", "reference"])
@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_planned_as_the_wheel_plans_them(live, name, kernels, threads):
    path = sample_path(name)
    for double in (False, True):
        assert same_as_wheel(live, path.read_bytes(), Settings(kernels, threads=threads), double=double)


def is_undefined(data):
    """Return whether the runtime's answer depends on more than the model: wild reads, floats printed as numbers."""
    said = "".join(allocated(parse(data, strict=False), Settings()).reports)
    return "(the kernel reads a dimension" in said or "(? != ?)" in said or "the process is aborted" in said


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, MUTATED, 60))
def test_models_with_one_fault_are_refused_as_the_wheel_refuses_them(live, first):
    for seed in range(first, first + 60):
        name, data = random_model(seed)
        data = mutated(data, seed)
        if not is_undefined(data):
            assert same_as_wheel(live, data, Settings(("optimized", "reference")[seed % 2])), (seed, name)
