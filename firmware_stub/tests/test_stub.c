/* SPDX-License-Identifier: Apache-2.0 */
/* The stub's library on the host: every line of src/, values in and bytes out. Exit status 1 when a check fails. */
#include <stdio.h>
#include <string.h>

#include "arena_report.h"
#include "tsim_replay.h"

static int failures = 0;

#define CHECK(condition)                                           \
  do {                                                             \
    if (!(condition)) {                                            \
      (void)printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                  \
    }                                                              \
  } while (0)

/* ---- a port that remembers ---- */

typedef struct recorder {
  char text[16384];
  size_t used;
  int refuse; /* writes are refused while it is not 0 */
} recorder_t;

static int record(void *context, const void *data, size_t size) {
  recorder_t *recorder = (recorder_t *)context;
  if (recorder->refuse != 0 || recorder->used + size >= sizeof recorder->text) {
    return -1;
  }
  memcpy(&recorder->text[recorder->used], data, size);
  recorder->used += size;
  recorder->text[recorder->used] = '\0';
  return 0;
}

static recorder_t out;

static void clear(void) { memset(&out, 0, sizeof out); }

static int said(const char *text) { return strstr(out.text, text) != NULL; }

/* ---- frames ---- */

static void test_crc_is_that_of_zlib(void) {
  CHECK(tsim_crc32(0, "123456789", 9) == 0xcbf43926u);
  CHECK(tsim_crc32(tsim_crc32(0, "1234", 4), "56789", 5) == 0xcbf43926u);
}

static void test_a_frame_is_one_write(void) {
  tsim_link_t link;
  clear();
  CHECK(tsim_link_init(&link, record, &out) == TSIM_OK);
  tsim_frame_open(&link, "used");
  tsim_frame_u32(&link, "r", 1);
  tsim_frame_u32(&link, "total", 4294967295u);
  tsim_frame_i32(&link, "low", INT32_MIN);
  tsim_frame_i32(&link, "high", 7);
  tsim_frame_hex(&link, "x", 0x00c0ffeeu);
  tsim_frame_text(&link, "s", "a\"b\\c$d*\n\xc3\xa9~");
  CHECK(tsim_frame_send(&link) == TSIM_OK);
  CHECK(
      said("\n$TSIM,0,used,{\"r\":1,\"total\":4294967295,\"low\":-2147483648,\"high\":7,\"x\":\"00c0ffee\","
           "\"s\":\"a\\u0022b\\u005cc\\u0024d\\u002a\\u000a\\u00c3\\u00a9~\"}*"));
  CHECK(strcmp(&out.text[out.used - 2u], "\r\n") == 0);
  const size_t size = out.used;
  CHECK(tsim_link_resend(&link) == TSIM_OK);
  CHECK(out.used == 2u * size && memcmp(out.text, &out.text[size], size) == 0);
  CHECK(tsim_frame_send(&link) == TSIM_E_STATE);
  tsim_frame_u32(&link, "r", 1);
  CHECK(tsim_frame_send(&link) == TSIM_E_STATE);
}

static void test_a_frame_is_never_longer_than_a_line(void) {
  tsim_link_t link;
  char text[256];
  CHECK(tsim_link_init(&link, record, &out) == TSIM_OK);
  /* "$TSIM,0,info,{"s":""}*12345678" is 30 bytes. */
  for (size_t length = 0; length < 250u; ++length) {
    clear();
    link.sequence = 0;
    memset(text, 'x', length);
    text[length] = '\0';
    tsim_frame_open(&link, "info");
    tsim_frame_text(&link, "s", text);
    const int status = tsim_frame_send(&link);
    CHECK(status == (length <= (size_t)TSIM_FRAME_MAX - 30u ? TSIM_OK : TSIM_E_TOO_LONG));
    CHECK(out.used == (status == TSIM_OK ? length + 33u : 0u));
  }
}

static void test_links_without_a_port_are_refused(void) {
  tsim_link_t link;
  CHECK(tsim_link_init(NULL, record, NULL) == TSIM_E_ARGUMENT);
  CHECK(tsim_link_init(&link, NULL, NULL) == TSIM_E_ARGUMENT);
}

/* ---- reports ---- */

static tsim_report_t report;

static void start_report(void) {
  const tsim_report_config_t config = {&out, record};
  clear();
  CHECK(tsim_report_init(&report, &config) == TSIM_OK);
}

