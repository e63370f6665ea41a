// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.bench;

import java.util.List;

/** Everyone that is compared. */
final class Peers {
    /** Datagrams of 4 KiB behind a header of 64 B, as ours; a multiple of 32, as Aeron wants it. */
    private static final int OUR_MTU = 4160;

    private Peers() {
    }

    static List<Peer> all(Net net) {
        return List.of(new MetaRocePeer(), new RawUdpPeer(), new AeronUdpPeer(OUR_MTU), new AeronUdpPeer(net.bestMtu()), new TcpPeer("cubic"), new TcpPeer("bbr"),
                new UcxPeer("tag_bw", "tag_lat"), new UcxPeer("ucp_put_bw", "ucp_put_lat"), new JucxUcxPeer(), new LibfabricPeer("udp;ofi_rxd"), new LibfabricPeer("tcp;ofi_rxm"));
    }
}
