/* Plans without a gap. Where every section is full, only the order from bottom to top is open at each moment. At the
 * beginning of a section some buffers end and others begin; what ends leaves holes, and each hole is filled by
 * some of those that begin:
 *
 *     t-1   t       d and e end, f and g begin. If no smaller sums are equal, d and e are neighbours in every plan, in
 *   |  c  |  c  |   either order, and f and g take their place, in either order. With such *groups* known for all
 *   |  d  |  f  |   moments, one tree has every possible order (Booth and Lueker's PQ-tree) without any search:
 *   |  e  |  g  |   the children of a P-node come in any order, those of a Q-node in the order given or its reverse.
 *   |  a  |  a  |
 *
 * Moment by moment the tree is reduced, so that each group that ends lies together, and the group is replaced by a
 * P-node of what begins. Only where there are several ways to form groups of equal sums is there something to choose:
 * small groups come first; what fails later is chosen anew, the last choice first. From the end on, offsets follow:
 * what ended lies where its successors begin, in the order in which it was found, or the reverse, which a buffer beside
 * it tells.
 */
#include "exact_packing.h"

#include <stdlib.h>
#include <string.h>

#include "exact_block.h"
#include "exact_packing_state.h"

#define ALL UINT32_MAX /* in a pair: everything at this moment */

static const double MOST_NOISE = 19; /* a group may seem so many times less likely, and one more */

enum { MOST_IN_BITS = 31, MOST_MISSES = 20, ASK_EVERY = 64 };

/* ---- groups */

/* Let some of starting[] take the place of some of ending[]; 0 when these cannot lie together. */
static int close_group(packing_t *k, const pair_t *members) {
  pq_run_t found;
  int ending = 0;
  for (int i = 0; i < k->ending_count; i++)
    ending += k->bench.mark[k->ending[i]] = members->ending == ALL || members->ending >> i & 1;
  tflm_pq_copy(&k->spare, &k->tree);
  const int fits = tflm_pq_reduce(&k->spare, &k->bench, ending, &found);
  for (int i = 0; i < k->ending_count; i++) k->bench.mark[k->ending[i]] = 0;
  if (!fits) return 0;
  const pq_tree_t reduced = k->spare;
  k->spare = k->tree;
  k->tree = reduced;
  group_t *g = &k->groups[k->group_count++];
  *g = (group_t){k->gone_count, ending, k->born_count, 0, PQ_NONE, 0};
  g->beside = tflm_pq_beside(&k->tree, &k->bench, &found, &g->is_below);
  for (int i = 0; i < k->starting_count; i++) {
    if (members->starting != ALL && !(members->starting >> i & 1)) continue;
    k->leaves[g->born_count++] = tflm_pq_leaf(&k->tree, k->starting[i]);
    k->born[k->born_count++] = k->starting[i];
  }
  const int born = tflm_pq_bundle(&k->tree, k->leaves, g->born_count);
  tflm_pq_replace(&k->tree, &k->bench, &found, born, k->gone + k->gone_count);
  k->gone_count += ending;
  return 1;
}

static int close_groups(packing_t *k, const candidate_t *it) {
  for (int g = 0; g < it->count; g++)
    if (!close_group(k, &it->groups[g])) return 0;
  return 1;
}

static uint64_t name_of(const candidate_t *it) {
  uint64_t name = 1;
  for (int g = 0; g < it->count; g++)
    name = exact_mix(name + ((uint64_t)it->groups[g].ending << 32 | it->groups[g].starting));
  return name;
}

static int try_candidate(packing_t *k, choice_t *at, int c) {
  const candidate_t it = k->candidates[c];
  const int gone = k->gone_count, born = k->born_count, groups = k->group_count;
  tflm_pq_copy(&k->kept, &k->tree);
  at->taken = c;
  at->name = name_of(&it);
  if (close_groups(k, &it)) return 1;
  tflm_pq_copy(&k->tree, &k->kept);
  k->gone_count = gone;
  k->born_count = born;
  k->group_count = groups;
  return 0;
}