static void test_a_report_says_everything(void) {
  static const uint8_t arena[32] __attribute__((aligned(16))) = {0};
  const tsim_used_t used = {100, 32, 68};
  const tsim_category_t category = {8, 6, 2};
  const tsim_buffer_t buffer = {16, 0, -1, 3};
  const tsim_scan_t scan = {700, 32, 372};
  start_report();
  CHECK(tsim_report_begin(&report, &arena[4], 28) == TSIM_OK);
  CHECK(tsim_report_info(&report, "target", "cortex-m4") == TSIM_OK);
  CHECK(tsim_report_model(&report, "123456789", 9) == TSIM_OK);
  CHECK(tsim_report_used(&report, &used) == TSIM_OK);
  CHECK(tsim_report_category(&report, TSIM_OP_DATA, &category) == TSIM_OK);
  CHECK(tsim_report_buffer(&report, 0, &buffer) == TSIM_OK);
  CHECK(tsim_report_high_water(&report, &scan) == TSIM_OK);
  CHECK(tsim_report_end(&report) == TSIM_OK);
  CHECK(said("$TSIM,0,begin,{\"v\":1,\"r\":1,\"arena\":28,\"skew\":4}*"));
  CHECK(said("$TSIM,1,info,{\"r\":1,\"k\":\"target\",\"s\":\"cortex-m4\"}*"));
  CHECK(said("$TSIM,2,model,{\"r\":1,\"size\":9,\"crc\":\"cbf43926\"}*"));
  CHECK(said("$TSIM,3,used,{\"r\":1,\"total\":100,\"head\":32,\"tail\":68}*"));
  CHECK(said("$TSIM,4,cat,{\"r\":1,\"k\":6,\"u\":8,\"q\":6,\"c\":2}*"));
  CHECK(said("$TSIM,5,buf,{\"r\":1,\"i\":0,\"s\":16,\"o\":0,\"f\":-1,\"l\":3}*"));
  CHECK(said("$TSIM,6,high,{\"r\":1,\"touched\":700,\"gap\":372,\"at\":32}*"));
  CHECK(said("$TSIM,7,end,{\"r\":1,\"n\":7,\"x\":\""));
}

static void test_a_failure_is_reported_with_what_the_firmware_knows(void) {
  start_report();
  CHECK(tsim_report_hello(&report, "kws") == TSIM_OK);
  CHECK(tsim_report_begin(&report, &out, 1) == TSIM_OK);
  CHECK(tsim_report_info(&report, "interpreter", "wake_word") == TSIM_OK);
  CHECK(tsim_report_number(&report, "stack_free", 1184) == TSIM_OK);
  CHECK(tsim_report_failure(&report, 1) == TSIM_OK);
  CHECK(tsim_report_end(&report) == TSIM_OK);
  CHECK(said("$TSIM,0,hello,{\"v\":1,\"app\":\"kws\",\"room\":0,\"buffers\":0}*"));
  CHECK(said("$TSIM,3,num,{\"r\":1,\"k\":\"stack_free\",\"v\":1184}*"));
  CHECK(said("$TSIM,4,fail,{\"r\":1,\"status\":1}*"));
  CHECK(said("end,{\"r\":1,\"n\":4,"));
}

static void test_a_plain_interpreter_tells_its_total_only(void) {
  start_report();
  CHECK(tsim_report_begin(&report, &out, 1) == TSIM_OK);
  CHECK(tsim_report_total(&report, 676) == TSIM_OK);
  CHECK(said("$TSIM,1,used,{\"r\":1,\"total\":676}*"));
}

static void test_reports_are_numbered_and_an_open_one_is_given_up(void) {
  start_report();
  CHECK(tsim_report_begin(&report, &out, 1) == TSIM_OK);
  CHECK(tsim_report_begin(&report, &out, 1) == TSIM_OK);
  CHECK(tsim_report_end(&report) == TSIM_OK);
  CHECK(said("\"r\":1,\"arena\"") && said("\"r\":2,\"arena\""));
  CHECK(said("end,{\"r\":2,\"n\":1,"));
}

