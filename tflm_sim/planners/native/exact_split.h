/* Plans in two storeys: some buffers below a line, all others above it. */
#ifndef TFLM_SIM_EXACT_SPLIT_H
#define TFLM_SIM_EXACT_SPLIT_H

#include "exact_search.h"

typedef struct {
  int64_t capacity;                          /* bytes */
  uint64_t seed;                             /* every seed deals the families out in another way */
  int64_t node_limit;                        /* for each storey */
  int (*poll)(void *context, int64_t nodes); /* asked now and then; nonzero stops */
  void *context;
  int64_t nodes; /* out: nodes visited */
} split_task;

/* SEARCH_FOUND with a plan within the capacity (units), else SEARCH_STOPPED: this way of dealing has none, or there is
   none, or memory is out. `buffers` are those that p was built from. Memory: O(families * sections), at most 64
   families. */
int split_run(const problem *p, const exact_buffer *buffers, split_task *task, int64_t *units);

#endif
