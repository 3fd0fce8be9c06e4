"""``tools upstream our_checks`` and ``places``: a check that no version upstream has is told by name."""

from pathlib import Path

import pytest
from upstream.our_checks import written_checks
from upstream.places import unknown

OPS = Path(__file__).resolve().parents[3] / "tflm_sim" / "ops"


@pytest.fixture
def kernel(tmp_path):
    """A folder with a kernel that has a check in a helper of another module."""
    (tmp_path / "shapes.py").write_text('def check(k, a):\n    k.ensure(a > 0, f"{a} > 0")\n', "utf-8")
    (tmp_path / "split.py").write_text(
        "from tflm_sim.ops.shapes import check\n"
        'ONE = "one axis"\n'
        "def prepare(node):\n"
        '    k = Kernel(node, "split.cc")\n'
        '    k.ensure_eq(node.axis, 1, "axis", str(1))\n'
        "    k.ensure_msg(node.axis, ONE)\n"
        '    k.ensure_eq(node.rank, 4, "rank")\n'
        '    k.ensure_near(node.scale, 1, "scale", "1.f")\n',
        "utf-8",
    )
    return tmp_path


def test_texts_are_patterns_and_stand_in_the_files_of_whoever_imports_the_module(kernel):
    found = {(check.path.name, check.line, check.shown): check.files for check in written_checks(kernel)}
    assert found == {
        ("shapes.py", 2, "... > 0"): {"split.cc"},
        ("split.py", 5, "axis != ..."): {"split.cc"},
        ("split.py", 6, "one axis"): {"split.cc"},
        ("split.py", 7, "rank != ..."): {"split.cc"},
        ("split.py", 8, "scale not near 1.f"): {"split.cc"},
    }


def test_checks_of_some_version_pass():
    texts = {file: frozenset({"x", "input != nullptr"}) for file in ("pad.cc", "split.cc")}
    assert unknown([], texts) == []


def test_a_check_in_no_version_and_a_file_that_never_was_are_told_by_name():
    (check,) = (one for one in written_checks(OPS) if one.shown == "axis_value >= 0")
    lines = unknown([check], {"expand_dims.cc": frozenset({"axis_value > 0"}), "expand_dim.cc": None})
    assert lines == [
        "expand_dim.cc: there is no such file in any version",
        f"tflm_sim/ops/reference/output_shapes.py:{check.line}: no version of expand_dims.cc has a check "
        "'axis_value >= 0'",
    ]
