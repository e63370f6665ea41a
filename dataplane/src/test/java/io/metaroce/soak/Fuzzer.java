// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import io.metaroce.transport.Completion;
import io.metaroce.transport.Endpoint;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.transport.Event;
import io.metaroce.transport.RxBurst;
import io.metaroce.transport.WorkRequest;
import io.metaroce.wire.AcceptHeader;
import io.metaroce.wire.AckHeader;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.Checksum;
import io.metaroce.wire.InitHeader;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Reason;
import io.metaroce.wire.Type;
import io.metaroce.wire.Validate;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Two endpoints that talk, and a third party that copies what they say, changes it and sends it to either: at random, field by field,
 * cut, joined, in any state of their connections.
 */
final class Fuzzer {
    private static final long MEMORY = Arena.global().allocate(1L << 16, 64).address();
    private static final int STEPS = 400;
    private static final int EACH = 12;

    private final SplittableRandom random;
    private final boolean sealed;
    private final List<Host> hosts = new ArrayList<>();
    private final List<byte[]> seen = new ArrayList<>();
    /** Tags by the identifier that they go with. */
    private final Map<Integer, Integer> tags = new HashMap<>();
    private final Checksum checksum = new Checksum();
    private final RxBurst rx = new RxBurst(1);
    private final Completion completion = new Completion();
    private final Event event = new Event();
    private final List<Integer>[] handles = lists();
    private long nowNs = 1_000_000_000L;
    private long sent;

    @SuppressWarnings("unchecked")
    private static List<Integer>[] lists() {
        return new List[] {new ArrayList<Integer>(), new ArrayList<Integer>()};
    }

    Fuzzer(long seed, boolean sealed) {
        random = new SplittableRandom(seed);
        this.sealed = sealed;
        for (int i = 0; i < 2; i++) {
            EndpointConfig c = Settings.draw(random, i, random.nextInt(3) == 0);
            if (Math.floorMod(seed, 4) == 3) {
                Settings.encrypt(c, seed * 2 + i);
            }
            HostMemory memory = Workshop.own().memory(i);
            memory.reset(random.nextLong());
            Host h = new Host(i, c, memory, 64, 1_000);
            h.start(random.nextLong());
            hosts.add(h);
        }
    }

    long run() {
        for (int step = 0; step < STEPS; step++) {
            Host h = hosts.get(random.nextInt(2));
            use(h);
            for (int i = 0; i < EACH; i++) {
                strange();
            }
            talk();
            nowNs += random.nextInt(20) == 0 ? random.nextLong(200_000_000) : random.nextInt(20_000);
        }
        end();
        return sent;
    }

    private void use(Host h) {
        Host other = hosts.get(1 - h.number);
        List<Integer> mine = handles[h.number];
        int what = random.nextInt(20);
        if (mine.isEmpty() || what == 0) {
            h.endpoint.connect(nowNs, other.config.localAddresses[0], 0);
        } else {
            int c = mine.get(random.nextInt(mine.size()));
            if (what == 1) {
                h.endpoint.close(nowNs, c);
            } else if (what == 2) {
                h.endpoint.abort(nowNs, c, Reason.APPLICATION_ABORT);
                mine.remove((Integer) c);
            } else if (what < 8) {
                h.endpoint.postReceive(c, random.nextInt(4), h.memory.main[0].address() + random.nextInt(10_000), 4_000, h.memory.main[0].key(), what);
            } else {
                WorkRequest w = new WorkRequest();
                w.opcode = Settings.pick(random, Opcode.WRITE, Opcode.WRITE_IMM, Opcode.SEND, Opcode.SEND_IMM, Opcode.SEND_INVALIDATE,
                        Opcode.READ_REQUEST, Opcode.COMPARE_SWAP, Opcode.FETCH_ADD);
                w.fence = random.nextInt(8) == 0;
                w.unsignaled = random.nextInt(8) == 0;
                w.stream = random.nextInt(4);
                w.length = random.nextInt(5_000);
                w.localAddress = h.memory.main[0].address() + random.nextInt(10_000);
                w.localKey = h.memory.main[0].key();
                w.remoteAddress = other.memory.main[1].address() + random.nextInt(10_000);
                w.remoteKey = other.memory.main[1].key();
                if (Opcode.isAtomic(w.opcode)) {
                    w.length = Long.BYTES;
                    w.remoteAddress = other.memory.atomic.address() + 8 * random.nextInt(16);
                    w.remoteKey = other.memory.atomic.key();
                } else if (Opcode.consumesReceive(w.opcode)) {
                    w.length = Math.min(w.length, 4_000);
                }
                h.endpoint.post(c, w);
            }
        }
    }

