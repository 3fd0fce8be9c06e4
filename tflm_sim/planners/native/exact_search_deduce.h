/* What follows from what is placed: offsets rise, or the region has no plan. A part of exact_search.c. */
#ifndef TFLM_EXACT_SEARCH_DEDUCE_H_
#define TFLM_EXACT_SEARCH_DEDUCE_H_

#include "exact_search_state.h"

enum { STACKED_IN_NODES = 12, ASK_EFFORT = 1 << 21, PATIENT_PASSES = 6, MOST_ROUNDS = 50 };

/* ---- offsets */

static unit_t align_to(unit_t value, unit_t align) { return align == 1 ? value : (value + align - 1) / align * align; }

/* The least aligned offset from `at` on where buffer i meets no fixed one; sets *rests if a fixed one carries it. */
static unit_t clear_of_fixed(const search_t *s, int i, unit_t at, uint8_t *rests) {
  const problem_t *p = s->p;
  at = align_to(at, s->align[i]);
  for (int q = 0; q < p->fixed_count; q++) {
    const int j = p->fixed_by_offset[q];
    if (p->low[j] >= p->high[i] || p->high[j] <= p->low[i]) continue;
    const unit_t end = align_to((unit_t)p->fixed[j] + s->size[j], s->align[i]);
    if (p->fixed[j] >= at + s->size[i]) break;
    if (end < at) continue;
    at = end;
    *rests = 1;
  }
  return at;
}

/* Raise buffer i to `at` or above, where nothing that is placed carries it. */
static void raise_to(search_t *s, int i, unit_t at) {
  uint8_t rests = 0;
  at = clear_of_fixed(s, i, at, &rests);
  set(s, i, at, rests, 0);
}

/* The least offset above `lowest` that a neighbour still to be placed, or a fixed one, can give to buffer i;
 * `lowest` itself when a neighbour may end at or below it.
 */
static unit_t carried(const search_t *s, const region_t *r, int i) {
  const problem_t *p = s->p;
  const int low = p->low[i], high = p->high[i];
  unit_t best = UNIT_MAX;
  for (int q = r->begin; q < r->end; q++) {
    const int j = s->members[q];
    if (p->low[j] >= high) break;
    if (p->high[j] <= low || j == i) continue;
    const unit_t end = s->lowest[j] + s->size[j];
    if (end < best) best = end;
    if (end <= s->lowest[i]) return s->lowest[i];
  }
  for (int q = 0; q < p->fixed_count; q++) {
    const int j = p->fixed_by_offset[q];
    if (p->low[j] >= high || p->high[j] <= low) continue;
    const unit_t end = (unit_t)p->fixed[j] + s->size[j];
    if (end > s->lowest[i] && end < best) best = end;
  }
  return best;
}

/* ---- deductions */

typedef enum { STILL, RAISED, NO_ROOM } change_of_t;

/* Count work that no node counts, and ask now and then. Nonzero when the search is over. */
static int spend(search_t *s, int64_t steps) {
  s->effort += steps;
  if (s->effort < ASK_EFFORT) return s->stopped;
  s->effort = 0;
  if (exact_ask(&s->task->limits)) s->stopped = 1;
  return s->stopped;
}

/* One pass over the region: raise what its twin pushes up or nothing carries. */
static change_of_t raise_once(search_t *s, const region_t *r) {
  change_of_t outcome = STILL;
  for (int k = r->begin; k < r->end; k++) {
    const int i = s->members[k], twin = s->p->twin[i];
    if (twin >= 0 && !s->placed[twin] && s->lowest[i] < s->lowest[twin] + s->size[twin])
      raise_to(s, i, s->lowest[twin] + s->size[twin]);
    if (s->rests[i]) continue;
    const unit_t at = carried(s, r, i);
    if (at > s->highest[i]) return NO_ROOM;
    if (at <= s->lowest[i]) continue;
    raise_to(s, i, at);
    outcome = RAISED;
  }
  return outcome;
}

/* The offset at which buffer i would settle on what is settled already; UNIT_MAX when it has to wait for its twin. */
static unit_t settles_at(const search_t *s, int i) {
  const int twin = s->p->twin[i];
  unit_t at = s->support[i], least = s->lowest[i];
  uint8_t rests = 0;
  if (twin >= 0 && !s->placed[twin]) {
    if (!s->settled[twin]) return UNIT_MAX;
    if (least < s->lowest[twin] + s->size[twin]) least = s->lowest[twin] + s->size[twin];
  }
  if (at == UNIT_MAX || (s->rests[i] && at >= least)) return at;
  return clear_of_fixed(s, i, at > least ? at : least, &rests);
}

