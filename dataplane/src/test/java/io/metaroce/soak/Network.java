// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import io.metaroce.transport.EndpointConfig;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.AckHeader;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Type;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/**
 * The wires between all hosts, in virtual time. A route is a pair of hosts, a plane and a source port: it has a delay of its own and
 * keeps its packets in order; between routes there is no order. Everything that may happen to a packet is drawn from one seed.
 */
final class Network {
    static final int PLANES = 4;
    static final int PORTS = 8;
    static final int FIRST_PORT = 50_000;
    private static final int ANY = -1;
    private static final long QUEUE_BYTES_A_PACKET = 1_000;
    private final Workshop workshop = Workshop.own();
    /** Something wrong with some routes for some time. */
    record Trouble(Fault kind, long fromNs, long toNs, int host, int plane, int port, boolean oneWay, double probability) {
        boolean hits(int from, int to, int plane, int port, long nowNs) {
            return nowNs >= fromNs && nowNs < toNs && (host == ANY || host == from || !oneWay && host == to)
                    && (this.plane == ANY || this.plane == plane) && (this.port == ANY || this.port == port);
        }
    }

    final List<Trouble> troubles = new ArrayList<>();
    private final List<Host> hosts;
    private final SplittableRandom random;
    private final long[] lastNs;
    private final int[] routeDelayNs;
    private final long[] linkFreeNs;
    /** The latest arrival of what has passed. */
    private final long[] linkLastNs;
    private long order;
    Wire wire;
    /** Sees every frame that leaves; for those who collect some. */
    Consumer<Frame> tap = f -> { };
    double loss;
    double duplicate;
    double corrupt;
    double mark;
    long duplicateLaterNs = 1;
    int jitterNs = 1;
    int baseDelayNs;
    /** Packets queue for the receiver's link, are marked when they wait long and dropped when it is full. */
    boolean congestion;
    boolean calm;
    private boolean damaged;
    long datagrams;
    long faults;
    long digest;

    Network(List<Host> hosts, int count, SplittableRandom random, int baseDelayNs, int spreadNs) {
        this.hosts = hosts;
        this.random = random;
        this.baseDelayNs = baseDelayNs;
        int routes = count * count * PLANES * PORTS;
        lastNs = new long[routes];
        routeDelayNs = new int[routes];
        for (int i = 0; i < routes; i++) {
            routeDelayNs[i] = random.nextInt(spreadNs + 1);
        }
        linkFreeNs = new long[count * PLANES];
        linkLastNs = new long[count * PLANES];
    }

    boolean hasLastingTrouble() {
        return troubles.stream().anyMatch(t -> t.toNs == Long.MAX_VALUE);
    }

    /** No new faults from now on, but for troubles that outlast it. */
    void calmDown() {
        calm = true;
        loss = duplicate = corrupt = mark = 0;
    }

    void send(Host from, TxBurst tx, int i, long nowNs) {
        datagrams++;
        int plane = tx.plane[i];
        int port = tx.sourcePort[i] - FIRST_PORT;
        int to = (int) (tx.destinationLow[i] & 0xff) - 1;
        int toPlane = (int) (tx.destinationLow[i] >>> 8 & 0xff);
        int length = tx.headerLength[i] + tx.payloadLength[i];
        digest = (digest ^ nowNs ^ (long) length << 40 ^ (long) (plane * 31 + port) << 52) * 0x9e3779b97f4a7c15L;
        int generation = Host.generationOf(tx.destinationLow[i]);
        if (from.addresses[plane] == null) {
            throw new Violation(from + " sends on plane " + plane + ", which it has given up");
        }
        if (to < 0 || to >= hosts.size() || toPlane != plane || tx.destinationPort[i] != Host.PORT || port < 0 || port >= PORTS
                || length > Frame.ROOM) {
            if (damaged && Prefix.type(tx.header[i]) == Type.RESET) {
                // Answers a damaged probe, which nobody can tell from a good one: its port may be any.
                return;
            }
            throw new Violation(from + " sends " + length + " B on plane " + plane + " to an address that nobody has");
        }
        wire.look(from, hosts.get(to), tx.header[i], length, plane, generation, tx.sourcePort[i]);
        if (!hosts.get(to).isOn(plane, generation)) {
            // Nobody is there any more.
            return;
        }
        int route = ((from.number * hosts.size() + to) * PLANES + plane) * PORTS + port;
        if (isLost(from.number, to, plane, port, nowNs)) {
            faults++;
            return;
        }
        long at = nowNs + baseDelayNs + routeDelayNs[route] + random.nextInt(jitterNs);
        int ecn = mark > 0 && random.nextDouble() < mark ? 3 : 2;
        if (congestion) {
            int link = to * PLANES + plane;
            long wait = linkFreeNs[link] - at;
            long serial = (length + 66) * 8L * 1_000_000 / hosts.get(to).config.lineRateKbps;
            // Room is counted in packets of full size, or small ones, acknowledgements among them, would never get in.
            long full = QUEUE_BYTES_A_PACKET * 8 * 1_000_000 / hosts.get(to).config.lineRateKbps;
            // What arrives before something that was sent earlier, over a longer route, finds no queue of that.
            if (wait > 400 * full && at >= linkLastNs[link]) {
                faults++;
                return;
            }
            if (wait > 60 * full) {
                ecn = 3;
            }
            linkLastNs[link] = Math.max(at, linkLastNs[link]);
            linkFreeNs[link] = Math.max(at, linkFreeNs[link]) + serial;
            at = linkFreeNs[link];
        }
        at = Math.max(at, lastNs[route] + 1);
        lastNs[route] = at;
        faults += ecn == 3 ? 1 : 0;
        Frame f = frame(from, tx, i, length, plane, ecn);
        f.generation = generation;
        tap.accept(f);
        if (corrupt > 0 && random.nextDouble() < corrupt) {
            faults++;
            if (isUncovered(from, f)) {
                workshop.give(f);
                return;
            }
            damage(f);
        }
        deliver(f, hosts.get(to), at);
        if (duplicate > 0 && random.nextDouble() < duplicate) {
            faults++;
            deliver(copy(f), hosts.get(to), at + 1 + random.nextLong(duplicateLaterNs));
        }
    }

