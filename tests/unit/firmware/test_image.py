"""Formats that are flashed are pieces of memory, and models are found in them."""

from __future__ import annotations

import struct

from tflm_sim.firmware.embedded_models import WalkedFlatBuffer, find_models
from tflm_sim.firmware.firmware import examine
from tflm_sim.firmware.image import AddressIndex, Piece, parse_image
from tflm_sim.model.load import parse_flatbuffer
from tflm_sim.samples import SAMPLES, sample_path

SINE = sample_path("sine").read_bytes()


def uf2(address: int, data: bytes) -> bytes:
    blocks = [data[at : at + 256] for at in range(0, len(data), 256)]
    return b"".join(
        struct.pack("<8I", 0x0A324655, 0x9E5D5157, 0, address + 256 * i, len(block), i, len(blocks), 0)
        + block.ljust(476, b"\0")
        + struct.pack("<I", 0x0AB16F30)
        for i, block in enumerate(blocks)
    )


def record(kind: int, address: int, data: bytes) -> str:
    body = bytes([len(data), address >> 8, address & 255, kind]) + data
    return f":{(body + bytes([-sum(body) & 255])).hex().upper()}\n"


def test_uf2_blocks_that_touch_are_one_piece() -> None:
    image = parse_image(uf2(0x10000000, SINE))
    assert image.format == "UF2"
    assert [(piece.address, bytes(piece.data)) for piece in image.pieces] == [(0x10000000, SINE)]
    assert examine(image).models[0].address == 0x10000000


def test_intel_hex_has_upper_address_bits_in_records_of_their_own() -> None:
    text = record(4, 0, b"\x08\x00")  # 0x0800_0000
    text += "".join(record(0, at, SINE[at : at + 16]) for at in range(0, len(SINE), 16))
    image = parse_image((text + record(1, 0, b"")).encode())
    assert image.format == "Intel HEX"
    assert [(piece.address, bytes(piece.data)) for piece in image.pieces] == [(0x08000000, SINE)]


def test_a_gap_starts_another_piece() -> None:
    text = record(0, 0, b"abcd") + record(0, 16, b"efgh") + record(1, 0, b"")
    assert [piece.address for piece in parse_image(text.encode()).pieces] == [0, 16]


def test_a_plain_binary_is_one_piece_at_0() -> None:
    firmware = examine(parse_image(b"\0" * 100 + SINE + b"\xff" * 50))
    assert [(model.address, model.symbol) for model in firmware.models] == [(100, "")]
    assert firmware.processor is None


def test_two_models_side_by_side_are_two() -> None:
    second = sample_path("keyword_spotter").read_bytes()
    data = memoryview(b"code" + SINE + b"\0" * 8 + second)
    assert [model.address for model in find_models([Piece("", 0, data)])] == [4, 4 + len(SINE) + 8]


def test_the_extent_of_each_sample_is_its_file() -> None:
    for name in SAMPLES:
        data = sample_path(name).read_bytes()
        walked = WalkedFlatBuffer(memoryview(data + b"\xaa" * 64), 10**7)
        parse_flatbuffer(walked)
        assert len(data) - 8 <= walked.end <= len(data), name


def test_an_address_is_in_the_row_that_starts_before_it() -> None:
    index = AddressIndex([(16, 8, "b"), (0, 4, "a"), (32, 0, "c")])
    rows = {address: index.at(address) for address in (0, 3, 4, 16, 23, 24, 32, 33)}
    assert {address: row and row[2] for address, row in rows.items()} == {
        0: "a", 3: "a", 4: None, 16: "b", 23: "b", 24: None, 32: "c", 33: None
    }  # fmt: skip


def test_a_recording_interpreter_that_prints_is_recognised_without_symbols() -> None:
    text = b"[RecordingMicroAllocator] Arena allocation total %d bytes\0"
    assert examine(parse_image(uf2(0x10000000, SINE + text))).interpreters == ("recording", "plain")
    assert examine(parse_image(uf2(0x10000000, SINE))).interpreters == ()
