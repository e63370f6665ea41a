// SPDX-License-Identifier: Apache-2.0
package io.metaroce.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.memory.RegionTable;
import io.metaroce.port.PacketPort;
import io.metaroce.port.PortCounters;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.transport.RxBurst;
import io.metaroce.transport.TxBurst;
import io.metaroce.wire.NetAddress;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class CoreLoopTest {
    private final ScriptedPort port = new ScriptedPort();
    private final CoreLoop loop = new CoreLoop(port, PortFit.fit(port, new EndpointConfig()), new RegionTable());

    @AfterEach
    void close() {
        loop.close();
        assertTrue(port.closed);
    }

    @Test
    void oneTurnGoesReceiveApplicationPrepare() {
        assertFalse(loop.runOnce((now, endpoint) -> {
            port.calls.add("application");
            return false;
        }));
        assertEquals(List.of("receive", "application", "prepare"), port.calls, "nothing to send: the port is not asked to");
    }

    @Test
    void aWorkingApplicationKeepsTheTurnBusy() {
        assertTrue(loop.runOnce((now, endpoint) -> true));
    }

    @Test
    void whatTheApplicationPostsLeavesInTheSameTurn() {
        // A connect makes the endpoint send its first handshake packet.
        assertTrue(loop.runOnce((now, endpoint) -> endpoint.connect(now, port.peer, 0) >= 0));
        assertEquals(List.of("receive", "prepare", "send"), port.calls);
        assertEquals(1, port.sent);
    }

    @Test
    void whatThePortCouldNotTakeIsSentBeforeAnythingNewIsAskedFor() {
        port.refuse = true;
        loop.runOnce((now, endpoint) -> endpoint.connect(now, port.peer, 0) >= 0);
        port.calls.clear();
        assertTrue(loop.runOnce((now, endpoint) -> false), "a full port is no reason to idle");
        assertEquals(List.of("receive", "send"), port.calls, "still refused: nothing new is prepared");
        port.refuse = false;
        port.calls.clear();
        loop.runOnce((now, endpoint) -> false);
        // On a slow machine the packet, a handshake's first, may be due again by now.
        assertEquals(List.of("receive", "send", "prepare"), port.calls.subList(0, 3));
        assertEquals(1, port.sentBeforeAsked);
    }

    @Test
    void allOfATurnHappensAtOneInstantAndTimeAdvances() {
        long[] times = new long[2];
        loop.runOnce((now, endpoint) -> (times[0] = now) != 0);
        loop.runOnce((now, endpoint) -> (times[1] = now) != 0);
        assertTrue(times[1] - times[0] > 0);
    }

    @Test
    void stopEndsTheLoopFromAnotherThread() throws InterruptedException {
        Thread thread = new Thread(() -> loop.run((now, endpoint) -> false));
        thread.start();
        loop.stop();
        assertTrue(thread.join(Duration.ofSeconds(5)));
        assertTrue(loop.isStopping());
    }

    @Test
    void aLoopThatMayParkHardlyTurnsWhenIdle() throws InterruptedException {
        loop.parkWhenIdle(2_000_000);
        AtomicInteger turns = new AtomicInteger();
        Thread thread = new Thread(() -> loop.run((now, endpoint) -> {
            turns.incrementAndGet();
            return false;
        }));
        thread.start();
        // A busy machine takes its time for the spins.
        while (turns.get() <= CoreLoop.SPINS_BEFORE_PARKING) {
            Thread.sleep(1);
        }
        Thread.sleep(300);
        loop.stop();
        assertTrue(thread.join(Duration.ofSeconds(5)));
        int parked = turns.get() - CoreLoop.SPINS_BEFORE_PARKING;
        assertTrue(parked > 0 && parked <= 300, "300 ms at 2 ms a sleep and it turned " + parked + " times after its spins");
    }

    @Test
    void aLoopThatMayNotParkSpins() throws InterruptedException {
        AtomicInteger turns = new AtomicInteger();
        Thread thread = new Thread(() -> loop.run((now, endpoint) -> {
            turns.incrementAndGet();
            return false;
        }));
        thread.start();
        // A busy machine takes its time.
        long startNs = System.nanoTime();
        while (turns.get() <= CoreLoop.SPINS_BEFORE_PARKING + 100) {
            assertTrue(System.nanoTime() - startNs < 15_000_000_000L, turns + " turns in 15 s");
            Thread.sleep(1);
        }
        loop.stop();
        assertTrue(thread.join(Duration.ofSeconds(5)));
    }

    @Test
    @Requirement("MR-ENC-002")
    void thePortsLimitsReachTheConfiguration() {
        EndpointConfig config = new EndpointConfig();
        config.payloadMtu = 16_384;
        PortFit.fit(port, config);
        assertEquals(1, config.planes());
        assertEquals(port.localAddress(0), config.localAddresses[0]);
        assertEquals(4, config.sourcePorts[0].length);
        assertEquals(1472 - 64, config.payloadMtu);
        assertEquals(99, config.receiveBufferPackets);
    }

    @Test
    @Requirement("MR-CON-024")
    void thePortLearnsWhichConnectionsThereMayBe() {
        assertEquals(loop.endpoint().commonCidBits(), port.cidBits);
        assertEquals(loop.endpoint().commonCid(), port.commonCid);
        assertEquals(8, Integer.bitCount(port.cidBits));
    }

    /** A burst that went by four sockets in four calls cost a fifth of the goodput. */
    @Test
    @Requirement("MR-SPRAY-003")
    void whereRunsPayABurstGoesByOnePath() {
        EndpointConfig config = PortFit.fit(port, new EndpointConfig());
        assertEquals(63, config.runLength, "whole runs of 7 in a burst of 64");
        assertEquals(7, config.ackEvery, "what arrives as one is acknowledged as one");
        port.run = 1;
        assertEquals(1, PortFit.fit(port, new EndpointConfig()).runLength, "elsewhere packets are sprayed one by one");
    }

    @Test
    @Requirement("MR-ENC-004")
    void payloadThatUdpDoesNotProtectIsProtectedByTheTransport() {
        EndpointConfig config = new EndpointConfig();
        config.integrity = EndpointConfig.INTEGRITY_HEADER;
        assertEquals(EndpointConfig.INTEGRITY_HEADER, PortFit.fit(port, config).integrity);
        port.checksum = false;
        assertEquals(EndpointConfig.INTEGRITY_FULL, PortFit.fit(port, config).integrity);
    }

    /** With one burst, which is taken and acknowledged as a whole, both ends waited for each other by turns (memif, one run in nine). */
    @Test
    void whereHostsAreSlowAWindowIsMoreThanABurst() {
        port.run = 1;
        assertTrue(PortFit.fit(port, new EndpointConfig()).minWindowPackets < CoreLoop.BURST, "a host that is not slow needs no more");
        port.noiseNs = 1_000;
        assertTrue(PortFit.fit(port, new EndpointConfig()).minWindowPackets >= 2 * CoreLoop.BURST);
    }

    /** Receives nothing, takes everything or nothing, and keeps a list of its calls. */
    private static final class ScriptedPort implements PacketPort {
        final List<String> calls = new ArrayList<>();
        final NetAddress peer = NetAddress.of(InetAddress.getLoopbackAddress(), 9);
        private final MemorySegment headers = Arena.ofAuto().allocate((long) CoreLoop.BURST * TxBurst.HEADER_ROOM, 64);
        private final PortCounters counters = new PortCounters();
        int run = 7;
        long noiseNs;
        int cidBits;
        int commonCid;
        boolean refuse;
        boolean closed;
        boolean checksum = true;
        int sent;
        int sentBeforeAsked;
        private boolean recording = true;

        private void call(String name) {
            // A spinning loop would fill the memory.
            recording &= calls.size() < 100;
            if (recording) {
                calls.add(name);
            }
        }

        @Override
        public int planes() {
            return 1;
        }

        @Override
        public NetAddress localAddress(int plane) {
            return NetAddress.of(InetAddress.getLoopbackAddress(), 14_791);
        }

        @Override
        public int[] sourcePorts(int plane) {
            return new int[] {50_000, 50_001, 50_002, 50_003};
        }

        @Override
        public int maxDatagram(int plane) {
            return 1472;
        }

        @Override
        public void expectCids(int bits, int common) {
            cidBits = bits;
            commonCid = common;
        }

        @Override
        public int preferredRun() {
            return run;
        }

        @Override
        public long timingNoiseNs() {
            return noiseNs;
        }

        @Override
        public boolean sendsUdpChecksum() {
            return checksum;
        }

        @Override
        public int receiveBuffer(int datagramBytes) {
            return 99;
        }

        @Override
        public void receive(RxBurst burst) {
            call("receive");
            burst.count = 0;
        }

        @Override
        public void prepare(TxBurst burst) {
            call("prepare");
            sentBeforeAsked = sent;
            for (int i = burst.count; i < burst.capacity; i++) {
                burst.header[i] = headers.address() + (long) i * TxBurst.HEADER_ROOM;
            }
        }

        @Override
        public void send(TxBurst burst) {
            call("send");
            if (!refuse) {
                sent += burst.count;
                burst.count = 0;
            }
        }

        @Override
        public PortCounters counters() {
            return counters;
        }

        @Override
        public void close() {
            closed = true;
        }
    }
}
