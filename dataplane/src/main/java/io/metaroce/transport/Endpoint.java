// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.RegionTable;
import io.metaroce.memory.Slab;
import io.metaroce.wire.NetAddress;
import java.util.List;

/**
 * One end of the transport: the whole protocol, without I/O, clock, threads or allocation after construction.
 *
 * <p>The owner passes in datagrams and the time and takes datagrams out; an application posts work requests and polls completions
 * and events. All calls come from one thread; time never goes back. Connections and streams are named by the handles and numbers
 * given here; a handle is void after the event that ends its connection.
 */
public final class Endpoint {
    /** Results of {@link #post} and {@link #postReceive}. */
    public static final int OK = 0;
    /** No room for another request now: poll completions and try again. */
    public static final int QUEUE_FULL = 1;
    /** The handle names no established connection, or one that is closing. */
    public static final int BAD_CONNECTION = 2;
    /** The stream number is outside what was negotiated, or no more streams can be had. */
    public static final int BAD_STREAM = 3;
    /** The local memory is not inside a region of this key, domain and right. */
    public static final int BAD_LOCAL_KEY = 4;
    /** The length is negative, above {@link Limits#MAX_MESSAGE_BYTES}, that of an atomic and not 8, or too long to be inline. */
    public static final int BAD_LENGTH = 5;
    public static final int STREAM_IN_ERROR = 6;
    /** Not an operation, or a Read or atomic and the peer takes none. */
    public static final int BAD_OPCODE = 7;
    /** No such shared receive queue, or not for this stream. */
    public static final int BAD_QUEUE = 8;

    /** More segments than {@link EndpointConfig#maxSegments}, or more than one for an atomic. */
    public static final int TOO_MANY_SEGMENTS = 9;

    /** The connection is parked, and all contexts are in use: try again. An idle connection is being parked meanwhile, if there is one. */
    public static final int NO_CONTEXT = 10;

    /** For {@link #useSharedReceives}: every stream of the connection, now and later. */
    public static final int ALL_STREAMS = -1;

    private final EndpointState state;
    private final Slab slab;
    private final Outgoing out;
    private final ReplyQueue replies;
    private final Windows windows;
    private final ReceiverShare share;
    private final PathSender paths;
    private final AckSender acks;
    private final Handshake handshake;
    private final Transmitter transmitter;
    private final Connections connections;
    private final Parking parking;
    private final Planes planes;
    private final Receiver receiver;
    private final Requests requests;
    private final Receives receives;
    private int changesAtTransmit;

    /**
     * @param regions memory that work requests and peers may name; shared with the application, same thread
     * @throws IllegalArgumentException if a value of {@code config} is out of its range
     */
    public Endpoint(EndpointConfig config, RegionTable regions) {
        state = new EndpointState(config, regions);
        slab = state.slab;
        out = new Outgoing(state);
        replies = new ReplyQueue(state);
        windows = new Windows(state);
        share = new ReceiverShare(state);
        StreamTable streams = new StreamTable(state);
        state.shared = new SharedReceives(state, streams);
        LocalMemory memory = new LocalMemory(state);
        StreamSender sender = new StreamSender(state, streams, memory);
        ReadResponder reads = new ReadResponder(state, sender);
        StreamReceiver streamReceiver = new StreamReceiver(state, sender, streams, reads, memory);
        sender.failVia(streamReceiver);
        PayloadSize size = new PayloadSize(state, windows);
        paths = new PathSender(state, windows, new Aimd(state, windows), sender, size);
        acks = new AckSender(state, out, share, streams, sender);
        parking = new Parking(state, replies, share);
        planes = new Planes(state, replies, paths, share, size);
        handshake = new Handshake(state, out, replies, share, parking);
        transmitter = new Transmitter(state, out, windows, paths, acks, sender, streamReceiver, reads, memory);
        Health health = new Health(state, paths, sender, reads, size);
        connections = new Connections(state, handshake, health, paths, sender, streams, streamReceiver, share, replies, parking, planes, size);
        receiver = new Receiver(state, connections, health, handshake, replies, parking, planes, windows, paths, acks, share, streams, sender,
                streamReceiver);
        requests = new Requests(state, connections, streams, sender, memory);
        receives = new Receives(state, connections, streams, memory);
    }

    // ---- datagrams ----

    /** Takes all datagrams of the burst. Their memory is not used after return. */
    public void receive(long nowNs, RxBurst burst) {
        state.nowNs = nowNs;
        for (int i = 0; i < burst.count; i++) {
            receiver.onDatagram(burst, i, nowNs);
        }
    }

