/* Hooks for Unicorn that are called too often to be Python: they count instructions and note stores.
 *
 *     hooks() -> (int, int, int)    addresses for uc_hook_add(..., UC_HOOK_BLOCK, first, noted, ...)
 *                                            and uc_hook_add(..., UC_HOOK_MEM_WRITE, second, noted, ...)
 *     instructions(noted, machine, address, size) -> int    how many a stretch of code has
 *
 * "noted" is a tflm_noted_t, which store_watch.py has in the same form. The memory is the caller's.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "noted_stores.h"

/* Returns how many instructions a stretch of code has. A halfword of Thumb begins one of two where its first five bits
 * are 0b11101 or more; one of RISC-V where its last two are 1. Source: Armv7-M Architecture Reference Manual, A5.1;
 * The RISC-V Instruction Set Manual, 1.5. */
static uint32_t count_in(const tflm_noted_t *state, void *machine, uint64_t address, uint64_t size) {
  int (*read)(void *, uint64_t, void *, uint64_t) =
      (int (*)(void *, uint64_t, void *, uint64_t))(uintptr_t)state->read_memory;
  uint32_t found = 0;
  for (uint64_t at = 0; at < size; ++found) {
    uint16_t halfword = 0;
    if (read(machine, address + at, &halfword, sizeof halfword) != 0) break;
    at += (state->is_thumb ? halfword >= 0xe800 : (halfword & 3) == 3) ? 4 : 2;
  }
  return found;
}

static void count_block(void *machine, uint64_t address, uint32_t size, void *noted) {
  tflm_noted_t *state = noted;
  tflm_block_t *block = state->block + (address >> 1) % MOST_BLOCKS;
  if (block->address != address || block->size != size || block->generation != state->generation)
    *block = (tflm_block_t){address, size, count_in(state, machine, address, size), state->generation};
  state->instructions += block->instructions;
  state->block_address = address;
  state->block_size = size;
}

static uint64_t program_counter(const tflm_noted_t *state, void *machine) {
  uint32_t found = 0;
  ((int (*)(void *, int, void *))(uintptr_t)state->get_register)(machine, (int)state->program_counter, &found);
  return found;
}

/* Before it calls this, Unicorn puts program counter and IT state into the processor as they stand at the store, and
 * leaves them so; the translated code goes on with an IT state of 0. What is left would skip the next block's first
 * instruction. Source: qemu/accel/tcg/cputlb.c, store_helper(), and target/arm/translate.c @ c24c9ebe (2.1.4). */
static void end_it_block(void *machine, const tflm_noted_t *state) {
  if (state->set_register != 0) {
    uint32_t thumb = 1u << 24;
    ((int (*)(void *, int, const void *))(uintptr_t)state->set_register)(machine, (int)state->execution_state, &thumb);
  }
}

static void note_store(void *machine, int type, uint64_t address, int size, int64_t value, void *noted) {
  tflm_noted_t *state = noted;
  end_it_block(machine, state);
  (void)type;
  (void)value;
  tflm_note(state, address, (uint64_t)(size < 0 ? 0 : size), program_counter, machine);
}

static PyObject *hooks(PyObject *self, PyObject *ignored) {
  (void)self;
  (void)ignored;
  return Py_BuildValue("(NNK)", PyLong_FromVoidPtr((void *)(uintptr_t)count_block),
                       PyLong_FromVoidPtr((void *)(uintptr_t)note_store), (unsigned long long)sizeof(tflm_noted_t));
}

static PyObject *instructions(PyObject *self, PyObject *arguments) {
  unsigned long long noted, machine, address, size;
  (void)self;
  if (!PyArg_ParseTuple(arguments, "KKKK", &noted, &machine, &address, &size)) return NULL;
  return PyLong_FromUnsignedLong(
      count_in((const tflm_noted_t *)(uintptr_t)noted, (void *)(uintptr_t)machine, address, size));
}

static PyMethodDef methods[] = {
    {"instructions", instructions, METH_VARARGS, "Return how many instructions a stretch of code has."},
    {"hooks", hooks, METH_NOARGS, "Return the addresses of both hooks, and the bytes of what they note."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    "_counting",
    "Counts the instructions that Unicorn executes, and notes their stores.",
    0,
    methods,
    NULL,
    NULL,
    NULL,
    NULL,
};

PyMODINIT_FUNC PyInit__counting(void) { return PyModule_Create(&module); }
