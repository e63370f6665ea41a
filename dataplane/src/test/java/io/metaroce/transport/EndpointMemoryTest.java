// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.memory.RegionTable;
import io.metaroce.wire.Opcode;
import java.lang.foreign.Arena;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

/** Where an endpoint's records and what it receives lie, as far as its owner decides that. */
class EndpointMemoryTest {
    private static final long MS = 1_000_000;

    /** All is done and counted, only the bytes stay away. */
    @Test
    void payloadThatIsNotThereIsNotPlaced() {
        EndpointConfig b = headersOnly(2);
        b.placesPayload = false;
        Peers p = new Peers(1, headersOnly(1), b).connect();
        p.memoryB.segment().fill((byte) 7);
        p.post(p.request(Opcode.WRITE, 0, 0, 20_000, 0, 1));
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 1));
        assertEquals(Completion.OK, p.completionsA.getFirst().status);
        assertEquals(20_000, p.statsB().bytesReceived);
        for (byte there : p.memoryB.segment().asSlice(0, 20_000).toArray(ValueLayout.JAVA_BYTE)) {
            assertEquals(7, there);
        }
        b.integrity = EndpointConfig.INTEGRITY_FULL;
        assertThrows(IllegalArgumentException.class, () -> new Endpoint(b, new RegionTable()), "a checksum over what is not there");
    }

    @Test
    void recordsLieWhereTheOwnerSays() {
        EndpointConfig a = Peers.config(1);
        long[] asked = new long[1];
        Arena arena = Arena.ofAuto();
        SegmentAllocator owner = (bytes, alignment) -> {
            asked[0] += bytes;
            return arena.allocate(bytes, alignment);
        };
        a.memory = owner;
        Peers p = new Peers(1, a, Peers.config(2)).connect();
        assertEquals(p.a.endpoint.stateBytes(), asked[0]);
        p.post(p.request(Opcode.WRITE, 0, 0, 20_000, 0, 1));
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 1));
        p.assertCopied(0, 0, 20_000);
    }

    private static EndpointConfig headersOnly(long seed) {
        EndpointConfig c = Peers.config(seed);
        c.integrity = EndpointConfig.INTEGRITY_HEADER;
        return c;
    }
}
