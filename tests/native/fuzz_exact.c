/* Random small problems: the exact planner's C code against a plain depth-first search that knows no tricks.

     fuzz_exact SEED CASES

   Each case asks for the minimum, for capacities around it, and (through one search that keeps what it has learnt) with
   random strategies and node limits. Every tenth case is hostile: numbers near 2^31 and 2^63, zero and negative ones,
   where only an error code or a valid answer is allowed. */
#include <stdio.h>
#include <stdlib.h>

#include "exact.h"
#include "exact_build.h"
#include "exact_packing.h"
#include "exact_search.h"
#include "exact_split.h"

enum { MOST = 9 };

static uint64_t state;

static int64_t draw(int64_t low, int64_t high) {
  state += UINT64_C(0x9e3779b97f4a7c15);
  return low + (int64_t)(exact_mix(state) % (uint64_t)(high - low + 1));
}

static void fail(const char *what, const tflm_exact_buffer_t *b, size_t count) {
  fprintf(stderr, "%s\n", what);
  for (size_t i = 0; i < count; i++)
    fprintf(stderr, "{%lld, %lld, %lld, %lld, %lld},\n", (long long)b[i].size, (long long)b[i].first,
            (long long)b[i].last, (long long)b[i].alignment, (long long)b[i].offset);
  exit(1);
}

static int meet(const tflm_exact_buffer_t *a, const tflm_exact_buffer_t *b) {
  return a->first <= b->last && b->first <= a->last;
}

static int overlap(const tflm_exact_buffer_t *a, int64_t at, const tflm_exact_buffer_t *b, int64_t other) {
  return meet(a, b) && at < other + b->size && other < at + a->size;
}

/* ---- the plain search: buffers in the order of their offsets, each as low as those before it allow */

typedef struct {
  const tflm_exact_buffer_t *b;
  size_t count;
  int64_t offsets[MOST], best;
  int placed[MOST];
} plain_t;

static int64_t lowest(const plain_t *p, size_t i) {
  int64_t at = 0;
  for (size_t j = 0; j < p->count; j++)
    if (p->placed[j] && p->b[j].offset < 0 && meet(&p->b[i], &p->b[j]) && p->offsets[j] + p->b[j].size > at)
      at = p->offsets[j] + p->b[j].size;
  at = exact_align_up(at, p->b[i].alignment);
  for (size_t j = 0; j < p->count; j++) {
    if (p->b[j].offset < 0 || !overlap(&p->b[i], at, &p->b[j], p->b[j].offset)) continue;
    at = exact_align_up(p->b[j].offset + p->b[j].size, p->b[i].alignment);
    j = (size_t)-1; /* from the first fixed one again */
  }
  return at;
}

static void descend(plain_t *p, int64_t from, int64_t peak) {
  int left = 0;
  if (peak >= p->best) return;
  for (size_t i = 0; i < p->count; i++) {
    if (p->placed[i]) continue;
    left = 1;
    const int64_t at = lowest(p, i), end = at + p->b[i].size;
    if (at < from) continue;
    p->offsets[i] = at;
    p->placed[i] = 1;
    descend(p, at, end > peak ? end : peak);
    p->placed[i] = 0;
  }
  if (!left) p->best = peak;
}

static int64_t plain_minimum(const tflm_exact_buffer_t *b, size_t count) {
  plain_t p = {.b = b, .count = count, .best = INT64_MAX};
  int64_t peak = 0;
  for (size_t i = 0; i < count; i++) {
    if (b[i].offset < 0) continue;
    p.placed[i] = 1;
    if (b[i].offset + b[i].size > peak) peak = b[i].offset + b[i].size;
  }
  descend(&p, 0, peak);
  return p.best;
}

/* ---- the cases */

static size_t draw_problem(tflm_exact_buffer_t *b) {
  const size_t count = (size_t)draw(1, MOST - 2 * draw(0, 1));
  const int64_t moments = draw(3, 9), size = draw(3, 14), length = draw(1, 5);
  const int aligned = draw(0, 3) == 0, fixed = draw(0, 3) == 0;
  static const int64_t alignments[] = {1, 2, 3, 4};
  for (size_t i = 0; i < count; i++) {
    const int64_t first = draw(0, moments), last = first + draw(0, length);
    b[i] = (tflm_exact_buffer_t){draw(1, size), first, last < moments ? last : moments,
                                 aligned ? alignments[draw(0, 3)] : 1,
                                 fixed && draw(0, 3) == 0 ? draw(0, 25) : TFLM_EXACT_FREE};
    if (i > 0 && draw(0, 4) == 0) b[i] = b[draw(0, (int64_t)i - 1)];
  }
  return count;
}

