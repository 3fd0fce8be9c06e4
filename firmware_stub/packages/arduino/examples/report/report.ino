// SPDX-License-Identifier: Apache-2.0
// A report without TFLM: the bytes that a computation wrote into its arena. With TFLM's headers, tflm_arena_report.h
// takes every figure from the interpreter; its three lines stand in the library's README.
#include <Arduino.h>
#include <arena_report.h>

static uint8_t arena[256];

static int WriteToSerial(void*, const void* data, size_t size) {
  return Serial.write(static_cast<const uint8_t*>(data), size) == size ? 0 : -1;
}

void setup() {
  Serial.begin(115200);
  while (!Serial) {
  }
  const uint32_t seed = 1;
  tsim_paint(arena, sizeof arena, seed);
  for (int i = 0; i < 100; ++i) {
    arena[i] = 0;
  }
  const tsim_scan_t scan = tsim_scan_paint(arena, sizeof arena, seed);

  tsim_report_config_t config = {nullptr, WriteToSerial};
  tsim_report_t report;
  tsim_report_init(&report, &config);
  tsim_report_hello(&report, "report.ino");
  tsim_report_begin(&report, arena, sizeof arena);
  tsim_report_info(&report, "target", "arduino");
  tsim_report_total(&report, scan.gap_offset);
  tsim_report_high_water(&report, &scan);
  tsim_report_end(&report);
}

void loop() {}
