"""What does firmware print?

Bytes of a log or a port, in any chunks, become events; nothing here reads a port or knows a model. To read on:

    encodings, lines,        one stream as lines of text, without what terminals and log systems add
    prefixes
    parser, log_events       lines become events; the events are the values that everybody reads
    templates,               what TFLM prints where something fails, and which numbers stand in it
    tflm_messages,
    kernel_texts, failures
    other_tools              what boards and frameworks print beside it
    printed_allocations,     whole reports: TFLM's recording allocator, its memory plan, benchmark and profiler,
    printed_plan,            and those of our own firmware
    benchmark, profiler,
    open_report,
    arena_report
    diagnosis                the messages of one failure as one value
"""
