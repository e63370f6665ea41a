// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli;

/** An expected end of the command: one line for the user and an exit code, never a stack trace. */
public final class CliException extends RuntimeException {
    private final int exitCode;

    /** @param exitCode one of {@link ExitCode} */
    public CliException(int exitCode, String line) {
        super(line, null, false, false);
        this.exitCode = exitCode;
    }

    public int exitCode() {
        return exitCode;
    }
}
