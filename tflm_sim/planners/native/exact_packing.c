/* Perfect packings. Where every section is full, a plan has no gap, and that says much:

   - Where only one buffer ends and only one begins, the second takes the place of the first: one block. The same holds
     for one that makes room for several of one lifetime, and for several of one lifetime that make room for one.
   - What is placed from below forms a skyline. At the bottom of a pit, between two walls, the corner must be filled by a
     block that begins at the left wall (or ends at the right one) and does not reach into the other wall:

         wall |        | wall       The corner with the fewest such blocks is decided first; with none, something
              |?      ?|            placed before is wrong.
              +--------+
   - What is wrong are those that made the corner (the floor, the walls) and those that took the blocks which could fill
     it. The search jumps back to the last of these (conflict-directed backjumping).

   A wrong first row is hardly ever noticed soon, so runs are short, with random orders; every eighth is longer. */
#include "exact_packing.h"

#include <stdlib.h>
#include <string.h>

enum { POLL_EVERY = 1024 };

/* One or several buffers that move together; sections [low, high). */
typedef struct {
  int64_t size, at;
  double liking; /* random: which of several is tried first */
  int low, high;
  int twin;  /* the previous block with the same sections and size, or -1 */
  int level; /* the frame that placed it, or -1 */
} block;

/* A corner, and what was tried there: blocks in descending order of their score. */
typedef struct {
  int64_t floor;
  double last_score;
  int left, right, at_right, last; /* the pit's sections; the corner's side; the block that stands there, or -1 */
} frame;

struct packing {
  const problem *p;
  int count, section_count, words;
  int64_t capacity;
  block *blocks;
  int *block_of;         /* by buffer */
  int64_t *above;        /* by buffer: its offset in its block */
  int *first_start, *starting; /* blocks by the section where they begin: starting[first_start[t]] ... */
  int *first_end, *ending;
  int64_t *height;       /* the skyline */
  frame *frames;
  uint64_t *conflicts;   /* by frame: the levels that are to blame, as bits */
  int by_height;         /* which of two corners with equally many blocks comes first */
};

/* ---- blocks */

int packing_applies(const problem *p) {
  int64_t *sum = calloc((size_t)p->section_count + 1, sizeof *sum);
  int full = sum != NULL && p->count > 0 && p->least_peak == 0;
  for (int i = 0; i < p->count && full; i++) {
    full = p->fixed[i] == EXACT_FREE && p->align[i] == 1 && p->bytes[i] == p->size[i] * p->unit;
    for (int q = p->low[i]; q < p->high[i]; q++) sum[q] += p->size[i];
  }
  for (int q = 0; q < p->section_count && full; q++) full = sum[q] * p->unit == p->bound;
  free(sum);
  return full;
}

/* What meets at the beginning of a section. */
typedef struct {
  int ends, begins, some_end, some_begin; /* counts; one block of each */
  int64_t end_size, begin_size;
  int end_alike, begin_alike; /* whether all that end began together; all that begin end together */
} meeting;

static meeting meet_at(const packing *k, int t) {
  meeting m = {0, 0, -1, -1, 0, 0, 1, 1};
  for (int i = 0; i < k->count; i++) {
    const block *b = &k->blocks[i];
    if (b->high == t) {
      m.end_alike &= m.some_end < 0 || k->blocks[m.some_end].low == b->low;
      m.some_end = i;
      m.end_size += b->size;
      m.ends++;
    } else if (b->low == t) {
      m.begin_alike &= m.some_begin < 0 || k->blocks[m.some_begin].high == b->high;
      m.some_begin = i;
      m.begin_size += b->size;
      m.begins++;
    }
  }
  return m;
}

