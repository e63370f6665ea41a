// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli;

/** Exit codes of the command, part of its interface. */
public final class ExitCode {
    public static final int OK = 0;
    /** The run failed, or contents were not what was sent. */
    public static final int FAILED = 1;
    /** Wrong options. */
    public static final int USAGE = 2;
    /** The peer did not answer, refused, is incompatible, or was lost. */
    public static final int PEER = 3;
    /** This machine is not ready: port in use, no permission, no hugepages, DPDK absent. */
    public static final int ENVIRONMENT = 4;
    /** Ended by Ctrl-C, as shells count it. */
    public static final int INTERRUPTED = 130;

    private ExitCode() {
    }
}
