/* One block for all arrays of an object. */
#include "exact_block.h"

#include <stdlib.h>

enum { GAP = TFLM_IS_WATCHED ? 32 : 0 };

void *tflm_exact_block_new(void *object, void (*lay_out)(void *object, tflm_workspace_t *workspace)) {
  tflm_workspace_t workspace = {NULL, 0, GAP};
  lay_out(object, &workspace);
  workspace.base = calloc(1, workspace.used + 1);
  workspace.used = 0;
  if (workspace.base != NULL) lay_out(object, &workspace);
  return workspace.base;
}
