/* SPDX-License-Identifier: Apache-2.0 */
/* UART0 of an Arm MPS2 board, polled.
 *
 * Source: CMSDK APB UART, Arm DDI 0479 (registers DATA, STATE, CTRL, BAUDDIV).
 */
#ifndef TSIM_MPS2_UART_H_
#define TSIM_MPS2_UART_H_

#include <stddef.h>
#include <stdint.h>

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

static inline uart_t *uart_start(void) {
  uart_t *uart = (uart_t *)UART0_BASE;
  uart->bauddiv = SYSTEM_CLOCK_HZ / BAUD;
  uart->ctrl = (uint32_t)TX_ENABLE | (uint32_t)RX_ENABLE;
  return uart;
}

static inline int uart_write(void *context, const void *data, size_t size) {
  uart_t *uart = (uart_t *)context;
  const uint8_t *bytes = (const uint8_t *)data;
  for (size_t i = 0; i < size; ++i) {
    while ((uart->state & (uint32_t)TX_FULL) != 0u) {
    }
    uart->data = bytes[i];
  }
  return 0;
}

#endif /* TSIM_MPS2_UART_H_ */
