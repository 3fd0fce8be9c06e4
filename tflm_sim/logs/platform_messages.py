"""What processors, systems, linkers and tool chains print when a program does not fit, or is stopped.

A STOPPED row says that the program was stopped, a CAUSE row why: where a log has both, the cause is the answer. An
ADDRESS row carries addresses, which :mod:`tflm_sim.logs.crashes` reads.
Sources: ESP-IDF docs/en/api-guides/fatal-errors.rst @ 028093e; Zephyr kernel/fatal.c @ 00bf76e and
arch/arm/core/cortex_m/fault.c; mbed-os platform/include/platform/mbed_error.h @ 09734a8 and
platform/source/TARGET_CORTEX_M/mbed_fault_handler.c; GNU ld; arduino-cli.
"""

from __future__ import annotations

import re

from tflm_sim.logs.message_kinds import MessageKind, Role, Values, row

_S, _R, _C, _A, _B, _L, _F = (Role.STOPPED, Role.REPORT, Role.CAUSE, Role.NOTE, Role.BUILD, Role.FLASH, Role.FRAMEWORK)

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
_CORTEX_M = "Cortex-M exceptions"
_ZEPHYR_FAULT = "Zephyr arch/arm/core/cortex_m/fault.c @ 0183d02"
_REPORT = "The lines before say which fault it was; --firmware ELF makes functions of the addresses."
_FREE = (
    "This is the heap, not TFLM's arena being too small: the heap has no such piece in one. Make the arena static or "
    "smaller (--model says how small it may be), allocate it before Wi-Fi, BLE and the camera, or take external RAM."
)


def _over(values: Values) -> Values | None:
    """Return the fields of a sketch that is larger than what there is."""
    return values if int(values.get("percent", 0)) > 100 else None


def _flash_over(values: Values) -> Values | None:
    used, limit = int(values["used"]), int(values["limit"])
    return {**values, "bytes": used - limit} if used > limit else None


def _bad_reset(values: Values) -> Values | None:
    return values if values.get("code") in _RESETS else None


_CODE = re.compile(r"flash|rom|text|code|iram|itcm|xip", re.IGNORECASE)
_LINKED = (
    "Nothing ran yet: what the program puts into {region} is {bytes:,} bytes too much. If a static arena is in there, "
    "make it smaller ('tflm-sim size MODEL' says how small it may be), or move it or other data elsewhere."
)
_CODE_LINKED = (
    "Nothing ran yet: code and constants are {bytes:,} bytes too much for {region}. The arena is not in there; the "
    "model's "
    "array and the operators are: quantize the model to int8, name its operators (MicroMutableOpResolver, not "
    "AllOpsResolver), build with -Os, or place the array elsewhere."
)


def _of_ram(values: Values) -> Values | None:
    return None if _CODE.search(str(values["region"])) else values


def _of_code(values: Values) -> Values | None:
    return values if _CODE.search(str(values["region"])) else None


def _backwards(values: Values) -> Values:
    """Return how far the data reach: the linker names where they end, and where they had to."""
    return {**values, "bytes": int(values["from"]) - int(values["to"])}


