"""Which offsets do buffers with lifetimes get?

A planner takes ``Buffer`` values (size, lifetime, alignment) and returns a ``Plan``: an offset each, so that no two
that are alive together overlap. Nothing here knows TFLM's model or kernels. To read on:

    buffers, problem         the question and the answer; the CSV file in which planners exchange problems
    greedy, linear           TFLM's own planners, offset for offset
    exact, lower_bound       the smallest plan that there is, or a proof; what no plan can go below
    vela, hill_climb, gpu    planners of other tools
    native                   the same algorithms in C
    validate                 whether a plan is right; it shares no code with any planner
    by_name, compare         planners by name, and several of them on one problem
"""