/* The candidate to begin with: what is asked for, what was liked before, or the cheapest one. */
static int first_candidate(const packing_t *k, int section) {
  for (int i = 0; i < 2; i++)
    if (k->asked[i].section == section && k->asked[i].taken < k->candidate_count) return k->asked[i].taken;
  for (int c = 0; c < k->candidate_count; c++)
    if (k->liked[section] != 0 && name_of(&k->candidates[c]) == k->liked[section]) return c;
  return 0;
}

/* Let what begins take the place of what ends; 0 when none of the ways that are left is possible. */
static int close_moment(packing_t *k, int section, double spread) {
  moment_t *m = &k->moments[section];
  const pair_t all = {ALL, ALL};
  if (k->ending_count == 1 || k->starting_count == 1) return close_group(k, &all);
  if (k->ending_count >= MOST_IN_BITS || k->starting_count >= MOST_IN_BITS) {
    k->was_cut = 1;
    return close_group(k, &all);
  }
  tflm_exact_packing_candidates(k, m, spread);
  const int count = k->candidate_count;
  choice_t *at = &k->choices[k->choices_made];
  if (count > 1 && k->choices_made++ >= k->choice_count) {
    *at = (choice_t){section, 0, count, 0};
    k->choice_count = k->choices_made;
  }
  if (!k->is_local) {
    for (int c = count > 1 ? at->taken : 0; c < count; c++)
      if (try_candidate(k, at, c)) return 1;
    return 0;
  }
  const int first = first_candidate(k, section);
  if (first < count && try_candidate(k, at, first)) return 1;
  for (int c = 0; c < count; c++)
    if (c != first && try_candidate(k, at, c)) return 1;
  return 0;
}

/* ---- the way through */

/* Go through all moments with the choices made before; 0 when one cannot be passed. */
static int pass(packing_t *k, packing_task_t *task) {
  const problem_t *p = k->p;
  pq_tree_t *t = &k->tree;
  tflm_pq_clear(t);
  k->gone_count = k->born_count = k->group_count = k->choices_made = 0;
  for (int i = 0; i < k->first_start[1]; i++) k->leaves[i] = tflm_pq_leaf(t, k->by_start[i]);
  tflm_pq_plant(t, tflm_pq_bundle(t, k->leaves, k->first_start[1]));
  for (int s = 1; s < p->section_count; s++) {
    k->ending = k->by_end + k->first_end[s];
    k->ending_count = k->first_end[s + 1] - k->first_end[s];
    k->starting = k->by_start + k->first_start[s];
    k->starting_count = k->first_start[s + 1] - k->first_start[s];
    task->limits.nodes++;
    if (k->ending_count > 0 && !close_moment(k, s, task->seed <= 1 ? 0 : MOST_NOISE)) return 0;
  }
  return 1;
}

static void set_offsets(const packing_t *k, const int *list, int count, int is_reversed, int64_t at, int64_t *units) {
  for (int i = 0; i < count; i++) {
    const int buffer = list[is_reversed ? count - 1 - i : i];
    units[buffer] = at;
    at += k->p->size[buffer];
  }
}

/* From the last moment to the first. */
static void place_all(packing_t *k, int64_t *units) {
  const int alive = tflm_pq_frontier(&k->tree, k->leaves);
  set_offsets(k, k->leaves, alive, 0, 0, units);
  for (int i = k->group_count - 1; i >= 0; i--) {
    const group_t *g = &k->groups[i];
    int64_t base = INT64_MAX;
    for (int q = g->first_born; q < g->first_born + g->born_count; q++)
      if (units[k->born[q]] < base) base = units[k->born[q]];
    const int is_reversed = g->beside != PQ_NONE && (units[g->beside] < base) != g->is_below;
    set_offsets(k, k->gone + g->first_gone, g->gone_count, is_reversed, base, units);
  }
}

