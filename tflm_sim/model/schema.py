"""The .tflite schema as tables: names by number, field slots, and the fields of every builtin options table.

The order of names is their number, the order of fields is their slot. A field reads ``name:type`` or
``name:type=default`` in the schema's own words; ``~`` marks a deprecated field, which keeps its slot and is never read.

Source: tensorflow/compiler/mlir/lite/schema/schema.fbs @ 90b983c; FullyConnectedOptions.quant_spec and
BlockwiseQuantization.block_shape, which is part of what is refused as quantization details:
tensorflow/lite/micro/python/schema_py_generated.py in the pip wheel of 8f6596d.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tflm_sim.model.types import OptionValue

FILE_IDENTIFIER = b"TFL3"

SCALAR_CODES: dict[str, str] = {
    "bool": "?",
    "byte": "b",
    "ubyte": "B",
    "short": "h",
    "ushort": "H",
    "int": "i",
    "uint": "I",
    "long": "q",
    "ulong": "Q",
    "float": "f",
}
"""The scalar types of the schema language, each with its ``struct`` code."""

_OPERATOR_NAMES = """
    ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE EMBEDDING_LOOKUP FLOOR
    FULLY_CONNECTED HASHTABLE_LOOKUP L2_NORMALIZATION L2_POOL_2D LOCAL_RESPONSE_NORMALIZATION LOGISTIC
    LSH_PROJECTION LSTM MAX_POOL_2D MUL RELU RELU_N1_TO_1 RELU6 RESHAPE RESIZE_BILINEAR RNN SOFTMAX SPACE_TO_DEPTH
    SVDF TANH CONCAT_EMBEDDINGS SKIP_GRAM CALL CUSTOM EMBEDDING_LOOKUP_SPARSE PAD UNIDIRECTIONAL_SEQUENCE_RNN GATHER
    BATCH_TO_SPACE_ND SPACE_TO_BATCH_ND TRANSPOSE MEAN SUB DIV SQUEEZE UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE
    BIDIRECTIONAL_SEQUENCE_RNN EXP TOPK_V2 SPLIT LOG_SOFTMAX DELEGATE BIDIRECTIONAL_SEQUENCE_LSTM CAST PRELU MAXIMUM
    ARG_MAX MINIMUM LESS NEG PADV2 GREATER GREATER_EQUAL LESS_EQUAL SELECT SLICE SIN TRANSPOSE_CONV SPARSE_TO_DENSE
    TILE EXPAND_DIMS EQUAL NOT_EQUAL LOG SUM SQRT RSQRT SHAPE POW ARG_MIN FAKE_QUANT REDUCE_PROD REDUCE_MAX PACK
    LOGICAL_OR ONE_HOT LOGICAL_AND LOGICAL_NOT UNPACK REDUCE_MIN FLOOR_DIV REDUCE_ANY SQUARE ZEROS_LIKE FILL
    FLOOR_MOD RANGE RESIZE_NEAREST_NEIGHBOR LEAKY_RELU SQUARED_DIFFERENCE MIRROR_PAD ABS SPLIT_V UNIQUE CEIL
    REVERSE_V2 ADD_N GATHER_ND COS WHERE RANK ELU REVERSE_SEQUENCE MATRIX_DIAG QUANTIZE MATRIX_SET_DIAG ROUND
    HARD_SWISH IF WHILE NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 SCATTER_ND SELECT_V2 DENSIFY SEGMENT_SUM
    BATCH_MATMUL PLACEHOLDER_FOR_GREATER_OP_CODES CUMSUM CALL_ONCE BROADCAST_TO RFFT2D CONV_3D IMAG REAL COMPLEX_ABS
    HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE REDUCE_ALL CONV_3D_TRANSPOSE VAR_HANDLE READ_VARIABLE
    ASSIGN_VARIABLE BROADCAST_ARGS RANDOM_STANDARD_NORMAL BUCKETIZE RANDOM_UNIFORM MULTINOMIAL GELU
    DYNAMIC_UPDATE_SLICE RELU_0_TO_1 UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_SUM ATAN2
    UNSORTED_SEGMENT_MIN SIGN BITCAST BITWISE_XOR RIGHT_SHIFT STABLEHLO_LOGISTIC STABLEHLO_ADD STABLEHLO_DIVIDE
    STABLEHLO_MULTIPLY STABLEHLO_MAXIMUM STABLEHLO_RESHAPE STABLEHLO_CLAMP STABLEHLO_CONCATENATE
    STABLEHLO_BROADCAST_IN_DIM STABLEHLO_CONVOLUTION STABLEHLO_SLICE STABLEHLO_CUSTOM_CALL STABLEHLO_REDUCE
    STABLEHLO_ABS STABLEHLO_AND STABLEHLO_COSINE STABLEHLO_EXPONENTIAL STABLEHLO_FLOOR STABLEHLO_LOG
    STABLEHLO_MINIMUM STABLEHLO_NEGATE STABLEHLO_OR STABLEHLO_POWER STABLEHLO_REMAINDER STABLEHLO_RSQRT
    STABLEHLO_SELECT STABLEHLO_SUBTRACT STABLEHLO_TANH STABLEHLO_SCATTER STABLEHLO_COMPARE STABLEHLO_CONVERT
    STABLEHLO_DYNAMIC_SLICE STABLEHLO_DYNAMIC_UPDATE_SLICE STABLEHLO_PAD STABLEHLO_IOTA STABLEHLO_DOT_GENERAL
    STABLEHLO_REDUCE_WINDOW STABLEHLO_SORT STABLEHLO_WHILE STABLEHLO_GATHER STABLEHLO_TRANSPOSE DILATE
    STABLEHLO_RNG_BIT_GENERATOR REDUCE_WINDOW STABLEHLO_COMPOSITE STABLEHLO_SHIFT_LEFT STABLEHLO_CBRT STABLEHLO_CASE
