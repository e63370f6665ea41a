// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.util.Arrays;
import org.openucx.jucx.UcxCallback;
import org.openucx.jucx.ucp.UcpContext;
import org.openucx.jucx.ucp.UcpEndpoint;
import org.openucx.jucx.ucp.UcpEndpointParams;
import org.openucx.jucx.ucp.UcpConnectionRequest;
import org.openucx.jucx.ucp.UcpListenerParams;
import org.openucx.jucx.ucp.UcpParams;
import org.openucx.jucx.ucp.UcpRequest;
import org.openucx.jucx.ucp.UcpWorker;
import org.openucx.jucx.ucp.UcpWorkerParams;

/**
 * One end of UCX from Java for scripts/bench peers: tagged messages, one spinning thread. Compiled by the script against the library that Maven
 * fetches; the transport is what UCX_TLS says.
 *
 * <pre>
 * JucxPeer sink|pong HOST PORT            ends with its peer
 * JucxPeer source|ping HOST PORT SIZE S   S seconds, behind one and a half of warm-up
 * </pre>
 * The sink prints gbps= of what it took behind the warm-up, ping p50_us= p99_us= p999_us=, half of the round trip.
 */
public final class JucxPeer {
    private static final long DATA = 1;
    private static final long END = 2;
    private static final long BACK = 3;
    private static final int ROOM = 1 << 24;
    private static final int DEPTH = 16;
    private static final long WARM_UP_NS = 1_500_000_000L;
    private static final long PATIENCE_NS = 8_000_000_000L;

    private final UcpWorker worker = new UcpContext(new UcpParams().requestTagFeature()).newWorker(new UcpWorkerParams());
    private final long memory = Arena.global().allocate((long) ROOM, 4096).address();
    private UcpEndpoint peer;
    private UcpConnectionRequest request;
    private long receivedBytes;

    public static void main(String[] a) throws Exception {
        JucxPeer end = new JucxPeer();
        InetSocketAddress address = new InetSocketAddress(a[1], Integer.parseInt(a[2]));
        switch (a[0]) {
            case "sink" -> end.sink(address);
            case "pong" -> end.pong(address);
            case "source" -> end.source(address, Integer.parseInt(a[3]), Double.parseDouble(a[4]));
            case "ping" -> end.ping(address, Integer.parseInt(a[3]), Double.parseDouble(a[4]));
            default -> throw new IllegalArgumentException(a[0]);
        }
        // Its library's own end takes seconds; nothing is lost without.
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    /** All is said: the peer may be gone before it has heard so. */
    private static boolean ending;

    private static final UcxCallback COMPLAINS = new UcxCallback() {
        @Override
        public void onError(int status, String message) {
            if (!ending) {
                System.err.println("error: " + message);
                Runtime.getRuntime().halt(1);
            }
        }
    };

    private final UcxCallback counts = new UcxCallback() {
        @Override
        public void onSuccess(UcpRequest done) {
            receivedBytes += done.getRecvSize();
        }

        @Override
        public void onError(int status, String message) {
            COMPLAINS.onError(status, message);
        }
    };

    private void listen(InetSocketAddress own) throws Exception {
        worker.newListener(new UcpListenerParams().setSockAddr(own).setConnectionHandler(r -> request = r));
        System.out.println("ready");
        while (request == null) {
            worker.progress();
        }
        peer = worker.newEndpoint(new UcpEndpointParams().setConnectionRequest(request).setPeerErrorHandlingMode().setErrorHandler((endpoint, status, text) -> { }));
    }

    private void connect(InetSocketAddress to) {
        peer = worker.newEndpoint(new UcpEndpointParams().setSocketAddress(to).setPeerErrorHandlingMode().setErrorHandler((endpoint, status, text) -> COMPLAINS.onError(status, text)));
    }

    private void await(UcpRequest r) throws Exception {
        long polls = 0;
        long startNs = System.nanoTime();
        while (!r.isCompleted()) {
            worker.progress();
            if ((++polls & 0xffff) == 0 && System.nanoTime() - startNs > PATIENCE_NS) {
                throw new IOException("nothing comes for " + PATIENCE_NS / 1_000_000_000 + " s");
            }
        }
    }

    private UcpRequest receive(long tag) {
        return worker.recvTaggedNonBlocking(memory, ROOM, tag, -1, counts);
    }

    private UcpRequest send(int size, long tag) {
        return peer.sendTaggedNonBlocking(memory, size, tag, COMPLAINS);
    }

    private void sink(InetSocketAddress own) throws Exception {
        listen(own);
        UcpRequest end = receive(END);
        UcpRequest[] data = new UcpRequest[DEPTH];
        for (int i = 0; i < DEPTH; i++) {
            data[i] = receive(DATA);
        }
        await(data[0]);
        long firstNs = System.nanoTime();
        long startNs = 0;
        long lastNs = firstNs;
        long before = 0;
        while (!end.isCompleted()) {
            worker.progress();
            for (int i = 0; i < DEPTH; i++) {
                if (data[i].isCompleted()) {
                    lastNs = System.nanoTime();
                    if (startNs == 0 && lastNs - firstNs > WARM_UP_NS) {
                        startNs = lastNs;
                        before = receivedBytes;
                    }
                    data[i] = receive(DATA);
                }
            }
        }
        System.out.printf("gbps=%.4f%n", startNs == 0 ? 0 : (receivedBytes - before) / (double) Math.max(1, lastNs - startNs));
    }

    private void source(InetSocketAddress to, int size, double seconds) throws Exception {
        connect(to);
        UcpRequest[] out = new UcpRequest[DEPTH];
        long endNs = System.nanoTime() + WARM_UP_NS + (long) (seconds * 1e9);
        for (int i = 0; System.nanoTime() - endNs < 0; i = (i + 1) % DEPTH) {
            if (out[i] != null) {
                await(out[i]);
            }
            out[i] = send(size, DATA);
        }
        for (UcpRequest r : out) {
            if (r != null) {
                await(r);
            }
        }
        end();
    }

    /** Tells the peer, and gives it time to hear. */
    private void end() throws Exception {
        ending = true;
        await(send(1, END));
        await(peer.flushNonBlocking(COMPLAINS));
    }

    private void pong(InetSocketAddress own) throws Exception {
        listen(own);
        UcpRequest end = receive(END);
        UcpRequest data = receive(DATA);
        while (!end.isCompleted()) {
            worker.progress();
            if (data.isCompleted()) {
                int size = (int) data.getRecvSize();
                data = receive(DATA);
                await(send(size, BACK));
            }
        }
    }

    private void ping(InetSocketAddress to, int size, double seconds) throws Exception {
        connect(to);
        long[] oneWayNs = new long[4 << 20];
        int count = 0;
        long startNs = System.nanoTime();
        for (long now = startNs; now - startNs < WARM_UP_NS + seconds * 1e9 && count < oneWayNs.length; ) {
            long atNs = System.nanoTime();
            UcpRequest back = receive(BACK);
            await(send(size, DATA));
            await(back);
            now = System.nanoTime();
            if (now - startNs > WARM_UP_NS) {
                oneWayNs[count++] = (now - atNs) / 2;
            }
        }
        if (count == 0) {
            throw new IOException("no answer behind the warm-up");
        }
        Arrays.sort(oneWayNs, 0, count);
        System.out.printf("p50_us=%.2f p99_us=%.2f p999_us=%.2f%n", oneWayNs[count / 2] / 1e3, oneWayNs[(int) (count * 99L / 100)] / 1e3,
                oneWayNs[(int) (count * 999L / 1000)] / 1e3);
        System.out.flush();
        end();
    }
}