    /** Both send what they have; most of it arrives. */
    private void talk() {
        for (int turn = 0; turn < 4; turn++) {
            Host h = hosts.get(turn & 1);
            h.tx.count = 0;
            h.endpoint.transmit(nowNs, h.tx);
            for (int i = 0; i < h.tx.count; i++) {
                byte[] d = new byte[h.tx.headerLength[i] + h.tx.payloadLength[i]];
                Bytes.copy(h.tx.header[i], MEMORY, h.tx.headerLength[i]);
                if (h.tx.payloadLength[i] > 0) {
                    Bytes.copy(h.tx.payload[i], MEMORY + h.tx.headerLength[i], h.tx.payloadLength[i]);
                }
                for (int b = 0; b < d.length; b++) {
                    d[b] = (byte) Bytes.getU8(MEMORY + b);
                }
                learn();
                if (seen.size() < 512) {
                    seen.add(d);
                } else {
                    seen.set(random.nextInt(512), d);
                }
                if (random.nextInt(10) > 0) {
                    give(hosts.get(1 - h.number), d.length, h.tx.plane[i]);
                }
            }
            nowNs += 5_000;
            drain(hosts.get(0));
            drain(hosts.get(1));
        }
    }

    private void learn() {
        if (Prefix.type(MEMORY) == Type.INIT) {
            tags.put(InitHeader.initiatorCid(MEMORY), InitHeader.initiatorTag(MEMORY));
        } else if (Prefix.type(MEMORY) == Type.ACCEPT) {
            tags.put(AcceptHeader.responderCid(MEMORY), AcceptHeader.responderTag(MEMORY));
        }
    }

    private void give(Host to, int length, int plane) {
        if (plane >= to.config.planes()) {
            return;
        }
        Host from = hosts.get(1 - to.number);
        rx.count = 1;
        rx.address[0] = MEMORY;
        rx.length[0] = length;
        rx.plane[0] = (byte) plane;
        rx.ecn[0] = (byte) random.nextInt(4);
        rx.sourceHigh[0] = 0;
        rx.sourceLow[0] = Host.address(from.number, plane).low();
        rx.sourcePort[0] = Network.FIRST_PORT;
        to.endpoint.receive(nowNs, rx);
    }

    private void drain(Host h) {
        while (h.endpoint.pollCompletion(completion)) {
            continue;
        }
        while (h.endpoint.pollEvent(event)) {
            event.text();
            if (event.kind == Event.CONNECTED || event.kind == Event.ACCEPTED) {
                handles[h.number].add(event.connection);
            } else if (event.kind != Event.STREAM_FAILED) {
                handles[h.number].remove((Integer) event.connection);
            }
        }
        EndpointConfig c = h.config;
        Endpoint e = h.endpoint;
        if (e.liveConnections() > c.maxConnections || e.liveStreams() > c.streamPool || e.liveWorkRequests() > c.maxWorkRequests + Math.max(16, c.maxWorkRequests / 4)
                || e.livePackets() > c.maxPacketsOut || e.liveWindows() > 4 * c.streamPool) {
            throw new Violation(h + " holds more than it has");
        }
    }

