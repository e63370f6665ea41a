// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import io.metaroce.transport.Limits;
import io.metaroce.wire.AcceptHeader;
import io.metaroce.wire.AckHeader;
import io.metaroce.wire.Bytes;
import io.metaroce.wire.Cause;
import io.metaroce.wire.ChallengeHeader;
import io.metaroce.wire.ControlBlock;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.InitHeader;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.ParityEntry;
import io.metaroce.wire.ParityHeader;
import io.metaroce.wire.PathBlock;
import io.metaroce.wire.PlaneHeader;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.ProbeHeader;
import io.metaroce.wire.Rate16;
import io.metaroce.wire.RefuseHeader;
import io.metaroce.wire.Reason;
import io.metaroce.wire.SealedHeader;
import io.metaroce.wire.Serial;
import io.metaroce.wire.Tlv;
import io.metaroce.wire.Type;
import io.metaroce.wire.Validate;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads along what every endpoint sends, before the network does anything to it, and objects to what no sender may send: a PSN used
 * twice, one sequence number with two meanings, credit that goes back, more granted than the line has. Of encrypted datagrams it sees
 * numbers and key generations.
 */
final class Wire {
    /** Changes of demand below this part of the line may wait for the next division (MR-SHARE-012). */
    private static final int DEMAND_STEPS = 50;


    private record Name(int host, int incarnation, int cid) { }

    /** What a host has sent on a connection so far. */
    private static final class Flow {
        final Lane[] lanes = new Lane[Network.PLANES << 8];
        final Map<Integer, Line> lines;
        final Map<Integer, Integer> credit;
        /** It said that it has parked. */
        boolean parked;

        Flow() {
            lines = new HashMap<>();
            credit = new HashMap<>();
        }

        /** After the connection was parked: paths begin anew, streams go on. */
        Flow(Flow before) {
            lines = before.lines;
            credit = before.credit;
        }
    }

    /** What a host has last heard on a connection of its own, by plane. */
    private static final class Heard {
        final int[] demand = new int[Network.PLANES];
        final long[] ns = new long[Network.PLANES];
    }

    /** What can be seen of an encrypted connection, by one of its senders. */
    private static final class Seal {
        final Map<Integer, Integer> numbers = new HashMap<>();
        int generation;
    }

    private record Challenge(int host, int incarnation, long nonce) { }

    private static final class Lane {
        int epoch;
        int nextPsn;
        boolean dataInEpoch;
        int port;
    }

    /** A direction of a stream: meanings by SSN, as far back as any window reaches. */
    private static final class Line {
        static final int KEPT = 512;
        final long[] meaning = new long[KEPT];
        int next;
        int message = -1;
        boolean ended = true;
        /** Payload of all packets of the message under way but the last; 0 between messages. */
        int size;
    }

    private final Model model;
    /** Header of a packet that a Parity packet speaks of. */
    private final MemorySegment made = Arena.ofAuto().allocate(ParityHeader.LENGTH);
    private final Map<Name, Flow> flows = new HashMap<>();
    private final Set<Challenge> challenged = new HashSet<>();
    private final Map<Name, Heard> heard = new HashMap<>();
    private final Map<Name, Seal> seals = new HashMap<>();
    private final Map<Name, Long> nonces = new HashMap<>();
    /** By a host and its peer's CID. */
    private final Map<Name, Places> places = new HashMap<>();
    /** The connection that an INIT with RESUME names, by its host, 0 and CID. */
    private final Map<Name, Integer> calls = new HashMap<>();
    /** Of connections that were resumed: handle by own CID, and own CID by handle. */
    private final Map<Name, Integer> handles = new HashMap<>();
    private final Map<Name, Integer> cids = new HashMap<>();
    /** A host's own CID of the context in which it sends to a CID of its peer's, where that is not its handle. */
    private final Map<Name, Integer> contexts = new HashMap<>();
    private final Map<Name, Seal> sealsByOwnCid = new HashMap<>();
    /** Newest key generation that a host has heard its peer opened, by the host's own CID. */
    private final Map<Name, Integer> confirmed = new HashMap<>();
    /** Shares told by one host on one plane at one time, to those who ask for some. */
    private final long[] grantedNs;
    private final List<Map<Side, Long>> granted = new ArrayList<>();
    private Name newest;
    private Flow newestFlow;

