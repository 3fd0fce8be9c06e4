/* SPDX-License-Identifier: Apache-2.0 */
/* tsim_paint: how much of an arena the firmware really wrote.
 *
 *   paint -> create the interpreter, AllocateTensors(), Invoke() -> scan
 *
 *     0            gap_offset                gap_offset + gap_size         size
 *     | written ... | not written: the pattern stands | ... written          |
 *
 * A byte that was written with its own pattern counts as not written: 1 in 256 of them. Paint with another seed and run
 * again to see those too. TFLM's greedy planner spreads its tables over all of the arena that is free while it plans,
 * so after AllocateTensors() in a roomy arena the largest gap is smaller than what could be saved. In an arena of the
 * smallest size that works nothing can be saved, and the guard bytes that the caller paints around it stay whole:
 * that is what tsim_scan confirms.
 */
#ifndef TSIM_PAINT_H_
#define TSIM_PAINT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a scan found; all in bytes. */
typedef struct tsim_scan {
  uint32_t touched;    /* bytes that do not hold the pattern */
  uint32_t gap_offset; /* start of the longest run that holds it */
  uint32_t gap_size;   /* length of that run, 0 when every byte was written */
} tsim_scan_t;

/* Fill size bytes with the pattern of seed. A null arena, or more than UINT32_MAX bytes, is left alone. */
void tsim_paint(void *arena, size_t size, uint32_t seed);

/* Compare size bytes with the pattern of seed; all zero for a null arena or more than UINT32_MAX bytes. */
tsim_scan_t tsim_scan_paint(const void *arena, size_t size, uint32_t seed);

/* The high-water mark of a stack that grows down, where no operating system keeps one.
 *
 *   painted = tsim_paint_stack(lowest)    early: from lowest, the stack's first byte, to a little below the caller
 *   ... run ...
 *   tsim_stack_left(lowest, painted)      bytes at the bottom that were never used
 *
 * The caller's task must be the one whose stack it is. Returns 0 where there is nothing to paint. */
size_t tsim_paint_stack(void *lowest);
uint32_t tsim_stack_left(const void *lowest, size_t painted);

#ifdef __cplusplus
}
#endif

#endif /* TSIM_PAINT_H_ */
