"""The real thing: what firmware prints, the framed link to our own stub, and the port that carries both.

Everything but ``transport`` is sans-IO: bytes and commands in, events and bytes out.
"""
