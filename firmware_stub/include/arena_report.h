/* SPDX-License-Identifier: Apache-2.0 */
/* arena_report: what a firmware says about its tensor arena, as frames beside its own log.
 *
 *   hello?  ->  begin  ->  model? info* number* used? category* buffer* high_water? failure?  ->  end
 *
 * The host believes a report only from begin to end, with every line there and every CRC right. C99, no allocation, no
 * globals: the caller owns the tsim_report_t (below 300 bytes) and the write callback.
 */
#ifndef TSIM_ARENA_REPORT_H_
#define TSIM_ARENA_REPORT_H_

#include "tsim_frame.h"
#include "tsim_paint.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How to send. context is handed back to write. */
typedef struct tsim_report_config {
  void *context;
  tsim_write_fn write;
} tsim_report_config_t;

/* Index of each category: the order of tflite::RecordedAllocationType. */
enum {
  TSIM_EVAL_TENSOR_DATA = 0,
  TSIM_PERSISTENT_TENSOR_DATA = 1,
  TSIM_PERSISTENT_QUANTIZATION_DATA = 2,
  TSIM_PERSISTENT_BUFFER_DATA = 3,
  TSIM_VARIABLE_BUFFER_DATA = 4,
  TSIM_NODE_AND_REGISTRATION_ARRAY = 5,
  TSIM_OP_DATA = 6,
  TSIM_COMPRESSION_DATA = 7,
  TSIM_CATEGORY_COUNT = 8
};

/* Bytes of the arena in use; total is head + tail. */
typedef struct tsim_used {
  uint32_t total;
  uint32_t head;
  uint32_t tail;
} tsim_used_t;

/* A category: bytes with alignment, bytes asked for, and how many allocations. */
typedef struct tsim_category {
  uint32_t used;
  uint32_t requested;
  uint32_t count;
} tsim_category_t;

/* A planned buffer: [offset, offset + size) of the head during steps first to last, both inclusive. */
typedef struct tsim_buffer {
  int32_t size;
  int32_t offset;
  int32_t first;
  int32_t last;
} tsim_buffer_t;

/* The state of one reporter. Fill it with tsim_report_init; the fields are not for the caller. */
typedef struct tsim_report {
  tsim_link_t link;
  uint32_t digest; /* CRC-32 over the bodies' CRCs since begin */
  uint16_t number; /* of the report: 1 for the first since start */
  uint16_t lines;  /* since begin, begin included */
  int16_t open;    /* 1 between begin and end */
} tsim_report_t;

int tsim_report_init(tsim_report_t *report, const tsim_report_config_t *config);

/* Say that the firmware started: once, before the first report. The host then knows that what was open is torn by a
 * restart, and that the count of frames begins anew. app is the firmware's name. */
int tsim_report_hello(tsim_report_t *report, const char *app);

/* Begin a report. A report that is open is given up: the host names it torn. arena_size is in bytes. */
int tsim_report_begin(tsim_report_t *report, const void *arena, size_t arena_size);

/* Say what the report is about: key is "target", "tflm", "kernels", "model", "sha256", or one of the firmware's own. */
int tsim_report_info(tsim_report_t *report, const char *key, const char *text);

/* A number about key: "stack_free" (bytes of the task's stack never used), "heap_free", "heap_least" (bytes), or one of
 * the firmware's own. The reset's reason is a text: tsim_report_info(report, "reset", "brownout"). */
int tsim_report_number(tsim_report_t *report, const char *key, uint32_t value);

/* AllocateTensors() failed with this status; the report then has no bytes in use. */
int tsim_report_failure(tsim_report_t *report, int32_t status);

/* Identify the model by its size and the CRC-32 of its bytes. */
int tsim_report_model(tsim_report_t *report, const void *model, size_t model_size);

/* The bytes in use; with tsim_report_total the firmware knows their sum only. */
int tsim_report_used(tsim_report_t *report, const tsim_used_t *used);
int tsim_report_total(tsim_report_t *report, uint32_t total);

int tsim_report_category(tsim_report_t *report, uint32_t kind, const tsim_category_t *category);
int tsim_report_buffer(tsim_report_t *report, uint32_t index, const tsim_buffer_t *buffer);
int tsim_report_high_water(tsim_report_t *report, const tsim_scan_t *scan);

/* End the report with the number of its lines and the digest of all of them. */
int tsim_report_end(tsim_report_t *report);

#ifdef __cplusplus
}
#endif

#endif /* TSIM_ARENA_REPORT_H_ */
