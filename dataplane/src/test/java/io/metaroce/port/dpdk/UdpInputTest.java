// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.bindings.dpdk.generated.PmdShim;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** What a device says of checksums goes before what we would find. */
class UdpInputTest {
    private static final int LOCAL = 0x0a000001;
    private static final int PEER = 0x0a000009;
    private static final int PORT = 14791;
    private static final int IP_GOOD = PmdShim.MRPMD_RX_IP_GOOD();
    private static final int IP_BAD = PmdShim.MRPMD_RX_IP_BAD();
    private static final int L4_GOOD = PmdShim.MRPMD_RX_L4_GOOD();
    private static final int L4_BAD = PmdShim.MRPMD_RX_L4_BAD();
    private static final int IP_CHECKSUM = 24;
    private static final int UDP_CHECKSUM = 40;
    private static final byte[] GOOD = Packets.ipv4(1, 2, 0, 0, 17, PEER, LOCAL, 0,
            Packets.udp(5555, PORT, Packets.pattern(100), Packets.pseudoV4(PEER, LOCAL), true));

    private static final byte[] LOCAL_V6 = {0x20, 1, 13, (byte) 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    private static final byte[] GOOD_V6 = Packets.ipv6(1, 2, 0, 17, 64, LOCAL_V6, LOCAL_V6,
            Packets.udp(5555, PORT, Packets.pattern(100), Packets.pseudoV6(LOCAL_V6, LOCAL_V6), true));
    private static final int UDP_CHECKSUM_V6 = 60;

    private static boolean isAccepted(byte[] frame, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment f = arena.allocateFrom(ValueLayout.JAVA_BYTE, frame);
            ByteBuffer address = ByteBuffer.wrap(LOCAL_V6);
            long result = frame.length == GOOD.length ? UdpInput.ipv4(f.address(), frame.length, Frame.ETHERNET_LENGTH, flags, LOCAL, PORT)
                    : UdpInput.ipv6(f.address(), frame.length, Frame.ETHERNET_LENGTH, flags, address.getLong(), address.getLong(), PORT);
            if (result >= 0) {
                assertEquals(100, UdpInput.length(result));
            }
            return result >= 0;
        }
    }

    private static void check(String what, byte[] right, int field, int good, int bad) {
        byte[] wrong = Packets.flipped(right, field);
        assertTrue(isAccepted(right, 0), what + ", right, not checked");
        assertFalse(isAccepted(wrong, 0), what + ", wrong, not checked");
        assertTrue(isAccepted(wrong, good), what + ", good says the device");
        assertFalse(isAccepted(right, bad), what + ", bad says the device");
        assertTrue(isAccepted(wrong, good | bad), what + ", never written, but the content is good");
    }

    @Test
    void theIpHeader() {
        check("IP", GOOD, IP_CHECKSUM, IP_GOOD, IP_BAD);
    }

    @Test
    void theDatagram() {
        check("UDP over IPv4", GOOD, UDP_CHECKSUM, L4_GOOD, L4_BAD);
        check("UDP over IPv6", GOOD_V6, UDP_CHECKSUM_V6, L4_GOOD, L4_BAD);
    }
}
