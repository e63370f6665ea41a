// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port;

import io.metaroce.bindings.libc.RawMemory;
import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.NetAddress;
import java.lang.foreign.Arena;
import java.util.function.LongSupplier;

/**
 * A port that loses, duplicates, corrupts, delays, reorders, marks and blocks on purpose, seeded: the same calls at the same times
 * give the same impairments.
 *
 * <p>Datagrams are lost, duplicated, corrupted and delayed when sent; marked when received; a blocked plane carries nothing either
 * way. Within one source port delay never reorders. What is delayed leaves during {@link #send} and {@link #receive}, so the port
 * must be polled. Without delay nothing is copied but the few that are duplicated or corrupted, and runs stay runs. One thread.
 */
public final class ImpairedPort implements PacketPort {
    private static final int OUT_BURST = 256;
    /** Longest datagram that can be copied: 16 KiB of payload and the largest header. */
    private static final int SLOT_BYTES = 16384 + TxBurst.HEADER_ROOM;
    private static final byte CE = 3;

    private final PacketPort inner;
    private final ImpairmentConfig config;
    private final LongSupplier clockNs;
    private final long startNs;
    private final SeededRandom random;
    private final long loss;
    private final long duplicate;
    private final long corrupt;
    private final long mark;
    private final boolean delays;
    private final Outages outages;
    private final ImpairmentCounters impairments = new ImpairmentCounters();
    private final int[][] sourcePorts;
    private final long[][] skewNs;
    /** When the last datagram of each source port leaves: the next one leaves no earlier. */
    private final long[][] lastReleaseNs;
    private final Arena arena = Arena.ofShared();
    /** Null where nothing is ever copied. */
    private final HeldFrames held;
    private final TxBurst out = new TxBurst(OUT_BURST);
    private final int[] outSlots = new int[OUT_BURST];
    private int outSlotCount;
    /** Slots with corrupted payloads of entries still in {@link #decidedBurst}. */
    private final int[] inlineSlots;
    private int inlineSlotCount;
    /** The burst whose first {@link #decided} entries were let through before but could not be sent. */
    private TxBurst decidedBurst;
    private int decided;

    /**
     * @param seed of every random choice
     * @param clockNs the time in nanoseconds of the current turn of the loop, any origin; only asked where it matters
     * @throws IllegalArgumentException if the configuration blocks a plane or path that {@code inner} does not have
     */
    public ImpairedPort(PacketPort inner, ImpairmentConfig config, long seed, LongSupplier clockNs) {
        this.inner = inner;
        this.config = config;
        this.clockNs = clockNs;
        random = new SeededRandom(seed);
        loss = SeededRandom.threshold(config.loss());
        duplicate = SeededRandom.threshold(config.duplicate());
        corrupt = SeededRandom.threshold(config.corrupt());
        mark = SeededRandom.threshold(config.ce());
        delays = config.delays();
        outages = new Outages(inner, config);
        startNs = clockNs.getAsLong();
        sourcePorts = new int[inner.planes()][];
        skewNs = new long[inner.planes()][];
        lastReleaseNs = new long[inner.planes()][];
        SeededRandom skew = new SeededRandom(~seed);
        int longest = 0;
        for (int plane = 0; plane < inner.planes(); plane++) {
            sourcePorts[plane] = inner.sourcePorts(plane);
            skewNs[plane] = new long[sourcePorts[plane].length];
            lastReleaseNs[plane] = new long[sourcePorts[plane].length];
            for (int i = 0; i < sourcePorts[plane].length; i++) {
                skewNs[plane][i] = skew.below(config.skewNs() + 1);
                lastReleaseNs[plane][i] = startNs;
            }
            longest = Math.max(longest, Math.min(inner.maxDatagram(plane), SLOT_BYTES));
        }
        held = config.copies() ? new HeldFrames(arena, config.held(), longest) : null;
        inlineSlots = new int[config.copies() ? config.held() : 0];
    }

    @Override
    public void send(TxBurst burst) {
        long nowNs = delays || outages.isTimed() || held != null && !held.isEmpty() ? clockNs.getAsLong() : startNs;
        decide(burst, nowNs);
        inner.send(burst);
        decidedBurst = burst;
        decided = burst.count;
        releaseInlineSlots(burst);
        if (held != null) {
            sendDue(nowNs);
        }
    }

