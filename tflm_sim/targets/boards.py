"""The boards that people own: their memory, and the preset and kernels that builds for them use.

RAM is what the chip has, bank by bank: an arena lies in one bank. How much of it is free only the firmware's linker map
or heap says; nothing here guesses it, and external RAM is not here. Sizes are bytes; a source is repository: path, in
the versions of 2025 and 2026.
"""

from __future__ import annotations

from tflm_sim.targets.names import unknown
from tflm_sim.values import NamedTuple, dataclass

KIB, MIB = 1024, 1024**2


class Bank(NamedTuple):
    """A contiguous piece of RAM: its name in the chip's manual, and bytes."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Board:
    """A board.

    Attributes:
        name: What ``--board`` takes.
        description: Board and chip.
        preset: The target of builds for it, with that preset's kernels.
        ram: On-chip RAM, the bank that linkers fill first in front; empty where no public source was found.
        flash: Bytes for code and constants; None where it differs between modules sold under the name.
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
        """The banks in words."""
        return " + ".join(f"{bank.name} {bank.size // KIB:,} KiB" for bank in self.ram) or "RAM that is not known"


_ESP32_LIBRARIES = ("esp-tflite-micro", "tflm_esp32")
_PICO_LIBRARIES = ("pico-tflmicro", "edge-impulse", "zephyr", "")
_ARM_LIBRARIES = ("edge-impulse", "zephyr", "")
_ARDUINO_LIBRARIES = (
    "chirale",
    "tflite-micro-arduino-examples",
    "MicroTFLite",
    "Harvard_TinyMLx",
    "EloquentTinyML@2.4.4",
    "edge-impulse",
    "zephyr",
    "",
)
"""Of mbed's Nano 33 BLE; Arduino_TensorFlowLite 2.4.0-ALPHA is what Harvard_TinyMLx holds."""
_ARDUINO_PRO_LIBRARIES = tuple(name for name in _ARDUINO_LIBRARIES if name != "Harvard_TinyMLx")
_ZEPHYR = "zephyrproject-rtos/zephyr: dts/arm/"
_IDF = "espressif/esp-idf: components/soc/{}/include/soc/soc.h (SOC_DRAM, SOC_IRAM)"
_PICO_SDK = "raspberrypi/pico-sdk: src/rp2_common/pico_crt0/{}/memmap_default.ld; flash: src/boards/include/boards/{}.h"
_TEENSY = "PaulStoffregen/cores: teensy4/{}.ld"
_H7_RAM = (
    Bank("AXI SRAM", 512 * KIB),
    Bank("SRAM1", 128 * KIB),
    Bank("SRAM2", 128 * KIB),
    Bank("SRAM3", 32 * KIB),
    Bank("SRAM4", 64 * KIB),
    Bank("DTCM", 128 * KIB),
)
_NRF52840 = (Bank("RAM", 256 * KIB),), 1 * MIB, _ZEPHYR + "nordic/nrf52840_qiaa.dtsi"
_RP2040_RAM = (Bank("SRAM", 264 * KIB),)
_ESP32_S3 = (Bank("DRAM", 480 * KIB), Bank("IRAM", 32 * KIB)), None, _IDF.format("esp32s3")
_RT1062_RAM = (Bank("FlexRAM (ITCM, DTCM)", 512 * KIB), Bank("RAM2", 512 * KIB))
_H747 = _H7_RAM, 2 * MIB, _ZEPHYR + "st/h7/stm32h745.dtsi and stm32h745Xi_m7.dtsi (banks that the Cortex-M4 shares)"

