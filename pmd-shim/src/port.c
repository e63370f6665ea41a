/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: finding, describing, configuring, starting and stopping them. */
#define _GNU_SOURCE
#include <errno.h>
#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static int driver_is(const char *driver, const char *const *list) {
  for (; *list != NULL; list++) {
    if (strcmp(driver, *list) == 0) return 1;
  }
  return 0;
}

static const char *const BLOCKING[] = {"net_af_packet", "net_tap", "net_tun", "net_pcap", "net_af_xdp", "net_virtio_user", NULL};
static const char *const SOFT_MTU[] = {"net_memif", "net_ring", "net_null", "net_pcap", "net_af_packet", "net_af_xdp", NULL};

/* Arguments the device was made with, or "". */
static const char *arguments_of(const struct rte_eth_dev_info *info) {
  const struct rte_devargs *devargs = info->device != NULL ? rte_dev_devargs(info->device) : NULL;
  return devargs != NULL && devargs->args != NULL ? devargs->args : "";
}

static uint32_t traits_of(const struct rte_eth_dev_info *info) {
  const char *driver = info->driver_name != NULL ? info->driver_name : "";
  uint32_t traits = 0;
  if (driver_is(driver, BLOCKING)) traits |= MRPMD_TRAIT_BLOCKING;
  if (driver_is(driver, SOFT_MTU)) traits |= MRPMD_TRAIT_SOFT_MTU;
  if (strcmp(driver, "net_memif") == 0) {
    const char *arguments = arguments_of(info);
    traits |= MRPMD_TRAIT_UNMAPS;
    if (strstr(arguments, "zero-copy=yes") == NULL) traits |= MRPMD_TRAIT_COPIES;
    if (strstr(arguments, "role=client") != NULL || strstr(arguments, "role=slave") != NULL) traits |= MRPMD_TRAIT_RESTART;
    if (mrpmd_guard_install()) traits |= MRPMD_TRAIT_GUARDED;
  }
  return traits;
}

/* Without hardware: its bursts copy frames themselves, which so are in the caches. */
static int is_virtual(const struct rte_eth_dev_info *info) {
  return info->device == NULL || strcmp(rte_bus_name(rte_dev_bus(info->device)), "vdev") == 0;
}

static uint32_t offloads_of(uint64_t tx, uint64_t rx) {
  return (tx & RTE_ETH_TX_OFFLOAD_IPV4_CKSUM ? MRPMD_OFFLOAD_TX_IPV4 : 0) |
         (tx & RTE_ETH_TX_OFFLOAD_UDP_CKSUM ? MRPMD_OFFLOAD_TX_UDP : 0) |
         (tx & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE ? MRPMD_OFFLOAD_FAST_FREE : 0) |
         (tx & RTE_ETH_TX_OFFLOAD_MULTI_SEGS ? MRPMD_OFFLOAD_MULTI_SEGMENT : 0) |
         (rx & RTE_ETH_RX_OFFLOAD_IPV4_CKSUM ? MRPMD_OFFLOAD_RX_IPV4 : 0) |
         (rx & RTE_ETH_RX_OFFLOAD_UDP_CKSUM ? MRPMD_OFFLOAD_RX_UDP : 0);
}

/* As mrpmd_port_find, without a text. */
static int find(const char *name) {
  uint16_t port;
  char *end;
  unsigned long number = strtoul(name, &end, 10);
  if (end != name && *end == 0 && number < RTE_MAX_ETHPORTS) return rte_eth_dev_is_valid_port((uint16_t)number) ? (int)number : -ENODEV;
  return rte_eth_dev_get_port_by_name(name, &port) == 0 ? port : -ENODEV;
}

static int is_memif(uint16_t port) {
  struct rte_eth_dev_info info;
  return rte_eth_dev_info_get(port, &info) == 0 && info.driver_name != NULL && strcmp(info.driver_name, "net_memif") == 0;
}