"""

BUILTIN_OPERATORS: tuple[str, ...] = tuple(_OPERATOR_NAMES.split())
"""``tflite.BuiltinOperator`` names by number."""

_OPTIONS_NAMES = """
    Conv2DOptions DepthwiseConv2DOptions ConcatEmbeddingsOptions LSHProjectionOptions Pool2DOptions SVDFOptions
    RNNOptions FullyConnectedOptions SoftmaxOptions ConcatenationOptions AddOptions L2NormOptions
    LocalResponseNormalizationOptions LSTMOptions ResizeBilinearOptions CallOptions ReshapeOptions SkipGramOptions
    SpaceToDepthOptions EmbeddingLookupSparseOptions MulOptions PadOptions GatherOptions BatchToSpaceNDOptions
    SpaceToBatchNDOptions TransposeOptions ReducerOptions SubOptions DivOptions SqueezeOptions SequenceRNNOptions
    StridedSliceOptions ExpOptions TopKV2Options SplitOptions LogSoftmaxOptions CastOptions DequantizeOptions
    MaximumMinimumOptions ArgMaxOptions LessOptions NegOptions PadV2Options GreaterOptions GreaterEqualOptions
    LessEqualOptions SelectOptions SliceOptions TransposeConvOptions SparseToDenseOptions TileOptions
    ExpandDimsOptions EqualOptions NotEqualOptions ShapeOptions PowOptions ArgMinOptions FakeQuantOptions
    PackOptions LogicalOrOptions OneHotOptions LogicalAndOptions LogicalNotOptions UnpackOptions FloorDivOptions
    SquareOptions ZerosLikeOptions FillOptions BidirectionalSequenceLSTMOptions BidirectionalSequenceRNNOptions
    UnidirectionalSequenceLSTMOptions FloorModOptions RangeOptions ResizeNearestNeighborOptions LeakyReluOptions
    SquaredDifferenceOptions MirrorPadOptions AbsOptions SplitVOptions UniqueOptions ReverseV2Options AddNOptions
    GatherNdOptions CosOptions WhereOptions RankOptions ReverseSequenceOptions MatrixDiagOptions QuantizeOptions
    MatrixSetDiagOptions HardSwishOptions IfOptions WhileOptions DepthToSpaceOptions NonMaxSuppressionV4Options
    NonMaxSuppressionV5Options ScatterNdOptions SelectV2Options DensifyOptions SegmentSumOptions BatchMatMulOptions
    CumsumOptions CallOnceOptions BroadcastToOptions Rfft2dOptions Conv3DOptions HashtableOptions
    HashtableFindOptions HashtableImportOptions HashtableSizeOptions VarHandleOptions ReadVariableOptions
    AssignVariableOptions RandomOptions BucketizeOptions GeluOptions DynamicUpdateSliceOptions
    UnsortedSegmentProdOptions UnsortedSegmentMaxOptions UnsortedSegmentMinOptions UnsortedSegmentSumOptions
    ATan2Options SignOptions BitcastOptions BitwiseXorOptions RightShiftOptions
