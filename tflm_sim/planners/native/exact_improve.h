/* Large neighbourhood search: a plan gets lower piece by piece. */
#ifndef TFLM_SIM_EXACT_IMPROVE_H
#define TFLM_SIM_EXACT_IMPROVE_H

#include "exact_problem.h"

typedef struct {
  const problem *p;
  int64_t *units;     /* the plan, in units; what is found is written here */
  uint64_t seed;      /* drawn from, and changed */
  exact_buffer *part; /* room for MOST_SEARCHED buffers, their names and offsets */
  int *named;
  int64_t *offsets;
  int (*stops)(void *context); /* asked by the searches; nonzero ends them */
  void *context;
  int64_t nodes; /* visited so far */
} improvement;

/* Room for the lists; EXACT_OK or EXACT_NO_MEMORY. improve_free is safe after both. */
int improve_init(improvement *m, const problem *p, int64_t *units);
void improve_free(improvement *m);

/* Free one of the highest buffers and some of those around it, and place them again below `peak` (bytes), with all
   others where they are. Returns whether that worked: one of the highest is lower then. */
int improve_once(improvement *m, int64_t peak);

#endif