/* Runs a call that changes a port, beside the driver's own work. */
static int change(struct mrpmd_call *call) { return is_memif(call->port) ? mrpmd_call_beside_interrupts(call) : call->work(call); }

static int add(struct mrpmd_call *call) {
  const char *arguments = call->arguments;
  mrpmd_log_mark();
  int rc = rte_dev_probe(arguments);
  if (rc < 0) return mrpmd_fail(call->error, call->error_size, rc, "adding device %s", arguments);
  char name[MRPMD_NAME_SIZE];
  snprintf(name, sizeof(name), "%.*s", (int)strcspn(arguments, ","), arguments);
  int port = find(name);
  return port < 0 ? mrpmd_fail(call->error, call->error_size, ENODEV, "device %s has no port", arguments) : port;
}

int mrpmd_device_add(const char *arguments, char *error, uint32_t error_size) {
  struct mrpmd_call call = {.work = add, .arguments = arguments, .error = error, .error_size = error_size};
  return strncmp(arguments, "net_memif", strlen("net_memif")) == 0 ? mrpmd_call_beside_interrupts(&call) : add(&call);
}

int mrpmd_port_find(const char *name, char *error, uint32_t error_size) {
  int port = find(name);
  /* A device that failed in mrpmd_eal_init did not fail that call: its log line says why. */
  return port < 0 ? mrpmd_fail(error, error_size, ENODEV, "finding device %s among %d", name, mrpmd_port_count()) : port;
}

int mrpmd_port_count(void) { return rte_eth_dev_count_avail(); }

int mrpmd_port_info(int32_t port, struct mrpmd_info *into) {
  struct rte_eth_dev_info info;
  struct rte_ether_addr mac;
  int rc = rte_eth_dev_info_get((uint16_t)port, &info);
  if (rc == 0) rc = rte_eth_macaddr_get((uint16_t)port, &mac);
  if (rc != 0) return rc;
  memset(into, 0, sizeof(*into));
  rte_eth_dev_get_name_by_port((uint16_t)port, into->device);
  snprintf(into->driver, sizeof(into->driver), "%s", info.driver_name);
  for (int i = 0; i < RTE_ETHER_ADDR_LEN; i++) into->mac = into->mac << 8 | mac.addr_bytes[i];
  into->offloads = offloads_of(info.tx_offload_capa, info.rx_offload_capa);
  into->traits = traits_of(&info);
  into->max_mtu = info.max_mtu;
  if (info.max_rx_pktlen != 0 && info.max_rx_pktlen < info.max_mtu) {
    into->max_mtu = info.max_rx_pktlen > RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN ? info.max_rx_pktlen - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN : 0;
  }
  into->max_rx_descriptors = info.rx_desc_lim.nb_max;
  into->max_tx_descriptors = info.tx_desc_lim.nb_max;
  into->max_queues = info.max_rx_queues < info.max_tx_queues ? info.max_rx_queues : info.max_tx_queues;
  into->socket = rte_eth_dev_socket_id((uint16_t)port);
  return 0;
}

/* Gives the port the MTU, or leaves it to the caller where the driver's limit is not the real one. */
static int apply_mtu(uint16_t port, uint32_t mtu, const struct rte_eth_dev_info *info, uint32_t traits) {
  int rc = mrpmd_kernel_mtu_set(port, traits & MRPMD_TRAIT_SOFT_MTU ? info->if_index : 0, mtu);
  return rc == 0 || traits & MRPMD_TRAIT_SOFT_MTU ? 0 : rc;
}

