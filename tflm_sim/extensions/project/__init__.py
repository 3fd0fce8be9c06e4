"""A project as an input: what its sources say about the model, the arena, the resolver, the library and the board.

    folder.py     which kind of project a folder is, and its files
    manifests.py  library, version and board, from the files of build systems beside the sources
    cpp.py        what the C++ sources say, by a kept parser (tree-sitter)
    constants.py  the values of constant expressions
    answer.py     the verdict, and what to change
    patch.py      the change as a patch
    references.py what ${common.libs} and the like in configurations mean
    wake_word.py  ESPHome's manifest of a wake word
    esphome.py    a device's configuration for ESPHome

Nothing is executed or compiled, and nothing is written without ``--fix``.
"""