BOARDS: dict[str, Board] = {
    board.name: board
    for board in (
        Board(
            "esp32",
            "ESP32 DevKitC (Xtensa LX6)",
            "esp32",
            (Bank("DRAM", 328 * KIB), Bank("IRAM, 32-bit access only", 128 * KIB)),
            None,
            _IDF.format("esp32"),
            libraries=(*_ESP32_LIBRARIES, "TensorFlowLite_ESP32"),
        ),
        Board(
            "esp32-s3", "ESP32-S3 DevKitC (Xtensa LX7, vector unit)", "esp32-s3", *_ESP32_S3, libraries=_ESP32_LIBRARIES
        ),
        Board("xiao-esp32s3", "Seeed XIAO ESP32S3", "esp32-s3", *_ESP32_S3, libraries=_ESP32_LIBRARIES),
        Board(
            "esp32-c3",
            "ESP32-C3 DevKitM (RISC-V)",
            "esp32-c3",
            (Bank("DRAM", 384 * KIB), Bank("IRAM", 16 * KIB)),
            None,
            _IDF.format("esp32c3"),
            libraries=_ESP32_LIBRARIES,
        ),
        Board(
            "esp32-c6",
            "ESP32-C6 DevKitC (RISC-V)",
            "esp32-c6",
            (Bank("HP SRAM", 512 * KIB), Bank("LP SRAM", 16 * KIB)),
            None,
            _IDF.format("esp32c6"),
            libraries=_ESP32_LIBRARIES,
        ),
        Board(
            "esp32-p4",
            "ESP32-P4 Function EV Board (RISC-V, vector unit)",
            "esp32-p4",
            (Bank("HP L2MEM", 768 * KIB), Bank("LP SRAM", 32 * KIB)),
            None,
            _IDF.format("esp32p4"),
            libraries=_ESP32_LIBRARIES,
        ),
        Board(
            "pico",
            "Raspberry Pi Pico (RP2040, Cortex-M0+)",
            "cortex-m0plus",
            _RP2040_RAM,
            2 * MIB,
            _PICO_SDK.format("rp2040", "pico"),
            libraries=_PICO_LIBRARIES,
        ),
        Board(
            "xiao-rp2040",
            "Seeed XIAO RP2040 (Cortex-M0+)",
            "cortex-m0plus",
            _RP2040_RAM,
            2 * MIB,
            _PICO_SDK.format("rp2040", "seeed_xiao_rp2040"),
            libraries=_PICO_LIBRARIES,
        ),
        Board(
            "pico2",
            "Raspberry Pi Pico 2 (RP2350, its Cortex-M33)",
            "cortex-m33",
            (Bank("SRAM", 520 * KIB),),
            4 * MIB,
            _PICO_SDK.format("rp2350", "pico2"),
            libraries=_PICO_LIBRARIES,
        ),
        Board(
            "nano33ble",
            "Arduino Nano 33 BLE and Sense (nRF52840, Cortex-M4)",
            "cortex-m4",
            *_NRF52840,
            libraries=_ARDUINO_LIBRARIES,
        ),
        Board("nrf52840dk", "Nordic nRF52840 DK (Cortex-M4)", "cortex-m4", *_NRF52840, libraries=_ARM_LIBRARIES),
        Board(
            "xiao-nrf52840",
            "Seeed XIAO nRF52840 Sense (Cortex-M4)",
            "cortex-m4",
            *_NRF52840,
            libraries=_ARDUINO_PRO_LIBRARIES,
        ),
        Board(
            "nicla-sense-me",
            "Arduino Nicla Sense ME (nRF52832, Cortex-M4)",
            "cortex-m4",
            (Bank("RAM", 64 * KIB),),
            512 * KIB,
            _ZEPHYR + "nordic/nrf52832_qfaa.dtsi",
            libraries=_ARDUINO_PRO_LIBRARIES,
        ),
        Board(
            "microbit-v2",
            "BBC micro:bit V2 (nRF52833, Cortex-M4)",
            "cortex-m4",
            (Bank("RAM", 128 * KIB),),
            512 * KIB,
            _ZEPHYR + "nordic/nrf52833_qiaa.dtsi",
            libraries=_ARM_LIBRARIES,
        ),
        Board(
            "nrf5340dk",
            "Nordic nRF5340 DK, application core (Cortex-M33)",
            "cortex-m33",
            (Bank("RAM", 512 * KIB),),
            1 * MIB,
            _ZEPHYR + "nordic/nrf5340_cpuapp_qkaa.dtsi",
            libraries=_ARM_LIBRARIES,
        ),
        Board(
            "nrf54l15dk",
            "Nordic nRF54L15 DK, application core (Cortex-M33)",
            "cortex-m33",
            (Bank("RAM", 256 * KIB),),
            1524 * KIB,
            "zephyrproject-rtos/zephyr: dts/vendor/nordic/nrf54l15.dtsi (68 KiB of it can be the second core's)",
            libraries=_ARM_LIBRARIES,
        ),
        Board(
            "stm32f4-discovery",
            "STM32F4 Discovery (STM32F407VG, Cortex-M4)",
            "cortex-m4",
            (Bank("SRAM", 128 * KIB), Bank("CCM", 64 * KIB)),
            1 * MIB,
            _ZEPHYR + "st/f4/stm32f407Xg.dtsi",
            libraries=_ARM_LIBRARIES,
        ),
        Board(
            "nucleo-f446re",
            "Nucleo-F446RE (STM32F446RE, Cortex-M4)",
            "cortex-m4",
            (Bank("SRAM", 128 * KIB),),
            512 * KIB,
            _ZEPHYR + "st/f4/stm32f446Xe.dtsi",
            libraries=_ARM_LIBRARIES,
        ),
        Board(
            "stm32f746g-disco",
            "STM32F746G Discovery (STM32F746NG, Cortex-M7)",
            "cortex-m7",
            (Bank("DTCM and SRAM", 320 * KIB),),
            1 * MIB,
            _ZEPHYR + "st/f7/stm32f746Xg.dtsi",
            libraries=_ARM_LIBRARIES,
        ),
        Board(
            "nucleo-h743zi",
            "Nucleo-H743ZI (STM32H743ZI, Cortex-M7)",
            "cortex-m7",
            _H7_RAM,
            2 * MIB,
            _ZEPHYR + "st/h7/stm32h743.dtsi",
            libraries=_ARM_LIBRARIES,
        ),
        Board(
            "portenta-h7",
            "Arduino Portenta H7, its Cortex-M7 (STM32H747XI)",
            "cortex-m7",
            *_H747,
            libraries=_ARDUINO_PRO_LIBRARIES,
        ),
        Board(
            "nicla-vision",
            "Arduino Nicla Vision, its Cortex-M7 (STM32H747AI)",
            "cortex-m7",
            *_H747,
            libraries=_ARDUINO_PRO_LIBRARIES,
        ),
        Board(
            "stm32n6570-dk",
            "STM32N6570-DK (STM32N657, Cortex-M55)",
            "cortex-m55",
            (Bank("AXISRAM1 to 6, contiguous", 3840 * KIB),),
            0,
            _ZEPHYR + "st/n6/stm32n657X0.dtsi",
            libraries=_ARM_LIBRARIES,
        ),
        Board(
            "teensy40",
            "Teensy 4.0 (i.MX RT1062, Cortex-M7)",
            "cortex-m7",
            _RT1062_RAM,
            1984 * KIB,
            _TEENSY.format("imxrt1062"),
            libraries=_ARM_LIBRARIES,
        ),
        Board(
            "teensy41",
            "Teensy 4.1 (i.MX RT1062, Cortex-M7)",
            "cortex-m7",
            _RT1062_RAM,
            7936 * KIB,
            _TEENSY.format("imxrt1062_t41"),
            libraries=_ARM_LIBRARIES,
        ),
        Board(
            "sparkfun-edge",
            "SparkFun Edge (Apollo3 Blue, Cortex-M4)",
            "cortex-m4",
            (Bank("TCM and SRAM, contiguous", 384 * KIB),),
            1 * MIB,
            _ZEPHYR + "ambiq/ambiq_apollo3_blue.dtsi",
            libraries=_ARM_LIBRARIES,
        ),
        Board(
            "apollo510-evb",
            "Ambiq Apollo510 EVB (Cortex-M55)",
            "cortex-m55",
            (Bank("SSRAM", 3072 * KIB), Bank("DTCM", 496 * KIB), Bank("ITCM", 256 * KIB)),
            4032 * KIB,
            "zephyrproject-rtos/hal_ambiq: dts/apollo510/am_apollo510.h",
            libraries=_ARM_LIBRARIES,
        ),
        Board(
            "grove-vision-ai-v2",
            "Seeed Grove Vision AI V2 (Himax WiseEye2, Cortex-M55; with --ethos-u its Ethos-U55)",
            "cortex-m55",
            (Bank("SRAM0 and 1, contiguous", 2 * MIB), Bank("DTCM", 256 * KIB)),
            None,
            "HimaxWiseEyePlus/Seeed_Grove_Vision_AI_Module_V2: "
            "EPII_CM55M_APP_S/app/scenario_app/tflm_fd_fm/tflm_fd_fm.ld",
            libraries=("himax@2412", "edge-impulse", ""),
        ),
        *(
            Board(
                name,
                f"Alif Ensemble E7 DevKit, its {core} core (Cortex-M55; with --ethos-u its Ethos-U55)",
                "cortex-m55",
                (Bank("SRAM0", 4 * MIB), Bank("SRAM1", 2560 * KIB), Bank("DTCM", dtcm), Bank("ITCM", 256 * KIB)),
                None,
                "alifsemi/alif_ml-embedded-evaluation-kit: "
                f"scripts/cmake/platforms/alif/AE722F80F55D5/rtss_{core}/RTSS-{core.upper()}.ld",
                libraries=_ARM_LIBRARIES,
            )
            for name, core, dtcm in (("alif-e7-hp", "hp", MIB), ("alif-e7-he", "he", 256 * KIB))
        ),
        *(
            Board(
                name,
                f"Arm {name.capitalize()} (Cortex-M85; with --ethos-u its {npu})",
                "cortex-m85",
                (Bank("SRAM", 4 * MIB), Bank("BRAM", 2 * MIB), Bank("DTCM", 32 * KIB), Bank("DDR", 32 * MIB)),
                None,
                f"alifsemi/alif_ml-embedded-evaluation-kit: scripts/cmake/platforms/{linker}",
                libraries=_ARM_LIBRARIES,
            )
            for name, npu, linker in (
                ("corstone-310", "Ethos-U55", "mps3/sse-310/mps3-sse-310.gnu.ld"),
                ("corstone-320", "Ethos-U85", "mps4/sse-320/mps4-sse-320.ld"),
            )
        ),
        *(
            Board(
                name,
                f"Silicon Labs {sold_as} (Cortex-M33 with MVP)",
                "cortex-m33",
                (Bank("RAM", ram),),
                flash,
                f"SiliconLabs/simplicity_sdk: platform/Device/SiliconLabs/{chip}/Include/{part}.h",
                libraries=("silabs-gsdk", "simplicity-sdk", "edge-impulse", "zephyr", ""),
            )
            for name, sold_as, chip, part, ram, flash in (
                (
                    "xg24-dev-kit",
                    "xG24 Dev Kit (BRD2601)",
                    "EFR32MG24",
                    "efr32mg24b310f1536im48",
                    256 * KIB,
                    1536 * KIB,
                ),
                (
                    "xg26-dev-kit",
                    "xG26 Dev Kit (BRD2608)",
                    "EFR32MG26",
                    "efr32mg26b510f3200im68",
                    512 * KIB,
                    3200 * KIB,
                ),
                ("xg28-explorer", "xG28 Explorer Kit (BRD2705)", "EFR32ZG28", "efr32zg28b312f1024im48", 256 * KIB, MIB),
            )
        ),
        Board(
            "corstone-300",
            "Arm Corstone-300 and qemu mps3-an547 (Cortex-M55; with --ethos-u its Ethos-U55)",
            "cortex-m55",
            (Bank("SRAM 2", 4 * MIB), Bank("SRAM", 2 * MIB), Bank("DTCM", 512 * KIB), Bank("DDR", 2048 * MIB)),
            None,
            "qemu/qemu: hw/arm/mps2-tz.c (an547_raminfo), hw/arm/armsse.c",
            libraries=_ARM_LIBRARIES,
        ),
    )
}


def board(name: str) -> Board:
    """Return a board by name.

    Raises:
        UsageError: No such board.
    """
    found = BOARDS.get(name.lower())
    if found is None:
        raise unknown("board", name, BOARDS)
    return found
