/* The same problem comes in many guises: its lines in another order, time running backwards, lifetimes stretched
 * without a change of what overlaps, all sizes in another unit. They become one: time is counted in sections, the
 * buffers are sorted, and of the two directions of time the one whose list of buffers comes first is taken.
 *
 *   time    0  3  9  10  12        sections 0  1        and turned around  0  1
 *   a       =======                a        ====                        c  =======
 *   b             =======          c        =======                     b     ====
 *   c       ===========            b           ====                     a     ====
 */
#include "exact_canonical.h"

#include <stdlib.h>

enum { KEYS = 5 };

typedef struct {
  int64_t key[KEYS]; /* low, high, bytes, align, fixed */
  int index;
} row_t;

static int compare_keys(const row_t *x, const row_t *y) {
  for (int k = 0; k < KEYS; k++)
    if (x->key[k] != y->key[k]) return x->key[k] < y->key[k] ? -1 : 1;
  return 0;
}

/* Buffers with equal keys can be exchanged; by index, so that the sort is the same everywhere. */
static int compare_rows(const void *a, const void *b) {
  const row_t *x = a, *y = b;
  const int difference = compare_keys(x, y);
  return difference != 0 ? difference : x->index - y->index;
}

/* List the buffers sorted, with time as it is or turned around. */
static void list_rows(const problem_t *p, int is_turned, row_t *rows) {
  for (int i = 0; i < p->count; i++) {
    const int low = is_turned ? p->section_count - p->high[i] : p->low[i];
    rows[i] = (row_t){{low, low + p->high[i] - p->low[i], p->bytes[i], p->align[i], p->fixed[i]}, i};
  }
  qsort(rows, (size_t)p->count, sizeof *rows, compare_rows);
}

static int comes_first(const row_t *rows, const row_t *others, int count) {
  for (int i = 0; i < count; i++) {
    const int difference = compare_keys(&rows[i], &others[i]);
    if (difference != 0) return difference < 0;
  }
  return 0;
}

/* Bring what is known of the buffers into the order of the rows. `room` has a place for each. */
static void reorder(problem_t *p, const row_t *rows, int64_t *room) {
  for (int i = 0; i < p->count; i++) room[i] = p->size[rows[i].index];
  for (int i = 0; i < p->count; i++) p->size[i] = room[i];
  for (int i = 0; i < p->count; i++) room[i] = p->original[rows[i].index];
  for (int i = 0; i < p->count; i++) {
    p->original[i] = (int)room[i];
    p->low[i] = (int)rows[i].key[0];
    p->high[i] = (int)rows[i].key[1];
    p->bytes[i] = rows[i].key[2];
    p->align[i] = rows[i].key[3];
    p->fixed[i] = rows[i].key[4];
  }
}

int tflm_exact_make_canonical(problem_t *p, int may_turn) {
  const size_t count = (size_t)p->count + 1;
  row_t *rows = malloc(sizeof *rows * count * 2);
  int64_t *room = malloc(sizeof *room * count);
  const int good = rows != NULL && room != NULL;
  if (good) {
    row_t *turned = rows + count;
    list_rows(p, 0, rows);
    if (may_turn) list_rows(p, 1, turned);
    reorder(p, may_turn && comes_first(turned, rows, p->count) ? turned : rows, room);
  }
  free(rows);
  free(room);
  return good ? TFLM_PLAN_OK : TFLM_PLAN_E_MEMORY;
}
