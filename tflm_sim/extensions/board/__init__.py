"""What does a real board say?

Bytes from a port or a log become events, and a script of allocations becomes commands for our firmware on the board.
Everything but ``transport`` works without input or output of its own, so that a test feeds it bytes. To read on:

    monitor                    one stream as events: those of its log, and those of our own link
    framing, messages,         our own reports: lines with a checksum among other text
    report_builder
    replay, session            the script that a board carries out, and the conversation about it
    connection, transport      our link without a port, and the ports
"""
