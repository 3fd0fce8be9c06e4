/* Branch and bound over canonical plans. Compiled twice: as it is, and with 64-bit units by exact_search_wide.c.

   A plan is *canonical* when nothing in it can be pushed down: every buffer rests on the ground, on a fixed buffer or
   on another buffer. A problem that has a plan has a canonical one: take the plan with the least sum of offsets.

   Every buffer not placed yet has `lowest`, an offset it cannot be below, and `rests`: whether something already there
   would carry it at exactly that offset. A node takes a buffer c that rests and under which no neighbour fits any
   more, and splits the plans in two: c lies exactly at `lowest`, or c lies higher. In the second case some neighbour
   that is still to be placed must carry c, so `lowest` rises to the least end that such a neighbour can have.

        |      +---+                  c can rest at 4, k at 2. "c higher" means that k (or something on k)
        |   +--+ c |                  carries c: c is at least at 2 + size of k.
      4 |   |  +---+---+
      2 |   |  placed  | k?           Each canonical plan is reached by one path; no order of placing is tried twice.

   Deductions, each sound for every canonical plan below the node:
   - a buffer that does not rest is at least at the least end of a neighbour (carried);
   - section bound: the buffers of a section that lie at t or above need t + their sizes <= capacity;
   - not-first: where a buffer as the lowest of the rest of its section would push the section over the capacity,
     another one is below it;
   - twins (same lifetime, size and alignment) are placed in order;
   - a buffer that can be placed without raising any other is placed: in a plan with the least sum of offsets it lies
     there;
   - time falls apart where no unplaced buffer crosses: the parts are solved one by one;
   - a part (its buffers with `lowest` and `rests`) that failed once, fails again at the same or a lower capacity. Such
     parts are known by 128 bits of hash. */
#include "exact_search.h"

#include <stdlib.h>
#include <string.h>

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

enum { MEMO_BITS = 19, MEMO_LEAST = 4, POLL_EVERY = 256, POLL_EFFORT = 1 << 21, PATIENT_PASSES = 6, MOST_ROUNDS = 50 };
enum { TRAIL_LEAST = 1 << 19, TRAIL_PER_BUFFER = 64, MOST_KEYS = 1 << 18 };

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
   and the same in ordered[begin .. end), the highest `lowest` first. Both lists are the search's: what is placed moves
   to a region's end, and the parts of a region are parts of its stretch of the lists. */
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
  const search_task_t *task;
  unit_t *size, *align;
  unit_t *lowest, *highest; /* offsets between which a buffer lies; of a placed one, lowest is where it is */
  uint8_t *rests, *placed;
  size_t *saved;   /* the last change of a buffer is trail[saved - 1], if it is still there */
  unit_t *support; /* while settling: the least end under a buffer that is not settled yet */
  uint8_t *settled;
  int *rank;
  uint32_t *blame, *section_blame; /* how often a buffer, a section had no room; kept from task to task */
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
  int64_t nodes, effort; /* effort: steps of inner loops since the last poll */
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

/* ---- offsets */

static unit_t align_to(unit_t value, unit_t align) { return align == 1 ? value : (value + align - 1) / align * align; }

/* The least aligned offset from `at` on where buffer i meets no fixed one; sets *rests if a fixed one carries it. */
static unit_t clear_of_fixed(const search_t *s, int i, unit_t at, uint8_t *rests) {
  const problem_t *p = s->p;
  at = align_to(at, s->align[i]);
  for (int q = 0; q < p->fixed_count; q++) {
    const int j = p->fixed_by_offset[q];
    if (p->low[j] >= p->high[i] || p->high[j] <= p->low[i]) continue;
    const unit_t end = align_to((unit_t)p->fixed[j] + s->size[j], s->align[i]);
    if (p->fixed[j] >= at + s->size[i]) break;
    if (end < at) continue;
    at = end;
    *rests = 1;
  }
  return at;
}

