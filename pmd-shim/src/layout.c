/* SPDX-License-Identifier: Apache-2.0 */
/* What the compiler made of pmd_shim.h, for comparison with bindings generated from it. */
#include <stddef.h>

#include "internal.h"

#define CONSTANT(name) {#name, name}
#define SIZE(type) {"sizeof(" #type ")", sizeof(struct type)}
#define FIELD(type, field) {#type "." #field, offsetof(struct type, field)}

static const struct {
  const char *name;
  uint64_t value;
} LAYOUT[] = {
    CONSTANT(MRPMD_ABI_VERSION), CONSTANT(MRPMD_MAX_BURST), CONSTANT(MRPMD_MAX_QUEUES), CONSTANT(MRPMD_NAME_SIZE),
    CONSTANT(MRPMD_ERROR_SIZE),
    CONSTANT(MRPMD_RX_IP_GOOD), CONSTANT(MRPMD_RX_IP_BAD), CONSTANT(MRPMD_RX_L4_GOOD), CONSTANT(MRPMD_RX_L4_BAD),
    CONSTANT(MRPMD_TX_IPV4), CONSTANT(MRPMD_TX_IPV6), CONSTANT(MRPMD_TX_OFFLOAD_IP), CONSTANT(MRPMD_TX_OFFLOAD_UDP),
    CONSTANT(MRPMD_TX_SOFTWARE_UDP), CONSTANT(MRPMD_TX_L2_SHIFT), CONSTANT(MRPMD_TX_L3_SHIFT),
    CONSTANT(MRPMD_OFFLOAD_TX_IPV4), CONSTANT(MRPMD_OFFLOAD_TX_UDP), CONSTANT(MRPMD_OFFLOAD_RX_IPV4),
    CONSTANT(MRPMD_OFFLOAD_RX_UDP), CONSTANT(MRPMD_OFFLOAD_FAST_FREE), CONSTANT(MRPMD_OFFLOAD_MULTI_SEGMENT),
    CONSTANT(MRPMD_TRAIT_BLOCKING), CONSTANT(MRPMD_TRAIT_RESTART), CONSTANT(MRPMD_TRAIT_COPIES), CONSTANT(MRPMD_TRAIT_SOFT_MTU),
    CONSTANT(MRPMD_TRAIT_UNMAPS), CONSTANT(MRPMD_TRAIT_GUARDED),
    SIZE(mrpmd_rx), FIELD(mrpmd_rx, count), FIELD(mrpmd_rx, reserved), FIELD(mrpmd_rx, mbuf),
    SIZE(mrpmd_mbuf), FIELD(mrpmd_mbuf, buffer), FIELD(mrpmd_mbuf, reserved0), FIELD(mrpmd_mbuf, data_offset), FIELD(mrpmd_mbuf, reserved1),
    FIELD(mrpmd_mbuf, segments), FIELD(mrpmd_mbuf, reserved2), FIELD(mrpmd_mbuf, flags), FIELD(mrpmd_mbuf, reserved3),
    FIELD(mrpmd_mbuf, reserved4), FIELD(mrpmd_mbuf, length), FIELD(mrpmd_mbuf, reserved5), FIELD(mrpmd_mbuf, reserved6),
    SIZE(mrpmd_tx), FIELD(mrpmd_tx, mbuf), FIELD(mrpmd_tx, frame), FIELD(mrpmd_tx, payload), FIELD(mrpmd_tx, header_length),
    FIELD(mrpmd_tx, payload_length), FIELD(mrpmd_tx, flags),
    SIZE(mrpmd_info), FIELD(mrpmd_info, device), FIELD(mrpmd_info, driver), FIELD(mrpmd_info, mac), FIELD(mrpmd_info, offloads),
    FIELD(mrpmd_info, traits), FIELD(mrpmd_info, max_mtu), FIELD(mrpmd_info, max_rx_descriptors),
    FIELD(mrpmd_info, max_tx_descriptors), FIELD(mrpmd_info, max_queues), FIELD(mrpmd_info, socket), FIELD(mrpmd_info, reserved),
    SIZE(mrpmd_setup), FIELD(mrpmd_setup, rx_pool), FIELD(mrpmd_setup, gather_pool), FIELD(mrpmd_setup, mtu),
    FIELD(mrpmd_setup, queues), FIELD(mrpmd_setup, rx_descriptors), FIELD(mrpmd_setup, tx_descriptors),
    FIELD(mrpmd_setup, offloads), FIELD(mrpmd_setup, reserved),
    SIZE(mrpmd_stats), FIELD(mrpmd_stats, rx_packets), FIELD(mrpmd_stats, tx_packets), FIELD(mrpmd_stats, rx_bytes),
    FIELD(mrpmd_stats, tx_bytes), FIELD(mrpmd_stats, rx_missed), FIELD(mrpmd_stats, rx_errors), FIELD(mrpmd_stats, tx_errors),
    FIELD(mrpmd_stats, rx_no_mbuf),
};

#define COUNT (sizeof(LAYOUT) / sizeof(LAYOUT[0]))

uint32_t mrpmd_layout_count(void) { return (uint32_t)COUNT; }

const char *mrpmd_layout_name(uint32_t index) { return index < COUNT ? LAYOUT[index].name : NULL; }

uint64_t mrpmd_layout_value(uint32_t index) { return index < COUNT ? LAYOUT[index].value : 0; }
