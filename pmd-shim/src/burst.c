/* SPDX-License-Identifier: Apache-2.0 */
/* The fast path. */
#include <netinet/in.h>
#include <rte_byteorder.h>
#include <rte_prefetch.h>
#include <rte_udp.h>
#include <stddef.h>
#include <string.h>

#include "internal.h"

/* struct mrpmd_mbuf is what DPDK has. */
#define SAME(ours, theirs) \
  _Static_assert(offsetof(struct mrpmd_mbuf, ours) == offsetof(struct rte_mbuf, theirs) && \
                     sizeof(((struct mrpmd_mbuf *)0)->ours) == sizeof(((struct rte_mbuf *)0)->theirs), \
                 #theirs " lies elsewhere in this DPDK's mbufs")
SAME(buffer, buf_addr);
SAME(data_offset, data_off);
SAME(segments, nb_segs);
SAME(flags, ol_flags);
SAME(length, data_len);
_Static_assert(MRPMD_RX_IP_BAD == RTE_MBUF_F_RX_IP_CKSUM_BAD && MRPMD_RX_IP_GOOD == RTE_MBUF_F_RX_IP_CKSUM_GOOD &&
                   MRPMD_RX_L4_BAD == RTE_MBUF_F_RX_L4_CKSUM_BAD && MRPMD_RX_L4_GOOD == RTE_MBUF_F_RX_L4_CKSUM_GOOD,
               "this DPDK has other flags");
_Static_assert((MRPMD_RX_IP_BAD | MRPMD_RX_IP_GOOD) == RTE_MBUF_F_RX_IP_CKSUM_NONE &&
                   (MRPMD_RX_L4_BAD | MRPMD_RX_L4_GOOD) == RTE_MBUF_F_RX_L4_CKSUM_NONE,
               "this DPDK has other flags");

struct mrpmd_lane mrpmd_lanes[RTE_MAX_ETHPORTS][MRPMD_MAX_QUEUES];
struct rte_mempool *mrpmd_gather_pools[RTE_MAX_ETHPORTS];
uint64_t mrpmd_refused[RTE_MAX_ETHPORTS];

static inline struct rte_mbuf *mbuf_at(uint64_t address) { return (struct rte_mbuf *)(uintptr_t)address; }

void mrpmd_release(struct mrpmd_rx *burst) {
  if (burst->count != 0) rte_pktmbuf_free_bulk((struct rte_mbuf **)burst->mbuf, burst->count);
  burst->count = 0;
}

uint32_t mrpmd_receive(int32_t port, int32_t queue, struct mrpmd_rx *burst, uint32_t most) {
  mrpmd_release(burst);
  struct mrpmd_lane *lane = &mrpmd_lanes[port][queue];
  MRPMD_ENTER(lane->rx);
  uint32_t count = rte_eth_rx_burst((uint16_t)port, (uint16_t)queue, (struct rte_mbuf **)burst->mbuf, (uint16_t)most);
  MRPMD_LEAVE(lane->rx);
  if (lane->prefetch) {
    /* The caller reads the headers next: Ethernet to transport lie in the first two lines. */
    for (uint32_t i = 0; i < count; i++) {
      char *data = rte_pktmbuf_mtod(mbuf_at(burst->mbuf[i]), char *);
      rte_prefetch0(data);
      rte_prefetch0(data + RTE_CACHE_LINE_SIZE);
    }
  }
  burst->count = count;
  return count;
}

uint32_t mrpmd_forward(int32_t port, int32_t queue, struct mrpmd_rx *burst, uint32_t count) {
  struct mrpmd_lane *lane = &mrpmd_lanes[port][queue];
  MRPMD_ENTER(lane->tx);
  uint32_t sent = rte_eth_tx_burst((uint16_t)port, (uint16_t)queue, (struct rte_mbuf **)burst->mbuf, (uint16_t)count);
  MRPMD_LEAVE(lane->tx);
  burst->count -= sent;
  if (burst->count != 0) memmove(burst->mbuf, burst->mbuf + sent, burst->count * sizeof(burst->mbuf[0]));
  return sent;
}

/* Offload fields of mbuf m, whose frame is complete. */
static void tx_flags(struct rte_mbuf *m, uint32_t flags) {
  m->l2_len = (flags >> MRPMD_TX_L2_SHIFT) & 0xff;
  m->l3_len = flags >> MRPMD_TX_L3_SHIFT;
  uint64_t ol = flags & MRPMD_TX_IPV4 ? RTE_MBUF_F_TX_IPV4 : RTE_MBUF_F_TX_IPV6;
  if (flags & MRPMD_TX_OFFLOAD_IP) ol |= RTE_MBUF_F_TX_IP_CKSUM;
  if (flags & MRPMD_TX_OFFLOAD_UDP) ol |= RTE_MBUF_F_TX_UDP_CKSUM;
  m->ol_flags |= ol;
}

/* Compiled for the vector units there may be and chosen when the library is loaded: DPDK's flags are those of the oldest CPU. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
uint32_t mrpmd_sum16(uint64_t address, uint32_t length) {
  const unsigned char *bytes = (const unsigned char *)(uintptr_t)address;
  /* The sum is independent of byte order up to one swap at the end (RFC 1071); 32-bit words into 64 bits cannot overflow. */
  uint64_t sum = 0;
  uint32_t words = length / 4;
  for (uint32_t i = 0; i < words; i++) {
    uint32_t word;
    memcpy(&word, bytes + 4 * i, 4);
    sum += word;
  }
  if (length % 4 != 0) {
    uint32_t word = 0;
    memcpy(&word, bytes + 4 * words, length % 4);
    sum += word;
  }
  sum = (sum & 0xffffffff) + (sum >> 32);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return rte_be_to_cpu_16((uint16_t)sum);
}

