/* Plans without a gap: for problems whose every section is exactly as full as the capacity. */
#ifndef TFLM_EXACT_PACKING_H_
#define TFLM_EXACT_PACKING_H_

#include "exact_search.h"

typedef struct packing packing_t;

typedef struct {
  uint64_t seed; /* every seed tries the doubtful groups in another order; 0 tries small ones first */
  limits_t limits;
} packing_task_t;

/* Nonzero when every section is full at the bound and nothing is fixed or aligned above the unit. */
int tflm_exact_packing_applies(const problem_t *p);

/* NULL when memory is out. Memory: O(count + sections), and 2 MB for pairs. */
packing_t *tflm_exact_packing_new(const problem_t *p);
void tflm_exact_packing_free(packing_t *k);

/* SEARCH_FOUND with the offsets (units), SEARCH_FAILED when no plan fills every section, or SEARCH_STOPPED. */
int tflm_exact_packing_run(packing_t *k, packing_task_t *task, int64_t *units);

#endif
