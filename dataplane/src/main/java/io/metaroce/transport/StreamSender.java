// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static io.metaroce.transport.StreamRecord.ACKED_SSN;
import static io.metaroce.transport.StreamRecord.CONNECTION;
import static io.metaroce.transport.StreamRecord.CREDIT;
import static io.metaroce.transport.StreamRecord.NEXT_READ_INDEX;
import static io.metaroce.transport.StreamRecord.NEXT_RECEIVE_INDEX;
import static io.metaroce.transport.StreamRecord.NEXT_SSN;
import static io.metaroce.transport.StreamRecord.READS_DONE;
import static io.metaroce.transport.StreamRecord.READY;
import static io.metaroce.transport.StreamRecord.READY_NEXT;
import static io.metaroce.transport.StreamRecord.RESPONSE_CURSOR;
import static io.metaroce.transport.StreamRecord.RESPONSE_HEAD;
import static io.metaroce.transport.StreamRecord.RESPONSE_TAIL;
import static io.metaroce.transport.StreamRecord.STATE;
import static io.metaroce.transport.StreamRecord.TX_WINDOW;
import static io.metaroce.transport.StreamRecord.WORK_CURSOR;
import static io.metaroce.transport.StreamRecord.WORK_HEAD;
import static io.metaroce.transport.StreamRecord.WORK_TAIL;

import io.metaroce.memory.Slab;
import io.metaroce.wire.Cause;
import io.metaroce.wire.Opcode;

/**
 * The sending half of streams: queues of posted work, which packet is next, what an acknowledged packet completes
 * (spec: "Streams, sender").
 */
final class StreamSender {
    private final EndpointState state;
    private final Slab slab;
    private final StreamTable streams;
    private final LocalMemory memory;
    private StreamReceiver receiver;

    StreamSender(EndpointState state, StreamTable streams, LocalMemory memory) {
        this.memory = memory;
        this.state = state;
        this.streams = streams;
        slab = state.slab;
    }

    /** Where streams go that cannot go on; set once, by the constructor of all parts. */
    void failVia(StreamReceiver receiver) {
        this.receiver = receiver;
    }

    // ---- queues ----

    void enqueueWork(long stream, long work) {
        append(stream + WORK_HEAD, stream + WORK_TAIL, work);
        if (slab.getLong(stream + WORK_CURSOR) == 0) {
            slab.putLong(stream + WORK_CURSOR, work);
        }
        enqueued(stream, work);
        if (slab.getInt(work + WorkRecord.OPCODE) == WorkRequest.LOCAL_INVALIDATE) {
            settle(stream);
        }
    }

    void enqueueResponse(long stream, long work) {
        append(stream + RESPONSE_HEAD, stream + RESPONSE_TAIL, work);
        if (slab.getLong(stream + RESPONSE_CURSOR) == 0) {
            slab.putLong(stream + RESPONSE_CURSOR, work);
        }
        enqueued(stream, work);
    }

    private void enqueued(long stream, long work) {
        long connection = slab.getLong(stream + CONNECTION);
        state.backlogs.add(connection, slab.getInt(work + WorkRecord.PACKETS));
        state.backlogs.begin(connection);
        makeReady(stream);
    }

    private void append(long headField, long tailField, long work) {
        slab.putLong(work + WorkRecord.NEXT, 0);
        long tail = slab.getLong(tailField);
        if (tail == 0) {
            slab.putLong(headField, work);
        } else {
            slab.putLong(tail + WorkRecord.NEXT, work);
        }
        slab.putLong(tailField, work);
    }

    /** Puts the stream in turn if it has anything unsent; called whenever what held it back may have gone. */
    void makeReady(long stream) {
        if (slab.getInt(stream + STATE) != StreamRecord.OPEN
                || slab.getLong(stream + WORK_CURSOR) == 0 && slab.getLong(stream + RESPONSE_CURSOR) == 0) {
            return;
        }
        long connection = slab.getLong(stream + CONNECTION);
        if (slab.getInt(stream + READY) != 0) {
            // In turn already, perhaps since it sent its last packet into a window that was full then: the connection may sleep.
            state.makeReady(connection);
            return;
        }
        slab.putInt(stream + READY, 1);
        slab.putLong(stream + READY_NEXT, 0);
        long tail = slab.getLong(connection + ConnectionRecord.STREAMS_TAIL);
        if (tail == 0) {
            slab.putLong(connection + ConnectionRecord.STREAMS_HEAD, stream);
        } else {
            slab.putLong(tail + READY_NEXT, stream);
        }
        slab.putLong(connection + ConnectionRecord.STREAMS_TAIL, stream);
        state.makeReady(connection);
    }

