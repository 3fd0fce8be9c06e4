/* Vela's hill climb. Names, constants and the order of random numbers are those of planners/hill_climb.py.
 *
 * Invariants between runs:
 *   order, best_order   permutations of the buffers without an offline_offset
 *   best_offsets        what placing best_order gave, best_size its highest end
 *   address[i]          NOT_PLACED iff the last run of placements ended before it came to i; end, turn and predecessor
 *                       are then those of an earlier run
 *
 * Source: ethosu/vela/hillclimb_allocation.py @ ethos-u-vela 5.2.0; the random numbers are CPython's (MT19937)
 */
#include "hill_climb.h"

#include "mersenne_twister.h"
#include "tflm_workspace.h"

#define NOT_PLACED (-1)
#define NO_PREDECESSOR UINT32_MAX
#define STUCK_AFTER 50u
#define GIVE_UP_AFTER 500u
#define ASK_EFFORT (1u << 20)

struct tflm_hill_climb {
  const tflm_plan_buffer_t *buffers;
  uint32_t count;
  uint32_t free_count; /* buffers without an offline_offset */
  uint32_t iteration;
  uint32_t give_up_at;
  int64_t target;
  int64_t best_size;
  int64_t *address;
  int64_t *end;
  int64_t *best_offsets;
  int64_t *urgency;
  uint32_t *neighbours_from; /* [count + 1] buffer i's neighbours are neighbours[from[i]] .. [from[i + 1] - 1] */
  uint32_t *neighbours;
  uint32_t *predecessor;
  uint32_t *turn;
  uint32_t *order;      /* [free_count] by turn */
  uint32_t *best_order; /* [free_count] */
  uint32_t *turns;      /* [turn_count] what may be swapped */
  uint32_t *distant;    /* [distant_count] those of turns that are not alive together with the bottleneck */
  uint32_t turn_count;
  uint32_t distant_count;
  uint8_t *seen; /* [free_count] by turn: is in turns */
  tflm_plan_is_over_t is_over;
  void *context;
  uint32_t effort; /* neighbours looked at since is_over was asked last */
  int stopped;
  mersenne_twister_t random;
};

/* ---- the problem ---- */

static int is_free(const tflm_plan_buffer_t *buffer) { return buffer->offline_offset == TFLM_PLAN_ONLINE; }

static int are_alive_together(const tflm_plan_buffer_t *a, const tflm_plan_buffer_t *b) {
  return a->first_time_used <= b->last_time_used && b->first_time_used <= a->last_time_used;
}

static int is_valid(const tflm_plan_buffer_t *buffer) {
  return buffer->size >= 0 && buffer->alignment >= 1 && buffer->first_time_used <= buffer->last_time_used &&
         buffer->offline_offset >= TFLM_PLAN_ONLINE;
}

static size_t lay_out(tflm_hill_climb_t *search, void *base, size_t count, size_t neighbour_count) {
  tflm_workspace_t workspace = {base, 0, 0};
  tflm_carve(&workspace, 1, sizeof(tflm_hill_climb_t));
  search->address = tflm_carve(&workspace, count, sizeof(int64_t));
  search->end = tflm_carve(&workspace, count, sizeof(int64_t));
  search->best_offsets = tflm_carve(&workspace, count, sizeof(int64_t));
  search->urgency = tflm_carve(&workspace, count, sizeof(int64_t));
  search->neighbours_from = tflm_carve(&workspace, count + 1, sizeof(uint32_t));
  search->predecessor = tflm_carve(&workspace, count, sizeof(uint32_t));
  search->turn = tflm_carve(&workspace, count, sizeof(uint32_t));
  search->order = tflm_carve(&workspace, count, sizeof(uint32_t));
  search->best_order = tflm_carve(&workspace, count, sizeof(uint32_t));
  search->turns = tflm_carve(&workspace, count, sizeof(uint32_t));
  search->distant = tflm_carve(&workspace, count, sizeof(uint32_t));
  search->seen = tflm_carve(&workspace, count, 1);
  search->neighbours = tflm_carve(&workspace, neighbour_count, sizeof(uint32_t));
  return workspace.used;
}

