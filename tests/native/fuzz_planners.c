/* Random calls of tflm_plan, hill_climb, shared_objects and first_fit, for a build with -fsanitize=address,undefined.
 *
 *   fuzz_planners SEED CASES
 *
 * Each workspace is a heap block of exactly the bytes that were asked for. The greedy plan is compared with a planner
 * that has nothing in common with it but the rules: every buffer tries every offset at which a gap can begin.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "first_fit.h"
#include "hill_climb.h"
#include "shared_objects.h"
#include "tflm_plan.h"

#define MOST_BUFFERS 90
#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static uint64_t state;
static unsigned long current_case;

static void fail(const char *condition, int line) {
  fprintf(stderr, "case %lu, line %d: %s does not hold\n", current_case, line, condition);
  abort();
}

static uint32_t below(uint32_t limit) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((state >> 33) % limit);
}

static int32_t pick(const int32_t *values, uint32_t count) { return values[below(count)]; }

/* ---- problems ---- */

static int32_t wild(void) {
  static const int32_t values[] = {INT32_MIN, INT32_MIN + 1, -2, -1, 0, 1, 2, 16, 1 << 30, INT32_MAX - 1, INT32_MAX};
  return pick(values, sizeof values / sizeof *values);
}

static void tame_buffer(tflm_plan_buffer_t *buffer, uint32_t size_limit, uint32_t time_limit) {
  static const int32_t alignments[] = {1, 1, 1, 1, 2, 3, 16, 64};
  buffer->size = (int32_t)below(size_limit);
  buffer->first_time_used = (int32_t)below(time_limit) - 2;
  buffer->last_time_used = buffer->first_time_used + (int32_t)below(below(4) == 0 ? time_limit : 3);
  buffer->offline_offset = below(12) == 0 ? (int32_t)below(4 * size_limit) : TFLM_PLAN_ONLINE;
  buffer->alignment = pick(alignments, sizeof alignments / sizeof *alignments);
}

static void wild_buffer(tflm_plan_buffer_t *buffer) {
  int32_t *fields[] = {&buffer->size, &buffer->first_time_used, &buffer->last_time_used, &buffer->offline_offset,
                       &buffer->alignment};
  for (uint32_t i = 0; i < 1 + below(3); ++i) *fields[below(5)] = wild();
}

static size_t make_problem(tflm_plan_buffer_t *buffers) {
  static const int32_t size_limits[] = {1, 3, 100, 5000, 1 << 28};
  const uint32_t size_limit = (uint32_t)pick(size_limits, 5);
  const uint32_t time_limit = 1 + below(below(2) ? 6 : 60);
  const uint32_t wildness = below(3) == 0 ? 10 : 0;
  const size_t count = below(below(2) ? 8 : MOST_BUFFERS);
  for (size_t i = 0; i < count; ++i) {
    tame_buffer(&buffers[i], size_limit, time_limit);
    if (wildness != 0 && below(wildness) == 0) wild_buffer(&buffers[i]);
  }
  return count;
}

/* ---- the other planner ---- */

static int is_alive_with(const tflm_plan_buffer_t *a, const tflm_plan_buffer_t *b) {
  return a->first_time_used <= b->last_time_used && b->first_time_used <= a->last_time_used;
}

/* What starts at offset must end below every active buffer that ends above offset. */
static int fits(const tflm_plan_buffer_t *buffers, const int64_t *offsets, const char *placed, size_t count, size_t i,
                int64_t offset) {
  for (size_t j = 0; j < count; ++j) {
    if (placed[j] && is_alive_with(&buffers[i], &buffers[j])) {
      const int64_t end = offsets[j] + buffers[j].size;
      if (end > offset && offset + buffers[i].size > offsets[j]) return 0;
      /* An empty one that starts inside the gap ends the gap too. */
      if (offsets[j] > offset && offset + buffers[i].size > offsets[j]) return 0;
    }
  }
  return 1;
}

static int64_t lowest(const tflm_plan_buffer_t *buffers, const int64_t *offsets, const char *placed, size_t count,
                      size_t i) {
  const int64_t alignment = buffers[i].alignment;
  int64_t best = fits(buffers, offsets, placed, count, i, 0) ? 0 : INT64_MAX;
  for (size_t j = 0; j < count; ++j) {
    const int64_t end = offsets[j] + buffers[j].size;
    const int64_t candidate = end < 0 ? 0 : (end + alignment - 1) / alignment * alignment;
    if (placed[j] && is_alive_with(&buffers[i], &buffers[j]) && candidate < best &&
        fits(buffers, offsets, placed, count, i, candidate)) {
      best = candidate;
    }
  }
  return best;
}

