// SPDX-License-Identifier: Apache-2.0
// The floor and the ceiling of UDP: what a program in C without any transport does with the datagrams that MetaRoCE would send. Messages
// travel as datagrams of up to 4096 bytes behind a header of 64, in runs by GSO and GRO; the receiver copies each payload to its place and
// acknowledges one datagram in 16. Nothing is repeated: what is lost is counted.
//
//   udp_peer sink ADDRESS PORT              takes and copies, until half a second after the last datagram
//   udp_peer source ADDRESS PORT SIZE S     sends for S seconds behind one of warm-up; prints gbps= (payload acknowledged) and lost=
//   udp_peer pong ADDRESS PORT              sends each message back, spinning, until nothing has come for 2 s
//   udp_peer ping ADDRESS PORT SIZE S       one message at a time, spinning; prints p50_us= p99_us= p999_us=, half of the round trip
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

enum { HEADER = 64, CHUNK = 4096, LONGEST = 65000, MOST_SEGMENTS = 64, BATCH = 8, REGION = 4 << 20, WINDOW_BYTES = 1 << 20, ACK_EVERY = 16 };

// What begins each datagram; count is its number. An acknowledgement has the count of datagrams taken and, as message, the number that
// comes after the highest of them.
struct head {
    uint64_t message;
    uint64_t count;
    uint32_t size;
    uint32_t offset;
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void die(const char *what) {
    perror(what);
    exit(1);
}

static int open_socket(void) {
    int s = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    int big = 64 << 20, on = 1;
    if (s < 0)
        die("socket");
    if (setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &big, sizeof big) || setsockopt(s, SOL_SOCKET, SO_SNDBUFFORCE, &big, sizeof big)) {
        setsockopt(s, SOL_SOCKET, SO_RCVBUF, &big, sizeof big);
        setsockopt(s, SOL_SOCKET, SO_SNDBUF, &big, sizeof big);
    }
    if (setsockopt(s, IPPROTO_UDP, UDP_GRO, &on, sizeof on))
        die("UDP_GRO");
    return s;
}

static struct sockaddr_in address(char **v) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(atoi(v[3]))};
    if (inet_pton(AF_INET, v[2], &a.sin_addr) != 1)
        die("address");
    return a;
}

// ---- receiving ----

struct inbox {
    struct mmsghdr messages[BATCH];
    struct iovec pieces[BATCH];
    struct sockaddr_in from[BATCH];
    char control[BATCH][64];
    char *buffers;
};

static void make_inbox(struct inbox *in) {
    in->buffers = aligned_alloc(4096, (size_t)BATCH << 16);
    memset(in->buffers, 1, (size_t)BATCH << 16);
}

static int take(int s, struct inbox *in) {
    for (int i = 0; i < BATCH; i++) {
        in->pieces[i] = (struct iovec){in->buffers + ((size_t)i << 16), 1 << 16};
        in->messages[i].msg_hdr = (struct msghdr){.msg_name = &in->from[i], .msg_namelen = sizeof in->from[i], .msg_iov = &in->pieces[i], .msg_iovlen = 1,
                .msg_control = in->control[i], .msg_controllen = sizeof in->control[i]};
    }
    int n = recvmmsg(s, in->messages, BATCH, MSG_DONTWAIT, NULL);
    // The other end may be gone, or not there yet: that shows in what arrives.
    if (n < 0 && errno != EAGAIN && errno != ECONNREFUSED && errno != EINTR)
        die("recvmmsg");
    return n < 0 ? 0 : n;
}

// Length of the datagrams that the kernel has put together.
static int segment(struct inbox *in, int i) {
    struct msghdr *h = &in->messages[i].msg_hdr;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c))
        if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO)
            return *(int *)CMSG_DATA(c);
    return in->messages[i].msg_len;
}

// ---- sending ----

