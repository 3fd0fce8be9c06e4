// Runs a model in one arena, and over banks with the planner of banks.h: for bank_boards.py. First each bank of BANKS
// in its turn has one byte less, and a plan of other.h is for a buffer that lives longer.

#include "bank_start.h"
#include "banks.h"
#include "other.h"

extern "C" const unsigned char g_model[];
alignas(16) static uint8_t one_arena[ONE_ARENA];
static uint8_t outputs[2][4][1024];

static bool Run(MicroInterpreter& interpreter, int which) {
  uint32_t state = 7;
  for (int run = 0; run < 4; ++run) {
    for (size_t i = 0; i < interpreter.inputs_size(); ++i) {
      TfLiteTensor* tensor = interpreter.input(i);
      for (size_t j = 0; j < tensor->bytes; ++j) {
        state = state * 1664525u + 1013904223u;
        tensor->data.uint8[j] = static_cast<uint8_t>(state >> 24);
      }
    }
    if (interpreter.Invoke() != kTfLiteOk) return false;
    const TfLiteTensor* tensor = interpreter.output(0);
    memcpy(outputs[which][run], tensor->data.uint8, tensor->bytes < 1024 ? tensor->bytes : 1024);
  }
  return true;
}

template <typename Memory>
static bool IsRefused(Memory& memory) {
  alignas(MicroInterpreter) static unsigned char place[sizeof(MicroInterpreter)];
  auto* variables = MicroResourceVariables::Create(memory.allocator(), 20);
  auto* tried = new (place) MicroInterpreter(GetModel(g_model), Resolver(), memory.allocator(), variables);
  return tried->AllocateTensors() != kTfLiteOk;
}

int main() {
  const Model* model = GetModel(g_model);
  MicroAllocator* allocator = MicroAllocator::Create(one_arena, sizeof one_arena);
  static MicroInterpreter alone(model, Resolver(), allocator, MicroResourceVariables::Create(allocator, 20));
  if (alone.AllocateTensors() != kTfLiteOk || !Run(alone, 0)) {
    SayNumber("fails_in_one_arena", 1);
    return 0;
  }
  for (int less = 0; less < USED; ++less) {
    tflm_banks::model::Memory memory(BANKS);
    SayNumber("refused", memory.Check() != kTfLiteOk && IsRefused(memory));
  }
  const int less = -1;
  tflm_banks::other::Memory other(BANKS);
  SayNumber("refused", other.Check() == kTfLiteOk && IsRefused(other));
  static tflm_banks::model::Memory memory(BANKS);
  static MicroInterpreter banked(model, Resolver(), memory.allocator(),
                                 MicroResourceVariables::Create(memory.allocator(), 20));
  const bool is_allocated = memory.Check() == kTfLiteOk && banked.AllocateTensors() == kTfLiteOk;
  SayNumber("allocated", is_allocated);
  if (!is_allocated) return 0;
  SayNumber("used", banked.arena_used_bytes());
  SayNumber("differ", !Run(banked, 1) || memcmp(outputs[0], outputs[1], sizeof outputs[0]) != 0);
  banked.Reset();
  SayNumber("differ_after_reset", !Run(banked, 1) || memcmp(outputs[0], outputs[1], sizeof outputs[0]) != 0);
  return 0;
}
