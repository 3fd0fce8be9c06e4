"""The mobile runtime, live from its wheel, against ours: built models, samples, and steps after a resize."""

import importlib.util

import pytest
from fuzz_lite import case, outcome, shown
from lite_models import RECIPES, random_model
from lite_mutations import with_type, without_inputs
from lite_wheel import Wheel, answers

from tflm_sim.lite.answer import LiteSettings
from tflm_sim.model.load import parse
from tflm_sim.model.types import TensorType
from tflm_sim.samples import SAMPLES, sample_path

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("ai_edge_litert") is None, reason="the wheel ai-edge-litert is absent"
)
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


@pytest.mark.slow
def test_operators_without_one_of_their_inputs_are_refused_as_the_wheel_refuses_them(live):
    made = [(name, random_model(3, name)[1]) for name in sorted(RECIPES)]
    assert differing(live, ((name, data) for name, whole in made for data in without_inputs(whole))) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["STRING", "COMPLEX64", "INT4", "UINT32"])
def test_operators_of_any_type_are_refused_as_the_wheel_refuses_them(live, kind):
    made = [(name, random_model(7, name)[1]) for name in sorted(RECIPES)]
    with_inputs = [(name, data) for name, data in made if parse(data).subgraphs[0].operators[0].inputs]
    assert differing(live, ((name, with_type(data, TensorType[kind])) for name, data in with_inputs)) == []
