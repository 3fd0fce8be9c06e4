"""A program of our own with TFLM's names and two operators, ADD #0 and MUL #1, whose stores are planted."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import elf_program
import run_program

PARTS = run_program.SOURCE.split("struct MicroInterpreter {")
INTERPRETER = """
struct Node;
struct Registration {
  void *(*init)(void *, const char *, size_t);
  void (*free)(void *, void *);
  int (*prepare)(void *, Node *);
  int (*invoke)(void *, Node *);
  uint32_t ignored, builtin_code;
  const char *custom_name;
};
struct Node { uint32_t inputs, outputs, others[3]; const Registration *registration; };
struct MicroInterpreter {
  SingleArenaBufferAllocator *allocator;
  Node *nodes;
  int AllocateTensors();
  int Invoke();
};
}  // namespace tflite
uint8_t below[16] = {1};
alignas(16) uint8_t tensor_arena[1024] = {1};
uint8_t neighbour[64] = {1};
tflite::MicroInterpreter interpreter = {nullptr, nullptr};
__attribute__((naked)) void fill(volatile uint8_t *, unsigned) {
  asm volatile(".syntax unified\\n1: subs r1, #1\\n strb r1, [r0, r1]\\n bne 1b\\n bx lr");
}
// Four times a store in an IT block, behind which nothing must be skipped; 0 where nothing is.
__attribute__((naked)) int in_it_block(uint8_t *) {
  asm volatile(".syntax unified\\n movs r3, #0\\n movs r2, #4\\n1: adds r3, #1\\n subs r2, #1\\n cmp r2, r2\\n it eq\\n"
               " streq r3, [r0]\\n cmp r2, #0\\n bne 1b\\n subs r0, r3, #4\\n bx lr");
}
MORE
extern "C" __attribute__((noinline)) void *malloc(size_t) { return (void *)0x20004000; }
extern "C" __attribute__((noinline)) void *_sbrk(int) { return (void *)0x20006000; }
extern "C" __attribute__((noinline)) void *pvPortMalloc(size_t) { return nullptr; }
uint8_t *block;
namespace KERNELS {
__attribute__((noinline)) int PrepareAdd(void *, Node *) { IN_PREPARE; return 0; }
__attribute__((noinline)) int EvalAdd(void *, Node *) { fill(tensor_arena, 8); return 0; }
__attribute__((noinline)) int EvalMul(void *, Node *) { IN_EVAL; return 0; }
const Registration registrations[] = {{nullptr, nullptr, PrepareAdd, EvalAdd, 0, 0, nullptr},
                                      {nullptr, nullptr, nullptr, EvalMul, 0, CODE}};
}  // namespace KERNELS
namespace tflite {
__attribute__((noinline)) int MicroInterpreter::AllocateTensors() {
  nodes = (Node *)allocator->AllocatePersistentBuffer(2 * sizeof(Node), 4);
  if (nodes == nullptr) return 1;
  for (int index = 0; index < 2; ++index) {
    nodes[index] = {0, 0, {0, 0, 0}, &KERNELS::registrations[index]};
    const auto prepare = KERNELS::registrations[index].prepare;
    if (prepare) prepare(nullptr, &nodes[index]);
  }
  return allocator->ResetTempAllocations();
}
__attribute__((noinline)) int MicroInterpreter::Invoke() {
  int status = 0;
  for (int index = 0; index < 2; ++index) status |= nodes[index].registration->invoke(nullptr, &nodes[index]);
  return status;
}
}  // namespace tflite
"""
MAIN = 'extern "C" int main();\n' + run_program.SOURCE.split('extern "C" int main();\n', 1)[1].replace(
    "interpreter.allocator =", "block = (uint8_t *)malloc(256);\n  interpreter.allocator ="
)


def built(
    folder: Path,
    *,
    in_prepare: str = "(void)0",
    in_eval: str = "(void)0",
    core: str = "cortex-m4",
    code: str = "18, nullptr",
    more: str = "",
    namespaces: str = "2026-08-20",
) -> Path:
    """Return the program.

    Args:
        folder: Where it is built.
        in_prepare: A statement of ADD's Prepare.
        in_eval: A statement of MUL's Eval.
        core: What it is built for, and flags.
        code: The builtin code of operator #1 and the name of a custom one.
        more: Declarations that the statements need.
        namespaces: A day of :data:`elf_program.NAMESPACES`.
    """
    if shutil.which("arm-none-eabi-g++") is None:
        pytest.skip("arm-none-eabi-g++ not installed")
    defined = ["-DARENA=1024", "-DAFTERWARDS=", f"-DIN_PREPARE={in_prepare}", f"-DIN_EVAL={in_eval}"]
    defined += [f"-DCODE={code}", f"-DMORE={more}"]
    flags = ["-O1", "-fno-inline", "-fno-toplevel-reorder", run_program.LAYOUT, *defined]
    flags += elf_program.NAMESPACES[namespaces]
    source = {"main.cc": PARTS[0] + INTERPRETER + MAIN}
    return elf_program.build(folder, f"arm-none-eabi-g++ -mcpu={core} -mthumb", source, *flags)