    /**
     * Appends datagrams to the burst while it has room and something may be sent, and does what time demands.
     *
     * @return true if more could be sent at once, had the burst more room
     */
    public boolean transmit(long nowNs, TxBurst burst) {
        state.nowNs = nowNs;
        changesAtTransmit = state.regions.changes();
        out.begin(burst);
        if (nowNs - Limits.HELD_UP_NS > state.timers.earliest()) {
            state.heldUpNs = nowNs;
        }
        for (int due; (due = state.timers.popDue(nowNs)) != TimerHeap.NONE; ) {
            connections.onTimer(state.connections.at(due), nowNs);
        }
        if (state.packetsWanted && state.packets.used() < state.packets.capacity()) {
            state.servePacketsWanted();
        }
        replies.drain(out);
        long waiting = 0;
        while (!out.isFull()) {
            long c = state.urgentTurns.take();
            if (c != 0) {
                speak(c, nowNs);
                continue;
            }
            c = state.dataTurns.take();
            if (c == 0) {
                break;
            }
            if (c == waiting) {
                // None of the others has anything to send, and ports are as busy as before.
                state.dataTurns.addFirst(c);
                break;
            }
            serve(c, nowNs);
            if (transmitter.waitsForPort() && isOpen(c)) {
                state.makeReady(c);
                waiting = c;
            }
        }
        return state.anyReady() || !replies.isEmpty();
    }

    /**
     * For a burst that the port did not take whole: drops what names memory that was registered when {@link #transmit} filled it and is not
     * any more. Call it before such a burst is sent again, if the application may have had a turn. What is dropped is a loss like any other.
     */
    public void dropStale(TxBurst burst) {
        if (state.regions.changes() == changesAtTransmit) {
            return;
        }
        int kept = 0;
        for (int i = 0; i < burst.count; i++) {
            long payload = burst.payload[i];
            if (burst.payloadLength[i] > 0 && !burst.isStaged(i) && !slab.holds(payload)
                    && !state.regions.covers(payload, burst.payloadLength[i])) {
                state.counters.staleDatagrams++;
            } else {
                burst.swap(kept++, i);
            }
        }
        burst.count = kept;
    }

    /** What goes before Data: of the handshake, acknowledgements, probes. */
    private void speak(long c, long nowNs) {
        if (connections.abortIfDue(c)) {
            return;
        }
        handshake.control(c, nowNs);
        if (isOpen(c)) {
            if (acks.isDue(c, nowNs) && !answersShortly(c)) {
                acks.send(c, nowNs);
            }
            transmitter.probes(c, nowNs);
            connections.afterService(c, nowNs);
        }
    }

    /** Its next turn is the next of all, and begins with Data that has room for what it has to acknowledge. */
    private boolean answersShortly(long c) {
        return state.dataTurns.isFirst(c) && state.urgentTurns.isEmpty() && transmitter.hasShortData(c);
    }

    private void serve(long c, long nowNs) {
        if (isOpen(c)) {
            transmitter.data(c, nowNs);
            if (acks.isDue(c, nowNs)) {
                acks.send(c, nowNs);
            }
            connections.afterService(c, nowNs);
        }
    }

    private boolean isOpen(long c) {
        int phase = slab.getInt(c + ConnectionRecord.STATE);
        return phase == ConnectionRecord.ESTABLISHED || phase == ConnectionRecord.DRAINING || phase == ConnectionRecord.PARKING;
    }

    /** Time by which {@link #transmit} must be called again even if nothing arrives; {@code Long.MAX_VALUE}: no need. */
    public long nextDeadlineNs() {
        return state.anyReady() || !replies.isEmpty() ? state.nowNs : state.timers.earliest();
    }

    // ---- connections ----

    /**
     * Starts connecting; CONNECTED, REFUSED or FAILED follows as an event within the connect timeout.
     *
     * @param peer address of the peer's plane 0, reached from our plane 0; where we have no plane 0, of the first that we have
     * @return a handle, positive, or -1 when {@link EndpointConfig#maxConnections} are in use
     */
    public int connect(long nowNs, NetAddress peer, int protectionDomain) {
        state.nowNs = nowNs;
        return connections.connect(nowNs, peer, protectionDomain);
    }

    /** Closes after all posted work is done; the event CLOSED follows. Posting is refused from now on. */
    public void close(long nowNs, int connection) {
        state.nowNs = nowNs;
        connections.close(connection, nowNs);
    }

    /**
     * Ends the connection at once: requests complete with CONNECTION_LOST, the peer is told {@code reason} once, as far as the
     * next {@link #transmit} has room, and the handle is void. No event follows.
     */
    public void abort(long nowNs, int connection, int reason) {
        state.nowNs = nowNs;
        connections.abort(connection, reason);
    }

