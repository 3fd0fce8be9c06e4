"""What processors and systems print when a program is stopped.

A STOPPED row says that the program was stopped, a CAUSE row why: where a log has both, the cause is the answer. An
ADDRESS row is a further line of such a report; its addresses are read by :mod:`tflm_sim.logs.crashes`.
Sources: ESP-IDF docs/en/api-guides/fatal-errors.rst @ 028093e; Zephyr kernel/fatal.c @ 00bf76e and
arch/arm/core/cortex_m/fault.c; mbed-os platform/include/platform/mbed_error.h @ 09734a8 and
platform/source/TARGET_CORTEX_M/mbed_fault_handler.c.
"""

from __future__ import annotations

from collections.abc import Callable

from tflm_sim.logs.message_kinds import MessageKind, Role, Values, row

_S, _R, _C, _A, _F = (Role.STOPPED, Role.REPORT, Role.CAUSE, Role.ADDRESS, Role.FRAMEWORK)

_POINTER = (
    "Where the address is near 0 a null pointer was used: an input, output or arena that was not allocated, or a "
    "kernel "
    "of an old TFLM whose constant input is computed. --firmware ELF says in which function; --model says what fails "
    "before it."
)
_STACK = (
    "Give the task a larger stack (AllocateTensors() and Invoke() run on it), and put no arena and no image on it: "
    "static memory or the heap is for those. 'tflm-sim firmware ELF --run' measures the stack where the "
    "core "
    "can be executed."
)
_HEAP = (
    "Something wrote beyond the memory that it got, before this check. Suspects: an arena that is smaller than the "
    "size "
    "given to MicroInterpreter, an input buffer that is filled with more bytes than input->bytes, a task's stack. Find "
    "the first write with heap_caps_check_integrity_all(true) before and after AllocateTensors() and Invoke()."
)
_WATCHDOG = (
    "The model takes longer than the watchdog waits, or the program hangs. Time one Invoke(); run it in a task of low "
    "priority, call vTaskDelay() or esp_task_wdt_reset() between inferences, or raise the watchdog's time."
)
_ILLEGAL = (
    "The processor ran into something that is no code: a stack that is too small, a function pointer out of "
    "overwritten "
    "memory (an arena shorter than the size given to MicroInterpreter), or a library built for another core."
)
_ALIGNMENT = (
    "An address was not a multiple of what the instruction asks for: declare the arena alignas(16) and the model's "
    "array alignas(16) (alignas(8) at least)."
)
_MODEL_IN_FLASH = (
    "The flash was being written, or the code or the model's array lie where the cache did not reach. Run no inference "
    "while flash is written."
)
_FLASH_IT = (
    "Nothing ran yet, so the model is not the cause: flash the whole program again, boot loader and partitions too."
)
_READ = ("the program read an address that is none", _POINTER)
_WROTE = ("the program wrote to an address that is none", _POINTER)
_JUMPED = ("the program jumped to an address that has no code", _ILLEGAL)
_NO_CODE = ("the processor met an instruction that is none", _ILLEGAL)
_MISALIGNED = ("the program used an address that is not aligned", _ALIGNMENT)
_DIVIDED = (
    "the program divided by 0",
    "An integer was divided by 0: a dimension or a scale that is 0. --firmware ELF says where.",
)
_CACHE = ("code or data in flash were used while the cache was off", _MODEL_IN_FLASH)
_WDT = ("interrupts were blocked for longer than the watchdog waits", _WATCHDOG)
_OVERRUN = ("a task's stack is too small", _STACK)
_BREAK = (
    "a breakpoint or a watchpoint was hit",
    "The line after it says which; 'Stack canary' is a stack that is too small, BREAK an abort() of the program.",
)
_PANIC_REASONS: dict[int | str, tuple[str, str]] = {
    "LoadProhibited": _READ,
    "Load access fault": _READ,
    "LoadStoreError": ("the program used memory in a way that it does not allow", _ALIGNMENT),
    "LoadStorePIFAddrError": _READ,
    "StoreProhibited": _WROTE,
    "Store access fault": _WROTE,
    "InstrFetchProhibited": _JUMPED,
    "InstructionFetchError": _JUMPED,
    "Instruction access fault": _JUMPED,
    "IllegalInstruction": _NO_CODE,
    "Illegal instruction": _NO_CODE,
    "LoadStoreAlignment": _MISALIGNED,
    "LoadStoreAlignmentCause": _MISALIGNED,
    "Load address misaligned": _MISALIGNED,
    "Store address misaligned": _MISALIGNED,
    "IntegerDivideByZero": _DIVIDED,
    "Cache disabled but cached memory region accessed": _CACHE,
    "Cache error": _CACHE,
    "Cache exception": _CACHE,
    "Interrupt wdt timeout on CPU0": _WDT,
    "Interrupt wdt timeout on CPU1": _WDT,
    "Stack protection fault": _OVERRUN,
    "Unhandled debug exception": _BREAK,
    "Breakpoint": _BREAK,
    "Double exception": _NO_CODE,
    "Memory protection fault": _WROTE,
    "Coprocessor exception": (
        "a task or interrupt used the floating point unit where it may not",
        "Run the model in a task, not in an interrupt.",
    ),
}
_EXCCAUSE: dict[int | str, tuple[str, str]] = {
    0: _NO_CODE,
    2: _JUMPED,
    3: _MISALIGNED,
    6: _DIVIDED,
    9: _MISALIGNED,
    20: _JUMPED,
    28: _READ,
    29: _WROTE,
}
_MCAUSE: dict[int | str, tuple[str, str]] = {
    0: _JUMPED,
    1: _JUMPED,
    2: _NO_CODE,
    4: _MISALIGNED,
    5: _READ,
    6: _MISALIGNED,
    7: _WROTE,
}
"""Numbers of Xtensa exceptions, and of RISC-V ones. Source: Zephyr arch/xtensa/core, arch/riscv/core."""
_RESETS: dict[int | str, tuple[str, str]] = {
    name: meaning
    for names, meaning in (
        (
            "SW_RESET SW_CPU_RESET RTC_SW_CPU_RST RTC_SW_SYS_RST SW_CPU SW_SYS HP_SYS_SW_RESET",
            (
                "the device started because the program before had restarted it: a panic, an abort() or esp_restart()",
                "The lines before this one say why; capture the log from the first start on.",
            ),
        ),
        (
            "TG0WDT_SYS_RESET TG1WDT_SYS_RESET TG0WDT_SYS_RST TG1WDT_SYS_RST TG0WDT_CPU_RST TG1WDT_CPU_RST "
            "TGWDT_CPU_RESET RTCWDT_SYS_RESET RTCWDT_SYS_RST RTCWDT_CPU_RESET RTCWDT_CPU_RST RTCWDT_RTC_RESET "
            "RTCWDT_RTC_RST RTCWDT_RTC_RST SUPER_WDT_RST HP_SYS_HP_WDT_RESET",
            ("a watchdog restarted the device", _WATCHDOG),
        ),
        (
            "RTCWDT_BROWN_OUT_RESET RTCWDT_BROWN_OUT_RST BROWN_OUT_RST POWER_GLITCH_RST",
            (
                "the supply voltage fell, and the device restarted",
                "Wi-Fi or a camera together with the model draw more than the supply or the cable gives.",
            ),
        ),
    )
    for name in names.split()
}
_ZEPHYR_STACK = (
    "Raise CONFIG_MAIN_STACK_SIZE, or the stack of the thread that runs AllocateTensors() and Invoke(); put no "
    "arena on it. 'tflm-sim firmware zephyr.elf --run' measures the stack."
)
_ZEPHYR_REASONS: dict[int | str, tuple[str, str]] = {
    0: (
        "Zephyr stopped at a fault of the processor",
        "The line with FAULT says which; --firmware zephyr.elf says in which function.",
    ),
    1: (
        "Zephyr stopped at an interrupt that nobody handles",
        "A driver (of the Ethos-U, for instance) enabled an interrupt without connecting a handler.",
    ),
    2: ("a thread's stack is too small (Zephyr)", _ZEPHYR_STACK),
    3: (
        "Zephyr stopped a thread: k_oops() was called",
        "An assertion or a fault of the program; the lines before it say which.",
    ),
    4: (
        "Zephyr stopped: k_panic() was called",
        "An assertion, a failed initialisation or a fault of the kernel; the lines before it say which.",
    ),
}
_ZEPHYR_BEFORE = "The lines before it say why."
_MBED_CODES: dict[int | str, tuple[str, str]] = {
    287: (
        "the heap of Mbed OS is used up",
        "An arena from new or malloc, BLE and strings take it together. Make the arena static, or smaller: --model "
        "says "
        "how small it may be.",
    ),
    317: ("the processor stopped at a HardFault (Mbed OS)", _POINTER),
    318: ("the processor stopped at a MemManage fault (Mbed OS)", _POINTER),
    319: ("the processor stopped at a bus fault (Mbed OS)", _POINTER),
    320: ("the processor stopped at a usage fault (Mbed OS)", _ALIGNMENT),
    324: ("an assertion of Mbed OS failed", "The line 'Error Message' says which, 'Location' the address of the call."),
}
_FAULT_TYPES: dict[int | str, tuple[str, str]] = {
    "HardFault": _MBED_CODES[317],
    "MemManageFault": _MBED_CODES[318],
    "BusFault": _MBED_CODES[319],
    "UsageFault": _MBED_CODES[320],
}
_ARM_FAULTS: dict[int | str, tuple[str, str]] = {
    "MPU": ("the program used an address that it may not (MPU fault)", _POINTER),
    "BUS": ("the program used an address that is none (bus fault)", _POINTER),
    "USAGE": ("the processor met an instruction or an address that it cannot use (usage fault)", _ALIGNMENT),
    "HARD": ("the processor stopped at a HardFault", _POINTER),
}
_CFSR: dict[int | str, tuple[str, str]] = {
    name: meaning
    for names, meaning in (
        ("IACCVIOL IBUSERR INVSTATE INVPC", _JUMPED),
        ("UNDEFINSTR", _NO_CODE),
        ("UNALIGNED", _MISALIGNED),
        ("DIVBYZERO", _DIVIDED),
        ("MSTKERR MUNSTKERR STKERR UNSTKERR STKOF", _OVERRUN),
    )
    for name in names.split()
}
_CORTEX_M = "Cortex-M exceptions"
_ZEPHYR_FAULT = "Zephyr arch/arm/core/cortex_m/fault.c @ 0183d02"
_REPORT = "The lines before say which fault it was; --firmware ELF makes functions of the addresses."
_FREE = (
    "This is the heap, not TFLM's arena being too small: the heap has no such piece in one. Make the arena static or "
    "smaller (--model says how small it may be), allocate it before Wi-Fi, BLE and the camera, or take external RAM."
)