    /** Takes the first stream in turn off the list; the caller puts it back with {@link #makeReady} if it has more. */
    void takeTurn(long connection, long stream) {
        long next = slab.getLong(stream + READY_NEXT);
        slab.putLong(connection + ConnectionRecord.STREAMS_HEAD, next);
        if (next == 0) {
            slab.putLong(connection + ConnectionRecord.STREAMS_TAIL, 0);
        }
        slab.putInt(stream + READY, 0);
    }

    // ---- what is next ----

    /**
     * The work request whose next packet may be sent now, or 0: nothing unsent, no credit, too many Reads, a fence, or the
     * stream's window is full.
     */
    long next(long stream, long nowNs) {
        int out = slab.getInt(stream + NEXT_SSN) - slab.getInt(stream + ACKED_SSN);
        if (out > 0) {
            long connection = slab.getLong(stream + CONNECTION);
            if (out >= slab.getInt(connection + ConnectionRecord.STREAM_WINDOW) || !haveWindow(stream)) {
                return 0;
            }
        }
        long work = upNext(stream);
        boolean starts = work != 0 && work == slab.getLong(stream + WORK_CURSOR) && slab.getInt(work + WorkRecord.SENT) == 0;
        return starts && !mayStart(stream, work, nowNs) ? 0 : work;
    }

    /** The work request that the stream goes on with, once it may; 0: it has none unsent. */
    long upNext(long stream) {
        long work = slab.getLong(stream + WORK_CURSOR);
        long response = slab.getLong(stream + RESPONSE_CURSOR);
        return response == 0 || work != 0 && slab.getInt(work + WorkRecord.SENT) > 0 ? work : response;
    }

    private boolean haveWindow(long stream) {
        if (slab.getLong(stream + TX_WINDOW) == 0) {
            slab.putLong(stream + TX_WINDOW, state.txWindows.take());
        }
        return slab.getLong(stream + TX_WINDOW) != 0;
    }

    private boolean mayStart(long stream, long work, long nowNs) {
        int opcode = slab.getInt(work + WorkRecord.OPCODE);
        int reads = slab.getInt(stream + NEXT_READ_INDEX) - slab.getInt(stream + READS_DONE);
        if (opcode == WorkRequest.LOCAL_INVALIDATE) {
            return false;
        }
        if (reads > 0 && (slab.getInt(work + WorkRecord.FLAGS) & WorkRecord.FENCE) != 0) {
            return false;
        }
        if (Opcode.consumesReceive(opcode)) {
            if (slab.getInt(stream + CREDIT) - slab.getInt(stream + NEXT_RECEIVE_INDEX) > 0) {
                return true;
            }
            askForCredit(stream, nowNs);
            return false;
        }
        return !Opcode.isRequest(opcode)
                || reads < slab.getInt(slab.getLong(stream + CONNECTION) + ConnectionRecord.PEER_MAX_READS);
    }

    /**
     * No credit: asks for it at once where receives are bound on request, else after a pause, should none come by itself; then again at
     * doubling intervals (spec: "Receive credit").
     */
    private void askForCredit(long stream, long nowNs) {
        if (slab.getLong(stream + StreamRecord.CREDIT_ASK_NS) != 0) {
            // Scheduled: what else goes on in the stream meanwhile must not put it off.
            return;
        }
        slab.putInt(stream + StreamRecord.CREDIT_ASKS, 0);
        if (slab.getInt(stream + StreamRecord.CREDIT_ON_REQUEST) != 0) {
            askNow(stream, nowNs);
        } else {
            pause(stream, nowNs);
        }
    }

    private void askNow(long stream, long nowNs) {
        slab.addInt(stream + StreamRecord.CREDIT_ASKS, 1);
        streams.addNews(stream, StreamTable.NEWS_CREDIT_REQUEST);
        pause(stream, nowNs);
    }