/* Writes the UDP checksum of a frame of one mbuf. */
static void software_udp(struct rte_mbuf *m, uint32_t flags) {
  char *l3 = rte_pktmbuf_mtod_offset(m, char *, (flags >> MRPMD_TX_L2_SHIFT) & 0xff);
  struct rte_udp_hdr *udp = (struct rte_udp_hdr *)(l3 + (flags >> MRPMD_TX_L3_SHIFT));
  udp->dgram_cksum = 0;
  /* Both addresses lie in a row in either header: the pseudo-header is they, the protocol and the length. */
  uint32_t length = rte_be_to_cpu_16(udp->dgram_len);
  uint32_t addresses = flags & MRPMD_TX_IPV4 ? mrpmd_sum16((uint64_t)(uintptr_t)(l3 + 12), 8) : mrpmd_sum16((uint64_t)(uintptr_t)(l3 + 8), 32);
  uint32_t sum = addresses + IPPROTO_UDP + length + mrpmd_sum16((uint64_t)(uintptr_t)udp, length);
  sum = (sum & 0xffff) + (sum >> 16);
  uint16_t field = (uint16_t)~((sum & 0xffff) + (sum >> 16));
  udp->dgram_cksum = rte_cpu_to_be_16(field == 0 ? 0xffff : field);
}

/* Sends frames with offloads. One that the driver refuses for what it is would be refused for ever: it is freed and counts as gone. */
static uint32_t send_prepared(int32_t port, int32_t queue, struct rte_mbuf **frames, uint32_t count) {
  uint32_t gone = 0;
  while (gone < count) {
    uint32_t ready = rte_eth_tx_prepare((uint16_t)port, (uint16_t)queue, frames + gone, (uint16_t)(count - gone));
    uint32_t sent = ready == 0 ? 0 : rte_eth_tx_burst((uint16_t)port, (uint16_t)queue, frames + gone, (uint16_t)ready);
    gone += sent;
    if (sent < ready || gone == count) break;
    rte_pktmbuf_free(frames[gone++]);
    __atomic_fetch_add(&mrpmd_refused[port], 1, __ATOMIC_RELAXED);
  }
  return gone;
}

uint32_t mrpmd_send(int32_t port, int32_t queue, struct mrpmd_tx *burst, uint32_t count) {
  struct rte_mbuf **frames = (struct rte_mbuf **)burst->mbuf;
  struct rte_mbuf *parts[MRPMD_MAX_BURST];
  struct rte_mempool *gather = mrpmd_gather_pools[port];
  /* A software checksum runs over one piece of memory, so such frames are copied. */
  if (gather != NULL && rte_pktmbuf_alloc_bulk(gather, parts, count) != 0) gather = NULL;
  uint32_t any = 0;
  for (uint32_t i = 0; i < count; i++) {
    struct rte_mbuf *m = frames[i];
    uint32_t head = burst->header_length[i];
    uint32_t tail = burst->payload_length[i];
    uint32_t flags = burst->flags[i];
    m->data_off = (uint16_t)(burst->frame[i] - (uint64_t)(uintptr_t)m->buf_addr);
    m->pkt_len = head + tail;
    m->ol_flags = 0;
    if (gather != NULL && tail != 0 && !(flags & MRPMD_TX_SOFTWARE_UDP)) {
      struct rte_mbuf *part = parts[i];
      part->buf_addr = (void *)(uintptr_t)burst->payload[i];
      part->data_off = 0;
      part->data_len = (uint16_t)tail;
      part->pkt_len = tail;
      m->data_len = (uint16_t)head;
      m->next = part;
      m->nb_segs = 2;
    } else {
      m->data_len = (uint16_t)(head + tail);
      if (tail != 0) memcpy((char *)(uintptr_t)burst->frame[i] + head, (const void *)(uintptr_t)burst->payload[i], tail);
      if (flags & MRPMD_TX_SOFTWARE_UDP) software_udp(m, flags);
    }
    if (flags & (MRPMD_TX_OFFLOAD_IP | MRPMD_TX_OFFLOAD_UDP)) tx_flags(m, flags);
    any |= flags;
  }
  struct mrpmd_lane *lane = &mrpmd_lanes[port][queue];
  MRPMD_ENTER(lane->tx);
  uint32_t sent = any & (MRPMD_TX_OFFLOAD_IP | MRPMD_TX_OFFLOAD_UDP) ? send_prepared(port, queue, frames, count)
                                                                      : rte_eth_tx_burst((uint16_t)port, (uint16_t)queue, frames, (uint16_t)count);
  MRPMD_LEAVE(lane->tx);
  if (gather != NULL) {
    for (uint32_t i = 0; i < count; i++) {
      if (i >= sent) {
        frames[i]->next = NULL;
        frames[i]->nb_segs = 1;
        rte_pktmbuf_free_seg(parts[i]);
      } else if (burst->payload_length[i] == 0 || burst->flags[i] & MRPMD_TX_SOFTWARE_UDP) {
        rte_pktmbuf_free_seg(parts[i]);
      }
    }
  }
  return sent;
}

uint32_t mrpmd_alloc(uint64_t address, uint64_t *mbufs, uint32_t count) {
  struct rte_mempool *pool = (struct rte_mempool *)(uintptr_t)address;
  if (rte_pktmbuf_alloc_bulk(pool, (struct rte_mbuf **)mbufs, count) == 0) return count;
  uint32_t got = 0;
  while (got < count) {
    struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
    if (m == NULL) break;
    mbufs[got++] = (uint64_t)(uintptr_t)m;
  }
  return got;
}

void mrpmd_free(uint64_t *mbufs, uint32_t count) { rte_pktmbuf_free_bulk((struct rte_mbuf **)mbufs, count); }
