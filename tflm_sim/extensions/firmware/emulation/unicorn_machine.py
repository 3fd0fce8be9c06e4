"""A machine in Unicorn: any memory map, Cortex-M0 to M33 and RISC-V of 32 bits.

    ELF segments         as they are loaded; what is not writable stays so
    other memory         appears where it is touched first, in pieces of 64 KiB, zeroed
        devices              return what was written last, and walking bits if they are read again and again

Unicorn is an extra that the user installs (it embeds code under the GPL 2); only exceptions.py imports it, too.
"""

from __future__ import annotations

import mmap
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from ctypes import addressof, byref, c_char, c_size_t, c_uint64, c_void_p, cast, pointer, sizeof

import unicorn
from unicorn import arm_const, riscv_const
from unicorn.unicorn_py3.unicorn import uclib

from tflm_sim.extensions.firmware.emulation.devices import Devices
from tflm_sim.extensions.firmware.emulation.emulator import WAITS, Core, Reason, Snapshot, Stop
from tflm_sim.extensions.firmware.emulation.exceptions import RETURN_REACHED, SVC, SVC_REACHED, Exceptions
from tflm_sim.extensions.firmware.emulation.memory_map import (
    ADDRESSES,
    CHUNK,
    SPARE_DISTANCE,
    MemoryKind,
    MemoryMap,
    Span,
)
from tflm_sim.extensions.firmware.emulation.store_watch import Noted
from tflm_sim.units import align_up

try:
    from tflm_sim.extensions.firmware.emulation import _counting  # type: ignore[attr-defined,unused-ignore]
except ImportError:  # Installed without a compiler: instructions are not counted, and stores not watched.
    _counting = None

_THUMB = 1 << 24
"""The state of execution in no IT block."""
_NEVER = 0xFFFFFFFE
"""An address at which no instruction lies."""
_SLICE_S, _NUDGE_S, _PATIENCE_S = 0.02, 0.001, 0.1
"""Seconds between two looks at a program that runs, and at one that may wait for its clock; and how long it may reach
nothing until that is looked at."""
_MAX_WAITS = 10_000
"""Exceptions, and waits for an interrupt (WFI) that end at once, as if one had come."""
_MAX_MEMORY = 256 << 20
_LOUD = 1 << 19
"""Instructions of blocks that store to the stack alone, after which those are translated without a hook of stores."""
_STRICT = ("Cortex-M0", "Cortex-M23")
"""Cores on which every access must be to a multiple of its size."""
_INVALID = unicorn.UC_HOOK_MEM_UNMAPPED | unicorn.UC_HOOK_MEM_PROT
_ACCESS = {
    unicorn.UC_MEM_READ_UNMAPPED: "reads",
    unicorn.UC_MEM_WRITE_UNMAPPED: "writes",
    unicorn.UC_MEM_FETCH_UNMAPPED: "jumps to",
    unicorn.UC_MEM_READ_PROT: "reads",
    unicorn.UC_MEM_WRITE_PROT: "writes",
    unicorn.UC_MEM_FETCH_PROT: "jumps to",
}


_ARM_NAMES = (*(f"r{index}" for index in range(13)), "sp", "lr", "pc", "xpsr")
_RISCV_NAMES = (*(f"a{index}" for index in range(8)), "sp", "ra", "gp", "pc")


