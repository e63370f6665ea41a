// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// What a switch does to the packets that leave by one of its ports: loses some, marks some as having met congestion, and drains a
// queue at a rate, which marks beyond one length and drops beyond another. The queue here is a number; the place where packets wait is a
// token bucket of the same rate behind it (TBF). Attached to tc egress; scripts/lab sets the rules by interface index.
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define MILLION 1000000U
#define SECOND 1000000000ULL
#define IPV6_HEADER 40

// Written by scripts/lab, in this order and size.
struct rule {
    __u32 loss_ppm;
    __u32 mark_ppm;
    __u64 bytes_per_second;  // 0: no queue
    __u32 mark_bytes;        // 0: never marks
    __u32 limit_bytes;
};

struct port {
    __u64 packets;
    __u64 bytes;
    __u64 lost;
    __u64 overflowed;
    __u64 marked;
    __u64 unmarkable;  // not ECN-capable
    __u64 drained_ns;  // when the backlog was last reckoned
    __u64 backlog;     // bytes
    struct bpf_spin_lock lock;
    __u32 pad;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 256);
    __type(key, __u32);
    __type(value, struct rule);
} lab_rules SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 256);
    __type(key, __u32);
    __type(value, struct port);
} lab_ports SEC(".maps");

enum { PASS, MARK, DROP };

static int enqueue(struct port *port, const struct rule *rule, __u32 length) {
    __u64 now = bpf_ktime_get_ns();
    int verdict = PASS;
    bpf_spin_lock(&port->lock);
    __u64 idle = now - port->drained_ns;
    // Bounded, so that the product does not overflow; a second empties any queue.
    __u64 drained = idle >= SECOND ? port->backlog : idle * (rule->bytes_per_second / 1000) / (SECOND / 1000);
    port->backlog = port->backlog > drained ? port->backlog - drained : 0;
    port->drained_ns = now;
    if (port->backlog + length > rule->limit_bytes) {
        verdict = DROP;
    } else {
        port->backlog += length;
        if (rule->mark_bytes && port->backlog > rule->mark_bytes) {
            verdict = MARK;
        }
    }
    bpf_spin_unlock(&port->lock);
    return verdict;
}

static int chance(__u32 ppm) {
    return ppm && bpf_get_prandom_u32() % MILLION < ppm;
}

SEC("tc")
int lab_link(struct __sk_buff *packet) {
    __u32 key = packet->ifindex;
    struct rule *rule = bpf_map_lookup_elem(&lab_rules, &key);
    struct port *port = bpf_map_lookup_elem(&lab_ports, &key);
    if (!rule || !port) {
        return TC_ACT_OK;
    }
    int is_ip = packet->protocol == bpf_htons(ETH_P_IP) || packet->protocol == bpf_htons(ETH_P_IPV6);
    if (!is_ip) {
        // A dead link is dead for address resolution, too; a bad one spares it.
        return rule->loss_ppm >= MILLION ? TC_ACT_SHOT : TC_ACT_OK;
    }
    __sync_fetch_and_add(&port->packets, 1);
    __sync_fetch_and_add(&port->bytes, packet->len);
    if (chance(rule->loss_ppm)) {
        __sync_fetch_and_add(&port->lost, 1);
        return TC_ACT_SHOT;
    }
    int mark = chance(rule->mark_ppm);
    if (rule->bytes_per_second) {
        int verdict = enqueue(port, rule, packet->len);
        if (verdict == DROP) {
            __sync_fetch_and_add(&port->overflowed, 1);
            return TC_ACT_SHOT;
        }
        mark |= verdict == MARK;
    }
    if (mark) {
        // What comes from a packet socket (the wire, DPDK) lies in pages of its own, and the helper below wants to see the IP header.
        bpf_skb_pull_data(packet, ETH_HLEN + IPV6_HEADER);
        __sync_fetch_and_add(bpf_skb_ecn_set_ce(packet) == 1 ? &port->marked : &port->unmarkable, 1);
    }
    return TC_ACT_OK;
}

// The kernel lends some of its helpers to programs under the GPL only.
char _license[] SEC("license") = "GPL";