size_t tflm_hill_climb_workspace_size(size_t count, size_t neighbours) {
  tflm_hill_climb_t search;
  if (count > (SIZE_MAX - 4096u) / 128u || count > UINT32_MAX / 2u || neighbours > TFLM_HILL_CLIMB_MOST_NEIGHBOURS)
    return 0;
  return lay_out(&search, NULL, count, neighbours);
}

typedef int (*before_t)(const tflm_hill_climb_t *search, uint32_t a, uint32_t b);

/* Sort list[count], where one is before another; equal ones keep their order. */
static void sort(const tflm_hill_climb_t *search, uint32_t *list, uint32_t *spare, uint32_t count, before_t is_before) {
  uint32_t *from = list;
  uint32_t *to = spare;
  for (uint32_t width = 1; width < count; width *= 2) {
    for (uint32_t begin = 0; begin < count; begin += 2 * width) {
      const uint32_t middle = count - begin < width ? count : begin + width;
      const uint32_t end = count - begin < 2 * width ? count : begin + 2 * width;
      uint32_t left = begin;
      uint32_t right = middle;
      for (uint32_t k = begin; k < end; ++k) {
        const int takes_right = left == middle || (right < end && is_before(search, from[right], from[left]));
        to[k] = takes_right ? from[right++] : from[left++];
      }
    }
    uint32_t *moved = from;
    from = to;
    to = moved;
  }
  for (uint32_t k = 0; from != list && k < count; ++k) list[k] = from[k];
}

static int begins_before(const tflm_hill_climb_t *search, uint32_t a, uint32_t b) {
  return search->buffers[a].first_time_used < search->buffers[b].first_time_used;
}

/* How many of by_first begin until time. */
static uint32_t begun_until(const tflm_hill_climb_t *search, const uint32_t *by_first, int32_t time) {
  uint32_t low = 0;
  uint32_t high = search->count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (search->buffers[by_first[middle]].first_time_used > time)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* Keep in alive[], ordered by index, what is not over at time, and add those of by_first[from .. to). */
static uint32_t step_to(const tflm_hill_climb_t *search, int32_t time, uint32_t *alive, uint32_t count,
                        const uint32_t *by_first, uint32_t from, uint32_t to) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < count; ++k)
    if (search->buffers[alive[k]].last_time_used >= time) alive[kept++] = alive[k];
  const uint32_t total = kept + to - from;
  for (uint32_t k = total; to > from; --k)
    alive[k - 1] = kept > 0 && alive[kept - 1] > by_first[to - 1] ? alive[--kept] : by_first[--to];
  return total;
}

/* Write the neighbours of i to list (only count them when it is NULL): by the first moment that they share with i, then
 * by index; so first those that are alive when i begins, then those that begin later.
 */
static uint32_t write_neighbours(const tflm_hill_climb_t *search, uint32_t i, const uint32_t *alive,
                                 uint32_t alive_count, const uint32_t *by_first, uint32_t later, uint32_t *list) {
  const uint32_t end = begun_until(search, by_first, search->buffers[i].last_time_used);
  uint32_t found = 0;
  if (list == NULL) return alive_count - 1 + end - later;
  for (uint32_t k = 0; k < alive_count; ++k)
    if (alive[k] != i) list[found++] = alive[k];
  for (uint32_t k = later; k < end; ++k) list[found++] = by_first[k];
  return found;
}

/* Go through the moments at which buffers begin; count the neighbours of all into neighbours_from, or list them. */
static void sweep(tflm_hill_climb_t *search, const uint32_t *by_first, uint32_t *alive, int is_counting) {
  uint32_t alive_count = 0;
  for (uint32_t from = 0, to; from < search->count; from = to) {
    const int32_t time = search->buffers[by_first[from]].first_time_used;
    to = begun_until(search, by_first, time);
    alive_count = step_to(search, time, alive, alive_count, by_first, from, to);
    for (uint32_t k = from; k < to; ++k) {
      const uint32_t i = by_first[k];
      uint32_t *list = is_counting ? NULL : &search->neighbours[search->neighbours_from[i]];
      const uint32_t found = write_neighbours(search, i, alive, alive_count, by_first, to, list);
      if (is_counting) search->neighbours_from[i] = found;
    }
  }
}

