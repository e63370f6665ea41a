// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.capture;

import io.metaroce.wire.Prefix;
import io.metaroce.wire.Type;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Frames of 64 bytes that a receiver has to drop, by what is wrong with them. Deterministic. */
public final class Floods {
    /** Not for our port: other MAC addresses, IP addresses, UDP ports and protocols, fragments. */
    public static final String FOREIGN = "foreign";
    /** For our port, but no datagrams of ours: too short, of another version or type, or not as long as they say. */
    public static final String MALFORMED = "malformed";
    /** Well formed, for connections that there are not. */
    public static final String UNKNOWN = "unknown";
    public static final List<String> KINDS = List.of(FOREIGN, MALFORMED, UNKNOWN);
    /** Frames of a flood that goes round and round; each differs from the others. */
    private static final int FRAMES = 512;
    private static final int LLDP = 0x88cc;
    private static final int IPV6 = 0x86dd;
    private static final int TCP = 6;
    private static final int MORE_FRAGMENTS = 0x2000;
    /** Room for a datagram in a frame of 64 bytes, and the length of CLOSE, the longest of ours that fits. */
    private static final int ROOM = 22;
    private static final int CLOSE = 20;

    private Floods() {
    }

    /** Frames of a kind, for who {@code receiver} names. */
    public static List<byte[]> frames(String kind, Frames receiver) {
        SplittableRandom random = new SplittableRandom(kind.hashCode());
        List<byte[]> all = new ArrayList<>();
        for (int i = 0; i < FRAMES; i++) {
            all.add(kind.equals(FOREIGN) ? foreign(receiver, i, random) : receiver.udp(49_152 + random.nextInt(64), datagram(kind, i, random)));
        }
        return all;
    }

    private static byte[] foreign(Frames us, int i, SplittableRandom random) {
        byte[] close = datagram(UNKNOWN, i, random);
        return switch (i % 6) {
            case 0 -> us.toMac(0x0202_0000_0000L | random.nextInt(1 << 20)).udp(49_152, close);
            case 1 -> us.to(us.to() ^ 1 + random.nextInt(255) << 8).udp(49_152, close);
            case 2 -> us.toPort(us.toPort() ^ 1 + random.nextInt(255)).udp(49_152, close);
            case 3 -> us.ethernet(random.nextBoolean() ? LLDP : IPV6);
            case 4 -> us.ip(TCP, 0);
            default -> us.ip(Frames.UDP, MORE_FRAGMENTS);
        };
    }

    /** The datagram of a frame that is malformed or for a connection that is not there: at most 22 bytes. */
    public static byte[] datagram(String kind, int i, SplittableRandom random) {
        int variant = kind.equals(MALFORMED) ? i % 5 : -1;
        byte[] bytes = new byte[variant == 0 ? random.nextInt(Prefix.LENGTH) : variant < 0 ? CLOSE : ROOM];
        random.nextBytes(bytes);
        if (variant != 0) {
            int version = variant == 1 ? 2 + random.nextInt(14) : Prefix.VERSION;
            int type = variant == 2 ? 0 : variant == 3 ? Type.DATA : variant == 4 ? Type.PARK : Type.CLOSE;
            // No CID is 0.
            ByteBuffer.wrap(bytes).put(Prefix.VERSION_TYPE, (byte) (version << 4 | type)).put(Prefix.DESTINATION_CID + 3, (byte) 1);
            if (variant < 0) {
                bytes[Prefix.LENGTH] = 1;
            }
        }
        return bytes;
    }
}
