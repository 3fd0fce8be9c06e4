/* The whole question: bounds and first plans, then many searches of growing length.

   Whether a search finds a plan at once or gets lost depends on its strategy more than on its length: most are short,
   each with a strategy of its own. Every LONG_EVERY-th is longer (by Luby's sequence 1 1 2 1 1 2 4 ..., which is within
   a logarithm of the best choice), so that in the end a proof gets the nodes that it needs. Each asks about one capacity: sometimes the lower bound, where a plan would be the
   best, mostly something between it and the best plan so far. "Found" lowers the best plan, "failed" raises the bound.
   With more than one worker the strategies are dealt out; workers share the best plan and the bound, nothing else. */
#if !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include "exact.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exact_improve.h"
#include "exact_packing.h"
#include "exact_search.h"
#include "exact_split.h"

#ifndef _WIN32
#include <pthread.h>
#endif

enum {
  MOST_WORKERS = 64,
  LEAST_NODES = 256,
  LONG_EVERY = 8,
  BOUND_EVERY = 5,     /* one search of so many asks about the lower bound */
  APPROACH_EVERY = 16, /* with a capacity, one of so many asks for something between it and the best plan */
  LONGER = 2,          /* so many times longer are the long ones at least */
  KEY_COUNT = 4,
  PATIENCE =
      200, /* without any limit, so many windows in vain end the search of a plan too large to be searched whole */
  FIRST_PACKING_NODES = 2000,
  PACKING_NODES = 200000,
  PACKING_SHARE = 60, /* packing nodes to a search node; they are forty times as quick */
  SPLIT_FROM = 8,     /* at this turn, and whenever the turns have doubled, a plan in two storeys is tried */
  SPLIT_LONG_FROM = 32,
  WORKER_STACK = 32 << 20
};

static const double REPORT_EVERY = 0.1; /* seconds */

typedef struct {
  search_pick_t pick;
  char keys[KEY_COUNT + 1]; /* an order of the buffers: see tflm_exact_order */
  int way, by_blame;        /* which of the problem's forms; by what failed before */
  uint64_t seed;            /* of the order */
} strategy_t;

/* The first strategies; then they are drawn, or bred from the last one that found a plan. */
static const strategy_t STRATEGIES[] = {
    {PICK_SNUGGEST, "OAZT", 0, 0, 0}, {PICK_LOWEST_FLOOR, "TAWO", 0, 0, 0}, {PICK_LOWEST_FLOOR, "TWAO", 0, 0, 0},
    {PICK_TIGHTEST, "WATO", 0, 0, 0}, {PICK_LOWEST, "TOAW", 0, 0, 0},       {PICK_LOWEST, "TWAO", 0, 0, 0},
    {PICK_SNUGGEST, "OAZT", 3, 0, 0}, {PICK_LOWEST_FLOOR, "TAWO", 3, 0, 0}, {PICK_LOWEST_FLOOR, "TWAO", 3, 0, 0},
    {PICK_SNUGGEST, "OAZT", 2, 0, 0}, {PICK_LOWEST_FLOOR, "TAWO", 2, 0, 0}, {PICK_LOWEST_FLOOR, "TWAO", 2, 0, 0},
    {PICK_SNUGGEST, "OAZT", 1, 0, 0}, {PICK_LOWEST_FLOOR, "TAWO", 1, 0, 0}, {PICK_LOWEST_FLOOR, "TWAO", 1, 0, 0},
};
enum { STRATEGY_COUNT = sizeof STRATEGIES / sizeof *STRATEGIES };

/* A problem has four forms: as it is; with time reversed (MIRRORED); with all buffers of one lifetime as one block
   (MERGED), which is quicker and may have no plan though the problem has one; and both. */
enum { MIRRORED = 1, MERGED = 2, WAY_COUNT = 4 };

static const char *const FIRST_FIT_KEYS[] = {"ZW", "AZ", "WZ", "TAW", "OZ"};

/* What the workers share. */
typedef struct {
  const problem_t *p;
  const tflm_exact_buffer_t *buffers; /* as the caller gave them */
  problem_t ways[WAY_COUNT];          /* the forms of p; [0] is empty */
  int *block;                         /* by buffer: its block in the merged forms */
  int64_t *above;                     /* by buffer: its offset in its block, bytes */
  int way_count;                      /* 2 where no two buffers have one lifetime */
  const tflm_exact_options_t *options;
  double begun, reported;
  int64_t best_peak, *best;              /* bytes; units */
  int64_t bound, nodes, turns, packings; /* turns, packings: strategies dealt out */
  strategy_t winner;
  int has_winner;
  double aim; /* which part of the gap, from the bound on, the next capacity asked about keeps */
  int stop;
#ifndef _WIN32
  pthread_mutex_t lock;
#endif
} effort_t;

