"""Expected texts were printed by upstream's GreedyMemoryPlanner @ 90b983c."""

from tflm_sim.planners.greedy import GreedyMemoryPlanner
from tflm_sim.planners.memory_planner import BufferRequirements
from tflm_sim.planners.print_plan import memory_plan_lines


def test_greedy_medium_prints_as_upstream():
    planner = GreedyMemoryPlanner()
    for buffer in [(10, 0, 1), (20, 1, 2), (30, 2, 3), (40, 3, 4), (50, 0, 1), (1030, 2, 2)]:
        planner.add_buffer(*buffer)
    assert planner.print_memory_plan() == [
        "0 (id=0): size=10, offset=50, first_used=0 last_used=1",
        "1 (id=1): size=20, offset=1060, first_used=1 last_used=2",
        "2 (id=2): size=30, offset=1030, first_used=2 last_used=3",
        "3 (id=3): size=40, offset=0, first_used=3 last_used=4",
        "4 (id=4): size=50, offset=0, first_used=0 last_used=1",
        "* (id=5): size=1030, offset=0, first_used=2 last_used=2",
        "   0: 4440............................................................................ (1k)",
        "   1: 4440..........................................................................11 (1k)",
        "   2: ****************************************************************************2211 (2k)",
        "   3: 33..........................................................................22.. (1k)",
        "   4: 33.............................................................................. (1k)",
    ]


def test_without_buffers_one_empty_row_is_printed():
    assert memory_plan_lines([], []) == [f"   0: {'.' * 80} (0k)"]


def test_the_63rd_buffer_is_drawn_as_the_first():
    buffers = [BufferRequirements(1, -1, 0, 1)] * 63
    assert [line[0] for line in memory_plan_lines(buffers, range(63))][:63:31] == ["0", "v", "0"]


def test_shared_columns_are_marked():
    buffers = [BufferRequirements(50, 0, 0, 1), BufferRequirements(50, 30, 0, 1)]
    assert memory_plan_lines(buffers, [0, 30])[2] == f"   0: {'0' * 30}{'!' * 20}{'1' * 30} (1k)"


def test_bytes_are_rounded_up_to_kib():
    for size, shown in ((1024, 1), (1025, 2), (1 << 20, 1024), ((1 << 20) + 1, 1025)):
        assert memory_plan_lines([BufferRequirements(size, -1, 0, 0)], [0])[1].endswith(f" ({shown}k)")


def test_what_has_no_offset_is_listed_and_not_drawn():
    rows = memory_plan_lines([BufferRequirements(80, -1, 0, 1), BufferRequirements(40, -1, 0, 1)], [-1, 40])
    assert rows[0] == "0 (id=0): size=80, offset=-1, first_used=0 last_used=1"
    assert rows[2] == f"   0: {'.' * 40}{'1' * 40} (1k)"
    assert len(memory_plan_lines([BufferRequirements(80, -1, -5, -3)], [0])) == 2