// One message, or as much of one as is left, as one run of equal datagrams. Returns bytes of payload sent, 0 if the socket is full.
static int send_run(int s, const struct sockaddr_in *to, char *buffer, const char *payload, struct head *h, int most) {
    int chunk = h->size < CHUNK ? (int)h->size : CHUNK;
    int datagrams = 0, used = 0, sent = 0;
    uint32_t offset = h->offset;
    while (datagrams < most && used + HEADER + chunk <= LONGEST && datagrams < MOST_SEGMENTS) {
        int n = h->size - offset < (uint32_t)chunk ? (int)(h->size - offset) : chunk;
        struct head own = {h->message, h->count + datagrams, h->size, offset};
        memcpy(buffer + used, &own, sizeof own);
        memcpy(buffer + used + HEADER, payload + offset % (REGION - CHUNK), n);
        used += HEADER + n;
        sent += n;
        datagrams++;
        offset += n;
        if (offset == h->size) {
            // Small messages share a run; the last datagram of a long one may be shorter and ends it.
            if (h->size > CHUNK)
                break;
            offset = 0;
            h->message++;
        }
    }
    char control[CMSG_SPACE(sizeof(uint16_t))] = {0};
    struct iovec piece = {buffer, used};
    struct msghdr m = {.msg_name = (void *)to, .msg_namelen = sizeof *to, .msg_iov = &piece, .msg_iovlen = 1};
    if (datagrams > 1) {
        m.msg_control = control;
        m.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = IPPROTO_UDP;
        c->cmsg_type = UDP_SEGMENT;
        c->cmsg_len = CMSG_LEN(sizeof(uint16_t));
        *(uint16_t *)CMSG_DATA(c) = HEADER + chunk;
    }
    if (sendmsg(s, &m, 0) < 0) {
        if (errno != EAGAIN && errno != ENOBUFS && errno != ECONNREFUSED)
            die("sendmsg");
        return 0;
    }
    h->count += datagrams;
    h->offset = offset == h->size ? 0 : offset;
    if (h->size > CHUNK && offset == h->size)
        h->message++;
    return sent;
}

// ---- throughput ----

static void sink(int s) {
    static struct inbox in;
    make_inbox(&in);
    char *region = aligned_alloc(4096, REGION);
    memset(region, 1, REGION);
    uint64_t taken = 0, told = 0, next = 0;
    double last = 0;
    while (last == 0 || now() - last < 0.5) {
        int n = take(s, &in);
        if (n == 0)
            continue;
        last = now();
        for (int i = 0; i < n; i++) {
            int length = in.messages[i].msg_len, step = segment(&in, i);
            char *at = in.pieces[i].iov_base;
            for (int o = 0; o < length; o += step) {
                int bytes = (length - o < step ? length - o : step) - HEADER;
                struct head h;
                memcpy(&h, at + o, sizeof h);
                memcpy(region + (h.message * h.size + h.offset) % (REGION - CHUNK), at + o + HEADER, bytes);
                next = h.count + 1 > next ? h.count + 1 : next;
                if (++taken - told >= ACK_EVERY) {
                    told = taken;
                    struct head ack = {next, taken, 0, 0};
                    sendto(s, &ack, sizeof ack, MSG_DONTWAIT, (void *)&in.from[i], sizeof in.from[i]);
                }
            }
        }
    }
}

static void source(int s, const struct sockaddr_in *to, int size, double seconds) {
    static struct inbox in;
    make_inbox(&in);
    char *buffer = aligned_alloc(4096, 1 << 16), *payload = aligned_alloc(4096, REGION);
    memset(payload, 7, REGION);
    struct head h = {.size = size};
    int chunk = size < CHUNK ? size : CHUNK;
    uint64_t window = WINDOW_BYTES / (HEADER + chunk) + ACK_EVERY, acked = 0, passed = 0, at_start = 0;
    double begin = now(), heard = begin, start = 0;
    for (double t = begin; t - begin < seconds + 1; t = now()) {
        if (start == 0 && t - begin >= 1) {
            start = t;
            at_start = acked;
        }
        while (h.count - passed < window && send_run(s, to, buffer, payload, &h, 15 * 4160 / (HEADER + chunk)) > 0) {
        }
        for (int n = take(s, &in), i = 0; i < n; i++) {
            int step = segment(&in, i);
            for (int o = 0; o + (int)sizeof(struct head) <= (int)in.messages[i].msg_len; o += step) {
                struct head ack;
                memcpy(&ack, (char *)in.pieces[i].iov_base + o, sizeof ack);
                acked = ack.count > acked ? ack.count : acked;
                passed = ack.message > passed ? ack.message : passed;
            }
            heard = t;
        }
        // The last of a window, or its acknowledgement, is lost.
        if (t - heard > 0.05 && h.count - passed >= window) {
            passed = h.count;
            heard = t;
        }
    }
    printf("gbps=%.4f lost=%llu\n", (acked - at_start) * (double)chunk / (now() - start) / 1e9, (unsigned long long)(passed - acked));
}

