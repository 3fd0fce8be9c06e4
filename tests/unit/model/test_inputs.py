"""Whatever people have: a .tflite file, C arrays, an archive of either; and in words what a file is that holds none."""

from __future__ import annotations

import contextlib
import io
import os
import threading
import time
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tflm_sim import files
from tflm_sim.errors import ModelError, UsageError
from tflm_sim.model import inputs
from tflm_sim.model.inputs import expand, folder_files, unpack
from tflm_sim.model.load import load
from tflm_sim.samples import sample_path

SINE = sample_path("sine").read_bytes()


def source(data: bytes = SINE, *, form: str = "0x{:02x}", head: str = "const unsigned char g_model[]") -> bytes:
    return f"{head} = {{\n  {', '.join(form.format(byte) for byte in data)},\n}};\n".encode()


def archive(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        for name, data in members.items():
            out.writestr(name.replace("__", "/").replace("_dot_", "."), data)
    return file.getvalue()


def test_a_model_file_is_itself_whatever_its_name() -> None:
    assert list(unpack("model.bin", SINE)) == [("model.bin", SINE)]


@pytest.mark.parametrize("form", ["0x{:02x}", "0X{:02X}", "{}", "{}u", "0{:o}"])
@pytest.mark.parametrize(
    "head",
    [
        "const unsigned char g_model[]",
        "alignas(16) const uint8_t g_model[2136]",
        'static const unsigned char g_model[] __attribute__((aligned(16), section(".rodata")))',
        "unsigned char g_model [ ] PROGMEM",
    ],
)
def test_a_c_array_is_a_model_in_any_spelling(form: str, head: str) -> None:
    assert list(unpack("m.cc", source(form=form, head=head))) == [("m.cc:g_model", SINE)]


def test_several_arrays_are_several_models_and_other_arrays_are_passed_over() -> None:
    text = b"// {0x1c}\n" + source() + b"const int n = 3; int t[] = {1, 2, 3};\n" + source(head="char second[]")
    assert [label for label, _ in unpack("two.h", text)] == ["two.h:g_model", "two.h:second"]


def test_an_array_with_comments_between_its_numbers() -> None:
    assert next(unpack("m.h", source().replace(b", ", b", /* x */ ", 3))).data == SINE


def test_an_archive_gives_its_models_with_their_paths() -> None:
    data = archive(tflite_dash_model__a_dot_cpp=source(), b_dot_tflite=SINE, readme_dot_md=b"#")
    assert [label for label, _ in unpack("e.zip", data)] == ["e.zip:tflite_dash_model/a.cpp:g_model", "e.zip:b.tflite"]


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.h5", b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        ("a.keras", archive(metadata_dot_json=b"{}", model_dot_weights_dot_h5=b""), "a Keras model"),
        ("a.pt", archive(m__data_dot_pkl=b""), "a PyTorch model"),
        ("a.zip", archive(a_dot_txt=b""), "a zip archive without"),
        ("a.onnx", b"\x08\x07\x12\x07pytorch", "an ONNX model"),
        ("saved_model.pb", b"\x08\x01\x12", "a TensorFlow SavedModel"),
        ("a.tflite", b"\x1f\x8b\x08", "a gzip file"),
        ("a.tflite", b"<!DOCTYPE html><html>", "a web page"),
        ("a.h", b"\xff\xfe{\0", "a text in UTF-16, as PowerShell"),
        ("a.h", b"\xfe\xff\0{", "a text in UTF-16: save it as UTF-8"),
        ("a.tflite", b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
        ("a.tflite", b"", "an empty file"),
        ("a.tflite", b"\x00" * 64, "a file of another kind"),
        ("a.tflite", b"PK\x03\x04 broken", "a damaged zip archive"),
        ("a.cc", b"int main() { return 0; }", "a source file without an array"),
    ],
)
def test_what_is_no_model_is_named(name: str, data: bytes, words: str) -> None:
    with pytest.raises(ModelError, match=words) if words != "a damaged zip archive" else pytest.raises(ModelError):
        list(unpack(name, data))


