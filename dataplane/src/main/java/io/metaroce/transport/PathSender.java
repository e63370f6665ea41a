// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static io.metaroce.transport.ConnectionRecord.IN_FLIGHT;
import static io.metaroce.transport.ConnectionRecord.ORPHAN_HEAD;
import static io.metaroce.transport.ConnectionRecord.ORPHAN_TAIL;
import static io.metaroce.transport.ConnectionRecord.SICK_PATHS;

import io.metaroce.memory.Slab;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.PathBlock;

/**
 * The packets out on our paths: their PSNs, what an acknowledgement settles, what a gap proves lost, and what becomes of a
 * path that is given up (spec: "Paths, sender").
 */
final class PathSender {
    private final EndpointState state;
    private final Slab slab;
    private final Windows windows;
    private final Aimd aimd;
    private final StreamSender streams;
    private final PayloadSize size;

    PathSender(EndpointState state, Windows windows, Aimd aimd, StreamSender streams, PayloadSize size) {
        this.state = state;
        this.windows = windows;
        this.aimd = aimd;
        this.streams = streams;
        this.size = size;
        slab = state.slab;
    }

    /** Sets up all paths of a connection whose counts, MTU and peer are known. {@code rttNs}, the handshake's, counts until the first sample. */
    void open(long connection, int rttNs, long nowNs) {
        int paths = slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE);
        size.open(connection);
        for (int p = 0; p < slab.getInt(connection + ConnectionRecord.PLANES); p++) {
            long plane = state.plane(connection, p);
            boolean absent = slab.getInt(plane + PlaneRecord.STATE) == PlaneRecord.ABSENT;
            slab.putInt(plane + PlaneRecord.MIN_RTT_NS, Math.max(1, rttNs));
            slab.putLong(plane + PlaneRecord.MIN_RTT_SINCE_NS, PlaneRecord.GUESSED);
            slab.putInt(plane + PlaneRecord.SRTT_NS, Math.max(1, rttNs));
            slab.putLong(plane + PlaneRecord.LAST_PROGRESS_NS, nowNs);
            windows.refreshUnit(connection, plane);
            windows.startAnew(connection, plane);
            float startFactor = windows.startFactor(connection, plane);
            for (int i = 0; i < paths; i++) {
                long path = state.path(connection, p, i);
                slab.putInt(path + PathRecord.NUMBER, DataHeader.pathOf(p, i));
                slab.putInt(path + PathRecord.NEXT_PSN, (int) state.nextSecret());
                slab.putInt(path + PathRecord.SRTT_NS, 0);
                if (absent) {
                    slab.putInt(path + PathRecord.STATE, PathRecord.DORMANT);
                } else {
                    slab.putInt(path + PathRecord.SOURCE_PORT, freshPort(p, 0, i));
                }
                windows.setFactor(plane, path, startFactor);
            }
        }
    }

    /** A source port for a path: at first spread over the plane's ports, later another one at random. */
    private int freshPort(int plane, int current, int index) {
        int[] ports = state.ownPorts[plane];
        if (current == 0) {
            return ports[index % ports.length];
        }
        int port = ports[state.random.nextInt(ports.length)];
        return port == current && ports.length > 1 ? freshPort(plane, current, index) : port;
    }

    /** PSN distance from the oldest packet out to the next PSN; below {@link Limits#PSN_WINDOW} a packet may go. */
    int span(long path) {
        long head = slab.getLong(path + PathRecord.OUT_HEAD);
        return head == 0 ? 0 : slab.getInt(path + PathRecord.NEXT_PSN) - slab.getInt(head + PacketRecord.PSN);
    }

    /** Puts a packet on the path with the next PSN and returns that PSN. */
    int sent(long connection, long plane, long path, long packet, long nowNs) {
        int psn = slab.getInt(path + PathRecord.NEXT_PSN);
        slab.putInt(path + PathRecord.NEXT_PSN, psn + 1);
        slab.putInt(packet + PacketRecord.PSN, psn);
        slab.putLong(packet + PacketRecord.SENT_NS, nowNs);
        state.append(path + PathRecord.OUT_HEAD, path + PathRecord.OUT_TAIL, packet);
        slab.addInt(path + PathRecord.IN_FLIGHT, 1);
        slab.addInt(plane + PlaneRecord.IN_FLIGHT, 1);
        if (slab.addInt(connection + IN_FLIGHT, 1) == 1) {
            // With nothing out the next look at the paths may be far away.
            slab.putLong(connection + ConnectionRecord.CHECK_NS, nowNs + state.graceNs(plane));
            slab.putLong(plane + PlaneRecord.LAST_PROGRESS_NS, nowNs);
        }
        slab.putLong(path + PathRecord.LAST_TX_NS, nowNs);
        slab.putInt(path + PathRecord.PROBES_OUT, 0);
        slab.addLong(path + PathRecord.PACKETS, 1);
        slab.putInt(path + PathRecord.EPOCH, slab.getInt(path + PathRecord.EPOCH) | PathRecord.USED);
        return psn;
    }

    /** Takes one path block of an acknowledgement for a plane. */
    void onBlock(long connection, int p, long block, boolean isLong, long nowNs) {
        int i = PathBlock.index(block);
        if (i >= slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE)) {
            state.violation(connection);
            return;
        }
        long path = state.path(connection, p, i);
        if (PathBlock.epoch(block) != (slab.getInt(path + PathRecord.EPOCH) & 0xff)) {
            return;
        }
        int next = slab.getInt(path + PathRecord.NEXT_PSN);
        int cumulative = PathBlock.cumulativeNear(block, next);
        int top = isLong ? cumulative + PathBlock.span(block) : cumulative;
        if (top - next > 0) {
            state.violation(connection);
            return;
        }
        long plane = state.plane(connection, p);
        int acked = 0;
        int lost = 0;
        int repeats = 0;
        long newestNs = slab.getLong(plane + PlaneRecord.NEWEST_ACKED_NS);
        int words = isLong ? PathBlock.words(block) : 0;
        // Of a short block it is the packet before cumulative.
        boolean hasEcho = isLong;
        int echo = isLong ? PathBlock.echo(block) : 0;
        int longLost = slab.getInt(path + PathRecord.LONG_LOST);
        boolean lostSince = false;
        for (long packet = slab.getLong(path + PathRecord.OUT_HEAD); packet != 0; packet = slab.getLong(path + PathRecord.OUT_HEAD)) {
            int psn = slab.getInt(packet + PacketRecord.PSN);
            if (psn - top >= 0) {
                break;
            }
            state.removeFirst(path + PathRecord.OUT_HEAD, path + PathRecord.OUT_TAIL);
            int distance = psn - cumulative;
            if (distance < 0 || (distance >>> 6) < words && (PathBlock.word(block, distance >>> 6) >>> distance & 1) != 0) {
                acked++;
                long sentNs = slab.getLong(packet + PacketRecord.SENT_NS);
                newestNs = sentNs - newestNs > 0 ? sentNs : newestNs;
                if (!isLong && distance == -1) {
                    hasEcho = true;
                    echo = (int) sentNs;
                }
                if (longLost != 0 && isLong(packet)) {
                    longLost = 0;
                }
                streams.onPacketAcked(packet);
                state.packets.give(packet);
            } else {
                lost++;
                if (isLong(packet)) {
                    if (longLost++ == 0) {
                        slab.putInt(path + PathRecord.LONG_LOST_PSN, next);
                    }
                    lostSince |= psn - slab.getInt(path + PathRecord.LONG_LOST_PSN) >= 0;
                }
                if (slab.getLong(packet + PacketRecord.WORK) == 0) {
                    state.packets.give(packet);
                } else {
                    repeats++;
                    state.append(path + PathRecord.RTX_HEAD, path + PathRecord.RTX_TAIL, packet);
                }
            }
        }
        int hold = PathBlock.hold(block);
        boolean answered = slab.getInt(path + PathRecord.PROBES_OUT) > 0 && hold != PathBlock.NO_HOLD && top == next;
        long probedNs = slab.getLong(path + PathRecord.LAST_PROBE_NS);
        boolean echoesProbe = isLong && echo == (int) probedNs;
        if (answered && echoesProbe) {
            newestNs = Math.max(newestNs, probedNs);
            slab.putLong(plane + PlaneRecord.NEWEST_ACKED_NS, newestNs);
        }
        slab.putInt(path + PathRecord.LONG_LOST, longLost);
        int pad = slab.getInt(path + PathRecord.LAST_PAD);
        if (pad != 0 && echoesProbe && hold != PathBlock.NO_HOLD) {
            size.onProven(connection, plane, pad);
        }
        if (acked + lost > 0) {
            settled(connection, plane, path, acked + lost);
            slab.addInt(path + PathRecord.RTX_COUNT, repeats);
            slab.addInt(plane + PlaneRecord.RTX_PACKETS, repeats);
            slab.putLong(plane + PlaneRecord.NEWEST_ACKED_NS, newestNs);
            noteLoss(path, acked, lost);
            state.losses.lost(lost);
        }
        if (acked + lost > 0 || answered) {
            int rttNs = hasEcho && hold != PathBlock.NO_HOLD && (acked > 0 || answered) ? (int) nowNs - echo - hold * PathBlock.HOLD_UNIT_NS : 0;
            progress(connection, p, path, acked, PathBlock.ceCount(block), Math.max(0, rttNs), echoesProbe, nowNs);
        }
        if (longLost >= Limits.BLACK_HOLE && lostSince) {
            // Short packets pass, long ones do not: another route. A queue that was full loses as many at once, but not those that follow.
            evacuate(connection, plane, path, nowNs);
        }
    }

    /** The peer has a packet that was sent on this path. If it is out, its PSN is still waited for, but it is not repeated. */
    void onRebuilt(long connection, long plane, long path, long stream, int ssn, long nowNs) {
        for (long packet = slab.getLong(path + PathRecord.OUT_HEAD); packet != 0; packet = slab.getLong(packet + PacketRecord.NEXT)) {
            if (streams.is(packet, stream, ssn)) {
                streams.onPacketAcked(packet);
                slab.putLong(packet + PacketRecord.WORK, 0);
                return;
            }
        }
        for (int i = slab.getInt(path + PathRecord.RTX_COUNT); i > 0; i--) {
            long packet = state.removeFirst(path + PathRecord.RTX_HEAD, path + PathRecord.RTX_TAIL);
            if (streams.is(packet, stream, ssn)) {
                streams.onPacketAcked(packet);
                state.packets.give(packet);
                slab.addInt(path + PathRecord.RTX_COUNT, -1);
                slab.addInt(plane + PlaneRecord.RTX_PACKETS, -1);
            } else {
                state.append(path + PathRecord.RTX_HEAD, path + PathRecord.RTX_TAIL, packet);
            }
        }
        leaveIfDrained(connection, plane, path, nowNs);
    }

    private boolean isLong(long packet) {
        long work = slab.getLong(packet + PacketRecord.WORK);
        if (work == 0) {
            return false;
        }
        // Whatever is no message of one packet has a size.
        return slab.getInt(packet + PacketRecord.INDEX) + 1 < slab.getInt(work + WorkRecord.PACKETS)
                && slab.getInt(work + WorkRecord.PACKET_BYTES) > state.config.safePayload;
    }

    /** @param rttNs a sample, or 0 */
    private void progress(long connection, int p, long path, int acked, int ceCount, int rttNs, boolean echoesProbe, long nowNs) {
        long plane = state.plane(connection, p);
        slab.putLong(plane + PlaneRecord.LAST_PROGRESS_NS, nowNs);
        slab.putLong(plane + PlaneRecord.SUSPECT_NS, 0);
        slab.putInt(plane + PlaneRecord.PROOFS, 0);
        slab.putInt(path + PathRecord.PROOFS, 0);
        slab.putInt(path + PathRecord.PROBES_OUT, 0);
        if (slab.getInt(plane + PlaneRecord.STATE) == PlaneRecord.DOWN) {
            revive(connection, plane, p);
        }
        if (rttNs > 0) {
            windows.sample(connection, plane, rttNs, nowNs);
            int smoothed = slab.getInt(path + PathRecord.SRTT_NS);
            slab.putInt(path + PathRecord.SRTT_NS, smoothed == 0 ? rttNs : (int) ((3L * smoothed + 5L * rttNs) / 8));
        }
        // Only the last probe speaks for the present source port.
        if (slab.getInt(path + PathRecord.STATE) == PathRecord.PROBING && echoesProbe) {
            int proven = slab.getInt(plane + PlaneRecord.PROVEN_BYTES);
            if (proven <= state.config.safePayload || slab.getInt(path + PathRecord.LAST_PAD) >= proven) {
                windows.setFactor(plane, path, Limits.REVIVED_FACTOR * meanFactorOfGood(connection, plane, p));
                slab.putInt(path + PathRecord.STATE, PathRecord.GOOD);
                slab.putInt(path + PathRecord.ATTEMPTS, 0);
                slab.putInt(path + PathRecord.LONG_LOST, 0);
                slab.addInt(connection + SICK_PATHS, -1);
                size.onRoute(connection);
                if (rttNs > 0) {
                    slab.putInt(path + PathRecord.SRTT_NS, rttNs);
                }
            } else if (slab.addInt(path + PathRecord.LONG_LOST, 1) >= Limits.NARROW_ANSWERS && noneGood(connection, path)) {
                slab.putInt(path + PathRecord.LONG_LOST, 0);
                size.onNarrow(connection, plane);
            }
        }
        if (acked > 0) {
            // What acknowledges something new is newer than all that was heard before.
            int marked = Math.min(ceCount - slab.getInt(path + PathRecord.ACKED_CE) & 0xff, acked);
            slab.putInt(path + PathRecord.ACKED_CE, ceCount);
            state.statsOf(connection).ecnMarks += marked;
            slab.addInt(path + PathRecord.ACKS, acked);
            aimd.onAck(connection, plane, path, acked, marked, rttNs, slab.getFloat(plane + PlaneRecord.SHARE), nowNs);
            considerNewRoute(connection, plane, path);
        }
        leaveIfDrained(connection, plane, path, nowNs);
        state.makeReady(connection);
    }

    /** The last packet that a route to be left had out, or to repeat, is settled. */
    void leaveIfDrained(long connection, long plane, long path, long nowNs) {
        if (slab.getInt(path + PathRecord.STATE) == PathRecord.DRAINING && slab.getInt(path + PathRecord.IN_FLIGHT) == 0
                && slab.getInt(path + PathRecord.RTX_COUNT) == 0) {
            newRoute(connection, plane, path, nowNs);
        }
    }

    private boolean noneGood(long connection, long path) {
        int p = DataHeader.planeOf(slab.getInt(path + PathRecord.NUMBER));
        for (int i = 0; i < slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE); i++) {
            if (slab.getInt(state.path(connection, p, i) + PathRecord.STATE) == PathRecord.GOOD) {
                return false;
            }
        }
        return true;
    }

    /** Mean window of the plane's good paths, in units; 1 where there is none. */
    private float meanFactorOfGood(long connection, long plane, int number) {
        float sum = 0;
        int good = 0;
        for (int i = 0; i < slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE); i++) {
            long path = state.path(connection, number, i);
            if (slab.getInt(path + PathRecord.STATE) == PathRecord.GOOD) {
                sum += slab.getFloat(path + PathRecord.FACTOR);
                good++;
            }
        }
        return good == 0 ? 1f : sum / good;
    }

    /** A plane answers again: all its paths are probed and return one by one. */
    private void revive(long connection, long plane, int number) {
        slab.putInt(plane + PlaneRecord.STATE, PlaneRecord.UP);
        size.onPlane(connection);
        for (int i = 0; i < slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE); i++) {
            wantProbe(connection, state.path(connection, number, i));
        }
    }

    /** Asks for a probe of the path in the next transmission. */
    void wantProbe(long connection, long path) {
        if (slab.getInt(path + PathRecord.PROBE_WANTED) == 0) {
            slab.putInt(path + PathRecord.PROBE_WANTED, 1);
            slab.addInt(connection + ConnectionRecord.PROBES_WANTED, 1);
        }
        state.makeUrgent(connection);
    }

    /** A mean that forgets as slowly as it takes to tell a bad route from bad luck. */
    private void noteLoss(long path, int acked, int lost) {
        float mean = slab.getFloat(path + PathRecord.LOST);
        float n = acked + lost;
        slab.putFloat(path + PathRecord.LOST, mean + n / (n + Limits.LOSS_MEMORY) * (lost / n - mean));
    }

    /** Part of the packets lost on the paths of a plane. */
    private float meanLoss(long connection, int planeNumber) {
        int paths = slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE);
        float sum = 0;
        for (int i = 0; i < paths; i++) {
            sum += slab.getFloat(state.path(connection, planeNumber, i) + PathRecord.LOST);
        }
        return sum / paths;
    }

    private boolean losesTooMuch(long connection, long path) {
        float lost = slab.getFloat(path + PathRecord.LOST);
        return lost > Limits.BAD_ROUTE_MARGIN && lost > Limits.BAD_ROUTE_MARGIN
                + Limits.BAD_ROUTE_RATIO * meanLoss(connection, DataHeader.planeOf(slab.getInt(path + PathRecord.NUMBER)));
    }

    /**
     * A path marked far more than its plane, with a window far below the mean, leaves its route, and so does one that loses far more
     * than its plane (spec: "Changing a bad route").
     */
    private void considerNewRoute(long connection, long plane, long path) {
        if (slab.getInt(path + PathRecord.STATE) != PathRecord.GOOD || slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE) == 1) {
            return;
        }
        float marked = slab.getFloat(path + PathRecord.MARKED);
        float mean = slab.getFloat(plane + PlaneRecord.FACTOR_SUM) / slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE);
        float factor = slab.getFloat(path + PathRecord.FACTOR);
        boolean stands = slab.getFloat(plane + PlaneRecord.MARKED) < 0.5f * marked ? factor < 0.5f * mean : factor < mean / 3;
        if (losesTooMuch(connection, path) || slab.getInt(path + PathRecord.ACKS) > 8 && marked > 0.5f && stands) {
            slab.putInt(path + PathRecord.STATE, PathRecord.DRAINING);
            slab.addInt(connection + SICK_PATHS, 1);
        }
    }

    /** Starts a new epoch on another source port; the path carries no data until a probe is answered. */
    void newRoute(long connection, long plane, long path, long nowNs) {
        int before = slab.getInt(path + PathRecord.STATE);
        if (before == PathRecord.GOOD || before == PathRecord.DORMANT) {
            slab.addInt(connection + SICK_PATHS, 1);
        }
        int number = slab.getInt(path + PathRecord.NUMBER);
        slab.putInt(path + PathRecord.STATE, PathRecord.PROBING);
        slab.putLong(path + PathRecord.STATE_SINCE_NS, nowNs);
        // This route's time may be up before that of those that are tried already.
        slab.putLong(connection + ConnectionRecord.CHECK_NS, nowNs);
        state.wakeBy(connection, nowNs);
        nextEpoch(path);
        slab.putInt(path + PathRecord.ROUTE, slab.getInt(path + PathRecord.ROUTE) & ~PathRecord.DOUBTED);
        slab.putInt(path + PathRecord.SOURCE_PORT,
                freshPort(DataHeader.planeOf(number), slab.getInt(path + PathRecord.SOURCE_PORT), DataHeader.indexOf(number)));
        slab.putInt(path + PathRecord.ACKED_CE, 0);
        slab.putFloat(path + PathRecord.MARKED, 0);
        slab.putFloat(path + PathRecord.LOST, 0);
        slab.putInt(path + PathRecord.ACKS, 0);
        slab.putInt(path + PathRecord.PROBES_OUT, 0);
        slab.putInt(path + PathRecord.SRTT_NS, slab.getInt(plane + PlaneRecord.MIN_RTT_NS));
        slab.addInt(path + PathRecord.ATTEMPTS, 1);
        wantProbe(connection, path);
    }

    /** An epoch that carried no data stays: the receiver is never more than one behind, however long a route is dead. */
    private void nextEpoch(long path) {
        int epoch = slab.getInt(path + PathRecord.EPOCH);
        if ((epoch & PathRecord.USED) != 0) {
            slab.putInt(path + PathRecord.EPOCH, epoch + 1 & ~PathRecord.USED);
        }
    }

    /** Takes the path out of use with its plane; {@link #newRoute} brings it back. */
    void retire(long connection, long plane, long path) {
        int before = slab.getInt(path + PathRecord.STATE);
        if (before == PathRecord.DORMANT) {
            return;
        }
        clear(connection, plane, path);
        if (before != PathRecord.GOOD) {
            slab.addInt(connection + SICK_PATHS, -1);
        }
        if (slab.getInt(path + PathRecord.PROBE_WANTED) != 0) {
            slab.putInt(path + PathRecord.PROBE_WANTED, 0);
            slab.addInt(connection + ConnectionRecord.PROBES_WANTED, -1);
        }
        nextEpoch(path);
        slab.putInt(path + PathRecord.STATE, PathRecord.DORMANT);
    }

    /** Gives the path up: all it had out and all it had to repeat goes to the connection's orphans, for any live path. */
    void evacuate(long connection, long plane, long path, long nowNs) {
        clear(connection, plane, path);
        state.statsOf(connection).deadPaths++;
        newRoute(connection, plane, path, nowNs);
        state.makeReady(connection);
    }

    private void clear(long connection, long plane, long path) {
        slab.putInt(path + PathRecord.LONG_LOST, 0);
        int out = 0;
        for (long packet; (packet = state.removeFirst(path + PathRecord.OUT_HEAD, path + PathRecord.OUT_TAIL)) != 0; out++) {
            state.append(connection + ORPHAN_HEAD, connection + ORPHAN_TAIL, packet);
        }
        int repeats = 0;
        for (long packet; (packet = state.removeFirst(path + PathRecord.RTX_HEAD, path + PathRecord.RTX_TAIL)) != 0; repeats++) {
            state.append(connection + ORPHAN_HEAD, connection + ORPHAN_TAIL, packet);
        }
        settled(connection, plane, path, out);
        slab.putInt(path + PathRecord.RTX_COUNT, 0);
        slab.addInt(plane + PlaneRecord.RTX_PACKETS, -repeats);
    }

    private void settled(long connection, long plane, long path, int packets) {
        slab.addInt(path + PathRecord.IN_FLIGHT, -packets);
        slab.addInt(plane + PlaneRecord.IN_FLIGHT, -packets);
        slab.addInt(connection + IN_FLIGHT, -packets);
    }

    /** Frees every packet record of a dying connection. */
    void discard(long connection) {
        int paths = slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE);
        for (int p = 0; p < slab.getInt(connection + ConnectionRecord.PLANES); p++) {
            for (int i = 0; i < paths; i++) {
                long path = state.path(connection, p, i);
                giveAll(path + PathRecord.OUT_HEAD, path + PathRecord.OUT_TAIL);
                giveAll(path + PathRecord.RTX_HEAD, path + PathRecord.RTX_TAIL);
            }
        }
        giveAll(connection + ORPHAN_HEAD, connection + ORPHAN_TAIL);
    }

    private void giveAll(long headField, long tailField) {
        for (long packet; (packet = state.removeFirst(headField, tailField)) != 0; ) {
            state.packets.give(packet);
        }
    }
}
