"""A process around the live mobile runtime, which a broken model may end: JSON lines in, JSON lines out.

In:  {"model": base64, "kernels": "optimized", "preserve_all": false, "double_batch": false, "threads": 1}
Out: {"status": ..., "error": ..., "subgraphs": [...]} in the form of ``tflm-sim lite --jsonl``

A delegate that replaces nothing is asked about every subgraph; it keeps the addresses of the runtime's structures, and
they are read after the tensors are allocated.
"""

import base64
import contextlib
import json
import sys
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    addressof,
    byref,
    c_char,
    c_int,
    c_int64,
    c_size_t,
    c_uint8,
    c_void_p,
    cast,
)

from ai_edge_litert.interpreter import Interpreter, OpResolverType

KINDS = (
    "none",
    "mmap_ro",
    "arena_rw",
    "arena_rw_persistent",
    "dynamic",
    "persistent_ro",
    "custom",
    "variant_object",
    "non_cpu",
)
RESOLVERS = {"optimized": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES, "reference": OpResolverType.BUILTIN_REF}


class Tensor(Structure):
    _fields_ = (
        ("type", c_int),
        ("data", c_void_p),
        ("dims", c_void_p),
        ("params", c_char * 8),
        ("allocation_type", c_int),
        ("bytes", c_size_t),
        ("allocation", c_void_p),
        ("name", c_void_p),
        ("delegate", c_void_p),
        ("buffer_handle", c_int),
        ("data_is_stale", c_uint8),
        ("is_variable", c_uint8),
        ("quantization", c_void_p * 2),
        ("sparsity", c_void_p),
        ("dims_signature", c_void_p),
    )


class Node(Structure):
    _fields_ = (("inputs", c_void_p), ("outputs", c_void_p), ("intermediates", c_void_p), ("temporaries", c_void_p))


class Context(Structure):
    _fields_ = (
        ("tensors_size", c_size_t),
        ("get_execution_plan", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("tensors", POINTER(Tensor)),
        ("impl", c_void_p),
        ("resize_tensor", c_void_p),
        ("report_error", c_void_p),
        ("add_tensors", c_void_p),
        ("get_node", CFUNCTYPE(c_int, c_void_p, c_int, c_void_p, c_void_p)),
    )


PREPARE = CFUNCTYPE(c_int, c_void_p, c_void_p)


class NativeDelegate(Structure):
    _fields_ = (
        ("data", c_void_p),
        ("prepare", PREPARE),
        ("copy_from", c_void_p),
        ("copy_to", c_void_p),
        ("free_handle", c_void_p),
        ("flags", c_int64),
        ("builder", c_void_p),
    )


def ints(address):
    """Return what a TfLiteIntArray holds."""
    if not address:
        return []
    count = c_int.from_address(address).value
    return list((c_int * count).from_address(address + 4))


class Watcher:
    """The delegate: takes no node and keeps every context with its nodes."""

    def __init__(self):
        self.seen = []
        self.native = NativeDelegate(prepare=PREPARE(self.prepare), flags=1)

    def _get_native_delegate_pointer(self):
        return addressof(self.native)

    def prepare(self, context_address, _delegate):
        context = cast(context_address, POINTER(Context)).contents
        plan = c_void_p()
        context.get_execution_plan(context_address, byref(plan))
        nodes = []
        for index in ints(plan.value):
            node, registration = c_void_p(), c_void_p()
            context.get_node(context_address, index, byref(node), byref(registration))
            nodes.append(node.value)
        self.seen.append((context, nodes))
        return 0

    def subgraphs(self):
        return [self.subgraph(context, nodes) for context, nodes in self.seen]

    @staticmethod
    def subgraph(context, nodes):
        tensors = [context.tensors[index] for index in range(context.tensors_size)]
        lowest, spans = {}, {}
        for kind in (2, 3):
            placed = [
                (tensor.data, tensor.data + tensor.bytes)
                for tensor in tensors
                if tensor.allocation_type == kind and tensor.data
            ]
            lowest[kind] = min((start for start, _ in placed), default=0)
            spans[kind] = max((end for _, end in placed), default=0) - lowest[kind]
        rows = [
            [
                KINDS[tensor.allocation_type],
                tensor.data - lowest[tensor.allocation_type]
                if tensor.data and tensor.allocation_type in lowest
                else None,
                tensor.bytes,
                ints(tensor.dims),
            ]
            for tensor in tensors
        ]
        return {
            "arena_rw_span": spans[2],
            "persistent_span": spans[3],
            "tensors": rows,
            "temporaries": [
                [index for index in ints(Node.from_address(node).temporaries) if index != -1] for node in nodes
            ],
        }


def answer(request):
    watcher = Watcher()
    try:
        interpreter = Interpreter(
            model_content=base64.b64decode(request["model"]),
            experimental_op_resolver_type=RESOLVERS[request["kernels"]],
            experimental_preserve_all_tensors=request["preserve_all"],
            experimental_delegates=[watcher],
            num_threads=request["threads"],
        )
    except (ValueError, RuntimeError) as error:
        return {"status": "error", "error": str(error), "subgraphs": []}
    error = None
    try:
        interpreter.allocate_tensors()
    except (ValueError, RuntimeError) as failure:
        error = str(failure)
    if request["double_batch"]:
        error = None
        for detail in interpreter.get_input_details():
            shape = [int(size) for size in detail["shape"]]
            if shape:
                try:
                    interpreter.resize_tensor_input(detail["index"], [2 * shape[0], *shape[1:]])
                except (ValueError, RuntimeError) as failure:
                    error = str(failure)
                    break
        try:
            interpreter.allocate_tensors()
        except (ValueError, RuntimeError) as failure:
            error = str(failure)
    return {"status": "ok" if error is None else "error", "error": error or "", "subgraphs": watcher.subgraphs()}


if __name__ == "__main__":
    for line in sys.stdin:
        with contextlib.redirect_stdout(sys.stderr):
            result = answer(json.loads(line))
        print(json.dumps(result), flush=True)
