// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import static io.metaroce.cli.perf.PortOptions.require;

import io.metaroce.cli.Quantity;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Options of the side that decides what is run: the client, or both with {@code --local}. */
public final class RunOptions {
    @Option(names = "--op", paramLabel = "OP", defaultValue = "write", description = "write, send or read. Default: ${DEFAULT-VALUE}.")
    Op op;

    @Option(names = "--size", paramLabel = "BYTES", converter = Quantity.Bytes.class,
            description = "Bytes of a message, such as 64, 4K or 1M. Default: 1M; with --latency 64.")
    Long size;

    @Option(names = "--seconds", paramLabel = "S", description = "Length of the measurement. Default: 3.")
    Double seconds;

    @Option(names = "--iterations", paramLabel = "N", description = "Measures this many messages instead of a time.")
    Long iterations;

    @Option(names = "--warmup", paramLabel = "S", defaultValue = "2",
            description = "Runs this long before measuring, while the virtual machine compiles. Default: ${DEFAULT-VALUE} seconds.")
    double warmup;

    @Option(names = "--bidirectional", description = "The server does the same towards the client at the same time; figures are sums.")
    boolean bidirectional;

    @Option(names = "--latency",
            description = "One message at a time. send: ping-pong, latency is half of the round trip; write and read: from post to completion.")
    boolean latency;

    @Option(names = "--streams", paramLabel = "N", defaultValue = "1",
            description = "Independent ordered streams in the one connection, 1 to 1023. Default: ${DEFAULT-VALUE}.")
    int streams;

    @Option(names = "--depth", paramLabel = "N",
            description = "Messages in flight on each stream. Default: what makes 8 MiB in all, 2 to 128.")
    Integer depth;

    @Option(names = "--message-rate", paramLabel = "N",
            description = "Posts N messages a second, evenly, as long as no more than --depth are in flight; latency counts from when a message was due.")
    Double messageRate;

    @Option(names = "--one-way",
            description = "Also takes the time from when a message was due to its arrival, of Writes with immediate and Sends. Needs --local and --no-verify.")
    boolean oneWay;

    @Option(names = "--verify", negatable = true, defaultValue = "true", fallbackValue = "true",
            description = "Checks the contents of every message at the target by checksum; --no-verify does not. Default: on.")
    boolean verify;

    @Option(names = "--json", description = "Prints one JSON object on one line instead of the table.")
    boolean json;

    @Option(names = "--intervals", paramLabel = "TIME", converter = Quantity.Nanoseconds.class,
            description = "With --json: what was completed, and the packets sent on each plane, in every interval of this length, such as 10ms.")
    Long intervals;

    @Option(names = "--hdr", paramLabel = "FILE", description = "Writes the latencies as an HdrHistogram log.")
    Path hdr;

    @Option(names = "--block-plane", paramLabel = "N@T", converter = PlaneBlock.Converter.class,
            description = "Cuts plane N (from 0), both directions, T seconds into the measurement.")
    PlaneBlock blockPlane;

    @Option(names = "--connect-timeout", paramLabel = "S", defaultValue = "3",
            description = "Gives up when the peer has not answered for this long. Default: ${DEFAULT-VALUE} seconds.")
    double connectTimeout;

    /** @throws IllegalArgumentException with the line to show, for what picocli cannot check by itself */
    void check(PortOptions port) {
        require(blockPlane == null || blockPlane.plane() < port.planes, "--block-plane " + blockPlane + " names none of the " + port.planes
                + " planes, which are counted from 0");
        require(seconds == null || iterations == null, "--seconds and --iterations exclude each other");
        require(seconds == null || (seconds > 0 && seconds <= 86_400), "--seconds " + seconds + " is outside 0..86400");
        require(iterations == null || iterations > 0, "--iterations " + iterations + " is not positive");
        require(warmup >= 0 && warmup <= 3600, "--warmup " + warmup + " is outside 0..3600");
        require(connectTimeout > 0 && connectTimeout <= 3600, "--connect-timeout " + connectTimeout + " is outside 0..3600");
        require(size == null || (size >= 1 && size <= Plan.MAX_SIZE), "--size " + size + " is outside 1..1G");
        require(streams >= 1 && streams <= Plan.MAX_STREAMS, "--streams " + streams + " is outside 1.." + Plan.MAX_STREAMS);
        require(!latency || depth == null || depth == 1, "--latency has one message in flight: leave out --depth");
        require(depth == null || (depth >= 1 && depth <= Plan.MAX_SLOTS / 2), "--depth " + depth + " is outside 1.." + Plan.MAX_SLOTS / 2);
        require(!latency || !bidirectional, "--latency and --bidirectional exclude each other");
        require(messageRate == null || (messageRate > 0 && messageRate <= 1e8), "--message-rate " + messageRate + " is outside 0..100000000");
        require(messageRate == null || (!latency && !bidirectional && streams == 1), "--message-rate is for one direction and one stream, without --latency");
        require(hdr == null || (hdr.toAbsolutePath().getParent() != null && Files.isDirectory(hdr.toAbsolutePath().getParent())),
                "--hdr " + hdr + " is in a folder that does not exist");
        require(intervals == null || (json && iterations == null), "--intervals needs --json, and a time instead of --iterations");
        require(intervals == null || (intervals > 0 && seconds() * 1e9 / intervals <= Series.MAX_INTERVALS),
                "--intervals " + intervals + " ns makes more than " + Series.MAX_INTERVALS + " of them");
        plan();
    }

    double seconds() {
        return seconds == null ? 3 : seconds;
    }

    /** What is asked of the server. */
    Plan plan() {
        int bytes = Math.toIntExact(size != null ? size : latency ? 64L : 1L << 20);
        int inFlight = latency ? 1 : depth != null ? depth : defaultDepth(bytes);
        // Twice the depth in slots: a slot waits for its check and for the news of its new receive to travel.
        int slots = Math.max(4, 2 * inFlight);
        return new Plan(op, bytes, streams, inFlight, slots, verify, bidirectional, latency && op == Op.SEND, oneWay).check();
    }

    private int defaultDepth(int bytes) {
        long inAll = Math.min(8L << 20, (long) Plan.MAX_IN_FLIGHT * bytes);
        return (int) Math.max(2, Math.min(Math.min(128, Plan.MAX_IN_FLIGHT / streams), inAll / ((long) bytes * streams)));
    }
}
