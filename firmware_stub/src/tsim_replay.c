/* SPDX-License-Identifier: Apache-2.0 */
#include "tsim_replay.h"

#include <stdbool.h>

#include "tsim_paint.h"

/* Bytes of TFLM's own tables for one buffer (GreedyMemoryPlanner::per_buffer_size(), ILP32 and LP64 alike). */
enum { TFLM_PER_BUFFER_SIZE = 40 };

/* One command: carries it out and stores a number for the answer. Returns TSIM_OK or a negative TSIM_E_... */
typedef int (*handler_fn)(tsim_replay_t *replay, uint32_t *result);

typedef struct handler {
  const char *type;
  handler_fn carry_out;
  bool needs_open;
} handler_t;

/* ---- fields ---- */

static int signed_field(const tsim_replay_t *replay, const char *key, int32_t *value) {
  int64_t number;
  if (tsim_command_field(&replay->command, key, &number) == 0 || number < INT32_MIN || number > INT32_MAX) {
    return TSIM_E_ARGUMENT;
  }
  *value = (int32_t)number;
  return TSIM_OK;
}

/* A size, an offset, an alignment, an index: 0 to INT32_MAX. */
static int field(const tsim_replay_t *replay, const char *key, uint32_t *value) {
  int32_t number = 0;
  const int status = signed_field(replay, key, &number);
  *value = (uint32_t)number;
  return status == TSIM_OK && number >= 0 ? TSIM_OK : TSIM_E_ARGUMENT;
}

static int two_fields(const tsim_replay_t *replay, const char *a, uint32_t *first, const char *b, uint32_t *second) {
  const int status = field(replay, a, first);
  return status == TSIM_OK ? field(replay, b, second) : status;
}

/* ---- memory check ---- */

static uint8_t *at_offset(const tsim_replay_t *replay, uint32_t offset) {
  return &replay->config.memory[replay->arena.skew + offset];
}

static bool is_inside(const tsim_replay_t *replay, uint32_t offset, uint32_t size) {
  return offset <= replay->arena.size && size <= replay->arena.size - offset;
}

static void compare(tsim_replay_t *replay, uint32_t offset, uint32_t size, uint32_t seed, uint32_t *bad) {
  const tsim_scan_t scan = tsim_scan_paint(at_offset(replay, offset), size, seed);
  if (scan.touched != 0u && replay->bad == 0u) {
    replay->bad_offset = offset;
  }
  replay->bad += scan.touched;
  *bad += scan.touched;
}

/* ---- commands ---- */

static int on_open(tsim_replay_t *replay, uint32_t *result) {
  uint32_t schema = 0;
  uint32_t size = 0;
  uint32_t skew = 0;
  if (field(replay, "v", &schema) != TSIM_OK || schema != (uint32_t)TSIM_SCHEMA) {
    return TSIM_E_UNKNOWN;
  }
  const int status = two_fields(replay, "size", &size, "skew", &skew);
  if (status != TSIM_OK) {
    return status;
  }
  if (skew > replay->config.memory_size || size > replay->config.memory_size - skew) {
    *result = size + skew - replay->config.memory_size;
    return TSIM_E_NO_ROOM;
  }
  replay->bad = 0;
  replay->bad_offset = 0;
  replay->buffer_count = 0;
  const int made = tsim_arena_init(&replay->arena, size, skew);
  replay->is_open = made == TSIM_OK ? 1 : 0;
  return made;
}

typedef int (*take_t)(tsim_arena_t *arena, uint32_t size, uint32_t alignment, uint32_t *offset);

/* Take bytes from the arena and paint them. */
static int take_and_paint(tsim_replay_t *replay, take_t take, uint32_t *result) {
  uint32_t size = 0;
  uint32_t alignment = 0;
  uint32_t seed = 0;
  int status = two_fields(replay, "s", &size, "a", &alignment);
  if (status == TSIM_OK) {
    status = field(replay, "i", &seed);
  }
  if (status == TSIM_OK) {
    status = take(&replay->arena, size, alignment, result);
  }
  if (status == TSIM_OK) {
    tsim_paint(at_offset(replay, *result), size, seed);
  }
  return status;
}

static int on_tail(tsim_replay_t *replay, uint32_t *result) {
  return take_and_paint(replay, tsim_arena_persist, result);
}

static int on_temp(tsim_replay_t *replay, uint32_t *result) {
  return take_and_paint(replay, tsim_arena_take_temp, result);
}

static int on_check(tsim_replay_t *replay, uint32_t *result) {
  uint32_t offset = 0;
  uint32_t size = 0;
  uint32_t seed = 0;
  int status = two_fields(replay, "o", &offset, "s", &size);
  if (status == TSIM_OK) {
    status = field(replay, "i", &seed);
  }
  if (status == TSIM_OK && !is_inside(replay, offset, size)) {
    status = TSIM_E_ARGUMENT;
  }
  if (status == TSIM_OK) {
    compare(replay, offset, size, seed, result);
  }
  return status;
}

