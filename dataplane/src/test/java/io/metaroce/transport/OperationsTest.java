// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.Opcode;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every operation arrives whole, once and in order, whatever the network does. */
class OperationsTest {
    @ParameterizedTest
    @ValueSource(doubles = {0, 0.01, 0.1, 0.3})
    @Requirement({"MR-OP-001", "MR-STR-022"})
    void writesArriveInOrder(double loss) {
        Peers p = new Peers(11).connect();
        p.net.loss = loss;
        int n = 40;
        for (int i = 0; i < n; i++) {
            p.post(p.request(Opcode.WRITE, 0, i * 100_000L, 100_000 - i, i * 100_000L, i));
        }
        assertTrue(p.until(2_000_000_000L, () -> p.completionsA.size() == n), p.completionsA.size() + " of " + n + " done");
        for (int i = 0; i < n; i++) {
            assertEquals(i, p.completionsA.get(i).wrId);
            assertEquals(Completion.OK, p.completionsA.get(i).status);
            assertEquals(100_000 - i, p.completionsA.get(i).byteLength);
            p.assertCopied(i * 100_000L, i * 100_000L, 100_000 - i);
        }
        p.run(50_000_000);
        p.assertIdle();
        if (loss == 0) {
            assertEquals(0, p.statsA().retransmissions);
            assertEquals(0, p.statsA().timeouts);
        } else {
            assertTrue(p.statsA().retransmissions > 0);
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.05, 0.3})
    @Requirement({"MR-OP-010", "MR-OP-011", "MR-OP-013", "MR-STR-022"})
    void sendsFindTheirReceives(double loss) {
        Peers p = new Peers(12).connect();
        p.net.loss = loss;
        int n = 60;
        for (int i = 0; i < n; i++) {
            p.postReceiveB(3, i * 20_000L, 20_000, 1000 + i);
        }
        for (int i = 0; i < n; i++) {
            WorkRequest wr = p.request(i % 2 == 0 ? Opcode.SEND : Opcode.SEND_IMM, 3, i * 20_000L, i * 331, 0, i);
            wr.immediate = i * 7;
            p.post(wr);
        }
        assertTrue(p.until(2_000_000_000L, () -> p.completionsA.size() == n && p.completionsB.size() == n));
        for (int i = 0; i < n; i++) {
            Completion c = p.completionsB.get(i);
            assertTrue(c.isReceive);
            assertEquals(1000 + i, c.wrId);
            assertEquals(i * 331, c.byteLength);
            assertEquals(i % 2 == 1, c.hasImmediate);
            assertEquals(i % 2 == 1 ? i * 7 : 0, c.immediate);
            p.assertCopied(i * 20_000L, i * 20_000L, i * 331);
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.05, 0.3})
    @Requirement({"MR-READ-002", "MR-READ-006", "MR-STR-022"})
    void readsSeeEarlierWrites(double loss) {
        Peers p = new Peers(13).connect();
        p.net.loss = loss;
        int n = 30;
        // Write a piece, then read it back elsewhere: the Read must see the Write before it.
        for (int i = 0; i < n; i++) {
            p.post(p.request(Opcode.WRITE, 1, i * 50_000L, 50_000, i * 50_000L, 2 * i));
            p.post(p.request(Opcode.READ_REQUEST, 1, 4_000_000 + i * 50_000L, 50_000, i * 50_000L, 2 * i + 1));
        }
        assertTrue(p.until(3_000_000_000L, () -> p.completionsA.size() == 2 * n), p.completionsA.size() + " done");
        for (int i = 0; i < 2 * n; i++) {
            assertEquals(i, p.completionsA.get(i).wrId);
            assertEquals(Completion.OK, p.completionsA.get(i).status);
        }
        for (int i = 0; i < n; i++) {
            assertEquals(-1, p.memoryA.segment().asSlice(i * 50_000L, 50_000).mismatch(p.memoryA.segment().asSlice(4_000_000 + i * 50_000L, 50_000)));
        }
        p.run(50_000_000);
        p.assertIdle();
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.05, 0.3})
    @Requirement("MR-STR-026")
    void aFenceWaitsForEarlierReads(double loss) {
        Peers p = new Peers(19).connect();
        p.net.loss = loss;
        p.net.duplicate = 0.1;
        byte[] before = p.memoryB.segment().asSlice(0, 200_000).toArray(ValueLayout.JAVA_BYTE);
        int[] readsDoneAtFirstWrite = {-1};
        p.net.filter = (d, plane, port) -> {
            if (d[4] == 0x15 && d[6] == Opcode.WRITE && readsDoneAtFirstWrite[0] < 0) {
                p.poll();
                readsDoneAtFirstWrite[0] = p.completionsA.size();
            }
            return true;
        };
        for (int i = 0; i < 4; i++) {
            p.post(p.request(Opcode.READ_REQUEST, 0, 4_000_000 + i * 50_000L, 50_000, i * 50_000L, i));
        }
        WorkRequest fenced = p.request(Opcode.WRITE, 0, 0, 200_000, 0, 4);
        fenced.fence = true;
        p.post(fenced);
        p.post(p.request(Opcode.WRITE, 0, 200_000, 1_000, 200_000, 5));
        assertTrue(p.until(3_000_000_000L, () -> p.completionsA.size() == 6), p.completionsA.size() + " done");
        assertEquals(4, readsDoneAtFirstWrite[0], "Reads complete when the fenced Write began");
        assertArrayEquals(before, p.memoryA.segment().asSlice(4_000_000, 200_000).toArray(ValueLayout.JAVA_BYTE));
        p.assertCopied(0, 0, 201_000);
        p.run(50_000_000);
        p.assertIdle();
    }

    @Test
    @Requirement("MR-STR-026")
    void aFenceWithNothingToWaitForHoldsNothingBack() {
        Peers p = new Peers(20).connect();
        for (int i = 0; i < 3; i++) {
            WorkRequest wr = p.request(Opcode.WRITE, i, i * 1_000L, 1_000, i * 1_000L, i);
            wr.fence = true;
            p.post(wr);
        }
        // A Read on another stream that cannot complete is none of the fence's business.
        WorkRequest other = p.request(Opcode.WRITE, 0, 3_000, 1_000, 3_000, 3);
        other.fence = true;
        p.net.filter = (d, plane, port) -> d[4] != 0x15 || d[6] != Opcode.READ_RESPONSE;
        p.post(p.request(Opcode.READ_REQUEST, 9, 4_000_000, 10, 0, 99));
        p.post(other);
        assertTrue(p.until(100_000_000L, () -> p.completionsA.size() == 4));
        p.assertCopied(0, 0, 4_000);
    }

    @Test
    @Requirement("MR-OP-013")
    void writeWithImmediateTakesAReceive() {
        Peers p = new Peers(14).connect();
        p.net.loss = 0.1;
        for (int i = 0; i < 10; i++) {
            p.postReceiveB(0, 0, 0, i);
            WorkRequest wr = p.request(Opcode.WRITE_IMM, 0, i * 9_000L, 9_000, i * 9_000L, i);
            wr.immediate = -i;
            p.post(wr);
        }
        assertTrue(p.until(1_000_000_000L, () -> p.completionsB.size() == 10 && p.completionsA.size() == 10));
        for (int i = 0; i < 10; i++) {
            assertEquals(i, p.completionsB.get(i).wrId);
            assertEquals(Opcode.WRITE_IMM, p.completionsB.get(i).opcode);
            assertEquals(9_000, p.completionsB.get(i).byteLength);
            assertEquals(-i, p.completionsB.get(i).immediate);
        }
        p.assertCopied(0, 0, 90_000);
    }

    @Test
    void zeroLengthForms() {
        Peers p = new Peers(15).connect();
        p.postReceiveB(0, 0, 0, 7);
        p.post(p.request(Opcode.WRITE, 0, 0, 0, 0, 1));
        p.post(p.request(Opcode.SEND, 0, 0, 0, 0, 2));
        p.post(p.request(Opcode.READ_REQUEST, 0, 0, 0, 0, 3));
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 3 && p.completionsB.size() == 1));
        p.completionsA.forEach(c -> assertEquals(Completion.OK, c.status));
    }

    @Test
    @Requirement("MR-CRED-002")
    void aSendWaitsForAReceive() {
        Peers p = new Peers(16).connect();
        p.post(p.request(Opcode.SEND, 5, 0, 3_000, 0, 1));
        assertFalse(p.until(20_000_000, () -> !p.completionsA.isEmpty()));
        p.net.loss = 0.5;
        p.postReceiveB(5, 0, 3_000, 9);
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 1 && p.completionsB.size() == 1));
        p.assertCopied(0, 0, 3_000);
    }

    /** The last packet of the first message fills the window of its only path; the second message is posted after its acknowledgement. */
    @Test
    void aMessageAfterAFullWindowIsSentAtOnce() {
        for (int packets = 1; packets <= 40; packets++) {
            EndpointConfig narrow = Peers.config(23);
            narrow.pathsPerPlane = 1;
            narrow.lineRateKbps = 1_000_000;
            Peers p = new Peers(22, narrow, Peers.config(24)).connect();
            for (int n = 1; n <= 5; n++) {
                int done = n;
                p.post(p.request(Opcode.WRITE, 0, 0, packets * 1024, 0, n));
                long at = p.net.nowNs;
                assertTrue(p.until(100_000_000L, () -> p.completionsA.size() == done), packets + " packets, message " + n);
                assertTrue(p.net.nowNs - at < 2_000_000, (p.net.nowNs - at) / 1e6 + " ms");
                p.run(5_000_000);
            }
        }
    }

    @Test
    void bothDirectionsAndManyStreams() {
        Peers p = new Peers(17).connect();
        p.net.loss = 0.05;
        for (int i = 0; i < 100; i++) {
            p.post(p.request(Opcode.WRITE, i % 20, i * 20_000L, 20_000, i * 20_000L, i));
            WorkRequest back = new WorkRequest();
            back.opcode = Opcode.WRITE;
            back.stream = i % 20;
            back.localAddress = p.memoryB.address() + 4_000_000 + i * 20_000L;
            back.localKey = p.memoryB.key();
            back.length = 20_000;
            back.remoteAddress = p.memoryA.address() + 4_000_000 + i * 20_000L;
            back.remoteKey = p.memoryA.key();
            back.wrId = i;
            assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, back));
        }
        assertTrue(p.until(2_000_000_000L, () -> p.completionsA.size() == 100 && p.completionsB.size() == 100));
        p.assertCopied(0, 0, 100 * 20_000);
        assertEquals(-1, p.memoryA.segment().asSlice(4_000_000, 2_000_000).mismatch(p.memoryB.segment().asSlice(4_000_000, 2_000_000)));
        p.run(50_000_000);
        p.assertIdle();
    }

    @Test
    @Requirement({"MR-STR-021", "MR-CRC-002"})
    void duplicatesAndCorruptionHaveNoEffect() {
        Peers p = new Peers(18).connect();
        p.net.loss = 0.02;
        p.net.duplicate = 0.2;
        p.net.corrupt = 0.05;
        p.net.mark = 0.1;
        for (int i = 0; i < 20; i++) {
            p.postReceiveB(0, i * 30_000L, 30_000, i);
        }
        for (int i = 0; i < 20; i++) {
            p.post(p.request(Opcode.SEND, 0, i * 30_000L, 30_000, 0, i));
        }
        assertTrue(p.until(2_000_000_000L, () -> p.completionsB.size() == 20 && p.completionsA.size() == 20));
        p.assertCopied(0, 0, 600_000);
        assertTrue(p.statsB().duplicates > 0);
        assertTrue(p.b.endpoint.counters().checksumErrors > 0);
        assertTrue(p.statsA().ecnMarks > 0);
    }
}