static void test_calls_out_of_order_and_without_arguments_are_refused(void) {
  const tsim_used_t used = {1, 1, 0};
  const tsim_category_t category = {0, 0, 0};
  const tsim_report_config_t config = {&out, record};
  CHECK(tsim_report_init(NULL, &config) == TSIM_E_ARGUMENT);
  CHECK(tsim_report_init(&report, NULL) == TSIM_E_ARGUMENT);
  start_report();
  CHECK(tsim_report_info(&report, "a", "b") == TSIM_E_STATE);
  CHECK(tsim_report_model(&report, "m", 1) == TSIM_E_STATE);
  CHECK(tsim_report_used(&report, &used) == TSIM_E_STATE);
  CHECK(tsim_report_total(&report, 1) == TSIM_E_STATE);
  CHECK(tsim_report_number(&report, "a", 1) == TSIM_E_STATE);
  CHECK(tsim_report_failure(&report, 1) == TSIM_E_STATE);
  CHECK(tsim_report_hello(&report, NULL) == TSIM_E_ARGUMENT);
  CHECK(tsim_report_hello(NULL, "a") == TSIM_E_ARGUMENT);
  CHECK(tsim_report_category(&report, 0, &category) == TSIM_E_STATE);
  CHECK(tsim_report_buffer(&report, 0, &(tsim_buffer_t){0, 0, 0, 0}) == TSIM_E_STATE);
  CHECK(tsim_report_high_water(&report, &(tsim_scan_t){0, 0, 0}) == TSIM_E_STATE);
  CHECK(tsim_report_end(&report) == TSIM_E_STATE);
  CHECK(tsim_report_end(NULL) == TSIM_E_ARGUMENT);
  CHECK(tsim_report_begin(NULL, &out, 1) == TSIM_E_ARGUMENT);
  CHECK(tsim_report_begin(&report, NULL, 1) == TSIM_E_ARGUMENT);
  CHECK(out.used == 0u);
  CHECK(tsim_report_begin(&report, &out, 1) == TSIM_OK);
  CHECK(tsim_report_used(&report, NULL) == TSIM_E_ARGUMENT);
  CHECK(tsim_report_category(&report, TSIM_CATEGORY_COUNT, &category) == TSIM_E_ARGUMENT);
  CHECK(tsim_report_info(&report, NULL, "b") == TSIM_E_ARGUMENT);
  CHECK(tsim_report_info(&report, "a", NULL) == TSIM_E_ARGUMENT);
}

static void test_a_line_that_was_not_written_is_missed(void) {
  start_report();
  CHECK(tsim_report_begin(&report, &out, 1) == TSIM_OK);
  out.refuse = 1;
  CHECK(tsim_report_info(&report, "a", "b") == TSIM_E_WRITE);
  out.refuse = 0;
  CHECK(tsim_report_end(&report) == TSIM_OK);
  CHECK(said("\"n\":2,"));
  CHECK(!said("info"));
}

static void test_a_text_that_is_too_long_is_not_part_of_the_report(void) {
  char text[300];
  memset(text, 'x', sizeof text - 1u);
  text[sizeof text - 1u] = '\0';
  start_report();
  CHECK(tsim_report_begin(&report, &out, 1) == TSIM_OK);
  CHECK(tsim_report_info(&report, "a", text) == TSIM_E_TOO_LONG);
  CHECK(tsim_report_end(&report) == TSIM_OK);
  CHECK(said("\"n\":1,"));
}

/* ---- paint and scan ---- */

static void test_a_scan_finds_what_was_written(void) {
  uint8_t arena[300];
  tsim_paint(arena, sizeof arena, 5);
  tsim_scan_t scan = tsim_scan_paint(arena, sizeof arena, 5);
  CHECK(scan.touched == 0u && scan.gap_offset == 0u && scan.gap_size == 300u);
  arena[10] ^= 1u;
  arena[250] ^= 1u;
  scan = tsim_scan_paint(arena, sizeof arena, 5);
  CHECK(scan.touched == 2u && scan.gap_offset == 11u && scan.gap_size == 239u);
  scan = tsim_scan_paint(arena, sizeof arena, 6);
  CHECK(scan.touched > 280u);
  scan = tsim_scan_paint(NULL, 5, 5);
  CHECK(scan.touched == 0u && scan.gap_size == 0u);
  tsim_paint(NULL, 5, 5);
}

enum { DEEP = 1000 };

