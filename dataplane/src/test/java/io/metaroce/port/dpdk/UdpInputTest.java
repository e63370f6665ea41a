// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.metaroce.bindings.dpdk.generated.PmdShim;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
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

    private static boolean isAccepted(byte[] frame, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment f = arena.allocateFrom(ValueLayout.JAVA_BYTE, frame);
            long result = UdpInput.ipv4(f.address(), frame.length, Frame.ETHERNET_LENGTH, flags, LOCAL, PORT);
            if (result >= 0) {
                assertEquals(100, UdpInput.length(result));
            }
            return result >= 0;
        }
    }

    private static void check(String what, int field, int good, int bad) {
        byte[] wrong = Packets.flipped(GOOD, field);
        assertEquals(true, isAccepted(GOOD, 0), what + ", right, not checked");
        assertEquals(false, isAccepted(wrong, 0), what + ", wrong, not checked");
        assertEquals(true, isAccepted(wrong, good), what + ", good says the device");
        assertEquals(false, isAccepted(GOOD, bad), what + ", bad says the device");
        assertEquals(true, isAccepted(wrong, good | bad), what + ", never written, but the content is good");
    }

    @Test
    void theIpHeader() {
        check("IP", IP_CHECKSUM, IP_GOOD, IP_BAD);
    }

    @Test
    void theDatagram() {
        check("UDP", UDP_CHECKSUM, L4_GOOD, L4_BAD);
    }
}