static size_t next_by_size(const tflm_plan_buffer_t *buffers, const char *placed, size_t count) {
  size_t best = count;
  for (size_t i = 0; i < count; ++i)
    if (!placed[i] && (best == count || buffers[i].size >= buffers[best].size)) best = i;
  return best;
}

static void plan_the_other_way(const tflm_plan_buffer_t *buffers, size_t count, int64_t *offsets) {
  char placed[MOST_BUFFERS] = {0};
  for (size_t i = 0; i < count; ++i) {
    if (buffers[i].offline_offset != TFLM_PLAN_ONLINE) {
      offsets[i] = buffers[i].offline_offset;
      placed[i] = 1;
    }
  }
  for (size_t i = next_by_size(buffers, placed, count); i < count; i = next_by_size(buffers, placed, count)) {
    offsets[i] = lowest(buffers, offsets, placed, count, i);
    placed[i] = 1;
  }
}

/* ---- cases ---- */

static int is_plannable(const tflm_plan_buffer_t *buffers, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (buffers[i].size < 0 || buffers[i].alignment < 1 || buffers[i].first_time_used == INT32_MIN ||
        buffers[i].last_time_used == INT32_MIN) {
      return 0;
    }
  }
  return 1;
}

static void check_greedy(const tflm_plan_buffer_t *buffers, size_t count, int status, const int32_t *offsets) {
  int64_t expected[MOST_BUFFERS];
  int64_t highest = INT64_MIN;
  if (!is_plannable(buffers, count)) {
    CHECK(status == TFLM_PLAN_E_ARGUMENT);
    return;
  }
  plan_the_other_way(buffers, count, expected);
  for (size_t i = 0; i < count; ++i) {
    const int64_t end = expected[i] + buffers[i].size;
    highest = end > highest ? end : highest;
  }
  CHECK(status == (highest > INT32_MAX ? TFLM_PLAN_E_OVERFLOW : TFLM_PLAN_OK));
  for (size_t i = 0; status == TFLM_PLAN_OK && i < count; ++i) CHECK(offsets[i] == expected[i]);
}

static void try_plan(const tflm_plan_buffer_t *buffers, size_t count) {
  const size_t size = tflm_plan_greedy_workspace_size(count);
  unsigned char *workspace = malloc(size);
  int32_t *offsets = malloc(count * sizeof(int32_t) + 1);
  uint32_t peak = 0;
  CHECK(size > 0 && workspace != NULL && offsets != NULL);
  memset(workspace, 0xa5, size);
  check_greedy(buffers, count, tflm_plan_greedy(buffers, count, workspace, size, offsets, &peak), offsets);
  const int status = tflm_plan_best_fit(buffers, count, workspace, size, offsets, &peak, NULL, NULL);
  CHECK((status == TFLM_PLAN_E_ARGUMENT) == !is_plannable(buffers, count));
  CHECK(tflm_plan_greedy(buffers, count, workspace, size - 1, offsets, &peak) == TFLM_PLAN_E_WORKSPACE);
  CHECK(tflm_plan_greedy(buffers, count, workspace + 4, size, offsets, &peak) == TFLM_PLAN_E_WORKSPACE);
  CHECK(tflm_plan_greedy(buffers, count, NULL, size, offsets, &peak) == TFLM_PLAN_E_WORKSPACE);
  CHECK(tflm_plan_greedy(buffers, count, workspace, size, offsets, NULL) == TFLM_PLAN_E_ARGUMENT);
  free(offsets);
  free(workspace);
}

static void check_no_overlap(const tflm_plan_buffer_t *buffers, size_t count, const int64_t *offsets) {
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < i; ++j) {
      const int64_t begin = offsets[i] > offsets[j] ? offsets[i] : offsets[j];
      const int64_t end_i = offsets[i] + buffers[i].size;
      const int64_t end_j = offsets[j] + buffers[j].size;
      const int both_fixed =
          buffers[i].offline_offset != TFLM_PLAN_ONLINE && buffers[j].offline_offset != TFLM_PLAN_ONLINE;
      CHECK(both_fixed || !is_alive_with(&buffers[i], &buffers[j]) || begin >= (end_i < end_j ? end_i : end_j));
    }
  }
}

