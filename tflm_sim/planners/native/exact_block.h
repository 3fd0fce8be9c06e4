/* The block of memory that an object of the exact planner owns; tflm_workspace.h says who owns what. */
#ifndef TFLM_EXACT_BLOCK_H_
#define TFLM_EXACT_BLOCK_H_

#include "tflm_workspace.h"

/* Let lay_out carve all arrays of an object from one block of zeros. Returns the block, to be freed with the object;
 * NULL when memory is out.
 */
void *tflm_exact_block_new(void *object, void (*lay_out)(void *object, tflm_workspace_t *workspace));

#endif