/* Make one block of all that end and all that begin at t; each kind lies in a pile of its own. */
static void join(packing *k, int t) {
  block joined = {0, 0, 0, k->section_count, 0, -1, -1};
  int64_t piles[2] = {0, 0};
  int kept = 0, *renamed = k->first_start; /* not in use yet; a block never outnumbers the buffers */
  const int target = k->count;
  for (int i = 0; i < k->count; i++) {
    block *b = &k->blocks[i];
    if (b->high != t && b->low != t) {
      b->at = 0;
      renamed[i] = kept;
      k->blocks[kept++] = *b;
      continue;
    }
    const int64_t pile = piles[b->low == t];
    piles[b->low == t] += b->size;
    if (b->low < joined.low) joined.low = b->low;
    if (b->high > joined.high) joined.high = b->high;
    for (int j = 0; j < k->p->count; j++)
      if (k->block_of[j] == i) k->above[j] += pile;
    renamed[i] = target;
  }
  joined.size = piles[0];
  for (int j = 0; j < k->p->count; j++) {
    const int now = renamed[k->block_of[j]];
    k->block_of[j] = now == target ? kept : now;
  }
  k->blocks[kept++] = joined;
  k->count = kept;
}

static void join_all(packing *k) {
  for (int joined = 1; joined;) {
    joined = 0;
    for (int t = 1; t < k->section_count; t++) {
      const meeting m = meet_at(k, t);
      if (m.ends == 0 || m.begins == 0 || m.end_size != m.begin_size) continue;
      if (!(m.ends == 1 && m.begin_alike) && !(m.begins == 1 && m.end_alike)) continue;
      join(k, t);
      joined = 1;
    }
  }
}

static int compare_blocks(const void *a, const void *b) {
  const block *x = a, *y = b;
  if (x->low != y->low) return x->low - y->low;
  if (x->high != y->high) return x->high - y->high;
  return (x->size > y->size) - (x->size < y->size);
}

/* Sort the blocks, so that equal ones are neighbours; at serves as the old name meanwhile. */
static void sort_blocks(packing *k) {
  int *renamed = k->first_start;
  for (int i = 0; i < k->count; i++) k->blocks[i].at = i;
  qsort(k->blocks, (size_t)k->count, sizeof *k->blocks, compare_blocks);
  for (int i = 0; i < k->count; i++) {
    renamed[k->blocks[i].at] = i;
    k->blocks[i].twin = i > 0 && compare_blocks(&k->blocks[i - 1], &k->blocks[i]) == 0 ? i - 1 : -1;
  }
  for (int j = 0; j < k->p->count; j++) k->block_of[j] = renamed[k->block_of[j]];
}

static void list_blocks(packing *k) {
  int started = 0, ended = 0;
  for (int t = 0; t <= k->section_count; t++) {
    k->first_start[t] = started;
    k->first_end[t] = ended;
    for (int i = 0; i < k->count; i++) {
      if (k->blocks[i].low == t) k->starting[started++] = i;
      if (k->blocks[i].high == t) k->ending[ended++] = i;
    }
  }
  k->first_start[k->section_count + 1] = started;
  k->first_end[k->section_count + 1] = ended;
}

void packing_free(packing *k) {
  if (k == NULL) return;
  void *owned[] = {k->blocks,    k->block_of, k->above,  k->first_start, k->starting,
                   k->first_end, k->ending,   k->height, k->frames,      k->conflicts};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  free(k);
}

packing *packing_new(const problem *p) {
  packing *k = calloc(1, sizeof *k);
  if (k == NULL) return NULL;
  const size_t n = (size_t)p->count + 2, sections = (size_t)p->section_count + 2;
  k->p = p;
  k->count = p->count;
  k->section_count = p->section_count;
  k->capacity = p->bound / p->unit;
  k->words = (p->count + 63) / 64;
  int good = (k->blocks = calloc(n, sizeof *k->blocks)) != NULL;
  good &= (k->block_of = calloc(n, sizeof(int))) != NULL && (k->above = calloc(n, sizeof(int64_t))) != NULL;
  good &= (k->first_start = calloc(n + sections, sizeof(int))) != NULL;
  good &= (k->first_end = calloc(sections, sizeof(int))) != NULL;
  good &= (k->starting = calloc(n, sizeof(int))) != NULL && (k->ending = calloc(n, sizeof(int))) != NULL;
  good &= (k->height = calloc(sections, sizeof(int64_t))) != NULL;
  good &= (k->frames = calloc(n, sizeof *k->frames)) != NULL;
  good &= (k->conflicts = calloc(n * (size_t)k->words, sizeof(uint64_t))) != NULL;
  if (!good) {
    packing_free(k);
    return NULL;
  }
  for (int i = 0; i < p->count; i++) {
    k->block_of[i] = i;
    k->blocks[i] = (block){p->size[i], 0, 0, p->low[i], p->high[i], -1, -1};
  }
  join_all(k);
  sort_blocks(k);
  list_blocks(k);
  return k;
}

