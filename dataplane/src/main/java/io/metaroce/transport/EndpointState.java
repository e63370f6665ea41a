// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.memory.LongMap;
import io.metaroce.memory.RecordPool;
import io.metaroce.memory.RegionTable;
import io.metaroce.memory.Slab;
import io.metaroce.wire.AckHeader;
import io.metaroce.wire.Checksum;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Reason;

/** Everything an endpoint's parts share: the slab with its pools, queues, tables, randomness and counters. */
final class EndpointState {
    /** The bits of a CID that are its own, the slot among them: with the largest pool (16 bits) seven are left to be random. */
    private static final int OWN_CID_BITS = (1 << 23) - 1;
    /** Those that are the same in all CIDs of an endpoint: a flood of guesses meets them once in 256 times. */
    static final int COMMON_CID_BITS = Integer.MAX_VALUE & ~OWN_CID_BITS;

    final EndpointConfig config;
    final RegionTable regions;
    final Slab slab;
    final RecordPool connections;
    final RecordPool planes;
    final RecordPool packets;
    final RecordPool work;
    /** Responses under way; apart from {@link #work}, or two ends whose own Reads fill it would wait for each other for ever. */
    final RecordPool responses;
    final RecordPool streams;
    final RecordPool rxWindows;
    final RecordPool txWindows;
    final RecordPool receiveQueues;
    final RecordPool readQueues;
    /** Receives bound to streams that take them from a shared queue. */
    final RecordPool sharedRings;
    final SegmentLists segments;
    /** Where the payload of an encrypted packet is put together from its pieces. */
    final long gatherRoom;
    /** Payload of requests that was copied when they were posted: one for each work request. */
    final RecordPool inlineData;
    final int receiveMask;
    final int sharedMask;
    /** Set once, when the streams are there. */
    SharedReceives shared;
    final LongMap streamMap;
    final RecordPool parked;
    final Names names;
    /** Parity packets that are being made or held. */
    final RecordPool parity;
    /** What probes are padded with. */
    final long zeros;
    final TimerHeap timers;
    final CompletionQueue completions;
    final EventQueue events;
    final EndpointCounters counters = new EndpointCounters();
    final Checksum checksum = new Checksum();
    final LossMemory losses = new LossMemory();
    final Prng random;
    final SipHash secret;
    /** Null where no connection is encrypted. */
    final Sealing sealing;
    final ConnectionStats[] stats;
    /** Of parked connections. */
    final ConnectionStats[] parkedStats;
    /** Bytes of one bit ring of a stream's window, and its index mask. */
    final long windowBytes;
    final int windowMask;
    /** Our planes as they are now: null where there is none; changed by {@link #setPlane}, each change counted. */
    final NetAddress[] ownAddresses;
    final int[][] ownPorts;
    final int[] ownSequence;
    /** First path of each connection; paths of one connection lie together. */
    private final long pathBase;
    /** Active senders of each plane, those of one plane close together and in no order: a division looks at all of them. */
    private final long senderBase;
    private final int pathsPerConnection;
    private final int cidMask;
    /** What all CIDs have in {@link #COMMON_CID_BITS}. */
    final int commonCid;
    /** The CID of each connection slot, close together: a flood of guesses must not reach for records that lie far apart. 0: none yet. */
    private final int[] cids;
    /** The time of the call under way. */
    long nowNs;
    /** When this end went on after it had been held up. */
    long heldUpNs = Long.MIN_VALUE / 2;
    /** A connection could not send because no packet record was left. */
    boolean packetsWanted;
    private long secretCounter;
    /** Connections with acknowledgements, probes or packets of the handshake to send; and those with Data. */
    final Turns urgentTurns;
    final Turns dataTurns;
    final Backlogs backlogs;