/* Use DEEP bytes of the stack below the caller: the real one, not the one that a sanitizer keeps beside it. */
__attribute__((noinline, no_sanitize("address"))) static uint8_t go_deep(void) {
  volatile uint8_t bytes[DEEP];
  for (size_t i = 0; i < sizeof bytes; ++i) {
    bytes[i] = (uint8_t)(i | 1u);
  }
  return bytes[DEEP / 2];
}

static void test_the_mark_of_a_stack_is_how_deep_it_was_used(void) {
  uint8_t *lowest = (uint8_t *)__builtin_frame_address(0) - 16384;
  const size_t painted = tsim_paint_stack(lowest);
  CHECK(painted > 15000 && painted < 16384);
  CHECK(go_deep() != 0);
  const uint32_t left = tsim_stack_left(lowest, painted);
  CHECK(left > 12000 && left <= 16384 - DEEP);
  CHECK(tsim_stack_left(lowest, 0) == 0);
  CHECK(tsim_stack_left(NULL, 5) == 0);
  CHECK(tsim_paint_stack(NULL) == 0);
  CHECK(tsim_paint_stack((uint8_t *)__builtin_frame_address(0) - 8) == 0);
}

/* ---- receiving ---- */

static int parse(const char *text, tsim_command_t *command) { return tsim_parse_frame(text, strlen(text), command); }

/* Return text with its CRC, in a buffer that the next call overwrites. */
static const char *with_crc(const char *body) {
  static char line[512];
  (void)snprintf(line, sizeof line, "$%s*%08x", body, (unsigned)tsim_crc32(0, body, strlen(body)));
  return line;
}

static void test_a_command_is_read(void) {
  tsim_command_t command;
  int64_t value = 0;
  CHECK(parse(with_crc("TSIM,65535,open,{\"v\":1,\"size\":4294967295,\"p\":-1}"), &command) == TSIM_OK);
  CHECK(command.sequence == 65535u && command.count == 3u && strcmp(command.type, "open") == 0);
  CHECK(tsim_command_field(&command, "size", &value) == 1 && value == 4294967295);
  CHECK(tsim_command_field(&command, "p", &value) == 1 && value == -1);
  CHECK(tsim_command_field(&command, "siz", &value) == 0);
  CHECK(parse(with_crc("TSIM,0,ping,{}"), &command) == TSIM_OK && command.count == 0u);
  char line[64] = "noise $TSIM, ";
  (void)strncat(line, with_crc("TSIM,0,ping,{}"), 40);
  CHECK(parse(line, &command) == TSIM_OK);
}

static void test_what_is_no_frame_is_damaged(void) {
  static const char *const BODIES[] = {
      "TSIM,65536,x,{}",
      "TSIM,-1,x,{}",
      "TSIM,,x,{}",
      "TSIM,1,X,{}",
      "TSIM,1,,{}",
      "TSIM,1,abcdefghijklm,{}",
      "TSIM,1,x,{\"a\":}",
      "TSIM,1,x,{\"a\":1,}",
      "TSIM,1,x,{\"abcde\":1}",
      "TSIM,1,x,{\"a\":4294967296}",
      "TSIM,1,x,{\"a\":\"b\"}",
      "TSIM,1,x,{\"a\" 1}",
      "TSIM,1,x,{a:1}",
      "TSIM,1,x,[]",
      "TSIM,1,x",
      "TSIM,1,x,{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1}",
  };
  tsim_command_t command;
  for (size_t i = 0; i < sizeof BODIES / sizeof BODIES[0]; ++i) {
    CHECK(parse(with_crc(BODIES[i]), &command) == TSIM_E_DAMAGED);
  }
  CHECK(parse("", &command) == TSIM_E_DAMAGED);
  CHECK(parse("$TSIM,1,x,{}*0000000", &command) == TSIM_E_DAMAGED);
  CHECK(parse("$TSIM,1,x,{}*0000000g", &command) == TSIM_E_DAMAGED);
  CHECK(parse("$TSIM,1,x,{}*00000000", &command) == TSIM_E_DAMAGED);
  CHECK(tsim_parse_frame(NULL, 1, &command) == TSIM_E_ARGUMENT);
  CHECK(tsim_parse_frame("x", 1, NULL) == TSIM_E_ARGUMENT);
}

