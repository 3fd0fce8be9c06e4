/* PQ-trees: a reduction finds the lowest node above all that is marked, and gathers it there by taking the nodes apart
 * that are marked in part. Nothing recurses: walks go by parent and next.
 */
#include "pq_tree.h"

#include <string.h>

void tflm_pq_lay_out(pq_tree_t *t, tflm_workspace_t *workspace, size_t most) {
  t->nodes = tflm_carve(workspace, 2 * most + 18, sizeof *t->nodes);
}

void tflm_pq_lay_out_bench(pq_bench_t *bench, tflm_workspace_t *workspace, size_t most) {
  bench->mark = tflm_carve(workspace, most, 1);
  bench->list = tflm_carve(workspace, 2 * most + 4, sizeof *bench->list);
  bench->room = tflm_carve(workspace, 10 * most + 72, sizeof *bench->room);
}

/* ---- nodes */

static int new_node(pq_tree_t *t, pq_kind_t kind, int name) {
  int n = t->unused;
  if (n != PQ_NONE)
    t->unused = t->nodes[n].next;
  else
    n = t->used++;
  t->nodes[n] = (pq_node_t){kind, PQ_NONE, PQ_NONE, PQ_NONE, name, 0, 0};
  return n;
}

static void drop_node(pq_tree_t *t, int n) {
  t->nodes[n].next = t->unused;
  t->unused = n;
}

void tflm_pq_clear(pq_tree_t *t) {
  t->used = 0;
  t->root = t->unused = PQ_NONE;
}

int tflm_pq_leaf(pq_tree_t *t, int name) { return new_node(t, PQ_LEAF, name); }

void tflm_pq_plant(pq_tree_t *t, int root) {
  t->root = root;
  t->nodes[root].parent = t->nodes[root].next = PQ_NONE;
}

void tflm_pq_copy(pq_tree_t *to, const pq_tree_t *from) {
  memcpy(to->nodes, from->nodes, sizeof *to->nodes * (size_t)from->used);
  to->root = from->root;
  to->unused = from->unused;
  to->used = from->used;
}

/* Write the children of n to list; returns how many. */
static int children_of(const pq_tree_t *t, int n, int *list) {
  int count = 0;
  for (int c = t->nodes[n].child; c != PQ_NONE; c = t->nodes[c].next) list[count++] = c;
  return count;
}

static void set_children(pq_tree_t *t, int n, const int *list, int count) {
  t->nodes[n].child = count > 0 ? list[0] : PQ_NONE;
  for (int i = 0; i < count; i++) {
    t->nodes[list[i]].parent = n;
    t->nodes[list[i]].next = i + 1 < count ? list[i + 1] : PQ_NONE;
  }
}

int tflm_pq_bundle(pq_tree_t *t, const int *list, int count) {
  if (count == 1) return list[0];
  const int n = new_node(t, PQ_ANY_ORDER, PQ_NONE);
  set_children(t, n, list, count);
  for (int i = 0; i < count; i++) {
    t->nodes[n].leaves += t->nodes[list[i]].leaves;
    t->nodes[n].marked += t->nodes[list[i]].marked;
  }
  return n;
}

static void reverse(int *list, int count) {
  for (int i = 0; i < count / 2; i++) {
    const int moved = list[i];
    list[i] = list[count - 1 - i];
    list[count - 1 - i] = moved;
  }
}

/* ---- walks */

/* The first node below n in post-order. */
static int first_leaf(const pq_tree_t *t, int n) {
  while (t->nodes[n].child != PQ_NONE) n = t->nodes[n].child;
  return n;
}

/* The node after n in post-order, or PQ_NONE after the root. */
static int next_in_postorder(const pq_tree_t *t, int n) {
  if (n == t->root) return PQ_NONE;
  return t->nodes[n].next != PQ_NONE ? first_leaf(t, t->nodes[n].next) : t->nodes[n].parent;
}

int tflm_pq_frontier(const pq_tree_t *t, int *names) {
  int count = 0;
  for (int n = first_leaf(t, t->root); n != PQ_NONE; n = next_in_postorder(t, n))
    if (t->nodes[n].kind == PQ_LEAF) names[count++] = t->nodes[n].name;
  return count;
}

static void count_marked(pq_tree_t *t, const uint8_t *mark) {
  for (int n = first_leaf(t, t->root); n != PQ_NONE; n = next_in_postorder(t, n)) {
    pq_node_t *it = &t->nodes[n];
    if (it->kind == PQ_LEAF) {
      it->leaves = 1;
      it->marked = mark[it->name];
      continue;
    }
    it->leaves = it->marked = 0;
    for (int c = it->child; c != PQ_NONE; c = t->nodes[c].next) {
      it->leaves += t->nodes[c].leaves;
      it->marked += t->nodes[c].marked;
    }
  }
}

