"""The published schemas are those of the dataclasses."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import jsonschema
import pytest

TOOL = Path(__file__).parents[2] / "tools" / "make_schemas.py"


def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_schemas", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKE = tool()


@pytest.mark.parametrize("name", MAKE.schemas())
def test_what_is_checked_in_is_what_the_tool_writes(name: str) -> None:
    assert (MAKE.FOLDER / name).read_text("utf-8") == MAKE.text(MAKE.schemas()[name])


@pytest.mark.parametrize("name", MAKE.schemas())
def test_each_is_a_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(MAKE.schemas()[name])


def test_there_are_no_others() -> None:
    assert {path.name for path in MAKE.FOLDER.glob("*.json")} == MAKE.schemas().keys()
