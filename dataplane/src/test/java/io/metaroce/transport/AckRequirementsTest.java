// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.AckHeader;
import io.metaroce.wire.ControlBlock;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.PathBlock;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.ProbeHeader;
import io.metaroce.wire.Type;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Acknowledgements, sent and received, requirement by requirement. */
class AckRequirementsTest {
    private static final long MS = 1_000_000;

    private final EndpointConfig a = Peers.config(1701);
    private final EndpointConfig b = Peers.config(1702);
    private Peers p;
    private Tap tap;
    private Tap.Seen first;

    /** One packet was written and acknowledged. */
    private void connect() {
        p = new Peers(1701, a, b);
        tap = new Tap(p);
        first = tap.connectAndWrite(100);
    }

    /** A Write of one packet, this many PSNs and SSNs behind the first; not the last that waits. */
    private byte[] next(int ahead, Consumer<ByteBuffer> more) {
        return Tap.changed(first.bytes(), d -> {
            d.putInt(DataHeader.PSN, first.psn() + ahead).put(DataHeader.FLOOR_DISTANCE, (byte) (ahead - 1));
            d.putInt(DataHeader.SSN, ahead).putInt(DataHeader.MSN, ahead).put(Prefix.FLAGS, (byte) DataHeader.LAST);
            more.accept(d);
        });
    }

    private byte[] next(int ahead) {
        return next(ahead, d -> { });
    }

    private void inject(byte[] d, int ecn) {
        p.net.inject(p.b, 0, p.a.config.localAddresses[0], ecn, d);
    }

    private void patient() {
        a.ackEvery = 255;
        b.ackDelayNs = 300 * MS;
        connect();
    }

    // ---- sending ----

    @Test
    @Requirement({"MR-ACK-002", "MR-ACK-003"})
    void whatIsUrgentIsAcknowledgedAtOnce() {
        patient();
        long at = p.net.nowNs;
        inject(next(1), 2);
        p.run(1_000);
        assertTrue(tap.seen.isEmpty(), "an ordinary packet waits");
        inject(next(3), 2);
        p.run(0);
        assertEquals(1, tap.acksToA().size(), "a gap");
        inject(next(2), 2);
        p.run(0);
        assertEquals(1, tap.acksToA().size(), "the gap is filled");
        inject(next(4, d -> d.put(Prefix.FLAGS, (byte) (DataHeader.LAST | DataHeader.ACK_REQUEST))), 2);
        p.run(0);
        assertEquals(2, tap.acksToA().size(), "asked for");
        inject(next(5), 3);
        p.run(0);
        assertEquals(3, tap.acksToA().size(), "a CE mark");
        inject(next(6, d -> d.putInt(DataHeader.REMOTE_KEY, 0)), 2);
        p.run(0);
        assertEquals(4, tap.acksToA().size(), "a NAK");
        assertEquals(ControlBlock.NAK, tap.acksToA().getLast().controls().getFirst().kind());
        assertEquals(at + 1_000, p.net.nowNs);
    }

    /** All that came before the packet that asks, however late it comes itself. */
    @Test
    @Requirement("MR-ACK-019")
    void whatCompletesAnAskedForMessageIsAcknowledgedAtOnce() {
        patient();
        inject(next(1, d -> d.putInt(DataHeader.SSN, 2).putInt(DataHeader.MSN, 2)), 2);
        inject(next(2, d -> d.putInt(DataHeader.SSN, 1).putInt(DataHeader.MSN, 1)), 2);
        p.run(1_000);
        assertEquals(0, tap.acksToA().size(), "nobody asked");
        inject(next(3, d -> d.putInt(DataHeader.SSN, 5).putInt(DataHeader.MSN, 5).put(Prefix.FLAGS, (byte) (DataHeader.LAST | DataHeader.ACK_REQUEST))), 2);
        p.run(0);
        assertEquals(1, tap.acksToA().size(), "asked for");
        inject(next(4), 2);
        p.run(1_000);
        assertEquals(1, tap.acksToA().size(), "one is still missing");
        // What lies between came on another plane, which owes an acknowledgement of its own.
        p.net.inject(p.b, 1, p.a.config.localAddresses[1], 2, next(5, d -> d.putShort(DataHeader.PATH, (short) DataHeader.pathOf(1, 0))
                .putInt(DataHeader.SSN, 3).putInt(DataHeader.MSN, 3).put(DataHeader.FLOOR_DISTANCE, (byte) 0)));
        p.run(0);
        assertEquals(3, tap.acksToA().size(), "complete: both planes");
        inject(next(5, d -> d.putInt(DataHeader.SSN, 6).putInt(DataHeader.MSN, 6)), 2);
        p.run(1_000);
        assertEquals(3, tap.acksToA().size(), "asked once, told once");
    }

