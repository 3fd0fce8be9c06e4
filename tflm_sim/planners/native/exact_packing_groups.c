/* The groups of one moment: which of what ends and which of what begins are equally large, and the ways to divide all
 * of them into such pairs. The likelier a way is not to be chance, the sooner it is tried.
 */
#include <stdlib.h>

#include "exact_packing_state.h"

enum { MOST_STEPS = 3000 };

static int compare_subsets(const void *a, const void *b) {
  const subset_t *x = a, *y = b;
  if (x->sum != y->sum) return x->sum < y->sum ? -1 : 1;
  return x->members < y->members ? -1 : x->members > y->members;
}

static int bits_of(uint32_t members) {
  int count = 0;
  for (; members != 0; members &= members - 1) count++;
  return count;
}

static int64_t sum_of(const packing_t *k, const int *list, uint32_t members) {
  int64_t sum = 0;
  for (int i = 0; members >> i != 0; i++)
    if (members >> i & 1) sum += k->p->size[list[i]];
  return sum;
}

/* Nonzero when of each kind of equal buffers the first ones are taken: the other subsets are as good. */
static int is_first_of_equals(const packing_t *k, uint32_t members) {
  const problem_t *p = k->p;
  for (int i = 1; members >> i != 0; i++) {
    if (!(members >> i & 1)) continue;
    for (int j = 0; j < i; j++)
      if (!(members >> j & 1) && p->size[k->starting[i]] == p->size[k->starting[j]] &&
          p->high[k->starting[i]] == p->high[k->starting[j]])
        return 0;
  }
  return 1;
}

/* Append the pairs of one sum; `members` are of the larger side. Returns 0 when there are too many. */
static int note_pairs(packing_t *k, moment_t *m, uint32_t members, int64_t sum, int subsets, int few_end) {
  int low = 0, high = subsets;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (k->subsets[middle].sum < sum)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low < subsets && k->subsets[low].sum == sum; low++) {
    const pair_t found =
        few_end ? (pair_t){k->subsets[low].members, members} : (pair_t){members, k->subsets[low].members};
    if (!is_first_of_equals(k, found.starting)) continue;
    if (m->pair_count == MOST_PAIRS || k->pair_count == PAIRS_ROOM) return 0;
    k->pairs[k->pair_count++] = found;
    m->pair_count++;
  }
  return 1;
}

/* List what could be a group at this moment: subsets of what ends and of what begins that are equally large. */
static void list_pairs(packing_t *k, moment_t *m) {
  const int few_end = k->ending_count <= k->starting_count;
  const int few = few_end ? k->ending_count : k->starting_count, many = few_end ? k->starting_count : k->ending_count;
  const int *small = few_end ? k->ending : k->starting, *large = few_end ? k->starting : k->ending;
  m->first_pair = k->pair_count;
  m->pair_count = 0;
  m->is_cut = few > MOST_FEW || many > MOST_MANY;
  if (m->is_cut) return;
  const int subsets = (1 << few) - 1;
  for (int i = 0; i < subsets; i++) k->subsets[i] = (subset_t){sum_of(k, small, (uint32_t)i + 1), (uint32_t)i + 1};
  qsort(k->subsets, (size_t)subsets, sizeof *k->subsets, compare_subsets);
  int64_t sum = 0;
  uint32_t members = 0;
  for (uint32_t step = 1; step < UINT32_C(1) << many && !m->is_cut; step++) { /* Gray code: one changes at a time */
    int changed = 0;
    while (!(step >> changed & 1)) changed++;
    members ^= UINT32_C(1) << changed;
    sum += members >> changed & 1 ? k->p->size[large[changed]] : -k->p->size[large[changed]];
    m->is_cut = !note_pairs(k, m, members, sum, subsets, few_end);
  }
}

static void mark_ending(packing_t *k, uint32_t members, uint8_t value) {
  for (int i = 0; members >> i != 0; i++)
    if (members >> i & 1) k->bench.mark[k->ending[i]] = value;
}

static int can_lie_together(packing_t *k, uint32_t members) {
  pq_run_t found;
  if (bits_of(members) == 1) return 1;
  mark_ending(k, members, 1);
  tflm_pq_copy(&k->spare, &k->tree);
  const int fits = tflm_pq_reduce(&k->spare, &k->bench, bits_of(members), &found);
  mark_ending(k, members, 0);
  return fits;
}

