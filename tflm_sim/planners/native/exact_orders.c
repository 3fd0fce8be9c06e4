/* Orders of the buffers, and the plan that first fit makes of one. */
#include <stdlib.h>

#include "exact_problem.h"

typedef struct {
  double key[4];
  int index;
} ranked_t;

static int compare_ranked(const void *a, const void *b) {
  const ranked_t *x = a, *y = b;
  for (int k = 0; k < 4; k++)
    if (x->key[k] != y->key[k]) return x->key[k] > y->key[k] ? -1 : 1;
  return x->index - y->index;
}

static double value_of(const problem_t *p, char key, int i) {
  switch (key) {
    case 'A': return (double)p->bytes[i] * (p->high[i] - p->low[i]);
    case 'O': return p->overlaps[i];
    case 'T': return (double)p->load[i];
    case 'W': return (double)(p->high[i] - p->low[i]);
    default: return (double)p->bytes[i];
  }
}

/* Between 1 and 1 + spread, the same for the same seed and buffer. */
static double stretch(uint64_t seed, int i, double spread) {
  return 1 + spread * exact_fraction(seed + (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15));
}

void tflm_exact_order(const problem_t *p, const char *keys, uint64_t seed, int *order) {
  const double spread = seed == 0 ? 0 : (double)(1 << seed % 4) / 8;
  ranked_t *list = malloc(sizeof(ranked_t) * ((size_t)p->count + 1));
  for (int i = 0; i < p->count; i++) order[i] = i;
  if (list == NULL) return; /* any order is a right one */
  for (int i = 0; i < p->count; i++) {
    list[i] = (ranked_t){{0, 0, 0, 0}, i};
    for (int k = 0; k < 4 && keys[k] != '\0'; k++) list[i].key[k] = value_of(p, keys[k], i) * stretch(seed, i, spread);
  }
  qsort(list, (size_t)p->count, sizeof *list, compare_ranked);
  for (int i = 0; i < p->count; i++) order[i] = list[i].index;
  free(list);
}

void tflm_exact_order_by_size(const problem_t *p, const double *begin, int *order) {
  ranked_t *list = malloc(sizeof(ranked_t) * ((size_t)p->count + 1));
  for (int i = 0; i < p->count; i++) order[i] = i;
  if (list == NULL) return; /* any order is a right one */
  for (int i = 0; i < p->count; i++) list[i] = (ranked_t){{(double)p->bytes[i], -begin[i], 0, 0}, i};
  qsort(list, (size_t)p->count, sizeof *list, compare_ranked);
  for (int i = 0; i < p->count; i++) order[i] = list[i].index;
  free(list);
}

/* What is placed, lowest first: offsets [low, high) in sections [from, to). */
typedef struct {
  int64_t low, high;
  int from, to;
} taken_t;

enum { ASK_EVERY = 1 << 20 }; /* steps */

/* The lowest offset of buffer i that leaves all that is placed alone. */
static int64_t lowest_gap(const problem_t *p, int i, const taken_t *list, int count) {
  int64_t at = 0;
  for (int k = 0; k < count && list[k].low < at + p->size[i]; k++)
    if (list[k].high > at && list[k].from < p->high[i] && p->low[i] < list[k].to)
      at = exact_align_up(list[k].high, p->align[i]);
  return at;
}

static void take(const problem_t *p, int i, int64_t at, taken_t *list, int count) {
  int k = count;
  for (; k > 0 && list[k - 1].low > at; k--) list[k] = list[k - 1];
  list[k] = (taken_t){at, at + p->size[i], p->low[i], p->high[i]};
}

int tflm_exact_first_fit(const problem_t *p, const int *order, const limits_t *limits, int64_t *units) {
  taken_t *list = malloc(sizeof(taken_t) * ((size_t)p->count + 1));
  int count = 0, code = TFLM_PLAN_OK;
  if (list == NULL) return TFLM_PLAN_E_MEMORY;
  for (int i = 0; i < p->count; i++) {
    units[i] = p->fixed[i];
    if (p->fixed[i] != TFLM_EXACT_FREE) take(p, i, units[i], list, count++);
  }
  int64_t top = 0;
  for (int k = 0; k < count; k++)
    if (list[k].high > top) top = list[k].high;
  for (int k = 0, work = 0; k < p->count; k++) {
    const int i = order[k];
    if (p->fixed[i] != TFLM_EXACT_FREE) continue;
    units[i] = code == TFLM_PLAN_OK ? lowest_gap(p, i, list, count) : exact_align_up(top, p->align[i]);
    if (units[i] + p->size[i] > top) top = units[i] + p->size[i];
    if (code != TFLM_PLAN_OK) continue;
    take(p, i, units[i], list, count++);
    if ((work += count) < ASK_EVERY) continue;
    work = 0;
    code = exact_ask(limits);
  }
  free(list);
  return code;
}
