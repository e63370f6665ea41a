// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.wire.AckHeader;
import io.metaroce.wire.ControlBlock;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.ParityEntry;
import io.metaroce.wire.ParityHeader;
import io.metaroce.wire.PathBlock;
import io.metaroce.wire.Type;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.zip.CRC32C;

/** Every packet that two {@link Peers} send, readable by field; and datagrams made out of them by hand. */
final class Tap {
    /** A packet as it was sent, before the network did anything to it; an acknowledgement and the Data behind it one after the other. Fields by their offset (spec: "Packet formats"). */
    record Seen(byte[] bytes, boolean toB, int plane, int sourcePort, NetAddress to, long atNs) {
        int type() {
            return bytes[4] & 0xf;
        }

        int u8(int at) {
            return bytes[at] & 0xff;
        }

        int u16(int at) {
            return buffer().getShort(at) & 0xffff;
        }

        int i32(int at) {
            return buffer().getInt(at);
        }

        long i64(int at) {
            return buffer().getLong(at);
        }

        private ByteBuffer buffer() {
            return ByteBuffer.wrap(bytes);
        }

        boolean isData() {
            return type() == Type.DATA;
        }

        /** An acknowledgement with Data behind it, which is the next that was seen. */
        boolean isFollowed() {
            return type() == Type.ACK && (bytes[5] & AckHeader.DATA_FOLLOWS) != 0;
        }

        /** The datagram of both. */
        byte[] with(Seen follower) {
            return joined(bytes, follower.bytes);
        }

        boolean isRepeat() {
            return (bytes[5] & DataHeader.RETRANSMISSION) != 0;
        }

        int opcode() {
            return u8(DataHeader.OPCODE);
        }

        /** Of Data and probes. */
        int path() {
            return u16(DataHeader.PATH);
        }

        int epoch() {
            return u8(DataHeader.EPOCH);
        }

        /** Of Data; next PSN of probes. */
        int psn() {
            return i32(DataHeader.PSN);
        }

        int ssn() {
            return i32(DataHeader.SSN);
        }

        int msn() {
            return i32(DataHeader.MSN);
        }

        int stream() {
            return i32(DataHeader.STREAM);
        }

        List<Block> blocks() {
            List<Block> found = new ArrayList<>();
            int at = AckHeader.LENGTH;
            for (int i = 0; i < u8(6); i++) {
                boolean isLong = isLong(bytes, i);
                long[] words = new long[isLong ? u8(at + PathBlock.WORDS) : 0];
                for (int w = 0; w < words.length; w++) {
                    words[w] = i64(at + PathBlock.LENGTH + 8 * w);
                }
                found.add(new Block(DataHeader.pathOf(u8(AckHeader.PLANE), u8(at)), u8(at + PathBlock.EPOCH), low(i32(at)), isLong,
                        isLong ? u16(at + PathBlock.SPAN) : 0, u16(at + PathBlock.HOLD), isLong ? i32(at + PathBlock.ECHO) : 0, u8(at + PathBlock.CE_COUNT),
                        words, at));
                at += lengthOfBlock(bytes, i, at);
            }
            return found;
        }

        List<Control> controls() {
            List<Control> found = new ArrayList<>();
            for (int i = 0; i < u8(7); i++) {
                int at = bytes.length - (u8(7) - i) * ControlBlock.LENGTH;
                found.add(new Control(u8(at), u8(at + 1), i32(at + 4), i32(at + 8)));
            }
            return found;
        }
    }

    /** A path block; {@code at} is its offset in the datagram. */
    record Block(int path, int epoch, int cumulative, boolean isLong, int span, int hold, int echo, int ce, long[] words, int at) {
        /** How far the PSN is beyond cumulative, of which there are {@link PathBlock#PSN_BITS} bits. */
        int distance(int psn) {
            return psn - cumulative << Integer.SIZE - PathBlock.PSN_BITS >> Integer.SIZE - PathBlock.PSN_BITS;
        }

        boolean has(int psn) {
            int d = distance(psn);
            return d < 0 || d >> 6 < words.length && (words[d >> 6] >>> d & 1) != 0;
        }
    }

    record Control(int kind, int cause, int stream, int value) { }

    final List<Seen> seen = new ArrayList<>();
    private final Peers p;

    Tap(Peers p) {
        this.p = p;
        p.net.observer = (from, d, plane, port, to) ->
            packets(d.clone()).forEach(packet -> seen.add(new Seen(packet, from == p.a, plane, port, to, p.net.nowNs)));
    }

    /** The packets of a datagram: itself, or copies of an acknowledgement and the Data behind it. */
    static List<byte[]> packets(byte[] d) {
        int first = lengthOfFirst(d);
        return first == d.length ? List.of(d) : List.of(Arrays.copyOf(d, first), Arrays.copyOfRange(d, first, d.length));
    }

    /** What a path block has of a PSN. */
    static int low(int psn) {
        return psn & (1 << PathBlock.PSN_BITS) - 1;
    }

    /** Whether path block {@code i} is long. */
    static boolean isLong(byte[] ack, int i) {
        return (ack[AckHeader.LONG_BLOCKS] >> i & 1) != 0;
    }

    static int lengthOfBlock(byte[] ack, int i, int at) {
        return isLong(ack, i) ? PathBlock.length(ack[at + PathBlock.WORDS]) : PathBlock.SHORT_LENGTH;
    }

