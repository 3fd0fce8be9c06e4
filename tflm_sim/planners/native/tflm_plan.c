/* TFLM's greedy planner with work in proportion to the buffers that are alive together.
 *
 * Upstream keeps one list of everything placed, ordered by offset, and walks all of it for every buffer. Here the
 * placed buffers stand in an array ordered by first_time_used ("rank"), under a tree of the latest last_time_used:
 *
 *   rank            0   1   2   3   4   5         a buffer used from f to l meets exactly the placed ranks
 *   first_time_used 0   0   1   4   7   9           - below the first rank whose first_time_used is above l
 *   last_time_used  9   1   3   5   8   9           - whose last_time_used is not below f
 *   tree            `----- 9 ----'  `- 9 -'
 *
 * The ones it meets are collected, ordered by offset, and searched for the first gap: the same gap that the walk over
 * the whole list finds, because the walk skips the others and equal offsets commute.
 *
 * Where most buffers are alive together, or there are few, that is not worth while: then all placed buffers stand in
 * one list ordered by offset, as upstream's, in an array that a walk reads from end to end.
 *
 * The GPU delegate's GREEDY_BY_SIZE differs in two places only, the order among equal sizes and the choice of the gap.
 *
 * Source: tensorflow/lite/micro/memory_planner/greedy_memory_planner.cc @ 90b983c
 *         tflite/delegates/gpu/common/memory_management/greedy_by_size_assignment.cc @ LiteRT f67457790
 */
#include "tflm_plan.h"

#include "tflm_workspace.h"

#define FANOUT_LOG2 4u
#define FANOUT (1u << FANOUT_LOG2)
#define MAX_LEVELS 8u /* FANOUT^8 = 2^32 ranks */
#define RADIX 256u
#define INSERTION_SORT_LIMIT 32u
#define SPREAD_OUT_LIMIT 4096u
#define COUNT_LIMIT ((size_t)INT32_MAX)
#define FEW 96u              /* so few buffers are kept in one list whatever their lifetimes are */
#define LIST_SPEED 10u       /* walking over so many of the list takes as long as collecting and sorting one */
#define ASK_EVERY 64u        /* buffers */
#define NOT_PLACED INT32_MIN /* below every last_time_used: that is why a time must not be INT32_MIN */

/* The latest last_time_used among placed ranks. level[0][r] is rank r itself, level[k][i] the maximum over the ranks
 * i * FANOUT^k .. (i + 1) * FANOUT^k - 1. There are at least two levels; the top one has at most FANOUT entries.
 */
typedef struct tree {
  int32_t *level[MAX_LEVELS];
  uint32_t levels;
} tree_t;

/* Among equal sizes, which buffer is first; among gaps that are large enough, which is taken. */
typedef enum policy { LATEST_AND_FIRST_GAP, EARLIEST_AND_SMALLEST_GAP } policy_t;

/* Invariant: placed[r] is meaningful iff tree.level[0][r] != NOT_PLACED. */
typedef struct planner {
  const tflm_plan_buffer_t *buffers;
  policy_t policy;
  uint32_t count;
  uint64_t *keys;      /* [count] what is being sorted */
  uint64_t *spare;     /* [count] the other half of the radix sort */
  uint64_t *placed;    /* [count] by rank: offset and size of what is placed */
  uint32_t *order;     /* [count] the buffers in the order of placement */
  uint32_t *rank;      /* [count] by buffer */
  int32_t *first;      /* [count] first_time_used by rank, ascending */
  uint32_t *histogram; /* [RADIX] */
  tree_t tree;
  int has_list; /* then keys and spare are the list: offset and size; first_time_used and last_time_used */
  uint32_t list_length;
} planner_t;

/* Return value in an order-preserving unsigned form. */
static uint32_t bias(int32_t value) { return (uint32_t)value ^ 0x80000000u; }

static int32_t unbias(uint32_t value) {
  return value >= 0x80000000u ? (int32_t)(value - 0x80000000u) : (int32_t)value + INT32_MIN;
}

static uint64_t pack(uint32_t high, uint32_t low) { return (uint64_t)high << 32 | low; }

static uint32_t high_half(uint64_t key) { return (uint32_t)(key >> 32); }

static uint32_t low_half(uint64_t key) { return (uint32_t)key; }

/* ---- sorting ---- */