    /** One datagram that nobody sent. */
    private void strange() {
        Host to = hosts.get(random.nextInt(2));
        int length;
        if (seen.isEmpty() || random.nextInt(6) == 0) {
            length = random.nextInt(300);
            for (int i = 0; i < length; i++) {
                Bytes.putByte(MEMORY + i, random.nextInt(256));
            }
            if (length > Prefix.LENGTH && random.nextBoolean()) {
                Bytes.putByte(MEMORY + Prefix.VERSION_TYPE, Prefix.versionTypeOf(random.nextInt(16)));
            }
        } else {
            byte[] d = seen.get(random.nextInt(seen.size()));
            length = d.length;
            for (int i = 0; i < length; i++) {
                Bytes.putByte(MEMORY + i, d[i]);
            }
            int changes = random.nextInt(4);
            for (int i = 0; i < changes; i++) {
                length = change(length);
            }
        }
        if (sealed && length >= Prefix.LENGTH) {
            seal(to, length);
        }
        sent++;
        give(to, length, random.nextInt(to.config.planes()));
        if (random.nextInt(64) == 0) {
            drain(to);
        }
    }

    private int change(int length) {
        int at = length == 0 ? 0 : random.nextInt(Math.min(length, random.nextBoolean() ? 64 : 160));
        switch (random.nextInt(7)) {
            case 0 -> Bytes.putByte(MEMORY + at, Bytes.getU8(MEMORY + at) ^ 1 << random.nextInt(8));
            case 1 -> Bytes.putByte(MEMORY + at, random.nextInt(256));
            case 2 -> Bytes.putInt(MEMORY + (at & ~3), Settings.pick(random, 0, 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, random.nextInt()));
            case 3 -> Bytes.putInt(MEMORY + (at & ~3), Bytes.getInt(MEMORY + (at & ~3)) + random.nextInt(-300, 300));
            case 4 -> Bytes.putShort(MEMORY + (at & ~1), Settings.pick(random, 0, 1, 255, 256, 0xffff, random.nextInt(65_536)));
            case 5 -> {
                return random.nextInt(length + 1);
            }
            default -> {
                int more = random.nextInt(64);
                for (int i = 0; i < more; i++) {
                    Bytes.putByte(MEMORY + length + i, random.nextInt(256));
                }
                return length + more;
            }
        }
        return length;
    }

    private void seal(Host to, int length) {
        int type = Prefix.type(MEMORY);
        boolean connected = type == Type.DATA || type == Type.ACK || type == Type.PROBE || type == Type.CLOSE || type == Type.CLOSE_ACK
                || type == Type.PARITY;
        seal(MEMORY, length, connected ? tags.getOrDefault(Prefix.destinationCid(MEMORY), 0) : 0);
    }

    private void seal(long at, int length, int tag) {
        boolean full = Math.max(hosts.get(0).config.integrity, hosts.get(1).config.integrity) == EndpointConfig.INTEGRITY_FULL;
        boolean wellFormed = Validate.check(at, length) == 0;
        int covered = wellFormed ? Checksum.coveredLength(at, length, full) : length;
        Prefix.checksum(at, checksum.field(at, covered, tag));
        if (wellFormed && AckHeader.isFollowed(at)) {
            seal(at + covered, length - covered, tag);
        }
    }

    /** Whatever happened, both can still be shut down to nothing, and what is not registered is as it was. */
    private void end() {
        for (int i = 0; i < 200; i++) {
            nowNs += 50_000_000;
            for (Host h : hosts) {
                handles[h.number].forEach(c -> h.endpoint.abort(nowNs, c, Reason.SHUTDOWN));
                handles[h.number].clear();
            }
            talk();
        }
        for (Host h : hosts) {
            Endpoint e = h.endpoint;
            if (e.liveConnections() + e.liveStreams() + e.liveWorkRequests() + e.livePackets() + e.liveWindows()
                    + e.liveSegmentLists() + e.liveInlineRequests() != 0) {
                throw new Violation(h + " still holds " + e.liveConnections() + " connections, " + e.liveStreams() + " streams, "
                        + e.liveWorkRequests() + " requests, " + e.livePackets() + " packets, " + e.liveWindows() + " windows");
            }
            String wrong = h.memory.auditGaps();
            if (wrong != null) {
                throw new Violation(h + ": " + wrong);
            }
        }
    }
}