typedef struct {
  effort_t *shared;
  int index;
  search_narrow_t *narrow[WAY_COUNT]; /* made when they are needed first */
  search_wide_t *wide[WAY_COUNT];
  packing_t *packing;       /* NULL where it does not apply */
  int64_t searched, packed; /* nodes */
  search_task_t task;
  int64_t counted;        /* nodes of this task that are in shared->nodes */
  int64_t *units, *plain; /* a plan of one of the forms; the same of the problem as it is */
  int *order;
} worker_t;

#ifdef _WIN32
static void lock(effort_t *e) { (void)e; }
static void unlock(effort_t *e) { (void)e; }
static double now(void) { return (double)clock() / CLOCKS_PER_SEC; }
#else
static void lock(effort_t *e) { pthread_mutex_lock(&e->lock); }
static void unlock(effort_t *e) { pthread_mutex_unlock(&e->lock); }
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
#endif

/* ---- shared state; the caller holds the lock */

static tflm_exact_status_t status_of(const effort_t *e) {
  return (tflm_exact_status_t){e->best_peak, e->bound, e->nodes, now() - e->begun};
}

static int answered(const effort_t *e) {
  const int64_t capacity = e->options->capacity;
  return e->best_peak <= e->bound || (capacity >= 0 && (e->best_peak <= capacity || e->bound > capacity));
}

static void offer(effort_t *e, const int64_t *units) {
  const int64_t peak = tflm_exact_peak(e->p, units);
  if (e->best_peak >= 0 && peak >= e->best_peak) return;
  memcpy(e->best, units, sizeof *units * (size_t)e->p->count);
  e->best_peak = peak;
}

static void check_limits(effort_t *e) {
  const tflm_exact_options_t *o = e->options;
  if (o->node_limit >= 0 && e->nodes >= o->node_limit) e->stop = 1;
  if (o->time_limit >= 0 && now() - e->begun >= o->time_limit) e->stop = 1;
}

/* ---- one worker */

static void count_nodes(worker_t *w, int64_t nodes) {
  w->shared->nodes += nodes - w->counted;
  w->counted = nodes;
}

static int report(worker_t *w) {
  effort_t *e = w->shared;
  if (w->index != 0 || e->options->progress == NULL || now() - e->reported < REPORT_EVERY) return 0;
  e->reported = now();
  const tflm_exact_status_t status = status_of(e);
  unlock(e); /* the caller's function may take its time */
  const int cancelled = e->options->progress(e->options->context, &status);
  lock(e);
  return cancelled;
}

/* Asked by the search now and then: is it over, or is this capacity no longer a question? */
static int poll(void *context, int64_t nodes) {
  worker_t *w = context;
  effort_t *e = w->shared;
  lock(e);
  count_nodes(w, nodes);
  if (report(w)) e->stop = 1;
  check_limits(e);
  const int over = e->stop || answered(e) || w->task.capacity < e->bound || w->task.capacity >= e->best_peak;
  unlock(e);
  return over;
}

/* The capacity to ask about. */
static int64_t choose_target(const effort_t *e, int64_t turn) {
  if (e->options->capacity >= 0 && (turn < STRATEGY_COUNT || turn % APPROACH_EVERY != 0)) return e->options->capacity;
  const int64_t least = e->options->capacity > e->bound ? e->options->capacity : e->bound;
  if (turn % BOUND_EVERY == 0) return least;
  const int64_t target = least + (int64_t)((double)(e->best_peak - least) * e->aim);
  return target < e->best_peak ? target : e->best_peak - 1;
}

static void learn(worker_t *w, int verdict, int is_merged) {
  effort_t *e = w->shared;
  count_nodes(w, w->task.nodes);
  if (verdict == SEARCH_FOUND) offer(e, w->plain);
  if (verdict == SEARCH_FAILED && !is_merged && w->task.capacity >= e->bound)
    e->bound = tflm_exact_next_peak(e->p, w->task.capacity + 1);
  if (verdict == SEARCH_STOPPED && w->task.capacity > e->bound) e->aim += (1.0 - e->aim) * 0.1;
  if (verdict == SEARCH_FOUND) e->aim *= 0.9;
}