static void try_hill_climb(const tflm_plan_buffer_t *buffers, size_t count) {
  tflm_hill_climb_t *search = NULL;
  size_t neighbours = 0;
  int is_valid = 1;
  for (size_t i = 0; i < count; ++i) {
    is_valid &= buffers[i].size >= 0 && buffers[i].alignment >= 1 && buffers[i].offline_offset >= TFLM_PLAN_ONLINE &&
                buffers[i].first_time_used <= buffers[i].last_time_used;
    for (size_t j = 0; j < count; ++j) neighbours += i != j && is_alive_with(&buffers[i], &buffers[j]);
  }
  if (!is_valid) {
    CHECK(tflm_hill_climb_start(buffers, count, &search, 1, NULL, NULL, &search) == TFLM_PLAN_E_ARGUMENT);
    return;
  }
  size_t size = tflm_hill_climb_workspace_size(count, 0) + neighbours * sizeof(uint32_t);
  unsigned char *workspace = malloc(size);
  CHECK(workspace != NULL);
  memset(workspace, 0xa5, size);
  CHECK(size <= tflm_hill_climb_workspace_size(count, neighbours));
  CHECK(tflm_hill_climb_start(buffers, count, workspace, size - 1, NULL, NULL, &search) == TFLM_PLAN_E_WORKSPACE);
  CHECK(tflm_hill_climb_start(buffers, count, workspace, size, NULL, NULL, NULL) == TFLM_PLAN_E_ARGUMENT);
  CHECK(tflm_hill_climb_start(buffers, count, workspace, size, NULL, NULL, &search) == TFLM_PLAN_OK);
  tflm_hill_climb_run(search, below(120));
  check_no_overlap(buffers, count, tflm_hill_climb_offsets(search));
  free(workspace);
}

/* No two tensors of one object exist together. */
static void check_objects(const tflm_tensor_usage_t *tensors, size_t count, const uint32_t *object_ids) {
  for (size_t i = 0; i < count; ++i) {
    CHECK(object_ids[i] < count);
    for (size_t j = 0; j < i; ++j) {
      CHECK(object_ids[i] != object_ids[j] || tensors[i].first_task > tensors[j].last_task ||
            tensors[j].first_task > tensors[i].last_task);
    }
  }
}

static int64_t wild_size(void) {
  static const int64_t values[] = {0,  INT32_MAX - 1, INT32_MAX, INT64_C(1) << 31, INT64_MAX - 1, INT64_MAX,
                                   -1, INT64_MIN};
  return values[below(sizeof values / sizeof *values)];
}

/* Tensors come in the order of their first task, as the GPU delegate's records do. */
static size_t make_tensors(tflm_tensor_usage_t *tensors) {
  const uint32_t time_limit = 1 + below(40);
  const uint32_t wildness = below(3) == 0 ? 8 : 0;
  const size_t count = below(below(2) ? 6 : 40);
  const int64_t begin = wildness != 0 && below(4) == 0 ? INT64_MIN : 0;
  for (size_t i = 0; i < count; ++i) {
    const int is_wild = wildness != 0 && below(wildness) == 0;
    tensors[i].size = is_wild ? wild_size() : below(5000);
    tensors[i].first_task = (i == 0 ? begin : tensors[i - 1].first_task) + below(3);
    tensors[i].last_task = is_wild && below(3) == 0 ? INT64_MAX : tensors[i].first_task + below(time_limit);
  }
  return count;
}

static int is_any_size_negative(const tflm_tensor_usage_t *tensors, size_t count) {
  for (size_t i = 0; i < count; ++i)
    if (tensors[i].size < 0) return 1;
  return 0;
}

static void try_shared_objects(void) {
  tflm_tensor_usage_t tensors[MOST_BUFFERS];
  const size_t count = make_tensors(tensors);
  const size_t flow = tflm_min_cost_flow_workspace_size(count);
  tflm_min_cost_flow_t *started = NULL;
  unsigned char *workspace = malloc(flow);
  uint32_t *object_ids = malloc(count * sizeof(uint32_t) + 1);
  CHECK(workspace != NULL && object_ids != NULL);
  CHECK(tflm_min_cost_flow_start(tensors, count, workspace, flow - 1, &started) != TFLM_PLAN_OK);
  const int status = tflm_min_cost_flow_start(tensors, count, workspace, flow, &started);
  CHECK(status == TFLM_PLAN_OK || status == TFLM_PLAN_E_OVERFLOW || is_any_size_negative(tensors, count));
  if (status == TFLM_PLAN_OK) {
    CHECK(tflm_min_cost_flow_run(started, (uint32_t)count + 1) == 1); /* a path for each tensor, and then none */
    tflm_min_cost_flow_objects(started, object_ids);
    check_objects(tensors, count, object_ids);
  }
  free(workspace);
  free(object_ids);
}

