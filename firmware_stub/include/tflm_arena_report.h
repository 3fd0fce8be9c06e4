/* SPDX-License-Identifier: Apache-2.0 */
// tflm_arena_report: fills an arena report from a TensorFlow Lite Micro interpreter. Header only, C++17.
//
//   #include "tflm_arena_report.h"                                       // 1
//   tsim::ArenaReporter reporter;                                        // 2
//   reporter.Report(interpreter, tensor_arena, sizeof tensor_arena);     // 3, after AllocateTensors()
//
// A plain MicroInterpreter tells its bytes in use; a RecordingMicroInterpreter its head, tail and categories as well.
// The report goes through MicroPrintf unless another write function is given.
//
// Source of the TFLM calls: tensorflow/lite/micro/{micro_interpreter,recording_micro_allocator}.h @ 90b983c.
#ifndef TSIM_TFLM_ARENA_REPORT_H_
#define TSIM_TFLM_ARENA_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "arena_report.h"
#include "tensorflow/lite/micro/compatibility.h"
#include "tensorflow/lite/micro/memory_planner/greedy_memory_planner.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_log.h"
#include "tensorflow/lite/micro/recording_micro_interpreter.h"

namespace tflite::micro {}

namespace tsim {

// TFLM's names stand in tflite, and since October 2026 in tflite::micro, where TfLiteStatus stands, too.
namespace tflm {
using namespace ::tflite;
using namespace ::tflite::micro;
}  // namespace tflm
using TflmStatus = decltype(std::declval<tflm::MicroInterpreter&>().AllocateTensors());

// Send a frame through MicroPrintf, which ends the line itself. With TF_LITE_STRIP_ERROR_STRINGS (upstream's release
// builds) MicroPrintf is empty: nothing can be sent so, and Report() says TSIM_E_WRITE. Give ArenaReporter a write function
// of the firmware's own there: tsim::ArenaReporter reporter(my_write, context).
inline int WriteWithMicroPrintf(void*, const void* data, size_t size) {
#ifdef TF_LITE_STRIP_ERROR_STRINGS
  (void)data;
  (void)size;
  return -1;
#else
  char line[TSIM_FRAME_MAX + 4];
  if (size < 2 || size > sizeof line) {
    return -1;
  }
  std::memcpy(line, data, size - 2);
  line[size - 2] = '\0';
  MicroPrintf("%s", line);
  return 0;
#endif
}

// Return whether allocate(arena, size) is true for an arena of exactly size bytes, 16-byte aligned, in memory, and leaves
// the 16 bytes on either side alone. memory needs size + 48 bytes. allocate builds an interpreter in the arena and returns
// whether AllocateTensors() (and Invoke(), for what kernels do then) succeeded: the smallest arena, confirmed in RAM.
template <typename Allocate>
bool FitsArena(uint8_t* memory, size_t memory_size, size_t size, Allocate allocate) {
  constexpr size_t kGuard = 16;
  constexpr uint32_t kSeed = 1;
  const size_t skip = (kGuard - reinterpret_cast<uintptr_t>(memory) % kGuard) % kGuard;
  if (memory_size < skip + kGuard + size + kGuard) {
    return false;
  }
  uint8_t* below = memory + skip;
  uint8_t* arena = below + kGuard;
  tsim_paint(below, kGuard, kSeed);
  tsim_paint(arena + size, kGuard, kSeed);
  return allocate(arena, size) && tsim_scan_paint(below, kGuard, kSeed).touched == 0 &&
         tsim_scan_paint(arena + size, kGuard, kSeed).touched == 0;
}

// A GreedyMemoryPlanner that remembers what it was given, so that a report can show the plan. Pass it to
// MicroAllocator::Create(arena, size, &planner). Buffers beyond kMaxBuffers are planned, but not shown.
//
// It lives outside the arena, TFLM's own planner in it: the tail is smaller by that object. The report says so ("planner":
// "outside"), and the host then compares the plan, and neither tail nor total.
template <int kMaxBuffers>
class RememberingPlanner : public tflm::GreedyMemoryPlanner {
 public:
  TflmStatus Init(unsigned char* scratch_buffer, int scratch_buffer_size) override {
    count_ = 0;
    return tflm::GreedyMemoryPlanner::Init(scratch_buffer, scratch_buffer_size);
  }

