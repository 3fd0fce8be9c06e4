/* Plans in two levels: some buffers below a line, all others above it (a guillotine cut). */
#ifndef TFLM_EXACT_SPLIT_H_
#define TFLM_EXACT_SPLIT_H_

#include "exact_search.h"

typedef struct {
  tflm_exact_solver_t solve; /* plans a level */
  int64_t capacity;          /* bytes */
  uint64_t seed;             /* every seed deals the families out in another way */
  int64_t deals;             /* so many ways are tried, and the one that leaves the levels least in common is planned */
  limits_t limits;           /* node_limit: for each level */
  int is_even;               /* the line is in the middle: two programs of one size; else anywhere */
  int is_dealt;              /* out: was there a way to deal the families out? */
  int has_two;               /* out: and the levels have hardly a moment in common */
} split_task_t;

/* All tries at one problem. */
typedef struct {
  int64_t turns, cost; /* cost: in nodes */
  int has_two;         /* of the last one */
} split_turns_t;

/* The next try, without capacity and callback; its node_limit is 0 while it is not time for one. Levels within a
 * capacity are as full as the whole, so that each takes many nodes. `nodes`: all so far; with a capacity only those of
 * searches of the whole.
 */
split_task_t tflm_exact_split_next(const split_turns_t *turns, int buffers, int has_capacity, int64_t nodes);

/* Count a try that was made. */
void tflm_exact_split_done(split_turns_t *turns, int buffers, const split_task_t *task);

/* SEARCH_FOUND with a plan within the capacity (units), else SEARCH_STOPPED: this way of dealing has none, or there is
 * none, or memory is out. `buffers` are those that p was built from. Memory: O(families * sections), at most 128
 * families.
 */
int tflm_exact_split_run(const problem_t *p, const tflm_exact_buffer_t *buffers, split_task_t *task, int64_t *units);

#endif
