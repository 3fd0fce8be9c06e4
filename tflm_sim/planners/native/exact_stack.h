/* Buffers that are alive at one moment lie one above the other: the lowest top that such a stack can have. */
#ifndef TFLM_EXACT_STACK_H_
#define TFLM_EXACT_STACK_H_

#include "exact_problem.h"

/* Where alignments differ a stack has gaps, and how many depends on the order: with sizes 5 and 16, the second aligned
 * to 16, the 5 below ends the stack at 32, the 16 below at 21. Of two orders of the same buffers the one with the lower
 * top is never worse for what comes above, so that a table over all subsets has the answer: 2^count * count steps.
 */
typedef struct {
  int64_t size, align, lowest, highest; /* the offset is a multiple of align, at least lowest, at most highest */
} stacked_t;

enum { MOST_STACKED = 20, NO_STACK = -1 };

/* The top of the stack in the order of the list, or NO_STACK where a buffer would be above its highest. */
int64_t tflm_exact_stack_in_order(const stacked_t *list, int count);

/* Fill tops[1 << count]: the lowest top of each subset (bit i: list[i]), or NO_STACK. */
void tflm_exact_stack(const stacked_t *list, int count, int64_t *tops);

/* Raise p->bound (bytes) by the sections that have few enough buffers (8 MB for a moment); TFLM_PLAN_OK or
 * TFLM_PLAN_E_MEMORY. */
int tflm_exact_bound_by_stacks(problem_t *p);

#endif