static void swap_keys(char *keys, int a, int b) {
  const char moved = keys[a];
  keys[a] = keys[b];
  keys[b] = moved;
}

/* The caller holds the lock. */
static strategy_t strategy_of(const effort_t *e, int64_t turn) {
  if (turn < STRATEGY_COUNT && STRATEGIES[turn].way < e->way_count) return STRATEGIES[turn];
  const uint64_t bits = exact_mix((uint64_t)turn * UINT64_C(0x9e3779b97f4a7c15));
  if (e->has_winner && bits >> 63) {
    strategy_t bred = e->winner;
    swap_keys(bred.keys, (int)(bits % KEY_COUNT), (int)((bits >> 8) % KEY_COUNT));
    return bred;
  }
  strategy_t drawn = {(search_pick_t)((bits >> 48) % PICK_COUNT), "", (int)(bits >> 60) & 1, (int)(bits >> 59) & 1,
                      bits & 32 ? bits >> 5 : 0};
  if (e->way_count > MERGED && (bits >> 61) % 4 == 0) drawn.way |= MERGED; /* may have no plan: less often */
  char keys[] = "TAWOZLaw";
  for (int k = 0; k < KEY_COUNT; k++) {
    swap_keys(keys, k, k + (int)((bits >> (8 * k)) % (sizeof keys - 1 - (size_t)k)));
    drawn.keys[k] = keys[k];
  }
  return drawn;
}

/* 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ..., from 1 on. */
static int64_t luby(int64_t i) {
  int64_t power = 1;
  while (power - 1 < i) power *= 2;
  return power - 1 == i ? power / 2 : luby(i - power / 2 + 1);
}

static int64_t nodes_of(const effort_t *e, int64_t turn) {
  const int64_t least = (int64_t)e->p->count * 3 / 2 + LEAST_NODES;
  return turn % LONG_EVERY == LONG_EVERY - 1 ? least * LONGER * luby(turn / LONG_EVERY + 1) : least;
}

/* A run of the packing search, as long as no other kind of plan is asked for. Returns 0 when it is not its turn. */
static int pack(worker_t *w) {
  effort_t *e = w->shared;
  if (w->packing == NULL || w->packed > w->searched * PACKING_SHARE) return 0;
  lock(e);
  const int64_t turn = e->packings++;
  check_limits(e);
  const int over = e->stop || answered(e) || e->bound > e->p->bound;
  w->counted = 0;
  w->task.capacity = e->p->bound;
  unlock(e);
  if (over) return 0;
  const int64_t nodes = turn == 0 ? FIRST_PACKING_NODES : PACKING_NODES;
  packing_task_t task = {(uint64_t)turn, nodes, poll, w, 0};
  const int verdict = tflm_exact_packing_run(w->packing, &task, w->plain);
  w->task.nodes = task.nodes;
  w->packed += task.nodes;
  lock(e);
  learn(w, verdict, 0);
  unlock(e);
  return 1;
}

/* Turn a plan of one of the forms into one of the problem as it is. */
static void to_plain(worker_t *w, int way) {
  const effort_t *e = w->shared;
  for (int i = 0; i < e->p->count; i++)
    w->plain[i] = way & MERGED ? (w->units[e->block[i]] * e->ways[way].unit + e->above[i]) / e->p->unit : w->units[i];
}

static int search_as(worker_t *w, int way) {
  const problem_t *p = way == 0 ? w->shared->p : &w->shared->ways[way];
  if (exact_search_is_narrow(p)) {
    if (w->narrow[way] == NULL) w->narrow[way] = tflm_exact_search_new_narrow(p);
    return w->narrow[way] == NULL ? SEARCH_STOPPED : tflm_exact_search_run_narrow(w->narrow[way], &w->task, w->units);
  }
  if (w->wide[way] == NULL) w->wide[way] = tflm_exact_search_new_wide(p);
  return w->wide[way] == NULL ? SEARCH_STOPPED : tflm_exact_search_run_wide(w->wide[way], &w->task, w->units);
}

/* Two storeys, before the search of few turns: each with a quarter of the nodes until now, later with four times as many, since
   by then a search of the whole will hardly find anything. */
static int split(worker_t *w, int64_t turn, int64_t nodes) {
  effort_t *e = w->shared;
  const int64_t most = turn < SPLIT_LONG_FROM ? nodes / 4 : nodes * 4;
  const int64_t left = e->options->node_limit < 0 ? most : (e->options->node_limit - nodes) / 2;
  split_task_t task = {e->options->capacity, (uint64_t)turn, most < left ? most : left, poll, w, 0};
  const int verdict = tflm_exact_split_run(e->p, e->buffers, &task, w->plain);
  lock(e);
  count_nodes(w, task.nodes);
  if (verdict == SEARCH_FOUND) offer(e, w->plain);
  w->counted = 0;
  unlock(e);
  return verdict == SEARCH_FOUND;
}

