"""Formats that are flashed are pieces of memory, and models are found in them."""

from __future__ import annotations

import gzip
import struct
import sys
from pathlib import Path

import pytest

from tflm_sim.cli import main
from tflm_sim.errors import FirmwareError, ModelError
from tflm_sim.extensions.firmware.reading import embedded_models
from tflm_sim.extensions.firmware.reading.embedded_models import WalkedFlatBuffer, find_models
from tflm_sim.extensions.firmware.reading.firmware import examine
from tflm_sim.extensions.firmware.reading.image import AddressIndex, Piece, parse_image
from tflm_sim.model.load import parse_flatbuffer
from tflm_sim.samples import SAMPLES, sample_path

sys.path.insert(0, str(Path(__file__).parent))
from elf_writer import Part, write_elf

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


OBJECT_FILE, PROGRAM = (write_elf(Part(".text", b"code"), kind=kind) for kind in (1, 2))
OTHERS = {
    "app.srec": (b"S00600004844521B\r\nS1130000285F245F2212226A000424290008237C2A\r\n", "Motorola S-records; name"),
    "app.s19": (b"S1130000285F245F2212226A000424290008237C2A\n", "Motorola S-records; name the linked program"),
    "app.s28": (b"S214000000285F245F2212226A000424290008237C29\n", "Motorola S-records; name the linked program"),
    "app.s37": (b"S31500000000285F245F2212226A000424290008237C28\n", "Motorola S-records; name the linked program"),
    "app.elf.gz": (gzip.compress(PROGRAM), "compressed with gzip; unpack it first"),
    "app.zip": (b"PK\x03\x04" + bytes(60), "a .zip archive; unpack it first"),
    "app.macho": (b"\xcf\xfa\xed\xfe" + bytes(60), "a macOS program (Mach-O), which is not read; an ELF file is"),
    "app.fat": (b"\xca\xfe\xba\xbe" + bytes(60), "a macOS program (Mach-O), which is not read; an ELF file is"),
    "app.exe": (b"MZ\x90\0" + bytes(60), "a Windows program (PE), which is not read; an ELF file is"),
    "app.map": (b"Memory Configuration\n\nName  Origin\nFLASH 0x08000000\n", "a text file; name the linked program"),
    "libtflm.a": (b"!<arch>\n" + bytes(60), "a library of object files; name the linked program"),
    "main.o": (OBJECT_FILE, "an object file; name the linked program"),
    "empty.elf": (b"", "the file is empty"),
}
"""Files that hold no firmware that can be read, and what they are called."""


