/* SPDX-License-Identifier: Apache-2.0 */
/* The replay firmware on QEMU's riscv32 "virt" machine, on its NS16550 UART.
 *
 * Source: QEMU docs/system/riscv/virt.rst (memory map); National Semiconductor PC16550D data sheet (registers).
 */
#include "../common/replay_app.h"

#define UART_BASE 0x10000000u

enum { RECEIVED = 0x01, CAN_SEND = 0x20, FIFO_ENABLE = 0x01, LINE_8N1 = 0x03 };

typedef struct uart {
  volatile uint8_t data;
  volatile uint8_t interrupts;
  volatile uint8_t fifo;
  volatile uint8_t line;
  volatile uint8_t modem;
  volatile uint8_t status;
} uart_t;

static replay_app_t app;

static int uart_write(void *context, const void *data, size_t size) {
  uart_t *uart = (uart_t *)context;
  const uint8_t *bytes = (const uint8_t *)data;
  for (size_t i = 0; i < size; ++i) {
    while ((uart->status & (uint8_t)CAN_SEND) == 0u) {
    }
    uart->data = bytes[i];
  }
  return 0;
}

int main(void);

int main(void) {
  uart_t *uart = (uart_t *)UART_BASE;
  uart->interrupts = 0;
  uart->fifo = FIFO_ENABLE;
  uart->line = LINE_8N1;
  if (replay_app_start(&app, REPLAY_APP_NAME, uart_write, uart) != TSIM_OK) {
    return 1;
  }
  for (;;) {
    if ((uart->status & (uint8_t)RECEIVED) != 0u) {
      (void)replay_app_take(&app, uart->data);
    }
  }
}
