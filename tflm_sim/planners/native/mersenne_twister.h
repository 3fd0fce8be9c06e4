/* Random numbers as CPython's random.Random(1).randint(0, below - 1) draws them (MT19937). */
#ifndef TFLM_MERSENNE_TWISTER_H_
#define TFLM_MERSENNE_TWISTER_H_

#include <stdint.h>

#define MT_SIZE 624u
#define MT_SHIFT 397u

typedef struct mersenne_twister {
  uint32_t next;
  uint32_t mt[MT_SIZE];
} mersenne_twister_t;

static inline void mt_seed(mersenne_twister_t *random) {
  uint32_t *mt = random->mt;
  uint32_t i = 1;
  mt[0] = 19650218u;
  for (uint32_t k = 1; k < MT_SIZE; ++k) mt[k] = 1812433253u * (mt[k - 1] ^ (mt[k - 1] >> 30)) + k;
  for (uint32_t k = 0; k < 2 * MT_SIZE - 1; ++k) {
    const uint32_t mixed = mt[i - 1] ^ (mt[i - 1] >> 30);
    mt[i] = k < MT_SIZE ? (mt[i] ^ (mixed * 1664525u)) + 1u : (mt[i] ^ (mixed * 1566083941u)) - i;
    if (++i == MT_SIZE) {
      mt[0] = mt[MT_SIZE - 1];
      i = 1;
    }
  }
  mt[0] = 0x80000000u;
  random->next = MT_SIZE;
}

static inline void mt_refill(mersenne_twister_t *random) {
  uint32_t *mt = random->mt;
  for (uint32_t k = 0; k < MT_SIZE; ++k) {
    const uint32_t y = (mt[k] & 0x80000000u) | (mt[(k + 1) % MT_SIZE] & 0x7fffffffu);
    mt[k] = mt[(k + MT_SHIFT) % MT_SIZE] ^ (y >> 1) ^ ((y & 1u) ? 0x9908b0dfu : 0u);
  }
  random->next = 0;
}

static inline uint32_t mt_draw(mersenne_twister_t *random) {
  if (random->next == MT_SIZE) mt_refill(random);
  uint32_t y = random->mt[random->next++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

static inline uint32_t random_below(mersenne_twister_t *random, uint32_t below) {
  uint32_t bits = 0;
  uint32_t drawn;
  while (bits < 32 && (below >> bits) != 0) ++bits;
  do {
    drawn = mt_draw(random) >> (32 - bits);
  } while (drawn >= below);
  return drawn;
}

#endif /* TFLM_MERSENNE_TWISTER_H_ */
