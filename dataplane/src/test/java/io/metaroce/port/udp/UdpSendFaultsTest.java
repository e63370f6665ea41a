// SPDX-License-Identifier: Apache-2.0
package io.metaroce.port.udp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.metaroce.bindings.libc.generated.Libc;
import io.metaroce.port.PortFixture;
import io.metaroce.port.PortFixture.Datagram;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What UdpPort does when sendmmsg fails, falls short or is interrupted. */
class UdpSendFaultsTest {
    private static final int PASS = Integer.MAX_VALUE;

    /** What the next calls do: positive: send at most so many messages; negative: fail with that errno; then all pass. */
    private final Deque<Integer> script = new ArrayDeque<>();
    private final List<Integer> messagesPerCall = new ArrayList<>();
    private final UdpPort to = new UdpPort(UdpPortTest.config("127.0.0.1"));
    private final UdpPort from = new UdpPort(UdpPortTest.config("127.0.0.1"), real -> (socket, messages, count) -> {
        int step = script.isEmpty() ? PASS : script.poll();
        messagesPerCall.add(count);
        return step < 0 ? step : real.sendmmsg(socket, messages, Math.min(count, step));
    });
    private final PortFixture f = new PortFixture(64, 64);

    @AfterEach
    void close() {
        from.close();
        to.close();
        f.close();
    }

    private void script(int... steps) {
        Arrays.stream(steps).forEach(script::add);
    }

    private void add(int portIndex, int number, int length) {
        f.add(from, 0, portIndex, to.localAddress(0), number, length);
    }

    private List<Integer> numbersReceived(int expected) {
        return f.receive(to, expected).stream().map(Datagram::number).toList();
    }

    private static List<Integer> range(int from, int to) {
        return IntStream.range(from, to).boxed().toList();
    }

    @Test
    void busySocketsKeepTheirDatagramsInOrderAndOthersGoOn() {
        for (int i = 0; i < 40; i++) {
            add(i % 2, i, 1000);
        }
        script(-Libc.EAGAIN(), PASS);
        from.send(f.tx);
        assertEquals(20, f.tx.count);
        assertEquals(1, from.counters().txBusy);
        assertEquals(IntStream.range(0, 20).map(i -> 2 * i + 1).boxed().toList(), numbersReceived(20));
        add(0, 40, 1000);
        from.send(f.tx);
        assertEquals(0, f.tx.count);
        assertEquals(IntStream.range(0, 21).map(i -> 2 * i).boxed().toList(), numbersReceived(21));
        assertEquals(41, from.counters().txDatagrams);
        assertEquals(41_000, from.counters().txBytes);
    }

    @Test
    void aShortCountIsFollowedUpUntilBusy() {
        // Five messages: runs end at each shorter datagram.
        for (int i = 0; i < 10; i++) {
            add(0, i, i % 2 == 0 ? 1000 : 900);
        }
        script(2, 1, -Libc.ENOBUFS());
        from.send(f.tx);
        assertEquals(List.of(5, 3, 2), messagesPerCall);
        assertEquals(4, f.tx.count);
        assertEquals(range(0, 6), numbersReceived(6));
        from.send(f.tx);
        assertEquals(range(6, 10), numbersReceived(4));
    }

    @Test
    void interruptionsAreRepeated() {
        for (int i = 0; i < 4; i++) {
            add(0, i, 100);
        }
        script(-Libc.EINTR(), -Libc.EINTR());
        from.send(f.tx);
        assertEquals(3, messagesPerCall.size());
        assertEquals(range(0, 4), numbersReceived(4));
    }

    @Test
    void errorsDropOneMessageAndTheRestGoesOn() {
        add(0, 0, 100);
        add(0, 1, 200);
        add(0, 2, 300);
        script(-Libc.EPERM());
        from.send(f.tx);
        assertEquals(0, f.tx.count);
        assertEquals(1, from.counters().txErrors);
        assertEquals(Libc.EPERM(), from.counters().lastErrno);
        assertEquals(List.of(1, 2), numbersReceived(2));
    }

    @Test
    void refusedSegmentationIsGivenUpAndNothingLost() {
        for (int i = 0; i < 30; i++) {
            add(0, i, 4160);
        }
        script(-Libc.EIO());
        from.send(f.tx);
        assertEquals(range(0, 30), numbersReceived(30));
        assertEquals(1, from.preferredRun());
        messagesPerCall.clear();
        for (int i = 0; i < 30; i++) {
            add(0, i, 4160);
        }
        from.send(f.tx);
        assertEquals(List.of(30), messagesPerCall);
        assertEquals(range(0, 30), numbersReceived(30));
        assertEquals(0, from.counters().txErrors);
        assertEquals(60, from.counters().txDatagrams);
    }

    @Test
    void aRefusedRunThatMeetsABusySocketStaysFromThere() {
        for (int i = 0; i < 20; i++) {
            add(0, i, 4160);
        }
        // The run of 15 is refused, of its datagrams 7 pass, one is interrupted, then the socket is busy.
        script(-Libc.EINVAL(), 7, -Libc.EINTR(), -Libc.EAGAIN());
        from.send(f.tx);
        assertEquals(13, f.tx.count);
        assertEquals(range(0, 7), numbersReceived(7));
        from.send(f.tx);
        assertEquals(range(7, 20), numbersReceived(13));
        assertEquals(20, from.counters().txDatagrams);
    }

    @Test
    void anUnknownSourcePortIsRefusedAndLeavesTheBurstAsItWas() {
        add(0, 0, 100);
        add(0, 1, 100);
        int good = f.tx.sourcePort[1];
        f.tx.sourcePort[1] = 1;
        assertEquals("source port 1 is not one of plane 0",
            assertThrows(IllegalArgumentException.class, () -> from.send(f.tx)).getMessage());
        f.tx.sourcePort[1] = good;
        from.send(f.tx);
        assertEquals(List.of(0, 1), numbersReceived(2));
    }

    @Test
    void aRouteThatIsTooNarrowDropsTheLongOnesAndKeepsSegmentation() {
        for (int i = 0; i < 3; i++) {
            add(0, i, 4160);
        }
        add(0, 3, 100);
        script(-Libc.EMSGSIZE(), -Libc.EMSGSIZE(), -Libc.EMSGSIZE(), -Libc.EMSGSIZE());
        from.send(f.tx);
        assertEquals(List.of(3), numbersReceived(1));
        assertEquals(3, from.counters().txErrors);
        assertEquals(Libc.EMSGSIZE(), from.counters().lastErrno);
        assertEquals(15, from.preferredRun());
    }
}
