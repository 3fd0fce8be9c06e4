/* One form for all guises of a problem. */
#ifndef TFLM_EXACT_CANONICAL_H_
#define TFLM_EXACT_CANONICAL_H_

#include "exact_problem.h"

/* Sort the buffers of a problem whose sections are known, and turn time around where it may be and that comes first in
 * the order of all lists of buffers; p->original says who is who. TFLM_PLAN_OK or TFLM_PLAN_E_MEMORY.
 */
int tflm_exact_make_canonical(problem_t *p, int may_turn);

#endif
