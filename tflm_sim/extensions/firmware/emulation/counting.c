/* Hooks for Unicorn that are called too often to be Python: they count instructions and note stores.
 *
 *     hooks() -> (int, int, int, int)    addresses for uc_hook_add(..., UC_HOOK_BLOCK, first, noted, ...),
 *                                        for uc_hook_add(..., UC_HOOK_MEM_WRITE, second, noted, ...), and the fourth
 *                                        for both reads and stores; the third is the size of "noted"
 *     instructions(noted, machine, address, size) -> int    how many a stretch of code has
 *     loud(noted) -> [int]    the addresses of loud blocks, which are taken for quiet from then on
 *
 * "noted" is a tflm_noted_t, which store_watch.py has in the same form. The memory is the caller's.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "noted_stores.h"

/* Returns whether an instruction of Thumb may store to other memory than that of which sp is the base. Of two
 * halfwords, those are taken for stores that store in some version of the architecture. Source: Armv7-M Architecture
 * Reference Manual, A5.2 and A5.3; Armv8-M Architecture Reference Manual, C2.3. */
static int thumb_stores(uint16_t first) {
  if (first < 0xe800) {
    unsigned five = first >> 11;
    if (five == 10) return (first >> 9 & 3) != 3; /* with a register as offset; the fourth loads */
    return five == 12 || five == 14 || five == 16 || five == 24;
  }
  int is_store = (first & 0xfe10) == 0xe800 || (first & 0xfe10) == 0xf800 || (first & 0xee10) == 0xec00;
  return is_store && (first & 15) != 13;
}

/* The same for RISC-V. Source: The RISC-V Instruction Set Manual, 16 and 24. */
static int riscv_stores(uint32_t word) {
  unsigned base = word >> 15 & 31, compressed = word >> 13 & 7;
  if ((word & 3) == 0) return compressed > 3;
  if ((word & 3) != 3) return 0;
  unsigned opcode = word & 0x7f;
  return ((opcode == 0x23 || opcode == 0x27) && base != 2) || opcode == 0x2f;
}

/* Returns how many instructions a stretch of code has, and whether one stores elsewhere than to the stack. A halfword
 * of Thumb begins one of two where its first five bits are 0b11101 or more; one of RISC-V where its last two are 1.
 * Source: Armv7-M Architecture Reference Manual, A5.1; The RISC-V Instruction Set Manual, 1.5. */
static uint32_t count_in(const tflm_noted_t *state, void *machine, uint64_t address, uint64_t size, int *stores) {
  int (*read)(void *, uint64_t, void *, uint64_t) =
      (int (*)(void *, uint64_t, void *, uint64_t))(uintptr_t)state->read_memory;
  uint32_t found = 0;
  for (uint64_t at = 0; at < size; ++found) {
    uint16_t half[2] = {0, 0};
    if (read(machine, address + at, half, sizeof *half) != 0) break;
    int is_long = state->is_thumb ? *half >= 0xe800 : (*half & 3) == 3;
    if (is_long && read(machine, address + at + 2, half + 1, sizeof *half) != 0) break;
    *stores |= state->is_thumb ? thumb_stores(*half) : riscv_stores(*half | (uint32_t)half[1] << 16);
    at += is_long ? 4 : 2;
  }
  return found;
}

/* Stops the machine, so that loud blocks are translated anew, without the hooks that are taken away here: Unicorn
 * forgets them only when it stops. */
static void stop_for_loud(tflm_noted_t *state, void *machine) {
  state->most_loud = state->loud = 0;
  for (int each = 0; each < 2; ++each)
    ((int (*)(void *, size_t))(uintptr_t)state->hook_del)(machine, (size_t)state->store_hook[each]);
  ((int (*)(void *))(uintptr_t)state->emu_stop)(machine);
}

