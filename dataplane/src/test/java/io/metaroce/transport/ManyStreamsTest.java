// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.wire.Opcode;
import java.lang.foreign.Arena;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One stream in trouble, or nine hundred: the others of the connection do not feel it. Times are virtual, so they are exact. */
class ManyStreamsTest {
    private static final int GOOD = 15;
    private static final int MESSAGES = 20;
    private static final int BYTES = 20_000;
    private static final int BAD = 40;
    /** What others may lose by one stream's trouble: its own packets take their turn. */
    private static final double MOST = 1.06;

    private enum Trouble { NONE, NO_CREDIT, SLOW_CREDIT, DRY_SHARED_QUEUE, BAD_KEY, FAILS_AGAIN_AND_AGAIN, FENCED, MANY_READS, OWN_MEMORY_GONE, NEVER_WHOLE }

    private static Peers peers() {
        EndpointConfig a = Peers.config(160);
        a.receiverNotReadyRetries = EndpointConfig.RETRY_FOR_EVER;
        a.streamPool = 2048;
        a.lineRateKbps = 10_000_000;
        EndpointConfig b = Peers.config(161);
        b.streamPool = 2048;
        b.lineRateKbps = 10_000_000;
        b.sharedReceiveDomains = new int[] {0};
        return new Peers(160, a, b).connect();
    }

    /** Virtual time until all messages of the good streams are complete, ns. */
    private static long time(Peers p, BiConsumer<Peers, Integer> trouble) {
        long start = p.net.nowNs;
        int[] posted = new int[GOOD];
        int[] done = new int[GOOD];
        int[] looked = {p.completionsA.size()};
        int[] turn = {0};
        assertTrue(p.until(2_000_000_000L, () -> {
            for (; looked[0] < p.completionsA.size(); looked[0]++) {
                Completion c = p.completionsA.get(looked[0]);
                if (c.stream < GOOD) {
                    assertEquals(Completion.OK, c.status);
                    done[c.stream]++;
                }
            }
            int finished = 0;
            for (int s = 0; s < GOOD; s++) {
                while (posted[s] < MESSAGES && posted[s] - done[s] < 4) {
                    long at = (s * 4L + posted[s] % 4) * BYTES;
                    p.post(p.request(Opcode.WRITE, s, at, BYTES, at, posted[s]++));
                }
                finished += done[s] == MESSAGES ? 1 : 0;
            }
            trouble.accept(p, turn[0]++);
            return finished == GOOD;
        }), "the good streams did not finish");
        return p.net.nowNs - start;
    }

    private static void send(Peers p, int stream) {
        p.post(p.request(Opcode.SEND, stream, 0, 1_000, 0, 0));
    }

