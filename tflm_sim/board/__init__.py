"""What does a real board say?

Bytes from a port or a log become events, and a script of allocations becomes commands for our firmware on the board.
Everything but ``transport`` works without input or output of its own, so that a test feeds it bytes. To read on:

    monitor, lines, prefixes   one stream as lines, without what terminals and log systems add
    dialects                   what TFLM's own firmware prints, as events
    framing, messages,         our own reports: lines with a checksum among other text
    report_builder
    diagnosis                  the messages of one failure as one value
    replay, session            the script that a board carries out, and the conversation about it
    connection, transport      our link without a port, and the ports
"""