/* List the neighbours of each buffer; 0 when they are more than there is room for. */
static int find_neighbours(tflm_hill_climb_t *search, size_t room) {
  uint32_t *by_first = search->turns;
  uint64_t next = 0;
  for (uint32_t i = 0; i < search->count; ++i) by_first[i] = i;
  sort(search, by_first, search->distant, search->count, begins_before);
  sweep(search, by_first, search->best_order, 1);
  for (uint32_t i = 0; i < search->count; ++i) {
    const uint32_t found = search->neighbours_from[i];
    search->neighbours_from[i] = (uint32_t)next;
    next += found;
    if (next > room) return 0;
  }
  search->neighbours_from[search->count] = (uint32_t)next;
  sweep(search, by_first, search->best_order, 0);
  return 1;
}

/* Set urgency to the most bytes alive at any moment of each life, and target to the most at any moment at all. */
static void find_urgency(tflm_hill_climb_t *search) {
  const tflm_plan_buffer_t *buffers = search->buffers;
  for (uint32_t i = 0; i < search->count; ++i) search->urgency[i] = 0;
  for (uint32_t i = 0; i < search->count; ++i) {
    const uint32_t from = search->neighbours_from[i];
    const uint32_t to = search->neighbours_from[i + 1];
    const int32_t now = buffers[i].first_time_used;
    int64_t live = buffers[i].size;
    for (uint32_t k = from; k < to && buffers[search->neighbours[k]].first_time_used <= now; ++k)
      live += buffers[search->neighbours[k]].size;
    search->target = search->target < live ? live : search->target;
    search->urgency[i] = search->urgency[i] < live ? live : search->urgency[i];
    for (uint32_t k = from; k < to && buffers[search->neighbours[k]].first_time_used <= now; ++k) {
      int64_t *urgency = &search->urgency[search->neighbours[k]];
      *urgency = *urgency < live ? live : *urgency;
    }
  }
}

/* Return whether a is placed before b at first: urgent, long-lived, early, large ones; then by index. */
static int comes_before(const tflm_hill_climb_t *search, uint32_t a, uint32_t b) {
  const tflm_plan_buffer_t *x = &search->buffers[a];
  const tflm_plan_buffer_t *y = &search->buffers[b];
  const int64_t duration_x = (int64_t)x->last_time_used - x->first_time_used;
  const int64_t duration_y = (int64_t)y->last_time_used - y->first_time_used;
  if (search->urgency[a] != search->urgency[b]) return search->urgency[a] > search->urgency[b];
  if (duration_x != duration_y) return duration_x > duration_y;
  if (x->first_time_used != y->first_time_used) return x->first_time_used < y->first_time_used;
  return x->size != y->size ? x->size > y->size : a < b;
}

static void first_order(tflm_hill_climb_t *search) {
  search->free_count = 0;
  for (uint32_t i = 0; i < search->count; ++i)
    if (is_free(&search->buffers[i])) search->order[search->free_count++] = i;
  sort(search, search->order, search->best_order, search->free_count, comes_before);
}

/* ---- placement ---- */

/* Count work and ask now and then; nonzero when the time is over. */
static int spend(tflm_hill_climb_t *search, uint32_t neighbours) {
  search->effort += neighbours;
  if (search->effort < ASK_EFFORT) return search->stopped;
  search->effort = 0;
  if (search->is_over != NULL && search->is_over(search->context)) search->stopped = 1;
  return search->stopped;
}

