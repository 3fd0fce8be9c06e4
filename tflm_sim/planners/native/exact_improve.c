/* Of a large problem with few sizes, as a training step has, the order among equals decides: first come, first served,
 * leaves what a graph frees together together. Two plain orders, from either end of time, then each time the best of
 * all is shaken: every beginning by a little, or a few by much. What gives a plan no higher is the best from then on.
 *
 * One step of the other kind frees a window: one of the buffers that reach up to the peak, and others that are alive
 * near it, as many as a search can place again in a moment. All others stay, as fixed buffers. The question to the
 * exact search is whether the window has a plan below the peak; when the last of the highest buffers is lower, so is
 * the peak.
 *
 *   peak  +---+            a reaches the peak: a, b, c are freed,
 *         | a |  +--+      d and e stay.
 *         +-+-+--+ d|
 *         |b|  c |--+      Windows of several lengths are drawn; the longer one is, the fewer of its buffers can be
 *         +-+----+ e|      freed, and the more of what is around them is fixed.
 */
#include "exact_improve.h"

#include <stdlib.h>
#include <string.h>

#include "exact_block.h"

enum { FEWEST_FREED = 12, MOST_FREED = 140, NODES_PER_FREED = 25 };
enum { WEAKEST = 14 }; /* a shake is by 2^-WEAKEST of all of time at least */

static void lay_out(void *object, tflm_workspace_t *workspace) {
  improvement_t *m = object;
  m->part = tflm_carve(workspace, MOST_SEARCHED, sizeof *m->part);
  m->offsets = tflm_carve(workspace, MOST_SEARCHED, sizeof *m->offsets);
  m->named = tflm_carve(workspace, MOST_SEARCHED, sizeof *m->named);
  m->begin = tflm_carve(workspace, (size_t)m->p->count, sizeof *m->begin);
  m->shaken = tflm_carve(workspace, (size_t)m->p->count, sizeof *m->shaken);
  m->order = tflm_carve(workspace, (size_t)m->p->count, sizeof *m->order);
  m->tried = tflm_carve(workspace, (size_t)m->p->count, sizeof *m->tried);
}

int tflm_exact_improve_init(improvement_t *m, const problem_t *p, tflm_exact_solver_t solve, const limits_t *limits,
                            int64_t *units) {
  *m = (improvement_t){.p = p, .solve = solve, .units = units, .seed = 1, .limits = *limits, .least = INT64_MAX};
  m->block = tflm_exact_block_new(m, lay_out);
  return m->block != NULL ? TFLM_PLAN_OK : TFLM_PLAN_E_MEMORY;
}

void tflm_exact_improve_free(improvement_t *m) { free(m->block); }

static int draw(improvement_t *m, int below) {
  m->seed += UINT64_C(0x9e3779b97f4a7c15);
  return (int)(exact_mix(m->seed) % (uint64_t)below);
}

static int64_t end_of(const improvement_t *m, int i) { return m->units[i] * m->p->unit + m->p->bytes[i]; }

/* One of the free buffers that reach the peak, or -1. */
static int draw_highest(improvement_t *m, int64_t peak) {
  int found = 0, chosen = -1;
  for (int i = 0; i < m->p->count; i++)
    if (end_of(m, i) == peak && m->p->fixed[i] == TFLM_EXACT_FREE && draw(m, ++found) == 0) chosen = i;
  return chosen;
}

static tflm_exact_buffer_t as_buffer(const improvement_t *m, int i, int is_freed) {
  const problem_t *p = m->p;
  return (tflm_exact_buffer_t){p->bytes[i], p->low[i], p->high[i] - 1, p->align[i] * p->unit,
                               is_freed ? TFLM_EXACT_FREE : m->units[i] * p->unit};
}

static int meets(const problem_t *p, int i, int low, int high) { return p->low[i] < high && low < p->high[i]; }

