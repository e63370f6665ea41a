// SPDX-License-Identifier: Apache-2.0
package io.metaroce.bindings.dpdk;

import io.metaroce.bindings.dpdk.generated.PmdShim;
import io.metaroce.bindings.dpdk.generated.mrpmd_info;
import io.metaroce.bindings.dpdk.generated.mrpmd_setup;
import io.metaroce.bindings.dpdk.generated.mrpmd_stats;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Set-up calls of the shim with Java types and exceptions. Those that change pools, devices and ports may come from any thread and wait
 * for each other; nothing here is for the fast path.
 */
public final class Pmd {
    private Pmd() {
    }

    /** What a device is and can do. MAC: first byte in bits 40 to 47. Offloads and traits are {@code MRPMD_OFFLOAD_*}, {@code MRPMD_TRAIT_*}. */
    public record Info(String device, String driver, long mac, int offloads, int traits, int maxMtu, int maxRxDescriptors,
            int maxTxDescriptors, int maxQueues, int socket) {
        public boolean has(int trait) {
            return (traits & trait) != 0;
        }

        public boolean offers(int offload) {
            return (offloads & offload) != 0;
        }
    }

    /** How to configure a port. Pools by address, {@code gatherPool} 0 for none; offloads are wishes, or, in a result, what was given. */
    public record Setup(long rxPool, long gatherPool, int mtu, int queues, int rxDescriptors, int txDescriptors, int offloads) {
    }

    /** Counters of the device since it was started. */
    public record Stats(long rxPackets, long txPackets, long rxBytes, long txBytes, long rxMissed, long rxErrors, long txErrors,
            long rxNoMbuf) {
    }

    /**
     * Starts DPDK's environment: once a process.
     *
     * @param arguments as on a DPDK command line, without the program's name
     * @param logFd     file descriptor for DPDK's log, -1 for none
     * @param logLevel  1 emergency to 8 debug
     * @throws PmdException if DPDK refuses; the process cannot try again
     */
    public static void startEnvironment(List<String> arguments, int logFd, int logLevel) {
        PmdLibrary.load();
        Arena forever = Arena.global();   // DPDK keeps pointers to its arguments
        MemorySegment argv = forever.allocate(ValueLayout.ADDRESS, arguments.size() + 2);
        argv.setAtIndex(ValueLayout.ADDRESS, 0, forever.allocateFrom("metaroce"));
        for (int i = 0; i < arguments.size(); i++) {
            argv.setAtIndex(ValueLayout.ADDRESS, i + 1, forever.allocateFrom(arguments.get(i)));
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment error = arena.allocate(PmdShim.MRPMD_ERROR_SIZE());
            check(PmdShim.mrpmd_eal_init(arguments.size() + 1, argv, logFd, logLevel, error, (int) error.byteSize()), error);
        }
    }

    /**
     * Gives the calling thread a DPDK identity and so a cache in every pool. Without one (all identities in use) calls are slower,
     * not wrong.
     *
     * @return true if the thread got one now, and should give it back by {@link #detachThread()}
     */
    public static boolean attachThread() {
        return PmdShim.mrpmd_thread_attach() == 1;
    }

    /** Undoes an {@link #attachThread()} that returned true; call it on the same thread. */
    public static void detachThread() {
        PmdShim.mrpmd_thread_detach();
    }

