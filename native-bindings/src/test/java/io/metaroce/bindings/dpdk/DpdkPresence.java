// SPDX-License-Identifier: Apache-2.0
package io.metaroce.bindings.dpdk;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;

/** Whether tests of the DPDK shim can and must run here. */
public final class DpdkPresence {
    private DpdkPresence() {
    }

    /**
     * Without DPDK the calling test is skipped, which it says by name. With DPDK but without the shim it fails: a build that
     * forgot {@code scripts/build-shim} must not look like one that cannot have it.
     */
    public static void require() {
        boolean dpdk = pkgConfigKnowsDpdk();
        if (!dpdk) {
            System.err.println("NOT RUN: tests of the DPDK shim. pkg-config does not know libdpdk: this is a UDP-only build");
        }
        assumeTrue(dpdk, "DPDK is not installed (pkg-config libdpdk): this is a UDP-only build");
        try {
            PmdLibrary.load();
        } catch (PmdUnavailableException e) {
            assertTrue(false, "DPDK is installed but its shim is missing: run scripts/build-shim. " + e.getMessage());
        }
    }

    private static boolean pkgConfigKnowsDpdk() {
        try {
            return new ProcessBuilder("pkg-config", "--exists", "libdpdk").start().waitFor() == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
