"""The boards that people own: their memory, and the preset and kernels that builds for them use.

RAM is what the chip has, bank by bank: an arena lies in one bank. How much of it is free only the firmware's linker map
or heap says; nothing here guesses it, and external RAM is not here. Sizes are bytes; a source is repository: path, in
the versions of 2025 and 2026.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tflm_sim.errors import expect
from tflm_sim.names import likely, plain, unknown

KIB = 1024


class Bank(NamedTuple):
    """A contiguous piece of RAM: its name in the chip's manual, and its size in bytes."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Board:
    """A board.

    Attributes:
        name: What ``--board`` takes, beside the names that Arduino's IDE, PlatformIO and Zephyr have for it.
        description: Board and chip.
        preset: The target of builds for it, with that preset's kernels.
        ram: On-chip RAM, the bank that linkers fill first in front; empty where no public source was found.
        flash: Bytes for code and constants; None where it differs between modules sold under the name, or is all
            outside of the chip.
        source: Where the memory sizes are from.
        libraries: The libraries that people use there, as for ``--library``, of those that are modelled; "" is
            tensorflow/tflite-micro itself, the newest.
    """

    name: str
    description: str
    preset: str
    ram: tuple[Bank, ...]
    flash: int | None
    source: str
    libraries: tuple[str, ...] = ("",)

    @property
    def largest_bank(self) -> Bank | None:
        """The bank with most bytes, None where the banks are not known."""
        return max(self.ram, key=lambda bank: bank.size, default=None)

    @property
    def ram_text(self) -> str:
        return " + ".join(f"{bank.name} {bank.size // KIB:,} KiB" for bank in self.ram) or "RAM that is not known"


_LIBRARIES = {
    "esp": "esp-tflite-micro tflm_esp32 chirale",
    "esp32": "esp-tflite-micro tflm_esp32 chirale TensorFlowLite_ESP32",
    "pico": "pico-tflmicro edge-impulse zephyr upstream",
    "arm": "edge-impulse zephyr upstream",
    # Of mbed's Nano 33 BLE; Arduino_TensorFlowLite 2.4.0-ALPHA is what Harvard_TinyMLx holds.
    "arduino": "chirale tflite-micro-arduino-examples MicroTFLite Harvard_TinyMLx EloquentTinyML@2.4.4 edge-impulse "
    "zephyr upstream",
    "arduino-pro": "chirale tflite-micro-arduino-examples MicroTFLite EloquentTinyML@2.4.4 edge-impulse zephyr "
    "upstream",
    "himax": "himax@2412 edge-impulse upstream",
    "silabs": "silabs-gsdk simplicity-sdk edge-impulse zephyr upstream",
}
"""The libraries of boards that are alike; "upstream" is tensorflow/tflite-micro itself."""

