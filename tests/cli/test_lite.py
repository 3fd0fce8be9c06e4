import json
from pathlib import Path

import pytest

import tflm_sim
from tflm_sim import sample_path
from tflm_sim.cli import main
from tflm_sim.model.build import ModelBuilder
from tflm_sim.model.types import TensorType

FLOAT = TensorType.FLOAT32
WILD = Path(__file__).resolve().parents[2] / "../shared/wild"


@pytest.fixture
def convolution(tmp_path):
    """A float CONV_2D of 1x8x8x2 with four 3x3 filters, then a RELU."""
    builder = ModelBuilder()
    x, y, z = (builder.tensor((1, 8, 8, depth), FLOAT, name=name) for name, depth in (("x", 2), ("y", 4), ("z", 4)))
    weights = builder.tensor((4, 3, 3, 2), FLOAT, data=bytes(4 * 4 * 9 * 2))
    bias = builder.tensor((4,), FLOAT, data=bytes(16))
    builder.operator("CONV_2D", [x, weights, bias], [y], options={"stride_w": 1, "stride_h": 1})
    builder.operator("RELU", [y], [z])
    path = tmp_path / "convolution.tflite"
    path.write_bytes(builder.build(inputs=[x], outputs=[z]))
    return str(path)


def answer(capsys, *arguments):
    code = main(["lite", *arguments])
    return code, capsys.readouterr().out


def test_a_line_for_machines(convolution, capsys):
    code, out = answer(capsys, convolution, "--jsonl")
    document = json.loads(out)
    assert (code, document["model"]["path"], document["status"], document["errors"]) == (0, convolution, "ok", [])
    (graph,) = document["subgraphs"]
    im2col = 8 * 8 * 9 * 2 * 4
    assert graph["tensors"][5] == ["arena_rw", graph["tensors"][5][1], im2col, [1, 8, 8, 18]]
    assert graph["temporaries"] == [[5], []]
    # The input lives throughout: 512; im2col 4,608; y and then z: 1,024 each.
    assert graph["arena_rw_span"] == 512 + im2col + 1024
    assert graph["persistent_span"] == 0


def test_reference_kernels_need_no_im2col(convolution, capsys):
    _, out = answer(capsys, convolution, "--jsonl", "--kernels", "reference")
    (graph,) = json.loads(out)["subgraphs"]
    assert (graph["temporaries"], graph["arena_rw_span"]) == ([[], []], 512 + 1024 + 1024)


def test_several_threads_transpose_the_weights_instead(convolution, capsys):
    _, out = answer(capsys, convolution, "--jsonl", "--threads", "4")
    (graph,) = json.loads(out)["subgraphs"]
    assert graph["tensors"][5] == ["arena_rw_persistent", 0, 18 * 4 * 4, [18, 4]]


@pytest.mark.shared("wild")
@pytest.mark.parametrize(
    ("name", "arena", "persistent"),
    [("transpose_valid__q_dyn8", 38_044, 0), ("autoencoder_conv__q_dyn8", 24_528, 1_760)],
)
def test_transpose_conv_takes_int8_weights_of_a_scale_each_channel_for_float_input(name, arena, persistent, capsys):
    code, out = answer(capsys, str(WILD / f"{name}.tflite"), "--jsonl")
    (graph,) = json.loads(out)["subgraphs"]
    assert (code, graph["arena_rw_span"], graph["persistent_span"]) == (0, arena, persistent)


def test_the_batch_is_doubled(convolution, capsys):
    _, out = answer(capsys, convolution, "--jsonl", "--double-batch")
    (graph,) = json.loads(out)["subgraphs"]
    assert [row[3] for row in graph["tensors"][:3]] == [[2, 8, 8, 2], [2, 8, 8, 4], [2, 8, 8, 4]]
    assert main(["lite", convolution, "--jsonl", "--resize", "x=2,8,8,2"]) == 0
    assert json.loads(capsys.readouterr().out)["subgraphs"] == [graph]


def test_a_refusal_is_the_runtimes_own(convolution, capsys):
    code, out = answer(capsys, convolution, "--jsonl", "--resize", "0=1,8,8")
    document = json.loads(out)
    told = "tflite/kernels/conv.cc:356 input->dims->size != 4 (3 != 4)Node number 0 (CONV_2D) failed to prepare."
    assert (code, document["status"], document["errors"]) == (4, "error", [told])


def test_of_many_messages_the_first_are_shown_and_the_others_counted(tmp_path, capsys):
    builder = ModelBuilder()
    tensors = [builder.tensor((2,), FLOAT, data=b"1234") for _ in range(11)]
    path = tmp_path / "eleven_faults.tflite"
    path.write_bytes(builder.build(inputs=tensors[:1], outputs=tensors[-1:]))
    code, out = answer(capsys, str(path))
    assert code == 4
    assert out.splitlines()[1:4] == [
        "the runtime refuses it:",
        "  tflite/core/subgraph.cc:1965 required_bytes <= bytes was not true.",
        "  Tensor 0 is invalidly specified in schema.",
    ]
    assert out.splitlines()[9:11] == [
        "  Tensor 3 is invalidly specified in schema.",
        "  and 14 more; --json has all of them",  # two messages a tensor, 22 in all
    ]
    _, out = answer(capsys, str(path), "--json")
    assert len(json.loads(out)["errors"]) == 22
    assert main(["lite", str(path), "--map"]) == 4
    assert "Tensor 0 is invalidly specified" in capsys.readouterr().err


