/* Exact planner: the smallest arena for buffers whose lifetimes are known, or the proof that a capacity is too small.
 *
 * Branch and bound over "place this buffer here" / "it will be higher than here"; see exact_search.c for the theory.
 * Thread-safe: no globals; all state hangs on the call. Offsets and sizes are bytes, times are inclusive. Status codes
 * are those of tflm_plan.h.
 */
#ifndef TFLM_EXACT_H_
#define TFLM_EXACT_H_

#include <stddef.h>
#include <stdint.h>

#include "tflm_plan.h"

#define TFLM_EXACT_MAX_BYTES (INT64_C(1) << 60)

/* offset of a buffer that the planner may place. */
enum { TFLM_EXACT_FREE = -1 };

typedef struct {
  int64_t size, first, last, alignment, offset;
} tflm_exact_buffer_t;

/* What is known at a moment: the best plan's peak (-1: none yet), the proved bound, and the work so far. */
typedef struct {
  int64_t peak, lower_bound, nodes;
  double seconds;
} tflm_exact_status_t;

/* Called about ten times a second, on the thread that called tflm_exact_solve; nonzero ends the search. */
typedef int (*tflm_exact_progress_t)(void *context, const tflm_exact_status_t *status);

typedef struct {
  int64_t capacity;   /* stop at the first plan within so many bytes; negative: minimise */
  int64_t node_limit; /* negative: none */
  double time_limit;  /* seconds; negative: none */
  int workers;        /* threads, at least 1 */
  tflm_exact_progress_t progress;
  void *context;
  const int64_t *start; /* a plan to begin with, bytes by buffer; NULL: none */
} tflm_exact_options_t;

typedef struct {
  tflm_exact_status_t status;
  int proved;     /* the question is answered: peak == lower_bound, a plan within capacity, or infeasible */
  int infeasible; /* no plan exists within capacity, or the fixed buffers collide */
} tflm_exact_result_t;

/* Fill result, and offsets[count] with the best plan found (untouched when the fixed buffers collide).
 * TFLM_PLAN_E_ARGUMENT for a size, alignment, lifetime, fixed offset or count out of range; TFLM_PLAN_E_OVERFLOW when
 * all sizes with their padding exceed TFLM_EXACT_MAX_BYTES; TFLM_PLAN_E_MEMORY.
 */
int tflm_exact_solve(const tflm_exact_buffer_t *buffers, size_t count, const tflm_exact_options_t *options,
                     tflm_exact_result_t *result, int64_t *offsets);

#endif
