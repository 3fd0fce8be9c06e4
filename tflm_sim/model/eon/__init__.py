"""What Edge Impulse's EON compiler writes: a model as C++ source, with every tensor at a place of its own.

    preprocess.py    comments and branches of #if go, as for a compiler with some macros
    initializers.py  NAME = { ... }; as nested lists
    source.py        the model that these declare: EonSource
    parameters.py    builtin data, as structs or as bytes, as the options of a .tflite file
    rebuild.py       the same model as a .tflite file

Nothing is executed or compiled.
"""
