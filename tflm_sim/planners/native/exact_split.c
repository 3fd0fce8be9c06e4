/* What begins or ends at one moment is one *family*, as long as a family is not too much for one level: where two
 * independent programs share one memory, their buffers hand over at moments of their own. The families are dealt out to
 * two levels, so that no section of either is too full; then each level is a problem of its own, and much the smaller
 * one. A single program falls apart into families too, and often has a plan in two levels near its bound.
 *
 *   capacity  +--------------------+
 *             | families 1, 3      |   planned within what the lower level leaves
 *   line      +--------------------+
 *             | families 0, 2      |   planned below the line
 *             +--------------------+
 */
#include "exact_split.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "exact_block.h"
#include "exact_strategy.h"

enum { MOST_FAMILIES = 128, EVEN_FAMILIES = 64, STARTS = 8, EVEN_STARTS = 64 };
enum { MOVES_PER_FAMILY = 8, SHORTEST_STAY = 4, FAMILY_SIZES = 3, MOMENTS_TO_SHARED = 32 };
enum {
  NODES_PER_BUFFER = 8,
  SHARE = 3,    /* without a capacity, one of so many nodes goes to plans in two levels */
  TIMES = 2,    /* with one, so many times as many as for searches of the whole, which are slower; squared in the end */
  LONGER = 6,   /* with one, each try takes so many times more nodes, by Luby's sequence squared; */
  CHEAPER = 4,  /* where it looks like two programs they count for less, and where not, for more and more */
  DEALS = 8,    /* so many are compared at first, */
  DOUBLINGS = 3 /* later more */
};
enum { STEPS_TO_UNITE = 8, STEPS_PER_NODE = 1 << 14 }; /* what dealing takes counts as nodes too */

static const double SPREAD = 100; /* of the order in which families unite, for an even line */

typedef struct {
  int64_t time;
  int index;
} moment_t;

/* A moment at which `count` buffers begin or end: list[first .. first + count). */
typedef struct {
  int first, count;
  double rank; /* the least comes first */
} handover_t;

typedef struct {
  const problem_t *p;
  limits_t *limits;
  int64_t steps;                   /* of dealing */
  void *block, *loads;             /* the arrays; those that wait for the number of families are in `loads` */
  int *family, count;              /* by buffer; how many there are */
  int64_t capacity, most, room[2]; /* units: of both levels; of a family in a section; of each level */
  int is_even;                     /* the line is in the middle, families are as large as can be */
  uint8_t side[MOST_FAMILIES];
  uint8_t *level_of; /* by buffer: which level it is dealt to */
  int64_t *load;     /* of family f in section q, units: load[f * section_count + q] */
  int64_t *level[2]; /* load per section */
  moment_t *moments; /* while families are looked for: all of them; where buffers hand over; the tree of what is one
                        family; the load of one */
  handover_t *handovers;
  int handover_count, *parent;
  int64_t *united;
  tflm_exact_buffer_t *buffers; /* of the level that is planned, and their offsets */
  int64_t *offsets;
  tflm_exact_solver_t solve;
} deal_t;

static void lay_out(void *object, tflm_workspace_t *workspace) {
  deal_t *d = object;
  const size_t count = (size_t)d->p->count;
  d->moments = tflm_carve(workspace, 2 * count, sizeof *d->moments);
  d->handovers = tflm_carve(workspace, 2 * count, sizeof *d->handovers);
  d->united = tflm_carve(workspace, (size_t)d->p->section_count, sizeof *d->united);
  d->buffers = tflm_carve(workspace, count, sizeof *d->buffers);
  d->offsets = tflm_carve(workspace, count, sizeof *d->offsets);
  d->family = tflm_carve(workspace, count, sizeof *d->family);
  d->parent = tflm_carve(workspace, count, sizeof *d->parent);
  d->level_of = tflm_carve(workspace, count, sizeof *d->level_of);
}