def test_a_folder_is_searched_in_a_fixed_order_and_hidden_folders_are_not(tmp_path: Path) -> None:
    for name in ("b.tflite", "a/x.cc", "a/notes.txt", ".git/y.tflite"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [str(Path(p).relative_to(tmp_path)) for p in folder_files(tmp_path)] == ["b.tflite", "a/x.cc"]


def test_a_folder_of_more_files_than_are_looked_through_is_refused_before_any_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a/1.tflite", "a/2.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setattr(inputs, "MAX_FOLDER_ENTRIES", 3)
    assert list(expand([str(tmp_path)])) == [str(tmp_path / "a/1.tflite")]
    monkeypatch.setattr(inputs, "MAX_FOLDER_ENTRIES", 2)
    names = expand([str(tmp_path)])
    with pytest.raises(UsageError, match="has more than 2 files and folders; name one that has fewer"):
        next(names)


@given(st.binary(max_size=400), st.sampled_from(["a.cc", "a.zip", "a.tflite"]), st.booleans())
def test_any_bytes_are_models_or_a_sentence(data: bytes, name: str, is_archive: bool) -> None:
    with contextlib.suppress(ModelError):
        assert list(unpack(name, b"PK\x03\x04" + data if is_archive else data))


def test_load_takes_whatever_holds_one_model(tmp_path: Path) -> None:
    (tmp_path / "m.cc").write_bytes(source())
    assert load(tmp_path / "m.cc").subgraphs == load("sample:sine").subgraphs
    assert load(f"{tmp_path}/m.cc:g_model").path == f"{tmp_path}/m.cc:g_model"


def test_one_of_several_models_is_named_by_its_label(tmp_path: Path) -> None:
    path = tmp_path / "two.zip"
    path.write_bytes(archive(a_dot_tflite=SINE, b_dot_tflite=SINE))
    assert load(f"{path}:b.tflite").path == f"{path}:b.tflite"
    with pytest.raises(ModelError, match=r"it contains 2 models; name one of .*two.zip:a.tflite, .*two.zip:b.tflite"):
        load(path)
    with pytest.raises(ModelError, match="it contains no such model"):
        load(f"{path}:c.tflite")
    assert list(expand([str(tmp_path)])) == [f"{path}:a.tflite", f"{path}:b.tflite"]


def test_patterns_and_names_that_are_no_files(tmp_path: Path) -> None:
    for name in ("a.tflite", "b.tflite", "[odd].tflite"):
        (tmp_path / name).write_bytes(SINE)
    assert list(expand([f"{tmp_path}/?.tflite"])) == [f"{tmp_path}/a.tflite", f"{tmp_path}/b.tflite"]
    assert list(expand([f"{tmp_path}/[odd].tflite", "absent.tflite", "-"])) == [
        f"{tmp_path}/[odd].tflite",
        "absent.tflite",
        "-",
    ]


def test_a_pattern_that_is_longer_than_any_path_is_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.tflite").write_bytes(SINE)
    assert list(expand(["*" * 4096])) == ["a.tflite"]
    assert list(expand(["*" * 4097])) == ["*" * 4097]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("/dev/zero", "this is not a .tflite model; it looks like a file of another kind"),
        ("a\x00b", "a name has no null character"),
        ("absent.tflite", "No such file or directory"),
        (".", "it contains no model; it looks like a folder"),
    ],
)
def test_what_cannot_be_a_model_is_refused_at_once(name: str, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        load(name)
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("start", "most"),
    [(SINE, "2,147,483,647"), (b"PK\x03\x04", "536,870,912"), (b"const char m[] = {" + b" " * 5000, "134,217,728")],
)
def test_a_file_is_as_large_as_what_it_is_may_be(start: bytes, most: str, tmp_path: Path) -> None:
    (tmp_path / "sparse").write_bytes(start)
    os.truncate(tmp_path / "sparse", 10 << 30)
    with pytest.raises(ModelError, match=f"more than {most} bytes"):
        load(tmp_path / "sparse")


def test_pipes_of_a_folder_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.tflite")
    os.mkfifo(tmp_path / "pipe.cc")
    (tmp_path / "m.tflite").write_bytes(SINE)
    assert list(expand([str(tmp_path), f"{tmp_path}/p*"])) == [f"{tmp_path}/m.tflite", f"{tmp_path}/p*"]


def test_a_pipe_to_which_nobody_writes_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PIPE_SECONDS", 0.05)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelError, match=r"pipe: it is a pipe, and nothing was written to it for 0\.05 seconds$"):
        load(tmp_path / "pipe")


def test_a_pipe_is_read_whose_writer_comes_later_and_writes_in_pieces(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    def write() -> None:
        with open(tmp_path / "pipe", "wb", buffering=0) as pipe:
            for start in range(0, len(SINE), 1000):
                pipe.write(SINE[start : start + 1000])
                time.sleep(0.01)

    writer = threading.Timer(0.2, write)
    writer.start()
    assert load(tmp_path / "pipe").source == SINE
    writer.join()


def test_a_gigabyte_of_zeros_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "sparse.tflite").touch()
    os.truncate(tmp_path / "sparse.tflite", 10 << 30)
    with pytest.raises(ModelError, match="it looks like a file of another kind"):
        load(tmp_path / "sparse.tflite")


def test_sources_without_a_model_are_passed_over_in_a_folder_that_says_what_it_is_without_any(tmp_path: Path) -> None:
    export = tmp_path / "tflite-model"
    export.mkdir()
    (export / "learn.cpp").write_text(f"const unsigned char learn[] = {{{', '.join(map(str, SINE))}}};")
    (export / "learn.h").write_text("extern const unsigned char learn[];")
    (export / "broken.tflite").write_bytes(b"")
    assert list(expand([str(tmp_path)])) == [str(export / "broken.tflite"), str(export / "learn.cpp")]
    (export / "learn.cpp").unlink()
    (export / "broken.tflite").unlink()
    with pytest.raises(ModelError, match="it contains no model; it looks like a folder"):
        load(*expand([str(export)]))
    (export / "saved_model.pb").write_bytes(b"\x08\x01")
    with pytest.raises(ModelError, match="it looks like a TensorFlow SavedModel: it must be converted"):
        load(*expand([str(export)]))


def test_folders_are_read_however_deep_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(1100):  # os.walk() of Python 3.11 ends at 1,000 folders, and so does what deletes tmp_path.
        os.mkdir("d")
        os.chdir("d")
    Path("m.tflite").write_bytes(b"")
    try:
        assert [Path(name).name for name in expand([str(tmp_path)])] == ["m.tflite"]
    finally:
        os.remove("m.tflite")
        for _ in range(1100):
            os.chdir("..")
            os.rmdir("d")
