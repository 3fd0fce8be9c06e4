/* How a search goes about it: a strategy for every turn. */
#ifndef TFLM_EXACT_STRATEGY_H_
#define TFLM_EXACT_STRATEGY_H_

#include "exact_search.h"

enum { KEY_COUNT = 4, FIRST_STRATEGIES = 12 };

typedef struct {
  search_pick_t pick;
  char keys[KEY_COUNT + 1]; /* an order of the buffers: see tflm_exact_order */
  int way;                  /* which of the problem's forms (exact_ways.h) */
  uint64_t seed;            /* of the order */
} strategy_t;

/* The strategy of a turn, from 0 on, for a problem of so many forms: the first ones are known to be good; then they are
 * drawn, or bred from the last one that found a plan, `winner` (NULL: none did).
 */
strategy_t tflm_exact_strategy(int64_t turn, int way_count, const strategy_t *winner);

/* How many nodes the search of a turn may take. */
int64_t tflm_exact_nodes(int buffers, int64_t turn);

#endif
