// SPDX-License-Identifier: Apache-2.0
package io.metaroce.bindings.dpdk;

/** DPDK refused a request. The message says what was tried and what DPDK logged. */
public final class PmdException extends RuntimeException {
    private final int errno;

    public PmdException(String message, int errno) {
        super(message);
        this.errno = errno;
    }

    /** The positive errno of the failure, 0 if none is known. */
    public int errno() {
        return errno;
    }
}
