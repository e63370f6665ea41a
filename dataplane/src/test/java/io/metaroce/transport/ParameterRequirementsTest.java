// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.AcceptHeader;
import io.metaroce.wire.AckHeader;
import io.metaroce.wire.Cause;
import io.metaroce.wire.CloseHeader;
import io.metaroce.wire.ControlBlock;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.InitHeader;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Rate16;
import io.metaroce.wire.Reason;
import io.metaroce.wire.Tlv;
import io.metaroce.wire.Type;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.ObjIntConsumer;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the two sides say of themselves, and that both keep to what it makes together. */
class ParameterRequirementsTest {
    private static final long MS = 1_000_000;

    private final EndpointConfig a = Peers.config(1);
    private final EndpointConfig b = Peers.config(2);
    private Peers p;
    private Tap tap;

    private void peers() {
        p = new Peers(1501, a, b);
        tap = new Tap(p);
    }

    private void connect() {
        peers();
        p.connect();
    }

    private void writeBothWays(int length) {
        p.post(p.request(Opcode.WRITE, 0, 0, length, 0, 1));
        WorkRequest back = p.requestFromB(Opcode.WRITE, 0, 0, length, 4_000_000, 2);
        assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, back));
        assertTrue(p.until(1_000 * MS, () -> p.completionsA.size() == 1 && p.completionsB.size() == 1));
    }

    /** Changes a TLV of ACCEPT on its way, or replaces it by PAD where {@code change} is null. */
    private void onAccept(int type, ObjIntConsumer<ByteBuffer> change) {
        p.net.change = d -> d[4] == Prefix.versionTypeOf(Type.ACCEPT) ? Tap.changed(d, x -> {
            int at = HandshakeRequirementsTest.tlv(x.array(), AcceptHeader.LENGTH, type);
            if (change == null) {
                x.put(at, (byte) Tlv.PAD);
            } else {
                change.accept(x, at + 4);
            }
        }) : d;
    }

    @ParameterizedTest
    @CsvSource({"1024, 512", "512, 1024", "700, 4096"})
    @Requirement({"MR-PAR-001", "MR-PKT-006"})
    void noPacketHoldsMoreThanTheSmallerMtu(int mtuA, int mtuB) {
        a.payloadMtu = mtuA;
        b.payloadMtu = mtuB;
        connect();
        writeBothWays(100_000);
        int most = Math.min(mtuA, mtuB);
        for (Tap.Seen s : tap.seen) {
            if (s.isData() && (s.u8(5) & DataHeader.LAST) == 0) {
                assertEquals(most, s.u16(DataHeader.PAYLOAD_LENGTH));
            }
            assertTrue(!s.isData() || s.u16(DataHeader.PAYLOAD_LENGTH) <= most);
        }
        p.assertCopied(0, 0, 100_000);
    }

    @Test
    @Requirement({"MR-PAR-002", "MR-ENC-005", "MR-ENC-003", "MR-ENC-006"})
    void planesAreToldInOrderAndUsedAsToldPortsIncluded() {
        // The third host has three planes and a receive port of its own.
        Peers q = new Peers(1502);
        q.net.receivePort = 30_000;
        EndpointConfig three = Peers.config(5);
        three.localAddresses = new NetAddress[3];
        TestNetwork.Host host = q.net.add(three, q.regionsA);
        Tap t = new Tap(q);
        int handle = host.endpoint.connect(q.net.nowNs, q.b.config.localAddresses[0], 0);
        assertTrue(q.net.run(10 * MS, () -> host.endpoint.payloadMtu(handle) > 0 && q.b.endpoint.liveConnections() == 1 && t.seen.size() > 5));
        q.net.run(MS, () -> false);
        Tap.Seen init = t.seen.stream().filter(s -> s.type() == Type.INIT).findFirst().orElseThrow();
        int at = HandshakeRequirementsTest.tlv(init.bytes(), InitHeader.LENGTH, Tlv.PLANES);
        assertEquals(60, init.u16(at + 2));
        for (int i = 0; i < 3; i++) {
            NetAddress own = host.config.localAddresses[i];
            assertEquals(own, new NetAddress(init.i64(at + 4 + 20 * i), init.i64(at + 12 + 20 * i), init.u16(at + 20 + 20 * i)));
        }
        assertEquals(30_000, init.u16(InitHeader.RECEIVE_PORT));
        // Two planes on the other side: two are used, each between the addresses told for it.
        assertEquals(8, host.endpoint.pathCount(handle));
        for (Tap.Seen s : t.seen) {
            if (s.type() == Type.PROBE || s.type() == Type.ACK) {
                boolean fromHost = s.to().low() == q.b.config.localAddresses[s.plane()].low();
                NetAddress to = fromHost ? q.b.config.localAddresses[s.plane()] : host.config.localAddresses[s.plane()];
                assertEquals(to, s.to());
                assertTrue(s.plane() < 2);
            }
            if (s.type() == Type.PROBE) {
                assertEquals(DataHeader.planeOf(s.path()), s.plane());
            }
        }
    }

    @Test
    @Requirement("MR-PAR-002")
    void anUnspecifiedAddressStandsForTheSource() {
        peers();
        p.net.change = d -> {
            boolean init = d[4] == Prefix.versionTypeOf(Type.INIT);
            if (!init && d[4] != Prefix.versionTypeOf(Type.ACCEPT)) {
                return d;
            }
            return Tap.changed(d, x -> {
                int at = HandshakeRequirementsTest.tlv(x.array(), init ? InitHeader.LENGTH : AcceptHeader.LENGTH, Tlv.PLANES);
                // One in each of its forms.
                x.putLong(at + 4, 0).putLong(at + 12, 0);
                x.putLong(at + 24, 0).putLong(at + 32, 0xffff_0000_0000L);
            });
        };
        p.connect();
        writeBothWays(20_000);
        for (Tap.Seen s : tap.seen) {
            NetAddress other = (s.toB() ? p.b : p.a).config.localAddresses[0];
            assertEquals(other, s.to());
        }
        assertTrue(tap.dataToB().stream().anyMatch(s -> s.plane() == 1));
    }

    @ParameterizedTest
    @CsvSource({"4, 2", "2, 4", "1, 3"})
    @Requirement({"MR-PAR-003", "MR-PATH-001"})
    void bothUseTheSmallerNumberOfPaths(int pathsA, int pathsB) {
        a.pathsPerPlane = pathsA;
        b.pathsPerPlane = pathsB;
        connect();
        writeBothWays(300_000);
        Set<Integer> used = new HashSet<>();
        tap.seen.stream().filter(Tap.Seen::isData).forEach(s -> used.add(DataHeader.indexOf(s.path())));
        assertEquals(Math.min(pathsA, pathsB), used.size());
        assertTrue(used.stream().allMatch(i -> i < Math.min(pathsA, pathsB)));
    }

    @ParameterizedTest
    @CsvSource({"9, 5", "5, 9"})
    @Requirement({"MR-PAR-004", "MR-ERR-012"})
    void streamsAreBelowTheSmallerMaximum(int streamsA, int streamsB) {
        a.maxStreams = streamsA;
        b.maxStreams = streamsB;
        connect();
        assertEquals(Endpoint.BAD_STREAM, p.a.endpoint.post(p.ab, p.request(Opcode.WRITE, 5, 0, 10, 0, 1)));
        assertEquals(Endpoint.BAD_STREAM, p.b.endpoint.postReceive(p.ba, 5, p.memoryB.address(), 10, p.memoryB.key(), 1));
        p.post(p.request(Opcode.WRITE, 4, 0, 10, 0, 1));
        assertTrue(p.until(10 * MS, () -> p.completionsA.size() == 1));
        p.run(MS);
        byte[] data = tap.dataToB().getFirst().bytes();
        tap.seen.clear();
        tap.giveB(Tap.later(data, 1, x -> x.putInt(DataHeader.STREAM, 5)));
        Tap.Control nak = tap.acksToA().getFirst().controls().getFirst();
        assertEquals(new Tap.Control(ControlBlock.NAK, Cause.UNKNOWN_STREAM, 5, 0), nak);
        // Not marked, not kept: later acknowledgements say nothing of either.
        p.run(MS);
        tap.seen.clear();
        tap.giveB(Tap.later(data, 2, x -> x.putInt(DataHeader.SSN, 1).putInt(DataHeader.MSN, 1)));
        int psn = ByteBuffer.wrap(data).getInt(DataHeader.PSN);
        assertEquals(Tap.low(psn + 1), tap.lastBlock(tap.seen.isEmpty() ? 0 : ByteBuffer.wrap(data).getShort(DataHeader.PATH)).cumulative());
        assertTrue(tap.acksToA().getLast().controls().isEmpty());
    }

    @ParameterizedTest
    @CsvSource({"1024, 64", "64, 1024", "128, 4096"})
    @Requirement({"MR-PAR-005", "MR-STR-010"})
    void aStreamsPacketsStayWithinThePeersWindow(int windowA, int windowB) {
        a.streamWindowPackets = windowA;
        b.streamWindowPackets = windowB;
        connect();
        // Acknowledgements are lost: nothing beyond the window may follow, whatever else would let it go.
        p.post(p.request(Opcode.WRITE, 1, 0, 1_000, 0, 0));
        p.run(MS);
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.ACK;
        for (int i = 0; i < 2_000; i++) {
            if (p.a.endpoint.post(p.ab, p.request(Opcode.WRITE, 1, 0, 1_000, 0, i)) != Endpoint.OK) {
                break;
            }
        }
        p.run(50 * MS);
        int window = Math.min(windowA, windowB);
        int top = tap.dataToB().stream().mapToInt(Tap.Seen::ssn).max().orElseThrow();
        assertTrue(top <= window, top + " beyond a window of " + window);
        assertTrue(window > 200 || top > 20);
        p.net.filter = (d, plane, port) -> true;
        assertTrue(p.until(2_000 * MS, () -> p.completionsA.size() > window));
    }

    @ParameterizedTest
    @CsvSource({"0, 0, 64", "0, 1, 100000", "1, 0, 100000", "1, 1, 100000"})
    @Requirement({"MR-PAR-006", "MR-CRC-003"})
    void bothUseTheStrongerIntegrity(int integrityA, int integrityB, int covered) {
        a.integrity = integrityA;
        b.integrity = integrityB;
        connect();
        writeBothWays(5_000);
        assertEquals(Completion.OK, p.completionsA.getFirst().status);
        p.post(p.request(Opcode.READ_REQUEST, 3, 7_000_000, 100, 0, 3));
        p.run(MS);
        int tagA = tap.of(true, Type.INIT).getFirst().i32(InitHeader.INITIATOR_TAG);
        int tagB = tap.of(false, Type.ACCEPT).getFirst().i32(AcceptHeader.RESPONDER_TAG);
        for (Tap.Seen s : tap.seen) {
            if (s.isData()) {
                int bytes = s.opcode() == Opcode.READ_REQUEST ? s.bytes().length : Math.min(covered, s.bytes().length);
                CRC32C crc = new CRC32C();
                crc.update(s.bytes(), 4, bytes - 4);
                assertEquals((int) crc.getValue() ^ (s.toB() ? tagB : tagA), s.i32(0), Opcode.name(s.opcode()));
            }
        }
        assertEquals(0, p.a.endpoint.counters().checksumErrors + p.b.endpoint.counters().checksumErrors);
    }

    @ParameterizedTest
    @CsvSource({"1, 200", "5, 3", "16, 1"})
    @Requirement({"MR-PAR-007", "MR-ACK-001"})
    void acknowledgementsComeAtLeastAsOftenAsTheSenderAsks(int everyA, int everyB) {
        a.ackEvery = everyA;
        b.ackEvery = everyB;
        b.ackDelayNs = 400 * MS;
        connect();
        p.post(p.request(Opcode.WRITE, 0, 0, 100, 0, 0));
        p.run(MS);
        byte[] data = tap.dataToB().getFirst().bytes();
        for (int round = 0; round < 3; round++) {
            tap.seen.clear();
            for (int i = 1; i <= everyA; i++) {
                assertTrue(tap.acksToA().isEmpty(), "after " + i + " of " + everyA);
                int n = round * everyA + i;
                tap.giveB(Tap.later(data, n, x -> x.put(DataHeader.FLOOR_DISTANCE, (byte) 0).putInt(DataHeader.SSN, n).putInt(DataHeader.MSN, n)
                        .put(Prefix.FLAGS, (byte) DataHeader.LAST)));
            }
            assertEquals(1, tap.acksToA().size());
        }
    }

    /** With four planes, an acknowledgement every four packets of the connection would be one for nearly each packet. */
    @Test
    @Requirement("MR-ACK-001")
    void eachPlaneCountsForItself() {
        a.ackEvery = 3;
        b.ackDelayNs = 400 * MS;
        connect();
        byte[][] data = new byte[2][];
        for (int i = 0; data[0] == null || data[1] == null; i++) {
            tap.seen.clear();
            p.post(p.request(Opcode.WRITE, 0, 0, 100, 0, i));
            p.run(MS);
            Tap.Seen s = tap.dataToB().getFirst();
            data[s.plane()] = s.bytes();
            assertTrue(i < 100);
        }
        int last = tap.dataToB().getFirst().ssn();
        tap.seen.clear();
        int n = 0;
        for (int i = 1; i <= 6; i++) {
            for (int plane = 0; plane < 2; plane++) {
                int psn = i;
                int next = last + ++n;
                p.net.inject(p.b, plane, p.a.config.localAddresses[plane], 2, Tap.later(data[plane], psn, x -> x.put(DataHeader.FLOOR_DISTANCE, (byte) 0)
                        .putInt(DataHeader.SSN, next).putInt(DataHeader.MSN, next).put(Prefix.FLAGS, (byte) DataHeader.LAST)));
                p.run(0);
                int expected = i / 3 + (plane == 1 ? i : i - 1) / 3;
                assertEquals(expected, tap.acksToA().size(), i + " on plane " + plane);
            }
        }
        tap.acksToA().forEach(s -> s.blocks().forEach(block -> assertEquals(s.u8(AckHeader.PLANE), block.path() >> 8, "one plane's paths")));
    }

    @Test
    @Requirement("MR-ACK-001")
    void oneAcknowledgementWaitsNoLongerThanItsDelay() {
        a.ackEvery = 100;
        b.ackDelayNs = 70_000;
        connect();
        p.post(p.request(Opcode.WRITE, 0, 0, 100, 0, 0));
        p.run(MS);
        byte[] data = tap.dataToB().getFirst().bytes();
        tap.seen.clear();
        long at = p.net.nowNs;
        for (int i = 1; i <= 3; i++) {
            int n = i;
            p.net.inject(p.b, 0, p.a.config.localAddresses[0], 2, Tap.later(data, n, x -> x.put(DataHeader.FLOOR_DISTANCE, (byte) 0).putInt(DataHeader.SSN, n)
                    .putInt(DataHeader.MSN, n).put(Prefix.FLAGS, (byte) DataHeader.LAST)));
            p.run(20_000);
        }
        p.run(MS);
        assertEquals(1, tap.acksToA().size());
        assertEquals(at + 70_000, tap.acksToA().getFirst().atNs(), 1_000, "after the first of them");
    }

    @Test
    @Requirement({"MR-PAR-008", "MR-SHARE-001"})
    void noSideAsksForMoreThanTheSlowerLine() {
        a.lineRateKbps = 40_000_000;
        b.lineRateKbps = 2_000_000;
        connect();
        for (int i = 0; i < 8; i++) {
            p.post(p.request(Opcode.WRITE, i, 0, 1_000_000, 0, i));
        }
        p.run(2 * MS);
        long most = tap.dataToB().stream().mapToLong(s -> Rate16.decode(s.u16(DataHeader.DEMAND))).max().orElseThrow();
        assertEquals(Rate16.decode(Rate16.encode(2_000_000)), most);
        // And the window is that of the slower line: at most twice its bandwidth-delay product and a few packets.
        p.run(20 * MS);
        int out = 0;
        PathStats s = new PathStats();
        for (int i = 0; i < p.a.endpoint.pathCount(p.ab); i++) {
            p.a.endpoint.readPath(p.ab, i, s);
            out += s.inflight;
        }
        double bdp = p.a.endpoint.leastRttNs(p.ab, 0) * 2e6 / 8e6 / (1024 + 64 + 66);
        assertTrue(out <= 2 * (Math.max(2, 2 * bdp) + 1), out + " out, B is " + bdp);
    }

    @ParameterizedTest
    @CsvSource({"8", "4", "30"})
    @Requirement({"MR-PAR-009", "MR-CC-001"})
    void noMoreIsOutThanThePeerHolds(int buffer) {
        b.receiveBufferPackets = buffer;
        a.minWindowPackets = 200;
        connect();
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.ACK;
        tap.seen.clear();
        for (int i = 0; i < 4; i++) {
            p.post(p.request(Opcode.WRITE, i, 0, 200_000, 0, i));
        }
        p.run(12_000);
        for (int plane = 0; plane < 2; plane++) {
            int of = plane;
            long out = tap.dataToB().stream().filter(s -> s.plane() == of).count();
            assertTrue(out <= buffer && out >= Math.min(buffer, 16) - 1, out + " out, the peer holds " + buffer);
        }
    }

    private long outAtOnce() {
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.ACK;
        tap.seen.clear();
        for (int i = 0; i < 4; i++) {
            p.post(p.request(Opcode.WRITE, i, 0, 200_000, 0, i));
        }
        p.run(12_000);
        return tap.dataToB().stream().filter(s -> s.plane() == 0).count();
    }

    @Test
    @Requirement("MR-PAR-011")
    void theStartShareRulesUntilTheFirstShare() {
        a.lineRateKbps = 100_000_000;
        peers();
        // A hundredth of the line: B is about 60 packets and the window twice that, so it would be one packet.
        onAccept(Tlv.START_SHARE, (x, at) -> x.putInt(at, 1_000_000));
        p.connect();
        // The probe's answer brings a share: none must have come.
        assertTrue(outAtOnce() > 30, "a share came, and rules");
        for (long[] told : new long[][] {{1_000_000, 3, Limits.START_PACKETS}, {20_000_000, Limits.START_PACKETS + 1, 70}}) {
            peers();
            onAccept(Tlv.START_SHARE, (x, at) -> x.putInt(at, (int) told[0]));
            p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.ACK;
            p.connect();
            long out = outAtOnce();
            assertTrue(out >= told[1] && out <= told[2], out + " with a start share of " + told[0]);
        }
    }

    @Test
    @Requirement("MR-PAR-011")
    void withoutAStartShareItIsWhatTheStartWindowNeeds() {
        a.lineRateKbps = 100_000_000;
        peers();
        onAccept(Tlv.START_SHARE, null);
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.ACK;
        p.connect();
        assertEquals(Limits.START_PACKETS, outAtOnce(), 1);
    }

    @Test
    @Requirement("MR-PAR-012")
    void acceptRepeatsTheService() {
        a.service = 77;
        b.service = 77;
        connect();
        Tap.Seen accept = tap.of(false, Type.ACCEPT).getFirst();
        assertEquals(77, accept.i32(HandshakeRequirementsTest.tlv(accept.bytes(), AcceptHeader.LENGTH, Tlv.SERVICE) + 4));
    }

    @Test
    @Requirement("MR-PAR-013")
    void anAcceptOfNoUseIsAnsweredByClose() {
        peers();
        onAccept(Tlv.SERVICE, (x, at) -> x.putInt(at, 5));
        p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        assertTrue(p.until(10 * MS, () -> Peers.has(p.eventsA, Event.REFUSED)));
        assertEquals(Reason.PARAMETERS, p.eventsA.getFirst().reason);
        p.run(MS);
        Tap.Seen close = tap.of(true, Type.CLOSE).getFirst();
        assertEquals(Reason.PARAMETERS, close.u8(CloseHeader.REASON));
        p.run(60 * MS);
        assertEquals(0, p.b.endpoint.liveConnections(), "and not left to its time-out");
    }

    @Test
    @Requirement("MR-CON-014")
    void aCloseOfAHalfOpenConnectionEndsIt() {
        peers();
        onAccept(Tlv.SERVICE, (x, at) -> x.putInt(at, 5));
        p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        p.run(60 * MS);
        assertEquals(List.of(Event.ACCEPTED, Event.FAILED), p.eventsB.stream().map(e -> e.kind).toList());
    }

    @Test
    @Requirement({"MR-PAR-003", "MR-PAR-004", "MR-PAR-005", "MR-PAR-007"})
    void whatIsAbsentHasItsDefault() {
        peers();
        p.net.change = d -> {
            boolean init = d[4] == Prefix.versionTypeOf(Type.INIT);
            return init || d[4] == Prefix.versionTypeOf(Type.ACCEPT) ? Tap.changed(d, x -> {
                ByteBuffer planes = ByteBuffer.allocate(44);
                int from = init ? InitHeader.LENGTH : AcceptHeader.LENGTH;
                x.get(HandshakeRequirementsTest.tlv(x.array(), from, Tlv.PLANES), planes.array());
                Arrays.fill(x.array(), from, d.length, (byte) 0);
                x.put(from, planes.array());
                x.putShort(from + 46, (short) (d.length - from - 48));
            }) : d;
        };
        p.connect();
        assertEquals(1_024, p.a.endpoint.payloadMtu(p.ab));
        assertEquals(2, p.a.endpoint.pathCount(p.ab));
        assertEquals(Endpoint.BAD_STREAM, p.a.endpoint.post(p.ab, p.request(Opcode.WRITE, 1, 0, 1, 0, 1)));
        writeBothWays(200_000);
        for (int i = 0; i < 5; i++) {
            p.post(p.request(Opcode.READ_REQUEST, 0, 0, 10, 0, i));
        }
        tap.seen.clear();
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.DATA || d[6] != Opcode.READ_RESPONSE;
        p.run(MS);
        assertEquals(1, tap.dataToB().stream().mapToInt(s -> s.i32(DataHeader.READ_INDEX)).distinct().count(), "one Read at a time");
        assertFalse(Peers.has(p.eventsA, Event.STREAM_FAILED));
    }
}
