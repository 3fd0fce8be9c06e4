"""The mobile runtime, live from its wheel, against ours: built models, samples, and steps after a resize."""

import importlib.util
import json
import struct
from pathlib import Path

import pytest
from fuzz.lite import case, outcome, shown
from lite_models import RECIPES, random_model
from lite_mutations import with_type, without_inputs
from lite_wheel import Wheel, answers

from tflm_sim.extensions.lite.answer import LiteSettings
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType
from tflm_sim.samples import SAMPLES, sample_path

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("ai_edge_litert") is None, reason="the wheel ai-edge-litert is absent"
)
WILD = Path(__file__).resolve().parents[2] / "../shared/wild"
SPANS = Path(__file__).resolve().parents[1] / "unit/extensions/lite/wheel_spans.json"
MODELS = 300
MUTATED = 600


@pytest.fixture(scope="module")
def live():
    worker = Wheel()
    yield worker
    worker.close()


def same_as_wheel(live, data, settings, *, double=False):
    """Return whether both say the same of a model; what ends the live process has to end ours, too."""
    ours, theirs = answers(live, data, settings, double=double)
    if theirs is None:
        return "the process is aborted" in ours[1]
    assert ours == theirs
    return True


def padded(op, pads, shape=(2, 3)):
    builder = ModelBuilder()
    x, y = (builder.tensor(shape, TensorType.FLOAT32) for _ in range(2))
    matrix = builder.tensor((2, 2), TensorType.INT64, data=struct.pack("<4q", *pads))
    builder.operator(op, [x, matrix], [y], options={"mode": 0} if op == "MIRROR_PAD" else {})
    return builder.build(inputs=[x], outputs=[y])


def convolved(size, window, kind=TensorType.FLOAT32):
    builder = ModelBuilder()
    x, y = (builder.tensor((1, size, size, depth), TensorType.FLOAT32) for depth in (8, 1))
    scale = {} if kind == TensorType.FLOAT32 else {"scale": [0.5], "zero_point": [0]}
    weights = builder.tensor((1, window, window, 8), kind, data=bytes(4 * 8 * window**2), **scale)
    bias = builder.tensor((1,), TensorType.FLOAT32, data=bytes(4))
    builder.operator("CONV_2D", [x, weights, bias], [y], options={"stride_w": 1, "stride_h": 1})
    return builder.build(inputs=[x], outputs=[y])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (convolved(2048, 17), "exceed the 32-bit integer limit"),  # 2,048^2 pixels of 17^2 x 8 values
        (convolved(2048, 17, TensorType.INT8), "exceed the 32-bit integer limit"),
        (convolved(65536, 3), "output spatial dimensions overflow"),  # 2^32 pixels
        (padded("PAD", (0, 0, 2**31 - 1, 1)), "output dimension overflowed"),
        (padded("PAD", (2**20, 0, 2**20, 0)), "output size overflowed"),
        (padded("PAD", (-1, 0, 2**40, 0)), "INT64 padding overflow"),
        (padded("PAD", (0, 0, -1, 0)), "greater than equal to 0"),
        (padded("MIRROR_PAD", (0, 0, 2**30, 2**30), (1, 2**30 + 5)), "output dimension overflowed"),
    ],
)
def test_what_32_bits_cannot_count_is_refused_as_the_wheel_refuses_it(live, data, message):
    ours, theirs = answers(live, data, LiteSettings())
    assert ours == theirs
    assert message in ours[1]


@pytest.mark.slow
def test_the_spans_that_the_unit_tests_know_are_the_wheels(live):
    def said(name, seed):
        answer = live.answer(random_model(seed, name)[1], LiteSettings(), double=False)
        return answer["error"] or [[graph["arena_rw_span"], graph["persistent_span"]] for graph in answer["subgraphs"]]

    known = json.loads(SPANS.read_text("utf-8"))
    assert {name: [said(name, seed) for seed in range(4)] for name in known} == known


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, MODELS, 30))
def test_built_models_are_planned_as_the_wheel_plans_them(live, first):
    for seed in range(first, first + 30):
        name, data = random_model(seed)
        settings = LiteSettings(("optimized", "reference")[seed % 2], preserves_all_tensors=seed % 5 == 0)
        assert same_as_wheel(live, data, settings, double=seed % 3 == 0), (seed, name)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("kernels", ["optimized", "reference"])
@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_planned_as_the_wheel_plans_them(live, name, kernels, threads):
    path = sample_path(name)
    for double in (False, True):
        assert same_as_wheel(live, path.read_bytes(), LiteSettings(kernels, threads=threads), double=double)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, MUTATED, 60))
def test_models_with_faults_are_refused_as_the_wheel_refuses_them(live, first):
    differing = []
    for number in range(first, first + 60):
        name, data, settings, double = case(number, [])
        what, ours, theirs = outcome(live, data, settings, double=double)
        if what in ("DIFFERS", "died"):
            differing.append((number, name, shown(ours, theirs) if theirs else ours[:2]))
    assert differing == []


def differing(live, models):
    """Return what differs of models by name."""
    found = []
    for name, data in models:
        what, ours, theirs = outcome(live, data, LiteSettings(), double=False)
        if what in ("DIFFERS", "died"):
            found.append((name, shown(ours, theirs) if theirs else ours[:2]))
    return found


@pytest.mark.nightly
def test_operators_without_one_of_their_inputs_are_refused_as_the_wheel_refuses_them(live):
    made = [(name, random_model(3, name)[1]) for name in sorted(RECIPES)]
    assert differing(live, ((name, data) for name, whole in made for data in without_inputs(whole))) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["STRING", "COMPLEX64", "INT4", "UINT32"])
def test_operators_of_any_type_are_refused_as_the_wheel_refuses_them(live, kind):
    made = [(name, random_model(7, name)[1]) for name in sorted(RECIPES)]
    with_inputs = [(name, data) for name, data in made if parse(data).subgraphs[0].operators[0].inputs]
    assert differing(live, ((name, with_type(data, TensorType[kind])) for name, data in with_inputs)) == []


@pytest.mark.shared("wild")
@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("path", sorted(WILD.glob("*.tflite")), ids=lambda path: path.stem)
def test_a_model_of_a_real_converter_is_what_the_wheel_says(live, path, double):
    assert same_as_wheel(live, path.read_bytes(), LiteSettings(), double=double)
