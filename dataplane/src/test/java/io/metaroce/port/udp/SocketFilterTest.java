// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.metaroce.Requirement;
import io.metaroce.transport.RxBurst;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.InitHeader;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.SealedHeader;
import io.metaroce.wire.Type;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the kernel's filter lets through: all that an endpoint may have to answer or take, of any version 1 type. */
@Timeout(20)
class SocketFilterTest {
    private static final Map<Integer, Integer> SHORTEST = Map.ofEntries(Map.entry(Type.INIT, 512), Map.entry(Type.CHALLENGE, 40), Map.entry(Type.ACCEPT, 32),
            Map.entry(Type.REFUSE, 28), Map.entry(Type.DATA, 64), Map.entry(Type.ACK, 20), Map.entry(Type.PROBE, 32), Map.entry(Type.CLOSE, 20),
            Map.entry(Type.CLOSE_ACK, 20), Map.entry(Type.RESET, 36), Map.entry(Type.SEALED, SealedHeader.MIN_DATAGRAM), Map.entry(Type.PARK, 20),
            Map.entry(Type.PARK_ACK, 20), Map.entry(Type.PLANE, 48), Map.entry(Type.PARITY, 64));

    private static byte[] datagram(int version, int type, int length) {
        byte[] bytes = new byte[length];
        if (length > 4) {
            bytes[4] = (byte) (version << 4 | type);
        }
        return bytes;
    }

    @Test
    void dropsAndCountsWhatIsPlainlyNotOurs() throws IOException {
        UdpConfig config = new UdpConfig(NetAddress.of(InetAddress.ofLiteral("127.0.0.1"), 0));
        config.filter = true;
        try (UdpPort port = new UdpPort(config); DatagramSocket stranger = new DatagramSocket()) {
            List<byte[]> bad = new ArrayList<>(List.of(datagram(1, Type.CLOSE, 0), datagram(1, Type.CLOSE, 11), datagram(1, 0, 64),
                    datagram(2, Type.INIT, InitHeader.MIN_DATAGRAM - 1)));
            for (int version : new int[] {0, 2, 15}) {
                for (int type = 0; type < 16; type++) {
                    if (type != Type.INIT) {
                        bad.add(datagram(version, type, 600));
                    }
                }
            }
            List<byte[]> good = new ArrayList<>(List.of(datagram(2, Type.INIT, InitHeader.MIN_DATAGRAM), datagram(0, Type.INIT, 600)));
            for (Map.Entry<Integer, Integer> shortest : SHORTEST.entrySet()) {
                bad.add(datagram(1, shortest.getKey(), shortest.getValue() - 1));
                good.add(datagram(1, shortest.getKey(), shortest.getValue()));
            }
            assertEquals(15, SHORTEST.size());
            assertTaken(good, bad, stranger, port);
        }
    }

    @Test
    @Requirement("MR-CON-024")
    void dropsWhatNamesNoneOfTheEndpointsConnections() throws IOException {
        UdpConfig config = new UdpConfig(NetAddress.of(InetAddress.ofLiteral("127.0.0.1"), 0));
        config.filter = true;
        try (UdpPort port = new UdpPort(config); DatagramSocket stranger = new DatagramSocket()) {
            port.expectCids(0x7f80_0000, 0x5a80_0000);
            List<byte[]> bad = new ArrayList<>();
            List<byte[]> good = new ArrayList<>();
            SHORTEST.forEach((type, length) -> {
                good.add(to(0x5a81_2345, type, length));
                good.add(to(0x5aff_ffff, type, length));
                boolean needsNone = type == Type.INIT || type == Type.PROBE || type == Type.RESET;
                for (int cid : new int[] {0, 0x5a01_2345, 0x5b81_2345, 0xda00_0000}) {
                    (needsNone ? good : bad).add(to(cid, type, length));
                }
            });
            assertTaken(good, bad, stranger, port);
        }
    }

    /** A version 1 datagram for this connection. */
    private static byte[] to(int cid, int type, int length) {
        return ByteBuffer.wrap(datagram(1, type, length)).putInt(8, cid).array();
    }

    /** Sends all, and receives the good ones in order and nothing else. */
    private static void assertTaken(List<byte[]> good, List<byte[]> bad, DatagramSocket stranger, UdpPort port) {
        bad.forEach(d -> send(stranger, port, d));
        good.forEach(d -> send(stranger, port, d));
        RxBurst burst = new RxBurst(64);
        int at = 0;
        for (long end = System.nanoTime() + 5_000_000_000L; at < good.size() && System.nanoTime() - end < 0; ) {
            port.receive(burst);
            for (int i = 0; i < burst.count; i++) {
                assertEquals(good.get(at).length, burst.length[i], "datagram " + at);
                assertEquals(good.get(at)[4] & 0xff, Bytes.getU8(burst.address[i] + 4), "datagram " + at);
                at++;
            }
        }
        assertEquals(good.size(), at);
        assertEquals(bad.size(), port.counters().rxDropped);
    }

    private static void send(DatagramSocket from, UdpPort to, byte[] bytes) {
        try {
            from.send(new DatagramPacket(bytes, bytes.length, to.localAddress(0).toInetAddress(), to.localAddress(0).port()));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
