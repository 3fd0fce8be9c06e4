/* Plans without a gap. Where every section is full, only the order from bottom to top is open at each moment. At the
   beginning of a section some buffers end and others begin; what ends leaves holes, and each hole is filled by
   some of those that begin:

       t-1   t       d and e end, f and g begin. If no smaller sums are equal, d and e are neighbours in every plan, in
     |  c  |  c  |   either order, and f and g take their place, in either order. With such *groups* known for all
     |  d  |  f  |   moments, every possible order is held in one tree (Booth and Lueker's PQ-tree) without any search:
     |  e  |  g  |   the children of a P-node come in any order, those of a Q-node in the order given or its reverse.
     |  a  |  a  |

   Moment by moment the tree is reduced, so that each group that ends lies together, and the group is replaced by a
   P-node of what begins. Only where there are several ways to form groups of equal sums is there something to choose:
   small groups come first; what fails later is chosen anew, the last choice first. From the end on, offsets follow: what
   ended lies where its successors begin, in the order in which it was found, or the reverse, which a buffer beside it
   tells. */
#include "exact_packing.h"

#include <stdlib.h>
#include <string.h>

#define ALL UINT32_MAX

static const double MOST_NOISE = 19; /* a group may seem so many times less likely, and one more */

enum {
  NONE = -1,
  MOST_FEW = 11, /* so many may end and MOST_MANY may begin, or the other way round, where groups are looked for */
  MOST_MANY = 20,
  MOST_PAIRS = 1 << 13, /* of one moment */
  PAIRS_ROOM = 1 << 18, /* of all */
  MOST_IN_BITS = 31,
  MOST_GROUPS = 12,
  MOST_CANDIDATES = 32,
  MOST_STEPS = 3000,
  MOST_MISSES = 20,
  POLL_EVERY = 64
};

typedef enum { LEAF, ANY_ORDER, THIS_ORDER } node_kind_t;

typedef struct {
  node_kind_t kind;
  int parent, child, next; /* children form a list; `next` of a node that is not in use: the next of these */
  int buffer;              /* of a leaf */
  int leaves, marked;      /* below it; filled by count_marked */
} node_t;

typedef struct {
  node_t *nodes;
  int root, unused, used; /* nodes from `used` on were never taken */
} tree_t;

/* What ended and what took its place. */
typedef struct {
  int first_gone, gone_count, first_born, born_count; /* in gone[] and born[] */
  int witness,
      is_below; /* a buffer that lies below (above) if the order of gone[] is from the bottom; NONE: any order */
} group_t;

/* Members as bits. */
typedef struct {
  int64_t sum;
  uint32_t members;
} subset_t;

/* A group: members of ending[] and starting[] as bits, or ALL. */
typedef struct {
  uint32_t ending, starting;
} pair_t;

/* A way to divide all that ends and begins into groups; the less it costs the sooner it is tried. */
typedef struct {
  int count, chosen[MOST_GROUPS];
  pair_t groups[MOST_GROUPS];
  double cost;
} candidate_t;

/* The beginning of a section: its pairs, or NONE when they are not listed yet. */
typedef struct {
  int first_pair, pair_count, is_cut;
} moment_t;

typedef struct {
  int section, taken, count; /* which of the candidates was taken there, and how many there are */
  uint64_t name;             /* of what was taken */
} choice_t;

struct packing {
  const problem_t *p;
  tree_t tree, spare, kept;
  int *by_start, *by_end, *first_start,
      *first_end; /* buffers by their first section, and by the section after their last */
  int *gone, *born, gone_count, born_count;
  group_t *groups;
  int group_count;
  choice_t *choices;
  int choice_count, choices_made;
  choice_t *best;
  int best_count, farthest, is_local;
  choice_t asked[2];
  uint64_t *liked; /* by section: the name of what was taken there; 0: nothing yet */
  int64_t polled;
  uint8_t *mark;                /* by buffer: is in the set that has to lie together */
  const int *ending, *starting; /* at this moment */
  int ending_count, starting_count;
  moment_t *moments;
  pair_t *pairs, *usable;
  double *costs;
  int pair_count, pair_room;
  subset_t *subsets;
  candidate_t *candidates;
  int candidate_count;
  int *list; /* room for children */
  uint64_t seed, noise;
  int was_cut; /* not all groups that are possible were looked at */
};