    /** Round trips, not a fixed time: the peer has had its chance to answer, and no more. */
    private void pause(long stream, long nowNs) {
        long connection = slab.getLong(stream + CONNECTION);
        long rttNs = 0;
        for (int p = 0; p < slab.getInt(connection + ConnectionRecord.PLANES); p++) {
            rttNs = Math.max(rttNs, state.likelyRttNs(state.plane(connection, p)));
        }
        long pause = Math.max(Limits.CREDIT_ASK_MIN_NS, Math.max(Limits.CREDIT_ASK_RTT * rttNs, 2 * state.config.timerFloorNs));
        int doubled = Math.max(0, slab.getInt(stream + StreamRecord.CREDIT_ASKS) - 1);
        pause = Math.min(pause << Math.min(doubled, 20), Limits.CREDIT_ASK_MAX_NS);
        slab.putLong(stream + StreamRecord.CREDIT_ASK_NS, nowNs + pause);
        state.lookAtWaiters(connection, nowNs + pause);
    }

    /** The pause is over and there is still no credit: asks again, or gives the message up. */
    void creditPauseEnded(long stream, long nowNs) {
        int asks = slab.getInt(stream + StreamRecord.CREDIT_ASKS);
        int retries = state.config.receiverNotReadyRetries;
        if (retries == EndpointConfig.RETRY_FOR_EVER || asks <= retries) {
            askNow(stream, nowNs);
        } else {
            fail(stream, slab.getLong(stream + WORK_CURSOR), Cause.RECEIVER_NOT_READY);
        }
    }

    /** Receive index behind those of all messages that wait, as far as they are counted. */
    int wantedReceives(long stream) {
        int wanted = slab.getInt(stream + NEXT_RECEIVE_INDEX);
        int most = wanted + Limits.CREDIT_ASK_AHEAD;
        for (long work = slab.getLong(stream + WORK_CURSOR); work != 0 && wanted != most; work = slab.getLong(work + WorkRecord.NEXT)) {
            if (slab.getInt(work + WorkRecord.SENT) == 0 && Opcode.consumesReceive(slab.getInt(work + WorkRecord.OPCODE))) {
                wanted++;
            }
        }
        return wanted;
    }

    /** Accounts for the next packet of {@code work} being sent for the first time; returns its number in the message. */
    int advance(long stream, long work) {
        int index = slab.getInt(work + WorkRecord.SENT);
        if (index == 0) {
            slab.putInt(work + WorkRecord.FIRST_SSN, slab.getInt(stream + NEXT_SSN));
            int opcode = slab.getInt(work + WorkRecord.OPCODE);
            if (slab.getInt(stream + NEXT_READ_INDEX) == slab.getInt(stream + READS_DONE) && !Opcode.isResponse(opcode)) {
                slab.putInt(work + WorkRecord.FLAGS, slab.getInt(work + WorkRecord.FLAGS) | WorkRecord.ANSWERED);
            }
            if (Opcode.consumesReceive(opcode)) {
                slab.putInt(work + WorkRecord.INDEX, slab.addInt(stream + NEXT_RECEIVE_INDEX, 1) - 1);
                slab.putLong(stream + StreamRecord.CREDIT_ASK_NS, 0);
            } else if (Opcode.isRequest(opcode)) {
                slab.putInt(work + WorkRecord.INDEX, slab.addInt(stream + NEXT_READ_INDEX, 1) - 1);
            }
        }
        slab.addInt(stream + NEXT_SSN, 1);
        state.backlogs.add(slab.getLong(stream + CONNECTION), -1);
        slab.putInt(work + WorkRecord.SENT, index + 1);
        if (index + 1 == slab.getInt(work + WorkRecord.PACKETS)) {
            long cursor = Opcode.isResponse(slab.getInt(work + WorkRecord.OPCODE)) ? RESPONSE_CURSOR : WORK_CURSOR;
            slab.putLong(stream + cursor, slab.getLong(work + WorkRecord.NEXT));
        }
        return index;
    }

    // ---- what is done ----

    /** A packet of ours has arrived. */
    void onPacketAcked(long packet) {
        long work = slab.getLong(packet + PacketRecord.WORK);
        if (work == 0) {
            return;
        }
        long stream = slab.getLong(work + WorkRecord.STREAM);
        acknowledge(stream, slab.getInt(work + WorkRecord.FIRST_SSN) + slab.getInt(packet + PacketRecord.INDEX));
        int acked = slab.addInt(work + WorkRecord.ACKED, 1);
        if (acked == slab.getInt(work + WorkRecord.SENT)) {
            settle(stream);
        }
    }

