"""The cases of ``tools/fuzz/lite.py`` are the same everywhere and always answered; the oracle asks the wheel."""

from fuzz.lite import MOST_FAULTS, case, shown

from tflm_sim.extensions.lite.answer import allocated
from tflm_sim.model.load import parse


def test_a_case_is_the_same_again():
    assert case(17, []) == case(17, [])
    assert case(17, [])[1] != case(18, [])[1]


def test_faulty_models_are_answered():
    answers = [
        allocated(parse(data, strict=False), settings) for _, data, settings, _ in (case(n, []) for n in range(120))
    ]
    refused = sum(answer.status == "error" for answer in answers)
    assert 30 < refused < 120  # some faults do no harm
    assert MOST_FAULTS == 3


def test_a_difference_is_shown():
    ours, theirs = ("error", "no", []), ("error", "never", [])
    assert shown(ours, theirs) == "messages\n    ours   'no'\n    wheel  'never'"
    graph = {"arena_rw_span": 64, "tensors": [["arena_rw", 0, 4, [1]]]}
    other = {"arena_rw_span": 0, "tensors": [["dynamic", None, 4, [1]]]}
    told = shown(("ok", "", [graph]), ("ok", "", [other]))
    assert told == "1 and 1 subgraphs: 64 wheel 0; ['arena_rw', 0, 4, [1]] wheel ['dynamic', None, 4, [1]]"
