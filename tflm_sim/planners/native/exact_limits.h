/* How long a piece of the exact planner's work may go on, and how far it has come. */
#ifndef TFLM_EXACT_LIMITS_H_
#define TFLM_EXACT_LIMITS_H_

#include <stddef.h>
#include <stdint.h>

typedef struct {
  int64_t node_limit;                           /* stop after so many nodes */
  int (*is_over)(void *context, int64_t nodes); /* asked now and then; nonzero stops; NULL: never */
  void *context;
  int64_t nodes; /* out: nodes visited */
} limits_t;

/* Ask whether the work is over. */
static inline int exact_ask(const limits_t *limits) {
  return limits->is_over != NULL && limits->is_over(limits->context, limits->nodes);
}

#endif
