"""How ``tools upstream lite_tables`` reads the conditions of a kernel, and compares the table with a checkout."""

import subprocess

from upstream import lite_tables

SOURCE = """
TfLiteStatus Prepare(TfLiteContext* context, TfLiteNode* node) {
  TF_LITE_ENSURE_EQ(context, NumInputs(node), 2);  // two, not three
  TF_LITE_ENSURE(context, left->type == kTfLiteInt8 ||  // (either
                              left->type == kTfLiteInt16);
  TF_LITE_ENSURE_OK(context, GetInputSafe(context, node, 0, &left));
  TF_LITE_ENSURE_TYPES_EQ(context, Type(left, right),
                          kTfLiteInt8);
"""


def test_conditions_have_the_line_on_which_they_end():
    assert list(lite_tables.conditions("one.cc", SOURCE)) == [
        (("one.cc", "NumInputs(node)", "2"), 3),
        (("one.cc", "left->type == kTfLiteInt8 || left->type == kTfLiteInt16", ""), 5),
        (("one.cc", "Type(left, right)", "kTfLiteInt8"), 8),
    ]


def test_the_table_is_held_against_a_checkout(tmp_path, monkeypatch):
    (tmp_path / "tflite/kernels").mkdir(parents=True)
    (tmp_path / "tflite/kernels/one.cc").write_text(SOURCE)
    identity = ["-c", "user.name=a", "-c", "user.email=a@example"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "one"]):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    table = tmp_path / "conditions.txt"
    rows = [
        "file\t2.3.0\t2.4.0\tleft\tright",
        "one.cc\t3\t5\tNumInputs(node)\t2",
        "one.cc\t9\t9\tType(left, right)\tkTfLiteInt8",
        "two.cc\t1\t\tleft > 0\t",
        "two.cc\t\t4\tright > 0\t",
    ]
    table.write_text("".join(f"{row}\n" for row in rows))
    monkeypatch.setattr(lite_tables, "CONDITIONS", table)
    *lines, total = lite_tables.compare_conditions(str(tmp_path))
    assert lines == ["one.cc:9 Type(left, right) | kTfLiteInt8: elsewhere (line 8)", "two.cc:1 left > 0: absent"]
    assert total.endswith(": 1 at its line, 1 elsewhere, 1 absent")
