/* SPDX-License-Identifier: Apache-2.0 */
/* A firmware that reports all that a report can hold, without TFLM: for tests, and to read. Cortex-M3 and M4 of MPS2.
 *
 * Source: Arm DDI 0479: CMSDK APB UART, and the system controller's RSTINFO (bit 0: SYSRESETREQ, 1: watchdog, 2:
 * lock-up).
 */
#include <stdlib.h>

#include "arena_report.h"
#include "uart.h"

#define RSTINFO (*(const volatile uint32_t *)0x4001F010u)

enum { HEAP_SIZE = 8192, ARENA_SIZE = 2048, DEEP = 3000, KEPT = 1000 };

extern uint8_t linker_stack_limit[];

static uint8_t heap[HEAP_SIZE] __attribute__((aligned(8)));
static size_t heap_used;
static uint8_t arena[ARENA_SIZE] __attribute__((aligned(16)));

void *_sbrk(ptrdiff_t more);

/* newlib asks for the heap here. */
void *_sbrk(ptrdiff_t more) {
  if (more > (ptrdiff_t)(HEAP_SIZE - heap_used)) {
    return (void *)-1;
  }
  void *start = &heap[heap_used];
  heap_used += (size_t)more;
  return start;
}

static const char *reset_reason(void) {
  const uint32_t why = RSTINFO;
  return (why & 4u) != 0u ? "lock-up" : (why & 2u) != 0u ? "watchdog" : (why & 1u) != 0u ? "software" : "power on";
}

/* What inference does to a stack. */
__attribute__((noinline)) static uint8_t go_deep(void) {
  volatile uint8_t bytes[DEEP];
  for (size_t i = 0; i < sizeof bytes; ++i) {
    bytes[i] = (uint8_t)(i | 1u);
  }
  return bytes[DEEP / 2];
}

int main(void) {
  const tsim_report_config_t config = {uart_start(), uart_write};
  const size_t painted = tsim_paint_stack(linker_stack_limit);
  void *kept = malloc(KEPT);
  arena[0] = go_deep();

  tsim_report_t report;
  (void)tsim_report_init(&report, &config);
  (void)tsim_report_hello(&report, "report/mps2");
  (void)tsim_report_begin(&report, arena, sizeof arena);
  (void)tsim_report_info(&report, "interpreter", "wake word");
  (void)tsim_report_info(&report, "reset", reset_reason());
  (void)tsim_report_number(&report, "stack_free", tsim_stack_left(linker_stack_limit, painted));
  (void)tsim_report_number(&report, "heap_least", (uint32_t)(HEAP_SIZE - heap_used));
  const tsim_used_t used = {1500, 1000, 500};
  (void)tsim_report_used(&report, &used);
  (void)tsim_report_end(&report);

  (void)tsim_report_begin(&report, arena, sizeof arena);
  (void)tsim_report_info(&report, "interpreter", "person detection");
  (void)tsim_report_failure(&report, 1);
  (void)tsim_report_end(&report);
  free(kept);
  for (;;) {
  }
}