def _bad_cfsr(values: Values) -> Values | None:
    return values if values.get("cfsr") else None


def _bad_task(values: Values) -> Values | None:
    return None if str(values.get("task")).startswith("IDLE") else values


def _as_cfsr(shift: int) -> Callable[[Values], Values | None]:
    """Return a reader of one of the three registers that CFSR is made of, as if all of CFSR were printed."""
    return lambda values: _bad_cfsr({"cfsr": int(values["cfsr"]) << shift})


def _reset(code: str) -> Callable[[Values], Values | None]:
    """Return a reader of a line without fields that says what the boot ROM calls ``code``."""
    return lambda _: {"code": code}


def _bad_reset(values: Values) -> Values | None:
    return values if values.get("code") in _RESETS else None


# fmt: off
PLATFORM_MESSAGES: tuple[MessageKind, ...] = (
    # ESP32: the panic handler, the heap, the boot loader.
    row("esp_panic", _S, "", "the ESP32 stopped at a fault", "ESP-IDF panic handler",
        "Guru Meditation Error: Core %s panic'ed (%s)", fields="core code", codes=_PANIC_REASONS, note=_POINTER),
    row("esp_panic", _S, "", "the ESP32 stopped at a fault", "ESP-IDF panic handler, until 3.0",
        "Guru Meditation Error of type %s occurred on core %d", fields="code core", codes=_PANIC_REASONS,
        note=_POINTER),
    row("esp_panic", _S, "", "the ESP32 stopped at a fault", "ESP-IDF panic handler, without more",
        "Guru Meditation Error", note=_POINTER),
    row("esp_canary", _C, "", "the stack of task {task} is too small", "ESP-IDF panic handler",
        "Stack canary watchpoint triggered (%s)",
        "***ERROR*** A stack overflow in task %s has been detected.", fields="task", note=_STACK),
    row("esp_smashed", _C, "", "a function wrote beyond its local variables", "ESP-IDF esp_system/stack_check.c",
        "Stack smashing protect failure!", "*** stack smashing detected ***",
        note="A local array is filled with more than it holds: an input or a copy of the outputs on the stack."),
    row("esp_bounds", _C, "", "a task's stack is too small", "ESP-IDF, hardware stack guard",
        "Detected in task \"%s\" at 0x%x", fields="task pc", note=_STACK),
    row("esp_abort", _S, "", "the program stopped itself: abort() was called", "ESP-IDF esp_system/panic.c",
        "abort() was called at PC 0x%x on core %d", fields="pc core",
        note="An assertion, an allocation by new that failed, or an exception that nobody catches: the line before "
             "says "
             "which, --firmware ELF from where."),
    row("abort", _S, "", "the program stopped itself: abort() was called", "ESP8266, newlib",
        "abort() was called",
        note="An assertion, an allocation by new that failed, or an exception that nobody catches: the line before "
             "says "
             "which."),
    row("corrupt_heap", _C, "", "the heap is damaged", "ESP-IDF heap/multi_heap_poisoning.c",
        "CORRUPT HEAP: Bad head at 0x%x. Expected 0x%x got 0x%x",
        "CORRUPT HEAP: Bad tail at 0x%x. Expected 0x%x got 0x%x",
        "CORRUPT HEAP: Invalid data at 0x%x. Expected 0x%x got 0x%x", fields="address expected found", note=_HEAP),
    row("corrupt_heap", _C, "", "the heap is damaged", "ESP-IDF heap", "CORRUPT HEAP", "heap is corrupt",
        "Heap corruption detected", "free(): invalid pointer", "double free or corruption", "corrupted size vs. "
                                                                                            "prev_size",
        "malloc(): corrupted top size", "munmap_chunk(): invalid pointer", note=_HEAP),
    row("assert", _C, "", "an assertion failed: {condition}", "newlib assert(), ESP-IDF, FreeRTOS",
        'assertion "%s" failed: file "%s", line %d', fields="condition file source_line",
        note="{file}:{source_line} demands {condition}."),
    row("assert_in", _C, "", "an assertion failed in {place}", "ESP-IDF newlib/assert.c",
        "assert failed: %s:%d (%s)", fields="place source_line condition",
        note="{place}:{source_line} demands {condition}."),
    row("assertion", _C, "", "an assertion failed", "any program", "assert failed", "Assertion failed", "ASSERTION "
                                                                                                        "FAIL",
        "ASSERT FAILED",
        note="The line says which condition and where."),
    row("esp_check", _C, "", "a call of ESP-IDF failed: {name}", "ESP_ERROR_CHECK",
        "ESP_ERROR_CHECK failed: esp_err_t 0x%x (%s) at 0x%x", fields="status name pc",
        note="The lines after it name the file and the expression."),
    row("task_wdt", _C, "", "a task kept the processor for longer than the watchdog waits", "ESP-IDF "
                                                                                            "esp_system/task_wdt.c",
        "Task watchdog got triggered", note=_WATCHDOG),
    row("task_wdt_late", _A, "", "a task that did not reset the watchdog", "ESP-IDF esp_system/task_wdt.c",
        "- %s (CPU %d)", fields="task cpu"),
    row("task_wdt_idle", _A, "", "a processor without work", "ESP-IDF esp_system/task_wdt.c", "CPU %d: IDLE",
        "CPU %d: IDLE0", "CPU %d: IDLE1", fields="cpu"),
    row("task_wdt_ran", _A, "", "the task that ran", "ESP-IDF esp_system/task_wdt.c", "CPU %d: %s", fields="cpu task",
        reads=_bad_task, note="Processor {cpu} ran the task {task}."),
    row("task_wdt_line", _A, "", "a line of the report", "ESP-IDF esp_system/task_wdt.c", "Tasks currently running:"),
    row("task_wdt_line", _A, "", "a line of the report", "ESP-IDF esp_system/task_wdt.c",
        "Print CPU %d (current core) backtrace", "Print CPU %d backtrace", fields="cpu"),
    row("wdt_task", Role.NOTE, "", "a task resets the watchdog and is not watched by it, which does no harm",
        "ESP-IDF esp_system/task_wdt.c", "esp_task_wdt_reset(%d): task not found", fields="source_line"),
    row("watchdog", _C, "", "a watchdog restarted the device", "ESP8266, Arduino", "Soft WDT reset", "wdt reset",
        "Watchdog reset", note=_WATCHDOG),
    row("brownout", _C, "", "the supply voltage fell, and the device restarted", "ESP-IDF",
        "Brownout detector was triggered",
        note="Wi-Fi or a camera together with the model draw more than the supply or the cable gives."),
    row("esp_reset", _S, "", "the device restarted", "ESP32 boot ROM", "rst:0x%x (%s)", fields="reason code",
        codes=_RESETS, reads=_bad_reset),
    row("esp_reset", _S, "", "the device restarted", "programs that print esp_reset_reason()", "ESP_RST_PANIC",
        "Reset reason: Exception/panic", "reset due to exception/panic", "Restarted due to an Exception/panic!",
        "Device was rebooted due to a software exception!", codes=_RESETS, reads=_reset("SW_CPU_RESET")),
    row("esp_reset", _S, "", "the device restarted", "programs that print esp_reset_reason()", "ESP_RST_INT_WDT",
        "ESP_RST_TASK_WDT", "ESP_RST_WDT", "Reset reason: Interrupt watchdog", "Reset reason: Task watchdog",
        "Reset reason: Other watchdogs", "due to interrupt watchdog", "due to task watchdog",
        "due to other watchdogs", codes=_RESETS, reads=_reset("TG0WDT_SYS_RESET")),
    row("esp_reset", _S, "", "the device restarted", "programs that print esp_reset_reason()", "ESP_RST_BROWNOUT",
        "Reset reason: Brownout", "Brownout reset", codes=_RESETS, reads=_reset("BROWN_OUT_RST")),
    row("restarted", _S, "", "the device started again, and no line says why", "two starts in one log",
        note="A watchdog, the supply voltage, or a fault whose report is not printed: ESP-IDF's is off with "
             "CONFIG_ESP_SYSTEM_PANIC_SILENT_REBOOT, Zephyr's with CONFIG_RESET_ON_FATAL_ERROR. Print the reason "
             "(esp_reset_reason(), hwinfo_get_reset_cause()) at the start."),
    row("esp8266_exception", _S, "", "the ESP8266 stopped at exception {code}", "Arduino core and SDK for ESP8266",
        "Exception (%d):", "Fatal exception (%d):", "Fatal exception %d(", fields="code", codes=_EXCCAUSE,
        note="The line epc1=... has the address: --firmware ELF says in which function."),
    row("esp_image", _C, "", "the flash has no program at 0x{address:x}", "ESP-IDF bootloader esp_image_format.c",
        "image at 0x%x has invalid magic byte", fields="address",
        note="Nothing ran yet, so the model is not the cause: flash the whole program again (idf.py erase-flash "
             "flash), "
             "with the board's flash size and mode; a program that grew beyond its partition needs a larger one."),
    row("esp_no_image", _C, "", "the flash has no program where the boot loader looks", "ESP32 boot ROM",
        "invalid header: 0x%x", "flash read err, %d", fields="address", note=_FLASH_IT),
    row("esp_no_app", _C, "", "the flash has no program that can be started", "ESP-IDF bootloader bootloader_utility.c",
        "No bootable app partitions in the partition table", "Factory app partition is not bootable",
        note=_FLASH_IT),
    row("esp_image_length", _C, "", "the program of {bytes:,} bytes is larger than its partition of {room:,}",
        "ESP-IDF bootloader esp_image_format.c", "Image length %d doesn't fit in partition length %d",
        fields="bytes room",
        note="The model's array and the operators are in there: a larger partition, or an int8 model."),
    row("not_flashed", _C, "", "the program was not flashed", "esptool; arduino-cli",
        "A fatal error occurred: Failed to connect", "A fatal error occurred: MD5 of file does not match",
        "A fatal error occurred: Could not open", "Failed uploading: uploading error", "No device found on",
        note="The model is not the cause: check the cable and the port, close other monitors, and bring the board into "
             "its boot loader (ESP32: hold BOOT; Nano 33 BLE: press reset twice)."),
    row("flash_write", _C, "", "the program wrote to memory that lies in flash", "ESP-IDF cache_err_int",
        "Write back error occurred while dcache tries to write back to flash",
        note="What is const lies in flash: the model's array, or an arena that was declared const. A kernel of an "
             "old TFLM "
             "that changes a tensor's shape writes into the model; a pointer into the model was taken for the arena."),
    row("psram", _C, "", "the external RAM was not found", "ESP-IDF esp_psram",
        "PSRAM ID read error", "PSRAM chip not found", "PSRAM chip is not connected", "Failed to init external RAM",
        note="Without it an arena in PSRAM cannot be allocated: set the mode that the module has (quad, octal), or "
             "take "
             "internal RAM; --model says whether the arena fits there."),
    row("esp_heap", _F, "create", "the heap has no piece of {bytes:,} bytes: the largest is {largest:,}", "ESP-IDF "
                                                                                                          "heap",
        "failed to allocate %d bytes in DRAM, largest free block %d", fields="bytes largest", note=_FREE),
    row("esp_alloc", _F, "create", "the heap has no piece of {bytes:,} bytes", "ESP-IDF heap hooks",
        "Mem alloc fail. size 0x%x", fields="bytes", note=_FREE),
    row("esp_dump", _R, "", "the program was stopped at a fault", "ESP-IDF panic handler", "EXCVADDR: 0x%x",
        "MTVAL : 0x%x", fields="address", note=_REPORT),
    row("esp_exception", _S, "", "the ESP32 stopped at exception {code}", "ESP-IDF panic handler", "EXCCAUSE: 0x%x",
        fields="code", codes=_EXCCAUSE, note=_POINTER),
    row("esp_registers_follow", _R, "", "the program was stopped at a fault", "ESP-IDF panic handler",
        "Core %d register dump:", fields="core", note=_REPORT),
    row("esp_registers", _R, "", "the program was stopped at a fault", "ESP-IDF panic handler", "MEPC : 0x%x",
        "epc1=0x%x", fields="pc", note=_REPORT),
    row("esp_backtrace", _R, "", "the program was stopped; this is the way to the place", "ESP-IDF panic handler",
        "Backtrace: 0x%x:0x%x", "Backtrace:0x%x:0x%x", "BackTrace: 0x%x:0x%x", fields="pc sp",
        note="--firmware ELF makes functions of the addresses; the lines before it say why."),
    row("decoded", _A, "", "a place in the program", "idf.py monitor; addr2line; EspExceptionDecoder",
        "0x%x: %s at %s:%d", "0x%x: %s at %s line %d", fields="pc function file source_line"),
    row("decoded", _A, "", "a place in the program", "idf.py monitor; addr2line", "0x%x: %s at %s:?",
        fields="pc function file"),
    row("rebooting", _R, "", "the device restarted after a fault", "ESP-IDF panic handler", "Rebooting...",
        note="The lines before say which; capture the log from the first start on."),
    # NuttX, Zephyr on RISC-V and Xtensa.
    row("riscv_exception", _S, "", "the processor stopped at a fault: {code}", "NuttX riscv_exception.c",
        "EXCEPTION: %s. MCAUSE: %x, EPC: %x, MTVAL: %x", fields="code mcause pc address", codes=_PANIC_REASONS,
        note=_POINTER),
    row("riscv_mcause", _S, "", "the processor stopped at exception {code}", "Zephyr arch/riscv/core/fatal.c",
        "mcause: %d, %s", fields="code name", codes=_MCAUSE, note=_POINTER),
    row("riscv_registers", _A, "", "a register", "Zephyr arch/riscv/core/fatal.c", "mepc: %x", "xepc: %x", fields="pc"),
    row("riscv_value", _A, "", "the address that was used", "Zephyr arch/riscv/core/fatal.c", "mtval: %x",
        fields="address"),
    row("xtensa_exception", _S, "", "the processor stopped at exception {code}",
        "Zephyr arch/xtensa/core/vector_handlers.c", "EXCCAUSE %d (%s)", fields="code name", codes=_EXCCAUSE,
        note=_POINTER),
    row("xtensa_fatal", _R, "", "the processor stopped at a fault", "Zephyr arch/xtensa/core/vector_handlers.c",
        "** FATAL EXCEPTION", note=_REPORT),
    row("xtensa_place", _A, "", "where it happened", "Zephyr arch/xtensa/core/vector_handlers.c",
        "PC 0x%x VADDR 0x%x", fields="pc address"),
    # Mbed OS, under the Arduino core of the Nano 33 BLE and the Portenta, and alone.
    row("mbed_fault", _R, "", "the processor stopped at a fault (Mbed OS)", "mbed_fault_handler.c",
        "++ MbedOS Fault Handler ++", note="The lines after it have the kind, PC and LR: --firmware ELF makes "
                                           "functions of "
                                           "them."),
    row("mbed_fault_type", _S, "", "the processor stopped at a fault (Mbed OS)", "mbed_fault_handler.c",
        "FaultType: %s", fields="code", codes=_FAULT_TYPES),
    row("mbed_error", _S, "", "Mbed OS stopped the program with error {code}", "mbed_error.c",
        "Error Status: 0x%x Code: %d Module: %d", fields="status code module", codes=_MBED_CODES,
        note="The line 'Error Message' says why, 'Location' has the address: --firmware ELF makes a function of it."),
    row("mbed_info", _R, "", "Mbed OS stopped the program", "mbed_error.c", "++ MbedOS Error Info ++",
        note="The lines 'Error Status' and 'Error Message' say why."),
    row("mbed_end", _A, "", "the end of a report", "mbed-os", "-- MbedOS Fault Handler --", "-- MbedOS Error Info --"),
    row("mbed_location", _A, "", "an address", "mbed_error.c", "Location: 0x%x", fields="pc"),
    row("mbed_fault_exception", _A, "", "a line of the report", "mbed_fault_handler.c",
        "Error Message: Fault exception"),
    row("mbed_memory", _C, "", "the heap of Mbed OS is used up", "mbed_retarget.cpp",
        "Operator new out of memory", "Operator new[] out of memory", note=_MBED_CODES[287][1]),
    row("mbed_stack", _C, "", "a thread's stack is too small (Mbed OS)", "mbed_rtx_handlers.c",
        "CMSIS-RTOS error: Stack overflow", note=_STACK),
    # Zephyr, and bare Cortex-M.
    row("zephyr_fault", _S, "", "the processor stopped at a fault", _ZEPHYR_FAULT,
        "***** %s FAULT *****", fields="code", codes=_ARM_FAULTS),
    # A stacking error of the MPU is what Zephyr itself takes for a stack that overflowed: fatal error 2.
    row("zephyr_stack", _C, "", "a thread's stack is too small (Zephyr)", f"{_ZEPHYR_FAULT}; kernel/fatal.c",
        "ZEPHYR FATAL ERROR 2: Stack overflow", "Stacking error (context area might be not valid)",
        "Stack overflow (context area not valid)", note=_ZEPHYR_STACK),
    row("zephyr_unaligned", _C, "", _MISALIGNED[0], _ZEPHYR_FAULT, "Unaligned memory access", note=_MISALIGNED[1]),
    row("zephyr_division", _C, "", _DIVIDED[0], _ZEPHYR_FAULT, "Division by zero", note=_DIVIDED[1]),
    row("zephyr_undefined", _C, "", _NO_CODE[0], _ZEPHYR_FAULT, "Attempt to execute undefined instruction",
        note=_NO_CODE[1]),
    row("zephyr_jump", _C, "", _JUMPED[0], _ZEPHYR_FAULT, "Illegal use of the EPSR",
        "Illegal load of EXC_RETURN into PC", "Instruction Access Violation", "Instruction bus error",
        note=_JUMPED[1]),
    row("zephyr_vectors", _C, "", "the processor could not read its vector table", _ZEPHYR_FAULT,
        "Bus fault on vector table read",
        note="The program is not where it was linked to, or its first bytes are no vector table: the board, the "
             "loader's address and the toolchain (SDK) have to be those of this build. It is no matter of the model."),
    row("zephyr_fpu", _C, "", "the floating point unit is off", _ZEPHYR_FAULT, "No coprocessor instructions",
        note="The library is built for a core with an FPU: set CONFIG_FPU=y, or build it for this one."),
    row("zephyr_detail", _A, "", "a line of the report", _ZEPHYR_FAULT, "Data Access Violation",
        "Precise data bus error", "Imprecise data bus error", "Unstacking error", "Stacking error",
        "Halting system"),
    row("zephyr_register", _A, "", "a register or a thread", "Zephyr arch/arm/core/fatal.c; kernel/fatal.c",
        "r0/a1: 0x%x", "r3/a4: 0x%x", "xpsr: 0x%x", "Current thread: 0x%x", fields="value"),
    row("zephyr_fatal", _S, "", "Zephyr stopped at fatal error {code}", "Zephyr kernel/fatal.c",
        "ZEPHYR FATAL ERROR %d", fields="code", codes=_ZEPHYR_REASONS, note=_ZEPHYR_BEFORE),
    row("zephyr_fatal", _S, "", "Zephyr stopped at fatal error {code}", "Zephyr kernel/fatal.c, since 2.2",
        "ZEPHYR FATAL ERROR %d: %s on CPU %d", fields="code reason cpu", codes=_ZEPHYR_REASONS, note=_ZEPHYR_BEFORE),
    row("zephyr_panic", _S, "", "Zephyr stopped: k_panic() was called", "Zephyr", "Kernel panic", "k_panic",
        "Kernel Panic", note=_ZEPHYR_REASONS[4][1]),
    row("zephyr_oops", _S, "", "Zephyr stopped a thread: k_oops() was called", "Zephyr", "Kernel oops", "k_oops",
        "Kernel OOPS", note=_ZEPHYR_REASONS[3][1]),
    row("zephyr_address", _A, "", "the address that was used", _ZEPHYR_FAULT,
        "MMFAR Address: 0x%x", "BFAR Address: 0x%x", fields="address"),
    row("zephyr_pc", _R, "", "the program was stopped at a fault", "Zephyr arch/arm/core/fatal.c",
        "Faulting instruction address (r15/pc): 0x%x", "Faulting instruction address = 0x%x", fields="pc",
        note=_REPORT),
    row("zephyr_lr", _A, "", "who called it", "Zephyr arch/arm/core/fatal.c", "r14/lr: 0x%x", fields="lr"),
    row("arm_fault", _S, "", "the processor stopped at a HardFault", _CORTEX_M,
        "HardFault", "Hard fault", "HARD FAULT", "Hard Fault", "hard fault", "hardfault", "faultISR",
        note=_POINTER),
    row("arm_cfsr_name", _C, "", "the processor stopped at a fault: CFSR.{code}", "IAR C-SPY", "(CFSR.%s)",
        fields="code", codes=_CFSR, note=_POINTER),
    row("arm_bus_fault", _S, "", "the processor stopped at a bus fault", _CORTEX_M, "BusFault", note=_POINTER),
    row("arm_memory_fault", _S, "", "the processor stopped at a MemManage fault", _CORTEX_M,
        "MemManage", note=_POINTER),
    row("arm_usage_fault", _S, "", "the processor stopped at a usage fault", _CORTEX_M, "UsageFault", note=_ALIGNMENT),
    row("arm_cfsr", _R, "", "the processor stopped at a fault", _CORTEX_M, "CFSR : %x", "CFSR : 0x%x", "CFSR = 0x%x",
        fields="cfsr", reads=_bad_cfsr),
    row("arm_cfsr", _R, "", "the processor stopped at a fault", "mbed_fault_handler.c", "MMFSR: %x", fields="cfsr",
        reads=_bad_cfsr),
    row("arm_cfsr", _R, "", "the processor stopped at a fault", "mbed_fault_handler.c", "BFSR : %x", fields="cfsr",
        reads=_as_cfsr(8)),
    row("arm_cfsr", _R, "", "the processor stopped at a fault", "mbed_fault_handler.c", "UFSR : %x", fields="cfsr",
        reads=_as_cfsr(16)),
    row("arm_address", _A, "", "the address that was used", _CORTEX_M, "MMFAR : %x", "MMFAR : 0x%x",
        "MMFAR = 0x%x", "BFAR : %x", "BFAR : 0x%x", "BFAR = 0x%x", fields="address"),
    row("arm_pc", _A, "", "where it happened", _CORTEX_M, "PC : %x", "PC : 0x%x", "PC = 0x%x", "pc = 0x%x",
        "pc : 0x%x", fields="pc"),
    row("arm_lr", _A, "", "who called it", _CORTEX_M, "LR : %x", "LR : 0x%x", "LR = 0x%x", "lr = 0x%x",
        "lr : 0x%x", fields="lr"),
    # FreeRTOS, the Pico SDK, hosts.
    row("freertos_stack", _C, "", "a task's stack is too small (FreeRTOS)", "FreeRTOS",
        "vApplicationStackOverflowHook", "Stack overflow", "stack overflow", "STACK OVERFLOW",
        "Stack Overflow", note=_STACK),
    row("freertos_heap", _C, "", "the heap of FreeRTOS is used up", "FreeRTOS", "vApplicationMallocFailedHook",
        "Malloc failed", "malloc failed", note=_FREE),
    row("esp_no_memory", _C, "", "the heap of ESP-IDF is used up", "ESP-IDF esp_common/esp_err.h", "ESP_ERR_NO_MEM",
        note=_FREE),
    row("pico_memory", _C, "", "the heap is used up (Pico SDK)", "pico-sdk pico_malloc",
        "Out of memory", "out of memory", note=_FREE),
    row("pico_panic", _R, "", "the program stopped itself: panic() was called (Pico SDK)", "pico-sdk pico_platform",
        "*** PANIC ***", "panic:", note="The text after it says why."),
    row("unmapped", _S, "", "the program used an address that is not mapped", "Hexagon QuRT", "TLB Miss",
        note="Memory that the DSP cannot reach in this mode: code, the arena or the model's array lie elsewhere (in "
             "low "
             "power island mode, all of them have to be in its own memory)."),
    row("segfault", _S, "", "the program used an address that is none", "Linux", "Segmentation fault",
        "segmentation fault", "SIGSEGV", "Bus error (core dumped)", note=_POINTER),
    row("illegal", _S, "", _NO_CODE[0], "Linux", "Illegal instruction (core dumped)", "illegal hardware instruction",
        note="It was compiled for a newer processor than this one (-march=native, AVX), or a function pointer was "
             "overwritten."),
    row("aborted", _S, "", "the program stopped itself: abort() was called", "Linux, macOS; Rust",
        "Aborted (core dumped)", "Abort trap: 6", "zsh: abort", "panicked at",
        note="An assertion or an exception that nobody catches: the line before or after it says which."),
    row("sanitizer", _C, "", "the program used memory that is not its own: {what}", "AddressSanitizer",
        "ERROR: AddressSanitizer: %s on", fields="what",
        note="The frames below it say where; -overflow on an arena is one that is smaller than the size given to "
             "MicroInterpreter, or an input that is filled with more than input->bytes."),
    row("sanitizer_misaligned", _C, "", _MISALIGNED[0], "UndefinedBehaviorSanitizer",
        "runtime error: load of misaligned address", "runtime error: store to misaligned address",
        "runtime error: member access within misaligned address", note=_ALIGNMENT),
    row("terminated", _S, "", "the program stopped at an exception that nobody catches", "libstdc++",
        "terminate called after throwing an instance of '%s'", fields="exception",
        note="{exception}: std::bad_alloc is memory that could not be had."),
    # MicroPython, CircuitPython, OpenMV.
    row("python_memory", _C, "create", "MicroPython's heap has no {bytes:,} bytes in one piece", "MicroPython "
                                                                                                 "py/runtime.c",
        "MemoryError: memory allocation failed, allocating %u bytes", "memory allocation failed, allocating %u bytes",
        fields="bytes",
        note="{bytes:,} bytes are asked for at once: the bytes of the model's file, or the arena. Let gc.collect() run "
             "first, read the model into one bytearray, take a build with the model or external RAM, or shrink it: "
             "--model says how small the arena may be."),
    row("python_heap", _C, "create", "MicroPython's heap is used up", "MicroPython py/runtime.c",
        "MemoryError", "memory allocation failed, heap is locked",
        note="The bytes of the model's file and the arena are taken from it. Let gc.collect() run first, take a build "
             "with external RAM, or shrink the model: --model says how small the arena may be."),
    row("circuitpython_stack", _C, "", "the stack is too small (CircuitPython)", "CircuitPython safe mode",
        "heap was corrupted because the stack was too small", note=_STACK),
    row("python_fatal", _S, "", "MicroPython stopped", "MicroPython ports", "FATAL: uncaught exception",
        "NLR jump failed", note="Often its heap or stack is used up: gc.collect(), a smaller arena, a larger stack."),
    row("nordic_memory", _C, "", "the heap is used up (nRF5 SDK)", "nRF5 SDK nrf_error.h", "NRF_ERROR_NO_MEM",
        note=_FREE),
    row("python_enomem", _C, "create", "the system has no memory left (ENOMEM)", "MicroPython, POSIX",
        "[Errno 12] ENOMEM", "ENOMEM", note=_FREE),
)
# fmt: on
