"""How much of an untrusted file is read: sizes in bytes, counts and seconds, which every reader obeys.

Anything larger is refused with a message before it is read, unpacked or downloaded. The readers of models and firmware
take time and memory in proportion to what they read.
"""

from __future__ import annotations

MAX_MODEL_BYTES = (1 << 31) - 1
"""A .tflite file: a flatbuffer's offsets cannot address more."""
MAX_SOURCE_BYTES = 128 << 20
"""A C source: the text of some 20 MiB of weights."""
MAX_ARCHIVE_BYTES = 512 << 20
"""A zip archive, compressed."""
MAX_UNPACKED_BYTES = 512 << 20
"""All members of an archive that are read, together, uncompressed."""
MAX_FOLDER_ENTRIES = 50_000
"""Files and folders below a folder in which models are looked for; a sweep reads any number."""
MAX_PROBLEM_BYTES = 16 << 20
"""A list of buffers."""
MAX_ARCHIVE_MEMBERS = 100_000
"""All members of an archive, also those that are not read."""

MAX_DOWNLOAD_BYTES = 512 << 20
DOWNLOAD_SECONDS = 600.0
"""For a whole download."""
SILENCE_SECONDS = 60.0
"""Without any data from the server."""

MAX_FIRMWARE_BYTES = 256 << 20
MAX_INFLATED_BYTES = 128 << 20
"""All compressed sections of an ELF file together, uncompressed."""

MAX_DOCUMENT_BYTES = 1 << 30
"""A JSON document, such as the output of ``size --json``."""
MAX_ROW_BYTES = 1 << 20
"""A line of a sweep's results."""