    /** Whether this is the packet of the stream with that SSN. */
    boolean is(long packet, long stream, int ssn) {
        long work = slab.getLong(packet + PacketRecord.WORK);
        return work != 0 && slab.getLong(work + WorkRecord.STREAM) == stream
                && slab.getInt(work + WorkRecord.FIRST_SSN) + slab.getInt(packet + PacketRecord.INDEX) == ssn;
    }

    /** MSN of the first message of which nothing was sent. */
    int firstUnsentMsn(long stream) {
        long work = slab.getLong(stream + WORK_CURSOR);
        if (work == 0) {
            return slab.getInt(stream + StreamRecord.NEXT_MSN);
        }
        return slab.getInt(work + WorkRecord.MSN) + (slab.getInt(work + WorkRecord.SENT) > 0 ? 1 : 0);
    }

    /** The requester has the responses to all its requests before this message. */
    void onAnswered(long stream, int msn) {
        for (long work = slab.getLong(stream + RESPONSE_HEAD); work != 0; work = slab.getLong(work + WorkRecord.NEXT)) {
            if (slab.getInt(work + WorkRecord.MSN) - msn < 0) {
                slab.putInt(work + WorkRecord.READ_DONE, 1);
            }
        }
    }

    /** The peer is known to have all packets sent of this response. */
    boolean isDelivered(long work) {
        return Opcode.isResponse(slab.getInt(work + WorkRecord.OPCODE)) && slab.getInt(work + WorkRecord.READ_DONE) != 0;
    }

    /** A packet that need not be repeated: it has arrived though it is not acknowledged, or its stream has failed. */
    boolean giveUp(long packet) {
        long work = slab.getLong(packet + PacketRecord.WORK);
        if (work == 0) {
            return true;
        }
        long stream = slab.getLong(work + WorkRecord.STREAM);
        if (!isDelivered(work)) {
            if (slab.getInt(stream + STATE) == StreamRecord.OPEN && slab.getInt(work + WorkRecord.LOCAL_FAULT) == 0) {
                return false;
            }
            slab.addInt(work + WorkRecord.PACKETS_GIVEN_UP, 1);
        }
        onPacketAcked(packet);
        return true;
    }

    /** Moves the lowest unacknowledged SSN, keeping those beyond it in the window's bits. */
    private void acknowledge(long stream, int ssn) {
        int base = slab.getInt(stream + ACKED_SSN);
        long window = slab.getLong(stream + TX_WINDOW);
        boolean wasFull = slab.getInt(stream + NEXT_SSN) - base
                >= slab.getInt(slab.getLong(stream + CONNECTION) + ConnectionRecord.STREAM_WINDOW);
        if (ssn != base) {
            SsnWindow.set(slab, window, state.windowMask, ssn);
            return;
        }
        base++;
        if (window != 0) {
            while (SsnWindow.clear(slab, window, state.windowMask, base)) {
                base++;
            }
        }
        slab.putInt(stream + ACKED_SSN, base);
        if (base == slab.getInt(stream + NEXT_SSN) && window != 0) {
            state.txWindows.give(window);
            slab.putLong(stream + TX_WINDOW, 0);
        }
        if (wasFull || slab.getInt(stream + READY) == 0) {
            makeReady(stream);
        }
    }

    /**
     * A request of ours cannot go on, by our own fault: nothing more of it and of later ones is sent. Earlier ones still complete; then
     * the stream fails (spec: "Ending a stream").
     */
    void fail(long stream, long work, int cause) {
        if (slab.getInt(work + WorkRecord.LOCAL_FAULT) == 0) {
            slab.putInt(work + WorkRecord.LOCAL_FAULT, cause);
            if (slab.getInt(stream + StreamRecord.LOCAL_FAULT) != StreamRecord.TOLD) {
                slab.putInt(stream + StreamRecord.LOCAL_FAULT, cause);
            }
            slab.putLong(stream + WORK_CURSOR, 0);
            slab.putLong(stream + StreamRecord.CREDIT_ASK_NS, 0);
            settle(stream);
        }
    }

