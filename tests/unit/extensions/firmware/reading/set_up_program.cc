// Calls that set TFLM up, in every form that tflm_sim reads. Not TFLM: declarations with its names, and empty bodies.
// -Dtflite=tflite::micro gives them the names that TFLM has since October 2026, when the schema stayed in tflite.
typedef unsigned char uint8_t;
typedef __SIZE_TYPE__ size_t;
extern "C" void* malloc(size_t);
#pragma push_macro("tflite")
#undef tflite
namespace tflite { struct Model {}; }
using tflite::Model;
#pragma pop_macro("tflite")
namespace tflite {
class MicroOpResolver {};
class MicroResourceVariables;
class MicroProfilerInterface;
class MicroMemoryPlanner {};
enum class MemoryPlannerType { kGreedy, kLinear };
#define BODY(value) { return value; }
struct MicroAllocator {
  static MicroAllocator* Create(uint8_t*, size_t, MemoryPlannerType = MemoryPlannerType::kGreedy);
  static MicroAllocator* Create(uint8_t*, size_t, MicroMemoryPlanner*);
};
struct RecordingMicroAllocator {
  static MicroAllocator* Create(uint8_t*, size_t);
};
struct MicroResourceVariables {
  static MicroResourceVariables* Create(MicroAllocator*, int);
};
struct MicroInterpreter {
  MicroInterpreter(const Model*, const MicroOpResolver&, uint8_t*, size_t, MicroResourceVariables* = nullptr,
                   MicroProfilerInterface* = nullptr, bool preserve_all_tensors = false);
  MicroInterpreter(const Model*, const MicroOpResolver&, MicroAllocator*, MicroResourceVariables* = nullptr,
                   MicroProfilerInterface* = nullptr);
  int allocated[30];
};
__attribute__((noipa)) MicroAllocator* MicroAllocator::Create(uint8_t* a, size_t, MemoryPlannerType) BODY((MicroAllocator*)a)
__attribute__((noipa)) MicroAllocator* MicroAllocator::Create(uint8_t* a, size_t, MicroMemoryPlanner*) BODY((MicroAllocator*)a)
__attribute__((noipa)) MicroAllocator* RecordingMicroAllocator::Create(uint8_t* a, size_t) BODY((MicroAllocator*)a)
__attribute__((noipa)) MicroResourceVariables* MicroResourceVariables::Create(MicroAllocator* a, int)
    BODY((MicroResourceVariables*)a)
__attribute__((noipa)) MicroInterpreter::MicroInterpreter(const Model*, const MicroOpResolver&, uint8_t*, size_t,
    MicroResourceVariables*, MicroProfilerInterface*, bool) { __asm__ volatile(""); }
__attribute__((noipa)) MicroInterpreter::MicroInterpreter(const Model*, const MicroOpResolver&, MicroAllocator*,
    MicroResourceVariables*, MicroProfilerInterface*) { __asm__ volatile(""); }
static inline const Model* GetModel(const void* p) { return (const Model*)((const char*)p + *(const unsigned*)p); }
static inline const Model* GetModelOfBytes(const unsigned char* p) {
  return (const Model*)(p + (p[0] | p[1] << 8 | p[2] << 16 | (unsigned)p[3] << 24));
}
}  // namespace tflite
using namespace tflite;
extern "C" __attribute__((noipa)) void* malloc(size_t n) BODY((void*)(n + 4096))
extern "C" const unsigned g_model[4] = {8, 0x334c4654, 1, 2};
alignas(16) uint8_t tensor_arena[10240], small_arena[3000], table_arena[1024];
extern "C" const unsigned char g_bytes[8] = {6, 0, 0, 0, 0x54, 0x46, 0x4c, 0x33};
MicroOpResolver resolver;
MicroMemoryPlanner planner;
volatile int chosen;
void plain() { MicroInterpreter i(GetModel(g_model), resolver, tensor_arena, sizeof tensor_arena); chosen = i.allocated[0]; }
void part() { MicroInterpreter i(GetModel(g_model), resolver, tensor_arena + 64, 5000, nullptr, nullptr, true); chosen = i.allocated[0]; }
__attribute__((noipa)) void given(const Model* m, uint8_t* arena, size_t size) { MicroInterpreter i(m, resolver, arena, size); chosen = i.allocated[0]; }
void variables() {
  MicroAllocator* allocator = MicroAllocator::Create(small_arena, 2999);
  MicroInterpreter i(GetModel(g_model), resolver, allocator, MicroResourceVariables::Create(allocator, 7));
  chosen = i.allocated[0];
}
void table_apart() {
  MicroResourceVariables* table = MicroResourceVariables::Create(MicroAllocator::Create(table_arena, sizeof table_arena), 20);
  MicroInterpreter i(GetModel(g_model), resolver, tensor_arena, 9000, table);
  chosen = i.allocated[0];
}
void recording() { MicroInterpreter i(GetModel(g_model), resolver, RecordingMicroAllocator::Create(small_arena, 2000)); chosen = i.allocated[0]; }
void heap() { uint8_t* arena = (uint8_t*)malloc(7000); MicroInterpreter i(GetModel(g_model), resolver, arena, 7000); chosen = i.allocated[0]; }
void unknown() { MicroInterpreter i(GetModel(g_model), resolver, tensor_arena, chosen ? 100 : 200); chosen = i.allocated[0]; }
void own_planner() {
  MicroInterpreter i(GetModelOfBytes(g_bytes), resolver, MicroAllocator::Create(small_arena, 2500, &planner));
  chosen = i.allocated[0];
}
extern "C" void _start() {
  plain(); part();
  if (chosen) given(GetModel(g_model), small_arena, sizeof small_arena);
  variables(); table_apart(); recording(); heap(); unknown(); own_planner();
}
