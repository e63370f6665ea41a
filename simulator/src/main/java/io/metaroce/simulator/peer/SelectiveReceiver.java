// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/** Takes packets in any order, and says which have come. */
final class SelectiveReceiver implements PeerReceiver {
    /**
     * @param bytes payload after which an acknowledgement is sent
     * @param delayPs time after which one is sent in any case; 0: the sender asks for it where needed
     * @param whenOutOfOrder whether a packet out of order is acknowledged at once
     * @param inOrder whether the application gets data in order, so that what comes early is held
     * @param notifies whether marked packets cause notifications (DCQCN)
     */
    record Manner(int bytes, long delayPs, boolean whenOutOfOrder, boolean inOrder, boolean notifies) { }

    private static final int SMALLEST = 32;
    private static final int BITS = Long.SIZE;

    private final PeerHost host;
    private final int peer;
    private final int channel;
    private final Manner manner;
    private final Puller puller;
    private final Timer delay;
    private boolean[] has = new boolean[SMALLEST];
    private int[] size = new int[SMALLEST];
    private final LongQueue fresh = new LongQueue();
    private long expected;
    private long end;
    private int early;
    private long heldBytes;
    private int unanswered;
    private boolean isFirst = true;
    private boolean wanted;
    private long notifiedPs = -Dcqcn.NOTIFY_PS;
    private long around;
    /* Of the packet that came last. */
    private int plane;
    private int port;
    private int path;
    private long sentPs;
    private long camePs;

    /** @param puller grants credit, or null */
    SelectiveReceiver(PeerHost host, int peer, int channel, Manner manner, Puller puller) {
        this.host = host;
        this.peer = peer;
        this.channel = channel;
        this.manner = manner;
        this.puller = puller;
        delay = host.timer(() -> acknowledge(false, false));
    }

    @Override
    public void onData(int packet, long header) {
        long psn = Frame.psn(header);
        plane = host.packets.plane(packet);
        port = host.packets.sourcePort(packet);
        path = Frame.path(header);
        sentPs = Frame.sentPs(header);
        camePs = host.nowPs();
        if (puller != null) {
            puller.wanted(peer, channel, Frame.amount(header), Frame.type(header) == Frame.PROBE);
        }
        if (Frame.type(header) == Frame.PROBE) {
            acknowledge(host.packets.marked(packet), true);
            return;
        }
        if (host.packets.trimmed(packet)) {
            if (puller != null) {
                puller.trimmed(peer, channel, host.config.payloadMtu);
            }
            int nak = host.begin(Frame.NAK, peer, channel, psn, plane, port);
            Frame.path(host.packets.header(nak), path, sentPs);
            host.counters.acks++;
            host.send(nak);
            return;
        }
        boolean marked = host.packets.marked(packet);
        if (manner.notifies && marked && host.nowPs() - notifiedPs >= Dcqcn.NOTIFY_PS) {
            notifiedPs = host.nowPs();
            host.send(host.begin(Frame.CNP, peer, channel, psn, plane, port));
        }
        if (psn < expected || psn < end && has[at(psn)]) {
            host.counters.spurious++;
            acknowledge(marked, false);
            return;
        }
        reserve(psn);
        boolean isEarly = psn != expected;
        take(psn, host.packets.payloadLength(packet));
        fresh.add(psn);
        unanswered += host.packets.payloadLength(packet);
        host.arrived(packet, header, peer);
        // Asked for by a packet that overtook others, another one follows when the last of them has come.
        wanted |= Frame.has(header, Frame.ACK_NOW);
        boolean whole = wanted && early == 0;
        wanted &= !whole;
        if (marked || isFirst || whole || unanswered >= manner.bytes || isEarly && manner.whenOutOfOrder || Frame.has(header, Frame.ACK_NOW | Frame.REPEAT)) {
            isFirst = false;
            acknowledge(marked, false);
        } else if (manner.delayPs > 0) {
            delay.atMost(host.nowPs() + manner.delayPs);
        }
    }

    private int at(long psn) {
        return (int) psn & has.length - 1;
    }

    /** Makes room for what comes so early. */
    private void reserve(long psn) {
        while (psn - expected >= has.length) {
            boolean[] had = has;
            int[] sizes = size;
            has = new boolean[2 * had.length];
            size = new int[2 * had.length];
            for (long n = expected; n < expected + had.length; n++) {
                has[at(n)] = had[(int) n & had.length - 1];
                size[at(n)] = sizes[(int) n & had.length - 1];
            }
        }
    }

    private void take(long psn, int bytes) {
        has[at(psn)] = true;
        size[at(psn)] = bytes;
        end = Math.max(end, psn + 1);
        if (psn != expected) {
            early++;
            heldBytes += bytes;
            if (manner.inOrder) {
                host.counters.reorderBytes = Math.max(host.counters.reorderBytes, heldBytes);
            }
            return;
        }
        while (has[at(expected)]) {
            has[at(expected)] = false;
            if (expected++ != psn) {
                early--;
                heldBytes -= size[at(expected - 1)];
            }
        }
    }

    private void acknowledge(boolean marked, boolean probed) {
        unanswered = 0;
        delay.stop();
        int ack = host.begin(Frame.ACK, peer, channel, 0, plane, port);
        long header = host.packets.header(ack);
        Frame.cumulative(header, expected);
        for (int n = 0; n < Frame.LIST_ROOM && !fresh.isEmpty(); n++) {
            Frame.list(header, fresh.poll());
        }
        selective(header);
        // Time that the packet waited for its acknowledgement is not the network's.
        Frame.path(header, path, sentPs + host.nowPs() - camePs);
        if (marked) {
            Frame.flag(header, Frame.MARKED);
        }
        if (probed) {
            Frame.flag(header, Frame.PROBED);
        }
        host.counters.acks++;
        host.send(ack);
    }

    /** Goes round all that came early, 64 packets an acknowledgement, so that what a lost one said is said again. */
    private void selective(long header) {
        if (around < expected || around >= end) {
            around = expected;
        }
        long bits = 0;
        for (int i = 0; i < BITS && around + i < end; i++) {
            bits |= has[at(around + i)] ? 1L << i : 0;
        }
        Frame.selective(header, around, bits, early);
        around += BITS;
    }
}
