import signal
import threading

import pytest

from tflm_sim.planners import native
from tflm_sim.planners.buffers import Buffer
from tflm_sim.planners.exact import solve
from tflm_sim.planners.native.interrupts import interrupts_wait

needs_native = pytest.mark.skipif(not native.available(), reason="the C core was not built")


def test_ctrl_c_calls_instead_of_raising_and_raises_again_afterwards():
    calls = []
    with interrupts_wait(lambda: calls.append(1)):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    assert calls == [1, 1]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_handler_of_somebody_else_stays():
    signals = []
    before = signal.signal(signal.SIGINT, lambda number, _: signals.append(number))
    try:
        with interrupts_wait(pytest.fail):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert signals == [signal.SIGINT]


def test_other_threads_have_no_signals_to_wait_for():
    failures = []

    def work():
        try:
            with interrupts_wait(pytest.fail):
                pass
        except ValueError as error:  # signal.signal() outside the main thread
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert failures == []


@needs_native
def test_ctrl_c_during_the_exact_search_keeps_the_plan(capfd):
    # 200 buffers that hardly fit each other: not solved when the first report comes, after a tenth of a second.
    buffers = [Buffer(101 + 37 * i % 89, 7 * i % 50, 7 * i % 50 + 5 + i % 11 + 1) for i in range(200)]
    reports = []

    def interrupt(status):
        reports.append(status)
        signal.raise_signal(signal.SIGINT)

    result = solve(buffers, time_limit=60, on_progress=interrupt)
    assert len(reports) == 1
    assert result.plan is not None
    assert not result.proved
    assert capfd.readouterr().err == ""
