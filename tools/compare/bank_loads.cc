// Runs one Invoke() of the model at MODEL in an ARENA in which no two buffers share a byte: for bank_loads.py.

#include "bank_start.h"

#ifdef MARK  // A plugin of QEMU sees stores, and no semihosting.
#define TELL(text) (Say(text), void(*reinterpret_cast<volatile uint32_t*>(MARK) = 1))
#else
#define TELL(text) Say(text)
#endif

int main() {
  auto* arena = reinterpret_cast<uint8_t*>(ARENA);
  auto* allocator = MicroAllocator::Create(arena, 0xF00000, MemoryPlannerType::kLinear);
  static MicroInterpreter interpreter(GetModel(reinterpret_cast<const void*>(MODEL)), Resolver(), allocator,
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
  TELL("BEGIN\n");
  const int status = interpreter.Invoke();
  TELL("END\n");
  Say(status == kTfLiteOk ? "ok\n" : "Invoke() fails\n");
  return 0;
}
