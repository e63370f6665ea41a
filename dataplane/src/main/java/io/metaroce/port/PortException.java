// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port;

/** A port could not be set up. The message names the plane, its address and the cause, for an operator to read. */
public final class PortException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public PortException(String message) {
        super(message);
    }

    public PortException(String message, Throwable cause) {
        super(message, cause);
    }
}
