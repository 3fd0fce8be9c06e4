/* First fit of groups that may overlap, and the climb over its orders (first_fit.h). */
#include "first_fit.h"

#include <string.h>

#include "tflm_workspace.h"

typedef struct {
  int64_t after, before;
} interval_t;

struct tflm_first_fit {
  const int64_t *sizes;
  const tflm_first_fit_gap_t *gaps;
  size_t count, gap_count;
  size_t *from;          /* [count + 1] group i's gaps are gaps[from[i]] .. [from[i + 1] - 1] */
  interval_t *forbidden; /* [gap_count] of the group that is placed: offsets that it must not have */
  int64_t *tried;        /* [count] offsets */
  int64_t *moved;        /* [count] the next order */
  int64_t *earlier;      /* [count] an order that was there before */
};

static size_t lay_out(tflm_first_fit_t *self, void *base, size_t count, size_t gap_count) {
  tflm_workspace_t workspace = {base, 0, 0};
  tflm_carve(&workspace, 1, sizeof *self);
  self->from = tflm_carve(&workspace, count + 1, sizeof *self->from);
  self->forbidden = tflm_carve(&workspace, gap_count, sizeof *self->forbidden);
  self->tried = tflm_carve(&workspace, count, sizeof *self->tried);
  self->moved = tflm_carve(&workspace, count, sizeof *self->moved);
  self->earlier = tflm_carve(&workspace, count, sizeof *self->earlier);
  return workspace.used;
}

size_t tflm_first_fit_workspace_size(size_t count, size_t gap_count) {
  tflm_first_fit_t self;
  if (count > (SIZE_MAX - 4096u) / 128u || gap_count > (SIZE_MAX - 4096u) / 128u) return 0;
  return lay_out(&self, NULL, count, gap_count);
}

int tflm_first_fit_start(const int64_t *sizes, size_t count, const tflm_first_fit_gap_t *gaps, size_t gap_count,
                         void *workspace, size_t workspace_size, tflm_first_fit_t **first_fit) {
  tflm_first_fit_t *self = workspace;
  const size_t needed = tflm_first_fit_workspace_size(count, gap_count);
  if (needed == 0 || first_fit == NULL || (count > 0 && sizes == NULL) || (gap_count > 0 && gaps == NULL))
    return TFLM_PLAN_E_ARGUMENT;
  for (size_t k = 0; k < gap_count; ++k) {
    const tflm_first_fit_gap_t *gap = &gaps[k];
    if (gap->group < 0 || (size_t)gap->group >= count || gap->other < 0 || (size_t)gap->other >= count ||
        (k > 0 && gap->group < gaps[k - 1].group))
      return TFLM_PLAN_E_ARGUMENT;
  }
  if (!tflm_workspace_fits(workspace, workspace_size, needed)) return TFLM_PLAN_E_WORKSPACE;
  lay_out(self, workspace, count, gap_count);
  self->sizes = sizes;
  self->gaps = gaps;
  self->count = count;
  self->gap_count = gap_count;
  for (size_t i = 0, k = 0; i <= count; ++i) {
    while (k < gap_count && (size_t)gaps[k].group < i) ++k;
    self->from[i] = k;
  }
  *first_fit = self;
  return TFLM_PLAN_OK;
}

/* The lowest offset of group i that none of those with an offset forbids. */
static int64_t lowest(tflm_first_fit_t *self, size_t i, const int64_t *offsets) {
  interval_t *left = self->forbidden;
  size_t count = 0;
  for (size_t k = self->from[i]; k < self->from[i + 1]; ++k) {
    const tflm_first_fit_gap_t *gap = &self->gaps[k];
    const int64_t at = offsets[gap->other];
    if (at >= 0 && at + gap->before > 0) left[count++] = (interval_t){at + gap->after, at + gap->before};
  }
  /* From an offset that is forbidden on to the end of the interval: all between is forbidden, too. Intervals that end
   * below are looked at no more. */
  int64_t offset = 0;
  for (int does_move = 1; does_move;) {
    size_t still = 0;
    does_move = 0;
    for (size_t k = 0; k < count; ++k) {
      if (left[k].before <= offset) continue;
      if (left[k].after < offset) {
        offset = left[k].before;
        does_move = 1;
      } else {
        left[still++] = left[k];
      }
    }
    count = still;
  }
  return offset;
}

int64_t tflm_first_fit_place(tflm_first_fit_t *self, const int64_t *order, size_t known, int64_t most,
                             int64_t *offsets) {
  int64_t head = 0;
  for (size_t k = known; k < self->count; ++k) offsets[order[k]] = -1;
  for (size_t k = 0; k < self->count; ++k) {
    const size_t i = (size_t)order[k];
    if (k >= known) offsets[i] = lowest(self, i, offsets);
    if (offsets[i] + self->sizes[i] <= head) continue;
    head = offsets[i] + self->sizes[i];
    if (k >= known && head > most) break;
  }
  return head;
}

static int is_below(int64_t head, const int64_t *offsets, int64_t best, const int64_t *best_offsets, size_t count) {
  if (head != best) return head < best;
  for (size_t i = 0; i < count; ++i)
    if (offsets[i] != best_offsets[i]) return offsets[i] < best_offsets[i];
  return 0;
}

/* The groups that reach the head move to the front of the order; all others keep theirs. */
static void move_top(tflm_first_fit_t *self, int64_t *order, int64_t head, const int64_t *offsets) {
  size_t others = 0, top = 0;
  for (size_t k = 0; k < self->count; ++k) {
    const int64_t i = order[k];
    const int is_top = offsets[i] + self->sizes[i] == head;
    if (is_top) order[top++] = i; /* never above k */
    if (!is_top) self->moved[others++] = i;
  }
  memcpy(order + top, self->moved, others * sizeof *order);
}

int64_t tflm_first_fit_climb(tflm_first_fit_t *self, int64_t *order, int64_t steps, int64_t *offsets) {
  const size_t bytes = self->count * sizeof *order;
  int64_t head = tflm_first_fit_place(self, order, 0, INT64_MAX, offsets);
  int64_t best = head;
  if (bytes == 0) return best;
  memcpy(self->tried, offsets, bytes);
  /* An order that comes again brings all that followed it again. It is compared with an earlier one, which is replaced
   * after 1, 2, 4, ... turns, and so is one of those that come again in the end. */
  size_t turns = 0, most_turns = 1;
  memcpy(self->earlier, order, bytes);
  for (; steps > 0; steps -= (int64_t)self->gap_count) {
    move_top(self, order, head, self->tried);
    if (memcmp(order, self->earlier, bytes) == 0) break;
    if (++turns == most_turns) {
      memcpy(self->earlier, order, bytes);
      most_turns *= 2;
      turns = 0;
    }
    head = tflm_first_fit_place(self, order, 0, INT64_MAX, self->tried);
    if (!is_below(head, self->tried, best, offsets, self->count)) continue;
    best = head;
    memcpy(offsets, self->tried, bytes);
  }
  return best;
}
