"""What does the user's own program do when it is executed?

A linked program runs in an emulator, in a process of its own, and its allocations are measured, not modelled. Nothing
of the simulation is used here, so that ``checks`` can compare both. To read on:

    execute, worker            the entry point, and the emulator's process
    execution                  the measurements, as one document
    follow, follower           run a program from stop to stop, and note what TFLM does
    program, functions,        where TFLM's functions are: by name, or by what they print
    unnamed
    arenas, allocations        which arenas there are, and what their allocators are asked for
    search                     the smallest arena that works
    backends, emulator         Unicorn or QEMU, and what both can do
    starting, memory_map,      what a program needs to come as far as AllocateTensors()
    devices, vendors
    stores, measuring          writes out of bounds, stack, instructions
"""
