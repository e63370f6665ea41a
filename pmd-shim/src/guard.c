/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds back the memif driver's munmap until no burst uses the memory.
 *
 * When a memif peer leaves, the driver's interrupt thread marks the device disconnected and unmaps the shared rings at once,
 * while another thread may be copying in a burst: that thread then dies of SIGSEGV (DPDK 22.11 and 24.11 alike). A burst that
 * starts after the mark returns without touching the rings, so it is enough to wait, between mark and unmapping, for bursts
 * that are under way. The driver offers no place to wait, so its import of munmap is pointed at the function below: a change
 * of one entry in the driver library's relocation table, nothing else in the process is touched.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#define DRIVER "librte_net_memif"
/* A burst ends within microseconds, or a scheduling turn later where its thread lost the core; past this the thread is gone. */
#define LONGEST_WAIT_NS 2000000000LL

static int installed;
static int barrier = MEMBARRIER_CMD_GLOBAL;

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void wait_out(const volatile uint32_t *lane, int64_t deadline_ns) {
  uint32_t seen = *lane;
  while ((seen & 1) != 0 && *lane == seen && now_ns() < deadline_ns) sched_yield();
}

static int munmap_after_bursts(void *address, size_t size) {
  /* Orders the driver's mark before our reads of the lanes, and each owner's step into its lane before its read of the mark. */
  syscall(SYS_membarrier, barrier, 0, 0);
  int64_t deadline_ns = now_ns() + LONGEST_WAIT_NS;
  for (int port = 0; port < RTE_MAX_ETHPORTS; port++) {
    for (int queue = 0; queue < MRPMD_MAX_QUEUES; queue++) {
      wait_out(&mrpmd_lanes[port][queue].rx, deadline_ns);
      wait_out(&mrpmd_lanes[port][queue].tx, deadline_ns);
    }
  }
  return munmap(address, size);
}

/* Points the entries of one relocation table that import munmap at the function above. */
static int redirect(uintptr_t base, const ElfW(Rela) *table, size_t bytes, const ElfW(Sym) *symbols, const char *names) {
  int found = 0;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  for (size_t i = 0; i < bytes / sizeof(*table); i++) {
#if __SIZEOF_POINTER__ == 8
    size_t symbol = ELF64_R_SYM(table[i].r_info);
#else
    size_t symbol = ELF32_R_SYM(table[i].r_info);
#endif
    if (symbol == 0 || strcmp(names + symbols[symbol].st_name, "munmap") != 0) continue;
    void **slot = (void **)(base + table[i].r_offset);
    void *start = (void *)((uintptr_t)slot & ~(page - 1));
    /* The table is read-only after linking. It stays writable: its page may have been writable before. */
    if (mprotect(start, page, PROT_READ | PROT_WRITE) != 0) continue;
    __atomic_store_n(slot, (void *)munmap_after_bursts, __ATOMIC_RELEASE);
    found = 1;
  }
  return found;
}

static int visit(struct dl_phdr_info *info, size_t size, void *result) {
  (void)size;
  if (info->dlpi_name == NULL || strstr(info->dlpi_name, DRIVER) == NULL) return 0;
  const ElfW(Dyn) *dynamic = NULL;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC) dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
  }
  const ElfW(Sym) *symbols = NULL;
  const char *names = NULL;
  const ElfW(Rela) *plt = NULL, *rest = NULL;
  size_t plt_bytes = 0, rest_bytes = 0;
  /* glibc has relocated these addresses. */
  for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++) {
    switch (dynamic->d_tag) {
      case DT_SYMTAB: symbols = (const ElfW(Sym) *)dynamic->d_un.d_ptr; break;
      case DT_STRTAB: names = (const char *)dynamic->d_un.d_ptr; break;
      case DT_JMPREL: plt = (const ElfW(Rela) *)dynamic->d_un.d_ptr; break;
      case DT_PLTRELSZ: plt_bytes = dynamic->d_un.d_val; break;
      case DT_RELA: rest = (const ElfW(Rela) *)dynamic->d_un.d_ptr; break;
      case DT_RELASZ: rest_bytes = dynamic->d_un.d_val; break;
      default: break;
    }
  }
  if (symbols == NULL || names == NULL) return 0;
  if (plt != NULL && redirect(info->dlpi_addr, plt, plt_bytes, symbols, names)) *(int *)result = 1;
  if (rest != NULL && redirect(info->dlpi_addr, rest, rest_bytes, symbols, names)) *(int *)result = 1;
  return 0;
}

int mrpmd_guard_install(void) {
  if (installed) return 1;
  if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0) barrier = MEMBARRIER_CMD_PRIVATE_EXPEDITED;
  int found = 0;
  dl_iterate_phdr(visit, &found);
  installed = found;
  return installed;
}