def test_the_arena_with_the_planners_of_earlier_releases(convolution, capsys):
    code, out = answer(capsys, convolution, "--earlier-planners")
    # Queue: 512 of input, 1,024 of y behind the temporary im2col's 4,608, and z where im2col was. Intervals: as today.
    assert code == 0
    assert "2018 to 2020 6,144 B, 2020 to 2022 6,144 B" in out
    assert main(["lite", convolution, "--earlier-planners", "--json"]) == 2


def test_a_bad_file_does_not_stop_the_others(convolution, tmp_path, capsys):
    bad = tmp_path / "bad.tflite"
    bad.write_bytes(b"nothing")
    assert main(["lite", str(bad), convolution, "--jsonl"]) == 3
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["status"], first["subgraphs"], second["status"]) == ("error", [], "ok")


def test_people_read_who_holds_what(convolution, capsys):
    code, out = answer(capsys, convolution)
    assert code == 0
    assert "main: arena 6,144 B, persistent 0 B" in out
    assert "tensors 2,560 B, temporaries of kernels 4,608 B" in out
    assert "fullest in #0 CONV_2D: 6,144 B alive" in out
    assert "left out: the XNNPACK delegate" in out
    assert "TFLM on cortex-m4 (not named, so assumed: --target) needs" in out


def test_the_plan_is_drawn(convolution, tmp_path, capsys):
    _, out = answer(capsys, convolution, "--map")
    assert "#0 CONV_2D" in out
    for suffix in ("html", "svg", "json"):
        target = tmp_path / f"phone.{suffix}"
        assert main(["lite", convolution, "-o", str(target)]) == 0
        assert target.stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--resize", "q=1,2"), "no input is called 'q'; there is 'image'"),
        (("--resize", "image=a"), "write the shape as numbers with commas"),
        (("--threads", "0"), "at least 1"),
        (("--resize", "image"), "write NAME=SHAPE with an input's name or number"),
        (("--resize", "image=1,-96,96,3"), "write the shape as numbers with commas"),
        (("--resize", "image=1,2147483648"), "write the shape as numbers with commas"),
        (("--target", "nope"), "unknown target 'nope'"),
        (("--delegate", "xnnpack"), "it is not modelled"),
        (("--delegate", "gpu", "--map"), "--delegate says what a delegate takes"),
        (("--delegate", "flex", "--jsonl"), "--delegate says what a delegate takes"),
        (("--half",), "--half goes with --delegate gpu"),
        (("--delegate", "flex", "--storage", "bhwc"), "--storage goes with --delegate gpu"),
        (("-o", "phone.txt"), "must end in .html, .svg, .png or .json"),
    ],
)
def test_wrong_options(arguments, sentence, capsys):
    assert main(["lite", str(sample_path("mobilenet_v1_025")), *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_diff_compares_two_answers(convolution, tmp_path, capsys):
    saved = tmp_path / "reference.json"
    main(["lite", convolution, "--kernels", "reference", "--json"])
    saved.write_text(capsys.readouterr().out)
    assert main(["diff", "--lite", str(saved), convolution]) == 0
    # 512 + 1,024 + 1,024 before; 512 + 4,608 + 1,024 after.
    assert ["2,560", "6,144", "+3,584", "arena"] in [row.split() for row in capsys.readouterr().out.splitlines()]
    assert main(["diff", "--lite", str(saved), convolution, "--fail-on-increase", "3583"]) == 1
    assert main(["diff", "--lite", str(saved), convolution, "--fail-on-increase", "3584"]) == 0


@pytest.mark.parametrize(
    ("form", "shown"), [("gpu", "GPU delegate: 2 of 2 nodes"), ("flex", "no operator of TensorFlow")]
)
def test_delegates_are_asked(convolution, form, shown, capsys):
    code, out = answer(capsys, convolution, "--delegate", form)
    assert (code, shown in out) == (0, True)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--json",),
        ("--jsonl",),
        ("--map",),
        ("-o", "{}"),
        ("--delegate", "gpu"),
        ("--delegate", "gpu", "--json"),
        ("--delegate", "flex"),
        ("--delegate", "flex", "--json"),
        ("--jsonl", "--resize", "x=1,8,8"),  # refused
    ],
)
def test_every_answer_says_that_xnnpack_is_left_out(arguments, convolution, tmp_path, capsys):
    for suffix in ("html", "svg", "json") if "-o" in arguments else ("",):
        target = tmp_path / f"phone.{suffix}"
        assert main(["lite", convolution, *(text.format(target) for text in arguments)]) in (0, 4)
        printed = capsys.readouterr()
        assert "XNNPACK" in printed.out + printed.err
        assert not suffix or "without the XNNPACK delegate" in target.read_text()


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_difference_says_that_xnnpack_is_left_out(form, convolution, capsys):
    assert main(["diff", "--lite", convolution, convolution, *form]) == 0
    assert "left out: the XNNPACK delegate" in capsys.readouterr().out


def test_in_python_an_answer_says_what_it_leaves_out(convolution):
    answer = tflm_sim.lite_allocated(tflm_sim.load(convolution), tflm_sim.LiteSettings())
    assert answer.left_out[0].startswith("left out: the XNNPACK delegate")
