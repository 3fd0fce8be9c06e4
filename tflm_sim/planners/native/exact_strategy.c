/* The first strategies, and how others are drawn and bred. */
#include "exact_strategy.h"

#include "exact_ways.h"

enum {
  LEAST_NODES = 256,
  LONG_EVERY = 8, /* one of so many is LONGER times as long, and one time more with every LENGTHEN_EVERY turns */
  LONGER = 2,
  LENGTHEN_EVERY = 64
};

static const strategy_t FIRST[FIRST_STRATEGIES] = {
    {PICK_TIGHTEST, "OWTA", 3, 0},     {PICK_SNUGGEST, "OLTA", 0, 0},     {PICK_LOWEST_FLOOR, "TAWO", 2, 0},
    {PICK_LOWEST_FLOOR, "TZAW", 1, 0}, {PICK_TIGHTEST, "OTAW", 1, 0},     {PICK_LOWEST_FLOOR, "WOTA", 3, 0},
    {PICK_SNUGGEST, "OAZT", 1, 0},     {PICK_LOWEST_FLOOR, "TAWO", 0, 0}, {PICK_LOWEST, "TOAW", 0, 0},
    {PICK_SNUGGEST, "OAZT", 3, 0},     {PICK_LOWEST_FLOOR, "TWAO", 1, 0}, {PICK_SNUGGEST, "OAZT", 2, 0},
};

static void swap_keys(char *keys, int a, int b) {
  const char moved = keys[a];
  keys[a] = keys[b];
  keys[b] = moved;
}

static strategy_t breed(const strategy_t *parent, uint64_t bits) {
  strategy_t bred = *parent;
  swap_keys(bred.keys, (int)(bits % KEY_COUNT), (int)((bits >> 8) % KEY_COUNT));
  return bred;
}

static strategy_t draw(int way_count, uint64_t bits) {
  strategy_t drawn = {(search_pick_t)((bits >> 48) % PICK_COUNT), "", (int)(bits >> 60) & 1, bits & 32 ? bits >> 5 : 0};
  if (way_count > MERGED && (bits >> 61) % 4 == 0) drawn.way |= MERGED; /* may have no plan: less often */
  char keys[] = "TAWOZ";
  for (int k = 0; k < KEY_COUNT; k++) {
    swap_keys(keys, k, k + (int)((bits >> (8 * k)) % (sizeof keys - 1 - (size_t)k)));
    drawn.keys[k] = keys[k];
  }
  return drawn;
}

strategy_t tflm_exact_strategy(int64_t turn, int way_count, const strategy_t *winner) {
  if (turn < FIRST_STRATEGIES) {
    strategy_t first = FIRST[turn];
    first.way %= way_count;
    return first;
  }
  const uint64_t bits = exact_mix((uint64_t)turn * UINT64_C(0x9e3779b97f4a7c15));
  return winner != NULL && bits >> 63 ? breed(winner, bits) : draw(way_count, bits);
}

int64_t tflm_exact_nodes(int buffers, int64_t turn) {
  const int64_t least = (int64_t)buffers * 3 / 2 + LEAST_NODES;
  return turn % LONG_EVERY == LONG_EVERY - 1 ? least * (LONGER + turn / LENGTHEN_EVERY) : least;
}
