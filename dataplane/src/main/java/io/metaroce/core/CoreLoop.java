// SPDX-License-Identifier: Apache-2.0
package io.metaroce.core;

import io.metaroce.memory.RegionTable;
import io.metaroce.port.PacketPort;
import io.metaroce.transport.Endpoint;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.NetAddress;
import java.util.concurrent.locks.LockSupport;

/**
 * The engine of one core: moves bursts between a port and an endpoint, runs the application in between, and is the only
 * reader of the clock. One thread runs it and owns port, endpoint and application; only {@link #stop} may come from another.
 *
 * <p>A turn that did nothing spins, and yields the core unless told to {@link #keepCore}. Where parking is allowed ({@link #parkWhenIdle}) a loop that has been idle for
 * {@link #SPINS_BEFORE_PARKING} turns sleeps, never past the endpoint's next deadline. Nothing is allocated in a turn.
 */
public final class CoreLoop implements AutoCloseable {
    /** Datagrams in one burst at most: small enough to stay in the first-level cache, large enough to share a system call. */
    public static final int BURST = 64;
    /** Idle turns before a loop lets others have its core, if any want it. */
    public static final int SPINS_BEFORE_YIELDING = 4;
    /** Idle turns before a loop that may park does so: a few tens of microseconds of hope for the next packet. */
    public static final int SPINS_BEFORE_PARKING = 2_000;

    private final PacketPort port;
    private final Endpoint endpoint;
    private final RxBurst rx = new RxBurst(BURST);
    private final TxBurst tx;
    private long nowNs;
    private long parkNs;
    private boolean keepsCore;
    /** Only where they are compiled in. */
    private final Stages stages = Stages.ON ? new Stages() : null;
    private int sent;
    private volatile boolean stopping;

    /**
     * @param port owned by this loop from now on, closed by {@link #close}
     * @param config fitted to the port by {@link PortFit#fit} or by hand; checked by the endpoint
     * @param regions memory that peers may reach, used on the loop's thread only
     */
    public CoreLoop(PacketPort port, EndpointConfig config, RegionTable regions) {
        this.port = port;
        tx = new TxBurst(sendBurst(port));
        this.endpoint = new Endpoint(config, regions);
        port.expectCids(endpoint.commonCidBits(), endpoint.commonCid());
    }

    /** Datagrams in one burst to send: whole runs, as what is left of a burst would be a call of its own. */
    static int sendBurst(PacketPort port) {
        return BURST - BURST % Math.min(port.preferredRun(), BURST);
    }

    public Endpoint endpoint() {
        return endpoint;
    }

    public PacketPort port() {
        return port;
    }

    /** Where the time goes, or null without {@link Stages#ON}. Loop's thread. */
    public Stages stages() {
        return stages;
    }

    /** Longest sleep of an idle loop in nanoseconds; 0 (the default) spins always. Loop's thread, any time. */
    public void parkWhenIdle(long longestNs) {
        parkNs = longestNs;
    }

    /**
     * Whether an idle loop spins without ever yielding. On a core that others want as well, who yields waits for their turns, some
     * milliseconds each, before it sees the next packet; who keeps the core takes it from them. Default: false. Loop's thread, any time.
     */
    public void keepCore(boolean keep) {
        keepsCore = keep;
    }

    /** One turn. Returns true if packets moved or the application worked. */
    public boolean runOnce(Task application) {
        // One reading a turn: all that happens in a turn happens at one instant, and a clock read costs as much as a packet.
        nowNs = Clock.nowNs();
        if (Stages.ON) {
            sent = 0;
            stages.begin(nowNs);
        }
        port.receive(rx);
        stageEnds(Stages.PORT_RECEIVE);
        boolean busy = rx.count > 0;
        if (busy) {
            endpoint.receive(nowNs, rx);
        }
        stageEnds(Stages.TRANSPORT_RECEIVE);
        busy |= application.poll(nowNs, endpoint);
        stageEnds(Stages.APPLICATION);
        busy |= transmit();
        if (Stages.ON) {
            stages.turnOver(rx.count, sent);
        }
        return busy;
    }

    private void stageEnds(int stage) {
        if (Stages.ON) {
            stages.end(stage, Clock.nowNs());
        }
    }

    /** Turns until {@link #stop}. Does not close anything. */
    public void run(Task application) {
        int idleTurns = 0;
        while (!stopping) {
            if (runOnce(application)) {
                idleTurns = 0;
            } else {
                idle(++idleTurns);
            }
        }
    }

    /** Ends {@link #run} after the current turn. Any thread. */
    public void stop() {
        stopping = true;
    }

    public boolean isStopping() {
        return stopping;
    }

    /** Closes the port. Call when no thread runs the loop. */
    @Override
    public void close() {
        port.close();
    }

    /**
     * Opens a plane of the port at this address, or moves it there, and tells all peers. Loop's thread, not from within the task.
     *
     * @throws io.metaroce.port.PortException if the port cannot; the plane is closed then, for peers as well
     */
    public void setPlane(int plane, NetAddress address) {
        // What waits for the port may name sockets that are about to go: lost, like what is on its way.
        tx.count = 0;
        try {
            port.setPlane(plane, address);
        } catch (RuntimeException e) {
            if (port.localAddress(plane) == null && endpoint.hasPlane(plane)) {
                endpoint.removePlane(Clock.nowNs(), plane);
            }
            throw e;
        }
        endpoint.setPlane(Clock.nowNs(), plane, port.localAddress(plane), port.sourcePorts(plane));
    }

    /** Closes a plane of the port, and tells all peers. The last one must stay. Loop's thread, not from within the task. */
    public void removePlane(int plane) {
        endpoint.removePlane(Clock.nowNs(), plane);
        tx.count = 0;
        port.removePlane(plane);
    }

    private boolean transmit() {
        if (tx.count > 0) {
            // What the port could not take goes first, or paths would see their own packets out of order and take it for loss.
            endpoint.dropStale(tx);
            send();
            if (tx.count > 0) {
                return true;
            }
        }
        port.prepare(tx);
        boolean more = endpoint.transmit(nowNs, tx);
        stageEnds(Stages.TRANSPORT_TRANSMIT);
        if (tx.count == 0) {
            return more;
        }
        send();
        return true;
    }

    private void send() {
        if (Stages.ON) {
            sent += tx.count;
        }
        port.send(tx);
        if (Stages.ON) {
            sent -= tx.count;
        }
        stageEnds(Stages.PORT_SEND);
    }

    private void idle(int idleTurns) {
        if (parkNs == 0 || idleTurns < SPINS_BEFORE_PARKING) {
            // A yield costs a fraction of a microsecond where nobody waits for the core. Where somebody does (the compiler's threads, a
            // neighbour, the other end of a test on the same core), that one goes on at once.
            if (idleTurns > SPINS_BEFORE_YIELDING && !keepsCore) {
                Thread.yield();
            } else {
                Thread.onSpinWait();
            }
            return;
        }
        long sleepNs = Math.min(parkNs, endpoint.nextDeadlineNs() - nowNs);
        if (sleepNs > 0) {
            LockSupport.parkNanos(sleepNs);
        }
    }
}
