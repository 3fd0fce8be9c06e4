/* The exact planner's way in, for libFuzzer: any bytes are a problem; a plan is right, and it ends within its limits.

     clang -std=c99 -g -O1 -fsanitize=fuzzer,address,undefined -Itflm_sim/planners/native \
         tests/native/libfuzzer_exact.c tflm_sim/planners/native/{exact*,pq_tree}.c -lpthread -o fuzz
     ./fuzz -timeout=10

   Sizes reach 2^63 - 1, alignments 2^20, offsets anywhere. The first byte says how many threads there are, whether a
   capacity is asked for, and how finely numbers are drawn. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact.h"

enum { MOST = 48 };

typedef struct {
  const uint8_t *at;
  size_t left;
} input_t;

static uint64_t take(input_t *in, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes && in->left > 0; i++, in->left--) value = value << 8 | *in->at++;
  return value;
}

/* Small numbers, numbers beside powers of two, or any. */
static int64_t number(input_t *in) {
  const unsigned kind = (unsigned)take(in, 1);
  if (kind < 128) return (int64_t)(kind % 32);
  if (kind < 160) return (int64_t)take(in, 2);
  if (kind < 240) {
    const int64_t power = INT64_C(1) << (kind % 63);
    return power - 2 + (int64_t)(take(in, 1) % 5);
  }
  return (int64_t)take(in, 8);
}

static tflm_exact_buffer_t buffer(input_t *in) {
  const int64_t size = number(in), first = (int64_t)take(in, 1) % 24, length = (int64_t)take(in, 1) % 12;
  const unsigned extra = (unsigned)take(in, 1);
  const int64_t alignment = extra % 4 != 0 ? 1 : extra % 8 == 0 ? INT64_C(1) << (extra / 8 % 21) : 1 + extra % 13;
  return (tflm_exact_buffer_t){size, first, first + length, alignment, extra >= 240 ? number(in) : TFLM_EXACT_FREE};
}

static void check(const tflm_exact_buffer_t *b, size_t count, const tflm_exact_result_t *result,
                  const int64_t *offsets) {
  int64_t highest = 0;
  for (size_t i = 0; i < count; i++) {
    if (offsets[i] < 0 ||
        (b[i].offset == TFLM_EXACT_FREE ? offsets[i] % b[i].alignment != 0 : offsets[i] != b[i].offset))
      abort();
    if (offsets[i] + b[i].size > highest) highest = offsets[i] + b[i].size;
    for (size_t j = 0; j < i; j++)
      if (b[i].first <= b[j].last && b[j].first <= b[i].last && b[i].size > 0 && b[j].size > 0 &&
          offsets[i] < offsets[j] + b[j].size && offsets[j] < offsets[i] + b[i].size)
        abort();
  }
  if (highest != result->status.peak || result->status.lower_bound > highest) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input_t in = {data, size};
  const unsigned kind = (unsigned)take(&in, 1);
  const int64_t capacity = kind & 2 ? number(&in) : -1;
  tflm_exact_buffer_t b[MOST];
  int64_t offsets[MOST];
  size_t count = 0;
  while (in.left > 0 && count < MOST) b[count++] = buffer(&in);
  const tflm_exact_options_t options = {capacity, 3000, 1.0, kind & 1 ? 2 : 1, NULL, NULL};
  tflm_exact_result_t result;
  memset(&result, 0, sizeof result);
  const int code = tflm_exact_solve(b, count, &options, &result, offsets);
  if (code == TFLM_PLAN_OK && !result.infeasible) check(b, count, &result, offsets);
  return 0;
}
