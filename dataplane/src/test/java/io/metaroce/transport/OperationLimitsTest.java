// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.Opcode;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages without bytes, and how many Reads and atomics may be in flight. */
class OperationLimitsTest {
    private static final int DATA = 0x15;

    /** Key and address count for nothing where nothing is moved, at either end. */
    @ParameterizedTest
    @ValueSource(doubles = {0, 0.3})
    @Requirement({"MR-OP-002", "MR-PKT-004", "MR-STR-022"})
    void everyOperationOfNoBytes(double loss) {
        Peers p = new Peers(61).connect();
        p.net.loss = loss;
        p.net.duplicate = 0.2;
        int[] operations = {Opcode.WRITE, Opcode.WRITE_IMM, Opcode.SEND, Opcode.SEND_IMM, Opcode.SEND_INVALIDATE, Opcode.READ_REQUEST};
        int rounds = 6;
        int receives = 0;
        for (int i = 0; i < rounds * operations.length; i++) {
            int opcode = operations[i % operations.length];
            WorkRequest wr = p.request(opcode, 2, 0, 0, 0, i);
            wr.localKey = 0;
            wr.localAddress = -1;
            wr.remoteAddress = -1;
            wr.remoteKey = opcode == Opcode.SEND_INVALIDATE
                    ? p.regionsB.register(0, p.memoryB.segment().asSlice(0, 8), Peers.ALL).key() : 0;
            wr.immediate = i;
            if (Opcode.consumesReceive(opcode)) {
                assertEquals(Endpoint.OK, p.b.endpoint.postReceive(p.ba, 2, -1, 0, 0, i));
                receives++;
            }
            p.post(wr);
        }
        int n = receives;
        assertTrue(p.until(2_000_000_000L, () -> p.completionsA.size() == rounds * operations.length && p.completionsB.size() == n));
        for (int i = 0; i < p.completionsA.size(); i++) {
            Completion c = p.completionsA.get(i);
            assertEquals(i, c.wrId);
            assertEquals(Completion.OK, c.status);
            assertEquals(0, c.byteLength);
        }
        for (Completion c : p.completionsB) {
            assertEquals(operations[(int) c.wrId % operations.length], c.opcode);
            assertEquals(0, c.byteLength);
            assertEquals(c.hasImmediate ? c.wrId : 0, c.immediate);
        }
        assertEquals(1, p.regionsB.count());
        p.run(50_000_000);
        p.assertIdle();
    }

    /** Most requests whose response has not been told complete, as the responder's MAX_READS allows: seen on the wire. */
    @ParameterizedTest
    @CsvSource({"1, 0", "3, 0", "3, 0.2", "16, 0", "16, 0.2"})
    @Requirement({"MR-READ-001", "MR-PAR-010", "MR-ATOM-004", "MR-READ-002", "MR-READ-003"})
    void readsAndAtomicsInFlight(int limit, double loss) {
        EndpointConfig responder = Peers.config(63);
        responder.maxReads = limit;
        Peers p = new Peers(62, Peers.config(62), responder).connect();
        p.net.loss = loss;
        Set<Integer> begun = new HashSet<>();
        int[] most = {0};
        p.net.filter = (d, plane, port) -> {
            if (d[4] == DATA && Opcode.isRequest(d[6])) {
                p.poll();
                begun.add(ByteBuffer.wrap(d).getInt(60));
                most[0] = Math.max(most[0], begun.size() - p.completionsA.size());
            }
            return true;
        };
        int n = 80;
        for (int i = 0; i < n; i++) {
            WorkRequest wr = p.request(i % 2 == 0 ? Opcode.READ_REQUEST : Opcode.FETCH_ADD, 0, 4_000_000 + i * 4_000L, i % 2 == 0 ? 4_000 : 8,
                    i % 2 == 0 ? i * 4_000L : 7_000_000, i);
            wr.operand = 1;
            p.post(wr);
        }
        assertTrue(p.until(5_000_000_000L, () -> p.completionsA.size() == n), p.completionsA.size() + " done");
        for (int i = 0; i < n; i++) {
            assertEquals(i, p.completionsA.get(i).wrId);
            assertEquals(Completion.OK, p.completionsA.get(i).status);
        }
        assertEquals(limit, most[0]);
        assertEquals(n, begun.size());
    }

    @Test
    @Requirement("MR-READ-013")
    void aPeerThatTakesNoReads() {
        EndpointConfig responder = Peers.config(63);
        responder.maxReads = 0;
        Peers p = new Peers(62, Peers.config(62), responder).connect();
        assertEquals(Endpoint.BAD_OPCODE, p.a.endpoint.post(p.ab, p.request(Opcode.READ_REQUEST, 0, 0, 10, 0, 1)));
        assertEquals(Endpoint.BAD_OPCODE, p.a.endpoint.post(p.ab, p.request(Opcode.FETCH_ADD, 0, 0, 8, 0, 1)));
        p.post(p.request(Opcode.WRITE, 0, 0, 10, 0, 1));
        assertTrue(p.until(100_000_000, () -> p.completionsA.size() == 1));
        responder.maxReads = 17;
        assertThrows(IllegalArgumentException.class, () -> new Endpoint(responder, p.regionsB));
    }
}
