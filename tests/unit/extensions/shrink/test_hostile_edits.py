"""``verify()`` of edits that TFLM does not run, or runs otherwise: of ../shared/hostile/verify, and made here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import shrinking_models as models

from tflm_sim import load, parse
from tflm_sim.extensions.shrink.symbolic import Call, opaque
from tflm_sim.extensions.shrink.verify import VerificationFailed, verify
from tflm_sim.model.draft import Draft
from tflm_sim.model.encode import encode
from tflm_sim.model.types import Operator, Tensor, TensorType

HOSTILE = Path(__file__).resolve().parents[4] / "../shared/hostile/verify"
REASONS = {
    "1_const_1": "the slice of 65 from 0 on is not within the 1 of axis 3",
    "1_const_2": "axis 16777218 of a tensor of rank 4",
    "1_const_3": "axis 4098 of a tensor of rank 4",
    "1_opt_Conv2DOptions.dilation_h_factor_1": "dilation_h_factor is 0",
    "1_opt_Conv2DOptions.dilation_h_factor_2": "dilation_h_factor is 0",
    "1_opt_Conv2DOptions.dilation_w_factor_2": "dilation_w_factor is 0",
    "1_opt_Conv2DOptions.stride_w_1": "stride_w is 0",
    "1_opt_DepthwiseConv2DOptions.depth_multiplier_1": "depth_multiplier is 2 with 5 channels in and 5 out",
    "1_opt_DepthwiseConv2DOptions.depth_multiplier_2": "depth_multiplier is 2 with 64 channels in and 64 out",
    "1_opt_DepthwiseConv2DOptions.depth_multiplier_3": "depth_multiplier is 2 with 5 channels in and 5 out",
    "1_opt_DepthwiseConv2DOptions.dilation_w_factor_1": "dilation_w_factor is 0",
    "1_opt_DepthwiseConv2DOptions.stride_h_1": "stride_h is 0",
}


@pytest.mark.shared("hostile/verify")
@pytest.mark.parametrize("name", REASONS)
def test_an_option_or_constant_that_no_kernel_can_run_is_refused(name: str) -> None:
    original, changed = (load(str(HOSTILE / f"verify_{name}_{which}.tflite")) for which in ("orig", "mut"))
    with pytest.raises(VerificationFailed) as refusal:
        verify(original, changed)
    assert f": {REASONS[name]};" in str(refusal.value)


def test_a_tensor_of_gigabytes_is_refused_before_it_is_hashed() -> None:
    model = models.MODELS["rows"]()
    draft = Draft(model)
    huge = draft.add_like(draft.inputs[0], (1, 1 << 14, 1 << 13, 1))
    draft.operators.append(draft.operator("QUANTIZE", (draft.inputs[0],), (huge,)))
    with pytest.raises(VerificationFailed, match="elements, more than the 67,108,864 that are compared here"):
        verify(model, parse(encode(draft.model())))


def test_a_dead_operator_that_writes_beyond_its_output_is_refused() -> None:
    model = models.MODELS["rows"]()
    draft = Draft(model)
    source = draft.inputs[0]
    short = draft.add_like(source, (1, 1, 1, 1))
    draft.operators.append(draft.operator("CONCATENATION", (source, source), (short,), options={"axis": 1}))
    with pytest.raises(VerificationFailed, match="CONCATENATION is used in a way that is not supported"):
        verify(model, parse(encode(draft.model())))


def test_an_operator_whose_inputs_were_dropped_still_has_a_hash_of_its_own() -> None:
    output = Tensor("y", (1, 4), TensorType.INT8, 0)
    hashes = {int(opaque(Call(name, Operator(0, (), (0,)), (), (output,), (), ()))) for name in ("A", "B")}
    assert len(hashes) == 2


def test_an_operator_that_nobody_reads_is_refused_unless_the_original_has_it() -> None:
    model = models.MODELS["rows"]()
    draft = Draft(model)
    kept = draft.add_like(draft.inputs[0], draft.tensors[draft.inputs[0]].shape or ())
    draft.operators.append(draft.operator("QUANTIZE", (draft.inputs[0],), (kept,)))
    original = parse(encode(draft.model()))
    assert verify(original, original)
    draft.tensors[kept] = replace(draft.tensors[kept], type=TensorType.INT16)  # a kernel of int8 writes half of it
    with pytest.raises(VerificationFailed, match=r"the output of #\d+ QUANTIZE is never read"):
        verify(original, parse(encode(draft.model())))
