/* SPDX-License-Identifier: Apache-2.0 */
/* tsim_parse: the receiving side: bytes in, whole frames out.
 *
 * Only what the host sends is read: fields are integers. A line that is not a whole frame is dropped and counted.
 */
#ifndef TSIM_PARSE_H_
#define TSIM_PARSE_H_

#include "tsim_frame.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TSIM_TYPE_MAX = 12, TSIM_KEY_MAX = 4, TSIM_FIELDS_MAX = 6 };

/* A frame that arrived. Keys and type end with NUL. */
typedef struct tsim_command {
  uint32_t body_crc;
  uint16_t sequence;
  uint16_t count; /* of fields */
  char type[TSIM_TYPE_MAX + 1];
  char key[TSIM_FIELDS_MAX][TSIM_KEY_MAX + 1];
  int64_t value[TSIM_FIELDS_MAX];
} tsim_command_t;

/* Collects a line. Fill it with tsim_receiver_init; the fields are not for the caller. */
typedef struct tsim_receiver {
  uint32_t dropped; /* lines that looked like a frame and were none */
  uint16_t used;
  uint16_t overlong;
  char line[TSIM_FRAME_MAX];
} tsim_receiver_t;

void tsim_receiver_init(tsim_receiver_t *receiver);

/* Take one byte. Return 1 when it completes a frame, which is then in *command; else 0. */
int tsim_receiver_take(tsim_receiver_t *receiver, uint8_t byte, tsim_command_t *command);

/* Read one line, without its line end. TSIM_OK, or TSIM_E_DAMAGED. */
int tsim_parse_frame(const char *line, size_t size, tsim_command_t *command);

/* Return 1 and the field's value when the command has it, else 0. */
int tsim_command_field(const tsim_command_t *command, const char *key, int64_t *value);

/* Return 1 when two texts that end with NUL are the same. */
int tsim_text_equal(const char *a, const char *b);

#ifdef __cplusplus
}
#endif

#endif /* TSIM_PARSE_H_ */