"""

BUILTIN_OPTIONS: tuple[str, ...] = ("", *_OPTIONS_NAMES.split())
"""Members of the ``BuiltinOptions`` union by number; 0 is NONE."""

_OPTIONS_2_NAMES = """
    StablehloConcatenateOptions StablehloBroadcastInDimOptions StablehloSliceOptions StablehloConvolutionOptions
    StablehloCustomCallOptions StablehloReduceOptions StablehloScatterOptions StablehloCompareOptions
    StablehloDynamicSliceOptions StablehloPadOptions StablehloIotaOptions StablehloDotGeneralOptions
    StablehloReduceWindowOptions StablehloSortOptions StablehloWhileOptions StablehloGatherOptions
    StablehloTransposeOptions DilateOptions StablehloRngBitGeneratorOptions ReduceWindowOptions
    StableHLOCompositeOptions StablehloShiftLeftOptions StablehloCaseOptions
"""

BUILTIN_OPTIONS_2: tuple[str, ...] = ("", *_OPTIONS_2_NAMES.split())
"""Members of the ``BuiltinOptions2`` union by number; 0 is NONE."""


@dataclass(frozen=True, slots=True)
class EnumType:
    """An enum of the schema: the scalar type that stores it, and its names by number."""

    base: str
    names: tuple[str, ...]


def _enum(base: str, names: str) -> EnumType:
    """Return the enum whose names stand in ``names``."""
    return EnumType(base, tuple(names.split()))


ENUMS: dict[str, EnumType] = {
    "TensorType": _enum(
        "byte",
        "FLOAT32 FLOAT16 INT32 UINT8 INT64 STRING BOOL INT16 COMPLEX64 INT8 FLOAT64 COMPLEX128 UINT64 RESOURCE "
        "VARIANT UINT32 UINT16 INT4 BFLOAT16 INT2 UINT4 FLOAT8_E4M3FN FLOAT8_E5M2",
    ),
    "Padding": _enum("byte", "SAME VALID"),
    "ActivationFunctionType": _enum("byte", "NONE RELU RELU_N1_TO_1 RELU6 TANH SIGN_BIT"),
    "LSHProjectionType": _enum("byte", "UNKNOWN SPARSE DENSE"),
    "FullyConnectedOptionsWeightsFormat": _enum("byte", "DEFAULT SHUFFLED4x16INT8"),
    "LSTMKernelType": _enum("byte", "FULL BASIC"),
    "CombinerType": _enum("byte", "SUM MEAN SQRTN"),
    "MirrorPadMode": _enum("byte", "REFLECT SYMMETRIC"),
    "ReduceWindowFunction": _enum("int", "UNSUPPORTED ADD MUL MINIMUM MAXIMUM ALL ANY"),
    "CustomOptionsFormat": _enum("byte", "FLEXBUFFERS"),
    "RngAlgorithm": _enum("byte", "DEFAULT PHILOX THREEFRY"),
    "StablehloPrecisionConfig": _enum("uint", "DEFAULT HIGH HIGHEST"),
    "StablehloComparisonDirection": _enum(
        "uint",
        "STABLEHLO_COMPARISON_DIRECTION_EQ STABLEHLO_COMPARISON_DIRECTION_NE STABLEHLO_COMPARISON_DIRECTION_GE "
        "STABLEHLO_COMPARISON_DIRECTION_GT STABLEHLO_COMPARISON_DIRECTION_LE STABLEHLO_COMPARISON_DIRECTION_LT",
    ),
    "StablehloComparisonType": _enum(
        "uint",
        "STABLEHLO_COMPARISON_TYPE_NOTYPE STABLEHLO_COMPARISON_TYPE_FLOAT "
        "STABLEHLO_COMPARISON_TYPE_FLOAT_TOTAL_ORDER STABLEHLO_COMPARISON_TYPE_SIGNED "
        "STABLEHLO_COMPARISON_TYPE_UNSIGNED",
    ),
}
"""The enums that options use."""

_OPTION_FIELDS: dict[str, str] = {
    "Conv2DOptions": (
        "padding:Padding stride_w:int stride_h:int fused_activation_function:ActivationFunctionType "
        "dilation_w_factor:int=1 dilation_h_factor:int=1 quantized_bias_type:TensorType"
    ),
    "DepthwiseConv2DOptions": (
        "padding:Padding stride_w:int stride_h:int depth_multiplier:int "
        "fused_activation_function:ActivationFunctionType dilation_w_factor:int=1 dilation_h_factor:int=1"
    ),
    "ConcatEmbeddingsOptions": "num_channels:int num_columns_per_channel:[int] embedding_dim_per_channel:[int]",
    "LSHProjectionOptions": "type:LSHProjectionType",
    "Pool2DOptions": (
        "padding:Padding stride_w:int stride_h:int filter_width:int filter_height:int "
        "fused_activation_function:ActivationFunctionType"
    ),
    "SVDFOptions": "rank:int fused_activation_function:ActivationFunctionType asymmetric_quantize_inputs:bool",
    "RNNOptions": "fused_activation_function:ActivationFunctionType asymmetric_quantize_inputs:bool",
    "FullyConnectedOptions": (
        "fused_activation_function:ActivationFunctionType "
        "weights_format:FullyConnectedOptionsWeightsFormat=DEFAULT keep_num_dims:bool "
        "asymmetric_quantize_inputs:bool quantized_bias_type:TensorType quant_spec:[ubyte]"
    ),
    "SoftmaxOptions": "beta:float",
    "ConcatenationOptions": "axis:int fused_activation_function:ActivationFunctionType",
    "AddOptions": "fused_activation_function:ActivationFunctionType pot_scale_int16:bool=true",
    "L2NormOptions": "fused_activation_function:ActivationFunctionType",
    "LocalResponseNormalizationOptions": "radius:int bias:float alpha:float beta:float",
    "LSTMOptions": (
        "fused_activation_function:ActivationFunctionType cell_clip:float proj_clip:float "
        "kernel_type:LSTMKernelType=FULL asymmetric_quantize_inputs:bool"
    ),
    "ResizeBilinearOptions": "~new_height:int ~new_width:int align_corners:bool half_pixel_centers:bool",
    "CallOptions": "subgraph:uint",
    "ReshapeOptions": "new_shape:[int]",
    "SkipGramOptions": "ngram_size:int max_skip_size:int include_all_ngrams:bool",
    "SpaceToDepthOptions": "block_size:int",
    "EmbeddingLookupSparseOptions": "combiner:CombinerType",
    "MulOptions": "fused_activation_function:ActivationFunctionType",
    "GatherOptions": "axis:int batch_dims:int=0",
    "ReducerOptions": "keep_dims:bool",
    "SubOptions": "fused_activation_function:ActivationFunctionType pot_scale_int16:bool=true",
    "DivOptions": "fused_activation_function:ActivationFunctionType",
    "SqueezeOptions": "squeeze_dims:[int]",
    "SequenceRNNOptions": (
        "time_major:bool fused_activation_function:ActivationFunctionType asymmetric_quantize_inputs:bool"
    ),
    "StridedSliceOptions": (
        "begin_mask:int end_mask:int ellipsis_mask:int new_axis_mask:int shrink_axis_mask:int offset:bool"
    ),
    "SplitOptions": "num_splits:int",
    "CastOptions": "in_data_type:TensorType out_data_type:TensorType",
    "ArgMaxOptions": "output_type:TensorType",
    "TransposeConvOptions": (
        "padding:Padding stride_w:int stride_h:int fused_activation_function:ActivationFunctionType=NONE "
        "quantized_bias_type:TensorType"
    ),
    "SparseToDenseOptions": "validate_indices:bool",
    "ShapeOptions": "out_type:TensorType",
    "ArgMinOptions": "output_type:TensorType",
    "FakeQuantOptions": "min:float max:float num_bits:int narrow_range:bool",
    "PackOptions": "values_count:int axis:int",
    "OneHotOptions": "axis:int",
    "UnpackOptions": "num:int axis:int",
    "BidirectionalSequenceLSTMOptions": (
        "fused_activation_function:ActivationFunctionType cell_clip:float proj_clip:float merge_outputs:bool "
        "time_major:bool=true asymmetric_quantize_inputs:bool"
    ),
    "BidirectionalSequenceRNNOptions": (
        "time_major:bool fused_activation_function:ActivationFunctionType merge_outputs:bool "
        "asymmetric_quantize_inputs:bool"
    ),
    "UnidirectionalSequenceLSTMOptions": (
        "fused_activation_function:ActivationFunctionType cell_clip:float proj_clip:float time_major:bool "
        "asymmetric_quantize_inputs:bool diagonal_recurrent_tensors:bool"
    ),
    "ResizeNearestNeighborOptions": "align_corners:bool half_pixel_centers:bool",
    "LeakyReluOptions": "alpha:float",
    "MirrorPadOptions": "mode:MirrorPadMode",
    "SplitVOptions": "num_splits:int",
    "UniqueOptions": "idx_out_type:TensorType=INT32",
    "ReverseSequenceOptions": "seq_dim:int batch_dim:int=0",
    "IfOptions": "then_subgraph_index:int else_subgraph_index:int",
    "WhileOptions": "cond_subgraph_index:int body_subgraph_index:int",
    "DepthToSpaceOptions": "block_size:int",
    "BatchMatMulOptions": "adj_x:bool adj_y:bool asymmetric_quantize_inputs:bool",
    "CumsumOptions": "exclusive:bool reverse:bool",
    "CallOnceOptions": "init_subgraph_index:int",
    "Conv3DOptions": (
        "padding:Padding stride_d:int stride_w:int stride_h:int fused_activation_function:ActivationFunctionType "
        "dilation_d_factor:int=1 dilation_w_factor:int=1 dilation_h_factor:int=1"
    ),
    "HashtableOptions": "table_id:int key_dtype:TensorType value_dtype:TensorType",
    "VarHandleOptions": "container:string shared_name:string",
    "RandomOptions": "seed:long seed2:long",
    "BucketizeOptions": "boundaries:[float]",
    "GeluOptions": "approximate:bool",
    "StablehloConcatenateOptions": "dimension:long",
    "StablehloBroadcastInDimOptions": "broadcast_dimensions:[long]",
    "StablehloSliceOptions": "start_indices:[long] limit_indices:[long] strides:[long]",
    "StablehloConvolutionOptions": (
        "window_strides:[long] padding:[long] lhs_dilation:[long] rhs_dilation:[long] window_reversal:[bool] "
        "input_batch_dimension:long input_feature_dimension:long input_spatial_dimensions:[long] "
        "kernel_input_feature_dimension:long kernel_output_feature_dimension:long "
        "kernel_spatial_dimensions:[long] output_batch_dimension:long output_feature_dimension:long "
        "output_spatial_dimensions:[long] feature_group_count:long batch_group_count:long "
        "precision_config:[StablehloPrecisionConfig]"
    ),
    "StablehloCustomCallOptions": (
        "call_target_name:string has_side_effect:bool backend_config:string api_version:int "
        "called_computations:[int] custom_attributes:[ubyte]"
    ),
    "StablehloReduceOptions": "dimensions:[long] body_subgraph_index:int",
    "StablehloScatterOptions": (
        "indices_are_sorted:bool update_window_dims:[long] inserted_window_dims:[long] "
        "scatter_dims_to_operand_dims:[long] index_vector_dim:long unique_indices:bool "
        "update_computation_subgraph_index:int"
    ),
    "StablehloCompareOptions": "comparison_direction:StablehloComparisonDirection compare_type:StablehloComparisonType",
    "StablehloDynamicSliceOptions": "slice_sizes:[long]",
    "StablehloPadOptions": "edge_padding_low:[long] edge_padding_high:[long] interior_padding:[long]",
    "StablehloIotaOptions": "iota_dimension:long",
    "StablehloDotGeneralOptions": (
        "lhs_batching_dimensions:[long] rhs_batching_dimensions:[long] lhs_contracting_dimensions:[long] "
        "rhs_contracting_dimensions:[long] precision_config:[StablehloPrecisionConfig]"
    ),
    "StablehloReduceWindowOptions": (
        "window_dimensions:[long] window_strides:[long] base_dilations:[long] window_dilations:[long] "
        "padding:[long] body_subgraph_index:int"
    ),
    "StablehloSortOptions": "dimension:long is_stable:bool comparator_subgraph_index:int",
    "StablehloWhileOptions": "cond_subgraph_index:int body_subgraph_index:int",
    "StablehloGatherOptions": (
        "offset_dims:[long] collapsed_slice_dims:[long] start_index_map:[long] index_vector_dim:long "
        "slice_sizes:[long] indices_are_sorted:bool"
    ),
    "StablehloTransposeOptions": "permutation:[long]",
    "StablehloRngBitGeneratorOptions": "algorithm:RngAlgorithm",
    "ReduceWindowOptions": "reduce_function:ReduceWindowFunction",
    "StableHLOCompositeOptions": (
        "name:string decomposition_subgraph_index:int composite_attributes:[ubyte] "
        "composite_attributes_format:CustomOptionsFormat version:int"
    ),
    "StablehloCaseOptions": "branch_subgraph_indices:[int]",
}


@dataclass(frozen=True, slots=True)
class OptionField:
    """One field of a builtin options table.

    Attributes:
        name: As in the schema.
        slot: Its index in the table.
        type: "int", "string", ...: the stored type; an enum counts as the scalar that stores it.
        is_vector: Whether it is a vector of ``type``.
        enum: The enum's name, "" for other types.
        default: Its value when the table leaves it out; None for a string or a vector.
    """

    name: str
    slot: int
    type: str
    is_vector: bool
    enum: str
    default: OptionValue


@lru_cache(maxsize=512)
def option_fields(table: str) -> tuple[OptionField, ...]:
    """Return the fields of a builtin options table, () for a table without fields or one that nobody knows."""
    declarations = enumerate(_OPTION_FIELDS.get(table, "").split())
    return tuple(_option_field(text, slot) for slot, text in declarations if not text.startswith("~"))


def _option_field(declaration: str, slot: int) -> OptionField:
    """Return the field that ``name:type=default`` declares."""
    name, _, rest = declaration.partition(":")
    type_text, _, default_text = rest.partition("=")
    element = type_text.strip("[]")
    is_vector = element != type_text
    enum = element if element in ENUMS else ""
    stored = ENUMS[enum].base if enum else element
    default = None if is_vector or stored == "string" else _default(stored, enum, default_text)
    return OptionField(name, slot, stored, is_vector, enum, default)


def _default(stored: str, enum: str, text: str) -> OptionValue:
    """Return the value of a default, zero when none is written."""
    if enum:
        return ENUMS[enum].names.index(text) if text else 0
    if stored == "bool":
        return text == "true"
    return float(text or 0) if stored == "float" else int(text or 0)


def builtin_operator_name(code: int) -> str:
    """Return the operator's name as the device prints it, "" for a number outside of the enum."""
    return BUILTIN_OPERATORS[code] if 0 <= code < len(BUILTIN_OPERATORS) else ""