static int by_group(const void *a, const void *b) {
  const tflm_first_fit_gap_t *one = a, *other = b;
  return (one->group > other->group) - (one->group < other->group);
}

/* Whether offsets keep out of all gaps; those of -1 are none yet. */
static int keeps_out(const tflm_first_fit_gap_t *gaps, size_t gap_count, const int64_t *offsets) {
  for (size_t k = 0; k < gap_count; ++k) {
    const int64_t from = offsets[gaps[k].other], at = offsets[gaps[k].group];
    if (from >= 0 && at >= 0 && gaps[k].after < at - from && at - from < gaps[k].before) return 0;
  }
  return 1;
}

/* A gap forbids both its groups the same distances, as shrink/overlap_placement.py makes them. */
static void try_first_fit(void) {
  tflm_first_fit_gap_t gaps[4 * MOST_BUFFERS];
  int64_t sizes[MOST_BUFFERS], order[MOST_BUFFERS], offsets[MOST_BUFFERS], climbed[MOST_BUFFERS];
  const size_t count = below(MOST_BUFFERS);
  const size_t pairs = count == 0 ? 0 : below(2 * MOST_BUFFERS);
  size_t gap_count = 0;
  tflm_first_fit_t *first_fit = NULL;
  for (size_t i = 0; i < count; ++i) sizes[i] = below(200);
  for (size_t i = 0; i < count; ++i) {
    const size_t j = below((uint32_t)i + 1);
    order[i] = order[j];
    order[j] = (int64_t)i;
  }
  for (size_t k = 0; k < 2 * pairs; k += 2) {
    const int64_t one = below((uint32_t)count), other = below((uint32_t)count), after = (int64_t)below(300) - 200;
    if (one == other) continue;
    gaps[gap_count++] = (tflm_first_fit_gap_t){one, other, after, after + below(200)};
    gaps[gap_count] = (tflm_first_fit_gap_t){other, one, -gaps[gap_count - 1].before, -after};
    ++gap_count;
  }
  qsort(gaps, gap_count, sizeof *gaps, by_group);
  const size_t size = tflm_first_fit_workspace_size(count, gap_count);
  unsigned char *workspace = malloc(size);
  CHECK(workspace != NULL);
  memset(workspace, 0xa5, size);
  CHECK(tflm_first_fit_start(sizes, count, gaps, gap_count, workspace, size - 1, &first_fit) == TFLM_PLAN_E_WORKSPACE);
  CHECK(tflm_first_fit_start(sizes, count, gaps, gap_count, workspace, size, NULL) == TFLM_PLAN_E_ARGUMENT);
  CHECK(tflm_first_fit_start(sizes, count, gaps, gap_count, workspace, size, &first_fit) == TFLM_PLAN_OK);
  const int64_t head = tflm_first_fit_place(first_fit, order, 0, INT64_MAX, offsets);
  CHECK(keeps_out(gaps, gap_count, offsets));
  CHECK(count == 0 || tflm_first_fit_place(first_fit, order, below((uint32_t)count), head, offsets) == head);
  CHECK(tflm_first_fit_climb(first_fit, order, 20000, climbed) <= head);
  CHECK(keeps_out(gaps, gap_count, climbed));
  if (gap_count > 0) {
    gaps[below((uint32_t)gap_count)].other = (int64_t)count;
    CHECK(tflm_first_fit_start(sizes, count, gaps, gap_count, workspace, size, &first_fit) == TFLM_PLAN_E_ARGUMENT);
  }
  free(workspace);
}

int main(int argc, char **argv) {
  tflm_plan_buffer_t buffers[MOST_BUFFERS];
  const unsigned long cases = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
  state = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
  CHECK(tflm_plan_greedy_workspace_size(SIZE_MAX) == 0);
  CHECK(tflm_plan_greedy_workspace_size((size_t)INT32_MAX + 1) == 0);
  CHECK(tflm_hill_climb_workspace_size(SIZE_MAX, 0) == 0);
  CHECK(tflm_hill_climb_workspace_size(1, SIZE_MAX) == 0);
  CHECK(tflm_min_cost_flow_workspace_size(SIZE_MAX) == 0);
  CHECK(tflm_first_fit_workspace_size(SIZE_MAX, 1) == 0);
  CHECK(tflm_first_fit_workspace_size(1, SIZE_MAX) == 0);
  for (current_case = 0; current_case < cases; ++current_case) {
    const size_t count = make_problem(buffers);
    try_plan(buffers, count);
    try_hill_climb(buffers, count);
    try_shared_objects();
    try_first_fit();
  }
  printf("%lu cases\n", cases);
  return 0;
}
