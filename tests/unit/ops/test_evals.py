"""Since when Eval of each operator takes the types that it takes."""

from __future__ import annotations

from collections import defaultdict

from tflm_sim.model.schema import BUILTIN_OPERATORS
from tflm_sim.ops.eval_types import EvalRow
from tflm_sim.ops.reference import REFERENCE
from tflm_sim.targets.history import at_position

COMMITS = """
5a65a54ce 2021-04-21 CUMSUM
c062c1b27 2021-06-23 CONCATENATION CONV_2D LEAKY_RELU STRIDED_SLICE SUB TRANSPOSE_CONV cmsis_nn:CONV_2D
95ae9340e 2021-06-26 ADD
b942395d9 2021-07-27 HARD_SWISH
c8c08497e 2021-09-21 SVDF
13c69667b 2021-10-04 CAST
284df73c5 2021-10-25 PAD PADV2 RESIZE_NEAREST_NEIGHBOR
9452ef838 2021-10-29 STRIDED_SLICE
21779d8e7 2021-11-02 FILL
8b47571d2 2021-11-09 CAST MUL
6b82d6aca 2021-12-22 LOGISTIC
6a87c5915 2022-01-24 CAST
b52e0f65c 2022-04-29 CONV_2D
500cf89de 2022-05-09 cmsis_nn:SVDF
ad60ac482 2022-05-10 QUANTIZE
7ad322134 2022-05-11 cmsis_nn:DEPTHWISE_CONV_2D
b0afe2890 2022-05-11 FULLY_CONNECTED
059fde534 2022-05-25 MEAN
07d03bfb4 2022-08-12 STRIDED_SLICE
399b83cbf 2022-08-12 CONCATENATION
df704e135 2022-10-14 CONV_2D
8e83744d8 2022-11-22 cmsis_nn:CONV_2D
4f253e217 2022-11-23 DEPTHWISE_CONV_2D FULLY_CONNECTED cmsis_nn:DEPTHWISE_CONV_2D cmsis_nn:FULLY_CONNECTED
1fb9ea5dc 2022-12-20 cmsis_nn:MUL
3e7d66cc8 2022-12-20 MUL
4b0314f25 2023-01-17 AVERAGE_POOL_2D MAX_POOL_2D cmsis_nn:MAX_POOL_2D
a4dc63912 2023-03-06 SQUARED_DIFFERENCE
69ada1118 2023-03-22 SLICE
e87b788f2 2023-03-30 ADD
a7846a175 2023-08-01 DEPTHWISE_CONV_2D
17987e1a5 2023-08-24 cmsis_nn:CONV_2D
4bbdef5f8 2023-09-29 esp_nn:AVERAGE_POOL_2D esp_nn:MAX_POOL_2D
13564c778 2023-10-02 CAST
6da4e7575 2023-10-02 DIV
324ae1eab 2024-01-22 CAST
fe4229cb3 2024-04-29 esp_nn:ADD esp_nn:CONV_2D esp_nn:DEPTHWISE_CONV_2D
be11bd79e 2024-05-24 EXPAND_DIMS
71fba59b5 2024-05-29 esp_nn:FULLY_CONNECTED esp_nn:MUL
19aaea85e 2024-09-09 MAXIMUM MINIMUM
89f99a9e7 2024-09-09 cmsis_nn:BATCH_MATMUL
ef2179ce0 2024-09-26 RELU6
39209b412 2025-03-17 GREATER TRANSPOSE UNPACK
392b78f2f 2025-03-20 cmsis_nn:TRANSPOSE
b78bb7e31 2025-03-21 RELU RELU6
686df2db9 2025-06-04 SUB
7a7a3de09 2025-08-20 PACK
aa6e62517 2025-09-09 PRELU
bfeb43a 2026-09-01 CAST
"""
"""The commits of upstream that changed which types Eval takes or what it prints, and of which operators.

"esp_nn:ADD" is the kernel of that library.
"""


def rows() -> list[tuple[str, EvalRow]]:
    return [(op, row) for op in REFERENCE for row in REFERENCE.of_family(op, "EVALS") if op in row.ops.split()]


def test_each_row_begins_with_the_commit_that_changed_the_kernel_or_with_the_first_library() -> None:
    found = defaultdict[str, set[str]](set)
    for op, row in rows():
        commit = at_position(max(row.since, 1))
        name = op if row.library == "reference" else f"{row.library}:{op}"
        if row.since > 0:
            found[f"{commit.short} {commit.day}"].add(name)
    lines = [line.split(maxsplit=2) for line in COMMITS.replace("\n    ", " ").strip().splitlines()]
    expected = {f"{commit} {day}": set(names.split()) for commit, day, names in lines}
    assert found == expected


def test_only_these_operators_have_no_row_as_eval_switches_over_no_type_or_prepare_refuses_the_same() -> None:
    assert {op for op in REFERENCE if op in BUILTIN_OPERATORS} - {op for op, _ in rows()} == {
        *("ABS", "ASSIGN_VARIABLE", "BROADCAST_ARGS", "BROADCAST_TO", "CALL_ONCE", "CEIL", "DEQUANTIZE", "IF"),
        *("LOGICAL_AND", "LOGICAL_OR", "READ_VARIABLE", "RESHAPE", "ROUND", "RSQRT", "SQUEEZE"),
        *("UNIDIRECTIONAL_SEQUENCE_LSTM", "VAR_HANDLE", "WHILE"),
    }


def test_of_each_kernel_the_newer_rows_come_first() -> None:
    by_kernel = defaultdict[tuple[str, str], list[int]](list)
    for op, row in rows():
        by_kernel[op, row.library].append(row.since)
    assert all(since == sorted(set(since), reverse=True) for since in by_kernel.values())