    Wire(Model model, int hosts) {
        this.model = model;
        grantedNs = new long[hosts * Network.PLANES];
        for (int i = 0; i < grantedNs.length; i++) {
            granted.add(new HashMap<>());
        }
    }

    private Flow flow(Host host, int cid) {
        Name name = new Name(host.number, host.incarnation, cid);
        if (!name.equals(newest)) {
            newest = name;
            newestFlow = flows.computeIfAbsent(name, n -> new Flow());
        }
        return newestFlow;
    }

    void look(Host from, Host to, long at, int length, int plane, int generation, int port) {
        if (Prefix.type(at) == Type.SEALED) {
            sealed(from, to, at);
            return;
        }
        int malformed = Validate.check(at, length);
        if (malformed != 0) {
            throw new Violation(from + " sends a malformed " + Type.name(Prefix.type(at)) + ": " + malformed);
        }
        if (to.moves) {
            askedFirst(from, at, plane, generation);
        }
        switch (Prefix.type(at)) {
            case Type.DATA -> data(from, to, at, plane, port);
            case Type.ACK -> {
                ack(from, to, at, plane);
                if (AckHeader.isFollowed(at)) {
                    require(length <= DataHeader.LENGTH + from.config.safePayload, from, "a datagram of two of " + length + " B", at);
                    require(AckHeader.plane(at) == plane, from, "an acknowledgement and data of different planes in a datagram", at);
                    data(from, to, at + AckHeader.length(at), plane, port);
                    model.count(Check.DATA_BEHIND_ACK);
                }
            }
            case Type.PROBE -> probe(from, at, plane, port);
            case Type.PARITY -> parity(from, at);
            case Type.PARK -> model.count(Check.PARK_SENT);
            case Type.PARK_ACK -> {
                model.count(Check.PARK_ACK_SENT);
                flow(from, Prefix.destinationCid(at)).parked = true;
            }
            case Type.INIT -> init(from, at, length);
            case Type.CHALLENGE -> {
                challenged.add(new Challenge(from.number, from.incarnation, ChallengeHeader.initiatorNonce(at)));
                model.count(Check.CHALLENGED);
            }
            case Type.ACCEPT -> accept(from, to, at);
            case Type.REFUSE -> refuse(from, at);
            case Type.CLOSE, Type.CLOSE_ACK -> model.count(Check.CLOSE_SENT);
            case Type.RESET -> model.count(Check.RESET_SENT);
            default -> { }
        }
    }

    // ---- planes that change ----

    /** What a host knows of the places of a peer's end of a connection, by plane. */
    private static final class Places {
        final BitSet[] known = new BitSet[Network.PLANES];
        final int[] stated = new int[Network.PLANES];
        final int[] sequence = new int[Network.PLANES];

        Places() {
            for (int p = 0; p < known.length; p++) {
                known[p] = new BitSet();
            }
        }
    }

    private Places places(Host host, int peerCid) {
        return places.computeIfAbsent(new Name(host.number, host.incarnation, peerCid), n -> new Places());
    }

    /** Nothing but a challenge goes to an address that was stated, before somebody answered there. */
    private void askedFirst(Host from, long at, int plane, int generation) {
        boolean ofConnection = switch (Prefix.type(at)) {
            case Type.DATA, Type.ACK, Type.PROBE, Type.PARITY, Type.CLOSE, Type.CLOSE_ACK, Type.PARK, Type.PARK_ACK -> true;
            case Type.PLANE -> PlaneHeader.kind(at) != PlaneHeader.CHALLENGE;
            default -> false;
        };
        Places p = places.get(new Name(from.number, from.incarnation, Prefix.destinationCid(at)));
        if (ofConnection && p != null) {
            require(p.known[plane].get(generation), from, "address " + generation + " of plane " + plane + " is used before anybody answered there", at);
            if (generation > 0) {
                model.count(Check.ASKED_FIRST);
            }
        }
    }

