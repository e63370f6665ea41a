// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

import java.util.ArrayDeque;

/**
 * A sender that repeats single packets: one sequence of numbers over all its paths, of which the receiver says which have come. What it may
 * send is up to a {@link Control}, where to {@link Paths}, what is lost to a {@link LossRule}.
 */
final class SelectiveSender implements PeerSender {
    /** Packets between the first one that is missing and the last one sent. */
    static final int SPAN = 1 << 13;
    /** Round trips after which a sender that had to ask looks again. */
    private static final int SILENT_RTT = 3;

    final PeerHost host;
    final Control control;
    private final int peer;
    private final int channel;
    private final Paths paths;
    private final LossRule rule;
    private final Timer timeout;
    private final Timer silence;
    private final Timer pace;
    private final ArrayDeque<Part> posting = new ArrayDeque<>();

    private final Slots slots = new Slots();
    /** By path: packets sent, and the latest of them that is known to have arrived. */
    private final long[] sentOnPath;
    private final long[] arrivedOnPath;

    /** First number not known to have arrived, next new one, end of those posted, end of those known to have arrived. */
    private long first;
    private long next;
    private long posted;
    private long highest;
    private double out;
    private double backlog;
    private double lostBytes;
    private final LongQueue lost = new LongQueue();
    /** Numbers and times in the order of sending. */
    private final LongQueue order = new LongQueue();
    private final LongQueue orderPs = new LongQueue();
    private long smoothRttPs;

    SelectiveSender(PeerHost host, int peer, int channel, Control control, Paths paths, LossRule rule) {
        this.host = host;
        this.peer = peer;
        this.channel = channel;
        this.control = control;
        this.paths = paths;
        this.rule = rule;
        sentOnPath = new long[paths.count];
        arrivedOnPath = new long[paths.count];
        timeout = host.timer(this::timedOut);
        silence = host.timer(this::silent);
        pace = host.timer(host::pump);
        smoothRttPs = host.baseRttPs;
        paths.attach(this);
    }

    // ---- sending ----

    @Override
    public void post(int flow, int bytes) {
        Part p = new Part(flow, bytes, posted, host.config.payloadMtu);
        posting.add(p);
        posted = p.endPsn();
        backlog += bytes;
    }

    @Override
    public boolean sendOne(int busyPlanes) {
        while (!lost.isEmpty() && (lost.peek() < first || slots.state[slots.of(lost.peek())] != Slots.LOST)) {
            lost.poll();
        }
        boolean repeat = !lost.isEmpty();
        if (!repeat && (next == posted || next - first >= control.spanPackets())) {
            return false;
        }
        if (!repeat) {
            slots.reserve(first, next);
        }
        long psn = repeat ? lost.peek() : next;
        int i = slots.of(psn);
        Part p = repeat ? slots.part[i] : posting.peek();
        int bytes = p.payload(psn, host.config.payloadMtu);
        if (!control.allows(out, bytes, backlog + lostBytes) && !(repeat && rule.repeatsFreely())) {
            if (control.asks(out)) {
                sendProbe();
            }
            if (control.needsGrants()) {
                pace.atMost(host.nowPs() + SILENT_RTT * host.baseRttPs);
            }
            return false;
        }
        if (control.earliestPs() > host.nowPs()) {
            pace.at(control.earliestPs());
            return false;
        }
        int way = paths.choose(repeat ? slots.path[i] : Paths.NONE, busyPlanes, bytes);
        if (way == Paths.NONE) {
            return false;
        }
        if (repeat) {
            lost.poll();
            lostBytes -= bytes;
            slots.tries[i]++;
            host.counters.resent++;
        } else {
            next++;
            backlog -= bytes;
            if (next == p.endPsn()) {
                posting.poll();
            }
            slots.part[i] = p;
            slots.tries[i] = 1;
        }
        slots.state[i] = Slots.OUT;
        slots.path[i] = way;
        slots.sequence[i] = ++sentOnPath[way];
        slots.sentPs[i] = host.nowPs();
        order.add(psn);
        orderPs.add(host.nowPs());
        out += bytes;
        host.counters.packets++;
        control.sent(bytes, repeat);
        paths.sent(way, bytes);
        emit(p, psn, way, bytes, repeat);
        watch();
        return true;
    }

