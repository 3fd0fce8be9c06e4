"""Random small models of the operators that few models have; they join the recipes of ``lite_models``."""

import struct
from math import prod

from lite_models import FLOATS, INT8S, child, lstm_inputs, recipe

from tflm_sim.model.types import TensorType as T


@recipe
def rare_activation(case):
    op, kind = case.pick(("GELU", FLOATS), ("LOG_SOFTMAX", FLOATS), ("LOG_SOFTMAX", INT8S), ("RELU_0_TO_1", FLOATS))
    q = {"scale": 16 / 256, "zero_point": 127} if kind == INT8S else {}
    return case.operator(op, [case.value(case.shape(), kind)], [case.output(kind, **q)])


@recipe
def fake_quant(case):
    narrow = case.pick(False, False, True)
    return case.operator("FAKE_QUANT", [case.value(case.shape())], [case.output()], num_bits=8, narrow_range=narrow)


@recipe
def bits(case):
    op, kind = case.pick("RIGHT_SHIFT", "BITWISE_XOR"), case.pick(INT8S, T.INT32, T.INT16, T.UINT8)
    shape = case.shape(2)
    other = case.pick(shape, (1, shape[1]))
    return case.operator(op, [case.value(shape, kind), case.value(other, kind)], [case.output(kind)])


@recipe
def atan2(case):
    shape, kind = case.shape(), case.pick(FLOATS, T.FLOAT64, T.INT32)
    return case.operator("ATAN2", [case.value(shape, kind), case.value(shape, kind)], [case.output(kind)])


@recipe
def sine(case):
    return case.operator(case.pick("COS", "SIGN"), [case.value(case.shape())], [case.output()])


@recipe
def complex_numbers(case):
    op, kind = case.pick("REAL", "IMAG", "COMPLEX_ABS"), case.pick(T.COMPLEX64, T.COMPLEX64, FLOATS)
    return case.operator(op, [case.value(case.shape(), kind)], [case.output()])


@recipe
def bucketize(case):
    edges = case.pick((0.0, 1.0, 2.0), (1.0,), (2.0, 1.0), ())
    kind = case.pick(FLOATS, T.INT32, INT8S)
    return case.operator("BUCKETIZE", [case.value(case.shape(), kind)], [case.output(T.INT32)], boundaries=edges)


@recipe
def stablehlo_elementwise(case):
    op = case.pick("ADD", "MULTIPLY", "MAXIMUM", "MINIMUM", "SHIFT_LEFT", "AND")
    kind = T.INT32 if op == "SHIFT_LEFT" else T.BOOL if op == "AND" else case.pick(FLOATS, T.INT32)
    shape = case.shape()
    other = case.pick(shape, shape, case.shape(len(shape)))
    return case.operator(f"STABLEHLO_{op}", [case.value(shape, kind), case.value(other, kind)], [case.output(kind)])


@recipe
def reverse_sequence(case):
    shape = case.shape(case.pick(2, 3))
    lengths = case.value((case.pick(shape[0], shape[0], 2),), case.pick(T.INT32, T.INT64))
    seq = case.pick(1, 1, 0)
    return case.operator("REVERSE_SEQUENCE", [case.value(shape), lengths], [case.output()], seq_dim=seq, batch_dim=0)


@recipe
def bitcast(case):
    one, other = case.pick((FLOATS, T.INT32), (FLOATS, T.UINT8), (T.UINT8, T.INT32), (T.INT64, FLOATS))
    return case.operator("BITCAST", [case.value((*case.shape(2), case.pick(4, 4, 2)), one)], [case.output(other)])


@recipe
def random_bits(case):
    state, output = case.value((case.pick(2, 2, 3),), T.UINT64), case.output(case.pick(T.INT32, T.UINT64, FLOATS))
    key = case.output(T.UINT64, shape=(case.pick(2, 2, 3),))
    return case.operator("STABLEHLO_RNG_BIT_GENERATOR", [state], [key, output], algorithm=case.pick(0, 1, 2))


