"""How kernels and builtin parsers read an operator's builtin options.

Source: tensorflow/lite/core/api/flatbuffer_conversions.cc @ 90b983c.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

from tflm_sim.graph.eval_tensor import types_that_convert
from tflm_sim.model.types import OptionValue
from tflm_sim.ops.op_model import Node
from tflm_sim.ops.roles import fail

_FIRST_MEMBERS: dict[str, tuple[tuple[str, str, int], ...]] = {
    "SoftmaxOptions": (("beta", "<f", 0),),
    **dict.fromkeys(
        ("Conv2DOptions", "DepthwiseConv2DOptions", "TransposeConvOptions", "Pool2DOptions"), (("padding", "<i", -1),)
    ),
    **dict.fromkeys(
        ("FullyConnectedOptions", "AddOptions", "SubOptions", "MulOptions", "DivOptions", "L2NormOptions"),
        (("fused_activation_function", "<i", 0),),
    ),
    **dict.fromkeys(("ConcatenationOptions", "GatherOptions"), (("axis", "<i", 0),)),
    **dict.fromkeys(("DepthToSpaceOptions", "SpaceToDepthOptions"), (("block_size", "<i", 0),)),
    "SVDFOptions": (("rank", "<i", 0),),
    "StridedSliceOptions": (("begin_mask", "<i", 0),),
    "IfOptions": (("then_subgraph_index", "<i", 0),),
    "WhileOptions": (("cond_subgraph_index", "<i", 0),),
    "CallOnceOptions": (("init_subgraph_index", "<i", 0),),
    "BatchMatMulOptions": (("adj_x", "<?xxx", 0), ("adj_y", "<x?xx", 0)),
    "ResizeBilinearOptions": (("align_corners", "<?xxx", 0), ("half_pixel_centers", "<x?xx", 0)),
}
"""Which options lie in the first four bytes of the builtin data: their layout there, and what the file's number has
more than TFLM's (``TfLitePadding`` begins with "unknown")."""

MAX_OPTION_DIMS = 8
"""How many values the dims array in the builtin data of RESHAPE and of SQUEEZE holds."""


def option(node: Node, table: str, name: str) -> OptionValue:
    """Return a field of the builtin options, None unless they are a ``table`` that has it (``builtin_options_as_``)."""
    if node.damage is not None:
        for member, layout, more in _FIRST_MEMBERS.get(table, ()):
            if member == name:
                value: int | float = struct.unpack(layout, struct.pack("<i", node.damage))[0]
                return value + more if more else value
    return node.operator.options_as(table).get(name)


def int_option(node: Node, table: str, name: str) -> int:
    """Return an integer field of the builtin options; 0, as the zeroed builtin data has, without a ``table``."""
    value = option(node, table, name)
    return value if type(value) is int else int(value) if isinstance(value, int) else 0


def options_of(node: Node, table: str) -> Mapping[str, Any]:
    """Return the builtin options, nothing without a ``table``; for fields that do not lie in their first bytes."""
    return node.operator.options_as(table)


def float_option(node: Node, table: str, name: str) -> float:
    """Return a float field of the builtin options; 0.0, as the zeroed builtin data has, without a ``table``."""
    return float(value) if isinstance(value := option(node, table, name), (int, float)) else 0.0


def dims_option(node: Node, table: str, name: str) -> tuple[int, ...]:
    """Return an option that is a vector of integers; () without one."""
    values = option(node, table, name)
    return tuple(int(value) for value in values) if isinstance(values, tuple) else ()


def fused_activation(node: Node, table: str) -> int:
    """Return ``ConvertActivation`` of the builtin options: 0 for an unknown value and for a file without ``table``."""
    activation = int_option(node, table, "fused_activation_function")
    return activation if 0 <= activation <= 5 else 0


def convertible_types(table: str, *names: str, since: str = "") -> Callable[[Node], None]:
    """Return a parser that refuses a type option that ``ConvertTensorType`` does not know.

    Args:
        table: The builtin options.
        *names: Which of them.
        since: The change that brought them to the parser, "" for ever.
    """

    def parse(node: Node) -> None:
        if since and not node.target.runtime.has(since):
            return
        for name in names:
            number = int_option(node, table, name)
            if number not in types_that_convert(node.target.runtime):
                raise fail(f"Unsupported data type {number} in tensor\n")

    return parse


def bounded_dims(table: str, name: str, operation: str) -> Callable[[Node], None]:
    """Return a parser that refuses a dims option with more values than its array holds."""

    def parse(node: Node) -> None:
        if len(dims_option(node, table, name)) > MAX_OPTION_DIMS:
            raise fail(f"Found too many dimensions in the input array of operation '{operation}'.\n")

    return parse
