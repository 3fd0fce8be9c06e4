/* SPDX-License-Identifier: Apache-2.0 */
#include "tsim_arena.h"

#include "tsim_frame.h"

enum { PLANNER_ALIGNMENT = 16 };

static uint32_t align_up(const tsim_arena_t *arena, uint32_t offset, uint32_t alignment) {
  const uint32_t past = (arena->skew + offset) % alignment;
  return past == 0u ? offset : offset + (alignment - past);
}

static int is_alignment(uint32_t alignment) {
  return alignment >= 1u && alignment <= (uint32_t)TSIM_ARENA_ALIGNMENT_MAX && (alignment & (alignment - 1u)) == 0u;
}

/* Raise the mark to what must be free below the tail and the tail itself. */
static void count_use(tsim_arena_t *arena, uint32_t floor) {
  const uint32_t need = floor + (arena->size - arena->tail);
  arena->mark = need > arena->mark ? need : arena->mark;
}

/* Where the last byte of a live temp ends; an empty temp has none, and the head may shrink below it. */
static uint32_t live_temp_end(const tsim_arena_t *arena) {
  uint32_t end = 0;
  for (uint32_t i = 0; i < arena->temp_count; ++i) {
    if (arena->temps[i].end > arena->temps[i].offset && arena->temps[i].end > end) {
      end = arena->temps[i].end;
    }
  }
  return end;
}

int tsim_arena_init(tsim_arena_t *arena, uint32_t size, uint32_t skew) {
  if (arena == NULL || size > (uint32_t)INT32_MAX || skew >= (uint32_t)TSIM_ARENA_ALIGNMENT_MAX) {
    return TSIM_E_ARGUMENT;
  }
  arena->size = size;
  arena->skew = skew;
  arena->head = 0;
  arena->temp = 0;
  arena->tail = size;
  arena->mark = 0;
  arena->temp_count = 0;
  return TSIM_OK;
}

int tsim_arena_persist(tsim_arena_t *arena, uint32_t size, uint32_t alignment, uint32_t *result) {
  if (!is_alignment(alignment)) {
    return TSIM_E_ARGUMENT;
  }
  /* 64 bits: the aligned start may lie below zero, before it is known not to fit. */
  const int64_t start = (int64_t)arena->tail - (int64_t)size;
  const int64_t address = start + (int64_t)arena->skew + 4294967296;
  const int64_t offset = start - address % (int64_t)alignment;
  if (offset < (int64_t)arena->head) {
    *result = (uint32_t)((int64_t)arena->head - offset);
    return TSIM_E_NO_ROOM;
  }
  arena->tail = (uint32_t)offset;
  const uint32_t temps = live_temp_end(arena);
  count_use(arena, temps > arena->head ? temps : arena->head);
  *result = arena->tail;
  return TSIM_OK;
}

/* Place size bytes at the end of temp. */
static int take(tsim_arena_t *arena, uint32_t size, uint32_t alignment, uint32_t *result) {
  if (!is_alignment(alignment)) {
    return TSIM_E_ARGUMENT;
  }
  if (arena->temp_count == (uint32_t)TSIM_ARENA_TEMPS_MAX) {
    return TSIM_E_STATE;
  }
  const uint32_t offset = align_up(arena, arena->temp, alignment);
  const uint32_t available = offset > arena->tail ? 0u : arena->tail - offset;
  if (available < size) {
    *result = size - available;
    return TSIM_E_NO_ROOM;
  }
  arena->temp = offset + size;
  arena->temps[arena->temp_count].offset = offset;
  arena->temps[arena->temp_count].end = arena->temp;
  ++arena->temp_count;
  *result = offset;
  return TSIM_OK;
}

int tsim_arena_take_temp(tsim_arena_t *arena, uint32_t size, uint32_t alignment, uint32_t *result) {
  const int status = take(arena, size, alignment, result);
  if (status == TSIM_OK) {
    count_use(arena, arena->temp);
  }
  return status;
}

int tsim_arena_take_planner(tsim_arena_t *arena, uint32_t size, uint32_t alignment, uint32_t *result) {
  return take(arena, size, alignment, result);
}

void tsim_arena_count_planner(tsim_arena_t *arena, uint32_t offset, uint32_t table_size) {
  count_use(arena, align_up(arena, offset + table_size, (uint32_t)PLANNER_ALIGNMENT));
}

int tsim_arena_free_temp(tsim_arena_t *arena, uint32_t offset) {
  for (uint32_t i = 0; i < arena->temp_count; ++i) {
    if (arena->temps[i].offset == offset) {
      --arena->temp_count;
      arena->temps[i] = arena->temps[arena->temp_count];
      return TSIM_OK;
    }
  }
  return TSIM_E_STATE;
}

int tsim_arena_reset_temps(tsim_arena_t *arena) {
  if (arena->temp_count != 0u) {
    return TSIM_E_STATE;
  }
  arena->temp = arena->head;
  return TSIM_OK;
}

int tsim_arena_resize_head(tsim_arena_t *arena, uint32_t size, uint32_t alignment, uint32_t *result) {
  if (!is_alignment(alignment)) {
    return TSIM_E_ARGUMENT;
  }
  if (arena->head != arena->temp) {
    return TSIM_E_STATE;
  }
  const uint32_t start = align_up(arena, 0, alignment);
  const uint32_t available = start > arena->tail ? 0u : arena->tail - start;
  if (available < size) {
    *result = size - available;
    return TSIM_E_NO_ROOM;
  }
  arena->head = start + size;
  arena->temp = arena->head;
  count_use(arena, arena->head);
  *result = arena->head;
  return TSIM_OK;
}

int tsim_arena_check(const tsim_arena_t *arena) {
  return arena != NULL && arena->head <= arena->temp && arena->tail <= arena->size &&
                 arena->temp_count <= (uint32_t)TSIM_ARENA_TEMPS_MAX && live_temp_end(arena) <= arena->temp
             ? 1
             : 0;
}
