/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes into the replay firmware: it must answer frames only, keep its invariants, and never touch other memory.
 *
 * LLVMFuzzerTestOneInput is what a fuzzer calls. With FUZZ_DRIVER there is a small one here: it mutates valid sessions
 * for the seconds given as argument, and gives the commands their right CRC most of the time, so that they get through.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tsim_replay.h"

enum { MEMORY = 256, LIMIT = 6, GUARD = 64 };

typedef struct device {
  uint8_t guard_below[GUARD] __attribute__((aligned(16)));
  uint8_t memory[MEMORY] __attribute__((aligned(16)));
  uint8_t guard_above[GUARD];
  uint64_t workspace[1024];
  tflm_plan_buffer_t buffers[LIMIT];
  int32_t offsets[LIMIT];
  tsim_replay_t replay;
} device_t;

static device_t device;
static size_t answers;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition, const char *what) {
  if (condition == 0) {
    (void)fprintf(stderr, "broken: %s\n", what);
    abort();
  }
}

static int check_frame(void *context, const void *data, size_t size) {
  const char *bytes = (const char *)data;
  (void)context;
  require(size <= (size_t)TSIM_FRAME_MAX + 3u, "a frame is not longer than a line");
  require(bytes[0] == '\n' && bytes[1] == '$' && bytes[size - 1u] == '\n', "a frame is one whole line");
  ++answers;
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  memset(&device, 0, sizeof device);
  const tsim_replay_config_t config = {
      NULL,           check_frame,    "fuzz", device.memory,    MEMORY,
      device.buffers, device.offsets, LIMIT,  device.workspace, sizeof device.workspace};
  require(tsim_replay_init(&device.replay, &config) == TSIM_OK, "the firmware starts");
  for (size_t i = 0; i < size; ++i) {
    require(tsim_replay_take(&device.replay, data[i]) == TSIM_OK, "a byte is taken");
    require(device.replay.is_open == 0 || tsim_arena_check(&device.replay.arena) != 0, "the arena's invariant holds");
  }
  for (size_t i = 0; i < (size_t)GUARD; ++i) {
    require(device.guard_below[i] == 0u && device.guard_above[i] == 0u, "nothing outside the arena is written");
  }
  return 0;
}

#ifdef FUZZ_DRIVER

static const char *const COMMANDS[] = {
    "open,{\"v\":1,\"size\":%d,\"skew\":%d}",
    "tail,{\"s\":%d,\"a\":%d,\"i\":1}",
    "temp,{\"s\":%d,\"a\":%d,\"i\":2}",
    "free,{\"o\":%d,\"s\":%d,\"i\":2}",
    "check,{\"o\":%d,\"s\":%d,\"i\":1}",
    "reset,{}",
    "head,{\"s\":%d,\"a\":%d}",
    "plan,{\"s\":%d,\"a\":%d}",
    "add,{\"s\":%d,\"f\":0,\"l\":%d,\"p\":-1}",
    "add,{\"s\":%d,\"f\":-1,\"l\":3,\"p\":%d}",
    "solve,{}",
    "where,{\"i\":%d}",
    "live,{}",
    "close,{}",
    "ping,{}",
};
static const int NUMBERS[] = {0, 1, 2, 3, 4, 8, 16, 17, 32, 64, 100, 240, 256, 257, 1000, 65536, -1, 2147483647};
static uint64_t state = 1;

static uint32_t chance(uint32_t limit) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 33) % limit;
}

static int number(void) { return NUMBERS[chance(sizeof NUMBERS / sizeof NUMBERS[0])]; }

/* Append one command to a session, damaged now and then. */
static size_t append(char *session, size_t used, unsigned sequence) {
  char body[160];
  char fields[128];
  const char *format = chance(3) == 0u ? COMMANDS[0] : COMMANDS[chance(sizeof COMMANDS / sizeof COMMANDS[0])];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
  (void)snprintf(fields, sizeof fields, format, number(), number());
#pragma GCC diagnostic pop
  (void)snprintf(body, sizeof body, "TSIM,%u,%s", sequence, fields);
  if (chance(8) == 0u) {
    body[chance((uint32_t)strlen(body))] = (char)(1u + chance(255));
  }
  const unsigned crc = (unsigned)tsim_crc32(0, body, strlen(body));
  const int length = snprintf(&session[used], 256, "$%s*%08x\n", body, chance(20) == 0u ? crc ^ 1u : crc);
  if (chance(10) == 0u && length > 0) {
    session[used + chance((uint32_t)length)] = (char)chance(256);
  }
  return used + (size_t)length;
}

int main(int argc, char **argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 5.0;
  const clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);
  static char session[64 * 256];
  unsigned long sessions = 0;
  while (clock() < end) {
    size_t used = 0;
    const uint32_t commands = 1u + chance(40);
    for (unsigned i = 0; i < commands; ++i) {
      used = append(session, used, i);
    }
    (void)LLVMFuzzerTestOneInput((const uint8_t *)session, used);
    ++sessions;
  }
  (void)printf("%lu sessions, %zu answers, no rule broken\n", sessions, answers);
  return 0;
}

#endif