static int take(tsim_receiver_t *receiver, const char *text, tsim_command_t *command) {
  int frames = 0;
  for (size_t i = 0; text[i] != '\0'; ++i) {
    frames += tsim_receiver_take(receiver, (uint8_t)text[i], command);
  }
  return frames;
}

static void test_lines_are_collected_and_bad_ones_counted(void) {
  tsim_receiver_t receiver;
  tsim_command_t command;
  tsim_receiver_init(&receiver);
  CHECK(take(&receiver, "\r\n\n", &command) == 0 && receiver.dropped == 0u);
  CHECK(take(&receiver, with_crc("TSIM,1,ping,{}"), &command) == 0);
  CHECK(take(&receiver, "\r\n", &command) == 1);
  CHECK(take(&receiver, "hello\n", &command) == 0 && receiver.dropped == 1u);
  for (int i = 0; i < 300; ++i) {
    (void)tsim_receiver_take(&receiver, (uint8_t)'x', &command);
  }
  CHECK(take(&receiver, with_crc("TSIM,1,ping,{}"), &command) == 0);
  CHECK(take(&receiver, "\n", &command) == 0 && receiver.dropped == 2u);
  CHECK(take(&receiver, with_crc("TSIM,2,ping,{}"), &command) == 0);
  CHECK(take(&receiver, "\n", &command) == 1 && command.sequence == 2u);
}

/* ---- the arena ---- */

static void test_the_arena_hands_out_tflms_offsets(void) {
  tsim_arena_t arena;
  uint32_t result = 0;
  CHECK(tsim_arena_init(&arena, 1000, 0) == TSIM_OK);
  CHECK(tsim_arena_persist(&arena, 36, 4, &result) == TSIM_OK && result == 964u);
  CHECK(tsim_arena_persist(&arena, 5, 16, &result) == TSIM_OK && result == 944u); /* 964 - 5 = 959, down to 944 */
  CHECK(tsim_arena_resize_head(&arena, 100, 16, &result) == TSIM_OK && result == 100u);
  CHECK(tsim_arena_take_temp(&arena, 10, 16, &result) == TSIM_OK && result == 112u); /* 100 up to 112 */
  CHECK(tsim_arena_reset_temps(&arena) == TSIM_E_STATE);
  CHECK(tsim_arena_resize_head(&arena, 50, 16, &result) == TSIM_E_STATE);
  CHECK(arena.mark == 122u + 56u);
  CHECK(tsim_arena_free_temp(&arena, 111) == TSIM_E_STATE);
  CHECK(tsim_arena_free_temp(&arena, 112) == TSIM_OK);
  CHECK(tsim_arena_reset_temps(&arena) == TSIM_OK && arena.temp == 100u);
  CHECK(tsim_arena_take_planner(&arena, 832, 16, &result) == TSIM_OK && result == 112u);
  tsim_arena_count_planner(&arena, 112, 40);
  CHECK(arena.mark == 216u); /* 112 + 40 = 152, up to 160, and the tail's 56 */
  CHECK(tsim_arena_check(&arena) == 1);
}

static void test_the_arena_refuses_as_tflm_does(void) {
  tsim_arena_t arena;
  uint32_t result = 0;
  CHECK(tsim_arena_init(&arena, 100, 0) == TSIM_OK);
  CHECK(tsim_arena_persist(&arena, 101, 1, &result) == TSIM_E_NO_ROOM && result == 1u);
  CHECK(tsim_arena_persist(&arena, 2147483647, 16, &result) == TSIM_E_NO_ROOM);
  CHECK(tsim_arena_take_temp(&arena, 101, 1, &result) == TSIM_E_NO_ROOM && result == 1u);
  CHECK(tsim_arena_resize_head(&arena, 101, 1, &result) == TSIM_E_NO_ROOM && result == 1u);
  CHECK(tsim_arena_persist(&arena, 1, 3, &result) == TSIM_E_ARGUMENT);
  CHECK(tsim_arena_take_temp(&arena, 1, 0, &result) == TSIM_E_ARGUMENT);
  CHECK(tsim_arena_resize_head(&arena, 1, 32, &result) == TSIM_E_ARGUMENT);
  CHECK(arena.tail == 100u && arena.temp == 0u && arena.head == 0u && arena.mark == 0u);
  for (int i = 0; i < TSIM_ARENA_TEMPS_MAX; ++i) {
    CHECK(tsim_arena_take_temp(&arena, 0, 1, &result) == TSIM_OK);
  }
  CHECK(tsim_arena_take_temp(&arena, 0, 1, &result) == TSIM_E_STATE);
  CHECK(tsim_arena_init(&arena, 8, 12) == TSIM_OK);
  CHECK(tsim_arena_persist(&arena, 6, 1, &result) == TSIM_OK && result == 2u);
  CHECK(tsim_arena_take_temp(&arena, 1, 16, &result) == TSIM_E_NO_ROOM); /* 12 + 4 = 16: the temp would start at 4 */
  CHECK(tsim_arena_resize_head(&arena, 0, 16, &result) == TSIM_E_NO_ROOM || result == 4u);
  CHECK(tsim_arena_init(NULL, 1, 0) == TSIM_E_ARGUMENT);
  CHECK(tsim_arena_init(&arena, 1, 16) == TSIM_E_ARGUMENT);
  CHECK(tsim_arena_check(NULL) == 0);
}

