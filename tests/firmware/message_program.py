"""A program of our own with TFLM's names, messages and tables of virtual functions; a test says what it does."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import elf_program
import run_program

SOURCE = (
    """
#include <stddef.h>
#include <stdint.h>
#include <stdarg.h>
#ifdef QUIET
#define MicroPrintf(...) asm volatile("")
#else
__attribute__((noinline)) void MicroPrintf(const char *format, ...) { asm volatile("" : : "r"(format) : "memory"); }
#endif
namespace tflite {
struct SingleArenaBufferAllocator {
  uint8_t *start = nullptr, *end = nullptr, *head = nullptr, *tail = nullptr, *temp = nullptr;
  virtual void Destroy();
  virtual void Delete();
  virtual uint8_t *AllocateTemp(size_t size, size_t alignment);
  virtual void DeallocateTemp(uint8_t *at);
  virtual bool IsAllTempDeallocated();
  virtual int ResetTempAllocations();
  virtual uint8_t *AllocateResizableBuffer(size_t size, size_t alignment);
  virtual int ResizeBuffer(uint8_t *at, size_t size, size_t alignment);
  virtual int DeallocateResizableBuffer(uint8_t *at);
  virtual uint8_t *GetOverlayMemoryAddress();
  virtual int ReserveNonPersistentOverlayMemory(size_t size, size_t alignment);
  virtual size_t GetNonPersistentUsedBytes();
  virtual size_t GetAvailableMemory(size_t alignment);
  virtual uint8_t *AllocatePersistentBuffer(size_t size, size_t alignment);
  virtual size_t GetPersistentUsedBytes();
};
void SingleArenaBufferAllocator::Destroy() {}
void SingleArenaBufferAllocator::Delete() {}
uint8_t *SingleArenaBufferAllocator::AllocateTemp(size_t size, size_t alignment) {
  uint8_t *at = (uint8_t *)(((uintptr_t)temp + alignment - 1) & -(uintptr_t)alignment);
  if (at > tail || (uintptr_t)tail - (uintptr_t)at < size) {
    MicroPrintf("Failed to allocate temp memory. Requested: %u", size);
    return nullptr;
  }
  temp = at + size;
  return at;
}
void SingleArenaBufferAllocator::DeallocateTemp(uint8_t *) {}
bool SingleArenaBufferAllocator::IsAllTempDeallocated() { return true; }
int SingleArenaBufferAllocator::ResetTempAllocations() { temp = head; return 0; }
uint8_t *SingleArenaBufferAllocator::AllocateResizableBuffer(size_t, size_t) { return nullptr; }
int SingleArenaBufferAllocator::ResizeBuffer(uint8_t *, size_t size, size_t) {
  MicroPrintf("Failed to resize buffer. Requested: %u", size);
  return 1;
}
int SingleArenaBufferAllocator::DeallocateResizableBuffer(uint8_t *) { return 0; }
uint8_t *SingleArenaBufferAllocator::GetOverlayMemoryAddress() { return head; }
int SingleArenaBufferAllocator::ReserveNonPersistentOverlayMemory(size_t, size_t) { return 0; }
size_t SingleArenaBufferAllocator::GetNonPersistentUsedBytes() { return temp - head; }
size_t SingleArenaBufferAllocator::GetAvailableMemory(size_t) { return tail - temp; }
uint8_t *SingleArenaBufferAllocator::AllocatePersistentBuffer(size_t size, size_t alignment) {
  uint8_t *at = (uint8_t *)(((uintptr_t)tail - size) & -(uintptr_t)alignment);
  if (at < head) {
    MicroPrintf("Failed to allocate tail memory. Requested: %u, available %u", size, (unsigned)(tail - head));
    return nullptr;
  }
  return tail = at;
}
size_t SingleArenaBufferAllocator::GetPersistentUsedBytes() { return end - tail; }
struct MicroInterpreter {
  const uint32_t *model;
  SingleArenaBufferAllocator *allocator;
  size_t size, needed;
  int result;
  int AllocateTensors();
  int Invoke();
};
int MicroInterpreter::AllocateTensors() {
  if (allocator->AllocatePersistentBuffer(needed, 4) == nullptr) {
    MicroPrintf("Failed starting model allocation.\\n");
    return 1;
  }
  size = needed;
  if (allocator->AllocateTemp(64, 16) == nullptr) return 1;
  return allocator->ResetTempAllocations();
}
int MicroInterpreter::Invoke() {
  if (size == 0 && AllocateTensors() != 0) {
    MicroPrintf("Invoke() called after initialization failed\\n");
    return 1;
  }
  result = 7;
  return 0;
}
}  // namespace tflite
static const uint32_t model[] = {12 | 16 << 16, 4, 8, 12, 3, 4, 1};
static tflite::SingleArenaBufferAllocator allocator;
static tflite::MicroInterpreter interpreter;
alignas(16) uint8_t tensor_arena[1024] = {1};
alignas(16) uint8_t other_arena[1024] = {1};
__attribute__((noinline)) static void make(uint8_t *arena, size_t size, size_t needed) {
  allocator.start = allocator.head = allocator.temp = arena;
  allocator.end = allocator.tail = arena + size;
  allocator.AllocatePersistentBuffer(24, 4);
  interpreter = {model + 3, &allocator, 0, needed, 0};
}
extern "C" __attribute__((noinline)) void abort() { for (;;) asm volatile(""); }
static size_t arena_size;
__attribute__((noinline)) void init_model() { make(tensor_arena, arena_size, 100); interpreter.AllocateTensors(); }
FUNCTION
__attribute__((noinline)) static void work() { MAIN; }
#ifdef __riscv
extern "C" __attribute__((naked)) int main() { asm volatile("la sp, __StackTop\\n call work_and_end"); }
extern "C" void work_and_end() {
  work();
  register int operation asm("a0") = 0x18;
  register int reason asm("a1") = 0x20026;
  asm volatile(".option push\\n .option norvc\\n .balign 16\\n slli x0, x0, 31\\n ebreak\\n srai x0, x0, 7\\n"
               ".option pop" : : "r"(operation), "r"(reason));
  for (;;) asm volatile("");
}
#else
"""
    + run_program.VECTORS
    + """extern "C" int main() {
  work();
"""
    + run_program.END
    + """#endif
"""
)
COMPILERS = {
    "rv32imac": "riscv64-unknown-elf-g++ -march=rv32imac -mabi=ilp32 -mcmodel=medany -mno-relax",
    "cortex-m0": "arm-none-eabi-g++ -mcpu=cortex-m0 -mthumb",
    "cortex-m3": "arm-none-eabi-g++ -mcpu=cortex-m3 -mthumb",
    "cortex-m4": "arm-none-eabi-g++ -mcpu=cortex-m4 -mthumb",
    "cortex-m33": "arm-none-eabi-g++ -mcpu=cortex-m33 -mthumb",
}
PLAIN = "make(tensor_arena, 1024, 100); interpreter.AllocateTensors(); interpreter.Invoke()"


def built(folder: Path, main: str = PLAIN, core: str = "cortex-m4", *more: str) -> Path:
    """Return the program that does ``main``; ``more``: flags, such as -DQUIET for one that prints nothing."""
    compiler = COMPILERS[core]
    if shutil.which(compiler.split()[0]) is None:
        pytest.skip(f"{compiler.split()[0]} not installed")
    given = {flag.partition("=")[0] for flag in more}
    more = (*more, *(f"{name}=" for name in ("-DFUNCTION", "-DHANDLERS") if name not in given))
    flags = ["-Os", "-fno-inline", "-fno-rtti", "-fno-exceptions", f"-DMAIN={main}", run_program.LAYOUT, *more]
    return elf_program.build(folder, compiler, {"main.cc": SOURCE}, *flags)
