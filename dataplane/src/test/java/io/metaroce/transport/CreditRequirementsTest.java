// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.AckHeader;
import io.metaroce.wire.ControlBlock;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.Type;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Receive credit, requirement by requirement. */
class CreditRequirementsTest {
    private static final long MS = 1_000_000;

    private final Peers p = new Peers(1901);
    private final Tap tap = new Tap(p);

    private Stream<Tap.Control> controls(boolean toB, int kind) {
        return tap.of(toB, Type.ACK).stream().flatMap(s -> s.controls().stream()).filter(c -> c.kind() == kind);
    }

    private void send(int stream, long wrId) {
        p.post(p.request(Opcode.SEND, stream, 0, 100, 0, wrId));
    }

    @Test
    @Requirement({"MR-CRED-001", "MR-CRED-002", "MR-CRED-006"})
    void creditIsTheNumberOfReceivesSoFarAndNoMessageGoesBeyondIt() {
        p.connect();
        p.net.loss = 0.2;
        p.net.duplicate = 0.2;
        int posted = 0;
        for (int i = 0; i < 60; i++) {
            send(1, i);
        }
        int[] told = {0};
        p.net.observer = chain(p.net.observer, s -> {
            if (s.toB() && s.isData()) {
                assertTrue(s.i32(40) < told[0], "receive " + s.i32(40) + " of " + told[0]);
            }
        });
        while (posted < 60) {
            for (int i = 0; i <= posted % 4 && posted < 60; i++) {
                p.postReceiveB(1, 0, 100, posted++);
            }
            told[0] = posted;
            p.run(100_000);
        }
        assertTrue(p.until(1_000 * MS, () -> p.completionsB.size() == 60 && p.completionsA.size() == 60));
        int last = 0;
        for (Tap.Control c : controls(false, ControlBlock.CREDIT).toList()) {
            assertTrue(c.value() >= last);
            last = c.value();
        }
        assertEquals(60, last);
    }

    private TestNetwork.Observer chain(TestNetwork.Observer before, java.util.function.Consumer<Tap.Seen> then) {
        return (from, d, plane, port, to) -> {
            before.sent(from, d, plane, port, to);
            then.accept(tap.seen.getLast());
        };
    }

    @Test
    @Requirement("MR-CRED-003")
    void creditThatIsUsedUpIsToldAtOnce() {
        p.connect();
        p.run(MS);
        for (int i = 1; i <= 3; i++) {
            tap.seen.clear();
            long at = p.net.nowNs;
            p.postReceiveB(1, 0, 100, i);
            p.run(1_000);
            assertEquals(List.of(new Tap.Control(ControlBlock.CREDIT, 0, 1, i)), controls(false, ControlBlock.CREDIT).toList());
            assertTrue(tap.acksToA().getFirst().atNs() - at <= 1_000);
            send(1, i);
            int done = i;
            assertTrue(p.until(10 * MS, () -> p.completionsB.size() == done && p.completionsA.size() == done));
        }
    }

    @Test
    @Requirement("MR-CRED-003")
    void creditThatWasNotToldFollowsAsTheToldOneIsUsed() {
        p.connect();
        for (int i = 0; i < 12; i++) {
            p.postReceiveB(1, 0, 100, i);
            p.run(50_000);
        }
        long told = controls(false, ControlBlock.CREDIT).mapToInt(Tap.Control::value).max().orElseThrow();
        assertTrue(told < 12, "not every receive is worth a datagram");
        long start = p.net.nowNs;
        for (int i = 1; i <= 12; i++) {
            send(1, i);
            int done = i;
            assertTrue(p.until(10 * MS, () -> p.completionsB.size() == done && p.completionsA.size() == done));
        }
        assertEquals(0, controls(true, ControlBlock.CREDIT_REQUEST).count(), "nobody had to ask");
        assertTrue(p.net.nowNs - start < MS);
    }

