/* Which regions failed before, and which buffer to decide on next. A part of exact_search.c. */
#ifndef TFLM_EXACT_SEARCH_CHOOSE_H_
#define TFLM_EXACT_SEARCH_CHOOSE_H_

#include "exact_search_deduce.h"

enum { MEMO_BITS = 19, MEMO_LEAST = 4, MOST_KEYS = 1 << 18 };

/* ---- what failed before */

static state_hash_t state_of(const search_t *s, const region_t *r) {
  state_hash_t state = {0, 0};
  for (int k = r->begin; k < r->end; k++) {
    const int i = s->members[k];
    const uint64_t x = exact_mix(exact_mix((uint64_t)s->lowest[i] * 2 + s->rests[i] + 1) ^ ((uint64_t)i << 40));
    state.a += x;
    state.b += exact_mix(x ^ UINT64_C(0x9e3779b97f4a7c15));
  }
  return state;
}

static failure_t *memo_slot(const search_t *s, state_hash_t state) { return &s->memo[state.a >> (64 - MEMO_BITS)]; }

static int known_to_fail(const search_t *s, state_hash_t state) {
  const failure_t *f = memo_slot(s, state);
  return f->state.a == state.a && f->state.b == state.b && f->capacity >= s->task->capacity;
}

static void push_key(search_t *s, state_hash_t state) {
  if (grow((void **)&s->keys, &s->key_room, s->key_count, sizeof *s->keys, MOST_KEYS)) s->keys[s->key_count++] = state;
}

static void remember_failures(search_t *s, size_t from) {
  for (size_t k = from; k < s->key_count && !s->stopped; k++)
    *memo_slot(s, s->keys[k]) = (failure_t){s->keys[k], s->task->capacity};
}

/* ---- choosing */

/* The section to work on. */
static int pick_section(const search_t *s, const region_t *r) {
  int best = -1;
  unit_t best_first = 0, best_load = 0;
  for (int q = r->low; q < r->high; q++) {
    if (s->load[q] == 0) continue;
    const unit_t first = s->task->pick == PICK_LOWEST_FLOOR ? s->floor[q] : s->capacity - s->floor[q] - s->load[q];
    if (best >= 0 && (first > best_first || (first == best_first && s->load[q] <= best_load))) continue;
    best = q;
    best_first = first;
    best_load = s->load[q];
  }
  return best;
}

static int lowest_in(const search_t *s, const region_t *r, int section) {
  for (int k = r->end - 1; k >= r->begin; k--) {
    const int i = s->ordered[k];
    if (section < 0 || (s->p->low[i] <= section && section < s->p->high[i])) return i;
  }
  return -1;
}

/* Of the buffers that can be lowest in the section, the one that leaves least room below it in all of its sections,
 * where others could be lower.
 */
static int snuggest_in(const search_t *s, const region_t *r, int section) {
  int best = -1;
  double best_waste = 0;
  for (int k = r->end - 1; k >= r->begin; k--) {
    const int i = s->ordered[k];
    if (section < s->p->low[i] || s->p->high[i] <= section) continue;
    if (best >= 0 && s->lowest[i] > s->lowest[best]) break;
    double waste = 0;
    for (int q = s->p->low[i]; q < s->p->high[i]; q++) waste += (double)(s->lowest[i] - s->floor[q]);
    waste /= s->p->high[i] - s->p->low[i];
    if (best >= 0 && waste >= best_waste) continue;
    best = i;
    best_waste = waste;
  }
  return best;
}

/* The lowest unplaced neighbour that may still lie below buffer i, or -1. */
static int fits_below(const search_t *s, const region_t *r, int i) {
  const problem_t *p = s->p;
  int best = -1;
  for (int q = r->begin; q < r->end; q++) {
    const int j = s->members[q];
    if (p->low[j] >= p->high[i]) break;
    if (p->high[j] <= p->low[i] || s->lowest[j] + s->size[j] > s->lowest[i]) continue;
    if (best < 0 || stands_before(s, best, j)) best = j;
  }
  return best;
}

static int choose(const search_t *s, const region_t *r) {
  int chosen = -1;
  if (s->task->pick == PICK_SNUGGEST)
    chosen = snuggest_in(s, r, pick_section(s, r));
  else if (s->task->pick != PICK_LOWEST)
    chosen = lowest_in(s, r, pick_section(s, r));
  if (chosen < 0) chosen = lowest_in(s, r, -1);
  for (int below = chosen; below >= 0; below = fits_below(s, r, chosen)) chosen = below;
  return chosen;
}

#endif