/* The same number for the same group in every pass of a run. */
static double noise(const packing_t *k, const pair_t *it) {
  const uint64_t where = k->noise ^ ((uint64_t)k->gone_count << 40);
  return exact_fraction(exact_mix(where + it->ending) + it->starting);
}

/* Keep the cheapest ones, in order. */
static void note_candidate(packing_t *k, const candidate_t *it) {
  int to = k->candidate_count;
  if (to == MOST_CANDIDATES) {
    k->was_cut = 1;
    if (k->candidates[--to].cost <= it->cost) return;
  } else {
    k->candidate_count++;
  }
  for (; to > 0 && k->candidates[to - 1].cost > it->cost; to--) k->candidates[to] = k->candidates[to - 1];
  k->candidates[to] = *it;
}

static double factorial(int n) {
  double product = 1;
  for (int i = 2; i <= n; i++) product *= i;
  return product;
}

/* Keep the pairs that can be groups beside others, with what each costs; returns how many there are. */
static int list_usable(packing_t *k, const moment_t *m, uint32_t all_ending, double spread) {
  int fits = 0, usable = 0;
  uint32_t last = 0;
  for (int q = m->first_pair; q < m->first_pair + m->pair_count; q++) {
    const pair_t *it = &k->pairs[q];
    if (it->ending == all_ending) continue;
    if (it->ending != last) fits = can_lie_together(k, it->ending);
    last = it->ending;
    if (!fits) continue;
    k->costs[usable] = (1 + spread * noise(k, it)) / (double)sum_of(k, k->ending, it->ending);
    k->usable[usable++] = *it;
  }
  return usable;
}

/* How many such ways there would be by chance: how often the members can be dealt out like this, by how large the sums
 * are that would have to be equal (the last one is, if the others are).
 */
static double cost_of(const packing_t *k, const candidate_t *it) {
  double cost = factorial(k->ending_count) * factorial(k->starting_count), smallest = 1;
  for (int g = 0; g < it->count; g++) {
    const double one = k->costs[it->chosen[g]];
    cost *= one / factorial(bits_of(it->groups[g].ending)) / factorial(bits_of(it->groups[g].starting));
    if (one < smallest) smallest = one;
  }
  return cost / smallest;
}

/* Each way once: the next group is one with the first of ending[] that is in none. */
static void list_divisions(packing_t *k, int usable, uint32_t all_ending) {
  const pair_t *list = k->usable;
  candidate_t now = {.count = 0};
  int at[MOST_GROUPS + 1] = {0};
  uint32_t ending = 0, starting = 0; /* in a group already */
  for (int depth = 0, steps = 0; depth >= 0;) {
    if (++steps > MOST_STEPS) {
      k->was_cut = 1;
      return;
    }
    const uint32_t first = (ending + 1) & ~ending;
    int q = at[depth];
    while (q < usable && (!(list[q].ending & first) || (list[q].ending & ending) || (list[q].starting & starting))) q++;
    if (q < usable && depth < MOST_GROUPS) {
      now.groups[depth] = list[q];
      now.chosen[depth] = q;
      at[depth] = q + 1;
      ending |= list[q].ending;
      starting |= list[q].starting;
      at[++depth] = 0;
      if (ending != all_ending) continue;
      now.count = depth;
      now.cost = cost_of(k, &now);
      note_candidate(k, &now);
    }
    if (--depth < 0) return;
    ending &= ~now.groups[depth].ending;
    starting &= ~now.groups[depth].starting;
  }
}

void tflm_exact_packing_candidates(packing_t *k, moment_t *m, double spread) {
  const uint32_t all_ending = (UINT32_C(2) << (k->ending_count - 1)) - 1;
  const uint32_t all_starting = (UINT32_C(2) << (k->starting_count - 1)) - 1;
  const candidate_t one = {.count = 1, .cost = 1, .groups = {{all_ending, all_starting}}};
  if (m->pair_count == PQ_NONE) list_pairs(k, m);
  k->was_cut |= m->is_cut;
  k->candidate_count = 0;
  if (can_lie_together(k, all_ending)) note_candidate(k, &one);
  list_divisions(k, list_usable(k, m, all_ending, spread), all_ending);
}
