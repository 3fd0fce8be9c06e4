"""A file is written whole or not at all, and read no further than it makes sense."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tflm_sim import files
from tflm_sim.errors import ModelError, UsageError
from tflm_sim.files import FIRST_READ_BYTES, MIN_READ_BYTES, append, opened, read, read_json, replacing, replacing_bytes


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")
    path.chmod(0o640)
    with replacing(path) as file:
        file.write("new ü\n")
        assert path.read_text() == "old"
    assert path.read_bytes() == b"new \xc3\xbc\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["out.txt"]


def test_a_new_file_has_the_permissions_of_any_other(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    with replacing_bytes(tmp_path / "out") as file:
        file.write(b"x")
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_an_error_on_the_way_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(path) as file:
        file.write("half" * (1 // 0))
    assert (path.read_text(), os.listdir(tmp_path)) == ("old", ["out.txt"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a limit on the size of files is a thing of Unix")
def test_a_full_disk_keeps_the_old_file(tmp_path: Path) -> None:
    code = """
import resource, signal, sys
from tflm_sim.errors import UsageError
from tflm_sim.files import append, replacing
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
for write in (lambda: replacing("out.txt").__enter__().write, lambda: append("log.txt", "x" * 9000)):
    try:
        if write() is not None:
            with replacing("out.txt") as file:
                file.write("x" * 9000)
        print("written?")
    except UsageError as error:
        print(error)
"""
    (tmp_path / "out.txt").write_text("old")
    (tmp_path / "log.txt").write_text("old")
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout == "out.txt cannot be written: File too large\nlog.txt cannot be written: File too large\n"
    assert ((tmp_path / "out.txt").read_text(), (tmp_path / "log.txt").read_text()) == ("old", "old")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with replacing(tmp_path / "link") as file:
        file.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_device_is_written_directly() -> None:
    with replacing("/dev/null") as file:
        file.write("x")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("name", ["no/such/folder/out", "nul\0l"])
def test_what_cannot_be_written_is_one_sentence(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written: "), replacing(tmp_path / name):
        pass
    with pytest.raises(UsageError, match="cannot be written: "):
        append(tmp_path / name, "x")


def test_appending(tmp_path: Path) -> None:
    append(tmp_path / "summary.md", "one\n")
    append(tmp_path / "summary.md", "two\n")
    assert (tmp_path / "summary.md").read_text() == "one\ntwo\n"


@pytest.mark.parametrize("name", ["/dev/zero", "big", "nul\0l", "absent", "."])
def test_what_is_too_long_or_no_file_is_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as file:
        file.truncate(10 << 30)
    with pytest.raises(ModelError, match="cannot be read: "):
        read(tmp_path / name, most=1000, error=ModelError)


def test_what_is_as_long_as_allowed_when_a_piece_ends_may_still_go_on() -> None:
    with pytest.raises(ModelError, match="it has more than 1,052,672 bytes"):  # 4,096 at first, then pieces of 1 MiB
        read("/dev/zero", most=4096 + (1 << 20), error=ModelError)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a": 1e999}', "[NaN]", "[-Infinity]", "{", "\ud800", "1" * 5000, '{"a":' * 100_000]
)
def test_what_is_no_json_of_ours_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(UsageError, match=r"x\.json cannot be read as JSON: "):
        read_json(tmp_path / "x.json")


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b'\xef\xbb\xbf{"a": 1.5}')
    assert read_json(tmp_path / "x.json") == {"a": 1.5}


def test_while_it_is_written_it_has_a_name_of_its_own_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    name = "n" * 65
    (tmp_path / name).write_text("old")
    with replacing(tmp_path / name):
        (own,) = {*os.listdir(tmp_path)} - {name}
        assert re.fullmatch(r"\.n{64}\.[0-9a-f]{16}\.tmp", own)  # 8 bytes of chance
        assert stat.S_IMODE((tmp_path / own).stat().st_mode) == 0o600


def test_a_value_error_of_who_writes_is_passed_on(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^of the caller$"), replacing_bytes(tmp_path / "x"):
        raise ValueError("of the caller")


def test_the_reason_is_the_systems_words_alone_and_a_reason_without_them_is_told_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as failure:
        read(tmp_path / "absent", most=1)
    assert str(failure.value) == f"{tmp_path}/absent cannot be read: No such file or directory"
    with pytest.raises(UsageError) as failure, replacing(tmp_path / "absent" / "x"):
        pass
    assert str(failure.value) == f"{tmp_path}/absent/x cannot be written: No such file or directory"
    assert str(files._unwritable("x", OSError("no words"))) == "x cannot be written: no words"


@pytest.mark.parametrize(
    "size",
    [
        0,
        1,
        FIRST_READ_BYTES - 1,
        FIRST_READ_BYTES,
        FIRST_READ_BYTES + 1,
        MIN_READ_BYTES,
        FIRST_READ_BYTES + MIN_READ_BYTES,
        FIRST_READ_BYTES + MIN_READ_BYTES + 1,
    ],
)
def test_a_file_is_read_whole_up_to_the_byte_that_is_allowed(size: int, tmp_path: Path) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    (tmp_path / "x").write_bytes(data[:size])
    assert read(tmp_path / "x", most=size) == data[:size]
    if size:
        with pytest.raises(UsageError, match=f"it has more than {size - 1:,} bytes"):
            read(tmp_path / "x", most=size - 1)


def test_a_pipe_is_read_to_its_end_and_one_that_says_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "PIPE_SECONDS", 0.05)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match=r"it is a pipe, and nothing was written to it for 0\.05 seconds"):
        read(tmp_path / "pipe", most=9)
    keeper = os.open(tmp_path / "pipe", os.O_RDWR)
    os.write(keeper, b"said")
    with opened(tmp_path / "pipe") as file:
        assert os.get_blocking(file.fileno())
        os.close(keeper)
        assert file.read() == b"said"


def test_a_dash_is_standard_input() -> None:
    code = "from tflm_sim.files import read; print(read('-', most=5))"
    done = subprocess.run([sys.executable, "-c", code], input=b"hello", capture_output=True, check=True)
    assert done.stdout == b"b'hello'\n"


def test_a_system_without_pipes_that_do_not_wait_opens_files_to_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    monkeypatch.delattr(os, "O_NONBLOCK")
    with opened(tmp_path / "x") as file:
        assert file.read() == b"abc"
