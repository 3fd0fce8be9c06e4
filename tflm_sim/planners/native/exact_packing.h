/* Plans without a gap: for problems whose every section is exactly as full as the capacity. */
#ifndef TFLM_SIM_EXACT_PACKING_H
#define TFLM_SIM_EXACT_PACKING_H

#include "exact_search.h"

typedef struct packing packing;

typedef struct {
  uint64_t seed;      /* every seed tries the doubtful groups in another order; 0 tries small ones first */
  int64_t node_limit; /* stop after so many nodes */
  int (*poll)(void *context, int64_t nodes); /* asked now and then; nonzero stops */
  void *context;
  int64_t nodes; /* out: nodes visited */
} packing_task;

/* Nonzero when every section is full at the bound and nothing is fixed or aligned above the unit. */
int packing_applies(const problem *p);

/* NULL when memory is out. Memory: O(count + sections). */
packing *packing_new(const problem *p);
void packing_free(packing *k);

/* SEARCH_FOUND with the offsets (units), SEARCH_FAILED when no plan fills every section, or SEARCH_STOPPED. */
int packing_run(packing *k, packing_task *task, int64_t *units);

#endif
