// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

import io.metaroce.memory.MemoryRegion;
import io.metaroce.memory.RegionTable;
import io.metaroce.transport.Endpoint;
import io.metaroce.transport.WorkRequest;
import io.metaroce.wire.Cause;
import io.metaroce.wire.Opcode;
import java.util.ArrayDeque;
import java.util.SplittableRandom;

/**
 * What applications do to registrations of their own while they are in use: end them behind the back of requests and receives, have a
 * request end them in its turn, register memory anew with other rights, elsewhere, or for another domain.
 */
final class OwnMemory {
    private static final int BYTES = HostMemory.SERVES_ONCE;

    private final Traffic traffic;
    /** Registrations in use that are to end some time. */
    private final ArrayDeque<Runnable> ends = new ArrayDeque<>();

    OwnMemory(Traffic traffic) {
        this.traffic = traffic;
    }

    void change(Side s, SplittableRandom r) {
        Runnable end = r.nextInt(3) == 0 ? ends.poll() : null;
        if (end != null) {
            end.run();
            return;
        }
        int stream = r.nextInt(s.streams.length);
        switch (r.nextInt(4)) {
            case 0 -> invalidate(s, stream, r);
            case 1 -> endUnderRequests(s, stream, r);
            case 2 -> endUnderReceive(s, stream, r);
            default -> registerAnew(s, stream, r);
        }
    }

    private static void mayEnd(Side s, int stream, int cause) {
        Traffic.setMayFail(s, stream);
        s.streams[stream].ownCauses.add(cause);
    }

    /** Some requests that use a region, one that ends it, and perhaps one more that comes too late. */
    private void invalidate(Side s, int stream, SplittableRandom r) {
        HostMemory memory = s.host.memory;
        HostMemory.Range place = memory.take(2 * BYTES);
        HostMemory.Range none = memory.take(0);
        if (place == null || none == null) {
            return;
        }
        boolean bad = r.nextInt(5) == 0;
        MemoryRegion region = memory.registerOnce(s.host.regions, place, bad && r.nextBoolean() ? HostMemory.FOREIGN_DOMAIN : 0);
        boolean foreign = region.protectionDomain() != 0;
        for (int i = r.nextInt(3); i > 0 && !foreign; i--) {
            use(s, stream, place.part(region, (i - 1) * BYTES / 2, 1 + r.nextInt(BYTES / 2)), r);
        }
        Message m = traffic.message(s, stream, WorkRequest.LOCAL_INVALIDATE, none, r);
        m.remoteKey = bad && !foreign ? region.key() ^ 1 << r.nextInt(12, 32) : region.key();
        if (bad) {
            m.badCause = Cause.BAD_KEY;
            mayEnd(s, stream, Cause.BAD_KEY);
        } else {
            m.ends = region;
            m.endsOf = s.host.regions;
        }
        if (!traffic.post(s, m)) {
            return;
        }
        if (!bad && !m.unsignaled) {
            s.host.ending.add(m);
        }
        if (!foreign && r.nextInt(3) == 0) {
            // Longer than what may be inline, which needs no registration.
            Message late = local(s, stream, r.nextBoolean() ? Opcode.WRITE : Opcode.SEND, place.part(region, BYTES, Settings.INLINE_BYTES + 1 + r.nextInt(100)), r);
            if (bad) {
                // Flushed, or never taken.
                late.badCause = Cause.LOCAL_ERROR;
            } else {
                mayEnd(s, stream, late.badCause = Cause.LOCAL_ERROR);
            }
            if (late.opcode == Opcode.SEND || traffic.aimOwn(s.peerHost.memory, late)) {
                traffic.post(s, late);
            }
        }
    }

    private Message local(Side s, int stream, int opcode, HostMemory.Range range, SplittableRandom r) {
        return traffic.message(s, stream, opcode, range, r);
    }

    /** A good Write, Send or Read with this memory on our side; null if there is no room for it at the peer's. */
    private Message use(Side s, int stream, HostMemory.Range range, SplittableRandom r) {
        int opcode = Settings.pick(r, Opcode.WRITE, Opcode.SEND, Opcode.READ_REQUEST);
        Message m = local(s, stream, opcode, range, r);
        if (opcode != Opcode.SEND && !traffic.aimOwn(s.peerHost.memory, m)) {
            return null;
        }
        if (opcode == Opcode.READ_REQUEST) {
            m.data = s.peerHost.memory.fill(m.remote);
        }
        return traffic.post(s, m) ? m : null;
    }

