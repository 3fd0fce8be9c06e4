"""What a board's software takes of its RAM beside an arena: core and operating system, Bluetooth LE, Wi-Fi.

Each figure is of a program with nothing else in it, so that it is the least: what the rest of a firmware takes comes to
it. "measured" is of a program that was linked with what the source names; "published" is somebody else's figure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tflm_sim.document_types import Count
from tflm_sim.errors import UsageError
from tflm_sim.targets.boards import Board

BESIDE = {"core": "nothing else", "ble": "Bluetooth LE", "wifi": "Wi-Fi", "ble+wifi": "Bluetooth LE and Wi-Fi"}
"""What there is beside the arena, as an option has it, and in words."""
How = Literal["measured", "published"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RamPart:
    """A piece of RAM that is taken, or of a figure that says what is left.

    Attributes:
        bytes: Its size.
        what: What it is.
        how: Whether it was measured, in a program that was linked for this, or published by somebody.
        source: Where it is from.
    """

    bytes: Count
    what: str
    how: How
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RamBeside:
    """What is left of a board's RAM for an arena and the rest of a firmware.

    Attributes:
        software: The core or operating system.
        beside: "core", "ble", "wifi" or "ble+wifi".
        ram: The bytes that its linker script and its heap have.
        left: Those that are left.
        parts: What is taken; or, where ``is_left``, the figure that was published of what is left.
        is_left: Whether the source says what is left, and not what is taken.
    """

    software: str
    beside: str
    ram: Count
    left: Count
    parts: tuple[RamPart, ...]
    is_left: bool

    @property
    def name(self) -> str:
        """The software with what is beside the arena: "Zephyr with Bluetooth LE"."""
        return self.software if self.beside == "core" else f"{self.software} with {BESIDE[self.beside]}"


MBED, ZEPHYR, PICO, IDF = "Arduino's Mbed core", "Zephyr", "the Pico SDK", "ESP-IDF"

_TABLE = f"""
nano33ble: {MBED}, core, of 262144
    44552 published, static data of an empty sketch, with the main thread's stack of 32,768 B
    kierdavis/underglow: "The toolchain", arduino:mbed_nano:nano33ble
nano33ble: {MBED}, ble, of 262144
    44552 published, static data of an empty sketch, with the main thread's stack of 32,768 B
    kierdavis/underglow: "The toolchain", arduino:mbed_nano:nano33ble
    27952 published, static data that Arduino_BHY2 with ArduinoBLE adds to an empty sketch on a Nicla Sense ME
    arduino/nicla-sense-me-fw#109
    16056 published, heap of the Bluetooth controller (Cordio)
    arduino/ArduinoCore-mbed: variants/ARDUINO_NANO33BLE/mbed_config.h @ b4ad4e7
    4096 published, heap: the stack of ArduinoBLE's thread
    arduino-libraries/ArduinoBLE: src/utility/HCICordioTransport.cpp @ a769ff8
nicla-sense-me: {MBED}, core, of 64288
    7720 published, static data of an empty sketch
    arduino/nicla-sense-me-fw#109
nicla-sense-me: {MBED}, ble, of 64288
    35672 published, static data of a sketch with Arduino_BHY2 and ArduinoBLE
    arduino/nicla-sense-me-fw#109
    13000 published, heap of the Bluetooth controller (Cordio)
    arduino/ArduinoCore-mbed: variants/NICLA/mbed_config.h @ b4ad4e7
    4096 published, heap: the stack of ArduinoBLE's thread
    arduino-libraries/ArduinoBLE: src/utility/HCICordioTransport.cpp @ a769ff8
nano33ble nrf52840dk xiao-nrf52840: {ZEPHYR}, core, of 262144
    5696 published, all RAM of samples/hello_world on an nRF52840
    zephyrproject-rtos/zephyr#81044
nano33ble nrf52840dk xiao-nrf52840: {ZEPHYR}, ble, of 262144
    48948 measured, Arduino's Zephyr loader without its heap for sketches: controller of 4 connections, shell
    arduino/ArduinoCore-zephyr: firmwares/zephyr-arduino_nicla_sense_me.elf @ 00ec495
nicla-sense-me: {ZEPHYR}, ble, of 65536
    48948 measured, Arduino's Zephyr loader without its heap for sketches: controller of 4 connections, shell
    arduino/ArduinoCore-zephyr: firmwares/zephyr-arduino_nicla_sense_me.elf @ 00ec495
pico: {MBED}, core, of 262144
    42992 measured, static data of an empty sketch, with the main thread's stack of 32,768 B
    arduino/ArduinoCore-mbed: variants/RASPBERRY_PI_PICO @ b4ad4e7
