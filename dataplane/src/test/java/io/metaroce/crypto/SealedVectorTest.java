// SPDX-License-Identifier: Apache-2.0
package io.metaroce.crypto;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.SpecFiles;
import io.metaroce.transport.Security;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.SealedHeader;
import io.metaroce.wire.Tlv;
import io.metaroce.wire.Validate;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The agreement and the packets of {@code spec/vectors/sealed.txt}, which were made without any code of this project. */
class SealedVectorTest {
    private static final HexFormat HEX = HexFormat.of();
    private final Map<String, Map<String, String>> vectors = read();
    private final Map<String, String> agreement = vectors.remove("keys");
    private final Map<String, String> resuming = vectors.remove("resume");
    private final Arena arena = Arena.ofAuto();

    private static Map<String, Map<String, String>> read() {
        try {
            Map<String, Map<String, String>> all = new LinkedHashMap<>();
            Map<String, String> current = Map.of();
            for (String line : Files.readAllLines(SpecFiles.directory().resolve("vectors/sealed.txt"))) {
                if (line.startsWith("[")) {
                    current = new HashMap<>();
                    all.put(line.substring(1, line.length() - 1), current);
                } else if (line.contains(" = ")) {
                    current.put(line.substring(0, line.indexOf(" = ")), line.substring(line.indexOf(" = ") + 3));
                }
            }
            return all;
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static byte[] bytes(Map<String, String> vector, String name) {
        return HEX.parseHex(vector.get(name));
    }

    private MemorySegment memory(byte[] bytes) {
        MemorySegment m = arena.allocate(Math.max(bytes.length, 1), 8);
        MemorySegment.copy(bytes, 0, m, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return m;
    }

    private static String hex(MemorySegment m, long from, long length) {
        return HEX.formatHex(m.asSlice(from, length).toArray(ValueLayout.JAVA_BYTE));
    }

    /** Gives what it was told, as if it had drawn it. */
    private static SecureRandom drawing(byte[] bytes) {
        return new SecureRandom() {
            @Override
            public void nextBytes(byte[] into) {
                assertEquals(bytes.length, into.length);
                System.arraycopy(bytes, 0, into, 0, into.length);
            }
        };
    }

    private static int security(byte[] datagram, int at) {
        while (datagram[at] != Tlv.SECURITY) {
            at += Tlv.sizeOf((datagram[at + 2] & 0xff) << 8 | datagram[at + 3] & 0xff);
        }
        return at + Tlv.HEADER_LENGTH;
    }

    /** T(INIT) or T(ACCEPT), whose TLVs begin at {@code tlvs}. */
    private static byte[] transcript(byte[] datagram, int tlvs) {
        byte[] t = datagram.clone();
        Arrays.fill(t, 0, 4, (byte) 0);
        if (tlvs == 48) {
            Arrays.fill(t, 32, 48, (byte) 0);
        }
        int proof = security(t, tlvs) + Tlv.PROOF;
        Arrays.fill(t, proof, proof + Security.PROOF_BYTES, (byte) 0);
        return t;
    }

    /** The keys of one end, and that its share and the proofs are the vectors'. */
    private Security.Keys keys(boolean initiator) {
        PskSecurity security = new PskSecurity(bytes(agreement, "psk"), drawing(bytes(agreement, initiator ? "privateInitiator" : "privateResponder")));
        byte[] init = bytes(agreement, "init");
        byte[] accept = bytes(agreement, "accept");
        int initSecurity = security(init, 48);
        int acceptSecurity = security(accept, 32);
        MemorySegment out = arena.allocate(64);
        byte[] tInit = transcript(init, 48);
        security.initProof(memory(tInit).address(), tInit.length, out.address());
        assertEquals(HEX.formatHex(init, initSecurity + Tlv.PROOF, initSecurity + Tlv.PROOF + 32), hex(out, 0, 32));

        Security.Exchange exchange = security.begin();
        exchange.share(out.address());
        byte[] own = initiator ? init : accept;
        byte[] peer = initiator ? accept : init;
        int ownShare = (initiator ? initSecurity : acceptSecurity) + Tlv.KEY_SHARE;
        int peerShare = (initiator ? acceptSecurity : initSecurity) + Tlv.KEY_SHARE;
        assertEquals(HEX.formatHex(own, ownShare, ownShare + 32), hex(out, 0, 32));
        assertTrue(exchange.agree(memory(Arrays.copyOfRange(peer, peerShare, peerShare + 32)).address()));

        byte[] tAccept = transcript(accept, 32);
        byte[] both = Arrays.copyOf(tInit, tInit.length + tAccept.length);
        System.arraycopy(tAccept, 0, both, tInit.length, tAccept.length);
        Security.Keys keys = exchange.keys(memory(both).address(), both.length, initiator);
        keys.acceptProof(out.address());
        assertEquals(HEX.formatHex(accept, acceptSecurity + Tlv.PROOF, acceptSecurity + Tlv.PROOF + 32), hex(out, 0, 32));
        return keys;
    }

    @Test
    @Requirement({"MR-SEAL-010", "MR-SEAL-011"})
    void everyPacketIsSealedAndOpenedAsTheVectorsSay() {
        assertTrue(vectors.size() >= 8);
        vectors.forEach((name, v) -> {
            boolean byInitiator = v.get("by").equals("initiator");
            int generation = Integer.parseInt(v.get("generation"));
            int number = Integer.parseUnsignedInt(v.get("number").substring(2), 16);
            int lane = Integer.parseInt(v.get("lane").substring(2), 16);
            byte[] inside = bytes(v, "inside");
            byte[] sealed = bytes(v, "hex");
            MemorySegment datagram = memory(sealed);
            assertEquals(0, Validate.check(datagram.address(), sealed.length), name);
            assertEquals(number, SealedHeader.number(datagram.address()));
            assertEquals(lane, SealedHeader.lane(datagram.address()));
            assertEquals(generation % 16, SealedHeader.generation(datagram.address()));
            assertEquals(Integer.parseInt(v.get("opened")), SealedHeader.opened(datagram.address()));

            Security.Keys sender = keys(byInitiator);
            Security.Keys receiver = keys(!byInitiator);
            for (int i = 0; i < generation; i++) {
                sender.nextSending();
                receiver.nextReceiving();
            }
            byte[] plain = new byte[inside.length - 8];
            System.arraycopy(inside, 4, plain, 0, 4);
            System.arraycopy(inside, 12, plain, 4, plain.length - 4);
            int first = Math.min(plain.length, 60);
            MemorySegment made = arena.allocate(SealedHeader.MAX_DATAGRAM);
            SealedHeader.write(made.address(), number, generation, Integer.parseInt(v.get("opened")), lane, Prefix.destinationCid(datagram.address()));
            // In two pieces, as headers and payloads lie apart.
            MemorySegment source = memory(plain);
            sender.seal(made.address(), lane, number, source.address(), first, source.address() + first, plain.length - first,
                    made.address() + SealedHeader.LENGTH);
            assertEquals(v.get("hex"), hex(made, 0, sealed.length), name);

            MemorySegment opened = arena.allocate(SealedHeader.MAX_DATAGRAM);
            assertTrue(receiver.open(0, datagram.address(), lane, number, datagram.address() + 12, sealed.length - 12, opened.address()), name);
            assertEquals(HEX.formatHex(plain), hex(opened, 0, plain.length), name);

            // Not under another number, lane or generation, and not by who sealed it.
            opened.fill((byte) 0);
            assertFalse(receiver.open(0, datagram.address(), lane, number + 1, datagram.address() + 12, sealed.length - 12, opened.address()));
            assertFalse(receiver.open(0, datagram.address(), lane + 1, number, datagram.address() + 12, sealed.length - 12, opened.address()));
            assertFalse(receiver.open(1, datagram.address(), lane, number, datagram.address() + 12, sealed.length - 12, opened.address()));
            assertFalse(sender.open(0, datagram.address(), lane, number, datagram.address() + 12, sealed.length - 12, opened.address()));
            assertEquals(0, opened.get(ValueLayout.JAVA_LONG, 0), "what does not open leaves no plaintext");
            receiver.nextReceiving();
            assertTrue(receiver.open(-1, datagram.address(), lane, number, datagram.address() + 12, sealed.length - 12, opened.address()));
        });
    }

    @Test
    @Requirement("MR-SEAL-040")
    void whatResumesAConnectionIsProvenAsTheVectorsSay() {
        byte[] init = bytes(resuming, "init");
        byte[] accept = bytes(resuming, "accept");
        byte[] tInit = transcript(init, 48);
        assertEquals(14791, (init[30] & 0xff) << 8 | init[31] & 0xff);
        tInit[30] = 0;
        tInit[31] = 0;
        byte[] tAccept = transcript(accept, 32);
        byte[] both = Arrays.copyOf(tInit, tInit.length + tAccept.length);
        System.arraycopy(tAccept, 0, both, tInit.length, tAccept.length);
        int initProof = security(init, 48) + Tlv.PROOF;
        int acceptProof = security(accept, 32) + Tlv.PROOF;
        MemorySegment out = arena.allocate(64);
        for (boolean initiator : new boolean[] {true, false}) {
            Security.Keys former = keys(initiator);
            former.resumeProof(memory(tInit).address(), tInit.length, out.address());
            assertEquals(HEX.formatHex(init, initProof, initProof + 32), hex(out, 0, 32));
            PskSecurity security = new PskSecurity(new byte[32], drawing(bytes(agreement, initiator ? "privateInitiator" : "privateResponder")));
            Security.Exchange exchange = security.begin();
            byte[] peer = initiator ? accept : init;
            int share = security(peer, initiator ? 32 : 48) + Tlv.KEY_SHARE;
            assertTrue(exchange.agree(memory(Arrays.copyOfRange(peer, share, share + 32)).address()));
            exchange.keys(former, memory(both).address(), both.length, initiator).acceptProof(out.address());
            assertEquals(HEX.formatHex(accept, acceptProof, acceptProof + 32), hex(out, 0, 32));
        }
    }

    @Test
    @Requirement("MR-SEAL-004")
    void sharesOfSmallOrderAreNotUsable() {
        Security.Exchange exchange = new PskSecurity(new byte[32]).begin();
        String[] small = {"00".repeat(32), "01" + "00".repeat(31), "ec" + "ff".repeat(30) + "7f", "ed" + "ff".repeat(30) + "7f", "ee" + "ff".repeat(30) + "7f",
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800", "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157"};
        for (String share : small) {
            assertFalse(exchange.agree(memory(HEX.parseHex(share)).address()), share);
        }
        assertTrue(exchange.agree(memory(HEX.parseHex("09" + "00".repeat(31))).address()));
    }
}