    /** Tries again to end the streams of which earlier requests had to be told first. */
    void settleFaulty(long connection) {
        for (long s = slab.getLong(connection + ConnectionRecord.ALL_STREAMS); s != 0; s = slab.getLong(s + StreamRecord.NEXT_OF_CONNECTION)) {
            if (slab.getInt(s + StreamRecord.LOCAL_FAULT) != 0 && slab.getInt(s + STATE) == StreamRecord.OPEN) {
                settle(s);
            }
        }
    }

    /** MSN of the first message of which not all packets stand before this SSN. */
    int msnAt(long stream, int ssn) {
        for (long work = slab.getLong(stream + WORK_HEAD); work != 0; work = slab.getLong(work + WorkRecord.NEXT)) {
            int packets = slab.getInt(work + WorkRecord.PACKETS);
            if (slab.getInt(work + WorkRecord.SENT) < packets || slab.getInt(work + WorkRecord.FIRST_SSN) + packets - ssn > 0) {
                return slab.getInt(work + WorkRecord.MSN);
            }
        }
        return slab.getInt(stream + StreamRecord.NEXT_MSN);
    }

    /** What stands at the head and never goes to the peer; returns whether settling goes on with the next. */
    private boolean settleLocal(long stream, long work) {
        long connection = slab.getLong(stream + CONNECTION);
        int fault = slab.getInt(work + WorkRecord.LOCAL_FAULT);
        if (fault != 0) {
            receiver.reset(connection, stream, fault);
            return false;
        }
        if (state.regions.invalidate(slab.getInt(work + WorkRecord.LOCAL_KEY), slab.getInt(connection + ConnectionRecord.PROTECTION_DOMAIN))) {
            complete(stream, work, Completion.OK);
            makeReady(stream);
            return true;
        }
        fail(stream, work, Cause.BAD_KEY);
        return false;
    }

    /** Completes, in order, what has nothing more to wait for. */
    void settle(long stream) {
        settleResponses(stream);
        boolean open = slab.getInt(stream + STATE) == StreamRecord.OPEN;
        boolean naked = slab.getInt(stream + StreamRecord.NAK_CAUSE) != 0;
        for (long work = slab.getLong(stream + WORK_HEAD); work != 0; work = slab.getLong(stream + WORK_HEAD)) {
            if (open && (slab.getInt(work + WorkRecord.LOCAL_FAULT) != 0 || slab.getInt(work + WorkRecord.OPCODE) == WorkRequest.LOCAL_INVALIDATE)) {
                if (settleLocal(stream, work)) {
                    continue;
                }
                return;
            }
            int past = naked ? slab.getInt(work + WorkRecord.MSN) - slab.getInt(stream + StreamRecord.NAK_MSN) : 0;
            // Of a failed stream, only what stood before the refused message is known to have had its turn at the peer: what we
            // refused ourselves may have made the peer swallow the rest. Behind a message that ended with a cause all is flushed.
            boolean told = slab.getInt(stream + StreamRecord.LOCAL_FAULT) == StreamRecord.TOLD;
            boolean done = open ? isDone(stream, work) : naked && past < 0 && !told && hasArrived(work);
            if (!done && (open || slab.getInt(work + WorkRecord.ACKED) < slab.getInt(work + WorkRecord.SENT))) {
                return;
            }
            int fault = slab.getInt(work + WorkRecord.LOCAL_FAULT);
            int cause = done || told ? 0
                    : fault != 0 ? fault : naked && past == 0 ? slab.getInt(stream + StreamRecord.NAK_CAUSE) : 0;
            if (cause != 0) {
                slab.putInt(stream + StreamRecord.LOCAL_FAULT, StreamRecord.TOLD);
            }
            complete(stream, work, done ? Completion.OK : cause != 0 ? cause : Completion.FLUSHED);
        }
    }

    /**
     * Everything of it arrived, and everything of the stream before it, Read responses of ours included: until then its turn has
     * not come at the peer, who may still refuse it.
     */
    private boolean isDone(long stream, long work) {
        return hasArrived(work)
                && slab.getInt(stream + ACKED_SSN) - slab.getInt(work + WorkRecord.FIRST_SSN) >= slab.getInt(work + WorkRecord.PACKETS);
    }

    private boolean hasArrived(long work) {
        return slab.getInt(work + WorkRecord.ACKED) == slab.getInt(work + WorkRecord.PACKETS)
                && slab.getInt(work + WorkRecord.PACKETS_GIVEN_UP) == 0
                && (!Opcode.isRequest(slab.getInt(work + WorkRecord.OPCODE)) || slab.getInt(work + WorkRecord.READ_DONE) != 0);
    }

