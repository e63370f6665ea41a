// SPDX-License-Identifier: Apache-2.0
package io.metaroce.cli.perf;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A message of the perf tool's own conversation on stream 0: a word, then {@code key=value} lines, in UTF-8.
 *
 * <p>Text, so that a trace can be read and either side can be newer: unknown keys are ignored, missing ones are errors that
 * name the key. Never used while measuring.
 */
final class Message {
    /** Client: what it wants to do and where its memory lies. */
    static final String HELLO = "hello";
    /** Server: where its memory lies; receives are posted. */
    static final String READY = "ready";
    /** Server: it will not do that; {@code text} says why. */
    static final String SORRY = "sorry";
    /** Client: the measured interval begins, or ends. */
    static final String BEGIN = "begin";
    static final String END = "end";
    /** Client: all its messages are complete; {@code sent} says how many. */
    static final String FINISH = "finish";
    /** Server: what it saw. */
    static final String RESULT = "result";

    final String word;
    private final Map<String, String> values = new LinkedHashMap<>();

    Message(String word) {
        this.word = word;
    }

    Message put(String key, Object value) {
        values.put(key, String.valueOf(value).replace('\n', ' '));
        return this;
    }

    String text(String key) {
        String value = values.get(key);
        if (value == null) {
            throw new IllegalArgumentException("the peer's '" + word + "' message lacks '" + key + "'");
        }
        return value;
    }

    long number(String key) {
        try {
            return Long.parseLong(text(key));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("the peer's '" + word + "' message has no number in '" + key + "'");
        }
    }

    int integer(String key) {
        return Math.toIntExact(number(key));
    }

    boolean flag(String key) {
        return Boolean.parseBoolean(text(key));
    }

    byte[] encode() {
        StringBuilder b = new StringBuilder(word);
        values.forEach((key, value) -> b.append('\n').append(key).append('=').append(value));
        return b.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** @throws IllegalArgumentException if a line has no {@code =} */
    static Message decode(byte[] bytes) {
        String[] lines = new String(bytes, StandardCharsets.UTF_8).split("\n", -1);
        Message message = new Message(lines[0]);
        for (int i = 1; i < lines.length; i++) {
            int equals = lines[i].indexOf('=');
            if (equals <= 0) {
                throw new IllegalArgumentException("the peer's '" + message.word + "' message has a line without '='");
            }
            message.values.put(lines[i].substring(0, equals), lines[i].substring(equals + 1));
        }
        return message;
    }
}
