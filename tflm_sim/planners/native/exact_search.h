/* One question to the search: is there a plan within this capacity? */
#ifndef TFLM_EXACT_SEARCH_H_
#define TFLM_EXACT_SEARCH_H_

#include "exact_problem.h"

enum { SEARCH_FAILED, SEARCH_FOUND, SEARCH_STOPPED };

/* Where to look for the next buffer to decide on. */
typedef enum {
  PICK_LOWEST,       /* the buffer that can lie lowest of all */
  PICK_LOWEST_FLOOR, /* the section that is filled least, the fuller ahead one first */
  PICK_TIGHTEST,     /* the section with the least room to lose */
  PICK_SNUGGEST,     /* the same; in it, the buffer that leaves least room below it */
  PICK_COUNT
} search_pick_t;

typedef struct {
  int64_t capacity; /* bytes */
  search_pick_t pick;
  const int *order; /* which of two buffers at one offset comes first */
  limits_t limits;
} search_task_t;

/* A search keeps what it has learnt to be impossible from task to task; capacities may come in any order. The narrow
 * one counts units in 32 bits (about twice as fast), for problems that exact_search_is_narrow.
 */
typedef struct tflm_exact_search_narrow search_narrow_t;
typedef struct tflm_exact_search_wide search_wide_t;

static inline int exact_search_is_narrow(const problem_t *p) {
  return p->total + 2 * p->most_align < (INT64_C(1) << 30);
}

search_narrow_t *tflm_exact_search_new_narrow(const problem_t *p);
void tflm_exact_search_free_narrow(search_narrow_t *s);
int tflm_exact_search_run_narrow(search_narrow_t *s, search_task_t *task, int64_t *units);
search_wide_t *tflm_exact_search_new_wide(const problem_t *p);
void tflm_exact_search_free_wide(search_wide_t *s);
int tflm_exact_search_run_wide(search_wide_t *s, search_task_t *task, int64_t *units);

#endif
