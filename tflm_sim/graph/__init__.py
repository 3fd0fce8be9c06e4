"""When is each tensor alive?

What TFLM works out from the graph before it plans, without an arena. Time is counted in scopes: 0 is the start of
Invoke(), each operator begins the next. To read on:

    outline                  what every run of a model begins with, whatever it runs on; kept with the model
    eval_tensor              a tensor as kernels see it, whose shape Prepare may change
    lifetimes                the first and the last scope of every tensor and scratch buffer
    subgraph_lifetimes       the same before March 2022, when each subgraph was planned alone
    multiplications          how much a model computes, from shapes alone
"""
