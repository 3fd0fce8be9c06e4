"""A process that takes the live mobile runtime through steps: a JSON line in, a JSON line out.

In:  {"model": base64, "steps": [["allocate"], ["resize", index, shape, strict], ["delegate", nodes, flags, fails]]}
Out: a list, by step: [what the runtime reported, its subgraphs]

A delegate replaces the nodes that a step names; it fails where the step says, in "prepare" or in its "kernel".
"""

import base64
import contextlib
import json
import sys
from ctypes import CFUNCTYPE, POINTER, Structure, addressof, byref, c_char_p, c_int, c_int32, c_uint64, c_void_p, cast

from ai_edge_litert.interpreter import Interpreter, OpResolverType
from lite_worker import PREPARE, Context, NativeDelegate, Watcher, ints

FAILED = 1


class Registration(Structure):
    _fields_ = (
        ("init", c_void_p),
        ("free", c_void_p),
        ("prepare", PREPARE),
        ("invoke", PREPARE),
        ("profiling_string", c_void_p),
        ("builtin_code", c_int32),
        ("custom_name", c_char_p),
        ("version", c_int),
        ("registration_external", c_void_p),
        ("async_kernel", c_void_p),
        ("inplace_operator", c_uint64),
    )


class DelegateContext(Context):
    _fields_ = (("replace", CFUNCTYPE(c_int, c_void_p, Registration, c_void_p, c_void_p)),)


class Taker:
    """A delegate that replaces nodes of the execution plan; it keeps every context that it sees."""

    def __init__(self, nodes, flags, fails):
        self.nodes, self.fails = nodes, fails
        self.native = NativeDelegate(prepare=PREPARE(self.prepare), flags=flags)
        self.kernel = Registration(
            prepare=PREPARE(self.prepare_kernel), invoke=PREPARE(lambda *_: 0), custom_name=b"Taker", version=1
        )

    def prepare_kernel(self, _context, _node):
        return FAILED if self.fails == "kernel" else 0

    def prepare(self, context_address, delegate):
        if self.fails == "prepare":
            return FAILED
        context = cast(context_address, POINTER(DelegateContext)).contents
        plan = c_void_p()
        context.get_execution_plan(context_address, byref(plan))
        nodes = [index for index in ints(plan.value) if index in self.nodes]
        array = (c_int * (len(nodes) + 1))(len(nodes), *nodes)
        return context.replace(context_address, self.kernel, addressof(array), delegate)


def answer(request):
    watcher, takers = Watcher(), []
    interpreter = Interpreter(
        model_content=base64.b64decode(request["model"]),
        experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        num_threads=1,
    )
    seen = []
    for step, *arguments in request["steps"]:
        error = ""
        try:
            if step == "watch":
                interpreter._interpreter.ModifyGraphWithDelegate(addressof(watcher.native))
            elif step == "delegate":
                takers.append(Taker(*arguments))
                interpreter._interpreter.ModifyGraphWithDelegate(addressof(takers[-1].native))
            elif step == "resize":
                index, shape, strict = arguments
                interpreter.resize_tensor_input(index, shape, strict=strict)
            else:
                {"allocate": interpreter.allocate_tensors, "invoke": interpreter.invoke}[step]()
        except (ValueError, RuntimeError) as failure:
            error = str(failure)
        contexts = {addressof(context): context for context, _ in watcher.seen}  # redone delegates are asked again
        seen.append([error, [watcher.subgraph(context, []) for context in contexts.values()]])
    return seen


if __name__ == "__main__":
    for line in sys.stdin:
        with contextlib.redirect_stdout(sys.stderr):
            result = answer(json.loads(line))
        print(json.dumps(result), flush=True)
