/* SPDX-License-Identifier: Apache-2.0 */
/* replay_app: the replay firmware around a port: its tables, its arena, and the loop over received bytes.
 *
 * A port defines the sizes, includes this file once, and calls replay_app_start and replay_app_take.
 */
#ifndef REPLAY_APP_H_
#define REPLAY_APP_H_

#include "tsim_replay.h"

#ifndef REPLAY_APP_ARENA_SIZE
#define REPLAY_APP_ARENA_SIZE (512u * 1024u)
#endif
#ifndef REPLAY_APP_BUFFER_LIMIT
#define REPLAY_APP_BUFFER_LIMIT 1024u
#endif
/* tflm_plan_greedy_workspace_size is below 64 bytes a buffer and 4 KiB; replay_app_start checks it. */
#define REPLAY_APP_WORKSPACE_SIZE (64u * REPLAY_APP_BUFFER_LIMIT + 4096u)

/* Everything that the firmware keeps. One static object in the port. */
typedef struct replay_app {
  _Alignas(16) uint8_t memory[REPLAY_APP_ARENA_SIZE + 16u];
  uint64_t workspace[REPLAY_APP_WORKSPACE_SIZE / sizeof(uint64_t)];
  tflm_plan_buffer_t buffers[REPLAY_APP_BUFFER_LIMIT];
  int32_t offsets[REPLAY_APP_BUFFER_LIMIT];
  tsim_replay_t replay;
} replay_app_t;

static int replay_app_start(replay_app_t *app, const char *name, tsim_write_fn write, void *context) {
  tsim_replay_config_t config;
  config.context = context;
  config.write = write;
  config.app = name;
  config.memory = app->memory;
  config.memory_size = (uint32_t)sizeof app->memory;
  config.buffers = app->buffers;
  config.offsets = app->offsets;
  config.buffer_limit = REPLAY_APP_BUFFER_LIMIT;
  config.workspace = app->workspace;
  config.workspace_size = sizeof app->workspace;
  const int status = tsim_replay_init(&app->replay, &config);
  return status == TSIM_OK ? tsim_replay_hello(&app->replay) : status;
}

static int replay_app_take(replay_app_t *app, uint8_t byte) { return tsim_replay_take(&app->replay, byte); }

#endif /* REPLAY_APP_H_ */
