/* SPDX-License-Identifier: Apache-2.0 */
/* tsim_arena: TFLM's SingleArenaBufferAllocator, to the byte.
 *
 *   base                                                                      base + size
 *    | head -> |  temp -> (until the next reset)         free        | <- tail |
 *    0       head                temp                               tail     size
 *
 * Offsets are bytes from the base; alignment is of addresses, and the base's own is skew bytes past a multiple of 16.
 * Invariant: 0 <= head <= temp, and a refused call changes nothing. mark is the smallest arena in which everything so
 * far would have fitted at these positions: the largest sum of what had to be free below the tail and the tail.
 * Where TFLM would hand out bytes that are in use (its own comparisons miss it), this refuses: TSIM_E_NO_ROOM.
 *
 * Source: tensorflow/lite/micro/arena_allocator/single_arena_buffer_allocator.cc @ 90b983c
 */
#ifndef TSIM_ARENA_H_
#define TSIM_ARENA_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TSIM_ARENA_TEMPS_MAX = 128, TSIM_ARENA_ALIGNMENT_MAX = 16 };

/* A temporary that was not given back: [offset, end). */
typedef struct tsim_temp {
  uint32_t offset;
  uint32_t end;
} tsim_temp_t;

/* The fields may be read, and are changed by the functions only. */
typedef struct tsim_arena {
  uint32_t size;
  uint32_t skew;
  uint32_t head;
  uint32_t temp;
  uint32_t tail;
  uint32_t mark;
  uint32_t temp_count;
  tsim_temp_t temps[TSIM_ARENA_TEMPS_MAX];
} tsim_arena_t;

/* Every function returns TSIM_OK or a negative TSIM_E_...; TSIM_E_NO_ROOM stores the missing bytes in *result. */
int tsim_arena_init(tsim_arena_t *arena, uint32_t size, uint32_t skew);
int tsim_arena_persist(tsim_arena_t *arena, uint32_t size, uint32_t alignment, uint32_t *result);
int tsim_arena_take_temp(tsim_arena_t *arena, uint32_t size, uint32_t alignment, uint32_t *result);
int tsim_arena_free_temp(tsim_arena_t *arena, uint32_t offset);
int tsim_arena_reset_temps(tsim_arena_t *arena);
int tsim_arena_resize_head(tsim_arena_t *arena, uint32_t size, uint32_t alignment, uint32_t *result);

/* Take temp for a planner whose tables need table_size of the size bytes that it is given: only those count as used. */
int tsim_arena_take_planner(tsim_arena_t *arena, uint32_t size, uint32_t alignment, uint32_t *result);
void tsim_arena_count_planner(tsim_arena_t *arena, uint32_t offset, uint32_t table_size);

/* Return 1 when the invariant holds. */
int tsim_arena_check(const tsim_arena_t *arena);

#ifdef __cplusplus
}
#endif

#endif /* TSIM_ARENA_H_ */
