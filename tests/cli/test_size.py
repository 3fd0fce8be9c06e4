"""``tflm-sim size``, ``check``, ``trace``, ``list targets``, ``list ops``: outputs and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from eon_text import SMALL, eon_text

from tflm_sim.cli import main
from tflm_sim.schemas.generate import published

REFERENCE = ("--target", "cortex-m4", "--kernels", "reference")


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = main(argv)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_answer_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "size", "sample:sine", *REFERENCE)
    assert code == 0
    lines = out.splitlines()
    assert lines[:2] == [
        "sine.tflite on cortex-m4 (not named, so assumed: --library)",
        "TFLM of 2026-08-20 (90b983c2b), reference kernels",
    ]
    assert lines[lines.index("") + 1].startswith("smallest arena  1,068 B")
    assert "alignas(16) uint8_t tensor_arena[1072];" in out


def test_the_document_follows_the_published_schema(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "size", "sample:streaming", "--json")
    assert code == 0
    jsonschema.validate(json.loads(out), published("size"))


def test_jsonl_goes_on_after_a_bad_model(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "bad.tflite").write_bytes(b"not a model")
    code, out, _ = run(capsys, "size", "sample:sine", str(tmp_path / "bad.tflite"), "sample:residual", "--jsonl")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 3
    assert [row.get("status") for row in rows] == ["ok", None, "ok"]
    assert rows[1]["error"]["kind"] == "NoModelError"
    for row in rows:
        jsonschema.validate(row, published("size"))


def test_a_size_that_is_too_small_names_the_step_and_the_device_message(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "size", "sample:sine", "--arena-size", "1067", *REFERENCE)
    assert code == 1
    assert "Too many buffers (max is 3)" in out


def test_a_size_that_is_enough(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "size", "sample:sine", "--arena-size", "0x430", *REFERENCE)[0] == 0  # 1072


@pytest.mark.parametrize(("limit", "code"), [("1071", 0), ("1067", 1), ("1KiB", 1), ("64K", 0)])
def test_check_judges_the_very_size(capsys: pytest.CaptureFixture[str], limit: str, code: int) -> None:
    assert run(capsys, "check", "sample:sine", "--limit", limit, *REFERENCE)[0] == code


def test_check_of_a_broken_file_is_inconclusive(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "bad.tflite").write_bytes(b"")
    code, _, err = run(capsys, "check", str(tmp_path / "bad.tflite"), "--limit", "64KiB")
    assert code == 3
    assert err.startswith(f"tflm-sim check: {tmp_path / 'bad.tflite'}: ")


@pytest.mark.parametrize(
    "argv",
    [
        ("size", "sample:sine", "--target", "cortex-m5"),
        ("size", "sample:nothing"),
        ("size", "sample:sine", "--kernels", "abacus"),
        ("size", "sample:sine", "--arena-size", "64KB"),
        ("size", "sample:sine", "sample:sine", "--json"),
        ("size", "sample:sine", "--planner", "linear", "--interpreter", "recording"),
        ("size", "sample:sine", "--resource-variables", "-1"),
        ("size", "sample:sine", "--split-arenas", "--arena-size", "1024"),
    ],
)
def test_a_bad_option_is_one_sentence_and_exits_with_2(
    capsys: pytest.CaptureFixture[str], argv: tuple[str, ...]
) -> None:
    code, out, err = run(capsys, *argv)
    assert (code, out) == (2, "")
    assert err.startswith("tflm-sim size: ")
    assert len(err.splitlines()) == 1


def test_two_arenas(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "size", "sample:sine", "--split-arenas")
    assert code == 0
    assert "uint8_t persistent_arena[" in out
    assert "uint8_t non_persistent_arena[" in out


def test_a_trace_as_json_lines_has_the_vocabulary_of_real_traces(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "trace", "sample:sine", "--jsonl", *REFERENCE)
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert rows[0] == {"e": "run", "kind": "plain", "arena_size": 1072}
    assert rows[-1] == {"e": "end", "kind": "plain", "status": "ok", "arena_used_bytes": 676}
    assert {"persist", "temp", "temp_free", "temp_reset", "resize", "op_prepare", "plan_add"} <= {r["e"] for r in rows}


def test_a_trace_of_a_failure_ends_with_exit_code_4(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "trace", "sample:sine", "--arena-size", "600", *REFERENCE)
    assert code == 4
    assert "FULLY_CONNECTED (number 0) failed to prepare with status 1" in out


def test_targets_say_what_they_are_verified_against(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "list", "targets", "--json")
    rows = {row["name"]: row for row in json.loads(out)}
    assert code == 0
    assert rows["cortex-m55"]["verified_against"] == "../shared/golden/cm55_cmsis_nn"
    assert rows["x86_64-pip"]["verified_against"] == "../shared/upstream_moved/wheel-20261023.json"
    assert (rows["cortex-m85"]["verified_against"], rows["cortex-m85"]["proof"]) == (
        "tests/golden/qemu_runs.json", "real TFLM on QEMU's Cortex-M55"
    )  # fmt: skip


def test_a_target_is_listed_with_every_tflm_and_kernel_library_and_what_proves_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = run(capsys, "list", "targets", "cortex-m55", "--json")
    rows = [(row["tflm"], row["kernels"], row["proof"]) for row in json.loads(out)]
    assert code == 0
    assert ("90b983c2b", "cmsis_nn@4ab83cc (mve)", "real TFLM, Cortex-M55 in QEMU") in rows
    assert ("2023-06-14 and later", "cmsis_nn@dc64e48 (mve)", "not measured") in rows
    assert not [row for row in rows if "esp" in row[0] or "esp" in row[1]]
    code, out, _ = run(capsys, "list", "targets", "esp32-s3")
    assert (code, "esp-tflite-micro@1.3.5" in out, "cmsis_nn" in out) == (0, True, False)
    wheel = run(capsys, "list", "targets", "x86_64-pip")[1].splitlines()[1]
    assert wheel.endswith("the pip wheel of TFLM of 2026-10-23")
    assert run(capsys, "list", "targets", "pdp11")[0] == 2


def test_tflm_that_is_known_from_a_pip_wheel_is_said_to_be(capsys: pytest.CaptureFixture[str]) -> None:
    october = ("size", "sample:sine", "--target", "riscv32", "--runtime")
    code, out, _ = run(capsys, *october, "2026-10-15")
    assert code == 0
    assert out.splitlines()[1].startswith("TFLM of 2026-10-15 (ec2f97d, placed by its pip wheel's day), reference")
    code, _, problem = run(capsys, *october, "2026-10-10")
    assert code == 2
    assert "what main held on 2026-10-10 is not known: between 230c9d9 of 2026-10-09 and 1881137 of" in problem
    rows = json.loads(run(capsys, "list", "targets", "riscv32", "--json")[1])
    assert ("2026-10-23 (8f6596d)", "reference") in [(row["tflm"], row["kernels"]) for row in rows]


def test_ops_lists_every_operator_of_the_resolver(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "list", "ops", "--json")
    rows = {row["op"]: row for row in json.loads(out)}
    assert code == 0
    assert len(rows) == 118
    assert "tflm__models__person_detect" in rows["CONV_2D"]["models"]
    assert (rows["CONV_2D"]["source"], rows["ABS"]["source"]) == ("cmsis_nn/conv.cc", "elementwise.cc")


def test_completion_scripts_name_the_verbs(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("shtab")
    code, out, _ = run(capsys, "completion", "bash")
    assert code == 0
    assert "check" in out


def test_version_says_which_planner_core_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    assert "planner core: " in out
    assert "\nmodels TFLM of 2026-08-20 (90b983c2b) unless another is named" in out


@pytest.mark.parametrize("verb", ["size", "check", "trace", "list", "completion"])
def test_every_verb_has_examples(capsys: pytest.CaptureFixture[str], verb: str) -> None:
    with pytest.raises(SystemExit):
        main([verb, "--help"])
    assert f"tflm-sim {verb} " in capsys.readouterr().out.split("examples:")[1]


def test_an_arena_elsewhere_and_an_arena_for_the_variables(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ("size", "sample:streaming", *REFERENCE, "--resource-variables", "20", "--json")
    together, apart = (
        json.loads(run(capsys, *argv, *more)[1]) for more in ((), ("--variable-arena", "1K", "--arena-address", "4"))
    )
    assert (together["variable_arena_bytes"], apart["variable_arena_bytes"]) == (None, 1024)
    assert apart["target"]["arena_address_modulo_16"] == 4
    assert apart["tail_bytes"] < together["tail_bytes"] - 400
    assert [len(names) for names in apart["operators"]] == [len(names) for names in together["operators"]]
    assert run(capsys, *argv, "--variable-arena", "-1")[0] == 2


def test_an_arena_that_begins_beside_a_multiple_of_16_is_not_declared_as_if_it_did(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = run(capsys, "size", "sample:sine", "--arena-address", "4")[1]
    assert "\n    uint8_t tensor_arena[1168];  // 4 bytes behind a multiple of 16\n" in shown
    assert "alignas" not in shown


@pytest.mark.parametrize(("variables", "code"), [("20", 0), ("0", 4)])
def test_a_map_of_a_model_that_fails_exits_with_4(
    capsys: pytest.CaptureFixture[str], variables: str, code: int
) -> None:
    argv = ("size", "sample:streaming", "--resource-variables", variables)
    assert run(capsys, *argv)[0] == run(capsys, *argv, "--map")[0] == code


@pytest.mark.parametrize("option", ["--map", "--split-arenas", "--advise"])
def test_options_of_the_interpreter_do_not_apply_to_a_source_of_the_eon_compiler(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, option: str
) -> None:
    path = tmp_path / "tflite_learn_compiled.cpp"
    path.write_text(eon_text(SMALL), "utf-8")
    code, _, err = run(capsys, "size", str(path), option)
    assert (code, err) == (
        2,
        f"tflm-sim size: {option} applies to TFLM's interpreter, but {path} is a source of the EON compiler\n",
    )
