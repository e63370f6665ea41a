// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.AckHeader;
import io.metaroce.wire.PathBlock;
import io.metaroce.wire.ControlBlock;
import io.metaroce.wire.InitHeader;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.Type;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What receivers must not mind: reserved bits, unknown parts, source ports, a network without ECN. A conversation shows that they don't. */
class ToleranceTest {
    private static final long MS = 1_000_000;
    private final Peers p = new Peers(2301);
    private final Random random = new Random(2301);

    /** Everything works, the handshake and the close included, and nothing was refused on the way. */
    @AfterEach
    void converse() {
        p.connect();
        for (int i = 0; i < 20; i++) {
            p.postReceiveB(i % 3, 4_000_000, 4_000, i);
            p.post(p.request(i % 2 == 0 ? Opcode.SEND : Opcode.WRITE_IMM, i % 3, i * 20_000, 3_000, i * 20_000, i));
            p.post(p.request(Opcode.WRITE, i % 3, i * 20_000, 20_000, i * 20_000, i));
            p.post(p.request(Opcode.READ_REQUEST, i % 3, 5_000_000, 2_000, 1_000_000, i));
            WorkRequest add = p.request(Opcode.FETCH_ADD, i % 3, 6_000_000, 8, 6_000_000, i);
            add.operand = 1;
            p.post(add);
        }
        assertTrue(p.until(1_000 * MS, () -> p.completionsA.size() == 80 && p.completionsB.size() == 20), p.completionsA.size() + " done");
        p.completionsA.forEach(c -> assertEquals(Completion.OK, c.status));
        p.assertCopied(0, 0, 400_000);
        assertEquals(20, p.memoryB.segment().get(java.lang.foreign.ValueLayout.JAVA_LONG, 6_000_000));
        assertEquals(0, p.statsA().violations + p.statsB().violations);
        assertEquals(0, p.statsA().retransmissions);
        assertEquals(0, p.statsA().deadPaths + p.statsB().deadPaths);
        p.a.endpoint.close(p.net.nowNs, p.ab);
        assertTrue(p.until(10 * MS, () -> Peers.has(p.eventsA, Event.CLOSED) && Peers.has(p.eventsB, Event.CLOSED)));
        for (TestNetwork.Host h : p.net.hosts) {
            EndpointCounters k = h.endpoint.counters();
            assertEquals(0, k.malformed + k.checksumErrors + k.forged + k.badCookies);
        }
    }

    @Test
    @Requirement("MR-GEN-005")
    void reservedFieldsAndFlagsAreIgnored() {
        p.net.change = d -> {
            int type = d[4] & 15;
            int[] reserved = switch (type) {
                case Type.DATA -> new int[] {15};
                case Type.PROBE -> new int[] {5, 6, 15};
                case Type.CLOSE, Type.CLOSE_ACK -> new int[] {5, 7, 16, 17, 18, 19};
                case Type.CHALLENGE -> new int[] {5, 6, 7, 12, 13, 14, 15};
                case Type.INIT -> new int[] {5, 6, 7};
                case Type.ACCEPT -> new int[] {5, 6, 7, 30, 31};
                default -> new int[0];
            };
            return Tap.changed(d, b -> {
                for (int at : reserved) {
                    b.put(at, (byte) random.nextInt());
                }
                if (type == Type.DATA) {
                    b.put(5, (byte) (b.get(5) | 0x80));
                    int op = b.get(6);
                    if (op == Opcode.SEND) {
                        b.putInt(44, random.nextInt()).putInt(48, random.nextInt()).putInt(60, random.nextInt());
                    } else if (op == Opcode.WRITE) {
                        b.putInt(60, random.nextInt());
                    } else if (Opcode.isResponse(op)) {
                        b.putInt(48, random.nextInt()).putInt(60, random.nextInt());
                    }
                } else if (type == Type.ACK) {
                    b.put(5, (byte) (b.get(5) | random.nextInt(64) << 2));
                    int at = AckHeader.LENGTH;
                    for (int i = 0; i < b.get(6); i++) {
                        if (Tap.isLong(d, i)) {
                            b.put(at + PathBlock.WORDS + 1, (byte) random.nextInt());
                        }
                        at += Tap.lengthOfBlock(d, i, at);
                    }
                    // Those of blocks that are not there.
                    b.put(AckHeader.LONG_BLOCKS, (byte) (b.get(AckHeader.LONG_BLOCKS) | random.nextInt(256) << b.get(6)));
                    for (int i = 0; i < b.get(7); i++) {
                        b.putShort(Tap.lengthOfFirst(d) - (i + 1) * ControlBlock.LENGTH + 2, (short) random.nextInt());
                    }
                }
            });
        };
    }

    @Test
    @Requirement("MR-GEN-006")
    void unknownParametersAndControlBlocksAreIgnored() {
        p.net.change = d -> switch (d[4] & 15) {
            // The padding becomes a parameter of a later version; ACCEPT gets one more.
            case Type.INIT -> Tap.changed(d, b -> b.put(HandshakeRequirementsTest.tlv(d, InitHeader.LENGTH, 0), (byte) 200));
            case Type.ACCEPT -> Tap.resized(d, d.length + 16, b -> b.putShort(28, (short) (b.getShort(28) + 16)).put(d.length, (byte) 250)
                    .putShort(d.length + 2, (short) 10));
            case Type.ACK -> d[7] > 20 ? d : Tap.resized(d, d.length + 2 * ControlBlock.LENGTH, b -> {
                b.put(7, (byte) (b.get(7) + 2));
                int end = Tap.lengthOfFirst(d);
                b.put(end, (byte) 99).put(end + 1, (byte) 5).putInt(end + 4, 0).putInt(end + 8, 3);
                b.put(end + 16, (byte) 0);
            });
            default -> d;
        };
    }

    @Test
    @Requirement("MR-ENC-009")
    void sourcePortsMeanNothingToReceivers() {
        p.net.seenPort = s -> 1 + random.nextInt(65_535);
    }

    @Test
    @Requirement("MR-ENC-014")
    void aNetworkWithoutEcnWillDo() {
        p.net.ecn = 0;
    }

    @Test
    @Requirement({"MR-GEN-012"})
    void timestampsOfAnotherClockMeanNothing() {
        // The peers' clocks differ by any amount: what comes back is echoed, and only its sender reckons with it.
        int skew = 0x5abcdef1;
        UnaryOperator<byte[]> shift = d -> switch (d[4] & 15) {
            case Type.DATA, Type.PROBE -> Tap.changed(d, b -> b.putInt(20, b.getInt(20) + skew));
            case Type.ACK -> Tap.changed(d, b -> {
                int at = AckHeader.LENGTH;
                for (int i = 0; i < b.get(6); i++) {
                    if (Tap.isLong(d, i)) {
                        b.putInt(at + PathBlock.ECHO, b.getInt(at + PathBlock.ECHO) - skew);
                    }
                    at += Tap.lengthOfBlock(d, i, at);
                }
            });
            default -> d;
        };
        p.net.change = shift;
    }
}
