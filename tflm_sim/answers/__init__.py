"""What do we say about a run?

``simulate(model, target)`` gives a ``Simulation``, from which every other answer is worked out when it is asked for:
the smallest arena, what takes the tail, when the head is fullest. To read on:

    simulation               the entry point, and everything that follows from one run
    smallest_arena, sizing   the least size that works, for one model and for many
    ledger, peak             every persistent byte by what it is for; the moment with most live bytes
    head_problem             what the memory planner was asked, as a problem for any planner
    offline_plan             a model whose own metadata says where its tensors go
    invoke_problem, npu      why Invoke() would fail all the same; what an Ethos-U needs
    bisect                   which change of TFLM made the arena another size
"""
