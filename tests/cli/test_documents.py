"""What every verb prints with ``--json`` follows the schema that is published for it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tflm_sim.cli import main
from tflm_sim.schemas.generate import published

LOGS = Path(__file__).parents[1] / "unit" / "logs" / "recorded"
COMMANDS = """
bisect sample:sine --between 2023-06-15 --and 2023-08-15 --json
board read LOGS/esp32_mcufit_idf.log --json
board read LOGS/stm32h7_recording_two_tasks.log --model sample:sine --json
boards --json
bug-report sample:sine
bug-report
check sample:sine --limit 1KiB --json
check sample:sine sample:residual --board nano33ble --json
compare sample:sine --json
diff sample:sine sample:streaming --json
diff sample:sine --target cortex-m4 --target x86_64 --split-arenas --json
diff --lite sample:sine sample:residual --json
explain LOGS/esp32_mcufit_idf.log --json
explain LOGS/esphome_micro_wake_word.log --model sample:sine --json
libraries --json
lifetimes sample:residual --json --tensor input --preserve 1
lite sample:streaming --json
lite sample:sine nowhere.tflite --jsonl
lite sample:residual --delegate gpu --json
lite sample:sine --delegate flex --json
ops --json
plan sample:sine --json
report sample:residual -o - --format json
shrink sample:sine --json
size sample:streaming --json
size sample:sine --json --advise
size sample:sine --json --arena-size 700
size sample:sine sample:residual nowhere.tflite --jsonl
targets --json
"""


@pytest.mark.parametrize("command", COMMANDS.split("\n")[1:-1])
def test_every_document_follows_its_schema(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(command.replace("LOGS", str(LOGS)).split())
    text = capsys.readouterr().out
    verb = command.split()[0]
    is_of_lines = "--jsonl" in command or verb in ("board", "check")
    documents = [json.loads(line) for line in text.splitlines()] if is_of_lines else [json.loads(text)]
    assert documents, "there is something to check"
    schema = jsonschema.Draft202012Validator(published(verb))
    for document in documents:
        schema.validate(document)