    /** Moves what goes on to the front, in order. */
    private void decide(TxBurst burst, long nowNs) {
        int kept = burst == decidedBurst ? Math.min(decided, burst.count) : 0;
        for (int i = kept; i < burst.count; i++) {
            if (goesOn(burst, i, nowNs)) {
                burst.swap(kept++, i);
            }
        }
        burst.count = kept;
    }

    /** Decides the fate of entry {@code i}; false if it is lost or travels as a copy. */
    private boolean goesOn(TxBurst burst, int i, long nowNs) {
        if (outages.any() && isBlocked(burst, i, nowNs)) {
            impairments.blocked++;
            return false;
        }
        if (random.chance(loss)) {
            impairments.lost++;
            return false;
        }
        boolean doubled = random.chance(duplicate);
        boolean damaged = random.chance(corrupt);
        if (delays) {
            long atNs = releaseTime(burst, i, nowNs);
            hold(burst, i, atNs, damaged);
            impairments.delayed++;
            if (doubled) {
                hold(burst, i, atNs, false);
                impairments.duplicated++;
            }
            return false;
        }
        if (doubled) {
            hold(burst, i, nowNs, false);
            impairments.duplicated++;
        }
        if (damaged) {
            damage(burst, i);
        }
        return true;
    }

    private boolean isBlocked(TxBurst burst, int i, long nowNs) {
        return outages.blocksNext(burst.plane[i], pathIndex(burst, i), nowNs - startNs);
    }

    private int pathIndex(TxBurst burst, int i) {
        int[] ports = sourcePorts[burst.plane[i]];
        for (int index = 0; index < ports.length; index++) {
            if (ports[index] == burst.sourcePort[i]) {
                return index;
            }
        }
        throw new IllegalArgumentException("source port " + burst.sourcePort[i] + " is not one of plane " + burst.plane[i]);
    }

    private long releaseTime(TxBurst burst, int i, long nowNs) {
        int plane = burst.plane[i];
        int path = pathIndex(burst, i);
        long atNs = nowNs + config.delayNs() + skewNs[plane][path];
        if (config.jitterNs() > 0) {
            atNs += random.below(config.jitterNs() + 1);
        }
        if (lastReleaseNs[plane][path] - atNs > 0) {
            atNs = lastReleaseNs[plane][path];
        }
        lastReleaseNs[plane][path] = atNs;
        return atNs;
    }

    private void hold(TxBurst burst, int i, long atNs, boolean damaged) {
        int slot = held.copy(burst, i);
        if (slot == HeldFrames.NO_SLOT) {
            impairments.overflowed++;
            return;
        }
        if (damaged) {
            long bit = random.below(8L * (burst.headerLength[i] + burst.payloadLength[i]));
            flip(held.address(slot), bit);
        }
        held.schedule(slot, atNs);
    }

    /** Flips a bit of an entry that goes on now. The payload is the sender's memory, so a copy of it is damaged. */
    private void damage(TxBurst burst, int i) {
        long headerBits = 8L * burst.headerLength[i];
        long bit = random.below(headerBits + 8L * burst.payloadLength[i]);
        if (bit >= headerBits) {
            int slot = held.copyPayloadOf(burst, i);
            if (slot == HeldFrames.NO_SLOT) {
                bit %= headerBits;
            } else {
                inlineSlots[inlineSlotCount++] = slot;
                flip(burst.payload[i], bit - headerBits);
                return;
            }
        }
        flip(burst.header[i], bit);
    }

    private void flip(long at, long bit) {
        RawMemory.putByte(at + bit / 8, (byte) (RawMemory.getByte(at + bit / 8) ^ 1 << bit % 8));
        impairments.corrupted++;
    }

    private void releaseInlineSlots(TxBurst burst) {
        int kept = 0;
        for (int s = 0; s < inlineSlotCount; s++) {
            if (isIn(burst, inlineSlots[s])) {
                inlineSlots[kept++] = inlineSlots[s];
            } else {
                held.release(inlineSlots[s]);
            }
        }
        inlineSlotCount = kept;
    }