    /** Requests that use a region which ends by and by: each is done, or ends its stream, and nothing is read or written there any more. */
    private void endUnderRequests(Side s, int stream, SplittableRandom r) {
        HostMemory memory = s.host.memory;
        HostMemory.Range place = memory.take(BYTES);
        if (place == null) {
            return;
        }
        RegionTable table = s.host.regions;
        MemoryRegion region = memory.registerOnce(table, place, 0);
        mayEnd(s, stream, Cause.LOCAL_ERROR);
        boolean writes = false;
        for (int i = 0; i < 2 && s.state == Side.UP; i++) {
            Message m = use(s, stream, place.part(region, i * BYTES / 2, 1 + r.nextInt(BYTES / 2)), r);
            if (m != null) {
                m.possibleCause = Cause.LOCAL_ERROR;
                writes |= m.opcode == Opcode.READ_REQUEST;
            }
        }
        boolean isTarget = writes;
        ends.add(() -> {
            if (s.host.regions == table) {
                table.deregister(region);
                if (isTarget) {
                    memory.freeze(place);
                } else {
                    // The application has other uses for it: whatever is sent from there now is wrong.
                    memory.fill(place);
                }
            }
        });
    }

    /** A receive whose memory ends by and by. */
    private void endUnderReceive(Side s, int stream, SplittableRandom r) {
        HostMemory memory = s.host.memory;
        HostMemory.Range place = s.streams[stream].shared ? null : memory.take(Traffic.RECEIVE_BYTES);
        if (place == null) {
            return;
        }
        RegionTable table = s.host.regions;
        MemoryRegion region = memory.registerOnce(table, place, 0);
        mayEnd(s, stream, Cause.LOCAL_ERROR);
        if (traffic.postReceive(s, stream, place.part(region, 0, Traffic.RECEIVE_BYTES)) == Endpoint.OK) {
            ends.add(() -> {
                if (s.host.regions == table) {
                    table.deregister(region);
                    memory.freeze(place);
                }
            });
        }
    }

    /** A region of the peer's that is registered anew while a Write or Read is under way to it. */
    private void registerAnew(Side s, int stream, SplittableRandom r) {
        HostMemory there = s.peerHost.memory;
        HostMemory.Range place = there.take(BYTES);
        HostMemory.Range other = there.take(BYTES);
        if (place == null || other == null) {
            return;
        }
        RegionTable table = s.peerHost.regions;
        MemoryRegion region = there.registerOnce(table, place, 0);
        int how = r.nextInt(3);
        boolean read = r.nextInt(3) == 0;
        HostMemory.Range own = s.host.memory.take(1 + r.nextInt(BYTES));
        if (own == null) {
            return;
        }
        Message m = local(s, stream, read ? Opcode.READ_REQUEST : Opcode.WRITE, own, r);
        m.aimAt(m.remote = place.part(region, 0, m.length));
        if (read) {
            m.data = there.fill(m.remote);
        }
        m.possibleCause = how == 0 ? Cause.ACCESS_DENIED : Cause.BAD_KEY;
        traffic.post(s, m);
        ends.add(() -> {
            if (s.peerHost.regions != table) {
                return;
            }
            MemoryRegion anew = table.reregister(region, how == 1 ? HostMemory.FOREIGN_DOMAIN : 0, how == 2 ? there.at(other) : region.segment(),
                    how == 0 ? 0 : HostMemory.ALL);
            there.freeze(place);
            if ((how == 0) != (anew.key() == region.key()) || how != 0 && table.find(region.key()) != null) {
                throw new Violation(s.peerHost + ": the key is " + (how == 0 ? "another" : "still good") + " after memory was registered anew");
            }
            traffic.model.count(Check.REGISTERED_ANEW);
            if (how == 2 && s.state == Side.UP) {
                HostMemory.Range more = s.host.memory.take(1 + BYTES / 2);
                if (more != null) {
                    Message next = local(s, stream, Opcode.WRITE, more, new SplittableRandom(m.id));
                    next.aimAt(next.remote = other.part(anew, 3, next.length));
                    traffic.post(s, next);
                }
            }
        });
    }
}
