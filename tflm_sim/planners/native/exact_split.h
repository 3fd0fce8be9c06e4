/* Plans in two storeys: some buffers below a line, all others above it. */
#ifndef TFLM_EXACT_SPLIT_H_
#define TFLM_EXACT_SPLIT_H_

#include "exact_search.h"

typedef struct {
  int64_t capacity; /* bytes */
  uint64_t seed;    /* every seed deals the families out in another way */
  limits_t limits;  /* node_limit: for each storey */
  int is_even;      /* the line is in the middle: two programs of one size; else anywhere */
} split_task_t;

/* SEARCH_FOUND with a plan within the capacity (units), else SEARCH_STOPPED: this way of dealing has none, or there is
   none, or memory is out. `buffers` are those that p was built from. Memory: O(families * sections), at most 128
   families. */
int tflm_exact_split_run(const problem_t *p, const tflm_exact_buffer_t *buffers, split_task_t *task, int64_t *units);

#endif
