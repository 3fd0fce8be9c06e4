"""How large is a struct of TFLM there, and which TFLM is it?

A ``Target`` is everything outside the model that decides a byte: the compiler's layout rules, the version of TFLM, the
kernel library. ``preset("cortex-m4").sizeof("OpDataConv")`` is a number of bytes. To read on:

    target, presets          the value, and the named ones: a row for each machine and build
    boards, libraries        what people call their hardware and their copy of TFLM: a row for each
    runtime, history         a version of TFLM, by commit, by day or by library
    changes                  what changed in TFLM's history that moves a byte or a message, and when operators came
    struct_tables            TFLM's structs, member by member, in all versions at once; ``declarations`` reads them
    abi, structs             layout rules, and the sizes and offsets that they give
    kernel_library           whose kernels are linked, which version, for which instruction set; which is the default
    evidence                 what was measured: a row for each core, kernels and TFLM that a recording has
"""