_TABLE = """
esp32: ESP32 DevKitC (Xtensa LX6)
    esp32, flash ?, libraries esp32
    DRAM 328 + IRAM, 32-bit access only 128
    espressif/esp-idf: components/soc/esp32/include/soc/soc.h (SOC_DRAM, SOC_IRAM)
esp32-s3: ESP32-S3 DevKitC (Xtensa LX7, vector unit)
    esp32-s3, flash ?, libraries esp
    DRAM 480 + IRAM 32
    espressif/esp-idf: components/soc/esp32s3/include/soc/soc.h (SOC_DRAM, SOC_IRAM)
xiao-esp32s3: Seeed XIAO ESP32S3
    esp32-s3, flash ?, libraries esp
    DRAM 480 + IRAM 32
    espressif/esp-idf: components/soc/esp32s3/include/soc/soc.h (SOC_DRAM, SOC_IRAM)
esp32-c3: ESP32-C3 DevKitM (RISC-V)
    esp32-c3, flash ?, libraries esp
    DRAM 384 + IRAM 16
    espressif/esp-idf: components/soc/esp32c3/include/soc/soc.h (SOC_DRAM, SOC_IRAM)
esp32-c6: ESP32-C6 DevKitC (RISC-V)
    esp32-c6, flash ?, libraries esp
    HP SRAM 512 + LP SRAM 16
    espressif/esp-idf: components/soc/esp32c6/include/soc/soc.h (SOC_DRAM, SOC_IRAM)
esp32-p4: ESP32-P4 Function EV Board (RISC-V, vector unit)
    esp32-p4, flash ?, libraries esp
    HP L2MEM 768 + LP SRAM 32
    espressif/esp-idf: components/soc/esp32p4/include/soc/soc.h (SOC_DRAM, SOC_IRAM)
pico: Raspberry Pi Pico (RP2040, Cortex-M0+)
    cortex-m0plus, flash 2048, libraries pico
    SRAM 264
    raspberrypi/pico-sdk: src/rp2_common/pico_crt0/rp2040/memmap_default.ld; flash:
    src/boards/include/boards/pico.h
xiao-rp2040: Seeed XIAO RP2040 (Cortex-M0+)
    cortex-m0plus, flash 2048, libraries pico
    SRAM 264
    raspberrypi/pico-sdk: src/rp2_common/pico_crt0/rp2040/memmap_default.ld; flash:
    src/boards/include/boards/seeed_xiao_rp2040.h
pico2: Raspberry Pi Pico 2 (RP2350, its Cortex-M33)
    cortex-m33, flash 4096, libraries pico
    SRAM 520
    raspberrypi/pico-sdk: src/rp2_common/pico_crt0/rp2350/memmap_default.ld; flash:
    src/boards/include/boards/pico2.h
nano33ble: Arduino Nano 33 BLE and Sense (nRF52840, Cortex-M4)
    cortex-m4, flash 1024, libraries arduino
    RAM 256
    zephyrproject-rtos/zephyr: dts/arm/nordic/nrf52840_qiaa.dtsi
nrf52840dk: Nordic nRF52840 DK (Cortex-M4)
    cortex-m4, flash 1024, libraries arm
    RAM 256
    zephyrproject-rtos/zephyr: dts/arm/nordic/nrf52840_qiaa.dtsi
xiao-nrf52840: Seeed XIAO nRF52840 Sense (Cortex-M4)
    cortex-m4, flash 1024, libraries arduino-pro
    RAM 256
    zephyrproject-rtos/zephyr: dts/arm/nordic/nrf52840_qiaa.dtsi
nicla-sense-me: Arduino Nicla Sense ME (nRF52832, Cortex-M4)
    cortex-m4, flash 512, libraries arduino-pro
    RAM 64
    zephyrproject-rtos/zephyr: dts/arm/nordic/nrf52832_qfaa.dtsi
microbit-v2: BBC micro:bit V2 (nRF52833, Cortex-M4)
    cortex-m4, flash 512, libraries arm
    RAM 128
    zephyrproject-rtos/zephyr: dts/arm/nordic/nrf52833_qiaa.dtsi
nrf5340dk: Nordic nRF5340 DK, application core (Cortex-M33)
    cortex-m33, flash 1024, libraries arm
    RAM 512
    zephyrproject-rtos/zephyr: dts/arm/nordic/nrf5340_cpuapp_qkaa.dtsi
nrf54l15dk: Nordic nRF54L15 DK, application core (Cortex-M33)
    cortex-m33, flash 1524, libraries arm
    RAM 256
    zephyrproject-rtos/zephyr: dts/vendor/nordic/nrf54l15.dtsi (68 KiB of it can be the second core's)
stm32f4-discovery: STM32F4 Discovery (STM32F407VG, Cortex-M4)
    cortex-m4, flash 1024, libraries arm
    SRAM 128 + CCM 64
    zephyrproject-rtos/zephyr: dts/arm/st/f4/stm32f407Xg.dtsi
nucleo-f446re: Nucleo-F446RE (STM32F446RE, Cortex-M4)
    cortex-m4, flash 512, libraries arm
    SRAM 128
    zephyrproject-rtos/zephyr: dts/arm/st/f4/stm32f446Xe.dtsi
stm32f746g-disco: STM32F746G Discovery (STM32F746NG, Cortex-M7)
    cortex-m7, flash 1024, libraries arm
    DTCM and SRAM 320
    zephyrproject-rtos/zephyr: dts/arm/st/f7/stm32f746Xg.dtsi
nucleo-h743zi: Nucleo-H743ZI (STM32H743ZI, Cortex-M7)
    cortex-m7, flash 2048, libraries arm
    AXI SRAM 512 + SRAM1 128 + SRAM2 128 + SRAM3 32 + SRAM4 64 + DTCM 128
    zephyrproject-rtos/zephyr: dts/arm/st/h7/stm32h743.dtsi
portenta-h7: Arduino Portenta H7, its Cortex-M7 (STM32H747XI)
    cortex-m7, flash 2048, libraries arduino-pro
    AXI SRAM 512 + SRAM1 128 + SRAM2 128 + SRAM3 32 + SRAM4 64 + DTCM 128
    zephyrproject-rtos/zephyr: dts/arm/st/h7/stm32h745.dtsi and stm32h745Xi_m7.dtsi (banks that the Cortex-M4
    shares)
nicla-vision: Arduino Nicla Vision, its Cortex-M7 (STM32H747AI)
    cortex-m7, flash 2048, libraries arduino-pro
    AXI SRAM 512 + SRAM1 128 + SRAM2 128 + SRAM3 32 + SRAM4 64 + DTCM 128
    zephyrproject-rtos/zephyr: dts/arm/st/h7/stm32h745.dtsi and stm32h745Xi_m7.dtsi (banks that the Cortex-M4
    shares)
stm32n6570-dk: STM32N6570-DK (STM32N657, Cortex-M55)
    cortex-m55, flash ?, libraries arm
    AXISRAM1 to 6, contiguous 3840
    zephyrproject-rtos/zephyr: dts/arm/st/n6/stm32n657X0.dtsi
teensy40: Teensy 4.0 (i.MX RT1062, Cortex-M7)
    cortex-m7, flash 1984, libraries arm
    FlexRAM (ITCM, DTCM) 512 + RAM2 512
    PaulStoffregen/cores: teensy4/imxrt1062.ld
teensy41: Teensy 4.1 (i.MX RT1062, Cortex-M7)
    cortex-m7, flash 7936, libraries arm
    FlexRAM (ITCM, DTCM) 512 + RAM2 512
    PaulStoffregen/cores: teensy4/imxrt1062_t41.ld
sparkfun-edge: SparkFun Edge (Apollo3 Blue, Cortex-M4)
    cortex-m4, flash 1024, libraries arm
    TCM and SRAM, contiguous 384
    zephyrproject-rtos/zephyr: dts/arm/ambiq/ambiq_apollo3_blue.dtsi
apollo510-evb: Ambiq Apollo510 EVB (Cortex-M55)
    cortex-m55, flash 4032, libraries arm
    SSRAM 3072 + DTCM 496 + ITCM 256
    zephyrproject-rtos/hal_ambiq: dts/apollo510/am_apollo510.h
grove-vision-ai-v2: Seeed Grove Vision AI V2 (Himax WiseEye2, Cortex-M55; with --ethos-u its Ethos-U55)
    cortex-m55, flash ?, libraries himax
    SRAM0 and 1, contiguous 2048 + DTCM 256
    HimaxWiseEyePlus/Seeed_Grove_Vision_AI_Module_V2:
    EPII_CM55M_APP_S/app/scenario_app/tflm_fd_fm/tflm_fd_fm.ld
alif-e7-hp: Alif Ensemble E7 DevKit, its hp core (Cortex-M55; with --ethos-u its Ethos-U55)
    cortex-m55, flash ?, libraries arm
    SRAM0 4096 + SRAM1 2560 + DTCM 1024 + ITCM 256
    alifsemi/alif_ml-embedded-evaluation-kit: scripts/cmake/platforms/alif/AE722F80F55D5/rtss_hp/RTSS-HP.ld
alif-e7-he: Alif Ensemble E7 DevKit, its he core (Cortex-M55; with --ethos-u its Ethos-U55)
    cortex-m55, flash ?, libraries arm
    SRAM0 4096 + SRAM1 2560 + DTCM 256 + ITCM 256
    alifsemi/alif_ml-embedded-evaluation-kit: scripts/cmake/platforms/alif/AE722F80F55D5/rtss_he/RTSS-HE.ld
corstone-310: Arm Corstone-310 (Cortex-M85; with --ethos-u its Ethos-U55)
    cortex-m85, flash ?, libraries arm
    SRAM 4096 + BRAM 2048 + DTCM 32 + DDR 32768
    alifsemi/alif_ml-embedded-evaluation-kit: scripts/cmake/platforms/mps3/sse-310/mps3-sse-310.gnu.ld
corstone-320: Arm Corstone-320 (Cortex-M85; with --ethos-u its Ethos-U85)
    cortex-m85, flash ?, libraries arm
    SRAM 4096 + BRAM 2048 + DTCM 32 + DDR 32768
    alifsemi/alif_ml-embedded-evaluation-kit: scripts/cmake/platforms/mps4/sse-320/mps4-sse-320.ld
xg24-dev-kit: Silicon Labs xG24 Dev Kit (BRD2601) (Cortex-M33 with MVP)
    cortex-m33, flash 1536, libraries silabs
    RAM 256
    SiliconLabs/simplicity_sdk: platform/Device/SiliconLabs/EFR32MG24/Include/efr32mg24b310f1536im48.h
xg26-dev-kit: Silicon Labs xG26 Dev Kit (BRD2608) (Cortex-M33 with MVP)
    cortex-m33, flash 3200, libraries silabs
    RAM 512
    SiliconLabs/simplicity_sdk: platform/Device/SiliconLabs/EFR32MG26/Include/efr32mg26b510f3200im68.h
xg28-explorer: Silicon Labs xG28 Explorer Kit (BRD2705) (Cortex-M33 with MVP)
    cortex-m33, flash 1024, libraries silabs
    RAM 256
    SiliconLabs/simplicity_sdk: platform/Device/SiliconLabs/EFR32ZG28/Include/efr32zg28b312f1024im48.h
corstone-300: Arm Corstone-300 and qemu mps3-an547 (Cortex-M55; with --ethos-u its Ethos-U55)
    cortex-m55, flash ?, libraries arm
    SRAM 2 4096 + SRAM 2048 + DTCM 512 + DDR 2097152
    qemu/qemu: hw/arm/mps2-tz.c (an547_raminfo), hw/arm/armsse.c
"""
"""A board is: name and description; preset, KiB of flash ("?": not known) and row of ``_LIBRARIES``; each bank with its
KiB; the source, as many lines as it takes."""

