"""The user's own program, executed in an emulator: its allocations are measured, not modelled."""
