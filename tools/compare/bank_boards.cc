// Runs a model in one arena, and over banks with the planner of banks.h: for bank_boards.py. First each bank of BANKS
// in its turn has one byte less, and a plan of other.h is for a buffer that lives longer. A head's bank that is too
// small for TFLM's own temporary memory (HEAD_FOR_TEMPS) is known to Check() alone: TFLM aborts before it asks the
// planner.

#include "bank_start.h"
#include "banks.h"
#include "other.h"

extern "C" const unsigned char g_model[];
alignas(16) static uint8_t one_arena[ONE_ARENA];
// Of all outputs, for each run: in one arena, there after Reset() (which calls no CALL_ONCE again), over the banks.
static uint32_t outputs[3][4];

// Numbers that operators take: of int32 (turns, positions) and bool few, of float none that is not a number.
static void Fill(TfLiteTensor* tensor, uint32_t& state) {
  const size_t width = tensor->type == kTfLiteInt32 || tensor->type == kTfLiteFloat32 ? 4 : 1;
  for (size_t j = 0; j + width <= tensor->bytes; j += width) {
    state = state * 1664525u + 1013904223u;
    const uint8_t byte = static_cast<uint8_t>(state >> 24);
    if (tensor->type == kTfLiteFloat32) {
      tensor->data.f[j / 4] = static_cast<int8_t>(byte) / 64.0f;
    } else if (tensor->type == kTfLiteInt32) {
      tensor->data.i32[j / 4] = byte & 3;
    } else {
      tensor->data.uint8[j] = tensor->type == kTfLiteBool ? byte & 1 : byte;
    }
  }
}

static bool Run(MicroInterpreter& interpreter, int which) {
  uint32_t state = 7;
  for (uint32_t& sum : outputs[which]) {
    for (size_t i = 0; i < interpreter.inputs_size(); ++i) Fill(interpreter.input(i), state);
    if (interpreter.Invoke() != kTfLiteOk) return false;
    sum = 2166136261u;
    for (size_t i = 0; i < interpreter.outputs_size(); ++i) {
      const TfLiteTensor* tensor = interpreter.output(i);
      for (size_t j = 0; j < tensor->bytes; ++j) {
        sum = (sum ^ tensor->data.uint8[j]) * 16777619u;
      }
    }
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
  if (alone.AllocateTensors() != kTfLiteOk || !Run(alone, 0) || alone.Reset() != kTfLiteOk || !Run(alone, 1)) {
    SayNumber("fails_in_one_arena", 1);
    return 0;
  }
  for (int less = 0; less < USED; ++less) {
    tflm_banks::model::Memory memory(BANKS);
    SayNumber("refused", memory.Check() != kTfLiteOk && (less == HEAD_FOR_TEMPS || IsRefused(memory)));
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
  SayNumber("differ", !Run(banked, 2) || memcmp(outputs[0], outputs[2], sizeof outputs[0]) != 0);
  banked.Reset();
  SayNumber("differ_after_reset", !Run(banked, 2) || memcmp(outputs[1], outputs[2], sizeof outputs[0]) != 0);
  return 0;
}