/* Raise buffer i to `at` or above, where nothing that is placed carries it. */
static void raise_to(search_t *s, int i, unit_t at) {
  uint8_t rests = 0;
  at = clear_of_fixed(s, i, at, &rests);
  set(s, i, at, rests, 0);
}

/* The least offset above `lowest` that a neighbour still to be placed, or a fixed one, can give to buffer i;
   `lowest` itself when a neighbour may end at or below it. */
static unit_t carried(const search_t *s, const region_t *r, int i) {
  const problem_t *p = s->p;
  const int low = p->low[i], high = p->high[i];
  unit_t best = UNIT_MAX;
  for (int q = r->begin; q < r->end; q++) {
    const int j = s->members[q];
    if (p->low[j] >= high) break;
    if (p->high[j] <= low || j == i) continue;
    const unit_t end = s->lowest[j] + s->size[j];
    if (end < best) best = end;
    if (end <= s->lowest[i]) return s->lowest[i];
  }
  for (int q = 0; q < p->fixed_count; q++) {
    const int j = p->fixed_by_offset[q];
    if (p->low[j] >= high || p->high[j] <= low) continue;
    const unit_t end = (unit_t)p->fixed[j] + s->size[j];
    if (end > s->lowest[i] && end < best) best = end;
  }
  return best;
}

/* ---- deductions */

typedef enum { STILL, RAISED, NO_ROOM } change_of_t;

/* Count work that no node counts; polls now and then. Nonzero when the search is over. */
static int spend(search_t *s, int64_t steps) {
  s->effort += steps;
  if (s->effort < POLL_EFFORT) return s->stopped;
  s->effort = 0;
  if (s->task->poll(s->task->context, s->nodes)) s->stopped = 1;
  return s->stopped;
}

/* One pass over the region: raise what its twin pushes up or nothing carries. */
static change_of_t raise_once(search_t *s, const region_t *r) {
  change_of_t outcome = STILL;
  for (int k = r->begin; k < r->end; k++) {
    const int i = s->members[k], twin = s->p->twin[i];
    if (twin >= 0 && !s->placed[twin] && s->lowest[i] < s->lowest[twin] + s->size[twin])
      raise_to(s, i, s->lowest[twin] + s->size[twin]);
    if (s->rests[i]) continue;
    const unit_t at = carried(s, r, i);
    if (at > s->highest[i]) return NO_ROOM;
    if (at <= s->lowest[i]) continue;
    raise_to(s, i, at);
    outcome = RAISED;
  }
  return outcome;
}

/* The offset at which buffer i would settle on what is settled already; UNIT_MAX when it has to wait for its twin. */
static unit_t settles_at(const search_t *s, int i) {
  const int twin = s->p->twin[i];
  unit_t at = s->support[i], least = s->lowest[i];
  uint8_t rests = 0;
  if (twin >= 0 && !s->placed[twin]) {
    if (!s->settled[twin]) return UNIT_MAX;
    if (least < s->lowest[twin] + s->size[twin]) least = s->lowest[twin] + s->size[twin];
  }
  if (at == UNIT_MAX || (s->rests[i] && at >= least)) return at;
  return clear_of_fixed(s, i, at > least ? at : least, &rests);
}

static void begin_to_settle(search_t *s, const region_t *r) {
  for (int k = r->begin; k < r->end; k++) {
    const int i = s->members[k];
    s->settled[i] = 0;
    s->support[i] = s->rests[i] ? s->lowest[i] : UNIT_MAX;
    for (int q = 0; q < s->p->fixed_count && !s->rests[i]; q++) {
      const int j = s->p->fixed_by_offset[q];
      if (s->p->low[j] >= s->p->high[i] || s->p->high[j] <= s->p->low[i]) continue;
      const unit_t end = (unit_t)s->p->fixed[j] + s->size[j];
      if (end > s->lowest[i] && end < s->support[i]) s->support[i] = end;
    }
  }
}