    /** While packets are lost, what the acknowledgement before told is told again: all of it, or where these come one after the other some. */
    @Test
    @Requirement("MR-ACK-008")
    void whereLossIsMetAnAcknowledgementRepeatsTheOneBefore() {
        a.ackEvery = 2;
        b.ackDelayNs = 300 * MS;
        for (boolean lossy : new boolean[] {false, true}) {
            connect();
            if (lossy) {
                Inside.state(p.b.endpoint).losses.lost(1);
            }
            int[] paths = {1, 2, 3, 1};
            for (int i = 0; i < 4; i++) {
                int of = i;
                inject(next(i + 1, d -> d.putShort(DataHeader.PATH, (short) DataHeader.pathOf(0, paths[of]))
                        .put(DataHeader.FLOOR_DISTANCE, (byte) 0)), 2);
                p.run(0);
            }
            List<List<Integer>> told = tap.acksToA().stream().map(s -> s.blocks().stream().map(x -> DataHeader.indexOf(x.path())).toList()).toList();
            assertEquals(List.of(List.of(2, 1), lossy ? List.of(1, 3, 2) : List.of(1, 3)), told);
            tap.seen.clear();
            inject(next(5, d -> d.putShort(DataHeader.PATH, (short) DataHeader.pathOf(0, 1)).put(DataHeader.FLOOR_DISTANCE, (byte) 0)
                    .put(Prefix.FLAGS, (byte) (DataHeader.LAST | DataHeader.ACK_REQUEST))), 2);
            p.run(0);
            assertEquals(lossy ? List.of(1, 3) : List.of(1),
                    tap.acksToA().getFirst().blocks().stream().map(x -> DataHeader.indexOf(x.path())).toList());
        }
    }

    /** Of 256 paths the last was once told again with what stands in front of the first one. */
    @Test
    @Requirement("MR-ACK-008")
    void whatIsRepeatedIsOfThePathItNames() {
        a.ackEvery = 2;
        a.pathsPerPlane = 256;
        b.ackDelayNs = 300 * MS;
        b.pathsPerPlane = 256;
        connect();
        Inside.state(p.b.endpoint).losses.lost(1);
        int[] paths = {255, 3, 1, 2};
        for (int i = 0; i < paths.length; i++) {
            int path = paths[i];
            inject(next(i + 1, d -> d.putShort(DataHeader.PATH, (short) DataHeader.pathOf(0, path)).put(DataHeader.FLOOR_DISTANCE, (byte) 0)), 2);
            p.run(0);
        }
        assertEquals(List.of(2, 1, 3), tap.acksToA().getLast().blocks().stream().map(x -> DataHeader.indexOf(x.path())).toList());
    }

    /** One of B's routes loses all acknowledgements, and B has nothing out that would show it. */
    @Test
    @Requirement("MR-ACK-020")
    void aRouteOfWhichNothingIsHeardCarriesNoMoreAcknowledgements() {
        connect();
        EndpointState s = Inside.state(p.b.endpoint);
        int dead = s.slab.getInt(s.path(s.connectionOf(p.ba), 0, 2) + PathRecord.SOURCE_PORT);
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.ACK || plane != 0 || port != dead || ByteBuffer.wrap(d).getInt(8) != p.ab;
        int[] done = {1};
        int[] late = new int[2];
        for (int i = 0; i < 200; i++) {
            tap.seen.clear();
            p.post(p.request(Opcode.WRITE, 0, 0, 20_000, 0, 2 + i));
            done[0]++;
            assertTrue(p.until(100 * MS, () -> p.completionsA.size() == done[0]));
            if (i >= 20) {
                late[0] += (int) tap.acksToA().stream().filter(x -> x.plane() == 0).count();
                late[1] += (int) tap.acksToA().stream().filter(x -> x.plane() == 0 && x.sourcePort() == dead).count();
            }
        }
        // By turns it would be a quarter.
        assertTrue(late[0] > 300 && late[1] < late[0] / 50, late[1] + " of " + late[0]);
    }

