"""Functions of vendors and of operating systems that a program calls, and that are answered instead of run.

They wait for hardware or for other tasks, neither of which is there. Only a start that is guessed anyhow uses them.
"""

from __future__ import annotations

import re

from tflm_sim.values import NamedTuple


class Answer(NamedTuple):
    """Functions by name, and what they return."""

    system: str
    names: str
    value: int


ANSWERS = (
    Answer("FreeRTOS", r"vTaskDelay(?:Until)?|xTaskDelayUntil|vTaskStartScheduler|vTask(?:Suspend|Resume)(?:All)?", 0),
    Answer(
        "FreeRTOS", r"xTaskCreate\w*|xQueueGeneric(?:Send|Receive)|xQueueReceive|xQueueSemaphoreTake|xTaskNotify\w*", 1
    ),
    Answer(
        "Zephyr", r"(?:z_impl_)?k_(?:msleep|usleep|sleep|busy_wait|yield|sem_take|mutex_lock|mutex_unlock|sem_give)", 0
    ),
    Answer("Zephyr", r"printk|vprintk|log_\w+|z_log_\w+", 0),
    Answer("STM32 HAL", r"HAL_(?!GetTick)\w+|SystemClock_Config|MX_\w+", 0),
    Answer("Nordic", r"nrfx?_\w+|bsp_\w+", 0),
    Answer("ESP-IDF", r"esp_(?!nn_)\w+|gpio_\w+|uart_\w+|i2[cs]_\w+|ets_\w+|rtc_\w+", 0),
    Answer(
        "Arduino",
        r"delay|delayMicroseconds|pinMode|digitalWrite|analogWrite|_ZN(?:7Print|14HardwareSerial|4UART)\w+",
        0,
    ),
    Answer(
        "Pico SDK", r"stdio_init_all|stdio_usb_init|sleep_(?:ms|us|until)|busy_wait_\w+|clocks_init|runtime_init", 0
    ),
)
"""Where two rows match, the first one holds."""
_PATTERNS = [(re.compile(row.names), row) for row in ANSWERS]


def answer_of(name: str) -> Answer | None:
    """Return the row of a function, None for one that is run."""
    return next((row for pattern, row in _PATTERNS if pattern.fullmatch(name)), None)