/* Write the names of the leaves below n in order, and drop all nodes; returns how many leaves there were. */
static int bury(pq_tree_t *t, int n, int *gone) {
  const int top = n;
  int count = 0;
  for (n = first_leaf(t, top);;) {
    const pq_node_t it = t->nodes[n];
    if (it.kind == PQ_LEAF) gone[count++] = it.name;
    const int is_top = n == top, next = it.next, parent = it.parent;
    drop_node(t, n);
    if (is_top) return count;
    n = next != PQ_NONE ? first_leaf(t, next) : parent;
  }
}

/* ---- reductions: a node is empty, full or partial by how many of its leaves are marked */

static int is_full(const pq_node_t *n) { return n->marked == n->leaves; }
static int is_empty(const pq_node_t *n) { return n->marked == 0; }

/* Order the children of a P-node: the empty ones as one, a partial one, the full ones as one. Returns how many there
 * are then, or PQ_NONE when more than one is partial. There is room for as many again behind them.
 */
static int gather_children(pq_tree_t *t, int *children, int count) {
  int *sorted = children + count, kept = 0, partials = 0;
  for (int i = 0; i < count; i++)
    if (is_empty(&t->nodes[children[i]])) sorted[kept++] = children[i];
  if (kept > 1) sorted[0] = tflm_pq_bundle(t, sorted, kept);
  kept = kept > 0;
  for (int i = 0; i < count; i++) {
    const pq_node_t *c = &t->nodes[children[i]];
    if (is_empty(c) || is_full(c)) continue;
    sorted[kept++] = children[i];
    if (++partials > 1) return PQ_NONE;
  }
  const int first = kept;
  for (int i = 0; i < count; i++)
    if (is_full(&t->nodes[children[i]])) sorted[kept++] = children[i];
  if (kept > first + 1) {
    sorted[first] = tflm_pq_bundle(t, sorted + first, kept - first);
    kept = first + 1;
  }
  memmove(children, sorted, sizeof *sorted * (size_t)kept);
  return kept;
}

/* Take a partial node apart: what is empty first, then what is full. Appends to list[from ..] and returns how many
 * nodes there are then, or PQ_NONE when the marked leaves cannot all lie at one end. `list` has room for twice the
 * leaves.
 */
static int take_apart(pq_tree_t *t, int n, int *list, int from, int *room) {
  int low = from, high = 0; /* empty ones at list[from .. low), full ones in room, the last one first */
  while (n != PQ_NONE) {
    int *children = room + high, partial = PQ_NONE, is_behind = 0, full = 0;
    int count = children_of(t, n, children);
    if (t->nodes[n].kind == PQ_ANY_ORDER)
      count = gather_children(t, children, count);
    else if (is_full(&t->nodes[children[0]]) || is_empty(&t->nodes[children[count - 1]]))
      reverse(children, count);
    if (count == PQ_NONE) return PQ_NONE;
    drop_node(t, n);
    for (int i = 0; i < count; i++) {
      const int c = children[i];
      const pq_node_t *it = &t->nodes[c];
      if (is_full(it))
        children[full++] = c;
      else if (is_behind) /* the partial one, or a full one */
        return PQ_NONE;
      else if (is_empty(it))
        list[low++] = c;
      else
        partial = c;
      is_behind |= !is_empty(it);
    }
    reverse(children, full);
    high += full;
    n = partial;
  }
  for (int i = high - 1; i >= 0; i--) list[low++] = room[i];
  return low;
}

