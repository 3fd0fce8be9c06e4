from tflm_sim.logs.lines import MAX_LINE, LineAssembler, RawLine


def test_every_mix_of_cr_and_lf_gives_the_same_lines() -> None:
    for end in (b"\n", b"\r\n", b"\r\r\n", b"\n\r", b"\r"):
        lines = LineAssembler().feed(b"one" + end + end + b"two" + end)
        assert [line.data for line in lines] == [b"one", b"two"]
        assert [line.number for line in lines] == [1, 2]


def test_offsets_count_the_bytes_of_the_stream() -> None:
    # "one\r\n" is 5 bytes, the empty "\r\n" 2 more.
    assert LineAssembler().feed(b"one\r\n\r\ntwo\n")[1] == RawLine(2, 7, b"two", True)


def test_the_rest_without_a_line_end_comes_at_close_and_says_so() -> None:
    assembler = LineAssembler()
    assert assembler.feed(b"abc") == []
    assert assembler.close() == [RawLine(1, 0, b"abc", False)]
    assert assembler.close() == []


def test_a_line_without_end_cannot_fill_the_memory() -> None:
    assembler = LineAssembler()
    lines = [line for _ in range(100) for line in assembler.feed(b"x" * 1000)]
    assert [len(line.data) for line in lines] == [MAX_LINE] * 24  # 24 * 4096 = 98304 of 100000
    assert not any(line.ended for line in lines)


def test_an_overlong_line_comes_in_pieces_and_only_the_last_is_ended() -> None:
    lines = LineAssembler().feed(b"y" * (MAX_LINE + 3) + b"\nz\n")
    assert [(len(line.data), line.ended, line.offset) for line in lines] == [
        (4096, False, 0),
        (3, True, 4096),
        (1, True, 4100),
    ]


def test_a_line_without_an_end_is_read_in_linear_time_whatever_the_pieces() -> None:
    """What is copied when a byte arrives must not depend on what waits: it was 0.17 s for 4 kB."""
    assembler = LineAssembler()
    pieces = [assembler.feed(b"x") for _ in range(3 * MAX_LINE)]
    lines = [line for piece in pieces for line in piece] + assembler.close()
    assert [(line.number, line.offset, len(line.data), line.ended) for line in lines] == [
        (1, 0, 4096, False),
        (2, 4096, 4096, False),
        (3, 8192, 4096, False),
    ]