static int on_free(tsim_replay_t *replay, uint32_t *result) {
  uint32_t offset = 0;
  int status = on_check(replay, result);
  if (status == TSIM_OK) {
    status = field(replay, "o", &offset);
  }
  return status == TSIM_OK ? tsim_arena_free_temp(&replay->arena, offset) : status;
}

static int on_reset(tsim_replay_t *replay, uint32_t *result) {
  *result = replay->arena.head;
  return tsim_arena_reset_temps(&replay->arena);
}

static int on_head(tsim_replay_t *replay, uint32_t *result) {
  uint32_t size = 0;
  uint32_t alignment = 0;
  const int status = two_fields(replay, "s", &size, "a", &alignment);
  return status == TSIM_OK ? tsim_arena_resize_head(&replay->arena, size, alignment, result) : status;
}

static int on_plan(tsim_replay_t *replay, uint32_t *result) {
  uint32_t size = 0;
  uint32_t alignment = 0;
  int status = two_fields(replay, "s", &size, "a", &alignment);
  if (status == TSIM_OK) {
    status = tsim_arena_take_planner(&replay->arena, size, alignment, result);
  }
  if (status == TSIM_OK) {
    replay->planner_offset = *result;
    replay->buffer_count = 0;
  }
  return status;
}

static int on_add(tsim_replay_t *replay, uint32_t *result) {
  tflm_plan_buffer_t buffer = {0, TFLM_PLAN_ONLINE, 0, 0, 1};
  int status = signed_field(replay, "s", &buffer.size);
  if (status == TSIM_OK) {
    status = signed_field(replay, "f", &buffer.first_time_used);
  }
  if (status == TSIM_OK) {
    status = signed_field(replay, "l", &buffer.last_time_used);
  }
  if (status == TSIM_OK) {
    status = signed_field(replay, "p", &buffer.offline_offset);
  }
  if (status == TSIM_OK && replay->buffer_count == replay->config.buffer_limit) {
    status = TSIM_E_PLAN;
  }
  if (status == TSIM_OK) {
    replay->config.buffers[replay->buffer_count] = buffer;
    *result = replay->buffer_count;
    ++replay->buffer_count;
  }
  return status;
}

static int on_solve(tsim_replay_t *replay, uint32_t *result) {
  const tsim_replay_config_t *config = &replay->config;
  if (tflm_plan_greedy(config->buffers, replay->buffer_count, config->workspace, config->workspace_size,
                       config->offsets, result) != TFLM_PLAN_OK) {
    *result = 0;
    return TSIM_E_PLAN;
  }
  tsim_arena_count_planner(&replay->arena, replay->planner_offset,
                           replay->buffer_count * (uint32_t)TFLM_PER_BUFFER_SIZE);
  return TSIM_OK;
}

static int on_where(tsim_replay_t *replay, uint32_t *result) {
  uint32_t index = 0;
  const int status = field(replay, "i", &index);
  if (status != TSIM_OK || index >= replay->buffer_count) {
    return TSIM_E_ARGUMENT;
  }
  *result = (uint32_t)replay->config.offsets[index];
  return TSIM_OK;
}

/* Return whether every planned buffer lies in the head, and store the first and the last step. */
static bool steps_of_plan(const tsim_replay_t *replay, int32_t *first, int32_t *last) {
  *first = INT32_MAX;
  *last = INT32_MIN;
  for (uint32_t i = 0; i < replay->buffer_count; ++i) {
    const tflm_plan_buffer_t *buffer = &replay->config.buffers[i];
    const int64_t offset = replay->config.offsets[i];
    if (offset < 0 || buffer->size < 0 || offset + buffer->size > (int64_t)replay->arena.head) {
      return false;
    }
    *first = buffer->first_time_used < *first ? buffer->first_time_used : *first;
    *last = buffer->last_time_used > *last ? buffer->last_time_used : *last;
  }
  return *last < INT32_MAX;
}

/* Live through the plan: paint each buffer at its first step, compare it at its last. */
static int on_live(tsim_replay_t *replay, uint32_t *result) {
  int32_t first = 0;
  int32_t last = 0;
  if (!steps_of_plan(replay, &first, &last)) {
    return TSIM_E_PLAN;
  }
  for (int32_t step = first; step <= last; ++step) {
    for (uint32_t i = 0; i < replay->buffer_count; ++i) {
      const tflm_plan_buffer_t *buffer = &replay->config.buffers[i];
      if (buffer->first_time_used == step) {
        tsim_paint(at_offset(replay, (uint32_t)replay->config.offsets[i]), (uint32_t)buffer->size, i);
      }
    }
    for (uint32_t i = 0; i < replay->buffer_count; ++i) {
      const tflm_plan_buffer_t *buffer = &replay->config.buffers[i];
      if (buffer->last_time_used == step) {
        compare(replay, (uint32_t)replay->config.offsets[i], (uint32_t)buffer->size, i, result);
      }
    }
  }
  return TSIM_OK;
}

