// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

/** Fits the buffers of virtual devices to the MTU, where their arguments leave that open: each must hold a whole frame, and not much more. */
final class DeviceArguments {
    /** What the kernel puts in front of a received frame in the ring, beyond what the data room has to spare. */
    private static final int PACKET_RING_HEADER = 32;
    /** Frames begin on cache lines, so this many of them fill whole pages, as a block must. */
    private static final int PACKET_RING_BLOCK_FRAMES = 64;
    private static final int PACKET_RING_FRAMES = 512;
    private static final int CACHE_LINE = 64;

    private DeviceArguments() {
    }

    static String complete(String device, int mtu) {
        int room = DpdkConfig.dataRoom(mtu);
        if (device.startsWith("net_memif") && !device.contains("bsize=")) {
            return device + ",bsize=" + room;
        }
        if (device.startsWith("net_af_packet") && !device.contains("framesz=")) {
            // Frames that fill a block: the kernel would leave a gap behind the last one, and the driver knows of none.
            int frame = room + PACKET_RING_HEADER + CACHE_LINE - 1 & -CACHE_LINE;
            return device + ",framesz=" + frame + ",blocksz=" + frame * PACKET_RING_BLOCK_FRAMES + ",framecnt=" + PACKET_RING_FRAMES;
        }
        return device;
    }
}
