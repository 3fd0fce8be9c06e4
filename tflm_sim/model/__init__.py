"""What does the .tflite file say?

``load`` reads a file into a ``Model``: frozen values that know no target, no arena and no kernel. To read on:

    types                    the values: Model, Subgraph, Tensor, Operator, ConstantData
    inputs, load             a Model of whatever people have: a file, a C array, an archive, an address
    recipes, schema          what is kept of each table of a file; the readers and the writer follow these tables
    python_reader, flatbuf   the reader; the one in C (``reader.c``) gives the same values, much faster
    operator_facts           what a builtin operator does with its tensors, for every room that asks
    build, draft, rewrite    make a model, rewrite its main subgraph, change a few bytes of a file
    encode                   a Model as the bytes of a .tflite file

A file that cannot be read is a ``ModelError`` with the byte at which it contradicts itself.
"""