    /**
     * Gives the connection's context back while nothing is under way (spec: "Park"); the handle stays good, and the next post takes a
     * context again and costs one more round trip. The peer's end is parked as well. It takes a round trip; {@link #isParked} tells.
     *
     * @return false if something is under way as far as is known here, or no more connections can be parked
     */
    public boolean park(long nowNs, int connection) {
        state.nowNs = nowNs;
        long c = state.named(connection);
        return c != 0 && parking.start(c, nowNs);
    }

    /** Whether the connection is there, but has no context now. */
    public boolean isParked(int connection) {
        return state.names.parked(connection) != 0;
    }

    /** Takes the next event; false if there is none. */
    public boolean pollEvent(Event event) {
        return state.events.poll(event);
    }

    // ---- planes ----

    /**
     * Our plane is at this address from now on: added where there was none, or moved. All connections tell their peers, who take it
     * when they found us there; what was under way on the plane goes on over others, or waits. Datagrams of the plane that were
     * transmitted before must have left, or be dropped by the caller.
     *
     * @param plane below {@link EndpointConfig#planes()}
     * @param sourcePorts of the plane, at least one; copied
     */
    public void setPlane(long nowNs, int plane, NetAddress address, int[] sourcePorts) {
        if (plane < 0 || plane >= state.ownAddresses.length) {
            throw new IllegalArgumentException("plane " + plane + " is outside 0.." + (state.ownAddresses.length - 1));
        }
        if (sourcePorts.length == 0) {
            throw new IllegalArgumentException("plane " + plane + " has no source port");
        }
        state.nowNs = nowNs;
        planes.set(plane, java.util.Objects.requireNonNull(address), sourcePorts, nowNs);
    }

    public boolean hasPlane(int plane) {
        return state.ownAddresses[plane] != null;
    }

    /** Takes our plane out of use, for all connections. What was under way on it goes on over others. The last one must stay. */
    public void removePlane(long nowNs, int plane) {
        int left = 0;
        for (int p = 0; p < state.ownAddresses.length; p++) {
            left += p != plane && state.ownAddresses[p] != null ? 1 : 0;
        }
        if (plane < 0 || plane >= state.ownAddresses.length || state.ownAddresses[plane] == null || left == 0) {
            throw new IllegalArgumentException("plane " + plane + (left == 0 ? " is the only one" : " is not there"));
        }
        state.nowNs = nowNs;
        planes.set(plane, null, null, nowNs);
    }

    // ---- work ----

    /** Posts a work request to its stream; returns {@link #OK} or why not. The request has no effect unless OK. */
    public int post(int connection, WorkRequest wr) {
        return requests.post(connection, wr);
    }

    /**
     * Posts a receive for the next message of the stream that consumes one: a Send of at most {@code length} bytes, or a Write
     * with immediate. The peer may send it as soon as it has heard of it.
     */
    public int postReceive(int connection, int streamId, long address, int length, int localKey, long wrId) {
        return receives.post(connection, streamId, address, length, localKey, wrId);
    }

    /** Like the other one, for memory in up to {@link EndpointConfig#maxSegments} pieces. */
    public int postReceive(int connection, int streamId, Segments segments, long wrId) {
        return receives.post(connection, streamId, segments, wrId);
    }

    /** Takes the next completion; false if there is none. */
    public boolean pollCompletion(Completion completion) {
        return state.completions.poll(completion);
    }

    /**
     * Asks for one event COMPLETIONS when the next completion is added, for an application that sleeps meanwhile. What waits to be
     * polled already does not count: ask, then poll once more, then sleep.
     *
     * @param solicitedOnly wait for a receive whose sender asked for it by {@link WorkRequest#solicited}, or for any completion with
     *     an error. Asking for the next one of any kind is not taken back by this.
     */
    public void requestCompletionEvent(boolean solicitedOnly) {
        state.completions.arm(solicitedOnly);
    }

    // ---- shared receive queues ----

    /**
     * Posts a receive to shared queue {@code queue}, 0 to {@link EndpointConfig#sharedReceiveDomains}.length - 1: for the next message
     * that consumes one, of any stream that uses the queue.
     *
     * @return {@link #OK}, {@link #BAD_QUEUE}, {@link #BAD_LENGTH}, {@link #BAD_LOCAL_KEY} or {@link #QUEUE_FULL}
     */
    public int postSharedReceive(int queue, long address, int length, int localKey, long wrId) {
        return receives.postShared(queue, address, length, localKey, wrId);
    }

