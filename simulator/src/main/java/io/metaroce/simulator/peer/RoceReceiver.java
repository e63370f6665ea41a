// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/** Takes packets in order only. Out of order: one NAK until the missing one has come. Marked: a notification, at most one in 50 us. */
final class RoceReceiver implements PeerReceiver {
    /** Packets that one acknowledgement may answer; the last of a message is answered at once. */
    private static final int ACK_EVERY = 4;

    private final PeerHost host;
    private final int peer;
    private final int channel;
    private final boolean notifies;
    private final int plane;
    private final int port;
    private long expected;
    private boolean toldMissing;
    private int unanswered;
    private long notifiedPs = -Dcqcn.NOTIFY_PS;

    RoceReceiver(PeerHost host, int peer, int channel, boolean notifies) {
        this.host = host;
        this.peer = peer;
        this.channel = channel;
        this.notifies = notifies;
        plane = (host.number + channel) % host.planes;
        port = host.randomPort();
    }

    @Override
    public void onData(int packet, long header) {
        if (notifies && host.packets.marked(packet) && host.nowPs() - notifiedPs >= Dcqcn.NOTIFY_PS) {
            notifiedPs = host.nowPs();
            answer(Frame.CNP);
        }
        long psn = Frame.psn(header);
        if (psn == expected) {
            expected++;
            toldMissing = false;
            host.arrived(packet, header, peer);
            if (++unanswered >= ACK_EVERY || Frame.has(header, Frame.ACK_NOW)) {
                answer(Frame.ACK);
            }
        } else if (psn < expected) {
            host.counters.spurious++;
            if (Frame.has(header, Frame.ACK_NOW)) {
                answer(Frame.ACK);
            }
        } else if (!toldMissing) {
            toldMissing = true;
            answer(Frame.NAK);
        }
    }

    private void answer(int type) {
        int packet = host.begin(type, peer, channel, expected, plane, port);
        Frame.cumulative(host.packets.header(packet), expected);
        host.counters.acks++;
        if (type != Frame.CNP) {
            unanswered = 0;
        }
        host.send(packet);
    }
}
