#include "tsim_paint.h"

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
