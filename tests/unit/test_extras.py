"""The command that brings what is absent."""

from __future__ import annotations

import os
import shlex
import sys
from importlib import metadata
from typing import Any

import pytest

from tflm_sim import extras

ROWS = [
    "numpy; extra == 'shrink'",
    'rich>=13 ; extra == "monitor"',
    "dask; extra == 'sweep'",
    "lz4",
    "x; extra == 'ep'",
]


@pytest.mark.parametrize(
    ("extra", "asked"),
    [("monitor", ["rich>=13"]), ("shrink", ["numpy"]), ("p", ["tflm_sim[p]"]), ("none", ["tflm_sim[none]"])],
)
def test_what_an_extra_asks_for_is_named(monkeypatch: pytest.MonkeyPatch, extra: str, asked: list[str]) -> None:
    monkeypatch.setattr(metadata, "requires", lambda _: ROWS)
    assert shlex.split(extras.install_command(extra).partition(" install ")[2]) == asked


def test_without_an_installation_the_extra_itself_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(_: str) -> Any:
        raise metadata.PackageNotFoundError

    for requires in (absent, lambda _: None):
        monkeypatch.setattr(metadata, "requires", requires)
        assert extras.install_command("run").endswith(" install 'tflm_sim[run]'")


@pytest.mark.parametrize(("has_pip", "start"), [(True, "{} -m pip install"), (False, "uv pip install --python {}")])
def test_the_python_is_named_from_here_where_it_is_below(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any, has_pip: bool, start: str
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: (name == "pip" and has_pip) or None)
    monkeypatch.chdir(tmp_path)
    for python, shown in ((tmp_path / "bin/python", "bin/python"), ("/elsewhere/a python", "'/elsewhere/a python'")):
        monkeypatch.setattr(sys, "executable", str(python))
        assert extras.install_command("none") == f"{start.format(shown)} 'tflm_sim[none]'"
    assert os.getcwd() == str(tmp_path)