@recipe
def segment_extremes(case):
    op = case.pick("UNSORTED_SEGMENT_PROD", "UNSORTED_SEGMENT_MIN")
    ids, count = case.maybe((3,), T.INT32, [0, 1, 1]), case.maybe(case.pick((), (1,), (2,)), T.INT32, [2, 2])
    data = case.constant((3, 2)) if case.rng.random() < 0.5 else case.value((3, 2))
    return case.operator(op, [data, ids, count], [case.output()])


@recipe
def dilate(case):
    shape = case.shape(case.pick(1, 2, 3))
    factors = [case.pick(1, 2, 3) for _ in shape][: case.pick(len(shape), len(shape), 1)]
    inputs = [
        case.value(shape),
        case.maybe((len(factors),), T.INT32, factors),
        case.constant(case.pick((), (1,)), FLOATS, [0]),
    ]
    return case.operator("DILATE", inputs, [case.output()])


@recipe
def stablehlo_gather(case):
    options = {
        "offset_dims": (2, 3),
        "collapsed_slice_dims": (0,),
        "start_index_map": (1, 0),
        "index_vector_dim": 2,
        "slice_sizes": case.pick((1, 2, 2), (1, 2, 2), (2, 2)),
    }
    inputs = [case.value((3, 4, 2)), case.value((2, 3, 2), case.pick(T.INT64, T.INT32, T.INT16))]
    return case.operator("STABLEHLO_GATHER", inputs, [case.output(shape=(2, 3, 2, 2))], **options)


@recipe
def stablehlo_scatter(case):
    body = case.builder.add_subgraph()
    one, other, total = (body.tensor((), FLOATS) for _ in range(3))
    body.operator(case.pick("STABLEHLO_ADD", "STABLEHLO_MAXIMUM", "RELU"), [one, other], [total])
    body.inputs, body.outputs = [one, other], [total]
    options = {
        "update_window_dims": (2, 3),
        "inserted_window_dims": (0,),
        "scatter_dims_to_operand_dims": (1, 0),
        "index_vector_dim": 2,
        "update_computation_subgraph_index": body.index,
    }
    inputs = [case.value((3, 4, 2)), case.value((2, 3, 2), case.pick(T.INT64, T.INT32)), case.value((2, 3, 2, 2))]
    return case.operator("STABLEHLO_SCATTER", inputs, [case.output()], **options)


@recipe
def stablehlo_pad(case):
    shape = case.shape(case.pick(1, 2, 3))
    margins = {name: tuple(case.pick(0, 1, 2, -1) for _ in shape) for name in ("edge_padding_low", "edge_padding_high")}
    gaps = tuple(case.pick(0, 0, 1) for _ in shape)
    inputs = [case.value(shape), case.value(())]
    return case.operator("STABLEHLO_PAD", inputs, [case.output()], interior_padding=gaps, **margins)


@recipe
def reduce_window(case):
    windows = [case.maybe((2,), T.INT64, values) for values in ([2, case.pick(1, 2, 9)], [1, 2], [1, 1])]
    function = case.rng.randint(0, 6)
    inputs = [case.value((4, 5)), case.constant((), FLOATS, [0]), *windows]
    return case.operator("REDUCE_WINDOW", inputs, [case.output()], reduce_function=function)


@recipe
def stablehlo_reduce_window(case):
    body = case.builder.add_subgraph()
    one, other, total = (body.tensor((), FLOATS) for _ in range(3))
    body.operator(case.pick("STABLEHLO_ADD", "STABLEHLO_MAXIMUM"), [one, other], [total])
    body.inputs, body.outputs = [one, other], [total]
    options = {
        "window_dimensions": (2, 2),
        "window_strides": case.pick((1, 2), ()),
        "base_dilations": case.pick((), (2, 1)),
        "window_dilations": case.pick((), (1, 2)),
        "padding": case.pick((), (1, 0, 0, 1)),
        "body_subgraph_index": body.index,
    }
    return case.operator("STABLEHLO_REDUCE_WINDOW", [case.value((4, 5)), case.value(())], [case.output()], **options)