    /** Makes a pool; {@code dataRoom} bytes in each buffer besides the headroom, 0 for none. Returns its address. */
    public static synchronized long createPool(String name, int count, int dataRoom, int cache, int socket) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment error = arena.allocate(PmdShim.MRPMD_ERROR_SIZE());
            long pool = PmdShim.mrpmd_pool_create(arena.allocateFrom(name), count, dataRoom, cache, socket, error, (int) error.byteSize());
            if (pool == 0) {
                throw new PmdException(error.getString(0), 0);
            }
            return pool;
        }
    }

    /** Frees a pool if all its buffers are back, else leaves it. Returns the number of missing buffers. */
    public static synchronized int freePool(long pool) {
        return PmdShim.mrpmd_pool_free(pool);
    }

    /** Bytes of memory such a pool takes, about. */
    public static long poolBytes(int count, int dataRoom) {
        PmdLibrary.load();
        return PmdShim.mrpmd_pool_bytes(count, dataRoom);
    }

    /** Adds a device by DPDK device arguments, such as {@code net_ring0} or {@code net_memif0,role=client}. Returns its port. */
    public static synchronized int addDevice(String arguments) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment error = arena.allocate(PmdShim.MRPMD_ERROR_SIZE());
            return check(PmdShim.mrpmd_device_add(arena.allocateFrom(arguments), error, (int) error.byteSize()), error);
        }
    }

    /**
     * Port of a device's name, PCI address or decimal port number.
     *
     * @throws PmdException if there is none; the message has what DPDK logged when it tried to make it
     */
    public static synchronized int findPort(String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment error = arena.allocate(PmdShim.MRPMD_ERROR_SIZE());
            return check(PmdShim.mrpmd_port_find(arena.allocateFrom(name), error, (int) error.byteSize()), error);
        }
    }

    /** Whether there is a port of this name, PCI address or number. */
    public static synchronized boolean hasPort(String name) {
        try (Arena arena = Arena.ofConfined()) {
            return PmdShim.mrpmd_port_find(arena.allocateFrom(name), MemorySegment.NULL, 0) >= 0;
        }
    }

    public static int portCount() {
        return PmdShim.mrpmd_port_count();
    }

    public static Info info(int port) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment s = mrpmd_info.allocate(arena);
            int rc = PmdShim.mrpmd_port_info(port, s);
            if (rc < 0) {
                throw new PmdException("port " + port + " cannot be described", -rc);
            }
            return new Info(mrpmd_info.device(s).getString(0), mrpmd_info.driver(s).getString(0), mrpmd_info.mac(s), mrpmd_info.offloads(s),
                    mrpmd_info.traits(s), mrpmd_info.max_mtu(s), mrpmd_info.max_rx_descriptors(s), mrpmd_info.max_tx_descriptors(s),
                    mrpmd_info.max_queues(s), mrpmd_info.socket(s));
        }
    }

    /** Configures a port and its queues; {@link #start} comes next. Returns what was given. */
    public static synchronized Setup configure(int port, Setup wish) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment error = arena.allocate(PmdShim.MRPMD_ERROR_SIZE());
            MemorySegment s = mrpmd_setup.allocate(arena);
            mrpmd_setup.rx_pool(s, wish.rxPool);
            mrpmd_setup.gather_pool(s, wish.gatherPool);
            mrpmd_setup.mtu(s, wish.mtu);
            mrpmd_setup.queues(s, wish.queues);
            mrpmd_setup.rx_descriptors(s, wish.rxDescriptors);
            mrpmd_setup.tx_descriptors(s, wish.txDescriptors);
            mrpmd_setup.offloads(s, wish.offloads);
            check(PmdShim.mrpmd_configure(port, s, error, (int) error.byteSize()), error);
            return new Setup(wish.rxPool, wish.gatherPool, mrpmd_setup.mtu(s), mrpmd_setup.queues(s), mrpmd_setup.rx_descriptors(s),
                    mrpmd_setup.tx_descriptors(s), mrpmd_setup.offloads(s));
        }
    }

    /** Starts a configured port. No burst may be tried on a port that is not started. */
    public static synchronized void start(int port) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment error = arena.allocate(PmdShim.MRPMD_ERROR_SIZE());
            check(PmdShim.mrpmd_start(port, error, (int) error.byteSize()), error);
        }
    }

    public static synchronized void stop(int port) {
        PmdShim.mrpmd_stop(port);
    }

    /** Stops the port and removes its device. */
    public static synchronized void close(int port) {
        PmdShim.mrpmd_close(port);
    }

    public static boolean linkUp(int port) {
        return PmdShim.mrpmd_link_up(port) == 1;
    }

    public static Stats stats(int port) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment s = mrpmd_stats.allocate(arena);
            PmdShim.mrpmd_port_stats(port, s);
            return new Stats(mrpmd_stats.rx_packets(s), mrpmd_stats.tx_packets(s), mrpmd_stats.rx_bytes(s), mrpmd_stats.tx_bytes(s),
                    mrpmd_stats.rx_missed(s), mrpmd_stats.rx_errors(s), mrpmd_stats.tx_errors(s), mrpmd_stats.rx_no_mbuf(s));
        }
    }

    private static int check(int rc, MemorySegment error) {
        if (rc < 0) {
            throw new PmdException(error.getString(0), -rc);
        }
        return rc;
    }
}
