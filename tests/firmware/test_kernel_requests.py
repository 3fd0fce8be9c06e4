"""A kernel under a name of TFLM's that asks for memory more often than TFLM's is a doubt; programs compiled here."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tflm_sim.cli import main

sys.path.insert(0, str(Path(__file__).parent))
import set_up_forms

KERNEL = """
struct TfLiteNode;
struct TfLiteContext {
  void *before[14];
  void *(*AllocatePersistentBuffer)(TfLiteContext *, size_t);
  void *between;
  int (*RequestScratchBufferInArena)(TfLiteContext *, size_t, int *);
};
namespace tflite {
TFLMRegistration QUIET RegisterOp(
    void *(*)(TfLiteContext *, const char *, size_t), int (*)(TfLiteContext *, TfLiteNode *),
    int (*)(TfLiteContext *, TfLiteNode *)) { return {}; }
static int scratch[4];
QUIET void *MicroContextAllocatePersistentBuffer(TfLiteContext *, size_t) { return scratch; }
namespace {
void *FullyConnectedInit(TfLiteContext *context, const char *, size_t) {
  return context->AllocatePersistentBuffer(context, 40);
}
QUIET int CalculateOpData(int, TfLiteContext *context) { IN_HELPER return 0; }
int FullyConnectedPrepare(TfLiteContext *context, TfLiteNode *node) {
  if (context->AllocatePersistentBuffer(context, (size_t)node) == nullptr) return 1;
  IN_PREPARE
  return CalculateOpData(1, context);
}
int FullyConnectedEval(TfLiteContext *context, TfLiteNode *) {
  context->AllocatePersistentBuffer(context, 1);
  context->AllocatePersistentBuffer(context, 2);
  return 0;
}
}  // namespace
QUIET TFLMRegistration Register_FULLY_CONNECTED_INT8() {
  return RegisterOp(FullyConnectedInit, FullyConnectedPrepare, FullyConnectedEval);
}
}  // namespace tflite
alignas(16) static uint8_t tensor_arena[4000];
int main() {
  static MicroMutableOpResolver<1> resolver;
  resolver.rows[0] = Register_FULLY_CONNECTED_INT8();
  MicroInterpreter it(GetModel(g_model), resolver, tensor_arena, 4000);
  return it.AllocateTensors();
}
"""
PERSISTENT = "if (!context->AllocatePersistentBuffer(context, 5000)) return 1;"
SCRATCH = "if (context->RequestScratchBufferInArena(context, 5000, scratch + {})) return 1;"
DIRECT = PERSISTENT.replace("context->", "MicroContext")
AS_OFTEN = PERSISTENT, SCRATCH.format(0)
MORE = (
    "its kernel of FULLY_CONNECTED, which is not TFLM's (it asks for memory at {} places of its code, TFLM's at 4 at "
)
"""TFLM's kernel asks at three places for what stays, and at one for a scratch buffer."""


@pytest.mark.parametrize(
    ("in_prepare", "in_helper", "places"),
    [
        ("", "", 0),
        (*AS_OFTEN, 0),
        (PERSISTENT, PERSISTENT, 4),
        ("".join(AS_OFTEN), PERSISTENT, 5),
        (SCRATCH.format(0), SCRATCH.format(1), 4),
        (DIRECT, DIRECT, 4),
    ],
)
@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_a_kernel_that_asks_more_often_than_tflms_is_a_doubt(
    in_prepare: str, in_helper: str, places: int, level: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = (f"-DIN_PREPARE={in_prepare}", f"-DIN_HELPER={in_helper}", level)
    elf = set_up_forms.program(tmp_path, KERNEL, *flags)
    code = main(["firmware", str(elf), "--runtime", "90b983c2b", "--json"])
    [verdict] = json.loads(capsys.readouterr().out)["verdicts"]
    said = [doubt["text"] for doubt in verdict["doubts"]]
    assert (code, verdict["answer"], said) == ((3, "if", said) if places else (0, "yes", []))
    assert [text.startswith(MORE.format(places)) for text in said] == [True] * bool(places)
