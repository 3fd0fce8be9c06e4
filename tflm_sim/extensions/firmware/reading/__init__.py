"""What does the user's own program file say?

``tflm-sim firmware app.elf``: models, arenas, struct sizes, version, kernels and memory, each with what proves it; a
``Target`` is made of them. Nothing is executed here (``emulation`` does that). To read on:

    firmware, target         everything that a file says, and the Target that follows from it
    image, elf               the file: ELF, .bin, Intel HEX or UF2
    embedded_models          models inside of it
    symbol_names, tflm_names what names in the symbol table tell, and TFLM's in each of its namespaces
    dwarf, measured_structs  struct sizes from debug information
    object_parts             which member of an object an arena is, from debug information
    snapshot, dated_texts,   which TFLM it is: by structs, by messages, by checks that it lacks
    absent_checks
    kernel_proof,            whose kernels are linked, and for which operators
    linked_kernels
    set_up, call_graph,      how the program sets TFLM up, read from its machine code (``..._code``: one for each
    machine_code             processor)
    memory                   RAM that is taken and RAM that is left
"""
