/* A plugin for QEMU: notes stores for gdb_machine.py, also those of vectors of MVE, whatever they write.
 *
 *     qemu-system-arm ... -plugin file=_qemu_stores.abi3.so,noted=NUMBER
 *
 * NUMBER is that of an open file that holds a tflm_noted_t, and that QEMU inherits.
 *
 * Only what is needed of the interface is declared here, the same from its version 1 to 6. QEMU with version 2 or newer
 * loads no plugin that says 1, and with 1 none that says 2. Source: include/qemu/qemu-plugin.h @ 7.2.0 and 0079bbd8.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "noted_stores.h"

#define EXPORTED __attribute__((visibility("default")))
#define NO_REGISTERS 0
#define STORES 2
#define NEWEST 6

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*on_block_t)(uint64_t id, struct qemu_plugin_tb *block);
typedef void (*on_access_t)(unsigned processor, uint32_t access, uint64_t address, void *data);

extern void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, on_block_t on_block);
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
extern uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *instruction, on_access_t on_access, int registers,
                                             int accesses, void *data);
extern unsigned qemu_plugin_mem_size_shift(uint32_t access);
extern _Bool qemu_plugin_mem_is_store(uint32_t access);

extern void *qemu_plugin_scoreboard_new(size_t size) __attribute__((weak)); /* There from version 2 on. */

typedef struct {
  const char *processor;
  int oldest, version;
} tflm_about_t;

EXPORTED int qemu_plugin_version = 1;

static tflm_noted_t *shared;

/* Runs before QEMU looks at the version. */
__attribute__((constructor)) static void say_version(void) {
  if (qemu_plugin_scoreboard_new != NULL) qemu_plugin_version = 2;
}

static uint64_t itself(const tflm_noted_t *noted, void *code_address) {
  (void)noted;
  return (uint64_t)(uintptr_t)code_address;
}

static void on_store(unsigned processor, uint32_t access, uint64_t address, void *code_address) {
  (void)processor;
  if (!shared->is_watching || !qemu_plugin_mem_is_store(access)) return;
  tflm_note(shared, address, 1ull << qemu_plugin_mem_size_shift(access), itself, code_address);
}

static void on_block(uint64_t id, struct qemu_plugin_tb *block) {
  (void)id;
  for (size_t index = 0, count = qemu_plugin_tb_n_insns(block); index < count; ++index) {
    struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, index);
    void *code_address = (void *)(uintptr_t)qemu_plugin_insn_vaddr(instruction);
    qemu_plugin_register_vcpu_mem_cb(instruction, on_store, NO_REGISTERS, STORES, code_address);
  }
}

EXPORTED int qemu_plugin_install(uint64_t id, const tflm_about_t *about, int count, char **arguments) {
  if (about->version > NEWEST || count != 1 || strncmp(arguments[0], "noted=", 6) != 0) return 1;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(arguments[0] + 6), 0);
  if (shared == MAP_FAILED) return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
  return 0;
}
