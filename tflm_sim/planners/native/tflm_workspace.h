/* Arrays out of one block of memory: who owns what in this core.
 *
 * The arrays of an object are carved from one block and die with it; none is freed alone.
 *   tflm_plan.h, hill_climb.h, shared_objects.h: the caller brings the block and keeps it; nothing is allocated.
 *   the exact planner: an object makes its block (exact_block.h) and frees it. Only the lists of a search that grow,
 * and what one function needs for a moment and frees itself, are blocks of their own.
 *
 * Each object has one lay_out(), which carves all of it. It runs twice: first without a base, to count the bytes.
 */
#ifndef TFLM_WORKSPACE_H_
#define TFLM_WORKSPACE_H_

#include <stddef.h>
#include <stdint.h>

typedef struct tflm_workspace {
  unsigned char *base; /* aligned to 8 bytes; NULL: bytes are counted only */
  size_t used;
  size_t gap; /* bytes behind each array that nobody may touch: AddressSanitizer watches them */
} tflm_workspace_t;

#if defined(__SANITIZE_ADDRESS__)
#define TFLM_IS_WATCHED 1
#elif defined(__has_feature)
#define TFLM_IS_WATCHED __has_feature(address_sanitizer)
#else
#define TFLM_IS_WATCHED 0
#endif

#if TFLM_IS_WATCHED
#include <sanitizer/asan_interface.h>
#define TFLM_WATCH(array, bytes, all) (ASAN_POISON_MEMORY_REGION(array, all), ASAN_UNPOISON_MEMORY_REGION(array, bytes))
#else
#define TFLM_WATCH(array, bytes, all) ((void)0)
#endif

/* Whether a block that a caller brought is one, aligned and large enough. */
static inline int tflm_workspace_fits(const void *block, size_t size, size_t needed) {
  return block != NULL && size >= needed && (uintptr_t)block % 8u == 0;
}

/* The next count elements of width bytes; the caller has made sure that the sum of all arrays fits a size_t. */
static inline void *tflm_carve(tflm_workspace_t *workspace, size_t count, size_t width) {
  const size_t all = ((count * width + 7u) & ~(size_t)7u) + workspace->gap;
  void *array = workspace->base == NULL ? NULL : workspace->base + workspace->used;
  if (array != NULL && workspace->gap > 0) TFLM_WATCH(array, count * width, all);
  workspace->used += all;
  return array;
}

#endif /* TFLM_WORKSPACE_H_ */
