"""Builtin-data structs that TFLM's parsers allocate, one per operator family. Source: snapshot 90b983c."""

from __future__ import annotations

from tflm_sim.targets.abi import CStruct, declare

_H = "tensorflow/compiler/mlir/lite/core/c/builtin_op_data.h"

STRUCTS: tuple[CStruct, ...] = (
    declare("TfLiteAddParams", _H + ":236", "enum activation; bool pot_scale_int16"),
    declare("TfLiteArgMaxParams", _H + ":434", "enum output_type"),
    declare("TfLiteArgMinParams", _H + ":438", "enum output_type"),
    declare("TfLiteBatchMatMulParams", _H + ":253", "bool adj_x; bool adj_y; bool asymmetric_quantize_inputs"),
    declare("TfLiteCallOnceParams", _H + ":528", "int init_subgraph_index"),
    declare("TfLiteCastParams", _H + ":380", "enum in_data_type; enum out_data_type"),
    declare("TfLiteConcatenationParams", _H + ":230", "int axis; enum activation"),
    declare(
        "TfLiteConvParams",
        _H + ":104",
        "enum padding; int stride_width; int stride_height; enum activation; int dilation_width_factor; "
        "int dilation_height_factor; enum quantized_bias_type",
    ),
    declare("TfLiteCumsumParams", _H + ":524", "bool exclusive; bool reverse"),
    declare("TfLiteDepthToSpaceParams", _H + ":375", "int block_size"),
    declare(
        "TfLiteDepthwiseConvParams",
        _H + ":151",
        "enum padding; int stride_width; int stride_height; int depth_multiplier; enum activation; "
        "int dilation_width_factor; int dilation_height_factor",
    ),
    declare("TfLiteDivParams", _H + ":267", "enum activation"),
    declare(
        "TfLiteFullyConnectedParams",
        _H + ":211",
        "enum activation; enum weights_format; bool keep_num_dims; bool asymmetric_quantize_inputs; "
        "enum quantized_bias_type",
    ),
    declare("TfLiteGatherParams", _H + ":395", "int axis; int batch_dims"),
    declare("TfLiteIfParams", _H + ":514", "int then_subgraph_index; int else_subgraph_index"),
    declare("TfLiteL2NormParams", _H + ":271", "enum activation"),
    declare(
        "TfLiteLSTMParams",
        _H + ":297",
        "enum activation; float cell_clip; float proj_clip; enum kernel_type; bool asymmetric_quantize_inputs",
    ),
    declare("TfLiteLeakyReluParams", _H + ":492", "float alpha"),
    declare("TfLiteMirrorPaddingParams", _H + ":76", "enum mode"),
    declare("TfLiteMulParams", _H + ":257", "enum activation"),
    declare("TfLitePackParams", _H + ":479", "int values_count; int axis"),
    declare("TfLitePaddingValues", _H + ":72", "int width; int height; int width_offset; int height_offset"),
    declare(
        "TfLitePoolParams",
        _H + ":129",
        "enum padding; int stride_width; int stride_height; int filter_width; int filter_height; "
        "enum activation; TfLitePaddingValues computed",
    ),
    declare("TfLiteReducerParams", _H + ":403", "bool keep_dims"),
    declare("TfLiteReshapeParams", _H + ":361", "int32[8] shape; int num_dimensions"),
    declare("TfLiteResizeBilinearParams", _H + ":340", "bool align_corners; bool half_pixel_centers"),
    declare("TfLiteResizeNearestNeighborParams", _H + ":345", "bool align_corners; bool half_pixel_centers"),
    declare("TfLiteSVDFParams", _H + ":159", "int rank; enum activation; bool asymmetric_quantize_inputs"),
    declare("TfLiteShapeParams", _H + ":460", "enum out_type"),
    declare("TfLiteSoftmaxParams", _H + ":225", "float beta"),
    declare("TfLiteSpaceToDepthParams", _H + ":371", "int block_size"),
    declare("TfLiteSplitParams", _H + ":407", "int num_splits"),
    declare("TfLiteSplitVParams", _H + ":411", "int num_splits"),
    declare("TfLiteSqueezeParams", _H + ":418", "int32[8] squeeze_dims; int num_squeeze_dims"),
    declare(
        "TfLiteStridedSliceParams",
        _H + ":430",
        "int begin_mask; int end_mask; int ellipsis_mask; int new_axis_mask; int shrink_axis_mask; bool offset",
    ),
    declare("TfLiteSubParams", _H + ":263", "enum activation; bool pot_scale_int16"),
    declare(
        "TfLiteTransposeConvParams",
        _H + ":452",
        "enum padding; int stride_width; int stride_height; enum activation; enum quantized_bias_type",
    ),
    declare(
        "TfLiteUnidirectionalSequenceLSTMParams",
        _H + ":313",
        "enum activation; float cell_clip; float proj_clip; bool time_major; bool asymmetric_quantize_inputs; "
        "bool diagonal_recurrent_tensors",
    ),
    declare("TfLiteUnpackParams", _H + ":488", "int num; int axis"),
    declare("TfLiteVarHandleParams", _H + ":539", "ptr container; ptr shared_name"),
    declare("TfLiteWhileParams", _H + ":519", "int cond_subgraph_index; int body_subgraph_index"),
)
