/* SPDX-License-Identifier: Apache-2.0 */
/* The replay firmware on the console's UART, by polling. Source: Zephyr hardware/peripherals/uart (polling API). */
#include <zephyr/device.h>
#include <zephyr/drivers/uart.h>
#include <zephyr/kernel.h>

#include "replay_port.h"

static const struct device *const console = DEVICE_DT_GET(DT_CHOSEN(zephyr_console));

static int write_uart(void *context, const void *data, size_t size) {
  const unsigned char *bytes = data;
  ARG_UNUSED(context);
  for (size_t i = 0; i < size; ++i) {
    uart_poll_out(console, bytes[i]);
  }
  return 0;
}

static void run(void *a, void *b, void *c) {
  ARG_UNUSED(a);
  ARG_UNUSED(b);
  ARG_UNUSED(c);
  unsigned char byte;
  (void)replay_port_start("replay/zephyr", write_uart, NULL);
  for (;;) {
    if (uart_poll_in(console, &byte) == 0) {
      (void)replay_port_take(byte);
    } else {
      k_yield();
    }
  }
}

K_THREAD_DEFINE(tsim_replay, 2048, run, NULL, NULL, NULL, K_LOWEST_APPLICATION_THREAD_PRIO, 0, 0);
