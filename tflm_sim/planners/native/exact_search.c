/* Branch and bound over canonical plans. Compiled twice: as it is, and with 64-bit units by exact_search_wide.c.
 *
 * A plan is *canonical* when nothing in it can be pushed down: every buffer rests on the ground, on a fixed buffer or
 * on another buffer. A problem that has a plan has a canonical one: take the plan with the least sum of offsets.
 *
 * Every buffer not placed yet has `lowest`, an offset it cannot be below, and `rests`: whether something already there
 * would carry it at exactly that offset. A node takes a buffer c that rests and under which no neighbour fits any
 * more, and splits the plans in two: c lies exactly at `lowest`, or c lies higher. In the second case some neighbour
 * that is still to be placed must carry c, so `lowest` rises to the least end that such a neighbour can have.
 *
 *      |      +---+                  c can rest at 4, k at 2. "c higher" means that k (or something on k)
 *      |   +--+ c |                  carries c: c is at least at 2 + size of k.
 *    4 |   |  +---+---+
 *    2 |   |  placed  | k?           Each canonical plan is reached by one path; no order of placing is tried twice.
 *
 * Deductions, each sound for every canonical plan below the node:
 * - a buffer that does not rest is at least at the least end of a neighbour (carried);
 * - section bound: the buffers of a section that lie at t or above need t + their sizes <= capacity;
 * - not-first: where a buffer as the lowest of the rest of its section would push the section over the capacity,
 *   another one is below it;
 * - twins (same lifetime, size and alignment) are placed in order;
 * - a buffer that can be placed without raising any other is placed: in a plan with the least sum of offsets it lies
 *   there;
 * - time falls apart where no unplaced buffer crosses: the parts are solved one by one;
 * - a part (its buffers with `lowest` and `rests`) that failed once, fails again at the same or a lower capacity. Such
 *   parts are known by 128 bits of hash.
 */
#include "exact_search_choose.h"
#include "exact_search_deduce.h"
#include "exact_search_state.h"

enum { ASK_EVERY = 256 };

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
  limits_t *limits = &s->task->limits;
  if (++limits->nodes > limits->node_limit) return 1;
  if (limits->nodes % ASK_EVERY == 0 && exact_ask(limits)) s->stopped = 1;
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
  if (verdict == SEARCH_FAILED) remember_failures(s, f->first_key);
  s->key_count = f->first_key;
  undo(s, f->trail_mark, f[-1].place_mark);
  return verdict;
}

/* Solve the parts of what is left in the last frame's region, one by one; each is a frame more. The first frame stands
 * for the whole, with nothing placed.
 */
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
  free(s->block);
  free(s->trail);
  free(s->keys);
  free(s);
}

static void lay_out(void *object, tflm_workspace_t *workspace) {
  search_t *s = object;
  const size_t n = (size_t)s->p->count, sections = (size_t)s->p->section_count;
  unit_t **const per_buffer[] = {&s->size, &s->align, &s->lowest, &s->highest, &s->support};
  unit_t **const per_section[] = {&s->load, &s->floor, &s->least_end};
  int **const lists[] = {&s->rank, &s->members, &s->ordered, &s->fixed};
  uint8_t **const flags[] = {&s->rests, &s->placed, &s->settled};
  for (size_t k = 0; k < sizeof per_buffer / sizeof *per_buffer; k++)
    *per_buffer[k] = tflm_carve(workspace, n, sizeof(unit_t));
  for (size_t k = 0; k < sizeof per_section / sizeof *per_section; k++)
    *per_section[k] = tflm_carve(workspace, sections, sizeof(unit_t));
  for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) *lists[k] = tflm_carve(workspace, n, sizeof(int));
  for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) *flags[k] = tflm_carve(workspace, n, 1);
  s->saved = tflm_carve(workspace, n, sizeof *s->saved);
  s->scratch = tflm_carve(workspace, 3 * n, sizeof *s->scratch);
  s->tops = tflm_carve(workspace, (size_t)1 << STACKED_IN_NODES, sizeof *s->tops);
  s->frames = tflm_carve(workspace, n + 2, sizeof *s->frames);
  s->memo = tflm_carve(workspace, (size_t)1 << MEMO_BITS, sizeof *s->memo);
}

search_t *NAME(search_new)(const problem_t *p) {
  search_t *s = calloc(1, sizeof *s);
  if (s == NULL) return NULL;
  s->p = p;
  s->block = tflm_exact_block_new(s, lay_out);
  if (s->block == NULL) {
    NAME(search_free)(s);
    return NULL;
  }
  for (int i = 0; i < p->count; i++) {
    s->size[i] = (unit_t)p->size[i];
    s->align[i] = (unit_t)p->align[i];
  }
  for (int q = p->fixed_count - 1; q >= 0; q--) s->fixed[s->fixed_count++] = p->fixed_by_offset[q];
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
  s->effort = s->task->limits.nodes = 0;
  s->stopped = 0;
}

int NAME(search_run)(search_t *s, search_task_t *task, int64_t *units) {
  const problem_t *p = s->p;
  int count = 0;
  s->task = task;
  begin(s, task->capacity);
  for (int k = 0; k < p->count; k++) s->rank[task->order[k]] = k;
  for (int k = 0; k < p->count; k++) {
    const int i = p->by_start[k];
    if (p->fixed[i] == TFLM_EXACT_FREE) s->members[count++] = i;
  }
  for (int k = p->count - 1, to = 0; k >= 0; k--)
    if (p->fixed[task->order[k]] == TFLM_EXACT_FREE) s->ordered[to++] = task->order[k];
  s->frames[0] = (frame_t){.r = {0, count, 0, p->section_count}, .chosen = -1};
  order_parts(s, 0, count);
  const int verdict = descend(s);
  for (int i = 0; i < p->count && verdict == SEARCH_FOUND; i++) units[i] = s->lowest[i];
  return verdict;
}