    EndpointState(EndpointConfig config, RegionTable regions) {
        config.check();
        this.config = config;
        ownAddresses = config.localAddresses.clone();
        ownPorts = config.sourcePorts.clone();
        ownSequence = new int[config.planes()];
        java.util.Arrays.fill(ownSequence, 1);
        this.regions = regions;
        int n = config.maxConnections;
        int streamCount = config.streamPool > 0 ? config.streamPool : Math.max(1024, 4 * (n + config.maxParked));
        int windowCount = Math.min(streamCount, 1024);
        int completionCount = config.maxWorkRequests + windowCount * config.receiveQueueDepth
                + config.sharedReceiveDomains.length * config.sharedReceiveDepth;
        // One ring for each receive that may be bound: never short of them.
        int ringCount = Math.min(streamCount, config.sharedReceiveDomains.length * config.sharedReceiveDepth);
        receiveMask = config.receiveQueueDepth - 1;
        sharedMask = config.sharedReceivesPerStream - 1;
        int responseCount = Math.max(Limits.MIN_RESPONSES, config.maxWorkRequests / 4);
        pathsPerConnection = config.planes() * config.pathsPerPlane;
        windowBytes = config.streamWindowPackets / 8;
        windowMask = config.streamWindowPackets - 1;
        long bytes = RecordPool.bytes(ConnectionRecord.BYTES, n)
                + RecordPool.bytes((long) PlaneRecord.BYTES * config.planes(), n)
                + Slab.roundUp((long) PathRecord.BYTES * pathsPerConnection * n)
                + RecordPool.bytes(PacketRecord.BYTES, config.maxPacketsOut)
                + RecordPool.bytes(WorkRecord.BYTES, config.maxWorkRequests)
                + RecordPool.bytes(WorkRecord.BYTES, responseCount)
                + RecordPool.bytes(StreamRecord.BYTES, streamCount)
                + RecordPool.bytes(3 * windowBytes, windowCount)
                + RecordPool.bytes(windowBytes, windowCount)
                + RecordPool.bytes((long) ReceiveQueue.ENTRY_BYTES * config.receiveQueueDepth, windowCount)
                + RecordPool.bytes((long) ReadResponder.ENTRY_BYTES * Limits.MAX_READS, windowCount)
                + RecordPool.bytes((long) ReceiveQueue.ENTRY_BYTES * config.sharedReceivesPerStream, ringCount)
                + Slab.roundUp((long) SenderRecord.BYTES * config.planes() * n) + SharedReceives.bytes(config) + SegmentLists.bytes(config)
                + Slab.roundUp(config.maxSegments > 1 ? config.payloadMtu : 0)
                + RecordPool.bytes(inlineRoom(config), config.maxInlineBytes == 0 ? 0 : config.maxWorkRequests)
                + RecordPool.bytes(ParkedRecord.bytes(config.planes()), config.maxParked) + Names.bytes(n, config.maxParked)
                + RecordPool.bytes(ParityRecord.bytes(config), Limits.PARITIES) + Slab.roundUp(Limits.MAX_PAYLOAD_MTU + 64)
                + LongMap.bytes(streamCount) + CompletionQueue.bytes(completionCount);
        slab = config.memory == null ? new Slab(bytes) : new Slab(bytes, config.memory);
        connections = new RecordPool(slab, ConnectionRecord.BYTES, n);
        planes = new RecordPool(slab, (long) PlaneRecord.BYTES * config.planes(), n);
        pathBase = slab.carve((long) PathRecord.BYTES * pathsPerConnection * n);
        senderBase = slab.carve((long) SenderRecord.BYTES * config.planes() * n);
        packets = new RecordPool(slab, PacketRecord.BYTES, config.maxPacketsOut);
        work = new RecordPool(slab, WorkRecord.BYTES, config.maxWorkRequests);
        responses = new RecordPool(slab, WorkRecord.BYTES, responseCount);
        streams = new RecordPool(slab, StreamRecord.BYTES, streamCount);
        rxWindows = new RecordPool(slab, 3 * windowBytes, windowCount);
        txWindows = new RecordPool(slab, windowBytes, windowCount);
        receiveQueues = new RecordPool(slab, (long) ReceiveQueue.ENTRY_BYTES * config.receiveQueueDepth, windowCount);
        readQueues = new RecordPool(slab, (long) ReadResponder.ENTRY_BYTES * Limits.MAX_READS, windowCount);
        sharedRings = new RecordPool(slab, (long) ReceiveQueue.ENTRY_BYTES * config.sharedReceivesPerStream, ringCount);
        segments = new SegmentLists(slab, config);
        gatherRoom = slab.carve(config.maxSegments > 1 ? config.payloadMtu : 0);
        inlineData = new RecordPool(slab, inlineRoom(config), config.maxInlineBytes == 0 ? 0 : config.maxWorkRequests);
        streamMap = new LongMap(slab, streamCount);
        parked = new RecordPool(slab, ParkedRecord.bytes(config.planes()), config.maxParked);
        zeros = slab.carve(Limits.MAX_PAYLOAD_MTU + 64);
        parity = new RecordPool(slab, ParityRecord.bytes(config), Limits.PARITIES);
        names = new Names(slab, n, config.maxParked);
        timers = new TimerHeap(n);
        events = new EventQueue(n + config.maxParked);
        completions = new CompletionQueue(slab, events, completionCount);
        urgentTurns = new Turns(slab, ConnectionRecord.URGENT_NEXT);
        backlogs = new Backlogs(this);
        dataTurns = new Turns(slab, ConnectionRecord.READY_NEXT);
        random = new Prng(config.seed);
        secret = new SipHash(config.secret, config.secretLow ^ config.seed);
        sealing = config.security == null ? null : new Sealing(this);
        stats = statsFor(n);
        parkedStats = statsFor(config.maxParked);
        commonCid = (int) secret.start().add(0xc1dL).finish() & COMMON_CID_BITS;
        cidMask = Integer.highestOneBit(Math.max(1, 2 * n - 1)) - 1;
        cids = new int[cidMask + 1];
    }