/* ---- the replay ---- */

static uint8_t memory[1024] __attribute__((aligned(16)));
static uint64_t workspace[1024];
static tflm_plan_buffer_t buffers[4];
static int32_t offsets[4];
static tsim_replay_t replay;
static unsigned sequence;

static tsim_replay_config_t replay_config(void) {
  const tsim_replay_config_t config = {&out,    record,  "test", memory,    sizeof memory,
                                       buffers, offsets, 4,      workspace, sizeof workspace};
  return config;
}

static void start_replay(void) {
  const tsim_replay_config_t config = replay_config();
  clear();
  sequence = 0;
  CHECK(tsim_replay_init(&replay, &config) == TSIM_OK);
}

static int send_line(const char *line) {
  int status = TSIM_OK;
  for (size_t i = 0; line[i] != '\0' && status == TSIM_OK; ++i) {
    status = tsim_replay_take(&replay, (uint8_t)line[i]);
  }
  return status == TSIM_OK ? tsim_replay_take(&replay, (uint8_t)'\n') : status;
}

/* Send a command and return 1 when the answer is type with the number o (any number when o is negative). */
static int ask(const char *command, const char *type, int64_t o) {
  char body[256];
  char wanted[64];
  clear();
  (void)snprintf(body, sizeof body, "TSIM,%u,%s", sequence, command);
  CHECK(send_line(with_crc(body)) == TSIM_OK);
  (void)snprintf(wanted, sizeof wanted, ",%s,{\"q\":%u", type, sequence);
  ++sequence;
  char number[32] = "\"o\":";
  if (o >= 0) {
    (void)snprintf(number, sizeof number, "\"o\":%lld}", (long long)o);
  }
  const int good = said(wanted) && (strcmp(type, "done") == 0 || said(number));
  if (good == 0) {
    (void)printf("%s -> %s", body, out.text);
  }
  return good;
}

static void test_a_model_is_replayed(void) {
  start_replay();
  CHECK(tsim_replay_hello(&replay) == TSIM_OK && said("hello,{\"v\":1,\"app\":\"test\",\"room\":1024,\"buffers\":4}"));
  CHECK(ask("open,{\"v\":1,\"size\":512,\"skew\":0}", "ok", 0));
  CHECK(ask("tail,{\"s\":36,\"a\":4,\"i\":1}", "ok", 476));
  CHECK(ask("head,{\"s\":16,\"a\":4}", "ok", 16));
  CHECK(ask("temp,{\"s\":32,\"a\":4,\"i\":2}", "ok", 16));
  CHECK(ask("free,{\"o\":16,\"s\":32,\"i\":2}", "ok", 0));
  CHECK(ask("reset,{}", "ok", 16));
  CHECK(ask("plan,{\"s\":448,\"a\":16}", "ok", 16));
  CHECK(ask("add,{\"s\":16,\"f\":0,\"l\":1,\"p\":-1}", "ok", 0));
  CHECK(ask("add,{\"s\":32,\"f\":1,\"l\":2,\"p\":-1}", "ok", 1));
  CHECK(ask("solve,{}", "ok", 48));
  CHECK(ask("where,{\"i\":0}", "ok", 32));
  CHECK(ask("where,{\"i\":1}", "ok", 0));
  CHECK(ask("live,{}", "no", 0)); /* the plan ends at 48, the head still at 16 */
  CHECK(ask("free,{\"o\":16,\"s\":0,\"i\":0}", "ok", 0));
  CHECK(ask("reset,{}", "ok", 16));
  CHECK(ask("head,{\"s\":48,\"a\":16}", "ok", 48));
  CHECK(ask("live,{}", "ok", 0));
  CHECK(ask("check,{\"o\":476,\"s\":36,\"i\":1}", "ok", 0));
  CHECK(ask("close,{}", "done", 0));
  CHECK(said("\"head\":48,\"tail\":36,\"mark\":132,\"bad\":0,\"at\":0}")); /* 16 + 2 * 40 = 96, and the tail's 36 */
}