static void begin_to_settle(search_t *s, const region_t *r) {
  for (int k = r->begin; k < r->end; k++) {
    const int i = s->members[k];
    s->settled[i] = 0;
    s->support[i] = s->rests[i] ? s->lowest[i] : UNIT_MAX;
    for (int q = 0; q < s->p->fixed_count && !s->rests[i]; q++) {
      const int j = s->p->fixed_by_offset[q];
      if (s->p->low[j] >= s->p->high[i] || s->p->high[j] <= s->p->low[i]) continue;
      const unit_t end = (unit_t)s->p->fixed[j] + s->size[j];
      if (end > s->lowest[i] && end < s->support[i]) s->support[i] = end;
    }
  }
}

static void settle(search_t *s, const region_t *r, int i, unit_t at) {
  if (at > s->lowest[i]) raise_to(s, i, at);
  s->settled[i] = 1;
  for (int q = r->begin; q < r->end; q++) {
    const int j = s->members[q];
    if (s->p->low[j] >= s->p->high[i]) break;
    if (s->p->high[j] <= s->p->low[i] || s->settled[j] || s->support[j] <= at + s->size[i]) continue;
    s->support[j] = at + s->size[i];
  }
}

/* Raise everything to where passes would end, in one go however far that is: the lowest buffers settle first, and
 * each carries those above it (as in Dijkstra's shortest paths). 0 when a buffer cannot settle.
 */
static int settle_all(search_t *s, const region_t *r) {
  begin_to_settle(s, r);
  for (int left = r->end - r->begin; left > 0; left--) {
    int lowest = -1;
    unit_t best = UNIT_MAX;
    for (int k = r->begin; k < r->end; k++) {
      const int i = s->members[k];
      const unit_t at = s->settled[i] ? UNIT_MAX : settles_at(s, i);
      if (at >= best) continue;
      best = at;
      lowest = i;
    }
    if (lowest < 0 || best > s->highest[lowest]) return 0;
    if (spend(s, (int64_t)(r->end - r->begin) * 4)) return 1;
    settle(s, r, lowest, best);
  }
  return 1;
}

/* Raise what does not rest until a neighbour can carry it; 0 when there is no room left for one. A few passes are
 * enough nearly always; two buffers beside a very large one could go on raising each other for ever.
 */
static int raise_uncarried(search_t *s, const region_t *r) {
  for (int pass = 0; pass < PATIENT_PASSES && !spend(s, (int64_t)(r->end - r->begin) * 4); pass++) {
    const change_of_t outcome = raise_once(s, r);
    if (outcome != RAISED) return outcome == STILL;
  }
  return settle_all(s, r);
}

/* Nonzero when i stands before j in a region's sorted list. */
static int stands_before(const search_t *s, int i, int j) {
  return s->lowest[i] != s->lowest[j] ? s->lowest[i] > s->lowest[j] : s->rank[i] > s->rank[j];
}

static void sort_region(const search_t *s, const region_t *r) {
  int *list = s->ordered;
  for (int k = r->begin + 1; k < r->end; k++) {
    const int moving = list[k];
    int to = k;
    for (; to > r->begin && stands_before(s, moving, list[to - 1]); to--) list[to] = list[to - 1];
    list[to] = moving;
  }
}

/* The next of the region's buffers and of the fixed ones that reach in, in their common order; -1 behind the last. */
static inline int next_in_order(const search_t *s, const region_t *r, int *k, int *f) {
  const problem_t *p = s->p;
  while (*f < s->fixed_count && (p->low[s->fixed[*f]] >= r->high || p->high[s->fixed[*f]] <= r->low)) ++*f;
  if (*f == s->fixed_count) return *k < r->end ? s->ordered[(*k)++] : -1;
  if (*k == r->end || stands_before(s, s->fixed[*f], s->ordered[*k])) return s->fixed[(*f)++];
  return s->ordered[(*k)++];
}

