"""How much of an untrusted file is read: sizes in bytes, counts and seconds, which every reader obeys.

Anything larger is refused with a message before it is read, unpacked or downloaded. The readers of models and firmware
take time and memory in proportion to what they read.
"""

from __future__ import annotations

LARGEST_MODEL = (1 << 31) - 1
"""A .tflite file: the offsets of a flatbuffer reach no further."""
LARGEST_SOURCE = 128 << 20
"""A C source: of some 20 MiB of weights, as text."""
LARGEST_ARCHIVE = 512 << 20
"""A zip archive, packed."""
MOST_UNPACKED = 512 << 20
"""What the members of an archive that are read hold together, unpacked."""
MOST_MEMBERS = 100_000
"""Members of an archive, whatever they are."""

LARGEST_DOWNLOAD = 512 << 20
DOWNLOAD_SECONDS = 600.0
"""For the whole of an answer, however slowly it comes."""
SILENCE_SECONDS = 60.0
"""Between two pieces of an answer."""

LARGEST_FIRMWARE = 256 << 20
MOST_INFLATED = 128 << 20
"""What all compressed sections of an ELF file hold together."""

LARGEST_DOCUMENT = 1 << 30
"""A JSON document of ours."""
LONGEST_ROW = 1 << 20
"""A line of a sweep's results."""