    private void heardOfPlaces(Host to, long at, int length) {
        switch (Prefix.type(at)) {
            case Type.INIT -> told(places(to, InitHeader.initiatorCid(at)), at + InitHeader.LENGTH, at + length);
            case Type.ACCEPT -> told(places(to, AcceptHeader.responderCid(at)), at + AcceptHeader.LENGTH, at + length);
            case Type.PLANE -> {
                Places p = places(to, PlaneHeader.senderCid(at));
                int plane = PlaneHeader.plane(at);
                if (PlaneHeader.kind(at) == PlaneHeader.STATE && PlaneHeader.port(at) != 0 && PlaneHeader.sequence(at) - p.sequence[plane] > 0) {
                    p.sequence[plane] = PlaneHeader.sequence(at);
                    p.stated[plane] = Host.generationOf(PlaneHeader.addressLow(at));
                } else if (PlaneHeader.kind(at) == PlaneHeader.RESPONSE && PlaneHeader.sequence(at) == p.sequence[plane]) {
                    p.known[plane].set(p.stated[plane]);
                }
            }
            default -> { }
        }
    }

    private static void told(Places p, long tlvs, long end) {
        for (long t = tlvs; t < end; t += Tlv.sizeOf(Bytes.getU16(t + 2))) {
            for (int i = 0; Bytes.getU8(t) == Tlv.PLANES && i < Bytes.getU16(t + 2) / Tlv.PLANE_LENGTH; i++) {
                p.known[i].set(Host.generationOf(Bytes.getLong(t + 4 + (long) i * Tlv.PLANE_LENGTH + 8)));
            }
        }
    }

    // ---- handshake ----

    private void accept(Host from, Host to, long at) {
        int call = Prefix.destinationCid(at);
        Integer name = calls.get(new Name(to.number, 0, call));
        if (name == null) {
            require(challenged.contains(new Challenge(from.number, from.incarnation, AcceptHeader.initiatorNonce(at))), from,
                    "an INIT is accepted that this process has not challenged", at);
            return;
        }
        Side side = from.sides.get(name);
        Side caller = side == null ? null : side.peer;
        int cid = AcceptHeader.responderCid(at);
        // The same ACCEPT may come again; and a CID may be given out again, long after.
        if (caller != null && !Integer.valueOf(cid).equals(contexts.put(nameOf(side, call), cid))) {
            handles.put(nameOf(side, cid), side.handle);
            handles.put(nameOf(caller, call), caller.handle);
            goOn(side, cidOf(caller), call);
            goOn(caller, cidOf(side), cid);
            for (Name own : new Name[] {nameOf(side, cid), nameOf(caller, call)}) {
                sealsByOwnCid.remove(own);
                confirmed.remove(own);
            }
            contexts.put(nameOf(caller, cid), call);
            cids.put(nameOf(caller, caller.handle), call);
            cids.put(nameOf(side, side.handle), cid);
            model.count(Check.RESUMED);
        }
    }

    /** What the side sent to one CID of its peer's goes on to another. */
    private void goOn(Side side, int before, int now) {
        Flow flow = flows.get(nameOf(side, before));
        flows.put(nameOf(side, now), flow == null ? new Flow() : new Flow(flow));
        newest = null;
        seals.remove(nameOf(side, now));
    }

    private static Name nameOf(Side side, int cid) {
        return new Name(side.host.number, side.incarnation, cid);
    }

    private int cidOf(Side side) {
        return cids.getOrDefault(nameOf(side, side.handle), side.handle);
    }

