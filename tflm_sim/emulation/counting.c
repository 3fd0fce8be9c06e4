/* A counter for Unicorn: called before every instruction, it must not be Python.
 *
 *     hook_address() -> int        uc_hook_add(..., UC_HOOK_CODE, that, address of a uint64_t, ...)
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

static void count_instruction(void *machine, uint64_t address, uint32_t size, void *counter) {
  (void)machine;
  (void)address;
  (void)size;
  ++*(uint64_t *)counter;
}

static PyObject *hook_address(PyObject *self, PyObject *ignored) {
  (void)self;
  (void)ignored;
  return PyLong_FromVoidPtr((void *)(uintptr_t)count_instruction);
}

static PyMethodDef methods[] = {
    {"hook_address", hook_address, METH_NOARGS, "Return the address of the function that counts."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    "_counting",
    "Counts the instructions that Unicorn executes.",
    0,
    methods,
    NULL,
    NULL,
    NULL,
    NULL,
};

PyMODINIT_FUNC PyInit__counting(void) { return PyModule_Create(&module); }