@pytest.mark.parametrize("name", OTHERS)
def test_a_file_that_is_no_linked_program_is_named_as_what_it_is(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, words = OTHERS[name]
    with pytest.raises(FirmwareError) as caught:
        parse_image(data)
    assert caught.value.message.startswith(words)
    path = tmp_path / name
    path.write_bytes(data)
    assert main(["firmware", str(path)]) == 3
    assert ("this is an archive" if name == "app.zip" else words) in capsys.readouterr().err


@pytest.mark.parametrize(("name", "format"), [("app.hex", "Intel HEX"), ("app.uf2", "UF2"), ("app.bin", "binary")])
def test_a_file_that_is_flashed_is_read_and_asks_for_the_machine(
    name: str, format: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "".join(record(0, at, SINE[at : at + 16]) for at in range(0, len(SINE), 16)) + record(1, 0, b"")
    data = {"app.hex": text.encode(), "app.uf2": uf2(0x10000000, SINE), "app.bin": b"\0" * 100 + SINE}[name]
    path = tmp_path / name
    path.write_bytes(data)
    assert main(["firmware", str(path)]) == 3
    said = capsys.readouterr().out
    assert f"{format}, processor not said" in said
    assert f"a file of the format '{format}' does not say its processor; name the machine with --target" in said


def test_a_model_of_an_image_ends_where_its_file_does() -> None:
    (found,) = find_models([Piece("", 0, memoryview(b"code" + SINE + b"\xff" * 64))])
    assert len(SINE) - 8 <= found.extent <= len(SINE)
    assert len(found.model.source) == found.extent


def test_an_empty_file_is_wrong_from_its_first_byte() -> None:
    with pytest.raises(FirmwareError) as caught:
        parse_image(b"")
    assert caught.value.offset == 0


def uf2_block(address: int, data: bytes, *, flags: int = 0, size: int | None = None, end: int = 0x0AB16F30) -> bytes:
    size = len(data) if size is None else size
    head = struct.pack("<8I", 0x0A324655, 0x9E5D5157, flags, address, size, 0, 1, 0)
    return head + data.ljust(476, b"\0") + struct.pack("<I", end)


def pieces(data: bytes) -> list[tuple[int, bytes]]:
    return [(piece.address, bytes(piece.data)) for piece in parse_image(data).pieces]


def test_of_uf2_only_what_is_flashed_counts() -> None:
    # 1: not main flash; 0x2000: a family of chips is said.
    data = uf2_block(0x100, b"kept", flags=0x2000) + uf2_block(0x200, b"lost", flags=1)
    assert pieces(data + uf2_block(0x104, b"x" * 476)) == [(0x100, b"kept" + b"x" * 476)]


def test_what_a_file_says_twice_is_the_same_or_refused() -> None:
    data = uf2_block(0x100, b"abcd")
    assert pieces(data + data + uf2_block(0x102, b"cdef") + uf2_block(0x101, b"bc")) == [(0x100, b"abcdef")]
    for address, block in ((0x100, b"abcX"), (0x102, b"cX"), (0xFF, b"aXbcd"), (0x100, b"X")):
        with pytest.raises(FirmwareError) as refused:
            parse_image(data + uf2_block(address, block))
        assert str(refused.value) == f"it says twice what is at {max(address, 0x100):#x}, and not the same"


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (uf2_block(0, b"ab") + b"UF2", "the last UF2 block is not whole: is it truncated? (at byte 512)"),
        (uf2_block(2**32 - 1, b"ab"), "the 2 bytes at 0xffffffff do not lie below 4 GiB"),
        (record(0, 0, b"ab").encode(), "no record says that the file ends: is it truncated? (at byte 16)"),
        (record(4, 0, b"abc").encode(), "an Intel HEX record of type 4 with 3 bytes (at byte 0)"),
        (record(6, 0, b"").encode(), "an Intel HEX record of type 6 with 0 bytes (at byte 0)"),
        (b"\x28\xb5\x2f\xfd", "compressed with zstd; unpack it first (at byte 0)"),
        (b"!<thin>\n", "a library of object files; name the linked program (at byte 0)"),
    ],
)
def test_what_is_flashed_is_whole_and_of_a_known_kind(data: bytes, sentence: str) -> None:
    with pytest.raises(FirmwareError) as refused:
        parse_image(data)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    "second",
    [
        uf2_block(0, b"", size=477),
        uf2_block(0, b"", end=0),
        b"\0" + uf2_block(0, b"")[1:],
        uf2_block(0, b"")[:4] + b"\0" + uf2_block(0, b"")[5:],
    ],
)
def test_what_is_no_block_is_refused_with_its_place(second: bytes) -> None:
    with pytest.raises(FirmwareError, match="this block is not UF2") as caught:
        parse_image(uf2_block(0, b"") + second)
    assert caught.value.offset == 512


@pytest.mark.parametrize(
    ("kind", "upper", "address"), [(2, b"\x12\x34", 0x12340 + 0x5678), (4, b"\x12\x34", 0x1234_0000 + 0x5678)]
)
def test_upper_address_bits_are_a_segment_or_a_half(kind: int, upper: bytes, address: int) -> None:
    text = (
        record(kind, 0, upper) + record(5, 0, b"\0\0\0\1") + record(0, 0x5678, b"ab") + "\n" + record(0, 0x567A, b"c")
    )
    assert pieces((text + record(1, 0, b"") + record(0, 0, b"no more")).encode()) == [(address, b"abc")]


