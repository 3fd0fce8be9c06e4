/* What the two halves of the packing search share: exact_packing_groups.c lists the ways to form groups at one moment,
 * exact_packing.c goes through all moments.
 */
#ifndef TFLM_EXACT_PACKING_STATE_H_
#define TFLM_EXACT_PACKING_STATE_H_

#include "exact_packing.h"
#include "pq_tree.h"

enum {
  MOST_FEW = 11, /* so many may end and MOST_MANY may begin, or the other way round, where groups are looked for */
  MOST_MANY = 20,
  MOST_PAIRS = 1 << 13, /* of one moment */
  PAIRS_ROOM = 1 << 18, /* of all */
  MOST_GROUPS = 12,
  MOST_CANDIDATES = 32
};

/* What ended and what took its place. */
typedef struct {
  int first_gone, gone_count, first_born, born_count; /* in gone[] and born[] */
  int beside, is_below; /* a buffer that lies below (above) if gone[] is from the bottom; PQ_NONE: any order */
} group_t;

/* Members as bits. */
typedef struct {
  int64_t sum;
  uint32_t members;
} subset_t;

/* A group: members of ending[] and starting[] as bits. */
typedef struct {
  uint32_t ending, starting;
} pair_t;

/* A way to divide all that ends and begins into groups; the less it costs the sooner it is tried. */
typedef struct {
  int count, chosen[MOST_GROUPS];
  pair_t groups[MOST_GROUPS];
  double cost;
} candidate_t;

/* The beginning of a section: its pairs, or PQ_NONE when they are not listed yet. */
typedef struct {
  int first_pair, pair_count, is_cut;
} moment_t;

typedef struct {
  int section, taken, count; /* which of the candidates was taken there, and how many there are */
  uint64_t name;             /* of what was taken */
} choice_t;

struct packing {
  const problem_t *p;
  void *block; /* all arrays */
  uint64_t seed, noise;
  int64_t asked_at;      /* nodes when the limits were asked last */
  int is_local, was_cut; /* was_cut: not all groups that are possible were looked at */

  int *by_start, *first_start;  /* buffers by their first section, and where each section's begin */
  int *by_end, *first_end;      /* the same by the section after their last */
  const int *ending, *starting; /* at this moment */
  int ending_count, starting_count;
  pq_tree_t tree, spare, kept;
  pq_bench_t bench;
  int *leaves; /* of what begins */
  group_t *groups;
  int group_count;
  int *gone, *born, gone_count, born_count;

  moment_t *moments;
  pair_t *pairs, *usable; /* of all moments; of this one, and what each costs */
  double *costs;
  int pair_count;
  subset_t *subsets;
  candidate_t *candidates;
  int candidate_count;

  choice_t *choices; /* where there was something to choose */
  int choice_count, choices_made;
  choice_t asked[2]; /* these instead of what is liked */
  choice_t *best;    /* the choices that led farthest */
  int best_count, farthest;
  uint64_t *liked; /* by section: the name of what was taken there; 0: nothing yet */
};

/* List the ways to divide all that ends and begins at a moment into groups that can lie together, cheapest first. */
void tflm_exact_packing_candidates(packing_t *k, moment_t *m, double spread);

#endif