    private void emit(Part p, long psn, int way, int bytes, boolean repeat) {
        int packet = host.begin(Frame.DATA, peer, channel, psn, paths.plane(way), paths.port[way]);
        host.packets.payloadLength(packet, bytes);
        long header = host.packets.header(packet);
        Frame.flow(header, p.flow, host.toldPackets(p.flow));
        Frame.path(header, way, host.nowPs());
        Frame.amount(header, control.demand(backlog + lostBytes));
        if (repeat) {
            Frame.flag(header, Frame.REPEAT);
        }
        if (next == posted && lost.isEmpty() || !control.allows(out, host.config.payloadMtu, 0)) {
            // Nothing more will follow soon.
            Frame.flag(header, Frame.ACK_NOW);
        }
        host.send(packet);
    }

    /** Asks for an acknowledgement. */
    void sendProbe() {
        int way = paths.choose(Paths.NONE, 0, 0);
        if (way != Paths.NONE) {
            sendProbe(way);
        }
    }

    /** Asks for an acknowledgement over this path. */
    void sendProbe(int way) {
        int packet = host.begin(Frame.PROBE, peer, channel, next - 1, paths.plane(way), paths.port[way]);
        Frame.path(host.packets.header(packet), way, host.nowPs());
        Frame.amount(host.packets.header(packet), control.demand(backlog + lostBytes));
        host.counters.probes++;
        host.send(packet);
    }

    // ---- what the receiver says ----

    @Override
    public void onControl(int packet, long header) {
        switch (Frame.type(header)) {
            case Frame.ACK -> acknowledged(header);
            case Frame.NAK -> trimmed(Frame.psn(header));
            case Frame.CNP -> control.notified();
            case Frame.PULL -> control.granted(Frame.amount(header));
            default -> throw new IllegalStateException("control packet of type " + Frame.type(header));
        }
    }

    private void acknowledged(long header) {
        double before = arrivedBytes;
        long firstBefore = first;
        while (first < Frame.cumulative(header) && first < next) {
            arrived(first++);
        }
        highest = Math.max(highest, first);
        for (int i = 0; i < Frame.listed(header); i++) {
            selected(Frame.listed(header, i));
        }
        long bits = Frame.bits(header);
        for (long psn = Frame.base(header); bits != 0; psn++, bits >>>= 1) {
            if ((bits & 1) != 0) {
                selected(psn);
            }
        }
        while (first < next && slots.state[slots.of(first)] == Slots.ARRIVED) {
            first++;
        }
        progressPs = first > firstBefore ? host.nowPs() : progressPs;
        long rtt = host.nowPs() - Frame.sentPs(header);
        smoothRttPs += (rtt - smoothRttPs) / 8;
        boolean marked = Frame.has(header, Frame.MARKED);
        paths.heard(Frame.path(header), marked, rtt);
        control.acknowledged(arrivedBytes - before, marked, rtt, out);
        rule.acknowledged(this, Frame.outOfOrder(header), Frame.has(header, Frame.PROBED), rtt);
        watch();
        long probe = rule.probePs(this);
        if (probe > 0 && first < next) {
            silence.at(host.nowPs() + probe);
        } else {
            silence.stop();
        }
    }

    private double arrivedBytes;
    private long progressPs;

    private void selected(long psn) {
        if (psn >= first && psn < next) {
            arrived(psn);
            highest = Math.max(highest, psn + 1);
        }
    }

    private void arrived(long psn) {
        int i = slots.of(psn);
        if (slots.state[i] == Slots.ARRIVED) {
            return;
        }
        Part p = slots.part[i];
        int bytes = p.payload(psn, host.config.payloadMtu);
        if (slots.state[i] == Slots.OUT) {
            out -= bytes;
            paths.acknowledged(slots.path[i], bytes);
        } else {
            lostBytes -= bytes;
        }
        if (slots.tries[i] == 1) {
            arrivedOnPath[slots.path[i]] = Math.max(arrivedOnPath[slots.path[i]], slots.sequence[i]);
        }
        slots.state[i] = Slots.ARRIVED;
        slots.part[i] = null;
        arrivedBytes += bytes;
        if (--p.open == 0) {
            host.partSent(p.flow);
        }
    }