static int is_split_turn(int64_t turn) { return turn >= SPLIT_FROM && (turn & (turn - 1)) == 0; }

/* Returns 0 when there is nothing more to do. */
static int ask(worker_t *w) {
  effort_t *e = w->shared;
  lock(e);
  const int64_t turn = e->turns++;
  const strategy_t chosen = strategy_of(e, turn);
  check_limits(e);
  const int over = e->stop || answered(e);
  w->counted = 0;
  w->task = (search_task_t){.capacity = over ? 0 : choose_target(e, turn),
                            .pick = chosen.pick,
                            .order = w->order,
                            .by_blame = chosen.by_blame,
                            .node_limit = nodes_of(e, turn),
                            .poll = poll,
                            .context = w};
  const int64_t nodes = e->nodes;
  unlock(e);
  if (over) return 0;
  if (e->options->capacity >= 0 && is_split_turn(turn) && split(w, turn, nodes)) return 1;
  tflm_exact_order(chosen.way == 0 ? e->p : &e->ways[chosen.way], chosen.keys, chosen.seed, w->order);
  const int verdict = search_as(w, chosen.way);
  if (verdict == SEARCH_FOUND) to_plain(w, chosen.way);
  w->searched += w->task.nodes;
  lock(e);
  learn(w, verdict, chosen.way & MERGED);
  if (verdict == SEARCH_FOUND) {
    e->winner = chosen;
    e->has_winner = 1;
  }
  unlock(e);
  return 1;
}

static void *work(void *argument) {
  worker_t *w = argument;
  while (pack(w) || ask(w)) continue;
  return NULL;
}

static void worker_free(worker_t *w) {
  for (int way = 0; way < WAY_COUNT; way++) {
    tflm_exact_search_free_narrow(w->narrow[way]);
    tflm_exact_search_free_wide(w->wide[way]);
  }
  tflm_exact_packing_free(w->packing);
  free(w->units);
  free(w->plain);
  free(w->order);
}

static int worker_init(worker_t *w, effort_t *e, int index) {
  memset(w, 0, sizeof *w);
  w->shared = e;
  w->index = index;
  w->units = malloc(sizeof *w->units * (size_t)(e->p->count + 1));
  w->order = malloc(sizeof *w->order * (size_t)(e->p->count + 1));
  w->plain = malloc(sizeof *w->plain * (size_t)(e->p->count + 1));
  int good = w->units != NULL && w->order != NULL && w->plain != NULL;
  if (tflm_exact_packing_applies(e->p)) good &= (w->packing = tflm_exact_packing_new(e->p)) != NULL;
  return good;
}

/* ---- all workers */

#ifdef _WIN32
static void run_workers(worker_t *workers, int count) {
  (void)count;
  work(&workers[0]);
}
#else
/* The first worker is this thread: only it talks to the caller. */
static void run_workers(worker_t *workers, int count) {
  pthread_t threads[MOST_WORKERS];
  pthread_attr_t attributes;
  int started = 1;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, WORKER_STACK);
  for (; started < count; started++)
    if (pthread_create(&threads[started], &attributes, work, &workers[started]) != 0) break;
  pthread_attr_destroy(&attributes);
  work(&workers[0]);
  for (int k = 1; k < started; k++) pthread_join(threads[k], NULL);
}
#endif

static int search_all(effort_t *e, int count) {
  worker_t workers[MOST_WORKERS];
  int made = 0, good = 1;
  for (; made < count && good; made++) good = worker_init(&workers[made], e, made);
  if (good) run_workers(workers, count);
  for (int k = 0; k < made; k++) worker_free(&workers[k]);
  return good ? TFLM_PLAN_OK : TFLM_PLAN_E_MEMORY;
}

/* Asked by what is not a search: one thread only. */
static int stops(void *context) {
  effort_t *e = context;
  if (e->options->progress != NULL && now() - e->reported >= REPORT_EVERY) {
    const tflm_exact_status_t status = status_of(e);
    e->reported = now();
    if (e->best_peak >= 0 && e->options->progress(e->options->context, &status)) e->stop = 1;
  }
  check_limits(e);
  return e->stop && e->best_peak >= 0; /* some plan has to be there */
}