static void settle(search_t *s, const region_t *r, int i, unit_t at) {
  if (at > s->lowest[i]) raise_to(s, i, at);
  s->settled[i] = 1;
  for (int q = r->begin; q < r->end; q++) {
    const int j = s->members[q];
    if (s->p->low[j] >= s->p->high[i]) break;
    if (s->p->high[j] <= s->p->low[i] || s->settled[j] || s->support[j] <= at + s->size[i]) continue;
    s->support[j] = at + s->size[i];
  }
}

/* Raise everything to where passes would end, in one go however far that is: the lowest buffers settle first, and
   each carries those above it (as in Dijkstra's shortest paths). 0 when a buffer cannot settle. */
static int settle_all(search_t *s, const region_t *r) {
  begin_to_settle(s, r);
  for (int left = r->end - r->begin; left > 0; left--) {
    int lowest = -1;
    unit_t best = UNIT_MAX;
    for (int k = r->begin; k < r->end; k++) {
      const int i = s->members[k];
      const unit_t at = s->settled[i] ? UNIT_MAX : settles_at(s, i);
      if (at >= best) continue;
      best = at;
      lowest = i;
    }
    if (lowest < 0 || best > s->highest[lowest]) return 0;
    if (spend(s, (int64_t)(r->end - r->begin) * 4)) return 1;
    settle(s, r, lowest, best);
  }
  return 1;
}

/* Raise what does not rest until a neighbour can carry it; 0 when there is no room left for one. A few passes are
   enough nearly always; two buffers beside a very large one could go on raising each other for ever. */
static int raise_uncarried(search_t *s, const region_t *r) {
  for (int pass = 0; pass < PATIENT_PASSES && !spend(s, (int64_t)(r->end - r->begin) * 4); pass++) {
    const change_of_t outcome = raise_once(s, r);
    if (outcome != RAISED) return outcome == STILL;
  }
  return settle_all(s, r);
}

/* Nonzero when i stands before j in a region's sorted list. */
static int stands_before(const search_t *s, int i, int j) {
  return s->lowest[i] != s->lowest[j] ? s->lowest[i] > s->lowest[j] : s->rank[i] > s->rank[j];
}

static void sort_region(const search_t *s, const region_t *r) {
  int *list = s->ordered;
  for (int k = r->begin + 1; k < r->end; k++) {
    const int moving = list[k];
    int to = k;
    for (; to > r->begin && stands_before(s, moving, list[to - 1]); to--) list[to] = list[to - 1];
    list[to] = moving;
  }
}

/* The next one of the region's buffers and of the fixed ones that reach in, in their common order; -1 behind the last. */
static inline int next_in_order(const search_t *s, const region_t *r, int *k, int *f) {
  const problem_t *p = s->p;
  while (*f < s->fixed_count && (p->low[s->fixed[*f]] >= r->high || p->high[s->fixed[*f]] <= r->low)) ++*f;
  if (*f == s->fixed_count) return *k < r->end ? s->ordered[(*k)++] : -1;
  if (*k == r->end || stands_before(s, s->fixed[*f], s->ordered[*k])) return s->fixed[(*f)++];
  return s->ordered[(*k)++];
}

static void blame_sections(search_t *s, int from, int to, unit_t room) {
  for (int q = from; q < to; q++) s->section_blame[q] += s->load[q] > room;
}

/* Fill load and floor of the region's sections; 0 when a section cannot be within the capacity. */
FAST static int sections_fit(search_t *s, const region_t *r) {
  unit_t *restrict load = s->load, *restrict floor = s->floor;
  memset(load + r->low, 0, sizeof *load * (size_t)(r->high - r->low));
  for (int k = r->begin, f = 0, i; (i = next_in_order(s, r, &k, &f)) >= 0;) {
    const unit_t lowest = s->lowest[i], size = s->size[i], room = s->capacity - lowest;
    const int from = s->p->low[i] > r->low ? s->p->low[i] : r->low;
    const int to = s->p->high[i] < r->high ? s->p->high[i] : r->high;
    int over = lowest > s->highest[i];
    for (int q = from; q < to; q++) {
      load[q] += size;
      floor[q] = lowest;
      over |= load[q] > room;
    }
    if (over) {
      blame_sections(s, from, to, room);
      s->blame[i]++;
      return 0;
    }
  }
  return 1;
}

