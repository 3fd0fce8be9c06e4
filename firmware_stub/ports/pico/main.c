/* SPDX-License-Identifier: Apache-2.0 */
/* The replay firmware on the Pico's USB serial port.
 *
 * Source: Pico SDK, pico_stdio (stdio_put_string, getchar_timeout_us)
 */
#include <stdio.h>

#include "pico/stdlib.h"
#include "replay_port.h"

static int write_usb(void *context, const void *data, size_t size) {
  const char *bytes = data;
  (void)context;
  for (size_t i = 0; i < size; ++i) {
    putchar_raw(bytes[i]);
  }
  stdio_flush();
  return 0;
}

int main(void) {
  stdio_init_all();
  while (!stdio_usb_connected()) {
    sleep_ms(10);
  }
  (void)replay_port_start("replay/pico", write_usb, NULL);
  for (;;) {
    const int byte = getchar_timeout_us(1000);
    if (byte >= 0) {
      (void)replay_port_take((uint8_t)byte);
    }
  }
}