class UnicornMachine:
    """A program in Unicorn.

    Args:
        core: Its processor.
        memory: Its memory.
        vectors: Where a Cortex-M's table of vectors lies.

    Attributes:
        quiet: The addresses of blocks that were translated without a hook of stores, as they store to the stack alone.
    """

    def __init__(self, core: Core, memory: MemoryMap, vectors: int = 0) -> None:
        self.core = core
        self.ignores_alignment = core.is_arm
        self._memory = memory
        if core.is_arm:
            self._uc = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
            self._uc.ctl_set_cpu_model(getattr(arm_const, core.model))
            self._registers = {name: getattr(arm_const, f"UC_ARM_REG_{name.upper()}") for name in _ARM_NAMES}
        else:
            self._uc = unicorn.Uc(unicorn.UC_ARCH_RISCV, unicorn.UC_MODE_RISCV32)
            self._registers = {name: getattr(riscv_const, f"UC_RISCV_REG_{name.upper()}") for name in _RISCV_NAMES}
        self._chunks: dict[int, mmap.mmap] = {}
        self._written: dict[int, mmap.mmap] = {}
        self._devices = Devices()
        self._hooks: dict[int, int] = {}
        self._spare, self._spare_code = memory.spare, memory.spare_code
        self._noted: Noted | None = None
        self._is_counting = False
        self.quiet: set[int] = set()
        self._patience = _LOUD
        self._resumed: int | None = None
        self._hit: int | None = None
        self._fault: Stop | None = None
        self._exceptions: Exceptions | None = None
        self._exception: int | None = None
        if core.is_arm:
            self._exceptions = Exceptions(self._uc, self._devices, vectors)
            self._uc.hook_add(unicorn.UC_HOOK_INTR, self._on_exception)
        self._watch = _Watch(self._uc.emu_stop)
        for first, last in self._not_spare():
            self._uc.hook_add(_INVALID, self._on_invalid, begin=first, end=last)
        for address, data in memory.loaded:
            self.write(address, data)

    # -- memory ---------------------------------------------------------------------------------------------------

    def _map(self, base: int) -> None:
        if len(self._chunks) * CHUNK >= _MAX_MEMORY:
            raise MemoryError
        buffer = mmap.mmap(-1, CHUNK)
        self._chunks[base] = buffer
        for start, size, is_writable in self._memory.pages(base):
            if is_writable:
                self._written[base] = buffer
            rights = unicorn.UC_PROT_ALL if is_writable else unicorn.UC_PROT_READ | unicorn.UC_PROT_EXEC
            self._uc.mem_map_ptr(start, size, rights, addressof(c_char.from_buffer(buffer)) + start - base)

    def _pieces(self, address: int, size: int) -> Iterator[tuple[int, int, int]]:
        while size > 0:
            base = address & -CHUNK
            step = min(size, base + CHUNK - address)
            yield base, address - base, address - base + step
            address, size = address + step, size - step

    def read(self, address: int, size: int) -> bytes:
        """Return bytes; zeros where nothing is."""
        chunks = self._chunks
        first = address % CHUNK
        if first + size <= CHUNK and address - first in chunks:  # Nearly always, and tens of thousands of times.
            return chunks[address - first][first : first + size]
        return b"".join(
            chunks[base][first:end] if base in chunks else bytes(end - first)
            for base, first, end in self._pieces(address, size)
        )

    def write(self, address: int, data: bytes) -> None:
        at = 0
        for base, first, end in self._pieces(address, len(data)):
            if base not in self._chunks:
                self._map(base)
            self._chunks[base][first:end] = data[at : at + end - first]
            at += end - first

    def _on_invalid(self, uc: unicorn.Uc, access: int, address: int, size: int, value: int, data: object) -> bool:
        if self.core.is_arm:  # As at a store that is noted: see end_it_block() in counting.c.
            uc.reg_write(arm_const.UC_ARM_REG_EPSR, _THUMB)
        kind = self._memory.kind(address)
        base = address & -CHUNK
        is_protected = access in (unicorn.UC_MEM_WRITE_PROT, unicorn.UC_MEM_READ_PROT, unicorn.UC_MEM_FETCH_PROT)
        if kind is MemoryKind.DEVICE and access != unicorn.UC_MEM_FETCH_UNMAPPED and not is_protected:
            uc.mmio_map(base, CHUNK, self._devices.reader(base), None, self._devices.writer(base), None)
            return True
        if kind is MemoryKind.MEMORY and base not in self._chunks and access != unicorn.UC_MEM_FETCH_UNMAPPED:
            try:
                self._map(base)
            except MemoryError:
                self._fault = Stop(Reason.FAULT, self.get("pc"), "uses more memory than is given", address)
                return False
            return True
        self._fault = Stop(Reason.FAULT, self.get("pc"), _ACCESS.get(access, "uses"), address)
        return False

    def spare(self, size: int) -> int:
        """Return memory that the program knows nothing of."""
        self._spare -= align_up(size, CHUNK)
        self.write(self._spare, bytes(size))
        return self._spare

    def place(self, data: bytes) -> int:
        """Put bytes where the program knows nothing of them; return their address."""
        self._spare_code -= align_up(len(data), CHUNK)
        self.write(self._spare_code, data)
        return self._spare_code

    def _not_spare(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return (first, last) of the addresses below and above spare memory: where it is asked what a store does.

        Unicorn is slow with what it has to ask about, and most stores are to the stack that is lent.
        """
        return (0, self._memory.spare - SPARE_DISTANCE - 1), (self._memory.spare, ADDRESSES - 1)

    # -- registers ------------------------------------------------------------------------------------------------

    def get(self, register: str) -> int:
        value: int = self._uc.reg_read(self._registers[register])
        return value & ~1 if register == "pc" else value

    def set(self, register: str, value: int) -> None:
        if register == "pc":
            value |= self.core.code_bit
            self._resumed = None
        self._uc.reg_write(self._registers[register], value & 0xFFFFFFFF)

    # -- running --------------------------------------------------------------------------------------------------

    def stop_at(self, addresses: Iterable[int]) -> None:
        """Stop before the instructions at ``addresses``."""
        for address in addresses:
            if address not in self._hooks:
                self._hooks[address] = self._uc.hook_add(
                    unicorn.UC_HOOK_CODE, self._on_address, begin=address, end=address
                )
                self._forget(address)

    def leave(self, address: int) -> None:
        if address in self._hooks:
            self._uc.hook_del(self._hooks.pop(address))
            self._forget(address)

    def count(self) -> int | None:
        """Return how many instructions were executed since the first call."""
        noted = self.noted()
        if noted is None:
            return None
        if not self._is_counting:
            self._is_counting = True
            noted.is_thumb = self.core.is_arm
            noted.generation = 1
            noted.hook_del = cast(uclib.uc_hook_del, c_void_p).value or 0
            noted.most_loud = self._patience
            self._hook(unicorn.UC_HOOK_BLOCK, _counting.hooks()[0], noted)
            self._uc.ctl_flush_tb()
        return int(noted.instructions)

    def _uncount(self) -> None:
        """Take off what the block in which the machine stopped has from there on: it was counted as a whole."""
        noted = self._noted
        if noted is None or not self._is_counting:
            return
        at, end = self.get("pc"), noted.block_address + noted.block_size
        if noted.block_address <= at < end:
            machine = self._uc._uch.value or 0
            noted.instructions -= _counting.instructions(addressof(noted), machine, at, end - at)
        noted.block_size = 0

    def devices(self) -> tuple[Span, ...]:
        """Return where no memory is that a program could damage."""
        return self._memory.devices()

    def noted(self) -> Noted | None:
        """Return where stores are noted; the first call has it begin, None where that cannot be done."""
        if _counting is None or self._noted is not None:
            return self._noted
        self._noted = noted = Noted()
        noted.get_register = cast(uclib.uc_reg_read, c_void_p).value or 0
        noted.read_memory = cast(uclib.uc_mem_read, c_void_p).value or 0
        noted.emu_stop = cast(uclib.uc_emu_stop, c_void_p).value or 0
        noted.program_counter = self._registers["pc"]
        if self.core.is_arm:
            noted.set_register = cast(uclib.uc_reg_write, c_void_p).value or 0
            noted.execution_state = arm_const.UC_ARM_REG_EPSR
        assert _counting.hooks()[2] == sizeof(Noted), "C and Python have the same form"
        self._hook_stores(noted)
        self._uc.ctl_flush_tb()
        return noted

    def check_alignment(self) -> None:
        noted = self.noted()
        if noted is None or not self.ignores_alignment:
            return
        self.ignores_alignment = False
        noted.is_strict = self.core.name in _STRICT
        self._hook(unicorn.UC_HOOK_MEM_READ | unicorn.UC_HOOK_MEM_WRITE, _counting.hooks()[3], noted)
        self._uc.ctl_flush_tb()

    def _hook_stores(self, noted: Noted) -> None:
        for index, (first, last) in enumerate(self._not_spare()):
            handle = self._hook(unicorn.UC_HOOK_MEM_WRITE, _counting.hooks()[1], noted, first, last)
            noted.store_hook[index] = handle

    def _hook(self, kind: int, function: int, noted: Noted, first: int = 1, last: int = 0) -> int:
        """Have a function of C called for ``first`` to ``last`` inclusive, for all addresses where ``last`` is less."""
        data, where, handle = cast(pointer(noted), c_void_p), (c_uint64(first), c_uint64(last)), c_size_t(0)
        status = uclib.uc_hook_add(self._uc._uch, byref(handle), kind, c_void_p(function), data, *where)
        assert status == unicorn.UC_ERR_OK, "Unicorn takes a function of C as a hook"
        return handle.value

    def _has_hushed(self) -> bool:
        """Whether the machine was stopped because of loud blocks; then they are translated anew, without a hook.

        With a hook of stores Unicorn takes the long way for each load and store of what it translates, also where that
        stores only to the stack. What it has translated stays as it is when the hook comes back.
        """
        noted = self._noted
        if noted is None or not self._is_counting or noted.most_loud:
            return False
        loud = set(_counting.loud(addressof(noted)))
        self._patience = _LOUD if loud - self.quiet else 2 * self._patience
        self.quiet |= loud
        self._uc.ctl_flush_tb()
        for address in self.quiet:
            self._uc.ctl_request_cache(address)
        self._hook_stores(noted)
        noted.most_loud = self._patience
        return True

    def _forget(self, address: int) -> None:
        """Have the code with an address translated anew: hooks are part of the translation."""
        self._uc.ctl_remove_cache(address, address + 2)

    def _on_address(self, uc: unicorn.Uc, address: int, size: int, data: object) -> None:
        if address == self._resumed:
            self._resumed = None
            return
        self._hit = address
        uc.emu_stop()

    def _on_exception(self, uc: unicorn.Uc, number: int, data: object) -> None:
        self._exception = number
        uc.emu_stop()

    def run(self, limit: float, *, is_quiet: bool = False) -> Stop:
        start = self.get("pc")
        self._resumed = start if start in self._hooks else None
        self._hit = self._fault = None
        if self._noted is not None:
            self._noted.unaligned_at = 0
        self._watch.start(limit, is_quiet or self._exceptions is None)
        try:
            for _ in range(_MAX_WAITS):
                self._exception = None
                try:
                    self._uc.emu_start(self.get("pc") | self.core.code_bit, _NEVER)
                finally:
                    self._uncount()
                    has_hushed = self._has_hushed()
                if self._noted is not None and self._noted.unaligned_at:
                    at, address = self._noted.unaligned_at, self._noted.unaligned
                    return Stop(Reason.FAULT, at, "accesses the unaligned address", address)
                if has_hushed and not self._watch.is_late:
                    continue
                if self._hit is not None or self._watch.is_late or not self._goes_on(is_quiet):
                    break
        except unicorn.UcError as problem:
            return self._fault or Stop(Reason.FAULT, self.get("pc"), f"stops the processor ({problem})")
        finally:
            self._watch.stop()
        return self._stopped()

    def _goes_on(self, is_quiet: bool) -> bool:
        """Enter or leave an exception, where the program has come to one; False where it cannot go on."""
        exceptions, waits = self._exceptions, self._watch.has_nudged
        self._watch.has_nudged = False
        if exceptions is None:
            return True
        if self._exception == RETURN_REACHED:
            exceptions.leave()
        elif self._exception == SVC_REACHED:
            return exceptions.enter(SVC)
        elif self._exception is not None:
            return False
        elif exceptions.is_asked:
            exceptions.end_store()
        elif is_quiet:
            return True
        elif (waits or not exceptions.pending) and not exceptions.tick():
            self._watch.is_quiet = True
        exceptions.enter_pending()
        return True

    def _stopped(self) -> Stop:
        if self._hit is not None:
            return Stop(Reason.ADDRESS, self._hit)
        if self._watch.is_late:
            return Stop(Reason.LIMIT, self.get("pc"))
        if self._exception is not None:
            return Stop(Reason.FAULT, self.get("pc"), f"stops the processor (exception {self._exception})")
        return Stop(Reason.FAULT, self.get("pc"), WAITS)

    # -- snapshots ------------------------------------------------------------------------------------------------

    def save(self) -> Snapshot:
        chunks = {base: bytes(buffer) for base, buffer in self._written.items()}
        pending = set() if self._exceptions is None else set(self._exceptions.pending)
        return Snapshot(self._uc.context_save(), (self._devices.save(), pending), chunks)

    def restore(self, snapshot: Snapshot) -> None:
        self._uc.context_restore(snapshot.processor)
        devices, pending = snapshot.devices
        self._devices.restore(devices)
        if self._exceptions is not None:
            self._exceptions.pending = set(pending)
        for base, buffer in self._written.items():
            buffer[:] = snapshot.memory.get(base) or bytes(CHUNK)
        self._resumed = None
        if self._noted is not None:
            self._noted.generation += 1  # Code may be other code from now on.
            self.quiet.clear()

    def close(self) -> None:
        self._watch.end()


class _Watch:
    """Interrupts the emulator when it has run for too long; Unicorn's own clock would start a thread each time.

    What is interrupted is not resumed: the program may stand between two instructions that belong together.

    A program that reaches nothing for a while is nudged before that: it may wait for its clock to tick.

    Attributes:
        is_late: Whether it was interrupted.
        is_quiet: Whether it is not nudged.
        has_nudged: Whether it was.
    """

    def __init__(self, interrupt: Callable[[], None]) -> None:
        self._interrupt = interrupt
        self._running = threading.Event()
        self._asked = (0.0,)
        self.is_late = self.is_quiet = self.has_nudged = self._has_ended = False
        threading.Thread(target=self._tick, daemon=True).start()

    def _tick(self) -> None:
        asked, deadline, nudged_at = self._asked, 0.0, 0.0
        while self._running.wait() and not self._has_ended:
            time.sleep(_SLICE_S if self.is_quiet else _NUDGE_S)
            now = time.process_time()
            if asked is not self._asked:
                asked = self._asked
                deadline, nudged_at = now + asked[0], now + _PATIENCE_S
            elif self._running.is_set() and now > deadline:
                self.is_late = True
                self._interrupt()
            elif self._running.is_set() and now > nudged_at and not self.is_quiet:
                self.has_nudged = True
                self._interrupt()

    def start(self, limit: float, is_quiet: bool) -> None:
        """Begin to watch. The time is not looked at here: there are tens of thousands of short runs."""
        self._asked = (limit,)  # Not the one of before, even where the limit is the same.
        self.is_late, self.has_nudged, self.is_quiet = False, False, is_quiet
        self._running.set()

    def stop(self) -> None:
        """Leave it alone."""
        self._running.clear()

    def end(self) -> None:
        self._has_ended = True
        self._running.set()
