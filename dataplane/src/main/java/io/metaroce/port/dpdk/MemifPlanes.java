// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Planes between two processes of one host over shared memory (DPDK's memif).
 *
 * <p>One process is the server, the other the client of the same link; they may start in any order and each may come back. Plane
 * {@code p} of the link has the addresses 10.{@code 101 + p}.0.1 (server) and .2 (client).
 */
public final class MemifPlanes {
    /** Frames in each direction's ring, as a power of two. More does not fit the caches, less stalls on a late scheduler. */
    static final int LOG_RING = 10;

    private MemifPlanes() {
    }

    /**
     * Planes of one side.
     *
     * @param link   name of the link, shared by its two ends; the sockets are {@code /run}-less abstract ones
     * @param server which side
     * @param planes 1 to 8
     * @param mtu    of both ends, as {@link DpdkConfig#mtu()}
     */
    public static List<PlaneConfig> of(String link, boolean server, int planes, int mtu) {
        List<PlaneConfig> list = new ArrayList<>();
        for (int p = 0; p < planes; p++) {
            list.add(new PlaneConfig(device(link, server, p, mtu, LOG_RING), address(p, server), 24));
        }
        return list;
    }

    /** Device arguments of one plane. A buffer holds a whole frame, so that none is chained. */
    static String device(String link, boolean server, int plane, int mtu, int logRing) {
        return "net_memif" + plane + ",role=" + (server ? "server" : "client") + ",id=" + plane + ",socket-abstract=yes,socket="
                + Path.of("metaroce", link) + ",rsize=" + logRing + ",bsize=" + DpdkConfig.dataRoom(mtu);
    }

    /** Address of plane {@code plane} of the server or the client. */
    public static InetAddress address(int plane, boolean server) {
        try {
            return InetAddress.getByAddress(new byte[] {10, (byte) (101 + plane), 0, (byte) (server ? 1 : 2)});
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e);
        }
    }
}
