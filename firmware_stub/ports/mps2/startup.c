/* SPDX-License-Identifier: Apache-2.0 */
/* Reset, vector table and the C environment of a bare Cortex-M3 or M4. */
#include <stdint.h>

extern uint32_t linker_data_load[];
extern uint32_t linker_data_start[];
extern uint32_t linker_data_end[];
extern uint32_t linker_bss_start[];
extern uint32_t linker_bss_end[];
extern uint32_t linker_stack_top[];

int main(void);
void reset_handler(void);
void fault_handler(void);

void reset_handler(void) {
  const uint32_t *from = linker_data_load;
  for (uint32_t *to = linker_data_start; to < linker_data_end; ++to) {
    *to = *from;
    ++from;
  }
  for (uint32_t *to = linker_bss_start; to < linker_bss_end; ++to) {
    *to = 0;
  }
  (void)main();
  fault_handler();
}

/* Stay here: the host sees that no answer comes. */
void fault_handler(void) {
  for (;;) {
  }
}

typedef struct vectors {
  uint32_t *stack_top;
  void (*handlers[15])(void);
} vectors_t;

__attribute__((section(".vectors"), used)) static const vectors_t VECTORS = {
    linker_stack_top,
    {reset_handler, fault_handler, fault_handler, fault_handler, fault_handler, fault_handler, 0, 0, 0, 0,
     fault_handler, fault_handler, 0, fault_handler, fault_handler},
};