/* The marked leaves are below several children of the P-node r. */
static int reduce_any(pq_tree_t *t, pq_bench_t *bench, int r, pq_run_t *found) {
  int *list = bench->list, *children = bench->room, partial[2], partials = 0, empties = 0, fulls = 0;
  const int count = children_of(t, r, children);
  int *empty = children + count, *full = empty + count, *room = full + count;
  for (int i = 0; i < count; i++) {
    const pq_node_t *c = &t->nodes[children[i]];
    if (is_empty(c))
      empty[empties++] = children[i];
    else if (is_full(c))
      full[fulls++] = children[i];
    else if (partials == 2)
      return 0;
    else
      partial[partials++] = children[i];
  }
  const int bundled = fulls > 0 ? tflm_pq_bundle(t, full, fulls) : PQ_NONE;
  if (partials == 0) {
    empty[empties++] = bundled;
    set_children(t, r, empty, empties);
    *found = (pq_run_t){PQ_NONE, bundled, 0, 0};
    return 1;
  }
  int length = take_apart(t, partial[0], list, 0, room);
  if (length == PQ_NONE) return 0;
  if (fulls > 0) list[length++] = bundled;
  if (partials == 2) {
    const int end = take_apart(t, partial[1], list, length, room);
    if (end == PQ_NONE) return 0;
    reverse(list + length, end - length);
    length = end;
  }
  int q = r;
  if (empties > 0) {
    q = new_node(t, PQ_THIS_ORDER, PQ_NONE);
    empty[empties++] = q;
    set_children(t, r, empty, empties);
  }
  t->nodes[q].kind = PQ_THIS_ORDER;
  set_children(t, q, list, length);
  found->parent = q;
  found->count = length;
  return 1;
}

/* The marked leaves are below several children of the Q-node r. */
static int reduce_this(pq_tree_t *t, pq_bench_t *bench, int r, pq_run_t *found) {
  enum { BEFORE, AMONG, BEHIND } state = BEFORE; /* the marked ones */
  int *list = bench->list, *children = bench->room, length = 0;
  const int count = children_of(t, r, children);
  int *room = children + count;
  for (int i = 0; i < count; i++) {
    const int c = children[i];
    const pq_node_t *it = &t->nodes[c];
    if (is_empty(it)) {
      if (state == AMONG) state = BEHIND;
      list[length++] = c;
    } else if (state == BEHIND) {
      return 0;
    } else if (is_full(it)) {
      state = AMONG;
      list[length++] = c;
    } else {
      const int end = take_apart(t, c, list, length, room);
      if (end == PQ_NONE) return 0;
      if (state == AMONG) reverse(list + length, end - length);
      length = end;
      state = state == AMONG ? BEHIND : AMONG;
    }
  }
  set_children(t, r, list, length);
  found->parent = r;
  found->count = length;
  return 1;
}

int tflm_pq_reduce(pq_tree_t *t, pq_bench_t *bench, int count, pq_run_t *found) {
  int r = t->root;
  count_marked(t, bench->mark);
  for (int c = t->nodes[r].child; c != PQ_NONE;) {
    if (t->nodes[c].marked == count) {
      r = c;
      c = t->nodes[r].child;
    } else {
      c = t->nodes[c].next;
    }
  }
  *found = (pq_run_t){PQ_NONE, r, 0, 0};
  if (is_full(&t->nodes[r])) return 1;
  if (!(t->nodes[r].kind == PQ_ANY_ORDER ? reduce_any : reduce_this)(t, bench, r, found)) return 0;
  if (found->parent == PQ_NONE) return 1;
  for (found->first = 0; is_empty(&t->nodes[bench->list[found->first]]);) found->first++;
  for (found->last = found->first;
       found->last + 1 < found->count && !is_empty(&t->nodes[bench->list[found->last + 1]]);)
    found->last++;
  return 1;
}

/* ---- replacing */

int tflm_pq_beside(const pq_tree_t *t, const pq_bench_t *bench, const pq_run_t *found, int *is_before) {
  *is_before = found->parent != PQ_NONE && found->first > 0;
  if (found->parent == PQ_NONE || found->first == found->last) return PQ_NONE;
  return t->nodes[first_leaf(t, bench->list[*is_before ? found->first - 1 : found->last + 1])].name;
}

void tflm_pq_replace(pq_tree_t *t, pq_bench_t *bench, const pq_run_t *found, int born, int *gone) {
  if (found->parent == PQ_NONE) {
    const int old = found->first, parent = t->nodes[old].parent, next = t->nodes[old].next;
    int *link = parent == PQ_NONE ? &t->root : &t->nodes[parent].child;
    while (*link != old) link = &t->nodes[*link].next;
    bury(t, old, gone);
    *link = born;
    t->nodes[born].parent = parent;
    t->nodes[born].next = next;
    return;
  }
  int *list = bench->list, kept = 0;
  for (int i = found->first; i <= found->last; i++) gone += bury(t, list[i], gone);
  for (int i = 0; i < found->count; i++) {
    if (i == found->first) list[kept++] = born;
    if (i < found->first || i > found->last) list[kept++] = list[i];
  }
  set_children(t, found->parent, list, kept);
  if (kept == 2) t->nodes[found->parent].kind = PQ_ANY_ORDER;
}
