// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import io.metaroce.memory.Access;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.memory.RegionTable;
import io.metaroce.transport.Completion;
import io.metaroce.transport.Endpoint;

/**
 * One end of a run on one connection: the conversation, and once the plan is known, memory and what posts and what receives.
 * Loop's thread.
 */
final class Side {
    /** The protection domain of every perf connection and region. */
    static final int DOMAIN = 0;

    final Endpoint endpoint;
    final int connection;
    final Conversation conversation;
    private final RegionTable regions;
    private Plan plan;
    private RunMemory memory;
    private MemoryRegion region;
    private Traffic.Mark mark;
    Initiator initiator;
    Target target;

    Side(Endpoint endpoint, RegionTable regions, int connection) {
        this.endpoint = endpoint;
        this.regions = regions;
        this.connection = connection;
        conversation = new Conversation(endpoint, regions, DOMAIN, connection);
    }

    /** Registers the memory, with no more rights than the plan needs, and posts the receives. Returns what to tell the peer. */
    Offer prepare(Plan plan, RunMemory memory, boolean isClient, Target.Listener listener) {
        this.plan = plan;
        this.memory = memory;
        boolean isTarget = !isClient || plan.bidirectional() || plan.pingPong();
        int access = Access.LOCAL_WRITE;
        if (isTarget) {
            access |= plan.op() == Op.WRITE ? Access.REMOTE_WRITE : plan.op() == Op.READ ? Access.REMOTE_READ : 0;
        }
        region = regions.register(DOMAIN, memory.segment, access);
        if (isTarget) {
            target = new Target(plan, memory, region.key(), endpoint, connection, listener);
            target.start();
        }
        return new Offer(region.address(), region.key(), memory.checksums());
    }

    /** Makes this side post as well. */
    void addInitiator(Offer remote) {
        initiator = new Initiator(plan, memory, region.key(), remote, endpoint, connection);
    }

    /** Takes a completion of this connection; one that failed is left to the event that tells why. */
    void onCompletion(long nowNs, Completion completion) {
        if (completion.status != Completion.OK) {
            return;
        }
        if (completion.stream == Conversation.STREAM) {
            conversation.onCompletion(completion);
        } else if (completion.isReceive) {
            target.onReceive(nowNs, completion);
        } else {
            initiator.onCompletion(nowNs, completion);
        }
    }

    boolean poll(long nowNs) {
        boolean worked = target != null && target.poll();
        if (initiator != null) {
            worked |= initiator.poll(nowNs);
        }
        return worked;
    }

    void mark() {
        mark = new Traffic.Mark(endpoint, connection);
    }

    Traffic sinceMark() {
        return mark == null ? new Traffic() : Traffic.since(mark, endpoint, connection);
    }

    /** Messages of ours that we posted, so far. */
    long sent() {
        return initiator == null ? 0 : initiator.totalPosted();
    }

    /** Messages found right by us: those that came in, and the contents that we read. */
    long right() {
        long right = target == null ? 0 : target.right();
        return right + (initiator == null || initiator.readVerifier() == null ? 0 : initiator.readVerifier().right());
    }

    String fault() {
        String fault = target == null ? "" : target.firstFault();
        if (fault.isEmpty() && initiator != null && initiator.readVerifier() != null) {
            fault = initiator.readVerifier().firstFault();
        }
        return fault;
    }

    /** Takes the memory from remote and local use. It is freed by {@link #free}, once no packet can refer to it. */
    void retire() {
        conversation.retire();
        if (region != null) {
            regions.deregister(region);
        }
    }

    void free() {
        conversation.close();
        if (memory != null) {
            memory.close();
        }
    }
}
