// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.wire.AcceptHeader;
import io.metaroce.wire.AckHeader;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.ControlBlock;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.InitHeader;
import io.metaroce.wire.ParityEntry;
import io.metaroce.wire.ParityHeader;
import io.metaroce.wire.PathBlock;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.RefuseHeader;
import io.metaroce.wire.Tlv;
import io.metaroce.wire.Type;
import io.metaroce.wire.Validate;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A million datagrams for the decoder of each type: what live connections sent, changed, cut, joined and lengthened, and bytes at
 * random. Nothing is thrown; what lies behind a datagram never changes what is read of it; what passes is as long as it says.
 */
class DecoderFuzzTest {
    private static final int DATAGRAMS = 1_000_000;
    private static final int ROOM = 20_000;
    private static final int SAMPLES = 256;
    /** Behind a datagram lies first this, then that. */
    private static final int BEHIND = 128;
    private static List<List<byte[]>> samples;

    private final MemorySegment memory = Arena.ofAuto().allocate(ROOM, 64);
    private final long at = memory.address();
    private final Tlv.Reader reader = new Tlv.Reader();

    /** Datagrams of every type, as scenarios sent them. */
    private static synchronized List<byte[]> samples(int type) {
        if (samples == null) {
            samples = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                samples.add(new ArrayList<>());
            }
            for (long seed = 1; seed < 60; seed++) {
                Simulation s = new Simulation(Profile.of(seed));
                s.network.tap = f -> {
                    List<byte[]> of = samples.get(Prefix.type(f.address) & 15);
                    if (!f.corrupt && of.size() < SAMPLES) {
                        of.add(MemorySegment.ofAddress(f.address).reinterpret(f.length).toArray(ValueLayout.JAVA_BYTE));
                    }
                };
                s.run();
            }
        }
        return samples.get(type);
    }

    @ParameterizedTest
    @ValueSource(ints = {Type.INIT, Type.CHALLENGE, Type.ACCEPT, Type.REFUSE, Type.DATA, Type.ACK, Type.PROBE, Type.CLOSE, Type.CLOSE_ACK,
            Type.RESET, Type.SEALED, Type.PARITY})
    @Requirement({"MR-PKT-030", "MR-PKT-031"})
    void aMillion(int type) {
        List<byte[]> valid = samples(type);
        assertFalse(valid.isEmpty(), "no scenario sent a " + Type.name(type));
        SplittableRandom r = new SplittableRandom(type);
        int passed = 0;
        for (int i = 0; i < DATAGRAMS; i++) {
            int length = r.nextInt(16) == 0 ? random(r, type) : changed(r, valid);
            passed += decode(length) ? 1 : 0;
        }
        assertTrue(passed > DATAGRAMS / 100 && passed < DATAGRAMS, passed + " passed");
    }

    private int random(SplittableRandom r, int type) {
        int length = r.nextInt(r.nextInt(8) == 0 ? 1_500 : 120);
        for (int i = 0; i < length; i += 8) {
            Bytes.putLong(at + i, r.nextLong());
        }
        if (length > Prefix.VERSION_TYPE && r.nextInt(8) > 0) {
            Bytes.putByte(at + Prefix.VERSION_TYPE, Prefix.versionTypeOf(type));
        }
        return length;
    }

    private int changed(SplittableRandom r, List<byte[]> valid) {
        byte[] d = valid.get(r.nextInt(valid.size()));
        int length = d.length;
        MemorySegment.copy(d, 0, memory, ValueLayout.JAVA_BYTE, 0, length);
        for (int n = r.nextInt(4); n > 0; n--) {
            int where = length == 0 ? 0 : r.nextInt(Math.min(length, r.nextBoolean() ? 64 : 1_100));
            switch (r.nextInt(8)) {
                case 0 -> Bytes.putByte(at + where, Bytes.getU8(at + where) ^ 1 << r.nextInt(8));
                case 1 -> Bytes.putByte(at + where, Settings.pick(r, 0, 1, 3, 4, 5, 8, 9, 32, 33, 255, r.nextInt(256)));
                case 2 -> Bytes.putShort(at + (where & ~1), Settings.pick(r, 0, 1, 4, 20, 255, 256, 257, 0x7fff, 0xffff, r.nextInt(65_536)));
                case 3 -> Bytes.putInt(at + (where & ~3), Settings.pick(r, 0, 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, 1 << 30, r.nextInt()));
                case 4 -> Bytes.putInt(at + (where & ~3), Bytes.getInt(at + (where & ~3)) + r.nextInt(-300, 300));
                case 5 -> length = r.nextInt(length + 1);
                case 6 -> length += r.nextInt(64);
                default -> {
                    // The rest of another one.
                    byte[] other = valid.get(r.nextInt(valid.size()));
                    int from = Math.min(where, other.length);
                    MemorySegment.copy(other, from, memory, ValueLayout.JAVA_BYTE, where, other.length - from);
                    length = Math.max(where, Math.min(length, where + other.length - from));
                }
            }
        }
        return length;
    }

    /** Whether the datagram passes; checked twice with different bytes behind it. */
    private boolean decode(int length) {
        memory.asSlice(length, BEHIND).fill((byte) 0);
        int verdict = Validate.check(at, length);
        long read = verdict == 0 ? read(length) : 0;
        memory.asSlice(length, BEHIND).fill((byte) 0xff);
        assertEquals(verdict, Validate.check(at, length), "what lies behind the datagram was looked at");
        assertEquals(read, verdict == 0 ? read(length) : 0, "what lies behind the datagram was read");
        return verdict == 0;
    }

    /** Reads all that a receiver would, and returns a digest of it. */
    private long read(int length) {
        long digest = Bytes.getInt(at + Prefix.DESTINATION_CID);
        return switch (Prefix.type(at)) {
            case Type.DATA -> {
                assertEquals(length, DataHeader.LENGTH + DataHeader.payloadLength(at));
                yield digest + Bytes.getInt(at + DataHeader.IMMEDIATE) + payload(at + DataHeader.LENGTH, DataHeader.payloadLength(at));
            }
            case Type.ACK -> digest + (AckHeader.isFollowed(at) ? follower(length) : blocks(length));
            case Type.PARITY -> {
                assertEquals(length, ParityHeader.length(at) + ParityHeader.packetBytes(at));
                yield digest + entries() + payload(at + ParityHeader.length(at), ParityHeader.packetBytes(at));
            }
            case Type.INIT -> {
                assertEquals(length, InitHeader.LENGTH + InitHeader.tlvBytes(at));
                yield digest + tlvs(at + InitHeader.LENGTH, InitHeader.tlvBytes(at));
            }
            case Type.ACCEPT -> {
                assertEquals(length, AcceptHeader.LENGTH + AcceptHeader.tlvBytes(at));
                yield digest + tlvs(at + AcceptHeader.LENGTH, AcceptHeader.tlvBytes(at));
            }
            case Type.REFUSE -> {
                assertTrue(RefuseHeader.LENGTH + RefuseHeader.textBytes(at) <= length);
                yield digest + payload(at + RefuseHeader.LENGTH, RefuseHeader.textBytes(at));
            }
            default -> digest + payload(at, length);
        };
    }

    private static long payload(long from, int bytes) {
        long sum = bytes;
        for (int i = 0; i < Math.min(bytes, 64); i++) {
            sum = sum * 31 + Bytes.getU8(from + i);
        }
        return bytes == 0 ? sum : sum * 31 + Bytes.getU8(from + bytes - 1);
    }

    private long follower(int length) {
        int first = AckHeader.length(at);
        assertEquals(length - first, DataHeader.LENGTH + DataHeader.payloadLength(at + first));
        return blocks(first) * 31 + payload(at + first, length - first);
    }

    private long blocks(int length) {
        long digest = 0;
        long block = at + AckHeader.LENGTH;
        for (int i = 0; i < AckHeader.pathBlocks(at); i++) {
            boolean isLong = AckHeader.isLong(at, i);
            int words = isLong ? PathBlock.words(block) : 0;
            for (int w = 0; w < words; w++) {
                digest = digest * 31 + PathBlock.word(block, w);
            }
            digest = digest * 31 + PathBlock.cumulative(block) + (isLong ? PathBlock.span(block) : 0);
            block += PathBlock.length(block, isLong);
        }
        for (int i = 0; i < AckHeader.controlBlocks(at); i++, block += ControlBlock.LENGTH) {
            digest = digest * 31 + ControlBlock.kind(block) + ControlBlock.value(block);
        }
        assertEquals(length, block - at, "blocks end where the datagram ends");
        return digest;
    }

    private long entries() {
        long digest = 0;
        for (int i = 0; i < ParityHeader.count(at); i++) {
            long entry = ParityEntry.at(at + ParityHeader.LENGTH, i);
            digest = digest * 31 + ParityEntry.path(entry) + ParityEntry.psn(entry) + ParityEntry.checksum(entry);
        }
        return digest;
    }

    private long tlvs(long from, int bytes) {
        long digest = 0;
        reader.open(from, bytes);
        while (reader.next()) {
            assertTrue(reader.value() >= from && reader.value() + reader.length() <= from + bytes, "a value leaves the datagram");
            digest = digest * 31 + reader.type() + reader.u32() + reader.u64() + payload(reader.value(), reader.length());
            if (reader.type() == Tlv.PLANES) {
                for (int p = 0; p < reader.planes(); p++) {
                    digest = digest * 31 + reader.planeHigh(p) + reader.planeLow(p) + reader.planePort(p);
                }
            }
        }
        assertFalse(reader.malformed());
        return digest;
    }
}