    /** The sender's end of the connection on which it sends to this CID of the other host. */
    private Side sideOf(Host from, int cid, Host to) {
        return model.sideOfPeer(from, handles.getOrDefault(new Name(to.number, to.incarnation, cid), cid), to);
    }

    private static void require(boolean holds, Host from, String what, long at) {
        if (!holds) {
            throw new Violation(from + " breaks the rules of senders: " + what + " (" + Type.name(Prefix.type(at)) + " to 0x"
                    + Integer.toHexString(Prefix.destinationCid(at)) + ")");
        }
    }

    // ---- encrypted connections ----

    /** Numbers without holes, and no key before the peer has confirmed the one before. */
    private void sealed(Host from, Host to, long at) {
        model.count(Check.SEALED);
        int cid = Prefix.destinationCid(at);
        Seal seal = seals.computeIfAbsent(new Name(from.number, from.incarnation, cid), n -> new Seal());
        int number = SealedHeader.number(at);
        Integer last = seal.numbers.put(SealedHeader.lane(at), number);
        require(number == (last == null ? 1 : last + 1), from, "number " + number + " of a lane after " + last, at);
        int generation = SealedHeader.generation(at);
        int before = seal.generation;
        seal.generation = generation;
        Side own = sideOf(from, cid, to);
        int ownCid = own == null ? 0 : contexts.getOrDefault(nameOf(own, cid), own.handle);
        if (generation != before) {
            require((generation - before & 15) == 1, from, "key generation " + generation + " after " + before, at);
            require(own == null || confirmed.getOrDefault(new Name(from.number, from.incarnation, ownCid), 0) == before, from,
                    "key generation " + generation + " before the peer has confirmed the last: " + confirmed.get(new Name(from.number, from.incarnation, ownCid)) + " at 0x" + Integer.toHexString(ownCid) + " of " + own, at);
            model.count(Check.KEY_CHANGE);
        }
        if (own != null) {
            sealsByOwnCid.put(nameOf(own, ownCid), seal);
            Seal peers = seals.get(nameOf(own.peer, ownCid));
            int unopened = (peers == null ? 0 : peers.generation) - SealedHeader.opened(at) & 15;
            require(unopened <= 1, from, "a key is confirmed that the peer has not used", at);
        }
    }

    private void heardSealed(Host to, long at) {
        Name name = new Name(to.number, to.incarnation, Prefix.destinationCid(at));
        Seal seal = sealsByOwnCid.get(name);
        int known = confirmed.getOrDefault(name, 0);
        int told = SealedHeader.opened(at);
        // What comes late, and is dropped as replayed, may tell any generation of long ago.
        if (seal != null && (told - known & 15) <= (seal.generation - known & 15)) {
            confirmed.put(name, told);
        }
    }

    // ---- data ----

    private void data(Host from, Host to, long at, int plane, int port) {
        Flow flow = flow(from, Prefix.destinationCid(at));
        require(!flow.parked, from, "data on a connection that is parked", at);
        lane(from, flow, at, plane, port);
        Line line = flow.lines.computeIfAbsent(DataHeader.stream(at), s -> new Line());
        int ssn = DataHeader.ssn(at);
        int behind = line.next - ssn;
        boolean again = (Prefix.flags(at) & DataHeader.RETRANSMISSION) != 0;
        long meaning = meaning(at);
        if (behind == 0) {
            require(!again, from, "a first transmission is marked as repeated", at);
            line.meaning[ssn & Line.KEPT - 1] = meaning;
            line.next++;
            sizes(from, line, at);
            order(from, line, at);
        } else {
            require(behind > 0, from, "SSN " + ssn + " leaves out " + -behind, at);
            require(again, from, "a repetition is not marked", at);
            require(behind > Line.KEPT || line.meaning[ssn & Line.KEPT - 1] == meaning, from, "SSN " + ssn + " has two meanings", at);
            model.count(Check.REPEATED);
        }
        require(behind < Math.max(Limits.MIN_STREAM_WINDOW, to.config.streamWindowPackets) + 1, from, "SSN " + ssn + " is older than any window", at);
        int mtu = Math.min(from.config.payloadMtu, to.config.payloadMtu);
        require(DataHeader.payloadLength(at) <= mtu, from, "more payload than was agreed", at);
        if ((Prefix.flags(at) & DataHeader.ANSWERED) != 0) {
            model.count(Check.ANSWERED);
        }
        model.count(Check.DATA);
    }

