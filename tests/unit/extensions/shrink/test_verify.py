"""``verify()`` accepts what the passes do and refuses every pass that is broken on purpose, and every broken file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import shrinking_models as models

from tflm_sim import parse, shrink
from tflm_sim.device.configuration import Where, configure
from tflm_sim.extensions.shrink import channels, cheaper_operators, fuse, prune, split, states, tile_rules, tiling
from tflm_sim.extensions.shrink.cheaper_operators import dense_layers, drop_shapes, drop_zero_biases
from tflm_sim.extensions.shrink.pass_table import PASSES
from tflm_sim.extensions.shrink.passes import Chooser
from tflm_sim.extensions.shrink.verify import VerificationFailed, _pairs_of_equal, verify
from tflm_sim.model.draft import Draft
from tflm_sim.model.encode import encode
from tflm_sim.model.types import ConstantData, Model, Operator, Quantization

REFERENCE = configure("cortex-m4", kernels="reference")
"""The kernels for which every pass runs."""


def refused(original: Model, result: Model, target: Where = REFERENCE) -> str:
    """Return why ``verify`` refuses, "" where it does not."""
    try:
        verify(original, result, target)
    except VerificationFailed as failure:
        return str(failure)
    return ""


@pytest.mark.parametrize("name", models.MODELS)
def test_what_each_pass_does_is_verified(name: str) -> None:
    model = models.MODELS[name]()
    shrunk = shrink(model, REFERENCE)
    assert name.split(",")[0] in [step.name for step in shrunk.steps] or name == "channels" or name.endswith("rows")
    assert "same expressions" in shrunk.verified


def test_kernels_that_promise_nothing_get_no_layer_without_a_bias_and_none_that_is_dense_instead() -> None:
    for name, promise in (("operands", "no bias"), ("dense layers", "dense")):
        model = models.MODELS[name]()
        result = shrink(model, REFERENCE).model
        assert refused(model, result) == ""
        assert promise in refused(model, result, configure("cortex-m4", kernels="cmsis_nn"))
        old = configure("cortex-m4", kernels="reference", runtime="2023-06-15")
        assert ("bias is a null pointer" if promise == "no bias" else promise) in refused(model, result, old)
        assert refused(result, result, "cortex-m4") == "", "what the original has itself is nobody's promise"


def test_with_one_scale_for_all_channels_a_dense_layer_is_no_pointwise_convolution() -> None:
    """CONV_2D multiplies scales in double precision, FULLY_CONNECTED then in single precision."""
    model = models.dense_model()
    tensors, main = list(model.subgraphs[0].tensors), model.subgraphs[0]
    filters = main.operators[1].input_tensors[1]
    tensors[filters] = replace(tensors[filters], quantization=Quantization((0.003,), (0,)))
    same = replace(model, subgraphs=(replace(main, tensors=tuple(tensors)),))
    draft = Draft(same)
    assert dense_layers(draft, Chooser(), [REFERENCE]) == []
    draft.operators[1] = cheaper_operators._dense(draft, draft.operators[1])
    assert "has other outputs" in refused(same, parse(encode(draft.model())))


def test_a_reshape_between_two_quantizations_keeps_its_shape_for_what_it_does_then_is_not_known() -> None:
    model = models.operands_model()
    draft = Draft(model)
    (index,) = (at for at, each in enumerate(draft.operators) if draft.name(each) == "RESHAPE")
    assert len(drop_shapes(draft, Chooser())) == 1
    draft = Draft(model)
    _stale(draft, draft.operators[index].output_tensors[0])
    assert drop_shapes(draft, Chooser()) == []


def test_a_model_is_the_same_as_itself() -> None:
    for make in models.MODELS.values():
        assert refused(make(), make()) == ""


# A pass broken on purpose: (model, where to break it, how the broken function is made of the sound one).
Breaking = Callable[[Any], Any]
BROKEN: dict[str, tuple[str, Any, str, Breaking]] = {
    "rows off by one": (
        "rows",
        tiling,
        "slice_operator",
        lambda sound: (
            lambda draft, source, axis, start, end: sound(draft, source, axis, max(0, start - 1), end - (start > 0))
        ),
    ),
    "overlap short by one": (
        "rows",
        tiling,
        "find_tile",
        lambda sound: lambda segment, start, end: _short_overlap(segment, start, end) or sound(segment, start, end),
    ),
    "tiles in another order": (
        "rows",
        tiling,
        "concatenation",
        lambda sound: lambda draft, pieces, result, axis: sound(draft, pieces[::-1], result, axis),
    ),
    "padding on every tile": (
        "padded rows",
        tile_rules,
        "_with_row",
        lambda sound: lambda draft, constant, row, value: sound(draft, constant, row, value[::-1]),
    ),
    "wrong half of the weights": (
        "channels",
        channels,
        "_cut_constant",
        lambda sound: lambda draft, tensor, axis, start, end: sound(draft, tensor, axis, 0, end - start),
    ),
    "scales of the first channels": (
        "channels",
        channels,
        "_cut_constant",
        lambda sound: (
            lambda draft, tensor, axis, start, end: _with_first_scales(
                draft, sound(draft, tensor, axis, start, end), tensor, end - start
            )
        ),
    ),
    "swapped channels": (
        "channels",
        channels,
        "concatenation",
        lambda sound: (
            lambda draft, pieces, result, axis: sound(draft, [pieces[1], pieces[0], *pieces[2:]], result, axis)
        ),
    ),
    "stale quantization": (
        "channels",
        Draft,
        "add_like",
        lambda sound: lambda self, tensor, shape: _stale(self, sound(self, tensor, shape)),
    ),
    "resized rows off by one": ("resized only", tile_rules.ResizeRule, "written", lambda sound: _early(sound)),
    "transposed rows off by one": (
        "transposed only",
        tile_rules.TransposedRule,
        "written",
        lambda sound: _early(sound),
    ),
    "padding that SAME has not": (
        "padded rows",
        fuse,
        "_taps_of_same",
        lambda sound: lambda *arguments: ((0, 0), (0, 0)),
    ),
    "taps of zero on the other side": (
        "PAD is SAME, a tap more",
        fuse,
        "_with_zero_taps",
        lambda sound: lambda draft, operator, taps: sound(draft, operator, tuple(each[::-1] for each in taps)),
    ),
    "a slice of other rows": (
        "plain slices",
        fuse,
        "slice_to",
        lambda sound: (
            lambda draft, source, bounds, output: sound(
                draft, source, [(a, b) if a == 0 else (a - 1, b - 1) for a, b in bounds], output
            )
        ),
    ),
    "rows of a piece that are others": (
        "slices of pieces",
        cheaper_operators,
        "slice_to",
        lambda sound: (
            lambda draft, source, bounds, output: sound(
                draft, source, [(a, b) if a == 0 else (a - 1, b - 1) for a, b in bounds], output
            )
        ),
    ),
    "a bias that counts": (
        "operands",
        cheaper_operators,
        "_has_zero_bias",
        lambda sound: lambda draft, operator: _is_last(draft, operator),
    ),
    "a dense layer with another activation": (
        "dense layers",
        cheaper_operators,
        "_dense",
        lambda sound: lambda draft, operator: sound(draft, _clamped(operator)),
    ),
    "zero rows behind the filter": (
        "depthwise branches",
        np,
        "pad",
        lambda sound: (
            lambda array, widths, *rest, **more: sound(
                array, [(after, before) for before, after in widths], *rest, **more
            )
        ),
    ),
    "a state that begins elsewhere": ("initial", states, "refusal", lambda sound: lambda *arguments: None),
    "a state read after it is written": ("late reader", states, "refusal", lambda sound: lambda *arguments: None),
    "a copy of other quantization": ("requantized", prune, "same_kind", lambda sound: lambda *arguments: True),
    "constants that are not equal": ("rows", prune, "bytes", lambda sound: lambda data: b""),
}


def _early(sound: Callable[[Any, int, int], tuple[int, int]]) -> Any:
    """Return a rule that takes inner rows for those one before them."""
    return lambda self, start, end: tuple(row - (start > 0) for row in sound(self, start, end))


def _is_last(draft: Draft, operator: Operator) -> bool:
    return operator.output_tensors == draft.outputs


def _clamped(operator: Operator) -> Operator:
    return replace(operator, options={**operator.options, "fused_activation_function": 1})


def _short_overlap(segment: Any, start: int, end: int) -> Any:
    """Return tiles whose first row is missing, if they still have the rows asked for, right or wrong."""
    first, last = tiling.receptive_field(segment, start, end)
    tiles = tiling.flow(segment, first + 1, last) if start > 0 else None
    if tiles is None or not tiles[segment.result][0] <= start < end <= tiles[segment.result][1]:
        return None
    return tiles


def _with_first_scales(draft: Draft, cut: int, tensor: int, count: int) -> int:
    whole = draft.tensors[tensor].quantization
    if whole is not None and len(whole.scale) > 1:
        first = Quantization(whole.scale[:count], whole.zero_point[:count], whole.quantized_dimension)
        draft.tensors[cut] = replace(draft.tensors[cut], quantization=first)
    return cut


def _stale(draft: Draft, tensor: int) -> int:
    draft.tensors[tensor] = replace(draft.tensors[tensor], quantization=Quantization((0.25,), (7,)))
    return tensor


def _late_reader() -> Model:
    """Return the state model with a second reader of the old value behind the writer of the new one."""
    model = models.state_model()
    draft = Draft(model)
    old = next(o.outputs[0] for o in draft.operators if draft.name(o) == "READ_VARIABLE" and o.outputs)
    copy = draft.add_like(old, draft.tensors[old].shape or ())
    draft.operators.append(draft.operator("RELU", (old,), (copy,)))
    draft.outputs = (*draft.outputs, copy)
    return parse(encode(draft.model()))


def _requantized() -> Model:
    layers = models.Layers()
    x = layers.activation((1, 4, 4, 4))
    y = layers.b.tensor((1, 4, 4, 4), models.INT8, scale=0.25, zero_point=9)
    layers.shapes[y] = (1, 4, 4, 4)
    layers.b.operator("QUANTIZE", [x], [y])
    return layers.model([x], [layers.conv(y, 4)])


def _before_pointwise(layer: Callable[[Any, int], int]) -> Model:
    layers = models.Layers()
    x = layers.activation((1, 12, 4, 4))
    return layers.model([x], [layers.conv(layer(layers, x), 4, kernel=1)])


def _model(name: str) -> Model:
    special = {
        "initial": lambda: models.state_model(initial=5),
        "late reader": _late_reader,
        "requantized": _requantized,
        "resized only": lambda: _before_pointwise(lambda layers, x: layers.resize(x, 2)),
        "transposed only": lambda: _before_pointwise(lambda layers, x: layers.transposed(x, 4)),
    }
    return (special.get(name) or models.MODELS[name])()


def _rewritten(model: Model) -> Iterator[Model]:
    """Yield what the passes make of a model, without the search: one by one, and the splits."""
    by_kernels = [partial(edit, configurations=[REFERENCE]) for edit in (drop_zero_biases, dense_layers)]
    for edit in (*dict.fromkeys(row.edit for row in PASSES if row.edit is not None), drop_shapes, *by_kernels):
        draft = Draft(model)
        if edit(draft, choose=Chooser()):
            yield parse(encode(draft.model()))
    yield from _tiled(model)
    draft = Draft(model)
    for first in range(len(draft.operators)):
        for end, chain in channels.chains(draft, first, draft.consumers()):
            source, result = chain[0].operator.input_tensors[0], (chain[-1].operator.output_tensors)[0]
            count = (draft.tensors[chain[0].operator.output_tensors[0]].shape or ())[-1]
            parts = split.even_cuts(count, 3)
            whole = Draft(model)
            channels.apply_channels(
                whole, split.Split("channels", first, end, source, result, parts), draft.consumers()
            )
            yield parse(encode(whole.model()))


def _tiled(model: Model) -> Iterator[Model]:
    draft = Draft(model)
    rules = [tile_rules.rule(draft, operator, 1) for operator in draft.operators]
    dies = {t: i for i, o in enumerate(draft.operators) for t in (*o.input_tensors, *o.output_tensors)}
    dies |= dict.fromkeys(draft.outputs, len(draft.operators))
    for first in range(len(draft.operators)):
        for segment in tiling.segments(draft, 1, first, rules, dies):
            parts = split.even_cuts(segment.sizes[segment.result], 3)
            if all(tiling.find_tile(segment, *part) for part in parts):
                whole = Draft(model)
                chosen = split.Split("rows", segment.first, segment.end, segment.source, segment.result, parts)
                tiling.apply_tiles(whole, chosen, rules, dies)
                yield parse(encode(whole.model()))


@pytest.mark.parametrize("name", models.MODELS)
def test_every_single_rewriting_is_verified_without_the_search(name: str) -> None:
    model = models.MODELS[name]()
    found = list(_rewritten(model))
    assert all(refused(model, result) == "" for result in found)


@pytest.mark.parametrize("half_pixel", [True, False])
@pytest.mark.parametrize("kind", ["RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"])
def test_tiles_go_through_every_resize(kind: str, half_pixel: bool) -> None:
    model = models.resized_rows_model(kind, half_pixel=half_pixel)
    found = [result for result in _rewritten(model) if _runs(result, kind) > 1]
    assert found
    assert [refused(model, result) for result in found] == [""] * len(found)


@pytest.mark.parametrize(("kernel", "same"), [(2, True), (3, True), (6, True), (7, True), (2, False), (5, False)])
def test_tiles_go_through_every_transposed_convolution(kernel: int, same: bool) -> None:
    model = models.transposed_rows_model(kernel=kernel, same=same)
    found = [result for result in _rewritten(model) if _runs(result, "TRANSPOSE_CONV") > 1]
    assert found
    assert [refused(model, result) for result in found] == [""] * len(found)


def _runs(model: Model, name: str) -> int:
    draft = Draft(model)
    return sum(draft.name(operator) == name for operator in draft.operators)


@pytest.mark.parametrize("fault", BROKEN)
def test_a_pass_that_is_broken_on_purpose_is_refused(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, owner, attribute, breaking = BROKEN[fault]
    model = _model(name)
    sound = [encode(result) for result in _rewritten(model)]
    original = getattr(owner, attribute, None) or (bytes if attribute == "bytes" else None)
    with monkeypatch.context() as patch:
        patch.setattr(owner, attribute, breaking(original), raising=False)
        broken = [encode(result) for result in _rewritten(model)]
    wrong = [parse(data) for data in broken if data not in sound]
    assert wrong, "the fault changes something"
    verdicts = [refused(model, result) for result in wrong]
    assert all(verdicts), f"{verdicts.count('')} of {len(verdicts)} broken files were accepted"


def _mutants(model: Model) -> Iterator[tuple[str, Model]]:
    """Yield a file with one fault, for every place where there can be one."""
    main = model.subgraphs[0]

    def with_operator(index: int, operator: Operator) -> Model:
        operators = (*main.operators[:index], operator, *main.operators[index + 1 :])
        return replace(model, subgraphs=(replace(main, operators=operators), *model.subgraphs[1:]))

    draft = Draft(model)
    read = {t for o in main.operators for t in o.input_tensors}
    for index, operator in enumerate(main.operators):
        name, inputs = draft.name(operator), operator.input_tensors
        if name == "CONCATENATION":
            for at in range(len(inputs) - 1):
                swapped = (*inputs[:at], inputs[at + 1], inputs[at], *inputs[at + 2 :])
                yield f"#{index} swaps pieces {at}, {at + 1}", with_operator(index, replace(operator, inputs=swapped))
        for option, value in operator.options.items():
            if name not in ("CONV_2D", "DEPTHWISE_CONV_2D"):
                continue
            # The padding of a 1x1 window is none, SAME or VALID.
            has_padding = (main.tensors[inputs[1]].shape or ())[1:3] != (1, 1)
            if option == "fused_activation_function" or (option == "padding" and has_padding):
                changed = {**operator.options, option: 1 - int(value)}  # type: ignore[arg-type]
                yield f"#{index} other {option}", with_operator(index, replace(operator, options=changed))
    for index, tensor in enumerate(main.tensors):
        data = model.tensor_data(tensor)
        if data is not None and index in read:
            flipped = bytes([data[0] ^ 1]) + bytes(data[1:])
            buffers = (*model.buffers, ConstantData(memoryview(flipped)))
            other = replace(tensor, buffer=len(model.buffers))
            tensors = (*main.tensors[:index], other, *main.tensors[index + 1 :])
            subgraphs = (replace(main, tensors=tensors), *model.subgraphs[1:])
            yield f"tensor {index} with another byte", replace(model, buffers=buffers, subgraphs=subgraphs)
        if data is None and tensor.quantization is not None and len(tensor.quantization.scale):
            stale = replace(tensor, quantization=Quantization((tensor.quantization.scale[0] * 2,), (0,)))
            tensors = (*main.tensors[:index], stale, *main.tensors[index + 1 :])
            yield (
                f"tensor {index} with other scales",
                replace(model, subgraphs=(replace(main, tensors=tensors), *model.subgraphs[1:])),
            )


@pytest.mark.slow
@pytest.mark.parametrize("name", models.MODELS)
def test_every_faulty_file_is_refused(name: str) -> None:
    model = models.MODELS[name]()
    result = shrink(model, REFERENCE).model
    faults = dict(_mutants(result))
    accepted = [fault for fault, mutant in faults.items() if not refused(model, parse(encode(mutant)))]
    assert len(faults) >= 5
    assert accepted == []


def test_of_states_with_one_history_a_resource_variable_stays_the_one_of_its_name() -> None:
    """A sum, and a queue of one row that holds what the sum made, take the same values, and are not the same."""
    history = [b"at first", b"behind 0"]
    before = {("", "queue"): history, ("", "sum"): history}
    after = {("variable", "27"): history, ("", "sum"): history}
    assert _pairs_of_equal(before, after) == [(("", "sum"), ("", "sum")), (("", "queue"), ("variable", "27"))]


def test_a_variable_tensor_is_not_known_by_its_number() -> None:
    history = [b"at first", b"behind 0"]
    before = {("variable", "3"): history, ("variable", "4"): history}
    after = {("variable", "2"): history, ("variable", "3"): history}
    pairs = [(("variable", "3"), ("variable", "2")), (("variable", "4"), ("variable", "3"))]
    assert _pairs_of_equal(before, after) == pairs