    static long inlineRoom(EndpointConfig config) {
        return Math.max(Long.BYTES, config.maxInlineBytes + 7 & -8);
    }

    private static ConnectionStats[] statsFor(int count) {
        ConnectionStats[] all = new ConnectionStats[count];
        for (int i = 0; i < count; i++) {
            all[i] = new ConnectionStats();
        }
        return all;
    }

    // ---- connections ----

    /** A fresh connection record with planes and paths, or 0 when the pool is empty. */
    long takeConnection() {
        long c = connections.take();
        if (c == 0) {
            return 0;
        }
        slab.zero(c, ConnectionRecord.BYTES);
        int index = connections.indexOf(c);
        slab.putInt(c + ConnectionRecord.INDEX, index);
        stats[index].clear();
        long p = planes.take();
        slab.zero(p, (long) PlaneRecord.BYTES * config.planes());
        slab.putLong(c + ConnectionRecord.FIRST_PLANE, p);
        long paths = pathBase + (long) index * pathsPerConnection * PathRecord.BYTES;
        slab.zero(paths, (long) PathRecord.BYTES * pathsPerConnection);
        slab.putLong(c + ConnectionRecord.FIRST_PATH, paths);
        name(c);
        // The first CID is also what the application calls the connection.
        slab.putInt(c + ConnectionRecord.HANDLE, slab.getInt(c + ConnectionRecord.LOCAL_CID));
        return c;
    }

    /** Gives the connection a CID that no other has, perhaps one that was in use long ago, and with it always a fresh tag (MR-CON-021). */
    void name(long connection) {
        int index = slab.getInt(connection + ConnectionRecord.INDEX);
        // Positive, never 0, low bits are the slot, high bits the endpoint.
        int cid;
        do {
            cid = (int) nextSecret() & OWN_CID_BITS & ~cidMask | commonCid | index;
        } while (cid == 0 || names.isTaken(cid) || cid == slab.getInt(connection + ConnectionRecord.HANDLE));
        slab.putInt(connection + ConnectionRecord.LOCAL_CID, cid);
        cids[index] = cid;
        slab.putInt(connection + ConnectionRecord.LOCAL_TAG, (int) nextSecret());
    }

