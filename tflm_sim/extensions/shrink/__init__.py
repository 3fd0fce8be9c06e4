"""Which rewriting of a model needs a smaller arena, with the same bytes out?

A .tflite file fixes the order of the operators and the shape of every tensor, and so the memory that TFLM's planner
must find. This room edits the file; the firmware stays as it is. One rule holds all through it:

    Every output byte is the byte that the original gives, and no target's arena grows.

No pass is trusted with that. It proposes an edit, the simulator says what the edited model needs, and ``verify``,
which knows none of the passes, compares the written file with the original before it is handed out.

An example. A 3x3 convolution reads an image X of 64 rows, and a pool over two rows reads what it makes; a row of X, A
or Y takes 100 bytes (the planner's rounding is left out). What lies in the head while each operator runs
(``profile``)::

    X ----------> CONV_2D --> A -----------> MAX_POOL_2D --> Y          operator      alive            bytes
    64 rows                   64 rows                        32 rows    CONV_2D       X, A             12,800
                                                                        MAX_POOL_2D   A, Y              9,600

12,800 bytes is the peak, and A is what makes it. Run in two parts, only half of A is alive at a time. ``tile_rules``
knows the receptive field of each operator: rows 0 to 15 of Y come from rows 0 to 31 of A, and those from rows 0 to 32
of X, one more than half because the window is three rows high. ``tiling`` follows that through the segment and counts::

    X --> SLICE --> CONV_2D --> A0 --> MAX_POOL_2D --> Y0 --.            operator          alive             bytes
    |     33 rows               33 rows, 32 of them right   |
    '---> SLICE --> CONV_2D --> A1 --> MAX_POOL_2D --> Y1 --+--> Y       the first CONV_2D X, its slice, A0  13,000

The slice costs more than the half of A saves, so ``peaks`` looks for another split: a longer segment, columns,
more parts, or groups of channels, which need no slice (``channels``)::

    X --> CONV_2D, half of the filters --> A0 --> MAX_POOL_2D --> Y0 --.     the second CONV_2D: X, Y0, A1   11,200
    '---> CONV_2D, the other half -------> A1 --> MAX_POOL_2D --> Y1 --+--> Y

``descent`` simulates the best of these on every target and keeps one only if a target needs less and none needs more:
TFLM's planner is greedy, and a lower peak can need a larger arena. ``encode`` writes the file, it is read again, and
``verify`` runs both on hashes: each element of Y must be the same expression of X, weights and states.

Where to read on, in the order in which data flows:

    pass_table, search, budget           the passes as rows, which result is kept, and what it may cost
    prune, fuse, states, order           edits that cost nothing
    cheaper_operators                    operators in a form that costs less of the tail
    profile, vector_scratch              how full the head is at each operator; scratch that depends on a part's shape
    bound                                below which size no split gets the head
    descent, peaks                       splits round by round, and which segments to split, as a shortest path
    split, tiling, tile_rules            tiles of rows or columns
    channels, channel_rules              groups of channels
    loops, counted_loops                 tiles as the iterations of a WHILE, and how such loops are read
    contracts, aliases, overlap, layout  which tensors may share bytes, as far as kernels promise an order
    offline_planner, overlap_placement   offsets of our own (``--offline-plan``) for what shares bytes
    plan_search, plan_candidates         which model gets a plan, with which kernels; planned_profile estimates it
    verify, machine, symbolic            the check: both files as expressions; plan_check runs the arena's bytes
    prove, wheel_worker, prove_program   the proof: both files in the real TFLM, or in a program of the user's
    windows, windows_text                ``--stream --advise``: what a window has in common with the one before
    stream, stream_text                  ``--stream``: a model that takes the new frames of its window only
    stream_rows, stream_rewrite          which rows recur, and the operators that run on new ones
    stream_verify                        the check: invocation for invocation against whole windows
    io_quantization, conversions         ``--int8-io``: integer inputs and outputs, and what converts instead
"""
