"""A program of our own with TFLM's names that holds a model, takes what that says, and computes something with it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import elf_program
import run_program

PARTS = run_program.SOURCE.split("struct MicroInterpreter {")
INTERPRETER = (
    """
struct MicroAllocator { int StartModelAllocation(const Model *model); };
__attribute__((noinline)) int MicroAllocator::StartModelAllocation(const Model *model) {
  asm volatile("" : : "r"(model) : "memory");
  return 0;
}
struct Tensor { uint8_t *data; const int *dims; size_t bytes; };
struct MicroOpResolver {};
struct MicroInterpreter {
  const uint8_t *model;
  SingleArenaBufferAllocator *allocator;
  const uint32_t *subgraphs;
  Tensor **inputs, **outputs;
  MicroInterpreter() = default;
  MicroInterpreter(const Model *, const MicroOpResolver &, uint8_t *, size_t);
  int AllocateTensors();
  int Invoke();
};
static const int input_dims[] = INPUT, output_dims[] = OUTPUT;
static size_t bytes_of(const int *dims) {
  size_t bytes = 1;
  for (int at = 1; at <= dims[0]; ++at) bytes *= dims[at];
  return bytes;
}
static Tensor **tensor(SingleArenaBufferAllocator *allocator, const int *dims) {
  Tensor **array = (Tensor **)allocator->AllocatePersistentBuffer(4, 4);
  if (array == nullptr) return array;
  array[0] = (Tensor *)allocator->AllocatePersistentBuffer(12, 4);
  if (array[0] == nullptr) return nullptr;
  array[0]->data = allocator->AllocatePersistentBuffer(bytes_of(dims), 4);
  array[0]->dims = dims;
  array[0]->bytes = bytes_of(dims);
  return array[0]->data == nullptr ? nullptr : array;
}
__attribute__((noinline)) int MicroInterpreter::AllocateTensors() {
  ((MicroAllocator *)allocator)->StartModelAllocation((const Model *)model);
  if (allocator->AllocatePersistentBuffer(100 * *subgraphs, 4) == nullptr) {
    MicroPrintf("No room for %u subgraphs", *subgraphs);
    return 1;
  }
  inputs = tensor(allocator, input_dims);
  outputs = inputs == nullptr ? nullptr : tensor(allocator, output_dims);
  return outputs == nullptr ? 1 : 0;
}
__attribute__((noinline)) int MicroInterpreter::Invoke() {
  outputs[0]->data[0] = inputs[0]->data[0] + inputs[0]->data[inputs[0]->bytes - 1] + *subgraphs;
  STRAY;
  return 0;
}
}  // namespace tflite
asm(".section .rodata\\n .balign 16\\n .space SKIPPED\\n own_model: .incbin \\"own.tflite\\"\\n .previous");
extern "C" const uint8_t own_model[];
alignas(16) uint8_t tensor_arena[ARENA] = {1};
MORE
tflite::MicroInterpreter interpreter;
#ifdef OTHER
asm(".section .rodata\\n .balign 16\\n other_model: .incbin \\"other.tflite\\"\\n .previous");
extern "C" const uint8_t other_model[];
alignas(16) uint8_t other_arena[ARENA] = {1};
tflite::MicroInterpreter other;
#endif
__attribute__((always_inline)) inline void make(tflite::MicroInterpreter &one, const uint8_t *file, uint8_t *arena) {
  one.model = file + *(const uint32_t *)file;
  const uint8_t *table = one.model - *(const int32_t *)one.model;
  const uint8_t *field = one.model + *(const uint16_t *)(table + 8);
  one.subgraphs = (const uint32_t *)(field + *(const uint32_t *)field);
  one.allocator = tflite::SingleArenaBufferAllocator::Create(arena, ARENA);
}
__attribute__((noinline)) void start(tflite::MicroInterpreter &one, const uint8_t *file, uint8_t *arena) {
  make(one, file, arena);
  if (one.AllocateTensors() == 0) one.Invoke();
}
#ifdef PLACE
__attribute__((noipa)) tflite::MicroInterpreter::MicroInterpreter(
    const Model *model, const MicroOpResolver &, uint8_t *arena, size_t) {
  make(*this, (const uint8_t *)model, arena);
}
#endif
"""
    + run_program.VECTORS
    + """extern "C" int main() {
#ifdef PLACE
  static tflite::MicroOpResolver resolver;
  tflite::MicroInterpreter placed((const tflite::Model *)own_model, resolver, PLACE, ARENA);
  if (placed.AllocateTensors() == 0) placed.Invoke();
#elif defined TOGETHER
  make(interpreter, own_model, tensor_arena);
  make(other, other_model, other_arena);
  interpreter.AllocateTensors();
  other.AllocateTensors();
  interpreter.Invoke();
  other.Invoke();
#else
  start(interpreter, own_model, tensor_arena);
#ifdef OTHER
  start(other, other_model, other_arena);
#endif
#endif
"""
    + run_program.END
)


def built(
    folder: Path,
    model: bytes,
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
    *,
    stray: str = "",
    other: bytes = b"",
    is_together: bool = False,
    skipped: int = 0,
    arena: int = 4096,
    more: str = "",
    place: str = "",
    namespaces: str = "2026-08-20",
) -> Path:
    """Return the program.

    Args:
        folder: Where it is built.
        model: What it holds.
        shapes: Of its input and its output, of elements of a byte.
        stray: A statement of Invoke(), which may write where it should not.
        other: The model of a second interpreter, with an arena of its own; b"" for none.
        is_together: Whether both interpreters are made before either allocates, and both allocate before either runs.
        arena: Bytes of each arena.
        more: Declarations behind the arena's.
        place: Where the arena of the first interpreter is, as its constructor is told; "" to have no constructor.
        skipped: Bytes between a multiple of 16 and its first model.
        namespaces: A day of :data:`elf_program.NAMESPACES`.
    """
    if shutil.which("arm-none-eabi-g++") is None:
        pytest.skip("arm-none-eabi-g++ not installed")
    folder.mkdir(exist_ok=True)
    (folder / "own.tflite").write_bytes(model)
    dims = ["{" + ",".join(map(str, (len(shape), *shape))) + "}" for shape in shapes]
    defined = [f"-DINPUT={dims[0]}", f"-DOUTPUT={dims[1]}", f"-DSTRAY={stray or '(void)0'}", f"-DARENA={arena}"]
    flags = ["-O1", "-fno-inline", run_program.LAYOUT, *defined, f"-Wa,-I{folder}", f"-Wa,--defsym,SKIPPED={skipped}"]
    if is_together:
        flags.append("-DTOGETHER")
    if place:
        flags.append(f"-DPLACE={place}")
    if other:
        (folder / "other.tflite").write_bytes(other)
        flags.append("-DOTHER")
    flags += elf_program.NAMESPACES[namespaces]
    source = {"main.cc": elf_program.SCHEMA + PARTS[0] + INTERPRETER.replace("MORE\n", more)}
    return elf_program.build(folder, "arm-none-eabi-g++ -mcpu=cortex-m4 -mthumb", source, *flags)