// ---- latency ----

static void send_message(int s, const struct sockaddr_in *to, char *buffer, const char *payload, uint64_t number, int size) {
    struct head h = {.message = number, .size = size};
    int chunk = size < CHUNK ? size : CHUNK, all = (size + chunk - 1) / chunk;
    while ((int)h.count < all)
        send_run(s, to, buffer, payload, &h, all - (int)h.count);
}

// Takes what there is; true once all bytes of message `number` (or of any later one, which it becomes) are there.
static int collect(int s, struct inbox *in, uint64_t *number, uint32_t *have, uint32_t *size, char *region, struct sockaddr_in *from) {
    int n = take(s, in);
    for (int i = 0; i < n; i++) {
        int length = in->messages[i].msg_len, step = segment(in, i);
        char *at = in->pieces[i].iov_base;
        for (int o = 0; o < length; o += step) {
            struct head h;
            memcpy(&h, at + o, sizeof h);
            int bytes = (length - o < step ? length - o : step) - HEADER;
            if (h.message > *number) {
                *number = h.message;
                *have = 0;
            }
            if (h.message == *number) {
                memcpy(region + h.offset % (REGION - CHUNK), at + o + HEADER, bytes);
                *have += bytes;
                *size = h.size;
                *from = in->from[i];
            }
        }
    }
    return n > 0 && *size > 0 && *have == *size;
}

static void pong(int s) {
    static struct inbox in;
    make_inbox(&in);
    char *buffer = aligned_alloc(4096, 1 << 16), *region = aligned_alloc(4096, REGION);
    memset(region, 1, REGION);
    struct sockaddr_in from;
    uint64_t number = 0;
    uint32_t have = 0, size = 0;
    double last = 0;
    for (unsigned turn = 0; last == 0 || (turn & 1023) != 0 || now() - last < 2; turn++) {
        if (collect(s, &in, &number, &have, &size, region, &from)) {
            have = 0;
            last = now();
            send_message(s, &from, buffer, region, number, size);
        }
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(double *)a - *(double *)b;
    return x < 0 ? -1 : x > 0;
}

static void ping(int s, const struct sockaddr_in *to, int size, double seconds) {
    static struct inbox in;
    make_inbox(&in);
    char *buffer = aligned_alloc(4096, 1 << 16), *payload = aligned_alloc(4096, REGION), *region = aligned_alloc(4096, REGION);
    memset(payload, 7, REGION);
    memset(region, 1, REGION);
    size_t most = 4 << 20, count = 0;
    double *us = malloc(most * sizeof *us);
    struct sockaddr_in from;
    double begin = now(), t = begin;
    for (uint64_t number = 1; (t - begin < seconds + 0.5 || (count == 0 && t - begin < 5)) && count < most; number++) {
        uint64_t expected = number;
        uint32_t have = 0, got = 0;
        double sent = now();
        send_message(s, to, buffer, payload, number, size);
        int done = 0;
        for (t = sent; !done && t - sent < 0.06; t = now())
            done = collect(s, &in, &expected, &have, &got, region, &from) && expected == number;
        if (done && sent - begin > 0.5)
            us[count++] = (now() - sent) * 1e6 / 2;
    }
    if (count == 0) {
        fprintf(stderr, "no message came back\n");
        exit(1);
    }
    qsort(us, count, sizeof *us, ascending);
    printf("p50_us=%.2f p99_us=%.2f p999_us=%.2f\n", us[count / 2], us[count * 99 / 100], us[count * 999 / 1000]);
}

int main(int c, char **v) {
    int is_client = c == 6;
    if (c != 4 && !is_client) {
        fprintf(stderr, "see the source for how to call this\n");
        return 2;
    }
    struct sockaddr_in a = address(v);
    int s = open_socket();
    if (!is_client && bind(s, (void *)&a, sizeof a))
        die("bind");
    if (!strcmp(v[1], "sink"))
        sink(s);
    else if (!strcmp(v[1], "pong"))
        pong(s);
    else if (!strcmp(v[1], "source") && is_client)
        source(s, &a, atoi(v[4]), atof(v[5]));
    else if (!strcmp(v[1], "ping") && is_client)
        ping(s, &a, atoi(v[4]), atof(v[5]));
    else
        return 2;
    return 0;
}