static int fixed_overlap(const tflm_exact_buffer_t *b, size_t count) {
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < i; j++)
      if (b[i].offset >= 0 && b[j].offset >= 0 && overlap(&b[i], b[i].offset, &b[j], b[j].offset)) return 1;
  return 0;
}

static void check_plan(const tflm_exact_buffer_t *b, size_t count, const int64_t *offsets, int64_t peak) {
  int64_t highest = 0;
  for (size_t i = 0; i < count; i++) {
    if (offsets[i] < 0 || (b[i].offset < 0 ? offsets[i] % b[i].alignment != 0 : offsets[i] != b[i].offset))
      fail("an offset is wrong", b, count);
    for (size_t j = 0; j < i; j++)
      if (overlap(&b[i], offsets[i], &b[j], offsets[j])) fail("two buffers overlap", b, count);
    if (offsets[i] + b[i].size > highest) highest = offsets[i] + b[i].size;
  }
  if (highest != peak) fail("the peak is wrong", b, count);
}

static void check_entry(const tflm_exact_buffer_t *b, size_t count, int64_t best) {
  int64_t offsets[MOST];
  for (int64_t capacity = best > 0 ? best - 2 : -1; capacity <= best + 1; capacity++) {
    const tflm_exact_options_t options = {capacity < 0 ? -1 : capacity, -1, -1.0, 1 + (int)draw(0, 1), NULL, NULL};
    tflm_exact_result_t result;
    if (tflm_exact_solve(b, count, &options, &result, offsets) != TFLM_PLAN_OK || !result.proved)
      fail("a small problem is not answered", b, count);
    if (options.capacity >= 0 && result.infeasible != (best > capacity)) fail("a capacity is misjudged", b, count);
    if (options.capacity < 0 && result.status.peak != best) fail("the minimum is wrong", b, count);
    if (!result.infeasible) check_plan(b, count, offsets, result.status.peak);
  }
}

static int is_over(void *context, int64_t nodes) { return context == NULL && nodes < 0; }

static limits_t limits(int64_t node_limit) { return (limits_t){node_limit, is_over, NULL, 0}; }

static void check_searches(const tflm_exact_buffer_t *b, size_t count, int64_t best) {
  static const char *const keys[] = {"TAWO", "WATZ", "ZLOA"};
  problem_t p;
  if (tflm_exact_problem_init(&p, b, count, (int)draw(0, 1)) != TFLM_PLAN_OK || p.bound > best)
    fail("the bound is wrong", b, count);
  search_narrow_t *narrow = tflm_exact_search_new_narrow(&p);
  search_wide_t *wide = tflm_exact_search_new_wide(&p);
  for (int turn = 0; turn < 12; turn++) {
    int order[MOST + 1];
    int64_t units[MOST + 1];
    tflm_exact_order(&p, keys[draw(0, 2)], (uint64_t)draw(0, 2), order);
    const int64_t capacity = best + draw(-2, 2);
    if (capacity < p.bound) continue;
    const int64_t node_limit = draw(0, 1) ? draw(1, 30) : INT64_MAX;
    search_task_t task = {capacity, (search_pick_t)draw(0, PICK_COUNT - 1), order, limits(node_limit)};
    const int verdict = draw(0, 2) ? tflm_exact_search_run_narrow(narrow, &task, units)
                                   : tflm_exact_search_run_wide(wide, &task, units);
    if (verdict == SEARCH_STOPPED && task.limits.node_limit < INT64_MAX) continue;
    if (verdict != (capacity >= best ? SEARCH_FOUND : SEARCH_FAILED)) fail("a search is wrong", b, count);
    if (verdict == SEARCH_FOUND && tflm_exact_peak(&p, units) > capacity) fail("a plan is too high", b, count);
  }
  tflm_exact_search_free_narrow(narrow);
  tflm_exact_search_free_wide(wide);
  tflm_exact_problem_free(&p);
}

/* Fill every moment up to the fullest one, so that only plans without a gap are as small as the live bytes. */
static size_t fill_up(tflm_exact_buffer_t *b, size_t count, int64_t moments, int64_t full) {
  for (int64_t t = 0; t < moments && count < MOST; t++) {
    int64_t live = 0;
    for (size_t i = 0; i < count; i++) live += b[i].first <= t && t <= b[i].last ? b[i].size : 0;
    if (live < full) b[count++] = (tflm_exact_buffer_t){full - live, t, t, 1, TFLM_EXACT_FREE};
  }
  return count;
}