pico: {PICO}, core, of 270336
    8088 measured, static data of a program that prints over USB
    raspberrypi/pico-sdk @ a1438df (2.2.0), pico_stdlib with stdio over USB
    10240 measured, both cores' stacks and the least heap
    raspberrypi/pico-sdk: src/rp2_common/pico_crt0/rp2040/memmap_default.ld @ a1438df
pico: {PICO}, ble, of 270336
    10716 measured, static data of a GATT server that notifies
    raspberrypi/pico-examples: pico_w/bt/standalone/server @ 4c3a3dc, pico-sdk @ a1438df (2.2.0)
    10240 measured, both cores' stacks and the least heap
    raspberrypi/pico-sdk: src/rp2_common/pico_crt0/rp2040/memmap_default.ld @ a1438df
pico: {PICO}, wifi, of 270336
    52516 measured, static data of a TCP client, with lwIP's own heap
    raspberrypi/pico-examples: pico_w/wifi/tcp_client @ 4c3a3dc, pico-sdk @ a1438df (2.2.0)
    10240 measured, both cores' stacks and the least heap
    raspberrypi/pico-sdk: src/rp2_common/pico_crt0/rp2040/memmap_default.ld @ a1438df
pico2: {PICO}, core, of 532480
    6920 measured, static data of a program that prints over USB
    raspberrypi/pico-sdk @ a1438df (2.2.0), pico_stdlib with stdio over USB
    10240 measured, both cores' stacks and the least heap
    raspberrypi/pico-sdk: src/rp2_common/pico_crt0/rp2350/memmap_default.ld @ a1438df
pico2: {PICO}, ble, of 532480
    12100 measured, static data of a GATT server that notifies
    raspberrypi/pico-examples: pico_w/bt/standalone/server @ 4c3a3dc, pico-sdk @ a1438df (2.2.0)
    10240 measured, both cores' stacks and the least heap
    raspberrypi/pico-sdk: src/rp2_common/pico_crt0/rp2350/memmap_default.ld @ a1438df
pico2: {PICO}, wifi, of 532480
    52404 measured, static data of a TCP client, with lwIP's own heap
    raspberrypi/pico-examples: pico_w/wifi/tcp_client @ 4c3a3dc, pico-sdk @ a1438df (2.2.0)
    10240 measured, both cores' stacks and the least heap
    raspberrypi/pico-sdk: src/rp2_common/pico_crt0/rp2350/memmap_default.ld @ a1438df
esp32: {IDF}, core, of 180736
    10716 published, static data of hello_world; RAM is what static data may have, and the heap has more
    espressif/esp-idf: docs/en/api-guides/tools/idf-size.rst @ 1021229
esp32: {IDF}, ble, left
    108496 published, free heap with Bluedroid and Wi-Fi, connected; a static arena has 124,580 B at most
    project-chip/connectedhomeip#3796; espressif/esp-idf: components/esp_system/ld/esp32/memory.ld.in @ 1021229
esp32: {IDF}, wifi, left
    144500 published, available memory with the default rank of Wi-Fi buffers, "144.5 KB"
    espressif/esp-idf: docs/en/api-guides/wifi-driver/wifi-performance-and-power-save.rst @ 1021229
esp32: {IDF}, ble+wifi, left
    108496 published, free heap with Bluedroid and Wi-Fi, connected; a static arena has 124,580 B at most
    project-chip/connectedhomeip#3796; espressif/esp-idf: components/esp_system/ld/esp32/memory.ld.in @ 1021229
esp32-s3 xiao-esp32s3: {IDF}, core, left
    392000 published, free heap of an empty project, "392 K"
    espressif/esp-techpedia: esp-friends, ram-usage @ release/v5.5 (2e7a917)
esp32-s3 xiao-esp32s3: {IDF}, ble, left
    267000 published, free heap of the example bleprph (NimBLE), "267 K"
    espressif/esp-techpedia: esp-friends, ram-usage @ release/v5.5 (2e7a917)
esp32-s3 xiao-esp32s3: {IDF}, ble+wifi, left
    189000 published, free heap of the example provision (BLE and Wi-Fi), "189 K"
    espressif/esp-techpedia: esp-friends, ram-usage @ release/v5.5 (2e7a917)
esp32-s3 xiao-esp32s3: {IDF}, wifi, left
    273000 published, free heap of the example station, "273 K"
    espressif/esp-techpedia: esp-friends, ram-usage @ release/v5.5 (2e7a917)
esp32-c3: {IDF}, core, left
    332000 published, free heap of an empty project, "332 K"
    espressif/esp-techpedia: esp-friends, ram-usage @ release/v5.5 (2e7a917)
esp32-c3: {IDF}, ble, left
    205000 published, free heap of the example bleprph (NimBLE), "205 K"
    espressif/esp-techpedia: esp-friends, ram-usage @ release/v5.5 (2e7a917)
esp32-c3: {IDF}, ble+wifi, left
    126000 published, free heap of the example provision (BLE and Wi-Fi), "126 K"
    espressif/esp-techpedia: esp-friends, ram-usage @ release/v5.5 (2e7a917)