static void insertion_sort(uint64_t *keys, uint32_t count) {
  for (uint32_t i = 1; i < count; ++i) {
    const uint64_t key = keys[i];
    uint32_t j = i;
    for (; j > 0 && keys[j - 1] > key; --j) keys[j] = keys[j - 1];
    keys[j] = key;
  }
}

/* The byte of key - base at shift. */
static uint32_t digit(uint64_t key, uint64_t base, uint32_t shift) {
  return (uint32_t)((key - base) >> shift) & (RADIX - 1);
}

/* Fill histogram with how many keys have each digit; return the largest of these numbers. */
static uint32_t count_digits(const uint64_t *keys, uint32_t count, uint64_t base, uint32_t shift, uint32_t *histogram) {
  uint32_t largest = 0;
  for (uint32_t i = 0; i < RADIX; ++i) histogram[i] = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t here = ++histogram[digit(keys[i], base, shift)];
    largest = largest < here ? here : largest;
  }
  return largest;
}

/* Move from to to, ordered by digit, stable; histogram is what count_digits left there. */
static void scatter(const uint64_t *from, uint64_t *to, uint32_t count, uint64_t base, uint32_t shift,
                    uint32_t *histogram) {
  for (uint32_t i = 0, sum = 0; i < RADIX; ++i) {
    const uint32_t here = histogram[i];
    histogram[i] = sum;
    sum += here;
  }
  for (uint32_t i = 0; i < count; ++i) to[histogram[digit(from[i], base, shift)]++] = from[i];
}

/* One pass over the highest byte that differs, if that leaves few keys to each digit, and insertion for the rest.
 * Return 0, with to untouched, if it does not.
 */
static int sort_spread_out(const uint64_t *keys, uint64_t *to, uint32_t count, uint32_t *histogram) {
  uint64_t smallest = keys[0];
  uint64_t largest = keys[0];
  uint32_t shift = 0;
  for (uint32_t i = 1; i < count; ++i) {
    smallest = keys[i] < smallest ? keys[i] : smallest;
    largest = keys[i] > largest ? keys[i] : largest;
  }
  while ((largest - smallest) >> shift >= RADIX) ++shift;
  if (count_digits(keys, count, smallest, shift, histogram) > INSERTION_SORT_LIMIT) return 0;
  scatter(keys, to, count, smallest, shift, histogram);
  insertion_sort(to, count);
  return 1;
}

/* Return keys[count] sorted by the high half, in one of the two arrays. Equal high halves keep their order if the low
 * halves ascend, and come in any order otherwise.
 */
static uint64_t *sort(uint64_t *keys, uint64_t *spare, uint32_t count, uint32_t *histogram) {
  if (count <= INSERTION_SORT_LIMIT) {
    insertion_sort(keys, count);
    return keys;
  }
  if (count <= SPREAD_OUT_LIMIT && sort_spread_out(keys, spare, count, histogram)) return spare;
  for (uint32_t shift = 32; shift < 64; shift += 8) {
    if (count_digits(keys, count, 0, shift, histogram) < count) {
      uint64_t *sorted = spare;
      scatter(keys, sorted, count, 0, shift, histogram);
      spare = keys;
      keys = sorted;
    }
  }
  return keys;
}

/* ---- the tree ---- */

static uint32_t level_width(uint32_t count, uint32_t level) {
  const uint64_t span = (uint64_t)1 << (FANOUT_LOG2 * level);
  return (uint32_t)((count + span - 1) >> (FANOUT_LOG2 * level));
}

static uint32_t level_count(uint32_t count) {
  uint32_t levels = 2;
  while (level_width(count, levels - 1) > FANOUT) ++levels;
  return levels;
}

static void tree_insert(tree_t *tree, uint32_t rank, int32_t last_time_used) {
  for (uint32_t level = 0; level < tree->levels; ++level) {
    int32_t *latest = &tree->level[level][rank >> (FANOUT_LOG2 * level)];
    if (*latest < last_time_used) *latest = last_time_used;
  }
}

/* Return the first block of FANOUT ranks, from block on, that has a last_time_used which is not below time; end, a
 * number of blocks, when there is none.
 */
static uint32_t tree_next_block(const tree_t *tree, uint32_t block, uint32_t end, int32_t time) {
  uint32_t level = 1;
  while (block < end) {
    while (level + 1 < tree->levels && block % (1u << (FANOUT_LOG2 * level)) == 0) ++level;
    while (tree->level[level][block >> (FANOUT_LOG2 * (level - 1))] >= time) {
      if (level == 1) return block;
      --level;
    }
    block += 1u << (FANOUT_LOG2 * (level - 1));
  }
  return end;
}

