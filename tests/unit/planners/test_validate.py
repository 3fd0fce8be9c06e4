import pytest

from tflm_sim.planners.buffers import Buffer, Plan
from tflm_sim.planners.validate import Fault, validate


@pytest.mark.parametrize(
    ("buffers", "plan", "fault", "concerned"),
    [
        ([Buffer(4, 0, 1)], Plan((), 0), Fault.COUNT, ()),
        ([Buffer(4, 0, 1)], Plan((-4,), 0), Fault.NEGATIVE, (0,)),
        ([Buffer(4, 0, 1, alignment=8)], Plan((4,), 8), Fault.MISALIGNED, (0,)),
        ([Buffer(4, 0, 1, offset=8)], Plan((0,), 4), Fault.MOVED, (0,)),
        ([Buffer(4, 0, 3), Buffer(4, 2, 4)], Plan((0, 3), 7), Fault.OVERLAP, (0, 1)),
        ([Buffer(4, 0, 1)], Plan((0,), 5), Fault.PEAK, ()),
        ([Buffer(1, 0, 1), Buffer(1, 0, 1)], Plan((3, 3), 4), Fault.OVERLAP, (0, 1)),
        # The third reaches into the second, which ends at 14; the first ends below.
        ([Buffer(4, 0, 1), Buffer(4, 0, 1), Buffer(4, 0, 1)], Plan((0, 10, 13), 17), Fault.OVERLAP, (1, 2)),
        ([Buffer(4, 0, 1), Buffer(4, 0, 1), Buffer(4, 0, 1)], Plan((0, 10, 7), 14), Fault.OVERLAP, (1, 2)),
        # 0 and 1 share bytes; 2 touches them, in bytes and in time.
        ([Buffer(4, 0, 2), Buffer(4, 0, 2), Buffer(4, 0, 2)], Plan((0, 2, 6), 10), Fault.OVERLAP, (0, 1)),
        ([Buffer(4, 0, 2), Buffer(4, 0, 2), Buffer(4, 2, 3)], Plan((0, 2, 0), 6), Fault.OVERLAP, (0, 1)),
    ],
)
def test_each_fault_is_found_once(buffers, plan, fault, concerned):
    findings = validate(buffers, plan)
    assert [(finding.fault, finding.buffers) for finding in findings] == [(fault, concerned)]


def test_an_overlap_names_the_shared_bytes():
    (finding,) = validate([Buffer(10, 2, 4), Buffer(10, 0, 3)], Plan((0, 8), 18))
    assert finding.message == "buffers 0 and 1 are alive together and share bytes 8 to 9"


@pytest.mark.parametrize(
    ("buffers", "offsets"),
    [
        ([Buffer(4, 0, 2), Buffer(4, 2, 4)], (0, 0)),  # never alive together
        ([Buffer(4, 0, 2), Buffer(0, 0, 2)], (0, 2)),  # nothing to share
        ([Buffer(4, 0, 2), Buffer(4, 0, 2), Buffer(4, 0, 2)], (4, 0, 8)),  # they touch
        ([Buffer(4, 0, 2, offset=3, alignment=16)], (3,)),  # a fixed offset is not the planner's to align
    ],
)
def test_valid_plans_have_no_findings(buffers, offsets):
    peak = max(offset + buffer.size for buffer, offset in zip(buffers, offsets, strict=True))
    assert validate(buffers, Plan(offsets, peak)) == []


def test_no_buffers_end_at_0():
    assert validate([], Plan((), 0)) == []
    assert [finding.fault for finding in validate([], Plan((), 1))] == [Fault.PEAK]
