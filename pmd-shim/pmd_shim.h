/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small, stable C interface over DPDK's ethdev, mbuf and mempool for callers that cannot use DPDK's inline functions.
 *
 * Rules
 *  - Types are fixed-width; addresses travel as uint64_t; structures have no implicit padding and grow only at their end with
 *    a new MRPMD_ABI_VERSION.
 *  - Functions that return int give 0 or a positive result, or a negative errno. Where an `error` buffer is taken it receives
 *    a NUL-terminated text that says what was tried and what DPDK said.
 *  - A queue of a port belongs to one thread. Set-up functions may be called by one thread at a time.
 *  - mbufs are plain addresses here. An mbuf from mrpmd_alloc has its data at mbuf + mrpmd_data_offset(); the bytes before it
 *    (mrpmd_headroom()) and behind it (the pool's data room) are the caller's until the mbuf is given away.
 */
#ifndef METAROCE_PMD_SHIM_H
#define METAROCE_PMD_SHIM_H

#include <stdint.h>

#pragma GCC visibility push(default)

#define MRPMD_ABI_VERSION 2

/* Most frames in one receive or transmit call. */
#define MRPMD_MAX_BURST 256
/* Most queues of a port. */
#define MRPMD_MAX_QUEUES 16
#define MRPMD_NAME_SIZE 64
#define MRPMD_ERROR_SIZE 1024

/* Flags of a received frame. Neither GOOD nor BAD: the device did not check. Both: the checksum is wrong, as whoever sent left it to a
 * device that never saw the frame, but what it covers is right. */
#define MRPMD_RX_L4_BAD 8
#define MRPMD_RX_IP_BAD 16
#define MRPMD_RX_IP_GOOD 128
#define MRPMD_RX_L4_GOOD 256

/* Flags of a frame to send: low byte. The length of the Ethernet header stands at MRPMD_TX_L2_SHIFT (8 bits), that of the IP
 * header at MRPMD_TX_L3_SHIFT (16 bits); both are needed with any of the flags. */
#define MRPMD_TX_IPV4 1
#define MRPMD_TX_IPV6 2
/* The device writes the IPv4 header checksum; the field must be zero. Needs MRPMD_OFFLOAD_TX_IPV4. */
#define MRPMD_TX_OFFLOAD_IP 4
/* The device writes the UDP checksum. Needs MRPMD_OFFLOAD_TX_UDP. */
#define MRPMD_TX_OFFLOAD_UDP 8
/* The UDP checksum is computed here, over the frame as it goes out. */
#define MRPMD_TX_SOFTWARE_UDP 16
#define MRPMD_TX_L2_SHIFT 8
#define MRPMD_TX_L3_SHIFT 16

/* Offloads, of a device or of a started port. */
#define MRPMD_OFFLOAD_TX_IPV4 1
#define MRPMD_OFFLOAD_TX_UDP 2
#define MRPMD_OFFLOAD_RX_IPV4 4
#define MRPMD_OFFLOAD_RX_UDP 8
#define MRPMD_OFFLOAD_FAST_FREE 16
#define MRPMD_OFFLOAD_MULTI_SEGMENT 32

/* Properties of a device. */
/* A burst makes system calls (af_packet, tap, pcap, af_xdp): it may take long and must not stop the caller's collector. */
#define MRPMD_TRAIT_BLOCKING 1
/* The link comes back only by stopping and starting the port (memif client). */
#define MRPMD_TRAIT_RESTART 2
/* Transmission has copied the frame when it returns (memif without zero copy): payload may be passed by reference. */
#define MRPMD_TRAIT_COPIES 4
/* The driver's own limit on frame length is not the real one (virtual devices): a larger MTU is kept by the caller alone. */
#define MRPMD_TRAIT_SOFT_MTU 8
/* A peer that leaves unmaps memory under a running burst (memif). */
#define MRPMD_TRAIT_UNMAPS 16
/* ... and this library holds the unmapping back until the burst is over. */
#define MRPMD_TRAIT_GUARDED 32

/* Frames received. */
struct mrpmd_rx {
  /* mbufs held by this burst: freed by the next mrpmd_receive or mrpmd_release with it. */
  uint32_t count;
  uint32_t reserved;
  uint64_t mbuf[MRPMD_MAX_BURST];
};

/* The first bytes of an mbuf, as DPDK lays them out (compared when this library is compiled): read them, do not write. To copy them out
 * of each frame here would cost as much as all the rest of receiving it. */
struct mrpmd_mbuf {
  /* The frame's part in this mbuf, from its Ethernet header on, begins at buffer + data_offset. */
  uint64_t buffer;
  uint64_t reserved0;
  uint16_t data_offset;
  uint16_t reserved1;
  /* More than one: the frame spans several mbufs, of which this is the first. */
  uint16_t segments;
  uint16_t reserved2;
  /* MRPMD_RX_*, among others. */
  uint64_t flags;
  uint32_t reserved3;
  uint32_t reserved4;
  /* Bytes of the frame in this mbuf. */
  uint16_t length;
  uint16_t reserved5;
  uint32_t reserved6;
};

/* Frames to send, as parallel arrays, all filled by the caller and read only. */
struct mrpmd_tx {
  uint64_t mbuf[MRPMD_MAX_BURST];
  /* Address, in the mbuf, of the first byte of the frame. */
  uint64_t frame[MRPMD_MAX_BURST];
  /* Bytes at payload[i] follow the header_length[i] bytes at frame[i]; they are copied, or passed by reference where the port
   * was started so (see mrpmd_setup.gather_pool). */
  uint64_t payload[MRPMD_MAX_BURST];
  uint32_t header_length[MRPMD_MAX_BURST];
  uint32_t payload_length[MRPMD_MAX_BURST];
  uint32_t flags[MRPMD_MAX_BURST];
};

struct mrpmd_info {
  char device[MRPMD_NAME_SIZE];
  char driver[MRPMD_NAME_SIZE];
  /* MAC address, first byte in bits 40 to 47. */
  uint64_t mac;
  uint32_t offloads;
  uint32_t traits;
  /* Largest MTU the driver says it takes. */
  uint32_t max_mtu;
  uint32_t max_rx_descriptors;
  uint32_t max_tx_descriptors;
  uint32_t max_queues;
  int32_t socket;
  uint32_t reserved;
};

/* How to start a port: filled by the caller; mrpmd_start replaces the wishes by what was given. */
struct mrpmd_setup {
  /* Pool for received frames. */
  uint64_t rx_pool;
  /* Pool of mbufs without data room through which payload is passed by reference, or 0: payload is copied. */
  uint64_t gather_pool;
  uint32_t mtu;
  uint32_t queues;
  uint32_t rx_descriptors;
  uint32_t tx_descriptors;
  uint32_t offloads;
  uint32_t reserved;
};

struct mrpmd_stats {
  uint64_t rx_packets;
  uint64_t tx_packets;
  uint64_t rx_bytes;
  uint64_t tx_bytes;
  /* Lost because the receive ring was full. */
  uint64_t rx_missed;
  uint64_t rx_errors;
  uint64_t tx_errors;
  /* Lost because the pool was empty. */
  uint64_t rx_no_mbuf;
};

/* ---- what this library is ---- */

uint32_t mrpmd_abi_version(void);
const char *mrpmd_dpdk_version(void);
/* Every constant, size and offset of this header as the compiler sees it, by name: "MRPMD_MAX_BURST", "sizeof(mrpmd_rx)",
 * "mrpmd_rx.data". Bindings are compared with them. */
uint32_t mrpmd_layout_count(void);
const char *mrpmd_layout_name(uint32_t index);
uint64_t mrpmd_layout_value(uint32_t index);

/* ---- environment ---- */

/*
 * Starts DPDK's environment: once a process. argv[0] is the program's name. The caller's CPU affinity is left as it was.
 * log_fd: where log lines go, or -1 to drop them (the last ones are kept for error texts). log_level: 1 emergency .. 8 debug.
 */
int mrpmd_eal_init(int32_t argc, char **argv, int32_t log_fd, uint32_t log_level, char *error, uint32_t error_size);
/* Makes the calling thread known to DPDK, so that pools give it a cache. Returns 1, or 0 if it was known already. */
int mrpmd_thread_attach(void);
/* Undoes an mrpmd_thread_attach that returned 1, on the same thread. */
void mrpmd_thread_detach(void);

/* ---- pools ---- */

/* A pool of `count` mbufs whose data room is headroom plus `data_room` bytes (0: none at all). Returns its address or 0. */
uint64_t mrpmd_pool_create(const char *name, uint32_t count, uint32_t data_room, uint32_t cache, int32_t socket, char *error,
                           uint32_t error_size);
/* Frees a pool if all its mbufs are back; otherwise leaves it and returns how many are missing. */
uint32_t mrpmd_pool_free(uint64_t pool);
uint32_t mrpmd_pool_available(uint64_t pool);
/* Bytes of memory a pool of this size takes, about. */
uint64_t mrpmd_pool_bytes(uint32_t count, uint32_t data_room);
uint32_t mrpmd_headroom(void);
uint32_t mrpmd_data_offset(void);

/* ---- ports ---- */

/* Adds a device by DPDK device arguments ("net_memif0,role=client,..."). Returns its port. */
int mrpmd_device_add(const char *arguments, char *error, uint32_t error_size);
/* Port of a device's name, PCI address or decimal port number. */
int mrpmd_port_find(const char *name, char *error, uint32_t error_size);
int mrpmd_port_count(void);
int mrpmd_port_info(int32_t port, struct mrpmd_info *info);
/*
 * Configures the port and its queues. Call mrpmd_start next. An interface of the kernel's under the device (af_packet) that takes less than the
 * MTU is raised to it, until mrpmd_close.
 */
int mrpmd_configure(int32_t port, struct mrpmd_setup *setup, char *error, uint32_t error_size);
/* Starts a configured port. No burst may be tried on a port that is not started. */
int mrpmd_start(int32_t port, char *error, uint32_t error_size);
int mrpmd_stop(int32_t port);
/* Stops the port, gives a kernel's interface its MTU back, and removes the device, unless that has other ports. mrpmd_device_add adds it again. */
int mrpmd_close(int32_t port);
/* 1 up, 0 down. */
int mrpmd_link_up(int32_t port);
int mrpmd_port_stats(int32_t port, struct mrpmd_stats *stats);

/* ---- the fast path; none blocks unless the device is MRPMD_TRAIT_BLOCKING ---- */

/* Frees what `burst` holds, receives at most `most` frames (<= MRPMD_MAX_BURST) into it, returns their number. */
uint32_t mrpmd_receive(int32_t port, int32_t queue, struct mrpmd_rx *burst, uint32_t most);
/* Frees what `burst` holds. */
void mrpmd_release(struct mrpmd_rx *burst);
/* Sends the first `count` frames that `burst` holds as they stand; returns how many the device took: these are no longer the burst's, and
 * the others move to its front. */
uint32_t mrpmd_forward(int32_t port, int32_t queue, struct mrpmd_rx *burst, uint32_t count);
/* Sends frames 0 .. count-1; returns how many the device took: these are gone. The rest is untouched and may be sent again. */
uint32_t mrpmd_send(int32_t port, int32_t queue, struct mrpmd_tx *burst, uint32_t count);
/* Writes up to `count` fresh mbufs to `mbufs`; returns how many. */
uint32_t mrpmd_alloc(uint64_t pool, uint64_t *mbufs, uint32_t count);
void mrpmd_free(uint64_t *mbufs, uint32_t count);
/* The ones' complement sum of the bytes as big-endian 16-bit words, folded to 16 bits, not inverted. */
uint32_t mrpmd_sum16(uint64_t address, uint32_t length);

#pragma GCC visibility pop

#endif