static void count_block(void *machine, uint64_t address, uint32_t size, void *noted) {
  tflm_noted_t *state = noted;
  tflm_block_t *block = state->block + (address >> 1) % MOST_BLOCKS;
  if (block->address != address || block->size != size || block->generation != state->generation) {
    int stores = 0;
    uint32_t instructions = count_in(state, machine, address, size, &stores);
    *block = (tflm_block_t){address, size, instructions, state->generation, !stores};
  }
  state->instructions += block->instructions;
  state->block_address = address;
  state->block_size = size;
  if (block->is_loud && state->most_loud != 0) {
    state->loud += block->instructions;
    if (state->loud > state->most_loud) stop_for_loud(state, machine);
  }
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

/* Stops the machine at an access that faults on the core: of those at an address that is no multiple of its size, all
 * where the core is strict, otherwise those of LDM, STM, LDRD, STRD, LDREX, STREX, VLDR, VSTR, VLDM and VSTM, which
 * need multiples of 4. Source: Armv7-M Architecture Reference Manual, A3.2.1; Armv6-M Architecture Reference Manual,
 * A3.2. */
static void check_alignment(void *machine, int type, uint64_t address, int size, int64_t value, void *noted) {
  tflm_noted_t *state = noted;
  end_it_block(machine, state);
  (void)type;
  (void)value;
  if ((address & (size < 4 ? 1u : 3u)) == 0 || size < 2 || state->unaligned_at != 0) return;
  uint64_t at = program_counter(state, machine) & ~(uint64_t)1;
  uint16_t half = 0;
  int (*read)(void *, uint64_t, void *, uint64_t) =
      (int (*)(void *, uint64_t, void *, uint64_t))(uintptr_t)state->read_memory;
  if (read(machine, at, &half, sizeof half) != 0) return;
  if (!state->is_strict && (half & 0xfa00) != 0xe800 && (half & 0xf000) != 0xc000) return;
  state->unaligned = address;
  state->unaligned_at = at;
  ((int (*)(void *))(uintptr_t)state->emu_stop)(machine);
}

static PyObject *hooks(PyObject *self, PyObject *ignored) {
  (void)self;
  (void)ignored;
  return Py_BuildValue("(NNKN)", PyLong_FromVoidPtr((void *)(uintptr_t)count_block),
                       PyLong_FromVoidPtr((void *)(uintptr_t)note_store), (unsigned long long)sizeof(tflm_noted_t),
                       PyLong_FromVoidPtr((void *)(uintptr_t)check_alignment));
}

static PyObject *instructions(PyObject *self, PyObject *arguments) {
  unsigned long long noted, machine, address, size;
  (void)self;
  int stores = 0;
  if (!PyArg_ParseTuple(arguments, "KKKK", &noted, &machine, &address, &size)) return NULL;
  return PyLong_FromUnsignedLong(
      count_in((const tflm_noted_t *)(uintptr_t)noted, (void *)(uintptr_t)machine, address, size, &stores));
}

static PyObject *loud(PyObject *self, PyObject *arguments) {
  unsigned long long noted;
  (void)self;
  if (!PyArg_ParseTuple(arguments, "K", &noted)) return NULL;
  tflm_noted_t *state = (tflm_noted_t *)(uintptr_t)noted;
  PyObject *found = PyList_New(0);
  for (tflm_block_t *block = state->block; found != NULL && block < state->block + MOST_BLOCKS; ++block) {
    if (!block->is_loud || block->generation != state->generation) continue;
    PyObject *address = PyLong_FromUnsignedLongLong(block->address);
    if (address == NULL || PyList_Append(found, address) != 0) Py_CLEAR(found);
    Py_XDECREF(address);
    block->is_loud = 0;
  }
  return found;
}

static PyMethodDef methods[] = {
    {"instructions", instructions, METH_VARARGS, "Return how many instructions a stretch of code has."},
    {"loud", loud, METH_VARARGS, "Return the addresses of loud blocks, which are taken for quiet from then on."},
    {"hooks", hooks, METH_NOARGS, "Return the addresses of the hooks, and the bytes of what they note."},
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