    @Test
    @Requirement("MR-CRED-004")
    void aMessageThatWaitsAsksAtDoublingIntervals() {
        p.connect();
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.ACK || ByteBuffer.wrap(d).getInt(8) != p.ba || d[7] == 0;
        p.run(MS);
        tap.seen.clear();
        long at = p.net.nowNs;
        send(1, 1);
        p.run(900 * MS);
        long[] asked = tap.acksToB().stream().filter(s -> s.u8(7) > 0).mapToLong(s -> (s.atNs() - at) / 1_000).toArray();
        double pause = 2 * Math.max(srttUs(0), srttUs(1));
        assertEquals(pause, asked[0], 3, "two round trips");
        for (int i = 2; i < asked.length; i++) {
            double gap = asked[i] - asked[i - 1];
            assertEquals(Math.min(2.0 * (asked[i - 1] - asked[i - 2]), 100_000), gap, 0.1 * gap + 2, "request " + i);
        }
        assertTrue(asked.length > 15);
        assertTrue(controls(true, ControlBlock.CREDIT_REQUEST).allMatch(c -> c.stream() == 1));
        p.net.filter = (d, plane, port) -> true;
        p.postReceiveB(1, 0, 100, 1);
        assertTrue(p.until(10 * MS, () -> p.completionsA.size() == 1));
        tap.seen.clear();
        p.run(300 * MS);
        assertEquals(0, controls(true, ControlBlock.CREDIT_REQUEST).count(), "until it comes");
    }

    private double srttUs(int plane) {
        EndpointState a = Inside.state(p.a.endpoint);
        return a.slab.getInt(a.plane(a.connectionOf(p.ab), plane) + PlaneRecord.SRTT_NS) / 1e3;
    }

    @Test
    @Requirement("MR-CRED-004")
    void otherTrafficOfTheStreamDoesNotPutTheQuestionOff() {
        p.connect();
        send(1, 1);
        p.postReceiveB(9, 0, 100, 1);
        long at = p.net.nowNs;
        // B reads on the same stream all the time, so that A's half of it is never at rest.
        int[] reads = {0};
        assertTrue(p.until(10 * MS, () -> {
            for (; reads[0] < p.completionsB.size() + 3; reads[0]++) {
                WorkRequest wr = p.requestFromB(Opcode.READ_REQUEST, 1, 0, 2_000, 0, reads[0]);
                assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, wr));
            }
            return controls(true, ControlBlock.CREDIT_REQUEST).count() == 5;
        }));
        assertTrue(reads[0] > 20);
        // After 1, 2, 4, 8 and 16 pauses.
        assertEquals(16_000 * 2 * Math.max(srttUs(0), srttUs(1)), p.net.nowNs - at, 100_000);
    }

    @Test
    @Requirement("MR-CRED-004")
    void aStreamThatFailedAsksNoMore() {
        p.connect();
        send(1, 1);
        p.run(MS);
        WorkRequest bad = p.request(Opcode.WRITE, 1, 0, 10, 0, 2);
        bad.localAddress = p.memoryB.address();
        bad.localKey = p.memoryB.key();
        bad.remoteKey = 0;
        assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, bad));
        assertTrue(p.until(10 * MS, () -> p.completionsA.size() == 1));
        assertEquals(Completion.FLUSHED, p.completionsA.getFirst().status);
        p.run(MS);
        tap.seen.clear();
        p.run(300 * MS);
        assertEquals(0, controls(true, ControlBlock.CREDIT_REQUEST).count());
    }

    @Test
    @Requirement("MR-CRED-005")
    void aQuestionIsAnsweredAtOnceThoughNothingIsNew() {
        p.connect();
        p.postReceiveB(1, 0, 100, 1);
        p.run(MS);
        byte[] ack = tap.acksToB().isEmpty() ? askA() : tap.acksToB().getLast().bytes();
        byte[] ask = Tap.withControl(ack, ControlBlock.CREDIT_REQUEST, 0, 1, 0, 0);
        for (int i = 0; i < 3; i++) {
            tap.seen.clear();
            p.net.inject(p.b, 0, p.a.config.localAddresses[0], 2, ask);
            p.run(0);
            assertEquals(List.of(new Tap.Control(ControlBlock.CREDIT, 0, 1, 1)), controls(false, ControlBlock.CREDIT).toList());
        }
        // Of a stream that has no receive yet, too.
        tap.seen.clear();
        p.net.inject(p.b, 0, p.a.config.localAddresses[0], 2, Tap.changed(ask, d -> d.putInt(AckHeader.LENGTH + ControlBlock.STREAM, 5)));
        p.run(0);
        assertEquals(List.of(new Tap.Control(ControlBlock.CREDIT, 0, 5, 0)), controls(false, ControlBlock.CREDIT).toList());
    }

    /** Any acknowledgement of A's. */
    private byte[] askA() {
        send(7, 1);
        p.run(MS);
        return tap.acksToB().getLast().bytes();
    }
}
