/* A problem has four forms: as it is; with time reversed (MIRRORED); with all buffers of one lifetime as one block
 * (MERGED), which is quicker and may have no plan though the problem has one; and both.
 */
#ifndef TFLM_EXACT_WAYS_H_
#define TFLM_EXACT_WAYS_H_

#include "exact_problem.h"

enum { MIRRORED = 1, MERGED = 2, WAY_COUNT = 4 };

typedef struct {
  int low, high, index;
  int64_t align;
} lifetime_t;

typedef struct {
  void *memory; /* the arrays */
  const problem_t *p;
  problem_t forms[WAY_COUNT]; /* [0] is empty: that is p */
  int count;                  /* MERGED where no two buffers have one lifetime, else WAY_COUNT */
  int *block;                 /* by buffer: its block in the merged forms */
  int *place[WAY_COUNT];      /* by buffer or block of a form as it was made: which one of the form it is */
  int64_t *above;             /* by buffer: its offset in its block, bytes */
  lifetime_t *lifetimes;      /* while the forms are made: the buffers by lifetime; a form's buffers */
  tflm_exact_buffer_t *buffers;
} ways_t;

/* Make the forms of p, which must outlive them; TFLM_PLAN_OK or an error. tflm_exact_ways_free is safe after any of
 * them, and for zeros.
 */
int tflm_exact_ways_init(ways_t *ways, const problem_t *p);
void tflm_exact_ways_free(ways_t *ways);

static inline const problem_t *exact_way(const ways_t *ways, int way) { return way == 0 ? ways->p : &ways->forms[way]; }

/* Turn a plan of one of the forms into one of the problem as it is; units. */
void tflm_exact_ways_to_plain(const ways_t *ways, int way, const int64_t *units, int64_t *plain);

#endif
