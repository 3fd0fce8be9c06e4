/* tflm_plan: place buffers with known lifetimes in one arena.
 *
 * C99, no allocation, no globals, no recursion: the caller brings the workspace. Results mean nothing unless the status
 * is TFLM_PLAN_OK. Sizes and offsets are bytes, times are operator indices, lifetimes are inclusive at both ends.
 * Everything fits 32-bit integers, as in TFLM; what does not fit is TFLM_PLAN_E_OVERFLOW, never a wrap.
 *
 * The Python extension and the firmware compile this file from the same text. Between its preprocessor lines there are
 * only declarations that cffi can read.
 */
#ifndef TFLM_PLAN_H_
#define TFLM_PLAN_H_

#include <stddef.h>
#include <stdint.h>

/* Status of every function: TFLM_PLAN_OK, or why it was refused. */
enum {
  TFLM_PLAN_OK = 0,
  TFLM_PLAN_E_ARGUMENT = -1,  /* null pointer, negative size, alignment < 1, time INT32_MIN, too many buffers */
  TFLM_PLAN_E_WORKSPACE = -2, /* workspace smaller than asked for, or not aligned to 8 bytes */
  TFLM_PLAN_E_OVERFLOW = -3,  /* a buffer would end above INT32_MAX; of the exact planner, above its own limit */
  TFLM_PLAN_E_MEMORY = -4,    /* of the exact planner, the one that allocates */
  TFLM_PLAN_E_STOPPED = -5    /* the caller's function said that the time is over */
};

/* offline_offset of a buffer that the planner may place. */
enum { TFLM_PLAN_ONLINE = -1 };

/* One buffer. TFLM aligns sizes beforehand and plans with alignment 1. */
typedef struct tflm_plan_buffer {
  int32_t size;
  int32_t offline_offset;
  int32_t first_time_used;
  int32_t last_time_used;
  int32_t alignment;
} tflm_plan_buffer_t;

/* Asked every few milliseconds, where a caller gives one; nonzero ends the work. */
typedef int (*tflm_plan_is_over_t)(void *context);

/* Bytes of workspace that tflm_plan_greedy needs for count buffers; 0 when no workspace would be enough. */
size_t tflm_plan_greedy_workspace_size(size_t count);

/* Place buffers as TFLM's GreedyMemoryPlanner does, offset for offset. O(n log n) plus, for each buffer, the sorting of
 * those that are alive with it.
 *
 * offsets[count] receives the result; *peak the highest end, as unsigned as upstream computes it (0 without buffers).
 */
int tflm_plan_greedy(const tflm_plan_buffer_t *buffers, size_t count, void *workspace, size_t workspace_size,
                     int32_t *offsets, uint32_t *peak);

/* The same with a function that may end it (NULL: none); then TFLM_PLAN_E_STOPPED. */
int tflm_plan_greedy_until(const tflm_plan_buffer_t *buffers, size_t count, void *workspace, size_t workspace_size,
                           int32_t *offsets, uint32_t *peak, tflm_plan_is_over_t is_over, void *context);

/* Place buffers as the TFLite GPU delegate's GREEDY_BY_SIZE does: the earliest first among equal sizes, and each into
 * the smallest gap instead of the first. Offline buffers, which the delegate does not have, are placed first. Workspace
 * and arguments are those of tflm_plan_greedy_until.
 */
int tflm_plan_best_fit(const tflm_plan_buffer_t *buffers, size_t count, void *workspace, size_t workspace_size,
                       int32_t *offsets, uint32_t *peak, tflm_plan_is_over_t is_over, void *context);

#endif /* TFLM_PLAN_H_ */