@recipe
def embedding_lookup_sparse(case):
    inputs = [
        case.value((3,), T.INT32),
        case.value((3, 2), T.INT32),
        case.value((2,), T.INT32),
        case.value((3,)),
        case.value((4, 3, case.pick(2, 1))),
    ]
    return case.operator("EMBEDDING_LOOKUP_SPARSE", inputs, [case.output()], combiner=case.pick(0, 1, 2))


@recipe
def lsh_projection(case):
    weights = [case.value((5,))] if case.rng.random() < 0.5 else []
    inputs = [case.value((3, case.pick(2, 4, 33))), case.value((5, 2), T.INT32), *weights]
    return case.operator("LSH_PROJECTION", inputs, [case.output(T.INT32)], type=case.pick(0, 1, 2))


@recipe
def skip_gram(case):
    kind = case.pick(T.STRING, T.STRING, FLOATS)
    return case.operator("SKIP_GRAM", [case.value((1,), kind)], [case.output(T.STRING)], ngram_size=2)


@recipe
def multinomial(case):
    samples = case.maybe((), T.INT32, [case.rng.randint(1, 4)])
    logits = case.value((2, 3)) if case.rng.random() < 0.6 else case.constant((2, 3))
    return case.operator("MULTINOMIAL", [logits, samples], [case.output(case.pick(T.INT32, T.INT64))])


@recipe
def reduce_all(case):
    axis = case.maybe((1,), T.INT32, [case.pick(0, -1, 5)])
    return case.operator("REDUCE_ALL", [case.value(case.shape(2), T.BOOL), axis], [case.output(T.BOOL)])


@recipe
def stablehlo_case(case):
    shape = case.shape(2)
    for _ in range(2):
        child(case, case.pick(shape, shape, case.shape(2)), [case.pick("RELU", "ADD")])
    index, value = case.value((), T.INT32), case.value(shape)
    return case.operator("STABLEHLO_CASE", [index, value], [case.output()], branch_subgraph_indices=(1, 2))


@recipe
def call_once(case):
    body = case.builder.add_subgraph()
    handle = body.tensor((1,), T.RESOURCE)
    value = body.tensor((2,), FLOATS, data=struct.pack("<2f", 1, 2))
    body.operator("VAR_HANDLE", [], [handle], options={"shared_name": "state"})
    body.operator("ASSIGN_VARIABLE", [handle, value], [])
    body.inputs, body.outputs = [], []
    first, last = case.value((2,)), case.output()
    case.builder.operator("CALL_ONCE", [], [], options={"init_subgraph_index": body.index})
    case.builder.operator("RELU", [first], [last])
    return case.builder.build(inputs=case.inputs, outputs=[last])


@recipe
def hashtable(case):
    handle = case.builder.tensor((1,), T.RESOURCE)
    keys, values = case.pick((T.INT64, T.STRING), (T.STRING, T.INT64), (T.INT64, T.INT64))
    case.builder.operator(
        "HASHTABLE", [], [handle], options={"table_id": 1, "key_dtype": keys.name, "value_dtype": values.name}
    )
    op = case.pick("FIND", "IMPORT", "SIZE")
    if op == "SIZE":
        return case.operator("HASHTABLE_SIZE", [handle], [case.output(T.INT64)])
    key, value = case.value((3,), keys), case.value((3,) if op == "IMPORT" else (), values)
    outputs = [case.output(values)] if op == "FIND" else []
    return case.operator(f"HASHTABLE_{op}", [handle, key, value], outputs)