  TflmStatus AddBuffer(int size, int first_time_used, int last_time_used) override {
    const TflmStatus status = tflm::GreedyMemoryPlanner::AddBuffer(size, first_time_used, last_time_used);
    if (status == TflmStatus::kTfLiteOk && count_ < kMaxBuffers) {
      buffers_[count_] = {size, 0, first_time_used, last_time_used};
    }
    count_ += status == TflmStatus::kTfLiteOk ? 1 : 0;
    return status;
  }

  // Upstream's offline variant adds through the other AddBuffer, so that it is remembered there.
  TflmStatus AddBuffer(int size, int first_time_used, int last_time_used, int offline_offset) override {
    return tflm::GreedyMemoryPlanner::AddBuffer(size, first_time_used, last_time_used, offline_offset);
  }

  // The tables of the planner are gone after AllocateTensors(): offsets are taken while TFLM asks for them.
  TflmStatus GetOffsetForBuffer(int buffer_index, int* offset) override {
    const TflmStatus status = tflm::GreedyMemoryPlanner::GetOffsetForBuffer(buffer_index, offset);
    if (status == TflmStatus::kTfLiteOk && buffer_index < kMaxBuffers) {
      buffers_[buffer_index].offset = *offset;
    }
    return status;
  }

  const tsim_buffer_t* buffers() const { return buffers_; }
  int shown() const { return count_ < kMaxBuffers ? count_ : kMaxBuffers; }

 private:
  tsim_buffer_t buffers_[kMaxBuffers] = {};
  int count_ = 0;

  TF_LITE_REMOVE_VIRTUAL_DELETE
};

// Reports arenas, one report a call. Texts must outlive the calls that use them.
class ArenaReporter {
 public:
  explicit ArenaReporter(tsim_write_fn write = WriteWithMicroPrintf, void* context = nullptr) {
    const tsim_report_config_t config = {context, write};
    status_ = tsim_report_init(&report_, &config);
  }

  // Say what the firmware is. Optional; null leaves a text out.
  ArenaReporter& Describe(const char* target, const char* tflm, const char* kernels) {
    target_ = target;
    tflm_ = tflm;
    kernels_ = kernels;
    return *this;
  }

  // Name the interpreter, where the firmware has several. Optional.
  ArenaReporter& Interpreter(const char* id) {
    interpreter_ = id;
    return *this;
  }

  // Say why the device started. Optional.
  ArenaReporter& Reset(const char* reason) {
    reset_ = reason;
    return *this;
  }

  // Add what is left of the task's stack and of the heap, in bytes: of the stack the part that was never used. Optional.
  ArenaReporter& Memory(uint32_t stack_free, uint32_t heap_free, uint32_t heap_least) {
    memory_[0] = stack_free;
    memory_[1] = heap_free;
    memory_[2] = heap_least;
    has_memory_ = true;
    return *this;
  }

  // Identify the model. Optional: without it the host cannot know that a report is about another one.
  ArenaReporter& Model(const void* data, size_t size) {
    model_ = data;
    model_size_ = size;
    return *this;
  }

  // Add what paint and scan measured. Optional.
  ArenaReporter& HighWater(const tsim_scan_t& scan) {
    scan_ = scan;
    has_scan_ = true;
    return *this;
  }

  // Add the memory plan. Optional; planner must live until Report.
  template <int kMaxBuffers>
  ArenaReporter& Plan(const RememberingPlanner<kMaxBuffers>& planner) {
    has_plan_ = true;
    buffers_ = planner.buffers();
    buffer_count_ = planner.shown();
    return *this;
  }

  // Report an interpreter after AllocateTensors(). Returns TSIM_OK or the first refusal.
  int Report(const tflm::RecordingMicroInterpreter& interpreter, const void* arena, size_t arena_size) {
    Begin(arena, arena_size);
    const tflm::RecordingMicroAllocator& allocator = interpreter.GetMicroAllocator();
    const tflm::RecordingSingleArenaBufferAllocator* bytes = allocator.GetSimpleMemoryAllocator();
    const tsim_used_t used = {static_cast<uint32_t>(bytes->GetUsedBytes()),
                              static_cast<uint32_t>(bytes->GetNonPersistentUsedBytes()),
                              static_cast<uint32_t>(bytes->GetPersistentUsedBytes())};
    Keep(tsim_report_used(&report_, &used));
    for (const Row& row : kRows) {
      const tflm::RecordedAllocation recorded = allocator.GetRecordedAllocation(row.type);
      const tsim_category_t category = {static_cast<uint32_t>(recorded.used_bytes),
                                        static_cast<uint32_t>(recorded.requested_bytes),
                                        static_cast<uint32_t>(recorded.count)};
      Keep(tsim_report_category(&report_, row.kind, &category));
    }
    return End();
  }

