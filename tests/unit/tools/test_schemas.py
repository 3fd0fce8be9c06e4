"""The published schemas are those of the documents of all verbs."""

from __future__ import annotations

import jsonschema
import pytest
from release import schemas as make_schemas

from tflm_sim.cli import main
from tflm_sim.cli.verbs import VERBS


@pytest.mark.parametrize("name", make_schemas.schemas())
def test_what_is_checked_in_is_what_the_tool_writes(name: str) -> None:
    assert (make_schemas.FOLDER / name).read_text("utf-8") == make_schemas.text(make_schemas.schemas()[name])


@pytest.mark.parametrize("name", make_schemas.schemas())
def test_each_is_a_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(make_schemas.schemas()[name])


def test_there_are_no_others() -> None:
    assert {path.name for path in make_schemas.FOLDER.glob("*.json")} == make_schemas.schemas().keys()


LISTS = [f"list {what}" for what in ("targets", "libraries", "boards", "ops")]
SAME = {"trace": "trace --lifetimes", "board read": "board listen"}
"""Commands whose documents are called as another command."""


@pytest.mark.parametrize("command", sorted({*VERBS, *LISTS, *SAME, "board listen", "board ports"} - {"list"}))
def test_a_command_with_json_has_a_schema(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    has_json = " --json " in capsys.readouterr().out
    name = SAME.get(command, command)
    assert not has_json or name in make_schemas.DOCUMENTS, "add its document to DOCUMENTS in tools/release/schemas.py"
