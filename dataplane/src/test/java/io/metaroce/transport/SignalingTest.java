// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.Cause;
import io.metaroce.wire.Opcode;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which requests complete aloud, and what wakes an application that sleeps. */
class SignalingTest {
    private final Peers p = new Peers(51).connect();

    private static WorkRequest unsignaled(WorkRequest wr) {
        wr.unsignaled = true;
        return wr;
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.1})
    @Requirement("MR-COMP-001")
    void onlySignaledRequestsCompleteAndTellOfThoseBefore(double loss) {
        p.net.loss = loss;
        p.net.duplicate = 0.1;
        int[] operations = {Opcode.WRITE, Opcode.SEND, Opcode.READ_REQUEST, Opcode.FETCH_ADD};
        int n = 64;
        for (int i = 0; i < n; i++) {
            int opcode = operations[i % 4];
            if (opcode == Opcode.SEND) {
                p.postReceiveB(0, i * 8_000L, 8_000, i);
            }
            WorkRequest wr = p.request(opcode, 0, opcode == Opcode.READ_REQUEST ? 4_000_000 : i * 8_000L,
                    opcode == Opcode.FETCH_ADD ? 8 : 8_000, opcode == Opcode.FETCH_ADD ? 7_000_000 : i * 8_000L, i);
            p.post(i % 16 == 15 ? wr : unsignaled(wr));
        }
        assertTrue(p.until(2_000_000_000L, () -> p.completionsA.size() == n / 16 && p.completionsB.size() == n / 4));
        p.run(50_000_000);
        assertEquals(List.of(15L, 31L, 47L, 63L), p.completionsA.stream().map(c -> c.wrId).toList());
        for (int i = 0; i < n; i += 4) {
            p.assertCopied(i * 8_000L, i * 8_000L, 16_000);
        }
        p.assertIdle();
    }

    @Test
    @Requirement("MR-COMP-001")
    void unsignaledRequestsThatFailOrAreFlushedComplete() {
        WorkRequest bad = unsignaled(p.request(Opcode.WRITE, 0, 0, 100, 0, 1));
        bad.remoteKey ^= 0x1000;
        p.post(unsignaled(p.request(Opcode.WRITE, 0, 0, 100, 0, 0)));
        p.post(bad);
        p.post(unsignaled(p.request(Opcode.WRITE, 0, 0, 100, 0, 2)));
        assertTrue(p.until(100_000_000, () -> p.completionsA.size() == 2));
        assertEquals(List.of(1L, 2L), p.completionsA.stream().map(c -> c.wrId).toList());
        assertEquals(List.of(Cause.BAD_KEY, Completion.FLUSHED), p.completionsA.stream().map(c -> c.status).toList());
    }

    /** A place in the completion queue is held for each, and given back by those that stay silent. */
    @Test
    @Requirement("MR-COMP-001")
    void silentRequestsUseUpNothing() {
        int all = 20_000;
        int[] posted = {0};
        assertTrue(p.until(2_000_000_000L, () -> {
            while (posted[0] < all && p.a.endpoint.post(p.ab, unsignaled(p.request(Opcode.WRITE, 0, 0, 10, 0, 0))) == Endpoint.OK) {
                posted[0]++;
            }
            return posted[0] == all && p.a.endpoint.liveWorkRequests() == 0;
        }), posted[0] + " posted");
        assertTrue(p.completionsA.isEmpty());
    }

    private long wakes(List<Event> events) {
        return events.stream().filter(e -> e.kind == Event.COMPLETIONS).count();
    }

    private void send(int opcode, boolean solicited, long wrId) {
        p.postReceiveB(0, 0, 3_000, wrId);
        WorkRequest wr = p.request(opcode, 0, 0, 3_000, 0, wrId);
        wr.solicited = solicited;
        p.post(wr);
        int before = p.completionsB.size();
        assertTrue(p.until(200_000_000, () -> p.completionsB.size() == before + 1));
        p.run(1_000_000);
        assertEquals(solicited, p.completionsB.getLast().isSolicited);
    }

    @ParameterizedTest
    @ValueSource(ints = {Opcode.SEND, Opcode.SEND_IMM, Opcode.WRITE_IMM})
    @Requirement({"MR-COMP-002", "MR-COMP-003", "MR-PKT-007"})
    void solicitedMessagesWakeOnceForEachRequest(int opcode) {
        boolean[] flagged = {false};
        p.net.loss = 0.2;
        p.net.filter = (d, plane, port) -> {
            flagged[0] |= d[4] == 0x15 && (d[5] & 8) != 0;
            return true;
        };
        send(opcode, true, 0);
        assertTrue(flagged[0]);
        assertEquals(0, wakes(p.eventsB), "nobody asked");
        p.b.endpoint.requestCompletionEvent(true);
        flagged[0] = false;
        send(opcode, false, 1);
        assertFalse(flagged[0]);
        assertEquals(0, wakes(p.eventsB), "not a solicited one");
        send(opcode, true, 2);
        assertEquals(1, wakes(p.eventsB));
        send(opcode, true, 3);
        assertEquals(1, wakes(p.eventsB), "asked once, woken once");
    }

    @Test
    @Requirement("MR-COMP-003")
    void anyCompletionWakesWhoAskedForAny() {
        p.a.endpoint.requestCompletionEvent(false);
        p.a.endpoint.requestCompletionEvent(true);
        p.post(unsignaled(p.request(Opcode.WRITE, 0, 0, 10, 0, 1)));
        p.run(10_000_000);
        assertEquals(0, wakes(p.eventsA), "no completion, nothing to poll");
        p.post(p.request(Opcode.WRITE, 0, 0, 10, 0, 2));
        assertTrue(p.until(10_000_000, () -> p.completionsA.size() == 1));
        p.poll();
        assertEquals(1, wakes(p.eventsA));
    }

    @Test
    @Requirement("MR-COMP-003")
    void errorsWakeWhoAskedForSolicitedOnly() {
        p.a.endpoint.requestCompletionEvent(true);
        p.post(p.request(Opcode.WRITE, 0, 0, 10, 0, 1));
        assertTrue(p.until(10_000_000, () -> p.completionsA.size() == 1));
        assertEquals(0, wakes(p.eventsA));
        WorkRequest bad = p.request(Opcode.WRITE, 0, 0, 100, 0, 2);
        bad.remoteKey ^= 0x1000;
        p.post(bad);
        assertTrue(p.until(100_000_000, () -> p.completionsA.size() == 2));
        p.poll();
        assertEquals(1, wakes(p.eventsA));
    }

    @Test
    @Requirement("MR-COMP-002")
    void messagesWithoutReceiveAreNotSolicited() {
        boolean[] flagged = {false};
        p.net.filter = (d, plane, port) -> {
            flagged[0] |= d[4] == 0x15 && (d[5] & 8) != 0;
            return true;
        };
        for (int opcode : new int[] {Opcode.WRITE, Opcode.READ_REQUEST}) {
            WorkRequest wr = p.request(opcode, 0, 4_000_000, 3_000, 0, 1);
            wr.solicited = true;
            p.post(wr);
        }
        assertTrue(p.until(100_000_000, () -> p.completionsA.size() == 2));
        assertFalse(flagged[0]);
    }
}
