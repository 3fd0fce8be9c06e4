"""Feed mutated C sources and archives to the reader of inputs: models or a ModelError must come out, within seconds.

    python tools fuzz inputs --kind source --count 200000 --cpu-seconds 600
    python tools fuzz inputs --kind archive --seed 7 --only 4711 --keep case.zip     one case again, and its file

The corpus is made of this package's samples: as C arrays in several spellings, and as archives in several packings.
Case N of seed S is the same on every machine. Exit 1, with the cases' numbers, when a case raises something else, takes
more than ``--limit`` seconds of CPU or more than ``--memory`` MiB of memory.
"""

from __future__ import annotations

import argparse
import io
import random
import sys
import zipfile
from collections.abc import Callable
from functools import cache

from fuzz.fuzzer import Fuzzer, flip_bits, put, truncate

from tflm_sim.errors import ModelError
from tflm_sim.model.inputs import unpack
from tflm_sim.samples import sample_path

TOKENS = (
    b"{", b"}", b"[", b"]", b"=", b";", b",", b"'", b'"', b"\\", b"\n", b"#", b"#if 0\n", b"#if 1\n", b"#else\n",
    b"#elif X\n", b"#endif\n", b"/*", b"*/", b"//", b'R"x(', b')x"', b"0x", b"0b1", b"1'0", b"-1", b"256", b"9" * 5000,
    b"const char m[] = {", b"{0x1c, 0, 0, 0, 0x54, 0x46, 0x4c, 0x33", b"TFL3", b"\r\n", b"\xff", b"\0", b"uint32_t ",
)  # fmt: skip
"""What is put into sources."""
WORDS = (0, 1, 2, 8, 14, 20, 0x800, 65535, 2**31 - 1, 2**31, 2**32 - 1)
"""What is put into archives: methods, versions, flags, sizes."""


@cache
def sources() -> tuple[bytes, ...]:
    """Return C sources."""
    data = sample_path("sine").read_bytes()[:48]
    forms = ("0x{:02x}", "{}", "0{:o}u", "0b{:b}")
    heads = ("alignas(16) const unsigned char m[]", 'char *u = "http://x"; int8_t m[2] __attribute__((x("]")))')
    arrays = [f"{head} = {{{', '.join(map(form.format, data))}}};\n" for form in forms for head in heads]
    rest = '// comment\n#if 0\nint x[] = {1};\n#else\n/* text */ const char* s = "a{b";\n#endif\n#define A \\\n 1\n'
    return tuple(f"{rest}{array}{rest}".encode() for array in arrays)


@cache
def archives() -> tuple[bytes, ...]:
    """Return archives."""
    model = sample_path("sine").read_bytes()
    made = []
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", method) as out:
            out.writestr("é/a.tflite", model)
            out.writestr("b.cc", sources()[0])
            out.writestr("readme.md", b"# a model")
        made.append(file.getvalue())
    return tuple(made)


def put_token(data: bytearray, rng: random.Random, seed: object) -> None:
    """Put a telling text anywhere, once or many times."""
    at = rng.randrange(len(data) + 1)
    data[at:at] = rng.choice(TOKENS) * rng.choice((1, 1, 1, 2, 50))


def put_word(data: bytearray, rng: random.Random, seed: object) -> None:
    """Write a telling number over a word, most often near the end, where an archive's directory is."""
    near = rng.randrange(max(0, len(data) - 300), len(data)) if rng.randrange(3) else rng.randrange(len(data))
    if rng.randrange(2):
        put(data, near, rng.choice(WORDS))
    else:
        data[near] = rng.choice(WORDS) & 0xFF


def splice(data: bytearray, rng: random.Random, seed: object) -> None:
    """Copy a stretch over another place, or into it."""
    start, sink, size = rng.randrange(len(data)), rng.randrange(len(data)), rng.randint(1, 256)
    data[sink : sink + size * rng.randrange(2)] = data[start : start + size]


Mutation = Callable[[bytearray, random.Random, object], None]
KINDS: dict[str, tuple[Callable[[], tuple[bytes, ...]], tuple[Mutation, ...]]] = {
    "source": (sources, (put_token, put_token, put_token, splice, flip_bits, truncate)),
    "archive": (archives, (put_word, put_word, put_word, splice, flip_bits, truncate)),
}


def make_case(number: int, options: argparse.Namespace) -> tuple[str, bytes, None]:
    """Return case ``number``: its kind and its bytes."""
    rng = random.Random(f"{options.seed}:{number}")
    corpus, mutations = KINDS[options.kind]
    data = bytearray(rng.choice(corpus()))
    for mutation in rng.choices(mutations, k=rng.choice((1, 1, 2, 3, 8))):
        if data:
            mutation(data, rng, None)
    return options.kind, bytes(data), None


def run(data: bytes, more: None, options: argparse.Namespace) -> str:
    """Read the models of a case."""
    found = list(unpack("a.cc" if options.kind == "source" else "a.zip", data))
    return f"{len(found)} models"


FUZZER = Fuzzer(
    doc=__doc__,
    defaults={"memory": 1024},
    make_case=make_case,
    run=run,
    expected=(ModelError,),
    add_options=lambda parser: parser.add_argument("--kind", choices=sorted(KINDS), default="source"),
)

if __name__ == "__main__":
    sys.exit(FUZZER.main())
