/* SPDX-License-Identifier: Apache-2.0 */
/* The C environment of a bare RISC-V hart (one: -smp 1). QEMU starts it at the beginning of RAM, where it loaded us. */
#include <stdint.h>

extern uint32_t linker_bss_start[];
extern uint32_t linker_bss_end[];

int main(void);
void start_in_c(void);
void reset_handler(void);

void start_in_c(void) {
  for (volatile uint32_t *to = linker_bss_start; to < linker_bss_end; ++to) {
    *to = 0;
  }
  (void)main();
  for (;;) {
  }
}

__attribute__((naked, section(".reset"), used)) void reset_handler(void) {
  __asm__ volatile(
      ".option push\n"
      ".option norelax\n"
      "la gp, __global_pointer$\n"
      ".option pop\n"
      "la sp, linker_stack_top\n"
      "j start_in_c\n");
}