/* Fill load and floor of the region's sections; 0 when a section cannot be within the capacity. */
FAST static int sections_fit(search_t *s, const region_t *r) {
  unit_t *restrict load = s->load, *restrict floor = s->floor;
  memset(load + r->low, 0, sizeof *load * (size_t)(r->high - r->low));
  for (int k = r->begin, f = 0, i; (i = next_in_order(s, r, &k, &f)) >= 0;) {
    const unit_t lowest = s->lowest[i], size = s->size[i], room = s->capacity - lowest;
    const int from = s->p->low[i] > r->low ? s->p->low[i] : r->low;
    const int to = s->p->high[i] < r->high ? s->p->high[i] : r->high;
    int over = lowest > s->highest[i];
    for (int q = from; q < to; q++) {
      load[q] += size;
      floor[q] = lowest;
      over |= load[q] > room;
    }
    if (over) return 0;
  }
  return 1;
}

/* The least end that the lowest buffer of a section can have, among those that leave room for all others above. */
FAST static void find_least_ends(search_t *s, const region_t *r) {
  unit_t *restrict least_end = s->least_end;
  const unit_t *restrict load = s->load;
  for (int q = r->low; q < r->high; q++) least_end[q] = UNIT_MAX;
  for (int k = r->begin, f = 0, i; (i = next_in_order(s, r, &k, &f)) >= 0;) {
    const unit_t over = s->lowest[i] - s->capacity, end = s->lowest[i] + s->size[i];
    const int from = s->p->low[i] > r->low ? s->p->low[i] : r->low;
    const int to = s->p->high[i] < r->high ? s->p->high[i] : r->high;
    for (int q = from; q < to; q++) {
      const unit_t value = over + load[q] <= 0 ? end : UNIT_MAX;
      least_end[q] = value < least_end[q] ? value : least_end[q];
    }
  }
}

/* How low a buffer can be if it is not the first in the sections where it cannot be. */
FAST static unit_t not_first(const search_t *s, int i) {
  const unit_t *restrict least_end = s->least_end, *restrict load = s->load;
  const unit_t over = s->lowest[i] - s->capacity;
  unit_t best = 0;
  for (int q = s->p->low[i]; q < s->p->high[i]; q++) {
    const unit_t value = over + load[q] > 0 ? least_end[q] : 0;
    best = value > best ? value : best;
  }
  return best;
}

static int raise_not_first(search_t *s, const region_t *r) {
  int raised = 0;
  find_least_ends(s, r);
  for (int k = r->begin; k < r->end; k++) {
    const unit_t at = not_first(s, s->members[k]);
    if (at <= s->lowest[s->members[k]] || at == UNIT_MAX) continue;
    raise_to(s, s->members[k], at);
    raised = 1;
  }
  return raised;
}

/* What carries whom, and whether the sections fit; 0 when the region has no plan. */
static int settle_region(search_t *s, const region_t *r) {
  if (!raise_uncarried(s, r)) return 0;
  if (spend(s, (int64_t)(r->end - r->begin + s->fixed_count) * (r->high - r->low + 8))) return 1;
  sort_region(s, r);
  return sections_fit(s, r);
}

/* Whether what is left of a section can lie one above the other, with the gaps that its alignments make. Nearly always
 * it can as it is sorted: what can be lower is lower.
 */
static int section_stacks(search_t *s, const region_t *r, int section) {
  stacked_t list[STACKED_IN_NODES];
  int count = 0;
  for (int k = r->end - 1; k >= r->begin; k--) {
    const int i = s->ordered[k];
    if (s->p->low[i] > section || s->p->high[i] <= section) continue;
    if (count == STACKED_IN_NODES) return 1;
    list[count++] = (stacked_t){s->size[i], s->align[i], s->lowest[i], s->highest[i]};
  }
  if (tflm_exact_stack_in_order(list, count) != NO_STACK) return 1;
  tflm_exact_stack(list, count, s->tops);
  spend(s, (int64_t)count << count);
  return s->tops[(1 << count) - 1] != NO_STACK;
}

static int sections_stack(search_t *s, const region_t *r) {
  if (s->p->most_align == 1) return 1;
  for (int q = r->low; q < r->high; q++)
    if (!section_stacks(s, r, q)) return 0;
  return 1;
}

/* All deductions, nearly always to their end; 0 when the region has no plan. */
static int deduce(search_t *s, const region_t *r) {
  for (int round = 0; round < MOST_ROUNDS; round++) {
    if (!settle_region(s, r)) return 0;
    if (s->stopped || !raise_not_first(s, r)) return sections_stack(s, r);
  }
  return settle_region(s, r) && sections_stack(s, r);
}

#endif
