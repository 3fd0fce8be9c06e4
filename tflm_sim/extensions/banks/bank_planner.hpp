// SPDX-License-Identifier: Apache-2.0
// A memory planner of TensorFlow Lite Micro for tensors in several banks of RAM: a table says where each buffer lies.
//
// C++17, no heap, no RTTI. TFLM of October 2022 to today, whichever of its namespaces it has; processors of 32 bits.
// 'tflm-sim plan MODEL --bank ... -o banks.h' writes the table, and this in front of it.
//
// TFLM asks a planner for offsets from the head's start, and adds them to it. So a buffer in another bank has the
// distance between both as its offset; of 32 bits it wraps around, and any two addresses are near enough. What TFLM's
// own NonPersistentMemoryPlannerShim lacks for this: it says that the head has no bytes, so that a plan in the head's
// bank lies over what comes behind, it looks at no size and no lifetime, and it takes no offline offset.
#ifndef TFLM_SIM_BANK_PLANNER_H_
#define TFLM_SIM_BANK_PLANNER_H_

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "tensorflow/lite/micro/arena_allocator/non_persistent_arena_buffer_allocator.h"
#include "tensorflow/lite/micro/arena_allocator/persistent_arena_buffer_allocator.h"
#include "tensorflow/lite/micro/compatibility.h"
#include "tensorflow/lite/micro/memory_planner/micro_memory_planner.h"
#include "tensorflow/lite/micro/micro_allocator.h"
#include "tensorflow/lite/micro/micro_log.h"

namespace tflite::micro {}

namespace tflm_banks {

static_assert(sizeof(void*) == 4, "offsets between banks wrap around in 32 bits; a host of 64 bits cannot run this");

// TFLM's names stand in tflite, and since October 2026 in tflite::micro.
namespace tflm {
using namespace ::tflite;
using namespace ::tflite::micro;
}  // namespace tflm
using Status = decltype(std::declval<tflm::MicroMemoryPlanner&>().AddBuffer(0, 0, 0));

// A buffer: its bank, where in it, and by what it is known again; sizes and offsets in units of 16 bytes.
struct Entry {
  uint32_t bank : 3;
  uint32_t offset : 29;
  uint32_t size;
  int16_t first, last;
};

struct Need {
  const char* bank;
  uint32_t needed;   // bytes that the plan, the tail and TFLM's own temporary memory take
  uint32_t planned;  // of them the plan's, from the bank's start on
};

// What is written below. 'tflm-sim firmware' looks for the mark in a program's file, and reads what follows.
struct Plan {
  char mark[12];
  uint8_t banks, head, tail, unused;
  const char* model;
  uint32_t count;
  const Entry* entries;
  const Need* needs;
};

struct Bank {
  uint8_t* base;
  size_t size;
};

// The banks that a program gives to a plan; of constants it is one itself, so that a program's file shows it, too.
template <int kBanks>
struct Given {
  const Plan* plan;
  Bank banks[kBanks];
};

// Says what is wrong with the banks, if anything is.
inline Status Check(const Plan& plan, const Bank* banks) {
  for (int i = 0; i < plan.banks; ++i) {
    const Need& need = plan.needs[i];
    if (need.needed > banks[i].size) {
      MicroPrintf("bank %s has %u bytes, the plan needs %u", need.bank, static_cast<unsigned>(banks[i].size),
                  static_cast<unsigned>(need.needed));
      return Status::kTfLiteError;
    }
    if (need.needed != 0 && (reinterpret_cast<uintptr_t>(banks[i].base) & 15) != 0) {
      MicroPrintf("bank %s does not begin at a multiple of 16", need.bank);
      return Status::kTfLiteError;
    }
  }
  return Status::kTfLiteOk;
}

class Planner : public tflm::MicroMemoryPlanner {
 public:
  Planner(const Plan& plan, const Bank* banks) : plan_(plan), banks_(banks) {}

