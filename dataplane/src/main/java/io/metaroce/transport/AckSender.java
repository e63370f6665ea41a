// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static io.metaroce.transport.ConnectionRecord.ACK_DEADLINE;
import static io.metaroce.transport.ConnectionRecord.ACK_NOW;
import static io.metaroce.transport.ConnectionRecord.DIRTY_PLANES;
import static io.metaroce.transport.ConnectionRecord.NAK_HEAD;
import static io.metaroce.transport.ConnectionRecord.NEWS_COUNT;
import static io.metaroce.transport.ConnectionRecord.PARITY_USED;

import io.metaroce.memory.Slab;
import io.metaroce.wire.AckHeader;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.Cause;
import io.metaroce.wire.ControlBlock;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.PathBlock;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Rate16;
import io.metaroce.wire.Type;

/**
 * Decides when to acknowledge and writes the datagrams: path blocks, the receiver's share, NAKs, credit
 * (spec: "Acknowledgement").
 */
final class AckSender {
    private static final long VALIDITY_MIN_US = 100;
    /** A stream has at most three kinds of news, a block each. */
    private static final int NEWS_OF_STREAM = 3;

    private final EndpointState state;
    private final Slab slab;
    private final Outgoing out;
    private final ReceiverShare share;
    private final StreamTable streams;
    private final StreamSender sender;

    AckSender(EndpointState state, Outgoing out, ReceiverShare share, StreamTable streams, StreamSender sender) {
        this.sender = sender;
        this.state = state;
        this.out = out;
        this.share = share;
        this.streams = streams;
        slab = state.slab;
    }

    /** A packet or probe of the peer's came in on this path: it has news to acknowledge. */
    void note(long connection, int planeNumber, long plane, long path, int packets, boolean atOnce, long nowNs) {
        if (slab.getInt(path + PathRecord.RX_DIRTY) == 0) {
            slab.putInt(path + PathRecord.RX_DIRTY, 1);
            slab.putLong(path + PathRecord.RX_DIRTY_NEXT, slab.getLong(plane + PlaneRecord.DIRTY_HEAD));
            slab.putLong(plane + PlaneRecord.DIRTY_HEAD, path);
            slab.putInt(connection + DIRTY_PLANES, slab.getInt(connection + DIRTY_PLANES) | 1 << planeNumber);
        }
        int pending = slab.addInt(plane + PlaneRecord.ACK_PENDING, packets);
        if (atOnce || pending >= slab.getInt(connection + ConnectionRecord.ACK_EVERY)) {
            slab.putInt(connection + ACK_NOW, slab.getInt(connection + ACK_NOW) | 1 << planeNumber);
            state.makeUrgent(connection);
        } else if (pending == packets) {
            long dueNs = nowNs + state.config.ackDelayNs;
            slab.putInt(plane + PlaneRecord.ACK_DUE, (int) dueNs);
            long deadline = slab.getLong(connection + ACK_DEADLINE);
            if (deadline == 0 || dueNs - deadline < 0) {
                slab.putLong(connection + ACK_DEADLINE, dueNs);
                state.wakeBy(connection, dueNs);
            }
        }
    }

    /** All that waits to be acknowledged is due, on every plane. */
    void hurry(long connection) {
        slab.putInt(connection + ACK_NOW, slab.getInt(connection + ACK_NOW) | slab.getInt(connection + DIRTY_PLANES));
        state.makeUrgent(connection);
    }

    boolean isDue(long connection, long nowNs) {
        long deadline = slab.getLong(connection + ACK_DEADLINE);
        if (deadline != 0 && deadline - nowNs <= 0) {
            slab.putInt(connection + ACK_NOW, slab.getInt(connection + ACK_NOW) | waitedLongEnough(connection, nowNs));
        }
        return slab.getInt(connection + ACK_NOW) != 0 || slab.getInt(connection + NEWS_COUNT) > 0;
    }

    /** Bit a plane of which an acknowledgement is due by time; the time of the others is noted. */
    private int waitedLongEnough(long connection, long nowNs) {
        int due = 0;
        long nextNs = 0;
        int dirty = slab.getInt(connection + DIRTY_PLANES);
        for (int p = 0; dirty >>> p != 0; p++) {
            long plane = state.plane(connection, p);
            if ((dirty >>> p & 1) == 0 || slab.getInt(plane + PlaneRecord.ACK_PENDING) == 0) {
                continue;
            }
            int leftNs = slab.getInt(plane + PlaneRecord.ACK_DUE) - (int) nowNs;
            if (leftNs <= 0) {
                due |= 1 << p;
            } else if (nextNs == 0 || nowNs + leftNs - nextNs < 0) {
                nextNs = nowNs + leftNs;
            }
        }
        slab.putLong(connection + ACK_DEADLINE, nextNs);
        if (nextNs != 0) {
            state.wakeBy(connection, nextNs);
        }
        return due;
    }

