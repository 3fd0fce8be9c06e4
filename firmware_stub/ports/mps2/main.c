/* SPDX-License-Identifier: Apache-2.0 */
/* The replay firmware on an Arm MPS2 board (AN385: Cortex-M3, AN386: Cortex-M4), on UART0. */
#include "../common/replay_app.h"
#include "uart.h"

static replay_app_t app;

int main(void) {
  uart_t *uart = uart_start();
  if (replay_app_start(&app, REPLAY_APP_NAME, uart_write, uart) != TSIM_OK) {
    return 1;
  }
  for (;;) {
    if ((uart->state & (uint32_t)RX_FULL) != 0u) {
      (void)replay_app_take(&app, (uint8_t)uart->data);
    }
  }
}