    @Test
    @Requirement({"MR-ACK-002", "MR-LOSS-010"})
    void aProbeIsAnsweredAtOnce() {
        patient();
        p.run(500 * MS);
        Tap.Seen probe = tap.of(true, Type.PROBE).getLast();
        tap.seen.clear();
        inject(probe.bytes(), 2);
        p.run(0);
        assertEquals(probe.i32(ProbeHeader.TIMESTAMP), tap.acksToA().getFirst().blocks().getFirst().echo());
    }

    @Test
    @Requirement("MR-ACK-018")
    void theLastPacketThatWaitsAsksForItsAcknowledgement() {
        connect();
        p.post(p.request(Opcode.WRITE, 0, 0, 5_000, 0, 2));
        p.post(p.request(Opcode.WRITE, 1, 0, 5_000, 0, 3));
        p.run(MS);
        List<Tap.Seen> data = tap.dataToB();
        assertEquals(10, data.size());
        for (Tap.Seen s : data) {
            assertEquals(s == data.getLast(), (s.u8(5) & DataHeader.ACK_REQUEST) != 0);
        }
    }

    @Test
    @Requirement({"MR-ACK-004", "MR-ACK-006", "MR-ENC-013", "MR-GEN-012"})
    void aBlockDescribesThePathAsItIs() {
        patient();
        inject(next(2, d -> d.putInt(DataHeader.TIMESTAMP, 0x12345678)), 3);
        inject(next(2), 3);
        inject(next(5, d -> d.putInt(DataHeader.TIMESTAMP, -7)), 2);
        inject(next(6, d -> d.putInt(DataHeader.TIMESTAMP, 99)), 3);
        // Of another epoch, or below the base: delivered, but not of this path's present state.
        inject(next(1, d -> d.put(DataHeader.EPOCH, (byte) 200)), 3);
        p.run(0);
        Tap.Block block = tap.lastBlock(first.path());
        assertEquals(Tap.low(first.psn() + 1), block.cumulative());
        assertEquals(6, block.span());
        assertEquals(0b110010, block.words()[0]);
        assertEquals(2, block.ce(), "each mark once");
        assertEquals(99, block.echo(), "echoed as it came");
    }

    @Test
    @Requirement("MR-PKT-017")
    void aBlockIsLongWhereItHasMoreToTell() {
        patient();
        inject(next(1, d -> d.put(Prefix.FLAGS, (byte) (DataHeader.LAST | DataHeader.ACK_REQUEST))), 2);
        p.run(0);
        assertFalse(tap.lastBlock(first.path()).isLong(), "all has come in order");
        inject(next(3), 2);
        p.run(0);
        assertTrue(tap.lastBlock(first.path()).isLong(), "a gap");
        inject(next(2, d -> d.put(Prefix.FLAGS, (byte) (DataHeader.LAST | DataHeader.ACK_REQUEST)).putInt(DataHeader.TIMESTAMP, 77)), 2);
        p.run(0);
        Tap.Block late = tap.lastBlock(first.path());
        assertTrue(late.isLong() && late.span() == 0 && late.echo() == 77, "it was overtaken: not the packet before cumulative");
        inject(next(4, d -> d.put(Prefix.FLAGS, (byte) (DataHeader.LAST | DataHeader.ACK_REQUEST))), 2);
        p.run(0);
        assertFalse(tap.lastBlock(first.path()).isLong());
        p.net.inject(p.b, 0, p.a.config.localAddresses[0], 2, probe(first.psn() + 5, 78));
        p.run(0);
        Tap.Block probed = tap.lastBlock(first.path());
        assertTrue(probed.isLong() && probed.span() == 0 && probed.echo() == 78, "a probe");
    }

    /** A probe of the first packet's path on which nothing is missing. */
    private byte[] probe(int nextPsn, int timestamp) {
        return Tap.resized(first.bytes(), ProbeHeader.LENGTH, d -> {
            d.put(Prefix.VERSION_TYPE, (byte) (Prefix.VERSION << 4 | Type.PROBE)).put(Prefix.FLAGS, (byte) 0).putShort(6, (short) 0);
            d.putInt(ProbeHeader.NEXT_PSN, nextPsn).putInt(ProbeHeader.TIMESTAMP, timestamp).putInt(ProbeHeader.DEMAND, 0).putInt(ProbeHeader.FLOOR, nextPsn);
        });
    }

