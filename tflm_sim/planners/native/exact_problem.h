/* The problem as the search sees it: sizes in units, time cut into sections, neighbours listed. */
#ifndef TFLM_EXACT_PROBLEM_H_
#define TFLM_EXACT_PROBLEM_H_

#include "exact_limits.h"
#include "exact_types.h"
#include "tflm_plan.h"

/* A section is a moment at which a maximal set of buffers is alive: every pair that is ever alive together meets in
 * one, and the buffers of any other moment are a subset of one. Section ranges are half-open.
 *
 *   time     0  1  2  3  4        buffers a 0..1, b 1..3, c 3..4 (inclusive)
 *   a        ====                 sections: moment 1 {a, b}, moment 3 {b, c}
 *   b           =======           a [0,1)  b [0,2)  c [1,2)
 *   c                 ====
 */
enum { MOST_SEARCHED = 2048 }; /* more buffers are not searched as a whole, but window by window */

typedef struct {
  void *block; /* the arrays: of all buffers that the caller gave, `room` */
  size_t room;
  int count, section_count;
  int64_t unit;                      /* bytes per unit; every offset of a canonical plan is a multiple of it */
  int64_t *bytes;                    /* size in bytes */
  int64_t *size, *align;             /* in units, size rounded up */
  int64_t *fixed;                    /* fixed offset in units, or TFLM_EXACT_FREE */
  int *low, *high;                   /* sections [low, high) */
  int *by_start;                     /* all buffers by their first section */
  int *fixed_by_offset, fixed_count; /* the fixed ones, the lowest first */
  int *overlaps;                     /* how many others are alive together with a buffer */
  int *twin;                         /* the previous free buffer that is interchangeable with this one, or -1 */
  int *original;                     /* index among the caller's buffers (those of size 0 are left out) */
  int64_t *load;                     /* most units alive in any of the buffer's sections */
  int64_t bound;                     /* bytes; no plan has a smaller peak */
  int64_t least_peak;                /* bytes; where a fixed buffer of size 0 lies */
  int64_t total;                     /* units; no canonical plan is higher */
  int64_t most_align;
} problem_t;

/* The smallest peak (bytes) of at least `peak` that any canonical plan can have. */
int64_t tflm_exact_next_peak(const problem_t *p, int64_t peak);

/* The highest end in bytes of a plan given in units. */
int64_t tflm_exact_peak(const problem_t *p, const int64_t *units);

/* First fit, lowest gap first, in the given order of the free buffers; offsets in units. O(count^2), O(count) memory.
 * TFLM_PLAN_OK, TFLM_PLAN_E_MEMORY, or 1 when the limits ended it: then what was left lies on top of all.
 */
int tflm_exact_first_fit(const problem_t *p, const int *order, const limits_t *limits, int64_t *units);

/* Order the buffers by up to four keys, such as "TAW", the largest first: most Total load in any of its sections, Area,
 * Width (sections), siZe, Overlaps (buffers it meets). With a seed that is not 0, each buffer counts for more than it
 * is, up to twice, in a way of the seed's own.
 */
void tflm_exact_order(const problem_t *p, const char *keys, uint64_t seed, int *order);

/* Order the buffers by size, the largest first, and those of one size by `begin`, the least first. */
void tflm_exact_order_by_size(const problem_t *p, const double *begin, int *order);

static inline int64_t exact_gcd(int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static inline int64_t exact_align_up(int64_t value, int64_t align) {
  return align == 1 ? value : (value + align - 1) / align * align;
}

static inline uint64_t exact_mix(uint64_t x) {
  x ^= x >> 30;
  x *= UINT64_C(0xbf58476d1ce4e5b9);
  x ^= x >> 27;
  x *= UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

/* At least 0 and below 1, the same for the same x. */
static inline double exact_fraction(uint64_t x) { return (double)(exact_mix(x) >> 11) / 9007199254740992.0; }

/* Buffer i, with sections as its time, and of any size. */
static inline tflm_exact_buffer_t exact_in_sections(const problem_t *p, int i, int64_t size) {
  const int64_t offset = p->fixed[i] == TFLM_EXACT_FREE ? TFLM_EXACT_FREE : p->fixed[i] * p->unit;
  return (tflm_exact_buffer_t){size, p->low[i], p->high[i] - 1, p->align[i] * p->unit, offset};
}

#endif