static int configure(struct mrpmd_call *call) {
  uint16_t port = call->port;
  struct mrpmd_setup *setup = call->setup;
  char *error = call->error;
  uint32_t error_size = call->error_size;
  struct rte_eth_dev_info info;
  mrpmd_log_mark();
  int rc = rte_eth_dev_info_get(port, &info);
  if (rc != 0) return mrpmd_fail(error, error_size, rc, "port %d", port);
  uint32_t traits = traits_of(&info);
  if (setup->queues == 0 || setup->queues > MRPMD_MAX_QUEUES) return mrpmd_fail(error, error_size, EINVAL, "%u queues", setup->queues);
  if (setup->mtu > UINT16_MAX) return mrpmd_fail(error, error_size, EINVAL, "MTU %u", setup->mtu);

  struct rte_eth_conf conf = {0};
  uint64_t tx = 0, rx = 0;
  if (setup->offloads & MRPMD_OFFLOAD_TX_IPV4) tx |= RTE_ETH_TX_OFFLOAD_IPV4_CKSUM;
  if (setup->offloads & MRPMD_OFFLOAD_TX_UDP) tx |= RTE_ETH_TX_OFFLOAD_UDP_CKSUM;
  if (setup->offloads & MRPMD_OFFLOAD_FAST_FREE && setup->gather_pool == 0) tx |= RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
  if (setup->gather_pool != 0) tx |= RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
  if (setup->offloads & MRPMD_OFFLOAD_RX_IPV4) rx |= RTE_ETH_RX_OFFLOAD_IPV4_CKSUM;
  if (setup->offloads & MRPMD_OFFLOAD_RX_UDP) rx |= RTE_ETH_RX_OFFLOAD_UDP_CKSUM;
  conf.txmode.offloads = tx & info.tx_offload_capa;
  conf.rxmode.offloads = rx & info.rx_offload_capa;
  /* The MTU proper is set below: here it must only pass the driver's check. */
  uint32_t limit = info.max_rx_pktlen > RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN ? info.max_rx_pktlen - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN : RTE_ETHER_MTU;
  if (info.max_mtu < limit) limit = info.max_mtu;
  conf.rxmode.mtu = setup->mtu <= limit ? setup->mtu : limit < RTE_ETHER_MTU ? limit : RTE_ETHER_MTU;
  if (setup->queues > 1) {
    conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    conf.rx_adv_conf.rss_conf.rss_hf = info.flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP);
    if (conf.rx_adv_conf.rss_conf.rss_hf == 0) conf.rxmode.mq_mode = RTE_ETH_MQ_RX_NONE;
  }
  rc = rte_eth_dev_configure(port, (uint16_t)setup->queues, (uint16_t)setup->queues, &conf);
  if (rc != 0) return mrpmd_fail(error, error_size, rc, "configuring port %d (%s) with %u queues", port, info.driver_name, setup->queues);
  rc = apply_mtu(port, setup->mtu, &info, traits);
  if (rc != 0) {
    return mrpmd_fail(error, error_size, rc, "MTU %u on port %d (%s), which takes %u at most", setup->mtu, port, info.driver_name, limit);
  }

  uint16_t rx_descriptors = (uint16_t)setup->rx_descriptors, tx_descriptors = (uint16_t)setup->tx_descriptors;
  rc = rte_eth_dev_adjust_nb_rx_tx_desc(port, &rx_descriptors, &tx_descriptors);
  if (rc != 0) return mrpmd_fail(error, error_size, rc, "descriptors of port %d", port);
  rc = rte_eth_dev_info_get(port, &info);
  if (rc != 0) return mrpmd_fail(error, error_size, rc, "port %d after configuration", port);
  struct rte_eth_txconf txconf = info.default_txconf;
  struct rte_eth_rxconf rxconf = info.default_rxconf;
  txconf.offloads = conf.txmode.offloads;
  rxconf.offloads = conf.rxmode.offloads;
  struct rte_mempool *pool = (struct rte_mempool *)(uintptr_t)setup->rx_pool;
  int socket = rte_eth_dev_socket_id(port);
  uint32_t hardware = !is_virtual(&info);
  for (uint16_t queue = 0; queue < setup->queues; queue++) {
    rc = rte_eth_rx_queue_setup(port, queue, rx_descriptors, (unsigned)socket, &rxconf, pool);
    if (rc == 0) rc = rte_eth_tx_queue_setup(port, queue, tx_descriptors, (unsigned)socket, &txconf);
    if (rc != 0) return mrpmd_fail(error, error_size, rc, "queue %d of port %d (%s)", queue, port, info.driver_name);
    mrpmd_lanes[port][queue].prefetch = hardware;
  }
  mrpmd_gather_pools[port] = traits & MRPMD_TRAIT_COPIES ? (struct rte_mempool *)(uintptr_t)setup->gather_pool : NULL;
  setup->rx_descriptors = rx_descriptors;
  setup->tx_descriptors = tx_descriptors;
  setup->offloads = offloads_of(conf.txmode.offloads, conf.rxmode.offloads);
  return 0;
}

