"""What a builtin operator does with its tensors, whatever runtime runs it: groups of names that several rooms ask for.

A name stands for the operator of the schema (``BuiltinOperator``). Which types, ranks and options a kernel takes is not
said here: that is the kernel's own (``ops``, ``lite/kernels``).
"""

from __future__ import annotations

CONVOLUTIONS = frozenset({"CONV_2D", "DEPTHWISE_CONV_2D"})
POOLS = frozenset({"AVERAGE_POOL_2D", "MAX_POOL_2D"})
WINDOWED = CONVOLUTIONS | POOLS
CHANNEL_AXES = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 0, "TRANSPOSE_CONV": 0}
"""The axis of the weights, input 1, along which their output channels are; a bias has an element for each of these."""

# One input element makes one output element, whatever the shape is.
_UNARY = """
    RELU RELU6 RELU_N1_TO_1 RELU_0_TO_1 LEAKY_RELU LOGISTIC TANH HARD_SWISH ELU ABS NEG SQRT RSQRT SQUARE EXP
    LOG SIN COS FLOOR CEIL ROUND LOGICAL_NOT QUANTIZE DEQUANTIZE CAST GELU
"""
UNARY = frozenset(_UNARY.split())
BINARY = frozenset(["ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE", "DIV", "FLOOR_DIV", "PRELU"])
# The same bytes under another shape.
VIEWS = frozenset({"RESHAPE", "SQUEEZE", "EXPAND_DIMS"})
# The state of these lives outside of the tensors that the graph names, or they run other subgraphs.
_STATEFUL = """
    VAR_HANDLE READ_VARIABLE ASSIGN_VARIABLE CALL_ONCE IF WHILE CUSTOM SVDF UNIDIRECTIONAL_SEQUENCE_LSTM
    UNIDIRECTIONAL_SEQUENCE_RNN BIDIRECTIONAL_SEQUENCE_LSTM BIDIRECTIONAL_SEQUENCE_RNN LSTM RNN RANDOM_UNIFORM
    RANDOM_STANDARD_NORMAL MULTINOMIAL
"""
STATEFUL = frozenset(_STATEFUL.split())
