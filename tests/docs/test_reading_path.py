"""CONTRIBUTING's path through the code is short, and it is the way that a simulation goes."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import FrameType

from tflm_sim import load, simulate

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "tflm_sim"
SECTION = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## Reading the code\n")[2].partition("\n## ")[0]
PATH = re.findall(r"^\d+\. `([\w/]+\.py)`: ", SECTION, re.MULTILINE)
MAX_FILES, MAX_LINES = 25, 4_000


def test_the_path_is_short() -> None:
    assert 10 < len(PATH) <= MAX_FILES
    assert sum(len((PACKAGE / path).read_text("utf-8").splitlines()) for path in PATH) <= MAX_LINES


def test_a_simulation_enters_the_files_of_the_path_in_its_order() -> None:
    model, entered = load("sample:residual"), list[str]()

    def note(frame: FrameType, event: str, _: object) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(PACKAGE)) and not frame.f_code.co_name.startswith("<"):
            name = Path(path).relative_to(PACKAGE).as_posix()
            if name not in entered:
                entered.append(name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        assert simulate(model, "cortex-m4").buffers
    finally:
        sys.setprofile(before)
    assert [path for path in entered if path in PATH] == PATH
