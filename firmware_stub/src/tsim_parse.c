/* SPDX-License-Identifier: Apache-2.0 */
#include "tsim_parse.h"

#include <stdbool.h>

/* A position in a line. Once it failed, every further step fails. */
typedef struct cursor {
  const char *line;
  size_t size;
  size_t at;
  bool ok;
} cursor_t;

static const char MARK[] = "$TSIM,";
enum { MARK_SIZE = 6, CRC_DIGITS = 8 };
static const int64_t VALUE_LIMIT = 4294967296; /* 2^32 */

static char peek(const cursor_t *cursor) { return cursor->at < cursor->size ? cursor->line[cursor->at] : '\0'; }

static void expect(cursor_t *cursor, char byte) {
  cursor->ok = cursor->ok && peek(cursor) == byte;
  cursor->at += cursor->ok ? 1u : 0u;
}

static bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

static bool is_lower(char byte) { return (byte >= 'a' && byte <= 'z') || byte == '_'; }

static int64_t take_number(cursor_t *cursor) {
  int64_t value = 0;
  const bool negative = peek(cursor) == '-';
  cursor->at += negative ? 1u : 0u;
  cursor->ok = cursor->ok && is_digit(peek(cursor));
  while (cursor->ok && is_digit(peek(cursor))) {
    value = value * 10 + (int64_t)(peek(cursor) - '0');
    cursor->ok = value < VALUE_LIMIT;
    ++cursor->at;
  }
  return negative ? -value : value;
}

/* Copy lower case letters to word, which has room for limit and a NUL. */
static void take_word(cursor_t *cursor, char *word, size_t limit) {
  size_t length = 0;
  while (cursor->ok && is_lower(peek(cursor))) {
    cursor->ok = length < limit;
    if (cursor->ok) {
      word[length] = peek(cursor);
      ++length;
      ++cursor->at;
    }
  }
  word[length] = '\0';
  cursor->ok = cursor->ok && length > 0u;
}

static void take_field(cursor_t *cursor, tsim_command_t *command) {
  cursor->ok = cursor->ok && command->count < (uint16_t)TSIM_FIELDS_MAX;
  if (!cursor->ok) {
    return;
  }
  expect(cursor, '"');
  take_word(cursor, command->key[command->count], (size_t)TSIM_KEY_MAX);
  expect(cursor, '"');
  expect(cursor, ':');
  command->value[command->count] = take_number(cursor);
  ++command->count;
}

static void take_fields(cursor_t *cursor, tsim_command_t *command) {
  expect(cursor, '{');
  if (peek(cursor) == '"') {
    take_field(cursor, command);
    while (cursor->ok && peek(cursor) == ',') {
      expect(cursor, ',');
      take_field(cursor, command);
    }
  }
  expect(cursor, '}');
}

static uint32_t hex_value(cursor_t *cursor) {
  const char byte = peek(cursor);
  ++cursor->at;
  if (is_digit(byte)) {
    return (uint32_t)(byte - '0');
  }
  cursor->ok = cursor->ok && byte >= 'a' && byte <= 'f';
  return cursor->ok ? (uint32_t)(byte - 'a') + 10u : 0u;
}

static uint32_t take_crc(cursor_t *cursor) {
  uint32_t crc = 0;
  expect(cursor, '*');
  for (int i = 0; i < CRC_DIGITS; ++i) {
    crc = (crc << 4) | hex_value(cursor);
  }
  return crc;
}

/* Return where the last mark of the line starts: what stands before it is another's. */
static size_t find_mark(const char *line, size_t size) {
  size_t found = size;
  for (size_t start = 0; start + (size_t)MARK_SIZE <= size; ++start) {
    size_t length = 0;
    while (length < (size_t)MARK_SIZE && line[start + length] == MARK[length]) {
      ++length;
    }
    found = length == (size_t)MARK_SIZE ? start : found;
  }
  return found;
}

int tsim_parse_frame(const char *line, size_t size, tsim_command_t *command) {
  if (line == NULL || command == NULL) {
    return TSIM_E_ARGUMENT;
  }
  const size_t start = find_mark(line, size);
  cursor_t cursor = {line, size, start + (size_t)MARK_SIZE, start < size};
  command->count = 0;
  const int64_t sequence = take_number(&cursor);
  expect(&cursor, ',');
  take_word(&cursor, command->type, (size_t)TSIM_TYPE_MAX);
  expect(&cursor, ',');
  take_fields(&cursor, command);
  if (!cursor.ok || sequence < 0 || sequence > (int64_t)UINT16_MAX) {
    return TSIM_E_DAMAGED;
  }
  command->sequence = (uint16_t)sequence;
  command->body_crc = tsim_crc32(0, &line[start + 1u], cursor.at - (start + 1u));
  const uint32_t crc = take_crc(&cursor);
  return cursor.ok && crc == command->body_crc ? TSIM_OK : TSIM_E_DAMAGED;
}

void tsim_receiver_init(tsim_receiver_t *receiver) {
  receiver->dropped = 0;
  receiver->used = 0;
  receiver->overlong = 0;
}

int tsim_receiver_take(tsim_receiver_t *receiver, uint8_t byte, tsim_command_t *command) {
  if (byte != (uint8_t)'\r' && byte != (uint8_t)'\n') {
    if (receiver->used == (uint16_t)TSIM_FRAME_MAX) {
      receiver->overlong = 1;
    } else {
      receiver->line[receiver->used] = (char)byte;
      ++receiver->used;
    }
    return 0;
  }
  const size_t size = receiver->used;
  const bool whole = size > 0u && receiver->overlong == 0u;
  const bool is_frame = whole && tsim_parse_frame(receiver->line, size, command) == TSIM_OK;
  receiver->dropped += size > 0u && !is_frame ? 1u : 0u;
  receiver->used = 0;
  receiver->overlong = 0;
  return is_frame ? 1 : 0;
}

int tsim_text_equal(const char *a, const char *b) {
  size_t i = 0;
  while (a[i] != '\0' && a[i] == b[i]) {
    ++i;
  }
  return a[i] == b[i] ? 1 : 0;
}

int tsim_command_field(const tsim_command_t *command, const char *key, int64_t *value) {
  for (uint16_t i = 0; i < command->count; ++i) {
    if (tsim_text_equal(command->key[i], key) != 0) {
      *value = command->value[i];
      return 1;
    }
  }
  return 0;
}
