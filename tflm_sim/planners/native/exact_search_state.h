/* The state of a search, and the trail by which it goes back. A part of exact_search.c, which is compiled twice. */
#ifndef TFLM_EXACT_SEARCH_STATE_H_
#define TFLM_EXACT_SEARCH_STATE_H_

#include <stdlib.h>
#include <string.h>

#include "exact_block.h"
#include "exact_search.h"
#include "exact_stack.h"

#ifdef EXACT_WIDE
typedef int64_t unit_t;
#define UNIT_MAX INT64_MAX
#define NAME(word) tflm_exact_##word##_wide
#else
typedef int32_t unit_t;
#define UNIT_MAX INT32_MAX
#define NAME(word) tflm_exact_##word##_narrow
#endif
typedef struct NAME(search) search_t;

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FAST __attribute__((target_clones("avx2", "default"), optimize("O3")))
#else
#define FAST
#endif

enum { TRAIL_LEAST = 1 << 19, TRAIL_PER_BUFFER = 64 };

typedef struct {
  uint64_t a, b;
} state_hash_t;

typedef struct {
  state_hash_t state;
  int64_t capacity; /* bytes */
} failure_t;

typedef struct {
  int index;
  unit_t lowest;
  uint8_t rests, placed;
} change_t;

/* A stretch of time that is solved on its own: its unplaced free buffers are members[begin .. end), by first section,
 * and the same in ordered[begin .. end), the highest `lowest` first. Both lists are the search's: what is placed moves
 * to a region's end, and the parts of a region are parts of its stretch of the lists.
 */
typedef struct {
  int begin, end;
  int low, high; /* sections [low, high) */
} region_t;

/* A region that is being solved. */
typedef struct {
  region_t r;
  size_t trail_mark, first_key; /* as they were when it was entered */
  size_t place_mark;            /* the trail before `chosen` was placed */
  int chosen, home, harmless;   /* `home`: where it stood in members[]; whether it raised nobody */
  region_t part;                /* the part of what is left that was solved last; empty before the first */
} frame_t;

struct NAME(search) {
  const problem_t *p;
  search_task_t *task;
  void *block; /* all arrays but trail and keys, which grow */
  unit_t *size, *align;
  unit_t *lowest, *highest; /* offsets between which a buffer lies; of a placed one, lowest is where it is */
  uint8_t *rests, *placed;
  size_t *saved;   /* the last change of a buffer is trail[saved - 1], if it is still there */
  unit_t *support; /* while settling: the least end under a buffer that is not settled yet */
  uint8_t *settled;
  int *rank;
  unit_t capacity;
  unit_t *load, *floor, *least_end; /* per section, of unplaced buffers: sum, least lowest, least end of a first one */
  int *members, *ordered, *scratch;
  int *fixed, fixed_count; /* the fixed buffers, the highest first */
  frame_t *frames;         /* the path from the root */
  change_t *trail;
  size_t trail_length, trail_room, mark; /* mark: the last point to which undo() may go back */
  state_hash_t *keys;                    /* states on the path from the root, to be remembered if they fail */
  size_t key_count, key_room;
  failure_t *memo;
  int64_t *tops;  /* of a stack of buffers */
  int64_t effort; /* steps of inner loops since the limits were asked last */
  int stopped;
};

/* ---- the trail */

/* Room for one more element; 0 when there may be no more. */
static int grow(void **list, size_t *room, size_t used, size_t width, size_t most) {
  if (used < *room) return 1;
  const size_t more = *room * 2 + 256;
  void *bigger = used < most ? realloc(*list, more * width) : NULL;
  if (bigger == NULL) return 0;
  *list = bigger;
  *room = more;
  return 1;
}

static size_t mark_trail(search_t *s) { return s->mark = s->trail_length; }

/* Set what is known of buffer i so that undo() brings back what was known before. */
static void set(search_t *s, int i, unit_t lowest, uint8_t rests, uint8_t placed) {
  const size_t saved = s->saved[i];
  const int is_saved = saved > s->mark && saved <= s->trail_length && s->trail[saved - 1].index == i;
  if (!is_saved) {
    const size_t most = TRAIL_LEAST + (size_t)s->p->count * TRAIL_PER_BUFFER;
    if (!grow((void **)&s->trail, &s->trail_room, s->trail_length, sizeof *s->trail, most)) {
      s->stopped = 1;
      return;
    }
    s->trail[s->trail_length++] = (change_t){i, s->lowest[i], s->rests[i], s->placed[i]};
    s->saved[i] = s->trail_length;
  }
  s->lowest[i] = lowest;
  s->rests[i] = rests;
  s->placed[i] = placed;
}

/* Go back to `to`; `mark` is the last point before it to which undo() may go back. */
static void undo(search_t *s, size_t to, size_t mark) {
  while (s->trail_length > to) {
    const change_t *c = &s->trail[--s->trail_length];
    s->lowest[c->index] = c->lowest;
    s->rests[c->index] = c->rests;
    s->placed[c->index] = c->placed;
  }
  s->mark = mark;
}

#endif