/* ---- the workspace ---- */

static size_t lay_out(planner_t *planner, void *base, uint32_t count) {
  tflm_workspace_t workspace = {base, 0, 0};
  planner->keys = tflm_carve(&workspace, count, sizeof(uint64_t));
  planner->spare = tflm_carve(&workspace, count, sizeof(uint64_t));
  planner->placed = tflm_carve(&workspace, count, sizeof(uint64_t));
  planner->order = tflm_carve(&workspace, count, sizeof(uint32_t));
  planner->rank = tflm_carve(&workspace, count, sizeof(uint32_t));
  planner->first = tflm_carve(&workspace, count, sizeof(int32_t));
  planner->histogram = tflm_carve(&workspace, RADIX, sizeof(uint32_t));
  planner->tree.levels = level_count(count);
  for (uint32_t level = 0; level < planner->tree.levels; ++level)
    planner->tree.level[level] = tflm_carve(&workspace, level_width(count, level), sizeof(int32_t));
  return workspace.used;
}

size_t tflm_plan_greedy_workspace_size(size_t count) {
  planner_t planner;
  /* An array takes at most 8 bytes a buffer; 8 arrays and the tree's levels with their padding stay below 64. */
  if (count > COUNT_LIMIT || count > (SIZE_MAX - 4096u) / 64u) return 0;
  return lay_out(&planner, NULL, (uint32_t)count);
}

/* ---- placement ---- */

static int is_valid(const tflm_plan_buffer_t *buffer) {
  return buffer->size >= 0 && buffer->alignment >= 1 && buffer->first_time_used != INT32_MIN &&
         buffer->last_time_used != INT32_MIN;
}

/* Fill order: offline buffers as they came; then the others by descending size. (TFLM puts the latest first among
 * equals, because it fills its table from the tail and sorts it stably.)
 */
static void order_by_size(planner_t *planner) {
  const uint32_t last = planner->count - 1;
  const int latest_first = planner->policy == LATEST_AND_FIRST_GAP;
  uint32_t offline = 0;
  uint32_t online = 0;
  for (uint32_t i = 0; i < planner->count; ++i)
    if (planner->buffers[i].offline_offset != TFLM_PLAN_ONLINE) planner->order[offline++] = i;
  for (uint32_t tie = 0; tie < planner->count; ++tie) {
    const tflm_plan_buffer_t *buffer = &planner->buffers[latest_first ? last - tie : tie];
    if (buffer->offline_offset == TFLM_PLAN_ONLINE)
      planner->keys[online++] = pack((uint32_t)INT32_MAX - (uint32_t)buffer->size, tie);
  }
  const uint64_t *sorted = sort(planner->keys, planner->spare, online, planner->histogram);
  for (uint32_t i = 0; i < online; ++i)
    planner->order[offline + i] = latest_first ? last - low_half(sorted[i]) : low_half(sorted[i]);
}

static void rank_by_first_time_used(planner_t *planner) {
  for (uint32_t i = 0; i < planner->count; ++i) planner->keys[i] = pack(bias(planner->buffers[i].first_time_used), i);
  const uint64_t *sorted = sort(planner->keys, planner->spare, planner->count, planner->histogram);
  for (uint32_t rank = 0; rank < planner->count; ++rank) {
    planner->first[rank] = unbias(high_half(sorted[rank]));
    planner->rank[low_half(sorted[rank])] = rank;
  }
  for (uint32_t level = 0; level < planner->tree.levels; ++level)
    for (uint32_t i = 0; i < level_width(planner->count, level); ++i) planner->tree.level[level][i] = NOT_PLACED;
}