static const handler_t HANDLERS[] = {
    {"open", on_open, false},  {"tail", on_tail, true},   {"temp", on_temp, true},   {"free", on_free, true},
    {"check", on_check, true}, {"reset", on_reset, true}, {"head", on_head, true},   {"plan", on_plan, true},
    {"add", on_add, true},     {"solve", on_solve, true}, {"where", on_where, true}, {"live", on_live, true},
};
enum { HANDLER_COUNT = sizeof HANDLERS / sizeof HANDLERS[0] };

/* ---- answers ---- */

static int answer(tsim_replay_t *replay, int status, uint32_t result) {
  tsim_frame_open(&replay->link, status == TSIM_OK ? "ok" : "no");
  tsim_frame_u32(&replay->link, "q", replay->command.sequence);
  if (status != TSIM_OK) {
    tsim_frame_i32(&replay->link, "e", status);
  }
  tsim_frame_u32(&replay->link, "o", result);
  return tsim_frame_send(&replay->link);
}

static int answer_done(tsim_replay_t *replay) {
  tsim_frame_open(&replay->link, "done");
  tsim_frame_u32(&replay->link, "q", replay->command.sequence);
  tsim_frame_u32(&replay->link, "head", replay->arena.head);
  tsim_frame_u32(&replay->link, "tail", replay->arena.size - replay->arena.tail);
  tsim_frame_u32(&replay->link, "mark", replay->arena.mark);
  tsim_frame_u32(&replay->link, "bad", replay->bad);
  tsim_frame_u32(&replay->link, "at", replay->bad_offset);
  return tsim_frame_send(&replay->link);
}

static int carry_out(tsim_replay_t *replay) {
  for (size_t i = 0; i < (size_t)HANDLER_COUNT; ++i) {
    if (tsim_text_equal(HANDLERS[i].type, replay->command.type) != 0) {
      uint32_t result = 0;
      const bool refused = HANDLERS[i].needs_open && replay->is_open == 0;
      const int status = refused ? TSIM_E_STATE : HANDLERS[i].carry_out(replay, &result);
      return answer(replay, status, result);
    }
  }
  if (tsim_text_equal("close", replay->command.type) != 0 && replay->is_open != 0) {
    replay->is_open = 0;
    return answer_done(replay);
  }
  return answer(replay, TSIM_E_UNKNOWN, 0);
}

int tsim_replay_init(tsim_replay_t *replay, const tsim_replay_config_t *config) {
  if (replay == NULL || config == NULL || config->memory == NULL || config->app == NULL || config->buffers == NULL ||
      config->offsets == NULL || config->workspace == NULL ||
      tflm_plan_greedy_workspace_size(config->buffer_limit) > config->workspace_size ||
      (uintptr_t)config->memory % (uintptr_t)TSIM_ARENA_ALIGNMENT_MAX != 0u) {
    return TSIM_E_ARGUMENT;
  }
  replay->config = *config;
  replay->bad = 0;
  replay->bad_offset = 0;
  replay->buffer_count = 0;
  replay->planner_offset = 0;
  replay->last_crc = 0;
  replay->has_last = 0;
  replay->is_open = 0;
  tsim_receiver_init(&replay->receiver);
  return tsim_link_init(&replay->link, config->write, config->context);
}

/* Open a hello; who answers a ping adds its number, who starts does not: that is how the host knows a restart. */
static void open_hello(tsim_replay_t *replay) {
  replay->has_last = 0;
  tsim_frame_open(&replay->link, "hello");
  tsim_frame_u32(&replay->link, "v", TSIM_SCHEMA);
  tsim_frame_text(&replay->link, "app", replay->config.app);
  tsim_frame_u32(&replay->link, "room", replay->config.memory_size);
  tsim_frame_u32(&replay->link, "buffers", replay->config.buffer_limit);
}

int tsim_replay_hello(tsim_replay_t *replay) {
  open_hello(replay);
  return tsim_frame_send(&replay->link);
}

static int answer_ping(tsim_replay_t *replay) {
  open_hello(replay);
  tsim_frame_u32(&replay->link, "q", replay->command.sequence);
  return tsim_frame_send(&replay->link);
}

int tsim_replay_take(tsim_replay_t *replay, uint8_t byte) {
  if (tsim_receiver_take(&replay->receiver, byte, &replay->command) == 0) {
    return TSIM_OK;
  }
  if (tsim_text_equal("ping", replay->command.type) != 0) {
    return answer_ping(replay);
  }
  if (replay->has_last != 0 && replay->last_crc == replay->command.body_crc) {
    return tsim_link_resend(&replay->link);
  }
  replay->last_crc = replay->command.body_crc;
  replay->has_last = 1;
  return carry_out(replay);
}
