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
typedef int64_t unit;
#define UNIT_MAX INT64_MAX
#define NAME(word) word##_wide
#else
typedef int32_t unit;
#define UNIT_MAX INT32_MAX
#define NAME(word) word##_narrow
#endif
typedef struct NAME(search) search;

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FAST __attribute__((target_clones("avx2", "default"), optimize("O3")))
#else
#define FAST
#endif

enum { MEMO_BITS = 19, MEMO_LEAST = 4, POLL_EVERY = 256, POLL_EFFORT = 1 << 21, PATIENT_PASSES = 6, MOST_ROUNDS = 50 };

typedef struct {
  uint64_t a, b;
} key;

typedef struct {
  key state;
  int64_t capacity; /* bytes */
} failure;

typedef struct {
  int index;
  unit lowest;
  uint8_t rests, placed;
} change;

/* A stretch of time that is solved on its own. */
typedef struct {
  int *member, count;        /* unplaced free buffers by first section */
  int *sorted, sorted_count; /* the same and the fixed ones that reach in, highest `lowest` first */
  int low, high;             /* sections [low, high) */
} region;

struct NAME(search) {
  const problem *p;
  const search_task *task;
  unit *size, *align;
  unit *lowest, *highest; /* offsets between which a buffer lies; of a placed one, lowest is where it is */
  uint8_t *rests, *placed;
  unit *support; /* while settling: the least end under a buffer that is not settled yet */
  uint8_t *settled;
  int *rank;
  uint32_t *blame, *section_blame; /* how often a buffer, a section had no room; kept from task to task */
  unit capacity;
  unit *load, *floor, *least_end; /* per section, of unplaced buffers: sum, least lowest, least end of a first one */
  change *trail;
  size_t trail_length, trail_room;
  key *keys; /* states on the path from the root, to be remembered if they fail */
  size_t key_count, key_room;
  failure *memo;
  int *stack; /* the regions' lists */
  size_t stack_length;
  int64_t nodes, effort; /* effort: steps of inner loops since the last poll */
  int stopped;
};

/* ---- the trail */

/* Room for one more element; 0 (and the search is stopped) when memory is out. */
static int grow(search *s, void **list, size_t *room, size_t used, size_t width) {
  if (used < *room) return 1;
  const size_t more = *room * 2 + 256;
  void *bigger = realloc(*list, more * width);
  if (bigger == NULL) {
    s->stopped = 1;
    return 0;
  }
  *list = bigger;
  *room = more;
  return 1;
}

/* Set what is known of buffer i so that undo() brings back what was known before. */
static void set(search *s, int i, unit lowest, uint8_t rests, uint8_t placed) {
  if (!grow(s, (void **)&s->trail, &s->trail_room, s->trail_length, sizeof *s->trail)) return;
  s->trail[s->trail_length++] = (change){i, s->lowest[i], s->rests[i], s->placed[i]};
  s->lowest[i] = lowest;
  s->rests[i] = rests;
  s->placed[i] = placed;
}

static void undo(search *s, size_t mark) {
  while (s->trail_length > mark) {
    const change *c = &s->trail[--s->trail_length];
    s->lowest[c->index] = c->lowest;
    s->rests[c->index] = c->rests;
    s->placed[c->index] = c->placed;
  }
}

/* ---- offsets */

static unit align_to(unit value, unit align) { return align == 1 ? value : (value + align - 1) / align * align; }

/* The least aligned offset from `at` on where buffer i meets no fixed one; sets *rests if a fixed one carries it. */
static unit clear_of_fixed(const search *s, int i, unit at, uint8_t *rests) {
  const problem *p = s->p;
  at = align_to(at, s->align[i]);
  for (int q = p->first_block[i]; q < p->first_block[i + 1]; q++) {
    const int j = p->block[q];
    const unit end = align_to((unit)p->fixed[j] + s->size[j], s->align[i]);
    if (p->fixed[j] >= at + s->size[i]) break;
    if (end < at) continue;
    at = end;
    *rests = 1;
  }
  return at;
}

/* Raise buffer i to `at` or above, where nothing that is placed carries it. */
static void raise_to(search *s, int i, unit at) {
  uint8_t rests = 0;
  at = clear_of_fixed(s, i, at, &rests);
  set(s, i, at, rests, 0);
}

