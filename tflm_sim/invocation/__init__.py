"""Does the plan keep every byte while the model runs?

``invoke`` runs the operators of a simulation on the arena's bytes, with noise instead of numbers: what an operator
reads must be what was written for it. Where it is not, the answer is a finding that names both buffers. To read on:

    invoke, invoker          the entry point, and one model, operator by operator
    arena_contents           who wrote which bytes, and whether they are still there
    invoke_kernels           operators that do more than read inputs and write outputs
    findings                 what can be wrong, as values with a stable code
"""
