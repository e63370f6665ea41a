// SPDX-License-Identifier: Apache-2.0
// A wire in user space: passes Ethernet frames between the two interfaces of each pair, later, twice, or in another order.
//   wire [--delay US] [--jitter US] [--skew US] [--dup PPM] [--seed N] IFACE:IFACE...
// delay is for all; jitter is drawn for each frame, so frames of one flow overtake each other; skew is drawn once for each UDP source
// port, so flows overtake each other and frames of one flow do not. Prints "ready", then runs until it is ended.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_PAIRS = 16, MAX_FRAME = 9216, MAX_HELD = 65536, TAKE_AT_ONCE = 64, BUFFER_BYTES = 16 << 20 };

struct frame {
    uint64_t due_ns;
    uint64_t order;  // among frames that are due together, first come, first served
    int out;
    int length;
    unsigned char *bytes;
};

static uint64_t delay_ns, jitter_ns, skew_ns, seed = 1;
static uint32_t dup_ppm;
static int sockets[2 * MAX_PAIRS], ends;
static struct frame heap[MAX_HELD];
static int held;
static uint64_t taken, lost;
static volatile sig_atomic_t ending;

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

// splitmix64: of a state that goes on, or of a value.
static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
    return x ^ x >> 31;
}

static uint64_t next_random(void) {
    static uint64_t drawn;
    return mix(seed ^ mix(++drawn));
}

static int before(const struct frame *a, const struct frame *b) {
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

static void push(struct frame frame) {
    int i = held++;
    for (; i > 0 && before(&frame, &heap[(i - 1) / 2]); i = (i - 1) / 2) {
        heap[i] = heap[(i - 1) / 2];
    }
    heap[i] = frame;
}

static struct frame pop(void) {
    struct frame first = heap[0], last = heap[--held];
    int i = 0;
    for (int child; (child = 2 * i + 1) < held; i = child) {
        if (child + 1 < held && before(&heap[child + 1], &heap[child])) {
            child++;
        }
        if (!before(&heap[child], &last)) {
            break;
        }
        heap[i] = heap[child];
    }
    heap[i] = last;
    return first;
}

// Source port of an IPv4 UDP frame, else 0.
static unsigned source_port(const unsigned char *f, int length) {
    int udp = 14 + 4 * (f[14] & 15);
    return length >= 42 && f[12] == 8 && f[13] == 0 && f[23] == IPPROTO_UDP && length >= udp + 2 ? f[udp] << 8 | f[udp + 1] : 0;
}

static void hold(int out, const unsigned char *bytes, int length, uint64_t now) {
    if (held == MAX_HELD) {
        lost++;
        return;
    }
    unsigned port = source_port(bytes, length);
    uint64_t due = now + delay_ns + (jitter_ns ? next_random() % jitter_ns : 0) + (skew_ns && port ? mix(seed ^ port) % skew_ns : 0);
    struct frame frame = {due, taken++, out, length, malloc(length)};
    if (!frame.bytes) {
        lost++;
        return;
    }
    memcpy(frame.bytes, bytes, length);
    push(frame);
}

static void take(int end) {
    static unsigned char bytes[MAX_FRAME];
    for (int i = 0; i < TAKE_AT_ONCE; i++) {
        struct sockaddr_ll from;
        socklen_t size = sizeof from;
        int length = recvfrom(sockets[end], bytes, sizeof bytes, MSG_DONTWAIT | MSG_TRUNC, (struct sockaddr *) &from, &size);
        if (length < 0) {
            return;
        }
        if (from.sll_pkttype == PACKET_OUTGOING || length < 14 || length > MAX_FRAME) {
            continue;
        }
        uint64_t now = now_ns();
        hold(end ^ 1, bytes, length, now);
        if (dup_ppm && next_random() % 1000000 < dup_ppm) {
            hold(end ^ 1, bytes, length, now);
        }
    }
}

static void deliver(uint64_t now) {
    while (held && heap[0].due_ns <= now) {
        struct frame frame = pop();
        // A link that is down, or full, loses frames, as wires do.
        if (send(sockets[frame.out], frame.bytes, frame.length, MSG_DONTWAIT) < 0) {
            lost++;
        }
        free(frame.bytes);
    }
}

static int open_end(const char *name) {
    int s = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = if_nametoindex(name)};
    int size = BUFFER_BYTES, on = 1;
    if (s < 0 || !at.sll_ifindex || bind(s, (struct sockaddr *) &at, sizeof at) < 0) {
        fprintf(stderr, "wire: cannot open %s: %s\n", name, strerror(errno));
        exit(1);
    }
    setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size);
    setsockopt(s, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size);
    setsockopt(s, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on);
    return s;
}

static void end(int signal) {
    (void) signal;
    ending = 1;
}

int main(int count, char **words) {
    for (int i = 1; i < count; i++) {
        char *word = words[i], *other = strchr(word, ':');
        if (other && ends < 2 * MAX_PAIRS) {
            *other++ = 0;
            sockets[ends++] = open_end(word);
            sockets[ends++] = open_end(other);
            continue;
        }
        char *end;
        uint64_t value = strtoull(i + 1 < count ? words[++i] : "", &end, 10);
        if (end == words[i] || *end) {
            fprintf(stderr, "wire: '%s' needs a number\n", word);
            return 2;
        }
        if (!strcmp(word, "--delay")) {
            delay_ns = value * 1000;
        } else if (!strcmp(word, "--jitter")) {
            jitter_ns = value * 1000;
        } else if (!strcmp(word, "--skew")) {
            skew_ns = value * 1000;
        } else if (!strcmp(word, "--dup")) {
            dup_ppm = value;
        } else if (!strcmp(word, "--seed")) {
            seed = value;
        } else {
            fprintf(stderr, "wire: '%s' is not understood\n", word);
            return 2;
        }
    }
    struct pollfd polls[2 * MAX_PAIRS];
    for (int i = 0; i < ends; i++) {
        polls[i] = (struct pollfd) {.fd = sockets[i], .events = POLLIN};
    }
    // Signals come in only while it waits, so that none falls between the look at the flag and the wait.
    sigset_t during, mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGTERM);
    sigaddset(&mask, SIGINT);
    sigprocmask(SIG_BLOCK, &mask, &during);
    signal(SIGTERM, end);
    signal(SIGINT, end);
    puts("ready");
    fflush(stdout);
    while (!ending) {
        uint64_t now = now_ns();
        deliver(now);
        struct timespec wait = {0, 0};
        if (held) {
            uint64_t ns = heap[0].due_ns > now ? heap[0].due_ns - now : 0;
            wait = (struct timespec) {ns / 1000000000, ns % 1000000000};
        }
        if (ppoll(polls, ends, held ? &wait : NULL, &during) > 0) {
            for (int i = 0; i < ends; i++) {
                if (polls[i].revents) {
                    take(i);
                }
            }
        }
    }
    printf("frames %llu lost %llu\n", (unsigned long long) taken, (unsigned long long) lost);
    return 0;
}