/* The least end that the lowest buffer of a section can have, among those that leave room for all others above. */
FAST static void find_least_ends(search_t *s, const region_t *r) {
  unit_t *restrict least_end = s->least_end;
  const unit_t *restrict load = s->load;
  for (int q = r->low; q < r->high; q++) least_end[q] = UNIT_MAX;
  for (int k = r->begin, f = 0, i; (i = next_in_order(s, r, &k, &f)) >= 0;) {
    const unit_t over = s->lowest[i] - s->capacity, end = s->lowest[i] + s->size[i];
    const int from = s->p->low[i] > r->low ? s->p->low[i] : r->low;
    const int to = s->p->high[i] < r->high ? s->p->high[i] : r->high;
    for (int q = from; q < to; q++) {
      const unit_t value = over + load[q] <= 0 ? end : UNIT_MAX;
      least_end[q] = value < least_end[q] ? value : least_end[q];
    }
  }
}

/* How low a buffer can be if it is not the first in the sections where it cannot be. */
FAST static unit_t not_first(const search_t *s, int i) {
  const unit_t *restrict least_end = s->least_end, *restrict load = s->load;
  const unit_t over = s->lowest[i] - s->capacity;
  unit_t best = 0;
  for (int q = s->p->low[i]; q < s->p->high[i]; q++) {
    const unit_t value = over + load[q] > 0 ? least_end[q] : 0;
    best = value > best ? value : best;
  }
  return best;
}

static int raise_not_first(search_t *s, const region_t *r) {
  int raised = 0;
  find_least_ends(s, r);
  for (int k = r->begin; k < r->end; k++) {
    const unit_t at = not_first(s, s->members[k]);
    if (at <= s->lowest[s->members[k]] || at == UNIT_MAX) continue;
    raise_to(s, s->members[k], at);
    raised = 1;
  }
  return raised;
}

/* What carries whom, and whether the sections fit; 0 when the region has no plan. */
static int settle_region(search_t *s, const region_t *r) {
  if (!raise_uncarried(s, r)) return 0;
  if (spend(s, (int64_t)(r->end - r->begin + s->fixed_count) * (r->high - r->low + 8))) return 1;
  sort_region(s, r);
  return sections_fit(s, r);
}

/* All deductions, nearly always to their end; 0 when the region has no plan. */
static int deduce(search_t *s, const region_t *r) {
  for (int round = 0; round < MOST_ROUNDS; round++) {
    if (!settle_region(s, r)) return 0;
    if (s->stopped || !raise_not_first(s, r)) return 1;
  }
  return settle_region(s, r);
}

/* ---- what failed before */

static state_hash_t state_of(const search_t *s, const region_t *r) {
  state_hash_t state = {0, 0};
  for (int k = r->begin; k < r->end; k++) {
    const int i = s->members[k];
    const uint64_t x = exact_mix(exact_mix((uint64_t)s->lowest[i] * 2 + s->rests[i] + 1) ^ ((uint64_t)i << 40));
    state.a += x;
    state.b += exact_mix(x ^ UINT64_C(0x9e3779b97f4a7c15));
  }
  return state;
}

static failure_t *memo_slot(const search_t *s, state_hash_t state) { return &s->memo[state.a >> (64 - MEMO_BITS)]; }

static int known_to_fail(const search_t *s, state_hash_t state) {
  const failure_t *f = memo_slot(s, state);
  return f->state.a == state.a && f->state.b == state.b && f->capacity >= s->task->capacity;
}

static void push_key(search_t *s, state_hash_t state) {
  if (grow((void **)&s->keys, &s->key_room, s->key_count, sizeof *s->keys, MOST_KEYS)) s->keys[s->key_count++] = state;
}

