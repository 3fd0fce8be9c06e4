/* The replay firmware on an Arm MPS2 board (AN385: Cortex-M3, AN386: Cortex-M4), on UART0.
 *
 * Source: CMSDK APB UART, Arm DDI 0479 (registers DATA, STATE, CTRL, BAUDDIV).
 */
#include "../common/replay_app.h"

#define UART0_BASE 0x40004000u
#define SYSTEM_CLOCK_HZ 25000000u
#define BAUD 115200u

typedef struct uart {
  volatile uint32_t data;
  volatile uint32_t state; /* bit 0: the transmit buffer is full, bit 1: the receive buffer is full */
  volatile uint32_t ctrl;  /* bit 0: transmit, bit 1: receive */
  volatile uint32_t intstatus;
  volatile uint32_t bauddiv;
} uart_t;

enum { TX_FULL = 1, RX_FULL = 2, TX_ENABLE = 1, RX_ENABLE = 2 };

static replay_app_t app;

static int uart_write(void *context, const void *data, size_t size) {
  uart_t *uart = (uart_t *)context;
  const uint8_t *bytes = (const uint8_t *)data;
  for (size_t i = 0; i < size; ++i) {
    while ((uart->state & (uint32_t)TX_FULL) != 0u) {
    }
    uart->data = bytes[i];
  }
  return 0;
}

int main(void) {
  uart_t *uart = (uart_t *)UART0_BASE;
  uart->bauddiv = SYSTEM_CLOCK_HZ / BAUD;
  uart->ctrl = (uint32_t)TX_ENABLE | (uint32_t)RX_ENABLE;
  if (replay_app_start(&app, REPLAY_APP_NAME, uart_write, uart) != TSIM_OK) {
    return 1;
  }
  for (;;) {
    if ((uart->state & (uint32_t)RX_FULL) != 0u) {
      (void)replay_app_take(&app, (uint8_t)uart->data);
    }
  }
}
