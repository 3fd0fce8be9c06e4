"""What a verdict is in exit codes, and the file of sizes that it is compared with."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from tflm_sim.checks.verdict import Verdict, baseline_key, read_baseline, update_baseline
from tflm_sim.device.configuration import Configuration, configure
from tflm_sim.errors import UsageError
from tflm_sim.targets.presets import preset


def test_a_baseline_names_a_path_alike_on_every_system(monkeypatch: pytest.MonkeyPatch) -> None:
    key = baseline_key("models/kws.tflite", configure("cortex-m4"))
    assert key.startswith("models/kws.tflite on cortex-m4 (")
    monkeypatch.setattr("tflm_sim.checks.verdict.os", SimpleNamespace(sep="\\"))
    assert baseline_key("models\\kws.tflite", configure("cortex-m4")) == key


@pytest.mark.parametrize(
    ("needed", "before", "fits", "missing", "growth", "is_good", "code"),
    [
        (32, None, True, "", None, True, 0),
        (32, 32, True, "", 0, True, 0),
        (32, 48, True, "", -16, True, 0),
        (48, 32, True, "", 16, False, 1),
        (33, 32, True, "", 1, False, 1),
        (32, None, False, "", None, False, 1),
        (32, 48, False, "", -16, False, 1),
        (32, None, None, "", None, True, 3),
        (48, 32, None, "", 16, False, 1),
        (32, None, True, "it has no such model", None, True, 3),
        (None, 32, False, "", None, False, 1),
        (None, None, None, "", None, True, 3),
    ],
)
def test_a_verdict_is_an_exit_code(
    needed: int | None,
    before: int | None,
    fits: bool | None,
    missing: str,
    growth: int | None,
    is_good: bool,
    code: int,
) -> None:
    verdict = Verdict("m", "k", needed, 64, fits, before, missing_baseline=missing)
    assert (verdict.growth, verdict.is_good, verdict.exit_code) == (growth, is_good, code)


@pytest.mark.parametrize(
    ("configuration", "rest"),
    [
        (configure("cortex-m4", kernels="reference", resource_variables=0), ", 0 resource variables"),
        (configure("cortex-m4", kernels="reference", variable_arena=0, resource_variables=1),
         ", 1 resource variables, variable arena 0"),
        (configure("cortex-m4", kernels="reference", arena_address=4), ", arena at address 4"),
        (Configuration(preset("cortex-m4", kernels="reference"), split_arenas=True), ", two arenas"),
        (replace(Configuration(preset("cortex-m4", kernels="reference")), own_planner=True), ", own planner"),
    ],
)  # fmt: skip
def test_each_setting_is_in_the_key_where_it_is_set(configuration: Configuration, rest: str) -> None:
    assert baseline_key("m", configuration) == f"m on cortex-m4 (reference, plain, greedy{rest})"


def test_another_tflm_is_in_the_key() -> None:
    key = baseline_key("m", configure("nano33ble-chirale"))
    assert ", greedy, chirale-2.0.0" in key


def test_sizes_are_added_and_the_others_stay_in_order(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    assert read_baseline(path) == {}
    update_baseline(path, {"b": 2, "a": 1})
    update_baseline(path, {"c": 3, "a": 4})
    assert path.read_text() == '{\n "schema_version": 1,\n "sizes": {\n  "a": 4,\n  "b": 2,\n  "c": 3\n }\n}\n'
    assert read_baseline(path) == {"a": 4, "b": 2, "c": 3}
    path.write_text(json.dumps({"schema_version": 2, "sizes": {}}))
    with pytest.raises(UsageError, match=r"b\.json is not a baseline of arena sizes: schema_version: 2 is not 1$"):
        update_baseline(path, {"a": 1})
