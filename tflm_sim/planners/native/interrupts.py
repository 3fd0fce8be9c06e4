"""``interrupts_wait``: Ctrl-C while C code runs that calls Python back, and could not pass an exception on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_wait(on_interrupt: Callable[[], None]) -> Iterator[None]:
    """Call ``on_interrupt`` where Ctrl-C would raise KeyboardInterrupt.

    Signals reach the main thread only, and a handler that is not Python's own stays as it is.
    """
    import signal  # Slow to import; few callers wait.
    from threading import current_thread, main_thread

    is_ours = current_thread() is main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not is_ours:
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: on_interrupt())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
