"""CMSIS-NN's own buffer-size functions answer what ours answer, over random layers of every kind.

``TFLM_SIM_CASES`` asks for another number of layers a function; ``tools/compare/cmsis_nn.py`` prints the figures.
"""

import os

import pytest
from compare.cmsis_nn import FUNCTIONS, compare, load_binding, main

CASES = int(os.environ.get("TFLM_SIM_CASES", "2000"))
BINDING = load_binding()
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(BINDING is None, reason="pip install --no-deps executorch brings CMSIS-NN's binding"),
]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_our_size_is_cmsis_nns_size(name: str) -> None:
    tally = compare(BINDING, name, cases=CASES, seed=4)
    assert [vars(layer) for layer in tally.differ] == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_where_v7_answers_otherwise_a_commit_upstream_says_why(name: str) -> None:
    tally = compare(BINDING, name, cases=CASES, seed=5)
    assert [vars(layer) for layer in tally.unexplained] == []
    assert (tally.before > 0) == bool(FUNCTIONS[name].change)


def test_the_command_prints_a_row_for_each_function(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--cases", "20"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(FUNCTIONS)
    assert all(line.split()[1:3] == ["20", "0"] for line in lines[1:])