@pytest.mark.parametrize(
    "line", [":00000001FE\n", ":0100000041BF\n", ":00\n", "x0000000000\n", ":zz\n", ":000000000000\n"]
)
def test_a_line_that_is_no_record_is_refused_with_its_place(line: str) -> None:
    first = record(0, 0, b"abcd")
    with pytest.raises(FirmwareError, match="this line is not an Intel HEX record") as caught:
        parse_image((first + line).encode())
    assert caught.value.offset == len(first)


def elf_with_segment(*, machine: int = 40) -> bytes:
    """Return a program without a section table: a header of 52 bytes, two rows of 32, four bytes at 116."""
    head = struct.pack("<HHIIIIIHHHHHH", 2, machine, 1, 0x8001, 52, 0, 0, 52, 32, 2, 40, 0, 0)
    loaded = struct.pack("<8I", 1, 116, 0x2000_0000, 0x0800_0000, 4, 6, 6, 4)
    note = struct.pack("<8I", 4, 0, 0, 0, 0, 0, 4, 4)
    return b"\x7fELF\x01\x01\x01" + bytes(9) + head + note + loaded + b"data"


def test_a_program_without_sections_is_its_segments() -> None:
    assert pieces(elf_with_segment()) == [(0x2000_0000, b"data")]
    elf = parse_image(elf_with_segment()).elf
    assert elf is not None
    (segment,) = elf.segments
    assert (segment.load_address, segment.memory_size, segment.flags, segment.is_writable) == (0x0800_0000, 6, 6, True)
    assert (elf.entry, elf.bits, elf.machine, elf.flags) == (0x8001, 32, "ARM", 0)


@pytest.mark.parametrize(("count", "is_refused"), [(3, False), (5, True)])
def test_sections_may_hold_four_times_the_file(count: int, is_refused: bool) -> None:
    # The sections are the whole file each, but for 20 bytes for the names that are held besides.
    size = len(write_elf(*[Part(".text", (0, 1), flags=6)] * count)) - 20
    data = write_elf(*[Part(".text", (0, size), flags=6)] * count)
    if is_refused:
        with pytest.raises(FirmwareError, match="its sections overlap: they hold"):
            parse_image(data)
    else:
        assert len(parse_image(data).pieces) == count


@pytest.mark.parametrize(
    ("root", "vtable", "is_looked_at"),
    [
        (16, struct.pack("<HH", 4, 4), True),
        (16, struct.pack("<HH", 64, 256), True),
        (16, struct.pack("<HH", 66, 4), False),
        (16, struct.pack("<HH", 5, 4), False),
        (16, struct.pack("<HH", 2, 4), False),
        (16, struct.pack("<HH", 4, 3), False),
        (16, struct.pack("<HH", 4, 257), False),
        (400, struct.pack("<HH", 4, 4), False),
    ],
)
def test_only_what_looks_like_a_table_is_parsed(
    root: int, vtable: bytes, is_looked_at: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def parse(flatbuffer: WalkedFlatBuffer) -> None:
        asked.append(flatbuffer.size)
        raise ModelError("no")

    monkeypatch.setattr(embedded_models, "parse_flatbuffer", parse)
    # The table at 16 says that its vtable is 4 before it.
    data = b"code" + struct.pack("<I", root) + b"TFL3" + bytes(4) + vtable + struct.pack("<i", 4) + bytes(300)
    assert find_models([Piece("", 0, memoryview(data))]) == ()
    assert asked == ([len(data) - 4] if is_looked_at else [])


def test_more_models_than_any_program_has_are_refused() -> None:
    model = SINE + bytes(-len(SINE) % 16)
    assert len(find_models([Piece("", 0, memoryview(model * 256))])) == 256
    with pytest.raises(FirmwareError) as refused:
        find_models([Piece("", 0, memoryview(model * 128)), Piece("", 0, memoryview(model * 129))])
    assert str(refused.value) == "more than 256 models lie in it, more than any program has"
