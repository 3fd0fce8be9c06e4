/* SPDX-License-Identifier: Apache-2.0 */
/* Source: ESP-IDF api-reference/peripherals/uart (uart_driver_install, uart_read_bytes, uart_write_bytes). */
#include "replay_task.h"

#include <stdint.h>

#include "driver/uart.h"
#include "freertos/FreeRTOS.h"
#include "freertos/task.h"
#include "replay_port.h"

enum { RX_BUFFER = 1024, STACK = 4096, PRIORITY = 5 };

static int write_uart(void *context, const void *data, size_t size) {
  const uart_port_t port = (uart_port_t)(intptr_t)context;
  return uart_write_bytes(port, data, size) == (int)size ? 0 : -1;
}

static void run(void *context) {
  const uart_port_t port = (uart_port_t)(intptr_t)context;
  uint8_t byte;
  (void)replay_port_start("replay/esp-idf", write_uart, context);
  for (;;) {
    if (uart_read_bytes(port, &byte, 1, portMAX_DELAY) == 1) {
      (void)replay_port_take(byte);
    }
  }
}

int replay_task_start(int port) {
  if (uart_driver_install((uart_port_t)port, RX_BUFFER, 0, 0, NULL, 0) != ESP_OK) {
    return -1;
  }
  return xTaskCreate(run, "tsim", STACK, (void *)(intptr_t)port, PRIORITY, NULL) == pdPASS ? 0 : -1;
}
