"""Where do bytes go?

TFLM's allocators, to the byte and to the message. The *head* grows from the arena's start, the *tail* from its end
downwards, *temporary* memory lies above the head. To read on:

    arena                    the allocator of one buffer: ``SingleArenaBufferAllocator``
    split_arena              persistent and non-persistent memory in two buffers
    events, stages           what happens, as values, and the stages in which it happens
    state                    what the arena looks like after each event, for pictures, ledger and sanitizer
    measuring_arena, needs   the same offsets without events, for a caller who wants only the smallest size
"""