static double draw(packing_t *k) {
  k->seed += UINT64_C(0x9e3779b97f4a7c15);
  return exact_fraction(k->seed);
}

static int is_over(packing_t *k, const packing_task_t *task) {
  const limits_t *limits = &task->limits;
  if (limits->nodes > limits->node_limit) return 1;
  if (limits->nodes - k->asked_at < ASK_EVERY) return 0;
  k->asked_at = limits->nodes;
  return exact_ask(limits);
}

/* Give up the last choice that has another candidate; 0 when none has. */
static int choose_anew(packing_t *k) {
  k->choice_count = k->choices_made;
  while (k->choice_count > 0) {
    choice_t *last = &k->choices[k->choice_count - 1];
    if (++last->taken < last->count) return 1;
    k->choice_count--;
  }
  return 0;
}

/* All choices, the last one first: the only way that ends with a proof. */
static int try_all(packing_t *k, packing_task_t *task) {
  k->choice_count = 0;
  while (!pass(k, task)) {
    if (!choose_anew(k)) return k->was_cut ? SEARCH_STOPPED : SEARCH_FAILED;
    if (is_over(k, task)) return SEARCH_STOPPED;
  }
  return SEARCH_FOUND;
}

/* Like the choices that led farthest. */
static void remember(packing_t *k) {
  memcpy(k->best, k->choices, sizeof *k->best * (size_t)k->choices_made);
  k->best_count = k->choices_made;
  k->farthest = k->gone_count;
  for (int i = 0; i < k->best_count; i++) k->liked[k->best[i].section] = k->best[i].name;
}

static int pass_asking(packing_t *k, packing_task_t *task, choice_t one, choice_t other) {
  k->asked[0] = one;
  k->asked[1] = other;
  k->choice_count = 0;
  return pass(k, task);
}

static choice_t draw_choice(packing_t *k) {
  choice_t drawn = k->best[(int)(draw(k) * k->best_count)];
  drawn.taken = (int)(draw(k) * drawn.count);
  return drawn;
}

/* Change one choice, then two, wherever that leads farther: a wrong one shows only much later, but most are right. */
static int improve_choices(packing_t *k, packing_task_t *task) {
  const choice_t none = {PQ_NONE, 0, 0, 0};
  memset(k->liked, 0, sizeof *k->liked * (size_t)(k->p->section_count + 1));
  if (pass_asking(k, task, none, none)) return SEARCH_FOUND;
  remember(k);
  for (int misses = 0; k->best_count > 0 && misses < MOST_MISSES * k->best_count;) {
    for (int i = k->best_count - 1; i >= 0 && misses == 0; i--)
      for (int taken = 0; i < k->best_count && taken < k->best[i].count; taken++) {
        choice_t other = k->best[i];
        if (taken == other.taken) continue;
        other.taken = taken;
        if (pass_asking(k, task, other, none)) return SEARCH_FOUND;
        if (is_over(k, task)) return SEARCH_STOPPED;
        if (k->gone_count <= k->farthest) continue;
        remember(k);
        i = k->best_count;
      }
    if (pass_asking(k, task, draw_choice(k), draw_choice(k))) return SEARCH_FOUND;
    if (is_over(k, task)) return SEARCH_STOPPED;
    misses++;
    if (k->gone_count < k->farthest) continue;
    if (k->gone_count > k->farthest) misses = 0;
    remember(k);
  }
  return SEARCH_STOPPED;
}

int tflm_exact_packing_run(packing_t *k, packing_task_t *task, int64_t *units) {
  task->limits.nodes = k->asked_at = 0;
  k->was_cut = 0;
  k->is_local = task->seed != 0;
  k->seed = k->noise = exact_mix(task->seed + 1);
  const int verdict = task->seed == 0 ? try_all(k, task) : improve_choices(k, task);
  if (verdict == SEARCH_FOUND) place_all(k, units);
  return verdict;
}