    private static long meaning(long at) {
        long m = DataHeader.msn(at) * 0x9e3779b97f4a7c15L + DataHeader.opcode(at);
        m = m * 0x9e3779b97f4a7c15L + DataHeader.offset(at);
        m = m * 0x9e3779b97f4a7c15L + DataHeader.messageLength(at);
        m = m * 0x9e3779b97f4a7c15L + DataHeader.remoteAddress(at);
        m = m * 0x9e3779b97f4a7c15L + DataHeader.immediate(at);
        return m * 0x9e3779b97f4a7c15L + DataHeader.remoteKey(at);
    }

    private static void sizes(Host from, Line line, long at) {
        int payload = DataHeader.payloadLength(at);
        if ((Prefix.flags(at) & DataHeader.LAST) != 0) {
            require(line.size == 0 || payload <= line.size, from, "the last packet of a message is longer than the others", at);
            line.size = 0;
        } else {
            require(line.size == 0 || payload == line.size, from, "packets of a message differ in size", at);
            line.size = payload;
        }
    }

    private static void order(Host from, Line line, long at) {
        boolean last = (Prefix.flags(at) & DataHeader.LAST) != 0;
        if (Opcode.isResponse(DataHeader.opcode(at))) {
            return;
        }
        int message = DataHeader.msn(at);
        require(message == line.message + (line.ended ? 1 : 0), from, "message " + message + " follows " + line.message, at);
        line.message = message;
        line.ended = last;
    }

    private void lane(Host from, Flow flow, long at, int plane, int port) {
        int path = DataHeader.path(at);
        require(DataHeader.planeOf(path) == plane, from, "path " + path + " on plane " + plane, at);
        Lane lane = flow.lanes[path];
        int epoch = DataHeader.epoch(at);
        int psn = DataHeader.psn(at);
        if (lane == null) {
            lane = flow.lanes[path] = new Lane();
            lane.epoch = epoch;
        } else {
            require(psn == lane.nextPsn, from, "PSN " + psn + " instead of " + lane.nextPsn, at);
        }
        if (epoch != lane.epoch) {
            require(Serial.newerEpoch(epoch, lane.epoch), from, "epoch " + epoch + " after " + lane.epoch, at);
            lane.epoch = epoch;
            lane.dataInEpoch = false;
            model.count(Check.NEW_ROUTE);
        }
        require(!lane.dataInEpoch || lane.port == port, from, "another source port in the same epoch", at);
        lane.port = port;
        lane.dataInEpoch = true;
        lane.nextPsn = psn + 1;
    }

    private void probe(Host from, long at, int plane, int port) {
        int path = ProbeHeader.path(at);
        require(DataHeader.planeOf(path) == plane, from, "path " + path + " on plane " + plane, at);
        Flow flow = flow(from, Prefix.destinationCid(at));
        require(!flow.parked, from, "a probe on a connection that is parked", at);
        Lane lane = flow.lanes[path];
        if (lane != null && lane.epoch == ProbeHeader.epoch(at) && lane.dataInEpoch) {
            require(lane.port == port, from, "a probe takes another route than the data", at);
            require(ProbeHeader.nextPsn(at) == lane.nextPsn, from, "a probe tells another PSN than is next", at);
        }
        model.count(Check.PROBED);
    }

