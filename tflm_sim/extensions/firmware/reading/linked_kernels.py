"""Which kernels a program uses, and for which operators: functions of TFLM, and who calls them.

That a function is in the image proves little: without --gc-sections a linker keeps what nobody calls, and a function of
the user's may be called like one of a kernel library. So a Register function counts if something calls it, and a
library's function if one of TFLM's does. On processors whose calls are not found (call_graph.py) all functions count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tflm_sim.extensions.firmware.reading import tflm_names
from tflm_sim.extensions.firmware.reading.call_graph import CallGraph, Function
from tflm_sim.extensions.firmware.reading.symbol_names import plain_name

_REGISTER = re.compile(r"Register_([A-Z0-9_]+?)(?:_(?:U?INT|FLOAT)\w*)?(?:Ev|v)?$")
_KERNEL_FUNCTIONS = {
    "cmsis_nn": re.compile(r"arm_(?:convolve|depthwise_conv|fully_connected|softmax|avgpool|max_pool|elementwise|svdf|"
                           r"nn_|transpose_conv|batch_matmul|lstm|vector_sum)"),
    "esp_nn": re.compile(r"esp_nn_(?!.*(?:init|time))"),
    "mvp": re.compile(r"sli_mvp_ml_"),
    "xtensa": re.compile(r"xa_nn_"),
}  # fmt: skip
_ALLOCATES = re.compile(tflm_names.ALLOCATE_TENSORS)
_ALL_OPERATORS = re.compile(r"AllOpsResolver")
_CUSTOM_NAMES = {"DETECTION_POSTPROCESS": "TFLite_Detection_PostProcess", "ETHOSU": "ethos-u"}
"""Register functions of custom operators whose name in models is not the function's."""
_KERNEL_SUMS = "arm_vector_sum_s8"
_KEEPS_SUMS = re.compile(r"7Prepare|CmsisNnPrepareSvdf|PrepareSvdf")


def operator_of(name: str) -> str | None:
    """Return the operator that a function registers, by its name without scopes; None for other functions."""
    match = _REGISTER.match(name)
    return None if match is None else _CUSTOM_NAMES.get(match[1], match[1])


def registering_functions(graph: CallGraph) -> Iterator[tuple[str, Function]]:
    for function in graph.functions.values():
        names = (plain_name(name) for name in function.names if "Register_" in name)
        operator = next(filter(None, map(operator_of, names)), None)
        if operator is not None:
            yield operator, function


def registered_operators(graph: CallGraph) -> frozenset[str] | None:
    """Return the operators whose Register function is called.

    None where no such function is in the image, nor the interpreter, which proves nothing.
    """
    unused = {function.start for function in _named(graph, _ALL_OPERATORS) if not graph.callers.get(function.start)}
    found, is_any = set(), False
    for operator, function in registering_functions(graph):
        is_any = True
        if not graph.callers or graph.calling_functions(function.start) - unused:
            found.add(operator)
    return frozenset(found) if is_any or any(_named(graph, _ALLOCATES)) else None


def links_all_operators(graph: CallGraph) -> bool:
    """Whether the resolver with every operator is in the image, and used."""
    return any(not graph.callers or graph.callers.get(function.start) for function in _named(graph, _ALL_OPERATORS))


def kernel_functions(graph: CallGraph) -> dict[str, list[str]]:
    """Return the functions of each kernel library that TFLM calls."""
    found: dict[str, list[str]] = {}
    for function in graph.functions.values():
        for name in function.names:
            for library, pattern in _KERNEL_FUNCTIONS.items():
                if pattern.match(name) and _is_called_by_tflm(graph, function):
                    found.setdefault(library, []).append(name)
    return found


def keeps_kernel_sums(graph: CallGraph) -> bool | None:
    """Whether CMSIS-NN's kernels compute sums of weights in Prepare (KERNELS_OPTIMIZED_FOR_SPEED).

    None where no kernel computes any, or calls are not found. Source: kernels/cmsis_nn/{fully_connected,svdf}.cc @
    90b983c.
    """
    sums = next((function for function in graph.functions.values() if _KERNEL_SUMS in function.names), None)
    if sums is None or not graph.callers.get(sums.start):
        return None
    callers = [graph.functions[start] for start in graph.calling_functions(sums.start)]
    return any(_KEEPS_SUMS.search(name) for function in callers for name in function.names)


def _named(graph: CallGraph, pattern: re.Pattern[str]) -> Iterable[Function]:
    return (function for function in graph.functions.values() if any(map(pattern.search, function.names)))


def _is_called_by_tflm(graph: CallGraph, function: Function) -> bool:
    if not graph.callers:
        return True
    callers = (graph.functions[start] for start in graph.calling_functions(function.start))
    return any(tflm_names.is_of_tflm(name) for caller in callers for name in caller.names)