    /** The acknowledgement with a long block of this echo in the place of its first one, if that is short, and what is changed beside. */
    static byte[] lengthened(byte[] ack, int echo, Consumer<ByteBuffer> change) {
        boolean isLong = isLong(ack, 0);
        int more = isLong ? 0 : PathBlock.LENGTH - PathBlock.SHORT_LENGTH;
        return resized(ack, ack.length + more, d -> {
            int behind = AckHeader.LENGTH + PathBlock.SHORT_LENGTH;
            if (!isLong) {
                d.put(AckHeader.LONG_BLOCKS, (byte) (ack[AckHeader.LONG_BLOCKS] | 1));
                d.putLong(behind, 0);
                d.put(behind + more, ack, behind, ack.length - behind);
            }
            d.putInt(AckHeader.LENGTH + PathBlock.ECHO, echo);
            change.accept(d);
        });
    }

    /** The acknowledgement with one control block in the place of all its blocks. */
    static byte[] withControl(byte[] ack, int kind, int cause, int stream, int value, int detail) {
        return resized(ack, AckHeader.LENGTH + ControlBlock.LENGTH, d -> {
            int at = AckHeader.LENGTH;
            d.put(AckHeader.PATH_BLOCKS, (byte) 0).put(AckHeader.CONTROL_BLOCKS, (byte) 1);
            d.putInt(at, kind << 24 | cause << 16).putInt(at + ControlBlock.STREAM, stream).putInt(at + ControlBlock.VALUE, value)
                    .putInt(at + ControlBlock.DETAIL, detail);
        });
    }

    /** Adds to cumulative of the first path block. */
    static void addToCumulative(ByteBuffer ack, int packets) {
        int first = ack.getInt(AckHeader.LENGTH);
        ack.putInt(AckHeader.LENGTH, first & ~low(-1) | low(first + packets));
    }

    /** Without the Data packet behind an acknowledgement. */
    static int lengthOfFirst(byte[] d) {
        if ((d[4] & 15) != Type.ACK || (d[5] & AckHeader.DATA_FOLLOWS) == 0) {
            return d.length;
        }
        int bytes = AckHeader.LENGTH;
        for (int i = 0; i < d[6]; i++) {
            bytes += lengthOfBlock(d, i, bytes);
        }
        return bytes + d[7] * ControlBlock.LENGTH;
    }

    /** Connects, writes so many bytes, waits until they are acknowledged, and forgets what was seen; returns the first packet of data. */
    Seen connectAndWrite(int bytes) {
        p.connect();
        p.post(p.request(Opcode.WRITE, 0, 0, bytes, 0, 1));
        assertTrue(p.until(10_000_000, () -> p.completionsA.size() == 1));
        p.run(1_000_000);
        Seen first = dataToB().getFirst();
        seen.clear();
        return first;
    }

    List<Seen> of(boolean toB, int type) {
        return seen.stream().filter(s -> s.toB == toB && s.type() == type).toList();
    }

    List<Seen> dataToB() {
        return of(true, Type.DATA);
    }

    List<Seen> acksToA() {
        return of(false, Type.ACK);
    }

    List<Seen> acksToB() {
        return of(true, Type.ACK);
    }

    /** The last acknowledgement to A that describes this path, as a block. */
    Block lastBlock(int path) {
        return acksToA().stream().flatMap(s -> s.blocks().stream()).filter(b -> b.path == path).reduce((x, y) -> y)
                .orElseThrow(() -> new AssertionError("no acknowledgement of path " + path));
    }

    // ---- datagrams by hand ----

    /** The datagram with other contents and a checksum that is right again; of two packets in it, the first. Integrity is FULL. */
    static byte[] changed(byte[] datagram, Consumer<ByteBuffer> change) {
        return resized(datagram, datagram.length, change);
    }

    static byte[] resized(byte[] datagram, int length, Consumer<ByteBuffer> change) {
        int first = lengthOfFirst(datagram);
        if (first < datagram.length) {
            List<byte[]> both = packets(datagram);
            return joined(resized(both.getFirst(), first + length - datagram.length, change), both.getLast());
        }
        byte[] made = Arrays.copyOf(datagram, length);
        int tag = crc(datagram) ^ ByteBuffer.wrap(datagram).getInt(0);
        change.accept(ByteBuffer.wrap(made));
        ByteBuffer.wrap(made).putInt(0, crc(made) ^ tag);
        return made;
    }

    private static byte[] joined(byte[] a, byte[] b) {
        return ByteBuffer.allocate(a.length + b.length).put(a).put(b).array();
    }

    /** Of what is covered with integrity FULL. */
    static int crc(byte[] datagram) {
        boolean parity = (datagram[4] & 15) == Type.PARITY;
        int covered = parity ? ParityHeader.LENGTH + datagram[ParityHeader.COUNT] * ParityEntry.LENGTH : datagram.length;
        CRC32C crc = new CRC32C();
        crc.update(datagram, 4, covered - 4);
        return (int) crc.getValue();
    }

    /** Data on the same path, {@code ahead} PSNs later, the floor where it was. */
    static byte[] later(byte[] data, int ahead, Consumer<ByteBuffer> change) {
        return changed(data, b -> {
            b.putInt(DataHeader.PSN, b.getInt(DataHeader.PSN) + ahead);
            b.put(DataHeader.FLOOR_DISTANCE, (byte) (b.get(DataHeader.FLOOR_DISTANCE) + ahead));
            change.accept(b);
        });
    }

    /** Hands a datagram to B (or A), as if it had come over plane 0, and lets time pass for the answer. */
    void giveB(byte[] datagram) {
        p.net.inject(p.b, 0, p.a.config.localAddresses[0], 2, datagram);
        p.run(200_000);
    }

    void giveA(byte[] datagram) {
        p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, datagram);
        p.run(200_000);
    }
}
