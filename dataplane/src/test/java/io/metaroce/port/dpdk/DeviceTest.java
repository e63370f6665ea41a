// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** When a memif client is started again: its driver does not survive that in the midst of an introduction, if its server is in the same process. */
class DeviceTest {
    private static final long MS = 1_000_000L;

    @BeforeAll
    static void environment() {
        DpdkTesting.start();
    }

    @Test
    void aClientHasItsPatienceFromWhenItWasStarted() {
        String name = DpdkTesting.newDevice("net_memif");
        String arguments = MemifPlanes.of("nobody-" + ProcessHandle.current().pid(), false, 1, DpdkConfig.DEFAULT_MTU).get(0).device().replaceFirst("net_memif\\d+", name);
        PlaneConfig plane = new PlaneConfig(arguments, MemifPlanes.address(0, false), 24);
        DpdkConfig config = DpdkConfig.of(List.of(plane)).withDescriptors(64, 64).withTxSlots(64);
        Pools pools = new Pools(config);
        Device device = new Device(arguments, config.mtu());
        try {
            // Whoever wanted the device looked at the clock seconds before.
            long startNs = 5_000 * MS;
            device.open(pools, 0, config, () -> startNs);
            assertEquals(1, device.starts());
            for (int ms : new int[] {0, 1, 299}) {
                assertFalse(device.poll(startNs + ms * MS));
                assertEquals(1, device.starts(), ms + " ms");
            }
            device.poll(startNs + 301 * MS);
            assertEquals(2, device.starts());
        } finally {
            device.close();
            pools.close();
        }
    }
}
