/* SPDX-License-Identifier: Apache-2.0 */
#ifndef METAROCE_PMD_INTERNAL_H
#define METAROCE_PMD_INTERNAL_H

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <stdint.h>

#include "../pmd_shim.h"

/* Writes "what: reason" and, where DPDK logged errors since mrpmd_log_mark, those lines. Returns -code. */
int mrpmd_fail(char *error, uint32_t error_size, int code, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Log lines from here on belong to the next mrpmd_fail. */
void mrpmd_log_mark(void);
int mrpmd_log_open(int32_t fd, uint32_t level);
/* Between these two, C's stderr goes to the log and stdout nowhere: DPDK answers a bad option with pages of usage there. */
void mrpmd_streams_take(void);
void mrpmd_streams_give_back(void);

/*
 * Of a queue. Where its owner is, for the guard: odd while inside a burst. Written by the owner with plain stores; read by the guard
 * after a membarrier, so that the owner pays for two stores and no fence.
 */
struct mrpmd_lane {
  volatile uint32_t rx;
  volatile uint32_t tx;
  /* Frames come from a device: the processor has not seen them yet. */
  uint32_t prefetch;
} __attribute__((aligned(64)));

extern struct mrpmd_lane mrpmd_lanes[RTE_MAX_ETHPORTS][MRPMD_MAX_QUEUES];
/* Pool for payload by reference of each port, or NULL. */
extern struct rte_mempool *mrpmd_gather_pools[RTE_MAX_ETHPORTS];
/* Frames of each port that its driver refused for what they were. */
extern uint64_t mrpmd_refused[RTE_MAX_ETHPORTS];

#define MRPMD_ENTER(lane) do { (lane)++; __asm__ __volatile__("" ::: "memory"); } while (0)
#define MRPMD_LEAVE(lane) do { __asm__ __volatile__("" ::: "memory"); (lane)++; } while (0)

/* Sets a port's MTU, but leaves a kernel's interface (0: none) that takes as much as it is; restores it when the port is closed. */
int mrpmd_kernel_mtu_set(uint16_t port, unsigned interface, uint32_t mtu);
void mrpmd_kernel_mtu_restore(uint16_t port);

/* Installs the guard for the memif driver if it is loaded; returns 1 if the guard is in place. */
int mrpmd_guard_install(void);

/* A set-up call, to be run here or on the interrupt thread. */
struct mrpmd_call {
  int (*work)(struct mrpmd_call *);
  uint16_t port;
  const char *arguments;
  struct mrpmd_setup *setup;
  char *error;
  uint32_t error_size;
  int result;
  int done;
};

/* Runs the call where no interrupt of a driver is handled meanwhile, and returns its result. Not from an interrupt's handler. */
int mrpmd_call_beside_interrupts(struct mrpmd_call *call);

#endif
