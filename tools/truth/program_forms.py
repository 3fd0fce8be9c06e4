"""The forms of the programs that ``python tools truth programs`` builds: our own text, in C++ for any core.

A form is what ``main()`` does with TFLM: how its arena, its interpreter and its resolver are made. In it SIZE is the
arena's size that is passed, ARENA the bytes that it has, ``M`` the model, ``r`` a resolver with all operators, and
``RUN(i)`` allocates, invokes once and ends the program. Built with TRUTH, SIZE comes from the emulator's command line
and the program ends after AllocateTensors(): its exit code then says whether an arena of that size is large enough.
"""

from __future__ import annotations

from typing import NamedTuple

RESOLVER = (
    "AddConv2D", "AddDepthwiseConv2D", "AddAveragePool2D", "AddReshape", "AddFullyConnected", "AddSoftmax", "AddMean",
    "AddQuantize", "AddDequantize", "AddLogistic", "AddMul", "AddAdd", "AddConcatenation",
)  # fmt: skip
"""The operators that the programs register. The model's must be among them, and SOFTMAX one of the model's."""
ANY_ARENA = 1 << 17
"""Bytes of the arena of a form that works in none."""


class Form(NamedTuple):
    """A form.

    Attributes:
        does: What main() does.
        before: What stands before main().
        has_own_size: Whether its smallest arena is another thing than the SIZE at which the truth's program works: the
            heap's place moves it, or the program chooses a size itself.
        invokes: False where the program never ends, so that only the truth's program says whether it works.
        fails: Whether no arena is right, although the emulator does not notice.
        is_of_program: Whether what makes it fail, or where its arena lies, is nothing of which an answer about a limit
            speaks (``check --limit``, ``size``, the toml).
    """

    does: str
    before: str = ""
    has_own_size: bool = False
    invokes: bool = True
    fails: bool = False
    is_of_program: bool = False


