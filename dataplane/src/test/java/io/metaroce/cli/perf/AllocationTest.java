// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.metaroce.SteadyState;
import io.metaroce.bindings.crypto.LibcryptoCalls;
import io.metaroce.core.Clock;
import io.metaroce.crypto.PskFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Ports, endpoints, loops and the perf tool on both sides of a running transfer: once compiled, nothing of it allocates. */
@Timeout(180)
class AllocationTest {
    /** The measuring itself allocates a little in each interval. */
    private static final double TOLERANCE_BYTES_A_PACKET = 1;

    @ParameterizedTest
    @CsvSource({"WRITE, 65536, ''", "SEND, 65536, ''", "READ, 65536, ''", "WRITE, 65536, loss=0.01", "SEND, 64, ''"})
    void steadyStateAllocatesNothing(Op op, long size, String impairment) {
        allocatesNothing(op, size, impairment, null);
    }

    @Test
    void noneDoesAnEncryptedOne() throws IOException {
        assumeTrue(LibcryptoCalls.missing() == null, "the JDK's ciphers allocate");
        Path key = PskFile.temporary();
        try {
            allocatesNothing(Op.WRITE, 65536, "loss=0.01", key);
        } finally {
            Files.delete(key);
        }
    }

    private static void allocatesNothing(Op op, long size, String impairment, Path pskFile) {
        RunOptions run = InProcess.options(op, size);
        run.warmup = 0;
        run.seconds = 1000.0;
        try (InProcess pair = new InProcess(run, 2, impairment, PerfClient.SERVICE, pskFile)) {
            pair.turnUntil(() -> pair.client.progress.messages > 0, 20, pair.server);
            double least = SteadyState.bytesAPiece(TOLERANCE_BYTES_A_PACKET, () -> packets(pair, (size + 4095) / 4096));
            assertTrue(least <= TOLERANCE_BYTES_A_PACKET, least + " bytes a packet");
        }
    }

    /** Runs for a while; returns how many packets that were. */
    private static long packets(InProcess pair, long packetsAMessage) {
        long messages = pair.client.progress.messages;
        long start = Clock.nowNs();
        pair.turnUntil(() -> Clock.nowNs() - start > 300_000_000L, 20, pair.server);
        return packetsAMessage * (pair.client.progress.messages - messages);
    }
}
