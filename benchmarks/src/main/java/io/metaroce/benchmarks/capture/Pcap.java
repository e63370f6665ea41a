// SPDX-License-Identifier: Apache-2.0
package io.metaroce.benchmarks.capture;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes Ethernet frames to a file of libpcap's classic format (version 2.4, microseconds, little-endian). One thread. */
public final class Pcap implements AutoCloseable {
    static final int MAGIC = 0xa1b2c3d4;
    static final int FILE_HEADER = 24;
    static final int RECORD_HEADER = 16;
    static final int ETHERNET = 1;
    /** Longest frame that readers expect. */
    static final int MOST = 65_535;
    private static final int VERSION = 2 | 4 << 16;

    private final OutputStream out;
    private final ByteBuffer header = ByteBuffer.allocate(FILE_HEADER).order(ByteOrder.LITTLE_ENDIAN);
    private int frames;

    /** Makes the file, over another of this name. */
    public Pcap(Path file) throws IOException {
        out = new BufferedOutputStream(Files.newOutputStream(file));
        header.putInt(MAGIC).putInt(VERSION).putInt(0).putInt(0).putInt(MOST).putInt(ETHERNET);
        out.write(header.array());
    }

    /**
     * Appends a frame without its check sequence, a microsecond behind the one before.
     *
     * @param frame 14 to 65,535 bytes
     */
    public void add(byte[] frame) throws IOException {
        if (frame.length < Frames.ETHERNET || frame.length > MOST) {
            throw new IllegalArgumentException("a frame of " + frame.length + " bytes");
        }
        header.clear().putInt(frames / 1_000_000).putInt(frames % 1_000_000).putInt(frame.length).putInt(frame.length);
        out.write(header.array(), 0, RECORD_HEADER);
        out.write(frame);
        frames++;
    }

    /** Frames so far. */
    public int frames() {
        return frames;
    }

    @Override
    public void close() throws IOException {
        out.close();
    }
}
