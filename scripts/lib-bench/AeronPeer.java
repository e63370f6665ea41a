// SPDX-License-Identifier: Apache-2.0

import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.FragmentAssembler;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.FragmentHandler;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One end of Aeron over UDP for scripts/bench peers, media driver and client in one spinning thread: the fair form where an end has one core.
 * Compiled by the script against the library that Maven fetches.
 *
 * <pre>
 * AeronPeer sink|pong DIRECTORY MTU OWN PEER          ends 1.5 s after the last message
 * AeronPeer source|ping DIRECTORY MTU OWN PEER SIZE S  S seconds, behind one and a half of warm-up
 * </pre>
 * OWN and PEER are HOST:PORT. The sink prints gbps= of what it took after a second and a half, ping p50_us= p99_us= p999_us=, half of the round trip.
 */
public final class AeronPeer {
    private static final int THERE = 10;
    private static final int BACK = 11;
    private static final long WARM_UP_NS = 1_500_000_000L;
    private static final long IDLE_NS = 1_500_000_000L;
    private static final int FRAGMENTS = 64;
    private static final int BUFFER = 16 << 20;

    private final MediaDriver media;
    private final AgentInvoker driver;
    private final AgentInvoker client;
    private final Aeron aeron;
    private final String own;
    private final String peer;
    private long taken;
    private long bytes;
    private long lastNs;

    private AeronPeer(String directory, int mtu, String own, String peer) {
        MediaDriver.Context context = new MediaDriver.Context().aeronDirectoryName(directory).threadingMode(ThreadingMode.INVOKER).mtuLength(mtu)
                .dirDeleteOnStart(true).dirDeleteOnShutdown(true).socketSndbufLength(2 << 20).socketRcvbufLength(4 << 20).initialWindowLength(2 << 20)
                .termBufferSparseFile(false).publicationTermBufferLength(BUFFER).warnIfDirectoryExists(false);
        media = MediaDriver.launch(context);
        driver = media.sharedAgentInvoker();
        aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(directory).useConductorAgentInvoker(true).driverAgentInvoker(driver)
                .errorHandler(e -> System.err.println("error: " + e)));
        client = aeron.conductorAgentInvoker();
        this.own = "aeron:udp?endpoint=" + own;
        this.peer = "aeron:udp?endpoint=" + peer;
    }

    public static void main(String[] a) {
        AeronPeer end = new AeronPeer(a[1], Integer.parseInt(a[2]), a[3], a[4]);
        System.out.println("ready");
        switch (a[0]) {
            case "sink" -> end.sink();
            case "pong" -> end.pong();
            case "source" -> end.source(Integer.parseInt(a[5]), Double.parseDouble(a[6]));
            case "ping" -> end.ping(Integer.parseInt(a[5]), Double.parseDouble(a[6]));
            default -> throw new IllegalArgumentException(a[0]);
        }
        end.aeron.close();
        end.media.close();
    }

    private void turn() {
        driver.invoke();
        client.invoke();
    }

    private FragmentHandler counting() {
        return new FragmentAssembler((buffer, offset, length, header) -> {
            taken++;
            bytes += length;
            lastNs = System.nanoTime();
        });
    }

    private void sink() {
        Subscription in = aeron.addSubscription(own, THERE);
        FragmentHandler handler = counting();
        long firstNs = 0;
        long startNs = 0;
        long before = 0;
        while (lastNs == 0 || System.nanoTime() - lastNs < IDLE_NS) {
            turn();
            in.poll(handler, FRAGMENTS);
            if (firstNs == 0 && lastNs != 0) {
                firstNs = lastNs;
            }
            if (startNs == 0 && firstNs != 0 && lastNs - firstNs > WARM_UP_NS) {
                startNs = lastNs;
                before = bytes;
            }
        }
        System.out.printf("gbps=%.4f%n", (bytes - before) / (double) Math.max(1, lastNs - startNs));
    }

    private void source(int size, double seconds) {
        ExclusivePublication out = aeron.addExclusivePublication(peer, THERE);
        UnsafeBuffer message = new UnsafeBuffer(ByteBuffer.allocateDirect(size));
        connect(out);
        long endNs = System.nanoTime() + WARM_UP_NS + (long) (seconds * 1e9);
        while (System.nanoTime() - endNs < 0) {
            offer(out, message, size);
            turn();
        }
    }

    private void connect(Publication out) {
        long startNs = System.nanoTime();
        while (!out.isConnected()) {
            turn();
            if (System.nanoTime() - startNs > 8_000_000_000L) {
                System.err.println("error: no subscriber");
                System.exit(1);
            }
        }
    }

    private static boolean offer(Publication out, UnsafeBuffer message, int size) {
        long position = out.offer(message, 0, size);
        if (position == Publication.CLOSED || position == Publication.MAX_POSITION_EXCEEDED) {
            throw new IllegalStateException("the publication is closed");
        }
        return position > 0;
    }

    private void pong() {
        Subscription in = aeron.addSubscription(own, THERE);
        ExclusivePublication out = aeron.addExclusivePublication(peer, BACK);
        FragmentHandler handler = new FragmentAssembler((buffer, offset, length, header) -> {
            while (out.offer(buffer, offset, length) < 0 && out.isConnected()) {
                turn();
            }
            lastNs = System.nanoTime();
        });
        while (lastNs == 0 || System.nanoTime() - lastNs < IDLE_NS) {
            turn();
            in.poll(handler, FRAGMENTS);
        }
    }

    private void ping(int size, double seconds) {
        Subscription in = aeron.addSubscription(own, BACK);
        ExclusivePublication out = aeron.addExclusivePublication(peer, THERE);
        UnsafeBuffer message = new UnsafeBuffer(ByteBuffer.allocateDirect(size));
        FragmentHandler handler = counting();
        connect(out);
        while (!in.isConnected()) {
            turn();
        }
        long[] oneWayNs = new long[4 << 20];
        int count = 0;
        long startNs = System.nanoTime();
        for (long now = startNs, sent = 0; now - startNs < WARM_UP_NS + seconds * 1e9 && count < oneWayNs.length; sent++) {
            long atNs = System.nanoTime();
            while (!offer(out, message, size)) {
                turn();
            }
            while (taken <= sent) {
                turn();
                in.poll(handler, FRAGMENTS);
            }
            now = System.nanoTime();
            if (now - startNs > WARM_UP_NS) {
                oneWayNs[count++] = (now - atNs) / 2;
            }
        }
        Arrays.sort(oneWayNs, 0, count);
        System.out.printf("p50_us=%.2f p99_us=%.2f p999_us=%.2f%n", oneWayNs[count / 2] / 1e3, oneWayNs[(int) (count * 99L / 100)] / 1e3,
                oneWayNs[(int) (count * 999L / 1000)] / 1e3);
    }
}
