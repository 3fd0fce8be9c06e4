"""``banks.h``: a plan over banks as a planner for the firmware, in C++, with the table of its buffers."""

from __future__ import annotations

from importlib.resources import files
from typing import TextIO

from tflm_sim.errors import UsageError
from tflm_sim.escape import cpp_name, printable
from tflm_sim.extensions.banks.document import BanksDocument, PlanFacts
from tflm_sim.extensions.banks.placement import BankQuestion
from tflm_sim.provenance import made_by

_MAX_SCOPE = (1 << 15) - 1


def write_header(file: TextIO, question: BankQuestion, document: BanksDocument) -> None:
    """Write the planner and its table.

    Raises:
        UsageError: There is no plan, TFLM is older than the planner, or the model has more scopes than a table holds.
    """
    plan = document.plan
    if plan is None:
        raise UsageError("there is no plan to write")
    runtime = question.roomy.configuration.target.runtime
    if not runtime.has("no_error_reporter"):
        raise UsageError(f"banks.h is for TFLM of October 2022 and later, and {runtime.snapshot} is older")
    if any(each.last_time_used > _MAX_SCOPE for each in plan.buffers):
        raise UsageError("the model has more than 32,767 scopes, which the table of banks.h cannot say")
    file.write(files(__package__).joinpath("bank_planner.hpp").read_text("utf-8"))
    file.write("\n")
    file.writelines(f"{line}\n" for line in _table(question, document, plan))


def _table(question: BankQuestion, document: BanksDocument, plan: PlanFacts) -> list[str]:
    banks = [bank.name for bank in document.stock.banks]
    needed = {use.bank: use for use in plan.way.uses}
    way = plan.way
    name = cpp_name(document.model.path or "model")
    used = [bank for bank in banks if needed[bank].needed]
    head, tail = banks.index(way.head), banks.index(way.tail)
    kind = "OneArena" if head == tail else "TwoArenas"
    target = question.roomy.configuration.target
    arrays = [f"//   alignas(16) uint8_t {bank}[{needed[bank].needed}];  // in {bank}" for bank in used]
    given = ", ".join(f"{bank}, sizeof {bank}" for bank in used)
    parameters = ", ".join(f"uint8_t* {bank}_base, size_t {bank}_size" for bank in used)
    rows = [
        f"    {{{banks.index(each.bank)}, {each.offset // 16}u, {each.size // 16}u, {each.first_time_used}, "
        f"{each.last_time_used}}},  // {_comment(each.name)}"
        for each in plan.buffers
    ]
    needs = [f'    {{"{bank}", {needed[bank].needed}u, {needed[bank].planned}u}},' for bank in banks]
    given_banks = ", ".join(f"{{{bank}_base, {bank}_size}}" if bank in used else "{nullptr, 0}" for bank in banks)
    return [
        f"// Written by tflm-sim {made_by()}.",
        f"// {_comment(document.model.path or 'a model')}, sha256 {document.model.sha256}",
        f"// {_comment(str(target.runtime))}, {_comment(str(target.kernel_library))}, {target.name}",
        f"// {way.slow_bytes:,} bytes are loaded and stored in {', '.join(banks[1:])} for each Invoke().",
        "//",
        *arrays,
        f"//   static tflm_banks::{name}::Memory memory({given});",
        "//   if (memory.Check() != kTfLiteOk) ...",
        "//   static tflite::MicroInterpreter interpreter(model, resolver, memory.allocator());",
        "#pragma once",
        f"namespace tflm_banks::{name} {{",
        "",
        *(f"constexpr size_t k_{bank}_bytes = {needed[bank].needed};" for bank in used),
        "",
        f"constexpr Entry kEntries[{max(len(rows), 1)}] = {{",
        *(rows or ["    {0, 0u, 0u, 0, 0},"]),
        "};",
        f"constexpr Need kNeeds[{len(banks)}] = {{",
        *needs,
        "};",
        f'constexpr Plan kPlan = {{"tflm_banks1", {len(banks)}, {head}, {tail}, 0, "{name}",'
        f" {len(rows)}u, kEntries, kNeeds}};",
        "",
        f"class Memory : public {kind}<{len(banks)}> {{",
        " public:",
        f"  constexpr Memory({parameters})",
        f"      : {kind}<{len(banks)}>({{&kPlan, {{{given_banks}}}}}) {{}}",
        "};",
        "",
        f"}}  // namespace tflm_banks::{name}",
    ]


def _comment(text: str) -> str:
    """Return text that cannot end a line or a comment of C++."""
    return printable(text, 200).replace("\\", "/")