static int64_t align_up(int64_t value, int64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

static void put(tflm_hill_climb_t *search, uint32_t index, int64_t address, uint32_t predecessor) {
  search->address[index] = address;
  search->end[index] = address + search->buffers[index].size;
  search->predecessor[index] = predecessor;
}

/* At the lowest offset that meets no placed neighbour; anywhere when the time is over. */
static void place(tflm_hill_climb_t *search, uint32_t index) {
  const int64_t size = search->buffers[index].size;
  const int64_t alignment = search->buffers[index].alignment;
  const uint32_t *from = &search->neighbours[search->neighbours_from[index]];
  const uint32_t *to = &search->neighbours[search->neighbours_from[index + 1]];
  int64_t address = 0;
  uint32_t predecessor = NO_PREDECESSOR;
  int moved = 1;
  while (moved && !spend(search, (uint32_t)(to - from))) {
    moved = 0;
    for (const uint32_t *other = from; other < to; ++other) {
      const int64_t begin = search->address[*other];
      const int64_t end = search->end[*other];
      if (address < end && begin < address + size && begin != NOT_PLACED) {
        address = align_up(end, alignment);
        predecessor = *other;
        moved = 1;
      }
    }
  }
  put(search, index, address, predecessor);
}

/* Place the buffers in order until one ends above limit; return the highest end. When the time is over, the rest goes
 * above all that is placed.
 */
static int64_t place_all(tflm_hill_climb_t *search, int64_t limit) {
  int64_t size = 0;
  for (uint32_t i = 0; i < search->count; ++i)
    if (is_free(&search->buffers[i]))
      search->address[i] = NOT_PLACED;
    else if (search->end[i] > size)
      size = search->end[i];
  for (uint32_t turn = 0; turn < search->free_count && size <= limit; ++turn) {
    const uint32_t index = search->order[turn];
    if (!search->stopped) place(search, index);
    if (search->stopped) put(search, index, align_up(size, search->buffers[index].alignment), NO_PREDECESSOR);
    search->turn[index] = turn;
    size = size < search->end[index] ? search->end[index] : size;
  }
  return size;
}

static void remember(tflm_hill_climb_t *search, int64_t size) {
  search->best_size = size;
  for (uint32_t i = 0; i < search->free_count; ++i) search->best_order[i] = search->order[i];
  for (uint32_t i = 0; i < search->count; ++i) search->best_offsets[i] = search->address[i];
}

/* ---- swaps ---- */

static void consider(tflm_hill_climb_t *search, uint32_t turn) {
  if (!search->seen[turn]) {
    search->seen[turn] = 1;
    search->turns[search->turn_count++] = turn;
  }
}

/* Consider a buffer and all that it rests on. */
static void consider_below(tflm_hill_climb_t *search, uint32_t index) {
  for (; index != NO_PREDECESSOR; index = search->predecessor[index])
    if (is_free(&search->buffers[index])) consider(search, search->turn[index]);
}

/* Fill turns and distant with what affected the bottleneck, the buffer with the highest end. */
static void consider_bottleneck(tflm_hill_climb_t *search) {
  uint32_t top = 0;
  for (uint32_t i = 1; i < search->count; ++i)
    if (search->end[i] > search->end[top]) top = i;
  for (uint32_t i = 0; i < search->free_count; ++i) search->seen[i] = 0;
  search->turn_count = search->distant_count = 0;
  consider_below(search, top);
  for (uint32_t k = search->neighbours_from[top]; k < search->neighbours_from[top + 1]; ++k)
    consider_below(search, search->neighbours[k]);
  for (uint32_t i = 0; i < search->turn_count; ++i) {
    const uint32_t turn = search->turns[i];
    if (!are_alive_together(&search->buffers[top], &search->buffers[search->order[turn]]))
      search->distant[search->distant_count++] = turn;
  }
}

static void consider_around_distant(tflm_hill_climb_t *search) {
  for (uint32_t i = 0; i < search->distant_count; ++i) {
    const uint32_t index = search->order[search->distant[i]];
    for (uint32_t k = search->neighbours_from[index]; k < search->neighbours_from[index + 1]; ++k)
      if (is_free(&search->buffers[search->neighbours[k]])) consider(search, search->turn[search->neighbours[k]]);
  }
}

static uint32_t pick(tflm_hill_climb_t *search, const uint32_t *turns, uint32_t count) {
  return turns[random_below(&search->random, count)];
}

static void exchange(tflm_hill_climb_t *search, uint32_t first, uint32_t second) {
  const uint32_t index = search->order[first];
  search->order[first] = search->order[second];
  search->order[second] = index;
}

/* Swap the order of buffers that may lower the bottleneck; return 0 when there are not two of them. */
static int swap(tflm_hill_climb_t *search) {
  consider_bottleneck(search);
  if (search->turn_count < 2) return 0;
  const int from_distant = random_below(&search->random, 101) < 30 && search->distant_count > 0;
  const uint32_t first = from_distant ? pick(search, search->distant, search->distant_count)
                                      : pick(search, search->turns, search->turn_count);
  const uint32_t second = pick(search, search->turns, search->turn_count - 1);
  exchange(search, first, first == second ? search->turns[search->turn_count - 1] : second);
  if (search->iteration + GIVE_UP_AFTER > search->give_up_at + STUCK_AFTER) {
    consider_around_distant(search);
    const uint32_t third = pick(search, search->turns, search->turn_count);
    exchange(search, third, pick(search, search->turns, search->turn_count));
  }
  return 1;
}

/* ---- the search ---- */

int tflm_hill_climb_start(const tflm_plan_buffer_t *buffers, size_t count, void *workspace, size_t workspace_size,
                          tflm_plan_is_over_t is_over, void *context, tflm_hill_climb_t **search) {
  tflm_hill_climb_t *self = workspace;
  const size_t least = tflm_hill_climb_workspace_size(count, 0);
  if (least == 0 || search == NULL || (count > 0 && buffers == NULL)) return TFLM_PLAN_E_ARGUMENT;
  for (size_t i = 0; i < count; ++i)
    if (!is_valid(&buffers[i])) return TFLM_PLAN_E_ARGUMENT;
  if (!tflm_workspace_fits(workspace, workspace_size, least)) return TFLM_PLAN_E_WORKSPACE;
  lay_out(self, workspace, count, 0);
  self->buffers = buffers;
  self->count = (uint32_t)count;
  self->iteration = 0;
  self->give_up_at = GIVE_UP_AFTER;
  self->target = 0;
  self->is_over = is_over;
  self->context = context;
  self->effort = 0;
  self->stopped = 0;
  mt_seed(&self->random);
  for (uint32_t i = 0; i < self->count; ++i) {
    const int fixed = !is_free(&buffers[i]);
    self->address[i] = fixed ? buffers[i].offline_offset : NOT_PLACED;
    self->end[i] = fixed ? (int64_t)buffers[i].offline_offset + buffers[i].size : 0;
    self->target = self->target < self->end[i] ? self->end[i] : self->target;
    self->predecessor[i] = NO_PREDECESSOR;
    self->turn[i] = 0;
  }
  if (!find_neighbours(self, (workspace_size - least) / sizeof(uint32_t))) return TFLM_PLAN_E_WORKSPACE;
  find_urgency(self);
  first_order(self);
  remember(self, place_all(self, INT64_MAX));
  *search = self;
  return TFLM_PLAN_OK;
}

static int is_done(const tflm_hill_climb_t *search) {
  return search->stopped || search->best_size <= search->target || search->iteration >= search->give_up_at;
}

int tflm_hill_climb_run(tflm_hill_climb_t *search, uint32_t iterations) {
  for (uint32_t i = 0; i < iterations; ++i) {
    if (is_done(search)) return 1;
    if (!swap(search)) {
      search->give_up_at = search->iteration;
      return 1;
    }
    const int64_t size = place_all(search, search->best_size);
    if (size > search->best_size) {
      for (uint32_t k = 0; k < search->free_count; ++k) search->order[k] = search->best_order[k];
    } else {
      if (size < search->best_size) search->give_up_at = search->iteration + GIVE_UP_AFTER;
      remember(search, size);
    }
    ++search->iteration;
  }
  return is_done(search);
}

const int64_t *tflm_hill_climb_offsets(const tflm_hill_climb_t *search) { return search->best_offsets; }