@lru_cache(maxsize=512)
def builtin_operator_code(name: str) -> int:
    """Return the number of a builtin operator; raises ValueError for a name that the schema does not have."""
    return BUILTIN_OPERATORS.index(name)


# Operators whose options table has another name than "<Operator>Options".
_SHARED_OPTIONS: dict[str, str] = {
    "AVERAGE_POOL_2D": "Pool2DOptions",
    "CONV_3D_TRANSPOSE": "Conv3DOptions",
    "L2_NORMALIZATION": "L2NormOptions",
    "L2_POOL_2D": "Pool2DOptions",
    "MAX_POOL_2D": "Pool2DOptions",
    "MAXIMUM": "MaximumMinimumOptions",
    "MEAN": "ReducerOptions",
    "MINIMUM": "MaximumMinimumOptions",
    "MULTINOMIAL": "RandomOptions",
    "RANDOM_STANDARD_NORMAL": "RandomOptions",
    "RANDOM_UNIFORM": "RandomOptions",
    "REDUCE_ALL": "ReducerOptions",
    "REDUCE_ANY": "ReducerOptions",
    "REDUCE_MAX": "ReducerOptions",
    "REDUCE_MIN": "ReducerOptions",
    "REDUCE_PROD": "ReducerOptions",
    "SUM": "ReducerOptions",
    "UNIDIRECTIONAL_SEQUENCE_RNN": "SequenceRNNOptions",
}