/* More buffers than a search can hold: a window at a time, until a limit. */
static int improve(effort_t *e) {
  improvement_t m;
  int64_t *units = malloc(sizeof *units * (size_t)(e->p->count + 1));
  const int code = units == NULL ? TFLM_PLAN_E_MEMORY : tflm_exact_improve_init(&m, e->p, units);
  if (units != NULL && code == TFLM_PLAN_OK) {
    memcpy(units, e->best, sizeof *units * (size_t)e->p->count);
    m.stops = stops;
    m.context = e;
    const int has_limit = e->options->time_limit >= 0 || e->options->node_limit >= 0;
    for (int misses = 0; (has_limit || misses < PATIENCE) && !stops(e) && !answered(e);) {
      misses = tflm_exact_improve_once(&m, e->best_peak) ? 0 : misses + 1;
      e->nodes = m.nodes + misses;
      offer(e, units);
    }
  }
  if (units != NULL) tflm_exact_improve_free(&m);
  free(units);
  return code;
}

static int first_plans(effort_t *e) {
  int *order = malloc(sizeof *order * (size_t)(e->p->count + 1));
  int64_t *units = malloc(sizeof *units * (size_t)(e->p->count + 1));
  int code = order != NULL && units != NULL ? TFLM_PLAN_OK : TFLM_PLAN_E_MEMORY;
  for (size_t k = 0; code == TFLM_PLAN_OK && k < sizeof FIRST_FIT_KEYS / sizeof *FIRST_FIT_KEYS; k++) {
    tflm_exact_order(e->p, FIRST_FIT_KEYS[k], 0, order);
    code = tflm_exact_first_fit(e->p, order, units, stops, e);
    if (code == TFLM_PLAN_OK) offer(e, units);
    if (e->best_peak == e->bound) break;
  }
  free(order);
  free(units);
  return code > 0 ? TFLM_PLAN_OK : code; /* out of time: some plan is there */
}

/* ---- the forms of the problem */

typedef struct {
  int low, high, index;
  int64_t align;
} lifetime_t;

static int compare_lifetimes(const void *a, const void *b) {
  const lifetime_t *x = a, *y = b;
  if (x->low != y->low) return x->low - y->low;
  if (x->high != y->high) return x->high - y->high;
  if (x->align != y->align) return x->align < y->align ? -1 : 1;
  return x->index - y->index;
}

static int are_one_block(const problem_t *p, const lifetime_t *x, const lifetime_t *y) {
  const int i = x->index, j = y->index;
  return x->low == y->low && x->high == y->high && x->align == y->align && p->fixed[i] == TFLM_EXACT_FREE &&
         p->fixed[j] == TFLM_EXACT_FREE && p->bytes[i] % (p->align[i] * p->unit) == 0 &&
         p->bytes[j] % (p->align[j] * p->unit) == 0;
}

/* Fill merged with the blocks and say which buffer is where; returns how many blocks there are. */
static int merge(effort_t *e, lifetime_t *list, tflm_exact_buffer_t *merged) {
  const problem_t *p = e->p;
  int count = 0;
  for (int i = 0; i < p->count; i++) list[i] = (lifetime_t){p->low[i], p->high[i], i, p->align[i]};
  qsort(list, (size_t)p->count, sizeof *list, compare_lifetimes);
  for (int k = 0; k < p->count; k++) {
    const int i = list[k].index;
    if (k == 0 || !are_one_block(p, &list[k - 1], &list[k]))
      merged[count++] = (tflm_exact_buffer_t){0, p->low[i], p->high[i] - 1, p->align[i] * p->unit,
                                              p->fixed[i] == TFLM_EXACT_FREE ? TFLM_EXACT_FREE : p->fixed[i] * p->unit};
    e->block[i] = count - 1;
    e->above[i] = merged[count - 1].size;
    merged[count - 1].size += p->bytes[i];
  }
  return count;
}

static void mirror(tflm_exact_buffer_t *buffers, int count) {
  for (int i = 0; i < count; i++) {
    const int64_t first = buffers[i].first;
    buffers[i].first = -1 - buffers[i].last; /* no overflow at the edges */
    buffers[i].last = -1 - first;
  }
}

