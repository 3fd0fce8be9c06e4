"""What a kernel's checks put into an image: the table of absent checks stands on it."""

from upstream.texts import texts

SOURCE = """
TfLiteStatus SoftmaxPrepare(TfLiteContext* context, TfLiteNode* node) {
  TF_LITE_ENSURE(context, output != nullptr);
  TF_LITE_ENSURE_EQ(context, NumOutputs(node), expected);
  return kTfLiteOk;
}
"""


def test_a_condition_is_one_text_and_a_comparison_is_two() -> None:
    assert texts(SOURCE) == {"output != nullptr", "NumOutputs(node)", "expected"}