  // Report that AllocateTensors() failed, and with which status.
  int ReportFailure(TflmStatus status, const void* arena, size_t arena_size) {
    Begin(arena, arena_size);
    Keep(tsim_report_failure(&report_, static_cast<int32_t>(status)));
    return End();
  }

  int Report(const tflm::MicroInterpreter& interpreter, const void* arena, size_t arena_size) {
    Begin(arena, arena_size);
    Keep(tsim_report_total(&report_, static_cast<uint32_t>(interpreter.arena_used_bytes())));
    return End();
  }

 private:
  struct Row {
    tflm::RecordedAllocationType type;
    uint32_t kind;
  };

  static constexpr Row kRows[] = {
      {tflm::RecordedAllocationType::kTfLiteEvalTensorData, TSIM_EVAL_TENSOR_DATA},
      {tflm::RecordedAllocationType::kPersistentTfLiteTensorData, TSIM_PERSISTENT_TENSOR_DATA},
      {tflm::RecordedAllocationType::kPersistentTfLiteTensorQuantizationData, TSIM_PERSISTENT_QUANTIZATION_DATA},
      {tflm::RecordedAllocationType::kPersistentBufferData, TSIM_PERSISTENT_BUFFER_DATA},
      {tflm::RecordedAllocationType::kTfLiteTensorVariableBufferData, TSIM_VARIABLE_BUFFER_DATA},
      {tflm::RecordedAllocationType::kNodeAndRegistrationArray, TSIM_NODE_AND_REGISTRATION_ARRAY},
      {tflm::RecordedAllocationType::kOpData, TSIM_OP_DATA},
#ifdef USE_TFLM_COMPRESSION
      {tflm::RecordedAllocationType::kCompressionData, TSIM_COMPRESSION_DATA},
#endif
  };

  void Keep(int status) { status_ = status_ == TSIM_OK ? status : status_; }

  void Info(const char* key, const char* text) {
    if (text != nullptr) {
      Keep(tsim_report_info(&report_, key, text));
    }
  }

  void Begin(const void* arena, size_t arena_size) {
    if (!has_said_hello_) {
      has_said_hello_ = true;
      Keep(tsim_report_hello(&report_, target_ != nullptr ? target_ : "arena report"));
    }
    Keep(tsim_report_begin(&report_, arena, arena_size));
    Info("target", target_);
    Info("interpreter", interpreter_);
    Info("reset", reset_);
    if (has_memory_) {
      Keep(tsim_report_number(&report_, "stack_free", memory_[0]));
      Keep(tsim_report_number(&report_, "heap_free", memory_[1]));
      Keep(tsim_report_number(&report_, "heap_least", memory_[2]));
    }
    Info("tflm", tflm_);
    Info("kernels", kernels_);
    Info("planner", has_plan_ ? "outside" : nullptr);
    if (model_ != nullptr) {
      Keep(tsim_report_model(&report_, model_, model_size_));
    }
  }

  int End() {
    for (int i = 0; i < buffer_count_; ++i) {
      Keep(tsim_report_buffer(&report_, static_cast<uint32_t>(i), &buffers_[i]));
    }
    if (has_scan_) {
      Keep(tsim_report_high_water(&report_, &scan_));
    }
    Keep(tsim_report_end(&report_));
    const int status = status_;
    status_ = TSIM_OK;
    return status;
  }

  tsim_report_t report_ = {};
  int status_ = TSIM_OK;
  const char* target_ = nullptr;
  const char* tflm_ = nullptr;
  const char* kernels_ = nullptr;
  const void* model_ = nullptr;
  size_t model_size_ = 0;
  const tsim_buffer_t* buffers_ = nullptr;
  int buffer_count_ = 0;
  bool has_plan_ = false;
  bool has_said_hello_ = false;
  bool has_memory_ = false;
  uint32_t memory_[3] = {};
  const char* interpreter_ = nullptr;
  const char* reset_ = nullptr;
  tsim_scan_t scan_ = {};
  bool has_scan_ = false;
};

}  // namespace tsim

#endif  // TSIM_TFLM_ARENA_REPORT_H_