/* ---- conflicts */

static uint64_t *conflict(const packing *k, int depth) { return k->conflicts + (size_t)depth * (size_t)k->words; }

static void accuse(packing *k, int depth, int i) {
  if (i >= 0) conflict(k, depth)[k->blocks[i].level / 64] |= UINT64_C(1) << (k->blocks[i].level % 64);
}

/* Nonzero when the level is to blame; it is taken out. */
static int acquit(packing *k, int depth, int level) {
  uint64_t *word = &conflict(k, depth)[level / 64];
  const uint64_t bit = UINT64_C(1) << (level % 64);
  const int is_to_blame = (*word & bit) != 0;
  *word &= ~bit;
  return is_to_blame;
}

/* ---- corners */

static int fits(const packing *k, int i, int left, int right) {
  const block *b = &k->blocks[i];
  return b->level < 0 && b->low >= left && b->high <= right && (b->twin < 0 || k->blocks[b->twin].level >= 0);
}

/* The list of the blocks that could stand in a corner. */
static const int *corner_list(const packing *k, int left, int right, int at_right, int *count) {
  const int *first = at_right ? k->first_end : k->first_start, t = at_right ? right : left;
  *count = first[t + 1] - first[t];
  return (at_right ? k->ending : k->starting) + first[t];
}

static int count_fitting(const packing *k, int left, int right, int at_right) {
  int length, found = 0;
  const int *list = corner_list(k, left, right, at_right, &length);
  for (int q = 0; q < length; q++) found += fits(k, list[q], left, right);
  return found;
}

/* Choose the corner with the fewest blocks; returns how many they are. */
static int choose_corner(const packing *k, frame *f) {
  int fewest = -1;
  for (int left = 0, right; left < k->section_count; left = right) {
    const int64_t floor = k->height[left];
    for (right = left + 1; right < k->section_count && k->height[right] == floor;) right++;
    if (floor >= k->capacity || (left > 0 && k->height[left - 1] < floor) ||
        (right < k->section_count && k->height[right] < floor))
      continue;
    for (int at_right = 0; at_right < 2; at_right++) {
      const int found = count_fitting(k, left, right, at_right);
      const int is_first = k->by_height ? floor < f->floor : right - left < f->right - f->left;
      if (fewest >= 0 && (found > fewest || (found == fewest && !is_first))) continue;
      fewest = found;
      *f = (frame){floor, 0, left, right, at_right, -1};
      if (found == 0) return 0;
    }
  }
  return fewest;
}

/* What is placed at this section and height, or -1. */
static int placed_at(const packing *k, int depth, int section, int64_t height) {
  for (int d = depth - 1; d >= 0; d--) {
    const block *b = &k->blocks[k->frames[d].last];
    if (b->low <= section && section < b->high && b->at <= height && height < b->at + b->size) return k->frames[d].last;
  }
  return -1;
}

/* Blame a frame's failure on what made its corner and on what took the blocks for it. */
static void accuse_corner(packing *k, int depth) {
  const frame *f = &k->frames[depth];
  int length;
  const int *list = corner_list(k, f->left, f->right, f->at_right, &length);
  memset(conflict(k, depth), 0, sizeof(uint64_t) * (size_t)k->words);
  if (f->floor > 0) accuse(k, depth, placed_at(k, depth, f->at_right ? f->right - 1 : f->left, f->floor - 1));
  if (f->left > 0) accuse(k, depth, placed_at(k, depth, f->left - 1, f->floor));
  if (f->right < k->section_count) accuse(k, depth, placed_at(k, depth, f->right, f->floor));
  for (int q = 0; q < length; q++)
    if (k->blocks[list[q]].level >= 0) accuse(k, depth, list[q]);
}

