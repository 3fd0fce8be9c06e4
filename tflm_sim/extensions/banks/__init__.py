"""RAM in several banks: where head, tail and tensors go, so that every bank holds and slow ones are used least.

--bank dtcm=64KiB --bank psram=2MiB          the fastest first
      |
traffic.py      what the target's kernels load and store of each buffer     (kernel_loads.py: rows by library)
      |
placement.py    TFLM's own Create, or a plan: planners/banks.py for each bank of head and tail
      |
document.py -> text, JSON, pictures;  header.py -> banks.h, a planner for the firmware
"""
