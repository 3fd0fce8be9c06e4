/* What the exact planner is asked, and what it answers: exact.h says more. */
#ifndef TFLM_EXACT_TYPES_H_
#define TFLM_EXACT_TYPES_H_

#include <stddef.h>
#include <stdint.h>

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

/* tflm_exact_solve, for the steps that have parts of a problem planned: exact.c hands it to them. */
typedef int (*tflm_exact_solver_t)(const tflm_exact_buffer_t *buffers, size_t count,
                                   const tflm_exact_options_t *options, tflm_exact_result_t *result, int64_t *offsets);

#endif
