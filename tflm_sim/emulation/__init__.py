"""The user's own program, executed in an emulator: what TFLM asks for there is seen, not modelled."""
