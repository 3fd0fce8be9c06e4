/* shared_objects: MINCOSTFLOW, the strategy of the TFLite GPU delegate that is slow in Python, step for step as
 * upstream has it.
 *
 * For hosts, not for firmware; C99, no allocation, no globals. Status codes are those of tflm_plan.h. Between its
 * preprocessor lines there are only declarations that cffi can read.
 */
#ifndef TFLM_SHARED_OBJECTS_H_
#define TFLM_SHARED_OBJECTS_H_

#include <stddef.h>
#include <stdint.h>

#include "tflm_plan.h"

/* A tensor and the tasks that use it first and last, inclusive. */
typedef struct tflm_tensor_usage {
  int64_t size;
  int64_t first_task;
  int64_t last_task;
} tflm_tensor_usage_t;

typedef struct tflm_min_cost_flow tflm_min_cost_flow_t;

/* Bytes of workspace, about 80 for a tensor; 0 when no workspace would be enough. */
size_t tflm_min_cost_flow_workspace_size(size_t count);

/* Begin without any flow; it lives in the caller's workspace. TFLM_PLAN_E_OVERFLOW when the sizes do not sum up to less
 * than INT32_MAX.
 */
int tflm_min_cost_flow_start(const tflm_tensor_usage_t *tensors, size_t count, void *workspace, size_t workspace_size,
                             tflm_min_cost_flow_t **started);

/* Push units along up to so many paths. Return 1 when there is no further one, 0 when there may be. */
int tflm_min_cost_flow_run(tflm_min_cost_flow_t *flow, uint32_t paths);

/* Assign each tensor an object; UINT32_MAX while it has none. */
void tflm_min_cost_flow_objects(const tflm_min_cost_flow_t *flow, uint32_t *object_ids);

#endif /* TFLM_SHARED_OBJECTS_H_ */
