// SPDX-License-Identifier: Apache-2.0
package io.metaroce.soak;

/** The model saw what must not be. */
final class Violation extends AssertionError {
    private static final long serialVersionUID = 1;

    Violation(String message) {
        super(message);
    }
}
