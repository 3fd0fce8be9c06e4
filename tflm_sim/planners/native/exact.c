/* The whole question: bounds and first plans, then many searches of growing length.
 *
 * Whether a search finds a plan at once or gets lost depends on its strategy more than on its length: most are short,
 * each with a strategy of its own. Some are longer, and longer the later they come, so that in the end a proof gets the
 * nodes that it needs. Each asks about one
 * capacity: sometimes the lower bound, where a plan would be the best, mostly something between it and the best plan so
 * far. "Found" lowers the best plan, "failed" raises the bound. With more than one worker the strategies are dealt out;
 * workers share the best plan and the bound, nothing else.
 */
#if defined(_WIN32) || defined(__wasm__)
#define TFLM_ONE_THREAD
#elif !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include "exact.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exact_block.h"
#include "exact_build.h"
#include "exact_improve.h"
#include "exact_packing.h"
#include "exact_split.h"
#include "exact_strategy.h"
#include "exact_ways.h"

#ifndef TFLM_ONE_THREAD
#include <pthread.h>
#endif

enum {
  MOST_WORKERS = 64,
  APPROACH_EVERY = 16,  /* with a capacity, one of so many asks for something between it and the best plan */
  PATIENCE = 200,       /* without any limit, so many windows in vain end the search of what is too large for one */
  BUFFERS_PER_NODE = 8, /* first fit places so many in the time of a node */
  FIRST_PACKING_NODES = 2000,
  PACKING_NODES = 200000,
  PACKING_SHARE = 60, /* packing nodes to a search node; they are forty times as quick */
  SPLIT_FROM = 8,     /* from this turn on a plan in two levels is tried */
  SPLIT_TARGETS = 4,
  WORKER_STACK = 32 << 20
};

static const double REPORT_EVERY = 0.1; /* seconds */

static const char *const FIRST_FIT_KEYS[] = {"ZW", "AZ", "WZ", "TAW", "OZ"};

/* What the workers share. */
typedef struct {
  void *block; /* best, units, order */
  const problem_t *p;
  const tflm_exact_buffer_t *buffers; /* as the caller gave them */
  const tflm_exact_options_t *options;
  ways_t ways;
  double begun, reported;
  int64_t best_peak, *best;              /* bytes; units */
  int64_t bound, nodes, turns, packings; /* the last two: dealt out */
  int64_t searched;                      /* nodes of searches of the whole */
  split_turns_t splits;
  strategy_t winner;
  int has_winner;
  double aim; /* which part of the gap, from the bound on, the next capacity asked about keeps */
  int stop;
  int64_t *units; /* a plan and an order that are tried while there are no workers yet */
  int *order;
#ifndef TFLM_ONE_THREAD
  pthread_mutex_t lock;
#endif
} effort_t;

