/* Exact planner: the smallest arena for buffers whose lifetimes are known, or the proof that a capacity is too small.

   Branch and bound over "place this buffer here" / "it will be higher than here"; see exact_search.c for the theory.
   Thread-safe: no globals; all state hangs on the call. Offsets and sizes are bytes, times are inclusive. */
#ifndef TFLM_SIM_EXACT_H
#define TFLM_SIM_EXACT_H

#include <stddef.h>
#include <stdint.h>

enum {
  EXACT_OK = 0,
  EXACT_BAD_ARGUMENT = -1, /* a size, alignment, lifetime, fixed offset or count out of range */
  EXACT_TOO_BIG = -2,      /* all sizes with their padding exceed EXACT_MAX_BYTES */
  EXACT_NO_MEMORY = -3
};

#define EXACT_MAX_BYTES (INT64_C(1) << 60)
enum { EXACT_FREE = -1 }; /* exact_buffer.offset: the planner decides */

typedef struct {
  int64_t size, first, last, alignment, offset;
} exact_buffer;

/* What is known at a moment: the best plan's peak, the proved bound, and the work so far. */
typedef struct {
  int64_t peak, lower_bound, nodes;
  double seconds;
} exact_status;

/* Called about ten times a second, on the thread that called exact_solve; nonzero ends the search. */
typedef int (*exact_progress)(void *context, const exact_status *status);

typedef struct {
  int64_t capacity;   /* stop at the first plan within so many bytes; negative: minimise */
  int64_t node_limit; /* negative: none */
  double time_limit;  /* seconds; negative: none */
  int workers;        /* threads, at least 1 */
  exact_progress progress;
  void *context;
} exact_options;

typedef struct {
  exact_status status;
  int proved;     /* the question is answered: peak == lower_bound, a plan within capacity, or infeasible */
  int infeasible; /* no plan exists within capacity, or the fixed buffers collide */
} exact_result;

/* Fill result, and offsets[count] with the best plan found (untouched when the fixed buffers collide). */
int exact_solve(const exact_buffer *buffers, size_t count, const exact_options *options, exact_result *result,
                int64_t *offsets);

#endif
