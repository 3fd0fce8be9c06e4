/* The search once more, with 64-bit units. */
#define EXACT_WIDE
#include "exact_search.c"
