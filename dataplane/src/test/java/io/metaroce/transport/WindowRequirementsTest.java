// SPDX-License-Identifier: Apache-2.0
package io.metaroce.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.Requirement;
import io.metaroce.memory.Slab;
import io.metaroce.wire.AckHeader;
import io.metaroce.wire.DataHeader;
import io.metaroce.wire.Opcode;
import io.metaroce.wire.Prefix;
import io.metaroce.wire.Rate16;
import io.metaroce.wire.PathBlock;
import io.metaroce.wire.Type;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Windows, sender control, pacing, order and spray, requirement by requirement. */
class WindowRequirementsTest {
    private static final long MS = 1_000_000;
    private static final int PATHS = 4;

    private Peers p;
    private Tap tap;
    private EndpointState state;
    private Slab slab;
    private long c;
    private long plane;

    private void connect(EndpointConfig a) {
        p = new Peers(2001, a, Peers.config(2002));
        tap = new Tap(p);
        p.connect();
        p.run(MS);
        state = Inside.state(p.a.endpoint);
        slab = state.slab;
        c = state.connectionOf(p.ab);
        plane = state.plane(c, 0);
        tap.seen.clear();
    }

    private void connect() {
        connect(Peers.config(2001));
    }

    private float window(int path) {
        return slab.getFloat(state.path(c, 0, path) + PathRecord.FACTOR) * slab.getFloat(plane + PlaneRecord.UNIT);
    }

    private void setWindow(int path, float packets) {
        new Windows(state).setFactor(plane, state.path(c, 0, path), packets / slab.getFloat(plane + PlaneRecord.UNIT));
    }

    private void setUnit(float packets) {
        slab.putFloat(plane + PlaneRecord.UNIT, packets);
    }

    // ---- windows ----

    @ParameterizedTest
    // unit, share, buffer, sum of factors; least of full * s, buffer * s, sum of windows, at least 1
    @CsvSource({"5, 1, 1000, 4, 20", "5, 0.5, 1000, 4, 10", "5, 1, 7, 4, 7", "5, 0.5, 8, 4, 4", "5, 1, 1000, 2, 10", "5, 0, 1000, 4, 1", "0.1, 1, 1000, 4, 1"})
    @Requirement({"MR-CC-001", "MR-SHARE-022"})
    void theWindowOfAPlaneIsTheLeastOfItsBounds(float unit, float share, int buffer, float factors, float expected) {
        connect();
        setUnit(unit);
        slab.putFloat(plane + PlaneRecord.SHARE, share);
        slab.putLong(plane + PlaneRecord.SHARE_EXPIRES_NS, p.net.nowNs + MS);
        slab.putInt(c + ConnectionRecord.PEER_BUFFER, buffer);
        slab.putFloat(plane + PlaneRecord.FACTOR_SUM, factors);
        assertEquals(expected, new Windows(state).window(c, plane, p.net.nowNs), 1e-4);
    }

    @ParameterizedTest
    // share, buffer, smoothed over least RTT; a full window is of 20 packets, on each of two planes
    @CsvSource({"0.5, 1000, 1, 12", "0.5, 1000, 1.5, 11", "0.5, 1000, 2, 10", "0.5, 1000, 9, 10", "0.05, 1000, 1, 3", "0.04, 1000, 1, 1", "0.95, 1000, 1, 20",
            "1, 1000, 1, 20", "0.5, 8, 1, 6"})
    @Requirement("MR-CC-001")
    void whereSeveralSendAShareIsExceededByALittleWhileNoQueueIsSeen(float share, int buffer, float queue, float expected) {
        connect();
        state.backlogs.begin(c);
        setUnit(5);
        slab.putFloat(plane + PlaneRecord.SHARE, share);
        slab.putLong(plane + PlaneRecord.SHARE_EXPIRES_NS, p.net.nowNs + MS);
        slab.putInt(c + ConnectionRecord.PEER_BUFFER, buffer);
        slab.putInt(plane + PlaneRecord.MIN_RTT_NS, 10_000);
        slab.putInt(plane + PlaneRecord.SRTT_NS, (int) (10_000 * queue));
        assertEquals(Math.clamp(20 * share, 1, Math.max(1, buffer * share)), new Windows(state).window(c, plane, p.net.nowNs), 1e-4, "alone");
        state.backlogs.begin(state.takeConnection());
        assertEquals(expected, new Windows(state).window(c, plane, p.net.nowNs), 1e-4);
    }

    @Test
    @Requirement("MR-SHARE-021")
    void aShareThatIsOverLeavesTheStartWindow() {
        connect();
        setUnit(50);
        slab.putFloat(plane + PlaneRecord.SHARE, 1f);
        long until = p.net.nowNs + 1_000;
        slab.putLong(plane + PlaneRecord.SHARE_EXPIRES_NS, until);
        Windows windows = new Windows(state);
        assertEquals(200, windows.window(c, plane, until), 1e-3);
        slab.putFloat(plane + PlaneRecord.START_SHARE, 0.3f);
        assertEquals(60, windows.window(c, plane, until + 1), 1e-3, "the start share");
        for (int least : new int[] {1, 30}) {
            // Not told; then two parts of the line for 67, 200 and 2,000 connections.
            for (float[] told : new float[][] {{0, 10}, {0.03f, 7.5f}, {0.01f, 2.5f}, {0.001f, 1}}) {
                state.config.minWindowPackets = least;
                slab.putFloat(plane + PlaneRecord.SHARE, least == 1 ? 0.01f : 1f);
                slab.putFloat(plane + PlaneRecord.START_SHARE, told[0]);
                slab.putLong(plane + PlaneRecord.SHARE_EXPIRES_NS, until);
                assertEquals(Math.max(least, told[1]), windows.window(c, plane, until + 1), 1e-3);
            }
        }
    }

    @Test
    @Requirement({"MR-CC-010", "MR-CC-001"})
    void pathsBeginWithTheirPartOfTheProduct() {
        EndpointConfig a = Peers.config(2001);
        a.lineRateKbps = 25_000_000;
        p = new Peers(2001, a, Peers.config(2002));
        p.connect();
        double product = p.a.endpoint.leastRttNs(p.ab, 0) * 25e6 / 8e6 / (1024 + 64 + 66);
        PathStats s = new PathStats();
        for (int i = 0; i < PATHS; i++) {
            p.a.endpoint.readPath(p.ab, i, s);
            assertEquals(1.8 * product / PATHS, s.window, 0.01);
        }
    }