    private void settleResponses(long stream) {
        boolean open = slab.getInt(stream + STATE) == StreamRecord.OPEN;
        for (long work = slab.getLong(stream + RESPONSE_HEAD); work != 0; work = slab.getLong(stream + RESPONSE_HEAD)) {
            if (!hasArrived(work) && (open || slab.getInt(work + WorkRecord.ACKED) < slab.getInt(work + WorkRecord.SENT))) {
                return;
            }
            unlink(stream, work, RESPONSE_HEAD, RESPONSE_TAIL, RESPONSE_CURSOR);
            free(stream, work);
        }
    }

    private void complete(long stream, long work, int status) {
        unlink(stream, work, WORK_HEAD, WORK_TAIL, WORK_CURSOR);
        int opcode = slab.getInt(work + WorkRecord.OPCODE);
        if (Opcode.isRequest(opcode) && slab.getInt(work + WorkRecord.SENT) > 0) {
            slab.addInt(stream + READS_DONE, 1);
        }
        if (status == Completion.OK && (slab.getInt(work + WorkRecord.FLAGS) & WorkRecord.UNSIGNALED) != 0) {
            state.completions.release();
        } else {
            state.completions.push(slab.getInt(slab.getLong(stream + CONNECTION) + ConnectionRecord.HANDLE),
                    slab.getInt(stream + StreamRecord.ID), opcode, status, slab.getLong(work + WorkRecord.ID),
                    status == Completion.OK ? slab.getInt(work + WorkRecord.LENGTH) : 0, 0, 0);
        }
        free(stream, work);
        if (Opcode.isRequest(opcode)) {
            makeReady(stream);
        }
    }

    private void unlink(long stream, long work, int headField, int tailField, int cursorField) {
        long next = slab.getLong(work + WorkRecord.NEXT);
        slab.putLong(stream + headField, next);
        if (next == 0) {
            slab.putLong(stream + tailField, 0);
        }
        if (slab.getLong(stream + cursorField) == work) {
            slab.putLong(stream + cursorField, next);
        }
    }

    private void free(long stream, long work) {
        long connection = slab.getLong(stream + CONNECTION);
        int unsent = slab.getInt(work + WorkRecord.PACKETS) - slab.getInt(work + WorkRecord.SENT);
        state.backlogs.add(connection, -unsent);
        state.backlogs.end(connection);
        if (slab.getInt(connection + ConnectionRecord.LARGER_WORK) > 0 && Opcode.fixedPayload(slab.getInt(work + WorkRecord.OPCODE)) == 0
                && slab.getInt(work + WorkRecord.PACKET_BYTES) > slab.getInt(connection + ConnectionRecord.PACKET_BYTES)
                && slab.addInt(connection + ConnectionRecord.LARGER_WORK, -1) == 0) {
            // The last of those that needed wider routes: planes that carry less are in use again.
            slab.putInt(connection + ConnectionRecord.ROUTE_BYTES, slab.getInt(connection + ConnectionRecord.PACKET_BYTES));
            state.makeReady(connection);
        }
        slab.putLong(work + WorkRecord.REQUEST_ID, 0);
        slab.putInt(work + WorkRecord.OPCODE, 0);
        if ((slab.getInt(work + WorkRecord.FLAGS) & (WorkRecord.SEGMENTED | WorkRecord.INLINE)) != 0) {
            memory.release(work);
        }
        state.giveWork(work);
    }

    /** Ends all work of a stream whose connection is gone; its packets are discarded by the caller first. */
    void abandon(long stream) {
        for (long work = slab.getLong(stream + WORK_HEAD); work != 0; work = slab.getLong(stream + WORK_HEAD)) {
            complete(stream, work, Completion.CONNECTION_LOST);
        }
        for (long work = slab.getLong(stream + RESPONSE_HEAD); work != 0; work = slab.getLong(stream + RESPONSE_HEAD)) {
            unlink(stream, work, RESPONSE_HEAD, RESPONSE_TAIL, RESPONSE_CURSOR);
            free(stream, work);
        }
        long window = slab.getLong(stream + TX_WINDOW);
        if (window != 0) {
            SsnWindow.wipe(slab, window, state.windowBytes);
            state.txWindows.give(window);
        }
    }
}
