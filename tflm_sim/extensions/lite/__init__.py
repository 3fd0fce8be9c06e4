"""What does the mobile runtime (LiteRT) allocate for a model, and what does it say?

Another runtime than TFLM: nothing of the simulation is used here, and ``checks`` compares both. To read on:

    answer, summary            one model on it: as values to compare, and for people
    tflite_interpreter,        a file and a resolver become subgraphs, in the runtime's order; what it keeps of them
    subgraph, graph_info
    file_parts, file_checks    what it refuses while it reads the file
    kernels                    what each operator's Prepare checks and asks for; ``table`` names the function
    arena_planner,             offsets by usage intervals, and those of earlier releases
    simple_memory_arena,
    earlier_planners
    delegates, partition,      who else may run parts of a graph (the GPU, TensorFlow), and which parts
    gpu, flex
    numpy_kernels              operators that compute, so that tests can compare bytes
"""
