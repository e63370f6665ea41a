// SPDX-License-Identifier: Apache-2.0
package io.metaroce.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.metaroce.cli.perf.Json;
import io.metaroce.core.Affinity;
import io.metaroce.port.dpdk.EalArguments;
import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A {@code metaroce perf} run from host a to host b of a lab, as two processes, and a third that carries out orders in the meantime. */
final class Transfer implements AutoCloseable {
    private static final double PATIENCE_SECONDS = 60;

    private final Process server;
    private final Process orders;
    private final Process client;
    private final List<String> serverOut = Collections.synchronizedList(new ArrayList<>());
    private final List<String> out = Collections.synchronizedList(new ArrayList<>());
    private final List<String> err = Collections.synchronizedList(new ArrayList<>());

    /**
     * @param common options of both sides
     * @param run options of the client
     * @param orders {@code "MS VERB..."}, in ms after the end of the warm-up, see {@code scripts/lab orders}. Whoever watches two
     *         transfers that spin on two cores has no turn of his own to give them in
     */
    Transfer(Lab lab, String common, String run, String... orders) throws IOException, InterruptedException {
        List<Process> pair = lab.start("b", words("perf server " + lab.port("b") + cpu(1) + " " + common), "client *: measuring", List.of(orders));
        server = pair.getFirst();
        this.orders = pair.getLast();
        follow(server.errorReader(), serverOut);
        follow(this.orders.inputReader(), serverOut);
        follow(this.orders.errorReader(), serverOut);
        await(() -> serverOut.stream().anyMatch(l -> l.startsWith("ready ")), "the server does not start: " + serverOut);
        client = lab.start("a", words("perf client " + lab.address("b", 0) + " " + lab.port("a")
                + cpu(0) + " --json " + common + " " + run));
        follow(client.inputReader(), out);
        follow(client.errorReader(), err);
    }

    /** A core for each side, where there are two. */
    private static String cpu(int which) {
        int[] cores = Affinity.allowed();
        return cores.length < 2 ? "" : " --cpu " + cores[which];
    }

    static List<String> words(String text) {
        return EalArguments.split(text);
    }

    private static void follow(BufferedReader reader, List<String> lines) {
        Thread.ofPlatform().daemon().start(() -> reader.lines().forEach(lines::add));
    }

    private static void await(java.util.function.BooleanSupplier condition, String otherwise) throws InterruptedException {
        for (int i = 0; i < PATIENCE_SECONDS * 50; i++) {
            if (condition.getAsBoolean()) {
                return;
            }
            Thread.sleep(20);
        }
        throw new AssertionError(otherwise);
    }

    /** Waits for the end, which must be without any error and with every message verified, and returns the result. */
    Json finish() throws InterruptedException {
        assertTrue(client.waitFor((long) PATIENCE_SECONDS, TimeUnit.SECONDS), () -> "still running: " + this);
        await(() -> !out.isEmpty() || client.exitValue() != 0, "no result: " + this);
        assertEquals(0, client.exitValue(), this::toString);
        assertTrue(err.stream().noneMatch(l -> l.startsWith("error")), this::toString);
        Json json = Json.parse(out.getLast());
        assertEquals(true, json.at("verified"), this::toString);
        await(() -> serverOut.stream().anyMatch(l -> l.startsWith("client ") && l.endsWith(": done")), "orders do not end: " + this);
        synchronized (serverOut) {
            serverOut.stream().filter(l -> l.startsWith("lab: ")).forEach(System.out::println);
        }
        return json;
    }

    /** What came of an order, counted from 0, after the end: the fields of each line of its answer. */
    List<Map<String, String>> answer(int order) {
        synchronized (serverOut) {
            return serverOut.stream().filter(l -> l.startsWith("order=" + order + " ")).map(Lab::fields).toList();
        }
    }

    static long number(Json json, String path) {
        return Math.round((double) json.at(path));
    }

    @Override
    public void close() throws InterruptedException {
        for (Process process : List.of(client, server, orders)) {
            process.toHandle().destroy();
            if (!process.waitFor(5, TimeUnit.SECONDS)) {
                process.toHandle().destroyForcibly();
            }
        }
    }

    @Override
    public String toString() {
        return "server " + serverOut + ", client " + out + ", " + err;
    }
}
