// SPDX-License-Identifier: Apache-2.0
// The replay firmware as an Arduino sketch. See README.md beside it.
#include "replay_port.h"

static int WriteToSerial(void*, const void* data, size_t size) {
  return Serial.write(static_cast<const uint8_t*>(data), size) == size ? 0 : -1;
}

void setup() {
  Serial.begin(115200);
  while (!Serial) {
  }
  replay_port_start("replay/arduino", WriteToSerial, nullptr);
}

void loop() {
  while (Serial.available() > 0) {
    replay_port_take(static_cast<uint8_t>(Serial.read()));
  }
}