    /** A handshake of which a packet was lost took thousands of round trips; what is sent next and lost must not wait for as many. */
    @Test
    @Requirement("MR-CC-006")
    void theFirstSampleTakesThePlaceOfTheHandshakesRoundTrip() {
        p = new Peers(2001);
        tap = new Tap(p);
        boolean[] lost = new boolean[1];
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.ACCEPT || lost[0] || !(lost[0] = true);
        p.connect();
        state = Inside.state(p.a.endpoint);
        slab = state.slab;
        c = state.connectionOf(p.ab);
        assertTrue(slab.getInt(state.plane(c, 0) + PlaneRecord.SRTT_NS) > 10 * MS, "nothing better is known yet");
        p.run(MS);
        for (int i = 0; i < slab.getInt(c + ConnectionRecord.PLANES); i++) {
            assertTrue(slab.getInt(state.plane(c, i) + PlaneRecord.SRTT_NS) < 20_000, "plane " + i);
            assertTrue(slab.getInt(state.plane(c, i) + PlaneRecord.MIN_RTT_NS) < 20_000, "plane " + i);
        }
        int[] dropped = new int[1];
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.DATA || dropped[0]++ > 3;
        p.post(p.request(Opcode.WRITE, 0, 0, 3_000, 0, 1));
        assertTrue(p.until(MS, () -> !p.completionsA.isEmpty()), "a lost message is repeated after round trips, not handshakes");
        assertTrue(dropped[0] > 3);
    }

    @Test
    @Requirement({"MR-CC-002", "MR-CC-004", "MR-SPRAY-001"})
    void noPathHasMoreOutThanItsWindow() {
        connect();
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.ACK;
        Inside.raiseWindows(p.a.endpoint, p.ab, 40);
        float[] windows = {2.2f, 9, 0.3f, 5};
        IntStream.range(0, PATHS).forEach(i -> setWindow(i, windows[i]));
        p.post(p.request(Opcode.WRITE, 0, 0, 200_000, 0, 1));
        p.run(5_000);
        int[] out = new int[PATHS];
        tap.dataToB().stream().filter(s -> s.plane() == 0).forEach(s -> out[DataHeader.indexOf(s.path())]++);
        int all = 0;
        PathStats s = new PathStats();
        for (int i = 0; i < PATHS; i++) {
            assertTrue(out[i] <= Math.ceil(windows[i]), out[i] + " out on path " + i);
            p.a.endpoint.readPath(p.ab, i, s);
            assertEquals(out[i], s.inflight);
            all += out[i];
        }
        assertEquals(17, all, 0, "the sum of windows rules, 16.5");
        assertTrue(out[1] > out[0] && out[1] > out[2]);
    }

    @Test
    @Requirement({"MR-CC-002", "MR-CC-001"})
    void aSmallWindowUsesFewPathsAtTheirWorth() {
        connect();
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.ACK;
        Inside.raiseWindows(p.a.endpoint, p.ab, 4);
        IntStream.range(0, PATHS).forEach(i -> setWindow(i, 0.6f));
        // 2.4 packets in all, so no more than three: three paths are in use, each with 0.8 at most, hence one.
        p.post(p.request(Opcode.WRITE, 0, 0, 200_000, 0, 1));
        p.run(5_000);
        List<Tap.Seen> out = tap.dataToB().stream().filter(s -> s.plane() == 0).toList();
        assertEquals(3, out.size());
        assertEquals(3, out.stream().map(Tap.Seen::path).distinct().count());
    }