_ARENA = "alignas(16) static uint8_t arena[ARENA]; "
_ON_ARENA = "static tflite::MicroInterpreter i(M, r, arena, SIZE); "
_ALLOCATOR = f"{_ARENA}auto *a = tflite::MicroAllocator::Create(arena, SIZE); "
_CHECKED = "if (i.AllocateTensors() != kTfLiteOk) end(1); "
_OWN_SOFTMAX = """
static void *own_init(TfLiteContext *context, const char *, size_t) {
  return context->AllocatePersistentBuffer(context, sizeof(tflite::SoftmaxParams));
}
static TfLiteStatus own_prepare(TfLiteContext *context, TfLiteNode *node) {
  context->AllocatePersistentBuffer(context, 5000);
  return tflite::SoftmaxPrepare(context, node);
}
static TfLiteStatus own_invoke(TfLiteContext *, TfLiteNode *) { return kTfLiteOk; }
"""
_OWN_SCRATCH = """
static TfLiteStatus own_prepare(TfLiteContext *context, TfLiteNode *node) {
  if (context->RequestScratchBufferInArena(context, 100, (int *)(node->user_data = own_room)) != kTfLiteOk) end(1);
  return kTfLiteOk;
}
static TfLiteStatus own_invoke(TfLiteContext *context, TfLiteNode *node) {
  memset(context->GetScratchBuffer(context, *(int *)node->user_data), 0x55, BYTES);
  return kTfLiteOk;
}
"""
_OVER_OWN_SCRATCH = "static int own_room[1];" + _OWN_SCRATCH
FORMS = {
    "static": Form(f"{_ARENA}{_ON_ARENA}RUN(i)"),
    "unaligned": Form(
        "static uint8_t arena[ARENA + 1]; static tflite::MicroInterpreter i(M, r, arena + 1, SIZE); RUN(i)"
    ),
    "on the stack": Form(f"{_ARENA}tflite::MicroInterpreter i(M, r, arena, SIZE); RUN(i)"),
    "new": Form(f"{_ARENA}auto *i = new tflite::MicroInterpreter(M, r, arena, SIZE); RUN(*i)"),
    "placement new": Form(
        f"{_ARENA}alignas(8) static uint8_t room[sizeof(tflite::MicroInterpreter)]; "
        "auto *i = new (room) tflite::MicroInterpreter(M, r, arena, SIZE); RUN(*i)"
    ),
    "unique_ptr": Form(
        f"{_ARENA}static std::unique_ptr<tflite::MicroInterpreter> i; "
        "i = std::make_unique<tflite::MicroInterpreter>(M, r, arena, SIZE); RUN(*i)"
    ),
    "optional": Form(
        f"{_ARENA}static std::optional<tflite::MicroInterpreter> i; i.emplace(M, r, arena, SIZE); RUN(*i)"
    ),
    "setup and loop": Form(
        "setup(); for (;;) loop();",
        "namespace { const tflite::Model *model = nullptr; tflite::MicroInterpreter *interpreter = nullptr; "
        "TfLiteTensor *input = nullptr; alignas(16) uint8_t tensor_arena[ARENA]; } "
        "void setup() { static Resolver resolver; ADD_ALL(resolver) model = M; "
        "static tflite::MicroInterpreter it(model, resolver, tensor_arena, SIZE); interpreter = &it; "
        "if (interpreter->AllocateTensors() != kTfLiteOk) end(1); if (TRUTH_NOW) end(0); "
        "input = interpreter->input(0); } "
        "void loop() { memset(input->data.raw, 1, input->bytes); end(interpreter->Invoke() != kTfLiteOk); }",
    ),
    "global": Form(
        "ADD_ALL(resolver) RUN(interpreter)",
        "static Resolver resolver; alignas(16) static uint8_t tensor_arena[ARENA]; "
        "static tflite::MicroInterpreter interpreter(M, resolver, tensor_arena, SIZE);",
    ),
    "in a struct": Form(
        "static struct { alignas(16) uint8_t arena[ARENA]; int after; } s; "
        "static tflite::MicroInterpreter i(M, r, s.arena, SIZE); RUN(i)"
    ),
    "a member": Form(
        "static App app(r); RUN(app.interpreter)",
        "struct App { int before[7]; alignas(16) uint8_t arena[ARENA]; tflite::MicroInterpreter interpreter; "
        "explicit App(const Resolver &r) : interpreter(M, r, arena, SIZE) {} };",
    ),
    "std::array": Form(
        "alignas(16) static std::array<uint8_t, ARENA> arena; "
        "static tflite::MicroInterpreter i(M, r, arena.data(), SIZED(arena.size())); RUN(i)"
    ),
    "sizeof": Form(f"{_ARENA}static tflite::MicroInterpreter i(M, r, arena, SIZED(sizeof(arena))); RUN(i)"),
    "sizeof a pointer": Form(
        f"{_ARENA}uint8_t *volatile at = arena; static tflite::MicroInterpreter i(M, r, at, sizeof(at)); RUN(i)",
        is_of_program=True,
    ),
    "a getter": Form(
        "static tflite::MicroInterpreter i(M, r, arena_of_tflm(), SIZE); RUN(i)",
        "__attribute__((noinline)) uint8_t *arena_of_tflm() { alignas(16) static uint8_t a[ARENA]; return a; }",
    ),
    "behind others": Form(
        "others[0] = 1; static tflite::MicroInterpreter i(M, r, arena, SIZE); RUN(i)",
        "static volatile char others[5000]; alignas(16) static uint8_t arena[ARENA];",
    ),
    "in a section": Form(
        'alignas(16) static uint8_t arena[ARENA] __attribute__((section(".arena"))); '
        "static tflite::MicroInterpreter i(M, r, arena, SIZE); RUN(i)"
    ),
    "a linker's symbol": Form(
        "static tflite::MicroInterpreter i(M, r, linker_arena, SIZE); RUN(i)", 'extern "C" uint8_t linker_arena[];'
    ),
    "a fixed address": Form("static tflite::MicroInterpreter i(M, r, (uint8_t *)MIDDLE_OF_RAM, SIZE); RUN(i)"),
    "over the stack": Form(
        "static tflite::MicroInterpreter i(M, r, (uint8_t *)(END_OF_RAM - SIZE), SIZE); RUN(i)",
        fails=True,
        is_of_program=True,
    ),
    "passes more than it has": Form(
        "static struct { alignas(16) uint8_t arena[ARENA - 1600]; uint8_t neighbour[1600]; } s; "
        "static tflite::MicroInterpreter i(M, r, s.arena, SIZE); END(i); for (auto b : s.neighbour) if (b) end(1); "
        "end(0);",
        has_own_size=True,
        fails=True,
        is_of_program=True,
    ),
    "on the heap": Form(
        "auto *arena = (uint8_t *)malloc(ARENA); tflite::MicroInterpreter i(M, r, arena, SIZE); RUN(i)",
        has_own_size=True,
    ),
    "calloc": Form(
        "auto *arena = (uint8_t *)calloc(1, ARENA); if (!arena) end(1); "
        "static tflite::MicroInterpreter i(M, r, arena, SIZE); RUN(i)",
        has_own_size=True,
    ),
    "aligned_alloc": Form(
        "auto *arena = (uint8_t *)memalign(16, ARENA); static tflite::MicroInterpreter i(M, r, arena, SIZE); RUN(i)"
    ),
    "malloc, aligned by hand": Form(
        "auto *raw = (uint8_t *)malloc(ARENA + 15); auto *arena = (uint8_t *)(((uintptr_t)raw + 15) & ~(uintptr_t)15); "
        "static tflite::MicroInterpreter i(M, r, arena, SIZE); RUN(i)"
    ),
    "an aligned_calloc of its own": Form(
        "auto *arena = (uint8_t *)own_aligned_calloc(16, ARENA); "
        "static tflite::MicroInterpreter i(M, r, arena, SIZE); RUN(i)",
        "void *own_aligned_calloc(size_t align, size_t size) { void *raw = calloc(1, size + align + sizeof(void *)); "
        "if (!raw) return nullptr; auto at = ((uintptr_t)raw + align + sizeof(void *)) & ~(uintptr_t)(align - 1); "
        "((void **)at)[-1] = raw; return (void *)at; }",
    ),
    "new bytes": Form(
        "static std::unique_ptr<uint8_t[]> arena(new uint8_t[ARENA]); "
        "static tflite::MicroInterpreter i(M, r, arena.get(), SIZE); RUN(i)",
        has_own_size=True,
    ),
    "a vector": Form(
        "static std::vector<uint8_t> arena(ARENA); static tflite::MicroInterpreter i(M, r, arena.data(), SIZE); RUN(i)",
        has_own_size=True,
    ),
    "alloca": Form(
        "auto *arena = (uint8_t *)__builtin_alloca_with_align(ARENA, 128); "
        "tflite::MicroInterpreter i(M, r, arena, SIZE); RUN(i)"
    ),
    "a local array": Form("alignas(16) uint8_t arena[ARENA]; tflite::MicroInterpreter i(M, r, arena, SIZE); RUN(i)"),
    "a pool of its own": Form(
        "static tflite::MicroInterpreter i(M, r, from_pool(ARENA), SIZE); RUN(i)",
        "alignas(16) static uint8_t pool[ARENA + 4096]; static size_t taken; "
        "__attribute__((noinline)) uint8_t *from_pool(size_t size) { "
        "uint8_t *at = pool + taken; taken += (size + 15) & ~15u; return at; }",
    ),
    "a config": Form(
        "static tflite::MicroInterpreter i(M, r, config.arena, config.size); RUN(i)",
        "alignas(16) static uint8_t arena[ARENA]; struct Config { uint8_t *arena; size_t size; }; "
        "static Config config = {arena, SIZE};",
    ),
    "a size read from memory": Form(
        f"{_ARENA}static volatile size_t size; size = SIZE; "
        "static tflite::MicroInterpreter i(M, r, arena, size); RUN(i)"
    ),
    "a factory": Form(
        "auto i = make_interpreter(r); RUN(*i)",
        "alignas(16) static uint8_t arena[ARENA]; __attribute__((noinline)) std::unique_ptr<tflite::MicroInterpreter> "
        "make_interpreter(const Resolver &r) { "
        "return std::make_unique<tflite::MicroInterpreter>(M, r, arena, SIZE); }",
    ),
    "a lambda": Form(
        f"{_ARENA}std::function<tflite::MicroInterpreter *()> make = [&] {{ "
        "return new tflite::MicroInterpreter(M, r, arena, SIZE); }; auto *i = make(); RUN(*i)"
    ),
    "a template": Form(
        "static Runner<OPERATORS, ARENA> runner; runner.run();",
        "template <unsigned N, size_t BYTES> struct Runner { tflite::MicroMutableOpResolver<N> resolver; "
        "alignas(16) uint8_t arena[BYTES]; void run() { ADD_ALL(resolver) "
        "tflite::MicroInterpreter i(M, resolver, arena, SIZE); RUN(i) } };",
    ),
    "behind an interface in C": Form(
        "void *handle = engine_open(arena, SIZE); if (!handle) end(1); engine_run(handle);",
        "alignas(16) static uint8_t arena[ARENA]; struct Engine { Resolver r; tflite::MicroInterpreter i; "
        "Engine(uint8_t *at, size_t size) : i(M, r, at, size) {} }; "
        'extern "C" __attribute__((noinline)) void *engine_open(void *at, size_t size) { '
        "auto *e = new Engine((uint8_t *)at, size); ADD_ALL(e->r) return e; } "
        'extern "C" __attribute__((noinline)) void engine_run(void *e) { RUN(((Engine *)e)->i) }',
    ),
    "made at first use": Form(
        "for (int n = 0; n < 3; n++) classify();",
        "alignas(16) static uint8_t arena[ARENA]; static bool ready; static int uses; "
        "__attribute__((noinline)) void classify() { static Resolver r; if (!ready) { ADD_ALL(r) ready = true; } "
        "static tflite::MicroInterpreter i(M, r, arena, SIZE); if (uses++ == 2) { RUN(i) } }",
    ),
    "in a task": Form(
        "SWITCH_STACK(task_stack + sizeof(task_stack), task)",
        "alignas(16) static uint8_t arena[ARENA]; alignas(16) static uint8_t task_stack[8192]; "
        'extern "C" __attribute__((noinline, used)) void task() { static Resolver r; ADD_ALL(r) '
        "tflite::MicroInterpreter i(M, r, arena, SIZE); RUN(i) }",
    ),
    "in a task whose stack is small": Form(
        "SWITCH_STACK(small_stack + sizeof(small_stack), task)",
        "alignas(16) static uint8_t arena[ARENA]; static uint8_t small_stack[256]; "
        'extern "C" __attribute__((noinline, used)) void task() { static Resolver r; ADD_ALL(r) '
        "static tflite::MicroInterpreter i(M, r, arena, SIZE); RUN(i) }",
        has_own_size=True,
        fails=True,
        is_of_program=True,
    ),
    "own allocator": Form(f"{_ALLOCATOR}static tflite::MicroInterpreter i(M, r, a); RUN(i)"),
    "takes memory": Form(
        f"{_ALLOCATOR}a->AllocatePersistentBuffer(1000); static tflite::MicroInterpreter i(M, r, a); RUN(i)"
    ),
    "recording allocator": Form(
        f"{_ARENA}auto *a = tflite::RecordingMicroAllocator::Create(arena, SIZE); "
        "static tflite::MicroInterpreter i(M, r, a); RUN(i)"
    ),
    "two arenas": Form(
        f"{_ARENA}alignas(16) static uint8_t stays[24000]; "
        "auto *a = tflite::MicroAllocator::Create(stays, sizeof(stays), arena, SIZE); "
        "static tflite::MicroInterpreter i(M, r, a); RUN(i)",
        has_own_size=True,
        is_of_program=True,
    ),
    "twice": Form(f"{_ARENA}{_ON_ARENA}{_CHECKED}RUN(i)"),
    "three times": Form(f"{_ARENA}{_ON_ARENA}for (int n = 0; n < 2; n++) {_CHECKED}RUN(i)"),
    "made again": Form(
        f"{_ALLOCATOR}{{ tflite::MicroInterpreter i(M, r, a); {_CHECKED}}} tflite::MicroInterpreter i(M, r, a); RUN(i)"
    ),
    "two after each other in one arena": Form(
        f"{_ARENA}{{ tflite::MicroInterpreter i(M, r, arena, SIZE); {_CHECKED}}} "
        "tflite::MicroInterpreter i(M, r, arena, SIZE); RUN(i)"
    ),
    "two on one": Form(
        f"{_ALLOCATOR}static tflite::MicroInterpreter one(M, r, a); if (one.AllocateTensors() != kTfLiteOk) end(1); "
        "static tflite::MicroInterpreter i(M, r, a); RUN(i)"
    ),
    "variables": Form(
        f"{_ALLOCATOR}auto *v = tflite::MicroResourceVariables::Create(a, 7); "
        "static tflite::MicroInterpreter i(M, r, a, v); RUN(i)"
    ),
    "variables counted": Form(
        f"{_ALLOCATOR}volatile int seven = 7; auto *v = tflite::MicroResourceVariables::Create(a, seven); "
        "static tflite::MicroInterpreter i(M, r, a, v); RUN(i)"
    ),
    "variables elsewhere": Form(
        f"{_ARENA}alignas(16) static uint8_t other[1024]; auto *a = tflite::MicroAllocator::Create(other, "
        "sizeof(other)); "
        "auto *v = tflite::MicroResourceVariables::Create(a, 7); "
        "static tflite::MicroInterpreter i(M, r, arena, SIZE, v); RUN(i)"
    ),
    "linear planner": Form(
        f"{_ARENA}static tflite::LinearMemoryPlanner p; auto *a = tflite::MicroAllocator::Create(arena, SIZE, &p); "
        "static tflite::MicroInterpreter i(M, r, a); RUN(i)"
    ),
    "preserves tensors": Form(
        f"{_ARENA}static tflite::MicroInterpreter i(M, r, arena, SIZE, nullptr, nullptr, true); RUN(i)"
    ),
    "recording": Form(f"{_ARENA}static tflite::RecordingMicroInterpreter i(M, r, arena, SIZE); RUN(i)"),
    "a profiler": Form(
        f"{_ARENA}static tflite::MicroProfiler p; "
        "static tflite::MicroInterpreter i(M, r, arena, SIZE, nullptr, &p); RUN(i)"
    ),
    "an external context": Form(
        f"{_ARENA}static int mine; {_ON_ARENA}if (i.SetMicroExternalContext(&mine) != kTfLiteOk) end(1); RUN(i)"
    ),
    "invoked often": Form(
        f"{_ARENA}{_ON_ARENA}{_CHECKED}if (TRUTH_NOW) end(0); for (int n = 0; n < 3; n++) {{ "
        "memset(i.input(0)->data.raw, n, i.input(0)->bytes); "
        "if (i.Invoke() != kTfLiteOk) end(1); } i.Reset(); end(0);"
    ),
    "filled before": Form(f"{_ARENA}memset(arena, 0xa5, ARENA); {_ON_ARENA}RUN(i)"),
    "a table": Form(
        f"{_ARENA}static const struct {{ const void *model; uint8_t *arena; }} rows[] = {{{{g_model, arena}}}}; "
        "for (auto &row : rows) { tflite::MicroInterpreter i(tflite::GetModel(row.model), r, row.arena, SIZE); RUN(i) }"
    ),
    "a virtual getter": Form(
        "struct Base { virtual uint8_t *arena() = 0; }; "
        "struct Own : Base { uint8_t *arena() override { alignas(16) static uint8_t a[ARENA]; return a; } }; "
        "static Own own; Base *volatile base = &own; static tflite::MicroInterpreter i(M, r, base->arena(), SIZE); "
        "RUN(i)"
    ),
    "grows until it fits": Form(
        f"{_ARENA}for (size_t size = 4096; size <= SIZE; size += 1024) {{ tflite::MicroInterpreter i(M, r, arena, "
        f"size); "
        "if (i.AllocateTensors() == kTfLiteOk) { RUN(i) } } end(1);",
        is_of_program=True,
        has_own_size=True,
    ),
    "the model in RAM": Form(
        f"alignas(16) static unsigned char copy[MODEL_BYTES]; memcpy(copy, g_model, MODEL_BYTES); {_ARENA}"
        "static tflite::MicroInterpreter i(tflite::GetModel(copy), r, arena, SIZE); RUN(i)"
    ),
    "the model at an odd address": Form(
        "static unsigned char copy[MODEL_BYTES + 4]; memcpy(copy + ODD, g_model, MODEL_BYTES); "
        f"{_ARENA}static tflite::MicroInterpreter i(tflite::GetModel(copy + ODD), r, arena, SIZE); RUN(i)",
        "static volatile int ODD = 1;",
    ),
    "patched softmax": Form(
        f"{_ARENA}{_ON_ARENA}RUN(i)",
        _OWN_SOFTMAX + "namespace tflite { REGISTRATION Register_SOFTMAX() { "
        "return micro::RegisterOp(own_init, own_prepare, own_invoke); } }",
    ),
    "softmax patched in TFLM's namespace": Form(
        f"{_ARENA}{_ON_ARENA}RUN(i)",
        "namespace tflite {" + _OWN_SOFTMAX + "REGISTRATION Register_SOFTMAX() { "
        "return micro::RegisterOp(own_init, own_prepare, own_invoke); } }",
    ),
    "own softmax": Form(
        "static Resolver r; ADD_OTHERS(r) "
        f"r.AddSoftmax(tflite::micro::RegisterOp(own_init, own_prepare, own_invoke)); {_ARENA}{_ON_ARENA}RUN(i)",
        _OWN_SOFTMAX,
    ),
    "own softmax that keeps to its scratch": Form(
        "static Resolver r; ADD_OTHERS(r) "
        f"r.AddSoftmax(tflite::micro::RegisterOp(nullptr, own_prepare, own_invoke)); {_ARENA}{_ON_ARENA}RUN(i)",
        _OVER_OWN_SCRATCH.replace("BYTES", "100"),
    ),
    "own softmax behind its scratch": Form(
        "static Resolver r; ADD_OTHERS(r) "
        f"r.AddSoftmax(tflite::micro::RegisterOp(nullptr, own_prepare, own_invoke)); {_ARENA}{_ON_ARENA}RUN(i)",
        _OVER_OWN_SCRATCH.replace("BYTES", "120"),
        fails=True,
        is_of_program=True,
    ),
    "a custom operator besides": Form(
        "static Custom r; ADD_ALL(r) static auto own = tflite::micro::RegisterOp(nullptr, nullptr, nullptr); "
        f'r.AddCustom("OWN", &own); {_ARENA}{_ON_ARENA}RUN(i)',
        "using Custom = tflite::MicroMutableOpResolver<OPERATORS + 1>;",
    ),
    "own resolver": Form(
        f"static Own r; ADD_ALL(r) {_ARENA}{_ON_ARENA}RUN(i)",
        "struct Own : tflite::MicroMutableOpResolver<OPERATORS> { "
        "const REGISTRATION *FindOp(tflite::BuiltinOperator op) const override { "
        "return tflite::MicroMutableOpResolver<OPERATORS>::FindOp(op); } };",
    ),
    "softmax is missing": Form(f"static Resolver r; ADD_OTHERS(r) {_ARENA}{_ON_ARENA}RUN(i)"),
    "spoils its arena": Form(
        f"{_ARENA}{_ON_ARENA}{_CHECKED}if (TRUTH_NOW) end(0); memset(arena + SIZE - 4000, 0xff, 4000); end(i.Invoke() "
        f"!= kTfLiteOk);",
        is_of_program=True,
    ),
    "an inline variable": Form(
        "static tflite::MicroInterpreter i(M, r, arena, SIZE); RUN(i)", "alignas(16) inline uint8_t arena[ARENA];"
    ),
    "in namespaces": Form(
        "static tflite::MicroInterpreter i(M, r, app::ml::arena, SIZED(app::ml::bytes)); RUN(i)",
        "namespace app::ml { namespace { constexpr size_t bytes = ARENA; alignas(16) uint8_t arena[bytes]; } }",
    ),
    "a template's constant": Form(
        "static tflite::MicroInterpreter i(M, r, Sized<ARENA>::arena, SIZED(Sized<ARENA>::bytes)); RUN(i)",
        "template <size_t N> struct Sized { static constexpr size_t bytes = N; "
        "alignas(16) static inline uint8_t arena[bytes]; };",
    ),
    "a span": Form(
        f"{_ARENA}infer(r, {{arena, SIZE}});",
        "struct Span { uint8_t *first; size_t count; uint8_t *data() const { return first; } "
        "size_t size() const { return count; } }; "
        "__attribute__((noinline)) void infer(const Resolver &r, Span bytes) { "
        "static tflite::MicroInterpreter i(M, r, bytes.data(), bytes.size()); RUN(i) }",
    ),
    "a singleton": Form(
        "RUN(Engine::instance().interpreter)",
        "class Engine { Engine() : interpreter(M, resolver, arena, SIZE) { ADD_ALL(resolver) } Resolver resolver; "
        "alignas(16) uint8_t arena[ARENA]; public: tflite::MicroInterpreter interpreter; "
        "static Engine &instance() { static Engine one; return one; } };",
    ),
    "two engines of one class": Form(
        f"{_ARENA}alignas(16) static uint8_t stays[24000]; static Fast one(r, stays, sizeof(stays)); "
        "static Slow two(r, arena, SIZE); Engine *volatile engines[] = {&one, &two}; "
        "for (auto *each : engines) if (!each->begin()) end(1); if (TRUTH_NOW) end(0); "
        "for (auto *each : engines) if (!each->step()) end(1); end(0);",
        "struct Engine { tflite::MicroInterpreter interpreter; Engine(const Resolver &r, uint8_t *at, size_t size) "
        ": interpreter(M, r, at, size) {} virtual bool begin() { return interpreter.AllocateTensors() == kTfLiteOk; } "
        "virtual bool step() = 0; }; struct Fast : Engine { using Engine::Engine; "
        "bool step() override { return interpreter.Invoke() == kTfLiteOk; } }; struct Slow : Engine { "
        "using Engine::Engine; bool step() override { memset(interpreter.input(0)->data.raw, 1, "
        "interpreter.input(0)->bytes); return interpreter.Invoke() == kTfLiteOk; } };",
    ),
    "in a task of a pool": Form(
        "auto *stack = take(8192); SWITCH_STACK(stack + 8192, task)",
        "alignas(16) static uint8_t arena[ARENA]; alignas(16) static uint8_t pool[12000]; static size_t taken; "
        "__attribute__((noinline)) uint8_t *take(size_t size) { auto *at = pool + taken; taken += (size + 15) & ~15u; "
        'return at; } extern "C" __attribute__((noinline, used)) void task() { static Resolver r; ADD_ALL(r) '
        "static tflite::MicroInterpreter i(M, r, arena, SIZE); RUN(i) }",
    ),
    "in a section that is kept": Form(
        "static tflite::MicroInterpreter i(M, r, arena, SIZE); RUN(i)",
        'alignas(16) static uint8_t frame[3000] __attribute__((section(".arena.kept"), used)); '
        'alignas(16) static uint8_t arena[ARENA] __attribute__((section(".arena.kept"), used));',
    ),
    "in a union": Form(
        "for (auto &each : shared.audio) each = 1; static tflite::MicroInterpreter i(M, r, shared.arena, SIZE); RUN(i)",
        "static union { alignas(16) uint8_t arena[ARENA]; int16_t audio[500]; } shared;",
    ),
    "words": Form(
        "alignas(16) static uint32_t arena[(ARENA + 3) / 4]; "
        "static tflite::MicroInterpreter i(M, r, reinterpret_cast<uint8_t *>(arena), SIZE); RUN(i)"
    ),
    "reset and allocated again": Form(f"{_ARENA}{_ON_ARENA}{_CHECKED}i.Reset(); RUN(i)"),
    "one of two models": Form(
        f"{_ARENA}volatile bool is_other = false; static tflite::MicroInterpreter i("
        "tflite::GetModel(is_other ? other_model : g_model), r, arena, SIZE); RUN(i)",
        r'extern "C" const unsigned char other_model[]; __asm(".section .rodata.other_model,\"a\"\n.balign 16\n'
        r'.global other_model\nother_model:\n.incbin \"" MODEL_FILE "\"\n.text");',
    ),
    "two frames": Form(
        f"{_ARENA}{_ON_ARENA}{_CHECKED}if (TRUTH_NOW) end(0); for (int n = 0; n < 4; n++) {{ "
        "memset(frames[n & 1], n, sizeof(frames[0])); memcpy(i.input(0)->data.raw, frames[n & 1], sizeof(frames[0])); "
        "if (i.Invoke() != kTfLiteOk) end(1); memcpy(results[n & 1], i.output(0)->data.raw, 4); } end(0);",
        "static uint8_t frames[2][400]; static uint8_t results[2][4];",
    ),
    "a static in a lambda": Form(
        "auto make = [&](size_t size) -> tflite::MicroInterpreter & { alignas(16) static uint8_t arena[ARENA]; "
        "static tflite::MicroInterpreter i(M, r, arena, size); return i; }; auto &i = make(SIZE); RUN(i)"
    ),
    "operators registered by a function": Form(
        f"static Resolver r; if (add_operators(r) != kTfLiteOk) end(1); {_ARENA}{_ON_ARENA}RUN(i)",
        "__attribute__((noinline)) TfLiteStatus add_operators(Resolver &to) { ADD_ALL(to) return kTfLiteOk; }",
    ),
    "a resolver with room": Form(f"static tflite::MicroMutableOpResolver<128> r; ADD_ALL(r) {_ARENA}{_ON_ARENA}RUN(i)"),
    "all operators": Form(
        f"static AllOps r; {_ARENA}{_ON_ARENA}RUN(i)",
        "struct AllOps : tflite::MicroMutableOpResolver<OPERATORS> { AllOps() { ADD_ALL((*this)) } };",
    ),
    "waits for a port": Form(
        f"{_ARENA}volatile bool port = false; while (!port) {{}} {_ON_ARENA}RUN(i)", is_of_program=True
    ),
    "never invokes": Form(
        f"{_ARENA}{_ON_ARENA}{_CHECKED}if (TRUTH_NOW) end(0); volatile bool go = false; while (!go) {{}} "
        "end(i.Invoke() != kTfLiteOk);",
        invokes=False,
    ),
}
"""Each form by its name."""
HEADERS = r"""
#ifdef tflite
#undef tflite
#include "tensorflow/lite/schema/schema_generated.h"
namespace tflite::micro { using namespace ::tflite; }
#define tflite tflite::micro
#endif
#include <array>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <malloc.h>
#include <memory>
#include <new>
#include <optional>
#include <vector>
#include "tensorflow/lite/micro/kernels/kernel_util.h"
#include "tensorflow/lite/micro/kernels/softmax.h"
#include "tensorflow/lite/micro/memory_planner/linear_memory_planner.h"
#include "tensorflow/lite/micro/micro_allocator.h"
#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/micro/micro_profiler.h"
#include "tensorflow/lite/micro/micro_resource_variable.h"
#include "tensorflow/lite/micro/recording_micro_allocator.h"
#include "tensorflow/lite/micro/recording_micro_interpreter.h"
#include "tensorflow/lite/schema/schema_generated.h"
"""
"""What a program includes."""
SOURCE = r"""
HEADERS
extern "C" {
extern const unsigned char g_model[];
extern uint32_t _sidata, _sdata, _edata, _sbss, _ebss, _estack;
extern char end_of_data[];
int main();
void __libc_init_array();
void _init() {}
void _fini() {}
void *__dso_handle;
#ifdef __riscv
static int debugger(int what, const void *with) {
  register int a0 __asm("a0") = what;
  register const void *a1 __asm("a1") = with;
  __asm volatile(".balign 16\n.option push\n.option norvc\nslli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n.option pop"
                 : "+r"(a0) : "r"(a1) : "memory");
  return a0;
}
#define SWITCH_STACK(top, function) \
  { void *to = top; __asm volatile("mv sp, %0\n call " #function : : "r"(to) : "memory"); }
#else
static int debugger(int what, const void *with) {
  register int r0 __asm("r0") = what;
  register const void *r1 __asm("r1") = with;
  __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}
#define SWITCH_STACK(top, function) \
  { void *to = top; void (*run)() = function; __asm volatile("mov sp, %0\n blx %1" : : "r"(to), "r"(run) : "memory"); }
#endif
[[noreturn]] void end(int status) { for (;;) debugger(0x18, (void *)(status ? 0x20023 : 0x20026)); }
__attribute__((aligned(4), used)) void Fault() { end(1); }
__attribute__((used)) void Start() {
#ifdef __ARM_FP
  *(volatile uint32_t *)0xE000ED88 |= 0xF << 20;
#endif
  for (uint32_t *from = &_sidata, *to = &_sdata; to < &_edata;) *to++ = *from++;
  for (uint32_t *to = &_sbss; to < &_ebss;) *to++ = 0;
  __libc_init_array();
  main();
  end(0);
}
#ifdef __riscv
__attribute__((naked, section(".vectors"), used)) void Reset() {
  __asm volatile(".option push\n.option norelax\nla gp, __global_pointer$\n.option pop\n"
                 "la sp, _estack\nla t0, Fault\ncsrw mtvec, t0\nj Start");
}
void *sbrk(ptrdiff_t size) { static char *at = end_of_data; char *was = at; at += size; return was; }
void __cxa_pure_virtual() { end(1); }
void abort() { end(1); }
void __assert_func(const char *, int, const char *, const char *) { end(1); }
int __cxa_atexit(void (*)(void *), void *, void *) { return 0; }
#else
void Reset() { Start(); }
__attribute__((section(".vectors"), used)) void *const vectors[] = {
    &_estack, (void *)Reset, (void *)Fault, (void *)Fault, (void *)Fault, (void *)Fault, (void *)Fault};
#endif
void *_sbrk(int size) { static char *at = end_of_data; char *was = at; at += size; return was; }
void _exit(int status) { end(status); }
int _write(int, const char *, int size) { return size; }
int _read(int, char *, int) { return 0; }
int _close(int) { return -1; }
int _lseek(int, int, int) { return 0; }
int _fstat(int, void *) { return 0; }
int _isatty(int) { return 1; }
int _kill(int, int) { return -1; }
int _getpid() { return 1; }
#ifdef LOGS_WORDS
void DebugLog(const char *words) { debugger(4, words); }
#else
void DebugLog(const char *format, va_list values) {
  char text[200];
  vsnprintf(text, sizeof text, format, values);
  debugger(4, text);
}
#endif
int DebugVsnprintf(char *to, size_t size, const char *format, va_list values) {
  return vsnprintf(to, size, format, values);
}
}
void *operator new(size_t size) { return malloc(size); }
void *operator new[](size_t size) { return malloc(size); }
void operator delete(void *at) noexcept { free(at); }
void operator delete(void *at, size_t) noexcept { free(at); }
void operator delete[](void *at) noexcept { free(at); }
#ifdef __riscv
namespace std {
void __throw_bad_function_call() { ::end(1); }
void __throw_length_error(const char *) { ::end(1); }
void __throw_bad_alloc() { ::end(1); }
void __throw_bad_array_new_length() { ::end(1); }
}
#endif
namespace tflite {
void InitializeTarget() {}
uint32_t ticks_per_second() { return 0; }
uint32_t GetCurrentTimeTicks() { return 0; }
}
#ifdef TRUTH
static size_t asked() {
  static char line[80];
  struct { char *at; int size; } room = {line, 79};
  debugger(0x15, &room);
  char *last = strrchr(line, ' ');
  return atoi(last ? last + 1 : line);
}
#define SIZE asked()
#define SIZED(size) asked()
#define TRUTH_NOW true
#define END(i) if ((i).AllocateTensors() != kTfLiteOk) end(1); else end(0);
#define RUN(i) END(i)
#else
#define SIZE ARENA
#define SIZED(size) (size)
#define TRUTH_NOW false
#define END(i) if ((i).AllocateTensors() != kTfLiteOk || (i).Invoke() != kTfLiteOk) end(1);
#define RUN(i) END(i) end(0);
#endif
#define M tflite::GetModel(g_model)
using Resolver = tflite::MicroMutableOpResolver<OPERATORS>;
#define ADD_OTHERS(r) ADDS
#define ADD_ALL(r) ADD_OTHERS(r) r.AddSoftmax();
BEFORE
int main() {
  FORM
  for (;;) {}
}
"""


def source_of(form: Form) -> str:
    """Return the text of a program of a form."""
    adds = " ".join(f"r.{add}();" for add in RESOLVER if add != "AddSoftmax")
    does = form.does if " r;" in form.does else f"static Resolver r; ADD_ALL(r) {form.does}"
    text = (
        SOURCE.replace("\nHEADERS\n", HEADERS)
        .replace("\nBEFORE\n", f"\n{form.before}\n")
        .replace(" ADDS\n", f" {adds}\n")
    )
    return text.replace("  FORM\n", f"  {does}\n").replace("OPERATORS", str(len(RESOLVER)))
