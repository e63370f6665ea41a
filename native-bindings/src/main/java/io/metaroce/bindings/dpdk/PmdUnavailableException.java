// SPDX-License-Identifier: Apache-2.0
package io.metaroce.bindings.dpdk;

/** The DPDK shim library is not there or does not fit. The message names what was looked for and what to install or build. */
public final class PmdUnavailableException extends RuntimeException {
    public PmdUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
