/* A table over all subsets of the buffers of a section. */
#include "exact_stack.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 1 << 26 }; /* for one problem: some tenths of a second */

void tflm_exact_stack(const stacked_t *list, int count, int64_t *tops) {
  tops[0] = 0;
  for (int set = 1; set < 1 << count; set++) {
    int64_t best = NO_STACK;
    for (int i = 0; i < count; i++) {
      const stacked_t *b = &list[i];
      if (!(set >> i & 1) || tops[set ^ 1 << i] == NO_STACK) continue;
      const int64_t below = exact_align_up(tops[set ^ 1 << i], b->align), at = below < b->lowest ? b->lowest : below;
      if (at <= b->highest && (best == NO_STACK || at + b->size < best)) best = at + b->size;
    }
    tops[set] = best;
  }
}

int64_t tflm_exact_stack_in_order(const stacked_t *list, int count) {
  int64_t top = 0;
  for (int i = 0; i < count; i++) {
    const int64_t below = exact_align_up(top, list[i].align), at = below < list[i].lowest ? list[i].lowest : below;
    if (at > list[i].highest) return NO_STACK;
    top = at + list[i].size;
  }
  return top;
}

/* The buffers of a section; 0 when they are too many, or so small that padding cannot raise the bound. */
static int list_section(const problem_t *p, int section, stacked_t *list, int *named) {
  int count = 0;
  int64_t most = 0;
  for (int i = 0; i < p->count; i++) {
    if (p->low[i] > section || p->high[i] <= section) continue;
    if (count == MOST_STACKED) return 0;
    const int is_fixed = p->fixed[i] != TFLM_EXACT_FREE;
    named[count] = i;
    list[count++] =
        (stacked_t){p->size[i], p->align[i], is_fixed ? p->fixed[i] : 0, is_fixed ? p->fixed[i] : INT64_MAX};
    most += p->size[i] + p->align[i] - 1;
    if (is_fixed) most += p->fixed[i];
  }
  return most * p->unit > p->bound ? count : 0;
}

/* The top of the stack in which each next buffer is the one that needs least padding; sorts the list that way. */
static int64_t stack_snugly(stacked_t *list, int count) {
  int64_t top = 0;
  for (int k = 0; k < count; k++) {
    int next = k;
    int64_t least = INT64_MAX;
    for (int i = k; i < count; i++) {
      const int64_t below = exact_align_up(top, list[i].align), at = below < list[i].lowest ? list[i].lowest : below;
      if (at > list[i].highest || at > least || (at == least && list[i].align <= list[next].align)) continue;
      next = i;
      least = at;
    }
    if (least == INT64_MAX) return NO_STACK;
    const stacked_t taken = list[next];
    list[next] = list[k];
    list[k] = taken;
    top = least + taken.size;
  }
  return top;
}

/* The topmost gives back what rounding to units added to it. */
static int64_t least_peak(const problem_t *p, const stacked_t *list, const int *named, int count, const int64_t *tops) {
  const int all = (1 << count) - 1;
  int64_t best = INT64_MAX;
  for (int i = 0; i < count; i++) {
    if (tops[all ^ 1 << i] == NO_STACK) continue;
    const int64_t below = exact_align_up(tops[all ^ 1 << i], list[i].align);
    const int64_t at = below < list[i].lowest ? list[i].lowest : below;
    const int64_t end = at * p->unit + p->bytes[named[i]];
    if (at <= list[i].highest && end < best) best = end;
  }
  return best;
}

int tflm_exact_bound_by_stacks(problem_t *p) {
  stacked_t list[MOST_STACKED], sorted[MOST_STACKED];
  int named[MOST_STACKED];
  int64_t *tops = p->most_align > 1 ? malloc(sizeof *tops << MOST_STACKED) : NULL;
  if (p->most_align == 1) return TFLM_PLAN_OK;
  if (tops == NULL) return TFLM_PLAN_E_MEMORY;
  for (int q = 0, steps = 0; q < p->section_count && steps < MOST_STEPS; q++) {
    const int count = list_section(p, q, list, named);
    steps += p->count;
    if (count < 2) continue;
    memcpy(sorted, list, sizeof *list * (size_t)count);
    const int64_t top = stack_snugly(sorted, count);
    if (top != NO_STACK && top * p->unit <= p->bound) continue;
    steps += count << count;
    tflm_exact_stack(list, count, tops);
    const int64_t peak = least_peak(p, list, named, count, tops);
    if (peak != INT64_MAX && peak > p->bound) p->bound = peak;
  }
  free(tops);
  return TFLM_PLAN_OK;
}
