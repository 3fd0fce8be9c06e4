/* Hooks for Unicorn that are called too often to be Python: they count instructions and note stores.
 *
 *     hooks() -> (int, int)    addresses for uc_hook_add(..., UC_HOOK_CODE, first, noted, ...)
 *                                       and uc_hook_add(..., UC_HOOK_MEM_WRITE, second, noted, ...)
 *
 * "noted" is a tflm_noted_t, which store_watch.py has in the same form. The memory is the caller's.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "noted_stores.h"

static void count_instruction(void *machine, uint64_t address, uint32_t size, void *noted) {
  (void)machine;
  (void)address;
  (void)size;
  ++((tflm_noted_t *)noted)->instructions;
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
  return Py_BuildValue("(NNK)", PyLong_FromVoidPtr((void *)(uintptr_t)count_instruction),
                       PyLong_FromVoidPtr((void *)(uintptr_t)note_store), (unsigned long long)sizeof(tflm_noted_t));
}

static PyMethodDef methods[] = {
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