_ALSO_CALLED = """
esp32: ESP32 Dev Module; esp32:esp32:esp32; esp32dev; esp32_devkitc
esp32-s3: ESP32S3 Dev Module; esp32:esp32:esp32s3; esp32-s3-devkitc-1; esp32s3_devkitc
xiao-esp32s3: XIAO ESP32S3; XIAO ESP32S3 Sense; esp32:esp32:XIAO_ESP32S3; seeed_xiao_esp32s3; xiao_esp32s3
esp32-c3: ESP32C3 Dev Module; esp32:esp32:esp32c3; esp32-c3-devkitm-1; esp32c3_devkitm
esp32-c6: ESP32C6 Dev Module; esp32:esp32:esp32c6; esp32-c6-devkitc-1; esp32c6_devkitc
esp32-p4: ESP32P4 Dev Module; esp32:esp32:esp32p4; esp32p4_function_ev_board
pico: Raspberry Pi Pico; Raspberry Pi Pico W; rp2040:rp2040:rpipico; rp2040:rp2040:rpipicow;
    arduino:mbed_rp2040:pico; rpi_pico; pico_w
xiao-rp2040: XIAO RP2040; Seeed XIAO RP2040; rp2040:rp2040:seeed_xiao_rp2040; seeed_xiao_rp2040; xiao_rp2040
pico2: Raspberry Pi Pico 2; Raspberry Pi Pico 2W; rp2040:rp2040:rpipico2; rp2040:rp2040:rpipico2w; rpi_pico2;
    pico2_w
nano33ble: Arduino Nano 33 BLE; Arduino Nano 33 BLE Sense; Nano 33 BLE Sense Rev2; arduino:mbed_nano:nano33ble;
    arduino:mbed:nano33ble; arduino_nano_33_ble; arduino_nano_33_ble_sense
nrf52840dk: Nordic nRF52840-DK; nrf52840_dk; nrf52840dk_nrf52840
xiao-nrf52840: XIAO nRF52840 Sense; Seeed XIAO BLE Sense - nRF52840; Seeeduino:nrf52:xiaonRF52840Sense;
    Seeeduino:mbed:xiaonRF52840Sense; xiao_ble; xiao_ble_sense
nicla-sense-me: Arduino Nicla Sense ME; arduino:mbed_nicla:nicla_sense; nicla_sense_me; arduino_nicla_sense_me
microbit-v2: BBC micro:bit V2; sandeepmistry:nRF5:BBCmicrobitV2; bbcmicrobit_v2; bbc_microbit_v2
nrf5340dk: Nordic nRF5340-DK; nrf5340dk_nrf5340_cpuapp
nrf54l15dk: Nordic nRF54L15-DK; nrf54l15dk_nrf54l15_cpuapp
stm32f4-discovery: ST STM32F4DISCOVERY; disco_f407vg; stm32f4_disco
nucleo-f446re: ST Nucleo F446RE; nucleo_f446re
stm32f746g-disco: ST 32F746GDISCOVERY; disco_f746ng; stm32f746g_disco
nucleo-h743zi: ST Nucleo H743ZI; nucleo_h743zi
portenta-h7: Arduino Portenta H7; arduino:mbed_portenta:envie_m7; portenta_h7_m7; arduino_portenta_h7
nicla-vision: Arduino Nicla Vision; arduino:mbed_nicla:nicla_vision; nicla_vision; arduino_nicla_vision
stm32n6570-dk: STM32N6570-DK; stm32n6570_dk
teensy40: Teensy 4.0; teensy:avr:teensy40
teensy41: Teensy 4.1; teensy:avr:teensy41
apollo510-evb: apollo510_evb
xg24-dev-kit: BRD2601B; xg24_dk2601b
xg26-dev-kit: BRD2608A; xg26_dk2608a
xg28-explorer: BRD2705A; xg28_ek2705a
"""
"""What prints the names of boards calls them: Arduino's IDE (full name, FQBN), PlatformIO (board), Zephyr (board).

Source: boards.txt of arduino/ArduinoCore-mbed, espressif/arduino-esp32 and earlephilhower/arduino-pico;
platformio/platform-{espressif32,nordicnrf52,ststm32,raspberrypi,teensy}: boards/*.json; zephyrproject-rtos/zephyr:
boards/*/*/*.yaml.
"""