    /** What can be made of it is what was sent. */
    private void parity(Host from, long at) {
        Flow flow = flow(from, Prefix.destinationCid(at));
        require(!flow.parked, from, "parity on a connection that is parked", at);
        Line line = flow.lines.get(DataHeader.stream(at));
        for (int i = 0; i < ParityHeader.count(at); i++) {
            Bytes.copy(at, made.address(), ParityHeader.LENGTH);
            long entry = ParityEntry.at(at + ParityHeader.LENGTH, i);
            ParityHeader.toData(made.address(), entry, i);
            int ssn = DataHeader.ssn(made.address());
            require(line != null && line.next - ssn > 0 && line.next - ssn <= Line.KEPT, from, "parity of SSN " + ssn + ", which was not sent", at);
            require(line.meaning[ssn & Line.KEPT - 1] == meaning(made.address()), from, "parity makes something else of SSN " + ssn, at);
            Lane lane = flow.lanes[ParityEntry.path(entry)];
            require(lane != null && (lane.epoch != ParityEntry.epoch(entry) || lane.nextPsn - ParityEntry.psn(entry) > 0), from,
                    "parity of PSN " + ParityEntry.psn(entry) + ", which was not sent", at);
        }
        model.count(Check.PARITY);
    }

    // ---- acknowledgements ----

    private void ack(Host from, Host to, long at, int plane) {
        Flow flow = flow(from, Prefix.destinationCid(at));
        require(!flow.parked, from, "an acknowledgement on a connection that is parked", at);
        long block = at + AckHeader.LENGTH;
        for (int i = 0; i < AckHeader.pathBlocks(at); i++) {
            boolean isLong = AckHeader.isLong(at, i);
            int words = isLong ? PathBlock.words(block) : 0;
            require(words == 0 || PathBlock.word(block, words - 1) != 0, from, "a trailing word of zero", at);
            model.count(words == 0 ? Check.IN_ORDER : Check.GAP);
            block += PathBlock.length(block, isLong);
        }
        for (int i = 0; i < AckHeader.controlBlocks(at); i++, block += ControlBlock.LENGTH) {
            control(from, to, flow, block, at);
        }
        if ((Prefix.flags(at) & AckHeader.HAS_SHARE) != 0) {
            share(from, to, at);
        }
        if (AckHeader.plane(at) != plane) {
            model.count(Check.OTHER_PLANE);
        }
    }

    private void control(Host from, Host to, Flow flow, long block, long at) {
        int stream = ControlBlock.stream(block);
        switch (ControlBlock.kind(block)) {
            case ControlBlock.CREDIT -> {
                int told = flow.credit.getOrDefault(stream, 0);
                require(ControlBlock.value(block) - told >= 0, from, "credit goes back", at);
                flow.credit.put(stream, ControlBlock.value(block));
                Side side = sideOf(from, Prefix.destinationCid(at), to);
                if (side != null && side.adopted && stream < side.streams.length && !side.streams[stream].mayFail) {
                    require(ControlBlock.detail(block) == (side.streams[stream].shared ? 1 : 0), from, "credit of stream " + stream
                            + (side.streams[stream].shared ? ", whose receives are shared, is not" : " is") + " on request", at);
                }
                model.count(Check.CREDIT);
            }
            case ControlBlock.NAK -> {
                require(ControlBlock.cause(block) >= Cause.BAD_KEY, from, "a NAK without a cause", at);
                model.count(Check.NAK);
            }
            case ControlBlock.REBUILT -> model.count(Check.REBUILT);
            case ControlBlock.DUPLICATES -> { }
            case ControlBlock.CREDIT_REQUEST -> model.count(Check.CREDIT_REQUEST);
            case ControlBlock.STREAM_RESET -> model.count(Check.STREAM_RESET);
            case ControlBlock.STREAM_ERROR_CONFIRM -> model.count(Check.CONFIRM);
            default -> require(false, from, "control block " + ControlBlock.kind(block), at);
        }
    }

