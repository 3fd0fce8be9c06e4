/* PQ-trees (Booth and Lueker): all orders of some leaves in which certain sets of them lie together, as one tree. The
 * children of a P-node (any order) come in any order, those of a Q-node (this order) as they stand or reversed.
 */
#ifndef TFLM_PQ_TREE_H_
#define TFLM_PQ_TREE_H_

#include <stdint.h>

#include "tflm_workspace.h"

enum { PQ_NONE = -1 };

typedef enum { PQ_LEAF, PQ_ANY_ORDER, PQ_THIS_ORDER } pq_kind_t;

typedef struct {
  pq_kind_t kind;
  int parent, child, next; /* children form a list; `next` of a node that is not in use: the next of these */
  int name;                /* of a leaf: any number below the tree's `most` */
  int leaves, marked;      /* below it; filled by a reduction */
} pq_node_t;

typedef struct {
  pq_node_t *nodes;
  int root, unused, used; /* nodes from `used` on were never taken */
} pq_tree_t;

/* What reductions need beside a tree; one for many trees. */
typedef struct {
  uint8_t *mark; /* [most] by name: is in the set that has to lie together; set and cleared by the caller */
  int *list;     /* the children of the node where a reduction ended */
  int *room;
} pq_bench_t;

/* Where the marked leaves are after a reduction: one node, or list[first .. last] of the children of a Q-node. */
typedef struct {
  int parent;             /* PQ_NONE: one node, `first` */
  int first, last, count; /* positions in the bench's list, which holds the parent's children; count of all of them */
} pq_run_t;

/* Carve a tree, or a bench, for at most so many leaves. */
void tflm_pq_lay_out(pq_tree_t *t, tflm_workspace_t *workspace, size_t most);
void tflm_pq_lay_out_bench(pq_bench_t *bench, tflm_workspace_t *workspace, size_t most);

/* Begin anew, without a root: leaves are made and bundled, and tflm_pq_plant() makes of a bundle the root. */
void tflm_pq_clear(pq_tree_t *t);
int tflm_pq_leaf(pq_tree_t *t, int name);
void tflm_pq_plant(pq_tree_t *t, int root);

/* One node in place of several that may be in any order. */
int tflm_pq_bundle(pq_tree_t *t, const int *list, int count);

void tflm_pq_copy(pq_tree_t *to, const pq_tree_t *from);

/* Reduce the tree so that the `count` marked leaves lie together; 0, with the tree spoilt, when they cannot. */
int tflm_pq_reduce(pq_tree_t *t, pq_bench_t *bench, int count, pq_run_t *found);

/* A leaf beside a run that can only be turned round together with its surroundings, and whether it comes before the
 * run; PQ_NONE where the run is one node, whose order is its own.
 */
int tflm_pq_beside(const pq_tree_t *t, const pq_bench_t *bench, const pq_run_t *found, int *is_before);

/* Put the node `born` where the run was; the names of the leaves that were there go to gone[], in order. */
void tflm_pq_replace(pq_tree_t *t, pq_bench_t *bench, const pq_run_t *found, int born, int *gone);

/* Write the names of all leaves, in one of the orders; returns how many. */
int tflm_pq_frontier(const pq_tree_t *t, int *names);

#endif
