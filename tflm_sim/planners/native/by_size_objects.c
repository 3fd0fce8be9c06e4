/* GREEDY_BY_SIZE for shared objects; planners/gpu/by_size.py says what it does.
 *
 * Invariant: for a waiting tensor, dist[o] is the distance to the nearest tensor of object o, NO_DISTANCE if one of
 * them exists together with it; best_dist is the smallest of them, and best_object the first object at that distance
 * or, at NO_DISTANCE, stale.
 *
 * Source: tflite/delegates/gpu/common/memory_management/greedy_by_size_assignment.cc @ LiteRT f67457790
 */
#include "shared_objects.h"
#include "tflm_workspace.h"

#define NO_DISTANCE UINT64_MAX
#define NO_OBJECT UINT32_MAX
#define ASK_EVERY 64u /* tensors */

typedef struct waiting {
  uint64_t best_dist;
  uint64_t *dist; /* [most_objects] */
  uint32_t best_object;
  uint32_t index;
} waiting_t;

typedef struct assigner {
  const tflm_tensor_usage_t *tensors;
  uint64_t *dist;     /* [count][most_objects] */
  waiting_t *waiting; /* [waiting_count] in the order of the tensors */
  size_t waiting_count;
  size_t object_count;
} assigner_t;

static size_t lay_out(assigner_t *assigner, void *base, size_t count, size_t most_objects) {
  tflm_workspace_t workspace = {base, 0, 0};
  assigner->dist = tflm_carve(&workspace, count * most_objects, sizeof(uint64_t));
  assigner->waiting = tflm_carve(&workspace, count, sizeof(waiting_t));
  return workspace.used + 8u; /* not 0 without tensors */
}

size_t tflm_by_size_objects_workspace_size(size_t count, size_t most_objects) {
  assigner_t assigner;
  if (count > UINT32_MAX / 2u || most_objects > UINT32_MAX / 2u) return 0;
  const size_t limit = (SIZE_MAX - 8u) / (sizeof(waiting_t) + (most_objects + 1u) * sizeof(uint64_t));
  if (most_objects > SIZE_MAX / 16u || count > limit) return 0;
  return lay_out(&assigner, NULL, count, most_objects);
}

static uint64_t distance(const tflm_tensor_usage_t *a, const tflm_tensor_usage_t *b) {
  if (a->last_task < b->first_task) return (uint64_t)b->first_task - (uint64_t)a->last_task;
  if (b->last_task < a->first_task) return (uint64_t)a->first_task - (uint64_t)b->last_task;
  return NO_DISTANCE;
}

static int is_more_urgent(const assigner_t *assigner, const waiting_t *a, const waiting_t *b) {
  const tflm_tensor_usage_t *x = &assigner->tensors[a->index];
  const tflm_tensor_usage_t *y = &assigner->tensors[b->index];
  if (x->position != y->position) return x->position < y->position;
  if (a->best_dist != b->best_dist) return a->best_dist < b->best_dist;
  return x->size > y->size;
}

static void find_best(waiting_t *self, size_t object_count) {
  self->best_dist = NO_DISTANCE;
  for (uint32_t object = 0; object < object_count; ++object) {
    if (self->dist[object] < self->best_dist) {
      self->best_dist = self->dist[object];
      self->best_object = object;
    }
  }
}

/* tensor now uses object, which is_new or not: note that in the distances of a waiting one. */
static void object_gained(const assigner_t *assigner, waiting_t *self, uint32_t object, int is_new,
                          const tflm_tensor_usage_t *tensor) {
  if (!is_new && self->dist[object] == NO_DISTANCE) return;
  const uint64_t dist = distance(&assigner->tensors[self->index], tensor);
  if (is_new || dist == NO_DISTANCE || dist < self->dist[object]) self->dist[object] = dist;
  if (dist == NO_DISTANCE && self->best_object == object) {
    find_best(self, assigner->object_count);
  } else if (dist < self->best_dist) {
    self->best_dist = dist;
    self->best_object = object;
  }
}

/* Take the most urgent tensor out of waiting; the first of equally urgent ones. */
static waiting_t take_most_urgent(assigner_t *assigner) {
  size_t best = 0;
  for (size_t i = 1; i < assigner->waiting_count; ++i)
    if (is_more_urgent(assigner, &assigner->waiting[i], &assigner->waiting[best])) best = i;
  const waiting_t taken = assigner->waiting[best];
  --assigner->waiting_count;
  for (size_t i = best; i < assigner->waiting_count; ++i) assigner->waiting[i] = assigner->waiting[i + 1];
  return taken;
}

static void start(assigner_t *assigner, const tflm_tensor_usage_t *tensors, size_t count, size_t most_objects,
                  void *workspace) {
  lay_out(assigner, workspace, count, most_objects);
  assigner->tensors = tensors;
  assigner->waiting_count = count;
  assigner->object_count = 0;
  for (size_t i = 0; i < count; ++i) {
    assigner->waiting[i].best_dist = NO_DISTANCE;
    assigner->waiting[i].best_object = NO_OBJECT;
    assigner->waiting[i].index = (uint32_t)i;
    assigner->waiting[i].dist = assigner->dist + i * most_objects;
  }
}

int tflm_by_size_objects(const tflm_tensor_usage_t *tensors, size_t count, size_t most_objects, void *workspace,
                         size_t workspace_size, uint32_t *object_ids, tflm_plan_is_over_t is_over, void *context) {
  assigner_t assigner;
  const size_t needed = tflm_by_size_objects_workspace_size(count, most_objects);
  if (needed == 0 || (count > 0 && (tensors == NULL || object_ids == NULL))) return TFLM_PLAN_E_ARGUMENT;
  if (!tflm_workspace_fits(workspace, workspace_size, needed)) return TFLM_PLAN_E_WORKSPACE;
  start(&assigner, tensors, count, most_objects, workspace);
  while (assigner.waiting_count > 0) {
    if (assigner.waiting_count % ASK_EVERY == 0 && is_over != NULL && is_over(context)) return TFLM_PLAN_E_STOPPED;
    const waiting_t taken = take_most_urgent(&assigner);
    const int is_new = taken.best_dist == NO_DISTANCE;
    const uint32_t object = is_new ? (uint32_t)assigner.object_count : taken.best_object;
    if (object >= most_objects) return TFLM_PLAN_E_WORKSPACE;
    assigner.object_count += (size_t)is_new;
    object_ids[taken.index] = object;
    for (size_t i = 0; i < assigner.waiting_count; ++i)
      object_gained(&assigner, &assigner.waiting[i], object, is_new, &tensors[taken.index]);
  }
  return TFLM_PLAN_OK;
}
