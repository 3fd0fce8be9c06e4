/* Where a program may write, and what it writes elsewhere: counting.c notes it in Unicorn, qemu_stores.c in QEMU.
 *
 * "noted" is a tflm_noted_t, which store_watch.py has in the same form. The memory is the caller's.
 */
#ifndef TFLM_NOTED_STORES_H
#define TFLM_NOTED_STORES_H

#include <stdint.h>

#define MOST_SPANS 16384
#define MOST_STORES 1024

/* The half-open stretch [start, end); stores to a free one are not noted. */
typedef struct {
  uint64_t start, end;
  uint64_t is_free;
} tflm_span_t;

/* All stores of one instruction, for one asker, to one stretch: span is its number, or -1 for none. The last of
 * MOST_STORES rows is for all that have no row: its code_address is 0 then, its asker nobody, its span the least. */
typedef struct {
  uint64_t code_address, low, end, times;
  int64_t span, asker;
} tflm_store_t;

/* How many instructions a block of code has; it holds for one value of noted->generation. is_loud: whether the hook of
 * stores is part of its translation, although it stores to the stack alone. */
typedef struct {
  uint64_t address;
  uint32_t size, instructions;
  uint64_t generation;
  int64_t is_loud;
} tflm_block_t;

#define MOST_BLOCKS 8192

/* get_register is uc_reg_read(), program_counter the number of PC; set_register is uc_reg_write(), execution_state the
 * number of EPSR, both 0 where the core has none; read_memory is uc_mem_read(), is_thumb says how long instructions
 * are. QEMU needs none of them, and counts instructions itself. instructions: of all blocks that were begun, the last
 * one, [block_address, block_address + block_size), as if it had come to its end. After most_loud instructions of loud
 * blocks, 0 for any number, the machine is stopped by emu_stop, which is uc_emu_stop(), and hook_del, which is
 * uc_hook_del(), has taken the hooks of stores away. unaligned_at is the instruction that faults on the core as
 * unaligned, the address that it accesses, 0 for none; is_strict says whether every instruction does. */
typedef struct {
  uint64_t get_register, set_register, read_memory, hook_del, emu_stop;
  uint64_t store_hook[2];
  uint64_t loud, most_loud;
  int64_t program_counter, execution_state;
  int64_t is_thumb, is_strict;
  uint64_t unaligned, unaligned_at;
  uint64_t instructions, block_address, block_size, generation;
  int64_t is_watching;
  int64_t asker;
  int64_t spans;
  int64_t stores;
  tflm_span_t span[MOST_SPANS]; /* in order, without overlap */
  tflm_store_t store[MOST_STORES];
  tflm_block_t block[MOST_BLOCKS];
} tflm_noted_t;

/* Returns how many stretches begin at an address or below. */
static inline int64_t tflm_spans_until(const tflm_noted_t *noted, uint64_t address) {
  int64_t low = 0, high = noted->spans;
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (noted->span[middle].start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static inline void tflm_keep(tflm_noted_t *noted, uint64_t code_address, int64_t span, uint64_t start, uint64_t end) {
  tflm_store_t *store = noted->store, *behind = store + noted->stores;
  while (store < behind &&
         !(store->code_address == code_address && store->span == span && store->asker == noted->asker))
    ++store;
  if (noted->stores < MOST_STORES && store == behind) {
    ++noted->stores;
    *store = (tflm_store_t){code_address, start, end, 0, span, noted->asker};
  } else if (store == behind) {
    --store;
    store->code_address = 0;
    store->asker = 0;
    store->span = span < store->span ? span : store->span;
  }
  store->low = start < store->low ? start : store->low;
  store->end = end > store->end ? end : store->end;
  ++store->times;
}

/* Returns where the stretch, or the gap, ends that holds an address, *span being its number, or -1 for a gap. */
static inline uint64_t tflm_stretch_end(const tflm_noted_t *noted, uint64_t address, int64_t *span) {
  int64_t next = tflm_spans_until(noted, address);
  *span = next > 0 && address < noted->span[next - 1].end ? next - 1 : -1;
  if (*span >= 0) return noted->span[*span].end;
  return next < noted->spans ? noted->span[next].start : UINT64_MAX;
}

/* Notes a store of the instruction that code_address(noted, context) returns: what lies in each stretch, or in none. */
static inline void tflm_note(tflm_noted_t *noted, uint64_t address, uint64_t size,
                             uint64_t (*code_address)(const tflm_noted_t *, void *), void *context) {
  uint64_t end = address + size;
  while (noted->is_watching && address < end) {
    int64_t span;
    uint64_t stop = tflm_stretch_end(noted, address, &span);
    stop = stop < end ? stop : end;
    if (span < 0 || !noted->span[span].is_free) tflm_keep(noted, code_address(noted, context), span, address, stop);
    address = stop;
  }
}

#endif
