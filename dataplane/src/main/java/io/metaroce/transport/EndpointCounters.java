// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import io.metaroce.wire.Malformation;

/** Counters of an endpoint that belong to no connection. */
public final class EndpointCounters {
    /** Datagrams that were not well formed, by whatever field. */
    public long malformed;
    /** The same by what is wrong: indices are codes of {@link Malformation}. */
    public final long[] malformedBy = new long[Malformation.COUNT];
    /** Datagrams whose checksum, connection tag included, did not fit. */
    public long checksumErrors;
    /** Datagrams for a connection we do not have. */
    public long unknownConnection;
    public long resetsSent;
    public long challengesSent;
    public long badCookies;
    public long refusalsSent;
    /** RESET, CLOSE or handshake answers that did not prove their origin; sealed packets that do not open, and unsealed ones instead. */
    public long forged;
    /** Sealed packets that were opened before, or came too late to tell. */
    public long replayed;
    /** Datagrams of a type that the connection's state does not take. */
    public long unexpected;
    /** Control datagrams dropped because too many were waiting. */
    public long controlOverflow;
    /** Datagrams dropped before they were sent because the memory of their payload was deregistered meanwhile. */
    public long staleDatagrams;
    /** Stream events that no longer fitted the event queue; their completions still tell. */
    public long eventOverflow;
    /** Connections that gave their context back, and parked ones that took one again. */
    public long parks;
    public long resumes;
    /** Attempts to park that ended because one side had something to do, or the peer does not park. */
    public long parksAbandoned;
}