    /** Like the other one, for memory in up to {@link EndpointConfig#maxSegments} pieces. */
    public int postSharedReceive(int queue, Segments segments, long wrId) {
        return receives.postShared(queue, segments, wrId);
    }

    /**
     * Lets a stream take its receives from a shared queue, for ever. Receives not used when the stream ends go back to the queue.
     *
     * @param streamId the stream, or {@link #ALL_STREAMS} for all of the connection, those to come included, that have no receives of
     *     their own and no other queue
     * @return {@link #OK}; {@link #BAD_QUEUE} for a queue that is not there or of another protection domain than the connection's, or a
     *     stream that has receives of its own or another queue; or why else not, as in {@link #post}
     */
    public int useSharedReceives(int connection, int streamId, int queue) {
        return receives.useShared(connection, streamId, queue);
    }

    /**
     * Asks for one event SHARED_RECEIVES_LOW when fewer than {@code limit} receives of the queue are not bound to a stream; at once, if
     * so already. 0 takes the wish back.
     */
    public int notifySharedReceivesBelow(int queue, int limit) {
        if (!state.shared.exists(queue)) {
            return BAD_QUEUE;
        }
        state.shared.notifyBelow(queue, Math.max(0, limit));
        return OK;
    }

    /** Receives of the queue that are not bound to a stream. */
    public int freeSharedReceives(int queue) {
        return state.shared.free(queue);
    }

    // ---- observation ----

    /** "address:port" of the peer's plane 0. Allocates. */
    public String describePeer(int connection) {
        long c = state.named(connection);
        long parked = state.names.parked(connection);
        if (parked != 0) {
            long plane = parking.callablePlane(parked);
            return new NetAddress(slab.getLong(plane + ParkedRecord.REMOTE_HIGH), slab.getLong(plane + ParkedRecord.REMOTE_LOW),
                    slab.getInt(plane + ParkedRecord.REMOTE_PORT)).toString();
        }
        if (c == 0) {
            return "unknown connection " + connection;
        }
        long plane = state.plane(c, state.callablePlane(c, 0));
        return new NetAddress(slab.getLong(plane + PlaneRecord.REMOTE_HIGH), slab.getLong(plane + PlaneRecord.REMOTE_LOW),
                slab.getInt(plane + PlaneRecord.REMOTE_PORT)).toString();
    }

    /** Fills {@code into}; zeros for a handle that is void. */
    public void readStats(int connection, ConnectionStats into) {
        long c = state.named(connection);
        long parked = state.names.parked(connection);
        if (parked != 0) {
            state.parkedStats[state.parked.indexOf(parked)].copyTo(into);
        } else if (c == 0) {
            into.clear();
        } else {
            state.statsOf(c).copyTo(into);
        }
    }

    /** Paths of ours on this connection, over all planes; 0 for a handle that is void. */
    public int pathCount(int connection) {
        long c = state.named(connection);
        if (c == 0) {
            return 0;
        }
        int planesInUse = slab.getInt(c + ConnectionRecord.PLANES);
        while (planesInUse > 0 && slab.getInt(state.plane(c, planesInUse - 1) + PlaneRecord.STATE) == PlaneRecord.ABSENT) {
            planesInUse--;
        }
        return planesInUse * slab.getInt(c + ConnectionRecord.PATHS_PER_PLANE);
    }

    /** Fills the state of path {@code i}, 0 to {@link #pathCount} - 1, plane by plane. */
    public void readPath(int connection, int i, PathStats into) {
        long c = state.named(connection);
        if (c == 0 || i < 0 || i >= pathCount(connection)) {
            throw new IndexOutOfBoundsException("path " + i + " of connection " + connection);
        }
        long path = state.path(c, 0, i);
        into.plane = i / slab.getInt(c + ConnectionRecord.PATHS_PER_PLANE);
        into.index = i % slab.getInt(c + ConnectionRecord.PATHS_PER_PLANE);
        long plane = state.plane(c, into.plane);
        into.planeDown = slab.getInt(plane + PlaneRecord.STATE) != PlaneRecord.UP;
        into.planeShare = slab.getFloat(plane + PlaneRecord.SHARE);
        into.sourcePort = slab.getInt(path + PathRecord.SOURCE_PORT);
        into.epoch = slab.getInt(path + PathRecord.EPOCH) & ~PathRecord.USED;
        into.state = slab.getInt(path + PathRecord.STATE);
        into.packets = slab.getLong(path + PathRecord.PACKETS);
        into.retransmissions = slab.getLong(path + PathRecord.RETRANSMISSIONS);
        int smoothedNs = slab.getInt(path + PathRecord.SRTT_NS);
        into.rttUs = (smoothedNs == 0 ? slab.getInt(plane + PlaneRecord.SRTT_NS) : smoothedNs) / 1e3;
        into.window = slab.getFloat(path + PathRecord.FACTOR) * slab.getFloat(plane + PlaneRecord.UNIT);
        into.inflight = slab.getInt(path + PathRecord.IN_FLIGHT);
    }