/* The least offset above `lowest` that a neighbour still to be placed, or a fixed one, can give to buffer i;
   `lowest` itself when a neighbour may end at or below it. */
static unit carried(const search *s, int i) {
  const problem *p = s->p;
  unit best = UNIT_MAX;
  for (int q = p->first_near[i]; q < p->first_near[i + 1]; q++) {
    const int j = p->near[q];
    if (s->placed[j]) continue;
    const unit end = s->lowest[j] + s->size[j];
    if (end < best) best = end;
    if (end <= s->lowest[i]) return s->lowest[i];
  }
  for (int q = p->first_block[i]; q < p->first_block[i + 1]; q++) {
    const unit end = (unit)p->fixed[p->block[q]] + s->size[p->block[q]];
    if (end > s->lowest[i] && end < best) best = end;
  }
  return best;
}

/* ---- deductions */

typedef enum { STILL, RAISED, NO_ROOM } change_of;

/* Count work that no node counts; polls now and then. Nonzero when the search is over. */
static int spend(search *s, int64_t steps) {
  s->effort += steps;
  if (s->effort < POLL_EFFORT) return s->stopped;
  s->effort = 0;
  if (s->task->poll(s->task->context, s->nodes)) s->stopped = 1;
  return s->stopped;
}

/* One pass over the region: raise what its twin pushes up or nothing carries. */
static change_of raise_once(search *s, const region *r) {
  change_of outcome = STILL;
  for (int k = 0; k < r->count; k++) {
    const int i = r->member[k], twin = s->p->twin[i];
    if (twin >= 0 && !s->placed[twin] && s->lowest[i] < s->lowest[twin] + s->size[twin])
      raise_to(s, i, s->lowest[twin] + s->size[twin]);
    if (s->rests[i]) continue;
    const unit at = carried(s, i);
    if (at > s->highest[i]) return NO_ROOM;
    if (at <= s->lowest[i]) continue;
    raise_to(s, i, at);
    outcome = RAISED;
  }
  return outcome;
}

/* The offset at which buffer i would settle on what is settled already; UNIT_MAX when it has to wait for its twin. */
static unit settles_at(const search *s, int i) {
  const int twin = s->p->twin[i];
  unit at = s->support[i], least = s->lowest[i];
  uint8_t rests = 0;
  if (twin >= 0 && !s->placed[twin]) {
    if (!s->settled[twin]) return UNIT_MAX;
    if (least < s->lowest[twin] + s->size[twin]) least = s->lowest[twin] + s->size[twin];
  }
  if (at == UNIT_MAX || (s->rests[i] && at >= least)) return at;
  return clear_of_fixed(s, i, at > least ? at : least, &rests);
}

static void begin_to_settle(search *s, const region *r) {
  for (int k = 0; k < r->count; k++) {
    const int i = r->member[k];
    s->settled[i] = 0;
    s->support[i] = s->rests[i] ? s->lowest[i] : UNIT_MAX;
    for (int q = s->p->first_block[i]; q < s->p->first_block[i + 1] && !s->rests[i]; q++) {
      const unit end = (unit)s->p->fixed[s->p->block[q]] + s->size[s->p->block[q]];
      if (end > s->lowest[i] && end < s->support[i]) s->support[i] = end;
    }
  }
}

static void settle(search *s, int i, unit at) {
  if (at > s->lowest[i]) raise_to(s, i, at);
  s->settled[i] = 1;
  for (int q = s->p->first_near[i]; q < s->p->first_near[i + 1]; q++) {
    const int j = s->p->near[q];
    if (s->placed[j] || s->settled[j] || s->support[j] <= at + s->size[i]) continue;
    s->support[j] = at + s->size[i];
  }
}

/* Raise everything to where passes would end, in one go however far that is: the lowest buffers settle first, and
   each carries those above it (as in Dijkstra's shortest paths). 0 when a buffer cannot settle. */
static int settle_all(search *s, const region *r) {
  begin_to_settle(s, r);
  for (int left = r->count; left > 0; left--) {
    int lowest = -1;
    unit best = UNIT_MAX;
    for (int k = 0; k < r->count; k++) {
      const int i = r->member[k];
      const unit at = s->settled[i] ? UNIT_MAX : settles_at(s, i);
      if (at >= best) continue;
      best = at;
      lowest = i;
    }
    if (lowest < 0 || best > s->highest[lowest]) return 0;
    if (spend(s, r->count * 4)) return 1;
    settle(s, lowest, best);
  }
  return 1;
}