/* List the freed ones first; returns how many buffers the window has, or 0 when they are too many. */
static int list_window(improvement_t *m, int highest, int64_t peak) {
  const problem_t *p = m->p;
  const int most = FEWEST_FREED + draw(m, MOST_FREED - FEWEST_FREED), reach = 1 + draw(m, 1 + p->section_count / 8);
  int low = p->low[highest] - reach, high = p->high[highest] + reach, freed = 0, inside = 0;
  for (int i = 0; i < p->count; i++) inside += p->low[i] >= low && p->high[i] <= high && p->fixed[i] == TFLM_EXACT_FREE;
  low = p->low[highest];
  high = p->high[highest];
  m->named[freed++] = highest;
  for (int i = 0, left = inside; i < p->count && freed < most; i++) {
    if (p->low[i] < p->low[highest] - reach || p->high[i] > p->high[highest] + reach || p->fixed[i] != TFLM_EXACT_FREE)
      continue;
    left--;
    if (i == highest || draw(m, left + 1) >= most - freed) continue;
    m->named[freed++] = i;
    if (p->low[i] < low) low = p->low[i];
    if (p->high[i] > high) high = p->high[i];
  }
  int count = freed;
  for (int k = 0; k < freed; k++) m->part[k] = as_buffer(m, m->named[k], 1);
  for (int i = 0; i < p->count; i++) {
    if (!meets(p, i, low, high)) continue;
    int is_freed = 0;
    for (int k = 0; k < freed && !is_freed; k++) is_freed = m->named[k] == i;
    if (is_freed) continue;
    if (count == MOST_SEARCHED) return 0;
    m->part[count] = as_buffer(m, i, 0);
    /* What is as high and stays would make the question a vain one: it is cut below the peak. */
    if (end_of(m, i) >= peak) m->part[count].size = p->bytes[i] > p->unit ? p->bytes[i] - p->unit : 0;
    m->named[count++] = i;
  }
  return count;
}

static int ask(void *context, const tflm_exact_status_t *status) {
  const improvement_t *m = context;
  (void)status;
  return exact_ask(&m->limits);
}

int tflm_exact_improve_once(improvement_t *m, int64_t peak) {
  const int highest = draw_highest(m, peak);
  if (highest < 0) return 0;
  const int count = list_window(m, highest, peak);
  if (count == 0) return 0;
  int freed = 0;
  while (freed < count && m->part[freed].offset == TFLM_EXACT_FREE) freed++;
  const tflm_exact_options_t options = {peak - 1, (int64_t)freed * NODES_PER_FREED + 500, -1.0, 1, ask, m, NULL};
  tflm_exact_result_t result;
  if (m->solve(m->part, (size_t)count, &options, &result, m->offsets) != TFLM_PLAN_OK) return 0;
  m->limits.nodes += result.status.nodes;
  if (result.infeasible || result.status.peak >= peak) return 0;
  for (int k = 0; k < freed; k++) m->units[m->named[k]] = m->offsets[k] / m->p->unit;
  return 1;
}

/* ---- shaking */

/* At least 0 and below 1. */
static double chance(improvement_t *m) {
  m->seed += UINT64_C(0x9e3779b97f4a7c15);
  return exact_fraction(m->seed);
}

/* Fill `shaken`: time from either end at first, then the best so far, every buffer moved a little or few by much. */
static void shake(improvement_t *m) {
  const problem_t *p = m->p;
  const double sections = p->section_count, strength = 1.0 / (1 << draw(m, WEAKEST + 1));
  const int moves_all = m->shakes % 2 == 0;
  for (int i = 0; i < p->count; i++) {
    if (m->shakes < 2) {
      m->shaken[i] = m->shakes == 0 ? p->low[i] : p->section_count - p->high[i];
      continue;
    }
    m->shaken[i] = m->begin[i];
    if (moves_all)
      m->shaken[i] += sections * strength * chance(m);
    else if (chance(m) < strength)
      m->shaken[i] += sections * (chance(m) - 0.5);
  }
}

int tflm_exact_improve_shake(improvement_t *m, int64_t peak) {
  shake(m);
  m->shakes++;
  tflm_exact_order_by_size(m->p, m->shaken, m->order);
  if (tflm_exact_first_fit(m->p, m->order, &m->limits, m->tried) != TFLM_PLAN_OK) return 0;
  const int64_t reached = tflm_exact_peak(m->p, m->tried);
  if (reached > m->least) return 0;
  m->least = reached;
  memcpy(m->begin, m->shaken, sizeof *m->begin * (size_t)m->p->count);
  if (reached >= peak) return 0;
  memcpy(m->units, m->tried, sizeof *m->units * (size_t)m->p->count);
  return 1;
}