static void check_packing(void) {
  tflm_exact_buffer_t b[MOST];
  const int64_t moments = draw(2, 4);
  size_t count = (size_t)draw(2, MOST - 3);
  int64_t full = 0, units[MOST];
  for (size_t i = 0; i < count; i++) {
    const int64_t first = draw(0, moments - 1);
    b[i] = (tflm_exact_buffer_t){draw(1, 4), first, draw(first, moments - 1), 1, TFLM_EXACT_FREE};
  }
  for (int64_t t = 0; t < moments; t++) {
    int64_t live = 0;
    for (size_t i = 0; i < count; i++) live += b[i].first <= t && t <= b[i].last ? b[i].size : 0;
    if (live > full) full = live;
  }
  count = fill_up(b, count, moments, full);
  const int64_t best = plain_minimum(b, count);
  problem_t p;
  if (tflm_exact_problem_init(&p, b, count, (int)draw(0, 1)) != TFLM_PLAN_OK) fail("no memory", b, count);
  if (tflm_exact_packing_applies(&p)) {
    packing_t *k = tflm_exact_packing_new(&p);
    packing_task_t task = {(uint64_t)draw(0, 4), limits(INT64_MAX)};
    const int verdict = tflm_exact_packing_run(k, &task, units);
    if (verdict != (best == p.bound ? SEARCH_FOUND : SEARCH_FAILED) && (task.seed == 0 || verdict != SEARCH_STOPPED))
      fail("a packing is wrong", b, count);
    if (verdict == SEARCH_FOUND) {
      int64_t offsets[MOST];
      for (int i = 0; i < p.count; i++) offsets[p.original[i]] = units[i] * p.unit;
      check_plan(b, count, offsets, best);
    }
    tflm_exact_packing_free(k);
  }
  tflm_exact_problem_free(&p);
}

/* Two programs that hand over at moments of their own, and now and then at one: a plan in two levels is a plan. */
static void check_split(void) {
  enum { LINKS = 2 * MOST };
  tflm_exact_buffer_t b[4 * LINKS];
  int64_t units[4 * LINKS], offsets[4 * LINKS];
  static const int64_t alignments[] = {1, 4, 6};
  const int64_t rows = draw(1, 4), step = draw(2, 5), capacity = draw(2, 30) * rows;
  size_t count = 0;
  for (int64_t row = 0; row < rows; row++)
    for (int64_t time = 0; time < 2 * MOST; time += step + row % 2)
      if (draw(0, 9) > 0)
        b[count++] = (tflm_exact_buffer_t){draw(1, 20), time, time + step + row % 2 - 1, alignments[draw(0, 2)],
                                           TFLM_EXACT_FREE};
  problem_t p;
  if (tflm_exact_problem_init(&p, b, count, (int)draw(0, 1)) != TFLM_PLAN_OK) fail("no memory", b, count);
  split_task_t task = {
      tflm_exact_solve, capacity, (uint64_t)draw(0, 9), draw(1, 4), limits(2000), (int)draw(0, 1), 0, 0};
  if (tflm_exact_split_run(&p, b, &task, units) == SEARCH_FOUND) {
    if (tflm_exact_peak(&p, units) > capacity) fail("levels are too high", b, count);
    for (int i = 0; i < p.count; i++) offsets[p.original[i]] = units[i] * p.unit;
    check_plan(b, count, offsets, tflm_exact_peak(&p, units));
  }
  tflm_exact_problem_free(&p);
}

static void check_hostile(void) {
  static const int64_t edges[] = {0, 1, -1, 16, INT32_MAX, INT64_C(1) << 31, INT64_C(1) << 59, INT64_MAX, INT64_MIN};
  tflm_exact_buffer_t b[4];
  int64_t offsets[4];
  for (size_t i = 0; i < 4; i++) {
    int64_t *fields[] = {&b[i].size, &b[i].first, &b[i].last, &b[i].alignment, &b[i].offset};
    b[i] = (tflm_exact_buffer_t){1, 0, 5, 1, TFLM_EXACT_FREE};
    for (int k = 0; k < 5; k++)
      if (draw(0, 3) == 0) *fields[k] = edges[draw(0, 8)];
  }
  const tflm_exact_options_t options = {-1, 5000, -1.0, 1, NULL, NULL};
  tflm_exact_result_t result;
  const int code = tflm_exact_solve(b, 4, &options, &result, offsets);
  if (code == TFLM_PLAN_OK && !result.infeasible) check_plan(b, 4, offsets, result.status.peak);
}

int main(int argc, char **argv) {
  const long cases = argc > 2 ? atol(argv[2]) : 1000;
  state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  for (long k = 0; k < cases; k++) {
    tflm_exact_buffer_t b[MOST];
    if (k % 10 == 9) {
      check_hostile();
      continue;
    }
    check_packing();
    check_split();
    const size_t count = draw_problem(b);
    if (fixed_overlap(b, count)) continue;
    const int64_t best = plain_minimum(b, count);
    check_entry(b, count, best);
    check_searches(b, count, best);
  }
  printf("%ld cases\n", cases);
  return 0;
}
