// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import io.metaroce.transport.TxBurst;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.NetAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/**
 * How to make a {@link DpdkPort}. {@link #of} gives defaults; {@code with...} changes one of them.
 *
 * @param ealArguments  DPDK's own arguments; what they leave open {@link EalArguments} chooses. If the process runs DPDK already
 *                      they must be the same or none
 * @param planes        1 to 8 planes; null for one that has neither device nor address yet, see {@link DpdkPort#assign}
 * @param udpPort       port that peers send to, on every plane
 * @param mtu           bytes of an IP packet, 1280 to 16384 + 128
 * @param rxDescriptors receive ring, frames per plane, a wish that the device may adjust; memif's ring is set by its device arguments
 * @param txDescriptors transmit ring, likewise
 * @param txSlots       slots of all {@link TxBurst}s that are prepared on the port
 * @param neighbours    hosts per plane whose link-layer addresses are kept
 * @param sourcePort    first of the source ports that name paths
 * @param sourcePorts   how many there are
 * @param gather        pass payload by reference where the device copies it anyway (memif); off it is copied into the frame
 */
public record DpdkConfig(List<String> ealArguments, List<PlaneConfig> planes, int udpPort, int mtu, int rxDescriptors, int txDescriptors,
        int txSlots, int neighbours, int sourcePort, int sourcePorts, boolean gather) {
    public static final int DEFAULT_UDP_PORT = NetAddress.DEFAULT_PORT;
    /** Fits the transport's 4096 bytes of payload and its header over IPv6. */
    public static final int DEFAULT_MTU = 4224;
    public static final int MAX_MTU = 16384 + 128;
    private static final int MIN_MTU = 1280;

    public DpdkConfig {
        ealArguments = List.copyOf(ealArguments);
        planes = Collections.unmodifiableList(new ArrayList<>(planes));
        range("planes", planes.size(), 1, 8);
        range("open planes", (int) planes.stream().filter(Objects::nonNull).count(), 1, 8);
        range("UDP port", udpPort, 1, 0xffff);
        range("MTU", mtu, MIN_MTU, MAX_MTU);
        range("receive descriptors", rxDescriptors, 32, 32768);
        range("transmit descriptors", txDescriptors, 32, 32768);
        range("transmit slots", txSlots, 1, 16384);
        range("neighbours", neighbours, 1, 1 << 20);
        range("source port", sourcePort, 1, 0xffff);
        range("source ports", sourcePorts, 1, 0x10000 - sourcePort);
    }

    public static DpdkConfig of(List<PlaneConfig> planes) {
        return new DpdkConfig(List.of(), planes, DEFAULT_UDP_PORT, DEFAULT_MTU, 1024, 1024, 1024, 4096, 49152, 1024, true);
    }

    public DpdkConfig withEalArguments(List<String> v) {
        return new DpdkConfig(v, planes, udpPort, mtu, rxDescriptors, txDescriptors, txSlots, neighbours, sourcePort, sourcePorts, gather);
    }

    public DpdkConfig withUdpPort(int v) {
        return new DpdkConfig(ealArguments, planes, v, mtu, rxDescriptors, txDescriptors, txSlots, neighbours, sourcePort, sourcePorts, gather);
    }

    public DpdkConfig withMtu(int v) {
        return new DpdkConfig(ealArguments, planes, udpPort, v, rxDescriptors, txDescriptors, txSlots, neighbours, sourcePort, sourcePorts, gather);
    }

    public DpdkConfig withDescriptors(int rx, int tx) {
        return new DpdkConfig(ealArguments, planes, udpPort, mtu, rx, tx, txSlots, neighbours, sourcePort, sourcePorts, gather);
    }

    public DpdkConfig withTxSlots(int v) {
        return new DpdkConfig(ealArguments, planes, udpPort, mtu, rxDescriptors, txDescriptors, v, neighbours, sourcePort, sourcePorts, gather);
    }

    public DpdkConfig withNeighbours(int v) {
        return new DpdkConfig(ealArguments, planes, udpPort, mtu, rxDescriptors, txDescriptors, txSlots, v, sourcePort, sourcePorts, gather);
    }

    public DpdkConfig withSourcePorts(int first, int count) {
        return new DpdkConfig(ealArguments, planes, udpPort, mtu, rxDescriptors, txDescriptors, txSlots, neighbours, first, count, gather);
    }

    public DpdkConfig withGather(boolean v) {
        return new DpdkConfig(ealArguments, planes, udpPort, mtu, rxDescriptors, txDescriptors, txSlots, neighbours, sourcePort, sourcePorts, v);
    }

    /** The MTU that carries {@code payload} bytes of one packet with the transport's header, over IPv4 and IPv6. */
    public static int mtuFor(int payload) {
        return Math.max(MIN_MTU, payload + DataHeader.LENGTH + Frame.UDP_LENGTH + Frame.V6_LENGTH);
    }

    /** Bytes of data a buffer needs for a frame of this MTU with a VLAN tag and a checksum behind it, in whole cache lines. */
    static int dataRoom(int mtu) {
        int frame = mtu + Frame.ETHERNET_LENGTH + Frame.VLAN_LENGTH + 4;
        return Math.max(frame, TxBurst.HEADER_ROOM) + 63 & ~63;
    }

    private static void range(String what, int value, int least, int most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(what + ": " + value + " is outside " + least + ".." + most);
        }
    }
}
