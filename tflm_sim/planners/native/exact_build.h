/* What a caller asks becomes a problem. */
#ifndef TFLM_EXACT_BUILD_H_
#define TFLM_EXACT_BUILD_H_

#include "exact_problem.h"

/* Whether there are too many buffers, or one has a size, alignment, lifetime or fixed offset out of range. */
int tflm_exact_buffers_are_bad(const tflm_exact_buffer_t *buffers, size_t count);

/* Build from valid buffers; TFLM_PLAN_OK, TFLM_PLAN_E_OVERFLOW or TFLM_PLAN_E_MEMORY. tflm_exact_problem_free is safe
 * after any of them. The buffers come in their canonical order (exact_canonical.h), which may turn time around.
 */
int tflm_exact_problem_init(problem_t *p, const tflm_exact_buffer_t *buffers, size_t count, int may_turn);
void tflm_exact_problem_free(problem_t *p);

/* 1 when two fixed buffers collide: then there is no plan at all. Negative: TFLM_PLAN_E_MEMORY. Like the building of a
 * problem it takes O(count log count) steps, so that neither has to ask for limits.
 */
int tflm_exact_fixed_collide(const problem_t *p);

#endif
