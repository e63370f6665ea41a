// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.AckHeader;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.PathBlock;
import io.metaroce.wire.Type;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Acknowledgements and Data in one datagram (spec: "Data behind it"): questions of A, and answers that B gives in the same turn. */
class AckWithDataTest {
    private static final int ANSWER = 4 << 20;
    private final List<byte[]> toA = new ArrayList<>();
    private Peers p;
    private Tap tap;
    private int answered;

    private void start(int safePayload, int depth) {
        EndpointConfig a = Peers.config(31);
        EndpointConfig b = Peers.config(32);
        // One plane: the answer goes where the acknowledgement must.
        a.localAddresses = new NetAddress[1];
        b.localAddresses = new NetAddress[1];
        a.safePayload = safePayload;
        b.safePayload = safePayload;
        p = new Peers(31, a, b);
        tap = new Tap(p);
        TestNetwork.Observer slices = p.net.observer;
        p.net.observer = (from, d, plane, port, to) -> {
            slices.sent(from, d, plane, port, to);
            if (from == p.b) {
                toA.add(d.clone());
            }
        };
        p.connect();
        for (int i = 0; i < depth; i++) {
            p.postReceiveB(0, 0, 4096, i);
        }
        p.run(1_000_000);
    }

    /** B writes so much to A for each question, before it has its turn to send. */
    private void answerWith(int bytes) {
        p.b.application = () -> {
            for (Completion c = new Completion(); p.b.endpoint.pollCompletion(c); c = new Completion()) {
                p.completionsB.add(c);
                if (c.isReceive) {
                    assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, answer(bytes, 1_000 + answered)));
                    answered++;
                }
            }
        };
    }

    private WorkRequest answer(int bytes, int wrId) {
        return p.requestFromB(Opcode.WRITE, 1, 0, bytes, ANSWER, wrId);
    }

    private void ask(int question) {
        p.post(p.request(Opcode.SEND, 0, 0, 100, 0, question));
        int before = p.completionsA.size();
        assertTrue(p.until(50_000_000, () -> p.completionsA.size() > before && answered > question), "question " + question);
        p.run(200_000);
    }

    private List<byte[]> followed() {
        return toA.stream().filter(d -> Tap.lengthOfFirst(d) < d.length).toList();
    }

    @Test
    @Requirement({"MR-PKT-013", "MR-ACK-022"})
    void aShortAnswerSharesADatagramWithTheAcknowledgementOfTheQuestion() {
        start(1024, 20);
        answerWith(200);
        for (int i = 0; i < 20; i++) {
            ask(i);
        }
        assertTrue(followed().size() >= 18, followed().size() + " of 20 answers");
        for (byte[] d : followed()) {
            int first = Tap.lengthOfFirst(d);
            assertEquals(d[AckHeader.PLANE], d[first + DataHeader.PATH], "one plane");
            assertTrue(d.length <= 1024 + DataHeader.LENGTH, d.length + " B");
        }
        // The question is complete by it, and the answer has come.
        p.completionsA.forEach(c -> assertEquals(Completion.OK, c.status));
        assertEquals(-1, p.memoryB.segment().asSlice(0, 200).mismatch(p.memoryA.segment().asSlice(ANSWER, 200)));
        assertEquals(0, p.statsA().retransmissions + p.statsB().retransmissions);
    }

    @Test
    @Requirement("MR-ACK-022")
    void whatWouldBeLongerThanAnyRouteIsSureToCarryGoesApart() {
        start(256, 20);
        answerWith(256);
        for (int i = 0; i < 20; i++) {
            ask(i);
        }
        assertEquals(List.of(), followed());
        assertTrue(tap.acksToA().size() >= 20, "acknowledged alone");
    }

    /** B's windows are full: its answer has to wait, the acknowledgement does not. */
    @Test
    @Requirement("MR-ACK-022")
    void anAcknowledgementDoesNotWaitForDataThatMayNotGo() {
        start(1024, 20);
        answerWith(200);
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.DATA || ByteBuffer.wrap(d).getInt(8) == p.ba;
        EndpointState b = Inside.state(p.b.endpoint);
        long c = b.connectionOf(p.ba);
        for (int i = 0; b.slab.getInt(c + ConnectionRecord.UNSENT_PACKETS) == 0; i++) {
            assertTrue(i < 1_000, "a window without end");
            assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, answer(1024, 2_000 + i)));
            p.run(0);
        }
        long sentNs = p.net.nowNs;
        p.post(p.request(Opcode.SEND, 0, 0, 100, 0, 0));
        assertTrue(p.until(1_000_000, () -> p.completionsA.size() > 0), "acknowledged");
        assertTrue(p.net.nowNs - sentNs < 20_000, "after " + (p.net.nowNs - sentNs) + " ns");
        assertEquals(1, answered);
        assertTrue(b.slab.getInt(c + ConnectionRecord.UNSENT_PACKETS) > 0, "the answer has not gone");
    }

    /** Each of the two has a checksum of its own; with either wrong, neither has an effect. */
    @Test
    @Requirement("MR-PKT-014")
    void aBitErrorInOneIsTheEndOfBoth() {
        for (boolean inAck : new boolean[] {true, false}) {
            answered = 0;
            toA.clear();
            start(1024, 20);
            answerWith(200);
            for (int i = 0; i < 5; i++) {
                ask(i);
            }
            int damaged = 5;
            byte[][] original = new byte[1][];
            p.net.change = d -> {
                int first = Tap.lengthOfFirst(d);
                if (first == d.length || original[0] != null) {
                    return d;
                }
                original[0] = d;
                byte[] changed = d.clone();
                changed[inAck ? AckHeader.SHARE + 1 : first + DataHeader.LENGTH + 20] ^= 4;
                return changed;
            };
            p.post(p.request(Opcode.SEND, 0, 0, 100, 0, damaged));
            assertTrue(p.until(50_000_000, () -> original[0] != null));
            p.net.filter = (d, plane, port) -> false;
            p.run(20_000);
            assertEquals(1, p.a.endpoint.counters().checksumErrors, "in the acknowledgement: " + inAck);
            assertEquals(damaged, p.completionsA.size(), "the question is not acknowledged");
            assertEquals(damaged, p.statsA().packetsReceived, "nor is the answer taken");
            p.net.filter = (d, plane, port) -> true;
            assertTrue(p.until(1_000_000_000, () -> p.completionsA.size() > damaged), "repeated");
        }
    }

    @Test
    @Requirement("MR-PKT-014")
    void marksBelongToTheData() {
        start(1024, 20);
        answerWith(200);
        p.net.mark = 1;
        for (int i = 0; i < 10; i++) {
            ask(i);
        }
        assertTrue(followed().size() >= 8, followed().size() + " of 10 answers");
        // Both directions told each other of every mark.
        assertTrue(p.statsB().ecnMarks >= 9, p.statsB().ecnMarks + " marks of 10 answers");
    }

    @Test
    @Requirement({"MR-PKT-013", "MR-PKT-014"})
    void sealedTogether() {
        p = EncryptionTest.peers(33, 1);
        List<Integer> lengths = new ArrayList<>();
        p.net.observer = (from, d, plane, port, to) -> {
            if (from == p.b) {
                lengths.add(d.length);
            }
        };
        p.connect();
        for (int i = 0; i < 20; i++) {
            p.postReceiveB(0, 0, 4096, i);
        }
        p.run(1_000_000);
        answerWith(200);
        lengths.clear();
        for (int i = 0; i < 20; i++) {
            ask(i);
        }
        // Of that length is no packet alone: 200 bytes, 64 of header, 28 and more of acknowledgement.
        assertTrue(lengths.stream().filter(n -> n >= 200 + DataHeader.LENGTH + AckHeader.LENGTH + PathBlock.SHORT_LENGTH).count() >= 18, lengths + "");
        assertEquals(-1, p.memoryB.segment().asSlice(0, 200).mismatch(p.memoryA.segment().asSlice(ANSWER, 200)));
    }
}