    private void trimmed(long psn) {
        int i = slots.of(psn);
        if (psn < first || psn >= next || slots.state[i] != Slots.OUT) {
            return;
        }
        int bytes = slots.part[i].payload(psn, host.config.payloadMtu);
        paths.trimmed(slots.path[i], bytes);
        give(psn, i, bytes);
        control.trimmed(bytes, out);
    }

    // ---- losses ----

    private void give(long psn, int i, int bytes) {
        slots.state[i] = Slots.LOST;
        out -= bytes;
        lostBytes += bytes;
        lost.add(psn);
    }

    /** The rule holds this packet, which is out, for lost. */
    void lose(long psn) {
        int i = slots.of(psn);
        int bytes = slots.part[i].payload(psn, host.config.payloadMtu);
        paths.lost(slots.path[i], bytes);
        give(psn, i, bytes);
        control.lost(bytes);
    }

    /** Watches the packet that was sent first among those that are out. */
    private void watch() {
        while (!order.isEmpty() && !stands(order.peek(), orderPs.peek())) {
            order.poll();
            orderPs.poll();
        }
        if (order.isEmpty()) {
            timeout.stop();
        } else if (!rule.timesEach()) {
            timeout.at(Math.max(progressPs, orderPs.peek()) + rule.timeoutPs(this, 1));
        } else {
            timeout.at(orderPs.peek() + rule.timeoutPs(this, slots.tries[slots.of(order.peek())]));
        }
    }

    private boolean stands(long psn, long atPs) {
        int i = slots.of(psn);
        return psn >= first && slots.state[i] == Slots.OUT && slots.sentPs[i] == atPs;
    }

    private void timedOut() {
        if (!rule.timesEach()) {
            host.counters.timeouts++;
            progressPs = host.nowPs();
            for (long psn = first; psn < next; psn++) {
                if (isOut(psn)) {
                    timedOut(psn);
                }
            }
        }
        boolean any = false;
        while (rule.timesEach() && !order.isEmpty()) {
            long psn = order.peek();
            int i = slots.of(psn);
            if (stands(psn, orderPs.peek())) {
                if (slots.sentPs[i] + rule.timeoutPs(this, slots.tries[i]) > host.nowPs()) {
                    break;
                }
                if (rule.postpones(slots.tries[i])) {
                    slots.sentPs[i] = host.nowPs();
                    order.add(psn);
                    orderPs.add(host.nowPs());
                } else {
                    timedOut(psn);
                    any = true;
                }
            }
            order.poll();
            orderPs.poll();
        }
        host.counters.timeouts += any ? 1 : 0;
        watch();
        host.pump();
    }

    private void timedOut(long psn) {
        int i = slots.of(psn);
        int bytes = slots.part[i].payload(psn, host.config.payloadMtu);
        paths.timedOut(slots.path[i], bytes);
        give(psn, i, bytes);
        control.timedOut(bytes);
        rule.timedOut();
    }

    private void silent() {
        if (first < next) {
            rule.probe(this);
            silence.at(host.nowPs() + rule.probePs(this));
            host.pump();
        }
    }

    // ---- for rules ----

    long first() {
        return first;
    }

    long next() {
        return next;
    }

    /** End of what is known to have arrived. */
    long highest() {
        return highest;
    }

    /** Whether anything waits for its arrival to be known. */
    boolean isBusy() {
        return first < posted;
    }

    /** Whether there are packets that have not been sent. */
    boolean hasMore() {
        return next < posted;
    }

    boolean isOut(long psn) {
        return slots.state[slots.of(psn)] == Slots.OUT;
    }

    long sentPs(long psn) {
        return slots.sentPs[slots.of(psn)];
    }

    int tries(long psn) {
        return slots.tries[slots.of(psn)];
    }

    /** How many packets that were sent later on the same path are known, at least by the last of them, to have arrived or been overtaken. */
    long overtakenBy(long psn) {
        int i = slots.of(psn);
        return arrivedOnPath[slots.path[i]] - slots.sequence[i];
    }

    double out() {
        return out;
    }

    long smoothRttPs() {
        return smoothRttPs;
    }

    @Override
    public double windowBytes() {
        return Math.min(control.windowBytes(), control.spanPackets() * (double) host.config.payloadMtu);
    }

    @Override
    public String describe() {
        return "%d acknowledged, next %d of %d, highest %d, %.0f B out, window %.0f B".formatted(first, next, posted, highest, out, windowBytes());
    }
}
