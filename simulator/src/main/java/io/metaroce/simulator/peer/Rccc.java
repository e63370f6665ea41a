// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.peer;

/**
 * The sending side of RCCC: it begins with credit for a greatest window on speculation, which the first answer ends; then it sends what the
 * receiver grants. Ultra Ethernet Specification 1.0, section 3.6.14 ("receiver-credit congestion control"); {@code UecSrc} of
 * ultraethernet/uet-htsim, where
 * credit for a packet that was trimmed comes with the next grants to idle senders; here the receiver grants it at once.
 */
final class Rccc implements Control {
    private static final double GREATEST = 1.5;
    /** A sender that has no credit and nothing out asks again after so many round trips. */
    private static final int ASK_RTT = 2;

    private final PeerHost host;
    private final double greatest;
    private double credit;
    private boolean speculating = true;
    private long granted;
    private long askedPs = Long.MIN_VALUE / 2;

    Rccc(PeerHost host) {
        this.host = host;
        greatest = GREATEST * host.bdpBytes;
        credit = greatest;
    }

    @Override
    public double windowBytes() {
        return Math.max(credit, 0);
    }

    @Override
    public boolean allows(double out, int bytes, double backlog) {
        return credit >= bytes;
    }

    @Override
    public void sent(int bytes, boolean repeat) {
        credit -= bytes;
    }

    @Override
    public long demand(double waiting) {
        // An MTU at least while speculating, so that a short message's end is covered.
        double more = Math.min(waiting, greatest) - credit;
        return granted + (long) Math.max(speculating && waiting > 0 ? host.config.payloadMtu : 0, more);
    }

    @Override
    public boolean needsGrants() {
        return true;
    }

    @Override
    public boolean asks(double out) {
        if (out > 0 && host.nowPs() - askedPs < 4 * ASK_RTT * host.baseRttPs || host.nowPs() - askedPs < ASK_RTT * host.baseRttPs) {
            return false;
        }
        askedPs = host.nowPs();
        return true;
    }

    private void stopSpeculating() {
        if (speculating) {
            speculating = false;
            credit = Math.min(credit, 0);
        }
    }

    @Override
    public void acknowledged(double bytes, boolean marked, long rttPs, double out) {
        stopSpeculating();
    }

    @Override
    public void trimmed(int bytes, double out) {
        stopSpeculating();
    }

    @Override
    public void granted(long bytes) {
        stopSpeculating();
        if (bytes > granted) {
            credit = Math.min(greatest, credit + bytes - granted);
            granted = bytes;
        }
    }
}
