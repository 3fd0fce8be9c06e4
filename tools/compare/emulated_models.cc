// Runs one model on an emulated Cortex-M, its files on the host (semihosting): for tools/compare/emulated_shrink.py.
//
//     job.txt      MODEL ARENA_BYTES RUNS INPUTS OUTPUTS    one line; the last two are files
//     INPUTS       for each run, every input tensor's bytes after one another
//     OUTPUTS      for each run, every output tensor's bytes after one another
//
// What it says ends with "ok", or with what failed. The linker script gives it nothing but code and a stack: model and
// arena lie in the RAM of the MPS boards.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/micro/micro_resource_variable.h"
#include "tensorflow/lite/schema/schema_generated.h"

namespace tflite::micro {}
// TFLM's names stand in tflite, and since October 2026 in tflite::micro.
using namespace tflite;
using namespace tflite::micro;

int main();

extern "C" {
void initialise_monitor_handles(void);
void __libc_init_array(void);
void* __dso_handle = nullptr;
void _init(void) {}
void _fini(void) {}
void _start(void) {
#ifdef __ARM_FEATURE_MVE
  *reinterpret_cast<volatile uint32_t*>(0xE000ED88) |= 0xFu << 20;  // CPACR: floating point and MVE
#endif
  initialise_monitor_handles();
  __libc_init_array();
  exit(main());
}
void DebugLog(const char* format, va_list args) { vprintf(format, args); }
}

namespace {

#ifdef __ARM_FEATURE_MVE
constexpr uintptr_t kRam = 0x60000000, kStack = 0x20080000;  // DDR and DTCM of the MPS3 board with a Cortex-M55
#else
constexpr uintptr_t kRam = 0x21000000, kStack = 0x20400000;  // PSRAM and SSRAM of the MPS2 boards
#endif
constexpr long kModelBytes = 8 << 20;
constexpr long kArenaBytes = 8 << 20;

[[gnu::section(".vectors"), gnu::used]] const void* const kVectors[2] = {
    reinterpret_cast<void*>(kStack), reinterpret_cast<const void*>(&_start)};

#define OPERATORS(X)                                                                                                 \
  X(Abs) X(Add) X(AssignVariable) X(AveragePool2D) X(BatchMatMul) X(BatchToSpaceNd) X(CallOnce) X(Cast)              \
  X(Concatenation) X(Conv2D) X(Cos) X(DepthToSpace) X(DepthwiseConv2D) X(Dequantize) X(Div)                          \
  X(DynamicUpdateSlice) X(Elu) X(ExpandDims) X(Fill) X(FullyConnected) X(Gather) X(HardSwish) X(L2Normalization)     \
  X(LeakyRelu) X(Less) X(Log) X(Logistic) X(LogSoftmax) X(Maximum) X(MaxPool2D) X(Mean) X(Minimum) X(Mul) X(Neg)     \
  X(Pack) X(Pad) X(PadV2) X(Prelu) X(Quantize) X(ReadVariable) X(ReduceMax) X(ReduceMin) X(Relu) X(Relu6)            \
  X(Reshape) X(ResizeBilinear) X(ResizeNearestNeighbor) X(Rsqrt) X(SelectV2) X(Shape) X(Sin) X(Slice) X(Softmax)     \
  X(SpaceToBatchNd) X(Split) X(SplitV) X(Sqrt) X(Square) X(SquaredDifference) X(Squeeze) X(StridedSlice) X(Sub)      \
  X(Sum) X(Svdf) X(Tanh) X(Transpose) X(TransposeConv) X(UnidirectionalSequenceLSTM) X(Unpack) X(VarHandle)          \
  X(While)

int Fail(const char* what) {
  printf("%s\n", what);
  return 1;
}

}  // namespace

int main() {
  char model_path[256], inputs_path[256], outputs_path[256];
  unsigned arena_bytes, runs;
  FILE* job = fopen("job.txt", "r");
  if (job == nullptr ||
      fscanf(job, "%255s %u %u %255s %255s", model_path, &arena_bytes, &runs, inputs_path, outputs_path) != 5) {
    return Fail("no job");
  }
  auto* model_bytes = reinterpret_cast<uint8_t*>(kRam);
  auto* arena = reinterpret_cast<uint8_t*>(kRam + kModelBytes);
  FILE* file = fopen(model_path, "rb");
  if (file == nullptr || fread(model_bytes, 1, kModelBytes, file) == 0 || arena_bytes > kArenaBytes) {
    return Fail("no model, or no room");
  }
  static MicroMutableOpResolver<128> resolver;
#define REGISTER(name) resolver.Add##name();
  OPERATORS(REGISTER)
  MicroAllocator* allocator = MicroAllocator::Create(arena, arena_bytes);
  MicroResourceVariables* variables = nullptr;
  const Model* model = GetModel(model_bytes);
  std::set<std::string> names;
  for (const SubGraph* subgraph : *model->subgraphs()) {
    for (const Operator* each : *subgraph->operators()) {
      const auto* handle = each->builtin_options_as_VarHandleOptions();
      if (handle != nullptr && handle->shared_name() != nullptr) names.insert(handle->shared_name()->str());
    }
  }
  if (!names.empty()) variables = MicroResourceVariables::Create(allocator, static_cast<int>(names.size()));
  MicroInterpreter interpreter(model, resolver, allocator, variables);
  if (interpreter.AllocateTensors() != kTfLiteOk) return Fail("AllocateTensors failed");
  FILE* inputs = fopen(inputs_path, "rb");
  FILE* outputs = fopen(outputs_path, "wb");
  for (unsigned run = 0; run < runs; ++run) {
    for (size_t i = 0; i < interpreter.inputs_size(); ++i) {
      TfLiteTensor* tensor = interpreter.input(i);
      if (fread(tensor->data.raw, 1, tensor->bytes, inputs) != tensor->bytes) return Fail("inputs end too early");
    }
    if (interpreter.Invoke() != kTfLiteOk) return Fail("Invoke failed");
    for (size_t i = 0; i < interpreter.outputs_size(); ++i) {
      TfLiteTensor* tensor = interpreter.output(i);
      fwrite(tensor->data.raw, 1, tensor->bytes, outputs);
    }
  }
  fclose(outputs);
  return Fail("ok") - 1;
}
