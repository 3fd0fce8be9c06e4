import pytest

from tflm_sim.errors import UsageError
from tflm_sim.targets.presets import PRESETS, library_target, preset
from tflm_sim.targets.structs import declarations, layouts


def test_layouts_are_computed_once_for_an_abi_and_a_runtime() -> None:
    m4, m7 = preset("cortex-m4"), preset("cortex-m7")
    assert layouts(m4.abi, m4.runtime) is layouts(m7.abi, m7.runtime)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_has_a_layout_for_every_declaration(name: str) -> None:
    of = preset(name)
    assert of.structs.keys() == declarations(of.runtime).keys()
    assert all(layout.size % layout.alignment == 0 for layout in of.structs.values())


@pytest.mark.parametrize(
    ("name", "tensor", "eval_tensor", "node", "add_params"),
    [
        ("x86_64", 64, 24, 56, 8),
        ("i386", 40, 12, 28, 8),
        ("cortex-m4", 32, 12, 28, 2),
        ("cortex-m4-int-enums", 40, 12, 28, 8),
    ],
)
def test_the_structs_that_every_model_pays_for(
    name: str, tensor: int, eval_tensor: int, node: int, add_params: int
) -> None:
    of = preset(name)
    sizes = [of.sizeof(s) for s in ("TfLiteTensor", "TfLiteEvalTensor", "TfLiteNode", "TfLiteAddParams")]
    assert sizes == [tensor, eval_tensor, node, add_params]


@pytest.mark.parametrize(
    ("name", "before", "since", "offsets"),
    [
        ("x86_64", (16, 4), (32, 8), (16, 24)),
        ("x86_64-pip", (16, 4), (32, 8), (16, 24)),
        ("i386", (16, 4), (24, 4), (16, 20)),
        ("cortex-m4", (5, 1), (16, 4), (8, 12)),
        ("cortex-m55", (5, 1), (16, 4), (8, 12)),
        ("cortex-m4-int-enums", (16, 4), (24, 4), (16, 20)),
        ("riscv32", (16, 4), (24, 4), (16, 20)),
        ("esp32-s3", (16, 4), (24, 4), (16, 20)),
    ],
)
def test_fully_connected_has_a_pointer_and_an_int_more_since_the_wheel_of_2026_10_12(
    name: str, before: tuple[int, int], since: tuple[int, int], offsets: tuple[int, int]
) -> None:
    """Sizes, alignments and offsets as gcc -m64, gcc -m32, arm-none-eabi, riscv64-unknown-elf, xtensa-lx106-elf say."""
    older, newer = (
        preset(name, kernels="reference", runtime=day).structs["TfLiteFullyConnectedParams"]
        for day in ("2026-10-09", "2026-10-12")
    )
    assert (older.size, older.alignment) == before
    assert (newer.size, newer.alignment) == since
    assert (newer.members["quant_spec"], newer.members["quant_spec_size"]) == offsets


def test_compression_grows_the_allocator_and_the_op_data() -> None:
    plain, compressed = preset("x86_64"), preset("x86_64-compression")
    grown = {name: compressed.sizeof(name) - plain.sizeof(name) for name in plain.structs}
    assert {name: growth for name, growth in grown.items() if growth} == {
        "RecordingMicroAllocator": 24,  # one RecordedAllocation of three size_t
        "SubgraphAllocations": 8,  # a pointer
        "OpDataConv": 8,  # two scratch indices
        "OpDataFullyConnected": 8,
        "transpose_conv.OpData": 8,
        "concatenation.OpData": 40,  # ten scratch indices
        "cmsis_nn/conv.OpData": 8,
        "cmsis_nn/depthwise_conv.OpData": 8,
        "cmsis_nn/fully_connected.OpData": 8,
        "esp_nn/conv.NodeData": 8,
        "esp_nn/depthwise_conv.NodeData": 8,
    }


def test_an_unknown_struct_is_a_sentence_that_says_where_structs_are_declared() -> None:
    with pytest.raises(
        UsageError, match="has no struct 'OpDataNothing'; those of TFLM are declared in tflm_sim/targets"
    ):
        preset("x86_64").sizeof("OpDataNothing")


def test_libraries_for_the_arduino_ide_are_built_without_static_memory() -> None:
    nano = preset("nano33ble-chirale")
    # type 1 + 3, data 4, dims 4, params 8, allocation_type 1 + 3, bytes 4, 3 pointers 12, buffer_handle 4, 2 bools + 2,
    # quantization 8, 2 pointers 8
    assert nano.sizeof("TfLiteTensor") == 64
    assert nano.sizeof("TfLiteNode") == 40
    esp = library_target("TensorFlowLite_ESP32")
    # Enums have 4 bytes there, which were padding. A node: 7 pointers 28, size 4, delegate 4, bool 1 + 3.
    assert (esp.sizeof("TfLiteTensor"), esp.sizeof("TfLiteNode")) == (64, 40)
    assert library_target("tflm_esp32@2.0.0").sizeof("TfLiteTensor") == 40


def test_esp_tflite_micro_1_3_3_keeps_no_iterator_index() -> None:
    old, new = preset("esp32-s3-esphome"), preset("esp32-s3")
    changed = {name for name in new.structs if old.structs[name] != new.structs[name]}
    assert changed == {"OpDataReduce"}
    assert (old.sizeof("OpDataReduce"), new.sizeof("OpDataReduce")) == (40, 44)
