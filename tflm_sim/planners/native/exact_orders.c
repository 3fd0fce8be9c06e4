/* Orders of the buffers, and the plan that first fit makes of one. */
#include <stdlib.h>

#include "exact_problem.h"

typedef struct {
  double key[4];
  int index;
} ranked;

static int compare_ranked(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  for (int k = 0; k < 4; k++)
    if (x->key[k] != y->key[k]) return x->key[k] > y->key[k] ? -1 : 1;
  return x->index - y->index;
}

static double measure(const problem *p, char key, int i) {
  switch (key) {
    case 'A': return p->area[i];
    case 'a': return (double)p->bytes[i] * (p->high[i] - p->low[i]);
    case 'w': return (double)(p->high[i] - p->low[i]);
    case 'L': return (double)p->low[i];
    case 'O': return (double)(p->first_near[i + 1] - p->first_near[i]);
    case 'T': return (double)p->load[i];
    case 'W': return p->duration[i];
    default: return (double)p->bytes[i];
  }
}

void problem_order(const problem *p, const char *keys, int *order) {
  ranked *list = malloc(sizeof(ranked) * ((size_t)p->count + 1));
  for (int i = 0; i < p->count; i++) order[i] = i;
  if (list == NULL) return; /* any order is a right one */
  for (int i = 0; i < p->count; i++) {
    list[i] = (ranked){{0, 0, 0, 0}, i};
    for (int k = 0; k < 4 && keys[k] != '\0'; k++) list[i].key[k] = measure(p, keys[k], i);
  }
  qsort(list, (size_t)p->count, sizeof *list, compare_ranked);
  for (int i = 0; i < p->count; i++) order[i] = list[i].index;
  free(list);
}

typedef struct {
  int64_t low, high;
} taken;

static int compare_taken(const void *a, const void *b) {
  const taken *x = a, *y = b;
  return (x->low > y->low) - (x->low < y->low);
}

/* The lowest offset of buffer i that leaves every placed neighbour alone. */
static int64_t lowest_gap(const problem *p, int i, const int64_t *units, taken *list) {
  size_t used = 0;
  for (int q = p->first_near[i]; q < p->first_near[i + 1]; q++) {
    const int j = p->near[q];
    if (units[j] >= 0) list[used++] = (taken){units[j], units[j] + p->size[j]};
  }
  for (int q = p->first_block[i]; q < p->first_block[i + 1]; q++) {
    const int j = p->block[q];
    list[used++] = (taken){p->fixed[j], p->fixed[j] + p->size[j]};
  }
  qsort(list, used, sizeof *list, compare_taken);
  int64_t at = 0;
  for (size_t k = 0; k < used && list[k].low < at + p->size[i]; k++)
    if (list[k].high > at) at = exact_align_up(list[k].high, p->align[i]);
  return at;
}

int problem_first_fit(const problem *p, const int *order, int64_t *units) {
  taken *list = malloc(sizeof(taken) * ((size_t)p->count + 1));
  if (list == NULL) return EXACT_NO_MEMORY;
  for (int i = 0; i < p->count; i++) units[i] = p->fixed[i];
  for (int k = 0; k < p->count; k++)
    if (p->fixed[order[k]] == EXACT_FREE) units[order[k]] = lowest_gap(p, order[k], units, list);
  free(list);
  return EXACT_OK;
}