/* ---- the tree */

static int new_node(tree_t *t, node_kind_t kind, int buffer) {
  int n = t->unused;
  if (n != NONE)
    t->unused = t->nodes[n].next;
  else
    n = t->used++;
  t->nodes[n] = (node_t){kind, NONE, NONE, NONE, buffer, 0, 0};
  return n;
}

static void drop_node(tree_t *t, int n) {
  t->nodes[n].next = t->unused;
  t->unused = n;
}

static void copy_tree(tree_t *to, const tree_t *from) {
  memcpy(to->nodes, from->nodes, sizeof *to->nodes * (size_t)from->used);
  to->root = from->root;
  to->unused = from->unused;
  to->used = from->used;
}

/* Write the children of n to list; returns how many. */
static int children_of(const tree_t *t, int n, int *list) {
  int count = 0;
  for (int c = t->nodes[n].child; c != NONE; c = t->nodes[c].next) list[count++] = c;
  return count;
}

static void set_children(tree_t *t, int n, const int *list, int count) {
  t->nodes[n].child = count > 0 ? list[0] : NONE;
  for (int i = 0; i < count; i++) {
    t->nodes[list[i]].parent = n;
    t->nodes[list[i]].next = i + 1 < count ? list[i + 1] : NONE;
  }
}

static int is_full(const node_t *n) { return n->marked == n->leaves; }
static int is_empty(const node_t *n) { return n->marked == 0; }

/* The node after n in post-order, or NONE after the root. */
static int first_leaf(const tree_t *t, int n) {
  while (t->nodes[n].child != NONE) n = t->nodes[n].child;
  return n;
}

static int next_in_postorder(const tree_t *t, int n) {
  if (n == t->root) return NONE;
  return t->nodes[n].next != NONE ? first_leaf(t, t->nodes[n].next) : t->nodes[n].parent;
}

static void count_marked(const packing_t *k, tree_t *t) {
  for (int n = first_leaf(t, t->root); n != NONE; n = next_in_postorder(t, n)) {
    node_t *it = &t->nodes[n];
    if (it->kind != LEAF) {
      it->leaves = it->marked = 0;
      for (int c = it->child; c != NONE; c = t->nodes[c].next) {
        it->leaves += t->nodes[c].leaves;
        it->marked += t->nodes[c].marked;
      }
    } else {
      it->leaves = 1;
      it->marked = k->mark[it->buffer];
    }
  }
}

