// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

/**
 * What both sides of a run agree on, sent by the client in its hello.
 *
 * @param size bytes of a message, 1 to 2^30
 * @param streams data streams, numbered 1 to {@code streams}; stream 0 carries the conversation
 * @param depth messages in flight on each stream
 * @param slots places for messages at the target, for each stream
 * @param verify each message is checked at the target
 * @param bidirectional the server does the same towards the client
 * @param pingPong one message at a time, each answered by another (Send only)
 * @param oneWay each message tells when it was due, and the target how long it took; on one machine, whose processes share a clock
 */
record Plan(Op op, int size, int streams, int depth, int slots, boolean verify, boolean bidirectional, boolean pingPong, boolean oneWay) {
    /** Version of the conversation. Both sides must have the same. */
    static final int VERSION = 1;
    static final int MAX_SIZE = 1 << 30;
    static final int MAX_STREAMS = 1023;
    /** Receives a stream can hold: the slots of a stream never exceed it. */
    static final int MAX_SLOTS = 256;
    /** Messages in flight over all streams. */
    static final int MAX_IN_FLIGHT = 4096;
    /** Memory one side may need for a run. */
    static final long MAX_MEMORY = 4L << 30;

    /** Bytes from one message's place to the next: whole cache lines. */
    int stride() {
        return (size + 63) & -64;
    }

    /**
     * Different contents in rotation at the source. Coprime with the number of slots, so that a slot never receives the same
     * contents twice in a row and a packet that was not placed is noticed.
     */
    int sources() {
        int n = 3;
        while (gcd(n, slots) != 1) {
            n += 2;
        }
        return n;
    }

    /** Bytes of message memory of one side: contents to send or to be read, and slots. */
    long memoryBytes() {
        return (long) stride() * (sources() + (long) slots * streams);
    }

    Message toMessage() {
        return new Message(Message.HELLO).put("version", VERSION).put("op", op).put("size", size).put("streams", streams)
                .put("depth", depth).put("slots", slots).put("verify", verify).put("bidirectional", bidirectional)
                .put("pingpong", pingPong).put("oneway", oneWay);
    }

    /** @throws IllegalArgumentException naming what is wrong or not supported */
    static Plan from(Message hello) {
        if (hello.integer("version") != VERSION) {
            throw new IllegalArgumentException("the peer's perf conversation has version " + hello.integer("version")
                    + ", this side speaks " + VERSION);
        }
        return new Plan(Op.valueOf(hello.text("op").toUpperCase(java.util.Locale.ROOT)), hello.integer("size"), hello.integer("streams"),
                hello.integer("depth"), hello.integer("slots"), hello.flag("verify"), hello.flag("bidirectional"), hello.flag("pingpong"), hello.flag("oneway"))
                .check();
    }

    /** @throws IllegalArgumentException naming the limit that is passed */
    Plan check() {
        limit("message size", size, MAX_SIZE);
        limit("number of streams", streams, MAX_STREAMS);
        limit("number of slots", slots, MAX_SLOTS);
        limit("depth", depth, slots);
        limit("number of messages in flight", (long) depth * streams, MAX_IN_FLIGHT);
        limit("memory for the run (message size x places)", memoryBytes(), MAX_MEMORY);
        if (pingPong && (op != Op.SEND || depth != 1 || bidirectional)) {
            throw new IllegalArgumentException("ping-pong is one Send at a time, each answered by the peer");
        }
        if (oneWay && (op == Op.READ || verify || bidirectional || pingPong)) {
            throw new IllegalArgumentException("one-way times are taken of Writes and Sends in one direction that are not verified");
        }
        return this;
    }

    /** Whether messages carry an immediate: their checksum, or when they were due. */
    boolean tells() {
        return verify || oneWay;
    }

    private static void limit(String what, long value, long most) {
        if (value < 1 || value > most) {
            throw new IllegalArgumentException(what + " " + value + " is outside 1.." + most);
        }
    }

    private static int gcd(int a, int b) {
        return b == 0 ? a : gcd(b, a % b);
    }
}
