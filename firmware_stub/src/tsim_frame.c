/* SPDX-License-Identifier: Apache-2.0 */
#include "tsim_frame.h"

#include <stdbool.h>

/* LF before the frame: whatever another task left on the line does not become part of it. */
static const char PREAMBLE[] = "\n$TSIM,";
enum { PREAMBLE_SIZE = 7, BODY_START = 2, CRC_DIGITS = 8, LINE_END_SIZE = 2 };

uint32_t tsim_crc32(uint32_t crc, const void *data, size_t size) {
  static const uint32_t NIBBLES[16] = {0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u,
                                       0x4db26158u, 0x5005713cu, 0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu,
                                       0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu};
  const uint8_t *bytes = (const uint8_t *)data;
  crc = ~crc;
  for (size_t i = 0; i < size; ++i) {
    crc ^= bytes[i];
    crc = (crc >> 4) ^ NIBBLES[crc & 15u];
    crc = (crc >> 4) ^ NIBBLES[crc & 15u];
  }
  return ~crc;
}

int tsim_link_init(tsim_link_t *link, tsim_write_fn write, void *context) {
  if (link == NULL || write == NULL) {
    return TSIM_E_ARGUMENT;
  }
  link->write = write;
  link->context = context;
  link->body_crc = 0;
  link->status = TSIM_E_STATE;
  link->sequence = 0;
  link->used = 0;
  return TSIM_OK;
}

/* Append one byte; what must still follow ('}', '*', CRC) has room kept for it. */
static void put(tsim_link_t *link, char byte) {
  enum { LIMIT = TSIM_FRAME_MAX + 1 - (CRC_DIGITS + 2) };
  if (link->used >= LIMIT) {
    link->status = TSIM_E_TOO_LONG;
  }
  if (link->status == TSIM_OK) {
    link->line[link->used] = byte;
    ++link->used;
  }
}

static void put_text(tsim_link_t *link, const char *text) {
  for (size_t i = 0; text[i] != '\0'; ++i) {
    put(link, text[i]);
  }
}

static void put_decimal(tsim_link_t *link, uint32_t value) {
  char digits[10];
  uint32_t count = 0;
  do {
    digits[count] = (char)('0' + (char)(value % 10u));
    value /= 10u;
    ++count;
  } while (value != 0u);
  while (count > 0u) {
    --count;
    put(link, digits[count]);
  }
}

static char hex_digit(uint32_t nibble) { return "0123456789abcdef"[nibble & 15u]; }

static void put_hex(tsim_link_t *link, uint32_t value) {
  for (uint32_t shift = 32u; shift > 0u; shift -= 4u) {
    put(link, hex_digit(value >> (shift - 4u)));
  }
}

/* '$' and '*' mark the frame, so that they never occur inside; JSON's own two are escaped with everything not ASCII. */
static bool is_plain(char byte) {
  return byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\' && byte != '$' && byte != '*';
}

static void put_escaped(tsim_link_t *link, char byte) {
  if (is_plain(byte)) {
    put(link, byte);
  } else {
    put_text(link, "\\u00");
    put(link, hex_digit((uint32_t)(uint8_t)byte >> 4));
    put(link, hex_digit((uint32_t)(uint8_t)byte));
  }
}

static void put_key(tsim_link_t *link, const char *key) {
  if (link->status == TSIM_OK && link->line[link->used - 1u] != '{') {
    put(link, ',');
  }
  put(link, '"');
  put_text(link, key);
  put_text(link, "\":");
}

void tsim_frame_open(tsim_link_t *link, const char *type) {
  link->status = TSIM_OK;
  link->used = 0;
  put_text(link, PREAMBLE);
  put_decimal(link, link->sequence);
  put(link, ',');
  put_text(link, type);
  put_text(link, ",{");
}

void tsim_frame_u32(tsim_link_t *link, const char *key, uint32_t value) {
  put_key(link, key);
  put_decimal(link, value);
}

void tsim_frame_i32(tsim_link_t *link, const char *key, int32_t value) {
  put_key(link, key);
  if (value < 0) {
    put(link, '-');
  }
  put_decimal(link, value < 0 ? 0u - (uint32_t)value : (uint32_t)value);
}

void tsim_frame_hex(tsim_link_t *link, const char *key, uint32_t value) {
  put_key(link, key);
  put(link, '"');
  put_hex(link, value);
  put(link, '"');
}

void tsim_frame_text(tsim_link_t *link, const char *key, const char *text) {
  put_key(link, key);
  put(link, '"');
  for (size_t i = 0; text[i] != '\0'; ++i) {
    put_escaped(link, text[i]);
  }
  put(link, '"');
}

int tsim_frame_send(tsim_link_t *link) {
  const int status = (int)link->status;
  link->status = TSIM_E_STATE;
  if (status != TSIM_OK) {
    return status;
  }
  char *end = &link->line[link->used];
  *end = '}';
  ++end;
  link->body_crc = tsim_crc32(0, &link->line[BODY_START], (size_t)(end - &link->line[BODY_START]));
  *end = '*';
  ++end;
  for (uint32_t shift = 32u; shift > 0u; shift -= 4u) {
    *end = hex_digit(link->body_crc >> (shift - 4u));
    ++end;
  }
  *end = '\r';
  ++end;
  *end = '\n';
  ++end;
  ++link->sequence;
  link->used = (uint16_t)(end - link->line);
  return tsim_link_resend(link);
}

int tsim_link_resend(const tsim_link_t *link) {
  return link->write(link->context, link->line, link->used) < 0 ? TSIM_E_WRITE : TSIM_OK;
}
