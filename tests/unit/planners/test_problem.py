import io

import pytest

from tflm_sim.errors import ModelError
from tflm_sim.planners.buffers import Buffer, Plan
from tflm_sim.planners.problem import Problem, read_csv, write_csv


def written(problem, plan=None):
    file = io.StringIO()
    write_csv(file, problem, plan)
    return file.getvalue()


def test_lower_and_upper_are_half_open_in_the_file_too():
    problem = read_csv(["id,lower,upper,size", "conv1,0,3,4096"])
    assert problem == Problem((Buffer(4096, 0, 3),))
    assert problem.buffers[0].name == "conv1"


def test_columns_are_found_by_name():
    problem = read_csv(["size, alignment ,offset,upper,id,lower", "8,4,,2,a,1", "8,1,16,2,b,1"])
    assert problem.buffers == (Buffer(8, 1, 2, 4), Buffer(8, 1, 2, 1, 16))


def test_start_and_end_are_inclusive():
    assert read_csv(["buffer_id,start,end,size,hint", "a,0,3,8,16"]).buffers == (Buffer(8, 0, 4),)


def test_first_and_last_are_inclusive_and_buffers_without_an_id_are_numbered():
    problem = read_csv(["size,first,last", "8,0,3", "4,-1,0"])
    assert problem == Problem((Buffer(8, 0, 4), Buffer(4, -1, 1)))
    assert [buffer.name for buffer in problem.buffers] == ["0", "1"]


def test_what_is_written_is_read_again():
    problem = Problem(
        (Buffer(8, 1, 2, 4, name="a"), Buffer(8, -1, 2, offset=16, name="b,c"), Buffer(0, 3, 4, name="d"))
    )
    again = read_csv(io.StringIO(written(problem)))
    assert again == problem
    assert [buffer.name for buffer in again.buffers] == ["a", "b,c", "d"]


def test_optional_columns_are_written_only_when_they_say_something():
    assert written(Problem((Buffer(8, 1, 2, name="a"),))) == "id,lower,upper,size\na,1,2,8\n"
    assert written(Problem((Buffer(8, 1, 2, name="a"),)), Plan((0,), 8)) == "id,lower,upper,size,offset\na,1,2,8,0\n"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "line 1: the columns must be .*, not nothing"),
        (["x," * 99_999 + "x"], ".*, not (x,){100}…$"),
        (["id,lower,upper"], "line 1: the columns must be"),
        (["id,lower,upper,size,gaps"], "line 1: the columns must be"),
        (["id,lower,upper,size,size"], "line 1: the columns must be"),
        (["id,lower,upper,size", "a,0,1"], "line 2: the line has more or fewer fields"),
        (["id,lower,upper,size", "a,0,1,2,3"], "line 2: the line has more or fewer fields"),
        (["id,lower,upper,size", "a,0,1,"], "line 2: size is empty"),
        (["id,lower,upper,size", "a,0,1,8", "b,0,x,8"], "line 3: upper: 'x' is not a whole number"),
        (["id,lower,upper,size", f"a,0,1,{1 << 39}"], "line 2: size: 549,755,813,888 is out of range"),
        (["id,lower,upper,size", f"a,0,{'9' * 5000},8"], "line 2: upper: '9{60}…' is not a whole number"),
        (["size,first,over"], "line 1: the columns must be .*, not size,first,over"),
        (["\0"], "line 1: "),
        (["id,lower,upper,size", '"a,0,1,8'], "line 2: unexpected end of data"),
        (["id,lower,upper,size", f"{'a' * 140_000},0,1,8"], "line 2: field larger than field limit"),
        (["id,lower,upper,size", "a,1,1,8"], "line 2: a buffer with lower 1 and upper 1: it ends before it begins"),
        (["id,lower,upper,size", "a,0,1,-8"], "line 2: .* must not be negative"),
    ],
)
def test_a_file_that_is_no_problem_is_an_error_with_its_line(lines, message):
    with pytest.raises(ModelError, match=f"p.csv: {message}"):
        read_csv(lines, path="p.csv")