/* One node in place of several that may be in any order. */
static int bundle(tree_t *t, const int *list, int count) {
  if (count == 1) return list[0];
  const int n = new_node(t, ANY_ORDER, NONE);
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

/* Take a partial node apart: what is not marked first, then what is. Appends to list[from..] and returns how many nodes
   there are then, or NONE when the marked ones cannot all lie at one end. `list` has room for twice the leaves. */
static int take_apart(tree_t *t, int n, int *list, int from, int *room) {
  int low = from, high = 0; /* unmarked ones at list[from..low), marked ones in room, the last one first */
  while (n != NONE) {
    int *children = room + high, partial = NONE, state = 0;
    int count = children_of(t, n, children);
    const int is_any = t->nodes[n].kind == ANY_ORDER;
    if (is_any) { /* unmarked, partial, marked */
      int *sorted = children + count, kept = 0, seen = 0;
      for (int i = 0; i < count; i++)
        if (is_empty(&t->nodes[children[i]])) sorted[kept++] = children[i];
      if (kept > 1) sorted[0] = bundle(t, sorted, kept);
      kept = kept > 0;
      for (int i = 0; i < count; i++) {
        const node_t *c = &t->nodes[children[i]];
        if (is_empty(c) || is_full(c)) continue;
        sorted[kept++] = children[i];
        if (++seen > 1) return NONE;
      }
      const int first = kept;
      for (int i = 0; i < count; i++)
        if (is_full(&t->nodes[children[i]])) sorted[kept++] = children[i];
      if (kept > first + 1) {
        sorted[first] = bundle(t, sorted + first, kept - first);
        kept = first + 1;
      }
      memmove(children, sorted, sizeof *sorted * (size_t)kept);
      count = kept;
    } else if (is_full(&t->nodes[children[0]]) || is_empty(&t->nodes[children[count - 1]])) {
      reverse(children, count);
    }
    drop_node(t, n);
    int marked = 0;
    for (int i = 0; i < count; i++) { /* states: 0 unmarked, 1 behind the partial one or among marked ones */
      const int c = children[i];
      const node_t *it = &t->nodes[c];
      if (is_empty(it)) {
        if (state) return NONE;
        list[low++] = c;
      } else if (is_full(it)) {
        state = 1;
        children[marked++] = c;
      } else {
        if (state) return NONE;
        state = 1;
        partial = c;
      }
    }
    reverse(children, marked);
    high += marked;
    n = partial;
  }
  for (int i = high - 1; i >= 0; i--) list[low++] = room[i];
  return low;
}

/* Where the marked leaves are after a reduction: one node, or list[first..last] of the children of a Q-node. */
typedef struct {
  int parent;             /* NONE: one node, `first` */
  int first, last, count; /* positions in k->list, which holds the parent's children; count of all of them */
} run_t;

static int reduce_any(packing_t *k, tree_t *t, int r, run_t *found) {
  int *list = k->list, *children = list + 2 * k->p->count + 2, partial[2], partials = 0, empties = 0, fulls = 0;
  const int count = children_of(t, r, children);
  int *empty = children + count, *full = empty + count, *room = full + count;
  for (int i = 0; i < count; i++) {
    const node_t *c = &t->nodes[children[i]];
    if (is_empty(c))
      empty[empties++] = children[i];
    else if (is_full(c))
      full[fulls++] = children[i];
    else if (partials == 2)
      return 0;
    else
      partial[partials++] = children[i];
  }
  const int bundled = fulls > 0 ? bundle(t, full, fulls) : NONE;
  if (partials == 0) {
    empty[empties++] = bundled;
    set_children(t, r, empty, empties);
    *found = (run_t){NONE, bundled, 0, 0};
    return 1;
  }
  int length = take_apart(t, partial[0], list, 0, room);
  if (length == NONE) return 0;
  if (fulls > 0) list[length++] = bundled;
  if (partials == 2) {
    const int end = take_apart(t, partial[1], list, length, room);
    if (end == NONE) return 0;
    reverse(list + length, end - length);
    length = end;
  }
  int q = r;
  if (empties > 0) {
    q = new_node(t, THIS_ORDER, NONE);
    empty[empties++] = q;
    set_children(t, r, empty, empties);
  }
  t->nodes[q].kind = THIS_ORDER;
  set_children(t, q, list, length);
  found->parent = q;
  found->count = length;
  return 1;
}

static int reduce_this(packing_t *k, tree_t *t, int r, run_t *found) {
  int *list = k->list, *children = list + 2 * k->p->count + 2, length = 0, state = 0;
  const int count = children_of(t, r, children);
  int *room = children + count;
  for (int i = 0; i < count; i++) { /* states: 0 before the marked ones, 1 among them, 2 behind them */
    const int c = children[i];
    const node_t *it = &t->nodes[c];
    if (is_empty(it)) {
      if (state == 1) state = 2;
      list[length++] = c;
    } else if (state == 2) {
      return 0;
    } else if (is_full(it)) {
      state = 1;
      list[length++] = c;
    } else {
      const int end = take_apart(t, c, list, length, room);
      if (end == NONE) return 0;
      if (state == 1) reverse(list + length, end - length);
      length = end;
      state = state == 1 ? 2 : 1;
    }
  }
  set_children(t, r, list, length);
  found->parent = r;
  found->count = length;
  return 1;
}

/* Reduce the tree so that the `count` marked buffers lie together; 0 when they cannot. */
static int reduce(packing_t *k, tree_t *t, int count, run_t *found) {
  int r = t->root;
  count_marked(k, t);
  for (int c = t->nodes[r].child; c != NONE;) {
    if (t->nodes[c].marked == count) {
      r = c;
      c = t->nodes[r].child;
    } else {
      c = t->nodes[c].next;
    }
  }
  if (is_full(&t->nodes[r])) {
    *found = (run_t){NONE, r, 0, 0};
    return 1;
  }
  if (!(t->nodes[r].kind == ANY_ORDER ? reduce_any : reduce_this)(k, t, r, found)) return 0;
  if (found->parent == NONE) return 1;
  for (found->first = 0; is_empty(&t->nodes[k->list[found->first]]);) found->first++;
  for (found->last = found->first; found->last + 1 < found->count && !is_empty(&t->nodes[k->list[found->last + 1]]);)
    found->last++;
  return 1;
}

/* ---- groups */

/* Append the buffers below n to gone[] in order, and drop the nodes. */
static void bury(packing_t *k, int n) {
  tree_t *t = &k->tree;
  const int top = n;
  for (n = first_leaf(t, top);;) {
    const node_t it = t->nodes[n];
    if (it.kind == LEAF) k->gone[k->gone_count++] = it.buffer;
    const int is_top = n == top, next = it.next, parent = it.parent;
    drop_node(t, n);
    if (is_top) return;
    n = next != NONE ? first_leaf(t, next) : parent;
  }
}

static int leaf_below(const tree_t *t, int n) { return t->nodes[first_leaf(t, n)].buffer; }

/* Put the node `born` where the run was. */
static void replace(packing_t *k, const run_t *found, int born, group_t *g) {
  tree_t *t = &k->tree;
  if (found->parent == NONE) {
    const int old = found->first, parent = t->nodes[old].parent, next = t->nodes[old].next;
    g->witness = NONE;
    int *link = parent == NONE ? &t->root : &t->nodes[parent].child;
    while (*link != old) link = &t->nodes[*link].next;
    bury(k, old);
    *link = born;
    t->nodes[born].parent = parent;
    t->nodes[born].next = next;
    return;
  }
  int *list = k->list, kept = 0;
  g->is_below = found->first > 0;
  g->witness =
      found->first == found->last ? NONE : leaf_below(t, list[g->is_below ? found->first - 1 : found->last + 1]);
  for (int i = found->first; i <= found->last; i++) bury(k, list[i]);
  for (int i = 0; i < found->count; i++) {
    if (i == found->first) list[kept++] = born;
    if (i < found->first || i > found->last) list[kept++] = list[i];
  }
  set_children(t, found->parent, list, kept);
  if (kept == 2) t->nodes[found->parent].kind = ANY_ORDER;
}

/* Let some of starting[] take the place of some of ending[]; 0 when these cannot lie together. */
static int close_group(packing_t *k, const pair_t *members) {
  run_t found = {NONE, NONE, 0, 0};
  int ending = 0, *leaves = k->list + 4 * k->p->count + 4;
  for (int i = 0; i < k->ending_count; i++)
    ending += k->mark[k->ending[i]] = members->ending == ALL || members->ending >> i & 1;
  copy_tree(&k->spare, &k->tree);
  const int fits = reduce(k, &k->spare, ending, &found);
  for (int i = 0; i < k->ending_count; i++) k->mark[k->ending[i]] = 0;
  if (!fits) return 0;
  const tree_t reduced = k->spare;
  k->spare = k->tree;
  k->tree = reduced;
  group_t *g = &k->groups[k->group_count++];
  *g = (group_t){k->gone_count, ending, k->born_count, 0, NONE, 0};
  for (int i = 0; i < k->starting_count; i++) {
    if (members->starting != ALL && !(members->starting >> i & 1)) continue;
    leaves[g->born_count++] = new_node(&k->tree, LEAF, k->starting[i]);
    k->born[k->born_count++] = k->starting[i];
  }
  replace(k, &found, bundle(&k->tree, leaves, g->born_count), g);
  return 1;
}

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
    if (m->pair_count == MOST_PAIRS || k->pair_count == k->pair_room) return 0;
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
    if (members >> i & 1) k->mark[k->ending[i]] = value;
}

