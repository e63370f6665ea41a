// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import io.metaroce.bindings.crypto.LibcryptoCalls;
import io.metaroce.core.CoreLoop;
import io.metaroce.core.PortFit;
import io.metaroce.core.Task;
import io.metaroce.memory.Access;
import io.metaroce.memory.MemoryRegion;
import io.metaroce.memory.RegionTable;
import io.metaroce.port.ImpairedPort;
import io.metaroce.port.ImpairmentConfig;
import io.metaroce.port.PacketPort;
import io.metaroce.port.udp.UdpConfig;
import io.metaroce.port.udp.UdpPorts;
import io.metaroce.transport.Completion;
import io.metaroce.transport.Endpoint;
import io.metaroce.transport.EndpointConfig;
import io.metaroce.transport.Event;
import io.metaroce.transport.WorkRequest;
import io.metaroce.wire.NetAddress;
import io.metaroce.wire.Opcode;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Steady-state send and receive loops allocate nothing. Until the compiler has taken in the last call, buffer views and segments are
 * still objects; so rounds go on, for a while, until one allocates exactly nothing. The compiler takes its time, not a number of rounds.
 */
class AllocationTest {
    private static final long PATIENCE_NS = 60_000_000_000L;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private interface Round {
        void run() throws Exception;
    }

    private static void assertNothingAllocated(Round round) throws Exception {
        long least = Long.MAX_VALUE;
        long start = System.nanoTime();
        while (least > 0 && System.nanoTime() - start < PATIENCE_NS) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            round.run();
            least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
        }
        assertTrue(least == 0, least + " bytes allocated in the best round of a minute");
    }

    @Test
    void encryptionByLibcrypto() throws Exception {
        assumeTrue(LibcryptoCalls.missing() == null, LibcryptoCalls::missing);
        EndpointPair pair = EncryptionCost.pair("libcrypto");
        assertNothingAllocated(() -> pair.run(40));
    }

    /** The JDK's ciphers want a new object for every nonce. */
    @Test
    void encryptionByTheJdkAllocatesABoundedNumberOfBytesADatagram() throws Exception {
        EndpointPair pair = EncryptionCost.pair("jdk");
        double least = Double.MAX_VALUE;
        long start = System.nanoTime();
        // Once compiled; on a busy machine that takes its time.
        for (int i = 0; i < 20 || least >= 2 * 1100 && System.nanoTime() - start < PATIENCE_NS; i++) {
            long datagrams = pair.datagrams;
            long before = THREADS.getCurrentThreadAllocatedBytes();
            pair.run(40);
            least = Math.min(least, (double) (THREADS.getCurrentThreadAllocatedBytes() - before) / (pair.datagrams - datagrams));
        }
        System.out.printf("Encryption by the JDK allocates %.0f bytes a datagram, sealed and opened.%n", least);
        // Sealed once and opened once: 1 KB each, and as much again where the compiler has not come to it yet.
        assertTrue(least < 2 * 2048, least + " bytes a datagram");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 101, 11})
    void transportAlone(int lossOneIn) throws Exception {
        EndpointPair pair = new EndpointPair(1 << 18, 1024, 4, 4, lossOneIn);
        assertNothingAllocated(() -> pair.run(400));
    }

    @ParameterizedTest
    @ValueSource(ints = {Opcode.WRITE, Opcode.FETCH_ADD})
    void wholeLoopsOverUdp(int opcode) throws Exception {
        try (Loops loops = new Loops(opcode)) {
            assertNothingAllocated(() -> loops.run(400));
        }
    }

    /** Two core loops over UDP on loopback, with loss, turned by one thread. */
    private static final class Loops implements AutoCloseable, Task {
        private static final int MESSAGE = 1 << 17;

        private final RegionTable regions = new RegionTable();
        private final MemoryRegion memory = regions.register(0, Arena.ofAuto().allocate(2L * MESSAGE, 4096),
                Access.LOCAL_WRITE | Access.REMOTE_WRITE | Access.REMOTE_ATOMIC);
        private final CoreLoop a = loop(1);
        private final CoreLoop b = loop(2);
        private final WorkRequest request = new WorkRequest();
        private final Completion completion = new Completion();
        private int connection;
        private int outstanding;
        private long done;

        Loops(int opcode) throws Exception {
            NetAddress server = b.port().localAddress(0);
            connection = a.endpoint().connect(System.nanoTime(), server, 0);
            Event event = new Event();
            while (!a.endpoint().pollEvent(event)) {
                turn((now, endpoint) -> false);
            }
            assertTrue(event.kind == Event.CONNECTED, event.text());
            request.opcode = opcode;
            request.localAddress = memory.address();
            request.localKey = memory.key();
            request.length = opcode == Opcode.FETCH_ADD ? Long.BYTES : MESSAGE;
            request.remoteAddress = memory.address() + MESSAGE;
            request.remoteKey = memory.key();
        }

        private CoreLoop loop(long seed) throws Exception {
            PacketPort udp = UdpPorts.open(new UdpConfig(NetAddress.of(InetAddress.getLoopbackAddress(), 0)));
            PacketPort port = new ImpairedPort(udp, ImpairmentConfig.parse("loss=0.02"), seed, System::nanoTime);
            EndpointConfig config = new EndpointConfig();
            config.seed = seed;
            return new CoreLoop(port, PortFit.fit(port, config), regions);
        }

        private void turn(Task application) {
            a.runOnce(application);
            b.runOnce(NOTHING);
        }

        private static final Task NOTHING = (now, endpoint) -> false;

        @Override
        public boolean poll(long nowNs, Endpoint endpoint) {
            while (endpoint.pollCompletion(completion)) {
                outstanding--;
                done++;
            }
            while (outstanding < 4 && endpoint.post(connection, request) == Endpoint.OK) {
                outstanding++;
            }
            return true;
        }

        void run(int messages) {
            long goal = done + messages;
            while (done < goal) {
                turn(this);
            }
        }

        @Override
        public void close() {
            a.close();
            b.close();
        }
    }
}
