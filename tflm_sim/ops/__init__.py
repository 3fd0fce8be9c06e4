"""What does each kernel ask for?

TFLM calls a kernel's Init and Prepare; here they are generators that yield requests (persistent bytes, a scratch
buffer, a temporary tensor) and never touch an arena. An operator is a row, ``OpModel``. To read on:

    op_model, requests       the row, what a kernel sees of its operator (``Node``), and what it can ask for
    prepare, kernel          Prepare as a row, and the checks, which refuse with the message that the device prints
    reference                TFLM's own kernels, a module for each family
    cmsis_nn, esp_nn, mvp,   kernels of libraries, which replace some of the reference's
    edge_impulse
    registry                 which of them a target links
    places                   the file and line of a check in each version of TFLM, for the message
    evals, eval_types,       what a kernel's Eval refuses although Prepare accepts it
    eval_values

How to add an operator: CONTRIBUTING.md.
"""