    private void deliver(Frame f, Host to, long atNs) {
        f.atNs = atNs;
        f.order = order++;
        to.inbox.add(f);
    }

    private boolean isLost(int from, int to, int plane, int port, long nowNs) {
        if (loss > 0 && random.nextDouble() < loss) {
            return true;
        }
        for (int i = 0; i < troubles.size(); i++) {
            Trouble t = troubles.get(i);
            if (t.hits(from, to, plane, port, nowNs) && (t.probability >= 1 || random.nextDouble() < t.probability)) {
                return true;
            }
        }
        return false;
    }

    /** Where payload is left to UDP's checksum, the network's damage ends there. */
    private boolean isUncovered(Host from, Frame f) {
        boolean hasPayload = AckHeader.isFollowed(f.address) || Prefix.type(f.address) == Type.DATA && f.length > DataHeader.LENGTH;
        return from.config.integrity == EndpointConfig.INTEGRITY_HEADER && hasPayload;
    }

    private void damage(Frame f) {
        f.corrupt = true;
        damaged = true;
        if (random.nextInt(8) == 0) {
            f.length = random.nextInt(f.length);
            return;
        }
        // At most three bits within 32: a CRC of 32 bits finds every such damage.
        int at = random.nextInt(f.length);
        int bits = 1 + random.nextInt(3);
        // Each in a byte of its own: the same bit twice would leave the datagram whole.
        for (int where = at; where < Math.min(at + bits, f.length); where++) {
            Bytes.putByte(f.address + where, Bytes.getU8(f.address + where) ^ 1 << random.nextInt(8));
        }
    }

    private Frame frame(Host from, TxBurst tx, int i, int length, int plane, int ecn) {
        Frame f = workshop.take();
        Bytes.copy(tx.header[i], f.address, tx.headerLength[i]);
        if (tx.payloadLength[i] > 0) {
            Bytes.copy(tx.payload[i], f.address + tx.headerLength[i], tx.payloadLength[i]);
        }
        f.length = length;
        f.plane = plane;
        f.ecn = ecn;
        f.sourceHigh = from.addresses[plane].high();
        f.sourceLow = from.addresses[plane].low();
        f.sourcePort = tx.sourcePort[i];
        f.corrupt = false;
        f.from = from;
        f.fromIncarnation = from.incarnation;
        return f;
    }

    private Frame copy(Frame o) {
        Frame f = workshop.take();
        Bytes.copy(o.address, f.address, o.length);
        f.length = o.length;
        f.plane = o.plane;
        f.generation = o.generation;
        f.ecn = o.ecn;
        f.sourceHigh = o.sourceHigh;
        f.sourceLow = o.sourceLow;
        f.sourcePort = o.sourcePort;
        f.corrupt = o.corrupt;
        f.from = o.from;
        f.fromIncarnation = o.fromIncarnation;
        return f;
    }
}
