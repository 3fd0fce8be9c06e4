/* SPDX-License-Identifier: Apache-2.0 */
/* The two functions that a compiler may call on its own, for toolchains that come without a C library. */
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int value, size_t size);

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
  unsigned char *out = (unsigned char *)to;
  const unsigned char *in = (const unsigned char *)from;
  for (size_t i = 0; i < size; ++i) {
    out[i] = in[i];
  }
  return to;
}

void *memset(void *to, int value, size_t size) {
  unsigned char *out = (unsigned char *)to;
  for (size_t i = 0; i < size; ++i) {
    out[i] = (unsigned char)value;
  }
  return to;
}
