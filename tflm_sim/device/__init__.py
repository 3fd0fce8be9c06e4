"""In which order does TFLM do all that?

``run`` makes an arena and carries out AllocateTensors() of one model or of several on it; it returns a ``Device``, what
TFLM is afterwards. A failure of the device is data there, not an exception. To read on:

    configuration            a target, and how the firmware sets TFLM up: the value that every entry point takes
    run, interpreter         AllocateTensors(), phase by phase
    micro_allocator          what a model takes from the arena, in upstream's order
    kernel_driver            carries out what a kernel requests and sends the answer back
    static_memory_plan       lifetimes go to the planner, the plan becomes the head
    tensors, resources,      structs of tensors, resource variables, lookup tables
    compression
    recording                the categories that RecordingMicroAllocator prints
    prepare_cache           for callers who size many models: what a Prepare asked for is remembered
"""
