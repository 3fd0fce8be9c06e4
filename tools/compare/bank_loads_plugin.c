// A plugin of QEMU that counts the bytes loaded and stored by address of an arena: for bank_loads.py.
//
// Its arguments are out=, arena=, bytes= and mark=, in this order. Between two stores to MARK it counts; then it writes
// two arrays of 32 bits to the file: what was loaded at each address, and what was stored. QEMU's header is not needed:
// these are its functions.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
extern void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t, void (*)(uint64_t, struct qemu_plugin_tb *));
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
extern struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
extern void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, void (*)(unsigned, uint32_t, uint64_t, void *),
                                             int, int, void *);
extern unsigned qemu_plugin_mem_size_shift(uint32_t);
extern bool qemu_plugin_mem_is_store(uint32_t);

int qemu_plugin_version = 1;
static uint32_t *moved[2];
static char file_name[512];
static unsigned long long arena, bytes, mark;
static bool is_on;

static void write_counts(void) {
  FILE *file = fopen(file_name, "wb");
  if (file == NULL) return;
  for (int kind = 0; kind < 2; ++kind) fwrite(moved[kind], sizeof(uint32_t), bytes, file);
  fclose(file);
}

static void accessed(unsigned cpu, uint32_t info, uint64_t address, void *data) {
  (void)cpu, (void)data;
  bool is_store = qemu_plugin_mem_is_store(info);
  if (is_store && address == mark) {
    is_on = !is_on;
    if (!is_on) write_counts();
  } else if (is_on && address >= arena && address - arena < bytes) {
    moved[is_store][address - arena] += 1u << qemu_plugin_mem_size_shift(info);
  }
}

static void translated(uint64_t id, struct qemu_plugin_tb *block) {
  (void)id;
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i)
    qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), accessed, 0, 3, NULL);
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv) {
  (void)info;
  if (argc != 4 || snprintf(file_name, sizeof file_name, "%s", argv[0] + 4) < 0) return 1;
  arena = strtoull(argv[1] + 6, NULL, 0), bytes = strtoull(argv[2] + 6, NULL, 0), mark = strtoull(argv[3] + 5, NULL, 0);
  for (int kind = 0; kind < 2; ++kind)
    if ((moved[kind] = calloc(bytes, sizeof(uint32_t))) == NULL) return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  return 0;
}
