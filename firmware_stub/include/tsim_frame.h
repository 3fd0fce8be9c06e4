/* SPDX-License-Identifier: Apache-2.0 */
/* tsim_frame: one frame per line, beside any other text on the same port.
 *
 *   $TSIM,<seq>,<type>,{<fields>}*<crc32>
 *
 * PROTOCOL.md states every byte. C99, no allocation, no globals: the caller owns the tsim_link_t.
 *
 * Invariant: a frame reaches the write callback whole and in one call, or not at all.
 */
#ifndef TSIM_FRAME_H_
#define TSIM_FRAME_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Status of every function: TSIM_OK, or why it was refused. */
enum {
  TSIM_OK = 0,
  TSIM_E_ARGUMENT = -1, /* a null pointer, or a number outside its range */
  TSIM_E_STATE = -2,    /* not now: the order of the calls is wrong */
  TSIM_E_TOO_LONG = -3, /* the line would be longer than TSIM_FRAME_MAX; nothing was sent */
  TSIM_E_WRITE = -4,    /* the write callback failed */
  TSIM_E_NO_ROOM = -5,  /* the arena refuses the bytes, as TFLM's would */
  TSIM_E_DAMAGED = -6,  /* a line that is not a whole frame */
  TSIM_E_UNKNOWN = -7,  /* a frame of a type or schema that this firmware does not know */
  TSIM_E_PLAN = -8      /* the planner refuses the buffers */
};

enum { TSIM_SCHEMA = 1 };

/* Bytes of a frame from '$' to the last digit of the CRC: below the 256 byte print buffers of common ports. */
enum { TSIM_FRAME_MAX = 240 };

/* Send size bytes. Return 0, or a negative number when they were not sent. */
typedef int (*tsim_write_fn)(void *context, const void *data, size_t size);

/* The sending side of a port. Fill it with tsim_link_init; the fields are not for the caller. */
typedef struct tsim_link {
  tsim_write_fn write;
  void *context;
  uint32_t body_crc; /* CRC-32 of the body of the last frame that was sent */
  int32_t status;    /* of the frame that is open */
  uint16_t sequence; /* of the next frame */
  uint16_t used;     /* bytes in line */
  char line[TSIM_FRAME_MAX + 4];
} tsim_link_t;

/* Continue a CRC-32 (as in zlib: start with 0). */
uint32_t tsim_crc32(uint32_t crc, const void *data, size_t size);

int tsim_link_init(tsim_link_t *link, tsim_write_fn write, void *context);

/* Open a frame, add its fields, send it. The first refusal sticks until tsim_frame_send, which returns it. */
void tsim_frame_open(tsim_link_t *link, const char *type);
void tsim_frame_u32(tsim_link_t *link, const char *key, uint32_t value);
void tsim_frame_i32(tsim_link_t *link, const char *key, int32_t value);
void tsim_frame_hex(tsim_link_t *link, const char *key, uint32_t value);
void tsim_frame_text(tsim_link_t *link, const char *key, const char *text);
int tsim_frame_send(tsim_link_t *link);

/* Send the last frame once more, byte for byte. */
int tsim_link_resend(const tsim_link_t *link);

#ifdef __cplusplus
}
#endif

#endif /* TSIM_FRAME_H_ */