int mrpmd_configure(int32_t port, struct mrpmd_setup *setup, char *error, uint32_t error_size) {
  struct mrpmd_call call = {.work = configure, .port = (uint16_t)port, .setup = setup, .error = error, .error_size = error_size};
  return change(&call);
}

static int start(struct mrpmd_call *call) {
  mrpmd_log_mark();
  int rc = rte_eth_dev_start(call->port);
  /* Some drivers answer -1: no errno. */
  if (rc != 0) return mrpmd_fail(call->error, call->error_size, rc == -1 ? ENOTCONN : rc, "starting port %d", call->port);
  /* Neighbour discovery and broadcasts need it; virtual devices deliver everything anyway. */
  rte_eth_allmulticast_enable(call->port);
  return 0;
}

int mrpmd_start(int32_t port, char *error, uint32_t error_size) {
  struct mrpmd_call call = {.work = start, .port = (uint16_t)port, .error = error, .error_size = error_size};
  return change(&call);
}

static int stop(struct mrpmd_call *call) { return rte_eth_dev_stop(call->port); }

int mrpmd_stop(int32_t port) {
  struct mrpmd_call call = {.work = stop, .port = (uint16_t)port};
  return change(&call);
}

/* Whether a port is on the device: some have several. */
static int has_port(const struct rte_device *device) {
  struct rte_eth_dev_info info;
  uint16_t port;
  RTE_ETH_FOREACH_DEV(port) {
    if (rte_eth_dev_info_get(port, &info) == 0 && info.device == device) return 1;
  }
  return 0;
}

static int close_port(struct mrpmd_call *call) {
  uint16_t port = call->port;
  struct rte_eth_dev_info info;
  int rc = rte_eth_dev_info_get(port, &info);
  if (rc != 0) return rc;
  rte_eth_dev_stop(port);
  mrpmd_gather_pools[port] = NULL;
  __atomic_store_n(&mrpmd_refused[port], 0, __ATOMIC_RELAXED);
  struct rte_device *device = (struct rte_device *)(uintptr_t)info.device;
  rc = rte_eth_dev_close(port);
  mrpmd_kernel_mtu_restore(port);
  /* Until it is removed from its bus a device's name stays taken, and it cannot be added again. */
  return device == NULL || has_port(device) ? rc : rte_dev_remove(device);
}

int mrpmd_close(int32_t port) {
  struct mrpmd_call call = {.work = close_port, .port = (uint16_t)port};
  return change(&call);
}

int mrpmd_link_up(int32_t port) {
  struct rte_eth_link link;
  memset(&link, 0, sizeof(link));
  return rte_eth_link_get_nowait((uint16_t)port, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

int mrpmd_port_stats(int32_t port, struct mrpmd_stats *into) {
  struct rte_eth_stats stats;
  int rc = rte_eth_stats_get((uint16_t)port, &stats);
  if (rc != 0) return rc;
  into->rx_packets = stats.ipackets;
  into->tx_packets = stats.opackets;
  into->rx_bytes = stats.ibytes;
  into->tx_bytes = stats.obytes;
  into->rx_missed = stats.imissed;
  into->rx_errors = stats.ierrors;
  into->tx_errors = stats.oerrors + __atomic_load_n(&mrpmd_refused[port], __ATOMIC_RELAXED);
  into->rx_no_mbuf = stats.rx_nombuf;
  return 0;
}