    /** Takes a context back that nothing refers to any more. */
    void giveConnection(long connection) {
        urgentTurns.remove(connection);
        dataTurns.remove(connection);
        timers.remove(slab.getInt(connection + ConnectionRecord.INDEX));
        backlogs.forget(connection);
        forgetParities(connection);
        if (sealing != null) {
            sealing.forget(connection);
        }
        slab.putInt(connection + ConnectionRecord.STATE, ConnectionRecord.FREE);
        forgetFormerCid(connection);
        if (!isAtHome(connection)) {
            names.unmove(slab.getInt(connection + ConnectionRecord.HANDLE));
        }
        planes.give(slab.getLong(connection + ConnectionRecord.FIRST_PLANE));
        connections.give(connection);
    }

    // ---- Parity packets ----

    /** The first record of a list of the connection's, {@code PARITY_MADE} and its neighbours; 0: there is none. */
    long parities(long connection, int list) {
        int number = slab.getInt(connection + list);
        return number == 0 ? 0 : parity.at(number - 1);
    }

    /** Sets what {@link #parities} tells. */
    void parities(long connection, int list, long first) {
        slab.putInt(connection + list, first == 0 ? 0 : parity.indexOf(first) + 1);
    }

    /** Numbers of paths and packets mean nothing any more. */
    void forgetParities(long connection) {
        giveParities(connection, ConnectionRecord.PARITY_MADE);
        giveParities(connection, ConnectionRecord.PARITY_HELD);
        giveParities(connection, ConnectionRecord.PARITY_USED);
    }

    /** Gives back all records of such a list. */
    void giveParities(long connection, int list) {
        for (long record = parities(connection, list); record != 0; ) {
            long next = slab.getLong(record + ParityRecord.NEXT);
            parity.give(record);
            record = next;
        }
        slab.putInt(connection + list, 0);
    }

    /** The peer knows the present CID. */
    void forgetFormerCid(long connection) {
        int former = slab.getInt(connection + ConnectionRecord.PARKED_CID);
        if (former != 0) {
            names.forgetCid(former);
            slab.putInt(connection + ConnectionRecord.PARKED_CID, 0);
        }
    }

    /** Whether the handle names this very slot, so that it need not be looked up. */
    boolean isAtHome(long connection) {
        return (slab.getInt(connection + ConnectionRecord.HANDLE) & cidMask) == slab.getInt(connection + ConnectionRecord.INDEX);
    }

    /** Packets were lost lately, so probes go before there is a reason to. A coarse clock would make more of them than they are worth. */
    boolean expectsLoss() {
        return config.timerFloorNs == 0 && losses.isLossy();
    }

    /** Whether this endpoint may come to send Parity packets with payload. */
    boolean makesParity() {
        return config.timerFloorNs == 0 && config.placesPayload;
    }

    /** The live connection that the application calls so, or 0. */
    long named(int handle) {
        int index = handle & cidMask;
        if (index < connections.capacity()) {
            long c = connections.at(index);
            if (slab.getInt(c + ConnectionRecord.HANDLE) == handle && slab.getInt(c + ConnectionRecord.STATE) != ConnectionRecord.FREE) {
                return c;
            }
        }
        return names.moved(handle);
    }

    /** The live connection of this identifier, or 0. */
    long connectionOf(int cid) {
        int index = cid & cidMask;
        if (cids[index] != cid) {
            return 0;
        }
        long c = connections.at(index);
        return slab.getInt(c + ConnectionRecord.STATE) != ConnectionRecord.FREE ? c : 0;
    }

    /** Makes the connection write a control datagram, a bit of {@link Handshake}, at its next turn. */
    void want(long connection, int control) {
        slab.putInt(connection + ConnectionRecord.CONTROL, slab.getInt(connection + ConnectionRecord.CONTROL) | control);
        makeUrgent(connection);
    }

