// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.wire.Cause;
import io.metaroce.wire.Opcode;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Send with invalidate: a Send in all respects, whose receive ends a key of the receiver's, once and in its turn. */
class InvalidateTest {
    private final Peers p = new Peers(31).connect();

    private MemoryRegion region(int domain) {
        return p.regionsB.register(domain, Arena.ofAuto().allocate(100_000, 64), Peers.ALL);
    }

    private WorkRequest invalidate(int stream, int length, int key, long wrId) {
        WorkRequest wr = p.request(Opcode.SEND_INVALIDATE, stream, 0, length, 0, wrId);
        wr.remoteKey = key;
        return wr;
    }

    private WorkRequest access(int opcode, int stream, MemoryRegion to, int length, long wrId) {
        WorkRequest wr = p.request(opcode, stream, 0, length, 0, wrId);
        wr.remoteAddress = to.address();
        wr.remoteKey = to.key();
        return wr;
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.05, 0.3})
    @Requirement({"MR-OP-011", "MR-OP-020", "MR-OP-021"})
    void endsAKeyWhenItsReceiveCompletes(double loss) {
        p.net.loss = loss;
        p.net.duplicate = 0.2;
        int n = 20;
        MemoryRegion[] regions = new MemoryRegion[n];
        for (int i = 0; i < n; i++) {
            regions[i] = region(0);
            p.postReceiveB(0, i * 10_000L, 10_000, 100 + i);
        }
        for (int i = 0; i < n; i++) {
            // What the stream wrote before is there when the key ends.
            p.post(access(Opcode.WRITE, 0, regions[i], 20_000, 2 * i));
            p.post(invalidate(0, i * 500, regions[i].key(), 2 * i + 1));
        }
        assertTrue(p.until(3_000_000_000L, () -> p.completionsA.size() == 2 * n && p.completionsB.size() == n));
        for (int i = 0; i < n; i++) {
            Completion c = p.completionsB.get(i);
            assertEquals(100 + i, c.wrId);
            assertEquals(Completion.OK, c.status);
            assertEquals(Opcode.SEND_INVALIDATE, c.opcode);
            assertEquals(i * 500, c.byteLength);
            assertTrue(c.hasInvalidatedKey);
            assertEquals(regions[i].key(), c.invalidatedKey);
            assertFalse(c.hasImmediate);
            assertEquals(0, c.immediate);
            assertNull(p.regionsB.find(regions[i].key()));
            assertEquals(-1, regions[i].segment().asSlice(0, 20_000).mismatch(p.memoryA.segment().asSlice(0, 20_000)));
        }
        p.completionsA.forEach(c -> assertFalse(c.hasInvalidatedKey, "only the receiver's completion tells a key"));
        assertEquals(1, p.regionsB.count());
        p.run(50_000_000);
        p.assertIdle();
    }

    @Test
    @Requirement("MR-OP-020")
    void laterUsesOfTheKeyAreRefused() {
        MemoryRegion region = region(0);
        p.postReceiveB(0, 0, 100, 1);
        p.post(invalidate(0, 100, region.key(), 1));
        assertTrue(p.until(100_000_000L, () -> p.completionsB.size() == 1 && p.completionsA.size() == 1));
        p.post(access(Opcode.WRITE, 0, region, 100, 2));
        p.post(access(Opcode.READ_REQUEST, 1, region, 100, 3));
        assertTrue(p.until(100_000_000L, () -> p.completionsA.size() == 3));
        p.completionsA.stream().filter(c -> c.wrId > 1).forEach(c -> assertEquals(Cause.BAD_KEY, c.status));
    }

    @Test
    void theKeyLivesUntilTheWholeMessageHasItsTurn() {
        MemoryRegion region = region(0);
        p.postReceiveB(0, 0, 5_000, 1);
        boolean[] hold = {true};
        // The first of five packets is held back: the last is there, but not in turn.
        p.net.filter = (d, plane, port) -> !hold[0] || d[4] != 0x15 || d[6] != Opcode.SEND_INVALIDATE || (d[5] & 2) != 0;
        p.post(invalidate(0, 5_000, region.key(), 1));
        p.run(1_000_000);
        assertNotNull(p.regionsB.find(region.key()));
        p.post(access(Opcode.WRITE, 1, region, 100, 2));
        assertTrue(p.until(100_000_000L, () -> p.completionsA.size() == 1));
        assertEquals(Completion.OK, p.completionsA.getFirst().status);
        hold[0] = false;
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 2 && p.completionsB.size() == 1));
        assertNull(p.regionsB.find(region.key()));
    }

    @Test
    @Requirement("MR-READ-008")
    void aReadUnderWayEndsWithTheKey() {
        MemoryRegion region = p.regionsB.register(0, Arena.ofAuto().allocate(4 << 20, 64), Peers.ALL);
        p.postReceiveB(1, 0, 100, 1);
        p.post(access(Opcode.READ_REQUEST, 0, region, 4 << 20, 1));
        p.run(100_000);
        p.post(invalidate(1, 100, region.key(), 2));
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 2));
        p.completionsA.forEach(c -> assertEquals(c.wrId == 1 ? Cause.BAD_KEY : Completion.OK, c.status));
        p.run(600_000_000);
        p.assertIdle();
    }

    /** The usual course: the requester reads what the key names, and gives the key back. The responder's news of it come late. */
    @Test
    @Requirement({"MR-READ-011", "MR-READ-012"})
    void endsTheKeyOfAReadWhoseAcknowledgementsAreLost() {
        MemoryRegion region = region(0);
        p.postReceiveB(0, 0, 100, 1);
        boolean[] deaf = {true};
        p.net.filter = (d, plane, port) -> !deaf[0] || d[4] != 0x16 || ByteBuffer.wrap(d).getInt(8) != p.ba;
        p.post(access(Opcode.READ_REQUEST, 0, region, 10_000, 1));
        WorkRequest end = invalidate(0, 100, region.key(), 2);
        end.fence = true;
        p.post(end);
        // Until B gives up the paths over which it has sent, and would send all again from memory that is no more.
        assertTrue(p.until(100_000_000L, () -> p.completionsB.size() == 1));
        assertNull(p.regionsB.find(region.key()));
        p.run(600_000_000L);
        deaf[0] = false;
        assertTrue(p.until(2_000_000_000L, () -> p.completionsA.size() == 2), p.completionsA + "");
        p.completionsA.forEach(c -> assertEquals(Completion.OK, c.status, "message " + c.wrId));
        p.run(500_000_000L);
        assertFalse(Peers.has(p.eventsA, Event.STREAM_FAILED));
        assertFalse(Peers.has(p.eventsB, Event.STREAM_FAILED));
        p.assertIdle();
    }

    @ParameterizedTest
    @ValueSource(strings = {"unknown", "foreign domain", "twice"})
    @Requirement("MR-OP-022")
    void aKeyThatIsNotTheConnectionsIsRefused(String which) {
        MemoryRegion own = region(0);
        MemoryRegion foreign = region(7);
        int key = switch (which) {
            case "unknown" -> own.key() ^ 0x1000;
            case "foreign domain" -> foreign.key();
            default -> own.key();
        };
        boolean twice = which.equals("twice");
        p.net.loss = 0.1;
        for (int i = 0; i < 3; i++) {
            p.postReceiveB(0, 0, 100, i);
        }
        // Good, bad, and one that is flushed behind it.
        WorkRequest first = twice ? invalidate(0, 10, key, 0) : p.request(Opcode.SEND, 0, 0, 10, 0, 0);
        p.post(first);
        p.post(invalidate(0, 10, key, 1));
        p.post(p.request(Opcode.SEND, 0, 0, 10, 0, 2));
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == 3 && p.completionsB.size() == 3));
        int[] expected = {Completion.OK, Cause.BAD_KEY, Completion.FLUSHED};
        for (int i = 0; i < 3; i++) {
            assertEquals(expected[i], p.completionsA.get(i).status, "message " + i);
            assertEquals(i == 0 ? Completion.OK : Completion.FLUSHED, p.completionsB.get(i).status, "receive " + i);
            assertEquals(i == 0 && twice, p.completionsB.get(i).hasInvalidatedKey);
        }
        assertNotNull(p.regionsB.find(foreign.key()), "nothing of another domain is touched");
        assertEquals(twice, p.regionsB.find(own.key()) == null);
        p.run(100_000_000);
        p.assertIdle();
    }

    @Test
    void withoutDataOrReceiveItWaitsLikeAnySend() {
        MemoryRegion region = region(0);
        p.post(invalidate(4, 0, region.key(), 1));
        p.run(20_000_000);
        assertTrue(p.completionsA.isEmpty());
        assertNotNull(p.regionsB.find(region.key()));
        p.postReceiveB(4, 0, 0, 9);
        assertTrue(p.until(100_000_000L, () -> p.completionsA.size() == 1 && p.completionsB.size() == 1));
        assertEquals(region.key(), p.completionsB.getFirst().invalidatedKey);
    }
}
