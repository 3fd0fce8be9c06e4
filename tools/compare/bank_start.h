// Start-up code and semihosting of a program on an emulated Cortex-M: for bank_loads.cc and bank_boards.cc.
// Its segments are loaded where they run, code at 0 and data at 0x20000000, so nothing is copied.

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>

#ifndef STACK_END
#define STACK_END 0x20300000
#endif

int main();

extern "C" {
void __libc_init_array(void);
void* __dso_handle = nullptr;
void _init(void) {}
void _fini(void) {}

static int Ask(int what, const void* with) {
  register int r0 __asm("r0") = what;
  register const void* r1 __asm("r1") = with;
  __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}
static void Say(const char* text) { Ask(4, text); }
static void SayNumber(const char* name, unsigned long number) {
  char line[80];
  snprintf(line, sizeof line, "%s=%lu\n", name, number);
  Say(line);
}
[[noreturn]] static void End() {
  for (;;) Ask(0x18, reinterpret_cast<const void*>(0x20026));
}
void DebugLog(const char* format, va_list arguments) {
  char line[200];
  vsnprintf(line, sizeof line, format, arguments);
  Say(line);
}
int DebugVsnprintf(char* out, size_t size, const char* format, va_list arguments) {
  return vsnprintf(out, size, format, arguments);
}
void* _sbrk(int) { return reinterpret_cast<void*>(-1); }
int _write(int, const char*, int size) { return size; }
int _read(int, char*, int) { return 0; }
int _close(int) { return -1; }
int _lseek(int, int, int) { return 0; }
int _fstat(int, void*) { return 0; }
int _isatty(int) { return 1; }
int _kill(int, int) { return -1; }
int _getpid(void) { return 1; }
[[noreturn]] void _exit(int) { End(); }

void _start(void) {
#ifdef __ARM_FP
  *reinterpret_cast<volatile uint32_t*>(0xE000ED88) |= 0xFu << 20;  // CPACR: floating point
#endif
  __libc_init_array();
  main();
  End();
}
extern void (*const kVectors[16])(void);
[[gnu::section(".vectors"), gnu::used]] void (*const kVectors[16])(void) = {
    reinterpret_cast<void (*)(void)>(STACK_END), _start, End, End, End, End, End, End,
    End, End, End, End, End, End, End, End};
}

namespace tflite {
void InitializeTarget() {}
uint32_t ticks_per_second() { return 1000; }
uint32_t GetCurrentTimeTicks() { return 0; }
namespace micro {}
}  // namespace tflite

#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/micro/micro_resource_variable.h"
#include "tensorflow/lite/schema/schema_generated.h"

// TFLM's names stand in tflite, and since October 2026 in tflite::micro.
using namespace tflite;
using namespace tflite::micro;

#define OPERATORS(X)                                                                                                  \
  X(Add) X(AssignVariable) X(AveragePool2D) X(CallOnce) X(Concatenation) X(Conv2D) X(DepthwiseConv2D) X(Dequantize) \
  X(FullyConnected) X(Logistic) X(MaxPool2D) X(Mean) X(Mul) X(Pad) X(Quantize) X(ReadVariable) X(Relu) X(Reshape)    \
  X(Softmax) X(SplitV) X(StridedSlice) X(Svdf) X(VarHandle) MORE_OPERATORS(X)
#ifndef MORE_OPERATORS
#define MORE_OPERATORS(X)
#endif

static MicroMutableOpResolver<64>& Resolver() {
  static MicroMutableOpResolver<64> resolver;
#define REGISTER(name) resolver.Add##name();
  OPERATORS(REGISTER)
  return resolver;
}
