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

struct Bank {
  uint8_t* base;
  size_t size;
  size_t needed;   // bytes that the plan, the tail and TFLM's own temporary memory take
  size_t planned;  // of them the plan's, from the base on
};

template <int kBanks>
class Planner : public tflm::MicroMemoryPlanner {
 public:
  Planner(const Entry* entries, int count, const Bank (&banks)[kBanks], int head)
      : entries_(entries), count_(count), head_(head) {
    for (int i = 0; i < kBanks; ++i) banks_[i] = banks[i];
  }

  // Says what is wrong with the banks, if anything is.
  Status Check() const {
    for (int i = 0; i < kBanks; ++i) {
      const Bank& bank = banks_[i];
      if (bank.needed > bank.size) {
        MicroPrintf("bank %d has %u bytes, the plan needs %u", i, static_cast<unsigned>(bank.size),
                    static_cast<unsigned>(bank.needed));
        return Status::kTfLiteError;
      }
      if (bank.needed != 0 && (reinterpret_cast<uintptr_t>(bank.base) & 15) != 0) {
        MicroPrintf("bank %d does not begin at a multiple of 16", i);
        return Status::kTfLiteError;
      }
    }
    return Status::kTfLiteOk;
  }

  // No 'override' here: before 2023 the last of these was no function of TFLM's.
  Status Init(unsigned char*, int) {
    asked_ = 0;
    return Status::kTfLiteOk;  // TFLM does not look at it.
  }
  Status AddBuffer(int size, int first, int last) {
    if (asked_ == 0 && Check() != Status::kTfLiteOk) return Status::kTfLiteError;
    if (asked_ >= count_) {
      MicroPrintf("the plan has %d buffers, and there are more", count_);
      return Status::kTfLiteError;
    }
    const Entry& entry = entries_[asked_];
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
  size_t GetMaximumMemorySize() { return banks_[head_].planned; }
  int GetBufferCount() { return asked_; }
  Status GetOffsetForBuffer(int index, int* offset) {
    if (asked_ != count_ || index < 0 || index >= count_) {
      MicroPrintf("the plan has %d buffers, the model %d", count_, asked_);
      return Status::kTfLiteError;
    }
    const Entry& entry = entries_[index];
    const uintptr_t address = reinterpret_cast<uintptr_t>(banks_[entry.bank].base) + entry.offset * 16u;
    *offset = static_cast<int>(address - reinterpret_cast<uintptr_t>(banks_[head_].base));
    return Status::kTfLiteOk;
  }
  bool preserves_all_tensors() const { return false; }

 private:
  const Entry* entries_;
  int count_;
  int head_;
  int asked_ = 0;
  Bank banks_[kBanks];

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
  OneArena(const Entry* entries, int count, const Bank (&banks)[kBanks], int head)
      : planner_(entries, count, banks, head), arena_(banks[head]) {}
  Status Check() const { return planner_.Check(); }
  tflm::MicroAllocator* allocator() {
    if (allocator_ == nullptr) allocator_ = tflm::MicroAllocator::Create(arena_.base, arena_.size, &planner_);
    return allocator_;
  }

 private:
  Planner<kBanks> planner_;
  Bank arena_;
  tflm::MicroAllocator* allocator_ = nullptr;
};

// The tail in a bank of its own, behind what is planned there.
template <int kBanks>
class TwoArenas {
 public:
  TwoArenas(const Entry* entries, int count, const Bank (&banks)[kBanks], int head, int tail)
      : planner_(entries, count, banks, head),
        tail_(banks[tail].base + banks[tail].planned,
              banks[tail].size > banks[tail].planned ? banks[tail].size - banks[tail].planned : 0),
        head_(banks[head].base, banks[head].size),
        allocator_(&tail_, &head_, &planner_) {}
  Status Check() const { return planner_.Check(); }
  tflm::MicroAllocator* allocator() { return &allocator_; }

 private:
  Planner<kBanks> planner_;
  tflm::PersistentArenaBufferAllocator tail_;
  tflm::NonPersistentArenaBufferAllocator head_;
  Allocator allocator_;
};

}  // namespace tflm_banks

#endif  // TFLM_SIM_BANK_PLANNER_H_