/* Return how many ranks have a first_time_used that is not above time. */
static uint32_t ranks_up_to(const planner_t *planner, int32_t time) {
  uint32_t low = 0;
  uint32_t high = planner->count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (planner->first[middle] > time)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* Of several at one offset, let one that is not empty come first: they were placed by descending size. */
static void put_empty_ones_last(uint64_t *active, uint32_t count) {
  for (uint32_t first = 0, i = 0; i < count; ++i) {
    if (high_half(active[i]) != high_half(active[first])) first = i;
    if (low_half(active[first]) == 0 && low_half(active[i]) != 0) {
      const uint64_t empty = active[first];
      active[first] = active[i];
      active[i] = empty;
    }
  }
}

/* Collect what is placed and alive together with buffer, ordered by offset. */
static const uint64_t *simultaneously_active(planner_t *planner, const tflm_plan_buffer_t *buffer, uint32_t *found) {
  const int32_t *latest = planner->tree.level[0];
  const int32_t time = buffer->first_time_used;
  const uint32_t end = ranks_up_to(planner, buffer->last_time_used);
  const uint32_t blocks = level_width(end, 1);
  uint32_t count = 0;
  for (uint32_t block = tree_next_block(&planner->tree, 0, blocks, time); block < blocks;
       block = tree_next_block(&planner->tree, block + 1, blocks, time)) {
    const uint32_t from = block << FANOUT_LOG2;
    const uint32_t to = end - from < FANOUT ? end : from + FANOUT;
    for (uint32_t rank = from; rank < to; ++rank) {
      /* Without a branch: this buffer is not placed yet, so there is room for one more key than is counted. */
      planner->keys[count] = planner->placed[rank];
      count += latest[rank] >= time;
    }
  }
  *found = count;
  uint64_t *sorted = sort(planner->keys, planner->spare, count, planner->histogram);
  if (buffer->size == 0) put_empty_ones_last(sorted, count);
  return sorted;
}

static int64_t align_up(uint32_t value, uint32_t alignment) {
  const uint32_t waste = value % alignment;
  return (int64_t)value + (waste == 0 ? 0 : alignment - waste);
}

/* Return the lowest multiple of the alignment in the chosen gap below one of active, or above all of active. */
static int64_t find_gap(policy_t policy, const uint64_t *active, uint32_t count, const tflm_plan_buffer_t *buffer) {
  int64_t candidate = 0;
  int64_t best = -1;
  int64_t best_gap = INT64_MAX;
  for (uint32_t i = 0; i < count; ++i) {
    const int64_t offset = unbias(high_half(active[i]));
    const int64_t end = offset + low_half(active[i]);
    const int64_t gap = offset - candidate;
    if (gap >= buffer->size && gap < best_gap) {
      best = candidate;
      best_gap = gap;
      if (policy == LATEST_AND_FIRST_GAP) break;
    }
    if (end > candidate)
      candidate = buffer->alignment == 1 ? end : align_up((uint32_t)end, (uint32_t)buffer->alignment);
  }
  return best < 0 ? candidate : best;
}

/* ---- the list ---- */

/* Return whether so many pairs are alive together that one list is quicker than the tree. */
static int is_dense(const planner_t *planner) {
  uint64_t pairs = 0;
  for (uint32_t i = 0; i < planner->count; ++i) {
    const uint32_t up_to = ranks_up_to(planner, planner->buffers[i].last_time_used);
    pairs += up_to > planner->rank[i] ? up_to - planner->rank[i] - 1 : 0;
  }
  return pairs * LIST_SPEED * 2u > (uint64_t)planner->count * planner->count;
}

/* The same as find_gap, over those of the list that are alive together with buffer. */
static int64_t find_gap_in_list(const planner_t *planner, const tflm_plan_buffer_t *buffer) {
  const uint32_t first = bias(buffer->first_time_used);
  const uint32_t last = bias(buffer->last_time_used);
  const int takes_first = planner->policy == LATEST_AND_FIRST_GAP;
  int64_t candidate = 0;
  int64_t best = -1;
  int64_t best_gap = INT64_MAX;
  for (uint32_t i = 0; i < planner->list_length; ++i) {
    const uint64_t life = planner->spare[i];
    if (high_half(life) > last || low_half(life) < first) continue;
    const int64_t offset = unbias(high_half(planner->keys[i]));
    const int64_t end = offset + low_half(planner->keys[i]);
    const int64_t gap = offset - candidate;
    if (gap >= buffer->size && gap < best_gap) {
      best = candidate;
      best_gap = gap;
      if (takes_first) break;
    }
    if (end > candidate)
      candidate = buffer->alignment == 1 ? end : align_up((uint32_t)end, (uint32_t)buffer->alignment);
  }
  return best < 0 ? candidate : best;
}

static void list_insert(planner_t *planner, const tflm_plan_buffer_t *buffer, int32_t offset) {
  uint32_t at = planner->list_length++;
  for (; at > 0 && high_half(planner->keys[at - 1]) > bias(offset); --at) {
    planner->keys[at] = planner->keys[at - 1];
    planner->spare[at] = planner->spare[at - 1];
  }
  planner->keys[at] = pack(bias(offset), (uint32_t)buffer->size);
  planner->spare[at] = pack(bias(buffer->first_time_used), bias(buffer->last_time_used));
}

/* ---- the plan ---- */

static int64_t find_offset(planner_t *planner, const tflm_plan_buffer_t *buffer) {
  if (planner->has_list) return find_gap_in_list(planner, buffer);
  uint32_t count;
  const uint64_t *active = simultaneously_active(planner, buffer, &count);
  return find_gap(planner->policy, active, count, buffer);
}

static void remember(planner_t *planner, uint32_t index, int32_t offset) {
  const tflm_plan_buffer_t *buffer = &planner->buffers[index];
  if (planner->has_list) {
    list_insert(planner, buffer, offset);
    return;
  }
  const uint32_t rank = planner->rank[index];
  planner->placed[rank] = pack(bias(offset), (uint32_t)buffer->size);
  tree_insert(&planner->tree, rank, buffer->last_time_used);
}

static int place(planner_t *planner, uint32_t index, int32_t *offsets, uint32_t *peak) {
  const tflm_plan_buffer_t *buffer = &planner->buffers[index];
  const int64_t offset =
      buffer->offline_offset == TFLM_PLAN_ONLINE ? find_offset(planner, buffer) : buffer->offline_offset;
  if (offset + buffer->size > INT32_MAX) return TFLM_PLAN_E_OVERFLOW;
  const uint32_t end = (uint32_t)(offset + buffer->size);
  offsets[index] = (int32_t)offset;
  remember(planner, index, (int32_t)offset);
  *peak = *peak < end ? end : *peak;
  return TFLM_PLAN_OK;
}

static int plan(policy_t policy, const tflm_plan_buffer_t *buffers, size_t count, void *workspace,
                size_t workspace_size, int32_t *offsets, uint32_t *peak, tflm_plan_is_over_t is_over, void *context) {
  planner_t planner;
  const size_t needed = tflm_plan_greedy_workspace_size(count);
  if (peak == NULL || needed == 0 || (count > 0 && (buffers == NULL || offsets == NULL))) return TFLM_PLAN_E_ARGUMENT;
  if (!tflm_workspace_fits(workspace, workspace_size, needed)) return TFLM_PLAN_E_WORKSPACE;
  for (size_t i = 0; i < count; ++i)
    if (!is_valid(&buffers[i])) return TFLM_PLAN_E_ARGUMENT;
  planner.buffers = buffers;
  planner.policy = policy;
  planner.count = (uint32_t)count;
  lay_out(&planner, workspace, planner.count);
  order_by_size(&planner);
  planner.list_length = 0;
  planner.has_list = planner.count <= FEW;
  if (!planner.has_list) {
    rank_by_first_time_used(&planner);
    planner.has_list = is_dense(&planner);
  }
  *peak = 0;
  for (uint32_t i = 0; i < planner.count; ++i) {
    if (i % ASK_EVERY == ASK_EVERY - 1 && is_over != NULL && is_over(context)) return TFLM_PLAN_E_STOPPED;
    const int status = place(&planner, planner.order[i], offsets, peak);
    if (status != TFLM_PLAN_OK) return status;
  }
  return TFLM_PLAN_OK;
}

int tflm_plan_greedy_until(const tflm_plan_buffer_t *buffers, size_t count, void *workspace, size_t workspace_size,
                           int32_t *offsets, uint32_t *peak, tflm_plan_is_over_t is_over, void *context) {
  return plan(LATEST_AND_FIRST_GAP, buffers, count, workspace, workspace_size, offsets, peak, is_over, context);
}

int tflm_plan_greedy(const tflm_plan_buffer_t *buffers, size_t count, void *workspace, size_t workspace_size,
                     int32_t *offsets, uint32_t *peak) {
  return tflm_plan_greedy_until(buffers, count, workspace, workspace_size, offsets, peak, NULL, NULL);
}

int tflm_plan_best_fit(const tflm_plan_buffer_t *buffers, size_t count, void *workspace, size_t workspace_size,
                       int32_t *offsets, uint32_t *peak, tflm_plan_is_over_t is_over, void *context) {
  return plan(EARLIEST_AND_SMALLEST_GAP, buffers, count, workspace, workspace_size, offsets, peak, is_over, context);
}
