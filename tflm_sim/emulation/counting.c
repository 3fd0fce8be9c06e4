/* Hooks for Unicorn that are called too often to be Python: they count instructions and note stores.
 *
 *     hooks() -> (int, int)    addresses for uc_hook_add(..., UC_HOOK_CODE, first, noted, ...)
 *                                       and uc_hook_add(..., UC_HOOK_MEM_WRITE, second, noted, ...)
 *
 * "noted" is a tflm_noted_t, which store_watch.py has in the same form. The memory is the caller's.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#define MOST_SPANS 16384
#define MOST_STORES 1024

/* The half-open stretch [start, end); stores to a free one are not noted. */
typedef struct {
  uint64_t start, end;
  uint64_t is_free;
} tflm_span_t;

/* All stores of one instruction, for one asker, to one stretch: span is its number, or -1 for none. */
typedef struct {
  uint64_t code_address, low, end, times;
  int64_t span, asker;
} tflm_store_t;

/* get_register is uc_reg_read(), program_counter the number of PC; set_register is uc_reg_write(), execution_state the
 * number of EPSR, both 0 where the core has none. */
typedef struct {
  uint64_t get_register, set_register;
  int64_t program_counter, execution_state;
  uint64_t instructions;
  int64_t is_watching;
  int64_t asker;
  int64_t spans;
  int64_t stores;
  int64_t lost;
  tflm_span_t span[MOST_SPANS]; /* in order, without overlap */
  tflm_store_t store[MOST_STORES];
} tflm_noted_t;

static void count_instruction(void *machine, uint64_t address, uint32_t size, void *noted) {
  (void)machine;
  (void)address;
  (void)size;
  ++((tflm_noted_t *)noted)->instructions;
}

/* Returns the stretch that holds an address, -1 for none. */
static int64_t span_at(const tflm_noted_t *state, uint64_t address) {
  int64_t low = 0, high = state->spans;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (state->span[middle].start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 && address < state->span[low - 1].end ? low - 1 : -1;
}

static void keep(void *machine, tflm_noted_t *state, int64_t span, uint64_t start, uint64_t end) {
  tflm_store_t *store = state->store;
  uint32_t code_address = 0;
  ((int (*)(void *, int, void *))(uintptr_t)state->get_register)(machine, (int)state->program_counter, &code_address);
  for (int64_t index = 0; index < state->stores; ++index, ++store) {
    if (store->code_address == code_address && store->span == span && store->asker == state->asker) {
      store->low = start < store->low ? start : store->low;
      store->end = end > store->end ? end : store->end;
      ++store->times;
      return;
    }
  }
  if (state->stores == MOST_STORES) {
    ++state->lost;
    return;
  }
  ++state->stores;
  *store = (tflm_store_t){code_address, start, end, 1, span, state->asker};
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
  if (!state->is_watching || size <= 0) return;
  uint64_t last = address + (uint64_t)size - 1;
  int64_t first_span = span_at(state, address), last_span = span_at(state, last);
  if (first_span < 0 || !state->span[first_span].is_free) {
    uint64_t end = first_span == last_span ? last + 1 : address + 1;
    keep(machine, state, first_span, address, end);
  }
  if (last_span != first_span && (last_span < 0 || !state->span[last_span].is_free)) {
    uint64_t begin = first_span < 0 ? state->span[last_span].start : state->span[first_span].end;
    keep(machine, state, last_span, begin, last + 1);
  }
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
