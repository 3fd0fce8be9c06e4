/* From bytes and moments to units and sections. */
#include "exact_build.h"

#include <stdlib.h>
#include <string.h>

#include "exact_block.h"
#include "exact_canonical.h"
#include "exact_stack.h"

int tflm_exact_buffers_are_bad(const tflm_exact_buffer_t *buffers, size_t count) {
  if (count > INT32_MAX / 4) return 1;
  for (size_t i = 0; i < count; i++) {
    const tflm_exact_buffer_t *b = &buffers[i];
    if (b->size < 0 || b->alignment < 1 || b->first > b->last || b->offset < TFLM_EXACT_FREE) return 1;
  }
  return 0;
}

static int compare_int64(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* ---- units */

/* The step of all alignments and fixed offsets, or 1 where rounding sizes up to it would leave the range in which sums
 * are safe.
 */
static int64_t choose_step(const problem_t *p) {
  int64_t step = 0, sum = 0;
  for (int i = 0; i < p->count; i++) step = exact_gcd(step, p->fixed[i] == TFLM_EXACT_FREE ? p->align[i] : p->fixed[i]);
  if (step == 0) return 1;
  for (int i = 0; i < p->count; i++) {
    sum += exact_align_up(p->bytes[i], step);
    if (sum > TFLM_EXACT_MAX_BYTES) return 1;
  }
  return step;
}

/* Offsets are multiples of the step, so every size may be rounded up to it: what lies above begins at a multiple. After
 * that, whatever divides all sizes (and alignments above it) is the unit.
 */
static void choose_unit(problem_t *p) {
  const int64_t step = choose_step(p);
  int64_t unit = 0, before;
  for (int i = 0; i < p->count; i++) {
    p->size[i] = exact_align_up(p->bytes[i], step);
    unit = exact_gcd(unit, p->size[i]);
    if (p->fixed[i] != TFLM_EXACT_FREE) unit = exact_gcd(unit, p->fixed[i]);
  }
  do {
    before = unit;
    for (int i = 0; i < p->count; i++)
      if (p->fixed[i] == TFLM_EXACT_FREE && unit % p->align[i] != 0) unit = exact_gcd(unit, p->align[i]);
  } while (unit != before);
  p->unit = unit == 0 ? 1 : unit;
}

static void scale(problem_t *p) {
  for (int i = 0; i < p->count; i++) {
    p->size[i] /= p->unit;
    if (p->fixed[i] != TFLM_EXACT_FREE) {
      p->fixed[i] /= p->unit;
      p->align[i] = 1;
    } else {
      p->align[i] = p->align[i] <= p->unit ? 1 : p->align[i] / p->unit;
    }
    if (p->align[i] > p->most_align) p->most_align = p->align[i];
  }
}

/* The sum of what every buffer can add to a pile; nonzero when it leaves the range in which sums are safe. */
static int exceeds_range(problem_t *p, const tflm_exact_buffer_t *buffers, size_t count) {
  int64_t sum = 0;
  for (size_t i = 0; i < count; i++) {
    const tflm_exact_buffer_t *b = &buffers[i];
    const int64_t parts[3] = {b->size, b->alignment, b->offset == TFLM_EXACT_FREE ? 0 : b->offset};
    for (int k = 0; k < 3; k++) {
      if (parts[k] > TFLM_EXACT_MAX_BYTES - sum) return 1;
      sum += parts[k];
    }
    if (b->size == 0 && b->offset > p->least_peak) p->least_peak = b->offset;
  }
  return 0;
}

/* ---- sections */

static int lower_index(const int64_t *sorted, int count, int64_t value) {
  int low = 0, high = count;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (sorted[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* A start is a section when some buffer ends before the next start: the buffers alive there are a maximal set. */
static int find_sections(const int64_t *starts, const int64_t *ends, int count, int64_t *moments) {
  int found = 0;
  for (int i = 0; i < count; i++) {
    if (i + 1 < count && starts[i + 1] == starts[i]) continue;
    const int end = lower_index(ends, count, starts[i]);
    if (i + 1 == count || ends[end] < starts[i + 1]) moments[found++] = starts[i];
  }
  return found;
}

static int build_sections(problem_t *p, const tflm_exact_buffer_t *buffers) {
  int64_t *times = malloc(sizeof(int64_t) * ((size_t)p->count * 3 + 1));
  if (times == NULL) return TFLM_PLAN_E_MEMORY;
  int64_t *starts = times, *ends = times + p->count, *moments = times + 2 * (size_t)p->count;
  for (int i = 0; i < p->count; i++) {
    starts[i] = buffers[p->original[i]].first;
    ends[i] = buffers[p->original[i]].last;
  }
  qsort(starts, (size_t)p->count, sizeof *starts, compare_int64);
  qsort(ends, (size_t)p->count, sizeof *ends, compare_int64);
  p->section_count = find_sections(starts, ends, p->count, moments);
  for (int i = 0; i < p->count; i++) {
    const tflm_exact_buffer_t *b = &buffers[p->original[i]];
    p->low[i] = lower_index(moments, p->section_count, b->first);
    p->high[i] = b->last == INT64_MAX ? p->section_count : lower_index(moments, p->section_count, b->last + 1);
  }
  free(times);
  return TFLM_PLAN_OK;
}

/* ---- neighbours */

typedef struct {
  int64_t key;
  int index;
} keyed_t;

typedef struct {
  int64_t key[4];
  int index;
} twin_row_t;

static int compare_keyed(const void *a, const void *b) {
  const keyed_t *x = a, *y = b;
  return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : x->index - y->index;
}

/* Sort by a key in list[]; equal ones keep their order. */
static void sort_keyed(keyed_t *list, int count, int *sorted) {
  qsort(list, (size_t)count, sizeof *list, compare_keyed);
  for (int k = 0; k < count; k++) sorted[k] = list[k].index;
}

/* Others alive together with a buffer: all but those that ended before, those that begin later, and itself. */
static int count_overlaps(problem_t *p) {
  int *ended = calloc(((size_t)p->section_count + 2) * 2, sizeof *ended);
  if (ended == NULL) return TFLM_PLAN_E_MEMORY;
  int *begun = ended + p->section_count + 2;
  for (int i = 0; i < p->count; i++) {
    ended[p->high[i]]++;
    begun[p->low[i]]++;
  }
  for (int q = 1; q <= p->section_count; q++) {
    ended[q] += ended[q - 1]; /* at the beginning of section q */
    begun[q] += begun[q - 1]; /* until section q */
  }
  for (int i = 0; i < p->count; i++) p->overlaps[i] = begun[p->high[i] - 1] - ended[p->low[i]] - 1;
  free(ended);
  return TFLM_PLAN_OK;
}

static int compare_twins(const void *a, const void *b) {
  const twin_row_t *x = a, *y = b;
  for (int k = 0; k < 4; k++)
    if (x->key[k] != y->key[k]) return x->key[k] < y->key[k] ? -1 : 1;
  return x->index - y->index;
}

/* Buffers with one lifetime, size, tail and alignment can be exchanged: the search keeps them in this order. */
static void find_twins(problem_t *p, twin_row_t *rows) {
  int count = 0;
  for (int i = 0; i < p->count; i++) {
    p->twin[i] = -1;
    if (p->fixed[i] == TFLM_EXACT_FREE)
      rows[count++] = (twin_row_t){{p->low[i], p->high[i], p->bytes[i], p->align[i]}, i};
  }
  qsort(rows, (size_t)count, sizeof *rows, compare_twins);
  for (int k = 1; k < count; k++)
    if (memcmp(rows[k].key, rows[k - 1].key, sizeof rows[k].key) == 0) p->twin[rows[k].index] = rows[k - 1].index;
}

static int build_lists(problem_t *p) {
  keyed_t *list = malloc(sizeof *list * ((size_t)p->count + 1));
  twin_row_t *rows = malloc(sizeof *rows * ((size_t)p->count + 1));
  const int good = list != NULL && rows != NULL && count_overlaps(p) == TFLM_PLAN_OK;
  if (good) {
    for (int i = 0; i < p->count; i++) list[i] = (keyed_t){p->low[i], i};
    sort_keyed(list, p->count, p->by_start);
    for (int i = 0; i < p->count; i++)
      if (p->fixed[i] != TFLM_EXACT_FREE) list[p->fixed_count++] = (keyed_t){p->fixed[i], i};
    sort_keyed(list, p->fixed_count, p->fixed_by_offset);
    find_twins(p, rows);
  }
  free(list);
  free(rows);
  return good ? TFLM_PLAN_OK : TFLM_PLAN_E_MEMORY;
}

/* ---- bounds */

/* Raise every section of [low, high) to at least `value`: in the nodes of a tree over them, the leaves behind. */
static void raise_range(int64_t *most, int leaves, int low, int high, int64_t value) {
  for (low += leaves, high += leaves; low < high; low /= 2, high /= 2) {
    if (low & 1 && most[low] < value) most[low] = value;
    if (high & 1 && most[high - 1] < value) most[high - 1] = value;
    low += low & 1;
    high -= high & 1;
  }
}

static int64_t most_in_range(const int64_t *most, int leaves, int low, int high) {
  int64_t best = 0;
  for (low += leaves, high += leaves; low < high; low /= 2, high /= 2) {
    if (low & 1 && most[low] > best) best = most[low];
    if (high & 1 && most[high - 1] > best) best = most[high - 1];
    low += low & 1;
    high -= high & 1;
  }
  return best;
}

/* All but the topmost buffer of a section take their rounded size; the topmost gives back its rounding. */
static void bound_by_loads(problem_t *p, int64_t *sum, int64_t *slack) {
  const int sections = p->section_count;
  for (int i = 0; i < p->count; i++) {
    const int64_t rounding = p->size[i] * p->unit - p->bytes[i];
    sum[sections + p->low[i]] += p->size[i];
    if (p->high[i] < sections) sum[sections + p->high[i]] -= p->size[i];
    if (rounding > 0) raise_range(slack, sections, p->low[i], p->high[i], rounding);
  }
  for (int n = 2; n < 2 * sections; n++)
    if (slack[n / 2] > slack[n]) slack[n] = slack[n / 2];
  for (int q = 0; q < sections; q++) {
    if (q > 0) sum[sections + q] += sum[sections + q - 1];
    const int64_t load = sum[sections + q] * p->unit - slack[sections + q];
    if (load > p->bound) p->bound = load;
  }
  for (int n = sections - 1; n > 0; n--) sum[n] = sum[2 * n] > sum[2 * n + 1] ? sum[2 * n] : sum[2 * n + 1];
  for (int i = 0; i < p->count; i++) p->load[i] = most_in_range(sum, sections, p->low[i], p->high[i]);
}

static int bound_sections(problem_t *p) {
  int64_t *sum = calloc((size_t)p->section_count * 4 + 2, sizeof(int64_t));
  if (sum == NULL) return TFLM_PLAN_E_MEMORY;
  p->bound = p->least_peak;
  for (int i = 0; i < p->count; i++) {
    p->total += p->size[i] + p->align[i];
    if (p->fixed[i] == TFLM_EXACT_FREE) continue;
    p->total += p->fixed[i];
    if (p->fixed[i] * p->unit + p->bytes[i] > p->bound) p->bound = p->fixed[i] * p->unit + p->bytes[i];
  }
  bound_by_loads(p, sum, sum + 2 * p->section_count + 1);
  free(sum);
  if (tflm_exact_bound_by_stacks(p) != TFLM_PLAN_OK) return TFLM_PLAN_E_MEMORY;
  p->bound = tflm_exact_next_peak(p, p->bound);
  return TFLM_PLAN_OK;
}

static void lay_out(void *object, tflm_workspace_t *workspace) {
  problem_t *p = object;
  int64_t **const wide[] = {&p->bytes, &p->size, &p->align, &p->fixed, &p->load};
  int **const narrow[] = {&p->low, &p->high, &p->by_start, &p->fixed_by_offset, &p->overlaps, &p->twin, &p->original};
  for (size_t k = 0; k < sizeof wide / sizeof *wide; k++) *wide[k] = tflm_carve(workspace, p->room, sizeof(int64_t));
  for (size_t k = 0; k < sizeof narrow / sizeof *narrow; k++) *narrow[k] = tflm_carve(workspace, p->room, sizeof(int));
}

int tflm_exact_problem_init(problem_t *p, const tflm_exact_buffer_t *buffers, size_t count, int may_turn) {
  memset(p, 0, sizeof *p);
  if (exceeds_range(p, buffers, count)) return TFLM_PLAN_E_OVERFLOW;
  p->room = count;
  p->block = tflm_exact_block_new(p, lay_out);
  if (p->block == NULL) return TFLM_PLAN_E_MEMORY;
  for (size_t i = 0; i < count; i++) {
    if (buffers[i].size == 0) continue;
    p->bytes[p->count] = buffers[i].size;
    p->align[p->count] = buffers[i].alignment;
    p->fixed[p->count] = buffers[i].offset;
    p->original[p->count++] = (int)i;
  }
  p->most_align = 1;
  choose_unit(p);
  scale(p);
  if (build_sections(p, buffers) != TFLM_PLAN_OK || tflm_exact_make_canonical(p, may_turn) != TFLM_PLAN_OK ||
      build_lists(p) != TFLM_PLAN_OK)
    return TFLM_PLAN_E_MEMORY;
  return bound_sections(p);
}

void tflm_exact_problem_free(problem_t *p) { free(p->block); }

/* Range maxima in a tree over a power of two of sections: whole[n] holds for all of node n, most[n] somewhere below it.
 */
static int64_t highest_in(const int64_t *whole, const int64_t *most, int leaves, int low, int high) {
  int64_t best = 0;
  for (int n = low + leaves; n > 0; n /= 2) best = whole[n] > best ? whole[n] : best;
  for (int n = high - 1 + leaves; n > 0; n /= 2) best = whole[n] > best ? whole[n] : best;
  const int64_t inside = most_in_range(most, leaves, low, high);
  return inside > best ? inside : best;
}

static void raise_most(int64_t *most, int node, int64_t value) {
  for (; node > 0 && most[node] < value; node /= 2) most[node] = value;
}

/* The lowest first: each has to lie on or above all that is below it in its sections. */
int tflm_exact_fixed_collide(const problem_t *p) {
  int leaves = 1, collide = 0;
  while (leaves < p->section_count) leaves *= 2;
  if (p->fixed_count < 2) return 0;
  int64_t *whole = calloc(4 * (size_t)leaves, sizeof *whole);
  if (whole == NULL) return TFLM_PLAN_E_MEMORY;
  int64_t *most = whole + 2 * leaves;
  for (int k = 0; k < p->fixed_count && !collide; k++) {
    const int i = p->fixed_by_offset[k];
    const int64_t end = p->fixed[i] + p->size[i];
    collide = highest_in(whole, most, leaves, p->low[i], p->high[i]) > p->fixed[i];
    raise_range(whole, leaves, p->low[i], p->high[i], end);
    raise_most(most, leaves + p->low[i], end);
    raise_most(most, leaves + p->high[i] - 1, end);
    raise_range(most, leaves, p->low[i], p->high[i], end);
  }
  free(whole);
  return collide;
}