    /** A datagram of data or a probe came in at {@code to}, stating a demand. */
    void heard(Host to, long at, int length) {
        if (length >= SealedHeader.MIN_DATAGRAM && Prefix.type(at) == Type.SEALED) {
            heardSealed(to, at);
            return;
        }
        if (to.moves && length >= Prefix.LENGTH && Validate.check(at, length) == 0) {
            heardOfPlaces(to, at, length);
        }
        if (length < DataHeader.LENGTH && length < ProbeHeader.LENGTH || Validate.check(at, length) != 0) {
            return;
        }
        if (AckHeader.isFollowed(at)) {
            heard(to, at + AckHeader.length(at), length - AckHeader.length(at));
            return;
        }
        boolean data = Prefix.type(at) == Type.DATA;
        if (data || Prefix.type(at) == Type.PROBE) {
            Heard h = heard.computeIfAbsent(new Name(to.number, to.incarnation, Prefix.destinationCid(at)), n -> new Heard());
            int plane = DataHeader.planeOf(data ? DataHeader.path(at) : ProbeHeader.path(at));
            h.demand[plane] = data ? DataHeader.demand(at) : ProbeHeader.demand(at);
            h.ns[plane] = model.nowNs;
        }
    }

    /** What one host tells at one time to all who just asked for some must not be more than its line. */
    private void share(Host from, Host to, long at) {
        long share = Rate16.decode(AckHeader.share(at));
        model.count(Check.SHARE);
        require(share <= from.config.lineRateKbps, from, "a share of " + share + " kbit/s of a line of " + from.config.lineRateKbps, at);
        int plane = AckHeader.plane(at);
        Side side = sideOf(from, Prefix.destinationCid(at), to);
        if (side == null || from.moves) {
            // What comes on a plane that is not in use any more does not count as asking.
            return;
        }
        int own = contexts.getOrDefault(nameOf(side, Prefix.destinationCid(at)), side.handle);
        Heard h = heard.get(new Name(from.number, from.incarnation, own));
        if (h == null || h.ns[plane] != model.nowNs || Rate16.decode(h.demand[plane]) == 0) {
            return;
        }
        int i = from.number * Network.PLANES + plane;
        if (grantedNs[i] != model.nowNs) {
            grantedNs[i] = model.nowNs;
            granted.get(i).clear();
        }
        Map<Side, Long> told = granted.get(i);
        told.put(side, share);
        // Who has parked meanwhile has left its share to others.
        told.keySet().removeIf(s -> s.state != Side.UP || s.isParked());
        long sum = told.values().stream().mapToLong(Long::longValue).sum();
        require(sum <= from.config.lineRateKbps + told.size() * from.config.lineRateKbps / DEMAND_STEPS, from,
                sum + " kbit/s granted at once of a line of " + from.config.lineRateKbps, at);
        model.count(Check.SHARES_TOGETHER);
    }

    /** Whether an ACCEPT is for the attempt that the host last made by this CID; one whose planes change begins anew. */
    boolean answersLastCall(Host to, long at) {
        return Long.valueOf(AcceptHeader.initiatorNonce(at)).equals(nonces.get(new Name(to.number, to.incarnation, Prefix.destinationCid(at))));
    }

    private void init(Host from, long at, int length) {
        nonces.put(new Name(from.number, from.incarnation, InitHeader.initiatorCid(at)), InitHeader.initiatorNonce(at));
        require(length >= InitHeader.MIN_DATAGRAM, from, "an INIT of " + length + " B", at);
        for (long t = at + InitHeader.LENGTH; t < at + length; t += Tlv.sizeOf(Bytes.getU16(t + 2))) {
            if (Bytes.getU8(t) == Tlv.RESUME) {
                calls.put(new Name(from.number, 0, InitHeader.initiatorCid(at)), Bytes.getInt(t + 4));
            }
        }
        model.count(InitHeader.cookieHigh(at) == 0 ? Check.INIT : Check.INIT_WITH_COOKIE);
    }

    private void refuse(Host from, long at) {
        require(RefuseHeader.reason(at) != Reason.NO_CONTEXT || RefuseHeader.retryAfterMs(at) > 0, from, "no time to try again", at);
    }
}