typedef struct {
  void *block; /* units, plain, order */
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

#ifdef TFLM_ONE_THREAD
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

/* The caller's plan, where the problem's units can say it; the search has then no need of what first fit makes of many.
 */
static void offer_start(effort_t *e) {
  const problem_t *p = e->p;
  for (int k = 0; k < p->count; k++) {
    const int64_t at = e->options->start[p->original[k]];
    if (at % p->unit != 0) return;
    e->units[k] = at / p->unit;
  }
  offer(e, e->units);
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

/* Is a search over, or is its capacity no longer a question? */
static int search_is_over(void *context, int64_t nodes) {
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

/* The capacity to ask about. Without one, the first strategies ask about the bound, as they do with one: where a plan
 * at the bound exists, one of them often has it at once.
 */
static int64_t choose_target(const effort_t *e, int64_t turn) {
  const int64_t capacity = e->options->capacity, least = capacity > e->bound ? capacity : e->bound;
  if (turn < FIRST_STRATEGIES || (capacity >= 0 && turn % APPROACH_EVERY != 0)) return capacity >= 0 ? capacity : least;
  const int64_t target = least + (int64_t)((double)(e->best_peak - least) * e->aim);
  return target < e->best_peak ? target : e->best_peak - 1;
}

static void learn(worker_t *w, int verdict, int is_merged) {
  effort_t *e = w->shared;
  count_nodes(w, w->task.limits.nodes);
  if (verdict == SEARCH_FOUND) offer(e, w->plain);
  if (verdict == SEARCH_FAILED && !is_merged && w->task.capacity >= e->bound)
    e->bound = tflm_exact_next_peak(e->p, w->task.capacity + 1);
  if (verdict == SEARCH_STOPPED && w->task.capacity > e->bound) e->aim += (1.0 - e->aim) * 0.1;
  if (verdict == SEARCH_FOUND) e->aim *= 0.9;
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
  packing_task_t task = {(uint64_t)turn, {nodes, search_is_over, w, 0}};
  const int verdict = tflm_exact_packing_run(w->packing, &task, w->plain);
  w->task.limits.nodes = task.limits.nodes;
  w->packed += task.limits.nodes;
  lock(e);
  learn(w, verdict, 0);
  unlock(e);
  return 1;
}

static int search_as(worker_t *w, int way) {
  const problem_t *p = exact_way(&w->shared->ways, way);
  if (exact_search_is_narrow(p)) {
    if (w->narrow[way] == NULL) w->narrow[way] = tflm_exact_search_new_narrow(p);
    return w->narrow[way] == NULL ? SEARCH_STOPPED : tflm_exact_search_run_narrow(w->narrow[way], &w->task, w->units);
  }
  if (w->wide[way] == NULL) w->wide[way] = tflm_exact_search_new_wide(p);
  return w->wide[way] == NULL ? SEARCH_STOPPED : tflm_exact_search_run_wide(w->wide[way], &w->task, w->units);
}

/* Two levels within the capacity, or else without all, a half, a quarter .. of the gap from the bound to the best
 * plan. Returns 0 when it is not their turn.
 */
static int split(worker_t *w) {
  effort_t *e = w->shared;
  const int64_t capacity = e->options->capacity, node_limit = e->options->node_limit;
  lock(e);
  split_task_t task =
      tflm_exact_split_next(&e->splits, e->p->count, capacity >= 0, capacity >= 0 ? e->searched : e->nodes);
  if (node_limit >= 0 && task.limits.node_limit > (node_limit - e->nodes) / 2)
    task.limits.node_limit = (node_limit - e->nodes) / 2;
  check_limits(e);
  const int over = e->turns < SPLIT_FROM || task.limits.node_limit <= 0 || e->stop || answered(e);
  const int64_t turn = over ? 0 : e->splits.turns++, gap = e->best_peak - e->bound;
  w->counted = 0;
  w->task.capacity = capacity >= 0 ? capacity : e->bound + gap - (gap >> turn % SPLIT_TARGETS);
  unlock(e);
  if (over) return 0;
  task.solve = tflm_exact_solve;
  task.capacity = w->task.capacity;
  task.limits.is_over = search_is_over;
  task.limits.context = w;
  const int verdict = tflm_exact_split_run(e->p, e->buffers, &task, w->plain);
  lock(e);
  count_nodes(w, task.limits.nodes);
  tflm_exact_split_done(&e->splits, e->p->count, &task);
  if (verdict == SEARCH_FOUND) offer(e, w->plain);
  unlock(e);
  return 1;
}

/* Returns 0 when there is nothing more to do. */
static int ask(worker_t *w) {
  effort_t *e = w->shared;
  lock(e);
  const int64_t turn = e->turns++;
  const strategy_t chosen = tflm_exact_strategy(turn, e->ways.count, e->has_winner ? &e->winner : NULL);
  check_limits(e);
  const int over = e->stop || answered(e);
  w->counted = 0;
  w->task = (search_task_t){.capacity = over ? 0 : choose_target(e, turn),
                            .pick = chosen.pick,
                            .order = w->order,
                            .limits = {tflm_exact_nodes(e->p->count, turn), search_is_over, w, 0}};
  unlock(e);
  if (over) return 0;
  tflm_exact_order(exact_way(&e->ways, chosen.way), chosen.keys, chosen.seed, w->order);
  const int verdict = search_as(w, chosen.way);
  if (verdict == SEARCH_FOUND) tflm_exact_ways_to_plain(&e->ways, chosen.way, w->units, w->plain);
  w->searched += w->task.limits.nodes;
  lock(e);
  e->searched += w->task.limits.nodes;
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
  while (pack(w) || split(w) || ask(w)) continue;
  return NULL;
}

static void worker_free(worker_t *w) {
  for (int way = 0; way < WAY_COUNT; way++) {
    tflm_exact_search_free_narrow(w->narrow[way]);
    tflm_exact_search_free_wide(w->wide[way]);
  }
  tflm_exact_packing_free(w->packing);
  free(w->block);
}

static void lay_out_worker(void *object, tflm_workspace_t *workspace) {
  worker_t *w = object;
  const size_t n = (size_t)w->shared->p->count;
  w->units = tflm_carve(workspace, n, sizeof *w->units);
  w->plain = tflm_carve(workspace, n, sizeof *w->plain);
  w->order = tflm_carve(workspace, n, sizeof *w->order);
}

static int worker_init(worker_t *w, effort_t *e, int index) {
  *w = (worker_t){.shared = e, .index = index};
  w->block = tflm_exact_block_new(w, lay_out_worker);
  if (w->block == NULL || !tflm_exact_packing_applies(e->p)) return w->block != NULL;
  w->packing = tflm_exact_packing_new(e->p);
  return w->packing != NULL;
}

/* ---- all workers */

#ifdef TFLM_ONE_THREAD
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

/* ---- what is not a search: one thread only */

static int effort_is_over(void *context, int64_t nodes) {
  effort_t *e = context;
  (void)nodes; /* counted when the work is done */
  if (e->options->progress != NULL && now() - e->reported >= REPORT_EVERY) {
    const tflm_exact_status_t status = status_of(e);
    e->reported = now();
    if (e->options->progress(e->options->context, &status)) e->stop = 1;
  }
  check_limits(e);
  return e->stop;
}

/* More buffers than a search can hold: a window at a time, or first fit in another order, until a limit. What succeeds
 * more often for its nodes has its turn more often.
 */
static int improve(effort_t *e) {
  const limits_t limits = {INT64_MAX, effort_is_over, e, 0};
  const int has_limit = e->options->time_limit >= 0 || e->options->node_limit >= 0;
  improvement_t m;
  const int code = tflm_exact_improve_init(&m, e->p, tflm_exact_solve, &limits, e->units);
  memcpy(e->units, e->best, sizeof *e->units * (size_t)e->p->count);
  for (int64_t misses[2] = {0, 0}, cost[2] = {0, 0}; code == TFLM_PLAN_OK && (has_limit || misses[0] < PATIENCE);) {
    if (exact_ask(&limits) || answered(e)) break;
    const int shakes = m.shakes < 2 || cost[1] * (1 + misses[1]) <= cost[0] * (1 + misses[0]);
    const int is_better =
        shakes ? tflm_exact_improve_shake(&m, e->best_peak) : tflm_exact_improve_once(&m, e->best_peak);
    misses[shakes] = is_better ? 0 : misses[shakes] + 1;
    cost[0] = m.limits.nodes + misses[0];
    cost[1] = m.shakes * (e->p->count / BUFFERS_PER_NODE);
    e->nodes = cost[0] + cost[1];
    offer(e, e->units);
  }
  tflm_exact_improve_free(&m);
  return code;
}

static int first_plans(effort_t *e) {
  const limits_t limits = {INT64_MAX, effort_is_over, e, 0};
  int code = TFLM_PLAN_OK;
  if (e->options->start != NULL) offer_start(e);
  if (e->best_peak >= 0 && (e->best_peak == e->bound || e->p->count > MOST_SEARCHED)) return TFLM_PLAN_OK;
  for (size_t k = 0; code == TFLM_PLAN_OK && k < sizeof FIRST_FIT_KEYS / sizeof *FIRST_FIT_KEYS; k++) {
    tflm_exact_order(e->p, FIRST_FIT_KEYS[k], 0, e->order);
    code = tflm_exact_first_fit(e->p, e->order, &limits, e->units);
    if (code >= TFLM_PLAN_OK) offer(e, e->units);
    if (e->best_peak == e->bound) break;
  }
  return code > 0 ? TFLM_PLAN_OK : code;
}

static void lay_out(void *object, tflm_workspace_t *workspace) {
  effort_t *e = object;
  const size_t n = (size_t)e->p->count;
  e->best = tflm_carve(workspace, n, sizeof *e->best);
  e->units = tflm_carve(workspace, n, sizeof *e->units);
  e->order = tflm_carve(workspace, n, sizeof *e->order);
}

static int solve_problem(effort_t *e) {
  const problem_t *p = e->p;
  e->block = tflm_exact_block_new(e, lay_out);
  if (e->block == NULL) return TFLM_PLAN_E_MEMORY;
  const int code = first_plans(e);
  if (code != TFLM_PLAN_OK || answered(e)) return code;
  if (p->count > MOST_SEARCHED) return improve(e);
#ifdef TFLM_ONE_THREAD
  return search_all(e, 1);
#else
  if (pthread_mutex_init(&e->lock, NULL) != 0) return TFLM_PLAN_E_MEMORY;
  const int searched = search_all(e, e->options->workers < MOST_WORKERS ? e->options->workers : MOST_WORKERS);
  pthread_mutex_destroy(&e->lock);
  return searched;
#endif
}

/* ---- the way in */

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
  if (options->workers < 1 || tflm_exact_buffers_are_bad(buffers, count)) return TFLM_PLAN_E_ARGUMENT;
  effort_t e = {.p = &p, .buffers = buffers, .options = options, .begun = now(), .best_peak = -1, .aim = 0.5};
  int code = tflm_exact_problem_init(&p, buffers, count, 1);
  e.bound = p.bound;
  const int collide = code == TFLM_PLAN_OK ? tflm_exact_fixed_collide(&p) : 0;
  if (collide < 0) code = collide;
  if (collide > 0) {
    *result = (tflm_exact_result_t){{-1, p.bound, 0, now() - e.begun}, 1, 1};
  } else if (code == TFLM_PLAN_OK) {
    if (p.count <= MOST_SEARCHED) code = tflm_exact_ways_init(&e.ways, &p);
    if (code == TFLM_PLAN_OK) code = solve_problem(&e);
    if (code == TFLM_PLAN_OK) fill(&e, buffers, count, result, offsets);
  }
  free(e.block);
  tflm_exact_problem_free(&p);
  tflm_exact_ways_free(&e.ways);
  return code;
}