def _read(text: str) -> Iterator[Board]:
    for row in re.split(r"\n(?=\S)", text.strip()):
        head, build, banks, *source = (line.strip() for line in row.split("\n"))
        name, _, description = head.partition(": ")
        preset, flash, libraries = (part.split()[-1] for part in build.split(", "))
        ram = [bank.rsplit(" ", 1) for bank in banks.split(" + ")]
        yield Board(
            name,
            description,
            preset,
            tuple([Bank(bank, int(size) * KIB) for bank, size in ram]),
            None if flash == "?" else int(flash) * KIB,
            " ".join(source),
            tuple([library.replace("upstream", "") for library in _LIBRARIES[libraries].split()]),
        )


BOARDS = {board.name: board for board in _read(_TABLE)}

_OTHER_NAMES = {
    row.partition(": ")[0]: re.split(r";\s+", row.partition(": ")[2])
    for row in re.split(r"\n(?=\S)", _ALSO_CALLED.strip())
}
_MAKERS = re.compile(r"(?:Arduino|Nordic|ST|Seeed|BBC) ")
"""Names may have the maker's name before them, or be without it."""


def _bare(name: str) -> str:
    return plain(_MAKERS.sub("", name, count=1))


_BY_NAME = {_bare(each): name for name in BOARDS for each in (name, *_OTHER_NAMES.get(name, ()))}


