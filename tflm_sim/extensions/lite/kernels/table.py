"""Which function prepares which operator: a row an operator.

Source: tflite/core/kernels/register.cc, tflite/kernels/register_ref.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tflm_sim.extensions.lite.graph_info import TfLiteContext, TfLiteNode
from tflm_sim.extensions.lite.kernels import (
    arithmetic,
    bidirectional_lstm,
    control_flow,
    conversion,
    convolution,
    convolution_3d,
    custom,
    dense,
    elementwise,
    joining,
    lstm,
    padding,
    reduction,
    rnn,
    segments,
    selection,
    shaping,
    transposed_convolution,
)
from tflm_sim.extensions.lite.kernels.call import Prepare, PrepareCall


@dataclass(frozen=True, slots=True)
class Preparation:
    """How an operator is prepared.

    Attributes:
        prepare: The function.
        source: The kernel's file below tflite/kernels.
        init_tensors: How many tensors its Init adds to the graph, or a function of its options that says so.
    """

    prepare: Prepare
    source: str
    init_tensors: int | Callable[[Mapping[str, Any]], int] = 0

    def bound(self, kernels: str) -> Callable[[TfLiteContext, TfLiteNode], bool | None]:
        """Return what a registration calls for a set of kernels."""

        def prepare(subgraph: TfLiteContext, node: TfLiteNode) -> bool | None:
            call = PrepareCall(subgraph, node, self.source, kernels)
            try:
                return self.prepare(call)
            except ZeroDivisionError as fault:
                raise call.abort("the kernel divides by zero") from fault
            except IndexError as fault:
                raise call.failure("(the kernel reads a dimension or a value that its tensor does not have)") from fault

        return prepare

    def init(self, subgraph: TfLiteContext, options: Any) -> dict[str, int] | None:
        """Return the data of a new node, for which Init may add tensors."""
        count = self.init_tensors(options or {}) if callable(self.init_tensors) else self.init_tensors
        return {"temporaries": subgraph.add_tensors(count)} if count else None


def _rows(prepare: Prepare, source: str, ops: str) -> dict[str, Preparation]:
    return {op: Preparation(prepare, source) for op in ops.split()}


BUILTINS: dict[str, Preparation] = {
    **_rows(elementwise.relu, "activations.cc", "RELU RELU_N1_TO_1 RELU_0_TO_1 RELU6"),
    **_rows(elementwise.elu, "activations.cc", "ELU GELU"),
    **_rows(elementwise.hard_swish, "activations.cc", "HARD_SWISH"),
    **_rows(elementwise.leaky_relu, "activations.cc", "LEAKY_RELU"),
    **_rows(elementwise.tanh, "activations.cc", "TANH"),
    **_rows(elementwise.logistic, "activations.cc", "LOGISTIC"),
    **_rows(elementwise.softmax, "activations.cc", "SOFTMAX"),
    **_rows(elementwise.log_softmax, "activations.cc", "LOG_SOFTMAX"),
    **_rows(elementwise.prelu, "activations.cc", "PRELU"),
    **_rows(arithmetic.add, "add.cc", "ADD"),
    **_rows(arithmetic.add, "sub.cc", "SUB"),
    **_rows(arithmetic.multiply, "mul.cc", "MUL"),
    **_rows(elementwise.binary, "div.cc", "DIV"),
    **_rows(elementwise.binary, "maximum_minimum.cc", "MAXIMUM MINIMUM"),
    **_rows(arithmetic.squared_difference, "squared_difference.cc", "SQUARED_DIFFERENCE"),
    **_rows(elementwise.binary, "floor_div.cc", "FLOOR_DIV"),
    **_rows(elementwise.binary, "floor_mod.cc", "FLOOR_MOD"),
    **_rows(elementwise.binary, "pow.cc", "POW"),
    **_rows(elementwise.binary, "logical.cc", "LOGICAL_AND LOGICAL_OR"),
    **_rows(elementwise.binary, "bitwise_xor.cc", "BITWISE_XOR"),
    **_rows(elementwise.binary, "right_shift.cc", "RIGHT_SHIFT"),
    **_rows(elementwise.comparison, "comparisons.cc", "EQUAL NOT_EQUAL GREATER GREATER_EQUAL LESS LESS_EQUAL"),
    **_rows(elementwise.unary, "elementwise.cc", "ABS SIN COS LOG SQRT RSQRT SQUARE LOGICAL_NOT"),
    **_rows(elementwise.floating, "floor.cc", "FLOOR"),
    **_rows(elementwise.floating, "ceil.cc", "CEIL"),
    **_rows(elementwise.floating, "round.cc", "ROUND"),
    **_rows(elementwise.takes_type, "neg.cc", "NEG"),
    **_rows(elementwise.takes_type, "zeros_like.cc", "ZEROS_LIKE"),
    **_rows(elementwise.exponential, "exp.cc", "EXP"),
    **_rows(elementwise.sign, "sign.cc", "SIGN"),
    **_rows(elementwise.atan2, "atan2.cc", "ATAN2"),
    **_rows(elementwise.cumsum, "cumsum.cc", "CUMSUM"),
    **_rows(conversion.cast, "cast.cc", "CAST"),
    **_rows(conversion.dequantize, "dequantize.cc", "DEQUANTIZE"),
    **_rows(conversion.densify, "densify.cc", "DENSIFY"),
    **_rows(conversion.quantize, "quantize.cc", "QUANTIZE"),
    **_rows(conversion.fake_quant, "fake_quant.cc", "FAKE_QUANT"),
    **_rows(elementwise.l2_normalization, "l2norm.cc", "L2_NORMALIZATION"),
    **_rows(elementwise.local_response_normalization, "local_response_norm.cc", "LOCAL_RESPONSE_NORMALIZATION"),
    **_rows(elementwise.complex_part, "complex_support.cc", "REAL IMAG COMPLEX_ABS"),
    **_rows(elementwise.bucketize, "bucketize.cc", "BUCKETIZE"),
    "ADD_N": Preparation(elementwise.add_n, "add_n.cc", 1),
    **_rows(
        elementwise.stablehlo_binary,
        "stablehlo_elementwise.cc",
        "STABLEHLO_ADD STABLEHLO_MULTIPLY STABLEHLO_MAXIMUM STABLEHLO_MINIMUM STABLEHLO_AND",
    ),
    **_rows(elementwise.stablehlo_shift_left, "stablehlo_shift_left.cc", "STABLEHLO_SHIFT_LEFT"),
    **_rows(shaping.reshape, "reshape.cc", "RESHAPE"),
    **_rows(shaping.squeeze, "squeeze.cc", "SQUEEZE"),
    **_rows(shaping.expand_dims, "expand_dims.cc", "EXPAND_DIMS"),
    **_rows(shaping.shape_of, "shape.cc", "SHAPE"),
    **_rows(shaping.rank_of, "rank.cc", "RANK"),
    **_rows(shaping.fill, "fill.cc", "FILL"),
    **_rows(shaping.range_of, "range.cc", "RANGE"),
    **_rows(shaping.tile, "tile.cc", "TILE"),
    **_rows(shaping.transpose, "transpose.cc", "TRANSPOSE"),
    **_rows(padding.pad, "pad.cc", "PAD PADV2"),
    **_rows(padding.mirror_pad, "mirror_pad.cc", "MIRROR_PAD"),
    **_rows(padding.reverse, "reverse.cc", "REVERSE_V2"),
    **_rows(padding.reverse_sequence, "reverse_sequence.cc", "REVERSE_SEQUENCE"),
    **_rows(padding.space_to_batch, "space_to_batch_nd.cc", "SPACE_TO_BATCH_ND"),
    **_rows(padding.batch_to_space, "batch_to_space_nd.cc", "BATCH_TO_SPACE_ND"),
    **_rows(padding.space_to_depth, "space_to_depth.cc", "SPACE_TO_DEPTH"),
    **_rows(padding.depth_to_space, "depth_to_space.cc", "DEPTH_TO_SPACE"),
    **_rows(padding.resize_image, "resize_bilinear.cc", "RESIZE_BILINEAR"),
    **_rows(padding.resize_image, "resize_nearest_neighbor.cc", "RESIZE_NEAREST_NEIGHBOR"),
    **_rows(shaping.matrix_diag, "matrix_diag.cc", "MATRIX_DIAG"),
    **_rows(shaping.matrix_set_diag, "matrix_set_diag.cc", "MATRIX_SET_DIAG"),
    **_rows(shaping.broadcast_to, "broadcast_to.cc", "BROADCAST_TO"),
    **_rows(shaping.broadcast_args, "broadcast_args.cc", "BROADCAST_ARGS"),
    **_rows(shaping.bitcast, "bitcast.cc", "BITCAST"),
    **_rows(shaping.rng_bit_generator, "rng_bit_generator.cc", "STABLEHLO_RNG_BIT_GENERATOR"),
    **_rows(selection.slice_of, "slice.cc", "SLICE"),
    **_rows(selection.strided_slice, "strided_slice.cc", "STRIDED_SLICE"),
    **_rows(selection.gather, "gather.cc", "GATHER"),
    **_rows(segments.gather_nd, "gather_nd.cc", "GATHER_ND"),
    **_rows(segments.scatter_nd, "scatter_nd.cc", "SCATTER_ND"),
    **_rows(joining.concatenation, "concatenation.cc", "CONCATENATION"),
    **_rows(joining.pack, "pack.cc", "PACK"),
    **_rows(joining.unpack, "unpack.cc", "UNPACK"),
    **_rows(joining.split, "split.cc", "SPLIT"),
    **_rows(joining.split_v, "split_v.cc", "SPLIT_V"),
    **_rows(selection.arg_min_max, "arg_min_max.cc", "ARG_MAX ARG_MIN"),
    **_rows(selection.top_k, "topk_v2.cc", "TOPK_V2"),
    **_rows(selection.one_hot, "one_hot.cc", "ONE_HOT"),
    **_rows(selection.where, "where.cc", "WHERE"),
    **_rows(selection.select, "select.cc", "SELECT SELECT_V2"),
    **_rows(segments.unique, "unique.cc", "UNIQUE"),
    **_rows(segments.segment_sum, "segment_sum.cc", "SEGMENT_SUM"),
    **_rows(
        segments.unsorted_segment,
        "unsorted_segment.cc",
        "UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_MIN UNSORTED_SEGMENT_SUM",
    ),
    **_rows(segments.sparse_to_dense, "sparse_to_dense.cc", "SPARSE_TO_DENSE"),
    **_rows(segments.dynamic_update_slice, "dynamic_update_slice.cc", "DYNAMIC_UPDATE_SLICE"),
    **_rows(segments.dilate, "dilate.cc", "DILATE"),
    **_rows(segments.stablehlo_gather, "stablehlo_gather.cc", "STABLEHLO_GATHER"),
    **_rows(segments.stablehlo_scatter, "stablehlo_scatter.cc", "STABLEHLO_SCATTER"),
    **_rows(segments.stablehlo_pad, "stablehlo_pad.cc", "STABLEHLO_PAD"),
    **_rows(segments.reduce_window, "stablehlo_reduce_window.cc", "REDUCE_WINDOW"),
    "STABLEHLO_REDUCE_WINDOW": Preparation(segments.stablehlo_reduce_window, "stablehlo_reduce_window.cc", 2),
    **_rows(convolution.convolution, "conv.cc", "CONV_2D"),
    **_rows(convolution.depthwise_convolution, "depthwise_conv.cc", "DEPTHWISE_CONV_2D"),
    **_rows(transposed_convolution.transpose_convolution, "transpose_conv.cc", "TRANSPOSE_CONV"),
    **_rows(convolution.pool, "pooling.cc", "AVERAGE_POOL_2D MAX_POOL_2D L2_POOL_2D"),
    **_rows(convolution_3d.convolution_3d, "conv3d.cc", "CONV_3D"),
    **_rows(convolution_3d.transpose_convolution_3d, "conv3d_transpose.cc", "CONV_3D_TRANSPOSE"),
    **_rows(dense.fully_connected, "fully_connected.cc", "FULLY_CONNECTED"),
    **_rows(dense.batch_matmul, "batch_matmul.cc", "BATCH_MATMUL"),
    "SVDF": Preparation(dense.svdf, "svdf.cc", 6),
    **_rows(dense.embedding_lookup, "embedding_lookup.cc", "EMBEDDING_LOOKUP"),
    **_rows(dense.embedding_lookup_sparse, "embedding_lookup_sparse.cc", "EMBEDDING_LOOKUP_SPARSE"),
    **_rows(dense.hashtable_lookup, "hashtable_lookup.cc", "HASHTABLE_LOOKUP"),
    **_rows(dense.lsh_projection, "lsh_projection.cc", "LSH_PROJECTION"),
    **_rows(dense.skip_gram, "skip_gram.cc", "SKIP_GRAM"),
    **_rows(dense.random, "random_ops.cc", "RANDOM_UNIFORM RANDOM_STANDARD_NORMAL"),
    **_rows(dense.multinomial, "random_ops.cc", "MULTINOMIAL"),
    **_rows(dense.rfft2d, "rfft2d.cc", "RFFT2D"),
    **_rows(reduction.reduce_simple, "reduce.cc", "REDUCE_MAX REDUCE_MIN"),
    **_rows(reduction.reduce_logical, "reduce.cc", "REDUCE_ANY REDUCE_ALL"),
    **_rows(reduction.mean_or_sum, "reduce.cc", "MEAN SUM"),
    **_rows(reduction.reduce_product, "reduce.cc", "REDUCE_PROD"),
    "LSTM": Preparation(lstm.lstm, "lstm.cc", lstm.lstm_temporaries),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": Preparation(lstm.sequence_lstm, "unidirectional_sequence_lstm.cc", 12),
    "BIDIRECTIONAL_SEQUENCE_LSTM": Preparation(
        bidirectional_lstm.bidirectional_lstm, "bidirectional_sequence_lstm.cc", 19
    ),
    "RNN": Preparation(rnn.rnn, "basic_rnn.cc", 6),
    "UNIDIRECTIONAL_SEQUENCE_RNN": Preparation(rnn.sequence_rnn, "unidirectional_sequence_rnn.cc", 6),
    "BIDIRECTIONAL_SEQUENCE_RNN": Preparation(rnn.bidirectional_rnn, "bidirectional_sequence_rnn.cc", 9),
    **_rows(custom.non_max_suppression, "non_max_suppression.cc", "NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5"),
    **_rows(control_flow.if_else, "if.cc", "IF"),
    **_rows(control_flow.while_loop, "while.cc", "WHILE"),
    **_rows(control_flow.call_once, "call_once.cc", "CALL_ONCE"),
    **_rows(control_flow.case, "stablehlo_case.cc", "STABLEHLO_CASE"),
    **_rows(control_flow.composite, "stablehlo_composite.cc", "STABLEHLO_COMPOSITE"),
    **_rows(control_flow.var_handle, "var_handle.cc", "VAR_HANDLE"),
    **_rows(control_flow.read_variable, "read_variable.cc", "READ_VARIABLE"),
    **_rows(control_flow.assign_variable, "assign_variable.cc", "ASSIGN_VARIABLE"),
    **_rows(control_flow.hashtable, "hashtable.cc", "HASHTABLE"),
    **_rows(control_flow.hashtable_find, "hashtable_find.cc", "HASHTABLE_FIND"),
    **_rows(control_flow.hashtable_import, "hashtable_import.cc", "HASHTABLE_IMPORT"),
    **_rows(control_flow.hashtable_size, "hashtable_size.cc", "HASHTABLE_SIZE"),
}
"""The builtin operators."""

CUSTOMS: dict[str, Preparation] = {
    "NumericVerify": Preparation(custom.numeric_verify, "numeric_verify.cc"),
    "Mfcc": Preparation(custom.mfcc, "mfcc.cc"),
    "AudioSpectrogram": Preparation(custom.audio_spectrogram, "audio_spectrogram.cc"),
    "TFLite_Detection_PostProcess": Preparation(custom.detection_postprocess, "detection_postprocess.cc", 2),
    "aeq.hadamard_rotation": Preparation(custom.hadamard_rotation, "hadamard_rotation.cc"),
}
"""The custom operators that the runtime brings along."""
