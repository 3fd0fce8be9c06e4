/* hill_climb: Vela's hill climb over the order of placement, step for step as planners/hill_climb.py takes it.
 *
 * For hosts, not for firmware; C99, no allocation, no globals. The search lives in the caller's workspace, which with
 * the buffers must outlive it. Between its preprocessor lines there are only declarations that cffi can read.
 */
#ifndef TFLM_HILL_CLIMB_H_
#define TFLM_HILL_CLIMB_H_

#include <stddef.h>
#include <stdint.h>

#include "tflm_plan.h"

typedef struct tflm_hill_climb tflm_hill_climb_t;

enum { TFLM_HILL_CLIMB_MOST_NEIGHBOURS = 1 << 26 };

/* Bytes of workspace for so many buffers that have so many neighbours (alive together; each pair counts twice): about
 * 70 for a buffer and 4 for a neighbour. 0 when that is more than TFLM_HILL_CLIMB_MOST_NEIGHBOURS, or too much in all.
 */
size_t tflm_hill_climb_workspace_size(size_t count, size_t neighbours);

/* Place the buffers by urgency. Those with an offline_offset keep it. `is_over` (NULL: none) and its context are kept:
 * once it said that the time is over, buffers that have no place yet lie above all others, and runs try nothing.
 * TFLM_PLAN_E_ARGUMENT also for a lifetime that ends before it begins; TFLM_PLAN_E_WORKSPACE when there are more
 * neighbours than the workspace was for.
 */
int tflm_hill_climb_start(const tflm_plan_buffer_t *buffers, size_t count, void *workspace, size_t workspace_size,
                          tflm_plan_is_over_t is_over, void *context, tflm_hill_climb_t **search);

/* Try up to iterations swaps. Return 1 when the search has ended, 0 when it can go on. */
int tflm_hill_climb_run(tflm_hill_climb_t *search, uint32_t iterations);

/* The best offsets so far, by buffer. */
const int64_t *tflm_hill_climb_offsets(const tflm_hill_climb_t *search);

#endif /* TFLM_HILL_CLIMB_H_ */