static void remember_failures(search_t *s, size_t from) {
  for (size_t k = from; k < s->key_count && !s->stopped; k++)
    *memo_slot(s, s->keys[k]) = (failure_t){s->keys[k], s->task->capacity};
}

/* ---- choosing */

/* The section to work on. */
static int pick_section(const search_t *s, const region_t *r) {
  int best = -1;
  unit_t best_first = 0, best_load = 0;
  for (int q = r->low; q < r->high; q++) {
    if (s->load[q] == 0) continue;
    const unit_t first = s->task->pick == PICK_LOWEST_FLOOR ? s->floor[q] : s->capacity - s->floor[q] - s->load[q];
    if (best >= 0 && (first > best_first || (first == best_first && s->load[q] <= best_load))) continue;
    best = q;
    best_first = first;
    best_load = s->load[q];
  }
  return best;
}

static int pick_blamed_section(const search_t *s, const region_t *r) {
  int best = -1;
  double most = -1;
  for (int q = r->low; q < r->high; q++) {
    if (s->load[q] == 0) continue;
    const double room = (double)(s->capacity - s->floor[q] - s->load[q]) / (double)s->capacity;
    const double weight = (1.0 + s->section_blame[q]) / (0.002 + room);
    if (weight <= most) continue;
    best = q;
    most = weight;
  }
  return best;
}

static int lowest_in(const search_t *s, const region_t *r, int section) {
  for (int k = r->end - 1; k >= r->begin; k--) {
    const int i = s->ordered[k];
    if (section < 0 || (s->p->low[i] <= section && section < s->p->high[i])) return i;
  }
  return -1;
}

/* Of the buffers that can be lowest in the section, the one that leaves least room below it in all of its sections,
   where others could be lower. */
static int snuggest_in(const search_t *s, const region_t *r, int section) {
  int best = -1;
  double best_waste = 0;
  for (int k = r->end - 1; k >= r->begin; k--) {
    const int i = s->ordered[k];
    if (section < s->p->low[i] || s->p->high[i] <= section) continue;
    if (best >= 0 && s->lowest[i] > s->lowest[best]) break;
    double waste = 0;
    for (int q = s->p->low[i]; q < s->p->high[i]; q++) waste += (double)(s->lowest[i] - s->floor[q]);
    waste /= s->p->high[i] - s->p->low[i];
    if (best >= 0 && waste >= best_waste) continue;
    best = i;
    best_waste = waste;
  }
  return best;
}

/* The lowest unplaced neighbour that may still lie below buffer i, or -1. */
static int fits_below(const search_t *s, const region_t *r, int i) {
  const problem_t *p = s->p;
  int best = -1;
  for (int q = r->begin; q < r->end; q++) {
    const int j = s->members[q];
    if (p->low[j] >= p->high[i]) break;
    if (p->high[j] <= p->low[i] || s->lowest[j] + s->size[j] > s->lowest[i]) continue;
    if (best < 0 || stands_before(s, best, j)) best = j;
  }
  return best;
}

static int choose(const search_t *s, const region_t *r) {
  int chosen = -1;
  if (s->task->pick == PICK_SNUGGEST)
    chosen = snuggest_in(s, r, pick_section(s, r));
  else if (s->task->pick == PICK_BLAMED)
    chosen = snuggest_in(s, r, pick_blamed_section(s, r));
  else if (s->task->pick != PICK_LOWEST)
    chosen = lowest_in(s, r, pick_section(s, r));
  if (chosen < 0) chosen = lowest_in(s, r, -1);
  for (int below = chosen; below >= 0; below = fits_below(s, r, chosen)) chosen = below;
  return chosen;
}

/* ---- the tree */

