// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.wire.ParityEntry;
import io.metaroce.wire.ParityHeader;

/**
 * A Parity packet in the slab: while it is made, by its sender, or until it is of use, at its receiver. Header and payload stand together
 * as they do in a Data packet.
 */
final class ParityRecord {
    static final int POOL_LINK = 0;
    /** Receiver: the next one of its connection. */
    static final int NEXT = 8;
    /** Sender: no more packets go into it. */
    static final int CLOSED = 16;
    static final int ENTRIES = 24;
    static final int HEADER = ENTRIES + ParityHeader.MAX_PACKETS * ParityEntry.LENGTH;
    static final int PAYLOAD = HEADER + ParityHeader.LENGTH;

    private ParityRecord() {
    }

    /** Bytes of a record for packets with so much payload, 0 if none is placed. */
    static int bytes(EndpointConfig config) {
        return PAYLOAD + (config.placesPayload ? config.payloadMtu + 7 & -8 : 0);
    }
}
