// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port;

/** What an {@link ImpairedPort} did, in datagrams. One writer. */
public final class ImpairmentCounters {
    public long lost;
    public long duplicated;
    public long corrupted;
    public long delayed;
    /** Sent into, or received from, a blocked plane or path. */
    public long blocked;
    /** Lost because too many were under way already. */
    public long overflowed;
    /** Given a congestion mark. */
    public long marked;
}