    /** Sends the copies whose time has come, as far as the inner port takes them. */
    private void sendDue(long nowNs) {
        while (out.count > 0 || held.isDue(nowNs)) {
            inner.prepare(out);
            while (out.count < OUT_BURST && held.isDue(nowNs)) {
                int slot = held.poll();
                held.appendTo(out, slot);
                outSlots[outSlotCount++] = slot;
            }
            inner.send(out);
            releaseOutSlots();
            if (out.count > 0) {
                return;
            }
        }
    }

    private void releaseOutSlots() {
        int kept = 0;
        for (int s = 0; s < outSlotCount; s++) {
            if (isIn(out, outSlots[s])) {
                outSlots[kept++] = outSlots[s];
            } else {
                held.release(outSlots[s]);
            }
        }
        outSlotCount = kept;
    }

    private boolean isIn(TxBurst burst, int slot) {
        for (int i = 0; i < burst.count; i++) {
            if (held.holds(burst.payload[i]) && held.slotOf(burst.payload[i]) == slot) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void receive(RxBurst burst) {
        if (held != null && (out.count > 0 || !held.isEmpty())) {
            sendDue(clockNs.getAsLong());
        }
        inner.receive(burst);
        if (burst.count > 0 && outages.any()) {
            dropBlocked(burst, outages.isTimed() ? clockNs.getAsLong() - startNs : 0);
        }
        for (int i = 0; mark != 0 && i < burst.count; i++) {
            if (burst.ecn[i] != 0 && random.chance(mark)) {
                burst.ecn[i] = CE;
                impairments.marked++;
            }
        }
    }

    private void dropBlocked(RxBurst burst, long elapsedNs) {
        int kept = 0;
        for (int i = 0; i < burst.count; i++) {
            if (outages.blocksPlane(burst.plane[i], elapsedNs)) {
                impairments.blocked++;
            } else {
                burst.address[kept] = burst.address[i];
                burst.length[kept] = burst.length[i];
                burst.plane[kept] = burst.plane[i];
                burst.ecn[kept] = burst.ecn[i];
                burst.sourceHigh[kept] = burst.sourceHigh[i];
                burst.sourceLow[kept] = burst.sourceLow[i];
                burst.sourcePort[kept] = burst.sourcePort[i];
                kept++;
            }
        }
        burst.count = kept;
    }

    /** Blocks or unblocks a plane in both directions, from the next call on. */
    public void blockPlane(int plane, boolean blocked) {
        outages.blockPlane(plane, blocked);
    }

    /** Blocks or unblocks what is sent from the source port of this index in {@link #sourcePorts}, from the next call on. */
    public void blockPath(int plane, int index, boolean blocked) {
        outages.blockPath(plane, index, blocked);
    }

    /** What was done so far, live. */
    public ImpairmentCounters impairments() {
        return impairments;
    }

    @Override
    public int planes() {
        return inner.planes();
    }

    @Override
    public NetAddress localAddress(int plane) {
        return inner.localAddress(plane);
    }

    @Override
    public int[] sourcePorts(int plane) {
        return sourcePorts[plane].clone();
    }

    @Override
    public int maxDatagram(int plane) {
        return inner.maxDatagram(plane);
    }

    @Override
    public void expectCids(int bits, int common) {
        inner.expectCids(bits, common);
    }

    @Override
    public int preferredRun() {
        return inner.preferredRun();
    }

    @Override
    public long timingNoiseNs() {
        return inner.timingNoiseNs();
    }

    @Override
    public boolean sendsUdpChecksum() {
        return inner.sendsUdpChecksum();
    }

    @Override
    public int receiveBuffer(int datagramBytes) {
        return inner.receiveBuffer(datagramBytes);
    }

    @Override
    public void prepare(TxBurst burst) {
        inner.prepare(burst);
    }

    /** The inner port's: what was lost on purpose is in {@link #impairments}. */
    @Override
    public PortCounters counters() {
        return inner.counters();
    }

    @Override
    public String description() {
        return inner.description() + ", impaired: " + config;
    }

    @Override
    public void close() {
        inner.close();
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
