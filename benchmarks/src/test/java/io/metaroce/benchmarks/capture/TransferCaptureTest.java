// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.transport.ConnectionStats;
import io.metaroce.transport.Endpoint;
import io.metaroce.transport.Event;
import io.metaroce.transport.RxBurst;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Captures of transfers, and what plays them. */
class TransferCaptureTest {
    private static final Frames TO = new Frames(0x0270_6361_7000L, 0x0200_0000_0001L, 0x0a00_0002, 0x0a00_0001, 14_791);

    /** Packets taken, and those that were not new. */
    private static ConnectionStats replay(List<byte[]> frames, Endpoint endpoint) {
        RxBurst burst = new RxBurst(64);
        try (Arena arena = Arena.ofConfined()) {
            long nowNs = 2_000_000_000L;
            for (byte[] frame : frames) {
                MemorySegment memory = arena.allocate(frame.length);
                MemorySegment.copy(frame, 0, memory, ValueLayout.JAVA_BYTE, 0, frame.length);
                burst.address[0] = memory.address() + 42;
                burst.length[0] = (ByteBuffer.wrap(frame).getShort(38) & 0xffff) - 8;
                burst.count = 1;
                endpoint.receive(nowNs += 100, burst);
            }
        }
        Event event = new Event();
        assertTrue(endpoint.pollEvent(event));
        assertEquals(Event.ACCEPTED, event.kind);
        ConnectionStats stats = new ConnectionStats();
        endpoint.readStats(event.connection, stats);
        return stats;
    }

    @Test
    void everyReceiverTakesTheWholeCaptureAsNew() {
        TransferCapture capture = new TransferCapture(256, 1_000);
        List<byte[]> frames = capture.frames(TO);
        assertEquals(1_000, frames.size());
        assertEquals(42 + 64 + 256, frames.getFirst().length);
        for (int i = 0; i < 2; i++) {
            ConnectionStats stats = replay(frames, capture.receiver());
            assertEquals(1_000, stats.packetsReceived);
            assertEquals(0, stats.duplicates + stats.violations);
            assertEquals(1_000 * 256, stats.bytesReceived, "all were placed");
        }
    }

    @Test
    void theCommandWritesWhatItIsToldAndRefusesTheRest(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("data.pcap");
        CaptureCommand.run(List.of("capture", "data", file.toString(), "--packets", "10", "--payload", "512", "--to", "10.1.2.3", "--to-mac", "02:00:00:00:00:0a"));
        ByteBuffer f = ByteBuffer.wrap(Files.readAllBytes(file));
        assertEquals(24 + 10 * (16 + 42 + 64 + 512), f.capacity());
        assertEquals(0x0200_0000_000aL, f.getLong(24 + 16) >>> 16);
        assertEquals(0x0a010203, f.getInt(24 + 16 + 30));
        for (List<String> wrong : List.of(List.of("capture", "data"), List.of("capture", "nonsense", "x"), List.of("capture", "data", "x", "--packets", "0"),
                List.of("capture", "data", "x", "--to", "host"), List.of("capture", "data", "x", "--to-mac", "1:2"), List.of("capture", "data", "x", "--payload"))) {
            assertThrows(IllegalArgumentException.class, () -> CaptureCommand.run(wrong), wrong.toString());
        }
        assertTrue(CaptureCommand.script(7).contains("pktgen.delay(7000)") && CaptureCommand.script(7).contains("in 7 s\\n\""), CaptureCommand.script(7));
    }
}
