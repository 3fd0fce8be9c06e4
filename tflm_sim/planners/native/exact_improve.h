/* What is too large for a search: a plan gets lower window by window, or first fit finds one in an order that was
 * shaken.
 */
#ifndef TFLM_EXACT_IMPROVE_H_
#define TFLM_EXACT_IMPROVE_H_

#include "exact_problem.h"

typedef struct {
  void *block; /* the arrays */
  const problem_t *p;
  tflm_exact_solver_t solve;
  int64_t *units;            /* the plan, in units; what is found is written here */
  uint64_t seed;             /* drawn from, and changed */
  tflm_exact_buffer_t *part; /* room for MOST_SEARCHED buffers, their names and offsets */
  int *named;
  int64_t *offsets;
  limits_t limits;        /* asked by the searches; each has a node limit of its own */
  double *begin, *shaken; /* when a buffer's turn comes among those of its size, in sections: in the best order; in
                             the one that is tried */
  int *order;
  int64_t *tried, least; /* the plan of the one that is tried, units; the peak of the best order, bytes */
  int64_t shakes;
} improvement_t;

/* Begin with the plan in units; TFLM_PLAN_OK or TFLM_PLAN_E_MEMORY. tflm_exact_improve_free is safe after both. */
int tflm_exact_improve_init(improvement_t *m, const problem_t *p, tflm_exact_solver_t solve, const limits_t *limits,
                            int64_t *units);
void tflm_exact_improve_free(improvement_t *m);

/* Free one of the highest buffers and some of those around it, and place them again below `peak` (bytes), with all
 * others where they are. Returns whether that worked: one of the highest is lower then.
 */
int tflm_exact_improve_once(improvement_t *m, int64_t peak);

/* First fit, the largest first, in the order of their beginnings, which are shaken more or less. Returns whether the
 * plan is below `peak` (bytes). O(count^2).
 */
int tflm_exact_improve_shake(improvement_t *m, int64_t peak);

#endif