    private static BiConsumer<Peers, Integer> make(Peers p, Trouble trouble) {
        int[] streams = {BAD};
        return switch (trouble) {
            case NONE -> (q, turn) -> { };
            case NO_CREDIT -> (q, turn) -> {
                if (turn < 50) {
                    send(q, BAD);
                }
            };
            case SLOW_CREDIT -> (q, turn) -> {
                if (turn < 50) {
                    send(q, BAD);
                }
                if (turn % 20 == 0) {
                    q.b.endpoint.postReceive(q.ba, BAD, q.memoryB.address() + 4_000_000, 1_000, q.memoryB.key(), 0);
                }
            };
            case DRY_SHARED_QUEUE -> {
                assertEquals(Endpoint.OK, p.b.endpoint.useSharedReceives(p.ba, BAD, 0));
                yield (q, turn) -> {
                    if (turn < 50) {
                        send(q, BAD);
                    }
                };
            }
            case BAD_KEY -> (q, turn) -> {
                if (turn == 5) {
                    WorkRequest wr = q.request(Opcode.WRITE, BAD, 0, 1_000, 0, 0);
                    wr.remoteKey ^= 0x1000;
                    q.post(wr);
                }
            };
            case FAILS_AGAIN_AND_AGAIN -> (q, turn) -> {
                if (turn % 10 == 0 && streams[0] < BAD + 15) {
                    WorkRequest wr = q.request(Opcode.WRITE, streams[0]++, 0, 1_000, 0, 0);
                    wr.remoteKey ^= 0x1000;
                    q.post(wr);
                }
            };
            case FENCED -> (q, turn) -> {
                if (turn == 0) {
                    // The Read's response does not come.
                    q.net.filter = (d, plane, port) -> d[4] != 0x15 || d[6] != Opcode.READ_RESPONSE;
                    q.post(q.request(Opcode.READ_REQUEST, BAD, 6_000_000, 8, 0, 0));
                    WorkRequest wr = q.request(Opcode.WRITE, BAD, 0, 100_000, 4_000_000, 0);
                    wr.fence = true;
                    q.post(wr);
                }
            };
            case MANY_READS -> (q, turn) -> {
                if (turn < 60) {
                    q.post(q.request(Opcode.READ_REQUEST, BAD, 6_000_000, 8, 0, 0));
                }
            };
            case OWN_MEMORY_GONE -> {
                MemoryRegion gone = p.regionsA.register(0, Arena.ofAuto().allocate(1 << 20), 0);
                yield (q, turn) -> {
                    if (turn == 0) {
                        WorkRequest wr = q.request(Opcode.WRITE, BAD, 0, 50_000, 4_000_000, 0);
                        wr.localAddress = gone.address();
                        wr.localKey = gone.key();
                        q.post(wr);
                    } else if (turn == 5) {
                        q.regionsA.deregister(gone);
                    }
                };
            }
            case NEVER_WHOLE -> (q, turn) -> {
                if (turn == 0) {
                    // One packet of its message is lost whenever it is sent.
                    q.net.filter = (d, plane, port) -> d[4] != 0x15 || d[27] != BAD || d[31] != 3;
                    q.post(q.request(Opcode.WRITE, BAD, 0, 50_000, 4_000_000, 0));
                }
            };
        };
    }

    private static final Map<Trouble, Long> TIMES = new EnumMap<>(Trouble.class);

    private static long timeOf(Trouble trouble) {
        return TIMES.computeIfAbsent(trouble, t -> {
            Peers p = peers();
            return time(p, make(p, t));
        });
    }

    @ParameterizedTest
    @EnumSource(Trouble.class)
    @Requirement({"MR-STR-025", "MR-CRED-007", "MR-ERR-032", "MR-SRQ-005"})
    void oneStreamsTroubleIsItsOwn(Trouble trouble) {
        long alone = timeOf(Trouble.NONE);
        long with = timeOf(trouble);
        System.out.printf("%d streams beside one with %s: %d us, alone %d us%n", GOOD, trouble, with / 1_000, alone / 1_000);
        assertTrue(with <= MOST * alone, trouble + ": " + with + " ns instead of " + alone);
    }

    /** A thousand streams: nine hundred wait for receives that do not come, fifty want Reads, fifty work. */
    @Test
    @Requirement({"MR-STR-025", "MR-CRED-004", "MR-LIM-020"})
    void nineHundredThatWait() {
        Peers p = peers();
        for (int s = 100; s < 1_000; s++) {
            send(p, s);
        }
        p.run(20_000_000);
        int streams = p.a.endpoint.liveStreams();
        long before = p.net.datagrams;
        Peers q = peers();
        long alone = time(q, (x, turn) -> { });
        long quiet = q.net.datagrams;
        long with = time(p, (x, turn) -> { });
        System.out.printf("%d streams beside 900 that wait: %d us, alone %d us%n", GOOD, with / 1_000, alone / 1_000);
        assertTrue(with <= MOST * alone, with + " ns instead of " + alone);
        assertTrue(p.net.datagrams - before <= 2 * quiet, "requests for credit: " + (p.net.datagrams - before) + " datagrams, alone " + quiet);
        assertEquals(streams + GOOD, p.a.endpoint.liveStreams());
        assertEquals(900, p.a.endpoint.liveWorkRequests());
        assertEquals(0, p.a.endpoint.livePackets());
        p.run(1_000_000);
        assertEquals(0, p.a.endpoint.liveWindows(), "who waits holds no window");
        // Receives at last: all are done, in whatever order.
        int sent = p.completionsA.size();
        for (int s = 100; s < 1_000; s++) {
            p.postReceiveB(s, 4_000_000, 1_000, s);
        }
        assertTrue(p.until(1_000_000_000L, () -> p.completionsA.size() == sent + 900));
        p.run(50_000_000);
        p.assertIdle();
    }
}
