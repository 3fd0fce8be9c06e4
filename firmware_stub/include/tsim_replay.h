/* SPDX-License-Identifier: Apache-2.0 */
/* tsim_replay: carries out, in the device's own RAM, the allocations that the host simulated.
 *
 * The host sends one command at a time; each is answered with "ok" or "no", the last one with "done". Every byte range
 * that an allocation returns is painted with the allocation's own seed and compared before it is given back, so a range
 * that is handed out twice is found. A command that comes again, because its answer was lost, is answered again and
 * not carried out again. PROTOCOL.md has the commands.
 */
#ifndef TSIM_REPLAY_H_
#define TSIM_REPLAY_H_

#include "tflm_plan.h"
#include "tsim_arena.h"
#include "tsim_parse.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the port brings. memory is 16-byte aligned, workspace 8-byte aligned; the tables have buffer_limit rows. */
typedef struct tsim_replay_config {
  void *context;
  tsim_write_fn write;
  const char *app;
  uint8_t *memory;
  uint32_t memory_size;
  tflm_plan_buffer_t *buffers;
  int32_t *offsets;
  uint32_t buffer_limit;
  void *workspace;
  size_t workspace_size;
} tsim_replay_config_t;

/* The state of the replay. Fill it with tsim_replay_init; the fields are not for the caller. */
typedef struct tsim_replay {
  tsim_replay_config_t config;
  tsim_link_t link;
  tsim_receiver_t receiver;
  tsim_command_t command;
  tsim_arena_t arena;
  uint32_t bad;        /* bytes that did not hold their pattern */
  uint32_t bad_offset; /* of the first range with such bytes */
  uint32_t buffer_count;
  uint32_t planner_offset;
  uint32_t last_crc; /* of the last command that was carried out */
  int16_t has_last;
  int16_t is_open;
} tsim_replay_t;

int tsim_replay_init(tsim_replay_t *replay, const tsim_replay_config_t *config);

/* Say hello: once, after start. */
int tsim_replay_hello(tsim_replay_t *replay);

/* Take a byte from the port. Return TSIM_OK, or TSIM_E_WRITE when an answer could not be sent. */
int tsim_replay_take(tsim_replay_t *replay, uint8_t byte);

#ifdef __cplusplus
}
#endif

#endif /* TSIM_REPLAY_H_ */