    /** Whether all that the connection sends and receives is encrypted; false for a handle that is void. */
    public boolean isEncrypted(int connection) {
        long c = state.named(connection);
        if (c == 0) {
            long parked = state.names.parked(connection);
            return parked != 0 && slab.getInt(parked + ParkedRecord.SEALED) != 0;
        }
        return slab.getInt(c + ConnectionRecord.SEALED) != 0;
    }

    /** {@link EndpointConfig#INTEGRITY_FULL} or {@link EndpointConfig#INTEGRITY_HEADER}, as was agreed on; full for a handle that is void or parked. */
    public int integrity(int connection) {
        long c = state.named(connection);
        return c == 0 ? EndpointConfig.INTEGRITY_FULL : slab.getInt(c + ConnectionRecord.INTEGRITY);
    }

    /** Payload bytes per packet that were negotiated; 0 for a handle that is void. */
    public int payloadMtu(int connection) {
        long c = state.named(connection);
        return c == 0 ? 0 : slab.getInt(c + ConnectionRecord.PAYLOAD_MTU);
    }

    /** Payload bytes of a full packet of messages posted now, as far as routes are known; 0 for a handle that is void or parked. */
    public int packetBytes(int connection) {
        long c = state.named(connection);
        return c == 0 ? 0 : slab.getInt(c + ConnectionRecord.PACKET_BYTES);
    }

    /** Line rate of a plane, the slower of both ends, kbit/s; 0 for a handle that is void or a plane not in use. */
    public long lineKbps(int connection, int plane) {
        long c = state.named(connection);
        return c == 0 || plane >= slab.getInt(c + ConnectionRecord.PLANES) ? 0 : windows.lineKbps(state.plane(c, plane));
    }

    /** Least RTT of a plane, ns, as it bounds the window; 0 for a handle that is void or a plane not in use. */
    public int leastRttNs(int connection, int plane) {
        long c = state.named(connection);
        return c == 0 || plane >= slab.getInt(c + ConnectionRecord.PLANES) ? 0 : slab.getInt(state.plane(c, plane) + PlaneRecord.MIN_RTT_NS);
    }

    /** Live counters; read on the endpoint's thread. */
    public EndpointCounters counters() {
        return state.counters;
    }

    /**
     * What the connection IDs of all packets to this endpoint have in {@link #commonCidBits}, as long as it lives, but for INIT, PROBE
     * and RESET: a port may drop others before they cost anything (spec: MR-CON-024). Any thread.
     */
    public int commonCid() {
        return state.commonCid;
    }

    /** The bits of a connection ID that {@link #commonCid} is about. Any thread. */
    public int commonCidBits() {
        return EndpointState.COMMON_CID_BITS;
    }

    /** Connections that have a context, in whatever state. */
    public int liveConnections() {
        return state.connections.used();
    }

    public int parkedConnections() {
        return state.parked.used();
    }

    public int liveStreams() {
        return state.streams.used();
    }

    /** Work requests posted and not complete, and responses under way. */
    public int liveWorkRequests() {
        return state.work.used() + state.responses.used();
    }

    /** Packets out or waiting to be repeated, over all connections. */
    public int livePackets() {
        return state.packets.used();
    }

    /** Lists of segments of requests and receives that are posted. */
    public int liveSegmentLists() {
        return state.segments.used();
    }

    /** Requests whose payload was copied when they were posted. */
    public int liveInlineRequests() {
        return state.inlineData.used();
    }

    /** Out-of-order windows, receive queues and Read queues in use. */
    public int liveWindows() {
        return state.rxWindows.used() + state.txWindows.used() + state.receiveQueues.used() + state.sharedRings.used() + state.readQueues.used();
    }

    /** Parity packets that are being made, or held until they are of use. */
    public int liveParities() {
        return state.parity.used();
    }

    /** For tests of single parts. */
    EndpointState state() {
        return state;
    }

    /** The kinds of records behind {@link #stateBytes}, their sizes and numbers. Allocates. */
    public List<StateRecords.Kind> stateRecords() {
        return StateRecords.of(state);
    }

    /** Bytes of off-heap state, all of it taken at construction. */
    public long stateBytes() {
        return slab.byteSize() + (state.sealing == null ? 0 : state.sealing.bytes());
    }
}