/* Lift the unplaced neighbours of i, placed now, onto it; returns whether any had to rise. */
static int push_neighbours(search_t *s, const region_t *r, int i) {
  const problem_t *p = s->p;
  const unit_t end = s->lowest[i] + s->size[i];
  int raised = 0;
  for (int q = r->begin; q < r->end; q++) {
    const int j = s->members[q];
    if (p->low[j] >= p->high[i]) break;
    if (p->high[j] <= p->low[i] || j == i) continue;
    const unit_t at = align_to(end, s->align[j]);
    if (s->lowest[j] > at || (s->lowest[j] == at && s->rests[j])) continue;
    raised |= s->lowest[j] < at;
    uint8_t rests = 1;
    const unit_t clear = clear_of_fixed(s, j, at, &rests);
    set(s, j, clear, 1, 0);
  }
  return raised;
}

/* The part of [begin, end) that begins at `begin`: no member of another part meets one of its members. */
static region_t part_from(const search_t *s, int begin, int end) {
  const int *low = s->p->low, *high = s->p->high;
  region_t part = {begin, begin, low[s->members[begin]], low[s->members[begin]] + 1};
  for (; part.end < end && low[s->members[part.end]] < part.high; part.end++)
    if (high[s->members[part.end]] > part.high) part.high = high[s->members[part.end]];
  return part;
}

/* Go on to the part that follows by size, then by time: small parts fail (or are done) sooner. 0 when there is none. */
static int next_part(const search_t *s, int begin, int end, region_t *part) {
  const int last_size = part->end - part->begin;
  region_t best = {0, 0, 0, 0};
  for (region_t it; begin < end; begin = it.end) {
    it = part_from(s, begin, end);
    const int size = it.end - it.begin;
    if (size < last_size || (size == last_size && it.begin <= part->begin)) continue;
    if (best.end == 0 || size < best.end - best.begin) best = it;
  }
  if (best.end == 0) return 0;
  *part = best;
  return 1;
}

/* Let the ordered list fall apart as the members do. */
static void order_parts(search_t *s, int begin, int end) {
  int *copy = s->scratch, *part_of = copy + s->p->count, *next_at = part_of + s->p->count;
  if (begin == end || part_from(s, begin, end).end == end) return;
  memcpy(copy, s->ordered + begin, sizeof *copy * (size_t)(end - begin));
  for (int at = begin; at < end;) {
    const region_t part = part_from(s, at, end);
    next_at[at] = at;
    for (; at < part.end; at++) part_of[s->members[at]] = part.begin;
  }
  for (int k = 0; k < end - begin; k++) s->ordered[next_at[part_of[copy[k]]]++] = copy[k];
}

/* Move i to the end of list[begin .. end), and return where it was. */
static int move_to_end(int *list, int begin, int end, int i) {
  int at = begin;
  while (list[at] != i) at++;
  memmove(list + at, list + at + 1, sizeof *list * (size_t)(end - at - 1));
  list[end - 1] = i;
  return at;
}

static void move_back(int *list, int to, int end) {
  const int i = list[end - 1];
  memmove(list + to + 1, list + to, sizeof *list * (size_t)(end - to - 1));
  list[to] = i;
}

/* The other half of the plans: buffer i is higher. 0 when it cannot be. */
static int lift(search_t *s, const region_t *r, int i) {
  const unit_t at = carried(s, r, i);
  if (at > s->highest[i]) return 0;
  raise_to(s, i, at);
  return 1;
}

static int out_of_budget(search_t *s) {
  if (++s->nodes > s->task->node_limit) return 1;
  if (s->nodes % POLL_EVERY == 0 && s->task->poll(s->task->context, s->nodes)) s->stopped = 1;
  return s->stopped;
}

static void enter(search_t *s, frame_t *f, const region_t *part) {
  *f = (frame_t){.r = *part, .first_key = s->key_count, .chosen = -1};
  f->trail_mark = mark_trail(s);
}