    @Test
    @Requirement("MR-CC-004")
    void whatIsOutIsCountedUntilItIsSettled() {
        connect();
        p.net.filter = (d, plane, port) -> ByteBuffer.wrap(d).getInt(8) == p.ba;
        p.post(p.request(Opcode.WRITE, 0, 0, 100, 0, 1));
        p.run(30_000);
        Tap.Seen data = tap.dataToB().getFirst();
        int path = DataHeader.planeOf(data.path()) * PATHS + DataHeader.indexOf(data.path());
        PathStats s = new PathStats();
        p.a.endpoint.readPath(p.ab, path, s);
        assertEquals(1, s.inflight);
        byte[] ack = tap.acksToA().stream().filter(x -> x.u8(6) == 1).findFirst().orElseThrow().bytes();
        byte[] lost = Tap.lengthened(ack, data.i32(DataHeader.TIMESTAMP), d -> {
            Tap.addToCumulative(d, -1);
            d.putShort(AckHeader.LENGTH + PathBlock.SPAN, (short) 1);
        });
        p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, lost);
        p.a.endpoint.readPath(p.ab, path, s);
        assertEquals(0, s.inflight, "lost");
        p.net.filter = (d, plane, port) -> false;
        p.run(0);
        p.a.endpoint.readPath(p.ab, path, s);
        assertEquals(1, s.inflight, "repeated, it counts anew");
        p.run(10 * MS);
        p.a.endpoint.readPath(p.ab, path, s);
        assertEquals(0, s.inflight, "given up with its path");
    }

    // ---- sender control ----

    private void ack(int path, int acked, int marked, int rttNs, float share) {
        new Aimd(state, new Windows(state)).onAck(c, plane, state.path(c, 0, path), acked, marked, rttNs, share, p.net.nowNs);
    }

    /** The formula of the specification. */
    private double expected(double w, int n, int m, double gain, double rtt, double markPlane, double share, double minRtt, double srtt, double unit) {
        boolean lastHop = markPlane > 0.7 && share < 0.9;
        double before = w;
        w += (n - m) * (4.0 / PATHS) / Math.max(before, 0.25);
        if (!lastHop) {
            w -= 0.1 * m * Math.min(1, w);
        }
        if (rtt > 0) {
            double excess = Math.clamp((rtt - srtt) / minRtt, -1.0, 1.0);
            int k = excess < 0 ? n - m : n;
            w *= Math.clamp(1 - gain * k * Math.min(1, 4 / w) * excess, 0.5, 2.0);
        }
        return Math.clamp(w, 0.1, 3 * unit);
    }

    @Test
    @Requirement({"MR-CC-010", "MR-CC-011", "MR-CC-012", "MR-CC-013", "MR-CC-015"})
    void windowsFollowTheFormula() {
        connect();
        Random random = new Random(5);
        setUnit(10);
        slab.putInt(plane + PlaneRecord.MIN_RTT_NS, 10_000);
        slab.putInt(plane + PlaneRecord.SRTT_NS, 14_000);
        double markPlane = 0;
        slab.putFloat(plane + PlaneRecord.MARKED, 0);
        int lastHops = 0;
        for (int i = 0; i < 5_000; i++) {
            int path = random.nextInt(PATHS);
            int n = 1 + random.nextInt(8);
            // Long stretches of few and of many marks.
            int m = random.nextInt(8) < (i / 500 % 2 == 0 ? 1 : 7) ? n : random.nextInt(n + 1) / 2;
            int rtt = random.nextInt(4) == 0 ? 0 : 8_000 + random.nextInt(30_000);
            float share = random.nextBoolean() ? 1f : 0.5f;
            markPlane += 0.02 * ((double) m / n - markPlane);
            lastHops += markPlane > 0.7 && share < 0.9 ? 1 : 0;
            double w = window(path);
            int before = i & 7;
            slab.putInt(state.path(c, 0, path) + PathRecord.ACKS, before);
            ack(path, n, m, rtt, share);
            assertEquals(expected(w, n, m, before <= 3 ? 0.9 : 0.25, rtt, markPlane, share, 10_000, 14_000, 10), window(path), 0.002, "step " + i);
            assertTrue(window(path) >= 0.0999 && window(path) <= 30.001);
        }
        assertTrue(lastHops > 100);
    }

    private double windows() {
        return IntStream.range(0, PATHS).mapToDouble(this::window).sum();
    }

    /** Four milliseconds away, over a line of 100 Gb/s. */
    private void connectFar() {
        EndpointConfig near = Peers.config(2001);
        EndpointConfig far = Peers.config(2002);
        near.streamWindowPackets = far.streamWindowPackets = far.receiveBufferPackets = 4096;
        p = new Peers(2001, near, far);
        tap = new Tap(p);
        p.net.delayNs = 2 * MS;
        p.connect();
        p.run(20 * MS);
        state = Inside.state(p.a.endpoint);
        slab = state.slab;
        c = state.connectionOf(p.ab);
        plane = state.plane(c, 0);
        tap.seen.clear();
    }

    @Test
    @Requirement("MR-CC-040")
    void towardsFarPeersWindowsStartSmall() {
        connectFar();
        double full = 1.8 * 100e9 * 4e-3 / (8 * 1154);
        assertEquals(full / 32, windows(), full / 3_200, "4 ms away");
        learn((int) (0.2 * MS));
        assertEquals(2048, windows(), 1, "it was the handshake that took so long: a little farther than near");
        learn(20_000);
        assertEquals(full / 200, windows(), 1, "near");
        new Windows(state).scale(c, plane, 0.5f);
        learn((int) (4 * MS));
        assertEquals(full / 64, windows(), 1, "half of what it would have been");
    }

    /** The first sample of the plane, of which nothing but guesses was known. */
    private void learn(int rttNs) {
        slab.putLong(plane + PlaneRecord.MIN_RTT_SINCE_NS, PlaneRecord.GUESSED);
        new Windows(state).sample(c, plane, rttNs, p.net.nowNs);
    }

    /** Paths with these windows, 4,000 packets in a full one; a round trip of 4 ms. */
    private void far(float... packets) {
        connect();
        setUnit(1_000);
        for (int i = 0; i < PATHS; i++) {
            setWindow(i, packets[i]);
        }
        slab.putInt(plane + PlaneRecord.MIN_RTT_NS, (int) (4 * MS));
        slab.putInt(plane + PlaneRecord.SRTT_NS, (int) (4 * MS));
    }

    /** Windows are not doubled any more, and the last packet marked came now. */
    private void found(float marked) {
        slab.putFloat(plane + PlaneRecord.MARKED, marked);
        slab.putInt(plane + PlaneRecord.FAR_FOUND, 1);
        slab.putLong(plane + PlaneRecord.FAR_MARKED_NS, p.net.nowNs);
    }

    @Test
    @Requirement({"MR-CC-011", "MR-CC-041"})
    void windowsToFarPeersDoubleUntilMarksComeAndThenMakeTheRateThatArrived() {
        far(1_500, 1_500, 1_500, 1_500);
        ack(0, 10, 0, 0, 1f);
        assertEquals(1_520 + 10 * 31.25 / PATHS / 1_520, window(0), 0.1, "two for one, beside the increase");
        // What took longer than a round trip to arrive says nothing.
        p.net.nowNs += 5 * MS;
        ack(2, 10, 10, 0, 1f);
        int acks = 0;
        while (new Windows(state).isStarting(plane)) {
            p.net.nowNs += 10_000;
            ack(2, 5, 5, 0, 1f);
            acks++;
        }
        assertEquals(50, acks, "an eighth of a round trip");
        assertEquals(8 * 50 * 5 / Limits.FAR_PACE, windows(), 1);
        assertEquals(window(1), window(3), 0.1, "all are cut");
        for (int i = 0; i < 100_000; i++) {
            p.net.nowNs += 10_000;
            ack(3, 1, 0, 0, 1f);
        }
        assertFalse(new Windows(state).isStarting(plane), "marks of long ago are not forgotten");
    }

    @Test
    @Requirement("MR-CC-043")
    void windowsToFarPeersGrowFasterTheLongerNothingIsMarked() {
        far(400, 400, 400, 400);
        found(0.2f);
        ack(0, 10, 10, 0, 1f);
        float marked = window(0);
        ack(0, 10, 0, 0, 1f);
        double usual = 10 * 31.25 / PATHS / marked;
        assertEquals(usual, window(0) - marked, 0.01, "1/128 of 4,000 packets a round trip");
        double[] times = {1, 1.5, 2, 9, 9};
        int[] rounds = {1, 2, 3, 17, 40};
        long since = p.net.nowNs;
        for (int i = 0; i < times.length; i++) {
            setWindow(0, 400);
            p.net.nowNs = since + rounds[i] * 4 * MS;
            ack(0, 10, 0, 0, 1f);
            assertEquals(times[i] * 10 * 31.25 / PATHS / 400, window(0) - 400, 0.01, "after " + rounds[i] + " round trips");
        }
        ack(0, 10, 1, 0, 1f);
        setWindow(0, 400);
        ack(0, 10, 0, 0, 1f);
        assertEquals(10 * 31.25 / PATHS / 400, window(0) - 400, 0.01, "marked again");
    }

    @Test
    @Requirement("MR-CC-043")
    void smallWindowsToFarPeersGrowByNoMoreThanAQuarter() {
        far(10, 10, 10, 10);
        found(0.2f);
        ack(0, 4, 0, 0, 1f);
        assertEquals(4 * (0.25 * 40 / PATHS) / 10, window(0) - 10, 0.01);
    }

    @Test
    @Requirement("MR-CC-012")
    void marksOnAllPacketsToFarPeersAreNotTheLastHops() {
        far(400, 400, 400, 400);
        found(0.9f);
        ack(0, 10, 10, 0, 0.5f);
        assertEquals(399.5, window(0), 0.01, "half as much as near");
        setUnit(100);
        setWindow(0, 40);
        ack(0, 10, 10, 0, 0.5f);
        assertEquals(40, window(0), 0.01, "near: the share rules");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Requirement("MR-CC-042")
    void toFarPeersDataIsPaced(boolean again) {
        connectFar();
        new Windows(state).scale(c, plane, 0.5f);
        new Windows(state).scale(c, state.plane(c, 1), 0.5f);
        slab.putInt(plane + PlaneRecord.FAR_FOUND, 1);
        slab.putInt(state.plane(c, 1) + PlaneRecord.FAR_FOUND, 1);
        for (int i = 0; i < 4; i++) {
            p.post(p.request(Opcode.WRITE, i, 0, 2_000_000, 0, i));
        }
        if (again) {
            // Of what goes out first most is lost. That is found at the pace at which it was sent; by then windows are a quarter of what they were.
            int[] count = {0};
            p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.DATA || count[0]++ % 4 == 3;
            p.run(4 * MS);
            p.net.filter = (d, plane, port) -> true;
            new Windows(state).scale(c, plane, 0.25f);
            new Windows(state).scale(c, state.plane(c, 1), 0.25f);
            p.run(2_700_000);
            tap.seen.clear();
        }
        double[] most = IntStream.range(0, 2).mapToDouble(i -> Limits.FAR_PACE * MS * new Windows(state).windowRate(c, state.plane(c, i))
                * new Windows(state).bdpPackets(c, state.plane(c, i)) / slab.getInt(state.plane(c, i) + PlaneRecord.MIN_RTT_NS)).toArray();
        p.run(MS);
        for (int of = 0; of < 2; of++) {
            int i = of;
            assertTrue(most[i] > 40, most[i] + " packets a millisecond");
            List<Tap.Seen> sent = tap.dataToB().stream().filter(x -> x.plane() == i).toList();
            long repeats = sent.stream().filter(x -> (x.bytes()[Prefix.FLAGS] & DataHeader.RETRANSMISSION) != 0).count();
            assertEquals(again, repeats > sent.size() / 2, repeats + " repeats of " + sent.size());
            assertTrue(sent.size() <= 1.1 * most[i] + Limits.PACE_BURST_PACKETS && sent.size() > 0.9 * most[i], sent.size() + " of " + most[i]);
        }
    }

    @Test
    @Requirement("MR-CC-011")
    void allPathsTogetherGainFourPacketsARoundTrip() {
        connect();
        setUnit(10);
        for (int round = 0; round < 3; round++) {
            float before = 0;
            for (int i = 0; i < PATHS; i++) {
                before += window(i);
                int w = Math.round(window(i));
                setWindow(i, w);
                before += w - window(i);
            }
            before = window(0) + window(1) + window(2) + window(3);
            for (int i = 0; i < PATHS; i++) {
                for (int w = Math.round(window(i)); w > 0; w--) {
                    ack(i, 1, 0, 0, 1f);
                }
            }
            assertEquals(4, window(0) + window(1) + window(2) + window(3) - before, 0.3);
        }
    }

    @Test
    @Requirement("MR-CC-013")
    void slowerPathsGiveToFasterOnes() {
        connect();
        setUnit(10);
        slab.putInt(plane + PlaneRecord.MIN_RTT_NS, 10_000);
        slab.putInt(plane + PlaneRecord.SRTT_NS, 12_000);
        for (int i = 0; i < 50; i++) {
            ack(0, 1, 0, 14_000, 1f);
            ack(1, 1, 0, 10_000, 1f);
        }
        assertTrue(window(0) < 10 && window(1) > 10, window(0) + ", " + window(1));
        // Below the floor of the host's timers a difference means nothing much.
        float before = window(0);
        state.config.timerFloorNs = 10_000_000;
        ack(0, 1, 0, 14_000, 1f);
        assertEquals(before + 1 / before, window(0), 0.01);
    }

    /** A has one packet out on each path of plane 0; acknowledgements of them are at hand. */
    private Map<Integer, byte[]> heldAcks() {
        connect();
        p.net.filter = (d, plane, port) -> ByteBuffer.wrap(d).getInt(8) == p.ba;
        for (int i = 0; i < 24; i++) {
            p.post(p.request(Opcode.WRITE, 0, 0, 100, 0, i));
        }
        p.run(12_000);
        Map<Integer, byte[]> acks = new HashMap<>();
        for (Tap.Seen s : tap.acksToA()) {
            for (Tap.Block b : s.blocks()) {
                if (b.path() < PATHS) {
                    int length = b.isLong() ? PathBlock.length(b.words().length) : PathBlock.SHORT_LENGTH;
                    acks.put(b.path(), Tap.resized(s.bytes(), AckHeader.LENGTH + length, d -> {
                        d.put(6, (byte) 1).put(7, (byte) 0).put(AckHeader.LONG_BLOCKS, (byte) (b.isLong() ? 1 : 0));
                        d.put(AckHeader.LENGTH, s.bytes(), b.at(), length);
                        d.putShort(AckHeader.LENGTH + PathBlock.HOLD, (short) 0xffff);
                    }));
                }
            }
        }
        p.net.filter = (d, plane, port) -> false;
        assertTrue(acks.size() > 1);
        return acks;
    }

    private void give(byte[] ack) {
        p.net.inject(p.a, 0, p.b.config.localAddresses[0], 2, ack);
    }

    @Test
    @Requirement({"MR-CC-003", "MR-CC-012"})
    void aMarkTrimsItsPathAlone() {
        Map<Integer, byte[]> acks = heldAcks();
        int marked = acks.keySet().iterator().next();
        float[] before = new float[PATHS];
        IntStream.range(0, PATHS).forEach(i -> before[i] = window(i));
        float sum = slab.getFloat(plane + PlaneRecord.FACTOR_SUM);
        give(Tap.changed(acks.get(marked), d -> d.put(AckHeader.LENGTH + PathBlock.CE_COUNT, (byte) 255)));
        float unit = slab.getFloat(plane + PlaneRecord.UNIT);
        for (int i = 0; i < PATHS; i++) {
            if (i == marked) {
                assertTrue(window(i) < before[i] - 0.05);
            } else {
                assertEquals(before[i], window(i), "path " + i);
            }
        }
        assertEquals(sum - (before[marked] - window(marked)) / unit, slab.getFloat(plane + PlaneRecord.FACTOR_SUM), 1e-4);
    }

    @Test
    @Requirement("MR-CC-014")
    void marksAndPacketsCountOnceHoweverOftenTheyAreTold() {
        Map<Integer, byte[]> acks = heldAcks();
        int path = acks.keySet().iterator().next();
        byte[] ack = Tap.changed(acks.get(path), d -> d.put(AckHeader.LENGTH + PathBlock.CE_COUNT, (byte) 1));
        give(ack);
        assertEquals(1, p.statsA().ecnMarks);
        float after = window(path);
        give(ack);
        give(Tap.changed(ack, d -> d.put(AckHeader.LENGTH + PathBlock.CE_COUNT, (byte) 2)));
        give(acks.get(path));
        assertEquals(after, window(path));
        assertEquals(1, p.statsA().ecnMarks, "marks come with packets");
    }

    @Test
    @Requirement({"MR-CC-014", "MR-ACK-006"})
    void everyMarkOfATransferIsSeenOnce() {
        connect();
        p.net.mark = 0.1;
        p.net.loss = 0.05;
        p.net.duplicate = 0.1;
        for (int i = 0; i < 40; i++) {
            p.post(p.request(Opcode.WRITE, 0, 0, 100_000, 0, i));
        }
        assertTrue(p.until(3_000 * MS, () -> p.completionsA.size() == 40));
        p.run(10 * MS);
        EndpointState b = Inside.state(p.b.endpoint);
        long cb = b.connectionOf(p.ba);
        int told = 0;
        for (int i = 0; i < 2 * PATHS; i++) {
            told += b.slab.getInt(b.path(cb, 0, i) + PathRecord.RX_CE);
        }
        assertEquals(0, p.statsA().deadPaths);
        assertEquals(told, p.statsA().ecnMarks, 0.02 * told);
        assertTrue(p.statsA().ecnMarks <= told && told > 250);
    }

    @Test
    @Requirement({"MR-LOSS-003", "MR-LOSS-004"})
    void lossCutsNoWindowAndRepeatsCount() {
        Map<Integer, byte[]> acks = heldAcks();
        int path = acks.keySet().iterator().next();
        slab.putInt(state.path(c, 0, path) + PathRecord.PROBES_OUT, 0);
        PathStats s = new PathStats();
        p.a.endpoint.readPath(p.ab, path, s);
        int out = s.inflight;
        float before = window(path);
        int psn = slab.getInt(state.path(c, 0, path) + PathRecord.NEXT_PSN) - out;
        give(Tap.lengthened(acks.get(path), 0, d -> d.putInt(AckHeader.LENGTH, path << PathBlock.PSN_BITS | Tap.low(psn))
                .putShort(AckHeader.LENGTH + PathBlock.SPAN, (short) out)));
        assertEquals(before, window(path));
        // Under half a share the repeats are paced like everything, and go all the same.
        slab.putFloat(plane + PlaneRecord.SHARE, 0.5f);
        slab.putLong(plane + PlaneRecord.SHARE_EXPIRES_NS, p.net.nowNs + 100 * MS);
        slab.putLong(plane + PlaneRecord.NEXT_TX_NS, p.net.nowNs + 50_000);
        tap.seen.clear();
        p.run(0);
        assertEquals(out, tap.dataToB().stream().filter(Tap.Seen::isRepeat).filter(x -> x.path() == path).count());
        p.a.endpoint.readPath(p.ab, path, s);
        assertEquals(out, s.inflight);
        assertTrue(slab.getLong(plane + PlaneRecord.NEXT_TX_NS) >= p.net.nowNs + 50_000 + out * 32L, "later packets wait for them");
    }

    // ---- pacing and order ----

    /** A thousand senders of which each may have a hundredth of a packet out: with what they saved up, or with repairs, they would fill any queue. */
    @ParameterizedTest
    @ValueSource(doubles = {0, 0.3})
    @Requirement({"MR-CC-020", "MR-CC-022", "MR-LOSS-004"})
    void whereTheWindowIsLessThanAPacketNothingIsSavedUp(double loss) {
        connect();
        p.net.change = d -> (d[4] & 15) == Type.ACK && ByteBuffer.wrap(d).getInt(8) == p.ab
                ? Tap.changed(d, x -> x.putShort(AckHeader.SHARE, (short) Rate16.encode(100_000)).putShort(AckHeader.SHARE_VALIDITY_US, (short) 60_000)) : d;
        p.post(p.request(Opcode.WRITE, 0, 0, 1_000_000, 0, 1));
        p.run(MS);
        for (int i = 0; i < 2; i++) {
            slab.putFloat(state.plane(c, i) + PlaneRecord.UNIT, 1);
        }
        p.net.loss = loss;
        tap.seen.clear();
        p.run(10 * MS);
        for (int of = 0; of < 2; of++) {
            int i = of;
            long[] at = tap.dataToB().stream().filter(x -> x.plane() == i).mapToLong(Tap.Seen::atNs).toArray();
            assertTrue(at.length > 50, at.length + " packets");
            double pauseNs = 1154 * 8 / (Limits.PACE_RATE * 1e8) * 1e9;
            for (int k = 0; k + 2 < at.length; k++) {
                assertTrue(at[k + 2] - at[k] >= pauseNs * (1 - Limits.PACE_JITTER / 2) * 0.99, "three packets within " + (at[k + 2] - at[k]) + " ns");
            }
            if (loss == 0) {
                // Not in step with others of the same share: a third of the pauses on either side of the middle third, and in the mean as told.
                double[] pauses = IntStream.range(1, at.length).mapToDouble(k -> (at[k] - at[k - 1]) / pauseNs).sorted().toArray();
                double third = Limits.PACE_JITTER / 6;
                assertTrue(pauses[pauses.length / 5] < 1 - third && pauses[pauses.length * 4 / 5] > 1 + third, Arrays.toString(pauses));
                assertEquals(1, Arrays.stream(pauses).average().orElseThrow(), 0.05);
                assertTrue(pauses[pauses.length - 1] < 1.02 * (1 + Limits.PACE_JITTER / 2), Arrays.toString(pauses));
            }
        }
    }

    @Test
    @Requirement({"MR-CC-020", "MR-CC-021", "MR-SHARE-020"})
    void belowTheLineDataIsPacedAndNothingElseIs() {
        connect();
        // A tenth of the line is told in every acknowledgement; windows are wide.
        p.net.change = d -> (d[4] & 15) == Type.ACK && ByteBuffer.wrap(d).getInt(8) == p.ab
                ? Tap.changed(d, x -> x.putShort(AckHeader.SHARE, (short) Rate16.encode(10_000_000)).putShort(AckHeader.SHARE_VALIDITY_US, (short) 60_000)) : d;
        for (int i = 0; i < 8; i++) {
            p.post(p.request(Opcode.WRITE, i, 0, 1_000_000, 0, i));
        }
        WorkRequest back = p.requestFromB(Opcode.WRITE, 20, 0, 2_000_000, 4_000_000, 9);
        assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, back));
        p.run(200_000);
        EndpointState s = state;
        for (int i = 0; i < 2; i++) {
            s.slab.putFloat(s.plane(c, i) + PlaneRecord.UNIT, 100);
        }
        tap.seen.clear();
        long start = p.net.nowNs;
        p.run(MS);
        for (int of = 0; of < 2; of++) {
            int i = of;
            long[] at = tap.dataToB().stream().filter(x -> x.plane() == i).mapToLong(Tap.Seen::atNs).toArray();
            double bits = at.length * 8.0 * (1024 + 64 + 66);
            double most = Limits.PACE_RATE * 10e9 * (p.net.nowNs - start) / 1e9;
            assertTrue(bits <= most + Limits.PACE_BURST_LEAST * 8 * 1154 && bits > 0.8 * most, bits / most + " of the pace");
            // Also within any 100 us.
            for (int k = 0; k + 140 < at.length; k++) {
                double span = (at[k + 140] - at[k]) * 10.0 * Limits.PACE_RATE;
                assertTrue(span >= (140 - 1 - Limits.PACE_BURST_LEAST) * 8 * 1154, "a burst");
            }
        }
        // Acknowledgements go while Data waits: B's transfer is as fast as ever.
        assertTrue(tap.of(false, Type.DATA).size() > 1_000 || p.completionsB.size() == 1, tap.of(false, Type.DATA).size() + "");
    }

    @Test
    @Requirement("MR-SHARE-022")
    void aShareOfNothingStopsNobody() {
        connect();
        p.net.change = d -> (d[4] & 15) == Type.ACK && ByteBuffer.wrap(d).getInt(8) == p.ab
                ? Tap.changed(d, x -> x.putShort(AckHeader.SHARE, (short) Rate16.encode(0)).putShort(AckHeader.SHARE_VALIDITY_US, (short) 60_000)) : d;
        p.run(500 * MS);
        p.post(p.request(Opcode.WRITE, 0, 0, 1_000, 0, 1));
        p.run(10 * MS);
        tap.seen.clear();
        p.post(p.request(Opcode.WRITE, 0, 0, 100_000, 0, 2));
        for (int i = 0; i < 2; i++) {
            slab.putFloat(state.plane(c, i) + PlaneRecord.SHARE, 0);
            slab.putLong(state.plane(c, i) + PlaneRecord.SHARE_EXPIRES_NS, p.net.nowNs + 60 * MS);
        }
        long at = p.net.nowNs;
        p.net.observer = chain(p.net.observer, () -> {
            for (int i = 0; i < 2; i++) {
                assertTrue(slab.getInt(state.plane(c, i) + PlaneRecord.IN_FLIGHT) <= 1, "one packet at a time");
            }
        });
        assertTrue(p.until(100 * MS, () -> p.completionsA.size() == 2));
        assertTrue(p.net.nowNs - at < 2 * MS, (p.net.nowNs - at) / 1e6 + " ms");
    }

    private static TestNetwork.Observer chain(TestNetwork.Observer before, Runnable then) {
        return (from, d, plane, port, to) -> {
            before.sent(from, d, plane, port, to);
            then.run();
        };
    }

    @Test
    @Requirement({"MR-CC-030", "MR-CC-021"})
    void acknowledgementsAndProbesGoBeforeData() {
        connect();
        WorkRequest back = p.requestFromB(Opcode.WRITE, 1, 0, 100, 4_000_000, 2);
        p.net.filter = (d, plane, port) -> false;
        assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, back));
        p.run(1_000);
        byte[] data = tap.of(false, Type.DATA).getFirst().bytes();
        tap.seen.clear();
        // In one turn: a message to send, a packet to acknowledge, a path to probe.
        p.post(p.request(Opcode.WRITE, 0, 0, 6_000, 0, 1));
        give(data);
        slab.putInt(state.path(c, 1, 2) + PathRecord.PROBE_WANTED, 1);
        slab.addInt(c + ConnectionRecord.PROBES_WANTED, 1);
        // However much of the share is used up.
        slab.putLong(plane + PlaneRecord.NEXT_TX_NS, p.net.nowNs + MS);
        p.run(0);
        List<Integer> types = tap.seen.stream().filter(Tap.Seen::toB).map(Tap.Seen::type).toList();
        assertEquals(List.of(Type.ACK, Type.PROBE, Type.DATA, Type.DATA, Type.DATA), types.subList(0, 5));
    }

    /** What waits behind the Data of another connection looks like distance to its peer. */
    @Test
    @Requirement("MR-CC-030")
    void acknowledgementsAndProbesGoBeforeTheDataOfOtherConnections() {
        connect();
        int other = p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        p.eventsA.clear();
        assertTrue(p.until(10 * MS, () -> Peers.has(p.eventsA, Event.CONNECTED)));
        p.run(MS);
        WorkRequest back = p.requestFromB(Opcode.WRITE, 1, 0, 100, 4_000_000, 2);
        p.net.filter = (d, plane, port) -> false;
        tap.seen.clear();
        assertEquals(Endpoint.OK, p.b.endpoint.post(p.ba, back));
        p.run(1_000);
        byte[] data = tap.of(false, Type.DATA).getFirst().bytes();
        tap.seen.clear();
        // The other connection has its turn first, and more than a turn to send.
        assertEquals(Endpoint.OK, p.a.endpoint.post(other, p.request(Opcode.WRITE, 0, 0, 400_000, 0, 1)));
        Inside.raiseWindows(p.a.endpoint, other, 400);
        give(data);
        slab.putInt(state.path(c, 1, 2) + PathRecord.PROBE_WANTED, 1);
        slab.addInt(c + ConnectionRecord.PROBES_WANTED, 1);
        p.run(0);
        List<Tap.Seen> sent = tap.seen.stream().filter(Tap.Seen::toB).toList();
        assertEquals(List.of(Type.ACK, Type.PROBE, Type.DATA), sent.stream().map(Tap.Seen::type).toList().subList(0, 3));
        assertNotEquals(sent.get(2).i32(8), sent.get(0).i32(8), "of another connection");
    }

    @Test
    @Requirement("MR-CC-031")
    void repeatsGoBeforeNewData() {
        connect();
        p.net.loss = 0.05;
        for (int i = 0; i < 10; i++) {
            p.post(p.request(Opcode.WRITE, 0, 0, 200_000, 0, i));
        }
        assertTrue(p.until(1_000 * MS, () -> p.completionsA.size() == 10));
        List<List<Tap.Seen>> turns = new ArrayList<>();
        for (Tap.Seen s : tap.dataToB()) {
            if (turns.isEmpty() || turns.getLast().getFirst().atNs() != s.atNs()) {
                turns.add(new ArrayList<>());
            }
            turns.getLast().add(s);
        }
        int both = 0;
        for (List<Tap.Seen> turn : turns) {
            boolean fresh = false;
            for (Tap.Seen s : turn) {
                assertTrue(!s.isRepeat() || !fresh, "a repeat behind new data");
                fresh |= !s.isRepeat();
                both += s.isRepeat() ? 1 : 0;
            }
        }
        assertTrue(both > 50);
    }

    @Test
    @Requirement({"MR-CC-032", "MR-STR-025"})
    void streamsAndConnectionsTakeTurns() {
        connect();
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.ACK;
        int other = p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        p.net.filter = (d, plane, port) -> true;
        p.eventsA.clear();
        assertTrue(p.until(10 * MS, () -> Peers.has(p.eventsA, Event.CONNECTED)));
        p.run(MS);
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.ACK;
        tap.seen.clear();
        for (int stream = 0; stream < 4; stream++) {
            WorkRequest wr = p.request(Opcode.WRITE, stream, 0, 200_000, 0, stream);
            assertEquals(Endpoint.OK, p.a.endpoint.post(p.ab, wr));
            assertEquals(Endpoint.OK, p.a.endpoint.post(other, wr));
        }
        Inside.raiseWindows(p.a.endpoint, p.ab, 400);
        Inside.raiseWindows(p.a.endpoint, other, 400);
        p.run(0);
        List<Tap.Seen> data = tap.dataToB();
        assertTrue(data.size() > 600, data.size() + "");
        int run = 0;
        int longest = 0;
        Map<Integer, Integer> last = new HashMap<>();
        // Up to the end of the first.
        for (int i = 0; i < 600; i++) {
            Tap.Seen s = data.get(i);
            run = i > 0 && s.i32(8) == data.get(i - 1).i32(8) ? run + 1 : 1;
            longest = Math.max(longest, run);
            Integer before = last.put(s.i32(8), s.stream());
            assertTrue(before == null || before != s.stream(), "streams of a connection alternate");
        }
        assertEquals(Limits.TURN_PACKETS, longest, "in a row of one connection while the other waits");
    }

    /** Two connections with much to send and windows to match; the number of the second. */
    private int two(int packets, int ofOther) {
        return two(packets, ofOther, 0);
    }

    /** @param more connections that have as much to send as the first */
    private int two(int packets, int ofOther, int more) {
        connect();
        int[] others = new int[1 + more];
        Arrays.setAll(others, i -> p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0));
        p.run(10 * MS);
        p.post(p.request(Opcode.WRITE, 0, 0, packets * 1024, 0, 1));
        Inside.raiseWindows(p.a.endpoint, p.ab, 400);
        for (int i = 0; i <= more; i++) {
            int bytes = (i == 0 ? ofOther : packets) * 1024;
            assertEquals(Endpoint.OK, p.a.endpoint.post(others[i], p.request(Opcode.WRITE, 0, 0, bytes, 0, 2)));
            Inside.raiseWindows(p.a.endpoint, others[i], 400);
        }
        return others[0];
    }

    /** Packets that connections send in a row, in bursts of one: those of the second as negative numbers. {@code each} follows each packet of the second. */
    private List<Integer> turns(int count, int other, Runnable each) {
        TxBurst burst = p.net.burst(1);
        int cid = peersCid(other);
        List<Integer> runs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            burst.count = 0;
            p.a.endpoint.transmit(p.net.nowNs, burst);
            assertTrue(burst.count == 1 && Prefix.type(burst.header[0]) == Type.DATA);
            int sign = Prefix.destinationCid(burst.header[0]) == cid ? -1 : 1;
            if (runs.isEmpty() || runs.getLast() * sign < 0) {
                runs.add(0);
            }
            runs.set(runs.size() - 1, runs.getLast() + sign);
            if (sign < 0) {
                each.run();
            }
        }
        return runs;
    }

    private int peersCid(int connection) {
        EndpointState state = Inside.state(p.a.endpoint);
        return state.slab.getInt(state.connectionOf(connection) + ConnectionRecord.REMOTE_CID);
    }

    @Test
    @Requirement("MR-CC-033")
    void whatIsNearlySentIsSentToItsEnd() {
        int few = Limits.FINISH_PACKETS / 2;
        int other = two(200, few + 10);
        List<Integer> runs = turns(100, other, () -> { });
        int last = runs.indexOf(-(Limits.TURN_PACKETS + few));
        assertEquals(runs.size() - 2, last, "its last turn goes on, then there is only the first connection: " + runs);
        assertTrue(runs.subList(0, last).stream().allMatch(r -> Math.abs(r) == Limits.TURN_PACKETS), "turns are short before: " + runs);
    }

    @ParameterizedTest
    @CsvSource({"0, true", "1, false"})
    @Requirement({"MR-CC-032", "MR-CC-033"})
    void shortMessagesGoWhole(int more, boolean isWhole) {
        int packets = 2 * Limits.SHORT_PACKETS + more;
        // So many have a backlog that what is left of the message is not little.
        int other = two(100, packets, 5);
        List<Integer> runs = turns(100, other, () -> { });
        int first = runs.stream().filter(r -> r < 0).findFirst().orElseThrow();
        assertEquals(isWhole ? packets : Limits.TURN_PACKETS, -first, "its first turn: " + runs);
    }

    @Test
    @Requirement({"MR-CC-032", "MR-CC-033"})
    void whoIsAlwaysNearlyDoneLeavesTurnsToOthers() {
        int other = two(200, Limits.FINISH_PACKETS / 2);
        WorkRequest more = p.request(Opcode.WRITE, 0, 0, 1024, 0, 3);
        List<Integer> runs = turns(200, other, () -> assertEquals(Endpoint.OK, p.a.endpoint.post(other, more)));
        assertTrue(runs.size() > 8, "both have turns: " + runs);
        assertTrue(runs.stream().allMatch(r -> -r <= Limits.FINISH_PACKETS), "none longer than it may be: " + runs);
    }

    // ---- spray ----

    @Test
    @Requirement({"MR-SPRAY-001", "MR-SPRAY-004"})
    void loadFollowsWindowsOnPathsAndPlanes() {
        connect();
        Inside.raiseWindows(p.a.endpoint, p.ab, 400);
        long second = state.plane(c, 1);
        slab.putFloat(second + PlaneRecord.UNIT, 25);
        setWindow(0, 200);
        setWindow(1, 100);
        setWindow(2, 50);
        setWindow(3, 50);
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.ACK;
        for (int i = 0; i < 4; i++) {
            p.post(p.request(Opcode.WRITE, i, 0, 60 * 1024, 0, i));
        }
        p.run(0);
        int[] of = new int[2 * PATHS];
        tap.dataToB().forEach(s -> of[s.plane() * PATHS + DataHeader.indexOf(s.path())]++);
        // 240 packets over windows of 400 and 100.
        assertEquals(192, of[0] + of[1] + of[2] + of[3], 6);
        assertEquals(96, of[0], 8);
        assertEquals(48, of[1], 6);
        assertEquals(24, of[2], 5);
        assertEquals(24, of[3], 5);
    }

    @Test
    @Requirement("MR-SPRAY-002")
    void theChoiceIsRandomByTheSeed() {
        List<Integer> before = null;
        for (long seed : new long[] {7, 8}) {
            List<List<Integer>> runs = new ArrayList<>();
            for (int run = 0; run < 2; run++) {
                EndpointConfig a = Peers.config(2001);
                a.seed = seed;
                connect(a);
                p.post(p.request(Opcode.WRITE, 0, 0, 60_000, 0, 1));
                p.run(MS);
                runs.add(tap.dataToB().stream().map(Tap.Seen::path).toList());
            }
            assertEquals(runs.get(0), runs.get(1));
            assertNotEquals(before, runs.get(0));
            before = runs.get(0);
        }
    }

    /** Packets of a message for each path of plane 0, of which the first has twice the RTT of the others. */
    private int[] overASlowPath(int packets) {
        connect();
        Inside.raiseWindows(p.a.endpoint, p.ab, 400);
        slab.putFloat(state.plane(c, 1) + PlaneRecord.UNIT, 0.01f);
        int rttNs = slab.getInt(plane + PlaneRecord.SRTT_NS);
        for (int i = 0; i < PATHS; i++) {
            setWindow(i, 100);
            slab.putInt(state.path(c, 0, i) + PathRecord.SRTT_NS, i == 0 ? 2 * rttNs : rttNs);
        }
        p.net.filter = (d, plane, port) -> (d[4] & 15) != Type.ACK;
        p.post(p.request(Opcode.WRITE, 0, 0, packets * 1024, 0, 1));
        p.run(0);
        int[] of = new int[PATHS];
        tap.dataToB().stream().filter(s -> s.plane() == 0).forEach(s -> of[DataHeader.indexOf(s.path())]++);
        return of;
    }

    @Test
    @Requirement("MR-SPRAY-006")
    void aSlowPathIsSparedAtTheEnd() {
        int[] end = overASlowPath(100);
        assertEquals(0, end[0], "others have room");
        assertEquals(33, end[1], 8);
        int[] whole = overASlowPath(390);
        assertTrue(whole[0] > 20, "there is more to send than a round trip takes: " + whole[0]);
        assertTrue(whole[0] < 100 && whole[1] == 100, "and then not before the others are full");
    }

    /** What A would send now, were the ports of its planes to take so much. */
    private int[] sentWithRoom(int first, int second) {
        TxBurst burst = p.net.burst(64);
        burst.room[0] = first;
        burst.room[1] = second;
        boolean more = p.a.endpoint.transmit(p.net.nowNs, burst);
        int[] of = new int[3];
        for (int i = 0; i < burst.count; i++) {
            of[burst.plane[i]] += burst.payloadLength[i] > 0 ? 1 : 0;
        }
        of[2] = more ? 1 : 0;
        return of;
    }

    @Test
    @Requirement("MR-SPRAY-005")
    void nothingIsSentToAPortThatIsBusy() {
        connect();
        Inside.raiseWindows(p.a.endpoint, p.ab, 400);
        p.post(p.request(Opcode.WRITE, 0, 0, 20 * 1024, 0, 1));
        assertArrayEquals(new int[] {0, 0, 1}, sentWithRoom(0, 0), "it waits, and says so");
        assertArrayEquals(new int[] {0, 5, 1}, sentWithRoom(0, 5));
        assertArrayEquals(new int[] {3, 1, 1}, sentWithRoom(3, 1));
        assertEquals(11, IntStream.of(sentWithRoom(Integer.MAX_VALUE, Integer.MAX_VALUE)).limit(2).sum());
    }

    @Test
    @Requirement("MR-SPRAY-005")
    void ofSeveralConnectionsNoneWaitsForAPort() {
        connect();
        int other = p.a.endpoint.connect(p.net.nowNs, p.b.config.localAddresses[0], 0);
        p.run(10 * MS);
        assertTrue(other > 0 && p.a.endpoint.liveConnections() == 2);
        p.post(p.request(Opcode.WRITE, 0, 0, 8 * 1024, 0, 1));
        assertEquals(Endpoint.OK, p.a.endpoint.post(other, p.request(Opcode.WRITE, 0, 0, 8 * 1024, 0, 2)));
        int[] sent = sentWithRoom(0, 1);
        assertTrue(sent[0] > 1 && sent[1] > 1, Arrays.toString(sent));
    }
}