    ConnectionStats statsOf(long connection) {
        return stats[slab.getInt(connection + ConnectionRecord.INDEX)];
    }

    long plane(long connection, int plane) {
        return slab.getLong(connection + ConnectionRecord.FIRST_PLANE) + (long) plane * PlaneRecord.BYTES;
    }

    /** The record of the active sender in this place of a plane, 0 for the first. */
    long sender(int plane, int place) {
        return senderBase + ((long) plane * config.maxConnections + place) * SenderRecord.BYTES;
    }

    void setPlane(int plane, NetAddress address, int[] sourcePorts) {
        ownAddresses[plane] = address;
        ownPorts[plane] = address == null ? null : sourcePorts.clone();
        ownSequence[plane]++;
    }

    /**
     * Smoothed RTT of the plane, ns; before its first sample no more than the time after which INIT is repeated: what is known then is how
     * long the handshake took, with all its repetitions.
     */
    long likelyRttNs(long plane) {
        int rttNs = slab.getInt(plane + PlaneRecord.SRTT_NS);
        return slab.getLong(plane + PlaneRecord.MIN_RTT_SINCE_NS) == PlaneRecord.GUESSED ? Math.min(rttNs, Limits.INIT_RETRY_NS) : rttNs;
    }

    /** For so long what is sent on the plane now cannot count as late, ns: neither a path nor the plane is suspected sooner. */
    long graceNs(long plane) {
        return Math.max((long) (Limits.PLANE_DEAD_RTT / 2 * slab.getInt(plane + PlaneRecord.SRTT_NS)), config.timerFloorNs);
    }

    /** Whether the peer's end of the plane is known to be at this address. */
    boolean isAt(long plane, long high, long low, int port) {
        return slab.getLong(plane + PlaneRecord.REMOTE_LOW) == low && slab.getLong(plane + PlaneRecord.REMOTE_HIGH) == high
                && slab.getInt(plane + PlaneRecord.REMOTE_PORT) == port;
    }

    /** The peer's end of the plane is at this address from now on. */
    void locate(long plane, long high, long low, int port) {
        slab.putLong(plane + PlaneRecord.REMOTE_HIGH, high);
        slab.putLong(plane + PlaneRecord.REMOTE_LOW, low);
        slab.putInt(plane + PlaneRecord.REMOTE_PORT, port);
    }

    /** The first plane that is not down; the last one in use when all are. */
    int firstPlaneUp(long connection) {
        int planes = slab.getInt(connection + ConnectionRecord.PLANES);
        int inUse = 0;
        for (int p = 0; p < planes; p++) {
            int phase = slab.getInt(plane(connection, p) + PlaneRecord.STATE);
            if (phase == PlaneRecord.UP) {
                return p;
            }
            if (phase == PlaneRecord.DOWN) {
                inUse = p;
            }
        }
        return inUse;
    }

    /** The first plane on which the peer can be called from {@code from} on, in a circle: we have it, and know where it is there. */
    int callablePlane(long connection, int from) {
        int planes = slab.getInt(connection + ConnectionRecord.PLANES);
        for (int i = 0; i < planes; i++) {
            int p = Integer.remainderUnsigned(from + i, planes);
            if (ownAddresses[p] != null && slab.getInt(plane(connection, p) + PlaneRecord.REMOTE_PORT) != 0) {
                return p;
            }
        }
        return 0;
    }

    long path(long connection, int plane, int index) {
        return slab.getLong(connection + ConnectionRecord.FIRST_PATH)
                + ((long) plane * slab.getInt(connection + ConnectionRecord.PATHS_PER_PLANE) + index) * PathRecord.BYTES;
    }

    /** Index of a path in its plane, without a look at the path. */
    int indexOf(long connection, int plane, long path) {
        return (int) ((path - path(connection, plane, 0)) / PathRecord.BYTES);
    }

    /** A packet of this connection's peer broke the rules and has no effect; too many of them end the connection. */
    void violation(long connection) {
        if (++statsOf(connection).violations > config.maxViolations) {
            abortSoon(connection, Reason.PROTOCOL_VIOLATION);
        }
    }

