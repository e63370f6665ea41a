// SPDX-License-Identifier: Apache-2.0
package io.metaroce.wire;

import io.metaroce.SpecFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A vector of {@code spec/vectors}; the format is described in the README there. */
record Vector(String file, String name, Map<String, String> values) {
    static final List<String> WELL_FORMED = List.of("data.txt", "ack.txt", "parity.txt", "control.txt", "handshake.txt");

    static List<Vector> read(String file) {
        try {
            List<Vector> vectors = new ArrayList<>();
            for (String line : Files.readAllLines(SpecFiles.directory().resolve("vectors").resolve(file))) {
                if (line.startsWith("[")) {
                    vectors.add(new Vector(file, line.substring(1, line.length() - 1), new LinkedHashMap<>()));
                } else if (!line.isEmpty() && !line.startsWith("#")) {
                    int equals = line.indexOf(" = ");
                    vectors.getLast().values.put(line.substring(0, equals), line.substring(equals + 3));
                }
            }
            return vectors;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static List<Vector> wellFormed() {
        return WELL_FORMED.stream().flatMap(f -> read(f).stream()).toList();
    }

    String get(String key) {
        String value = values.get(key);
        if (value == null) {
            throw new AssertionError(this + " has no " + key);
        }
        return value;
    }

    /** Values of the keys that begin with {@code prefix}, by what follows it. */
    Map<String, Long> numbers(String prefix) {
        Map<String, Long> found = new LinkedHashMap<>();
        values.forEach((key, value) -> {
            if (key.startsWith(prefix)) {
                found.put(key.substring(prefix.length()), number(value));
            }
        });
        return found;
    }

    static long number(String text) {
        return text.startsWith("0x") ? Long.parseUnsignedLong(text.substring(2), 16) : Long.parseLong(text);
    }

    int tag() {
        return (int) number(get("tag"));
    }

    boolean isFull() {
        return get("integrity").equals("FULL");
    }

    boolean isEncodable() {
        return get("direction").equals("both");
    }

    Datagram datagram() {
        return Datagram.ofHex(values.getOrDefault("hex", ""));
    }

    @Override
    public String toString() {
        return file + " [" + name + "]";
    }
}
