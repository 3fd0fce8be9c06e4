"""A program of our own with TFLM's names that gives MicroAllocator::Create() two arenas."""

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
inline void *operator new(size_t, void *at) noexcept { return at; }
namespace tflite {
struct PersistentArenaBufferAllocator {
  uint8_t *start, *end, *tail;
  virtual uint8_t *AllocatePersistentBuffer(size_t size, size_t alignment);
};
__attribute__((noinline)) uint8_t *PersistentArenaBufferAllocator::AllocatePersistentBuffer(size_t size, size_t by) {
  uint8_t *at = (uint8_t *)(((uintptr_t)tail - size) & -(uintptr_t)by);
  return at < start ? nullptr : tail = at;
}
struct NonPersistentArenaBufferAllocator {
  uint8_t *start, *end, *head, *temp;
  virtual uint8_t *AllocateTemp(size_t size, size_t alignment);
  virtual int ResetTempAllocations();
};
__attribute__((noinline)) uint8_t *NonPersistentArenaBufferAllocator::AllocateTemp(size_t size, size_t alignment) {
  uint8_t *at = (uint8_t *)(((uintptr_t)temp + alignment - 1) & -(uintptr_t)alignment);
  if (at > end || (size_t)(end - at) < size) return nullptr;
  temp = at + size;
  return at;
}
__attribute__((noinline)) int NonPersistentArenaBufferAllocator::ResetTempAllocations() { temp = head; return 0; }
enum class MemoryPlannerType { kGreedy };
static PersistentArenaBufferAllocator stays;
#ifdef HIDDEN
static NonPersistentArenaBufferAllocator *placed;
#define rests (*placed)
#define Create Make
#else
static NonPersistentArenaBufferAllocator rests;
#endif
struct MicroAllocator {
  PersistentArenaBufferAllocator *first;
  NonPersistentArenaBufferAllocator *second;
  static MicroAllocator *Create(uint8_t *arena, size_t size, uint8_t *other, size_t other_size, MemoryPlannerType type);
};
__attribute__((noinline)) MicroAllocator *MicroAllocator::Create(
    uint8_t *arena, size_t size, uint8_t *other, size_t other_size, MemoryPlannerType type) {
  asm volatile("" : : "r"(type));
  stays.start = arena;
  stays.end = stays.tail = (uint8_t *)((uintptr_t)(arena + size) & -16);
#ifdef HIDDEN
  placed = new (stays.AllocatePersistentBuffer(20, 4)) NonPersistentArenaBufferAllocator;
#endif
  rests.end = other + other_size;
  rests.start = rests.head = rests.temp = (uint8_t *)(((uintptr_t)other + 15) & -16);
  MicroAllocator *made = (MicroAllocator *)stays.AllocatePersistentBuffer(8, 4);
  if (made == nullptr) for (;;) asm volatile("udf #0");
  made->first = &stays;
  made->second = &rests;
  return made;
}
struct MicroInterpreter {
  MicroAllocator *allocator;
  int AllocateTensors();
  int Invoke();
};
__attribute__((noinline)) int MicroInterpreter::AllocateTensors() {
  if (allocator->first->AllocatePersistentBuffer(100, 4) == nullptr) return 1;
  if (allocator->second->AllocateTemp(300, 16) == nullptr) return 1;
  if (allocator->first->AllocatePersistentBuffer(8, 8) == nullptr) return 1;
  return allocator->second->ResetTempAllocations();
}
__attribute__((noinline)) int MicroInterpreter::Invoke() { asm volatile(""); return 0; }
}  // namespace tflite
alignas(16) uint8_t arena_that_stays[1024] = {1};
alignas(16) uint8_t arena_of_the_rest[1024] = {1};
tflite::MicroInterpreter interpreter;
"""
    + run_program.VECTORS
    + """extern "C" int main() {
  new (&tflite::stays) tflite::PersistentArenaBufferAllocator;
#ifndef HIDDEN
  new (&tflite::rests) tflite::NonPersistentArenaBufferAllocator;
#endif
  interpreter.allocator = tflite::MicroAllocator::Create(
      arena_that_stays, 1000, arena_of_the_rest + 4, 1000, tflite::MemoryPlannerType::kGreedy);
  if (interpreter.AllocateTensors() == 0) interpreter.Invoke();
"""
    + run_program.END
)


def built(folder: Path, *more: str) -> Path:
    """Return the program: 1,000 B at the start of an array of its own each, the second from its fifth byte on.

    ``-DHIDDEN``: Create() has no name, and the allocator of the rest lies in the arena of what stays, as TFLM's does.
    """
    if shutil.which("arm-none-eabi-g++") is None:
        pytest.skip("arm-none-eabi-g++ not installed")
    flags = ["-O1", "-fno-inline", "-fno-rtti", "-fno-exceptions", run_program.LAYOUT, *more]
    return elf_program.build(folder, "arm-none-eabi-g++ -mcpu=cortex-m4 -mthumb", {"main.cc": SOURCE}, *flags)