static int init_ways(effort_t *e) {
  const problem_t *p = e->p;
  const size_t n = (size_t)p->count + 1;
  tflm_exact_buffer_t *buffers = malloc(sizeof *buffers * n);
  lifetime_t *list = malloc(sizeof *list * n);
  e->block = malloc(sizeof *e->block * n);
  e->above = malloc(sizeof *e->above * n);
  int code =
      buffers != NULL && list != NULL && e->block != NULL && e->above != NULL ? TFLM_PLAN_OK : TFLM_PLAN_E_MEMORY;
  if (code == TFLM_PLAN_OK) {
    const int count = merge(e, list, buffers);
    e->way_count = count < p->count ? WAY_COUNT : MERGED;
    for (int way = MERGED; way < e->way_count && code == TFLM_PLAN_OK; way++) {
      code = tflm_exact_problem_init(&e->ways[way], buffers, (size_t)count);
      mirror(buffers, count);
    }
    for (int i = 0; i < p->count; i++)
      buffers[i] = (tflm_exact_buffer_t){p->bytes[i], p->low[i], p->high[i] - 1, p->align[i] * p->unit,
                                         p->fixed[i] == TFLM_EXACT_FREE ? TFLM_EXACT_FREE : p->fixed[i] * p->unit};
    mirror(buffers, p->count);
    if (code == TFLM_PLAN_OK) code = tflm_exact_problem_init(&e->ways[MIRRORED], buffers, (size_t)p->count);
  }
  free(list);
  free(buffers);
  return code;
}

static void free_ways(effort_t *e) {
  for (int way = 1; way < WAY_COUNT; way++) tflm_exact_problem_free(&e->ways[way]);
  free(e->block);
  free(e->above);
}

static int solve_problem(effort_t *e) {
  const problem_t *p = e->p;
  e->best = calloc((size_t)p->count + 1, sizeof *e->best);
  if (e->best == NULL) return TFLM_PLAN_E_MEMORY;
  const int code = first_plans(e);
  if (code != TFLM_PLAN_OK || answered(e)) return code;
  if (p->count > MOST_SEARCHED) return improve(e);
#ifdef _WIN32
  return search_all(e, 1);
#else
  if (pthread_mutex_init(&e->lock, NULL) != 0) return TFLM_PLAN_E_MEMORY;
  const int searched = search_all(e, e->options->workers < MOST_WORKERS ? e->options->workers : MOST_WORKERS);
  pthread_mutex_destroy(&e->lock);
  return searched;
#endif
}

/* ---- the way in */

static int arguments_are_bad(const tflm_exact_buffer_t *buffers, size_t count, const tflm_exact_options_t *options) {
  if (count > INT32_MAX / 4 || options->workers < 1) return 1;
  for (size_t i = 0; i < count; i++) {
    const tflm_exact_buffer_t *b = &buffers[i];
    if (b->size < 0 || b->alignment < 1 || b->first > b->last || b->offset < TFLM_EXACT_FREE) return 1;
  }
  return 0;
}

static void fill(const effort_t *e, const tflm_exact_buffer_t *buffers, size_t count, tflm_exact_result_t *result,
                 int64_t *offsets) {
  for (size_t i = 0; i < count; i++) offsets[i] = buffers[i].offset == TFLM_EXACT_FREE ? 0 : buffers[i].offset;
  for (int k = 0; k < e->p->count; k++) offsets[e->p->original[k]] = e->best[k] * e->p->unit;
  result->status = status_of(e);
  result->proved = answered(e);
  result->infeasible = e->options->capacity >= 0 && e->bound > e->options->capacity;
}

int tflm_exact_solve(const tflm_exact_buffer_t *buffers, size_t count, const tflm_exact_options_t *options,
                     tflm_exact_result_t *result, int64_t *offsets) {
  problem_t p;
  if (arguments_are_bad(buffers, count, options)) return TFLM_PLAN_E_ARGUMENT;
  effort_t e = {.p = &p, .buffers = buffers, .options = options, .begun = now(), .best_peak = -1, .aim = 0.5};
  int code = tflm_exact_problem_init(&p, buffers, count);
  e.bound = p.bound;
  if (code == TFLM_PLAN_OK && tflm_exact_fixed_collide(&p)) {
    *result = (tflm_exact_result_t){{-1, p.bound, 0, now() - e.begun}, 1, 1};
  } else if (code == TFLM_PLAN_OK) {
    if (p.count <= MOST_SEARCHED) code = init_ways(&e);
    if (code == TFLM_PLAN_OK) code = solve_problem(&e);
    if (code == TFLM_PLAN_OK) fill(&e, buffers, count, result, offsets);
  }
  free(e.best);
  tflm_exact_problem_free(&p);
  free_ways(&e);
  return code;
}
