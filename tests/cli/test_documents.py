"""What every verb prints with ``--json`` follows the schema that is published for it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from release.schemas import FOLDER

from tflm_sim.cli import main
from tflm_sim.schemas.generate import published

LOGS = Path(__file__).parents[1] / "unit" / "logs" / "recorded"
COMMANDS = """
board read LOGS/esp32_mcufit_idf.log --json
board read LOGS/stm32h7_recording_two_tasks.log --model sample:sine --json
bug-report sample:sine
bug-report
check sample:sine --limit 1KiB --json
check sample:sine --bank a=1KiB --bank b=64KiB --json
check sample:sine sample:residual --board nano33ble --json
diff sample:sine sample:streaming --json
diff sample:sine --target cortex-m4 --target x86_64 --split-arenas --json
diff --lite sample:sine sample:residual --json
diff --between 2023-06-15 --and 2023-08-15 sample:sine --json
explain LOGS/esp32_mcufit_idf.log --json
explain LOGS/esphome_micro_wake_word.log --model sample:sine --json
list boards --json
list libraries --json
list ops --json
list targets --json
list targets cortex-m4 --json
lite sample:streaming --json
lite sample:sine nowhere.tflite --jsonl
lite sample:residual --delegate gpu --json
lite sample:sine --delegate flex --json
plan sample:sine --json
plan --bank a=1KiB sample:sine --bank b=64KiB --json --curve
report sample:residual -o - --format json
report --tensor input sample:residual -o - --format json
shrink sample:sine --json
shrink --stream 2 sample:keyword_spotter --advise --axis 1 --json
size --boards all sample:sine --json
size --targets all sample:sine --json
size sample:streaming --json
size sample:sine --json --advise
size sample:sine --json --bank a=1KiB --bank b=64KiB
size sample:sine --json --arena-size 700
size sample:sine sample:residual nowhere.tflite --jsonl
trace --lifetimes sample:residual --json --preserve 1
"""
SCHEMAS = {path.stem for path in FOLDER.glob("*.json")}
SAME = {"board read": "board-listen", "size --targets": "size-boards", "report --tensor": "trace-lifetimes"}
"""The first two words of commands that print the documents of others."""


@pytest.mark.parametrize("command", COMMANDS.split("\n")[1:-1])
def test_every_document_follows_its_schema(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(command.replace("LOGS", str(LOGS)).split())
    text = capsys.readouterr().out
    verb = command.split()[0]
    mode = " ".join(command.split()[:2])
    name = SAME.get(mode, mode.replace("--", "").replace(" ", "-"))
    is_of_lines = "--jsonl" in command or verb in ("board", "check")
    documents = [json.loads(line) for line in text.splitlines()] if is_of_lines else [json.loads(text)]
    assert documents, "there is something to check"
    schema = jsonschema.Draft202012Validator(published(name if name in SCHEMAS else verb))
    for document in documents:
        schema.validate(document)