/* Blocks that end flush with a wall, or fill the pit's width, are likely. */
static double score(const packing *k, const frame *f, int i) {
  const block *b = &k->blocks[i];
  const int64_t left_wall = f->left > 0 ? k->height[f->left - 1] - f->floor : -1;
  const int64_t right_wall = f->right < k->section_count ? k->height[f->right] - f->floor : -1;
  double likely = b->liking;
  if (b->high - b->low == f->right - f->left) likely += 2;
  if (b->size == (f->at_right ? right_wall : left_wall)) likely += 4;
  if (b->high == f->right && b->size == right_wall) likely += 2;
  if (b->low == f->left && b->size == left_wall) likely += 2;
  return likely;
}

/* The next block for the corner, or -1. */
static int next_block(const packing *k, const frame *f) {
  int length, best = -1;
  double best_score = 0;
  const int *list = corner_list(k, f->left, f->right, f->at_right, &length);
  for (int q = 0; q < length; q++) {
    const int i = list[q];
    if (!fits(k, i, f->left, f->right)) continue;
    const double likely = score(k, f, i);
    if (f->last >= 0 && (likely > f->last_score || (likely == f->last_score && i <= f->last))) continue;
    if (best >= 0 && likely <= best_score) continue;
    best = i;
    best_score = likely;
  }
  return best;
}

/* ---- the tree */

static void put(packing *k, int depth, int i, int sign) {
  block *b = &k->blocks[i];
  b->level = sign > 0 ? depth : -1;
  b->at = k->frames[depth].floor;
  for (int q = b->low; q < b->high; q++) k->height[q] += sign * b->size;
}

/* Place the next block of this frame; 0 when there is none. */
static int advance(packing *k, int depth) {
  frame *f = &k->frames[depth];
  const int i = next_block(k, f);
  if (i < 0) return 0;
  f->last_score = score(k, f, i);
  f->last = i;
  put(k, depth, i, 1);
  return 1;
}

/* Go back to the last frame that is to blame for the failure at `depth`; -1 when none is. */
static int jump_back(packing *k, int depth) {
  for (int d = depth - 1; d >= 0; d--) {
    put(k, d, k->frames[d].last, -1);
    if (!acquit(k, depth, d)) continue;
    for (int w = 0; w < k->words; w++) conflict(k, d)[w] |= conflict(k, depth)[w];
    return d;
  }
  return -1;
}

static void begin_run(packing *k, uint64_t seed) {
  uint64_t state = exact_mix(seed + UINT64_C(0x9e3779b97f4a7c15));
  const double spread = seed == 0 ? 0.1 : 3.0;
  memset(k->height, 0, sizeof *k->height * (size_t)k->section_count);
  for (int i = 0; i < k->count; i++) {
    state += UINT64_C(0x9e3779b97f4a7c15);
    k->blocks[i].level = -1;
    k->blocks[i].liking = spread * (double)(exact_mix(state) >> 11) / 9007199254740992.0;
  }
  k->by_height = (int)(seed & 1);
}

static int descend(packing *k, packing_task *task) {
  int depth = 0;
  for (;;) {
    if (depth == k->count) return SEARCH_FOUND;
    if (++task->nodes > task->node_limit) return SEARCH_STOPPED;
    if (task->nodes % POLL_EVERY == 0 && task->poll(task->context, task->nodes)) return SEARCH_STOPPED;
    choose_corner(k, &k->frames[depth]);
    accuse_corner(k, depth);
    while (!advance(k, depth)) {
      depth = jump_back(k, depth);
      if (depth < 0) return SEARCH_FAILED;
    }
    depth++;
  }
}

int packing_run(packing *k, packing_task *task, int64_t *units) {
  task->nodes = 0;
  begin_run(k, task->seed);
  const int verdict = descend(k, task);
  for (int i = 0; i < k->p->count && verdict == SEARCH_FOUND; i++)
    units[i] = k->blocks[k->block_of[i]].at + k->above[i];
  return verdict;
}