    /** Sends all that is due, as far as the burst has room; what is left stays due. */
    void send(long connection, long nowNs) {
        do {
            if (out.isFull()) {
                state.makeUrgent(connection);
                return;
            }
            datagram(connection, nowNs);
        } while (slab.getInt(connection + ACK_NOW) != 0 || slab.getInt(connection + NEWS_COUNT) > 0);
    }

    private void datagram(long connection, long nowNs) {
        int dirty = slab.getInt(connection + DIRTY_PLANES);
        int due = slab.getInt(connection + ACK_NOW) & dirty;
        int planeNumber = due != 0 ? Integer.numberOfTrailingZeros(due)
                : dirty != 0 ? Integer.numberOfTrailingZeros(dirty) : state.firstPlaneUp(connection);
        long plane = state.plane(connection, planeNumber);
        int paths = slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE);
        int count = slab.addInt(connection + ConnectionRecord.ACK_TURN, 1);
        int turn = Integer.remainderUnsigned(count, paths);
        int over = planeNumber;
        long by = slab.getInt(plane + PlaneRecord.STATE) == PlaneRecord.UP ? goodPath(connection, planeNumber, turn) : 0;
        // Another plane's route carries nothing that is acknowledged, and may be dead unnoticed: so only every other one goes there.
        if (by == 0 || !isGood(by) && (count & 1) == 0) {
            over = livePlane(connection, planeNumber);
            by = goodPath(connection, over, turn);
        }
        int route = over == planeNumber ? DataHeader.indexOf(slab.getInt(by + PathRecord.NUMBER)) + 1 : 0;
        int length = write(connection, planeNumber, plane, route, nowNs);
        out.control(connection, slab.getInt(by + PathRecord.NUMBER), slab.getInt(by + PathRecord.SOURCE_PORT), length);
        slab.putLong(connection + ConnectionRecord.LAST_TX_NS, nowNs);
    }

    /**
     * Writes what is due on a plane in front of a Data packet that goes there by a path, to where its header was to be.
     *
     * @param room most bytes for it
     * @return bytes written; 0: nothing is due, it may take more, or the path is not one to be trusted with it
     */
    int ahead(long connection, int planeNumber, long path, int room, long nowNs) {
        int due = slab.getInt(connection + ACK_NOW) & slab.getInt(connection + DIRTY_PLANES) & 1 << planeNumber;
        if (due == 0 && slab.getInt(connection + NEWS_COUNT) == 0) {
            return 0;
        }
        long plane = state.plane(connection, planeNumber);
        // A route in doubt will do: if it is dead, the packet shows it.
        if (slab.getInt(plane + PlaneRecord.STATE) != PlaneRecord.UP || !isGood(path) || mostBytes(connection, plane) > room) {
            return 0;
        }
        int length = write(connection, planeNumber, plane, state.indexOf(connection, planeNumber, path) + 1, nowNs);
        Prefix.flags(out.header(), AckHeader.HAS_SHARE | AckHeader.DATA_FOLLOWS);
        return length;
    }

    /** At most so long is the next acknowledgement for the plane. */
    private int mostBytes(long connection, long plane) {
        if (slab.getInt(connection + ConnectionRecord.REFUSED_COUNT) != 0 || slab.getInt(connection + PARITY_USED) != 0 || slab.getLong(connection + NAK_HEAD) != 0) {
            return AckHeader.MAX_LENGTH;
        }
        int bytes = AckHeader.LENGTH + repeats(connection, plane) * PathBlock.MAX_LENGTH
                + (NEWS_OF_STREAM * slab.getInt(connection + NEWS_COUNT) + 1) * ControlBlock.LENGTH;
        long path = slab.getLong(plane + PlaneRecord.DIRTY_HEAD);
        for (int i = 0; i < AckHeader.MAX_PATH_BLOCKS && path != 0; i++) {
            int span = slab.getInt(path + PathRecord.RX_TOP) - slab.getInt(path + PathRecord.RX_BASE);
            bytes += PathBlock.length(span + Long.SIZE - 1 >> 6);
            path = slab.getLong(path + PathRecord.RX_DIRTY_NEXT);
        }
        return bytes;
    }

    /** Writes an acknowledgement to where the next header is to be, and notes that it was told; returns its length. */
    private int write(long connection, int planeNumber, long plane, int route, long nowNs) {
        int dirty = slab.getInt(connection + DIRTY_PLANES);
        int due = slab.getInt(connection + ACK_NOW) & dirty;
        long at = out.header();
        Prefix.write(at, Type.ACK, slab.getInt(connection + ConnectionRecord.REMOTE_CID));
        AckHeader.longBlocks(at, 0);
        long end = at + AckHeader.LENGTH;
        int blocks = 0;
        int told = 0;
        while (blocks < AckHeader.MAX_PATH_BLOCKS) {
            long path = slab.getLong(plane + PlaneRecord.DIRTY_HEAD);
            if (path == 0) {
                break;
            }
            slab.putLong(plane + PlaneRecord.DIRTY_HEAD, slab.getLong(path + PathRecord.RX_DIRTY_NEXT));
            slab.putInt(path + PathRecord.RX_DIRTY, 0);
            int index = state.indexOf(connection, planeNumber, path);
            end += block(at, blocks, end, path, index, route, nowNs);
            told = told << Byte.SIZE | entry(index);
            blocks++;
        }
        int before = slab.getInt(plane + PlaneRecord.TOLD_PATHS);
        slab.putInt(plane + PlaneRecord.TOLD_PATHS, told);
        for (int left = repeats(connection, plane); left > 0 && before != 0 && blocks < AckHeader.MAX_PATH_BLOCKS; before >>>= Byte.SIZE) {
            int entry = before & 0xff;
            if (entry != 0 && !holds(told, entry)) {
                int index = entry - 1;
                end += block(at, blocks, end, state.path(connection, planeNumber, index), index, route, nowNs);
                blocks++;
                left--;
            }
        }
        if (slab.getLong(plane + PlaneRecord.DIRTY_HEAD) == 0) {
            slab.putInt(connection + DIRTY_PLANES, dirty & ~(1 << planeNumber));
            due &= ~(1 << planeNumber);
            slab.putInt(plane + PlaneRecord.ACK_PENDING, 0);
        }
        // Whatever else was to be told at once is in this datagram.
        slab.putInt(connection + ACK_NOW, due);
        int controls = naks(connection, end);
        controls += rebuilt(connection, end + (long) controls * ControlBlock.LENGTH);
        controls += news(connection, end + (long) controls * ControlBlock.LENGTH, AckHeader.MAX_CONTROL_BLOCKS - controls);
        if (controls < AckHeader.MAX_CONTROL_BLOCKS) {
            controls += duplicates(connection, end + (long) controls * ControlBlock.LENGTH);
        }
        end += (long) controls * ControlBlock.LENGTH;

        long rttNs = Math.max(slab.getInt(plane + PlaneRecord.SRTT_NS), 1);
        Prefix.flags(at, AckHeader.HAS_SHARE);
        AckHeader.pathBlocks(at, blocks);
        AckHeader.controlBlocks(at, controls);
        AckHeader.plane(at, planeNumber);
        long kbps = Math.max(1, share.share(planeNumber, plane, nowNs));
        long validityUs = Math.max(VALIDITY_MIN_US, Math.max(Limits.SHARE_AGE_RTT * rttNs, 20 * state.config.timerFloorNs) / 1_000);
        // At a small share the next packets, and what is told then, are long from now.
        validityUs = Math.max(validityUs, Limits.SHARE_AGE_PACKETS * 8_000L * slab.getInt(connection + ConnectionRecord.PACKET_BYTES) / kbps);
        AckHeader.shareValidityUs(at, (int) Math.min(0xffff, validityUs));
        AckHeader.share(at, Rate16.encode(kbps));
        AckHeader.startShare(at, Rate16.encode(share.startShare(planeNumber)));
        state.statsOf(connection).acksSent++;
        return (int) (end - at);
    }

    /**
     * Path blocks of the acknowledgement before that go into this one, too. In a steady stream the next packet of each path heals a lost
     * acknowledgement, and all the blocks again would cost as much of the way back as they save; where few packets wait, none may come.
     */
    private int repeats(long connection, long plane) {
        if (!state.expectsLoss()) {
            return 0;
        }
        return slab.getInt(plane + PlaneRecord.ACK_PENDING) >= slab.getInt(connection + ConnectionRecord.ACK_EVERY)
                ? Limits.REPEATED_BLOCKS : Limits.REPEATED_BLOCKS_EARLY;
    }

    /** How a path is noted as told, in a byte; 0 is none, and what the last one of 256 gets: its blocks are not repeated. */
    private static int entry(int index) {
        return index + 1 & 0xff;
    }

    /** Whether a byte of the four is this one, not 0. */
    private static boolean holds(int bytes, int wanted) {
        for (; bytes != 0; bytes >>>= 8) {
            if ((bytes & 0xff) == wanted) {
                return true;
            }
        }
        return false;
    }

    /** The same plane if we believe it up and have a good path there, else the first of which both is true. */
    private int livePlane(long connection, int planeNumber) {
        int planes = slab.getInt(connection + ConnectionRecord.PLANES);
        for (int i = 0; i < planes; i++) {
            int p = planeNumber + i < planes ? planeNumber + i : planeNumber + i - planes;
            if (slab.getInt(state.plane(connection, p) + PlaneRecord.STATE) == PlaneRecord.UP && isGood(goodPath(connection, p, 0))) {
                return p;
            }
        }
        // Where nothing is known to be good, what is acknowledged has at least come in over its own plane.
        boolean gone = slab.getInt(state.plane(connection, planeNumber) + PlaneRecord.STATE) == PlaneRecord.ABSENT;
        return gone ? state.firstPlaneUp(connection) : planeNumber;
    }

    /**
     * The first good path of the plane from this one on whose route is not in doubt, or this one if none is good: a route that failed
     * would lose what we tell.
     */
    private long goodPath(long connection, int planeNumber, int from) {
        int paths = slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE);
        long good = 0;
        for (int i = 0; i < paths; i++) {
            long path = state.path(connection, planeNumber, from + i < paths ? from + i : from + i - paths);
            if (isGood(path)) {
                if (slab.getInt(path + PathRecord.ROUTE) < PathRecord.DOUBTED) {
                    return path;
                }
                good = good == 0 ? path : good;
            }
        }
        if (good == 0) {
            return state.path(connection, planeNumber, from);
        }
        // All are in doubt: then it is not the routes.
        for (int i = 0; i < paths; i++) {
            trust(state.path(connection, planeNumber, i));
        }
        return good;
    }

    private void trust(long path) {
        slab.putInt(path + PathRecord.ROUTE, slab.getInt(path + PathRecord.ROUTE) & ~PathRecord.DOUBTED);
    }

    /** The peer shows that it has not heard the last acknowledgement of this path: the route that this took may lose all. */
    void unheard(long connection, int planeNumber, long path) {
        int route = slab.getInt(path + PathRecord.ROUTE) & ~PathRecord.DOUBTED;
        if (route != 0) {
            long by = state.path(connection, planeNumber, route - 1);
            slab.putInt(by + PathRecord.ROUTE, slab.getInt(by + PathRecord.ROUTE) | PathRecord.DOUBTED);
        }
    }

    private boolean isGood(long path) {
        return slab.getInt(path + PathRecord.STATE) == PathRecord.GOOD;
    }

    /** Writes path block {@code i} of an acknowledgement and returns its length: a long one where there is more to tell than that all came, and when the last did. */
    private int block(long ack, int i, long at, long path, int index, int route, long nowNs) {
        slab.putInt(path + PathRecord.ROUTE, slab.getInt(path + PathRecord.ROUTE) & PathRecord.DOUBTED | route);
        int base = slab.getInt(path + PathRecord.RX_BASE);
        int span = slab.getInt(path + PathRecord.RX_TOP) - base;
        PathBlock.path(at, index, base);
        PathBlock.epoch(at, slab.getInt(path + PathRecord.RX_EPOCH));
        PathBlock.ceCount(at, slab.getInt(path + PathRecord.RX_CE));
        long echoNs = slab.getLong(path + PathRecord.RX_ECHO_NS);
        long hold = echoNs == PathReceiver.NOTHING_TO_ECHO ? PathBlock.NO_HOLD : (nowNs - echoNs) / PathBlock.HOLD_UNIT_NS;
        PathBlock.hold(at, (int) Math.min(hold, PathBlock.NO_HOLD));
        if (span == 0 && (echoNs == PathReceiver.NOTHING_TO_ECHO || slab.getInt(path + PathRecord.RX_ECHO_PSN) == base - 1)) {
            return PathBlock.SHORT_LENGTH;
        }
        AckHeader.longBlocks(ack, AckHeader.longBlocks(ack) | 1 << i);
        int words = 0;
        // Nothing stands beyond the span.
        for (int w = 0; w << 6 < span; w++) {
            long word = slab.getLong(path + PathRecord.RX_BITS + 8L * w);
            if (word != 0) {
                for (; words <= w; words++) {
                    PathBlock.word(at, words, slab.getLong(path + PathRecord.RX_BITS + 8L * words));
                }
            }
        }
        PathBlock.span(at, span);
        Bytes.putShort(at + PathBlock.WORDS, 0);
        PathBlock.words(at, words);
        PathBlock.echo(at, slab.getInt(path + PathRecord.RX_ECHO));
        return PathBlock.length(words);
    }

    /** Every NAK not yet confirmed stands in every acknowledgement: a sender never completes what was refused. */
    private int naks(long connection, long at) {
        int n = 0;
        for (; n < slab.getInt(connection + ConnectionRecord.REFUSED_COUNT); n++) {
            long refused = connection + ConnectionRecord.REFUSED + 8L * n;
            control(at + (long) n * ControlBlock.LENGTH, ControlBlock.NAK, Cause.UNKNOWN_STREAM, slab.getInt(refused), slab.getInt(refused + 4));
        }
        slab.putInt(connection + ConnectionRecord.REFUSED_COUNT, 0);
        for (long stream = slab.getLong(connection + NAK_HEAD); stream != 0; stream = slab.getLong(stream + StreamRecord.NAK_NEXT)) {
            int kind = slab.getInt(stream + StreamRecord.NAK_PENDING) == StreamRecord.RESET ? ControlBlock.STREAM_RESET : ControlBlock.NAK;
            control(at + (long) n++ * ControlBlock.LENGTH, kind, slab.getInt(stream + StreamRecord.FAULT_CAUSE),
                    slab.getInt(stream + StreamRecord.ID), slab.getInt(stream + StreamRecord.FAULT_MSN));
        }
        return n;
    }

    /** Packets that the peer need not repeat. */
    private int rebuilt(long connection, long at) {
        int n = 0;
        long record = state.parities(connection, PARITY_USED);
        for (; record != 0 && n < Limits.REBUILT_TOLD; n++) {
            long header = record + ParityRecord.HEADER;
            long block = at + (long) n * ControlBlock.LENGTH;
            control(block, ControlBlock.REBUILT, 0, DataHeader.stream(header), DataHeader.ssn(header));
            ControlBlock.detail(block, DataHeader.path(header));
            long next = slab.getLong(record + ParityRecord.NEXT);
            state.parity.give(record);
            record = next;
        }
        state.parities(connection, PARITY_USED, record);
        if (record != 0) {
            state.tellNow(connection);
        }
        return n;
    }

    /** How much came twice, when that has changed: for statistics, so that it may get lost. */
    private int duplicates(long connection, long at) {
        int twice = slab.getInt(connection + ConnectionRecord.DUPLICATES);
        if ((twice & 1) == 0) {
            return 0;
        }
        slab.putInt(connection + ConnectionRecord.DUPLICATES, twice - 1);
        control(at, ControlBlock.DUPLICATES, 0, 0, twice >>> 1);
        return 1;
    }

    private int news(long connection, long at, int room) {
        int n = 0;
        while (slab.getInt(connection + NEWS_COUNT) > 0 && n + NEWS_OF_STREAM <= room) {
            long stream = streams.nextNews(connection);
            int news = slab.getInt(stream + StreamRecord.NEWS);
            slab.putInt(stream + StreamRecord.NEWS, 0);
            int id = slab.getInt(stream + StreamRecord.ID);
            if ((news & StreamTable.NEWS_CREDIT) != 0) {
                int posted = slab.getInt(stream + StreamRecord.RECEIVES_POSTED);
                slab.putInt(stream + StreamRecord.CREDIT_TOLD, posted);
                long block = at + (long) n++ * ControlBlock.LENGTH;
                control(block, ControlBlock.CREDIT, 0, id, posted);
                ControlBlock.detail(block, slab.getInt(stream + StreamRecord.SHARED_QUEUE) == 0 ? 0 : ControlBlock.ON_REQUEST);
            }
            if ((news & StreamTable.NEWS_CREDIT_REQUEST) != 0) {
                control(at + (long) n++ * ControlBlock.LENGTH, ControlBlock.CREDIT_REQUEST, 0, id, sender.wantedReceives(stream));
            }
            if ((news & StreamTable.NEWS_CONFIRM) != 0) {
                control(at + (long) n++ * ControlBlock.LENGTH, ControlBlock.STREAM_ERROR_CONFIRM, 0, id,
                        slab.getInt(stream + StreamRecord.NAK_MSN));
            }
        }
        return n;
    }

    private static void control(long at, int kind, int cause, int stream, int value) {
        Bytes.putInt(at, 0);
        ControlBlock.kind(at, kind);
        ControlBlock.cause(at, cause);
        ControlBlock.stream(at, stream);
        ControlBlock.value(at, value);
        ControlBlock.detail(at, 0);
    }
}
