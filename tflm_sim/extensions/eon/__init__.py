"""What Edge Impulse's EON compiler writes: a model as C++ source, with every tensor at a place of its own.

    initializers.py  NAME = { ... }; as nested lists
    source.py        the model that these declare: EonSource
    parameters.py    builtin data, as structs or as bytes, as the options of a .tflite file
    rebuild.py       the same model as a .tflite file

Nothing is executed or compiled.
"""

MADE_BY = "the EON compiler"
_MARKERS = (b"kTensorArenaSize", b"used_operators_e")


def is_eon_source(data: bytes) -> bool:
    """Return whether a file was written by the EON compiler, by the names in it."""
    return all(marker in data for marker in _MARKERS)
