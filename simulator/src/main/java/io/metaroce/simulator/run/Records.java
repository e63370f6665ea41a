// SPDX-License-Identifier: Apache-2.0
package io.metaroce.simulator.run;

import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Records of named values as lines of JSON and CSV. Values are texts, {@code Long} or {@code Double}. */
public final class Records {
    private Records() {
    }

    /** One object on one line. */
    public static String json(Map<String, Object> fields) {
        return fields.entrySet().stream().map(e -> quoted(e.getKey()) + ":" + (e.getValue() instanceof String s ? quoted(s) : number(e.getValue())))
                .collect(Collectors.joining(",", "{", "}"));
    }

    /** The first line of a CSV file. */
    public static String csvHead(Map<String, Object> fields) {
        return String.join(",", fields.keySet());
    }

    public static String csv(Map<String, Object> fields) {
        return fields.values().stream().map(v -> v instanceof String s ? csvText(s) : number(v)).collect(Collectors.joining(","));
    }

    private static String csvText(String s) {
        return s.matches("[^,\"\n\r]*") ? s : '"' + s.replace("\"", "\"\"") + '"';
    }

    private static String quoted(String s) {
        StringBuilder b = new StringBuilder("\"");
        for (char c : s.toCharArray()) {
            if (c == '"' || c == '\\') {
                b.append('\\').append(c);
            } else if (c < ' ') {
                b.append(String.format("\\u%04x", (int) c));
            } else {
                b.append(c);
            }
        }
        return b.append('"').toString();
    }

    private static String number(Object value) {
        return value instanceof Double d ? Double.isFinite(d) ? String.format(Locale.ROOT, "%.4f", d) : "null" : value.toString();
    }
}
