// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.dpdk;

import java.lang.foreign.MemorySegment;

/** Sends single frames beside the transport's: answers, address questions, frames that were parked. One thread. */
final class ControlSender implements Parked.Visitor {
    private final Device device;
    private final TxBuffers buffers;
    private final int room;
    private final TxStage stage = new TxStage();
    private long data;
    /** Frames that no buffer or no ring slot was free for, or that were dropped with the link down. */
    long lost;

    ControlSender(Device device, TxBuffers buffers, int room) {
        this.device = device;
        this.buffers = buffers;
        this.room = room;
    }

    int room() {
        return room;
    }

    /** Memory for a frame to write, or null if there is none now. {@link #finish} comes next. */
    MemorySegment begin() {
        data = device.up() ? buffers.allocate() : 0;
        if (data == 0) {
            lost++;
            return null;
        }
        return Frame.view(data, room);
    }

    /** Address of the frame being written. */
    long address() {
        return data;
    }

    /** Gives up the frame of {@link #begin()}. */
    void discard() {
        buffers.free(buffers.mbufOf(data));
    }

    /** Sends the frame of {@link #begin()}. */
    void finish(int length) {
        frame(buffers.mbufOf(data), data, length, 0);
    }

    /** Sends a whole frame and owns its mbuf. */
    @Override
    public void frame(long mbuf, long frame, int length, int flags) {
        stage.set(0, mbuf, frame, length, 0, 0, flags);
        if (device.send(stage.address(), 1) == 0) {
            buffers.free(mbuf);
            lost++;
        }
    }
}