static void test_bytes_that_were_overwritten_are_found(void) {
  start_replay();
  CHECK(ask("open,{\"v\":1,\"size\":512,\"skew\":4}", "ok", 0));
  CHECK(ask("tail,{\"s\":16,\"a\":4,\"i\":1}", "ok", 496));
  memory[4 + 500] ^= 1u;
  CHECK(ask("check,{\"o\":496,\"s\":16,\"i\":1}", "ok", 1));
  CHECK(ask("check,{\"o\":496,\"s\":16,\"i\":1}", "ok", 1));
  CHECK(ask("plan,{\"s\":400,\"a\":16}", "ok", 12)); /* 4 + 12 = 16 */
  CHECK(ask("add,{\"s\":16,\"f\":0,\"l\":1,\"p\":0}", "ok", 0));
  CHECK(ask("add,{\"s\":16,\"f\":1,\"l\":1,\"p\":8}", "ok", 1)); /* offline offsets may overlap, as in TFLM */
  CHECK(ask("solve,{}", "ok", 24));
  CHECK(ask("free,{\"o\":12,\"s\":0,\"i\":0}", "ok", 0));
  CHECK(ask("reset,{}", "ok", 0));
  CHECK(ask("head,{\"s\":24,\"a\":4}", "ok", 24));
  CHECK(ask("live,{}", "ok", -1));
  CHECK(!said("\"o\":0}"));
  CHECK(ask("close,{}", "done", 0));
  CHECK(said("\"at\":496}"));
}

static void test_what_cannot_be_done_is_answered_no(void) {
  start_replay();
  CHECK(ask("tail,{\"s\":1,\"a\":1,\"i\":1}", "no", 0));
  CHECK(ask("close,{}", "no", 0));
  CHECK(ask("dance,{}", "no", 0));
  CHECK(ask("open,{\"v\":2,\"size\":1,\"skew\":0}", "no", 0));
  CHECK(ask("open,{\"v\":1}", "no", 0));
  CHECK(ask("open,{\"v\":1,\"size\":1020,\"skew\":8}", "no", 4));
  CHECK(ask("open,{\"v\":1,\"size\":9,\"skew\":2000}", "no", -1));
  CHECK(ask("open,{\"v\":1,\"size\":9,\"skew\":16}", "no", 0));
  CHECK(ask("head,{\"s\":1,\"a\":1}", "no", 0));
  CHECK(ask("open,{\"v\":1,\"size\":100,\"skew\":0}", "ok", 0));
  CHECK(ask("tail,{\"s\":101,\"a\":1,\"i\":1}", "no", 1));
  CHECK(ask("tail,{\"s\":-1,\"a\":1,\"i\":1}", "no", 0));
  CHECK(ask("tail,{\"s\":4000000000,\"a\":1,\"i\":1}", "no", 0));
  CHECK(ask("tail,{\"s\":1,\"a\":1}", "no", 0));
  CHECK(ask("temp,{\"s\":1}", "no", 0));
  CHECK(ask("temp,{\"s\":1,\"a\":1}", "no", 0));
  CHECK(ask("temp,{\"s\":101,\"a\":1,\"i\":1}", "no", 1));
  CHECK(ask("free,{\"o\":0,\"s\":0,\"i\":0}", "no", 0));
  CHECK(ask("free,{\"o\":0}", "no", 0));
  CHECK(ask("check,{\"o\":99,\"s\":2,\"i\":0}", "no", 0));
  CHECK(ask("check,{\"o\":101,\"s\":0,\"i\":0}", "no", 0));
  CHECK(ask("check,{\"o\":0,\"s\":0}", "no", 0));
  CHECK(ask("head,{}", "no", 0));
  CHECK(ask("plan,{}", "no", 0));
  CHECK(ask("plan,{\"s\":101,\"a\":16}", "no", 1));
  CHECK(ask("where,{\"i\":0}", "no", 0));
  CHECK(ask("add,{\"s\":1}", "no", 0));
  CHECK(ask("add,{\"s\":1,\"f\":0}", "no", 0));
  CHECK(ask("add,{\"s\":1,\"f\":0,\"l\":0}", "no", 0));
  CHECK(ask("add,{}", "no", 0));
  CHECK(ask("live,{}", "ok", 0)); /* nothing is planned */
  CHECK(ask("add,{\"s\":-1,\"f\":0,\"l\":0,\"p\":-1}", "ok", 0));
  CHECK(ask("solve,{}", "no", 0));
  for (int i = 1; i < 4; ++i) {
    CHECK(ask("add,{\"s\":1,\"f\":0,\"l\":0,\"p\":-1}", "ok", i));
  }
  CHECK(ask("add,{\"s\":1,\"f\":0,\"l\":0,\"p\":-1}", "no", 0));
}