@lru_cache(maxsize=512)
def options_of_operator(name: str) -> str:
    """Return the options table that converters write for a builtin operator, "" for none."""
    wanted = name.replace("_", "").lower() + "options"
    tables = (table for table in BUILTIN_OPTIONS + BUILTIN_OPTIONS_2 if table.lower() == wanted)
    return _SHARED_OPTIONS.get(name) or next(tables, "")


class ModelSlot:
    """Field slots of the ``Model`` table."""

    VERSION, OPERATOR_CODES, SUBGRAPHS, DESCRIPTION, BUFFERS, METADATA_BUFFER, METADATA, SIGNATURE_DEFS = range(8)
    EXTERNAL_BUFFER_GROUPS, EXTERNAL_BUFFERS = 8, 9


class OperatorCodeSlot:
    """Field slots of the ``OperatorCode`` table."""

    DEPRECATED_BUILTIN_CODE, CUSTOM_CODE, VERSION, BUILTIN_CODE = range(4)


class SubgraphSlot:
    """Field slots of the ``SubGraph`` table."""

    TENSORS, INPUTS, OUTPUTS, OPERATORS, NAME = range(5)


class TensorSlot:
    """Field slots of the ``Tensor`` table."""

    SHAPE, TYPE, BUFFER, NAME, QUANTIZATION, IS_VARIABLE, SPARSITY, SHAPE_SIGNATURE, HAS_RANK = range(9)


