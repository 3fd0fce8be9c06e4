/* SPDX-License-Identifier: Apache-2.0 */
#include "tsim_paint.h"

/* What this file's own functions use of the stack, with room for a compiler that does not optimise. */
enum { STACK_MARGIN = 256, STACK_SEED = 0 };

/* The byte at a position: neighbours and 256-byte periods differ, so that a shifted copy does not look untouched. */
static uint8_t pattern(uint32_t position, uint32_t seed) {
  const uint32_t mixed = (position + seed + 1u) * 2654435761u;
  return (uint8_t)(mixed >> 24);
}

void tsim_paint(void *arena, size_t size, uint32_t seed) {
  uint8_t *bytes = (uint8_t *)arena;
  if (bytes == NULL || size > UINT32_MAX) {
    return;
  }
  for (uint32_t i = 0; i < (uint32_t)size; ++i) {
    bytes[i] = pattern(i, seed);
  }
}

tsim_scan_t tsim_scan_paint(const void *arena, size_t size, uint32_t seed) {
  tsim_scan_t scan = {0, 0, 0};
  const uint8_t *bytes = (const uint8_t *)arena;
  if (bytes == NULL || size > UINT32_MAX) {
    return scan;
  }
  uint32_t run = 0;
  for (uint32_t i = 0; i < (uint32_t)size; ++i) {
    if (bytes[i] != pattern(i, seed)) {
      ++scan.touched;
      run = 0;
      continue;
    }
    ++run;
    if (run > scan.gap_size) {
      scan.gap_size = run;
      scan.gap_offset = i + 1u - run;
    }
  }
  return scan;
}

size_t tsim_paint_stack(void *lowest) {
#ifdef __GNUC__
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
#else
  volatile uint8_t local = 0;
  const uintptr_t here = (uintptr_t)&local;
#endif
  const uintptr_t start = (uintptr_t)lowest;
  if (lowest == NULL || here < start || here - start <= (uintptr_t)STACK_MARGIN) {
    return 0;
  }
  const size_t size = (size_t)(here - start) - (size_t)STACK_MARGIN;
  tsim_paint(lowest, size, STACK_SEED);
  return size;
}

uint32_t tsim_stack_left(const void *lowest, size_t painted) {
  const uint8_t *bytes = (const uint8_t *)lowest;
  uint32_t left = 0;
  while (bytes != NULL && left < painted && bytes[left] == pattern(left, STACK_SEED)) {
    ++left;
  }
  return left;
}
