"""What stands on the core, one folder each; the core works without any of them.

    firmware   a linked program is read and executed     board   a real board is listened to and replayed on
    shrink     a model gets a smaller arena              lite    the mobile runtime's allocations
    sweep      many models on many targets               eon     sources of Edge Impulse's EON compiler
    ci         project file, pull requests, Keras ...    page    the page in the browser

An extension imports the core and no other extension; ``page``, which shows all of them, may. What the core must know of
them stands in ``tflm_sim/registry.py``.
"""
