// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

/** Fits the buffers of virtual devices to the MTU, where their arguments leave that open: each must hold a whole frame, and not much more. */
final class DeviceArguments {
    /** What af_packet's frames carry besides the Ethernet frame. */
    private static final int PACKET_RING_HEADER = 32;
    private static final int PACKET_RING_BLOCK = 1 << 16;
    private static final int PACKET_RING_FRAMES = 512;

    private DeviceArguments() {
    }

    static String complete(String device, int mtu) {
        int room = DpdkConfig.dataRoom(mtu);
        if (device.startsWith("net_memif") && !device.contains("bsize=")) {
            return device + ",bsize=" + room;
        }
        if (device.startsWith("net_af_packet") && !device.contains("framesz=")) {
            int frame = room + PACKET_RING_HEADER;
            int frames = PACKET_RING_FRAMES / (PACKET_RING_BLOCK / frame) * (PACKET_RING_BLOCK / frame);
            return device + ",framesz=" + frame + ",blocksz=" + PACKET_RING_BLOCK + ",framecnt=" + frames;
        }
        return device;
    }
}
