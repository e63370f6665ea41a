// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Cost of a data packet through both endpoints, acknowledgements and copies included. Run with {@code -prof gc}: 0 B/op. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow", "-XX:+UseSerialGC"})
public class EndpointBenchmark {
    private static final int PACKETS = 256;

    @Param({"256", "4096"})
    public int payload;

    @Param({"1", "" + EndpointPair.UDP_RUN})
    public int run;

    /** One datagram in so many is lost; 0: none. */
    @Param({"0", "101", "11"})
    public int lossOneIn;

    private EndpointPair pair;

    @Setup
    public void connect() {
        pair = new EndpointPair(PACKETS * payload, payload, run, 4, lossOneIn);
    }

    @Benchmark
    @OperationsPerInvocation(PACKETS)
    public void writePacket() {
        pair.run(1);
    }
}
