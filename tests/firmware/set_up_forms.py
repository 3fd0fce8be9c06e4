"""Programs of our own with TFLM's names, each of which sets TFLM up in a form of its own.

``PRELUDE`` declares what a program calls, with bodies that do nothing; a test adds the program.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import elf_program

COMPILER = "arm-none-eabi-g++ -mcpu=cortex-m4 -mthumb"
MESSAGE = 'extern "C" __attribute__((used)) const char *const text = "Failed to resize buffer. Requested: %u";\n'
PRELUDE = """
#define QUIET __attribute__((noipa))
typedef unsigned char uint8_t;
inline void *operator new(size_t, void *at) noexcept { return at; }
enum TfLiteType { kTfLiteNoType = 0 } type;
namespace tflite {
struct Model {};
enum BuiltinOperator : int { BuiltinOperator_FULLY_CONNECTED = 9 };
struct TFLMRegistration {};
TFLMRegistration QUIET Register_FULLY_CONNECTED() { return {}; }
struct MicroOpResolver {
  virtual const TFLMRegistration *FindOp(BuiltinOperator op) const = 0;
};
struct MicroMemoryPlanner {
  virtual int AddBuffer(int, int, int) { return 0; }
  virtual int GetOffsetForBuffer(int, int *) = 0;
};
struct GreedyMemoryPlanner : MicroMemoryPlanner {
  QUIET GreedyMemoryPlanner();
  int rest[10];
  QUIET int GetOffsetForBuffer(int, int *) override { return 0; }
};
GreedyMemoryPlanner::GreedyMemoryPlanner() {}
template <unsigned count> struct MicroMutableOpResolver : MicroOpResolver {
  TFLMRegistration rows[count];
  const TFLMRegistration *FindOp(BuiltinOperator) const override { return rows; }
  QUIET void AddFullyConnected() { rows[0] = Register_FULLY_CONNECTED(); }
};
enum class MemoryPlannerType { kGreedy, kLinear };
struct SingleArenaBufferAllocator {
  SingleArenaBufferAllocator(uint8_t *, size_t);
  uint8_t *at;
  int rest[8];
};
QUIET SingleArenaBufferAllocator::SingleArenaBufferAllocator(uint8_t *arena, size_t) : at(arena) {}
struct MicroAllocator {
  static MicroAllocator *Create(uint8_t *, size_t, MemoryPlannerType = MemoryPlannerType::kGreedy);
  static MicroAllocator *Create(uint8_t *, size_t, MicroMemoryPlanner *);
  static MicroAllocator *Create(uint8_t *, size_t, uint8_t *, size_t, MemoryPlannerType = MemoryPlannerType::kGreedy);
  static MicroAllocator *Create(SingleArenaBufferAllocator *, MicroMemoryPlanner *);
  virtual int Other() { return 1; }
  virtual void *AllocatePersistentBuffer(size_t);
  int rest[8];
};
QUIET void *MicroAllocator::AllocatePersistentBuffer(size_t) { return this; }
static MicroAllocator made;
QUIET MicroAllocator *MicroAllocator::Create(uint8_t *, size_t, MemoryPlannerType) { return &made; }
QUIET MicroAllocator *MicroAllocator::Create(uint8_t *, size_t, MicroMemoryPlanner *) { return &made; }
QUIET MicroAllocator *MicroAllocator::Create(uint8_t *, size_t, uint8_t *, size_t, MemoryPlannerType) { return &made; }
QUIET MicroAllocator *MicroAllocator::Create(SingleArenaBufferAllocator *, MicroMemoryPlanner *) { return &made; }
struct MicroResourceVariables {
  static MicroResourceVariables *Create(MicroAllocator *, int);
  int rest[3];
};
QUIET MicroResourceVariables *MicroResourceVariables::Create(MicroAllocator *, int) { return nullptr; }
struct MicroInterpreter {
  MicroInterpreter(const Model *, const MicroOpResolver &, uint8_t *, size_t, MicroResourceVariables * = nullptr);
  MicroInterpreter(const Model *, const MicroOpResolver &, MicroAllocator *, MicroResourceVariables * = nullptr);
  QUIET ~MicroInterpreter() {}
  int AllocateTensors();
  int Invoke();
  int state[30];
};
QUIET MicroInterpreter::MicroInterpreter(
    const Model *, const MicroOpResolver &, uint8_t *, size_t, MicroResourceVariables *) { state[0] = 0; }
QUIET MicroInterpreter::MicroInterpreter(
    const Model *, const MicroOpResolver &, MicroAllocator *, MicroResourceVariables *) { state[0] = 0; }
QUIET int MicroInterpreter::AllocateTensors() { return state[0]; }
QUIET int MicroInterpreter::Invoke() { return state[0] ? AllocateTensors() : 0; }
static inline const Model *GetModel(const void *p) { return (const Model *)((const char *)p + *(const unsigned *)p); }
}  // namespace tflite
using namespace tflite;
extern "C" const uint8_t g_model[];
volatile int chosen;
extern "C" QUIET void *malloc(size_t n) { return (void *)(n + chosen); }
extern "C" QUIET void *memcpy(void *to, const void *from, size_t n) {
  for (size_t i = 0; i < n; i++) ((volatile uint8_t *)to)[i] = ((const uint8_t *)from)[i];
  return to;
}
extern "C" void __cxa_pure_virtual() {}
extern "C" int __aeabi_atexit(void *, void (*)(void *), void *) { return 0; }
void *__dso_handle;
"""
RESOLVER = """
static MicroMutableOpResolver<1> resolver;
static void fill() { resolver.AddFullyConnected(); }
"""


def program(folder: Path, source: str, *flags: str, compiler: str = COMPILER) -> Path:
    """Return a linked program: the sample ``sine`` as ``g_model``, and ``source``, which has ``main``."""
    if not elf_program.is_there(compiler):
        pytest.skip(f"{compiler.split()[0]} not installed")
    texts = {
        "main.cc": f"#include <stddef.h>\n{PRELUDE}{RESOLVER}{MESSAGE}{source}",
        "model.cc": elf_program.model_source("g_model", "sine"),
    }
    options = ("-Os", "-g", "-fno-threadsafe-statics", "-Wl,--defsym=_estack=0x80000", *flags)
    return elf_program.build(folder, compiler, texts, *options)