/* Place a buffer where it can lie lowest; 0 when the region has no plan. */
static int place_one(search_t *s, frame_t *f) {
  if (!deduce(s, &f->r)) return 0;
  const state_hash_t state = state_of(s, &f->r);
  if (f->r.end - f->r.begin >= MEMO_LEAST && known_to_fail(s, state)) return 0;
  push_key(s, state);
  const int i = f->chosen = choose(s, &f->r);
  f->place_mark = mark_trail(s);
  set(s, i, s->lowest[i], s->rests[i], 1);
  f->harmless = !push_neighbours(s, &f->r, i);
  f->home = move_to_end(s->members, f->r.begin, f->r.end, i);
  move_to_end(s->ordered, f->r.begin, f->r.end, i);
  order_parts(s, f->r.begin, f->r.end - 1);
  f->part = (region_t){0, 0, 0, 0};
  return 1;
}

/* Take the buffer out again, and place another one or the same higher; 0 when the region has no plan. */
static int place_otherwise(search_t *s, frame_t *f) {
  undo(s, f->place_mark, f->trail_mark);
  return !f->harmless && lift(s, &f->r, f->chosen) && place_one(s, f);
}

/* Leave a region without a plan. */
static int leave(search_t *s, const frame_t *f, int verdict) {
  if (s->stopped) verdict = SEARCH_STOPPED;
  if (verdict == SEARCH_FAILED) {
    if (f->chosen >= 0) s->blame[f->chosen]++;
    remember_failures(s, f->first_key);
  }
  s->key_count = f->first_key;
  undo(s, f->trail_mark, f[-1].place_mark);
  return verdict;
}

/* Solve the parts of what is left in the last frame's region, one by one; each is a frame more. The first frame stands
   for the whole, with nothing placed. */
static int descend(search_t *s) {
  int depth = 0, verdict = SEARCH_FOUND;
  for (;;) {
    frame_t *f = &s->frames[depth];
    const int end = f->r.end - (depth > 0);
    if (verdict == SEARCH_FOUND && next_part(s, f->r.begin, end, &f->part)) {
      frame_t *below = &s->frames[depth + 1];
      enter(s, below, &f->part);
      verdict = SEARCH_STOPPED;
      if (!out_of_budget(s)) verdict = place_one(s, below) ? SEARCH_FOUND : SEARCH_FAILED;
      if (verdict == SEARCH_FOUND)
        depth++;
      else
        verdict = leave(s, below, verdict);
      continue;
    }
    if (depth == 0) return verdict;
    move_back(s->members, f->home, f->r.end);
    if (verdict == SEARCH_FAILED && place_otherwise(s, f)) {
      verdict = SEARCH_FOUND;
    } else {
      if (verdict != SEARCH_FOUND) verdict = leave(s, f, verdict);
      depth--;
    }
  }
}

/* ---- the way in */

void NAME(search_free)(search_t *s) {
  if (s == NULL) return;
  void *owned[] = {s->blame, s->section_blame, s->support, s->settled, s->size,    s->align, s->lowest,    s->highest,
                   s->rests, s->placed,        s->saved,   s->rank,    s->load,    s->floor, s->least_end, s->trail,
                   s->keys,  s->memo,          s->members, s->ordered, s->scratch, s->fixed, s->frames};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) free(owned[k]);
  free(s);
}

static void list_fixed(search_t *s) {
  const problem_t *p = s->p;
  for (int q = p->fixed_count - 1; q >= 0; q--) s->fixed[s->fixed_count++] = p->fixed_by_offset[q];
}

