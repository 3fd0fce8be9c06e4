"""A program of our own with TFLM's names, whose every request is known: for what executes programs."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import elf_program

VECTORS = """extern "C" int main();
#ifndef HANDLERS
#define HANDLERS
#endif
extern "C" void Fault_Handler() { for (;;) asm volatile(""); }
extern "C" char __StackTop;
__attribute__((section(".vectors"), used)) const void *const vectors[] = {
    &__StackTop,           (void *)main,          (void *)Fault_Handler, (void *)Fault_Handler,
    (void *)Fault_Handler, (void *)Fault_Handler, (void *)Fault_Handler HANDLERS};
"""
"""Where a Cortex-M starts; ``HANDLERS``: more of them, after a comma."""
END = """  register int operation asm("r0") = 0x18;
  register int reason asm("r1") = 0x20026;
  asm volatile("bkpt 0xab" : : "r"(operation), "r"(reason));
  for (;;) asm volatile("");
}
"""
"""The end of main(): the program leaves, by semihosting."""
SOURCE = (
    """
#include <stddef.h>
#include <stdint.h>
#include <stdarg.h>
#ifndef PASSING
#define PASSING
#endif
__attribute__((noinline)) void MicroPrintf(const char *format, ...) { asm volatile("" : : "r"(format) : "memory"); }
namespace tflite {
struct SingleArenaBufferAllocator {
  uint8_t *start, *end, *head, *tail, *temp;
  virtual uint8_t *AllocatePersistentBuffer(size_t size, size_t alignment);
  virtual uint8_t *AllocateTemp(size_t size, size_t alignment);
  virtual int ResetTempAllocations();
  static SingleArenaBufferAllocator *Create(uint8_t *buffer, size_t size);
};
__attribute__((noinline)) uint8_t *SingleArenaBufferAllocator::AllocatePersistentBuffer(size_t size, size_t alignment) {
  uint8_t *at = (uint8_t *)(((uintptr_t)tail - size) & -(uintptr_t)alignment);
  if (at < head) {
    MicroPrintf("Failed to allocate tail memory. Requested: %u, available %u", size, (unsigned)(tail - head));
    return nullptr;
  }
  return tail = at;
}
__attribute__((noinline)) uint8_t *SingleArenaBufferAllocator::AllocateTemp(size_t size, size_t alignment) {
  uint8_t *at = (uint8_t *)(((uintptr_t)temp + alignment - 1) & -(uintptr_t)alignment);
  if ((uintptr_t)tail - (uintptr_t)at < size || at > tail) return nullptr;
  temp = at + size;
  return at;
}
__attribute__((noinline)) int SingleArenaBufferAllocator::ResetTempAllocations() { temp = head; return 0; }
__attribute__((noinline)) SingleArenaBufferAllocator *SingleArenaBufferAllocator::Create(uint8_t *buffer, size_t size) {
  SingleArenaBufferAllocator own;
  own.start = own.head = own.temp = buffer;
  own.end = own.tail = buffer + size;
  SingleArenaBufferAllocator *placed = (SingleArenaBufferAllocator *)own.AllocatePersistentBuffer(24, 4);
  if (placed == nullptr) for (;;) asm volatile("udf #0");
  __builtin_memcpy((void *)placed, &own, sizeof own);
  PASSING;
  return placed;
}
struct MicroInterpreter {
  SingleArenaBufferAllocator *allocator;
  int AllocateTensors();
  int Invoke();
};
__attribute__((noinline)) int MicroInterpreter::AllocateTensors() {
  if (allocator->AllocatePersistentBuffer(100, 4) == nullptr) return FAILED;
  if (allocator->AllocateTemp(64, 16) == nullptr) return FAILED;
  if (allocator->AllocatePersistentBuffer(40, 16) == nullptr) return FAILED;
  return allocator->ResetTempAllocations();
}
__attribute__((naked)) int MicroInterpreter::Invoke() {
  asm volatile(".syntax unified\\n push {r4-r7}\\n sub sp, #64\\n str r0, [sp]\\n movs r0, #250\\n"
               "1: subs r0, #1\\n bne 1b\\n add sp, #64\\n pop {r4-r7}\\n movs r0, #0\\n bx lr");
}
}  // namespace tflite
alignas(16) uint8_t tensor_arena[1024] = {1};
tflite::MicroInterpreter interpreter = {nullptr};
"""
    + VECTORS
    + """extern "C" int main() {
  interpreter.allocator = tflite::SingleArenaBufferAllocator::Create(tensor_arena, ARENA);
  int status = interpreter.AllocateTensors();
  AFTERWARDS;
  if (status == 0) status = interpreter.Invoke();
  register int operation asm("r0") = 0x18;
  register int reason asm("r1") = status ? 0x20023 : 0x20026;
  asm volatile("bkpt 0xab" : : "r"(operation), "r"(reason));
  for (;;) asm volatile("");
}
"""
)
LAYOUT = "-Wl,--section-start=.vectors=0,-Ttext=0x8000,-emain,-Tdata=0x20000000,--defsym=__StackTop=0x20010000"


def built(folder: Path, core: str, arena: int = 1024, *more: str) -> Path:
    """Return the program for a core, with an arena of so many bytes; ``more``: flags, such as -DFAILED=..."""
    if shutil.which("arm-none-eabi-g++") is None:
        pytest.skip("arm-none-eabi-g++ not installed")
    flags = ["-O1", "-fno-inline", f"-DARENA={arena}", LAYOUT, *(more or ("-DFAILED=1",))]
    if not any(flag.startswith("-DAFTERWARDS") for flag in flags):
        flags.append("-DAFTERWARDS=")
    return elf_program.build(folder, f"arm-none-eabi-g++ -mcpu={core} -mthumb", {"main.cc": SOURCE}, *flags)
