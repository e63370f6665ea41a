// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.metaroce.bindings.dpdk.PmdLibrary;
import io.metaroce.bindings.dpdk.PmdUnavailableException;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** One DPDK environment for all tests of a JVM; devices are added to it and removed again. */
public final class DpdkTesting {
    static final List<String> ARGUMENTS = List.of("--no-huge", "--no-shconf", "-m", "256", "--no-pci", "--iova-mode=va", "--no-telemetry");
    private static final AtomicInteger DEVICE = new AtomicInteger();

    private DpdkTesting() {
    }

    /** Without DPDK the test is skipped, and says so; with DPDK but without the shim it fails. */
    static void require() {
        boolean dpdk = succeeds("pkg-config", "--exists", "libdpdk");
        if (!dpdk) {
            System.err.println("NOT RUN: tests of DpdkPort. pkg-config does not know libdpdk: this is a UDP-only build");
        }
        assumeTrue(dpdk, "DPDK is not installed (pkg-config libdpdk): this is a UDP-only build");
        try {
            PmdLibrary.load();
        } catch (PmdUnavailableException e) {
            assertTrue(false, "DPDK is installed but its shim is missing: run scripts/build-shim. " + e.getMessage());
        }
    }

    public static void start() {
        require();
        Eal.start(ARGUMENTS, ARGUMENTS);
    }

    public static String newDevice(String driver) {
        return driver + DEVICE.getAndIncrement();
    }

    static boolean succeeds(String... command) {
        try {
            return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor() == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