_OVERFLOWED = (
    "region `%s' overflowed by %d bytes",
    "region '%s' overflowed by %d bytes",
    "region %s overflowed by %d bytes",
)


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
    row("watchdog", _C, "", "a watchdog restarted the device", "ESP8266, Arduino", "Soft WDT reset", "wdt reset",
        "Watchdog reset", note=_WATCHDOG),
    row("brownout", _C, "", "the supply voltage fell, and the device restarted", "ESP-IDF",
        "Brownout detector was triggered",
        note="Wi-Fi or a camera together with the model draw more than the supply or the cable gives."),
    row("esp_reset", _S, "", "the device restarted", "ESP32 boot ROM", "rst:0x%x (%s)", fields="reason code",
        codes=_RESETS, reads=_bad_reset),
    row("restarted", _S, "", "the device started again, and no line says why", "two starts in one log",
        note="A watchdog, the supply voltage, or a fault whose report is not printed: ESP-IDF's is off with "
             "CONFIG_ESP_SYSTEM_PANIC_SILENT_REBOOT, Zephyr's with CONFIG_RESET_ON_FATAL_ERROR. Print the reason "
             "(esp_reset_reason(), hwinfo_get_reset_cause()) at the start."),
    row("esp8266_exception", _S, "", "the ESP8266 stopped at exception {reason}", "Arduino core for ESP8266",
        "Exception (%d):", fields="reason",
        note="28 and 29 are a read and a write at an address that is none, often a null pointer; 9 is an address "
             "that is "
             "not aligned; 0 and 2 a jump to no code. The line epc1=... has the address: --firmware ELF."),
    row("esp_image", _C, "", "the flash has no program at 0x{address:x}", "ESP-IDF bootloader esp_image_format.c",
        "image at 0x%x has invalid magic byte", fields="address",
        note="Nothing ran yet, so the model is not the cause: flash the whole program again (idf.py erase-flash "
             "flash), "
             "with the board's flash size and mode; a program that grew beyond its partition needs a larger one."),
    row("esp_no_image", _C, "", "the flash has no program where the boot loader looks", "ESP32 boot ROM",
        "invalid header: 0x%x", "flash read err, %d", fields="address",
        note="Nothing ran yet, so the model is not the cause: flash the whole program again."),
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
    row("esp_registers_follow", _R, "", "the program was stopped at a fault", "ESP-IDF panic handler",
        "Core %d register dump:", fields="core", note=_REPORT),
    row("esp_registers", _A, "", "registers of the ESP32", "ESP-IDF panic handler", "MEPC : 0x%x",
        "epc1=0x%x", fields="pc"),
    row("esp_backtrace", _R, "", "the program was stopped; this is the way to the place", "ESP-IDF panic handler",
        "Backtrace: 0x%x:0x%x", "Backtrace:0x%x:0x%x", "BackTrace: 0x%x:0x%x", fields="pc sp",
        note="--firmware ELF makes functions of the addresses; the lines before it say why."),
    row("decoded", _A, "", "a place in the program", "idf.py monitor; addr2line", "0x%x: %s at %s:%d",
        fields="pc function file source_line"),
    row("decoded", _A, "", "a place in the program", "idf.py monitor; addr2line", "0x%x: %s at %s:?",
        fields="pc function file"),
    row("rebooting", _A, "", "the device restarts", "ESP-IDF panic handler", "Rebooting..."),
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
        "HardFault", "Hard fault", "HARD FAULT", "Hard Fault", "hard fault", "hardfault", note=_POINTER),
    row("arm_bus_fault", _S, "", "the processor stopped at a bus fault", _CORTEX_M, "BusFault", note=_POINTER),
    row("arm_memory_fault", _S, "", "the processor stopped at a MemManage fault", _CORTEX_M,
        "MemManage", note=_POINTER),
    row("arm_usage_fault", _S, "", "the processor stopped at a usage fault", _CORTEX_M, "UsageFault", note=_ALIGNMENT),
    row("arm_cfsr", _A, "", "the register that says which fault", _CORTEX_M, "CFSR : %x", "CFSR : 0x%x", "CFSR = 0x%x",
        fields="cfsr"),
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
        "segmentation fault", "SIGSEGV",
        note=_POINTER),
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
    row("python_enomem", _C, "create", "the system has no memory left (ENOMEM)", "MicroPython, POSIX",
        "[Errno 12] ENOMEM", "ENOMEM", note=_FREE),
    # The linker and arduino-cli, before anything ran.
    row("sketch_flash", _L, "", "the sketch is {bytes:,} bytes larger than the flash: {percent} %", "arduino-cli",
        "Sketch uses %d bytes (%d%%) of program storage space. Maximum is %d bytes.", fields="used percent limit",
        reads=_flash_over,
        note="Nothing ran yet. The flash holds the model's array and the code of the operators, not the arena: "
             "quantize "
             "the model to int8, name the operators (MicroMutableOpResolver, not AllOpsResolver), or take a larger "
             "partition (ESP32: 'Huge APP')."),
    row("sketch_ram", _B, "", "static data are larger than the RAM: {percent} %", "arduino-cli",
        "Global variables use %d bytes (%d%%) of dynamic memory", fields="bytes percent", reads=_over,
        note="Nothing ran yet. The arena is in there: make it smaller ('tflm-sim size MODEL' says how small it may "
             "be)."),
    row("sketch_too_big", _L, "", "the sketch is larger than the flash", "arduino-cli", "Sketch too big",
        "text section exceeds available space in board",
        note="Nothing ran yet. The flash holds the model's array and the code of the operators, not the arena: "
             "quantize "
             "the model to int8, and name the operators (MicroMutableOpResolver, not AllOpsResolver)."),
    row("sketch_memory", _B, "", "static data are larger than the RAM", "arduino-cli", "Not enough memory; see",
        "data section exceeds available space in board",
        note="Nothing ran yet. The arena is in there: make it smaller ('tflm-sim size MODEL' says how small it may "
             "be); "
             "the line 'Global variables use ...' before it has the bytes."),
    row("region_overflow", _B, "", "the program does not fit the memory that the linker has", "GNU ld", *_OVERFLOWED,
        fields="region bytes", note=_LINKED, reads=_of_ram),
    row("code_overflow", _L, "", "the program's code and constants do not fit their memory", "GNU ld", *_OVERFLOWED,
        fields="region bytes", note=_CODE_LINKED, reads=_of_code),
    row("segment_overflow", _B, "", "the program does not fit the memory that the linker has", "GNU ld, for an ESP32",
        "%s_seg overflowed by %d bytes", fields="region bytes", note=_LINKED.replace("{region}", "{region}_seg"),
        reads=_of_ram),
    row("code_segment_overflow", _L, "", "the program's code and constants do not fit their memory",
        "GNU ld, for an ESP32", "%s_seg overflowed by %d bytes", fields="region bytes",
        note=_CODE_LINKED.replace("{region}", "{region}_seg"), reads=_of_code),
    row("section_overflow", _B, "", "the program does not fit the memory that the linker has", "GNU ld",
        "section `%s' will not fit in region `%s'", "section '%s' will not fit in region '%s'",
        "section %s will not fit in region %s", fields="section region", reads=_of_ram,
        note="Nothing ran yet: {section} is too large for {region}; the linker's next line says by how many bytes."),
    row("code_section_overflow", _L, "", "the program's code and constants do not fit their memory", "GNU ld",
        "section `%s' will not fit in region `%s'", "section '%s' will not fit in region '%s'",
        "section %s will not fit in region %s", fields="section region", reads=_of_code,
        note="Nothing ran yet: {section} is too large for {region}; the linker's next line says by how many bytes. The "
             "arena is not in there; the model's array and the operators are."),
    row("location_counter", _B, "", "static data are {bytes:,} bytes too large", "GNU ld",
        "cannot move location counter backwards (from %x to %x)",
        "cannot move location counter backwards (from 0x%x to 0x%x)", fields="from to", reads=_backwards,
        note="Nothing ran yet: static data reach {bytes:,} bytes beyond the place where the linker script begins "
             "with what "
             "follows (heap, stack). If a static arena is in there, make it smaller by as much: 'tflm-sim size MODEL' "
             "says how small it may be."),
    row("esp_segment", _B, "", "the program does not fit the memory that the linker has", "ESP-IDF sections.ld.in",
        "DRAM segment data does not fit", note="Nothing ran yet: the static data, the arena with it, are too large."),
    row("esp_code_segment", _L, "", "the program's code does not fit its memory", "ESP-IDF sections.ld.in",
        "IRAM0 segment data does not fit",
        note="Nothing ran yet: code in IRAM is too large, which the arena is no part of: CONFIG_COMPILER_OPTIMIZATION_"
             "SIZE, fewer components with IRAM options."),
    row("old_cmsis", _L, "", "the board package's CMSIS is older than the library's CMSIS-NN", "GCC",
        "'__STATIC_FORCEINLINE' does not name a type",
        note="Nothing ran yet. Update the board's package; where none is newer (SAMD boards, as the Nano 33 IoT), take "
             "an older release of the library, or one with reference kernels."),
    row("precompiled", _L, "", "the library is precompiled for another version of the board's package", "GCC",
        "libmbed.a: No such file or directory", "libcc_310_core.a: No such file or directory",
        note="Nothing ran yet. Install the version of the board's package that the library was made for, or a library "
             "that is compiled with the sketch."),
    row("no_header", _L, "", "the compiler does not find the file {file}", "GCC",
        "fatal error: %s: No such file or directory", fields="file",
        note="Nothing ran yet. No installed library has {file}: 'tflm-sim list libraries' lists those that are "
             "known; newer ones have no micro_error_reporter.h and no all_ops_resolver.h, as old examples do."),
    row("undefined", _L, "", "the program calls something that no file defines", "GNU ld",
        "undefined reference to `%s'", "undefined reference to '%s'", "undefined symbol: %s", fields="symbol",
        note="Nothing ran yet. {symbol} is in a source file that is not built, or the library's files are of two "
             "versions: install one library, whole, and build anew."),
)
# fmt: on