static void lay_out_loads(void *object, tflm_workspace_t *workspace) {
  deal_t *d = object;
  const size_t sections = (size_t)d->p->section_count;
  d->load = tflm_carve(workspace, (size_t)d->count * sections, sizeof *d->load);
  for (int side = 0; side < 2; side++) d->level[side] = tflm_carve(workspace, sections, sizeof *d->level[side]);
}

/* ---- families */

static int compare_moments(const void *a, const void *b) {
  const moment_t *x = a, *y = b;
  return x->time != y->time ? (x->time < y->time ? -1 : 1) : x->index - y->index;
}

static int compare_handovers(const void *a, const void *b) {
  const handover_t *x = a, *y = b;
  return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : x->first - y->first;
}

static int root_of(int *parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

/* Make one family of all families that meet at h, unless that is too much for a level. */
static void unite(deal_t *d, const handover_t *h) {
  const problem_t *p = d->p;
  const moment_t *list = d->moments + h->first;
  int *parent = d->parent;
  for (int q = 0; q < p->section_count; q++) d->united[q] = 0;
  for (int i = 0; i < p->count; i++) d->family[i] = 0;
  for (int k = 0; k < h->count; k++) d->family[root_of(parent, list[k].index)] = 1;
  for (int i = 0; i < p->count; i++) {
    if (!d->family[root_of(parent, i)]) continue;
    for (int q = p->low[i]; q < p->high[i]; q++)
      if ((d->united[q] += p->size[i]) > d->most) return;
  }
  for (int k = 1; k < h->count; k++) parent[root_of(parent, list[k].index)] = root_of(parent, list[0].index);
}

/* Number the families; 0 when there is only one, or too many. */
static int number_families(deal_t *d) {
  int *parent = d->parent;
  for (int i = 0; i < d->p->count; i++) {
    if (root_of(parent, i) != i) continue;
    if (d->count == (d->is_even ? EVEN_FAMILIES : MOST_FAMILIES)) return 0;
    d->family[i] = d->count++;
  }
  for (int i = 0; i < d->p->count; i++) d->family[i] = d->family[root_of(parent, i)];
  return d->count > 1;
}

static int list_moments(const problem_t *p, const tflm_exact_buffer_t *buffers, moment_t *list) {
  for (int i = 0; i < p->count; i++) {
    const tflm_exact_buffer_t *b = &buffers[p->original[i]];
    list[2 * i] = (moment_t){b->first, i};
    list[2 * i + 1] = (moment_t){b->last == INT64_MAX ? INT64_MAX : b->last + 1, i};
  }
  qsort(list, 2 * (size_t)p->count, sizeof *list, compare_moments);
  return 2 * p->count;
}

/* The first and the last moment of all say nothing: everything begins and ends somewhere. Both programs may hand over
 * at one moment by chance: such a moment has more buffers than others, so it comes late, and then it is refused. How
 * late that has to be nobody knows: `spread` mixes the order.
 */
static int list_handovers(const moment_t *list, int length, uint64_t seed, double spread, handover_t *found) {
  int count = 0;
  for (int k = 0, end; k < length; k = end) {
    for (end = k + 1; end < length && list[end].time == list[k].time;) end++;
    const double chance = exact_fraction(seed * 64 + (uint64_t)k);
    if (k > 0 && end < length)
      found[count++] = (handover_t){k, end - k, (end - k) * (1 + spread * chance) + chance / 2};
  }
  qsort(found, (size_t)count, sizeof *found, compare_handovers);
  return count;
}

static int find_families(deal_t *d, const tflm_exact_buffer_t *buffers, uint64_t seed) {
  const int moments = list_moments(d->p, buffers, d->moments);
  d->handover_count = list_handovers(d->moments, moments, seed, d->is_even ? SPREAD : 0, d->handovers);
  d->count = 0;
  for (int i = 0; i < d->p->count; i++) d->parent[i] = i;
  for (int k = 0; k < d->handover_count && !exact_ask(d->limits); k++) unite(d, &d->handovers[k]);
  return number_families(d);
}

/* ---- dealing */

static void fill_loads(deal_t *d) {
  const problem_t *p = d->p;
  const size_t sections = (size_t)p->section_count;
  for (int i = 0; i < p->count; i++)
    for (int q = p->low[i]; q < p->high[i]; q++) d->load[(size_t)d->family[i] * sections + (size_t)q] += p->size[i];
}

static double over(int64_t load, int64_t room) { return load > room ? (double)(load - room) : 0; }

/* By how much both levels would be too full, over all sections, if family f went over to the other one. */
static double excess_after(const deal_t *d, int f) {
  const int sections = d->p->section_count, from = d->side[f], to = !from;
  const int64_t *load = d->load + (size_t)f * (size_t)sections;
  double sum = 0;
  for (int q = 0; q < sections; q++)
    sum += over(d->level[from][q] - load[q], d->room[from]) + over(d->level[to][q] + load[q], d->room[to]);
  return sum;
}

static void add_family(deal_t *d, int f, int side, int64_t sign) {
  const int sections = d->p->section_count;
  for (int q = 0; q < sections; q++) d->level[side][q] += sign * d->load[(size_t)f * (size_t)sections + (size_t)q];
}

static double excess(const deal_t *d) {
  double sum = 0;
  for (int q = 0; q < d->p->section_count; q++)
    sum += over(d->level[0][q], d->room[0]) + over(d->level[1][q], d->room[1]);
  return sum;
}

/* About `share` of 256 go to the lower level. */
static void deal_at_random(deal_t *d, uint64_t seed, uint64_t share) {
  for (int side = 0; side < 2; side++) memset(d->level[side], 0, sizeof(int64_t) * (size_t)d->p->section_count);
  for (int f = 0; f < d->count; f++) {
    d->side[f] = exact_mix(seed * EVEN_FAMILIES + (uint64_t)f + 1) >> 56 >= share;
    add_family(d, f, d->side[f], 1);
  }
}

/* The line in the middle, or where the fullest section needs it, with a fair part of the room that is left there. */
static void draw_line(deal_t *d, int is_middle) {
  const int64_t *below = d->level[0], *above = d->level[1];
  int fullest = 0;
  for (int q = 1; q < d->p->section_count; q++)
    if (below[q] + above[q] > below[fullest] + above[fullest]) fullest = q;
  const double part = (double)below[fullest] / (double)(below[fullest] + above[fullest]);
  d->room[0] = is_middle ? d->capacity / 2 : (int64_t)((double)d->capacity * part);
  d->room[1] = is_middle ? d->capacity / 2 : d->capacity - d->room[0];
}

/* The family whose move helps most, or harms least; -1 when all have to stay. What was moved stays for a while, unless
 * its move leads to less than ever.
 */
static int choose_move(const deal_t *d, const int *until, int move, double least, double *excess) {
  int chosen = -1;
  for (int f = 0; f < d->count; f++) {
    const double after = excess_after(d, f);
    if ((until[f] > move && after >= least) || (chosen >= 0 && after >= *excess)) continue;
    *excess = after;
    chosen = f;
  }
  return chosen;
}

static int out_of_steps(deal_t *d, int64_t steps) {
  const int64_t before = d->steps / STEPS_PER_NODE;
  d->steps += steps;
  d->limits->nodes += d->steps / STEPS_PER_NODE - before;
  return d->steps / STEPS_PER_NODE != before && exact_ask(d->limits);
}

/* Deal at random, then move one family after the other: many starts while that helps for an even line, else a tabu
 * search. Returns 1 as soon as all fits.
 */
static int deal_once(deal_t *d, uint64_t seed, int is_middle) {
  int until[MOST_FAMILIES] = {0};
  deal_at_random(d, seed, is_middle ? 128 : 64);
  draw_line(d, is_middle);
  double now = excess(d), least = now;
  for (int move = 1; now > 0 && move <= d->count * MOVES_PER_FAMILY; move++) {
    if (out_of_steps(d, (int64_t)d->count * d->p->section_count)) return 0;
    const int chosen = choose_move(d, until, move, least, &now);
    if (d->is_even && now >= least) return 0;
    if (chosen < 0) continue;
    add_family(d, chosen, d->side[chosen], -1);
    d->side[chosen] = !d->side[chosen];
    add_family(d, chosen, d->side[chosen], 1);
    if (!d->is_even) until[chosen] = move + SHORTEST_STAY + (int)(exact_mix(seed + (uint64_t)move) % SHORTEST_STAY);
    if (now < least) least = now;
  }
  return now <= 0;
}

static int deal_out(deal_t *d, uint64_t seed) {
  const uint64_t starts = d->is_even ? EVEN_STARTS : STARTS;
  for (uint64_t start = 0; start < starts; start++)
    if (deal_once(d, seed * starts + start, d->is_even || start % 2 == 0)) return 1;
  return 0;
}

/* Find families and deal them out. */
static int deal(deal_t *d, const tflm_exact_buffer_t *buffers, uint64_t seed) {
  if (!find_families(d, buffers, seed)) return 0;
  d->loads = tflm_exact_block_new(d, lay_out_loads);
  if (d->loads == NULL) return 0;
  fill_loads(d);
  const int is_dealt = deal_out(d, seed);
  free(d->loads);
  d->loads = NULL;
  return is_dealt;
}

/* At how many moments both levels hand over. */
static int count_shared(const deal_t *d) {
  int shared = 0;
  for (int k = 0; k < d->handover_count; k++) {
    const moment_t *list = d->moments + d->handovers[k].first;
    int above = 0;
    for (int i = 0; i < d->handovers[k].count; i++) above += d->side[d->family[list[i].index]];
    shared += above > 0 && above < d->handovers[k].count;
  }
  return shared;
}

/* Deal several times, and keep what has fewest moments in common: two programs have few. */
static void deal_cleanly(deal_t *d, const tflm_exact_buffer_t *buffers, split_task_t *task) {
  int fewest = INT_MAX;
  for (int64_t k = 0; k < task->deals && fewest > 0; k++) {
    if (k > 0 && out_of_steps(d, (int64_t)d->handover_count * d->p->count * STEPS_TO_UNITE)) break;
    const int shared = deal(d, buffers, task->seed + (uint64_t)k * EVEN_FAMILIES) ? count_shared(d) : INT_MAX;
    if (shared >= fewest) continue;
    fewest = shared;
    for (int i = 0; i < d->p->count; i++) d->level_of[i] = d->side[d->family[i]];
  }
  task->is_dealt = fewest < INT_MAX;
  task->has_two = fewest <= d->handover_count / MOMENTS_TO_SHARED;
}

/* ---- planning */

static int ask(void *context, const tflm_exact_status_t *status) {
  limits_t limits = *(const limits_t *)context;
  limits.nodes += status->nodes;
  return exact_ask(&limits);
}

/* Plan one level from `base` (units) on; returns its peak (units from the ground on), or -1. */
static int64_t plan_level(const deal_t *d, const tflm_exact_buffer_t *buffers, int side, int64_t base, int64_t capacity,
                          limits_t *limits, int64_t *units) {
  const problem_t *p = d->p;
  size_t count = 0;
  for (int i = 0; i < p->count; i++)
    if (d->level_of[i] == side) d->buffers[count++] = buffers[p->original[i]];
  const tflm_exact_options_t options = {capacity, limits->node_limit, -1, 1, ask, limits, NULL};
  tflm_exact_result_t result;
  if (d->solve(d->buffers, count, &options, &result, d->offsets) != TFLM_PLAN_OK) return -1;
  limits->nodes += result.status.nodes;
  if (result.status.peak > capacity) return -1;
  for (int i = 0, k = 0; i < p->count; i++)
    if (d->level_of[i] == side) units[i] = base + d->offsets[k++] / p->unit;
  return base + (result.status.peak + p->unit - 1) / p->unit;
}

/* What the upper level's alignments have in common: a multiple of all of them, units; 0 when that is too much. */
static int64_t step_above(const deal_t *d) {
  int64_t step = 1;
  for (int i = 0; i < d->p->count; i++) {
    if (d->level_of[i] == 0) continue;
    const int64_t factor = d->p->align[i] / exact_gcd(step, d->p->align[i]);
    if (factor > d->capacity / step) return 0;
    step *= factor;
  }
  return step;
}

static int plan_both(const deal_t *d, const tflm_exact_buffer_t *buffers, split_task_t *task, int64_t *units) {
  const problem_t *p = d->p;
  const int64_t line = plan_level(d, buffers, 0, 0, d->room[0] * p->unit, &task->limits, units);
  const int64_t step = step_above(d);
  if (line < 0 || step == 0) return SEARCH_STOPPED;
  const int64_t base = exact_align_up(line, step), room = task->capacity - base * p->unit;
  if (room < 0 || plan_level(d, buffers, 1, base, room, &task->limits, units) < 0) return SEARCH_STOPPED;
  return SEARCH_FOUND;
}

int tflm_exact_split_run(const problem_t *p, const tflm_exact_buffer_t *buffers, split_task_t *task, int64_t *units) {
  deal_t d = {.p = p, .solve = task->solve, .limits = &task->limits, .capacity = task->capacity / p->unit};
  d.is_even = task->is_even;
  d.most = d.capacity / 2 >> (d.is_even ? 0 : task->seed % FAMILY_SIZES);
  int verdict = SEARCH_STOPPED, is_free = p->count > 0;
  task->limits.nodes = 0;
  for (int i = 0; i < p->count; i++) is_free &= p->fixed[i] == TFLM_EXACT_FREE;
  if (is_free) d.block = tflm_exact_block_new(&d, lay_out);
  task->is_dealt = task->has_two = 0;
  if (d.block != NULL) deal_cleanly(&d, buffers, task);
  if (task->is_dealt) verdict = plan_both(&d, buffers, task, units);
  free(d.block);
  return verdict;
}

/* ---- when, and how long */

/* 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ..., from i = 1 on. */
static int64_t luby(int64_t i) {
  int64_t power = 1;
  while (power - 1 < i) power *= 2;
  return power - 1 == i ? power / 2 : luby(i - power / 2 + 1);
}

split_task_t tflm_exact_split_next(const split_turns_t *turns, int buffers, int has_capacity, int64_t nodes) {
  const int64_t times = luby(turns->turns + 1), least = (int64_t)buffers * NODES_PER_BUFFER;
  split_task_t task = {.seed = (uint64_t)turns->turns, .deals = 1, .is_even = has_capacity};
  if (!has_capacity) {
    task.limits.node_limit = turns->cost * SHARE < nodes ? least + nodes / 64 : 0;
    return task;
  }
  const int64_t most = least * LONGER * times * times, next = turns->has_two ? most / CHEAPER : most;
  task.deals = (int64_t)DEALS << (turns->turns < DOUBLINGS ? turns->turns : DOUBLINGS);
  task.limits.node_limit = turns->cost / TIMES + next <= nodes * TIMES ? most : 0;
  return task;
}

void tflm_exact_split_done(split_turns_t *turns, int buffers, const split_task_t *task) {
  const int64_t nodes = task->limits.nodes + buffers; /* looking for families takes its time, found or not */
  turns->has_two = task->is_even && task->has_two;
  turns->cost += nodes / (turns->has_two ? CHEAPER : 1);
  if (task->is_even && !task->is_dealt) turns->cost += task->limits.node_limit * turns->turns;
}