class QuantizationSlot:
    """Field slots of the ``QuantizationParameters`` table; the ``details`` union takes two."""

    MIN, MAX, SCALE, ZERO_POINT, DETAILS_TYPE, DETAILS, QUANTIZED_DIMENSION = range(7)


class OperatorSlot:
    """Field slots of the ``Operator`` table; each union takes two."""

    OPCODE_INDEX, INPUTS, OUTPUTS, BUILTIN_OPTIONS_TYPE, BUILTIN_OPTIONS, CUSTOM_OPTIONS = range(6)
    CUSTOM_OPTIONS_FORMAT, MUTATING_VARIABLE_INPUTS, INTERMEDIATES = 6, 7, 8
    LARGE_CUSTOM_OPTIONS_OFFSET = 9
    BUILTIN_OPTIONS_2_TYPE, BUILTIN_OPTIONS_2 = 11, 12


class BufferSlot:
    """Field slots of the ``Buffer`` table."""

    DATA, OFFSET, SIZE = range(3)


class MetadataSlot:
    """Field slots of the ``Metadata`` table."""

    NAME, BUFFER = range(2)


class SignatureSlot:
    """Field slots of the ``SignatureDef`` table."""

    INPUTS, OUTPUTS, SIGNATURE_KEY, DEPRECATED_TAG, SUBGRAPH_INDEX = range(5)


class TensorMapSlot:
    """Field slots of the ``TensorMap`` table."""

    NAME, TENSOR_INDEX = range(2)