search_t *NAME(search_new)(const problem_t *p) {
  search_t *s = calloc(1, sizeof *s);
  if (s == NULL) return NULL;
  const size_t n = (size_t)p->count + 1, sections = (size_t)p->section_count + 1;
  unit_t **per_buffer[] = {&s->size, &s->align, &s->lowest, &s->highest, &s->support};
  unit_t **per_section[] = {&s->load, &s->floor, &s->least_end};
  int **lists[] = {&s->rank, &s->members, &s->ordered, &s->fixed};
  int good = 1;
  for (size_t k = 0; k < 5; k++) good &= (*per_buffer[k] = calloc(n, sizeof(unit_t))) != NULL;
  for (size_t k = 0; k < 3; k++) good &= (*per_section[k] = calloc(sections, sizeof(unit_t))) != NULL;
  for (size_t k = 0; k < 4; k++) good &= (*lists[k] = calloc(n, sizeof(int))) != NULL;
  good &= (s->rests = calloc(n, 1)) != NULL && (s->placed = calloc(n, 1)) != NULL;
  good &= (s->settled = calloc(n, 1)) != NULL && (s->saved = calloc(n, sizeof *s->saved)) != NULL;
  good &= (s->blame = calloc(n, sizeof *s->blame)) != NULL;
  good &= (s->section_blame = calloc(sections, sizeof *s->section_blame)) != NULL;
  good &= (s->memo = calloc((size_t)1 << MEMO_BITS, sizeof *s->memo)) != NULL;
  good &= (s->scratch = calloc(3 * n, sizeof(int))) != NULL;
  good &= (s->frames = calloc(n + 1, sizeof *s->frames)) != NULL;
  if (!good) {
    NAME(search_free)(s);
    return NULL;
  }
  s->p = p;
  for (int i = 0; i < p->count; i++) {
    s->size[i] = (unit_t)p->size[i];
    s->align[i] = (unit_t)p->align[i];
  }
  list_fixed(s);
  return s;
}

/* Put every buffer where the ground or a fixed one carries it, and say how high its offset may be. */
static void begin(search_t *s, int64_t capacity) {
  const problem_t *p = s->p;
  s->capacity = 0;
  for (int i = 0; i < p->count; i++) {
    const int64_t room = capacity - p->bytes[i];
    const int64_t highest = room < 0 ? -1 : room / p->unit < p->total ? room / p->unit : p->total;
    s->highest[i] = (unit_t)highest;
    if (highest + p->size[i] > s->capacity) s->capacity = (unit_t)(highest + p->size[i]);
    s->placed[i] = p->fixed[i] != TFLM_EXACT_FREE;
    s->rests[i] = 1;
    s->lowest[i] = p->fixed[i] != TFLM_EXACT_FREE ? (unit_t)p->fixed[i] : clear_of_fixed(s, i, 0, &s->rests[i]);
  }
  s->trail_length = s->mark = s->key_count = 0;
  s->nodes = s->effort = 0;
  s->stopped = 0;
}

/* Rank by blame; the given order among equals. */
static void rank_by_blame(search_t *s, int *sorted) {
  const int n = s->p->count;
  for (int k = 0; k < n; k++) {
    const int moving = s->task->order[k];
    int to = k;
    for (; to > 0 && s->blame[sorted[to - 1]] < s->blame[moving]; to--) sorted[to] = sorted[to - 1];
    sorted[to] = moving;
  }
  for (int k = 0; k < n; k++) s->rank[sorted[k]] = k;
  for (int k = 0; k < n; k++) s->blame[k] -= s->blame[k] / 4;
  for (int q = 0; q < s->p->section_count; q++) s->section_blame[q] -= s->section_blame[q] / 4;
}

int NAME(search_run)(search_t *s, search_task_t *task, int64_t *units) {
  const problem_t *p = s->p;
  int count = 0;
  s->task = task;
  begin(s, task->capacity);
  for (int k = 0; k < p->count; k++) s->rank[task->order[k]] = k;
  if (task->by_blame) rank_by_blame(s, s->scratch);
  for (int k = 0; k < p->count; k++) {
    const int i = p->by_start[k];
    if (p->fixed[i] == TFLM_EXACT_FREE) s->members[count++] = i;
  }
  for (int k = p->count - 1, to = 0; k >= 0; k--)
    if (p->fixed[task->order[k]] == TFLM_EXACT_FREE) s->ordered[to++] = task->order[k];
  s->frames[0] = (frame_t){.r = {0, count, 0, p->section_count}, .chosen = -1};
  order_parts(s, 0, count);
  const int verdict = descend(s);
  task->nodes = s->nodes;
  for (int i = 0; i < p->count && verdict == SEARCH_FOUND; i++) units[i] = s->lowest[i];
  return verdict;
}