esp32-c3: {IDF}, wifi, left
    219000 published, free heap of the example station, "219 K"
    espressif/esp-techpedia: esp-friends, ram-usage @ release/v5.5 (2e7a917)
esp32-c6: {IDF}, core, left
    474000 published, free heap of an empty project, "474 K"
    espressif/esp-techpedia: esp-friends, ram-usage @ release/v5.5 (2e7a917)
esp32-c6: {IDF}, ble, left
    358000 published, free heap of the example gatt_server (Bluedroid), "358 K"
    espressif/esp-techpedia: esp-friends, ram-usage @ release/v5.5 (2e7a917)
esp32-c6: {IDF}, ble+wifi, left
    259000 published, free heap of the example provision (BLE and Wi-Fi), "259 K"
    espressif/esp-techpedia: esp-friends, ram-usage @ release/v5.5 (2e7a917)
esp32-c6: {IDF}, wifi, left
    321000 published, free heap of the example station, "321 K"
    espressif/esp-techpedia: esp-friends, ram-usage @ release/v5.5 (2e7a917)
esp32-p4: {IDF}, core, left
    608000 published, free heap of an empty project, "608 K"
    espressif/esp-techpedia: esp-friends, ram-usage @ release/v5.5 (2e7a917)
"""
"""Boards: the software, what is beside the arena, and the bytes of RAM that its linker script gives, or "left" where
the figure is what is left; then for each part its bytes, how they are known and what they are, and the source."""

_SOFTWARE = {
    "zephyr": ZEPHYR,
    "pico-tflmicro": PICO,
    "esp-tflite-micro": IDF,
    **dict.fromkeys(("chirale", "tflite-micro-arduino-examples", "MicroTFLite", "Harvard_TinyMLx"), MBED),
}
"""The software that a library of TFLM goes with, by what its name begins with; of any other, and where a board has no
figure of that software, it is not known."""


_HOW: dict[str, How] = {"measured": "measured", "published": "published"}


@dataclass(frozen=True, slots=True)
class _Row:
    boards: tuple[str, ...]
    software: str
    beside: str
    ram: int | None
    parts: tuple[RamPart, ...]


def _read(text: str) -> Iterator[_Row]:
    for row in re.split(r"\n(?=\S)", text.strip()):
        head, *lines = (line.strip() for line in row.split("\n"))
        boards, _, of_boards = head.partition(": ")
        software, beside, ram = of_boards.rsplit(", ", 2)
        parts = []
        for figure, source in zip(lines[::2], lines[1::2], strict=True):
            size, _, rest = figure.partition(" ")
            how, _, what = rest.partition(", ")
            parts.append(RamPart(bytes=int(size), what=what, how=_HOW[how], source=source))
        yield _Row(
            tuple(boards.split()), software, beside, None if ram == "left" else int(ram.split()[-1]), tuple(parts)
        )


_ROWS = tuple(_read(_TABLE))


def beside_of(text: str) -> str:
    """Return what ``--beside`` says in one spelling: "ble", "wifi,ble" as "ble+wifi".

    Raises:
        UsageError: It names something else.
    """
    words = sorted({word for word in re.split(r"[\s,+]+", text.strip().lower()) if word and word != "core"})
    found = "+".join(words) or "core"
    if found not in BESIDE:
        raise UsageError(f"`beside={text}` is none of {', '.join(BESIDE)}")
    return found


def ram_beside(board: Board, beside: str, library: str = "") -> RamBeside | None:
    """Return what is left of a board's RAM, of several softwares that with which least is; None without a figure.

    Args:
        board: The board.
        beside: What there is beside the arena, as :func:`beside_of` returns it.
        library: The library of TFLM, which may say which software it is; "" for any.
    """
    software = next((each for name, each in _SOFTWARE.items() if library.startswith(name)), None)
    rows = [row for row in _ROWS if _is_of(row, board, beside)]
    of_library = [row for row in rows if row.software == software]
    return min((_figure(row, board) for row in of_library or rows), key=lambda one: one.left, default=None)


def figures_of(board: Board) -> tuple[RamBeside, ...]:
    return tuple(_figure(row, board) for beside in BESIDE for row in _ROWS if _is_of(row, board, beside))


def _figure(row: _Row, board: Board) -> RamBeside:
    total = sum(part.bytes for part in row.parts)
    bank = board.largest_bank
    ram = row.ram if row.ram is not None else 0 if bank is None else bank.size
    left = total if row.ram is None else ram - total
    return RamBeside(
        software=row.software, beside=row.beside, ram=ram, left=left, parts=row.parts, is_left=row.ram is None
    )


def _is_of(row: _Row, board: Board, beside: str) -> bool:
    return board.name in row.boards and row.beside == beside
