"""Models x targets: rows out. Nothing here knows a byte of TFLM."""