    /** The connection is aborted when its turn to send comes; the first reason counts. */
    void abortSoon(long connection, int reason) {
        if (slab.getInt(connection + ConnectionRecord.ABORT_REASON) == 0) {
            slab.putInt(connection + ConnectionRecord.ABORT_REASON, reason);
        }
        makeUrgent(connection);
    }

    /** An unpredictable number. */
    long nextSecret() {
        return secret.start().add(0x5ec2e7L).add(secretCounter++).finish();
    }

    /** There is something to tell in an acknowledgement at once, whatever its plane. */
    void tellNow(long connection) {
        slab.putInt(connection + ConnectionRecord.ACK_NOW, slab.getInt(connection + ConnectionRecord.ACK_NOW) | ConnectionRecord.TELL);
        makeUrgent(connection);
    }

    // ---- turns ----

    /** The connection may have Data to send. */
    void makeReady(long connection) {
        dataTurns.add(connection);
    }

    /** The connection has something to send that goes before the Data of all (spec: "Order at the port"). */
    void makeUrgent(long connection) {
        urgentTurns.add(connection);
    }

    /** Records are free again: whoever may have wanted one looks again. */
    void servePacketsWanted() {
        packetsWanted = false;
        for (int i = 0; i < connections.capacity(); i++) {
            long c = connections.at(i);
            if (slab.getInt(c + ConnectionRecord.STATE) != ConnectionRecord.FREE && slab.getInt(c + ConnectionRecord.UNSENT_PACKETS) > 0) {
                makeReady(c);
            }
        }
    }

    /**
     * Whether the checksums in a datagram of a connection in the clear are right: its own, and that of the Data packet behind an acknowledgement.
     */
    boolean isIntact(long at, int length, boolean full, int tag) {
        int covered = Checksum.coveredLength(at, length, full);
        if (checksum.field(at, covered, tag) != Prefix.checksum(at)) {
            counters.checksumErrors++;
            return false;
        }
        return !AckHeader.isFollowed(at) || isIntact(at + covered, length - covered, full, tag);
    }

    boolean anyReady() {
        return !urgentTurns.isEmpty() || !dataTurns.isEmpty();
    }

    /** A stream of the connection waits for something that is to be looked at then, at the latest. */
    void lookAtWaiters(long connection, long atNs) {
        long before = slab.getLong(connection + ConnectionRecord.WAITERS_NS);
        if (before == 0 || atNs - before < 0) {
            slab.putLong(connection + ConnectionRecord.WAITERS_NS, atNs);
        }
        wakeBy(connection, atNs);
    }

    /** At most until {@code deadlineNs} the connection's timer sleeps. */
    void wakeBy(long connection, long deadlineNs) {
        timers.atMost(slab.getInt(connection + ConnectionRecord.INDEX), deadlineNs);
    }

    /** Gives a work record back to the pool it is from. */
    void giveWork(long record) {
        (record >= responses.at(0) && record < responses.at(responses.capacity()) ? responses : work).give(record);
        assert work.used() + responses.used() > 0 || backlogs.isEmpty();
    }

    // ---- packets ----

    /** Appends a packet record to a list whose head and tail fields stand at these offsets. */
    void append(long headField, long tailField, long packet) {
        slab.putLong(packet + PacketRecord.NEXT, 0);
        long tail = slab.getLong(tailField);
        if (tail == 0) {
            slab.putLong(headField, packet);
        } else {
            slab.putLong(tail + PacketRecord.NEXT, packet);
        }
        slab.putLong(tailField, packet);
    }

    /** Removes and returns the first packet record, or 0. */
    long removeFirst(long headField, long tailField) {
        long packet = slab.getLong(headField);
        if (packet != 0) {
            long next = slab.getLong(packet + PacketRecord.NEXT);
            slab.putLong(headField, next);
            if (next == 0) {
                slab.putLong(tailField, 0);
            }
        }
        return packet;
    }
}
