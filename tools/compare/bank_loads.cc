// Runs one Invoke() of the model at 0x00800000 in an arena in which no two buffers share a byte: for bank_loads.py.

#include "bank_start.h"

int main() {
  auto* arena = reinterpret_cast<uint8_t*>(0x21000000);
  auto* allocator = MicroAllocator::Create(arena, 0xF00000, MemoryPlannerType::kLinear);
  static MicroInterpreter interpreter(GetModel(reinterpret_cast<const void*>(0x00800000)), Resolver(), allocator,
                                      MicroResourceVariables::Create(allocator, 40));
  if (interpreter.AllocateTensors() != kTfLiteOk) {
    Say("AllocateTensors() fails\n");
    return 1;
  }
  uint32_t state = 1;
  for (size_t i = 0; i < interpreter.inputs_size(); ++i) {
    TfLiteTensor* tensor = interpreter.input(i);
    for (size_t j = 0; j < tensor->bytes; ++j) {
      state = state * 1664525u + 1013904223u;
      const bool is_exponent = tensor->type == kTfLiteFloat32 && j % 4 == 3;
      tensor->data.uint8[j] = is_exponent ? 0x3e : static_cast<uint8_t>(state >> 24);
    }
  }
  Say("BEGIN\n");
  const int status = interpreter.Invoke();
  Say("END\n");
  Say(status == kTfLiteOk ? "ok\n" : "Invoke() fails\n");
  return 0;
}
