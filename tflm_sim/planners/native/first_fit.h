/* First fit of groups of which some may overlap, each at the distances that shrink/overlap_placement.py allows.
 *
 * For hosts, not for firmware; C99, no allocation, no globals. The problem lives in the caller's workspace, which with
 * sizes and gaps must outlive it. Between its preprocessor lines there are only declarations that cffi can read.
 */
#ifndef TFLM_FIRST_FIT_H_
#define TFLM_FIRST_FIT_H_

#include <stddef.h>
#include <stdint.h>

#include "tflm_plan.h"

typedef struct tflm_first_fit tflm_first_fit_t;

/* Where a group must not begin: more than `after` bytes and less than `before` from where `other` begins. */
typedef struct tflm_first_fit_gap {
  int64_t group;
  int64_t other;
  int64_t after;
  int64_t before;
} tflm_first_fit_gap_t;

/* Bytes of workspace for so many groups and gaps; 0 when that is too much. */
size_t tflm_first_fit_workspace_size(size_t count, size_t gap_count);

/* Gaps are sorted by group. TFLM_PLAN_E_ARGUMENT where they are not, or name a group that is none. */
int tflm_first_fit_start(const int64_t *sizes, size_t count, const tflm_first_fit_gap_t *gaps, size_t gap_count,
                         void *workspace, size_t workspace_size, tflm_first_fit_t **first_fit);

/* Place the groups of order[count], a permutation, each as low as those before it allow, and return the highest end.
 * The first `known` of them have their offsets already. It ends with the first end above `most`; the offsets of those
 * that follow are -1 then.
 */
int64_t tflm_first_fit_place(tflm_first_fit_t *first_fit, const int64_t *order, size_t known, int64_t most,
                             int64_t *offsets);

/* The same again and again, with the groups that reached the top in front, until that helps no more or more than
 * `steps` gaps were looked at. offsets[count] and the result are those of the lowest end, the first of equal offsets.
 * The order is another one afterwards.
 */
int64_t tflm_first_fit_climb(tflm_first_fit_t *first_fit, int64_t *order, int64_t steps, int64_t *offsets);

#endif /* TFLM_FIRST_FIT_H_ */
