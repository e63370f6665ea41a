// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.workload;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Reads the connection matrices of htsim: "Nodes n", then lines "a->b id i start ps size bytes" with "trigger t" in the place of
 * "start", and "send_done_trigger t" and "recv_done_trigger t"; lines "trigger id t oneshot" or "trigger id t barrier n".
 */
public final class MatrixFile {
    private MatrixFile() {
    }

    /** @throws IllegalArgumentException naming file, line and what is wrong with it */
    public static Workload read(Path file) throws IOException {
        Workload w = null;
        Map<Integer, Integer> triggers = new HashMap<>();
        Map<Integer, Integer> firings = new HashMap<>();
        int number = 0;
        var lines = Files.readAllLines(file);
        for (String line : lines) {
            String[] words = line.strip().split("\\s+");
            if (words[0].equals("trigger") && words.length >= 4) {
                firings.put(Integer.parseInt(words[2]), words[3].equals("barrier") ? Integer.parseInt(words[4]) : 1);
            }
        }
        for (String line : lines) {
            number++;
            String[] words = line.strip().split("\\s+");
            try {
                if (words[0].isEmpty() || words[0].startsWith("#") || words[0].equals("trigger")) {
                    continue;
                }
                switch (words[0]) {
                    case "Nodes" -> w = new Workload(file.getFileName().toString(), Integer.parseInt(words[1]));
                    case "Connections", "Triggers" -> { }
                    default -> {
                        if (w == null) {
                            throw new IllegalArgumentException("a flow before the line 'Nodes'");
                        }
                        flow(w, words, triggers, firings);
                    }
                }
            } catch (RuntimeException e) {
                throw new IllegalArgumentException(file + ":" + number + ": " + e.getMessage() + " in '" + line + "'", e);
            }
        }
        if (w == null) {
            throw new IllegalArgumentException(file + ": no line 'Nodes'");
        }
        return w;
    }

    private static void flow(Workload w, String[] words, Map<Integer, Integer> triggers, Map<Integer, Integer> firings) {
        String[] ends = words[0].split("->");
        if (ends.length != 2) {
            throw new IllegalArgumentException("neither a known word nor 'a->b'");
        }
        long size = 0;
        long start = 0;
        int startedBy = Flow.NONE;
        int whenSent = Flow.NONE;
        int whenReceived = Flow.NONE;
        for (int i = 1; i + 1 < words.length; i += 2) {
            long value = Long.parseLong(words[i + 1]);
            switch (words[i]) {
                case "id", "prio" -> { }
                case "start" -> start = value;
                case "size" -> size = value;
                case "trigger" -> startedBy = (int) value;
                case "send_done_trigger" -> whenSent = (int) value;
                case "recv_done_trigger" -> whenReceived = (int) value;
                default -> throw new IllegalArgumentException("unknown word '" + words[i] + "'");
            }
        }
        if (size > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("size " + size + " is longer than a message can be");
        }
        Flow f = w.add(new Flow(Integer.parseInt(ends[0]), Integer.parseInt(ends[1]), (int) size, start));
        f.startedBy = trigger(w, startedBy, triggers, firings);
        f.whenSent = trigger(w, whenSent, triggers, firings);
        f.whenReceived = trigger(w, whenReceived, triggers, firings);
    }

    private static int trigger(Workload w, int id, Map<Integer, Integer> triggers, Map<Integer, Integer> firings) {
        return id == Flow.NONE ? Flow.NONE : triggers.computeIfAbsent(id, k -> w.addTrigger(firings.getOrDefault(k, 1)));
    }
}