    @Test
    @Requirement("MR-ACK-023")
    void whatCameTwiceIsToldWhenItHasChanged() {
        connect();
        for (int n = 1; n <= 3; n++) {
            int psn = n;
            tap.seen.clear();
            // The same message once more, by another path.
            inject(Tap.changed(first.bytes(), d -> d.putShort(DataHeader.PATH, (short) (first.path() ^ 1)).putInt(DataHeader.PSN, psn)
                    .put(DataHeader.FLOOR_DISTANCE, (byte) 0)), 2);
            p.run(20_000);
            assertEquals(List.of(new Tap.Control(ControlBlock.DUPLICATES, 0, 0, n)), tap.acksToA().getLast().controls());
            assertEquals(n, p.statsA().spuriousRetransmissions);
            tap.seen.clear();
            inject(next(n, d -> d.put(Prefix.FLAGS, (byte) (DataHeader.LAST | DataHeader.ACK_REQUEST))), 2);
            p.run(20_000);
            assertEquals(List.of(), tap.acksToA().getLast().controls(), "once");
        }
        assertEquals(3, p.statsB().duplicates);
    }

    @Test
    @Requirement("MR-ACK-005")
    void theHoldTimeIsThatOfTheEchoedPacket() {
        a.ackEvery = 255;
        b.ackDelayNs = 100_000;
        connect();
        inject(next(1), 2);
        p.run(30_000);
        inject(next(2), 2);
        p.run(MS);
        assertEquals(70_000 / 64, tap.lastBlock(first.path()).hold());
        b.ackDelayNs = 4_194_303;
        inject(next(3), 2);
        p.run(10 * MS);
        assertEquals(0xffff, tap.lastBlock(first.path()).hold(), "65,535 units and more are not told");
        b.ackDelayNs = 4_194_239;
        inject(next(4), 2);
        p.run(10 * MS);
        assertEquals(0xfffe, tap.lastBlock(first.path()).hold());
    }

    @Test
    @Requirement("MR-ACK-005")
    void nothingIsEchoedFromAnotherEpoch() {
        patient();
        inject(next(1), 2);
        p.run(1_000);
        // A new epoch begins with a packet that the stream does not take: there is nothing of this epoch to echo.
        inject(next(2, d -> d.put(DataHeader.EPOCH, (byte) 1).putInt(DataHeader.SSN, 1_000_000)), 2);
        p.run(400 * MS);
        Tap.Block block = tap.acksToA().getFirst().blocks().getFirst();
        assertEquals(1, block.epoch());
        assertEquals(0xffff, block.hold());
        assertFalse(block.isLong(), "and nothing to say of when");
    }

