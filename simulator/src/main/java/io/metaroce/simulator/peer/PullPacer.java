// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/**
 * The receiving side of RCCC: grants credit at the rate of its links, in turn to the senders that want some, 4 packets at a time.
 * {@code UecPullPacer} of ultraethernet/uet-htsim.
 */
final class PullPacer implements Puller {
    private static final int PACKETS = 4;
    /** Of line rate: what headers leave, less a little so that queues drain. */
    private static final double RATE = .99;

    private static final class Client {
        final int peer;
        final int channel;
        long wanted;
        long granted;
        boolean inTurn;

        Client(int peer, int channel) {
            this.peer = peer;
            this.channel = channel;
        }
    }

    private final PeerHost host;
    private final Map<Long, Client> clients = new HashMap<>();
    private final ArrayDeque<Client> turn = new ArrayDeque<>();
    private final Timer timer;
    private long freePs;

    PullPacer(PeerHost host) {
        this.host = host;
        timer = host.timer(this::grant);
    }

    @Override
    public void wanted(int peer, int channel, long bytes, boolean asks) {
        Client c = client(peer, channel);
        c.wanted = Math.max(c.wanted, bytes);
        queue(c);
        if (asks && !c.inTurn) {
            tell(c);
        }
    }

    @Override
    public void trimmed(int peer, int channel, int bytes) {
        Client c = client(peer, channel);
        c.wanted = Math.max(c.wanted, c.granted) + bytes;
        queue(c);
    }

    private Client client(int peer, int channel) {
        return clients.computeIfAbsent((long) peer << 32 | channel, k -> new Client(peer, channel));
    }

    private void queue(Client c) {
        if (c.wanted > c.granted && !c.inTurn) {
            c.inTurn = true;
            turn.add(c);
            timer.atMost(Math.max(host.nowPs(), freePs));
        }
    }

    private void tell(Client c) {
        int plane = host.random.nextInt(host.planes);
        int pull = host.begin(Frame.PULL, c.peer, c.channel, 0, plane, host.randomPort());
        Frame.amount(host.packets.header(pull), c.granted);
        host.send(pull);
    }

    private void grant() {
        Client c = turn.poll();
        if (c == null) {
            return;
        }
        int payload = host.config.payloadMtu;
        long bytes = Math.min((long) PACKETS * payload, c.wanted - c.granted);
        c.granted += bytes;
        tell(c);
        freePs = host.nowPs() + Math.round((double) bytes / payload * host.wirePs(payload) / host.planes / RATE);
        c.inTurn = c.wanted > c.granted;
        if (c.inTurn) {
            turn.add(c);
        }
        if (!turn.isEmpty()) {
            timer.at(freePs);
        }
    }
}