static int can_lie_together(packing_t *k, uint32_t members) {
  run_t found;
  if (bits_of(members) == 1) return 1;
  mark_ending(k, members, 1);
  copy_tree(&k->spare, &k->tree);
  const int fits = reduce(k, &k->spare, bits_of(members), &found);
  mark_ending(k, members, 0);
  return fits;
}

/* The same number for the same group in every pass of a run. */
static double noise(const packing_t *k, const pair_t *it) {
  const uint64_t where = k->noise ^ ((uint64_t)k->gone_count << 40);
  return (double)(exact_mix(exact_mix(where + it->ending) + it->starting) >> 11) / 9007199254740992.0;
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

/* List the ways to divide all into groups, by how many such ways there would be by chance: how often the members can be
   dealt out like this, by how large the sums are that would have to be equal (the last one is, if the others are). */
static void list_candidates(packing_t *k, const moment_t *m, double spread) {
  const uint32_t all_ending = (UINT32_C(2) << (k->ending_count - 1)) - 1;
  const uint32_t all_starting = (UINT32_C(2) << (k->starting_count - 1)) - 1;
  candidate_t now = {.count = 1, .cost = 1, .groups = {{all_ending, all_starting}}};
  k->candidate_count = 0;
  if (can_lie_together(k, all_ending)) note_candidate(k, &now);
  int fits = 0;
  uint32_t last = 0;
  int usable = 0, steps = 0;
  pair_t *list = k->usable;
  for (int q = m->first_pair; q < m->first_pair + m->pair_count; q++) {
    const pair_t *it = &k->pairs[q];
    if (it->ending == all_ending) continue;
    if (it->ending != last) fits = can_lie_together(k, it->ending);
    last = it->ending;
    if (!fits) continue;
    k->costs[usable] = (1 + spread * noise(k, it)) / (double)sum_of(k, k->ending, it->ending);
    list[usable++] = *it;
  }
  now = (candidate_t){.count = 0};
  int at[MOST_GROUPS + 1] = {0};
  uint32_t ending = 0, starting = 0; /* in a group already */
  for (int depth = 0; depth >= 0;) {
    if (++steps > MOST_STEPS) {
      k->was_cut = 1;
      return;
    }
    const uint32_t first = (ending + 1) & ~ending; /* the first one that is in none */
    int q = at[depth];
    while (q < usable && (!(list[q].ending & first) || (list[q].ending & ending) || (list[q].starting & starting))) q++;
    if (q < usable && depth < MOST_GROUPS) {
      now.groups[depth] = list[q];
      now.chosen[depth] = q;
      at[depth] = q + 1;
      ending |= list[q].ending;
      starting |= list[q].starting;
      depth++;
      at[depth] = 0;
      if (ending != all_ending) continue;
      now.count = depth;
      now.cost = factorial(k->ending_count) * factorial(k->starting_count);
      double smallest = 1;
      for (int g = 0; g < depth; g++) {
        const double cost = k->costs[now.chosen[g]];
        now.cost *= cost / factorial(bits_of(now.groups[g].ending)) / factorial(bits_of(now.groups[g].starting));
        if (cost < smallest) smallest = cost;
      }
      now.cost /= smallest;
      note_candidate(k, &now);
    }
    depth--;
    if (depth >= 0) {
      ending &= ~now.groups[depth].ending;
      starting &= ~now.groups[depth].starting;
    }
  }
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
  copy_tree(&k->kept, &k->tree);
  at->taken = c;
  at->name = name_of(&it);
  if (close_groups(k, &it)) return 1;
  copy_tree(&k->tree, &k->kept);
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
  if (m->pair_count == NONE) list_pairs(k, m);
  k->was_cut |= m->is_cut;
  list_candidates(k, m, spread);
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
  tree_t *t = &k->tree;
  int *leaves = k->list + 4 * p->count + 4;
  t->used = 0;
  t->unused = NONE;
  k->gone_count = k->born_count = k->group_count = k->choices_made = 0;
  for (int i = 0; i < k->first_start[1]; i++) leaves[i] = new_node(t, LEAF, k->by_start[i]);
  t->root = bundle(t, leaves, k->first_start[1]);
  t->nodes[t->root].parent = t->nodes[t->root].next = NONE;
  for (int s = 1; s < p->section_count; s++) {
    k->ending = k->by_end + k->first_end[s];
    k->ending_count = k->first_end[s + 1] - k->first_end[s];
    k->starting = k->by_start + k->first_start[s];
    k->starting_count = k->first_start[s + 1] - k->first_start[s];
    task->nodes++;
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
  const tree_t *t = &k->tree;
  int alive = 0;
  for (int n = first_leaf(t, t->root); n != NONE; n = next_in_postorder(t, n))
    if (t->nodes[n].kind == LEAF) k->list[alive++] = t->nodes[n].buffer;
  set_offsets(k, k->list, alive, 0, 0, units);
  for (int i = k->group_count - 1; i >= 0; i--) {
    const group_t *g = &k->groups[i];
    int64_t base = INT64_MAX;
    for (int q = g->first_born; q < g->first_born + g->born_count; q++)
      if (units[k->born[q]] < base) base = units[k->born[q]];
    const int is_reversed = g->witness != NONE && (units[g->witness] < base) != g->is_below;
    set_offsets(k, k->gone + g->first_gone, g->gone_count, is_reversed, base, units);
  }
}

static double draw(packing_t *k) {
  k->seed += UINT64_C(0x9e3779b97f4a7c15);
  return (double)(exact_mix(k->seed) >> 11) / 9007199254740992.0;
}

static int is_over(packing_t *k, const packing_task_t *task) {
  if (task->nodes > task->node_limit) return 1;
  if (task->nodes - k->polled < POLL_EVERY) return 0;
  k->polled = task->nodes;
  return task->poll(task->context, task->nodes);
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

/* Change one choice, then two, wherever that leads farther: a wrong choice shows only much later, but most are right. */
static int improve_choices(packing_t *k, packing_task_t *task) {
  const choice_t none = {NONE, 0, 0, 0};
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
  task->nodes = k->polled = 0;
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
  void *owned[] = {k->tree.nodes, k->spare.nodes, k->by_start, k->by_end, k->first_start, k->first_end, k->gone,
                   k->born,       k->groups,      k->choices,  k->best,   k->mark,        k->subsets,   k->candidates,
                   k->list,       k->moments,     k->pairs,    k->liked,  k->usable,      k->costs,     k->kept.nodes};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
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

packing_t *tflm_exact_packing_new(const problem_t *p) {
  packing_t *k = calloc(1, sizeof *k);
  if (k == NULL) return NULL;
  const size_t n = (size_t)p->count + 1, sections = (size_t)p->section_count + 3;
  k->p = p;
  int good = (k->tree.nodes = calloc(2 * n + 16, sizeof(node_t))) != NULL &&
             (k->spare.nodes = calloc(2 * n + 16, sizeof(node_t))) != NULL;
  int **lists[] = {&k->by_start, &k->by_end, &k->gone, &k->born};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) good &= (*lists[i] = calloc(n, sizeof(int))) != NULL;
  good &= (k->first_start = calloc(sections, sizeof(int))) != NULL &&
          (k->first_end = calloc(sections, sizeof(int))) != NULL;
  good &= (k->groups = calloc(n, sizeof *k->groups)) != NULL && (k->choices = calloc(n, sizeof *k->choices)) != NULL;
  good &= (k->best = calloc(n, sizeof *k->best)) != NULL;
  good &= (k->mark = calloc(n, 1)) != NULL && (k->kept.nodes = calloc(2 * n + 16, sizeof(node_t))) != NULL;
  good &= (k->moments = malloc(sections * sizeof *k->moments)) != NULL;
  good &= (k->liked = malloc(sections * sizeof *k->liked)) != NULL;
  good &= (k->pairs = malloc(PAIRS_ROOM * sizeof *k->pairs)) != NULL;
  good &= (k->usable = malloc(MOST_PAIRS * sizeof *k->usable)) != NULL;
  good &= (k->costs = malloc(MOST_PAIRS * sizeof *k->costs)) != NULL;
  k->pair_room = PAIRS_ROOM;
  good &= (k->subsets = calloc(1 << MOST_FEW, sizeof *k->subsets)) != NULL;
  good &= (k->candidates = calloc(MOST_CANDIDATES, sizeof *k->candidates)) != NULL;
  good &= (k->list = calloc(12 * n + 64, sizeof(int))) != NULL;
  if (!good) {
    tflm_exact_packing_free(k);
    return NULL;
  }
  for (size_t s = 0; s < sections; s++) k->moments[s] = (moment_t){0, NONE, 0};
  sort_by(p->low, p->count, p->section_count, k->first_start, k->by_start);
  sort_by(p->high, p->count, p->section_count, k->first_end, k->by_end);
  return k;
}
