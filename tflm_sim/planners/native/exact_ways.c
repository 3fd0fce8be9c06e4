/* The forms of a problem are problems of their own, built from buffers in sections instead of time. */
#include "exact_ways.h"

#include <stdlib.h>

#include "exact_block.h"
#include "exact_build.h"

static void lay_out(void *object, tflm_workspace_t *workspace) {
  ways_t *ways = object;
  const size_t n = (size_t)ways->p->count;
  for (int way = 1; way < WAY_COUNT; way++) ways->place[way] = tflm_carve(workspace, n, sizeof *ways->place[way]);
  ways->above = tflm_carve(workspace, n, sizeof *ways->above);
  ways->lifetimes = tflm_carve(workspace, n, sizeof *ways->lifetimes);
  ways->buffers = tflm_carve(workspace, n, sizeof *ways->buffers);
  ways->block = tflm_carve(workspace, n, sizeof *ways->block);
}

static int compare_lifetimes(const void *a, const void *b) {
  const lifetime_t *x = a, *y = b;
  if (x->low != y->low) return x->low - y->low;
  if (x->high != y->high) return x->high - y->high;
  if (x->align != y->align) return x->align < y->align ? -1 : 1;
  return x->index - y->index;
}

/* In a block nothing may need padding. */
static int are_one_block(const problem_t *p, const lifetime_t *x, const lifetime_t *y) {
  const int i = x->index, j = y->index;
  return x->low == y->low && x->high == y->high && x->align == y->align && p->fixed[i] == TFLM_EXACT_FREE &&
         p->fixed[j] == TFLM_EXACT_FREE && p->bytes[i] % (p->align[i] * p->unit) == 0 &&
         p->bytes[j] % (p->align[j] * p->unit) == 0;
}

/* Fill buffers with the blocks and say which buffer is where; returns how many blocks there are. */
static int merge(ways_t *ways) {
  const problem_t *p = ways->p;
  lifetime_t *list = ways->lifetimes;
  int count = 0;
  for (int i = 0; i < p->count; i++) list[i] = (lifetime_t){p->low[i], p->high[i], i, p->align[i]};
  qsort(list, (size_t)p->count, sizeof *list, compare_lifetimes);
  for (int k = 0; k < p->count; k++) {
    const int i = list[k].index;
    if (k == 0 || !are_one_block(p, &list[k - 1], &list[k])) ways->buffers[count++] = exact_in_sections(p, i, 0);
    ways->block[i] = count - 1;
    ways->above[i] = ways->buffers[count - 1].size;
    ways->buffers[count - 1].size += p->bytes[i];
  }
  return count;
}

static void mirror(tflm_exact_buffer_t *buffers, int count) {
  for (int i = 0; i < count; i++) {
    const int64_t first = buffers[i].first;
    buffers[i].first = -1 - buffers[i].last; /* no overflow at the edges */
    buffers[i].last = -1 - first;
  }
}

static int make_form(ways_t *ways, int way, int count) {
  problem_t *form = &ways->forms[way];
  const int code = tflm_exact_problem_init(form, ways->buffers, (size_t)count, 0);
  for (int k = 0; k < form->count && code == TFLM_PLAN_OK; k++) ways->place[way][form->original[k]] = k;
  return code;
}

int tflm_exact_ways_init(ways_t *ways, const problem_t *p) {
  *ways = (ways_t){.p = p};
  ways->memory = tflm_exact_block_new(ways, lay_out);
  if (ways->memory == NULL) return TFLM_PLAN_E_MEMORY;
  const int blocks = merge(ways);
  int code = TFLM_PLAN_OK;
  ways->count = blocks < p->count ? WAY_COUNT : MERGED;
  for (int way = MERGED; way < ways->count && code == TFLM_PLAN_OK; way++) {
    code = make_form(ways, way, blocks);
    mirror(ways->buffers, blocks);
  }
  if (code != TFLM_PLAN_OK) return code;
  for (int i = 0; i < p->count; i++) ways->buffers[i] = exact_in_sections(p, i, p->bytes[i]);
  mirror(ways->buffers, p->count);
  return make_form(ways, MIRRORED, p->count);
}

void tflm_exact_ways_free(ways_t *ways) {
  for (int way = 1; way < WAY_COUNT; way++) tflm_exact_problem_free(&ways->forms[way]);
  free(ways->memory);
}

void tflm_exact_ways_to_plain(const ways_t *ways, int way, const int64_t *units, int64_t *plain) {
  const problem_t *p = ways->p, *form = exact_way(ways, way);
  for (int i = 0; i < p->count; i++) {
    const int part = way & MERGED ? ways->block[i] : i;
    const int64_t offset = units[way == 0 ? i : ways->place[way][part]] * form->unit;
    plain[i] = (offset + (way & MERGED ? ways->above[i] : 0)) / p->unit;
  }
}
