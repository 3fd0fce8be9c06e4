/* SPDX-License-Identifier: Apache-2.0 */
#include "arena_report.h"

enum { BASE_MASK = 15 };

int tsim_report_init(tsim_report_t *report, const tsim_report_config_t *config) {
  if (report == NULL || config == NULL) {
    return TSIM_E_ARGUMENT;
  }
  report->digest = 0;
  report->number = 0;
  report->lines = 0;
  report->open = 0;
  return tsim_link_init(&report->link, config->write, config->context);
}

/* Open a line of the report that is open; 0 when there is none, or no argument. */
static int line_open(tsim_report_t *report, const char *type, const void *argument) {
  if (report == NULL || argument == NULL) {
    return TSIM_E_ARGUMENT;
  }
  if (report->open == 0) {
    return TSIM_E_STATE;
  }
  tsim_frame_open(&report->link, type);
  tsim_frame_u32(&report->link, "r", report->number);
  return TSIM_OK;
}

/* Send the line. A line that could not be written is counted: the host must miss it. */
static int line_send(tsim_report_t *report) {
  const int status = tsim_frame_send(&report->link);
  if (status == TSIM_OK || status == TSIM_E_WRITE) {
    const uint32_t crc = report->link.body_crc;
    const uint8_t bytes[4] = {(uint8_t)(crc >> 24), (uint8_t)(crc >> 16), (uint8_t)(crc >> 8), (uint8_t)crc};
    report->digest = tsim_crc32(report->digest, bytes, sizeof bytes);
    ++report->lines;
  }
  return status;
}

int tsim_report_hello(tsim_report_t *report, const char *app) {
  if (report == NULL || app == NULL) {
    return TSIM_E_ARGUMENT;
  }
  tsim_frame_open(&report->link, "hello");
  tsim_frame_u32(&report->link, "v", TSIM_SCHEMA);
  tsim_frame_text(&report->link, "app", app);
  tsim_frame_u32(&report->link, "room", 0);
  tsim_frame_u32(&report->link, "buffers", 0);
  return tsim_frame_send(&report->link);
}

int tsim_report_begin(tsim_report_t *report, const void *arena, size_t arena_size) {
  if (report == NULL || arena == NULL || arena_size > UINT32_MAX) {
    return TSIM_E_ARGUMENT;
  }
  ++report->number;
  report->digest = 0;
  report->lines = 0;
  report->open = 1;
  tsim_frame_open(&report->link, "begin");
  tsim_frame_u32(&report->link, "v", TSIM_SCHEMA);
  tsim_frame_u32(&report->link, "r", report->number);
  tsim_frame_u32(&report->link, "arena", (uint32_t)arena_size);
  tsim_frame_u32(&report->link, "skew", (uint32_t)((uintptr_t)arena & (uintptr_t)BASE_MASK));
  return line_send(report);
}

int tsim_report_info(tsim_report_t *report, const char *key, const char *text) {
  const int status = line_open(report, "info", text);
  if (status != TSIM_OK) {
    return status;
  }
  if (key == NULL) {
    return TSIM_E_ARGUMENT;
  }
  tsim_frame_text(&report->link, "k", key);
  tsim_frame_text(&report->link, "s", text);
  return line_send(report);
}

int tsim_report_number(tsim_report_t *report, const char *key, uint32_t value) {
  const int status = line_open(report, "num", key);
  if (status != TSIM_OK) {
    return status;
  }
  tsim_frame_text(&report->link, "k", key);
  tsim_frame_u32(&report->link, "v", value);
  return line_send(report);
}

int tsim_report_failure(tsim_report_t *report, int32_t code) {
  const int status = line_open(report, "fail", report);
  if (status != TSIM_OK) {
    return status;
  }
  tsim_frame_i32(&report->link, "status", code);
  return line_send(report);
}

int tsim_report_model(tsim_report_t *report, const void *model, size_t model_size) {
  const int status = model_size > UINT32_MAX ? TSIM_E_ARGUMENT : line_open(report, "model", model);
  if (status != TSIM_OK) {
    return status;
  }
  tsim_frame_u32(&report->link, "size", (uint32_t)model_size);
  tsim_frame_hex(&report->link, "crc", tsim_crc32(0, model, model_size));
  return line_send(report);
}

int tsim_report_used(tsim_report_t *report, const tsim_used_t *used) {
  const int status = line_open(report, "used", used);
  if (status != TSIM_OK) {
    return status;
  }
  tsim_frame_u32(&report->link, "total", used->total);
  tsim_frame_u32(&report->link, "head", used->head);
  tsim_frame_u32(&report->link, "tail", used->tail);
  return line_send(report);
}

int tsim_report_total(tsim_report_t *report, uint32_t total) {
  const int status = line_open(report, "used", report);
  if (status != TSIM_OK) {
    return status;
  }
  tsim_frame_u32(&report->link, "total", total);
  return line_send(report);
}

int tsim_report_category(tsim_report_t *report, uint32_t kind, const tsim_category_t *category) {
  const int status = kind >= (uint32_t)TSIM_CATEGORY_COUNT ? TSIM_E_ARGUMENT : line_open(report, "cat", category);
  if (status != TSIM_OK) {
    return status;
  }
  tsim_frame_u32(&report->link, "k", kind);
  tsim_frame_u32(&report->link, "u", category->used);
  tsim_frame_u32(&report->link, "q", category->requested);
  tsim_frame_u32(&report->link, "c", category->count);
  return line_send(report);
}

int tsim_report_buffer(tsim_report_t *report, uint32_t index, const tsim_buffer_t *buffer) {
  const int status = line_open(report, "buf", buffer);
  if (status != TSIM_OK) {
    return status;
  }
  tsim_frame_u32(&report->link, "i", index);
  tsim_frame_i32(&report->link, "s", buffer->size);
  tsim_frame_i32(&report->link, "o", buffer->offset);
  tsim_frame_i32(&report->link, "f", buffer->first);
  tsim_frame_i32(&report->link, "l", buffer->last);
  return line_send(report);
}

int tsim_report_high_water(tsim_report_t *report, const tsim_scan_t *scan) {
  const int status = line_open(report, "high", scan);
  if (status != TSIM_OK) {
    return status;
  }
  tsim_frame_u32(&report->link, "touched", scan->touched);
  tsim_frame_u32(&report->link, "gap", scan->gap_size);
  tsim_frame_u32(&report->link, "at", scan->gap_offset);
  return line_send(report);
}

int tsim_report_end(tsim_report_t *report) {
  const int status = line_open(report, "end", report);
  if (status != TSIM_OK) {
    return status;
  }
  report->open = 0;
  tsim_frame_u32(&report->link, "n", report->lines);
  tsim_frame_hex(&report->link, "x", report->digest);
  return tsim_frame_send(&report->link);
}
