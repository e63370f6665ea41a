/* SPDX-License-Identifier: Apache-2.0 */
/* DPDK's environment, threads and pools. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_mempool.h>
#include <rte_version.h>
#include <sched.h>

#include "internal.h"

uint32_t mrpmd_abi_version(void) { return MRPMD_ABI_VERSION; }

const char *mrpmd_dpdk_version(void) { return rte_version(); }

int mrpmd_eal_init(int32_t argc, char **argv, int32_t fd, uint32_t level, char *error, uint32_t error_size) {
  mrpmd_log_mark();
  int rc = mrpmd_log_open(fd, level);
  if (rc < 0) return mrpmd_fail(error, error_size, rc, "opening the log");
  /* rte_eal_init pins the calling thread to its main lcore; threads that the caller makes later would inherit that. */
  cpu_set_t affinity;
  int saved = pthread_getaffinity_np(pthread_self(), sizeof(affinity), &affinity);
  mrpmd_streams_take();
  rc = rte_eal_init(argc, argv);
  int code = rte_errno;
  mrpmd_streams_give_back();
  if (saved == 0) pthread_setaffinity_np(pthread_self(), sizeof(affinity), &affinity);
  if (rc < 0) return mrpmd_fail(error, error_size, code != 0 ? code : EINVAL, "starting DPDK's environment");
  mrpmd_guard_install();
  return 0;
}

int mrpmd_thread_attach(void) {
  if (rte_lcore_id() != LCORE_ID_ANY) return 0;
  return rte_thread_register() < 0 ? -rte_errno : 1;
}

void mrpmd_thread_detach(void) { rte_thread_unregister(); }

uint64_t mrpmd_pool_create(const char *name, uint32_t count, uint32_t data_room, uint32_t cache, int32_t socket, char *error,
                           uint32_t error_size) {
  if (data_room > UINT16_MAX - RTE_PKTMBUF_HEADROOM) {
    mrpmd_fail(error, error_size, EINVAL, "a data room of %u bytes is too large", data_room);
    return 0;
  }
  mrpmd_log_mark();
  uint16_t room = data_room == 0 ? 0 : (uint16_t)(data_room + RTE_PKTMBUF_HEADROOM);
  struct rte_mempool *pool = rte_pktmbuf_pool_create(name, count, cache, 0, room, socket);
  if (pool == NULL) {
    mrpmd_fail(error, error_size, rte_errno, "making pool %s of %u buffers with %u bytes each", name, count, data_room);
  }
  return (uint64_t)(uintptr_t)pool;
}

uint32_t mrpmd_pool_free(uint64_t address) {
  struct rte_mempool *pool = (struct rte_mempool *)(uintptr_t)address;
  uint32_t missing = rte_mempool_in_use_count(pool);
  if (missing == 0) rte_mempool_free(pool);
  return missing;
}

uint32_t mrpmd_pool_available(uint64_t address) {
  return rte_mempool_avail_count((struct rte_mempool *)(uintptr_t)address);
}

uint64_t mrpmd_pool_bytes(uint32_t count, uint32_t data_room) {
  uint32_t element = (uint32_t)sizeof(struct rte_mbuf) + (data_room == 0 ? 0 : data_room + RTE_PKTMBUF_HEADROOM);
  struct rte_mempool_objsz sizes;
  rte_mempool_calc_obj_size(element, 0, &sizes);
  /* Objects do not cross pages where memory is in small pages. The ring of free objects takes 8 bytes each. */
  return (uint64_t)count * (sizes.total_size + 16) + (256u << 10);
}

uint32_t mrpmd_headroom(void) { return RTE_PKTMBUF_HEADROOM; }

uint32_t mrpmd_data_offset(void) { return (uint32_t)sizeof(struct rte_mbuf) + RTE_PKTMBUF_HEADROOM; }