    @Test
    @Requirement("MR-ENC-010")
    void successiveAcknowledgementsTakeDifferentWaysBack() {
        connect();
        p.post(p.request(Opcode.WRITE, 0, 0, 200_000, 0, 2));
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 2));
        for (int plane = 0; plane < 2; plane++) {
            int of = plane;
            int[] ports = tap.acksToA().stream().filter(s -> s.plane() == of).mapToInt(Tap.Seen::sourcePort).toArray();
            int same = 0;
            for (int i = 1; i < ports.length; i++) {
                same += ports[i] == ports[i - 1] ? 1 : 0;
            }
            assertTrue(java.util.Arrays.stream(ports).distinct().count() >= 4 && same < ports.length / 4, same + " of " + ports.length);
        }
    }

    @Test
    @Requirement("MR-ACK-007")
    void acknowledgementsTravelOnThePlaneOfTheirData() {
        connect();
        p.net.loss = 0.05;
        p.post(p.request(Opcode.WRITE, 0, 0, 4_000_000, 0, 2));
        assertTrue(p.until(1_000 * MS, () -> p.completionsA.size() == 2));
        int[] count = new int[2];
        for (Tap.Seen s : tap.acksToA()) {
            for (Tap.Block block : s.blocks()) {
                assertEquals(s.plane(), DataHeader.planeOf(block.path()));
                count[s.plane()]++;
            }
        }
        assertTrue(count[0] > 10 && count[1] > 10);
    }

    @Test
    @Requirement("MR-ACK-007")
    void whereAllPlanesSeemDownTheAnswerTakesTheWayOfTheQuestion() {
        connect();
        EndpointState s = Inside.state(p.b.endpoint);
        for (int plane = 0; plane < 2; plane++) {
            s.slab.putInt(s.plane(s.connectionOf(p.ba), plane) + PlaneRecord.STATE, PlaneRecord.DOWN);
        }
        p.post(p.request(Opcode.WRITE, 0, 0, 100_000, 0, 2));
        assertTrue(p.until(10 * MS, () -> p.completionsA.size() == 2));
        int[] count = new int[2];
        for (Tap.Seen seen : tap.acksToA()) {
            for (Tap.Block block : seen.blocks()) {
                assertEquals(seen.plane(), DataHeader.planeOf(block.path()));
                count[seen.plane()]++;
            }
        }
        assertTrue(count[0] > 0 && count[1] > 0);
    }

    @Test
    @Requirement({"MR-ACK-007", "MR-LOSS-033"})
    void whatBelongsToADeadPlaneGoesOnAnother() {
        connect();
        // Nothing of B's gets through on plane 1; what A sends there does.
        p.net.filter = (d, plane, port) -> plane == 0 || ByteBuffer.wrap(d).getInt(8) == p.ba;
        WorkRequest back = p.requestFromB(Opcode.WRITE, 0, 0, 2_000_000, 4_000_000, 2);
        assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, back));
        assertTrue(p.until(100 * MS, () -> p.completionsB.size() == 1));
        assertEquals(1, p.statsB().planeFailures);
        tap.seen.clear();
        // B holds plane 1 for down. A, which does not, writes over both; B's receives and its CLOSE are told, too.
        p.post(p.request(Opcode.WRITE, 1, 0, 100_000, 0, 2));
        p.post(p.request(Opcode.SEND, 2, 0, 10, 0, 3));
        p.postReceiveB(2, 0, 100, 1);
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 3));
        List<Tap.Seen> acks = tap.acksToA();
        assertTrue(acks.stream().allMatch(s -> s.plane() == 0));
        assertTrue(acks.stream().anyMatch(s -> s.blocks().stream().anyMatch(x -> DataHeader.planeOf(x.path()) == 1)));
        assertTrue(acks.stream().anyMatch(s -> s.controls().stream().anyMatch(c -> c.kind() == ControlBlock.CREDIT)));
        p.b.endpoint.close(p.net.nowNs, p.ba);
        assertTrue(p.until(10 * MS, () -> Peers.has(p.eventsA, Event.CLOSED)));
        assertEquals(0, tap.of(false, Type.CLOSE).getFirst().plane());
    }

    @Test
    @Requirement({"MR-ACK-010", "MR-ERR-020"})
    void aNakIsPartOfEveryAcknowledgementUntilItIsConfirmed() {
        connect();
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.ACK || ByteBuffer.wrap(d).getInt(8) != p.ba;
        WorkRequest bad = p.request(Opcode.WRITE, 5, 0, 10, 0, 2);
        bad.remoteKey = 0;
        p.post(bad);
        p.run(MS);
        tap.seen.clear();
        p.post(p.request(Opcode.WRITE, 0, 0, 4_000_000, 0, 3));
        p.run(MS);
        assertTrue(tap.acksToA().size() > 10);
        tap.acksToA().forEach(s -> assertEquals(List.of(new Tap.Control(ControlBlock.NAK, 1, 5, 0)), s.controls()));
        p.net.filter = (d, plane, port) -> true;
        // The next one that arrives is confirmed; then it is over.
        p.post(p.request(Opcode.WRITE, 0, 0, 10, 0, 4));
        p.run(MS);
        tap.seen.clear();
        p.post(p.request(Opcode.WRITE, 0, 0, 10, 0, 5));
        p.run(MS);
        assertTrue(tap.acksToA().stream().allMatch(s -> s.controls().isEmpty()));
    }

    @Test
    @Requirement("MR-ACK-011")
    void acknowledgementsAreNotAcknowledged() {
        connect();
        p.net.filter = (d, plane, port) -> false;
        p.post(p.request(Opcode.WRITE, 0, 0, 10, 0, 2));
        p.run(1_000);
        Tap.Seen data = tap.dataToB().getFirst();
        inject(data.bytes(), 2);
        p.run(0);
        byte[] ack = tap.acksToA().getFirst().bytes();
        tap.seen.clear();
        p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, ack);
        p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, ack);
        p.run(50_000);
        assertTrue(tap.seen.isEmpty());
        assertEquals(2, p.completionsA.size());
    }

    // ---- receiving ----

    /** A has sent one more packet; B is off the network and an acknowledgement of it is at hand. */
    private byte[] heldAck() {
        connect();
        p.net.filter = (d, plane, port) -> ByteBuffer.wrap(d).getInt(8) == p.ba;
        p.post(p.request(Opcode.WRITE, 0, 0, 10, 0, 2));
        p.run(30_000);
        Tap.Seen ack = tap.acksToA().stream().filter(s -> s.u8(6) == 1).reduce((x, y) -> y).orElseThrow();
        p.net.filter = (d, plane, port) -> false;
        return ack.bytes();
    }

    private static final int BLOCK = AckHeader.LENGTH;

    private static int pathOf(byte[] ack) {
        return DataHeader.pathOf(ack[AckHeader.PLANE], ack[BLOCK]);
    }

    @Test
    @Requirement("MR-ACK-012")
    void aBlockOfAnotherEpochIsIgnored() {
        byte[] ack = heldAck();
        for (int epoch : new int[] {1, 255, 128}) {
            tap.giveA(Tap.changed(ack, d -> d.put(BLOCK + PathBlock.EPOCH, (byte) epoch)));
        }
        assertEquals(1, p.completionsA.size());
        assertEquals(0, p.statsA().violations);
        tap.giveA(ack);
        assertEquals(2, p.completionsA.size());
    }

    @Test
    @Requirement("MR-ACK-014")
    void aBlockOfWhatWasNotSentIsIgnoredAndCounted() {
        byte[] ack = heldAck();
        tap.giveA(Tap.changed(ack, d -> Tap.addToCumulative(d, 1)));
        tap.giveA(Tap.lengthened(ack, 0, d -> d.putShort(BLOCK + PathBlock.SPAN, (short) 1)));
        assertEquals(1, p.completionsA.size());
        assertEquals(2, p.statsA().violations);
        tap.giveA(ack);
        assertEquals(2, p.completionsA.size());
    }

    @Test
    @Requirement("MR-ACK-017")
    void anAcknowledgementOfAnUnusedPlaneIsDropped() {
        byte[] ack = heldAck();
        for (int plane = 2; plane < 8; plane++) {
            int of = plane;
            p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, Tap.changed(ack, d -> d.put(AckHeader.PLANE, (byte) of)));
        }
        p.poll();
        assertEquals(1, p.completionsA.size());
        assertEquals(6, p.statsA().violations);
        tap.giveA(ack);
        assertEquals(2, p.completionsA.size());
    }

    @Test
    @Requirement("MR-ACK-013")
    void controlBlocksAreTakenBeforePathBlocks() {
        byte[] ack = heldAck();
        byte[] both = Tap.resized(ack, ack.length + ControlBlock.LENGTH, d -> {
            int at = ack.length;
            d.put(7, (byte) 1).put(at, (byte) ControlBlock.NAK).put(at + 1, (byte) 3).putInt(at + 4, 0).putInt(at + 8, 1);
        });
        tap.giveA(both);
        assertEquals(3, p.completionsA.getLast().status, "refused, though all of it is acknowledged here");
    }

    @Test
    @Requirement({"MR-PKT-012", "MR-ERR-030"})
    void aNakOfAnUnknownCauseIsANak() {
        byte[] ack = heldAck();
        tap.giveA(Tap.resized(ack, ack.length + ControlBlock.LENGTH, d -> {
            int at = ack.length;
            d.put(7, (byte) 1).put(at, (byte) ControlBlock.NAK).put(at + 1, (byte) 201).putInt(at + 4, 0).putInt(at + 8, 1);
        }));
        assertEquals(201, p.completionsA.getLast().status);
        assertEquals(201, p.eventsA.getLast().reason);
        assertEquals(Event.STREAM_FAILED, p.eventsA.getLast().kind);
    }

    private double rttUs(int path) {
        PathStats s = new PathStats();
        p.a.endpoint.readPath(p.ab, DataHeader.planeOf(path) * 4 + DataHeader.indexOf(path), s);
        return s.rttUs;
    }

    /** Gives an acknowledgement with an echo that is so old and was held so long. */
    private void giveEcho(byte[] ack, long agoNs, int hold) {
        p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, Tap.lengthened(ack, (int) (p.net.nowNs - agoNs),
                d -> d.putShort(BLOCK + PathBlock.HOLD, (short) hold)));
    }

    @Test
    @Requirement("MR-ACK-015")
    void aSampleIsTimeSinceTheEchoLessTheHold() {
        byte[] ack = heldAck();
        int path = pathOf(ack);
        EndpointState a = Inside.state(p.a.endpoint);
        a.slab.putInt(a.path(a.connectionOf(p.ab), DataHeader.planeOf(path), DataHeader.indexOf(path)) + PathRecord.SRTT_NS, 20_000);
        double before = rttUs(path);
        giveEcho(ack, 50_000, 100);
        assertEquals((3 * before + 5 * (50 - 6.4)) / 8, rttUs(path), 0.01);
        double after = rttUs(path);
        giveEcho(ack, 90_000, 0);
        assertEquals(after, rttUs(path), "it acknowledges nothing new");
    }

    /** The acknowledgement as if its first block were short, with this hold. */
    private static byte[] shortened(byte[] ack, int hold) {
        return Tap.resized(ack, BLOCK + PathBlock.SHORT_LENGTH, d -> d.put(6, (byte) 1).put(7, (byte) 0).put(AckHeader.LONG_BLOCKS, (byte) 0)
                .putShort(BLOCK + PathBlock.HOLD, (short) hold));
    }

    @Test
    @Requirement("MR-ACK-015")
    void aShortBlockEchoesThePacketBeforeCumulative() {
        byte[] ack = shortened(heldAck(), 100);
        int path = pathOf(ack);
        long sentNs = tap.dataToB().getLast().atNs();
        EndpointState a = Inside.state(p.a.endpoint);
        a.slab.putInt(a.path(a.connectionOf(p.ab), DataHeader.planeOf(path), DataHeader.indexOf(path)) + PathRecord.SRTT_NS, 20_000);
        double before = rttUs(path);
        p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, ack);
        assertEquals((3 * before + 5 * ((p.net.nowNs - sentNs) / 1_000.0 - 6.4)) / 8, rttUs(path), 0.01);
        double after = rttUs(path);
        p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, ack);
        assertEquals(after, rttUs(path), "it acknowledges nothing new");
    }

    @Test
    @Requirement("MR-ACK-015")
    void thereIsNoSampleWithoutAHoldOrOutOfRange() {
        for (long[] echo : new long[][] {{50_000, 0xffff}, {6_400, 100}, {6_399, 100}, {-5, 0}, {(1L << 31) + 10, 0}}) {
            byte[] ack = heldAck();
            int path = pathOf(ack);
            double before = rttUs(path);
            int least = p.a.endpoint.leastRttNs(p.ab, 0);
            giveEcho(ack, echo[0], (int) echo[1]);
            p.poll();
            assertEquals(2, p.completionsA.size());
            assertEquals(before, rttUs(path), echo[0] + ", " + echo[1]);
            assertEquals(least, p.a.endpoint.leastRttNs(p.ab, 0));
        }
    }

    @Test
    @Requirement({"MR-ACK-015", "MR-LOSS-001"})
    void aBlockThatOnlyTellsOfLossHasNoSample() {
        byte[] ack = heldAck();
        int path = pathOf(ack);
        double before = rttUs(path);
        EndpointState s = Inside.state(p.a.endpoint);
        s.slab.putInt(s.path(s.connectionOf(p.ab), DataHeader.planeOf(path), DataHeader.indexOf(path)) + PathRecord.PROBES_OUT, 0);
        // Says that the packet was sent and did not arrive, which no probe had asked.
        giveEcho(Tap.lengthened(ack, 0, d -> {
            Tap.addToCumulative(d, -1);
            d.putShort(BLOCK + PathBlock.SPAN, (short) 1);
        }), 77_000, 0);
        tap.seen.clear();
        p.run(0);
        assertEquals(1, tap.dataToB().size(), "repeated at once");
        assertEquals(before, rttUs(path));
    }

    @Test
    @Requirement("MR-ACK-016")
    void whatWasAcknowledgedIsNotSentAgain() {
        connect();
        // One packet never gets through; of a path that stays without it, all others do.
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.DATA || ByteBuffer.wrap(d).getInt(DataHeader.SSN) != 20;
        p.post(p.request(Opcode.WRITE, 0, 0, 100_000, 0, 2));
        p.run(20 * MS);
        List<Tap.Seen> repeats = tap.dataToB().stream().filter(Tap.Seen::isRepeat).toList();
        assertFalse(repeats.isEmpty());
        repeats.forEach(s -> assertEquals(20, s.ssn()));
    }
}
