"""FULLY_CONNECTED, BATCH_MATMUL, SVDF, embeddings: matrices times vectors, hybrid or not.

Source: tflite/kernels/{fully_connected,batch_matmul,svdf,embedding_lookup,...}.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from math import prod

from tflm_sim.extensions.lite.graph_info import NO_TYPE, AllocationType, TfLiteTensor
from tflm_sim.extensions.lite.kernels import type_names as t
from tflm_sim.extensions.lite.kernels.call import PrepareCall, Shape, values_of
from tflm_sim.extensions.lite.kernels.scales import check_activation, check_multiplier
from tflm_sim.units import align_up

_PERSISTENT = AllocationType.ARENA_RW_PERSISTENT
_NARROW = (t.UINT8, t.INT8, t.INT4, t.INT2)
_FILTER_WIDTH, _FILTER_DEPTH, _MAX_ROWS = 4, 32, 4  # of the 4-bit kernel for SSE


_DENSE_ACTIVATIONS = " || ".join(
    f"params->activation == kTfLiteAct{name}" for name in ("None", "Relu", "ReluN1To1", "Relu6")
)
_PER_CHANNEL_WEIGHTS = f"({' || '.join(f'filter->type == kTfLiteInt{bits}' for bits in (8, 4, 2, 16))})"


def fully_connected(call: PrepareCall) -> None:
    first = call.reserve(6)
    weights, value = call.input(1), call.input(0)
    is_hybrid = value.type == t.FLOAT32 and weights.type in _NARROW
    if not is_hybrid:
        call.ensure(call.activation <= 3, _DENSE_ACTIVATIONS)
    if weights.type in (t.INT4, t.INT2) and weights.quantization:
        is_symmetric = not any(weights.quantization.zero_point)
        call.ensure_msg(is_symmetric, "Unsupported filter quantization zero-point value.")
    call.ensure(call.input_count in (2, 3), "node->inputs->size == 2 || node->inputs->size == 3")
    expected = 1 + (call.option("weights_format") != 0)
    call.ensure_eq(call.output_count, expected, "node->outputs->size", "expected_outputs_count")
    bias, output = call.optional_input(2), call.output()
    _check_types(call, value, weights, bias, output)
    call.rank(weights, 2, "filter")
    units, depth = weights.shape
    keeps_dimensions = call.option("keep_num_dims")
    if keeps_dimensions:
        call.ensure(value.rank >= 1, "NumDimensions(input) >= 1", number=2)
    if depth == 0:
        call.resize(output, (*value.shape[:-1], units) if keeps_dimensions else (prod(value.shape[:-1]), units))
        return
    batch = value.elements // depth
    _check_dense_quantization(call, value, weights, bias, output)
    if is_hybrid and len(weights.scales) > 1:
        call.ensure_eq(_axis(weights), 0, "affine_quantization->quantized_dimension", number=-1)
        call.ensure_eq(len(weights.scales), units, "affine_quantization->scale->size", "num_units")
    if is_hybrid and _place_hybrid(call, first, value, weights, batch):
        return
    if keeps_dimensions:
        call.ensure_eq(value.shape[-1], depth, "input->dims->data[input->dims->size - 1]", "cols")
        call.resize(output, (*value.shape[:-1], units))
    else:
        call.resize(output, (batch, units))


def _axis(weights: TfLiteTensor) -> int:
    return weights.quantization.quantized_dimension if weights.quantization else 0


def _check_types(
    call: PrepareCall, value: TfLiteTensor, weights: TfLiteTensor, bias: TfLiteTensor | None, output: TfLiteTensor
) -> None:
    is_float_bias = bias is None or bias.type == t.FLOAT32
    is_integer_bias = bias is None or bias.type in (t.INT32, t.INT64)
    is_quantized = weights.type in (*_NARROW, t.INT16)
    if is_quantized and value.type == t.FLOAT32 and weights.type != t.INT16:
        call.is_type(output, t.FLOAT32, "output")
        call.ensure_eq(is_float_bias, 1, "is_optional_bias_float", "true")
    elif weights.type == t.INT16:
        call.is_type(value, t.INT16, "input")
        call.is_type(output, t.INT16, "output", number=2)
        call.ensure_eq(is_integer_bias, 1, "is_optional_bias_int", "true", number=2)
    elif is_quantized:
        for tensor, name in ((value, "input"), (output, "output")):
            call.one_of(tensor.type, (t.UINT8, t.INT8, t.INT16), f"{name}->type")
        call.ensure_eq(is_integer_bias, 1, "is_optional_bias_int", "true", number=3)
    else:
        for tensor, name in ((value, "input"), (output, "output"), (weights, "filter")):
            call.is_type(tensor, t.FLOAT32, name, number=2)
        call.ensure_eq(is_float_bias, 1, "is_optional_bias_float", "true", number=2)


def _is_packed(call: PrepareCall, value: TfLiteTensor, weights: TfLiteTensor, batch: int) -> bool:
    """Whether the kernel for constant weights of 4 bits runs."""
    if weights.type != t.INT4 or not call.is_optimized or not weights.is_constant or batch <= 0:
        return False
    depth = value.elements // batch
    return depth % 2 == 0 and depth >= _FILTER_DEPTH and weights.shape[0] >= _FILTER_WIDTH


def _check_dense_quantization(
    call: PrepareCall, value: TfLiteTensor, weights: TfLiteTensor, bias: TfLiteTensor | None, output: TfLiteTensor
) -> None:
    if bias is not None:
        call.ensure_eq(bias.elements, weights.shape[0], "NumElements(bias)", "SizeOfDimension(filter, 0)")
    if value.type in (t.UINT8, t.INT8, t.INT16):
        call.affine(value, "input")
        call.affine(weights, "filter")
        if len(weights.scales) <= 1:
            check_multiplier(call, value, weights, bias, output)
        else:
            call.one_of(value.type, (t.INT8, t.INT16), "input->type")
            call.ensure(weights.type in (t.INT8, t.INT4, t.INT2, t.INT16), _PER_CHANNEL_WEIGHTS)
            call.ensure_eq(_axis(weights), 0, "affine_quantization->quantized_dimension")
        check_activation(call, output)
    if value.type == output.type == t.INT16:
        call.zero_points(input=value, output=output)
        check_bias_type(call, bias)


def _place_hybrid(call: PrepareCall, first: int, value: TfLiteTensor, weights: TfLiteTensor, batch: int) -> bool:
    """Take the temporaries of a hybrid layer; return True when the node keeps what it had."""
    units = weights.shape[0]
    if _is_packed(call, value, weights, batch):
        if call.node.user_data.get("batch") == batch:
            return True
        call.node.user_data["batch"] = batch
        rows = next(rows for rows in (4, 2, 1) if batch >= rows and rows <= _MAX_ROWS)
        padded, columns = align_up(batch, rows), align_up(value.elements // batch, _FILTER_DEPTH)
        call.take(*range(first, first + 5))
        call.temporary(first, t.INT8, (padded, columns))
        call.temporary(first + 1, t.FLOAT32, (padded,))
        call.temporary(first + 2, t.INT32, (padded, align_up(units, _FILTER_WIDTH)))
        call.temporary(first + 3, t.INT32, (padded,))
        return False
    call.take(*range(first, first + 5 + weights.is_sparse))
    call.temporary(first, t.INT8, value.shape)
    call.temporary(first + 1, t.FLOAT32, (batch,))
    call.temporary(first + 2, t.INT32, (units, batch))
    call.temporary(first + 3, t.INT32, (batch,))
    call.temporary(first + 4, t.INT32, (units,), _PERSISTENT)
    if weights.is_sparse:
        call.temporary(first + 5, t.UINT8, (weights.ledger_size,), _PERSISTENT)
    return False


def check_bias_type(call: PrepareCall, bias: TfLiteTensor | None) -> None:
    """Refuse a type for the bias that the 16-bit kernels do not have, and a bias of another type."""
    kind = call.option("quantized_bias_type", NO_TYPE)
    if kind != t.FLOAT32:
        call.one_of(kind, (t.INT32, t.INT64), "params->quantized_bias_type")
        call.ensure(bias is None or bias.type == kind, "(bias == nullptr) || bias->type == params->quantized_bias_type")


def batch_matmul(call: PrepareCall) -> None:
    """BATCH_MATMUL: both operands may be transposed into temporaries."""
    first = call.reserve(7)
    left, right, output = call.operands(2)
    if call.has("batch_matmul_checks_first"):
        _check_products(call, left, right, output)
    adj_x, adj_y = call.option("adj_x"), call.option("adj_y")
    is_hybrid = left.type == t.FLOAT32 and right.type == t.INT8
    call.take(*range(first, first + (7 if is_hybrid else 2)))
    call.temporary(first, left.type, _swapped(left.shape))
    kept = _PERSISTENT if right.is_constant else AllocationType.ARENA_RW
    call.temporary(first + 1, right.type, _swapped(right.shape), kept)
    if is_hybrid:
        _place_hybrid_products(call, first + 2, left, right)
    if not call.has("batch_matmul_checks_first"):
        _check_products(call, left, right, output)
    rank = max(left.rank, right.rank)
    one, other = ((1,) * (rank - tensor.rank) + tensor.shape for tensor in (left, right))
    batches = _broadcast_batches(call, one[:-2], other[:-2])
    inner, rows = one[-2:] if adj_x else one[:-3:-1]
    units, opposite = other[-2:] if adj_y else other[:-3:-1]
    call.ensure_eq(inner, opposite, "accum_dim_lhs", "accum_dim_rhs")
    call.resize(output, (*batches, rows, units))


def _broadcast_batches(call: PrepareCall, left: tuple[int, ...], right: tuple[int, ...]) -> list[int]:
    for size, opposite in zip(left, right, strict=True):
        if size not in (opposite, 1):
            call.ensure_eq(opposite, 1, "rhs_dim")
    return [opposite if size == 1 else size for size, opposite in zip(left, right, strict=True)]


def _place_hybrid_products(call: PrepareCall, first: int, left: TfLiteTensor, right: TfLiteTensor) -> None:
    rows = left.shape[-1 if call.option("adj_x") else -2]
    units = right.shape[-2 if call.option("adj_y") else -1]
    batches = prod(left.shape[:-2]) * rows
    call.temporary(first, right.type, left.shape)
    call.temporary(first + 1, t.FLOAT32, (batches,))
    call.temporary(first + 2, t.INT32, (units, rows))
    call.temporary(first + 3, t.INT32, (batches,))
    call.temporary(first + 4, t.INT32, (prod(right.shape[:-2]) * units,), _PERSISTENT)


def _swapped(shape: Shape) -> Shape:
    """Return a shape with its last two dimensions exchanged.

    Raises:
        IndexError: There are no two: the kernel takes the rank for a dimension, and a dimension for the new rank.
    """
    if shape == (1,):
        return shape
    return (*shape[:-2], shape[-1], shape[-2])


def _check_products(call: PrepareCall, left: TfLiteTensor, right: TfLiteTensor, output: TfLiteTensor) -> None:
    if left.type in (t.INT8, t.INT16) and output.type != t.INT32:
        call.elsewhere("kernel_util.cc").ensure(left.scale * right.scale >= 0, "input_product_scale >= 0")
    if left.type == t.INT16:
        for tensor, name in ((left, "lhs_data"), (right, "rhs_data"), (output, "output")):
            call.ensure_eq(tensor.zero_point, 0, f"{name}->params.zero_point")
    for tensor, name in ((left, "lhs_data"), (right, "rhs_data")):
        call.one_of(tensor.type, (t.FLOAT32, t.INT8, t.INT16), f"{name}->type")
    pairs = ((t.FLOAT32, t.INT8), (t.INT16, t.INT8))
    is_pair = left.type == right.type or (left.type, right.type) in pairs
    conditions = (
        "(lhs_data->type == kTfLiteFloat32 && rhs_data->type == kTfLiteInt8)",
        "lhs_data->type == rhs_data->type",
        "(lhs_data->type == kTfLiteInt16 && rhs_data->type == kTfLiteInt8)",
    )
    call.ensure(is_pair, " || ".join(conditions))
    for tensor, name in ((left, "lhs_data"), (right, "rhs_data")):
        call.ensure(tensor.rank >= 2, f"NumDimensions({name}) >= 2")
        call.ensure(tensor.rank <= 5, f"NumDimensions({name}) <= 5")


def svdf(call: PrepareCall) -> None:
    first = call.reserve(6)
    call.ensure_eq(call.output_count, 1, "node->outputs->size")
    call.ensure_eq(call.input_count, 5, "node->inputs->size")
    value, feature, time = call.input(0), call.input(1), call.input(2)
    call.ensure(value.type in (t.FLOAT32, t.INT8), "input->type == kTfLiteFloat32 || input->type == kTfLiteInt8")
    rank, batch, filters = call.option("rank"), value.shape[0], feature.shape[0]
    call.ensure(rank != 0, "rank != 0")
    call.ensure_eq(filters % rank, 0, "num_filters % rank")
    units, memory = filters // rank, time.shape[1]
    call.ensure_eq(value.shape[1], feature.shape[1], "input->dims->data[1]", "weights_feature->dims->data[1]")
    call.ensure_eq(time.shape[0], filters, "weights_time->dims->data[0]", "num_filters")
    bias = call.optional_input(3)
    if bias is not None:
        call.ensure_eq(bias.shape[0], units, "bias->dims->data[0]", "num_units")
    state, output = call.input(4), call.output()
    call.rank(state, 2, "state")
    call.ensure_eq(state.shape[0], batch, "SizeOfDimension(state, 0)", "batch_size")
    call.ensure_eq(state.shape[1], memory * filters, "SizeOfDimension(state, 1)", "memory_size * num_filters")
    call.resize(output, (batch, units))
    is_hybrid, is_integer = is_hybrid_op(value, feature), value.type == t.INT8
    call.take(*range(first, first + (6 if is_hybrid else 2 if is_integer else 1)))
    call.temporary(first, t.INT32 if is_integer else t.FLOAT32, (batch, filters))
    if is_hybrid:
        call.temporary(first + 1, feature.type, value.shape)
        call.temporary(first + 2, t.FLOAT32, (batch,))
        call.temporary(first + 3, t.FLOAT32, time.shape, _PERSISTENT)
        call.temporary(first + 4, t.FLOAT32, (batch,))
        call.temporary(first + 5, t.FLOAT32, (filters,), _PERSISTENT)
    if is_integer:
        call.temporary(first + 1, t.INT32, (units, batch))
        names = ("input", "weights_feature", "state", "weights_time", "output")
        for name, tensor in zip(names, (value, feature, state, time, output), strict=True):
            call.ensure(tensor.is_quantized, f"{name}->quantization.type != kTfLiteNoQuantization")


def is_hybrid_op(value: TfLiteTensor, weights: TfLiteTensor) -> bool:
    """Return whether a kernel quantizes its float input itself, for 8-bit weights (IsHybridOp)."""
    return value.type == t.FLOAT32 and weights.type in (t.UINT8, t.INT8)


def embedding_lookup(call: PrepareCall) -> None:
    call.counts(2)
    lookup = call.input(0)
    call.rank(lookup, 1, "lookup")
    call.is_c_type(lookup, t.INT32, "lookup")
    value, output = call.input(1), call.output()
    call.ensure(value.rank >= 2, "NumDimensions(value) >= 2")
    if value.quantization is not None:
        _check_embedding(call, value, output)
    call.resize(output, (lookup.shape[0], *value.shape[1:]))


def _check_embedding(call: PrepareCall, value: TfLiteTensor, output: TfLiteTensor) -> None:
    assert value.quantization is not None, "only a quantized table is checked"
    kinds = (t.UINT8, t.INT8, t.INT4, t.INT2)
    if value.type in kinds and output.type == t.FLOAT32:
        call.ensure(value.quantization.zero_point[0] == 0, "qparams->zero_point->data[0] == 0")
    if len(value.scales) > 1:
        call.one_of(value.type, kinds, "value->type")
        call.one_of(output.type, (t.FLOAT32, t.FLOAT16), "output->type")
        call.ensure(value.quantization.quantized_dimension == 0, "qparams->quantized_dimension == 0")
        call.ensure(len(value.scales) == value.shape[0], "qparams->scale->size == row_size")


def embedding_lookup_sparse(call: PrepareCall) -> None:
    """EMBEDDING_LOOKUP_SPARSE: only the running model knows how many rows."""
    call.counts(5)
    rows = (("ids", 1, t.INT32), ("indices", 2, t.INT32), ("shape", 1, t.INT32), ("weights", 1, t.FLOAT32))
    for place, (name, rank, kind) in enumerate(rows):
        tensor = call.input(place)
        call.rank(tensor, rank, name)
        call.is_c_type(tensor, kind, name)
    indices = call.input(1)
    for place, name in ((0, "ids"), (3, "weights")):
        right = f"SizeOfDimension({name}, 0)"
        call.ensure_eq(indices.shape[0], call.input(place).shape[0], "SizeOfDimension(indices, 0)", right)
    value = call.input(4)
    call.ensure(value.rank >= 2, "NumDimensions(value) >= 2")
    output = call.output()
    call.is_type(output, t.FLOAT32, "output")
    output.allocation_type = AllocationType.DYNAMIC
    output.offset = None


def hashtable_lookup(call: PrepareCall) -> None:
    call.counts(3, 2)
    lookup = call.input(0)
    call.rank(lookup, 1, "lookup")
    call.is_c_type(lookup, t.INT32, "lookup")
    key = call.input(1)
    call.rank(key, 1, "key")
    call.is_c_type(key, t.INT32, "key")
    value = call.input(2)
    call.ensure(value.rank >= 1, "NumDimensions(value) >= 1")
    call.ensure_eq(key.shape[0], value.shape[0], "SizeOfDimension(key, 0)", "SizeOfDimension(value, 0)")
    if value.type == t.STRING:
        call.rank(value, 1, "value")
    hits = call.output(1)
    call.is_c_type(hits, t.UINT8, "hits")
    output = call.output(0)
    call.same_c_type(value, output, "value")
    if output.type != t.STRING:
        call.resize(output, (lookup.shape[0], *value.shape[1:]))
    call.resize(hits, lookup.shape[:1])


def lsh_projection(call: PrepareCall) -> None:
    call.ensure(call.input_count in (2, 3), "NumInputs(node) == 2 || NumInputs(node) == 3")
    call.ensure_eq(call.output_count, 1, "NumOutputs(node)")
    hashes = call.input(0)
    call.rank(hashes, 2, "hash")
    call.ensure(hashes.shape[1] <= 32, "SizeOfDimension(hash, 1) <= 32")
    value = call.input(1)
    call.ensure(value.rank >= 1, "NumDimensions(input) >= 1")
    call.ensure(value.shape[0] >= 1, "SizeOfDimension(input, 0) >= 1")
    if call.input_count == 3:
        weight = call.input(2)
        call.rank(weight, 1, "weight")
        call.ensure_eq(weight.shape[0], value.shape[0], "SizeOfDimension(weight, 0)", "SizeOfDimension(input, 0)")
    output = call.output()
    kind = call.option("type")
    if kind not in (1, 2):
        raise call.failure("")
    call.resize(output, (hashes.shape[0] * (hashes.shape[1] if kind == 2 else 1),))


def skip_gram(call: PrepareCall) -> None:
    """SKIP_GRAM: strings in, strings out."""
    call.counts(1)
    call.ensure_types_eq(call.input(0).type, t.STRING, "input_tensor->type")
    call.ensure_types_eq(call.output().type, t.STRING, "output_tensor->type")


def random(call: PrepareCall) -> None:
    """RANDOM_UNIFORM and RANDOM_STANDARD_NORMAL."""
    shape, output = call.operands(1)
    call.is_c_type(shape, t.INT32, "shape")
    call.rank(shape, 1, "shape")
    if shape.is_known:
        call.resize(output, values_of(shape))
    else:
        call.dynamic(output)


def multinomial(call: PrepareCall) -> None:
    call.counts(2, number=2)
    logits = call.input(0)
    call.ensure(logits.type == t.FLOAT32, "logits->type == kTfLiteFloat32")
    samples, output = call.input(1), call.output()
    call.is_c_type(samples, t.INT32, "num_samples")
    if logits.is_known and samples.is_known:
        call.resize(output, (logits.shape[0], values_of(samples)[0]))
    else:
        call.dynamic(output)


def rfft2d(call: PrepareCall) -> None:
    """RFFT2D: working areas for lengths that are constants."""
    value, length, output = call.operands(2)
    call.ensure(value.rank >= 2, "NumDimensions(input) >= 2")
    if value.type != t.FLOAT32:
        raise call.failure(f"Type '{t.type_name(value.type)}' for input is not supported by rfft2d.")
    call.rank(length, 1, "fft_length")
    call.ensure_eq(length.shape[0], 2, "fft_length_shape.Dims(0)")
    if length.type != t.INT32:
        raise call.failure(f"Type '{t.type_name(length.type)}' for fft_length is not supported by rfft2d.")
    first = call.reserve(4)
    call.take(*range(first, first + 4))
    tensors = [call.temporary(first + place, t.INT64 if place else t.INT32, None) for place in range(4)]
    output.type = t.COMPLEX64
    if not length.is_known:
        call.dynamic(*tensors, output)
        return
    height, width = values_of(length)
    for place, size in enumerate((height, width)):
        call.ensure(size > 0 and size & (size - 1) == 0, f"IsPowerOfTwo(fft_length_data[{place}])")
    working = max(height, width // 2)
    call.resize(output, (*value.shape[:-2], height, width // 2 + 1))
    call.resize(tensors[0], (2 + int(working**0.5),))
    call.resize(tensors[1], (working // 2 + width // 4,))
    call.resize(tensors[2], (height,))
    call.resize(tensors[3], (height, width + 2))
