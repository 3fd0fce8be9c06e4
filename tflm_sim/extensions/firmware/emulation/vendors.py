"""Functions of vendors and operating systems that are not executed; their callers get a value instead.

They wait for hardware or for other tasks, and there are none. This is used only if the start of the program is a guess.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class VendorAnswer(NamedTuple):
    """Functions by name, and what they return."""

    system: str
    names: str
    value: int


ANSWERS = (
    VendorAnswer("FreeRTOS", r"vTask(?:Delay|DelayUntil|StartScheduler|Suspend|SuspendAll|Resume)|xTaskDelayUntil", 0),
    VendorAnswer("FreeRTOS", r"x(?:TaskCreate|TaskNotify|QueueGeneric|QueueReceive|QueueSemaphoreTake)\w*", 1),
    VendorAnswer("Zephyr", r"(?:z_impl_)?k_(?:[mu]?sleep|busy_wait|yield|sem_(?:take|give)|mutex_(?:un)?lock)", 0),
    VendorAnswer("Zephyr", r"v?printk|z?_?log_\w+", 0),
    VendorAnswer("STM32 HAL", r"HAL_(?!GetTick)\w+|SystemClock_Config|MX_\w+", 0),
    VendorAnswer("Nordic", r"nrfx?_\w+|bsp_\w+", 0),
    VendorAnswer("ESP-IDF", r"esp_(?!nn_|cpu_|heap_|ptr_)\w+|(?:gpio|uart|i2[cs]|ets|rtc)_\w+", 0),
    VendorAnswer("Arduino", r"delay(?:Microseconds)?|pinMode|(?:digital|analog)Write", 0),
    VendorAnswer("Arduino", r"_ZN(?:5Print|14HardwareSerial|4UART)\w+", 0),
    VendorAnswer("Pico SDK", r"stdio_(?:usb_)?init(?:_all)?|sleep_(?:ms|us|until)|busy_wait_\w+|clocks_init", 0),
)
"""Where two rows match, the first one holds."""
_PATTERNS = [(re.compile(row.names), row) for row in ANSWERS]


def answer_of(name: str) -> VendorAnswer | None:
    """Return the row of a function, None for one that is run."""
    return next((row for pattern, row in _PATTERNS if pattern.fullmatch(name)), None)