def known_board(name: str) -> Board | None:
    """Return the board that is called so by us, Arduino's IDE, PlatformIO or Zephyr; None for no such board."""
    text = expect(name, str, "the name of a board").strip()
    if text.lower() in BOARDS:
        return BOARDS[text.lower()]
    option = re.search(r":(?:.*,)?pnum=(\w+)", text)  # STM32's core: the board is an option of a family of boards.
    of_core = option[1] if option else ":".join(text.split(":")[:3])  # Other options follow as a fourth part.
    found = _BY_NAME.get(_bare(text)) or _BY_NAME.get(plain(of_core)) or _BY_NAME.get(plain(text.partition("/")[0]))
    return BOARDS[found] if found else None


def board(name: str) -> Board:
    """Return a board by one of its names, as :func:`known_board` does.

    Raises:
        UsageError: No such board.
    """
    found = known_board(name)
    if found is None:
        near = likely(name, described_boards()) or [_BY_NAME[each] for each in likely(_bare(name), _BY_NAME)]
        raise unknown("board", name, described_boards(), dict.fromkeys(near))
    return found


def described_boards() -> dict[str, str]:
    """Return, for each board, what it is and what else it is called."""
    return {name: "; ".join((row.description, *_OTHER_NAMES.get(name, ()))) for name, row in BOARDS.items()}