/* Raise what does not rest until a neighbour can carry it; 0 when there is no room left for one. A few passes are
   enough nearly always; two buffers beside a very large one could go on raising each other for ever. */
static int raise_uncarried(search *s, const region *r) {
  for (int pass = 0; pass < PATIENT_PASSES && !spend(s, r->count * 4); pass++) {
    const change_of outcome = raise_once(s, r);
    if (outcome != RAISED) return outcome == STILL;
  }
  return settle_all(s, r);
}

/* Nonzero when i stands before j in a region's sorted list. */
static int stands_before(const search *s, int i, int j) {
  return s->lowest[i] != s->lowest[j] ? s->lowest[i] > s->lowest[j] : s->rank[i] > s->rank[j];
}

static void sort_region(const search *s, const region *r) {
  for (int k = 1; k < r->sorted_count; k++) {
    const int moving = r->sorted[k];
    int to = k;
    for (; to > 0 && stands_before(s, moving, r->sorted[to - 1]); to--) r->sorted[to] = r->sorted[to - 1];
    r->sorted[to] = moving;
  }
}

static void blame_sections(search *s, int from, int to, unit room) {
  for (int q = from; q < to; q++) s->section_blame[q] += s->load[q] > room;
}

/* Fill load and floor of the region's sections; 0 when a section cannot be within the capacity. */
FAST static int sections_fit(search *s, const region *r) {
  unit *restrict load = s->load, *restrict floor = s->floor;
  memset(load + r->low, 0, sizeof *load * (size_t)(r->high - r->low));
  for (int k = 0; k < r->sorted_count; k++) {
    const int i = r->sorted[k];
    const unit lowest = s->lowest[i], size = s->size[i], room = s->capacity - lowest;
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
FAST static void find_least_ends(search *s, const region *r) {
  unit *restrict least_end = s->least_end;
  const unit *restrict load = s->load;
  for (int q = r->low; q < r->high; q++) least_end[q] = UNIT_MAX;
  for (int k = r->sorted_count - 1; k >= 0; k--) {
    const int i = r->sorted[k];
    const unit over = s->lowest[i] - s->capacity, end = s->lowest[i] + s->size[i];
    const int from = s->p->low[i] > r->low ? s->p->low[i] : r->low;
    const int to = s->p->high[i] < r->high ? s->p->high[i] : r->high;
    for (int q = from; q < to; q++) {
      const unit value = over + load[q] <= 0 ? end : UNIT_MAX;
      least_end[q] = value < least_end[q] ? value : least_end[q];
    }
  }
}

/* How low a buffer can be if it is not the first in the sections where it cannot be. */
FAST static unit not_first(const search *s, int i) {
  const unit *restrict least_end = s->least_end, *restrict load = s->load;
  const unit over = s->lowest[i] - s->capacity;
  unit best = 0;
  for (int q = s->p->low[i]; q < s->p->high[i]; q++) {
    const unit value = over + load[q] > 0 ? least_end[q] : 0;
    best = value > best ? value : best;
  }
  return best;
}

static int raise_not_first(search *s, const region *r) {
  int raised = 0;
  find_least_ends(s, r);
  for (int k = 0; k < r->count; k++) {
    const unit at = not_first(s, r->member[k]);
    if (at <= s->lowest[r->member[k]] || at == UNIT_MAX) continue;
    raise_to(s, r->member[k], at);
    raised = 1;
  }
  return raised;
}

/* What carries whom, and whether the sections fit; 0 when the region has no plan. */
static int settle_region(search *s, const region *r) {
  if (!raise_uncarried(s, r)) return 0;
  if (spend(s, (int64_t)r->sorted_count * (r->high - r->low + 8))) return 1;
  sort_region(s, r);
  return sections_fit(s, r);
}

/* All deductions, nearly always to their end; 0 when the region has no plan. */
static int deduce(search *s, const region *r) {
  for (int round = 0; round < MOST_ROUNDS; round++) {
    if (!settle_region(s, r)) return 0;
    if (s->stopped || !raise_not_first(s, r)) return 1;
  }
  return settle_region(s, r);
}

/* ---- what failed before */

static key state_of(const search *s, const region *r) {
  key state = {0, 0};
  for (int k = 0; k < r->count; k++) {
    const int i = r->member[k];
    const uint64_t x = exact_mix(exact_mix((uint64_t)s->lowest[i] * 2 + s->rests[i] + 1) ^ ((uint64_t)i << 40));
    state.a += x;
    state.b += exact_mix(x ^ UINT64_C(0x9e3779b97f4a7c15));
  }
  return state;
}

static failure *memo_slot(const search *s, key state) {
  return &s->memo[state.a >> (64 - MEMO_BITS)];
}

static int known_to_fail(const search *s, key state) {
  const failure *f = memo_slot(s, state);
  return f->state.a == state.a && f->state.b == state.b && f->capacity >= s->task->capacity;
}

static void push_key(search *s, key state) {
  if (grow(s, (void **)&s->keys, &s->key_room, s->key_count, sizeof *s->keys)) s->keys[s->key_count++] = state;
}

static void remember_failures(search *s, size_t from) {
  for (size_t k = from; k < s->key_count && !s->stopped; k++)
    *memo_slot(s, s->keys[k]) = (failure){s->keys[k], s->task->capacity};
}

/* ---- choosing */

/* The section to work on. */
static int pick_section(const search *s, const region *r) {
  int best = -1;
  unit best_first = 0, best_load = 0;
  for (int q = r->low; q < r->high; q++) {
    if (s->load[q] == 0) continue;
    const unit first = s->task->pick == PICK_LOWEST_FLOOR ? s->floor[q] : s->capacity - s->floor[q] - s->load[q];
    if (best >= 0 && (first > best_first || (first == best_first && s->load[q] <= best_load))) continue;
    best = q;
    best_first = first;
    best_load = s->load[q];
  }
  return best;
}

static int pick_blamed_section(const search *s, const region *r) {
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

static int lowest_in(const search *s, const region *r, int section) {
  for (int k = r->sorted_count - 1; k >= 0; k--) {
    const int i = r->sorted[k];
    if (s->p->fixed[i] == EXACT_FREE && (section < 0 || (s->p->low[i] <= section && section < s->p->high[i]))) return i;
  }
  return -1;
}

/* Of the buffers that can be lowest in the section, the one that leaves least room below it in all of its sections,
   where others could be lower. */
static int snuggest_in(const search *s, const region *r, int section) {
  int best = -1;
  double best_waste = 0;
  for (int k = r->sorted_count - 1; k >= 0; k--) {
    const int i = r->sorted[k];
    if (s->p->fixed[i] != EXACT_FREE || section < s->p->low[i] || s->p->high[i] <= section) continue;
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
static int fits_below(const search *s, int i) {
  const problem *p = s->p;
  int best = -1;
  for (int q = p->first_near[i]; q < p->first_near[i + 1]; q++) {
    const int j = p->near[q];
    if (s->placed[j] || s->lowest[j] + s->size[j] > s->lowest[i]) continue;
    if (best < 0 || stands_before(s, best, j)) best = j;
  }
  return best;
}

static int choose(const search *s, const region *r) {
  int chosen = -1;
  if (s->task->pick == PICK_SNUGGEST)
    chosen = snuggest_in(s, r, pick_section(s, r));
  else if (s->task->pick == PICK_BLAMED)
    chosen = snuggest_in(s, r, pick_blamed_section(s, r));
  else if (s->task->pick != PICK_LOWEST)
    chosen = lowest_in(s, r, pick_section(s, r));
  if (chosen < 0) chosen = lowest_in(s, r, -1);
  for (int below = chosen; below >= 0; below = fits_below(s, chosen)) chosen = below;
  return chosen;
}

/* ---- the tree */

static int solve_region(search *s, const region *r);

/* Lift the unplaced neighbours of i, placed now, onto it; returns whether any had to rise. */
static int push_neighbours(search *s, int i) {
  const problem *p = s->p;
  const unit end = s->lowest[i] + s->size[i];
  int raised = 0;
  for (int q = p->first_near[i]; q < p->first_near[i + 1]; q++) {
    const int j = p->near[q];
    if (s->placed[j]) continue;
    const unit at = align_to(end, s->align[j]);
    if (s->lowest[j] > at || (s->lowest[j] == at && s->rests[j])) continue;
    raised |= s->lowest[j] < at;
    uint8_t rests = 1;
    const unit clear = clear_of_fixed(s, j, at, &rests);
    set(s, j, clear, 1, 0);
  }
  return raised;
}

/* Solve what of r lies in its members [from, to), which no other member of r meets. */
static int solve_part(search *s, const region *r, const int *members, int from, int to, int without) {
  region part = {(int *)members + from, to - from, s->stack + s->stack_length, 0, s->p->low[members[from]], 0};
  for (int k = from; k < to; k++)
    if (s->p->high[members[k]] > part.high) part.high = s->p->high[members[k]];
  for (int k = 0; k < r->sorted_count; k++) {
    const int i = r->sorted[k];
    if (i != without && s->p->low[i] < part.high && part.low < s->p->high[i]) part.sorted[part.sorted_count++] = i;
  }
  s->stack_length += (size_t)part.sorted_count;
  const int verdict = solve_region(s, &part);
  s->stack_length -= (size_t)part.sorted_count;
  return verdict;
}

/* The part that follows `last` by size, then by time: small parts fail (or are done) sooner. */
static int next_part(const int *begins, int parts, int last) {
  int best = -1;
  for (int k = 0; k < parts; k++) {
    const int size = begins[k + 1] - begins[k];
    if (last >= 0 && (size < begins[last + 1] - begins[last] || (size == begins[last + 1] - begins[last] && k <= last)))
      continue;
    if (best < 0 || size < begins[best + 1] - begins[best]) best = k;
  }
  return best;
}

/* Solve what is left of r when buffer `without` is placed: each part of the time on its own. */
static int solve_without(search *s, const region *r, int without) {
  const size_t mark = s->stack_length;
  int *members = s->stack + mark, *begins = members + r->count, count = 0, parts = 0, reach = -1;
  for (int k = 0; k < r->count; k++) {
    const int i = r->member[k];
    if (i == without) continue;
    if (s->p->low[i] >= reach) begins[parts++] = count;
    if (s->p->high[i] > reach) reach = s->p->high[i];
    members[count++] = i;
  }
  begins[parts] = count;
  s->stack_length += (size_t)(r->count + parts + 1);
  int verdict = SEARCH_FOUND;
  for (int k = next_part(begins, parts, -1); k >= 0 && verdict == SEARCH_FOUND; k = next_part(begins, parts, k))
    verdict = solve_part(s, r, members, begins[k], begins[k + 1], without);
  s->stack_length = mark;
  return verdict;
}

/* Place buffer i where it can lie lowest; *harmless says that this raised nobody. */
static int solve_with(search *s, const region *r, int i, int *harmless) {
  const size_t mark = s->trail_length;
  set(s, i, s->lowest[i], s->rests[i], 1);
  *harmless = !push_neighbours(s, i);
  const int verdict = solve_without(s, r, i);
  if (verdict != SEARCH_FOUND) undo(s, mark);
  return verdict;
}

/* The other half of the plans: buffer i is higher. 0 when it cannot be. */
static int lift(search *s, int i) {
  const unit at = carried(s, i);
  if (at > s->highest[i]) return 0;
  raise_to(s, i, at);
  return 1;
}

static int out_of_budget(search *s) {
  if (++s->nodes > s->task->node_limit) return 1;
  if (s->nodes % POLL_EVERY == 0 && s->task->poll(s->task->context, s->nodes)) s->stopped = 1;
  return s->stopped;
}

static int solve_region(search *s, const region *r) {
  const size_t mark = s->trail_length, first_key = s->key_count;
  int verdict = SEARCH_FAILED, chosen = -1;
  if (out_of_budget(s)) return SEARCH_STOPPED;
  while (deduce(s, r)) {
    const key state = state_of(s, r);
    if (r->count >= MEMO_LEAST && known_to_fail(s, state)) break;
    push_key(s, state);
    int harmless;
    chosen = choose(s, r);
    verdict = solve_with(s, r, chosen, &harmless);
    if (verdict != SEARCH_FAILED || harmless || !lift(s, chosen)) break;
  }
  if (s->stopped) verdict = SEARCH_STOPPED;
  if (verdict == SEARCH_FAILED) {
    if (chosen >= 0) s->blame[chosen]++;
    remember_failures(s, first_key);
  }
  s->key_count = first_key;
  if (verdict != SEARCH_FOUND) undo(s, mark);
  return verdict;
}

/* ---- the way in */

void NAME(search_free)(search *s) {
  if (s == NULL) return;
  void *owned[] = {s->blame, s->section_blame, s->support, s->settled, s->size,  s->align, s->lowest,    s->highest, s->rests, s->placed, s->rank,
                   s->load,  s->floor, s->least_end, s->trail,   s->keys,  s->memo,   s->stack};
  for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) free(owned[k]);
  free(s);
}

search *NAME(search_new)(const problem *p) {
  search *s = calloc(1, sizeof *s);
  if (s == NULL) return NULL;
  const size_t n = (size_t)p->count + 1, sections = (size_t)p->section_count + 1;
  unit **per_buffer[] = {&s->size, &s->align, &s->lowest, &s->highest, &s->support};
  unit **per_section[] = {&s->load, &s->floor, &s->least_end};
  int good = 1;
  for (size_t k = 0; k < 5; k++) good &= (*per_buffer[k] = calloc(n, sizeof(unit))) != NULL;
  for (size_t k = 0; k < 3; k++) good &= (*per_section[k] = calloc(sections, sizeof(unit))) != NULL;
  good &= (s->rests = calloc(n, 1)) != NULL && (s->placed = calloc(n, 1)) != NULL;
  good &= (s->settled = calloc(n, 1)) != NULL;
  good &= (s->blame = calloc(n, sizeof *s->blame)) != NULL;
  good &= (s->section_blame = calloc(sections, sizeof *s->section_blame)) != NULL;
  good &= (s->rank = calloc(n, sizeof(int))) != NULL;
  good &= (s->memo = calloc((size_t)1 << MEMO_BITS, sizeof *s->memo)) != NULL;
  good &= (s->stack = malloc(sizeof(int) * (3 * n + 2) * (n + 1))) != NULL;
  if (!good) {
    NAME(search_free)(s);
    return NULL;
  }
  s->p = p;
  for (int i = 0; i < p->count; i++) {
    s->size[i] = (unit)p->size[i];
    s->align[i] = (unit)p->align[i];
  }
  return s;
}

/* Put every buffer where the ground or a fixed one carries it, and say how high its offset may be. */
static void begin(search *s, int64_t capacity) {
  const problem *p = s->p;
  s->capacity = 0;
  for (int i = 0; i < p->count; i++) {
    const int64_t room = capacity - p->bytes[i];
    const int64_t highest = room < 0 ? -1 : room / p->unit < p->total ? room / p->unit : p->total;
    s->highest[i] = (unit)highest;
    if (highest + p->size[i] > s->capacity) s->capacity = (unit)(highest + p->size[i]);
    s->placed[i] = p->fixed[i] != EXACT_FREE;
    s->rests[i] = 1;
    s->lowest[i] = p->fixed[i] != EXACT_FREE ? (unit)p->fixed[i] : clear_of_fixed(s, i, 0, &s->rests[i]);
  }
  s->trail_length = s->key_count = s->stack_length = 0;
  s->nodes = s->effort = 0;
  s->stopped = 0;
}

/* Rank by blame; the given order among equals. */
static void rank_by_blame(search *s, int *sorted) {
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

int NAME(search_run)(search *s, search_task *task, int64_t *units) {
  const problem *p = s->p;
  region all = {s->stack, 0, s->stack + p->count, 0, 0, p->section_count};
  s->task = task;
  begin(s, task->capacity);
  for (int k = 0; k < p->count; k++) s->rank[task->order[k]] = k;
  if (task->by_blame) rank_by_blame(s, s->stack);
  for (int k = p->count - 1; k >= 0; k--) all.sorted[all.sorted_count++] = task->order[k];
  for (int i = 0; i < p->count; i++)
    if (p->fixed[i] == EXACT_FREE) all.member[all.count++] = i;
  for (int k = 1; k < all.count; k++) { /* by first section */
    const int moving = all.member[k];
    int to = k;
    for (; to > 0 && p->low[all.member[to - 1]] > p->low[moving]; to--) all.member[to] = all.member[to - 1];
    all.member[to] = moving;
  }
  s->stack_length = (size_t)p->count * 2;
  const int verdict = solve_without(s, &all, -1);
  task->nodes = s->nodes;
  for (int i = 0; i < p->count && verdict == SEARCH_FOUND; i++) units[i] = s->lowest[i];
  return verdict;
}
