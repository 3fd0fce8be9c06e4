/* The peaks that plans can have. */
#include "exact_problem.h"

int64_t tflm_exact_next_peak(const problem_t *p, int64_t peak) {
  int64_t best = INT64_MAX;
  if (p->count == 0 || peak <= p->least_peak) return p->least_peak > peak ? p->least_peak : peak;
  for (int i = 0; i < p->count; i++) {
    const int64_t gap = (p->bytes[i] - peak) % p->unit;
    const int64_t next = peak + (gap < 0 ? gap + p->unit : gap);
    if (next < best) best = next;
  }
  return best;
}

int64_t tflm_exact_peak(const problem_t *p, const int64_t *units) {
  int64_t peak = p->least_peak;
  for (int i = 0; i < p->count; i++) {
    const int64_t end = units[i] * p->unit + p->bytes[i];
    if (end > peak) peak = end;
  }
  return peak;
}