  // No 'override' here: before 2023 the last of these was no function of TFLM's.
  Status Init(unsigned char*, int) {
    asked_ = 0;
    return Status::kTfLiteOk;  // TFLM does not look at it.
  }
  Status AddBuffer(int size, int first, int last) {
    if (asked_ == 0 && Check(plan_, banks_) != Status::kTfLiteOk) return Status::kTfLiteError;
    if (asked_ >= GetCount()) {
      MicroPrintf("the plan has %d buffers, and there are more", GetCount());
      return Status::kTfLiteError;
    }
    const Entry& entry = plan_.entries[asked_];
    const int planned = static_cast<int>(entry.size) * 16;
    if (size != planned || first != entry.first || last != entry.last) {
      MicroPrintf("buffer %d has %d bytes [%d, %d], planned were %d bytes [%d, %d]: other model or kernels", asked_,
                  size, first, last, planned, entry.first, entry.last);
      return Status::kTfLiteError;
    }
    ++asked_;
    return Status::kTfLiteOk;
  }
  Status AddBuffer(int size, int first, int last, int) { return AddBuffer(size, first, last); }
  size_t GetMaximumMemorySize() { return plan_.needs[plan_.head].planned; }
  int GetBufferCount() { return asked_; }
  Status GetOffsetForBuffer(int index, int* offset) {
    if (asked_ != GetCount() || index < 0 || index >= GetCount()) {
      MicroPrintf("the plan has %d buffers, the model %d", GetCount(), asked_);
      return Status::kTfLiteError;
    }
    const Entry& entry = plan_.entries[index];
    const uintptr_t address = reinterpret_cast<uintptr_t>(banks_[entry.bank].base) + entry.offset * 16u;
    *offset = static_cast<int>(address - reinterpret_cast<uintptr_t>(banks_[plan_.head].base));
    return Status::kTfLiteOk;
  }
  bool preserves_all_tensors() const { return false; }

 private:
  int GetCount() const { return static_cast<int>(plan_.count); }

  const Plan& plan_;
  const Bank* banks_;
  int asked_ = 0;

  TF_LITE_REMOVE_VIRTUAL_DELETE
};

// The constructor that takes a planner and two arenas is protected, and Create has no form with both.
class Allocator : public tflm::MicroAllocator {
 public:
  Allocator(tflm::IPersistentBufferAllocator* tail, tflm::INonPersistentBufferAllocator* head,
            tflm::MicroMemoryPlanner* planner)
      : tflm::MicroAllocator(tail, head, planner) {}

 private:
  TF_LITE_REMOVE_VIRTUAL_DELETE
};

// Head and tail in one bank: TFLM's own Create, with the planner.
template <int kBanks>
class OneArena {
 public:
  constexpr explicit OneArena(const Given<kBanks>& given) : given_(given) {}
  Status Check() const { return tflm_banks::Check(*given_.plan, given_.banks); }
  tflm::MicroAllocator* allocator() {
    if (allocator_ == nullptr) {
      const Bank& arena = given_.banks[given_.plan->head];
      auto* planner = new (planner_) Planner(*given_.plan, given_.banks);
      allocator_ = tflm::MicroAllocator::Create(arena.base, arena.size, planner);
    }
    return allocator_;
  }

 private:
  Given<kBanks> given_;
  tflm::MicroAllocator* allocator_ = nullptr;
  alignas(Planner) unsigned char planner_[sizeof(Planner)] = {};
};

// The tail in a bank of its own, behind what is planned there.
template <int kBanks>
class TwoArenas {
 public:
  constexpr explicit TwoArenas(const Given<kBanks>& given) : given_(given) {}
  Status Check() const { return tflm_banks::Check(*given_.plan, given_.banks); }
  tflm::MicroAllocator* allocator() {
    if (allocator_ == nullptr) {
      const Plan& plan = *given_.plan;
      const Bank &head = given_.banks[plan.head], &tail = given_.banks[plan.tail];
      const size_t planned = plan.needs[plan.tail].planned;
      auto* stays = new (stays_)
          tflm::PersistentArenaBufferAllocator(tail.base + planned, tail.size > planned ? tail.size - planned : 0);
      auto* rest = new (rest_) tflm::NonPersistentArenaBufferAllocator(head.base, head.size);
      allocator_ = new (both_) Allocator(stays, rest, new (planner_) Planner(plan, given_.banks));
    }
    return allocator_;
  }

 private:
  Given<kBanks> given_;
  tflm::MicroAllocator* allocator_ = nullptr;
  alignas(Planner) unsigned char planner_[sizeof(Planner)] = {};
  alignas(tflm::PersistentArenaBufferAllocator) unsigned char
      stays_[sizeof(tflm::PersistentArenaBufferAllocator)] = {};
  alignas(tflm::NonPersistentArenaBufferAllocator) unsigned char
      rest_[sizeof(tflm::NonPersistentArenaBufferAllocator)] = {};
  alignas(Allocator) unsigned char both_[sizeof(Allocator)] = {};
};

}  // namespace tflm_banks

#endif  // TFLM_SIM_BANK_PLANNER_H_