@recipe
def integer_lstm(case):
    batch, depth, cells = case.pick(1, 2), 3, 4
    is_sequence, count = case.pick(True, False), case.pick(5, 5, 12)
    cifg = case.pick(True, False)
    q = {"scale": 2.0**-7, "zero_point": 0}
    rest = lstm_inputs(case, batch, depth, cells, cells, INT8S, cifg=cifg, projection=False)
    biases = [case.constant((cells,), T.INT32, scale=2.0**-12, zero_point=0) for _ in range(4)]
    rest[11:15] = [-1 if cifg else biases[0], *biases[1:]]
    kinds = ((INT8S, q), (T.INT16, {"scale": 2.0 ** case.pick(-11, -15, -3), "zero_point": 0}))
    rest[-2:] = [case.builder.tensor((batch, cells), kind, is_variable=True, **scale) for kind, scale in kinds]
    shape = (batch, 5, depth) if is_sequence else (batch, depth)
    intermediates = [case.builder.tensor((), INT8S, **q) for _ in range(count)]
    op = "UNIDIRECTIONAL_SEQUENCE_LSTM" if is_sequence else "LSTM"
    return case.operator(
        op, [case.value(shape, INT8S, **q), *rest], [case.output(INT8S, **q)], version=3, intermediates=intermediates
    )


def flex_map(**numbers):
    """Return a FlexBuffer map of small numbers, as the converter writes the options of custom operators."""
    data, keys = b"", []
    for name in sorted(numbers):
        keys.append(len(data))
        data += name.encode() + b"\0"
    count, start = len(keys), len(data) + 1
    data += bytes([count, *(start + place - key for place, key in enumerate(keys))])
    at = len(data)
    values = [numbers[name] for name in sorted(numbers)]
    data += bytes([at - start, 1, count, *values, *[4] * count])
    return data + bytes([len(data) - (at + 3), 9 << 2, 1])


def custom(case, name, inputs, outputs, **numbers):
    case.builder.custom(name, inputs, outputs, options=flex_map(**numbers) if numbers else None)
    return case.builder.build(inputs=case.inputs, outputs=outputs)


@recipe
def audio(case):
    if case.rng.random() < 0.5:
        value = case.value((case.pick(64, 100, 9), 1))
        return custom(case, "AudioSpectrogram", [value], [case.output()], window_size=16, stride=8, magnitude_squared=1)
    inputs = [case.value((1, 7, 9)), case.value((1,), T.INT32)]
    numbers = {"upper_frequency_limit": 100, "lower_frequency_limit": 20, "filterbank_channel_count": 8}
    return custom(case, "Mfcc", inputs, [case.output()], dct_coefficient_count=5, **numbers)


@recipe
def detection(case):
    boxes, classes = case.pick(6, 10), case.pick(2, 3)
    inputs = [case.value((1, boxes, 4)), case.value((1, boxes, classes + 1)), case.constant((boxes, 4))]
    numbers = {"max_detections": 3, "max_classes_per_detection": 1, "num_classes": classes, "detections_per_class": 2}
    scales = {"y_scale": 10, "x_scale": 10, "h_scale": 5, "w_scale": 5, "nms_iou_threshold": 1}
    outputs = [case.output() for _ in range(4)]
    return custom(case, "TFLite_Detection_PostProcess", inputs, outputs, nms_score_threshold=0, **numbers, **scales)


@recipe
def numeric_verify(case):
    shape = case.shape()
    kind = case.pick(INT8S, T.UINT8, T.INT16, FLOATS)
    inputs = [case.value(shape, kind), case.value(case.pick(shape, shape, case.shape()))]
    return custom(case, "NumericVerify", inputs, [case.output()], tolerance=5, log_if_failed=0)


@recipe
def several_batches(case):
    """Two inputs of one model, a shape that follows from another, and a constant that several nodes read."""
    shape = case.shape(2)
    one, other = case.value(shape), case.value(shape)
    weights = case.constant((3, shape[1]))
    total, dense, sizes, last = case.output(), case.output(), case.output(T.INT32), case.output()
    case.builder.operator("ADD", [one, other], [total])
    case.builder.operator("FULLY_CONNECTED", [total, weights, -1], [dense])
    case.builder.operator("SHAPE", [total], [sizes], options={"out_type": "INT32"})
    wanted = prod(shape)
    case.builder.operator("RESHAPE", [total, case.constant((1,), T.INT32, [case.pick(-1, wanted)])], [last])
    return case.builder.build(inputs=case.inputs, outputs=[dense, last])