/* ---- the way in */

int tflm_exact_packing_applies(const problem_t *p) {
  int64_t *sum = calloc((size_t)p->section_count + 1, sizeof *sum);
  int full = sum != NULL && p->count > 0 && p->least_peak == 0;
  for (int i = 0; i < p->count && full; i++) {
    full = p->fixed[i] == TFLM_EXACT_FREE && p->align[i] == 1 && p->bytes[i] == p->size[i] * p->unit;
    for (int q = p->low[i]; q < p->high[i]; q++) sum[q] += p->size[i];
  }
  for (int q = 0; q < p->section_count && full; q++) full = sum[q] * p->unit == p->bound;
  free(sum);
  return full;
}

void tflm_exact_packing_free(packing_t *k) {
  if (k == NULL) return;
  free(k->block);
  free(k);
}

/* Sort the buffers by a section. */
static void sort_by(const int *section, int count, int sections, int *first, int *sorted) {
  for (int i = 0; i < count; i++) first[section[i] + 1]++;
  for (int s = 0; s <= sections; s++) first[s + 1] += first[s];
  for (int i = 0; i < count; i++) sorted[first[section[i]]++] = i;
  for (int s = sections; s >= 0; s--) first[s + 1] = first[s];
  first[0] = 0;
}

static void lay_out(void *object, tflm_workspace_t *workspace) {
  packing_t *k = object;
  const size_t n = (size_t)k->p->count, sections = (size_t)k->p->section_count + 3;
  int **const by_buffer[] = {&k->by_start, &k->by_end, &k->gone, &k->born, &k->leaves};
  int **const by_section[] = {&k->first_start, &k->first_end};
  pq_tree_t *const trees[] = {&k->tree, &k->spare, &k->kept};
  for (size_t i = 0; i < sizeof by_buffer / sizeof *by_buffer; i++)
    *by_buffer[i] = tflm_carve(workspace, n, sizeof(int));
  for (size_t i = 0; i < sizeof by_section / sizeof *by_section; i++)
    *by_section[i] = tflm_carve(workspace, sections, sizeof(int));
  for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) tflm_pq_lay_out(trees[i], workspace, n);
  tflm_pq_lay_out_bench(&k->bench, workspace, n);
  k->groups = tflm_carve(workspace, n, sizeof *k->groups);
  k->choices = tflm_carve(workspace, n, sizeof *k->choices);
  k->best = tflm_carve(workspace, n, sizeof *k->best);
  k->moments = tflm_carve(workspace, sections, sizeof *k->moments);
  k->liked = tflm_carve(workspace, sections, sizeof *k->liked);
  k->subsets = tflm_carve(workspace, 1 << MOST_FEW, sizeof *k->subsets);
  k->candidates = tflm_carve(workspace, MOST_CANDIDATES, sizeof *k->candidates);
  k->usable = tflm_carve(workspace, MOST_PAIRS, sizeof *k->usable);
  k->costs = tflm_carve(workspace, MOST_PAIRS, sizeof *k->costs);
  k->pairs = tflm_carve(workspace, PAIRS_ROOM, sizeof *k->pairs);
}

packing_t *tflm_exact_packing_new(const problem_t *p) {
  packing_t *k = calloc(1, sizeof *k);
  if (k == NULL) return NULL;
  k->p = p;
  k->block = tflm_exact_block_new(k, lay_out);
  if (k->block == NULL) {
    free(k);
    return NULL;
  }
  for (int s = 0; s < p->section_count + 3; s++) k->moments[s] = (moment_t){0, PQ_NONE, 0};
  sort_by(p->low, p->count, p->section_count, k->first_start, k->by_start);
  sort_by(p->high, p->count, p->section_count, k->first_end, k->by_end);
  return k;
}