static void test_a_command_that_comes_again_is_answered_again_and_not_carried_out(void) {
  start_replay();
  CHECK(ask("open,{\"v\":1,\"size\":100,\"skew\":0}", "ok", 0));
  CHECK(ask("tail,{\"s\":16,\"a\":1,\"i\":1}", "ok", 84));
  --sequence;
  CHECK(ask("tail,{\"s\":16,\"a\":1,\"i\":1}", "ok", 84));
  CHECK(send_line(with_crc("TSIM,2,ping,{}")) == TSIM_OK && said("\"buffers\":4,\"q\":2}"));
  sequence = 1;
  CHECK(ask("tail,{\"s\":16,\"a\":1,\"i\":1}", "ok", 68)); /* the ping made the device forget */
}

static void test_a_port_that_refuses_is_reported(void) {
  start_replay();
  out.refuse = 1;
  CHECK(send_line(with_crc("TSIM,0,ping,{}")) == TSIM_E_WRITE);
  CHECK(tsim_replay_hello(&replay) == TSIM_E_WRITE);
}

static void test_a_replay_without_its_parts_is_refused(void) {
  tsim_replay_config_t config = replay_config();
  CHECK(tsim_replay_init(NULL, &config) == TSIM_E_ARGUMENT);
  CHECK(tsim_replay_init(&replay, NULL) == TSIM_E_ARGUMENT);
  config.memory = &memory[1];
  CHECK(tsim_replay_init(&replay, &config) == TSIM_E_ARGUMENT);
  config = replay_config();
  config.workspace_size = 8;
  CHECK(tsim_replay_init(&replay, &config) == TSIM_E_ARGUMENT);
  config = replay_config();
  config.write = NULL;
  CHECK(tsim_replay_init(&replay, &config) == TSIM_E_ARGUMENT);
}

int main(void) {
  test_crc_is_that_of_zlib();
  test_a_frame_is_one_write();
  test_a_frame_is_never_longer_than_a_line();
  test_links_without_a_port_are_refused();
  test_a_report_says_everything();
  test_a_failure_is_reported_with_what_the_firmware_knows();
  test_a_plain_interpreter_tells_its_total_only();
  test_reports_are_numbered_and_an_open_one_is_given_up();
  test_calls_out_of_order_and_without_arguments_are_refused();
  test_a_line_that_was_not_written_is_missed();
  test_a_text_that_is_too_long_is_not_part_of_the_report();
  test_a_scan_finds_what_was_written();
  test_the_mark_of_a_stack_is_how_deep_it_was_used();
  test_a_command_is_read();
  test_what_is_no_frame_is_damaged();
  test_lines_are_collected_and_bad_ones_counted();
  test_the_arena_hands_out_tflms_offsets();
  test_the_arena_refuses_as_tflm_does();
  test_a_model_is_replayed();
  test_bytes_that_were_overwritten_are_found();
  test_what_cannot_be_done_is_answered_no();
  test_a_command_that_comes_again_is_answered_again_and_not_carried_out();
  test_a_port_that_refuses_is_reported();
  test_a_replay_without_its_parts_is_refused();
  (void)printf("%d checks failed\n", failures);
  return failures == 0 ? 0 : 1;
}
