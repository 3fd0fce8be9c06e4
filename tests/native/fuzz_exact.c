/* Random calls of exact_solve, for a build with -fsanitize=address,undefined.
 *
 *   fuzz_exact SEED CASES
 *
 * A plan must keep the fixed offsets, be aligned, have no overlap and lie between the bound and the peak that is told;
 * a call with a value out of range must be refused, and only such a call.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact.h"

#define MOST_BUFFERS 40
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

static int64_t wild(void) {
  static const int64_t values[] = {INT64_MIN,
                                   INT64_MIN + 1,
                                   INT32_MIN,
                                   -2,
                                   -1,
                                   0,
                                   1,
                                   3,
                                   INT32_MAX,
                                   INT64_C(1) << 31,
                                   (INT64_C(1) << 32) + 1,
                                   EXACT_MAX_BYTES - 1,
                                   EXACT_MAX_BYTES,
                                   EXACT_MAX_BYTES + 1,
                                   INT64_MAX - 1,
                                   INT64_MAX};
  return values[below(sizeof values / sizeof *values)];
}

static void tame_buffer(exact_buffer *buffer, uint32_t size_limit, uint32_t time_limit) {
  static const int64_t alignments[] = {1, 1, 1, 2, 3, 16, 64};
  buffer->size = below(size_limit);
  buffer->first = (int64_t)below(time_limit) - 2;
  buffer->last = buffer->first + below(below(4) == 0 ? time_limit : 3);
  buffer->alignment = alignments[below(7)];
  buffer->offset = below(12) == 0 ? (int64_t)below(4 * size_limit) : EXACT_FREE;
}

static void wild_buffer(exact_buffer *buffer) {
  int64_t *fields[] = {&buffer->size, &buffer->first, &buffer->last, &buffer->alignment, &buffer->offset};
  for (uint32_t i = 0; i < 1 + below(2); ++i) {
    *fields[below(5)] = wild();
  }
}

static size_t make_problem(exact_buffer *buffers) {
  static const uint32_t size_limits[] = {1, 3, 100, 5000, UINT32_C(1) << 28};
  const uint32_t size_limit = size_limits[below(5)];
  const uint32_t time_limit = 1 + below(below(2) ? 6 : 60);
  const uint32_t wildness = below(2) == 0 ? 10 : 0;
  const size_t count = below(below(2) ? 8 : MOST_BUFFERS);
  for (size_t i = 0; i < count; ++i) {
    tame_buffer(&buffers[i], size_limit, time_limit);
    if (wildness != 0 && below(wildness) == 0) {
      wild_buffer(&buffers[i]);
    }
  }
  return count;
}

static int is_in_range(const exact_buffer *buffers, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (buffers[i].size < 0 || buffers[i].alignment < 1 || buffers[i].first > buffers[i].last ||
        buffers[i].offset < EXACT_FREE) {
      return 0;
    }
  }
  return 1;
}

static int is_small(const exact_buffer *buffers, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (buffers[i].size > INT32_MAX || buffers[i].alignment > INT32_MAX || buffers[i].offset > INT32_MAX) {
      return 0;
    }
  }
  return 1;
}

static int overlap(const exact_buffer *a, int64_t at, const exact_buffer *b, int64_t other) {
  return a->first <= b->last && b->first <= a->last && at < other + b->size && other < at + a->size && a->size > 0 &&
         b->size > 0;
}

static void check_plan(const exact_buffer *buffers, size_t count, const exact_result *result, const int64_t *offsets) {
  int64_t peak = 0;
  for (size_t i = 0; i < count; ++i) {
    CHECK(buffers[i].offset == EXACT_FREE ? offsets[i] >= 0 && offsets[i] % buffers[i].alignment == 0
                                          : offsets[i] == buffers[i].offset);
    peak = peak < offsets[i] + buffers[i].size ? offsets[i] + buffers[i].size : peak;
    for (size_t j = 0; j < i; ++j) {
      CHECK(!overlap(&buffers[i], offsets[i], &buffers[j], offsets[j]));
    }
  }
  CHECK(result->status.peak == peak);
}

static int end_at_once(void *context, const exact_status *status) {
  (void)context;
  (void)status;
  return 1;
}

static void try_solve(const exact_buffer *buffers, size_t count) {
  exact_options options = {-1, below(300), -1, 1 + (int)below(2), below(4) == 0 ? end_at_once : NULL, NULL};
  exact_result result;
  int64_t *offsets = malloc(count * sizeof *offsets + 1);
  CHECK(offsets != NULL);
  options.capacity = below(3) == 0 ? (below(2) ? wild() : (int64_t)below(20000)) : -1;
  const int code = exact_solve(buffers, count, &options, &result, offsets);
  CHECK((code == EXACT_BAD_ARGUMENT) == !is_in_range(buffers, count));
  CHECK(code != EXACT_NO_MEMORY && !(code == EXACT_TOO_BIG && is_small(buffers, count) && count < 2));
  if (code == EXACT_OK && !result.infeasible) {
    check_plan(buffers, count, &result, offsets);
    CHECK(result.status.lower_bound <= result.status.peak || options.capacity >= 0);
  }
  free(offsets);
}

static void try_bad_calls(void) {
  const exact_buffer buffer = {8, 0, 0, 1, EXACT_FREE};
  exact_options options = {-1, -1, -1, 1, NULL, NULL};
  exact_result result;
  int64_t offset;
  CHECK(exact_solve(&buffer, SIZE_MAX, &options, &result, &offset) == EXACT_BAD_ARGUMENT);
  CHECK(exact_solve(NULL, 0, &options, &result, &offset) == EXACT_OK);
  options.workers = 0;
  CHECK(exact_solve(&buffer, 1, &options, &result, &offset) == EXACT_BAD_ARGUMENT);
}

int main(int argc, char **argv) {
  exact_buffer buffers[MOST_BUFFERS];
  const unsigned long cases = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
  state = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
  try_bad_calls();
  for (current_case = 0; current_case < cases; ++current_case) {
    const size_t count = make_problem(buffers);
    try_solve(buffers, count);
  }
  printf("%lu cases\n", cases);
  return 0;
}
